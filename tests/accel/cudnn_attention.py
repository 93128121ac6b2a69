"""cuDNN's attention on a device, beside the formula in float32: worst errors of results and derivatives, and times.

    python tests/accel/cudnn_attention.py [--times]

A case that the library refuses is printed with the first line of its message, and does not stop the others.
"""
import sys
import time

import numpy as np

import jax
import jax.numpy as jnp

B, T, S, N = 2, 256, 384, 8
LENGTHS = dict(query_seq_lengths=np.array([T, 100], np.int32), key_value_seq_lengths=np.array([77, S], np.int32))
MASK = np.random.default_rng(9).random((B, 1, T, S)) < 0.7
MASK[..., 0] = True
CASES = {  # name: (heads of the keys, components, shape of the bias, dtype of the bias, options)
    "plain": (N, 64, None, None, {}),
    "128 components": (N, 128, None, None, {}),
    "256 components": (N, 256, None, None, {}),
    "72 components": (N, 72, None, None, {}),
    "grouped": (2, 64, None, None, {}),
    "one head of keys": (1, 128, None, None, {"is_causal": True}),
    "causal": (N, 64, None, None, {"is_causal": True}),
    "scale": (N, 64, None, None, {"scale": 0.3}),
    "window": (N, 64, None, None, {"local_window_size": (31, 0)}),
    "window, causal": (N, 64, None, None, {"local_window_size": 31, "is_causal": True}),
    "lengths": (N, 64, None, None, LENGTHS),
    "lengths of keys": (N, 64, None, None, {"key_value_seq_lengths": LENGTHS["key_value_seq_lengths"]}),
    "lengths, causal": (N, 64, None, None, {**LENGTHS, "is_causal": True}),
    "lengths, window": (N, 64, None, None, {**LENGTHS, "local_window_size": (31, 0)}),
    "bias [1, N, T, S]": (N, 64, (1, N, T, S), None, {}),
    "bias [B, N, T, S]": (N, 64, (B, N, T, S), None, {}),
    "bias [1, 1, T, S]": (N, 64, (T, S), None, {}),
    "bias [B, 1, T, S]": (N, 64, (B, 1, T, S), None, {}),
    "bias [B, 1, 1, S]": (N, 64, (B, 1, 1, S), None, {}),
    "bias, grouped, causal": (2, 64, (1, N, T, S), None, {"is_causal": True}),
    "bias, lengths": (N, 64, (1, N, T, S), None, LENGTHS),
    "bias float32": (N, 64, (1, N, T, S), "float32", {}),
    "mask": (N, 64, None, None, {"mask": MASK}),
    "mask, causal": (N, 64, None, None, {"mask": MASK, "is_causal": True}),
    "mask, bias": (N, 64, (1, N, T, S), None, {"mask": MASK}),
    "mask, bias, lengths": (N, 64, (1, N, T, S), None, {"mask": MASK, **LENGTHS}),
}


def operands(heads, components, bias, bias_dtype, dtype):
    rng = np.random.default_rng(0)
    shapes = [(B, T, N, components), (B, S, heads, components), (B, S, heads, components)]
    found = [jnp.asarray(rng.normal(size=shape), dtype) for shape in shapes]
    return found if bias is None else [*found, jnp.asarray(rng.normal(size=bias), bias_dtype or dtype)]


def case(heads, components, bias, bias_dtype, options, dtype, logs, lanes):
    """Worst error of each result and cotangent, as a share of the largest value."""
    xs = operands(heads, components, bias, bias_dtype, dtype)
    live = np.full((B, T, 1), True)
    if "query_seq_lengths" in options:
        live = (np.arange(T) < options["query_seq_lengths"][:, None])[..., None]

    def run(implementation, *xs):
        def f(*xs):
            out, *rest = jax.tree.leaves(jax.nn.dot_product_attention(*xs, implementation=implementation, return_residual=logs, **options))
            rest = [jnp.where(live, x, 0).astype(jnp.float32) for x in rest]
            return sum(jnp.sum(jnp.sin(x.astype(jnp.float32))) for x in (out, *rest)), (out, *rest)
        slopes, found = jax.grad(f, tuple(range(len(xs))), has_aux=True)(*xs)
        return *found, *slopes
    together = (lambda f: lambda *xs: jax.vmap(f)(*[jnp.stack([x, x / 2]) for x in xs])) if lanes else (lambda f: f)
    ours = jax.jit(together(lambda *xs: run("cudnn", *xs)))(*xs)
    wanted = jax.jit(together(lambda *xs: run("xla", *xs)))(*[x.astype(jnp.float32) for x in xs])
    names = ["out", *["logs"] * logs, "q", "k", "v", "bias"]
    errors = {}
    for name, x, y in zip(names, ours, wanted):
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        errors[name] = float(np.abs(x - y).max() / np.abs(y).max()) if np.isfinite(x).all() else np.nan
    return errors


def show_errors():
    for name, (*sizes, options) in CASES.items():
        for dtype, logs, lanes in (("bfloat16", False, False), ("float16", False, False), ("bfloat16", True, True)):
            try:
                errors = case(*sizes, options, dtype, logs, lanes)
                wrong = not all(e < (4e-2 if dtype == "bfloat16" else 8e-3) for e in errors.values())
                text = "  ".join(f"{k} {v:.1e}" for k, v in errors.items()) + ("  WRONG" if wrong else "")
            except Exception as error:
                text = f"REFUSED {type(error).__name__}: {str(error).splitlines()[0][:200]}"
            print(f"{dtype:8}  {name:22}  {'logs, vmap' if logs else '':10}  {text}", flush=True)


def seconds(f, *xs):
    jax.block_until_ready(f(*xs))
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        jax.block_until_ready(f(*xs))
        best = min(best, time.perf_counter() - start)
    return best


def show_times():
    for length in (1024, 4096, 8192):
        q = jnp.ones((4, length, 16, 128), jnp.bfloat16)
        for derivative in (False, True):
            row = {}
            for implementation in ("cudnn", "xla"):
                def f(q, k, v):
                    return jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)
                loss = lambda *xs: f(*xs).astype(jnp.float32).sum()
                try:
                    row[implementation] = seconds(jax.jit(jax.grad(loss, (0, 1, 2)) if derivative else f), q, q, q)
                except Exception as error:
                    row[implementation] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
            print(f"causal, [4, {length}, 16, 128] bfloat16, {'derivatives' if derivative else 'forwards'}: {row}", flush=True)


if __name__ == "__main__":
    print(jax.devices())
    if "--times" in sys.argv:
        show_times()
    else:
        show_errors()
