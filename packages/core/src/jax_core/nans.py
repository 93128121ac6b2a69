"""debug_nans and debug_infs: stop where a NaN (or infinity) is made, and name the operation and the line.

Every result is looked at. When a compiled program's results hold a NaN, the program is run again one operation at a
time, into the bodies of nested programs and loops, until the operation that made it is found.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import config, source
from .jaxpr import ClosedJaxpr, JaxprEqn, interpret, interpret_nested
from .source import SourceInfo

_COMPLEX_OR_FLOAT = "fcV"


def watching() -> bool:
    """Whether results are to be looked at."""
    return config.debug_nans.value or config.debug_infs.value


def found_in(outs: Sequence[Any]) -> str | None:
    """``"nan"`` or ``"inf"`` if some array holds one that is watched for."""
    for x in outs:
        dtype = getattr(x, "dtype", None)
        if dtype is None or getattr(dtype, "kind", "") not in _COMPLEX_OR_FLOAT:
            continue
        value = np.asarray(x)
        if value.dtype.kind == "V":
            value = value.astype(np.float32)
        if config.debug_nans.value and np.isnan(value).any():
            return "nan"
        if config.debug_infs.value and np.isinf(value).any():
            return "inf"
    return None


def report(kind: str, name: str, where: SourceInfo) -> FloatingPointError:
    return FloatingPointError(
        f"invalid value ({kind}) encountered in {name}, at {where}. It was computed from values without {kind}; "
        f"jax_debug_{kind}s is on.")


def check_primitive(prim: Any, args: Sequence[Any], outs: Any) -> None:
    """Raise FloatingPointError if the eager call of ``prim`` made a NaN out of arguments that had none."""
    outs = outs if prim.multiple_results else [outs]
    kind = found_in(outs)
    if kind is not None and found_in(args) != kind:
        raise report(kind, prim.name, source.capture())


def check_program(closed: ClosedJaxpr, args: Sequence[Any], outs: Sequence[Any], name: str) -> None:
    """Raise FloatingPointError for the operation of a compiled program that made a NaN in its results."""
    kind = found_in(outs)
    if kind is None or found_in(args) == kind:
        return
    _run_watched(closed, *args)
    import warnings
    warnings.warn(f"jit({name}) returned a {kind}, but running it one operation at a time did not: the compiler's "
                  "rewriting made it. Execution goes on.", stacklevel=3)


def _run_watched(closed: ClosedJaxpr, *args: Any) -> list:
    return interpret(closed.jaxpr, closed.consts, args, _apply_watched)


def _apply_watched(eqn: JaxprEqn, values: Sequence[Any]) -> list:
    with source.attributed_to(eqn.source_info):
        nested = interpret_nested(eqn, values, _run_watched)
        if nested is not None:
            return nested
        outs = eqn.primitive.bind(*values, **eqn.params)
    return outs if eqn.primitive.multiple_results else [outs]
