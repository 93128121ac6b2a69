"""Attention by cuDNN's fused kernels, which XLA for CUDA calls under the names ``__cudnn$fmha...``.

Two primitives stand for the two calls, forwards and backwards, and a custom derivative joins them. Programs can be traced with them anywhere,
and lowered for CUDA only. Arrays come as ``[B, T, N, H]``; the calls give ``[B, N, T, H]``, which they store in that order.

What a call computes, XLA reads from JSON. Masks that cuDNN makes itself are named there (`_mask_type`); any other is a bias.

On several devices each attends for its part of the batch and of the heads.

The log of the softmax' denominator has a derivative, too: by each score it is the weight itself. The backward call gives the weights, times
anything constant along the keys, for a value whose first component is one and whose others are zero.

Source: XLA, `CudnnfMHABackendConfig`; Dao, "FlashAttention-2: faster attention with better parallelism and work partitioning", ICLR 2024.
"""
from __future__ import annotations

import json
import math
from functools import partial
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np

from jax_core import backends
from jax_core.extension_points import CallOnParts, call_on_parts
from jax_core.representation import splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import AxisName
from jax_core.traces.structural import bdim_at_front
from jax_core.transformations.custom_vjp import SymbolicZero, custom_vjp

from .. import lax, numpy as jnp

_ELEMENTS = {"bfloat16": "BF16", "float16": "F16"}
_MOST_COMPONENTS = 256
_OLDEST = 8.0
"""The first compute capability (that of Ampere) whose chips the kernels are for."""
FLOORS = {"float16": -2.0 ** 15}
"""The bias of pairs that a mask forbids; where the dtype reaches that far, -2**41."""


class Options(NamedTuple):
    """What a call computes, besides its operands.

    ``causal``: a position sees none behind it. ``window``: how many positions a position sees, up to itself; 0 for all. ``learned``: the
    bias has a derivative. ``logs``: the log of the softmax' denominator is a result, too.
    """

    scale: float
    causal: bool
    window: int
    learned: bool
    logs: bool


def fused_attention(query: Array, key: Array, value: Array, bias: Array | None, lengths: tuple[Array, Array] | None,
                    options: Options) -> list[Array]:
    """Attention of ``[B, T, N, H]`` to ``[B, S, K, H]``, and with ``options.logs`` the log of the softmax' denominator, float32 ``[B, N, T]``.

    Args:
      bias: ``[B or 1, N or 1, T, S]``. lengths: of the queries and of the keys, int32 ``[B]`` each.

    Raises:
      NotImplementedError: a dtype or a number of components that the kernels are not made for.
    """
    if query.dtype.name not in _ELEMENTS:
        raise NotImplementedError(f"dot_product_attention: cuDNN's kernels are for {' and '.join(_ELEMENTS)}, got {query.dtype}; "
                                  "convert the arrays, or use implementation='xla'")
    components = query.shape[3]
    if components % 8 or components > _MOST_COMPONENTS:
        raise NotImplementedError(f"dot_product_attention: cuDNN's kernels want heads of at most {_MOST_COMPONENTS} components, a multiple of 8, "
                                  f"got {components}; use implementation='xla'")
    if value.shape[3] != components:
        raise ValueError(f"dot_product_attention: cuDNN's kernels want values with as many components as keys, {components}, got "
                         f"{value.shape[3]}; use implementation='xla'")
    return _attention(options, query, key, value, bias, lengths)


def _operands(*xs) -> list:
    """The operands of a call: without those that are not there, and with the lengths one by one."""
    return [y for x in xs if x is not None for y in (x if isinstance(x, tuple) else (x,))]


def _params(options, bias, lengths) -> dict:
    return dict(scale=options.scale, causal=options.causal, window=options.window, biased=bias is not None, padded=lengths is not None)


@partial(custom_vjp, nondiff_argnums=(0,))
def _attention(options, query, key, value, bias, lengths):
    return _forward(options, query, key, value, bias, lengths, options.logs)


def _forward(options, query, key, value, bias, lengths, logs):
    out, *rest = fused_attention_p.bind(*_operands(query, key, value, bias, lengths), logs=logs, **_params(options, bias, lengths))
    return [lax.transpose(out, (0, 2, 1, 3)), *rest]


def _attention_fwd(options, query, key, value, bias, lengths):
    learned = () if bias is not None and options.learned and bias.perturbed else None  # as structure, which is static
    query, key, value, bias, lengths = _values((query, key, value, bias, lengths))
    if query.shape[1] % 2 or key.shape[1] % 2:
        raise NotImplementedError("dot_product_attention: the derivative of cuDNN's kernels wants even numbers of queries and keys, got "
                                  f"{query.shape[1]} and {key.shape[1]}; pad them, or use implementation='xla'")
    found = _forward(options, query, key, value, bias, lengths, True)
    return found[:1 + options.logs], (query, key, value, bias, lengths, *found, learned)


