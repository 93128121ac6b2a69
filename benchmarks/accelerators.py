#!/usr/bin/env python3
"""Compile a list of programs for devices that are only described, with the vendors' compilers, and print the table.

usage: accelerators.py [tpu] [cuda] [--only WORD]
Needs the wheels `libtpu`, or `jax-cuda12-plugin`, `jax-cuda12-pjrt` and `nvidia-cuda-nvcc-cu12`. Runs on the public jax too.
The exit status is the number of programs that do not compile.
"""
import os, pathlib, sys, time, traceback

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
for name, value in dict(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost").items():
    os.environ.setdefault(name, value)

import jax, jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback, topologies
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding

CONFIG = pathlib.Path(__file__).parents[1] / "tests" / "accel" / "h100.txtpb"
TOPOLOGIES = {
    "tpu": lambda: topologies.get_topology_desc("v5e:2x2", "tpu"),
    "cuda": lambda: topologies.get_topology_desc(platform="cuda", topology_name="h100", topology="1x1x4", target_config=CONFIG.read_text()),
}

A, B, V = "f32[64,64]", "f32[32,64]", "f32[4096]"
IMAGE, KERNEL = "f32[8,32,32,16]", "f32[3,3,16,32]"
DIMS = ("NHWC", "HWIO", "NHWC")


def spd(x):
    return x @ x.T + 64 * jnp.eye(len(x), dtype=x.dtype)


def conv(x, k):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=DIMS)


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attention(q, k, v):
    return jax.nn.softmax(jnp.einsum("qd,kd->qk", q, k) / 8.0) @ v


def train_step(w, x):
    loss = lambda w: jnp.mean((jnp.tanh(x @ w) - 1.0) ** 2)
    return w - 0.1 * jax.grad(loss)(w)


def draw(name, *args, **options):
    return lambda k: getattr(jax.random, name)(jax.random.wrap_key_data(k), *args, **options)


def host(x):
    return jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def ordered(x):
    return io_callback(lambda a: a, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)


def printed(x):
    jax.debug.print("{}", x.sum())
    return x + 1


def segment(x):
    return jax.ops.segment_sum(x, jnp.arange(4096) % 7, 7)


