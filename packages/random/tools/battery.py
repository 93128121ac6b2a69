"""Stream raw bits of Threefry into a statistical battery.

    python battery.py                       # runs dieharder on the stream, and writes a summary
    python battery.py --raw > stream.bin    # the stream alone, for PractRand: python battery.py --raw | RNG_test stdin32

The stream is what programs use: the words of ``bits(fold_in(key, i), (2**20,))`` for i = 0, 1, 2, ...
`dieharder` is in Debian (apt-get install dieharder). Its -k 2 is the exact Kolmogorov-Smirnov test, -g 200 reads stdin.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
import threading

import numpy as np

import jax_random
from jax_core.configuration import flags

BLOCK = 1 << 20


def blocks(seed: int):
    """Arrays of uint32, without end."""
    key, i = jax_random.PRNGKey(seed), 0
    while True:
        yield np.asarray(jax_random.bits(jax_random.fold_in(key, i), (BLOCK,)))
        i += 1


def stream(seed: int, out) -> int:
    """Write the stream to ``out`` until nobody reads it; the number of bytes."""
    count = 0
    try:
        for block in blocks(seed):
            out.write(block.tobytes())
            count += block.nbytes
    except BrokenPipeError:
        pass
    return count


def run(seed: int, tests: list[str]) -> int:
    """Run dieharder tests on one stream; the number of tests that it calls failed."""
    failed = 0
    for test in tests:
        command = ["dieharder", "-g", "200", *(["-a"] if test == "all" else ["-d", test]), "-k", "2"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        feeder = threading.Thread(target=stream, args=(seed, process.stdin), daemon=True)
        feeder.start()
        for line in process.stdout:
            text = line.decode().rstrip()
            if "|" in text and not text.startswith("#"):
                print(text, flush=True)
                failed += "FAILED" in text
        process.wait()
        feeder.join()  # it notices the closed pipe; the interpreter must not end while it draws
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--partitionable", action="store_true", help="the other layout")
    parser.add_argument("--raw", action="store_true", help="write the stream to standard output")
    parser.add_argument("--tests", nargs="*", default=["all"], help="numbers of dieharder tests (dieharder -l lists them)")
    options = parser.parse_args()
    flags.update("jax_threefry_partitionable", options.partitionable)
    if options.raw:
        stream(options.seed, sys.stdout.buffer)
        return
    sys.exit(1 if run(options.seed, options.tests) else 0)


if __name__ == "__main__":
    main()
