"""Plan the training of a transformer for a pod that is not here: compile one step for described chips, say what fits and what takes the time.

    python examples/pod.py                                             # 7B on v5e:16x16, four shardings
    python examples/pod.py 70B v5p:8x8x8 --sharding fsdp=64,tensor=8
    python examples/pod.py 13B h100:4x8 --sharding data=4,tensor=8     # hosts x GPUs; needs the CUDA wheels

Needs `pip install libtpu` (or `jax-cuda12-plugin jax-cuda12-pjrt nvidia-cuda-nvcc-cu12`) and no accelerator. Writes pod.png.
"""
import argparse
import collections
import concurrent.futures
import math
import os
import pathlib
import re
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.experimental import mesh_utils, topologies

MODELS = {  # layers, features, hidden features, heads; about as many parameters as the name says
    "125M": (12, 768, 2048, 12), "350M": (24, 1024, 2816, 16), "1.3B": (24, 2048, 5504, 16), "7B": (32, 4096, 11008, 32),
    "13B": (40, 5120, 13824, 40), "70B": (80, 8192, 22016, 64)}
VOCABULARY = 32768
CHIPS = {  # published: memory in GB, bfloat16 flops, bytes from memory, bytes to neighbours; each per second
    "TPU v4": (32, 275e12, 1228e9, 300e9), "TPU v5 lite": (16, 197e12, 819e9, 200e9), "TPU v5": (95, 459e12, 2765e9, 600e9),
    "TPU v6 lite": (32, 918e12, 1640e9, 448e9), "NVIDIA H100 80GB HBM3": (80, 989e12, 3350e9, 450e9)}
AXES = ("data", "fsdp", "tensor", "sequence")
BATCH = ("data", "fsdp")
GROUPS = {"parameters": 0, "Adam's moments": 1, "tokens": 2}


# -- the model -----------------------------------------------------------------------------------------------------------

