"""The builder: writes one function of a StableHLO module as text.

Lowering rules run through it, but not once for every equation: what a rule wrote for some operand types and parameters
is kept as a template (`templates`), and later equations of that kind only fill in names.

Names are ``%0, %1, ...`` within a function, nested regions included. Constants are written once for each region, as
the regions of reductions and sorts must not read values from outside.
"""
from __future__ import annotations

import contextlib
import types
from typing import TYPE_CHECKING, Any, Callable, Collection, Hashable, Iterator, Mapping, Sequence

import numpy as np

from jax_core.configuration import engine, flags
from jax_core.interfaces import Odd
from jax_core.representation import partial_sums, splits
from jax_core.representation.aval import AbstractValue, ShapedArray, abstract_token, get_aval
from jax_core.representation.dtypes import float0, isdtype, itemsize_bits
from jax_core.representation.effects import Effect, ordered_effects
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, with_narrow_loops
from jax_core.representation.memory import Space
from jax_core.representation.traits import Kind
from jax_core.traces.staging import trace_to_jaxpr

from ..jaxlib_compat import BARRIERS_LAST, COMPILER_ERRS, CONSTANTS_BY_ZERO_TRAP, UNSTABLE_TOP_K, VECTOR_ATAN
from ..planning.loops import FEW_TIMES, is_dispatched
from ..planning.odd import odd_equations
from ..planning.planner import SMALL, plan
from . import call_handlers, extended_dtypes, nested_modules, outside_calls, sharding_text
from .byte_arithmetic import WORDS, WRONG_OF_BYTES, on_words
from .kept_apart import keeping_apart
from .kept_nans import keep_nan
from .metadata import attributes, shows, under
from .overwriting import BEFORE_WRITING, Definitions, reads_elsewhere
from .quotients import DIVIDE, Quotients
from .sharding_rules import batch_rule
from .types import dense_text, is_extended, literal_text, signature, type_text
from .values import DIVISIONS, WRONG_OF_SIGNED, Value, hides_divisor, new_value, operand_types, spreads_literals

if TYPE_CHECKING:
    from jax_core.representation.effects import Effects
    from jax_core.representation.primitive import Primitive
    from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, ShardingLike
    from jax_core.transformations.manual import AxisEnv

_BOOL = np.dtype(bool)
NONE = ()
"""In place of a template: the rule must run each time."""
PLANNED = ' loc("planner: '
"""Before the reason of a barrier of the planner's."""