SINGLE = {  # name: (function, types of the arguments)
    "matmul f32": (lambda a, b: a @ b, [A, A]),
    "matmul bf16": (lambda a, b: a @ b, ["bf16[64,64]"] * 2),
    "matmul int8": (lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), ["i8[64,64]"] * 2),
    "einsum batched": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ["f32[4,64,64]"] * 2),
    "elementwise": (lambda x: jnp.tanh(x) * jax.nn.gelu(x) + jnp.log1p(jnp.exp(x)), [V]),
    "special functions": (lambda x: jax.scipy.special.gammaln(x) + jax.scipy.special.erfinv(x) + jax.scipy.special.i0(x), [V]),
    "integers": (lambda x: (x // 3) % 7 + lax.population_count(x) + (x << 2), ["i32[4096]"]),
    "complex": (lambda x: jnp.exp(x) * jnp.sqrt(x), ["c64[64,64]"]),
    "reductions": (lambda x: (x.sum(0), x.max(1), x.argmin(1), jnp.nanmean(x)), [A]),
    "cumulative": (lambda x: (jnp.cumsum(x), lax.cummax(x), lax.cumlogsumexp(x)), [V]),
    "sort": (jnp.sort, [V]),
    "argsort": (jnp.argsort, [V]),
    "sort two keys": (lambda x, y: lax.sort((x, y), num_keys=2), [V, V]),
    "top_k": (lambda x: lax.top_k(x, 16), [A]),
    "unique": (lambda x: jnp.unique(x, size=64), ["i32[4096]"]),
    "median": (jnp.median, [V]),
    "gather": (lambda x, i: x[i], [A, "i32[32]"]),
    "scatter": (lambda x, i: x.at[i].add(1.0), [A, "i32[32]"]),
    "segment_sum": (segment, [V]),
    "dynamic_slice": (lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (8, 8)), (0, i)), [A, "i32[]"]),
    "conv": (conv, [IMAGE, KERNEL]),
    "conv bf16": (conv, ["bf16[8,32,32,16]", "bf16[3,3,16,32]"]),
    "conv gradient": (lambda x, k: jax.grad(lambda x, k: conv(x, k).sum(), (0, 1))(x, k), [IMAGE, KERNEL]),
    "conv grouped": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=DIMS, feature_group_count=16),
                     [IMAGE, "f32[3,3,1,32]"]),
    "max pooling": (pool, [IMAGE]),
    "pooling gradient": (jax.grad(lambda x: pool(x).sum()), [IMAGE]),
    "resize": (lambda x: jax.image.resize(x, (8, 64, 64, 16), "bilinear"), [IMAGE]),
    "cholesky": (lambda x: jnp.linalg.cholesky(spd(x)), [A]),
    "triangular solve": (lambda x, b: jax.scipy.linalg.solve_triangular(x, b, lower=True), [A, A]),
    "lu": (jax.scipy.linalg.lu, [A]),
    "solve": (jnp.linalg.solve, [A, A]),
    "det and inverse": (lambda x: (jnp.linalg.det(x), jnp.linalg.inv(x)), [A]),
    "qr": (jnp.linalg.qr, [A]),
    "qr batched": (jnp.linalg.qr, ["f32[4,32,16]"]),
    "eigh": (lambda x: jnp.linalg.eigh(spd(x)), [A]),
    "eigh gradient": (jax.grad(lambda x: jnp.linalg.eigh(spd(x))[1].sum()), [A]),
    "svd": (lambda x: jnp.linalg.svd(x, full_matrices=False), [B]),
    "svd full": (jnp.linalg.svd, [B]),
    "svd batched": (lambda x: jnp.linalg.svd(x, full_matrices=False), ["f32[3,48,16]"]),
    "svd values": (lambda x: jnp.linalg.svd(x, compute_uv=False), [B]),
    "svd complex": (lambda x: jnp.linalg.svd(x, full_matrices=False), ["c64[32,24]"]),
    "pinv and lstsq": (lambda x, b: (jnp.linalg.pinv(x), jnp.linalg.lstsq(x, b)[0]), [A, A]),
    "expm": (jax.scipy.linalg.expm, [A]),
    "tridiagonal": (lambda d, b: lax.linalg.tridiagonal_solve(d, d, d, b), ["f32[64]", "f32[64,4]"]),
    "fft": (jnp.fft.fft, ["c64[8,256]"]),
    "rfft2 and back": (lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)), [A]),
    "normal": (draw("normal", (4096,)), ["u32[2]"]),
    "permutation": (draw("permutation", 4096), ["u32[2]"]),
    "gamma": (draw("gamma", 2.0, (256,)), ["u32[2]"]),
    "categorical": (lambda k, x: jax.random.categorical(jax.random.wrap_key_data(k), x), ["u32[2]", A]),
    "rng_bit_generator": (lambda k: lax.rng_bit_generator(k, (4096,)), ["u32[4]"]),
    "scan": (lambda x: lax.scan(lambda c, a: (jnp.tanh(c @ x), a.sum()), x, x), [A]),
    "scan gradient": (jax.grad(lambda x: lax.scan(lambda c, a: (jnp.tanh(c @ x), a.sum()), x, x)[0].sum()), [A]),
    "while and cond": (lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: lax.cond(c[0] > 0, jnp.sin, jnp.exp, c) + 1, x), [V]),
    "associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), [V]),
    "attention": (attention, [A, A, A]),
    "layer norm": (lambda x: jax.nn.standardize(x), [A]),
    "training step": (train_step, [A, A]),
    "training step bf16": (train_step, ["bf16[64,64]"] * 2),
    "dot_product_attention": (jax.nn.dot_product_attention, ["bf16[2,128,4,64]"] * 3),
    "checkpoint": (jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), [A]),
    "vmap of solve": (jax.vmap(jnp.linalg.solve), ["f32[4,16,16]", "f32[4,16,2]"]),
    "pure_callback": (host, [A]),
    "io_callback ordered": (ordered, [A]),
    "debug.print": (printed, [A]),
}