def _values(tree):
    """What `custom_vjp` hands over with ``symbolic_zeros``, as plain arrays."""
    if isinstance(tree, tuple):
        return tuple(map(_values, tree))
    return tree if tree is None else tree.value


def _attention_bwd(options, residuals, cts):
    query, key, value, bias, lengths, out, logs, learned = residuals
    params = dict(_params(options, bias, lengths), bias_ct=learned is not None)

    def backward(value: Array, ct: Array, out: Array):
        found = fused_attention_backward_p.bind(*_operands(query, key, value, logs, ct, bias, out, lengths), **params)
        return [lax.transpose(x, (0, 2, 1, 3)) for x in found[:3]] + found[3:]
    found = None
    if not isinstance(cts[0], SymbolicZero):
        found = backward(value, cts[0], out)
    if options.logs and not isinstance(cts[1], SymbolicZero):
        one = np.zeros((1, 1, 1, query.shape[3]), query.dtype)
        one[..., 0] = 1
        ct = lax.transpose(cts[1], (0, 2, 1))[..., None].astype(query.dtype) * one
        more = backward(jnp.broadcast_to(one, value.shape), ct, jnp.zeros_like(out))
        more[2] = jnp.zeros_like(value)
        found = more if found is None else [x + y for x, y in zip(found, more)]
    if found is None:
        found = [jnp.zeros_like(x) for x in (query, key, value)]
    by_bias = None if bias is None else found[3] if len(found) == 4 else jnp.zeros_like(bias)
    return *found[:3], by_bias, None


_attention.defvjp(_attention_fwd, _attention_bwd, symbolic_zeros=True)


# -- types -------------------------------------------------------------------------------------------------------------------

def _rows(q) -> tuple[int, int, int]:
    batch, queries, heads, _ = q.shape
    return batch, heads, queries


def _result_type(x) -> ShapedArray:
    batch, length, heads, components = x.shape
    return ShapedArray((batch, heads, length, components), x.dtype)


def _forward_type(q, k, v, *rest, logs, **_):
    return [_result_type(q)] + [ShapedArray(_rows(q), np.dtype(np.float32))] * logs


def _backward_type(q, k, v, logs, ct, *rest, bias_ct, **_):
    return [*map(_result_type, (q, k, v))] + [ShapedArray(rest[0].shape, rest[0].dtype)] * bias_ct


def _split(prim, avals, outs, params):
    """The batch and the heads may be split: results are as the operand that they are like."""
    found = [splits.entries(a) for a in avals]
    if any(e is not None for entry in found[:3] for e in entry[1::2]) or len({entry[0] for entry in found[:3]}) > 1:
        raise ShardingTypeError(f"{prim.name}: queries, keys and values may be split over the batch, all alike, and over heads, got "
                                f"{splits.types_text(avals[:3])}; reshard them.")
    like = lambda entry: (entry[0], entry[2], None, None)
    if prim is fused_attention_p:
        return [like(found[0]), like(found[0])[:3]][:len(outs)]
    return [*map(like, found[:3]), found[5] if params["biased"] else ()][:len(outs)]


# -- vmap --------------------------------------------------------------------------------------------------------------------

def _merged(axis, x, dim):
    """``x`` with its mapped axis, made by repetition if there is none, as a part of the batch."""
    x = bdim_at_front(x, dim, axis)
    return lax.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _all_merged(axis, args, dims, bias: int | None, batch: int, shared: bool) -> list:
    """The operands, of which that at ``bias`` may be one for the whole batch; it stays so where it is ``shared`` by what is mapped, too."""
    xs = []
    for i, (x, dim) in enumerate(zip(args, dims)):
        if i == bias and x.shape[0 if dim is None else dim == 0] == 1:
            if dim is None and shared:
                xs.append(x)
                continue
            x = bdim_at_front(x, dim, axis)
            x, dim = jnp.broadcast_to(x, (axis.size, batch, *x.shape[2:])), 0
        xs.append(_merged(axis, x, dim))
    return xs


