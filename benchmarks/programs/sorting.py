"""Sorting and its relatives, for `interleaved.py`."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)
v = jnp.asarray(rng.normal(size=1 << 20).astype(np.float32))
w = jnp.asarray(rng.normal(size=(1024, 1024)).astype(np.float32))
i = jnp.asarray(rng.integers(0, 1 << 20, 1 << 20).astype(np.int32))
few = jnp.asarray(rng.integers(0, 1000, 1 << 20).astype(np.int32))
h = v.astype(jnp.bfloat16)
table = jnp.sort(v[:10000])
programs = {
    "sort": (jnp.sort, (v,)),
    "sort_int": (jnp.sort, (i,)),
    "sort_rows": (jnp.sort, (w,)),
    "sort_axis0": (lambda x: jnp.sort(x, axis=0), (w,)),
    "sort_bf16": (jnp.sort, (h,)),
    "sort_descending": (lambda x: jnp.sort(x, descending=True), (v,)),
    "argsort": (jnp.argsort, (v,)),
    "argsort_int": (jnp.argsort, (i,)),
    "argsort_rows": (jnp.argsort, (w,)),
    "sort_pairs": (lambda x, y: lax.sort((x, y), num_keys=1), (v, i)),
    "lexsort": (lambda x, y: jnp.lexsort((x, y)), (v, few)),
    "median": (jnp.median, (v,)),
    "median_rows": (lambda x: jnp.median(x, axis=1), (w,)),
    "quantile": (lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9])), (v,)),
    "percentile_axis0": (lambda x: jnp.percentile(x, 30, axis=0), (w,)),
    "nanmedian": (jnp.nanmedian, (v,)),
    "unique": (lambda x: jnp.unique(x, size=1000), (few,)),
    "unique_counts": (lambda x: jnp.unique(x, size=1000, return_counts=True, return_inverse=True), (few,)),
    "searchsorted": (lambda t, x: jnp.searchsorted(t, x), (table, v)),
    "searchsorted_few": (lambda t, x: jnp.searchsorted(t, x[:100]), (v, v)),
    "digitize": (lambda x: jnp.digitize(x, jnp.linspace(-3, 3, 50)), (v,)),
    "top_k": (lambda x: lax.top_k(x, 16), (w,)),
    "top_k_long": (lambda x: lax.top_k(x, 100), (v,)),
    "top_k_many": (lambda x: lax.top_k(x, 500), (w,)),
    "histogram": (lambda x: jnp.histogram(x, bins=100)[0], (v,)),
    "bincount": (lambda x: jnp.bincount(x, length=1000), (few,)),
    "cumsum": (jnp.cumsum, (v,)),
    "cumsum_axis0": (lambda x: jnp.cumsum(x, axis=0), (w,)),
    "cumsum_axis1": (lambda x: jnp.cumsum(x, axis=1), (w,)),
    "cumsum_int": (jnp.cumsum, (few,)),
    "cumprod": (jnp.cumprod, (v,)),
    "cummax": (lambda x: lax.cummax(x), (v,)),
    "argmax": (jnp.argmax, (v,)),
    "argmax_rows": (lambda x: jnp.argmax(x, axis=1), (w,)),
    "argmax_axis0": (lambda x: jnp.argmax(x, axis=0), (w,)),
    "partition": (lambda x: jnp.partition(x, 500, axis=1), (w,)),
    "nonzero": (lambda x: jnp.nonzero(x > 0, size=600000)[0], (v,)),
    "isin": (lambda x, y: jnp.isin(x, y[:1000]), (few, few)),
}