X = P("x")
PARTS = {  # inside shard_map over the axis "x" of four devices
    "psum": (lambda x: lax.psum(x, "x"), P()),
    "all_gather": (lambda x: lax.all_gather(x, "x", tiled=True), X),
    "psum_scatter": (lambda x: lax.psum_scatter(x, "x", tiled=True), X),
    "all_to_all": (lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True), X),
    "ppermute": (lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]), X),
}
SPREAD = {  # placements are the compiler's; over the axes "x" and "y"
    "sharded matmul": (lambda a, b: a @ b, [P("x", "y"), P("y", "x")]),
    "sharded training step": (train_step, [P(None, "y"), P("x", None)]),
    "sharded reduction": (lambda x: (x.sum(), x.max(0)), [P("x", "y")]),
    "sharded sort": (jnp.sort, [P("x", "y")]),
    "sharded callback": (host, [P("x", "y")]),
}
DTYPES = {"f32": "float32", "bf16": "bfloat16", "i8": "int8", "i32": "int32", "u32": "uint32", "c64": "complex64"}


def struct(text, sharding):
    dtype, _, shape = text.rstrip("]").partition("[")
    return jax.ShapeDtypeStruct(tuple(map(int, filter(None, shape.split(",")))), DTYPES[dtype], sharding=sharding)


def programs(topology):
    """Each program's name, and what lowers it for the devices."""
    here = SingleDeviceSharding(topology.devices[0])
    for name, (fun, types) in SINGLE.items():
        yield name, lambda fun=fun, types=types: jax.jit(fun).lower(*[struct(t, here) for t in types])
    ring = topologies.make_mesh(topology, (4,), ("x",))
    for name, (fun, out) in PARTS.items():
        yield name, lambda fun=fun, out=out: jax.jit(jax.shard_map(fun, mesh=ring, in_specs=X, out_specs=out, check_vma=False)).lower(
            struct(A, NamedSharding(ring, X)))
    grid = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    for name, (fun, specs) in SPREAD.items():
        yield name, lambda fun=fun, specs=specs: jax.jit(fun).lower(*[struct(A, NamedSharding(grid, s)) for s in specs])


def compile_all(platform, only):
    """Print a line for each program; returns the names of those that do not compile."""
    lost, count = [], 0
    print(f"\n{platform + ' (' + str(TOPOLOGIES[platform]().devices[0].device_kind) + ')':36} {'lower s':>8} {'compile s':>9} "
          f"{'flops':>11} {'bytes':>11} {'temporaries':>11}")
    for name, lower in programs(TOPOLOGIES[platform]()):
        if only not in name:
            continue
        count += 1
        try:
            start = time.perf_counter()
            lowered = lower()
            middle = time.perf_counter()
            compiled = lowered.compile()
            seconds = time.perf_counter() - middle
            cost, memory = compiled.cost_analysis() or {}, compiled.memory_analysis()
            print(f"{name:36} {middle - start:8.2f} {seconds:9.2f} {cost.get('flops', 0):11.4g} {cost.get('bytes accessed', 0):11.4g} "
                  f"{memory.temp_size_in_bytes:11d}", flush=True)
        except Exception as error:
            lost.append(name)
            print(f"{name:36} {type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
            if only:
                traceback.print_exc()
    print(f"{platform}: {count - len(lost)} of {count}{'; not ' + ', '.join(lost) if lost else ''}")
    return lost


def main():
    words = sys.argv[1:]
    only = words.pop(words.index("--only") + 1) if "--only" in words else ""
    platforms = [w for w in words if w in TOPOLOGIES] or list(TOPOLOGIES)
    sys.exit(sum(len(compile_all(platform, only)) for platform in platforms))


if __name__ == "__main__":
    main()
