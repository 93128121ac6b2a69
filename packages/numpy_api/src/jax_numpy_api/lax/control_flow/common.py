"""What `cond`, `while_loop` and `scan` share: tracing their functions, checking carries, running eagerly, splitting programs.

The bodies of control flow are traced to closed jaxprs without constants: what a body closes over is passed as a
leading operand, so every transformation sees it.

Eager calls run through `run_eagerly`, which recognises a program by its structure and not by the identity of the
Python function: a loop with a fresh lambda each time is traced again, but neither lowered nor compiled again.
"""
from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import engine, flags
from jax_core.extension_points import caches_cleared
from jax_core.programs.call import check_results
from jax_core.programs.jit_primitive import jit_p, jit_params
from jax_core.references.discharge import any_refs, apply_discharged
from jax_core.representation import arguments, dtypes, splits, tree
from jax_core.representation.arguments import LazyNames, parameters
from jax_core.representation.aval import AbstractRef, AbstractValue, ShapedArray, get_aval
from jax_core.representation.effects import Effects, refuse_effects
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, dce, eval_jaxpr, types_compatible
from jax_core.representation.primitive import Primitive, Zero, abstract_eval
from jax_core.representation.source import describe_code, describe_function, is_own, name_and_code
from jax_core.traces.staging import check_may_trace, trace_to_closed, trace_to_jaxpr
from jax_core.traces.structural import convert_element_type_p, instantiate, reshard
from jax_core.traces.trace import Tracer, escaped
from jax_core.traces.traced_once import TracedOnce
from jax_core.transformations.high_primitives import consts_as_arrays

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef
    from jax_core.representation.typing import PyTree

PYTHON_SCALARS = (bool, int, float, complex)
INVARIANT_PARTS: dict[Primitive, Callable[[JaxprEqn, Sequence[bool]], Sequence[JaxprEqn] | None]] = {}
"""For a primitive of control flow: ``(equation, which operands vary)`` to the equations before a loop and, last, the one that
stays in its body; or None. `scan` asks here, so that no kind of control flow needs to know the others."""


def bind_noting_keys(prim: Any, *args: Any, **params: Any) -> list:
    """``prim.bind``; while keys are followed (`jax_debug_key_reuse`), the equation is a program, which may use keys up."""
    if flags.debug_key_reuse.value:
        known = next((x.dtype for x in args if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType)), None)
        if known is not None:
            closed, consts = trace_to_closed(lambda *xs: prim.bind(*xs, **params), [get_aval(x) for x in args])
            known.before_call(prim.name, (*consts, *args), closed)
    return prim.bind(*args, **params)


# -- small tools -----------------------------------------------------------------------------------------------------

def split(items: Sequence[object], *sizes: int) -> list[list]:
    """Consecutive parts of ``items`` with these sizes, and the rest."""
    parts, start = [], 0
    for n in sizes:
        parts.append(list(items[start:start + n]))
        start += n
    return [*parts, list(items[start:])]


def select(items: Iterable[Any], wanted: Iterable[bool]) -> list:
    """Those of ``items`` for which ``wanted`` is true."""
    return [x for x, w in zip(items, wanted) if w]


def as_arrays(values: object) -> Any:
    """A pytree with its NumPy values and Python scalars as arrays, as the body of a compiled loop sees them."""
    put = backends.get().put
    return tree.map(lambda x: put(x) if isinstance(x, (*PYTHON_SCALARS, np.ndarray, np.generic)) else x, values)


def nonzero_flags(tangents: Iterable[object]) -> list[bool]:
    """Which tangents or cotangents are not symbolic zeros."""
    return [not isinstance(t, Zero) for t in tangents]


def fill(flags: Iterable[bool], given: Iterable[object], otherwise: Iterable[Callable[[], Any] | Any]) -> list:
    """The next of ``given`` for each true flag, else the item of ``otherwise`` in its place."""
    given = iter(given)
    return [next(given) if f else other for f, other in zip(flags, otherwise)]


def either(a: Sequence[bool], b: Sequence[bool]) -> list[bool]:
    return [x or y for x, y in zip(a, b)]


