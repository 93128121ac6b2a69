"""cond, switch, platform_dependent: one of several functions, chosen by a scalar or by the platform.

One primitive, `cond_p`, with a rank-0 int32 index and a tuple of branches that all take the same operands. Under vmap an
index without mapped axis keeps the conditional; with one, all branches run and a select picks, except where a branch
has side effects: then the lanes run one after the other, so that only the effects of chosen branches happen.

Where branches run for lanes that did not choose them, their operands are cut off from differentiation
(`unused_p`), so that a NaN or infinity in the derivative of a branch not taken stays out of the result.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit_primitive import jit_p, jit_params
from jax_core.references.discharge import any_refs, check_aliases, discharged, place
from jax_core.representation import dtypes, splits, tree
from jax_core.representation.array import Array
from jax_core.representation.aval import AbstractValue, ShapedArray, get_aval, plain_values
from jax_core.representation.effects import operand_effects
from jax_core.representation.high import any_high
from jax_core.representation.jaxpr import (
    ClosedJaxpr,
    DropVar,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    eval_jaxpr,
    jaxprs_in_params,
    types_compatible,
)
from jax_core.representation.marks import ELEMENTWISE, ZERO
from jax_core.representation.primitive import Primitive, ProgramPrimitive, Zero, is_linear
from jax_core.representation.source import describe_function, is_own
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.traces.staging import trace_to_jaxpr, varying_in_loop
from jax_core.traces.structural import broadcast_in_dim, convert_element_type_p, moved, reshard_p, zeros
from jax_core.traces.trace import to_concrete_value
from jax_core.transformations import logs, manual
from jax_core.transformations.batching import batch_jaxpr
from jax_core.transformations.forward import has_tangent, jvp_jaxpr
from jax_core.transformations.high_primitives import holds_high_values
from jax_core.transformations.reverse import linearize_jaxpr, transpose_jaxpr
from jax_core.transformations.saving import saved_parts
from jax_core.transformations.splitting import EquationSplit, split_jaxpr

from ..compare import eq, ne
from ..nary import constant, typed_scalar
from ..select import clamp, select_n
from .common import (
    INVARIANT_PARTS,
    bind_noting_keys,
    check_effects,
    convert,
    either,
    fill,
    leaf_avals,
    narrow,
    nonzero_flags,
    reorder,
    require_callable,
    run_eagerly,
    select,
    share_constants,
    structure_differences,
    takes_placement,
    trace_body,
)
from .high_types import choose_high
from .in_place import emit as emit_in_place, plan as plan_in_place
from .lowering import emit_case
from .map import map_flat
from .platforms import platform_branch, platform_index_p

INT32 = np.dtype(np.int32)
_NOT_GIVEN: Any = object()


@api_boundary
def cond(pred: ArrayLike, true_fun: Callable[..., PyTree], false_fun: Callable[..., PyTree], *operands: Any,
         operand: PyTree = _NOT_GIVEN, linear: object = None) -> Any:
    """``true_fun(*operands)`` if ``pred``, else ``false_fun(*operands)``; only the chosen function runs.

    Args:
      pred: a scalar, taken as a truth value.
      true_fun, false_fun: functions of the operands that return the same structure, shapes and dtypes.
      operands: pytrees of arrays.
      operand: a single operand, as a keyword (older style).
      linear: ignored.

    Raises:
      TypeError: ``pred`` is not a scalar, or the functions return different types (says which leaf).

    Differentiable in both modes. Under `vmap` with a batched ``pred`` both functions run and a select picks.

    Source: StableHLO `case`.

    >>> lax.cond(True, lambda x: x + 1, lambda x: x - 1, 10)
    Array(11, dtype=int32, weak_type=True)
    """
    operands = _operands("lax.cond", operands, operand)
    if len(operands) == 2 and callable(false_fun) and callable(operands[1]) and not callable(true_fun):
        # the first form of this function: cond(pred, true_operand, true_fun, false_operand, false_fun)
        true_operand, true_function, (false_operand, false_function) = true_fun, false_fun, operands
        return cond(pred, lambda a, _: true_function(a), lambda _, b: false_function(b), true_operand, false_operand)
    require_callable("lax.cond", true_fun=true_fun, false_fun=false_fun)
    aval = _scalar_aval("lax.cond", "pred", pred)
    if dtypes.issubdtype(aval.dtype, np.complexfloating):
        raise TypeError(f"lax.cond: pred must be a boolean or a real number, got {aval.str_short()}.")
    if flags.disable_jit.value and to_concrete_value(pred) is not None:
        return (true_fun if to_concrete_value(pred) else false_fun)(*operands)
    index = _truth_as_index(pred, aval)
    return _choose("cond", ("true_fun", "false_fun"), (false_fun, true_fun), index, operands)


def _operands(name: str, operands: tuple, operand: Any) -> tuple:
    """All operands, from those by position and the keyword ``operand``."""
    if operand is _NOT_GIVEN:
        return operands
    if operands:
        raise TypeError(f"{name}: give operands by position or the keyword operand, not both.")
    return (operand,)


@api_boundary
def switch(index: ArrayLike, branches: Sequence[Callable], *operands: Any, operand: PyTree = _NOT_GIVEN) -> Any:
    """``branches[index](*operands)``; an index out of range is clamped to the first or last branch.

    Args:
      index: an integer scalar.
      branches: functions of the operands that return the same structure, shapes and dtypes.
      operands: pytrees of arrays.
      operand: a single operand, as a keyword.

    Raises:
      TypeError: ``index`` is not an integer scalar, or branches return different types. ValueError: no branches.

    Source: StableHLO `case`.

    >>> lax.switch(1, [lambda x: x, lambda x: x * x, lambda x: -x], 3)
    Array(9, dtype=int32, weak_type=True)
    """
    operands = _operands("lax.switch", operands, operand)
    if isinstance(branches, Sequence) and not branches:
        raise ValueError("lax.switch: give at least one branch; the sequence is empty.")
    if not isinstance(branches, Sequence) or not all(map(callable, branches)):
        got = [type(f).__name__ for f in branches if not callable(f)][:1] if isinstance(branches, Sequence) else [type(branches).__name__]
        raise TypeError(f"lax.switch: branches argument should be a sequence of callables, got {'one with a ' if isinstance(branches, Sequence) else ''}"
                        f"{got[0]}.")
    aval = _scalar_aval("lax.switch", "index", index)
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"lax.switch: index must be an integer scalar, got {aval.str_short()}.")
    branches = tuple(branches)
    if len(branches) == 1:
        return branches[0](*operands)
    known = to_concrete_value(index)
    if flags.disable_jit.value and known is not None:
        return branches[min(max(int(known), 0), len(branches) - 1)](*operands)
    return _choose("switch", tuple(f"branches[{i}]" for i in range(len(branches))), branches,
                   _clamped_index(index, aval, len(branches)), operands)


@api_boundary
def platform_dependent(*args: Any, default: Callable[..., object] | None = None, **per_platform: Callable) -> Any:
    """Call the function for the platform that the program is compiled for.

    Args:
      args: pytrees of arrays, passed to the function.
      default: for platforms not named.
      per_platform: functions by platform name (``cpu``, ``cuda``, ``rocm``, ``tpu``).

    Raises:
      ValueError: no function is given.
      NotImplementedError: the program is compiled for a platform that is not named, and there is no default.

    >>> lax.platform_dependent(3., cpu=lambda x: x + 1, default=lambda x: x - 1)
    Array(4., dtype=float32, weak_type=True)
    """
    names = tuple(per_platform)
    if not names and default is None:
        raise ValueError("lax.platform_dependent: give a function for a platform, or default.")
    if not names and default is not None:
        return default(*args)
    branches = tuple(per_platform[n] for n in names) + ((default,) if default is not None else ())
    platforms = tuple((n,) for n in names) + ((None,) if default is not None else ())
    index = platform_index_p.bind(platforms=platforms)
    labels = tuple(n[0] if n else "default" for n in platforms)
    return _choose("platform_dependent", labels, branches, index, args, branches_platforms=platforms)


# -- arguments -------------------------------------------------------------------------------------------------------

def _scalar_aval(name: str, argument: str, x: Any) -> AbstractValue:
    try:
        aval = get_aval(x)
    except TypeError:
        raise TypeError(f"{name}: {argument} must be a scalar, got {x!r} of type {type(x)}.") from None
    if aval.shape != ():
        raise TypeError(f"{name}: {argument} must be a scalar, got an array of shape {aval.shape}; use jax.vmap to "
                        "choose for each element, or jnp.where.")
    if not dtypes.issubdtype(aval.dtype, np.number) and aval.dtype != bool:
        raise TypeError(f"{name}: {argument} must be a number or boolean, got {aval.str_short()}.")
    return aval


def _truth_as_index(pred, aval):
    known = pred if type(pred) in (bool, int, float) or isinstance(pred, np.generic) else None
    if known is not None:
        return np.int32(bool(known))
    if aval.dtype != bool:
        pred = ne(pred, typed_scalar(0, aval.dtype))
    return convert_element_type_p.bind(pred, new_dtype=INT32, weak_type=False)


def _clamped_index(index, aval, count):
    if type(index) is int or isinstance(index, np.generic):
        return np.int32(min(max(int(index), 0), count - 1))
    if aval.dtype != INT32:
        top = np.iinfo(aval.dtype).max
        if top > np.iinfo(INT32).max or top < count - 1:  # clamp before narrowing, after widening
            wide = index if top > count - 1 else convert(index, INT32)
            return convert(clamp(constant(0, wide), wide, constant(count - 1, wide)), INT32)
        index = convert(index, INT32)
    elif aval.weak_type:
        index = convert(index, INT32)
    return clamp(np.int32(0), index, np.int32(count - 1))


def _choose(name: str, labels: tuple, functions: tuple, index: Any, operands: tuple, **extra) -> Any:
    """Trace all functions, check that they agree, and bind the primitive. ``labels`` are in the order of the message."""
    if holds_high_values(operands):
        return choose_high(lambda on_arrays, given: _choose(name, labels, on_arrays, index, given, **extra), functions, operands)
    flat, in_tree = tree.flatten(operands)
    flat = plain_values(flat)
    avals = leaf_avals(f"lax.{name}", "operands", operands, flat)
    programs, consts, trees = [], [], []
    for fun in functions:
        closed, values, out_tree = trace_body(name, fun, in_tree, avals)
        if any_refs(avals):
            check_aliases(name, fun, tree.structure((operands, {})), ((), ()), values, flat)
        programs.append(closed)
        consts.append(values)
        trees.append(out_tree)
    if any(any_high(closed.out_avals) for closed in programs):
        return choose_high(lambda on_arrays, given: _choose(name, labels, on_arrays, index, given, **extra), functions, operands)
    labels = labels[::-1] if name == "cond" else labels
    programs = _agree(name, labels, functions, _on_one_mesh(programs), trees)
    for closed in programs:
        check_effects(f"lax.{name}", closed.effects)
    programs, shared = share_constants(programs, consts)
    operands = (*shared, *flat)
    handed_on = _handed_on(programs, operands)
    computed = [i for i, x in enumerate(handed_on) if x is None]
    if len(computed) < len(handed_on):
        programs = [reorder(closed, None, computed) for closed in programs]
    outs = iter(bind_noting_keys(cond_p, index, *operands, branches=tuple(programs), **extra))
    return tree.unflatten(trees[0], [next(outs) if i is None else operands[i] for i in handed_on])


def _handed_on(programs, operands) -> list[int | None]:
    """For each result the operand that all branches hand on as it is, or None. Such results are no results of the conditional."""
    places = [{v: i for i, v in enumerate(closed.jaxpr.invars)} for closed in programs]
    found: list[int | None] = []
    for outs in zip(*[closed.jaxpr.outvars for closed in programs]):
        same = {None if type(v) is Literal else here.get(v) for here, v in zip(places, outs)}
        i = same.pop() if len(same) == 1 else None
        found.append(i if i is not None and isinstance(operands[i], Array) else None)
    return found


def _on_one_mesh(programs):
    """The programs with results of no mesh split as another program splits them; where they differ in number, as they were."""
    if len({len(closed.out_avals) for closed in programs}) > 1:
        return programs
    wanted = [next((a for a in types if getattr(a, "placement", None) is not None), None) for types in zip(*[closed.out_avals for closed in programs])]
    return [_with_placements(closed, wanted) for closed in programs]


def _with_placements(closed: ClosedJaxpr, wanted: Sequence[AbstractValue | None]) -> ClosedJaxpr:
    eqns, outvars = list(closed.jaxpr.eqns), list(closed.jaxpr.outvars)
    for i, (v, like) in enumerate(zip(closed.jaxpr.outvars, wanted)):
        if like is not None and takes_placement(v.aval, like) and v.aval.shape == like.shape:
            outvars[i] = Var(v.aval.update(sharding=like.placement))
            eqns.append(JaxprEqn([v], [outvars[i]], reshard_p, dict(dst_sharding=like.placement)))
    return closed if len(eqns) == len(closed.jaxpr.eqns) else ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, outvars=outvars), closed.consts)


def _agree(name, labels, functions, programs, trees):
    """Check that structures and types of all results are equal; which are weakly typed, the first program says."""
    for label, fun, closed, out_tree in zip(labels[1:], functions[1:], programs[1:], trees[1:]):
        pair = f"{labels[0]} ({describe_function(functions[0])}) and {label} ({describe_function(fun)})"
        if out_tree != trees[0]:
            differences = structure_differences(trees[0], out_tree, f"{labels[0]} output", f"{label} output")
            raise TypeError(f"lax.{name}: {pair} must return the same pytree structure, but they differ:\n  "
                            + "\n  ".join(differences or [f"{trees[0]} and {out_tree}"]))
        lines = []
        for i, (a, b) in enumerate(zip(programs[0].out_avals, closed.out_avals)):
            remedy = _difference(a, b, own=is_own(functions[0]) or is_own(fun))
            if remedy is not None:
                path = tree.flatten_with_path(tree.unflatten(out_tree, closed.out_avals))[0][i][0]
                lines.append(f"output{tree.keystr(path)}: {labels[0]} returns {a.str_short()}, {label} returns {b.str_short()}{remedy}")
        if lines:
            raise TypeError(f"lax.{name}: {pair} must return the same types, but they differ:\n  " + "\n  ".join(lines)
                            + "\nConvert the results (x.astype, jnp.asarray) so that shapes and dtypes are equal.")
    weak = [getattr(a, "weak_type", False) for a in programs[0].out_avals]
    return [_with_weakness(closed, weak) for closed in programs]


def _difference(a: AbstractValue, b: AbstractValue, own: bool) -> str | None:
    """What to do about results of types ``a`` and ``b``, empty where that is plain; None if they agree. ``own``: a branch is no user's."""
    if not types_compatible(a, b):
        return ""
    if splits.entries(a) != splits.entries(b):
        return "; split one of them as the other by jax.sharding.reshard"
    if a.memory_space is not b.memory_space:
        return f"; move one of them by jax.device_put(x, jax.memory.Space.{a.memory_space.name})"
    if a.vma != b.vma and not own:
        axes = tuple(sorted(map(str, a.vma ^ b.vma)))
        return f"; apply jax.lax.pcast(..., {axes}, to='varying') to the one that is equal over these mesh axes"
    return None


