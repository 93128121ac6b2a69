"""Calls from one, two and eight threads: microseconds of processor's time and on the wall for each call, least of five; prints JSON.

usage: threads.py; compare.py runs it under two interpreters.
"""
import json
import threading
import time

import jax
import jax.numpy as jnp

X = jnp.ones(8)
TREE = {f"leaf{i}": X for i in range(100)}
add = jax.jit(lambda x, y: x + y)
same = jax.jit(lambda tree: tree)
CALLS = {"jitted": lambda: add(X, X), "eager": lambda: X + X, "hundred_leaves": lambda: same(TREE), "trace": lambda: jax.make_jaxpr(lambda x: jnp.sin(x) * 2 + 1)(X)}
TOTAL = {"jitted": 8000, "eager": 8000, "hundred_leaves": 400, "trace": 80}


def measure(call, threads, total):
    def work():
        for _ in range(total // threads):
            call()
    workers = [threading.Thread(target=work) for _ in range(threads)]
    cpu, wall = time.process_time(), time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return (time.process_time() - cpu) / total * 1e6, (time.perf_counter() - wall) / total * 1e6


found = {}
for name, call in CALLS.items():
    measure(call, 1, TOTAL[name])
    for threads in (1, 2, 8):
        cpu, wall = map(min, zip(*(measure(call, threads, TOTAL[name]) for _ in range(5))))
        found[name, threads] = {"cpu": cpu, "wall": wall}
print(json.dumps({f"{name} from {threads}": times for (name, threads), times in found.items()}, indent=1))