def check_counts(name: str, avals: Sequence[AbstractValue], **counts: int) -> None:
    """That parameters which count operands of a loop can do so; others would split the operands wrongly."""
    for parameter, n in counts.items():
        if type(n) is not int or n < 0:
            raise TypeError(f"{name}: {parameter} must be a number of operands, got {n!r} of type {type(n).__name__}")
    if sum(counts.values()) > len(avals):
        raise TypeError(f"{name}: {counts} count more than its {len(avals)} operands")


def require_callable(name: str, **functions: Any) -> None:
    """Raise TypeError for an argument that cannot be called."""
    for argument, fun in functions.items():
        if not callable(fun):
            raise TypeError(f"{name}: {argument} should be a callable, got {fun!r} of type {type(fun).__name__}.")


# -- tracing ---------------------------------------------------------------------------------------------------------

def trace_body(name: str, fun: Callable, in_tree: PyTreeDef, avals: Sequence[AbstractValue]) -> tuple[ClosedJaxpr, list, Any]:
    """Trace ``fun`` on arguments of structure ``in_tree`` and types ``avals``, or find what tracing it gave before.

    As with `jit`, a function is traced once for the same types; if it closes over tracers, once within their transformation.

    Returns:
      the program with its constants as leading inputs, their values, and the structure of the result.
    """
    of, key = (fun.__wrapped__, (name, fun.loop, fun.parts)) if type(fun) is BodyOf and fun.alone else (fun, (name,))
    return _bodies(of, (*key, in_tree, tuple(avals)), lambda: _trace_body(name, fun, in_tree, avals))


_bodies = TracedOnce()


def _trace_body(name, fun, in_tree, avals):
    check_may_trace(fun, avals)
    structure: list = []

    def flat(*leaves):
        args = tree.unflatten(in_tree, leaves)
        try:
            out = fun(*args)
        except TypeError as error:
            note_call(name, fun, len(args), error)
            raise
        outs, out_tree = tree.flatten(out)
        structure[:] = [out_tree]
        return check_results(fun, out_tree, outs)
    closed, consts = trace_to_closed(flat, avals, DebugInfo(name, _LazyName(fun), _names(fun, in_tree)))
    return *consts_as_arrays(closed, consts), structure[0]


_CALLED_WITH = {
    "scan": "lax.scan calls its function with two arguments, the carry and a slice of xs",
    "map": "lax.map calls its function with one argument, a slice of xs, which is a pytree like xs",
    "while_loop": "lax.while_loop calls its functions with one argument, the whole carry",
    "lax.fori_loop": "lax.fori_loop calls its function with two arguments, the index and the carry",
    "cond": "lax.cond calls its branches with the operands, here {count}",
    "switch": "lax.switch calls its branches with the operands, here {count}",
}


def note_call(name: str, fun: Callable, count: int, error: TypeError) -> None:
    """Say in a note to ``error`` how ``fun`` was called, if the call with ``count`` arguments is what ``fun`` does not allow."""
    if isinstance(fun, BodyOf):
        count = sum(isinstance(part, int) for part in fun.parts)
        name, fun = fun.loop, fun.__wrapped__
    if name in _CALLED_WITH:
        arguments.note_call(error, fun, _CALLED_WITH[name].format(count=count), [None] * count)


class BodyOf:
    """A body that presents itself under the name of the user's, for ``loop``; the user's carry is the last part of its own.

    ``parts`` says of each part of the carry which parameter of the user's function it is, or its name where it is none. ``alone``: ``fun``
    closes over nothing but the user's function, so that what one gave by tracing holds for the next.
    """

    def __init__(self, loop: str, fun: Callable[..., Any], user: Callable[..., Any], parts: tuple[int | str, ...], alone: bool = False):
        self.loop, self.fun, self.__wrapped__, self.parts, self.alone = loop, fun, user, parts, alone
        self.__name__ = getattr(user, "__name__", "body_fun")

    def __call__(self, *args):
        return self.fun(*args)


def _names(fun, in_tree):
    """The names of the parameters of ``fun``, which is called with the parts of ``in_tree`` by position."""
    kind = _NamesOfParts if type(fun) is BodyOf else LazyNames
    return kind(fun, tree.treedef_tuple([in_tree, tree.structure({})]), ((), ()))