def _unmerged(axis, x):
    return lax.reshape(x, (axis.size, x.shape[0] // axis.size, *x.shape[1:]))


def _batch_size(x, dim) -> int:
    return x.shape[0 if dim is None else dim == 0]


def _forward_batch(axis, args, dims, *, biased, **params):
    xs = _all_merged(axis, args, dims, 3 if biased else None, _batch_size(args[0], dims[0]), True)
    outs = fused_attention_p.bind(*xs, biased=biased, **params)
    return [_unmerged(axis, x) for x in outs], [0] * len(outs)


def _backward_batch(axis, args, dims, *, biased, bias_ct, **params):
    xs = _all_merged(axis, args, dims, 5 if biased else None, _batch_size(args[0], dims[0]), not bias_ct)
    outs = fused_attention_backward_p.bind(*xs, biased=biased, bias_ct=bias_ct, **params)
    outs = [_unmerged(axis, x) for x in outs]
    if bias_ct and _batch_size(args[5], dims[5]) == 1:
        outs[3] = jnp.sum(outs[3], 1, keepdims=True)
    return outs, [0] * len(outs)


# -- the calls ---------------------------------------------------------------------------------------------------------------

def _numbers(lhs_contracting, rhs_contracting, lhs_batch, rhs_batch) -> dict:
    """The axes of a product of matrices, as XLA's JSON has them: integers of 64 bits are strings there."""
    found = dict(lhs_contracting_dimensions=[lhs_contracting], rhs_contracting_dimensions=[rhs_contracting],
                 lhs_batch_dimensions=lhs_batch, rhs_batch_dimensions=rhs_batch)
    return {name: [str(i) for i in axes] for name, axes in found.items()}


_ARRAYS, _SCORES = (0, 2), (0, 1)
"""Where the batch and the heads are in ``[B, T, N, H]`` and in ``[B, N, T, S]``."""
_PRODUCTS = {
    "bmm1_dot_dimension_numbers": _numbers(3, 3, _ARRAYS, _ARRAYS),
    "bmm2_dot_dimension_numbers": _numbers(3, 1, _SCORES, _ARRAYS),
}
_PRODUCTS_BACKWARD = {
    "bmm1_grad_gemm1_dot_dimension_numbers": _numbers(2, 1, _SCORES, _ARRAYS),
    "bmm1_grad_gemm2_dot_dimension_numbers": _numbers(3, 1, _SCORES, _ARRAYS),
    "bmm2_grad_gemm1_dot_dimension_numbers": _numbers(2, 1, _SCORES, _ARRAYS),
    "bmm2_grad_gemm2_dot_dimension_numbers": _numbers(3, 3, _ARRAYS, _ARRAYS),
}


def _mask_type(causal: bool, padded: bool) -> str:
    return {(False, False): "NO_MASK", (True, False): "CAUSAL", (False, True): "PADDING", (True, True): "PADDING_CAUSAL"}[causal, padded]


def _config(q, k, products: dict, *, scale: float, causal: bool, window: int, padded: bool) -> str:
    """What XLA is told of a call whose queries and keys have the types ``q`` and ``k``."""
    scores = (*_rows(q), k.shape[1])
    layout = dict(dim_level_types=[], dim_unique=[], dim_ordered=[], minor_to_major=["3", "2", "1", "0"], tiles=[], element_size_in_bits="0",
                  memory_space="0", index_primitive_type="PRIMITIVE_TYPE_INVALID", pointer_primitive_type="PRIMITIVE_TYPE_INVALID",
                  dynamic_shape_metadata_prefix_bytes="0")
    return json.dumps({"operation_queue_id": "0", "cudnn_fmha_backend_config": {
        "algorithm": {"algo_id": "0", "math_type": "TENSOR_OP_MATH", "tuning_knobs": {"17": "1", "24": "0"}, "is_cudnn_frontend": True,
                      "workspace_size": "0"},
        "fmha_scale": scale,
        "intermediate_tensor_shape": {"element_type": _ELEMENTS[q.dtype.name], "dimensions": [str(int(n)) for n in scores], "tuple_shapes": [],
                                      "layout": layout, "is_dynamic_dimension": [False] * 4},
        "is_flash_attention": True, "mask_type": _mask_type(causal, padded), **products, "dropout_rate": 0.0, "seed": 42,
        "sliding_window_length": window, "max_seg_per_batch": 1, "is_paged_attention": False}})


_WORKSPACE = ShapedArray((0,), np.dtype(np.uint8))


def _check_device(b) -> None:
    """Raise NotImplementedError where the library is not."""
    if b.platform != "cuda":
        raise NotImplementedError(f"dot_product_attention: implementation 'cudnn' is for the platform cuda, and the program is compiled for "
                                  f"{b.platform}; use implementation='xla'")
    chip = getattr(backends.get().devices()[0], "compute_capability", None)  # none of a device that is only described
    if isinstance(chip, str) and chip.replace(".", "", 1).isdigit() and float(chip) < _OLDEST:
        raise NotImplementedError(f"dot_product_attention: cuDNN's kernels want a device of compute capability {_OLDEST} or more, and this one "
                                  f"has {chip}; use implementation='xla'")


def _call(b, name: str, xs: Sequence, results: Sequence[ShapedArray], config: str) -> list:
    """The results of a call. The first three of four axes are ``[B, N, T, H]``, in which T comes before N in memory."""
    by_rows = lambda t: tuple(range(len(t.shape)))[::-1]
    orders = [(3, 1, 2, 0) if t.ndim == 4 and i < 3 else by_rows(t) for i, t in enumerate(results)]
    *found, _ = b.custom_call(f"__cudnn${name}", *xs, out=[*results, _WORKSPACE], backend_config=config, api_version=2,
                              operand_layouts=[by_rows(x.aval) for x in xs], result_layouts=[*orders, (0,)])
    return found


def _lower(backward, b, *xs, biased, scale, causal, window, padded, **results):
    """Forwards or backwards; ``results`` says which results there are besides the usual: logs, or the cotangent of the bias."""
    _check_device(b)
    options = dict(scale=scale, causal=causal, window=window, padded=padded)
    if b.partitioned:
        prim = fused_attention_backward_p if backward else fused_attention_p
        found = _on_parts(b, prim, xs, dict(biased=biased, **options, **results))
        if found:
            return found
    config = _config(xs[0].aval, xs[1].aval, _PRODUCTS_BACKWARD if backward else _PRODUCTS, **options)
    return _call(b, f"fmha{'ScaleBias' * biased}Softmax{'Backward' * backward}", xs, b.out_avals, config)


def _on_parts(b, prim: Primitive, xs: Sequence, params: dict) -> Any:
    """The results where the compiler splits values over devices, which it can do with the batch and with the heads; else None."""
    (batch, _, heads, _), few = xs[0].aval.shape, xs[1].aval.shape[2]
    query, key = ("b", "t", "n", "h"), ("b", "s", "n" if few == heads else "k", "h")
    operands: list[tuple[str, ...]] = [query, key, key]
    results: list[tuple[str, ...]] = [("b", "n", "t", "h"), ("b", "n", "t")][:len(b.out_avals)]
    backward = prim is fused_attention_backward_p
    if backward:
        operands += [("b", "n", "t"), query]
        results = [("b", "n", "t", "h"), *[("b", key[2], "s", "h")] * 2]
    shared = []  # axes along which one bias is for all
    if params["biased"]:
        bias = xs[5 if backward else 3].aval.shape
        shared = [i for i, n in enumerate((batch, heads)) if bias[i] != n]
        operands.append(("one" if 0 in shared else "b", "each" if 1 in shared else "n", "t", "s"))
        results += [operands[-1]] * params.get("bias_ct", 0)
    operands += [query] * backward + [("b",)] * 2 * params["padded"]

    def partition(sizes: Mapping[AxisName, int], entries: Sequence[Sequence[AxisName | Sequence[AxisName] | None]]):
        by = {"b": entries[0][0], "n": entries[0][2]}
        for name, lengths in (("b", (batch,)), ("n", (heads, few))):
            axes = splits.names_of(by[name])
            if any(n % math.prod(sizes[a] for a in axes) for n in lengths):
                by[name] = None
        summed = [a for i in shared for a in splits.names_of(by["bn"[i]])] if backward and params["bias_ct"] else []

        def run(*xs):
            found = prim.bind(*xs, **params)
            if summed:
                found[3] = lax.psum(found[3].astype(np.float32), tuple(summed)).astype(found[3].dtype)
            return found
        return {**by, "k": by["n"]}, run
    call = CallOnParts(lambda *xs: prim.bind(*xs, **params), operands, results, ("t", "s", "h", "k", "one", "each"), partition)
    return call_on_parts.get()(b, call, xs)


def _forward_dce(eqn, used):
    """The logs are not computed where nobody reads them."""
    if not eqn.params["logs"] or used[1]:
        return eqn
    return eqn.replace(outvars=eqn.outvars[:1], params={**eqn.params, "logs": False})


def _backward_dce(eqn, used):
    """Nor is the cotangent of the bias, which is as large as all scores."""
    if not eqn.params["bias_ct"] or used[3]:
        return eqn
    return eqn.replace(outvars=eqn.outvars[:3], params={**eqn.params, "bias_ct": False})


_NO_JVP = none("dot_product_attention: implementation 'cudnn' has a first derivative in reverse mode and no other; use implementation='xla'")

fused_attention_p: Primitive = Primitive(
    "fused_attention", multiple_results=True, out_type=_forward_type, jvp=_NO_JVP, transpose=_NO_JVP, batch=_forward_batch,
    lower=partial(_lower, False), dce=_forward_dce, splits=_split, traits=Traits(Kind.LIBRARY))
"""Operands: query, key, value, the bias if there is one (``biased``), the lengths of queries and keys if there are any (``padded``)."""
fused_attention_backward_p: Primitive = Primitive(
    "fused_attention_backward", multiple_results=True, out_type=_backward_type, jvp=_NO_JVP, transpose=_NO_JVP, batch=_backward_batch,
    lower=partial(_lower, True), dce=_backward_dce, splits=_split, traits=Traits(Kind.LIBRARY))
"""Operands: query, key, value, the logs, the cotangent of the result, the bias, the result, the lengths."""
