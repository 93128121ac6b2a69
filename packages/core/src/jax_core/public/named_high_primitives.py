"""`HiPrimitive`: primitives on high-level types in the form of jax 0.10, one object with a name for operands of all types.

Each application is an object of the present form, `Applied`, whose methods call those of the primitive.
"""
from __future__ import annotations

from typing import Any, Sequence

from ..representation.aval import AbstractValue, get_aval
from ..representation.primitive import Linear
from ..traces.structural import instantiate
from ..transformations.high_primitives import GradAccum, HiPrim


class HiPrimitive:
    """Base class of primitives on values of any types; ``bind(*operands, **params)`` applies one.

    A subclass has ``abstract_eval(*avals, **params)``, which returns the type of the result (a list with ``multiple_results``) and
    the effects; ``to_lojax(*operands, **params)``, the result by other primitives; and rules: ``jvp(primals, tangents, **params)``;
    ``transpose(cotangent, *operands, **params)``, which gets an undefined primal for an operand of which it returns a cotangent;
    ``batch(axis_data, operands, dims, **params)``.
    """

    multiple_results = False

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def bind(self, *args: Any, **params: Any) -> Any:
        """The result on ``args``."""
        out = Applied(self, tuple(map(get_aval, args)), params)(*args)
        return list(out) if self.multiple_results else out

    def is_high(self, *avals: AbstractValue, **params: Any) -> bool:
        """Whether it stands in programs until these are compiled."""
        return True

    def is_effectful(self, params: dict) -> bool:
        """Whether an application has effects."""
        return False

    def abstract_eval(self, *avals: AbstractValue, **params: Any) -> tuple[Any, Any]:
        """The type of the result, and the effects."""
        raise self._missing("abstract_eval(*avals)")

    def to_lojax(self, *args: Any, **params: Any) -> Any:
        """The result by other primitives."""
        raise self._missing("to_lojax(*args)")

    def jvp(self, primals: Sequence[object], tangents: Sequence[object], **params: Any) -> tuple[Any, Any]:
        """The result and its tangent."""
        raise self._missing("jvp(primals, tangents)")

    def transpose(self, out_ct: object, *args: Any, **params: Any) -> Sequence[Any]:
        """Cotangents of the operands that are undefined; None or anything for the others."""
        raise self._missing("transpose(cotangent, *args)")

    def batch(self, axis_data: object, args: Sequence[object], dims: Sequence[object], **params: Any) -> tuple[Any, Any]:
        """The result on a batch, and where its mapped axis is."""
        raise self._missing("batch(axis_data, args, dims)")

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"the primitive {self.name!r} on high-level types, a {type(self).__name__}, must have a method {method}")


class Applied(HiPrim):
    """``of`` with operands of types ``avals`` and parameters ``given``."""

    def __init__(self, of: HiPrimitive, avals: tuple[AbstractValue, ...], given: dict):
        out, self.effects = of.abstract_eval(*avals, **given)
        self.in_avals, self.out_aval, self.params = avals, tuple(out) if of.multiple_results else out, {"of": of, "given": given}
        super().__init__()

    of: HiPrimitive
    given: dict

    def __repr__(self) -> str:
        return self.of.name

    def _of_results(self, outs):
        return tuple(outs) if self.of.multiple_results else outs

    def expand(self, *args: object) -> object:
        return self._of_results(self.of.to_lojax(*args, **self.given))

    def jvp(self, primals: Sequence[object], tangents: Sequence[object]) -> tuple[Any, Any]:
        out, dot = self.of.jvp(primals, tuple(map(instantiate, tangents)), **self.given)
        return self._of_results(out), self._of_results(dot)

    def transpose(self, out_ct: object, *maybe_accums: object) -> None:
        cts = self.of.transpose(out_ct, *[Linear(x.aval) if isinstance(x, GradAccum) else x for x in maybe_accums], **self.given)
        for accum, ct in zip(maybe_accums, cts):
            if isinstance(accum, GradAccum):
                accum.accum(ct)

    def batch(self, axis_data: object, args: Sequence[object], dims: Sequence[object]) -> tuple[Any, Any]:
        if type(self.of).batch is HiPrimitive.batch:
            return super().batch(axis_data, args, dims)
        out, out_dims = self.of.batch(axis_data, args, dims, **self.given)
        return self._of_results(out), self._of_results(out_dims)


__all__ = ["HiPrimitive"]