class _NamesOfParts(LazyNames):
    """The same for the body of a loop within which the user's is called with parts of the carry."""

    def __init__(self, fun, in_tree, static):
        super().__init__(fun, in_tree, static)
        self.parts = fun.parts

    def _names(self):
        (carry, *_), _ = tree.skeleton(self.in_tree)
        known = dict(enumerate(parameters(*self.source).positional))
        return [f"{name if isinstance(name, str) else known.get(name, f'args[{name}]')}{tree.keystr(path)}"
                for name, part in zip(self.parts, carry) for path, _ in tree.flatten_with_path(part)[0]]


class _LazyName(str):
    """``function at file:line``, worked out when a message needs it. Holds the code and not the function, which may close over
    arrays and tracers: programs live longer than those should."""

    def __new__(cls, fun):
        name, code = name_and_code(fun)
        self = super().__new__(cls, name)
        self.code = code
        return self

    def __str__(self):
        return describe_code(str.__str__(self), self.code)

    def __format__(self, spec):
        return format(str(self), spec)

    def split(self, *args):
        return str(self).split(*args)


def leaf_avals(name: str, argument: str, value: object, leaves: Sequence[object]) -> list[AbstractValue]:
    """Types of the leaves; raises TypeError that says where a leaf is not an array."""
    try:
        return [get_aval(x) for x in leaves]
    except TypeError:
        for path, x in tree.flatten_with_path(value)[0]:
            try:
                get_aval(x)
            except TypeError:
                raise TypeError(f"{name}: {argument}{tree.keystr(path)} is {x!r} of type {type(x).__name__}, which is "
                                "not a valid JAX type; pass arrays, numbers and pytrees of them.") from None
        raise


def check_effects(name: str, effects: Effects) -> None:
    """Raise NotImplementedError for effects that cannot happen inside control flow."""
    refuse_effects(name, effects, "in_control_flow", "control flow")


def share_constants(programs: Sequence[ClosedJaxpr], consts: Sequence[Sequence[Any]]) -> tuple[list[ClosedJaxpr], list]:
    """Programs that take one common list of leading constants, and that list."""
    if not any(consts):
        return list(programs), []
    joint: dict[int, Any] = {}
    for group in consts:
        for x in group:
            joint.setdefault(id(x), x)
    shared = []
    for closed, group in zip(programs, consts):
        own = dict(zip(map(id, group), closed.jaxpr.invars))
        leading = [own[key] if key in own else Var(get_aval(x)) for key, x in joint.items()]
        shared.append(ClosedJaxpr(closed.jaxpr.replace(
            invars=leading + closed.jaxpr.invars[len(group):]), closed.consts))
    return shared, list(joint.values())


# -- carries ---------------------------------------------------------------------------------------------------------

def promote_carry(leaves: list, given: Sequence[AbstractValue], returned: Sequence[AbstractValue]) -> list | None:
    """``leaves`` with those converted to what the body returns that are weakly typed, or of which no mesh is known; None where nothing changes."""
    changed = False
    result = list(leaves)
    for i, (x, a, b) in enumerate(zip(leaves, given, returned)):
        if takes_placement(a, b) and a.shape == b.shape and a.dtype == b.dtype:
            result[i] = reshard(x, b.placement)
            changed = True
            continue
        if not getattr(a, "weak_type", False) or getattr(b, "shape", None) != a.shape or (
                a.dtype == b.dtype and b.weak_type):
            continue
        dtype = dtypes.result_type(a, b)
        result[i] = convert(x, dtype)
        changed = True
    return result if changed else None


def takes_placement(a: AbstractValue, b: AbstractValue) -> bool:
    """Whether type ``a`` is of no mesh, neither of its own nor by the one in use, and ``b`` is split over one: it goes there as it is needed."""
    return (isinstance(a, ShapedArray) and isinstance(b, ShapedArray) and a.placement is None and b.placement is not None
            and backends.get().placements.on_no_mesh(0).mesh.empty)


