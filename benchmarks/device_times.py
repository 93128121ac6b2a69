"""Milliseconds on an accelerator: products, convolutions, attention, sorts, random numbers, factorisations, callbacks, dispatch and training
steps, and the seconds that the first call of each takes; one line of JSON for each, at once, so that what is cut off keeps what it had.

    python benchmarks/device_times.py [names that a row must contain] > ours.jsonl

under ours and under the public jax on the same machine; `python benchmarks/device_times.py --compare ours.jsonl public.jsonl` prints the ratios,
public / ours, losses first.
"""
import functools
import json
import math
import sys
import time

ROWS = {}


def row(name, calls=20):
    """A function that makes ``(f, *args)``; ``f`` is timed over so many calls in a row, of which the last is waited for."""
    def add(make):
        ROWS[name] = make, calls
        return make
    return add


def measure(make, calls):
    import jax
    f, *args = make()
    start = time.perf_counter()
    jax.block_until_ready(f(*args))
    first = time.perf_counter() - start
    best = math.inf
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(calls):
            out = f(*args)
        jax.block_until_ready(out)
        best = min(best, (time.perf_counter() - start) / calls)
    return first, 1e3 * best


def normal(*shape, dtype="float32", seed=0):
    import jax.numpy as jnp
    import numpy as np
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32), dtype)