def _with_weakness(closed: ClosedJaxpr, wanted: Sequence[bool]) -> ClosedJaxpr:
    """The program with results that are weakly typed as ``wanted``."""
    if all([getattr(v.aval, "weak_type", False) == w for v, w in zip(closed.jaxpr.outvars, wanted)]):
        return closed
    eqns, outvars = list(closed.jaxpr.eqns), list(closed.jaxpr.outvars)
    for i, (v, w) in enumerate(zip(closed.jaxpr.outvars, wanted)):
        if getattr(v.aval, "weak_type", False) != w:
            outvars[i] = Var(v.aval.update(weak_type=w))
            eqns.append(JaxprEqn([v], [outvars[i]], convert_element_type_p, dict(new_dtype=v.aval.dtype, weak_type=w, sharding=None)))
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, outvars=outvars), closed.consts)


# -- the rules -------------------------------------------------------------------------------------------------------

def _cond_type(index, *avals, branches, **_):
    return branches[0].out_avals


def _cond_effects(index, *avals, branches, **_):
    return frozenset().union(*(operand_effects(b, 1) for b in branches))


def _agree_on_outputs(derive: Callable, branches: Sequence[ClosedJaxpr]) -> tuple[list, list[bool]]:
    """Derive all branches so that the same results have a tangent (a mapped axis) in each.

    ``derive(branch, force) -> (result, flags)``, where ``force`` are results that must have one.
    """
    flags = [False] * len(branches[0].out_avals)
    results = []
    for branch in branches:
        result, own = derive(branch, [False] * len(flags))
        results.append((result, own))
        flags = either(flags, own)
    return [r if own == flags else derive(b, flags)[0] for b, (r, own) in zip(branches, results)], flags


