"""`jax.experimental.hijax`: enough for libraries to declare high-level types. Values of such types are not supported.

Declaring a type or a primitive works, so that libraries in which they are an option can be imported; binding such a
primitive raises NotImplementedError.
"""
from __future__ import annotations

from typing import Any, Callable

from ..representation.aval import AbstractRef, AbstractValue, ShapedArray
from ..representation.effects import Effect
from ..representation.primitive import Linear, Zero, is_linear
from ..representation.typing import ArrayLike
from ..traces.structural import instantiate

instantiate_zeros = instantiate
is_undefined_primal = is_linear


class HiPrimitive:
    """Base class of primitives on high-level types."""

    multiple_results = False

    def __init__(self, name: str):
        self.name = name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Not supported."""
        raise NotImplementedError(f"primitive {self.name!r}: high-level types (hijax) are not supported")


HiPrim = HiPrimitive


class HiType(AbstractValue):
    """Base class of high-level types. Subclasses say by which arrays a value is represented, and what its tangents are."""

    is_high = True

    def lo_ty(self) -> list[AbstractValue]:
        raise self._missing("lo_ty()")

    def lower_val(self, val: ArrayLike, /) -> list:
        raise self._missing("lower_val(value)")

    def raise_val(self, *vals: Any) -> Any:
        raise self._missing("raise_val(*arrays)")

    def vspace_add(self, x: ArrayLike, y: ArrayLike) -> Any:
        raise self._missing("vspace_add(x, y)")

    def vspace_zero(self) -> Any:
        """The zero of the tangents."""
        raise self._missing("vspace_zero()")

    def leading_axis_spec(self) -> Any:
        raise self._missing("leading_axis_spec()")

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} is a high-level type and must have a method {method}")


class MutableHiType(HiType):
    """Base class of high-level types whose values change."""


class AvalQDD(AbstractValue):
    """A type together with what it holds at some time."""

    def __init__(self, aval: AbstractValue, qdd: object):
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD(AvalQDD):
    """The same for a value that changes."""


class aval_method:
    """Marks a function as a method that tracers of a type have."""

    def __init__(self, fun: Callable[..., Any]):
        self.fun = fun


class aval_property:
    """Marks a function as a property that tracers of a type have."""

    def __init__(self, fget: Callable):
        self.fget = fget


class _EffectTypes:
    """Kinds of effects that loops and branches may hold; effects say so themselves (`effects.Effect`)."""

    def add_type(self, kind: type) -> None:
        """Allow effects of class ``kind`` in control flow."""
        if issubclass(kind, Effect):
            kind.in_control_flow = True


control_flow_allowed_effects = _EffectTypes()
_types: dict[type, Callable] = {}


def register_hitype(val_cls: type, typeof_fn: Callable) -> None:
    """Say how the type of a value of class ``val_cls`` is found."""
    _types[val_cls] = typeof_fn


__all__ = ["AbstractRef", "AbstractValue", "AvalMutableQDD", "AvalQDD", "HiPrim", "HiPrimitive", "HiType", "Linear",
           "MutableHiType", "ShapedArray", "Zero", "aval_method", "aval_property", "control_flow_allowed_effects",
           "instantiate_zeros", "is_undefined_primal", "register_hitype"]