def rows():
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    # dispatch
    row("call of a compiled program", 2000)(lambda: (jax.jit(lambda x: x + 1), jnp.ones(8)))
    row("call with 100 arrays", 200)(lambda: (jax.jit(lambda xs: [x + 1 for x in xs]), [jnp.ones(8)] * 100))
    row("eager add", 2000)(lambda: (lambda x: x + x, jnp.ones(8)))
    row("eager sin", 2000)(lambda: (jnp.sin, jnp.ones(8)))
    row("eager ones of 2^24", 50)(lambda: (lambda: jnp.ones(1 << 24),))
    row("eager sum of 2^24", 50)(lambda: (jnp.sum, normal(1 << 24)))
    row("eager index", 500)(lambda: (lambda x: x[3], jnp.ones(8)))
    row("float of a result", 200)(lambda: (lambda x: float(x.sum()), jnp.ones(8)))
    row("256 MB to the device", 4)(lambda: (jax.device_put, np.ones(1 << 26, np.float32)))
    row("256 MB to the device, may_alias", 4)(lambda: (functools.partial(jax.device_put, may_alias=True), np.ones(1 << 26, np.float32)))
    row("256 MB to the host", 4)(lambda: (lambda x: np.asarray(x + 1), jnp.ones(1 << 26)))
    # callbacks
    same = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype)
    row("pure_callback of 8", 200)(lambda: (jax.jit(lambda x: jax.pure_callback(lambda a: a, same(x), x)), jnp.ones(8)))
    row("pure_callback of 64 MB", 4)(lambda: (jax.jit(lambda x: jax.pure_callback(lambda a: a, same(x), x)), jnp.ones(1 << 24)))
    row("ordered io_callback in a scan of 100", 3)(lambda: (jax.jit(lambda x: lax.scan(
        lambda c, _: (jax.experimental.io_callback(lambda a: a, same(c), c, ordered=True), None), x, None, length=100)[0]), jnp.ones(8)))
    # products and convolutions
    for n, dtype in (8192, "bfloat16"), (4096, "float32"), (4096, "float64"):
        if dtype != "float64" or jax.config.jax_enable_x64:
            row(f"matmul {n} {dtype}")(lambda n=n, dtype=dtype: (jax.jit(jnp.matmul), normal(n, n, dtype=dtype), normal(n, n, dtype=dtype, seed=1)))
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    images = lambda: (normal(64, 56, 56, 256, dtype="bfloat16"), normal(3, 3, 256, 256, dtype="bfloat16"))
    row("conv 64x56x56x256 bfloat16")(lambda: (jax.jit(conv), *images()))
    row("conv, gradient", 10)(lambda: (jax.jit(jax.grad(lambda x, w: conv(x, w).astype("float32").sum(), (0, 1))), *images()))
    # attention
    for how in ("xla", "cudnn"):
        attend = functools.partial(jax.nn.dot_product_attention, is_causal=True, implementation=how)
        q = lambda: normal(8, 2048, 16, 64, dtype="bfloat16")
        row(f"attention {how} 8x2048x16x64")(lambda a=attend: (jax.jit(lambda q: a(q, q, q)), q()))
        row(f"attention {how}, gradient", 10)(lambda a=attend: (jax.jit(jax.grad(lambda q: a(q, q, q).astype("float32").sum())), q()))
    # passes over memory
    wide = lambda: normal(8192, 8192)
    row("softmax 8192x8192")(lambda: (jax.jit(jax.nn.softmax), wide()))
    row("gelu and its gradient 8192x8192")(lambda: (jax.jit(jax.grad(lambda x: jax.nn.gelu(x).sum())), wide()))
    row("layer norm, gradient 8192x8192")(lambda: (jax.jit(jax.grad(lambda x: (jax.nn.standardize(x) ** 3).sum())), wide()))
    row("sum over rows 8192x8192")(lambda: (jax.jit(lambda x: x.sum(0)), wide()))
    row("logsumexp 8192x8192")(lambda: (jax.jit(jax.nn.logsumexp), wide()))
    long = lambda: normal(1 << 24)
    for name in ("sort", "argsort", "cumsum", "median", "max", "argmax", "var"):
        row(f"{name} of 2^24", 10)(lambda f=getattr(jnp, name): (jax.jit(f), long()))
    row("top_k of 2^24", 5)(lambda: (jax.jit(lambda x: lax.top_k(x, 16)), long()))
    row("top_k of 1024 rows of 8192", 10)(lambda: (jax.jit(lambda x: lax.top_k(x, 16)), normal(1024, 8192)))
    row("searchsorted 2^20 in 2^20", 10)(lambda: (jax.jit(jnp.searchsorted), jnp.sort(normal(1 << 20)), normal(1 << 20, seed=1)))
    row("unique of 2^20", 5)(lambda: (jax.jit(lambda x: jnp.unique(x, size=1000)), (normal(1 << 20) * 100).astype(int)))
    row("segment_sum 2^22 to 1000", 10)(lambda: (jax.jit(lambda x, i: jax.ops.segment_sum(x, i, 1000)), normal(1 << 22), jnp.arange(1 << 22) % 1000))
    row("gather of 2^22 rows of 16", 10)(lambda: (jax.jit(lambda x, i: x[i]), normal(1 << 16, 16), jnp.arange(1 << 22) * 7919 % (1 << 16)))
    row("fft of 2^22", 10)(lambda: (jax.jit(jnp.fft.fft), normal(1 << 22).astype("complex64")))
    # random numbers
    key = jax.random.key(0)
    for name, draw in {"bits": jax.random.bits, "uniform": jax.random.uniform, "normal": jax.random.normal, "gumbel": jax.random.gumbel,
                       "truncated_normal": lambda k, shape: jax.random.truncated_normal(k, -2.0, 2.0, shape),
                       "exponential": jax.random.exponential, "randint": lambda k, shape: jax.random.randint(k, shape, 0, 77),
                       "bernoulli": lambda k, shape: jax.random.bernoulli(k, 0.3, shape)}.items():
        row(f"{name} of 2^24")(lambda draw=draw: (jax.jit(lambda k: draw(k, shape=(1 << 24,))), key))
    for name, draw in {"gamma": lambda k: jax.random.gamma(k, 2.0, (1 << 20,)), "poisson": lambda k: jax.random.poisson(k, 3.0, (1 << 20,)),
                       "beta": lambda k: jax.random.beta(k, 2.0, 3.0, (1 << 20,)), "permutation": lambda k: jax.random.permutation(k, 1 << 20),
                       "categorical": lambda k: jax.random.categorical(k, jnp.zeros(64), shape=(1 << 20,)),
                       "choice": lambda k: jax.random.choice(k, 1 << 20, (1 << 10,), replace=False)}.items():
        row(f"{name} of 2^20", 10)(lambda draw=draw: (jax.jit(draw), key))
    # factorisations
    square = lambda n: normal(n, n)
    for name, f, n in (("cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + len(x) * jnp.eye(len(x))), 4096), ("solve", lambda x: jnp.linalg.solve(x, x[:, :8]), 4096),
                       ("qr", jnp.linalg.qr, 1024), ("eigh", lambda x: jnp.linalg.eigh(x + x.T), 512), ("svd", jnp.linalg.svd, 512),
                       ("inv", jnp.linalg.inv, 2048), ("expm", jax.scipy.linalg.expm, 512), ("det", jnp.linalg.det, 1024)):
        row(f"{name} {n}", 5)(lambda f=f, n=n: (jax.jit(f), square(n) / 30))
    row("eigh of 1000 of 8x8", 5)(lambda: (jax.jit(lambda x: jnp.linalg.eigh(x + x.mT)), normal(1000, 8, 8)))
    # training steps
    row("transformer, 12 layers of 768, 8x1024 tokens, bfloat16, Adam", 5)(transformer_step)
    row("perceptron of three layers, batch 512, Adam", 100)(perceptron_step)
    row("LSTM over 256 steps, gradient", 5)(lstm_step)


def adam(loss):
    import jax
    import jax.numpy as jnp

    def step(state, *batch):
        params, m, v, t = state
        value, g = jax.value_and_grad(loss)(params, *batch)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (1 - 0.9 ** t) / (jnp.sqrt(v / (1 - 0.99 ** t)) + 1e-8), params, m, v)
        return (params, m, v, t), value
    return jax.jit(step)