def _cond_jvp(primals, tangents, *, branches, **params):
    index, *ops = primals
    nonzero = nonzero_flags(tangents[1:])

    def derive(branch: ClosedJaxpr, force):
        closed, out_nz = jvp_jaxpr(branch, nonzero, force)
        return closed, out_nz
    derived, out_nz = _agree_on_outputs(derive, branches)
    outs = cond_p.bind(index, *ops, *select(tangents[1:], nonzero), branches=tuple(derived), **params)
    n = len(out_nz)
    return outs[:n], fill(out_nz, outs[n:], map(Zero.of, outs[:n]))


def _cond_linearize(primals, tangents, *, branches, **params):
    index, *ops = primals
    nonzero = nonzero_flags(tangents[1:])

    def derive(branch: ClosedJaxpr, force):
        lin = linearize_jaxpr(branch, nonzero, force)
        return lin, lin.nonzero_out
    derived, out_nz = _agree_on_outputs(derive, branches)
    varying = varying_in_loop(ops)
    key = ("cond_linearize", tuple(nonzero), tuple(map(id, derived)), varying and tuple(varying))
    primal, tangent, sources = branches[0].memo(key, lambda: (*_join_residuals(derived, varying), derived))[:3]
    n = len(out_nz)
    outs = cond_p.bind(index, *ops, branches=primal, **params)
    residuals = [{"in": ops, "out": outs, "extra": outs[n:]}[kind][i] for kind, i in sources]
    tangents_out = cond_p.bind(index, *residuals, *select(tangents[1:], nonzero), branches=tangent, **params)
    return outs[:n], fill(out_nz, tangents_out, map(Zero.of, outs[:n]))


