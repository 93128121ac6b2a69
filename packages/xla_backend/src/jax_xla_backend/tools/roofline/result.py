"""What is counted, and what a rule that counts is told."""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.representation.primitive import Primitive

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineShape:
    """Shape and dtype of an array, and the bytes that it takes."""

    shape: tuple[int, ...]
    dtype: Any

    size = property(lambda self: math.prod(self.shape))
    bytes = property(lambda self: math.prod(self.shape) * self.dtype.itemsize)

    @classmethod
    def from_aval(cls, aval: AbstractValue) -> "RooflineShape":
        """Of a type, or of an array."""
        return cls(shape=tuple(aval.shape), dtype=aval.dtype)

    @classmethod
    def total_bytes(cls, avals: Sequence[AbstractValue]) -> int:
        """The bytes of all together."""
        return sum(cls.from_aval(a).bytes for a in avals)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineRuleContext:
    """What a rule is told besides operands and parameters."""

    name_stack: Any
    primitive: Primitive
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineResult:
    """Costs; they add up, but for the peak, of which the larger counts.

    Attributes:
      flops: of matrix products. unfused_flops: of everything.
      hbm_bytes: to and from memory for matrix products. unfused_hbm_bytes: for everything.
      peak_hbm_bytes: the most bytes alive at once.
      ici_bytes, ici_latency: for each mesh axis, bytes sent by a device, and hops one after the other.
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict = dataclasses.field(default_factory=dict)
    ici_latency: dict = dataclasses.field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls) -> "RooflineResult":
        """No cost."""
        return cls()

    def __add__(self, other: "RooflineResult") -> "RooflineResult":
        """The cost of both, one after the other."""
        sums = {name: _sum(cost, getattr(other, name)) for name, cost in vars(self).items()}
        return RooflineResult(**sums | {"peak_hbm_bytes": max(self.peak_hbm_bytes, other.peak_hbm_bytes)})

    def __mul__(self, constant: int) -> "RooflineResult":
        """The cost of ``constant`` runs one after the other, which have the peak of one."""
        products = {name: _product(cost, constant) for name, cost in vars(self).items()}
        return RooflineResult(**products | {"peak_hbm_bytes": self.peak_hbm_bytes})

    __rmul__ = __mul__


def _sum(a: Any, b: Any) -> Any:
    return {axis: a.get(axis, 0) + b.get(axis, 0) for axis in a | b} if isinstance(a, dict) else a + b


def _product(cost: Any, constant: int) -> Any:
    return {axis: n * constant for axis, n in cost.items()} if isinstance(cost, dict) else cost * constant