def with_strong_carry(closed: ClosedJaxpr, start: int, given: Sequence[AbstractValue], strong: Sequence[AbstractValue]) -> ClosedJaxpr | None:
    """The body ``closed``, whose carry of types ``given`` begins at input ``start``, for one of types ``strong``.

    What it returns besides the carry stays as weakly typed as it was.
    None where dtypes differ: promotion may then take another way, so the function must be traced again.
    """
    if any(a.dtype != b.dtype for a, b in zip(given, strong)):
        return None
    avals = (*closed.in_avals[:start], *strong, *closed.in_avals[start + len(given):])

    def run(*xs):
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *xs)
        return [*outs[:len(given)], *map(_as_weak_as, closed.out_avals[len(given):], outs[len(given):])]

    def make():
        jaxpr, consts, _ = trace_to_jaxpr(run, avals, closed.jaxpr.debug_info)
        return ClosedJaxpr(jaxpr, consts)
    return closed.memo(("strong_carry", avals), make)


def _as_weak_as(aval: AbstractValue, x: Any) -> Any:
    if getattr(aval, "weak_type", False) and not get_aval(x).weak_type:
        return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=True)
    return x


def convert(x: object, dtype: np.dtype) -> Any:
    """``x`` with the strong type ``dtype``."""
    if type(x) in PYTHON_SCALARS:
        return np.asarray(x).astype(dtype)[()]
    return convert_element_type_p.bind(x, new_dtype=np.dtype(dtype), weak_type=False)


def check_carry(name: str, fun: Callable, init: PyTree, given: Sequence[AbstractValue], out_tree: PyTreeDef,
                returned: Sequence[AbstractValue]) -> None:
    """Raise TypeError, leaf by leaf, if the body returns a carry of another structure or other types than it got."""
    if type(fun) is BodyOf:  # another loop's: the user knows the last part of the carry
        name, init = fun.loop, init[-1]
        out_tree, own = out_tree.children()[-1], out_tree.num_leaves - out_tree.children()[-1].num_leaves
        given, returned = given[own:], returned[own:]
    where = f"{name}: body function {describe_function(fun)}"
    in_tree = tree.structure(init)
    if in_tree != out_tree:
        differences = structure_differences(in_tree, out_tree, "carry input", "carry output")
        raise TypeError(
            f"{where} must return a carry with the same pytree structure as the carry input, but they differ:\n  "
            + "\n  ".join(differences or [f"input {in_tree}, output {out_tree}"])
            + "\nReturn the carry in the structure in which it came in.")
    if all(map(_same_carry, given, returned)):
        _check_varies(where, fun, init, given, returned)
        return
    lines = []
    for (path, _), a, b in zip(tree.flatten_with_path(init)[0], given, returned):
        if not _same_carry(a, b):
            lines.append(f"carry{tree.keystr(path)}: carry input has type {a.str_short()}, carry output has type "
                         f"{b.str_short()}{_difference(a, b)}")
    raise TypeError(f"{where} must return a carry with the same types as the carry input, but they differ:\n  "
                    + "\n  ".join(lines)
                    + "\nRevise the function, or the initial carry, so that each leaf keeps its shape, dtype and sharding.")


def _check_varies(where: str, fun: Callable, init: PyTree, given: Sequence[AbstractValue], returned: Sequence[AbstractValue]) -> None:
    """Raise TypeError if the body returns a carry that varies over other mesh axes. Bodies of our own take what their callers give."""
    if all([a.vma == b.vma for a, b in zip(given, returned)]) or is_own(fun):
        return
    lines = []
    for (path, _), a, b in zip(tree.flatten_with_path(init)[0], given, returned):
        more, less = (tuple(sorted(map(str, axes))) for axes in (b.vma - a.vma, a.vma - b.vma))
        if more or less:
            who, axes = ("the initial carry", more) if more else ("the carry that the body returns", less)
            lines.append(f"carry{tree.keystr(path)}: carry input has type {a.str_short()}, carry output has type {b.str_short()}; apply "
                         f"jax.lax.pcast(..., {axes}, to='varying') to {who}")
    raise TypeError(f"{where} must return a carry that varies over the same mesh axes as the carry input, but they differ:\n  " + "\n  ".join(lines))