def _join_residuals(derived, varying):
    """One list of residuals for all branches.

    Operands and results that some branch keeps are taken as they are. The others share slots by type: slot k of a type
    holds the k-th such residual of whichever branch ran, so memory is that of the neediest branch, not of all together.
    Inside a loop, where ``varying`` says which operands change from step to step, a residual that follows from the other
    ones has a slot to itself: it is had once, before the loop (`split_invariant`), where a shared slot must be stacked.

    Returns:
      primal branches (with the slots as additional results), tangent branches (on the joint list), and where each
      joint residual comes from.
    """
    n_out = len(derived[0].nonzero_out)
    fresh = [lin.primal.jaxpr.outvars[n_out:] for lin in derived]
    apart = [[varying is not None and not _reads_varying(lin.primal, n_out + i, varying) for i in range(len(variables))]
             for lin, variables in zip(derived, fresh)]
    slots, filled = _residual_slots(fresh, apart)
    sources: list = []
    rows = []  # for each branch, positions in the joint list
    for lin, own, variables in zip(derived, filled, fresh):
        slot_of = {id(v): k for k, v in own.items()}
        row = []
        for kind, i in lin.sources:
            source = ("extra", slot_of[id(variables[i])]) if kind == "fresh" else (kind, i)
            if source not in sources:
                sources.append(source)
            row.append(sources.index(source))
        rows.append(row)
    types = {}
    for lin, row in zip(derived, rows):
        types.update(zip(row, lin.tangent.in_avals))
    joint = [types[i] for i in range(len(sources))]
    primal = tuple(_with_slots(lin.primal, n_out, own, slots) for lin, own in zip(derived, filled))
    primal[0].memo("residuals", lambda: (n_out, [set(own) for own in filled]))
    tangent = tuple(_on_joint_residuals(lin.tangent, row, joint) for lin, row in zip(derived, rows))
    return primal, tangent, sources


