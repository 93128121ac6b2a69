#!/usr/bin/env python3
"""How long the first calls of large programs take: milliseconds from the jit to the result of call 1, 2, 10 and 100, as JSON.

usage: tiers.py [--only NAME,...] [--calls 1,2,10,100]

Run it with compare.py (its sides take no settings, so put JAX_TIERED_COMPILATION=1 into a script that starts Python), or
by itself with and without JAX_TIERED_COMPILATION=1. Programs are those of planner/programs. Nothing is read from a cache of compiled programs.
"""
import argparse
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(pathlib.Path(__file__).parent / "planner"))

import jax
from programs import PROGRAMS

NAMES = ("mlp_adam_clip", "resnet", "unet", "vae", "graph_network", "gaussian_process", "transformer_adam_4", "transformer_scan_6",
         "structural_similarity", "kalman_filter")


def times(name: str, calls: list[int]) -> dict[str, float]:
    """Milliseconds from the start until each of these calls has returned its result."""
    function, args = PROGRAMS[name]()
    found = {}
    start = time.perf_counter()
    jitted = jax.jit(lambda *args: function(*args))
    for call in range(1, max(calls) + 1):
        jax.block_until_ready(jitted(*args))
        if call in calls:
            found[f"call_{call}"] = round((time.perf_counter() - start) * 1e3, 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--calls", default="1,2,10,100")
    args = parser.parse_args()
    jax.block_until_ready(jax.jit(lambda x: x + 1)(1.0))  # the backend is up
    calls = [int(c) for c in args.calls.split(",")]
    print(json.dumps({name: times(name, calls) for name in args.only.split(",")}, indent=1))


if __name__ == "__main__":
    main()
