"""What primitives say of themselves, for those parts that know none of them by name: planning, printing, checkpoint, tools.

A declaration gives `Traits` beside the rules. They state facts of the operation, not what a reader makes of them: the
planner, say, reads off the `Kind` what the compiler fuses. What is not said follows from the rules (`Primitive`).
"""
from __future__ import annotations

import enum
from typing import Any, Callable, Mapping

# ns for one element where a kernel computes it along with other things (docs/internals/fusion.md has the measurements)
ARITHMETIC = 0.012  # an addition or multiplication: LLVM makes multiply-adds of them
SIMPLE = 0.03  # a comparison, selection, ...
MOVE = 0.01  # a change of shape


class Kind(enum.Enum):
    """What an operation does to its operands. Readers that need a parameter find it under the name that stands here."""

    ELEMENTWISE = enum.auto()
    """Computes each element from those in its place."""
    IDENTITY = enum.auto()
    """Its operand as it is, with something said about it."""
    VIEW = enum.auto()
    """The elements of its operand in another shape."""
    MOVE = enum.auto()
    """Elements of its operands at other places, or in another dtype; nothing is computed."""
    REDUCTION = enum.auto()
    """All elements along some axes as one."""
    SEARCH = enum.auto()
    """The place of an extreme element along some axes."""
    SWEEP = enum.auto()
    """Running results along an axis."""
    PRODUCT = enum.auto()
    """A product of matrices; ``dimension_numbers`` are ``((contracted, contracted), (batch, batch))`` axes of both."""
    CONVOLUTION = enum.auto()
    """A library's convolution; ``dimension_numbers.rhs_spec[0]`` is the axis of the kernel's output channels."""
    SCATTER = enum.auto()
    """Writes elements at given places of an array."""
    SORT = enum.auto()
    """Orders elements, by a library."""
    DRAW = enum.auto()
    """Makes random bits."""
    LIBRARY = enum.auto()
    """The compiler calls a library for it."""
    HOST = enum.auto()
    """The compiled program calls Python for it."""
    ALL_REDUCE = enum.auto()
    """Reduces over devices, of which each has the result. This and the next three name mesh axes in ``axes`` or
    ``axis_name``."""
    ALL_GATHER = enum.auto()
    """Joins what devices hold, or the other way round: each gets its part of a sum."""
    ALL_TO_ALL = enum.auto()
    """Each device sends a part to each other one."""
    PERMUTE = enum.auto()
    """Each device sends all to one other."""
    CALL = enum.auto()
    """Runs a program (`Primitive.program`) in its place, whose inputs are the operands."""
    LOOP = enum.auto()
    """Runs a program many times: ``length`` times, where it has that parameter."""
    BRANCH = enum.auto()
    """Runs one of several programs, its ``branches``, on its operands but for the first, which says which."""
    PARTS = enum.auto()
    """Each device runs a program (``jaxpr``) on its part of the operands (``mesh``, ``manual_axes``, ``in_specs``,
    ``out_specs``)."""
    PROGRAM = enum.auto()
    """Holds programs in some other way."""
    KERNEL = enum.auto()
    """Anything else: it needs its operands in memory."""


AROUND_PROGRAMS = frozenset({Kind.CALL, Kind.LOOP, Kind.BRANCH, Kind.PARTS, Kind.PROGRAM})
"""Kinds whose work is that of the programs in them. Others run theirs for each element, as a reduction by a function of one's own."""


class Algebra(enum.Enum):
    """What an elementwise operation is in expressions that compilers rewrite."""

    SUM = enum.auto()
    """Or a difference."""
    PRODUCT = enum.auto()
    QUOTIENT = enum.auto()
    POWER = enum.auto()
    EXPONENTIAL = enum.auto()
    LOGARITHM = enum.auto()
    COMPARISON = enum.auto()


class Part(enum.Enum):
    """Which part of its first operand an operation touches."""

    FIXED = enum.auto()
    """Reads one that the parameters give."""
    FOUND = enum.auto()
    """Reads one that its other operands give."""
    WRITTEN = enum.auto()
    """Overwrites one that its operands give, with the second."""


class Quick(enum.Enum):
    """What becomes of an operation that is compiled the quick way."""

    SAME = enum.auto()
    LESS_EXACT = enum.auto()
    """The error is larger (1.9 ulp, full: 1.0; `atan` for subnormal float64)."""
    SLOW_ON_RESULTS = enum.auto()
    """Slower, unless its operands are inputs of the program."""


class Inner(enum.Enum):
    """Loops of few turns within those over the elements, which the compiler may unroll."""

    NONE = enum.auto()
    PIECES = enum.auto()
    """Over pieces that are put together, or taken apart."""
    WINDOWS = enum.auto()
    """Over the elements that one result needs."""
    POOLED = enum.auto()
    """The same, of sums and extrema, which may be taken along one axis after another (`jax_core.traces.windows_by_axes`)."""

    @property
    def over_windows(self) -> bool:
        """Whether one result needs several elements."""
        return self in (Inner.WINDOWS, Inner.POOLED)


class Reach(enum.Enum):
    """How large results can be."""

    ANY = enum.auto()
    AS_OPERANDS = enum.auto()
    """At most twice as large as the operands."""
    MODERATE = enum.auto()
    """At most the square root of the largest number, or infinite, whatever the operands."""