def state_of(params):
    import jax
    import jax.numpy as jnp
    zeros = jax.tree.map(jnp.zeros_like, params)
    return params, zeros, zeros, jnp.float32(0)


def transformer_step(layers=12, width=768, heads=12, batch=8, length=1024, words=32_000):
    import jax
    import jax.numpy as jnp
    matrix = lambda *shape, seed=0: normal(*shape, seed=seed) * 0.02
    params = {"embed": matrix(words, width), "layers": [
        {"qkv": matrix(width, 3 * width, seed=i), "out": matrix(width, width, seed=i), "up": matrix(width, 4 * width, seed=i),
         "down": matrix(4 * width, width, seed=i), "a": jnp.ones(width), "b": jnp.ones(width)} for i in range(layers)]}

    def norm(x, scale):
        x = x.astype(jnp.float32)
        return (x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale).astype(jnp.bfloat16)

    def loss(params, tokens):
        half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        x = half["embed"][tokens[:, :-1]]
        for layer in half["layers"]:
            q, k, v = jnp.split((norm(x, layer["a"]) @ layer["qkv"]).reshape(batch, length, 3 * heads, width // heads), 3, 2)
            x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ layer["out"]
            x = x + jax.nn.gelu(norm(x, layer["b"]) @ layer["up"]) @ layer["down"]
        logits = (x @ half["embed"].T).astype(jnp.float32)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1).mean()
    tokens = jnp.arange(batch * (length + 1)).reshape(batch, length + 1) * 7919 % words
    return adam(loss), state_of(params), tokens


def perceptron_step():
    import jax.numpy as jnp
    sizes = (784, 512, 512, 10)
    params = [(normal(a, b) * a ** -0.5, jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]

    def loss(params, x, y):
        for w, b in params:
            x = jnp.tanh(x @ w + b)
        return ((x - y) ** 2).mean()
    return adam(loss), state_of(params), normal(512, 784), normal(512, 10)


def lstm_step(width=512, batch=64):
    import jax
    import jax.numpy as jnp

    def loss(w, xs):
        def step(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        return jax.lax.scan(step, (jnp.zeros((batch, width)),) * 2, xs)[1].mean()
    return jax.jit(jax.grad(loss)), normal(2 * width, 4 * width) * 0.02, normal(256, batch, width)


def compare(ours, public):
    read = lambda path: {r["name"]: r for r in map(json.loads, open(path)) if "ms" in r}
    a, b = read(ours), read(public)
    both = sorted(a.keys() & b.keys(), key=lambda n: b[n]["ms"] / a[n]["ms"])
    print("| program | ours, ms | public, ms | ratio | ours, first call, s | public | ratio |\n| --- | --- | --- | --- | --- | --- | --- |")
    for n in both:
        print(f"| {n} | {a[n]['ms']:.3g} | {b[n]['ms']:.3g} | {b[n]['ms'] / a[n]['ms']:.2f} | {a[n]['first_s']:.3g} | {b[n]['first_s']:.3g} | "
              f"{b[n]['first_s'] / a[n]['first_s']:.2f} |")
    mean = lambda key: math.exp(sum(math.log(b[n][key] / a[n][key]) for n in both) / len(both))
    print(f"\n{len(both)} programs; geometric mean of the ratios: run {mean('ms'):.2f}, first call {mean('first_s'):.2f}")
    print("only in one:", sorted(a.keys() ^ b.keys()))


def main(wanted):
    start = time.perf_counter()
    import jax
    device = jax.devices()[0]
    print(json.dumps({"jax": jax.__version__, "file": jax.__file__, "device": device.device_kind, "start_s": time.perf_counter() - start}), flush=True)
    rows()
    for name, (make, calls) in ROWS.items():
        if all(w in name for w in wanted):
            try:
                first, ms = measure(make, calls)
                print(json.dumps({"name": name, "first_s": round(first, 4), "ms": round(ms, 5)}), flush=True)
            except Exception as error:
                print(json.dumps({"name": name, "error": f"{type(error).__name__}: {str(error)[:200]}"}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        compare(*sys.argv[2:])
    else:
        main(sys.argv[1:])
