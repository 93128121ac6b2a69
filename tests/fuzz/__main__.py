"""`python -m fuzz --seconds N --seed S [--reference PYTHON]` with `tests` on the path; `nox -s fuzz -- ...` does that."""
import argparse
import collections
import os
import signal
import sys

from fuzz import checks, plants, runner, watched
from fuzz.reference import Interpreter

SECONDS = 300.0
"""For a check of a program by itself: one of slopes of slopes of slopes takes a minute to compile, as it does with the public jax."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program of the seed")
    parser.add_argument("--tries", type=int, default=400, help="how often shrinking a program may run it")
    parser.add_argument("--staged", type=float, help="the share of programs that are compiled as a whole, for several arguments; 0.99 beside a reference")
    parser.add_argument("--compiled", type=float, default=0.03, help="of these the share that XLA compiles; the others' StableHLO is interpreted where it can be")
    parser.add_argument("--calls", type=float, default=0.25, help="the share of programs that are one call of any public function")
    parser.add_argument("--nested", type=float, default=0.15, help="the share of programs as users write them: models, loops of derivatives, rules of their own")
    parser.add_argument("--large", type=float, default=0.0, help="the share of programs of large arrays, all of which are compiled")
    parser.add_argument("--devices", type=float, default=0.0, help="the share of programs by device, of eight, which JAX_NUM_CPU_DEVICES=8 must give")
    parser.add_argument("--split", type=float, default=0.0, help="the share of programs of arrays whose types say how they are split over eight devices")
    parser.add_argument("--types", action="store_true", help="of those only the types are compared")
    parser.add_argument("--reference", help="an interpreter with another implementation of jax; only it is compared with")
    parser.add_argument("--lenient", action="store_true", help="say nothing of programs that the reference refuses")
    parser.add_argument("--plants", type=int, metavar="PROGRAMS", help="instead: how many programs, at most so many, it takes to catch planted mistakes")
    given = parser.parse_args()
    if given.plants:
        for line in plants.report(given.plants, given.seed):
            print(line, flush=True)
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    children = [Interpreter.ours(), Interpreter.other(given.reference)] if given.reference else [Interpreter.ours(("-m", "fuzz.watched"), SECONDS)]
    counts: collections.Counter = collections.Counter()
    kinds: collections.Counter = collections.Counter()
    try:
        chosen = {"reference": checks.against(*children, given.lenient, given.types, counts)} if given.reference else watched.apart(*children)
        for found in runner.run(given.seed, chosen, seconds=given.seconds, first=given.first, tries=given.tries, counts=counts,
                                staged=(0.99 if given.reference else 0.0) if given.staged is None else given.staged, calls=given.calls, compiled=given.compiled, nested=given.nested,
                                instead={"large": given.large, "devices": given.devices, "split": given.split}):
            print(found, flush=True)
            kinds[f"{found.check}: {found.kind}"] += 1
    except KeyboardInterrupt:  # what was found until then counts
        pass
    finally:
        for child in children:
            child.close()
    spent = os.times()
    print(f"{counts.pop('programs', 0)} programs, {sum(kinds.values())} differences", dict(kinds.most_common()))
    print(f"{sum(spent[:4]):.0f} CPU seconds, the children's with them")
    print("programs by category:", dict(counts.most_common()))
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