class Keys(enum.Enum):
    """What an operation does to a random key, its first operand."""

    CONSUMED = enum.auto()
    """Uses it up."""
    PASSED = enum.auto()
    """Its result is, or holds the words of, the same key. Each result is so of the operand in its place."""


_COSTS = {Kind.ELEMENTWISE: SIMPLE, Kind.IDENTITY: SIMPLE, Kind.VIEW: MOVE, Kind.MOVE: MOVE}


class Traits:
    """The facts of one primitive; they do not change.

    Attributes:
      kind: what it does.
      cost: ns for one element where a kernel computes it along with other things; by default what most of its kind take.
      algebra: what it is in expressions that compilers rewrite.
      part: which part of its first operand it touches, if not all of it.
      quick: what becomes of it when compiled the quick way.
      reach: how large results can be.
      inner: loops within its loop over elements.
      keeps_places: reads its operand only at the place that it writes, though it computes nothing.
      joins: its kernel has code for each operand.
      keys: what it does to a random key.
      in_sums: XLA's library for sums on the CPU computes it, of float32, where sums are all that needs it.
      loses_nan: XLA's code for it on the CPU loses NaN where the compiler knows that the operand is NaN.
      spelled_out: it is lowered to many simple operations, which the compiler rather computes again than keeps.
      loops: it is lowered to a loop over the terms of a series.
      hidden: parameters that are not printed where they have these values, or a function of the value says so; `...`: whatever they are.
      shown: how parameters are printed, where not by `str`: a function of the value.
      labels: names that parameters are printed under, where not their own.
      fast_on_host: whether NumPy is about as fast as compiled code however large the operands are; or ``fast_on_host(**params)`` says so.
      lane_by_lane: ``lane_by_lane(**params)``: whether vmap calls the host for one lane after the other.
      fused: the compiler computes it within the kernels of its consumers (follows from the kind).
      starts_kernel: it is computed in a kernel, or call, of its own, with what it needs (follows from the kind).
      chooses: its first operand says for each element which of the others is read.
      compares: finds each result among the elements along some axes (follows for a search).
      combines: joins what it writes by an operation with what is there.
      high: its operands may have high-level types; it is written out before programs are compiled.
      reads: how often the code that it is lowered to reads each operand; or ``reads(**params)``.
      scope: the name in stacks of scopes, where it is not that of the primitive.
      printed_as: the parameter whose text is printed in place of the name and the parameters.
    """

    __slots__ = ("kind", "cost", "algebra", "part", "quick", "reach", "inner", "keeps_places", "joins", "keys", "in_sums", "loses_nan", "spelled_out", "loops",
                 "hidden", "shown", "labels", "fast_on_host", "lane_by_lane", "fused", "starts_kernel", "chooses", "compares", "combines", "high", "reads",
                 "scope", "printed_as")
    kind: Kind
    cost: float
    algebra: Algebra | None
    part: Part | None
    quick: Quick
    reach: Reach
    inner: Inner
    keeps_places: bool
    joins: bool
    keys: Keys | None
    in_sums: bool
    loses_nan: bool
    spelled_out: bool
    loops: bool
    hidden: Mapping[str, Any]
    shown: Mapping[str, Callable[[Any], str]]
    labels: Mapping[str, str]
    fast_on_host: bool | Callable[..., bool]
    lane_by_lane: Callable[..., bool] | None
    fused: bool
    starts_kernel: bool
    chooses: bool
    compares: bool
    combines: bool
    high: bool
    reads: int | Callable[..., int]
    scope: str | None
    printed_as: str | None

    def __init__(self, kind: Kind, cost: float | None = None, *, algebra: Algebra | None = None, part: Part | None = None, quick: Quick = Quick.SAME,
                 reach: Reach = Reach.ANY, inner: Inner = Inner.NONE, keeps_places: bool = False, joins: bool = False, keys: Keys | None = None,
                 in_sums: bool = False, loses_nan: bool = False, spelled_out: bool = False, loops: bool = False,
                 hidden: Mapping[str, Any] | None = None, shown: Mapping[str, Callable[[Any], str]] | None = None,
                 labels: Mapping[str, str] | None = None, fast_on_host: bool | Callable[..., bool] = False, lane_by_lane: Callable[..., bool] | None = None,
                 chooses: bool = False, compares: bool = False, combines: bool = False, high: bool = False,
                 reads: int | Callable[..., int] = 1, scope: str | None = None, printed_as: str | None = None):
        fused = kind in _COSTS
        for name, value in (
                ("kind", kind), ("cost", _COSTS.get(kind, 0.0) if cost is None else cost), ("algebra", algebra), ("part", part), ("quick", quick),
                ("reach", reach), ("inner", inner), ("keeps_places", keeps_places), ("joins", joins), ("keys", keys), ("in_sums", in_sums),
                ("loses_nan", loses_nan), ("spelled_out", spelled_out), ("loops", loops),
                ("hidden", hidden or {}), ("shown", shown or {}), ("labels", labels or {}),
                ("fast_on_host", fast_on_host), ("lane_by_lane", lane_by_lane), ("fused", fused), ("starts_kernel", not fused and kind is not Kind.CALL),
                ("chooses", chooses), ("compares", compares or kind is Kind.SEARCH), ("combines", combines), ("high", high), ("reads", reads),
                ("scope", scope), ("printed_as", printed_as)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Traits.{name} cannot be set: traits do not change; make new ones")

    def __repr__(self) -> str:
        return f"Traits({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"