class Builder:
    """Implements `jax_core.interfaces.Builder`; see there for the methods that lowering rules use.

    Attributes:
      module: the `ModuleWriter` that this function belongs to.
      lines: the text so far.
      out_avals, params: result types and parameters of the equation being lowered.
      in_sum: whether the compiler's library for sums computes it; in_sums: ``id(var)`` of all of which that is so (`planning.sums`).
      flat: ``id(var)`` of results of the program that are written as vectors (`planning.flat_results`).
      odd: what is odd about it (`planning.odd`).
    """

    __slots__ = ("module", "platform", "lines", "out_avals", "params", "in_sum", "in_sums", "count", "constants", "tokens_now", "location", "plain", "plain_in",
                 "_stored", "_defined", "odd", "flat")

    def __init__(self, module: Any):
        self.module, self.platform = module, module.platform
        self.lines: list[str] = []
        self.count, self.in_sum, self.location = 0, False, ""
        self.constants: dict = {}
        self.tokens_now: dict[Hashable, Value] = {}
        self.out_avals: Sequence[AbstractValue] = ()
        self.params: dict = {}
        self.in_sums: Collection[int] = ()
        self.plain: tuple | None = None
        self.plain_in: tuple | None = None
        self._stored: set[str] = set()
        self.odd: Odd | None = None
        self.flat: Collection[int] = ()
        self._defined: Definitions | None = None

    @property
    def barriers_last(self) -> bool:
        """Whether the compiler computes what is behind an `optimization_barrier` apart from what is before it."""
        return BARRIERS_LAST and self.platform == "cpu"

    @property
    def portable(self) -> bool:
        """Whether the program was asked for by the name of a platform, as exports are."""
        return self.module.portable

    @property
    def one_form(self) -> bool:
        """Whether all programs of a family of shapes must differ in numbers only."""
        return self.module.one_form

    @property
    def block(self) -> Hashable:
        """The block that is being written."""
        return id(self.lines)

    @property
    def axis_env(self) -> AxisEnv | None:
        """The mesh axes that collectives name, inside a manual region."""
        return self.module.axis_env

    @property
    def vector_atan(self) -> bool:
        """Whether the compiler's arc tangent is vector code, where ours would be slower."""
        return VECTOR_ATAN

    @property
    def compiler_errs(self) -> bool:
        """Whether the compiler is one with known mistakes; see `interfaces.Builder.compiler_errs`."""
        return COMPILER_ERRS

    @property
    def unstable_top_k(self) -> bool:
        """Whether CHLO's `top_k` says if equal elements keep their order."""
        return UNSTABLE_TOP_K

    @property
    def devices(self) -> int:
        """How many devices the module is for."""
        return self.module.shardings.devices

    @property
    def partitioned(self) -> bool:
        """Whether the compiler splits values over several devices here."""
        env = self.module.axis_env
        return self.module.shardings.devices > 1 and (env is None or env.inner is not None)

    # -- names and lines -------------------------------------------------------------------------------------------

    def _new(self) -> str:
        name = f"%{self.count}"
        self.count += 1
        return name

    def emit(self, text: str, *operands: Value, out: Any, attrs: str = "") -> Any:
        """Write one operation; see `interfaces.Builder.emit`. ``out`` may be empty for an op without results."""
        types = [x.type for x in operands]
        if attrs:
            text = f"{text} {attrs}"
        if isinstance(out, AbstractValue):
            name, out_type = self._new(), type_text(out)
            self.lines.append(f"    {name} = {text}{signature(text, types, (out_type,))}{self.location}\n")
            value = Value(name)
            value.aval, value.type = out, out_type
            return value
        out_types = [type_text(aval) for aval in out]
        suffix = signature(text, types, out_types)
        if not out_types:
            self.lines.append(f"    {text}{suffix}{self.location}\n")
            return []
        name = self._new()
        if len(out_types) == 1:
            self.lines.append(f"    {name} = {text}{suffix}{self.location}\n")
            return [new_value(name, out[0])]
        self.lines.append(f"    {name}:{len(out_types)} = {text}{suffix}{self.location}\n")
        return [new_value(f"{name}#{i}", aval) for i, aval in enumerate(out)]

    def elementwise(self, op: str, *operands: Value, out: AbstractValue | None = None) -> Value:
        """The elementwise op named ``op`` on operands of the result's shape, or of rank 0 or length 1, which are broadcast.

        Args:
          out: result type; by default that of the equation being lowered.
        """
        out = self.out_avals[0] if out is None else out
        shape = out.shape
        if op in WRONG_OF_BYTES and out.dtype in WORDS and self.platform == "cpu":
            return on_words(self, op, operands, out)
        if op in DIVISIONS and not operands[1].aval.shape and hides_divisor(op, out, self.module.kernel):
            operands = operands[0], self._hidden(operands[1])
        values = [x if x.aval.shape == shape else self.repeated(x, out) for x in operands]
        if COMPILER_ERRS and op in WRONG_OF_SIGNED and isdtype(out.dtype, "signed integer") and not self.module.kernel:
            return self._of_any_sign(op, values, out)
        if CONSTANTS_BY_ZERO_TRAP and op in DIVISIONS and isdtype(out.dtype, "integral") and not self.module.kernel:
            return self._guarded(op, *values, out=out)
        return self._elementwise(op, values, out)

    def _of_any_sign(self, op: str, values: Sequence[Value], out: AbstractValue) -> Value:
        """An operation of `WRONG_OF_SIGNED`, by others."""
        if op == "stablehlo.abs":
            return self._elementwise("stablehlo.maximum", [values[0], self._elementwise("stablehlo.negate", values, out)], out)
        unsigned = out.update(dtype=np.dtype(f"u{out.dtype.name}"))
        values = [self.emit(f"stablehlo.convert {x}", x, out=unsigned) for x in values]
        result = self._elementwise(op, values, unsigned)
        return self.emit(f"stablehlo.convert {result}", result, out=out)

    def _hidden(self, x: Value) -> Value:
        """The integer ``x``, its bits read as another type and back: no constant to the compiler's first stage, but to all that follow."""
        other = np.dtype(f"{'u' if isdtype(x.aval.dtype, 'signed integer') else 'i'}{x.aval.dtype.itemsize}")
        for dtype in other, x.aval.dtype:
            x = self.emit(f"stablehlo.bitcast_convert {x}", x, out=ShapedArray((), dtype))
        return x

    def _guarded(self, op: str, x: Value, y: Value, *, out: AbstractValue) -> Value:
        """A quotient (all bits set where ``y`` is 0) or remainder (``x`` there) of integers by a divisor that is never 0."""
        zero = self.emit(f"stablehlo.compare EQ, {y}, {self.full(0, out)}", y, y, out=out.update(dtype=_BOOL, weak_type=False))
        beside = self._elementwise(op, [x, self._select(zero, self.full(1, out), y)], out)
        ones = -1 if isdtype(out.dtype, "signed integer") else 2 ** itemsize_bits(out.dtype) - 1
        return self._select(zero, x if op == "stablehlo.remainder" else self.full(ones, out), beside)

    def _select(self, which: Value, yes: Value, no: Value) -> Value:
        return self.emit(f"stablehlo.select {which}, {yes}, {no}", which, yes, no, out=no.aval)

    def _elementwise(self, op: str, values: Sequence[Value], out: AbstractValue) -> Value:
        kind = type_text(out)
        if op.startswith("stablehlo.") and all([x.type == kind for x in values]):  # the short form, faster to parse
            name = self._new()
            self.lines.append(f"    {name} = {op} {', '.join(values)} : {kind}{self.location}\n")
            return new_value(name, out)
        return self.emit(f"{op} {', '.join(values)}", *values, out=out)

    # -- constants -------------------------------------------------------------------------------------------------

    def _constant(self, text: str, like: AbstractValue, dtype: Any) -> str:
        """Name of the constant ``dense<text>`` of the shape of ``like``."""
        key = (text, like.shape, dtype)
        name = None if self.module.one_form else self.constants.get(key)  # a length may be equal to another number by chance
        if name is None:
            name = self.constants[key] = self._new()
            kind = type_text(like if like.dtype == dtype else ShapedArray(like.shape, dtype))
            self.lines.append(f"    {name} = stablehlo.constant dense<{text}> : {kind}{self.location}\n")
        return name

    def _spread(self, x: str, out: ShapedArray) -> str:
        """Name of the scalar constant ``x``, repeated to the type ``out``: by one operation for all of a block that need it."""
        key = x, out.shape
        name = self.constants.get(key)
        if name is None:
            name = self.constants[key] = self._new()
            scalar = type_text(ShapedArray((), out.dtype))
            self.lines.append(f"    {name} = stablehlo.broadcast_in_dim {x}, dims = [] : ({scalar}) -> {type_text(out)}{self.location}\n")
        return name

    def scalar(self, value: ArrayLike, dtype: DTypeLike | None) -> Value:
        """A rank-0 constant."""
        return self.full(value, ShapedArray((), dtype))

    def full(self, value: ArrayLike, aval: AbstractValue) -> Value:
        """A constant of type ``aval`` with all elements ``value``."""
        if is_extended(aval):
            raise TypeError(f"Builder.full: {aval.dtype} has no constants; make the physical array")
        if 0 in aval.shape:
            return new_value(self._constant("", aval, aval.dtype), aval)
        if aval.dtype == float0:
            return new_value(self._constant("false", aval, _BOOL), aval)
        return new_value(self._constant(literal_text(value, aval.dtype), aval, aval.dtype), aval)

    def constant(self, value: np.ndarray, aval: AbstractValue | None = None) -> Value:
        """A constant array; ``aval`` is its type, which by default depends on the flags of now."""
        value = np.asarray(value)
        if aval is None:
            aval = get_aval(value)
        if aval.dtype == float0:
            return self.full(False, aval)
        return new_value(self._constant(dense_text(value.astype(aval.dtype, copy=False)), aval, aval.dtype), aval)

    def array_attribute(self, value: np.ndarray) -> str:
        """An array as the text of an attribute."""
        return f"dense<{dense_text(value)}> : {type_text(ShapedArray(value.shape, value.dtype))}"

    # -- small helpers ---------------------------------------------------------------------------------------------

    def convert(self, x: Value, dtype: DTypeLike) -> Value:
        """``x`` with its elements converted; ``x`` itself where nothing changes."""
        if x.aval.dtype == dtype:
            return x
        if self.platform == "cpu" and dtype in WORDS and isdtype(x.aval.dtype, "integral") and itemsize_bits(x.aval.dtype) < 8:
            # XLA would compute ``x`` of bytes, which do not wrap
            x = self.emit(f"stablehlo.convert {x}", x, out=ShapedArray(x.aval.shape, np.dtype(np.int16)))
        return self.emit(f"stablehlo.convert {x}", x, out=ShapedArray(x.aval.shape, dtype))

    def broadcast(self, x: Value, shape: Sequence[int], dims: Sequence[int] = ()) -> Value:
        """``broadcast_in_dim``; ``x`` itself where nothing changes."""
        shape = tuple(shape)
        extra: Sequence[int] = ()
        if x.aval.shape == shape and list(dims) == list(range(len(shape))):
            return x
        if is_extended(x.aval):
            extra = range(len(shape), len(shape) + len(x.aval.dtype.physical_element_aval.shape))
        return self.emit(f"stablehlo.broadcast_in_dim {x}, dims = {[*dims, *extra]}", x,
                         out=ShapedArray(shape, x.aval.dtype))

    def repeated(self, x: Value, out: AbstractValue) -> Value:
        """``x``, a scalar or of length 1 along some axes, for each element of an array of type ``out``, and split over the mesh as that is."""
        x, placement = self.broadcast(x, out.shape, range(x.ndim)), out.placement
        return x if placement is None or placement.spec.unreduced else self.sharding_constraint(x, placement, typed=True)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """``x`` with another shape of the same size."""
        shape = tuple(shape)
        if x.aval.shape == shape:
            return x
        return self.emit(f"stablehlo.reshape {x}", x, out=ShapedArray(shape, x.aval.dtype))

    def index(self, x: Value, i: Value) -> Value:
        """``x[i]`` along the leading axis, for a scalar integer ``i`` in range; also for key arrays."""
        whole = extended_dtypes.physical(self._still_unreduced(x))
        starts = [i, *[self.scalar(0, i.aval.dtype)] * (whole.ndim - 1)]
        rest = whole.aval.shape[1:]
        part = self.emit(f"stablehlo.dynamic_slice {', '.join([whole, *starts])}, sizes = {[1, *rest]}", whole, *starts,
                         out=ShapedArray((1, *rest), whole.aval.dtype))
        row = ShapedArray(x.aval.shape[1:], x.aval.dtype)
        placement = x.aval.placement
        if placement is None or not placement.spec.unreduced:
            return new_value(self.reshape(part, rest), row)
        part = self.sharding_constraint(part, placement, typed=True)
        return self._still_unreduced(new_value(self.reshape(part, rest), row.update(sharding=splits.without_axis(placement, 0))))

    def update(self, x: Value, i: Value, part: Value) -> Value:
        """``x`` with ``x[i]`` along the leading axis replaced by ``part``; also for key arrays."""
        whole, part = extended_dtypes.physical(x), extended_dtypes.physical(part)
        starts = [i, *[self.scalar(0, i.aval.dtype)] * (whole.ndim - 1)]
        row = self.reshape(part, (1, *part.aval.shape))
        if x.aval.placement is not None and x.aval.placement.spec.unreduced:
            row = self.sharding_constraint(row, x.aval.placement, typed=True)
        out = self.emit(f"stablehlo.dynamic_update_slice {', '.join([whole, row, *starts])}", whole, row, *starts,
                        out=whole.aval)
        return self._still_unreduced(new_value(out, x.aval))

    def physical(self, x: Value) -> Value:
        """A key array as the array of numbers it is stored in; any other value as it is."""
        return extended_dtypes.physical(x)

    def logical(self, x: Value, aval: AbstractValue) -> Value:
        """The opposite of `physical`: the array ``x``, in which a key array of type ``aval`` is stored, as that."""
        return new_value(x, aval)

    # -- regions ---------------------------------------------------------------------------------------------------

    def region(self, in_avals: Sequence[AbstractValue], body: Callable[..., Sequence[Value]],
               terminator: str = "stablehlo.return") -> str:
        """Text ``{^bb0(...): ...}`` of a region; ``body(builder, *arguments)`` emits into it and returns its results."""
        outer = self.lines, self.constants, self.tokens_now
        self.lines, self.constants, self.tokens_now = [], {}, dict(self.tokens_now)
        try:
            arguments = [new_value(self._new(), aval) for aval in in_avals]
            outs = list(body(self, *map(self._still_unreduced, arguments)))
            types = f" : {', '.join([x.type for x in outs])}" if outs else ""
            header = f"  ^bb0({', '.join([f'{x}: {x.type}' for x in arguments])}):\n" if arguments else ""
            return f"{{\n{header}{''.join(self.lines)}    {terminator} {', '.join(outs)}{types}{self.location}\n    }}"
        finally:
            self.lines, self.constants, self.tokens_now = outer

    @contextlib.contextmanager
    def within(self, name: str) -> Iterator[None]:
        """What is written inside is under the scope ``name``, beneath that of the equation being lowered."""
        module = self.module
        around = module.scopes
        if around:
            module.scopes = (*around, name)
        try:
            yield
        finally:
            module.scopes = around

    def reducer(self, op: str, dtype: DTypeLike) -> str:
        """The region of a reduction by the binary op named ``op``."""
        scalar = ShapedArray((), dtype)
        return self.region([scalar, scalar], lambda b, x, y: [b.emit(f"{op} {x}, {y}", x, y, out=scalar)])

    # -- tokens ----------------------------------------------------------------------------------------------------

    def token(self, effect: Hashable) -> Value:
        """The current token of an ordered effect."""
        found = self.tokens_now.get(effect)
        if found is None:
            found = self.tokens_now[effect] = self.emit("stablehlo.create_token", out=abstract_token)
        return found

    def set_token(self, effect: Hashable, token: Value) -> None:
        """``token`` is the current token from here on."""
        self.tokens_now[effect] = token

    def tokens(self, effects: Effects) -> list[tuple[Effect, Value]]:
        """The ordered ones of ``effects`` in their fixed order, each with its current token."""
        return [(effect, self.token(effect)) for effect in ordered_effects(effects)]

    # -- programs --------------------------------------------------------------------------------------------------

    def jaxpr(self, closed: ClosedJaxpr | Jaxpr, *operands: Value) -> list[Value]:
        """The program's equations, here."""
        closed = closed if isinstance(closed, Jaxpr) else with_narrow_loops(closed)
        jaxpr, consts = (closed, ()) if isinstance(closed, Jaxpr) else (closed.jaxpr, closed.consts)
        if len(operands) != len(jaxpr.invars):
            raise TypeError(f"Builder.jaxpr: the program takes {len(jaxpr.invars)} operands, got {len(operands)}")
        env = {v: self._value_of(v.aval, c) for v, c in zip(jaxpr.constvars, consts)}
        env.update(zip(jaxpr.invars, map(self._still_unreduced, operands) if self.partitioned else operands))
        return self.run(jaxpr, env)

    def _value_of(self, aval: AbstractValue, value: Any) -> Value:
        """A constant of any type, also of keys."""
        if is_extended(aval):
            return new_value(self.constant(np.asarray(aval.dtype.unwrap(value))), aval)
        return self.constant(np.asarray(value), aval.update(sharding=None))

    def run(self, jaxpr: Jaxpr, env: dict, whole: bool = False) -> list[Value]:
        """Write ``jaxpr``, which is ``whole`` or a part of another; ``env`` holds the values of its inputs and is filled with all others."""
        outer = self.out_avals, self.params, self.location
        found = plan(jaxpr, self.module.plans, self.module.least_cut) if self.module.planning else None
        barriers, stored = (found.cuts, found.stored) if found else (None, None)
        odd = odd_equations(jaxpr, self.module.may_have_barriers, self.module.meets_nan) if self.platform == "cpu" else {}
        keep_apart = None if self.module.kernel else keeping_apart(self, jaxpr, env, whole)
        write, quotients = self._write, Quotients(self, jaxpr, self._write)
        for eqn in jaxpr.eqns:
            self.in_sum = bool(self.in_sums) and any([id(v) in self.in_sums for v in eqn.outvars])
            self.odd = odd.get(id(eqn.outvars[0])) if odd and eqn.outvars else None
            (quotients.put if eqn.primitive.lower == DIVIDE else write)(eqn, env)
            if self.odd is Odd.LOSES_NAN:
                keep_nan(self, eqn, env)
            if keep_apart is not None:
                keep_apart(eqn.outvars)
            if self.flat:
                self._flatten(eqn, env)
            if barriers:
                self._materialise(eqn, env, barriers)
            if stored:
                self._stored.update([str(env[v]) for v in eqn.outvars if id(v) in stored])
        (self.out_avals, self.params, self.location), self.odd = outer, None
        return [self.atom(x, env) for x in jaxpr.outvars]

    def atom(self, x: Any, env: dict) -> Value:
        """The value of a variable or literal."""
        if type(x) is Literal:
            return new_value(self._literal(x), x.aval)
        name = env[x]
        return name if type(name) is Value else new_value(name, x.aval)

    def _literal(self, x: Literal) -> str:
        if x.aval is abstract_token:
            return self.emit("stablehlo.create_token", out=abstract_token)
        if x.aval.dtype == float0:
            return self.full(False, x.aval)
        return self._constant(literal_text(x.val, x.aval.dtype), x.aval, x.aval.dtype)

    def _materialise(self, eqn, env, barriers) -> None:
        """Write a barrier behind the results of ``eqn`` that the plan names."""
        for v in eqn.outvars:
            reason = barriers.get(id(v))
            if reason is not None and id(v) not in self.flat:
                env[v] = str(self.planned_barrier(self.atom(v, env), reason))

    def _flatten(self, eqn: JaxprEqn, env: dict) -> None:
        """Have results of ``eqn`` written as vectors, if they are to be."""
        for v in eqn.outvars:
            if id(v) in self.flat:
                x = self.planned_barrier(self.reshape(self.atom(v, env), (v.aval.size,)), "one loop over all elements")
                env[v] = str(self.reshape(x, v.aval.shape))

    def planned_barrier(self, x: Value, reason: str) -> Value:
        """``x`` behind a barrier that counts as the planner's."""
        before, self.location = self.location, f'{PLANNED}{reason}")'
        found, = self.barrier([x])
        self.location = before
        return found

    def barrier(self, xs: Sequence[Value]) -> list[Value]:
        """``xs`` behind an optimization barrier."""
        if not xs:
            return []
        found = self.emit(f"stablehlo.optimization_barrier {', '.join(map(str, xs))}", *xs, out=[x.aval for x in xs])
        return [self._still_unreduced(x) for x in found]

    def _still_unreduced(self, x: Value) -> Value:
        """``x``, which was such a sum before a region, loop or barrier; the compiler does not follow it there, nor into a region that reads it."""
        placement = x.aval.placement
        return sharding_text.constrain(self, x, placement, True) if placement is not None and placement.spec.unreduced else x

    def keeps(self, aval: AbstractValue) -> bool:
        """Whether `in_memory` makes a difference: where the planner is at work, and cuts values of this size."""
        return self.module.planning and aval.nbytes >= SMALL

    def given(self, x: Value) -> bool:
        """Whether ``x`` is an argument of the program; those of its functions may be computed where they are read."""
        return x.startswith("%arg") and not self.module.in_function

    def stored(self, x: Value) -> bool:
        """Whether ``x``, the operand of an extremum, is in memory by the plan."""
        return x in self._stored

    def cheap(self, x: Value) -> Value | None:
        """``x`` for a sum without vectors; see `interfaces.Builder.cheap`."""
        if self.odd is not Odd.COSTLY_SUM:
            return x
        return self.planned_barrier(x, "a sum would compute it without vectors") if self.module.planning and x.aval.nbytes >= self.module.least_cut else None

    def holds_bfloat16(self) -> bool:
        """Whether values of the program are of bfloat16; see `interfaces.Builder.holds_bfloat16`."""
        return self.module.holds_bfloat16

    def in_memory(self, x: Value, reason: str, few: bool = False) -> Value:
        """``x``, computed once however many read it; see `interfaces.Builder.in_memory`."""
        pays = self.keeps(x.aval) or few and self.module.planning and self.module.least_cut < SMALL
        return self.planned_barrier(x, reason) if pays else x

    def reads_elsewhere(self, x: Value, update: Value, part: Sequence[int], starts: Sequence[Value] = ()) -> bool:
        """Whether ``update`` may be computed from elements of ``x`` at other places; see `interfaces.Builder.reads_elsewhere`."""
        return reads_elsewhere(self._definitions(), x, update, part, starts)

    def is_product(self, x: Value) -> bool:
        """Whether ``x`` is the result of a product or a quotient, as far as the text of the block tells."""
        return self._definitions().is_product(x)

    def _definitions(self) -> Definitions:
        """What defines the values of the block that is being written."""
        if self._defined is None or self._defined.lines is not self.lines:
            self._defined = Definitions(self.lines, self.module.alike)
        return self._defined

    def to_write_over(self, x: Value, update: Value, starts: Sequence[Value]) -> Value | None:
        """``update``, computed before a part of ``x`` is overwritten with it; see `interfaces.Builder.to_write_over`."""
        if not self.reads_elsewhere(x, update, update.aval.shape, starts):
            return update
        if self.one_form or update.aval.size * FEW_TIMES >= x.aval.size or not (self.keeps(x.aval) and self.module.barriers_stay):
            return None
        return self.planned_barrier(update, BEFORE_WRITING)

    def chosen(self, x: Value) -> Value:
        """``x``, chosen element by element; see `interfaces.Builder.chosen`."""
        known = self._definitions()
        if not known.chosen:
            known.chosen = True
            return x
        if self.one_form or not self.module.planning or x.aval.nbytes < self.module.least_cut:
            return x
        return self.planned_barrier(x, "updates that follow would each compute it")

    def integer(self, x: Value) -> int | None:
        """The integer that ``x`` is; see `interfaces.Builder.integer`."""
        text = self._definitions().index(x)
        return int(text) if text.lstrip("-").isdigit() else None

    def once(self, key: Hashable, write: Callable[[], Value]) -> Value:
        """What ``write`` writes, once in a block; see `interfaces.Builder.once`."""
        if self.module.one_form:  # numbers in the key may be equal by chance
            return write()
        if key not in self.constants:
            self.constants[key] = write()
        return self.constants[key]

    def laid_out(self, x: Value, major_to_minor: Sequence[int]) -> Value:
        """``x``, whose axes lie so in memory, the slowest first."""
        order = [tuple(major_to_minor)[::-1]]
        return self.custom_call("LayoutConstraint", x, out=x.aval, api_version=1, operand_layouts=order, result_layouts=order, backend_config="")

    def _write(self, eqn: JaxprEqn, env: dict) -> None:
        """Write one equation, from its template if there is one, and enter the names of its results into ``env``."""
        prim, module, params = eqn.primitive, self.module, eqn.params
        scopes = eqn.source_info.scopes
        location = self.location = module.location(eqn) if module.located or (
            scopes is not self.plain or module.scopes is not self.plain_in) and self._marked(scopes) else ""
        invars = eqn.invars
        names: list[Any] = list(map(env.get, invars))
        if None in names:  # literals have no entry
            ids = self._fill_in_literals(eqn, names)
        else:
            ids = [id(x.aval) for x in invars]
        key = (prim, *ids, *params.items()) if params else (prim, *ids)
        try:
            template: Any = NONE if self.in_sum or self.odd else module.templates[1 if location else 0].get(key)
        except TypeError:  # an unhashable parameter
            template = NONE
        if template is None:
            template = module.template(key, eqn, location)
        if template is NONE:
            found = self.apply(eqn, self._split_alike(eqn, [new_value(n, a) for n, a in zip(names, operand_types(eqn, module.kernel))]))
            for v, x in zip(eqn.outvars, self._placed(eqn, found)):
                env[v] = str(x)
            return
        text, pick, new, constants, results, _ = template
        count = self.count
        if new == 1:
            names.append(f"%{count}")
            self.count = count + 1
        elif new:
            names += [f"%{i}" for i in range(count, count + new)]
            self.count = count + new
        if constants:
            names += [self._constant(*key) if type(key[0]) is str else self._spread(names[key[0]], key[1]) for key in constants]
        if location:
            names.append(location)
        if text:
            self.lines.append(text % pick(names))
        if type(results) is int:
            env[eqn.outvars[0]] = names[results]
        else:
            for v, (slot, suffix) in zip(eqn.outvars, results):
                env[v] = names[slot] + suffix if suffix else names[slot]

    def _marked(self, scopes: tuple) -> bool:
        """Whether an equation under ``scopes`` is marked with them; remembers those for which it is not, as the next one has the same."""
        around = self.module.scopes
        if shows(around) or shows(scopes):
            return True
        self.plain, self.plain_in = scopes, around
        return False

    def _fill_in_literals(self, eqn: JaxprEqn, names: list) -> list[int]:
        """Put names of constants in the places of literals; returns what stands for the types in a template's key."""
        spread = spreads_literals(eqn, self.module.kernel)
        ids = []
        for i, x in enumerate(eqn.invars):
            if type(x) is not Literal:
                ids.append(id(x.aval))
            else:  # the key tells it from a variable of that type: it is a splat of the result's shape, or repeated by one operation for many equations
                names[i] = self._splat(x, eqn.outvars[0].aval) if spread else self._literal(x)
                ids.append(~id(x.aval))
        return ids

    def _splat(self, x: Literal, like: ShapedArray) -> str:
        """A literal operand of an elementwise op: a constant of the result's shape."""
        return self._constant(literal_text(x.val, x.aval.dtype), x.aval if like.shape == () else like, x.aval.dtype)

    def apply(self, eqn: JaxprEqn, operands: list[Value]) -> Sequence[Value]:
        """Run the lowering rule of ``eqn``."""
        prim = eqn.primitive
        rule = prim.in_kernel if self.module.kernel and prim.in_kernel is not None else prim.lower
        self.out_avals, self.params = [v.aval for v in eqn.outvars], eqn.params
        if extended_dtypes.needs_batch_rule(eqn):
            return extended_dtypes.lower(self, eqn, operands)
        if type(rule) is str:
            return [self.elementwise(rule, *operands)]
        if rule is None:
            raise NotImplementedError(f"MLIR translation rule for primitive '{prim.name}' not found for platform "
                                      f"{self.platform}")
        module = self.module
        planning, least, in_loop = module.planning, module.least_cut, module.in_loop
        if prim.traits.kind is Kind.LOOP:
            module.least_cut, module.in_loop = module.least_in_loops, True
            if module.whole_loops and not is_dispatched(eqn):
                module.planning = False
        around = module.scopes
        if prim.holds_program and self.location:
            module.scopes = under(around + eqn.source_info.scopes, eqn)
        out = rule(self, *operands, **eqn.params)
        module.planning, module.least_cut, module.in_loop, module.scopes = planning, least, in_loop, around
        return out if prim.multiple_results else (out,)

    def _split_alike(self, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The operands of ``eqn``; those of an elementwise operation that are split less than its result are first, rather than it later."""
        if eqn.primitive.traits.kind is not Kind.ELEMENTWISE or (out := eqn.outvars[0].aval).placement is None or out.placement.spec.unreduced:
            return operands
        wanted = splits.entries(out)
        return [x if x.aval.shape != out.shape or splits.entries(x.aval) == wanted else self.sharding_constraint(x, out.placement, typed=True)
                for x in operands]

    def _placed(self, eqn: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
        """The results of ``eqn``, split over the mesh as their types say."""
        if all([v.aval.placement is None for v in eqn.outvars]):
            return values
        if eqn.primitive.holds_program and eqn.primitive.traits.kind is not Kind.BRANCH:
            return [self._still_unreduced(new_value(x, v.aval)) for x, v in zip(values, eqn.outvars)]
        return [x if v.aval.placement is None else self._as_typed(eqn, new_value(x, v.aval)) for x, v in zip(values, eqn.outvars)]

    def _as_typed(self, eqn: JaxprEqn, x: Value) -> Value:
        placement = x.aval.placement
        begun = placement.spec.unreduced and not eqn.primitive.holds_program and not partial_sums.makes_parts(eqn.primitive) and not any(
            [partial_sums.of(v.aval).unreduced for v in eqn.invars])
        if begun:  # the whole value, of which the parts are made next
            spec = placement.spec.update(unreduced=frozenset(), unreduced_kind=None)
            x = self.sharding_constraint(x, placement.update(spec=spec), typed=True)
        return self.sharding_constraint(x, placement, typed=True)

    def fun(self, f: Callable, /, *operands: Value, **params: Any) -> list[Value]:
        """Trace the Python function ``f`` (of arrays; returns an array or a sequence of them) and inline it, placed by the compiler."""
        operands = tuple(map(self.unplaced, operands))
        return self.jaxpr(_traced(f, tuple(x.aval for x in operands), params), *operands)

    def function(self, name: str, closed: ClosedJaxpr, operands: Sequence[Value]) -> str:
        """The symbol of a function of this module; see `interfaces.Builder.function`."""
        writes = self.platform == "cpu" and len(operands) > 1 and self.module.overwrites_parts(closed)
        return self.module.function(name, closed, self._definitions().alike(operands) if writes else tuple(range(len(operands))))

    def call(self, name: str, closed: ClosedJaxpr, *operands: Value, late: bool = False) -> list[Value]:
        """A call of the program as a function of its own, written once in a module; see `interfaces.Builder.call`."""
        tokens = self.tokens(closed.effects)
        symbol = self.function(name, closed, operands)
        arguments = [token for _, token in tokens] + list(operands)
        outs = self.emit(f"func.call @{symbol}({', '.join(arguments)})", *arguments,
                         out=[abstract_token] * len(tokens) + closed.out_avals,
                         attrs='{mhlo.frontend_attributes = {inlineable = "xla_late"}}' if late else "")
        for (effect, _), token in zip(tokens, outs):
            self.set_token(effect, token)
        return outs[len(tokens):]

    def call_module(self, name: str, text: str, *operands: Value) -> list[Value]:
        """A call of ``main`` of a finished module; see `nested_modules.call`."""
        return nested_modules.call(self, name, text, operands)

    def with_bindings(self, prim: Primitive, rule: Callable[..., object], /, *operands: Value, **params: Any) -> list[Value]:
        """The results of ``prim`` by a rule that builds operations with the MLIR bindings; see `bindings.lower`."""
        from . import bindings  # start-up: the bindings are loaded when a rule needs them
        return bindings.lower(self, prim, rule, operands, params)

    # -- calls out of the program ----------------------------------------------------------------------------------

    def custom_call(self, target: str, *operands: Value, out: Any, backend_config: str | Mapping | None = None,
                    api_version: int = 4, has_side_effect: bool = False, operand_layouts: Any = None,
                    result_layouts: Any = None, output_operand_aliases: Mapping[int, int] | None = None,
                    extra: str = "", batch_rank: int = 0) -> Any:
        """``stablehlo.custom_call``; see `interfaces.Builder.custom_call` and `outside_calls.attributes`."""
        call_handlers.register(target, self.platform)
        if batch_rank and self.devices > 1 and flags.use_shardy_partitioner.value:
            results = [out] if isinstance(out, AbstractValue) else out
            rule = batch_rule([x.aval.shape for x in operands], [x.shape for x in results], batch_rank)
            extra = ", ".join(filter(None, [extra, f"sdy.sharding_rule = {rule}"]))
        attributes = outside_calls.attributes(backend_config, api_version, has_side_effect, operand_layouts, result_layouts,
                                      output_operand_aliases, extra,
                                      1 if isinstance(out, AbstractValue) else len(out))
        return self.emit(f"stablehlo.custom_call @{outside_calls.symbol(target)}({', '.join(operands)})", *operands, out=out,
                         attrs=attributes)

    def host_callback(self, function: Callable, operands: Sequence[Value], out: Sequence[AbstractValue], *,
                      has_side_effect: bool, name: str = "", partitioned: bool = False, device: Placement | None = None) -> list[Value]:
        """Call ``function`` on the host; see `calls.host_callback`."""
        return outside_calls.host_callback(self, function, operands, out, has_side_effect, name, partitioned, device)

    def buffer_callback(self, function: Callable, operands: Sequence[Value], out: Sequence[AbstractValue], *, has_side_effect: bool,
                        aliases: Mapping[int, int], command_buffer_compatible: bool) -> list[Value]:
        """Call ``function`` with buffers; see `calls.buffer_callback`."""
        return outside_calls.buffer_callback(self, function, operands, out, has_side_effect, aliases, command_buffer_compatible)

    def inspect_sharding(self, x: Value, callback: Callable[[ShardingLike], None]) -> None:
        """Call ``callback`` with the placement of ``x`` when it is known; see `calls.inspect_sharding`."""
        outside_calls.inspect_sharding(self, x, callback)

    def sharding(self, sharding: ShardingLike | None, ndim: int) -> str:
        """The Shardy attribute of a placement of a value with ``ndim`` axes; its mesh is entered into the module."""
        return self.module.shardings.attribute(sharding, ndim)

    def unplaced(self, x: Value) -> Value:
        """``x`` as a value whose type says nothing of its placement, for computations that the compiler places."""
        return x if x.aval.placement is None else new_value(x, x.aval.update(sharding=None))

    def to_memory(self, x: Value, out: ShapedArray) -> Value:
        """``x`` in the kind of memory that the type ``out`` names.

        The processor has one, in which programs compute: there only arguments and results of the program say where they are.
        """
        if self.platform == "cpu" or out.memory_space is Space.Any:
            return new_value(x, out)
        return self.custom_call("annotate_device_placement", x, out=out, api_version=1, has_side_effect=True,
                                extra=attributes([("_xla_buffer_placement", out.memory_space.memory_kind)]))

    def sharding_constraint(self, x: Value, sharding: Placement | None, *, typed: bool = False, anywhere: bool = False) -> Value:
        """``x``, placed as ``sharding`` says where the program runs on several devices; also for key arrays.

        ``typed``: it is the placement of a type, which leaves ``Auto`` mesh axes to the compiler. ``anywhere``: on as many devices, whichever.
        """
        return new_value(sharding_text.constrain(self, extended_dtypes.physical(x), sharding, typed, anywhere), x.aval)

    def whole_along(self, x: Value, axes: Sequence[int]) -> Value | None:
        """``x``, which the compiler may split along other axes than these only; see `interfaces.Builder.whole_along`."""
        return sharding_text.whole_along(self, x, axes)


_traced_functions: dict = {}
_KEPT = 1 << 12


def _traced(f: Callable, avals: tuple, params: dict) -> ClosedJaxpr:
    """``f`` as a program; kept for functions without a closure, which are the same function each time."""
    code = f.__code__ if isinstance(f, types.FunctionType) else None  # a method has the code of its function, and an object besides
    if code is None or f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        return _trace(f, avals, params)
    try:
        key = (code, avals, tuple([(name, type(v), v or str(v)) for name, v in params.items()]), engine.trace_key())  # 0.0 and -0.0 are equal
        found = _traced_functions.get(key)
    except (TypeError, ValueError):  # an array
        return _trace(f, avals, params)
    if found is None:
        found = _trace(f, avals, params)
        if len(_traced_functions) >= _KEPT:
            _traced_functions.clear()
        _traced_functions[key] = found
    return found


def _trace(f, avals, params) -> ClosedJaxpr:
    def flat(*args):
        out = f(*args, **params)
        return out if isinstance(out, (tuple, list)) else [out]

    here = [a.update(memory_space=Space.Device) if type(a) is ShapedArray and a.memory_space is not Space.Device else a for a in avals]
    jaxpr, consts, _ = trace_to_jaxpr(flat, here)  # where the operation computes, whatever memory its operands are read from
    return ClosedJaxpr(jaxpr, consts)
