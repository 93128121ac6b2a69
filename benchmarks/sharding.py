#!/usr/bin/env python3
"""What shardings cost on eight CPU devices: tracing with and without them in types, dispatch, `device_put`, parts of arrays, `shard_map`; microseconds as JSON.

usage: sharding.py; compare.py runs it under two interpreters. Each figure is the fastest of many runs.
"""
import json
import os
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS, WIDTH = 12, 64


def fastest(run, count: int) -> float:
    """Microseconds of the fastest of ``count`` calls."""
    best = float("inf")
    for _ in range(count):
        before = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - before)
    return round(best * 1e6, 1)


def layers(x, weights):
    """A stack of layers of a network: products, norms, activations."""
    for w, v in weights:
        h = x - jnp.mean(x, -1, keepdims=True)
        h = h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-6)
        h = jnp.tanh(h @ w)
        x = x + h @ v
    return jnp.sum(x * x)


def tracing(sharding=None) -> dict[str, float]:
    """Microseconds to trace the layers and their gradient, on arguments that are split over the batch or not."""
    place = lambda a, s: a if sharding is None else jax.device_put(a, NamedSharding(sharding, s))
    x = place(jnp.ones((16, WIDTH)), P("data"))
    weights = [(place(jnp.ones((WIDTH, WIDTH)), P()), place(jnp.ones((WIDTH, WIDTH)), P())) for _ in range(LAYERS)]

    def trace(f):
        return lambda: jax.jit(lambda x, weights: f(x, weights)).trace(x, weights)
    return {"forward": fastest(trace(layers), 15), "gradient": fastest(trace(jax.grad(layers, 1)), 8)}


def calls(mesh) -> dict[str, float]:
    """Microseconds of calls of compiled functions, of placing a tree, and of tracing a `shard_map`."""
    split = NamedSharding(mesh, P("data"))
    x = jax.device_put(np.ones((16, WIDTH), np.float32), split)
    f = jax.jit(lambda x: x + 1)
    f(x).block_until_ready()
    tree = {f"w{i}": np.ones((16, 8), np.float32) for i in range(100)}
    mapped = jax.shard_map(lambda a: jax.lax.psum(jnp.sin(a) * 2, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())
    whole = np.arange(16 * WIDTH, dtype=np.float32).reshape(16, WIDTH)
    weights = jax.device_put(tree, split)
    step = jax.jit(lambda weights: jax.tree.map(lambda w: w * 0.5, weights))
    step(weights)
    return {"dispatch of a step of 100 weights": fastest(lambda: step(weights), 50),
            "places of eight shards": fastest(lambda: [s.index for s in x.addressable_shards], 500),
            "parts of a shape": fastest(lambda: split.devices_indices_map(x.shape), 500),
            "shape of a part": fastest(lambda: split.shard_shape(x.shape), 500), "typeof": fastest(lambda: jax.typeof(x), 500),
            "make_array_from_callback": fastest(lambda: jax.make_array_from_callback(whole.shape, split, lambda index: whole[index]), 50),
            "dispatch": fastest(lambda: f(x), 2000), "dispatch and wait": fastest(lambda: f(x).block_until_ready(), 500),
            "device_put of 100 leaves": fastest(lambda: jax.device_put(tree, split), 20),
            "trace of shard_map": fastest(lambda: jax.jit(lambda a: mapped(a)).trace(x), 30)}


def main() -> None:
    meshes = {kind: jax.make_mesh((8,), ("data",), axis_types=(getattr(AxisType, kind),)) for kind in ("Auto", "Explicit")}
    found = {"trace without a mesh": tracing()}
    for kind, mesh in meshes.items():
        with jax.set_mesh(mesh):
            found[f"trace, {kind}"] = tracing(mesh)
            found[f"calls, {kind}"] = calls(mesh)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
