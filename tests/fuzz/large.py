"""Programs of arrays that are large enough for what the compiler does otherwise: fusions, tiles, threads, kernels of libraries, long loops.

A program is a few lines, as those of `templates`, of arrays of up to some hundred thousand elements, in the slots that are filled there. Each
is compiled: what a large program computes is not what its small sibling does, element by element, but what XLA made of it.
"""
from __future__ import annotations

import random

from fuzz import values

SIZES = (7, 32, 100, 128, 257, 1000, 4096, 5000)
ELEMENTS = 300_000  # of an argument or a result
DTYPES = ("float32",) * 8 + ("int32", "int32", "bfloat16", "float16", "float64", "uint8", "complex64", "bool")

_SUMS = ("jnp.sum", "jnp.mean", "jnp.max", "jnp.min", "jnp.var", "jnp.std", "jnp.argmax", "jnp.argmin", "jnp.any", "jnp.median", "jnp.count_nonzero", "jax.nn.logsumexp", "jnp.linalg.norm", "jnp.ptp", "jnp.nansum", "jnp.nanmax", "jnp.average")
_WHOLE = ("jax.nn.softmax", "jax.nn.log_softmax", "jax.nn.standardize", "jnp.cumsum", "jnp.sort", "jnp.argsort", "lax.cummax", "lax.cummin", "lax.cumlogsumexp", "jnp.flip", "jnp.diff", "jnp.gradient", "jnp.fft.rfft", "jnp.fft.fft", "jnp.unwrap", "jnp.nancumsum")
_SLICES = ("1:", ":-1", "::2", "::-1", "..., 1:", "..., ::3", "..., None", "None", "-5:", "..., -1")
_PLACES = "jnp.arange(500) * 7 % {x}.shape[0]"
_CENTRED = "({f} - jnp.mean({f}, -1, keepdims=True)) / jnp.sqrt(jnp.var({f}, -1, keepdims=True) + 1e-3)"
_ATTENTION = "jax.nn.softmax({m}[:200] @ {m}[:200].T * 0.1, axis=-1) @ {m}[:200]"
_LOSSES = ("jnp.sum({f} * jnp.tanh(c))", "jnp.mean(jax.nn.softmax(c, -1) ** 2)", "jnp.sum(jnp.cumsum(c, 0) ** 2) * 1e-4", "jnp.sum(jnp.sort(c, -1)[..., :9] ** 2)", "jnp.max(c * {f})", "jax.nn.logsumexp(c * 2)", "jnp.sum(jnp.max(c, -1) * jnp.min(c, -1))",
           "jnp.sum(jnp.where({mask}, jnp.exp(-c * c), jnp.sin(c)))", "jnp.var(c)", "jnp.sum(jnp.linalg.norm(c, axis=-1))", "jnp.sum(c[jnp.arange(300) % c.shape[0]] ** 2)", "jnp.sum(c.at[jnp.arange(300) * 3 % c.shape[0]].add(c[0]) ** 2) * 0.1", "jnp.sum(((c - jnp.mean(c, -1, keepdims=True)) / jnp.sqrt(jnp.var(c, -1, keepdims=True) + 0.1)) ** 3)",
           "jnp.sum(jax.nn.gelu(c) * {f})", "jnp.mean(jnp.abs(c - {f}))", "jnp.sum(lax.scan(lambda s, t: (jnp.tanh(s * 0.5 + t), s.sum() / s.size), c[0], c)[1])", "jnp.sum(jnp.take_along_axis(c, jnp.argsort({f}, -1), -1)[..., :3])", "jnp.sum(jnp.roll(c, 3, 0) * c)", "jnp.mean(jnp.quantile(c, 0.3, axis=-1))",
           "jnp.sum(lax.fori_loop(0, 5, lambda i, s: jnp.sin(s) + c, c) ** 2)", "jnp.sum(jax.ops.segment_sum(c, jnp.arange(c.shape[0]) % 7, 7) ** 2)", "jnp.sum(lax.cummax(c, 0) * {f})", "jnp.sum(lax.associative_scan(lambda s, t: s * 0.1 + t, c) ** 2) * 0.01", "jnp.sum(jnp.prod(jnp.tanh(c[..., :5]), -1))", "jnp.sum(jnp.clip(c, -0.5, {lit}))")
