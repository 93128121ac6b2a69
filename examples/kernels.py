"""Kernels for accelerators, from adding two arrays to attention with its derivative: one source for TPUs, GPUs and the interpreter.

    python examples/kernels.py

Each step of the grid makes one block of the result, and goes over what it needs of the operands in a loop. So nothing is kept
from step to step, and steps may run side by side, as they do on a GPU.

Attention never holds the matrix of scores: it goes over blocks of keys and keeps, for each query, the largest score so far, the sum of
exponentials relative to it, and the weighted sum of values (Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: fast and memory-efficient
exact attention with IO-awareness", NeurIPS 2022).
"""
import functools
import math

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel_call(kernel, out_shape, grid, in_specs, out_specs, interpret):
    return pl.pallas_call(kernel, out_shape, grid=grid, in_specs=in_specs, out_specs=out_specs, interpret=interpret)


def rows(block, width):
    """Blocks of rows of a matrix."""
    return pl.BlockSpec((block, width), lambda i: (i, 0))


# -- one block after the other -----------------------------------------------------------------------------------------

def add_kernel(x, y, out):
    out[...] = x[...] + y[...]


def add(x, y, block=128, interpret=False):
    """The sum of two matrices."""
    spec = rows(block, x.shape[1])
    return kernel_call(add_kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), pl.cdiv(x.shape[0], block), [spec, spec], spec,
                       interpret)(x, y)


def softmax_kernel(x, out):
    scores = x[...].astype(jnp.float32)
    weights = jnp.exp(scores - scores.max(-1, keepdims=True))
    out[...] = (weights / weights.sum(-1, keepdims=True)).astype(out.dtype)


def softmax(x, block=128, interpret=False):
    """The softmax of each row."""
    spec = rows(block, x.shape[1])
    return kernel_call(softmax_kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), pl.cdiv(x.shape[0], block), [spec], spec,
                       interpret)(x)


def layer_norm_kernel(x, scale, offset, out, *, epsilon):
    values = x[...].astype(jnp.float32)
    centred = values - values.mean(-1, keepdims=True)
    inverse = jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + epsilon)
    out[...] = (centred * inverse * scale[...] + offset[...]).astype(out.dtype)


def layer_norm(x, scale, offset, block=128, epsilon=1e-5, interpret=False):
    """Each row with mean 0 and variance 1, times ``scale`` plus ``offset`` (of shape ``(1, width)``)."""
    spec, one = rows(block, x.shape[1]), pl.BlockSpec((1, x.shape[1]), lambda i: (0, 0))
    return kernel_call(functools.partial(layer_norm_kernel, epsilon=epsilon), jax.ShapeDtypeStruct(x.shape, x.dtype),
                       pl.cdiv(x.shape[0], block), [spec, one, one], spec, interpret)(x, scale, offset)