def _same_carry(a, b) -> bool:
    """Whether a carry may change from type ``a`` to ``b`` in a step: shape, dtype and memory and how it is split over ``Explicit`` mesh axes stay."""
    return types_compatible(a, b) and a.memory_space is b.memory_space and (
        getattr(a, "placement", None) is getattr(b, "placement", None) or splits.entries(a) == splits.entries(b))


def carry_fixpoint(derive: Callable, carry: list[bool]) -> tuple[Any, list[bool]]:
    """Grow the set ``carry`` until ``derive(carry) -> (result, flags of the carry after a step)`` adds nothing."""
    while True:
        result, after = derive(carry)
        grown = either(carry, after)
        if grown == carry:
            return result, carry
        carry = grown


def structure_differences(a: Any, b: Any, name_a: str, name_b: str) -> list[str]:
    """Where two structures differ, as sentences."""
    value_a, value_b = (tree.unflatten(t, [tree._VALUE] * t.num_leaves) for t in (a, b))
    return tree.structure_differences(value_a, value_b, name_a, name_b)


def _difference(a, b) -> str:
    if getattr(a, "dtype", None) != getattr(b, "dtype", None):
        hint = "dtypes do not match" if a.shape == b.shape else "shapes and dtypes do not match"
        return f" ({hint})"
    if a.shape != b.shape:
        return " (shapes do not match)"
    return " (shardings do not match)" if a.memory_space is b.memory_space else " (kinds of memory do not match)"


# -- derived programs ------------------------------------------------------------------------------------------------

def handed_on(carried: Sequence[object], returned: Sequence[object]) -> list[bool]:
    """Which carries the body returns as it got them: constants of the loop, of which the caller gets back the object that was given."""
    return [out is var for var, out in zip(carried, returned)]


def reorder(closed: ClosedJaxpr, inputs: Sequence[int] | None, outputs: Sequence[int] | None = None) -> ClosedJaxpr:
    """The same program with inputs and outputs in another order: item ``i`` of the new is item ``inputs[i]`` of the old.

    Outputs may be repeated or left out; inputs may only be permuted.
    """
    key = ("reorder", None if inputs is None else tuple(inputs), None if outputs is None else tuple(outputs))

    def make():
        jaxpr = closed.jaxpr
        return ClosedJaxpr(jaxpr.replace(
            invars=jaxpr.invars if inputs is None else [jaxpr.invars[i] for i in inputs],
            outvars=jaxpr.outvars if outputs is None else [jaxpr.outvars[i] for i in outputs]), closed.consts)
    return closed.memo(key, make)