_MATRIX_LOSSES = ("jnp.mean((c.T @ c) ** 2)", "jnp.mean(jnp.tanh(c @ {m}.T) ** 2)", "jnp.sum(jax.nn.softmax(c[:100] @ c[:100].T * 0.1) @ c[:100])", "jnp.mean(jnp.einsum('ij,ik->jk', c, {m}) ** 2)", "jnp.mean(jax.vmap(lambda t: jnp.tanh({m} @ t))(c) ** 2)", "jnp.sum(lax.map(lambda t: jnp.max(t * {m}[0]), c))",
                  "jnp.sum(lax.reduce_window(c, -jnp.inf, lax.max, (3, 2), (2, 1), 'SAME'))", "jnp.mean(lax.conv_general_dilated(c[None, None], {m}[None, None, :3, :3], (1, 1), 'SAME') ** 2)", "jnp.linalg.slogdet(c[:, :40].T @ c[:, :40] + 50 * jnp.eye(min(40, c.shape[1])))[1]", "jnp.mean(jax.checkpoint(lambda t: jnp.tanh(jnp.tanh(t @ {m}.T) @ {m}))(c) ** 2)",
                  "jnp.sum(lax.scan(jax.checkpoint(lambda s, t: (jnp.tanh(s + t) * 0.9, jnp.sum(s * t))), c[0], c)[1]) * 1e-3")