def matmul_kernel(x, y, out, *, block):
    def step(k, total):
        inner = pl.ds(pl.multiple_of(k * block, block), block)
        return total + jnp.dot(x[:, inner], y[inner, :], preferred_element_type=jnp.float32)
    out[...] = jax.lax.fori_loop(0, x.shape[1] // block, step, jnp.zeros(out.shape, jnp.float32)).astype(out.dtype)


def matmul(x, y, block=128, interpret=False):
    """The product of two matrices whose sides are multiples of ``block``."""
    m, k, n = x.shape[0], x.shape[1], y.shape[1]
    return kernel_call(functools.partial(matmul_kernel, block=block), jax.ShapeDtypeStruct((m, n), x.dtype), (m // block, n // block),
                       [pl.BlockSpec((block, k), lambda i, j: (i, 0)), pl.BlockSpec((k, block), lambda i, j: (0, j))],
                       pl.BlockSpec((block, block), lambda i, j: (i, j)), interpret)(x, y)


# -- attention ---------------------------------------------------------------------------------------------------------

def scores_of(q, k, first_query, first_key, scale, causal):
    """Scaled products of a block of queries with one of keys; under ``causal`` those with later keys are -1e30."""
    scores = scale * jax.lax.dot_general(q, k, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
    if causal:
        query = first_query + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 0)
        key = first_key + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 1)
        scores = jnp.where(query >= key, scores, -1e30)
    return scores


def forward_kernel(q, k, v, out, log_sums, *, block, scale, causal):
    first, queries = pl.program_id(1) * block, q[...]

    def step(j, carry):
        largest, total, values = carry
        here = pl.ds(pl.multiple_of(j * block, block), block)
        scores = scores_of(queries, k[here, :], first, j * block, scale, causal)
        new = jnp.maximum(largest, scores.max(-1, keepdims=True))
        weights, shrink = jnp.exp(scores - new), jnp.exp(largest - new)
        part = jnp.dot(weights.astype(v.dtype), v[here, :], preferred_element_type=jnp.float32)
        return new, total * shrink + weights.sum(-1, keepdims=True), values * shrink + part
    start = jnp.full((block, 1), -1e30, jnp.float32), jnp.zeros((block, 1), jnp.float32), jnp.zeros(out.shape, jnp.float32)
    steps = pl.program_id(1) + 1 if causal else k.shape[0] // block
    largest, total, values = jax.lax.fori_loop(0, steps, step, start)
    out[...] = (values / total).astype(out.dtype)
    log_sums[...] = largest + jnp.log(total)


def query_kernel(q, k, v, ct, log_sums, delta, dq, *, block, scale, causal):
    first, queries, cts, sums, deltas = pl.program_id(1) * block, q[...], ct[...], log_sums[...], delta[...]

    def step(j, total):
        here = pl.ds(pl.multiple_of(j * block, block), block)
        keys = k[here, :]
        weights = jnp.exp(scores_of(queries, keys, first, j * block, scale, causal) - sums)
        products = jax.lax.dot_general(cts, v[here, :], (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        change = (weights * (products - deltas) * scale).astype(keys.dtype)
        return total + jnp.dot(change, keys, preferred_element_type=jnp.float32)
    steps = pl.program_id(1) + 1 if causal else k.shape[0] // block
    dq[...] = jax.lax.fori_loop(0, steps, step, jnp.zeros(dq.shape, jnp.float32)).astype(dq.dtype)


def key_kernel(q, k, v, ct, log_sums, delta, dk, dv, *, block, scale, causal):
    first, keys, values = pl.program_id(1) * block, k[...], v[...]

    def step(i, totals):
        here = pl.ds(pl.multiple_of(i * block, block), block)
        queries, cts = q[here, :], ct[here, :]
        weights = jnp.exp(scores_of(queries, keys, i * block, first, scale, causal) - log_sums[here, :])
        products = jax.lax.dot_general(cts, values, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        change = (weights * (products - delta[here, :]) * scale).astype(queries.dtype)
        return (totals[0] + jnp.dot(change.T, queries, preferred_element_type=jnp.float32),
                totals[1] + jnp.dot(weights.T.astype(cts.dtype), cts, preferred_element_type=jnp.float32))
    zeros = jnp.zeros(dk.shape, jnp.float32)
    steps = q.shape[0] // block
    total_k, total_v = jax.lax.fori_loop(pl.program_id(1) if causal else 0, steps, step, (zeros, zeros))
    dk[...], dv[...] = total_k.astype(dk.dtype), total_v.astype(dv.dtype)


def _specs(q, block):
    """A block of one head, and all of it; for matrices and for columns."""
    length, width = q.shape[1:]
    part, whole = (lambda h, i: (h, i, 0)), (lambda h, i: (h, 0, 0))
    return (pl.BlockSpec((None, block, width), part), pl.BlockSpec((None, length, width), whole),
            pl.BlockSpec((None, block, 1), part), pl.BlockSpec((None, length, 1), whole))


def _forward(q, k, v, causal, block, interpret):
    heads, length, width = q.shape
    part, whole, column, _ = _specs(q, block)
    kernel = functools.partial(forward_kernel, block=block, scale=1 / math.sqrt(width), causal=causal)
    out = jax.ShapeDtypeStruct(q.shape, q.dtype), jax.ShapeDtypeStruct((heads, length, 1), jnp.float32)
    return kernel_call(kernel, out, (heads, length // block), [part, whole, whole], (part, column),
                       interpret)(q, k, v)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def attention(q, k, v, causal=False, block=128, interpret=False):
    """Attention of arrays of shape ``(heads, length, width)``, whose length is a multiple of ``block``."""
    return _forward(q, k, v, causal, block, interpret)[0]


def _attention_fwd(q, k, v, causal, block, interpret):
    out, log_sums = _forward(q, k, v, causal, block, interpret)
    return out, (q, k, v, out, log_sums)


def _attention_bwd(causal, block, interpret, kept, ct):
    q, k, v, out, log_sums = kept
    heads, length, width = q.shape
    part, whole, column, columns = _specs(q, block)
    delta = (out.astype(jnp.float32) * ct.astype(jnp.float32)).sum(-1, keepdims=True)
    options = dict(block=block, scale=1 / math.sqrt(width), causal=causal)
    like = jax.ShapeDtypeStruct(q.shape, q.dtype)
    grid, operands = (heads, length // block), (q, k, v, ct, log_sums, delta)
    dq = kernel_call(functools.partial(query_kernel, **options), like, grid, [part, whole, whole, part, column, column], part,
                     interpret)(*operands)
    dk, dv = kernel_call(functools.partial(key_kernel, **options), (like, like), grid, [whole, part, part, whole, columns, columns],
                         (part, part), interpret)(*operands)
    return dq, dk, dv


attention.defvjp(_attention_fwd, _attention_bwd)


def plain_attention(q, k, v, causal=False):
    """The same with the matrix of scores."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / math.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, -1), v)


if __name__ == "__main__":
    interpret = jax.default_backend() == "cpu"
    q, k, v, ct = jax.random.normal(jax.random.key(0), (4, 2, 64, 16))
    for causal in (False, True):
        out, pull = jax.vjp(lambda *qkv: attention(*qkv, causal, 16, interpret), q, k, v)
        expected, plain_pull = jax.vjp(lambda *qkv: plain_attention(*qkv, causal), q, k, v)
        errors = [float(jnp.abs(a - b).max()) for a, b in zip((out, *pull(ct)), (expected, *plain_pull(ct)))]
        print(f"attention, causal={causal}: largest differences of value and gradients {[f'{e:.1e}' for e in errors]}")
