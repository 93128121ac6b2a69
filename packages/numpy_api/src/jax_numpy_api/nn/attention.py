"""Scaled dot-product attention, with grouped heads, masks and sequence lengths.

Source: Vaswani et al., "Attention is all you need", NeurIPS 2017; grouped heads: Ainslie et al., EMNLP 2023.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from .exponential_sums import logsumexp
from .fused_attention import FLOORS, Options, fused_attention
from .normalize import softmax


def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None,
                          mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False,
                          query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None,
                          local_window_size: int | tuple[int, int] | None = None, implementation: str | None = None,
                          return_residual: bool = False) -> Any:
    """``softmax(scale * query key^T + bias) value`` for each head.

    Args:
      query: ``[B, T, N, H]`` or ``[T, N, H]``.
      key, value: ``[B, S, K, H]``, or without batch; ``N`` must be a multiple of ``K``, and groups of query heads share
        one head of these.
      bias, mask: broadcast to ``[B, N, T, S]``; where the boolean mask is False, nothing is attended to.
      scale: default ``1 / sqrt(H)``.
      is_causal: position ``t`` attends to positions up to ``t``.
      query_seq_lengths, key_value_seq_lengths: ``[B]``; positions beyond are not used.
      local_window_size: how far to the left and right a position sees.
      implementation: ``None`` or ``"xla"``, which runs everywhere, or ``"cudnn"``: one call of NVIDIA's library, which holds no scores in
        memory. It is for CUDA, float16 and bfloat16, heads of up to 256 components (a multiple of 8); ``local_window_size`` must not
        reach to the right unless ``is_causal``, and derivatives, which are of first order and in reverse mode, want even ``T`` and ``S``.
      return_residual: also return the log of the softmax' denominator, ``[B, T, N]``.

    Returns:
      an array like ``query`` (with the last axis of ``value``).

    Raises:
      ValueError: shapes that do not fit, several dtypes, a mask that is not boolean, lengths that are not integers, or an unknown
        implementation. NotImplementedError: what cuDNN has no kernel for, or a platform that has no cuDNN.

    Source: Vaswani et al., "Attention is all you need", NeurIPS 2017; grouped heads: Ainslie et al., EMNLP 2023.

    >>> q = jnp.ones((1, 2, 1, 4))
    >>> jax.nn.dot_product_attention(q, q, q).shape
    (1, 2, 1, 4)
    """
    if implementation not in (None, "xla", "cudnn"):
        raise ValueError(f"dot_product_attention: implementation {implementation!r} is not available; use 'xla' or 'cudnn'")
    batched = jnp.ndim(query) == 4
    q, k, v = (x if x.ndim == 4 else x[None] for x in map(jnp.asarray, (query, key, value)))
    if q.ndim != 4 or k.ndim != 4 or v.ndim != 4 or k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] \
            or q.shape[3] != k.shape[3] or q.shape[2] % max(k.shape[2], 1):
        raise ValueError("dot_product_attention: query [B, T, N, H], key and value [B, S, K, H] are wanted, and N "
                         f"must be a multiple of K, got shapes {jnp.shape(query)}, {jnp.shape(key)}, {jnp.shape(value)}")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"dot_product_attention: query, key and value must have one dtype, got {q.dtype}, {k.dtype} and {v.dtype}")
    if mask is not None and dtypes.dtype(mask) != np.bool_:
        raise ValueError(f"dot_product_attention: mask must be boolean, got {dtypes.dtype(mask)}; compare it first, as by mask != 0")
    b, t, n, h = q.shape
    s, groups = k.shape[1], k.shape[2]
    scale = 1 / np.sqrt(h) if scale is None else scale
    query_seq_lengths, key_value_seq_lengths = (
        _lengths(*x, b) for x in (("query_seq_lengths", query_seq_lengths), ("key_value_seq_lengths", key_value_seq_lengths)))
    if implementation == "cudnn" and b * t * n * s * h:
        options = Options(float(scale), bool(is_causal), 0, bias is not None, return_residual)
        out, *logs = _by_cudnn(q, k, v, bias, mask, query_seq_lengths, key_value_seq_lengths, local_window_size, options)
        results = out, *[lax.transpose(x, (0, 2, 1)).astype(q.dtype) for x in logs]
        results = results if batched else tuple(x[0] for x in results)
        return results if return_residual else results[0]
    heads, g = ((n,), "") if n == groups else ((groups, n // groups), "g")  # no axis of length 1: products that quantise in tiles count axes
    scores = jnp.einsum(f"btk{g}h,bskh->bk{g}ts", q.reshape(b, t, *heads, h), k,
                        preferred_element_type=dtypes.common_dtype(q.dtype, np.float32))
    scores = scores.reshape(b, n, t, s) * np.asarray(scale, scores.dtype)
    if bias is not None:
        scores = scores + _four_axes("bias", bias).astype(scores.dtype)
    allowed = _allowed(mask, t, s, is_causal, query_seq_lengths, key_value_seq_lengths, local_window_size)
    if allowed is not None:
        scores = jnp.where(allowed, scores, np.asarray(-0.7 * float(np.finfo(np.float32).max), scores.dtype))
    weights = softmax(scores, axis=-1).astype(k.dtype)
    out = jnp.einsum(f"bk{g}ts,bskh->btk{g}h", weights.reshape(b, *heads, t, s), v).reshape(b, t, n, v.shape[3])
    if query_seq_lengths is not None:
        live = jnp.arange(t)[None, :] < jnp.asarray(query_seq_lengths)[:, None]
        out = jnp.where(live[:, :, None, None], out, 0)
    out = out.astype(q.dtype)
    out = out if batched else out[0]
    if not return_residual:
        return out
    residual = jnp.moveaxis(logsumexp(scores, axis=-1), 1, 2).astype(q.dtype)
    return out, residual if batched else residual[0]


def _lengths(name, lengths, b):
    """Lengths as int32, one for each member of the batch; None for None."""
    if lengths is None:
        return None
    lengths = jnp.asarray(lengths)
    if lengths.shape != (b,) or not dtypes.issubdtype(lengths.dtype, np.integer):
        raise ValueError(f"dot_product_attention: {name} must be integers of shape ({b},), one for each member of the batch, got "
                         f"{lengths.dtype}{list(lengths.shape)}")
    return lengths.astype(np.int32)


def _by_cudnn(q, k, v, bias, mask, query_lengths, key_lengths, window, options):
    """Result, and with ``options.logs`` the log of the softmax' denominator, [B, N, T]."""
    b, t, n, _ = q.shape
    s = k.shape[1]
    if window is not None:
        left, right = (window, window) if hasattr(window, "__index__") else window
        if left < 0 or right < 0 or right > 0 and not options.causal:
            raise ValueError("dot_product_attention: cuDNN's windows reach to the left, and to the right only where is_causal=True cuts that off, "
                             f"got local_window_size={window}; use implementation='xla'")
        options = options._replace(causal=True, window=int(left) + 1)
    if bias is not None:
        bias = _fitting("bias", bias, (b, n, t, s))
        bias = bias if bias.dtype.name in ("bfloat16", "float16", "float32") else bias.astype(q.dtype)
    if mask is not None:
        mask = _fitting("mask", mask, (b, n, t, s))
        dtype = q.dtype if bias is None else bias.dtype
        bias = jnp.where(mask, np.zeros((), dtype) if bias is None else bias, np.asarray(FLOORS.get(dtype.name, -2.0 ** 41), dtype))
    lengths = None
    if query_lengths is not None or key_lengths is not None:
        lengths = tuple(jnp.full(b, longest, np.int32) if given is None else given
                        for given, longest in ((query_lengths, t), (key_lengths, s)))
    return fused_attention(q, k, v, bias, lengths, options)


