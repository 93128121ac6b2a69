#!/usr/bin/env python3
"""Compile a list of programs for devices that are only described, with the vendors' compilers, and print the table.

usage: accelerators.py [tpu] [cuda] [--only WORD] [--against PYTHON [--rounds 2]]
Needs the wheels `libtpu`, or `jax-cuda12-plugin`, `jax-cuda12-pjrt` and `nvidia-cuda-nvcc-cu12`. Runs on the public jax too.
The exit status is the number of programs that do not compile.

With --against, the same programs are compiled in turn under another interpreter (a command, as 'env -u PYTHONPATH /opt/theirs/bin/python'),
program by program, in as many fresh pairs of processes as there are rounds. Printed are ours, theirs and the ratio ours/theirs; times are of the
processor, all threads taken together, and the minimum of the rounds.
"""
import argparse, functools, importlib.util, json, math, os, pathlib, re, shlex, subprocess, sys, time, traceback

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_THREEFRY_PARTITIONABLE", "1")  # the same layout of random bits on both sides
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
for name, value in dict(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost",
                         ALLOW_MULTIPLE_LIBTPU_LOAD="1").items():
    os.environ.setdefault(name, value)

import jax, jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback, topologies
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import client_steps
from library_flops import library_flops

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


def adam_step(w, m, v, x):
    loss = lambda w: jnp.mean((jax.nn.relu(x @ w) @ w.T - x) ** 2)
    g = jax.grad(loss)(w)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def cross_entropy(w, x, labels):
    loss = lambda w: -jnp.take_along_axis(jax.nn.log_softmax(x @ w), labels[:, None], 1).mean()
    return jax.value_and_grad(loss)(w)


def block(w, x):
    """One layer of a transformer, four heads, tokens [batch, time, features]; ``w`` holds six matrices."""
    y = jax.nn.standardize(x)
    q, k, v = (jnp.einsum("btd,de->bte", y, w[i]).reshape(*x.shape[:2], 4, -1) for i in range(3))
    x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ w[3]
    return x + jax.nn.gelu(jax.nn.standardize(x) @ w[4]) @ w[5]


def transformer(w, x):
    loss = lambda w: (lax.scan(lambda x, w: (jax.checkpoint(block)(w, x), None), x, w)[0].astype(jnp.float32) ** 2).mean()
    return w - (0.1 * jax.grad(loss)(w)).astype(w.dtype)


def lstm(w, x):
    def step(w, carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros_like(x[0])
    return jax.grad(lambda w: lax.scan(functools.partial(step, w), (zero, zero), x)[1].sum())(w)


def conv_net(k, x):
    def loss(k):
        y = conv(x, k)
        y = (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-5)
        return pool(jax.nn.relu(y)).mean()
    return k - 0.1 * jax.grad(loss)(k)


def dropout(k, x):
    keep = jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, x.shape)
    return jnp.where(keep, x / 0.9, 0)


def draw(name, *args, **options):
    return lambda k: getattr(jax.random, name)(jax.random.wrap_key_data(k), *args, **options)


def host(x):
    return jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def ordered(x):
    return io_callback(lambda a: a, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)


def printed(x):
    jax.debug.print("{}", x.sum())
    return x + 1


def told(x):
    jax.debug.callback(lambda a: None, x)
    io_callback(lambda a: None, None, x)
    return x + 1


def in_a_loop(x):
    return lax.scan(lambda c, a: (ordered(c) + ordered(a), None), x[0], x)[0]


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
    "Adam step": (adam_step, [A, A, A, A]),
    "cross entropy": (cross_entropy, [A, A, "i32[64]"]),
    "transformer step": (transformer, ["bf16[3,6,64,64]", "bf16[4,128,64]"]),
    "LSTM gradient": (lstm, ["f32[128,256]", "f32[16,8,64]"]),
    "convolution step": (conv_net, [KERNEL, IMAGE]),
    "dropout": (dropout, ["u32[2]", A]),
    "Jacobian": (jax.jacrev(lambda x: jnp.tanh(x).cumsum()), ["f32[64]"]),
    "Hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x[::-1])), ["f32[64]"]),
    "pure_callback": (host, [A]),
    "io_callback ordered": (ordered, [A]),
    "debug.print": (printed, [A]),
    "callbacks without results": (told, [A]),
    "ordered callbacks in a loop": (in_a_loop, [A]),
    "ordered callbacks stacked": (lambda x: lax.scan(lambda c, a: (c, ordered(a)), 0.0, x)[1], [A]),
    "callback under vmap": (jax.vmap(host), [A]),
    "callback in a branch": (lambda x: lax.cond(x[0, 0] > 0, ordered, jnp.sin, x), [A]),
}