def narrow(closed: ClosedJaxpr, used_outputs: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    """The program without its unused outputs and inputs, and which inputs are left."""
    def make():
        small, used_inputs = dce(closed.jaxpr, used_outputs)
        return ClosedJaxpr(small, closed.consts), used_inputs
    return closed.memo(("dce", tuple(used_outputs)), make)


# -- eager calls -----------------------------------------------------------------------------------------------------

_known_programs: "collections.OrderedDict[Any, ClosedJaxpr]" = collections.OrderedDict()
_KNOWN_PROGRAMS_LIMIT = 1024
_lock = threading.Lock()


def run_eagerly(prim: Primitive, args: Sequence[object], params: dict) -> list:
    """Compile and run one control-flow equation; programs of equal structure share one executable."""
    for x in args:
        if isinstance(x, Tracer):
            raise escaped(x)
    avals = [get_aval(x) for x in args]
    if any_refs(avals):
        return apply_discharged(prim, args, params)
    key = (prim, tuple(avals), _params_key(params), engine.trace_key())
    with _lock:
        closed = _known_programs.pop(key, None)
        if closed is None:
            closed = _one_equation(prim, avals, params)
            if len(_known_programs) >= _KNOWN_PROGRAMS_LIMIT:
                _known_programs.popitem(last=False)
        _known_programs[key] = closed  # last: used most recently
    return jit_p.impl(*args, **closed.memo(
        "jit_params", lambda: jit_params(closed, prim.name, (False,) * len(avals))))


def clear_known_programs() -> None:
    """Forget all programs run eagerly, and their executables."""
    with _lock:
        _known_programs.clear()


caches_cleared.add(clear_known_programs)


def _one_equation(prim, avals, params) -> ClosedJaxpr:
    types, effects = abstract_eval(prim, avals, params)
    invars, outvars = [Var(a) for a in avals], [Var(a) for a in types]
    return ClosedJaxpr(Jaxpr([], invars, outvars, [JaxprEqn(invars, outvars, prim, params, effects)], effects), ())


def structure_key(closed: ClosedJaxpr) -> Any:
    """A hashable value that is equal for programs that differ only in names and source locations."""
    return closed.memo("structure_key", lambda: _structure_key(closed))


def _structure_key(closed):
    return (_jaxpr_key(closed.jaxpr), tuple(map(_by_identity, closed.consts)))


def _jaxpr_key(jaxpr: Jaxpr):
    number: dict[Var, int] = {}
    for v in jaxpr.constvars:
        number[v] = len(number)
    for v in jaxpr.invars:
        number[v] = len(number)
    count = len(number)
    rows: list = [len(jaxpr.constvars), tuple([v.aval for v in number])]
    for eqn in jaxpr.eqns:
        rows.append((eqn.primitive,
                     tuple([_literal_key(v) if type(v) is Literal else number[v] for v in eqn.invars]),
                     _params_key(eqn.params) if eqn.params else None,
                     tuple([v.aval for v in eqn.outvars])))
        for v in eqn.outvars:
            number[v] = count
            count += 1
    rows.append(tuple([_literal_key(v) if type(v) is Literal else number[v] for v in jaxpr.outvars]))
    return tuple(rows)


def _literal_key(v: Literal):
    # equal values may be different literals: 0.0 and -0.0, True and 1; and NaN is not equal to itself
    return v.aval, np.asarray(v.val).tobytes()


_RULE_PARAMS = frozenset({"jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd"})
"""Parameters that hold derivative rules: they play no part in running a program."""


def _params_key(params: dict):
    items = []
    for name, value in params.items():
        if name in _RULE_PARAMS:
            continue
        items.append((name, _value_key(value)))
    return tuple(items)


def _value_key(value):
    kind = type(value)
    if kind is ClosedJaxpr:
        return structure_key(value)
    if kind is Jaxpr:
        return _jaxpr_key(value)
    if kind is tuple or kind is list:
        return tuple([_value_key(v) for v in value])
    if kind is np.ndarray:
        return value.shape, value.dtype, value.tobytes()
    try:
        hash(value)
    except TypeError:
        return _by_identity(value)
    return value


class _by_identity:
    """A hashable reference that keeps its object alive, so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is _by_identity and self.value is other.value

    def __hash__(self):
        return id(self.value)


def instantiate_all(tangents: Iterable[object], wanted: Iterable[bool]) -> list:
    """The tangents that are wanted, symbolic zeros among them made arrays."""
    return [instantiate(t) for t, w in zip(tangents, wanted) if w]


def stacked(aval: ShapedArray, length: int) -> ShapedArray:
    """``aval`` with a leading axis."""
    if type(aval) is AbstractRef:
        return aval.update(stacked(aval.inner_aval, length))
    return ShapedArray((length, *aval.shape), aval.dtype, aval.weak_type, vma=aval.vma, sums=aval.sums,
                       memory_space=aval.memory_space, sharding=splits.with_axis(aval.placement, 0))


def unstacked(aval: AbstractValue) -> AbstractValue:
    """``aval`` without its leading axis.

    Raises:
      ValueError: that axis is split over devices, which would each have to run other steps.
    """
    if type(aval) is AbstractRef:
        return aval.update(unstacked(aval.inner_aval))
    split = splits.entries(aval)[0]
    if split is not None:
        raise ValueError(f"lax.scan: axis 0 of xs, over which the loop steps, must be whole on each device, but it is split over {split!r} in an "
                         f"array of type {aval.str_short()}; reshard it by jax.sharding.reshard, or use jax.shard_map.")
    return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type, vma=aval.vma, sums=aval.sums,
                       memory_space=aval.memory_space, sharding=splits.without_axis(aval.placement, 0))
