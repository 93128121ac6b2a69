"""`ragged_all_to_all`: an all-to-all whose parts have different lengths, known only when it runs.

GPUs and TPUs have it as one operation. XLA for CPUs has none: there every position gathers what all have, and takes its rows.

Source: XLA, HLO `ragged-all-to-all`.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import broadcast_in_dim, convert_element_type_p, instantiate, zeros
from jax_core.transformations import manual
from jax_core.transformations.batching import batch_fun
from jax_core.transformations.manual import env_of

from .arithmetic import add, mul, sub
from .bits import bitwise_and, bitwise_or
from .compare import ge, lt
from .create import iota
from .exchange import all_gather_p, all_to_all_p
from .gather import index_take
from .parallel import AxisName, Groups, axis_index_p, names_of, size_of
from .select import clamp, select_n
from .slicing import dynamic_index_in_dim

INT32 = np.dtype(np.int32)


def ragged_all_to_all(operand: ArrayLike, output: ArrayLike, input_offsets: ArrayLike, send_sizes: ArrayLike,
                      output_offsets: ArrayLike, recv_sizes: ArrayLike, *, axis_name: AxisName | Sequence[AxisName],
                      axis_index_groups: Groups = None) -> Any:
    """`all_to_all` with parts of different lengths along the leading axis.

    Args:
      operand: rows to send.
      output: where received rows are written; its other rows stay.
      input_offsets, send_sizes: for each receiver, where its rows start in ``operand`` and how many they are.
      output_offsets: for each receiver, where it shall write the rows in its ``output``.
      recv_sizes: for each sender, how many rows come from it (they must agree with what is sent).
      axis_name: one name or several.
      axis_index_groups: as for `all_to_all`.

    Returns:
      the new ``output``. Differentiable in ``operand`` and ``output``. On the CPU it is no faster than an `all_gather`.

    Raises:
      NameError: the axis is not in scope.
      ValueError: offsets and sizes are not integers, or not one for each position.

    Source: XLA, HLO `ragged-all-to-all`.

    >>> mesh = jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))
    >>> move = lambda v, out, *where: jax.lax.ragged_all_to_all(v, out, *where, axis_name='x')
    >>> move = jax.shard_map(move, mesh=mesh, in_specs=jax.P('x'), out_specs=jax.P('x'))
    >>> rows, out = jnp.array([1, 2, 3]), jnp.zeros(4, int)
    >>> move(rows, out, *map(jnp.array, ([1], [2], [0], [2])))  # the two rows from 1 on, to place 0
    Array([2, 3, 0, 0], dtype=int32)
    """
    if axis_index_groups is not None:
        raise NotImplementedError("lax.ragged_all_to_all: axis_index_groups is not supported.")
    names = names_of(axis_name, "ragged_all_to_all")
    sizes = tuple(size_of(n, "ragged_all_to_all") for n in names)
    count = int(np.prod(sizes))
    tables = dict(input_offsets=input_offsets, send_sizes=send_sizes, output_offsets=output_offsets, recv_sizes=recv_sizes)
    for name, table in tables.items():
        aval = get_aval(table)
        if aval.shape != (count,) or not dtypes.issubdtype(aval.dtype, np.integer):
            raise ValueError(f"lax.ragged_all_to_all: {name} must be integers of shape ({count},), one entry for each position, got "
                             f"{aval.str_short()}.")
    a, b = get_aval(operand), get_aval(output)
    if a.dtype != b.dtype or a.shape[1:] != b.shape[1:] or not a.shape or not b.shape:
        raise ValueError(f"lax.ragged_all_to_all: operand {a.str_short()} and output {b.str_short()} must have the same dtype, and the "
                         "same shape but for the leading axis.")
    return ragged_all_to_all_p.bind(operand, output, *tables.values(), axis_name=names, axis_sizes=sizes)


def _gathered(x, axis_name, axis_sizes):
    return all_gather_p.bind(x, all_gather_dimension=0, axis_name=axis_name, axis_index_groups=None,
                             axis_size=int(np.prod(axis_sizes)), tiled=False)


def _dealt(x, axis_name, axis_sizes):
    """Entry ``i`` of the result at position ``j`` is entry ``j`` of ``x`` at position ``i``."""
    return all_to_all_p.bind(x, split_axis=0, concat_axis=0, axis_name=axis_name, axis_index_groups=None,
                             axis_size=int(np.prod(axis_sizes)), tiled=True)


def _as_int(x):
    return convert_element_type_p.bind(x, new_dtype=INT32, weak_type=False)


def _position(axis_name, axis_sizes):
    index = None
    for name, size in zip(axis_name, axis_sizes):
        own = axis_index_p.bind(axis_name=name)
        index = own if index is None else add(mul(index, np.int32(size)), own)
    return index


def _by_gathering(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name, axis_sizes):
    """The result, from the operands of all positions."""
    if np.shape(operand)[0] == 0 or np.shape(output)[0] == 0:
        return output
    everyone = [_gathered(x, axis_name, axis_sizes) for x in (operand, input_offsets, send_sizes, output_offsets)]
    here = _position(axis_name, axis_sizes)
    rows = iota(INT32, np.shape(output)[0])
    last = np.int32(np.shape(operand)[0] - 1)
    for sender in range(int(np.prod(axis_sizes))):
        sent, *columns = (dynamic_index_in_dim(x, sender, 0, False) for x in everyone)
        start, count, at = (_as_int(dynamic_index_in_dim(c, here, 0, False)) for c in columns)
        inside = bitwise_and(ge(rows, at), lt(rows, add(at, count)))
        source = clamp(np.int32(0), add(sub(rows, at), start), last)
        output = select_n(broadcast_in_dim(inside, np.shape(output), (0,)), output, index_take(sent, [source], (0,)))
    return output


def _jvp(primals, tangents, **params):
    out = ragged_all_to_all_p.bind(*primals, **params)
    if isinstance(tangents[0], Zero) and isinstance(tangents[1], Zero):
        return out, Zero.of(out)
    return out, ragged_all_to_all_p.bind(*map(instantiate, tangents[:2]), *primals[2:], **params)


def _transpose(ct, operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, **params):
    """Rows go back where they came from; what was written over has no cotangent."""
    starts = _dealt(output_offsets, **params)  # in this position's output, for each sender
    for_operand = for_output = None
    if is_linear(operand):
        for_operand = ragged_all_to_all_p.bind(ct, zeros(operand.aval), starts, recv_sizes, _dealt(input_offsets, **params),
                                               send_sizes, **params)
    if is_linear(output):
        rows, written = iota(INT32, output.aval.shape[0]), None
        for sender in range(int(np.prod(params["axis_sizes"]))):
            at = _as_int(dynamic_index_in_dim(starts, sender, 0, False))
            count = _as_int(dynamic_index_in_dim(recv_sizes, sender, 0, False))
            inside = bitwise_and(ge(rows, at), lt(rows, add(at, count)))
            written = inside if written is None else bitwise_or(written, inside)
        for_output = select_n(broadcast_in_dim(written, output.aval.shape, (0,)), ct, zeros(output.aval))
    return for_operand, for_output, None, None, None, None


def _batch(axis, args, dims, **params):
    run, out_dims = batch_fun(lambda *xs: [_by_gathering(*xs, **params)], axis, dims)
    (out,) = run(*args)
    return out, out_dims()[0]


def _lower(b, *xs, axis_name, axis_sizes):
    if b.platform == "cpu":
        return b.fun(_by_gathering, *xs, axis_name=axis_name, axis_sizes=axis_sizes)[0]
    env = env_of(b, axis_name)
    rows = env.groups(axis_name)
    return b.emit(f"stablehlo.custom_call @ragged_all_to_all({', '.join(map(str, xs))})", *xs, out=b.out_avals[0], attrs=(
        f"{{api_version = 4 : i32, backend_config = {{{'channel_id = 1 : i64, ' if env.partitioned else ''}"
        f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>}}}}"))


def _agree(args, params):
    axes = frozenset(n for n in params["axis_name"] if manual.is_checked(n))
    return manual.vary_to(args, [manual.varying(x) | axes for x in args]), params


ragged_all_to_all_p = Primitive(
    "ragged_all_to_all", cacheable=False, out_type=lambda operand, output, *_, **__: output, jvp=_jvp, transpose=_transpose,
    effects=lambda *_, axis_name, **__: frozenset(map(NamedAxisEffect, axis_name)), batch=_batch, lower=_lower,
    agree=_agree)

__all__ = ["ragged_all_to_all", "ragged_all_to_all_p"]