def _residual_slots(residuals: Sequence[Sequence[Var]],
                    apart: Sequence[Sequence[bool]] | None = None) -> tuple[list, list[dict]]:
    """Slots by type for the residuals of all branches, and for each branch which variable fills which slot.

    ``apart`` says which residuals get a slot that no other branch fills.
    """
    slots: list = []
    number: dict = {}
    filled = []
    for variables, alone in zip(residuals, apart or [[False] * len(r) for r in residuals]):
        counts: dict = {}
        own = {}
        for var, is_alone in zip(variables, alone):
            if is_alone:
                own[len(slots)] = var
                slots.append(var.aval)
                continue
            k = counts[var.aval] = counts.get(var.aval, 0) + 1
            if (var.aval, k) not in number:
                number[var.aval, k] = len(slots)
                slots.append(var.aval)
            own[number[var.aval, k]] = var
        filled.append(own)
    return slots, filled


def split_invariant(eqn: JaxprEqn, varying: Sequence[bool]) -> list[JaxprEqn] | None:
    """The conditional without the residuals that a branch computes from operands which do not vary, and a call for those of
    each branch.

    Such a residual is used by the derivative of its own branch alone, so it may be had whichever branch runs.
    """
    residuals = eqn.params["branches"][0].memo("residuals", lambda: None)
    if residuals is None or eqn.effects:
        return None
    n_out, filled = residuals
    calls, outvars = [], list(eqn.outvars)
    for k, branch in enumerate(eqn.params["branches"]):
        mine = [n_out + j for j in sorted(filled[k]) if not any(j in other for i, other in enumerate(filled) if i != k)]
        mine = [j for j in mine if not _reads_varying(branch, j, varying[1:])]
        if mine:
            small, reads = narrow(branch, [j in mine for j in range(len(outvars))])
            calls.append(JaxprEqn(select(eqn.invars[1:], reads), [outvars[j] for j in mine], jit_p,
                                  jit_params(small, "invariant", (False,) * sum(reads)), small.effects, eqn.source_info))
            for j in mine:
                outvars[j] = DropVar(outvars[j].aval)
    return [*calls, eqn.replace(outvars=outvars)] if calls else None


def _reads_varying(branch: ClosedJaxpr, j: int, varying: Sequence[bool]) -> bool:
    """Whether result ``j`` depends on operands that vary."""
    _, reads = narrow(branch, [i == j for i in range(len(branch.jaxpr.outvars))])
    return any(r and v for r, v in zip(reads, varying))


