"""debug_nans and debug_infs: stop where a NaN (or infinity) is made, and name the operation and the line.

Every result is looked at. When a compiled program's results hold a NaN, the program is run again one operation at a
time, into the bodies of nested programs and loops (``prim.interpret``), until the operation that made it is found. An
operation makes a NaN if its result holds one and no array among its operands does: one that hands on a NaN is not to
blame, one that brings in a constant NaN is, unless it only moves it: ``where(x > 0, x, nan)`` may choose none of it, and under `vmap`
the constant is spread before.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ..configuration import flags
from ..representation import dtypes, partial_sums, source
from ..representation.array import Array
from ..representation.aval import get_aval
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, interpret, interpret_nested
from ..representation.source import SourceInfo
from ..representation.traits import Kind

if TYPE_CHECKING:
    from ..representation.primitive import Primitive

_MOVES = (Kind.IDENTITY, Kind.VIEW, Kind.MOVE)
_NUMBERS = (float, complex)
_SCALARS = (*_NUMBERS, np.generic)


def watching() -> bool:
    """Whether results are to be looked at."""
    return flags.debug_nans.value or flags.debug_infs.value


def found_in(outs: Sequence[object]) -> str | None:
    """``"nan"`` or ``"inf"`` if some array holds one that is watched for."""
    for x in outs:
        dtype = np.result_type(x) if isinstance(x, _NUMBERS) else getattr(x, "dtype", None)
        if dtype is None or not dtypes.issubdtype(dtype, np.inexact):
            continue
        for value in _contents(x):
            if value.dtype.kind == "V":
                value = value.astype(np.float32)
            if flags.debug_nans.value and np.isnan(value).any():
                return "nan"
            if flags.debug_infs.value and np.isinf(value).any():
                return "inf"
    return None


def _contents(x: Any) -> list[np.ndarray]:
    """The numbers of ``x``: whole, or the parts that are here, where parts are elsewhere or are addends of a sum that is still to be made."""
    if isinstance(x, Array) and (partial_sums.of(get_aval(x)).unreduced or not getattr(x, "is_fully_addressable", True)):
        return [np.asarray(part.data) for part in x.addressable_shards]
    return [np.asarray(x)]


def report(kind: str, name: str, where: SourceInfo) -> FloatingPointError:
    return FloatingPointError(
        f"invalid value ({kind}) encountered in {name}, at {where}. Its operands are free of {kind}, so it is made here; "
        f"jax_debug_{kind}s is on.")


def check_primitive(prim: Primitive, args: Sequence[Any], outs: Any) -> None:
    """Raise FloatingPointError if the eager call of ``prim`` made a NaN out of arguments that had none."""
    outs = outs if prim.multiple_results else [outs]
    kind = found_in(outs)
    if kind is None:
        return
    moves = prim.traits.kind in _MOVES
    if found_in(args if moves else [x for x in args if not _constant(x, kind)]) != kind:
        raise report(kind, prim.name, source.capture())


def _constant(x: Any, kind: str) -> bool:
    """Whether ``x`` is a constant of the program, as it is or spread over an array."""
    if isinstance(x, _SCALARS):
        return True
    dtype = getattr(x, "dtype", None)
    if dtype is None or not dtypes.issubdtype(dtype, np.inexact) or np.size(x) < 2:
        return False
    value = np.concatenate([part.ravel() for part in _contents(x)])
    return bool((np.isnan if kind == "nan" else np.isinf)(value.astype(np.float32) if value.dtype.kind == "V" else value).all())


def check_program(closed: ClosedJaxpr, args: Sequence[object], outs: Sequence[object], name: str,
                  place: SourceInfo | None = None) -> None:
    """Raise FloatingPointError for the operation of a compiled program that made a NaN in its results.

    ``place`` is where the program was called, for one that was not written by the user: then its equations know only
    who called it first.
    """
    kind = found_in(outs)
    if kind is None:
        return
    if place is None:
        again = _run_watched(closed, *args)
    else:
        with source.attributed_to(place):
            again = _run_at_one_place(closed, *args)
    if found_in([*args, *closed.consts]) == kind:
        return  # it was handed on
    if found_in(again) == kind:
        raise FloatingPointError(f"invalid value ({kind}) returned by jit({name}): the de-optimized function did not make it by "
                                 f"an operation, it is a literal of the program; jax_debug_{kind}s is on.")
    source.warn(f"jit({name}) returned a {kind}, but running it one operation at a time did not: the compiler's "
                "rewriting made it. Execution goes on.")


def _run_watched(closed: ClosedJaxpr, *args: Any) -> list:
    return interpret(closed.jaxpr, closed.consts, args, _apply_watched)


def _apply_watched(eqn: JaxprEqn, values: Sequence[Any]) -> list:
    with source.attributed_to(eqn.source_info):
        return _apply(eqn, values, _run_watched)


def _run_at_one_place(closed: ClosedJaxpr, *args: Any) -> list:
    return interpret(closed.jaxpr, closed.consts, args, lambda eqn, values: _apply(eqn, values, _run_at_one_place))


def _apply(eqn, values, run):
    nested = interpret_nested(eqn, values, run)
    if nested is not None:
        kind = found_in(nested)
        if kind is not None and found_in(values) != kind:  # no operation inside made it: a constant in the program is it
            raise report(kind, eqn.primitive.name, source.capture())
        return nested
    outs = eqn.primitive.bind(*values, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]
