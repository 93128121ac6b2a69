"""Templates: what a lowering rule wrote, with the names of values left open.

Programs repeat themselves (twelve layers, each differentiated), and a rule depends on nothing but the types of its
operands and its parameters. So a rule runs once for each of these on a `Recorder`, a builder whose names are private
characters; its text becomes a format string, and equations that follow only fill in names.

Rules that look at the function they write into (tokens, calls, callbacks, long constants) raise `NotATemplate` while
being recorded, and run for every equation instead.
"""
from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from .builder import NONE, Builder
from .values import new_value, operand_types

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

_PRIVATE = 0xF0000
_OPERANDS, _NEW, _CONSTANTS, _LOCATION = _PRIVATE, _PRIVATE + 0x1000, _PRIVATE + 0x8000, _PRIVATE + 0xF000
_placeholder = re.compile(f"([{chr(_PRIVATE)}-{chr(_LOCATION)}])")
_LONG = 64  # elements

Template = tuple
"""Format string, function that picks its arguments, number of new names, constants (literal operands that are repeated, too: which one, and
to what type), results, and what the key of the template names by id. `builder.NONE` where the rule must run each time."""


class NotATemplate(Exception):
    """The rule does what a template cannot repeat."""


class Recorder(Builder):
    """A builder whose names are placeholders."""

    __slots__ = ("needed", "depth", "literals")

    def __init__(self, module: Any):
        super().__init__(module)
        self.needed: dict = {}
        self.depth = 0
        self.literals: set[str] = set()

    def _new(self):
        name = chr(_NEW + self.count)
        self.count += 1
        if self.count > 0x6000:
            raise NotATemplate
        return name

    def _constant(self, text, like, dtype):
        if self.depth or self.module.one_form or "x" in text and len(text) > 40:
            return super()._constant(text, like, dtype)
        return chr(_CONSTANTS + self.needed.setdefault((text, ShapedArray(like.shape, dtype), dtype), len(self.needed)))

    def constant(self, value, aval=None):
        if np.size(value) > _LONG:
            raise NotATemplate
        return super().constant(value, aval)

    def broadcast(self, x, shape, dims=()):
        if x not in self.literals or not shape or self.depth:
            return super().broadcast(x, shape, dims)
        out = ShapedArray(shape, x.aval.dtype)
        return new_value(chr(_CONSTANTS + self.needed.setdefault((ord(x) - _OPERANDS, out), len(self.needed))), out)

    def region(self, in_avals: Sequence[AbstractValue], body: Callable, terminator: str = "stablehlo.return"):
        self.depth += 1
        try:
            return super().region(in_avals, body, terminator)
        finally:
            self.depth -= 1

    def _write(self, eqn, env):
        """Inlined equations are written by their rules, as templates of templates would gain nothing."""
        operands = [new_value(self._literal(x) if type(x) is Literal else env[x], x.aval) for x in eqn.invars]
        for v, x in zip(eqn.outvars, self.apply(eqn, operands)):
            env[v] = x

    def _refuse(self, *args, **kwargs):
        raise NotATemplate

    token = set_token = tokens = call = function = with_bindings = keeps = given = stored = holds_bfloat16 = in_memory = _refuse
    reads_elsewhere = to_write_over = chosen = integer = once = host_callback = inspect_sharding = sharding = sharding_constraint = whole_along = _refuse


def repeatable(eqn: JaxprEqn) -> bool:
    """Whether the equation's parameters make a good key.

    Floats do not: 0.0 and -0.0 are equal as keys and unequal as texts. Programs and functions do not: they would be kept
    alive, and hardly ever come again.
    """
    if not eqn.primitive.cacheable or any([v.aval.placement is not None for v in eqn.outvars]):
        return False
    for x in eqn.params.values():
        if isinstance(x, (float, complex, np.inexact, ClosedJaxpr, Jaxpr)) or callable(x) and not isinstance(x, type):
            return False
    return True


def record(module: object, eqn: JaxprEqn, location: str) -> Template:
    """The template of equations like ``eqn``."""
    recorder = Recorder(module)
    recorder.location = chr(_LOCATION) if location else ""
    operands = [new_value(chr(_OPERANDS + i), aval) for i, aval in enumerate(operand_types(eqn, recorder.module.kernel))]
    if not recorder.module.one_form and not recorder.module.kernel:
        recorder.literals.update([x for x, given in zip(operands, eqn.invars) if type(given) is Literal and x.aval.shape == ()])
    try:
        outs = recorder.apply(eqn, operands)
    except NotATemplate:
        return NONE
    sizes = len(eqn.invars), recorder.count, len(recorder.needed)
    pieces = _placeholder.split("".join(recorder.lines))
    text = "%s".join([piece.replace("%", "%%") for piece in pieces[::2]])
    pick = _picker([_slot(name, *sizes) for name in pieces[1::2]])
    results: Any = [(_slot(name[0], *sizes), name[1:]) for name in outs]
    if len(results) == 1 and not results[0][1]:  # nearly always
        results = results[0][0]
    return text, pick, recorder.count, list(recorder.needed), results, [x.aval for x in (*eqn.invars, *eqn.outvars)]


def _slot(name: str, operands: int, new: int, constants: int) -> int:
    """Position of a placeholder in the list: operands, new names, constants, location."""
    code = ord(name)
    if code < _NEW:
        return code - _OPERANDS
    if code < _CONSTANTS:
        return code - _NEW + operands
    if code < _LOCATION:
        return code - _CONSTANTS + operands + new
    return operands + new + constants


def _picker(slots: Sequence[int]) -> Callable[[list], Any]:
    return itemgetter(*slots) if slots else lambda names: ()