def _with_slots(closed: ClosedJaxpr, n_out: int, own: dict, slots: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The primal branch with one additional result for each slot, zeros in those it does not fill."""
    missing = [a for k, a in enumerate(slots) if k not in own]
    filler, consts, _ = trace_to_jaxpr(lambda: [zeros(a) for a in missing], [])
    rest = iter(filler.outvars)
    outvars = closed.jaxpr.outvars[:n_out] + [own[k] if k in own else next(rest) for k in range(len(slots))]
    return ClosedJaxpr(closed.jaxpr.replace(
        constvars=closed.jaxpr.constvars + filler.constvars, outvars=outvars,
        eqns=closed.jaxpr.eqns + filler.eqns), [*closed.consts, *consts])


def _on_joint_residuals(closed: ClosedJaxpr, row: Sequence[int], joint: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The tangent branch as a function of the joint list; it reads the residuals at the positions ``row``."""
    n = len(row)
    leading = [Var(a) for a in joint]
    for i, v in zip(row, closed.jaxpr.invars):
        leading[i] = v
    return ClosedJaxpr(closed.jaxpr.replace(invars=leading + closed.jaxpr.invars[n:]), closed.consts)


def _cond_transpose(cts, index, *args, branches, **params):
    if is_linear(index):
        raise TypeError("cond: the index is an integer and has no cotangent.")
    linear = [is_linear(x) for x in args]
    nonzero_ct = nonzero_flags(cts)
    derived = [transpose_jaxpr(b, linear, nonzero_ct) for b in branches]
    out_nz = [any(column) for column in zip(*(nz for _, nz, _ in derived))]
    avals = [splits.cotangent_type(x.aval) for x in args if is_linear(x)]
    have, want, avals_and_logs = _with_logs(derived, out_nz, avals)
    programs = tuple(_fill_zeros(closed, nz, want, avals_and_logs) for (closed, _, _), nz in zip(derived, have))
    known = [x for x in args if not is_linear(x)]
    outs = cond_p.bind(index, *known, *select(cts, nonzero_ct), branches=programs, **params)
    _log_branches(index, outs[sum(out_nz):], [structure for _, _, structure in derived])
    found = iter(fill(out_nz, outs, map(Zero, avals)))
    return [None, *(next(found) if lin else None for lin in linear)]


def _with_logs(derived, out_nz, avals):
    """What the branches have, what all of them are to return, and its types: cotangents, and what each of the branches logs."""
    logged = [closed.out_avals[len(closed.out_avals) - structure.num_leaves:] for closed, _, structure in derived]
    own = [[i == j for j, theirs in enumerate(logged) for _ in theirs] for i in range(len(derived))]
    every = [a for theirs in logged for a in theirs]
    return ([[*nz, *flags] for (_, nz, _), flags in zip(derived, own)], [*out_nz, *[True] * len(every)], [*avals, *every])


def _log_branches(index, values, structures):
    """Log under each key a `logs.CondSum` of what the branches logged there."""
    values, entries = iter(values), []
    for structure in structures:
        entries.append(tree.unflatten(structure, [next(values) for _ in range(structure.num_leaves)]))
    keys = dict.fromkeys(key for found in entries for key in found)
    logs.add({key: logs.CondSum(index, [found.get(key) for found in entries]) for key in keys})


def _fill_zeros(closed: ClosedJaxpr, have: Sequence[bool], want: Sequence[bool], avals) -> ClosedJaxpr:
    """The program with zeros as the results that it lacks."""
    if list(have) == list(want):
        return closed

    def make():
        def run(*args):
            outs = iter(eval_jaxpr(closed.jaxpr, closed.consts, *args))
            return [next(outs) if h else zeros(a) for h, w, a in zip(have, want, avals) if w]
        jaxpr, consts, _ = trace_to_jaxpr(run, closed.in_avals, closed.jaxpr.debug_info)
        return ClosedJaxpr(jaxpr, consts)
    return closed.memo(("fill_zeros", tuple(have), tuple(want)), make)


def runs_lane_by_lane(*programs: ClosedJaxpr) -> bool:
    """Whether a batch of lanes must run one after the other where not every lane takes part.

    So it is with side effects of single lanes (`Effect.of_lanes`), and with pure callbacks that vmap is to call one lane
    at a time: a lane that does not take part must not make its call.
    """
    return any(p.memo("runs_lane_by_lane", lambda p=p: _calls_host(p.jaxpr)) for p in programs)


def _calls_host(jaxpr: Jaxpr) -> bool:
    if any(e.of_lanes for e in jaxpr.effects):
        return True
    return any((asks := e.primitive.traits.lane_by_lane) is not None and asks(**e.params)
               or any(map(_calls_host, jaxprs_in_params(e.params))) for e in jaxpr.eqns)


def _cond_batch(axis, args, dims, *, branches, **params):
    (index, *ops), (index_dim, *op_dims) = args, dims
    batched = [d is not None for d in op_dims]
    ops = [moved(x, d, 0) for x, d in zip(ops, op_dims)]
    derived, out_b = _agree_on_outputs(lambda branch, force: batch_jaxpr(branch, axis, batched, force), branches)
    if index_dim is None:
        outs = cond_p.bind(index, *ops, branches=tuple(derived), **params)
        return outs, [0 if b else None for b in out_b]
    kept = [None if b else source for b, source in zip(out_b, _common_sources(branches))]
    if any(k is not None for k in kept):  # whichever branch a lane chooses, these results are operands, the same in all lanes
        moving = [i for i, k in enumerate(kept) if k is None]
        outs, _ = _cond_batch(axis, (index, *ops), (index_dim, *(0 if b else None for b in batched)),
                              branches=tuple(reorder(branch, None, moving) for branch in branches), **params)
        rest = iter(outs)
        pairs = [(next(rest), 0) if k is None else (ops[k], None) for k in kept]
        return [x for x, _ in pairs], [d for _, d in pairs]
    if runs_lane_by_lane(*branches):
        return _cond_lane_by_lane(axis, index, ops, batched, branches, params)
    if not all(out_b):
        derived = [batch_jaxpr(branch, axis, batched, True)[0] for branch in branches]
    results = [eval_jaxpr(branch.jaxpr, branch.consts, *_guarded(index, i, ops, batched, len(branches)))
               for i, branch in enumerate(derived)]
    return [lane_select(index, list(cases)) for cases in zip(*results)], [0] * len(out_b)


def _common_sources(branches):
    """For each result the operand that it is in every branch, or None."""
    found = []
    for branch in branches:
        position = {v: i for i, v in enumerate(branch.jaxpr.invars)}
        found.append([None if type(v) is Literal else position.get(v) for v in branch.jaxpr.outvars])
    return [sources[0] if len(set(sources)) == 1 else None for sources in zip(*found)]


def _cond_lane_by_lane(axis, index, ops, batched, branches, params):
    """Run the lanes one after the other, so that only chosen branches have their effects."""
    mapped = select(ops, batched)

    def lane(i, *given):
        given = iter(given)
        return cond_p.bind(i, *(next(given) if b else x for x, b in zip(ops, batched)), branches=branches, **params)
    outs = map_flat(lane, [index, *mapped])
    return outs, [0] * len(outs)


def _guarded(index, i, ops, batched, count):
    """Operands for branch ``i``: differentiable only in the lanes that choose it."""
    mask = None
    result = []
    for x, b in zip(ops, batched):
        if b and has_tangent(get_aval(x)):
            if mask is None:
                mask = eq(index, np.int32(i))
            x = lane_select(mask, [unused_p.bind(x), x])
        result.append(x)
    return result


def lane_select(which: Array, cases: Sequence[ArrayLike]) -> Any:
    """``cases[which]`` for each lane; ``which`` has one axis, the leading one of the cases."""
    shape = np.shape(cases[0])
    if len(cases) == 2 and get_aval(which).dtype != bool:
        which = convert_element_type_p.bind(which, new_dtype=np.dtype(bool), weak_type=False)
    if len(shape) > 1:
        which = broadcast_in_dim(which, shape, (0,))
    return select_n(which, *cases)


def _cond_split(unknown, params):
    """Two conditionals: one for the results that the known operands determine, which also keeps what the other reads."""
    if unknown[0]:
        return None
    branches, ops = params["branches"], unknown[1:]
    late = [False] * len(branches[0].out_avals)
    for branch in branches:
        late = either(late, split_jaxpr(branch, ops).out_unknown)
    if all(late):
        return None
    parts = [split_jaxpr(branch, ops, late) for branch in branches]
    n_known = len(late) - sum(late)
    slots, filled = _residual_slots([p.known.jaxpr.outvars[n_known:] for p in parts])
    primal = tuple(_with_slots(p.known, n_known, own, slots) for p, own in zip(parts, filled))
    joint = list(dict.fromkeys(_source(p, own, i, n_known) for p, own in zip(parts, filled) for i in p.residuals))
    types = {_source(p, own, i, n_known): a
             for p, own in zip(parts, filled) for i, a in zip(p.residuals, p.rest.in_avals)}
    rest = tuple(_on_joint_residuals(p.rest, [joint.index(_source(p, own, i, n_known)) for i in p.residuals],
                                     [types[s] for s in joint]) for p, own in zip(parts, filled))
    return EquationSplit(
        late, [0, *(i + 1 for i, u in enumerate(ops) if not u)], {**params, "branches": primal},
        [0, *(s + 1 if s >= 0 else s for s in joint), *(i + 1 for i, u in enumerate(ops) if u)],
        {**params, "branches": rest})


def _source(parts, own, i, n_known):
    """Where a branch's residual ``i`` comes from, among all branches: an operand, or ``~slot``."""
    if i >= 0:
        return i
    var = parts.known.jaxpr.outvars[n_known + ~i]
    return ~next(k for k, v in own.items() if v is var)


def _cond_dce(eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn | None:
    branches = eqn.params["branches"]
    narrowed = [narrow(b, used) for b in branches]
    if not any(used) and not any(b.effects for b, _ in narrowed):
        return None
    kept = [any(column) for column in zip(*(inputs for _, inputs in narrowed))]
    programs = tuple(ClosedJaxpr(small.jaxpr.replace(invars=select(old.jaxpr.invars, kept)), small.consts)
                     for old, (small, _) in zip(branches, narrowed))
    return eqn.replace(invars=[eqn.invars[0], *select(eqn.invars[1:], kept)], outvars=select(eqn.outvars, used),
                       params={**eqn.params, "branches": programs}, effects=_cond_effects(None, branches=programs))


def _cond_save(eqn: JaxprEqn, policy: Callable) -> tuple[JaxprEqn, JaxprEqn] | None:
    """Each branch gives what is kept in it, and zeros for what is kept in the others."""
    branches = eqn.params["branches"]
    parts = [saved_parts(b, policy) for b in branches]
    if not any(parts):
        return None
    avals = [a for part in parts if part for a in part[2]]
    known, again, start = [], [], 0
    for branch, part in zip(branches, parts):
        stop = start + (len(part[2]) if part else 0)
        known.append(_among_zeros(part[0] if part else branch, len(eqn.outvars), avals, start, stop))
        closed = part[1] if part else branch
        count, own = len(branch.in_avals), closed.jaxpr.invars
        inputs = [*own[:count], *map(Var, avals[:start]), *own[count:], *map(Var, avals[stop:])]
        again.append(ClosedJaxpr(closed.jaxpr.replace(invars=inputs), closed.consts))
        start = stop
    kept = list(map(Var, avals))
    return (eqn.replace(outvars=[*eqn.outvars, *kept], params={**eqn.params, "branches": tuple(known)}),
            eqn.replace(invars=[*eqn.invars, *kept], params={**eqn.params, "branches": tuple(again)}))


def _among_zeros(closed: ClosedJaxpr, n_out: int, avals: Sequence[Any], start: int, stop: int) -> ClosedJaxpr:
    """``closed``, whose results from ``n_out`` on are those from ``start`` to ``stop`` of types ``avals``, with zeros for the others."""
    def run(*args):
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *args)
        return [*outs[:n_out], *map(zeros, avals[:start]), *outs[n_out:], *map(zeros, avals[stop:])]
    jaxpr, consts, _ = trace_to_jaxpr(run, closed.in_avals, closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts)


def _cond_discharge(prim, args, refs, params):
    """All branches return the new values of the references that one of them changes."""
    branches, inner = params["branches"], refs[1:]
    written = sorted({i for b in branches for i in discharged(b, inner)[1]})
    pure = tuple(discharged(b, inner, written)[0] for b in branches)
    outs = cond_p.bind(*args, **{**params, "branches": pure})
    n = len(branches[0].out_avals)
    return outs[:n], [None, *place(written, outs[n:], len(inner))]


def _cond_lower(b, index, *ops, branches, branches_platforms=None):
    if branches_platforms is not None:  # the other branches may hold what cannot be lowered for this platform
        return b.jaxpr(branches[platform_branch(b.platform, branches_platforms)], *ops)
    if b.platform == "cpu":
        found = branches[0].memo(("in_place", *map(id, branches)), lambda: (plan_in_place(branches), branches))[0]
        if found is not None:
            return emit_in_place(b, index, ops, branches, found)
    return emit_case(b, index, [lambda inner, branch=branch: inner.jaxpr(branch, *ops) for branch in branches],
                     b.out_avals, _cond_effects(None, branches=branches))


def _cond_agree(args, params):
    """In a manual region: where the index varies, all that goes in and comes out does; the branches know."""
    branches, given = params["branches"], [manual.varying(x) for x in args]
    if not any(given) and not any(a.vma for b in branches for a in (*b.in_avals, *b.out_avals)):
        return args, params
    axes = [given[0].union(g, *(b.in_avals[i].vma for b in branches)) for i, g in enumerate(given[1:])]
    typed = [manual.retyped(b, axes) for b in branches]
    outs = [given[0].union(*(a.vma for a in column)) for column in zip(*(b.out_avals for b in typed))]
    return [args[0], *manual.vary_to(args[1:], axes)], {
        **params, "branches": tuple(manual.retyped(b, axes, outs) for b in branches)}


def _cond_interpret(run, index, *ops, branches, **_):
    """The chosen branch."""
    return run(branches[min(max(int(index), 0), len(branches) - 1)], *ops)


cond_p: ProgramPrimitive = ProgramPrimitive(
    "cond",
    out_type=_cond_type, effects=_cond_effects,
    impl=lambda *args, **params: run_eagerly(cond_p, args, params),
    jvp=_cond_jvp, linearize=_cond_linearize, transpose=_cond_transpose, batch=_cond_batch, lower=_cond_lower,
    dce=_cond_dce, agree=_cond_agree, takes_refs=True, discharge=_cond_discharge, save=_cond_save, split=_cond_split, interpret=_cond_interpret,
    traits=Traits(Kind.BRANCH))
INVARIANT_PARTS[cond_p] = split_invariant


# -- a value that no result depends on -------------------------------------------------------------------------------

unused_p = Primitive(
    "unused", out_type=lambda x: x, jvp=ZERO, transpose=lambda ct, x: Zero(x.aval), batch=ELEMENTWISE,
    lower=lambda b, x: x, reference=np.array, exact=True,
    traits=Traits(Kind.IDENTITY),
)
"""The identity, for a value that reaches no result: it has neither tangent nor cotangent (so none that is NaN)."""
