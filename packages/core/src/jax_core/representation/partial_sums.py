"""Sums over devices that are still to be made: ``unreduced`` and ``reduced`` mesh axes in the types of results.

A value that is unreduced over a mesh axis is the sum of what the devices along it hold. Operations that are linear may work on
the parts, all others need the whole. A value that is reduced over an axis is equal on the devices along it, and its cotangent
is unreduced there; products with it leave a sum unreduced.

A rule is ``rule(prim, avals) -> Sums`` of the results. Primitives declare theirs (``sums=``); the others have `linear` if they
are linear by their rule for tangents, and else `not_linear`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

from .errors import ShardingTypeError
from .manual_axis_type import ManualAxisType, UnreducedKind
from .marks import LINEAR
from .traits import Kind

if TYPE_CHECKING:
    from .aval import AbstractValue
    from .primitive import Primitive
    from .typing import SpecLike


class Sums(NamedTuple):
    """Over which mesh axes a value is unreduced (and how it is to be reduced), and reduced."""

    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()
    kind: UnreducedKind | None = None

    @staticmethod
    def of_manual(kind: ManualAxisType) -> Sums:
        """Those of a value inside a manual region."""
        return Sums(kind.unreduced, kind.reduced, kind.unreduced_kind) if kind.unreduced or kind.reduced else NOTHING

    def turned(self) -> Sums:
        """Those of a cotangent: unreduced and reduced change places."""
        return Sums(self.reduced, self.unreduced, UnreducedKind.sum if self.reduced else None) if any(self) else self


NOTHING = Sums()


def of(aval: AbstractValue) -> Sums:
    """What the type says: inside a manual region of its axes, else of those that the placement names."""
    if aval.sums is not NOTHING:
        return aval.sums
    if aval.placement is None:
        return NOTHING
    spec = aval.placement.spec
    return Sums(spec.unreduced, spec.reduced, spec.unreduced_kind) if spec.unreduced or spec.reduced else NOTHING


def of_result(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """What the types of the results of ``prim`` say, for operands of types ``avals``."""
    if all([of(a) is NOTHING for a in avals]):
        return NOTHING
    return rule_of(prim)(prim, avals)


def in_region(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """The same inside a manual region. A product of matrices is one of the parts that each device has, so its rule is that of products."""
    rule = rule_of(prim)
    return (bilinear if rule is product else rule)(prim, avals)


def rule_of(prim: Primitive) -> Callable:
    """The rule of ``prim``."""
    if prim.sums is not None:
        return prim.sums
    return linear if prim.jvp is LINEAR or prim.traits.kind in _MOVES else not_linear


_SUMMING = (Kind.PRODUCT, Kind.REDUCTION, Kind.SCATTER)
_MOVES = (Kind.VIEW, Kind.MOVE, Kind.IDENTITY)


# -- rules ---------------------------------------------------------------------------------------------------------------

def linear(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """Linear in all operands together: all are parts of sums over the same axes."""
    found = [of(a) for a in avals]
    some = next((s for s in found if s.unreduced), None)
    if some is not None and any([s[0] != some[0] or s[2] != some[2] for s in found]):
        raise _error(prim, avals, "the operands must be unreduced along the same mesh axes, as the parts of one sum are not those of "
                     "another; reshard those that are unreduced first")
    return Sums(some.unreduced if some else frozenset(), _reduced(prim, avals), some.kind if some else None)


def not_linear(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """Needs whole values."""
    if any([of(a).unreduced for a in avals]):
        raise _error(prim, avals, "it is not linear, so it cannot work on the parts of a sum, which an unreduced operand is; reshard "
                     "it first")
    return Sums(reduced=_reduced(prim, avals))


def bilinear(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """A product: one factor may be a sum, if the other is whole on its devices: reduced over the same axes, or a number."""
    x, y = map(of, avals)
    if x.unreduced and y.unreduced:
        raise _error(prim, avals, "the operands cannot both be unreduced, as a product of sums is not the sum of products; reshard one first")
    if not (x.unreduced or y.unreduced):
        return Sums(reduced=_reduced(prim, avals))
    whole, other, summed = (y, avals[1], x) if x.unreduced else (x, avals[0], y)
    if whole.reduced != summed.unreduced and not _is_number(other):
        raise _error(prim, avals, f"one operand is unreduced over {_text(summed.unreduced)}, so the other should be reduced over these mesh "
                     "axes; reshard one of them")
    return summed


def linear_in_first(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """Linear in the first of two operands."""
    if of(avals[1]).unreduced:
        raise _error(prim, avals, "only its first operand can be unreduced; reshard the second first")
    return bilinear(prim, avals)


def as_first(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """Elements of the first operand; the others say which."""
    if any([of(a).unreduced for a in avals[1:]]):
        raise _error(prim, avals, "only its first operand can be unreduced; reshard the others first")
    return of(avals[0])


def adding(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """Adds updates to the first operand. Where that is unreduced, updates that are split are the parts of the sum."""
    x, _, updates = avals
    wanted, given = of(x), of(updates)
    parts = {n for e in _entries(updates) for n in (e if isinstance(e, tuple) else (e,))} | given.unreduced
    if of(avals[1]).unreduced or given.unreduced - wanted.unreduced or wanted.unreduced - parts:
        raise _error(prim, avals, "updates must be split, or unreduced, over the mesh axes that the first operand is unreduced over, and no "
                     "other operand can be unreduced; reshard one of them")
    return wanted


def of_cases(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """A choice among all operands but the first."""
    if of(avals[0]).unreduced:
        raise _error(prim, avals, "what it chooses by cannot be unreduced; reshard it first")
    return linear(prim, avals[1:])


def product(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """A product of matrices, which need be whole. What they are reduced over is told by ``out_sharding`` of their cotangents."""
    if any([of(a).unreduced for a in avals]):
        raise _error(prim, avals, "an operand cannot be unreduced; reshard it first")
    return NOTHING


class Extremum:
    """The rule of a reduction by the operation ``kind``, which is also that between devices."""

    def __init__(self, kind: UnreducedKind):
        self.kind = kind

    def __call__(self, prim: Any, avals: Sequence[Any]) -> Sums:
        x = of(avals[0])
        if x.unreduced and x.kind is not self.kind:
            raise ValueError(f"{prim.name}: the operand {avals[0].str_short()} is unreduced by {x.kind}, expected {self.kind}; reshard it "
                             "first.")
        return x


def of_target(prim: Primitive, avals: Sequence[AbstractValue]) -> Sums:
    """The types of results say it: those of a conversion, or of a program."""
    return NOTHING


def makes_parts(prim: Primitive) -> bool:
    """Whether devices make the parts of a result that is unreduced, where no operand is."""
    return prim.traits.kind in _SUMMING or prim.sums is of_target


def _reduced(prim: Any, avals: Sequence[Any]) -> frozenset:
    """The axes over which all operands are reduced."""
    result = frozenset().union(*[of(a).reduced for a in avals])
    for a in avals if result and len(avals) > 1 else ():
        if of(a).reduced == result or of(a).unreduced or _is_number(a):
            continue
        split = a.vma.union(*[e if isinstance(e, tuple) else (e,) for e in _entries(a)])
        how = "sharded/varying" if result & set(split) else "replicated"
        raise _error(prim, avals, f"operands cannot be {how} over mesh axes that another one is reduced over, {_text(result)}: their "
                     "cotangents would differ; reshard one of them")
    return result


def _is_number(aval: Any) -> bool:
    return not aval.shape and of(aval) is NOTHING


def _text(axes: frozenset) -> str:
    return "{" + ", ".join(sorted(map(repr, axes))) + "}"


def _error(prim: Any, avals: Sequence[Any], text: str) -> ShardingTypeError:
    return ShardingTypeError(f"{prim.name}: {text}. Operands: {', '.join(a.str_short() for a in avals)}.")


# -- what callers ask for --------------------------------------------------------------------------------------------------

def check_asked(prim: Primitive, avals: Sequence[AbstractValue], asked: SpecLike, params: dict) -> None:
    """Raise unless ``prim`` can leave the sums to be made that the spec ``asked`` of its result names."""
    check = _CHECKS.get(prim.traits.kind)
    if check is not None and (asked.unreduced or asked.reduced or any([of(a) is not NOTHING for a in avals])):
        check(prim, avals, asked, params)


def _check_product(prim, avals, asked, params):
    product(prim, avals)
    if not asked.unreduced:
        return
    if asked.unreduced_kind is not UnreducedKind.sum:
        raise ValueError(f"{prim.name}: out_sharding={asked} asks for {asked.unreduced_kind} of products, but what is left to be made "
                         "is their sum.")
    (lc, rc), _ = params["dimension_numbers"]
    left, right = [[_entries(a)[i] for i in axes] for a, axes in zip(avals, (lc, rc))]
    if left != right:
        raise _error(prim, avals, f"the contracting dimensions of lhs and rhs must be split identically for a sum that is left to be made, got "
                     f"{left} and {right}, with out_sharding={asked}")
    _check_names(prim, avals, asked, left, "contracting dimensions")


def _check_reduction(prim, avals, asked, params):
    if not asked.unreduced:
        return
    kind = of_result(prim, avals).kind or (UnreducedKind.sum if prim.jvp is LINEAR else getattr(prim.sums, "kind", None))
    if asked.unreduced_kind is not kind:
        raise ValueError(f"{prim.name}: out_sharding={asked} asks for {asked.unreduced_kind}, but expected {kind}, which it computes.")
    given = _entries(avals[0])
    _check_names(prim, avals, asked, [given[i] for i in params["axes"]], "reduced dimensions", all_of_them=False)


def _check_names(prim, avals, asked, gone, what, all_of_them=True):
    """``all_of_them``: no part of the sum is made over some of the axes."""
    names = {n for e in gone if e is not None for n in (e if isinstance(e, tuple) else (e,))}
    already = frozenset().union(*[of(a).unreduced for a in avals])
    if not already <= asked.unreduced <= names | already or all_of_them and asked.unreduced != names | already:
        raise _error(prim, avals, f"out_sharding={asked}: the unreduced axes must be those that the {what} are split over, "
                     f"{_text(frozenset(names | already))}")


def _check_view(prim, avals, asked, params):
    given = of(avals[0])
    for word, wanted, found in (("unreduced", asked.unreduced, given.unreduced), ("reduced", asked.reduced, given.reduced)):
        if wanted == found:
            continue
        if not found:
            raise ValueError(f"{prim.name}: out_sharding={asked} cannot contain {word} axes, as the operand {avals[0].str_short()} has none; "
                             "use jax.sharding.reshard.")
        raise ValueError(f"{prim.name}: the result must be {word} over the same mesh axes as operand {avals[0].str_short()}, got "
                         f"out_sharding={asked}; use jax.sharding.reshard.")


def _entries(aval: Any) -> tuple:
    return (None,) * len(aval.shape) if aval.placement is None else aval.placement.spec.partitions


_CHECKS = {Kind.PRODUCT: _check_product, Kind.REDUCTION: _check_reduction, Kind.VIEW: _check_view}