def shapes(layers, features, hidden, heads):
    """Each parameter's shape, and how it is split."""
    return {"embedding": ((VOCABULARY, features), P("tensor", "fsdp")),
            "qkv": ((layers, features, 3, heads, features // heads), P(None, "fsdp", None, "tensor")),
            "out": ((layers, heads, features // heads, features), P(None, "tensor", None, "fsdp")),
            "up": ((layers, features, 2, hidden), P(None, "fsdp", None, "tensor")),
            "down": ((layers, hidden, features), P(None, "tensor", "fsdp"))}


def norm(x):
    return (x * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-6)).astype(x.dtype)


def loss(params, tokens, split):
    """Mean cross entropy of the next token; ``split(x, *spec)`` places ``x``."""
    layers = {name: w.astype(jnp.bfloat16) for name, w in params.items()}
    embedding = layers.pop("embedding")
    heads, width = params["out"].shape[1:3]

    def layer(x, w):
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchw->btchw", norm(x), w["qkv"]), 2, 0)
        k, v = (split(y, BATCH, None, "tensor") for y in (k, v))  # each chip has its queries, and all keys
        scores = jnp.einsum("bqhw,bkhw->bhqk", q, k).astype(jnp.float32) / math.sqrt(width)
        scores = jnp.where(jnp.tri(x.shape[1], dtype=bool), scores, -jnp.inf)
        x = x + jnp.einsum("bhqk,bkhw,hwd->bqd", jax.nn.softmax(scores).astype(x.dtype), v, w["out"])
        gate, up = jnp.moveaxis(jnp.einsum("btd,dch->btch", norm(x), w["up"]), 2, 0)
        x = x + jnp.einsum("bth,hd->btd", jax.nn.silu(gate) * up, w["down"])
        return split(x, BATCH, "sequence"), None

    x = split(embedding[tokens], BATCH, "sequence")
    x, _ = lax.scan(jax.checkpoint(layer), x, layers)
    logits = split(jnp.einsum("btd,vd->btv", norm(x), embedding).astype(jnp.float32), BATCH, "sequence", "tensor")
    chosen = jnp.take_along_axis(logits, jnp.roll(tokens, -1, 1)[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def train_step(params, moments, tokens, split):
    """One step of Adam."""
    value, grads = jax.value_and_grad(loss)(params, tokens, split)
    first, second = (jax.tree.map(lambda m, g, b=b, n=n: b * m + (1 - b) * g ** n, m, grads)
                     for m, b, n in zip(moments, (0.9, 0.95), (1, 2)))
    params = jax.tree.map(lambda w, m, v: w - 3e-4 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, (first, second), value


# -- the plan ------------------------------------------------------------------------------------------------------------

def describe(name):
    """The devices by their name: a TPU slice as ``v5e:16x16``, or ``h100:HOSTSxGPUS``."""
    kind, _, form = name.partition(":")
    if kind != "h100":
        return topologies.get_topology_desc(name, "tpu")
    config = pathlib.Path(__file__).parents[1] / "tests" / "accel" / "h100.txtpb"
    return topologies.get_topology_desc(kind, "cuda", topology=f"1x{form}", target_config=config.read_text())


def flops(jaxpr):
    """Of all products of matrices in a program, loops unrolled."""
    total = 0
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "dot_general":
            (contracted, _), _ = eqn.params["dimension_numbers"]
            total += 2 * eqn.outvars[0].aval.size * math.prod(eqn.invars[0].aval.shape[i] for i in contracted)
        for inner in filter(None, (getattr(value, "jaxpr", value if hasattr(value, "eqns") else None) for value in eqn.params.values())):
            total += eqn.params.get("length", 1) * flops(inner)
    return total


def collectives(text):
    """Bytes of the results of each kind of collective in a compiled program's text, times the turns of the loops around them."""
    bodies, body = {}, []
    for line in text.splitlines():
        if start := re.match(r"(?:ENTRY )?%?([\w.-]+) \(.*\{$", line):
            body = bodies.setdefault("ENTRY" if line.startswith("ENTRY") else start[1], [])
        body.append(line)
    found, counted = collections.Counter(), set()  # one collective may stand in several fusions: where it starts, goes on and ends

    def visit(name, times):
        for line in bodies.get(name, ()):
            if loop := re.search(r" while\(.*condition=%?([\w.-]+), body=%?([\w.-]+)", line):
                known = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
                limits = re.findall(r" constant\((\d+)\)", "\n".join(bodies[loop[1]]))
                visit(loop[2], times * int(known[1] if known else max(map(int, limits), default=1)))
            elif call := re.search(r" (?:call|async-start|fusion)\(.*(?:to_apply|calls)=%?([\w.-]+)", line):
                visit(call[1], times)
            if one := re.search(r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(-start)?\(", line):
                channel = re.search(r"channel_id=(\d+)", line)
                if channel and channel[1] in counted:
                    continue
                counted.add(channel and channel[1])
                sizes = [math.prod(map(int, filter(None, dims.split(",")))) * int(bits) // 8
                         for bits, dims in re.findall(r"[a-z]+(\d+)\[([\d,]*)\]", one[1].replace("pred[", "u8["))]
                found[one[2]] += times * (max(sizes) if one[3] and one[2] != "all-reduce" else sum(sizes))
    visit("ENTRY", 1)
    return found


def unfit(model, chips, sharding, batch, length):
    """Why a sharding cannot be, if so."""
    _, features, hidden, heads = MODELS[model]
    of = {**dict.fromkeys(AXES, 1), **sharding}
    if set(of) != set(AXES) or math.prod(of.values()) != chips:
        return f"needs a share of {chips} chips for each of the axes {', '.join(AXES)}"
    split = [("sequences", batch, of["data"] * of["fsdp"]), ("tokens", length, of["sequence"]), ("features", features, of["fsdp"]),
             ("heads", heads, of["tensor"]), ("hidden features", hidden, of["tensor"]), ("words", VOCABULARY, of["tensor"])]
    return "; ".join(f"{n} {what} do not divide by {parts}" for what, n, parts in split if n % parts)


def plan(model, topology, sharding, batch, length):
    """Everything about one sharding, from the compiled program of one step."""
    sizes = {**dict.fromkeys(AXES, 1), **sharding}
    mesh = jax.sharding.Mesh(mesh_utils.create_device_mesh(tuple(sizes.values()), topology.devices, allow_split_physical_axes=True), AXES)
    place = lambda *spec: jax.NamedSharding(mesh, P(*spec))
    split = lambda x, *spec: lax.with_sharding_constraint(x, place(*spec))
    params = {name: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=place(*spec)) for name, (shape, spec) in shapes(*MODELS[model]).items()}
    args = (params, (params, params), jax.ShapeDtypeStruct((batch, length), jnp.int32, sharding=place(BATCH, "sequence")))
    step = jax.jit(lambda *args: train_step(*args, split), donate_argnums=(0, 1))

    times = [time.perf_counter()]
    traced = step.trace(*args)
    times.append(time.perf_counter())
    lowered = traced.lower()
    times.append(time.perf_counter())
    kind = topology.devices[0].device_kind
    memory, peak, bandwidth, links = CHIPS[kind]
    result = {"sharding": ",".join(f"{k}={v}" for k, v in sharding.items()), "memory": memory, "kind": kind, "chips": mesh.size,
              "arguments": {name: sum(4 * math.prod(x.sharding.shard_shape(x.shape)) for x in jax.tree.leaves(args[i]))
                            for name, i in GROUPS.items()}}
    try:
        compiled = lowered.compile()
    except RuntimeError as error:
        return {**result, "problem": str(error).splitlines()[0].partition(f"{kind}: ")[2] or str(error)}
    times.append(time.perf_counter())
    sent, each = collectives(compiled.as_text()), flops(traced.jaxpr.jaxpr) / mesh.size
    stats = compiled.memory_analysis()
    used = stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
    return {**result, "temporaries": stats.temp_size_in_bytes, "headroom": memory * 1e9 - used, "flops": each, "sent": sent,
            "arithmetic": each / peak, "network": sum(sent.values()) / links, "state": 3 * sum(result["arguments"].values()) / bandwidth,
            "seconds": [b - a for a, b in zip(times, times[1:])]}


def show(plans, title):
    """The table, each row as soon as it is known; returns the rows."""
    print(f"\n{title}\n{'sharding':28} {'params':>8} {'temps':>8} {'headroom':>9} {'Tflops':>7} {'sent GB':>8} {'step s':>7}  trace, lower, compile s",
          flush=True)
    rows = []
    for p in plans:
        rows.append(p)
        params = p["arguments"]["parameters"] / 1e9
        if "problem" in p:
            print(f"{p['sharding']:28} {params:8.3f}  does not fit: {p['problem']}", flush=True)
            continue
        print(f"{p['sharding']:28} {params:8.3f} {p['temporaries'] / 1e9:8.3f} {p['headroom'] / 1e9:9.3f} {p['flops'] / 1e12:7.2f} "
              f"{sum(p['sent'].values()) / 1e9:8.3f} {step_time(p):7.3f}  {', '.join(f'{s:.2f}' for s in p['seconds'])}")
        print(" " * 29 + ", ".join(f"{name} {n / 1e9:.3f} GB" for name, n in p["sent"].most_common()), flush=True)
    best = min((p for p in rows if p.get("headroom", -1) >= 0), key=step_time, default=None)
    print(f"{'fits, and is the fastest: ' + best['sharding'] if best else 'none fits; split more, or take a smaller batch'}")
    return rows


def step_time(p):
    return max(p["arithmetic"], p["network"]) + p["state"]


def draw(plans, title, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 1.6 + 0.7 * len(plans)), layout="constrained", sharey=True)
    names = [p["sharding"].replace(",", "\n") for p in plans]
    for axis, what, bars in ((left, "memory per chip, GB", [{**p["arguments"], "temporaries": p.get("temporaries", 0)} for p in plans]),
                             (right, "sent per chip and step, GB", [p.get("sent", {}) for p in plans])):
        start = [0.0] * len(plans)
        for number, name in enumerate(dict.fromkeys(name for bar in bars for name in bar)):
            widths = [bar.get(name, 0) / 1e9 for bar in bars]
            axis.barh(names, widths, left=start, height=0.6, label=name, color=plt.cm.Set2(number + (4 if axis is right else 0)))
            start = [a + b for a, b in zip(start, widths)]
        axis.set_xlabel(what)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1), fontsize=8)
    limit = plans[0]["memory"]
    left.axvline(limit, color="black", linestyle=":")
    left.set_xlim(0, 1.25 * limit)
    for i, p in enumerate(plans):
        if "problem" in p:
            left.text(limit, i, f"does not fit: {sum(p['arguments'].values()) / 1e9:.0f} GB before any temporary ", ha="right", va="center", fontsize=8)
    left.invert_yaxis()
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="7B", choices=MODELS)
    parser.add_argument("devices", nargs="?", default="v5e:16x16")
    parser.add_argument("--sharding", action="append", help="sizes of the axes data, fsdp, tensor and sequence; may be given several times")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--length", type=int, default=2048, help="tokens in a sequence")
    parser.add_argument("--png", default="pod.png")
    args = parser.parse_args()
    topology = describe(args.devices)
    chips = len(topology.devices)
    tensor = math.gcd(8, chips, MODELS[args.model][3])
    usual = [f"fsdp={chips}", f"fsdp={chips // tensor},tensor={tensor}", f"data={chips}"]
    if tensor % 2 == 0:
        usual.insert(2, f"fsdp={chips // tensor},tensor={tensor // 2},sequence=2")
    shardings = [{name: int(n) for name, n in (part.split("=") for part in text.split(","))} for text in args.sharding or usual]
    for sharding in shardings:
        if wrong := unfit(args.model, chips, sharding, args.batch, args.length):
            parser.error(f"{','.join(f'{k}={v}' for k, v in sharding.items())}: {wrong}")
    count = sum(math.prod(shape) for shape, _ in shapes(*MODELS[args.model]).values())
    title = (f"{args.model} ({count / 1e9:.2f} billion parameters), {args.batch} sequences of {args.length} tokens, "
             f"on {chips} x {topology.devices[0].device_kind}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # the compiler takes one core for each program, and no lock of Python's
        plans = show(pool.map(lambda s: plan(args.model, topology, s, args.batch, args.length), shardings), title)
    draw(plans, title, args.png)


if __name__ == "__main__":
    main()