SINGLE |= {  # what lost on a GPU, to run or at the first call (`device_times.py`): as large as there
    "expm of 512x512": (jax.scipy.linalg.expm, ["f32[512,512]"]),
    "randint of 2^24": (draw("randint", (1 << 24,), 0, 77), ["u32[2]"]),
    "gamma of 2^20": (draw("gamma", 2.0, (1 << 20,)), ["u32[2]"]),
    "beta of 2^20": (draw("beta", 2.0, 3.0, (1 << 20,)), ["u32[2]"]),
    "poisson of 2^20": (draw("poisson", 3.0, (1 << 20,)), ["u32[2]"]),
    "choice of 2^20": (draw("choice", 1 << 20, (1 << 10,), replace=False), ["u32[2]"]),
    "var of 2^24": (jnp.var, ["f32[16777216]"]),
    "eigh of 1000 of 8x8": (lambda x: jnp.linalg.eigh(x + x.mT), ["f32[1000,8,8]"]),
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


def lowered_at(place, fun, types):
    return jax.jit(fun).lower(*jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), types))


def programs(topology):
    """Each program's name, and what lowers it for the devices."""
    here = SingleDeviceSharding(topology.devices[0])
    for name, (fun, types) in SINGLE.items():
        yield name, lambda fun=fun, types=types: jax.jit(fun).lower(*[struct(t, here) for t in types])
    ring = topologies.make_mesh(topology, (4,), ("x",))
    for name, (fun, out) in PARTS.items():
        yield name, lambda fun=fun, out=out: jax.jit(jax.shard_map(fun, mesh=ring, in_specs=X, out_specs=out, check_vma=False)).lower(
            struct(A, NamedSharding(ring, X)))
    for name, made in client_steps.STEPS.items():
        if importlib.util.find_spec(name.split()[0].replace("nnx", "flax").replace("linen", "flax")) is not None:
            yield name, lambda made=made: lowered_at(here, *made())
    grid = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    for name, (fun, specs) in SPREAD.items():
        yield name, lambda fun=fun, specs=specs: jax.jit(fun).lower(*[struct(A, NamedSharding(grid, s)) for s in specs])


FIGURES = {  # name: (floor: below it, two figures count as equal; what of a compiled program)
    "flops": (1e3, "flops"), "bytes": (4096, "bytes accessed"), "est. seconds": (1e-7, "optimal_seconds"), "temporaries": (4096, None),
    "kernels": (1, None), "compile s": (0.02, None), "lower, compile s": (0.02, None)}
_KERNEL = re.compile(r"^ +(?:ROOT )?%?(\S+) = .*? (fusion|custom-call|sort|convolution|dot|scatter|gather|reduce|reduce-window|copy)\(", re.M)


def kernels(text):
    """How many operations of the optimised program are kernels of their own: those in the bodies that no fusion calls."""
    inside = set(re.findall(r" fusion\(.*?calls=%?([\w.-]+)", text)) | set(re.findall(r"to_apply=%?([\w.-]+)", text))
    bodies = re.findall(r"^(?:ENTRY )?%?([\w.-]+) \(.*?\) -> .*?\{\n(.*?)^\}", text, re.M | re.S)
    return sum(len(_KERNEL.findall(body)) for name, body in bodies if name not in inside)


def counted(compiled):
    """What the compiler says of a program; where it says nothing of its costs, XLA's own count over the optimised program. Libraries' work is added."""
    cost = compiled.cost_analysis()
    if not cost:
        from jaxlib import _jax
        cost = _jax.hlo_module_cost_analysis(jax.devices("cpu")[0].client, compiled.runtime_executable().hlo_modules()[0])
    text = compiled.as_text()
    found = {name: max(cost.get(key, 0.0), 0.0) for name, (_, key) in FIGURES.items() if key}
    return {**found, "flops": found["flops"] + library_flops(text), "temporaries": compiled.memory_analysis().temp_size_in_bytes, "kernels": kernels(text)}


