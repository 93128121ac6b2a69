#!/usr/bin/env python3
"""Does a layer more cost the same at any depth? Processor's milliseconds per layer of tracing, lowering and compiling a training step.

usage: layers.py OURS_PYTHON THEIRS_PYTHON [--depths 10,50,200] [--rows 32] [--columns 64]

A residual network, each layer of which normalises, multiplies and adds. Each depth is a process of its own.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def worker(depth, rows, columns):
    import jax
    import jax.numpy as jnp

    def loss(layers, x):
        for w, b, g in layers:
            h = x - x.mean(-1, keepdims=True)
            h = h / jnp.sqrt((h * h).mean(-1, keepdims=True) + 1e-5) * g
            x = x + jax.nn.gelu(h @ w + b)
        return (x ** 2).mean()

    def step(layers, x):
        value, gradient = jax.value_and_grad(loss)(layers, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, layers, gradient), value

    def stages(depth):
        f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
        args = [(f32(columns, columns), f32(columns), f32(columns))] * depth, f32(rows, columns)
        times, stage = [time.process_time()], jax.jit(lambda *args: step(*args))
        for advance in (lambda s: s.trace(*args), lambda s: s.lower(), lambda s: s.compile()):
            stage = advance(stage)
            times.append(time.process_time())
        return [(b - a) / depth * 1e3 for a, b in zip(times, times[1:])]
    stages(1)  # what happens once in a process
    print(json.dumps(stages(depth)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours"), parser.add_argument("theirs")
    parser.add_argument("--depths", default="10,50,200")
    parser.add_argument("--rows", default="32"), parser.add_argument("--columns", default="64")
    args = parser.parse_args()
    print("| layers | trace, ours / reference | lower | compile |\n|---|---|---|---|")
    for depth in args.depths.split(","):
        sides = [json.loads(subprocess.run([python, __file__, "--worker", depth, args.rows, args.columns], check=True, capture_output=True, text=True,
                                           env=dict(os.environ, JAX_ENABLE_COMPILATION_CACHE="0", TF_CPP_MIN_LOG_LEVEL="3")).stdout.splitlines()[-1])
                 for python in (args.ours, args.theirs)]
        print(f"| {depth} | " + " | ".join(f"{a:.2f} / {b:.2f}" for a, b in zip(*sides)) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*map(int, sys.argv[2:]))
    else:
        main()
