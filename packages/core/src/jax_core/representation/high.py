"""High-level types: types of values that arrays represent (`AbstractValue.lo_ty`), and programs that hold such values.

Whether any are in use is one look at a list, so that programs without them pay nothing.
"""
from __future__ import annotations

import itertools
import types
from typing import Any, Callable, Iterable, Sequence

from . import dtypes
from .aval import AbstractValue, aval_method, aval_property, register_value_class
from .jaxpr import ClosedJaxpr, Literal, jaxprs_in_params


class MappingSpec:
    """Base class of what says how `vmap` maps a value of a high-level type."""


class HiPspec:
    """Base class of what says how `shard_map` splits a value of a high-level type."""

    def to_lo(self) -> Sequence[Any]:
        """For each array that represents the value its `PartitionSpec`."""
        raise NotImplementedError(f"{type(self).__name__} says how a value of a high-level type is split, and must have a method to_lo()")


classes: list[type] = []
"""The Python classes of high-level values."""


def register(cls: type, rule: Callable[[Any], AbstractValue]) -> None:
    """``rule(value)`` is the type of values of class ``cls``."""
    classes.append(cls)
    register_value_class(cls, rule)


def any_high(avals: Iterable[AbstractValue]) -> bool:
    """Whether one of the types is high."""
    return bool(classes) and any([a.is_high for a in avals])


def holds_high(closed: ClosedJaxpr) -> bool:
    """Whether a value of the program, or of one in it, has a high-level type."""
    return bool(classes) and closed.memo("holds_high", lambda: _holds(closed.jaxpr))


def _holds(jaxpr) -> bool:
    own = any([v.aval.is_high for v in (*jaxpr.invars, *jaxpr.constvars, *jaxpr.outvars) if type(v) is not Literal])
    return own or any(v.aval.is_high for e in jaxpr.eqns for v in e.outvars) or any(
        _holds(getattr(inner, "jaxpr", inner)) for e in jaxpr.eqns for inner in jaxprs_in_params(e.params))


def has_tangent(aval: AbstractValue) -> bool:
    """Whether values of a high-level type have tangents that carry something."""
    return any(getattr(t, "dtype", dtypes.float0) != dtypes.float0 for t in aval.to_tangent_aval().lo_ty())


def low_types(avals: Sequence[AbstractValue]) -> list[AbstractValue]:
    """The types of the arrays that represent values of these types."""
    return [low for a in avals for low in (a.lo_ty() if a.is_high else [a])]


def lower(avals: Sequence[AbstractValue], values: Sequence[Any]) -> list:
    """The arrays that represent ``values``."""
    return [low for a, x in zip(avals, values) for low in (a.lower_val(x) if a.is_high else [x])]


def lift(avals: Sequence[AbstractValue], values: Sequence[object]) -> list:
    """The values that arrays represent; the inverse of `lower`."""
    rest = iter(values)
    return [a.raise_val(*itertools.islice(rest, len(a.lo_ty()))) if a.is_high else next(rest) for a in avals]


def attribute(x: Any, name: str) -> Any:
    """What the type of the tracer ``x`` says that its attribute ``name`` is."""
    value = getattr(x.aval, name)
    if isinstance(value, aval_property):
        return value.fget(x)
    return types.MethodType(value.fun, x) if isinstance(value, aval_method) else value


class Operators(dict):
    """Operators of tracers of a high-level type: ``x[i]`` is ``aval._getitem(x, i)``."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda x, *args: getattr(x.aval, f"_{name.strip('_')}")(x, *args)


operators = Operators()