def measured(lower):
    start = time.process_time()
    lowered = lower()
    middle = time.process_time()
    compiled = lowered.compile()
    end = time.process_time()
    return {**counted(compiled), "lower s": middle - start, "compile s": end - middle, "lower, compile s": end - start}


def said(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"


def compile_all(platform, only):
    """Print a line for each program; returns the names of those that do not compile."""
    lost, count, topology = [], 0, TOPOLOGIES[platform]()
    print(f"\n{f'{platform} ({topology.devices[0].device_kind})':36} {'lower s':>8} {'compile s':>9} {'flops':>11} {'bytes':>11} "
          f"{'temporaries':>11} {'kernels':>7}")
    for name, lower in programs(topology):
        if only not in name:
            continue
        count += 1
        try:
            it = measured(lower)
            print(f"{name:36} {it['lower s']:8.2f} {it['compile s']:9.2f} {it['flops']:11.4g} {it['bytes']:11.4g} {it['temporaries']:11d} "
                  f"{it['kernels']:7d}", flush=True)
        except Exception as error:
            lost.append(name)
            print(f"{name:36} {said(error)}", flush=True)
            if only:
                traceback.print_exc()
    print(f"{platform}: {count - len(lost)} of {count}{'; not ' + ', '.join(lost) if lost else ''}")
    return lost


def serve(platform):
    """Answer each line, the name of a program, with its figures as JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    topology = TOPOLOGIES[platform]()
    ready = dict(programs(topology))
    lowered_at(SingleDeviceSharding(topology.devices[0]), lambda x: jnp.cos(x @ x), [struct(A, None)]).compile()  # what a compiler does once is no program's
    for line in sys.stdin:
        try:
            answer = measured(ready[line.strip()])
        except Exception as error:
            answer = {"error": said(error)}
        print(json.dumps(answer), file=answers, flush=True)


class Side:
    """An interpreter that compiles what it is told."""

    def __init__(self, python, platform):
        self.process = subprocess.Popen([*shlex.split(python), os.path.abspath(__file__), platform, "--serve"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def compile(self, name):
        print(name, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(platform, only, theirs, rounds):
    """Print a Markdown table, losses first, and the geometric means; returns the names of what ours does not compile."""
    names = [name for name, _ in programs(TOPOLOGIES[platform]()) if only in name]
    found = {name: ({}, {}) for name in names}
    for turn in range(rounds):
        sides = [Side(sys.executable, platform), Side(theirs, platform)]
        for i, name in enumerate(names):
            for k in (0, 1) if (i + turn) % 2 == 0 else (1, 0):
                seen, answer = found[name][k], sides[k].compile(name)
                seen.update({key: min(value, seen.get(key, math.inf)) if key != "error" else value for key, value in answer.items()})
        for side in sides:
            side.end()
    lost = [name for name in names if "error" in found[name][0]]
    for name in names:
        for who, it in zip(("ours", "theirs"), found[name]):
            if "error" in it:
                print(f"not compiled by {who}: {name}: {it['error']}")
    rows = {name: {key: (o[key], t[key], max(o[key], floor) / max(t[key], floor)) for key, (floor, _) in FIGURES.items()}
            for name, (o, t) in found.items() if "error" not in {**o, **t}}
    shown = [key for key in FIGURES if any(row[key][0] or row[key][1] for row in rows.values())]
    worst = lambda name: max(ratio for key, (*_, ratio) in rows[name].items() if not key.endswith("compile s"))
    print(f"\n| {platform} | {' | '.join(shown)} |\n|{'---|' * (len(shown) + 1)}")
    means = {key: math.exp(sum(math.log(row[key][2]) for row in rows.values()) / len(rows)) for key in shown}
    print(f"| **geometric mean of {len(rows)}** | {' | '.join(f'**{means[key]:.3f}**' for key in shown)} |")
    for name in sorted(rows, key=worst, reverse=True):
        cells = [f"{o:.3g} / {t:.3g}" + (f" = {ratio:.2f}" if abs(ratio - 1) >= 0.005 else "") for o, t, ratio in (rows[name][k] for k in shown)]
        print(f"| {name} | {' | '.join(cells)} |")
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platforms", nargs="*", choices=[[], *TOPOLOGIES], default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--against", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(*args.platforms)
    lost = 0
    for platform in args.platforms or TOPOLOGIES:
        lost += len(compare(platform, args.only, args.against, args.rounds) if args.against else compile_all(platform, args.only))
    sys.exit(lost)


if __name__ == "__main__":
    main()
