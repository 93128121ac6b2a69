"""Memory stays flat over known calls and over fresh functions.

    python tests/stress/memory.py [known calls] [fresh functions]
"""
import gc
import os
import sys
import time

import numpy as np
from children import end, figure

import jax
import jax.numpy as jnp


def resident() -> float:
    """Megabytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def state() -> tuple[float, int]:
    gc.collect()
    return resident(), len(gc.get_objects())


def flat(name, step, count, megabytes, objects) -> None:
    """Compare the state after a fifth of the steps with that after all of them."""
    for k in range(count // 5):
        step(k)
    before = state()
    for k in range(count // 5, count):
        step(k)
    after = state()
    grown = after[0] - before[0], after[1] - before[1]
    figure(name, f"{count} steps, the last {count - count // 5} added {grown[0]:.1f} MB and {grown[1]} objects, {after[0]:.0f} MB in all",
           grown[0] < megabytes and grown[1] < objects)


def main() -> None:
    start = time.time()
    calls, fresh = (int(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else (10**6, 10**4)))
    f = jax.jit(lambda x, y: x * 2 + y)
    x = jnp.ones(8)

    def known(k):
        f(x, k)
        if k % 1000 == 0:
            x.block_until_ready()
    flat("dispatch", known, calls, 20, 500)
    flat("eager operations", lambda k: jnp.add(x, x) * 2, calls // 10, 20, 500)
    flat("fresh functions, one text", lambda k: jax.jit(lambda v: jnp.sin(v) + 1)(x), fresh, 60, 20_000)
    flat("fresh functions, each its own", lambda k: jax.jit(lambda v: v * float(k))(x), fresh // 10, 150, 200_000)
    flat("fresh derivatives", lambda k: jax.grad(lambda v: (v * v).sum())(x), fresh, 60, 20_000)
    flat("fresh callbacks", lambda k: jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(a) + k, v, v))(x), fresh // 20, 60, 20_000)
    end(start)


if __name__ == "__main__":
    main()