def _fitting(name, x, wanted):
    """``x`` with four axes, repeated along those of queries and keys."""
    x = _four_axes(name, x)
    if any(have not in (1, want) for have, want in zip(x.shape, wanted)):
        raise ValueError(f"dot_product_attention: {name} must broadcast to [B, N, T, S] = {wanted}, got shape {x.shape}")
    return jnp.broadcast_to(x, (*x.shape[:2], *wanted[2:]))


def _four_axes(name, x):
    x = jnp.asarray(x)
    if x.ndim > 4:
        raise ValueError(f"dot_product_attention: {name} must have at most 4 axes, got shape {x.shape}")
    return x.reshape((1,) * (4 - x.ndim) + x.shape)


def _allowed(mask, t, s, is_causal, query_lengths, key_lengths, window):
    """Which pairs of positions may attend, broadcastable to [B, N, T, S]; None for all."""
    rows, columns = (lax.broadcasted_iota(np.int32, (1, 1, t, s), i) for i in (2, 3))
    parts = [] if mask is None else [_four_axes("mask", mask)]
    if is_causal:
        parts.append(columns <= rows)
    if window is not None:
        left, right = (window, window) if hasattr(window, "__index__") else window
        parts.append((columns >= rows - left) & (columns <= rows + right))
    if query_lengths is not None:
        parts.append(rows < jnp.asarray(query_lengths)[:, None, None, None])
    if key_lengths is not None:
        parts.append(columns < jnp.asarray(key_lengths)[:, None, None, None])
    if not parts:
        return None
    allowed = parts[0]
    for part in parts[1:]:
        allowed = allowed & part
    return allowed
