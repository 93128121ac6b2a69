"""Effects: what a program does besides computing its results.

An effect is a hashable object in the ``effects`` set of an equation and of a jaxpr. A *class* of effect decides five
things, and each class says them aloud instead of being entered in far-away tables:

* ``ordered``: the program threads a token through all equations with this effect, so that they run in program order;
* ``in_control_flow``: allowed inside `scan`, `while_loop` and `cond`;
* ``in_custom_derivatives``: allowed inside functions with custom derivatives;
* ``repeatable``: `checkpoint` may run the equation again; if not, it keeps what the equation returned;
* ``of_lanes``: under `vmap` it belongs to single lanes, so those that do not take part in a branch or step must not have it.

An equation with any effect is never removed as dead code.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, FrozenSet, Sequence

if TYPE_CHECKING:
    from .jaxpr import ClosedJaxpr


class Effect:
    """Base class of all effects; subclass it to make a new one, which is allowed nowhere but in plain programs until it says so."""

    __slots__ = ()
    ordered = False
    in_control_flow = False
    in_custom_derivatives = False
    repeatable = False
    of_lanes = True


class UsualEffect(Effect):
    """An effect that is allowed wherever a class of it does not say otherwise."""

    __slots__ = ()
    in_control_flow = True
    in_custom_derivatives = True
    repeatable = True


Effects = FrozenSet[Effect]
NO_EFFECTS: Effects = frozenset()


def ordered_effects(effects: Effects) -> list[Effect]:
    """The ordered ones of ``effects``, in a fixed order (by their text), so that tokens always line up.

    Raises:
      ValueError: one is no `Effect`, so that nothing says how a program with it is compiled.
    """
    unknown = [e for e in effects if not isinstance(e, Effect)]
    if unknown:
        raise ValueError(f"Cannot lower jaxpr with effects: {set(unknown)}; a primitive's effects must be instances of subclasses of "
                         "jax_core's Effect, which say whether they are ordered")
    return sorted((e for e in effects if e.ordered), key=str)


class NamedAxisEffect(UsualEffect):
    """The program refers to the mapped axis ``name`` (a collective or `axis_index`)."""

    __slots__ = ("name",)
    of_lanes = False

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return type(other) is NamedAxisEffect and self.name == other.name

    def __hash__(self):
        return hash((NamedAxisEffect, self.name))

    def __repr__(self):
        return f"NamedAxis({self.name})"


class RefEffect(UsualEffect):
    """The program reads or changes a mutable reference.

    ``ref`` is the variable of the reference in the program that has the effect, or, in what an ``effects`` rule
    returns, the position of the reference among the operands.
    """

    __slots__ = ("ref",)
    name = "Ref"

    def __init__(self, ref: Any):
        self.ref = ref

    def at(self, ref: object) -> "RefEffect":
        """The same effect on another variable or operand."""
        return type(self)(ref)

    def __eq__(self, other):
        return type(other) is type(self) and self.ref == other.ref

    def __hash__(self):
        return hash((type(self), self.ref))

    def __repr__(self):
        return f"{self.name}Effect({self.ref!r})"


class ReadEffect(RefEffect):
    """The program reads a reference."""

    __slots__ = ()
    name = "Read"


class WriteEffect(RefEffect):
    """The program overwrites (a part of) a reference."""

    __slots__ = ()
    name = "Write"


class AccumEffect(RefEffect):
    """The program adds to (a part of) a reference."""

    __slots__ = ()
    name = "Accum"


class LocalRefEffect(UsualEffect):
    """The program makes or ends references of its own; seen from outside it is pure."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is LocalRefEffect

    def __hash__(self):
        return hash(LocalRefEffect)

    def __repr__(self):
        return "LocalRef"


def refuse_effects(name: str, effects: Effects, flag: str, where: str) -> None:
    """Raise NotImplementedError, on behalf of ``name``, for effects that have no true ``flag``, and so cannot happen ``where``."""
    refused = sorted(str(e) for e in effects if not getattr(e, flag, False))
    if refused:
        raise NotImplementedError(f"{name}: Effects not supported inside {where}: {', '.join(refused)}. A class of effects is allowed "
                                  f"there if its attribute `{flag}` is True.")


def on_references(effects: Effects) -> bool:
    """Whether any of ``effects`` has to do with references."""
    return bool(effects) and any(isinstance(e, (RefEffect, LocalRefEffect)) for e in effects)


def located(effects: Effects, operands: Sequence[object]) -> Effects:
    """``effects`` of an equation, with positions of references replaced by the variables in ``operands``."""
    return frozenset(e.at(operands[e.ref]) if isinstance(e, RefEffect) and type(e.ref) is int else e for e in effects)


def visible(effects: Effects, inputs: Sequence[object]) -> Effects:
    """``effects`` of equations as those of the program: of references only the ones on its ``inputs`` count."""
    if not any(isinstance(e, RefEffect) for e in effects):
        return frozenset(effects)
    own = set(inputs)
    return frozenset(e for e in effects if not isinstance(e, RefEffect) or e.ref in own)


def operand_effects(closed: ClosedJaxpr, first: int = 0) -> Effects:
    """Effects of an equation that holds the program ``closed``, whose inputs are the operands from ``first`` on."""
    effects = closed.effects
    if not effects or not any(isinstance(e, RefEffect) for e in effects):
        return effects
    position = {v: i for i, v in enumerate(closed.jaxpr.invars, first)}
    return frozenset(e.at(position[e.ref]) if isinstance(e, RefEffect) and e.ref in position else e for e in effects)
