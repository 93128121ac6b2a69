#!/usr/bin/env python3
"""Does the work per equation stay the same as programs grow? CPU time per equation of tracing, lowering and the transformations.

usage: scaling.py [--sizes 100,1000,10000,100000] [--programs NAME,...] [--png FILE] [--markdown]

Programs of a given number of equations: one long chain; calls of one inner jit; calls of as many different inner jits
as it takes; a deep pytree with one equation for each leaf. For each size the stages are timed in a process of its own
(what one size leaves in memory does not burden the next), small ones several times, and the best time counts. CPU time
of the process is taken, so that other programs on the machine disturb little. Uses the public jax API only: run it
under another implementation to compare.
"""
import argparse
import json
import subprocess
import sys
import time

STAGES = ("trace", "lower", "jvp", "grad", "vmap")
INNER = 10  # equations of an inner jit


def chain(n):
    from jax import lax

    def fun(x):
        for _ in range(n // 2):
            x = lax.mul(lax.sin(x), 1.5)
        return x
    return fun


def one_jit(n):
    import jax
    inner = jax.jit(chain(INNER))

    def fun(x):
        for _ in range(n // INNER):
            x = inner(x)
        return x
    return fun


def many_jits(n):
    import jax
    inner = [jax.jit(chain(INNER)) for _ in range(n // INNER)]

    def fun(x):
        for step in inner:
            x = step(x)
        return x
    return fun


def deep_pytree(n):
    """A leaf at each of 50 levels of nesting, and as many of such trees side by side as it takes."""
    import jax
    from jax import lax
    depth = 50

    def nest(x, levels):
        return {"here": x, "below": nest(x, levels - 1)} if levels > 1 else {"here": x}

    def fun(x):
        trees = jax.tree.map(lax.sin, [nest(x, depth) for _ in range(n // depth)])
        return lax.mul(jax.tree.leaves(trees)[-1], 1.0)
    return fun


PROGRAMS = {"chain": chain, "calls of one jit": one_jit, "as many jits": many_jits, "deep pytree": deep_pytree}


def measure(program, n, repeats):
    """Best CPU seconds of each stage."""
    import gc

    import jax
    import jax.numpy as jnp
    x = jnp.float32(0.5)
    stages = {
        "trace": lambda fun: jax.jit(fun).trace(x),
        "jvp": lambda fun: jax.make_jaxpr(lambda x: jax.jvp(fun, (x,), (x,)))(x),
        "grad": lambda fun: jax.make_jaxpr(jax.grad(fun))(x),
        "vmap": lambda fun: jax.make_jaxpr(jax.vmap(fun))(jnp.ones(3)),
    }
    best = {}

    def timed(stage, work, argument):
        gc.collect()
        start = time.process_time()
        result = work(argument)
        best[stage] = min(best.get(stage, 1e9), time.process_time() - start)
        return result
    for _ in range(repeats):
        for stage, work in stages.items():
            result = timed(stage, work, PROGRAMS[program](n))
            if stage == "trace":
                timed("lower", lambda traced: traced.lower().as_text(), result)
            del result
    return best


def worker(program, n):
    measure(program, 100, 2)  # what happens once in a process
    print(json.dumps(measure(program, n, 1 if n > 20_000 else 3 if n > 2_000 else 10)))


def collect(programs, sizes):
    """Microseconds per equation: ``{program: {size: {stage: time}}}``."""
    found = {}
    for program in programs:
        for n in sizes:
            done = subprocess.run([sys.executable, __file__, "--worker", program, str(n)], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{program}, {n} equations:\n{done.stderr[-2000:]}")
            seconds = json.loads(done.stdout.splitlines()[-1])
            found.setdefault(program, {})[n] = {stage: t / n * 1e6 for stage, t in seconds.items()}
    return found


def rows(found):
    for program, by_size in found.items():
        for n, times in by_size.items():
            yield [program, f"{n:,}", *(f"{times[stage]:.1f}" for stage in STAGES)]


HEAD = ["program", "equations", *STAGES]


def show(found, markdown):
    if markdown:
        print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
        for row in rows(found):
            print("| " + " | ".join(row) + " |")
        return
    from rich.console import Console
    from rich.table import Table
    table = Table(title="CPU microseconds per equation", row_styles=["", "dim"])
    for i, name in enumerate(HEAD):
        table.add_column(name, justify="left" if i == 0 else "right")
    before = None
    for row in rows(found):
        if before not in (None, row[0]):
            table.add_section()
        before = row[0]
        table.add_row(*row)
    Console().print(table)


def draw(found, path):
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(found), figsize=(4 * len(found), 3.6), sharey=True, squeeze=False)
    for axis, (program, by_size) in zip(axes[0], found.items()):
        for stage in STAGES:
            axis.plot(list(by_size), [times[stage] for times in by_size.values()], marker="o", label=stage)
        axis.set(title=program, xscale="log", yscale="log", xlabel="equations")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("CPU µs per equation")
    axes[0][-1].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--png", help="file for the curves")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker[0], int(options.worker[1]))
        return
    found = collect(options.programs.split(","), [int(n) for n in options.sizes.split(",")])
    show(found, options.markdown)
    if options.png:
        draw(found, options.png)


if __name__ == "__main__":
    main()