LINES = (
    *["(lambda c, t: {body c,t})({x}, {y})", "(lambda c: {body c})({x})"] * 12, "jnp.{unary}({x})", "jnp.{unary}({x}) * jnp.{unary}({y})", "jnp.where({mask}, {x}, {y})", "jnp.clip({x}, {lit}, {y})", "{x} // {y}", "{x} % {y}", "{x} ** 2 + {y}", "{x}.astype({dtype})", "jnp.hypot({x}, {y})", "jnp.logaddexp({x}, {y})",
    *[f"{name}({{x}}, axis={{axis}}, keepdims={flag})" for name in _SUMS for flag in (True, False) if not (flag and "count" in name)], *[f"{name}({{x}}, axis={{axis}})" for name in _WHOLE],
    *[f"{{x}}[{place}]" for place in _SLICES], f"{{x}}[{_PLACES}]", f"jnp.take({{x}}, {_PLACES} - 3, axis=0, mode='wrap')", "jnp.take_along_axis({x}, jnp.argsort({x}, axis=-1), -1)", "{x}[jnp.where({mask}.ravel()[:50], 1, 0)]", *[f"{{x}}.at[{_PLACES}].{how}({{lit}})" for how in ("set", "add", "max", "mul")], f"{{x}}.at[{_PLACES}].add({{x}}[{_PLACES}])", "{x}.at[1:].set({x}[:-1])",
    "lax.dynamic_slice_in_dim({x}, {i}.ravel()[0], 5, 0)", "jnp.roll({x}, 17, {axis})", "jnp.pad({x}, 3, mode='reflect')", "jnp.pad({x}, 2)", "jnp.concatenate([{x}, {x}], 0)", "jnp.stack([{x}, {x} * 2], -1)", "{x}.reshape(-1)", "{x}.T", "jnp.swapaxes({x}, 0, -1) * 2", "jnp.repeat({x}[:50], 3, 0)", "jnp.tile({x}[:20], 5)", "jnp.broadcast_to({x}[:1], {x}.shape)", "jnp.tril({m}, {n})", "jnp.diagonal({m})",
    *[f"jax.ops.segment_{how}({{x}}, jnp.arange({{x}}.shape[0]) * 5 % 13, 13)" for how in ("sum", "max", "min", "prod")], "jnp.bincount({i}.ravel(), length=20)", "jnp.histogram({f}, 10)[0].sum()", "jnp.searchsorted(jnp.linspace(-2, 2, 33), {f})", "jnp.digitize({f}, jnp.linspace(-2, 2, 9))", "jnp.interp({f}, jnp.linspace(-2, 2, 33), jnp.linspace(-2, 2, 33) ** 3)", "jax.nn.one_hot({i}.ravel()[:500], 9)", "jnp.unique({i}, size=9)", "jnp.isin({i}, jnp.arange(0, 9, 2))", "jnp.nonzero({mask}.ravel(), size=50)[0]",
    "lax.sort(({x}, {x} * 2), num_keys=1)[1]", "lax.top_k({x}, 5)[0]", "lax.top_k({x}, 5)[1]", "jnp.partition({x}, 3)[..., 3]", "jnp.sort({x}, axis=0, descending=True)", "jnp.lexsort(({i}.ravel(), {i}.ravel() % 3))", "jnp.quantile({f}, jnp.array([0.1, 0.5]), axis={axis})", "jnp.nanmedian({f}, axis={axis})", "jnp.percentile({x}, 30)", "jnp.trapezoid({f}, axis={axis})", "jnp.cov({m}[:40])", "jnp.corrcoef({m}[:20])",
    *["{m} @ {m}.T", "{m}.T @ {m}", "{x} @ {y}", "jnp.tanh({m} @ {m}.T)", _CENTRED, _ATTENTION, "jnp.einsum('ij,kj->ik', {m}, {m})", "jnp.einsum('ij,ij->i', {m}, {m})"] * 2, "jnp.einsum('ij->j', {m})", "jnp.einsum('...i,...i', {x}, {x})", "jnp.tensordot({m}, {m}, ((0,), (0,)))", "jnp.matmul({m}[None, :100], {m}.T[None, :, :90])", "lax.dot({m}, {m}.T, preferred_element_type='float32')", "jnp.outer({f}.ravel()[:300], {f}.ravel()[:200])", "jnp.linalg.matrix_power({m}[:30, :7] @ {m}[:30, :7].T * 0.01, 3)",
    "jnp.linalg.solve({m}[:50, :7] @ {m}[:50, :7].T + 40 * jnp.eye(50), jnp.arange(50.0))", "jnp.linalg.cholesky({m}[:60, :7] @ {m}[:60, :7].T + 40 * jnp.eye(60))", "jnp.linalg.inv({m}[:33, :7] @ {m}[:33, :7].T + 40 * jnp.eye(33))", "jnp.linalg.eigvalsh({m}[:32, :7] @ {m}[:32, :7].T)", "jnp.linalg.qr({m}[:64, :7])[1]", "jnp.linalg.svd({m}[:40, :30], compute_uv=False)",
    *[f"lax.conv_general_dilated({{m}}[None, None], {{m}}[None, None, :{k}, :{k}], ({s}, 1), '{pad}')" for k, s, pad in ((3, 1, "SAME"), (5, 2, "VALID"), (1, 1, "SAME"))], "lax.conv_general_dilated({m}[None, :, :, None] * jnp.ones(3, {m}.dtype), jnp.ones((3, 3, 3, 4), {m}.dtype), (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))", "jnp.convolve({f}.ravel()[:999], {f}.ravel()[:31], 'same')",
    *[f"jnp.max(({{m}} * 40).astype('{byte}') * 3, {{axis}})" for byte in ("int8", "uint8")], "jnp.sum((({f} * 40).astype('uint8') - 9).astype('float32'))", "jnp.min(-({f} * 9).astype('int8').reshape(-1))",
    *[f"lax.reduce_window({{m}}, {start}, lax.{op}, (3, 2), (2, 1), 'SAME')" for op, start in (("add", "0."), ("max", "-jnp.inf"))], "jnp.fft.irfft(jnp.fft.rfft({f}))", "jnp.fft.fft2({m}).real", "jax.image.resize({m}, (37, 50), 'linear')", "jax.scipy.signal.fftconvolve({f}.ravel()[:800], {f}.ravel()[:64])",
    "lax.scan(lambda c, t: (jnp.tanh(c * 0.5 + t), c.sum()), {m}[0], {m})", "lax.scan(lambda c, t: (c + t, c), {x}[0] * 0, {x})[1]", "lax.scan(lambda c, t: (jnp.maximum(c, t), c * t), {x}[0], {x}, reverse=True, unroll=4)", "lax.scan(lambda c, t: (c.at[t % 7].add(1.0), c[t % 3]), jnp.zeros(9), {i}.ravel()[:400])", "lax.fori_loop(0, 50, lambda i, c: c * 0.9 + jnp.sin(c), {f})", "lax.fori_loop(0, {x}.shape[0], lambda i, c: c.at[i].multiply(2), {x})", "lax.fori_loop(1, {x}.shape[0], lambda i, c: c.at[i].add(c[i - 1]), {x} * 0 + 1)",
    "lax.while_loop(lambda c: (jnp.max(jnp.abs(c[1])) > 0.1) & (c[0] < 60), lambda c: (c[0] + 1, c[1] * 0.8), (0, {f}))", "lax.map(lambda c: jnp.sum(jnp.sort(c)[:3]), {m})", "lax.map(lambda c: {body c}, {x}, batch_size=32)", "lax.associative_scan(jnp.maximum, {x})", "lax.associative_scan(lambda s, t: s * 0.5 + t, {f}, axis={axis})", "lax.cond({f}.sum() > 0, lambda c: {body c}, lambda c: c * 2, {x})", "jax.vmap(lambda c: lax.while_loop(lambda s: s[0] * s[0] + s[1] < 30, lambda s: (s[0] * 1.5 + 0.1, s[1] + 1), (c, 0)))({f}.ravel()[:2000])",
    "jax.vmap(lambda c: lax.cond(c.sum() > 0, lambda: {body c}, lambda: -c))({x})", "jax.vmap(lambda c: lax.scan(lambda s, t: (s * 0.9 + t, s), 0.0, c)[1])({m})", "jax.vmap(lambda c: jnp.convolve(c, c[:5]))({m})", "jax.vmap(jnp.outer)({m}[:50, :20], {m}[:50, :30])", "jax.vmap(lambda c: c[jnp.argmax(c)], -1)({m})", "jax.vmap(lambda c, t: c[t % 3], (0, 0))({m}[:500], {i}.ravel()[:{m}[:500].shape[0]])", "jax.vmap(lambda c: {body c}, -1, -1)({x})",
    *[f"jax.grad(lambda c: {loss})({{f}})" for loss in _LOSSES], *[f"jax.grad(lambda c: {loss})({{m}})" for loss in _MATRIX_LOSSES], *[f"jax.jvp(lambda c: {loss}, ({{f}},), ({{f}},))[1]" for loss in _LOSSES[:12]], *[f"jax.jvp(jax.grad(lambda c: {loss}), ({{m}},), ({{m}},))[1]" for loss in _MATRIX_LOSSES[:6]], *[f"jax.vmap(jax.grad(lambda c: {loss.replace('{f}', '{lit}').replace('{mask}', 'c > 0')}))({{m}}[:60])" for loss in _LOSSES[:9] if "-1" not in loss],
    "jax.grad(lambda c: jnp.sum(jnp.tanh(({body c}) * 0.1)))({f})", "jax.jvp(lambda c: {body c}, ({f},), ({f},))", "jax.random.normal(jax.random.key({n}), {x}.shape)", "jax.random.uniform(jax.random.key({n}), {x}.shape[::-1], {dtype})", "jax.random.permutation(jax.random.key({n}), {x})", "jax.random.bits(jax.random.key({n}), {x}.shape, 'uint8')", "jax.random.randint(jax.random.key({n}), {x}.shape, 0, 1000)", "jax.random.bernoulli(jax.random.key({n}), 0.3, {x}.shape) * {x}",
    "jax.random.choice(jax.random.key({n}), {x}, (300,))", "jax.random.categorical(jax.random.key({n}), {f})", "jax.random.gamma(jax.random.key({n}), 1.5, (500,))", "jax.vmap(lambda k: jax.random.normal(k, (20,)))(jax.random.split(jax.random.key({n}), 64))", "jnp.sum(jax.random.normal(jax.random.key({n}), {f}.shape) * {f}, -1)",
)
ROUTES = ("jax.jit(f)(*args)",) * 3 + (
    "jax.jit(jax.grad(lambda *xs: sum(jnp.sum(jnp.tanh(y)) for y in jax.tree.leaves(f(*xs)) if jnp.issubdtype(y.dtype, jnp.floating))))(*args)",
    "jax.jit(lambda x: jax.jvp(lambda x: f(x, *args[1:]), (x,), (jnp.ones_like(x),)))(args[0])", "jax.jit(jax.vmap(f))(*[jnp.stack([x, x[::-1]]) for x in args])")


def shapes(rng: random.Random) -> list[str]:
    """Shapes that mostly broadcast with one another."""
    n, m = rng.choice(SIZES), rng.choice(SIZES)
    while n * m > ELEMENTS:
        n, m = rng.choice(SIZES), rng.choice(SIZES)
    few = rng.choice([k for k in (1, 2, 3, 8) if k * n * m <= ELEMENTS] or [1])
    return [str(shape) for shape in ((n, m), (n, m), (n, m), (m,), (n, 1), (few, n, m), (1, m))] if rng.random() < 0.8 else [f"({rng.choice((1000, 4097, 20_000, 100_000))},)"] * 2


def argument(rng: random.Random, shape: str, inexact: bool) -> str:
    """An array of numbers that `outcome.many` draws; a seed stands for them."""
    dtype = rng.choice([d for d in DTYPES if "float" in d] if inexact else DTYPES)
    return f"many({shape}, '{dtype}', {rng.randrange(1000)}{rng.choice(('', '', '', ', special=True'))})"


SOURCE = values.Source(LINES, ROUTES, shapes, argument, ELEMENTS, x64=0.1)
