"""Single functions of a million elements or so, for interleaved.py: reductions, searches, indexing, special functions, linear algebra.

    taskset -c 0 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/single.py --cpu
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)


def arr(*shape, dtype=np.float32):
    return jnp.asarray(rng.normal(size=shape).astype(dtype))


def integers(high, size):
    return jnp.asarray(rng.integers(0, high, size).astype(np.int32))


v, w, a, big = arr(1_000_000), arr(1_000_000), arr(1024, 1024), arr(1 << 22)
iv, i10, idx = integers(1_000_000, 1_000_000), integers(10, 1_000_000), integers(1 << 20, 1 << 18)
img, ker, k, m = arr(8, 64, 64, 32), arr(3, 3, 32, 64), arr(64), arr(64, 64)
spd = a[:256, :256] @ a[:256, :256].T + 256 * jnp.eye(256)
srt, pos, u = jnp.sort(v[:10000]), jnp.abs(v) + 0.01, jnp.asarray(rng.uniform(0.001, 0.999, 1_000_000).astype(np.float32))

programs = {
    "max": (jnp.max, (v,)),
    "min": (jnp.min, (v,)),
    "argmax": (jnp.argmax, (v,)),
    "argmin": (jnp.argmin, (v,)),
    "max_rows": (lambda x: jnp.max(x, axis=1), (a,)),
    "max_cols": (lambda x: jnp.max(x, axis=0), (a,)),
    "argmax_rows": (lambda x: jnp.argmax(x, axis=1), (a,)),
    "argmax_cols": (lambda x: jnp.argmax(x, axis=0), (a,)),
    "max_int": (jnp.max, (iv,)),
    "argmax_int": (jnp.argmax, (iv,)),
    "searchsorted": (lambda s, x: jnp.searchsorted(s, x), (srt, v)),
    "searchsorted_small": (lambda s, x: jnp.searchsorted(s, x), (srt[:100], v[:1000])),
    "roll": (lambda x: jnp.roll(x, 3), (v,)),
    "roll2": (lambda x: jnp.roll(x, (3, 4), (0, 1)), (a,)),
    "convolve": (lambda x, k: jnp.convolve(x, k), (v[:100000], k)),
    "convolve_same": (lambda x, k: jnp.convolve(x, k, mode="same"), (v[:10000], k)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y]), (v, w)),
    "add": (lambda x, y: x + y, (v, w)),
    "expm": (jax.scipy.linalg.expm, (m * 0.1,)),
    "expm_big": (jax.scipy.linalg.expm, (a[:256, :256],)),
    "gather": (lambda x, i: x[i], (big, idx)),
    "gather_rows": (lambda x, i: x[i % 1024], (a, idx[:4096])),
    "conv2d": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), (img, ker)),
    "conv2d_grad": (jax.grad(lambda k, x: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum()), (ker, img)),
    "cholesky": (jnp.linalg.cholesky, (spd,)),
    "gammaln": (jax.scipy.special.gammaln, (pos,)),
    "digamma": (jax.scipy.special.digamma, (pos,)),
    "ndtri": (jax.scipy.special.ndtri, (u,)),
    "erfinv": (jax.scipy.special.erfinv, (u,)),
    "ndtr": (jax.scipy.special.ndtr, (v,)),
    "logit": (jax.scipy.special.logit, (u,)),
    "squareplus": (jax.nn.squareplus, (v,)),
    "squareplus_grad": (jax.grad(lambda x: jax.nn.squareplus(x).sum()), (v,)),
    "bincount": (lambda i: jnp.bincount(i, length=10), (i10,)),
    "pad_reflect": (lambda x: jnp.pad(x, 5, mode="reflect"), (a,)),
    "gradient": (jnp.gradient, (v,)),
    "gradient2": (lambda x: jnp.gradient(x), (a,)),
    "at_add": (lambda x, i: x.at[i].add(1.0), (v, idx)),
    "at_add_small": (lambda x, i: x.at[i].add(1.0), (v[:1000], idx[:10] % 1000)),
    "bitwise_count": (jnp.bitwise_count, (iv,)),
    "cumsum": (jnp.cumsum, (v,)),
    "median": (jnp.median, (v,)),
    "histogram": (lambda x: jnp.histogram(x, bins=100)[0], (v,)),
    "interp": (lambda x: jnp.interp(x, jnp.linspace(-3, 3, 1000), jnp.sin(jnp.linspace(-3, 3, 1000))), (v,)),
    "nanmax": (jnp.nanmax, (v,)),
    "ptp": (jnp.ptp, (v,)),
    "norm": (jnp.linalg.norm, (v,)),
    "logsumexp": (jax.scipy.special.logsumexp, (v,)),
    "softmax": (jax.nn.softmax, (a,)),
    "cummax": (lambda x: lax.cummax(x), (v,)),
    "sort": (jnp.sort, (v,)),
    "argmax_rows_of_16": (lambda x: x.argmax(1), (v.reshape(-1, 16),)),
    "argmin_rows_of_18": (lambda x: x.argmin(1), (v[:18 * 50000].reshape(-1, 18),)),
    "argmax_integers_rows_of_20": (lambda x: x.argmax(1), (iv.reshape(-1, 20),)),
    "solve_triangular_500": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b), (a[:500, :500] + 50 * jnp.eye(500), v[:500])),
    "unique": (lambda x: jnp.unique(x, size=10), (i10,)),
}
