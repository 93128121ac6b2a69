"""scan: a loop with a fixed number of steps that carries state along and stacks results.

One primitive, `scan_p`. Its body takes ``(constants, carry, slices of xs)`` and returns ``(carry, slices of ys)``.

Reverse mode: `_scan_linearize` runs the loop once and stacks only residuals that change from step to step. A residual
that equals a constant, an input slice or an output slice is that array itself, and one that is computed from constants
alone is computed once, outside. The transposed loop runs backwards and carries cotangents of carry and constants.

Left aside: a fast path for loops of length one (XLA removes such loops).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.compat.flat_trees import ScanHabits
from jax_core.configuration import flags
from jax_core.extension_points import LoopBody
from jax_core.programs.jit_primitive import jit_p
from jax_core.references.api import refuse_views
from jax_core.references.discharge import any_refs, check_aliases, discharged, place
from jax_core.references.primitives import is_ref
from jax_core.representation import splits, tree
from jax_core.representation.array import Array
from jax_core.representation.aval import AbstractRef, AbstractValue, get_aval, plain_values
from jax_core.representation.effects import operand_effects
from jax_core.representation.errors import ConcretizationTypeError
from jax_core.representation.high import any_high
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, dce, eval_jaxpr
from jax_core.representation.primitive import ProgramPrimitive, Zero, is_linear
from jax_core.representation.source import describe_function
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import add as add_values, bdim_at_front, moved, zeros
from jax_core.traces.trace import Tracer
from jax_core.transformations import logs, manual
from jax_core.transformations.batching import batch_jaxpr, unmapped_aval
from jax_core.transformations.forward import jvp_jaxpr
from jax_core.transformations.high_primitives import holds_high_values
from jax_core.transformations.reverse import linearize_jaxpr, transpose_jaxpr
from jax_core.transformations.saving import saved_parts
from jax_core.transformations.splitting import EquationSplit, split_call, split_equation, split_jaxpr

from ..shape import stack
from ..slicing import index_in_dim
from .common import (
    INVARIANT_PARTS,
    as_arrays,
    bind_noting_keys,
    carry_fixpoint,
    check_carry,
    check_counts,
    check_effects,
    fill,
    handed_on,
    instantiate_all,
    leaf_avals,
    narrow,
    nonzero_flags,
    promote_carry,
    reorder,
    require_callable,
    run_eagerly,
    select,
    split,
    stacked,
    trace_body,
    unstacked,
    with_strong_carry,
)
from .high_types import scan_high
from .lowering import add, emit_observed_while, less, observed, stack_buffer, subtract

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value


@api_boundary
def scan(f: Callable[..., PyTree], init: PyTree, xs: PyTree = None, length: int | None = None, reverse: bool = False,
         unroll: int | bool = 1, _split_transpose: bool = False) -> tuple[Any, Any]:
    """Run ``carry, y = f(carry, x)`` over the leading axis of ``xs``, and stack the ``y``.

    Args:
      f: function of the carry and one slice of ``xs``; returns a pair: the next carry, of the same structure, shapes
        and dtypes, and any pytree of arrays to stack (or None).
      init: the first carry, a pytree of arrays. Weakly typed leaves (Python numbers) take the type that ``f`` returns.
      xs: a pytree of arrays with equal leading axes, or None.
      length: number of steps; needed only without ``xs``.
      reverse: go from the last slice to the first; the ``y`` are stacked in the order of the ``xs``.
      unroll: how many steps one iteration of the compiled loop runs; True for all of them.
      _split_transpose: run the backward pass as two loops, one for the carry and one for what is summed over the steps.

    Returns:
      the last carry and the stacked ``y``, in a list where ``f`` returns its pair in one.

    Raises:
      TypeError: ``f`` is not callable, does not return a pair, or changes the type of the carry (says which leaf).
      ValueError: the leading axes differ, or disagree with ``length``.

    Differentiable in both modes. The compiled loop evaluates ``f`` in constant code size.

    Source: StableHLO `while`.

    >>> lax.scan(lambda total, x: (total + x, total), jnp.int32(0), jnp.arange(1, 5))
    (Array(10, dtype=int32), Array([0, 1, 3, 6], dtype=int32))
    """
    require_callable("lax.scan", f=f)
    if isinstance(f, LoopBody):  # such as one with a progress bar
        return f.set_up_scan(scan, init, xs, length, reverse=reverse, unroll=unroll)
    if holds_high_values(init, xs):
        return scan_high(scan, f, init, xs, length, reverse=reverse, unroll=unroll, _split_transpose=_split_transpose)
    xs_flat, xs_tree = tree.flatten(xs)
    init_flat, init_tree = tree.flatten(init)
    xs_flat, init_flat = plain_values(xs_flat), plain_values(init_flat)
    xs_avals = leaf_avals("lax.scan", "xs", xs, xs_flat)
    if any([type(a) is AbstractRef for a in xs_avals]):
        refuse_views("lax.scan", xs)
    length = _length(xs, xs_avals, length)
    unroll = _unroll(unroll, length)
    if flags.disable_jit.value:
        return _scan_in_python(f, init, xs_flat, xs_tree, length, reverse)
    in_tree = tree.treedef_tuple((init_tree, xs_tree))
    x_avals = [unstacked(a) for a in xs_avals]
    closed, consts, init_flat, out_tree = _trace(f, init, init_flat, init_tree, x_avals, in_tree)
    if any_high(closed.out_avals):
        return scan_high(scan, f, init, xs, length, reverse=reverse, unroll=unroll, _split_transpose=_split_transpose)
    outs = _bind(closed, consts, init_flat, xs_flat, length, reverse, unroll, _split_transpose)
    return tree.unflatten(out_tree, outs)


def _length(xs, avals: Sequence[AbstractValue], length) -> int:
    """Number of steps; raises ValueError where axes disagree."""
    for a in avals:
        if not a.shape:
            paths = [tree.keystr(p) for (p, _), b in zip(tree.flatten_with_path(xs)[0], avals) if not b.shape]
            raise ValueError(f"lax.scan got a value with no leading axis to scan over: xs{', xs'.join(paths)} has rank "
                             "0; give it a leading axis, or pass it through the carry or a closure.")
    sizes = sorted({a.shape[0] for a in avals})
    if len(sizes) > 1:
        lines = [f"xs{tree.keystr(p)}: {a.str_short()}" for (p, _), a in zip(tree.flatten_with_path(xs)[0], avals)]
        raise ValueError(f"lax.scan got values with different leading axis sizes: {', '.join(map(str, sizes))}.\n  "
                         + "\n  ".join(lines))
    if length is None:
        if not sizes:
            raise ValueError("lax.scan got no values to scan over and `length` was not provided; give xs or length.")
        return sizes[0]
    if isinstance(length, Tracer):
        raise ConcretizationTypeError(length, "lax.scan: length must be a known integer, as it is a part of the program and of the shapes "
                                              "of its results.")
    try:
        length = int(length.__index__() if hasattr(length, "__index__") else length)
    except TypeError:
        raise TypeError(f"lax.scan: length must be an integer, got {length!r}.") from None
    if sizes and length != sizes[0]:
        raise ValueError(f"lax.scan got `length` argument of {length} which disagrees with leading axis sizes "
                         f"{[a.shape[0] for a in avals]}.")
    return max(length, 0)


def _unroll(unroll, length: int) -> int:
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if not hasattr(unroll, "__index__") or unroll.__index__() < 0:
        raise (ValueError if hasattr(unroll, "__index__") else TypeError)(f"lax.scan: unroll must be a bool or a non-negative int, got {unroll!r}.")
    return max(unroll.__index__(), 1)


def _trace(f, init, init_flat, init_tree, x_avals, in_tree):
    """The body as a program; weakly typed leaves of ``init`` are converted until it gives back what it gets."""
    given, known = leaf_avals("lax.scan", "init", init, init_flat), None
    for _ in range(len(init_flat) + 1):
        if known is None:
            closed, consts, out_tree = trace_body("scan", f, in_tree, [*given, *x_avals])
        else:
            closed = known
        if any_refs(given):
            check_aliases("scan", f, tree.structure(((init,), {})), ((), ()), consts, init_flat)
        carry_tree, n = _carry_tree(f, out_tree, closed)
        returned = closed.out_avals[:n]
        promoted = promote_carry(init_flat, given, returned) if carry_tree == init_tree else None
        if promoted is None:
            break
        init_flat, before = promoted, given
        given = [get_aval(x) for x in init_flat]
        known = with_strong_carry(closed, len(consts), before, given)
    check_carry("lax.scan", f, init, given, carry_tree, returned)
    check_effects("lax.scan", closed.effects)
    return closed, consts, init_flat, out_tree


def _carry_tree(f, out_tree, closed):
    """Structure of the new carry, and the number of its leaves."""
    kind = out_tree.node_data()
    children = out_tree.children()
    if kind is None or len(children) != 2 or kind[0] not in (tuple, list):
        got = tree.unflatten(out_tree, [a.str_short() for a in closed.out_avals])
        raise TypeError(f"lax.scan: body function {describe_function(f)} must return a pair (carry, y), got {got!r}.")
    return children[0], children[0].num_leaves


def _bind(closed, consts, init, xs, length, reverse, unroll, split_transpose):
    """Bind the primitive; carries that the body hands on unchanged become constants, and slices that it returns are not stacked anew."""
    jaxpr, nc, n = closed.jaxpr, len(consts), len(init)
    fixed = handed_on(jaxpr.invars[nc:nc + n], jaxpr.outvars)
    rows = {var: x for var, x in zip(jaxpr.invars[nc + n:], xs) if isinstance(x, Array)}
    known = [x if f else None for x, f in zip(init, fixed)] + [None if type(v) is Literal else rows.get(v) for v in jaxpr.outvars[n:]]
    carried = init
    if any(x is not None for x in known):
        i_fixed, i_moving = [i for i in range(n) if fixed[i]], [i for i in range(n) if not fixed[i]]
        order = [*range(nc), *(nc + i for i in i_fixed), *(nc + i for i in i_moving), *range(nc + n, len(jaxpr.invars))]
        closed = reorder(closed, order, [i for i, x in enumerate(known) if x is None])
        consts = [*consts, *(init[i] for i in i_fixed)]
        carried = [init[i] for i in i_moving]
        if not closed.jaxpr.outvars and not closed.effects:
            return known
    args = [*consts, *carried, *xs]
    outs = iter(bind_noting_keys(scan_p, *args, jaxpr=closed, length=length, reverse=bool(reverse), num_consts=len(consts),
                                 num_carry=len(carried), linear=(False,) * len(args), unroll=unroll,
                                 _split_transpose=bool(split_transpose)))
    return [next(outs) if x is None else x for x in known]


def _scan_in_python(f, init, xs, xs_tree, length, reverse):
    """The loop for `jax.disable_jit`: the body runs on concrete slices."""
    carry, rows, pair = as_arrays(init), [], tuple
    if length == 0:
        raise ValueError("lax.scan: a loop of length 0 cannot run under jax.disable_jit, as the types of its results "
                         "are not known without a step.")
    for i in reversed(range(length)) if reverse else range(length):
        rows_of_xs = [x.at[i] if is_ref(x) else index_in_dim(x, i, keepdims=False) for x in xs]
        result = f(carry, tree.unflatten(xs_tree, rows_of_xs))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(f"lax.scan: body function {describe_function(f)} must return a pair (carry, y), got "
                            f"{result!r}.")
        carry, y = as_arrays(result)
        rows.append(y)
        pair = type(result)
    rows = rows[::-1] if reverse else rows
    return pair((carry, tree.tree_map(lambda *ys: stack(ys), *rows)))


# -- the rules -------------------------------------------------------------------------------------------------------

def _scan_type(*avals, jaxpr, length, num_carry, num_consts, reverse, **_):
    check_counts("scan", avals, num_consts=num_consts, num_carry=num_carry)
    if type(reverse) is not bool:
        raise TypeError(f"scan: reverse must be a bool, got {reverse!r} of type {type(reverse).__name__}")
    outs = jaxpr.out_avals
    return [*outs[:num_carry], *(stacked(a, length) for a in outs[num_carry:])]


def _scan_jvp(primals, tangents, *, jaxpr, num_consts, num_carry, linear, **params):
    n, n_ys = len(primals), len(jaxpr.out_avals) - num_carry
    consts_nz, carry_nz, xs_nz = split(nonzero_flags(tangents), num_consts, num_carry)

    def derive(carry: list[bool]):
        result = jvp_jaxpr(jaxpr, consts_nz + carry + xs_nz, carry + [False] * n_ys)
        return result, result[1][:num_carry]
    (closed, out_nz), carry_nz = carry_fixpoint(derive, carry_nz)
    ys_nz = out_nz[num_carry:]
    a, b, m = sum(consts_nz), sum(carry_nz), num_carry + n_ys
    inputs = [*range(num_consts), *range(n, n + a), *range(num_consts, num_consts + num_carry),
              *range(n + a, n + a + b), *range(num_consts + num_carry, n), *range(n + a + b, len(closed.in_avals))]
    outputs = [*range(num_carry), *range(m, m + b), *range(num_carry, m), *range(m + b, len(closed.out_avals))]
    consts, carry, xs = split(primals, num_consts, num_carry)
    consts_t, carry_t, xs_t = split(tangents, num_consts, num_carry)
    args = [*consts, *select(consts_t, consts_nz), *carry, *instantiate_all(carry_t, carry_nz),
            *xs, *select(xs_t, xs_nz)]
    outs = scan_p.bind(*args, jaxpr=reorder(closed, inputs, outputs), num_consts=num_consts + a,
                       num_carry=num_carry + b, linear=(False,) * len(args), **params)
    carry_out, carry_out_t, ys, ys_t = split(outs, num_carry, b, n_ys)
    primals_out = carry_out + ys
    return primals_out, fill(carry_nz + ys_nz, carry_out_t + ys_t, map(Zero.of, primals_out))


class _LinearizedBody:
    """How one linearized body is run: see `_linearize_body`."""

    __slots__ = ("primal", "hoisted", "tangent", "sources", "carry_nz", "ys_nz", "num_extra", "num_res_consts",
                 "num_res_rows")
    primal: ClosedJaxpr
    hoisted: ClosedJaxpr
    tangent: ClosedJaxpr
    sources: list[tuple[str, int]]
    carry_nz: list[bool]
    ys_nz: list[bool]
    num_extra: int
    num_res_consts: int
    num_res_rows: int


def _linearize_body(jaxpr: ClosedJaxpr, num_consts, num_carry, consts_nz, carry_nz, xs_nz) -> _LinearizedBody:
    """Split the body's derivative into loops over known values and over tangents.

    ``sources`` says for each residual where the tangent loop gets it: ``("const", i)``, a constant of the loop;
    ``("hoisted", i)``, computed once before the loop; ``("xs", i)``, ``("ys", i)``, a stacked input or output that
    exists anyway; ``("extra", i)``, stacked by the primal loop for this purpose.
    """
    n_ys = len(jaxpr.out_avals) - num_carry
    changing = [i >= num_consts for i in range(len(jaxpr.in_avals))]

    def derive(carry: list[bool]):
        lin = linearize_jaxpr(jaxpr, consts_nz + carry + xs_nz, carry + [False] * n_ys, changing)
        return lin, lin.nonzero_out[:num_carry]
    lin, carry_nz = carry_fixpoint(derive, carry_nz)
    body = _LinearizedBody()
    body.carry_nz, body.ys_nz = carry_nz, lin.nonzero_out[num_carry:]
    program = lin.primal.jaxpr
    m = num_carry + n_ys
    eqns, varying = _part_by_step(program, num_consts)
    hoisted: list[Var] = []
    extra: list[Any] = []

    def place(kind: object, i):
        var = program.invars[i] if kind == "in" else program.outvars[i if kind == "out" else m + i]
        if type(var) is not Literal and var not in varying:
            if var in program.invars:
                return "const", program.invars.index(var)
            hoisted.append(var)
            return "hoisted", len(hoisted) - 1
        if kind == "in" and i >= num_consts + num_carry:
            return "xs", i - num_consts - num_carry
        for which, kept in (("ys", program.outvars[num_carry:m]), ("extra", extra)):
            found = [j for j, other in enumerate(kept) if other is var]
            if found:
                return which, found[0]
        extra.append(var)
        return "extra", len(extra) - 1

    body.sources = [place(kind, i) for kind, i in lin.sources]
    body.num_extra = len(extra)
    known = Jaxpr(program.constvars, program.invars, program.outvars[:m] + extra, eqns, program.effects,
                  program.debug_info)
    body.primal = ClosedJaxpr(dce(known, [True] * len(known.outvars), keep_inputs=True)[0], lin.primal.consts)
    before = Jaxpr(program.constvars, program.invars[:num_consts], hoisted,
                   [e for e in eqns if not e.effects and varying.isdisjoint(e.outvars)])
    body.hoisted = ClosedJaxpr(dce(before, [True] * len(hoisted), keep_inputs=True)[0], lin.primal.consts)
    _arrange_tangent(body, lin.tangent, consts_nz)
    return body


def _arrange_tangent(body, tangent, consts_nz):
    """Put the inputs of the tangent program in the order of a loop body: constants, carry, rows."""
    fixed = [kind in ("const", "hoisted") for kind, _ in body.sources]
    r, a, b = len(fixed), sum(consts_nz), sum(body.carry_nz)
    order = [*(i for i in range(r) if fixed[i]), *range(r, r + a + b),
             *(i for i in range(r) if not fixed[i]), *range(r + a + b, len(tangent.in_avals))]
    body.tangent = reorder(tangent, order)
    body.num_res_consts, body.num_res_rows = sum(fixed), r - sum(fixed)


def _part_by_step(program: Jaxpr, num_consts: int) -> tuple[list[JaxprEqn], set[Var]]:
    """The equations, and the variables that change from step to step: they depend on carry or rows, or on an effect.

    A nested `jit` that computes both kinds becomes two, so that what does not change in it can be had before the loop; and so
    does a conditional that keeps what a branch computes from constants.
    """
    found, eqns = set(program.invars[num_consts:]), []
    for eqn in program.eqns:
        flags = [type(v) is not Literal and v in found for v in eqn.invars]
        pair: Sequence[JaxprEqn] | None = split_equation(eqn, flags) if eqn.primitive is jit_p and any(flags) and not eqn.effects else None
        if pair is None and eqn.primitive in INVARIANT_PARTS and any(flags):
            pair = INVARIANT_PARTS[eqn.primitive](eqn, flags)
        if pair is not None:
            *first, eqn = pair
            eqns += first
        eqns.append(eqn)
        if pair is not None or eqn.effects or any(flags):
            found.update(eqn.outvars)
    return eqns, found


def _scan_linearize(primals, tangents, *, jaxpr, num_consts, num_carry, linear, **params):
    consts_nz, carry_nz, xs_nz = split(nonzero_flags(tangents), num_consts, num_carry)
    key = ("scan_linearize", num_consts, num_carry, *consts_nz, *carry_nz, *xs_nz)
    body = jaxpr.memo(key, lambda: _linearize_body(jaxpr, num_consts, num_carry, consts_nz, carry_nz, xs_nz))
    m = len(jaxpr.out_avals)
    outs = scan_p.bind(*primals, jaxpr=body.primal, num_consts=num_consts, num_carry=num_carry, linear=linear, **params)
    consts, _, xs = split(primals, num_consts, num_carry)
    hoisted = eval_jaxpr(body.hoisted.jaxpr, body.hoisted.consts, *consts) if body.hoisted.jaxpr.outvars else []
    arrays = {"const": consts, "hoisted": hoisted, "xs": xs, "ys": outs[num_carry:m], "extra": outs[m:]}
    res_consts = [arrays[kind][i] for kind, i in body.sources if kind in ("const", "hoisted")]
    res_rows = [arrays[kind][i] for kind, i in body.sources if kind not in ("const", "hoisted")]
    consts_t, carry_t, xs_t = split(tangents, num_consts, num_carry)
    linear_consts, linear_carry = select(consts_t, consts_nz), instantiate_all(carry_t, body.carry_nz)
    linear_xs = select(xs_t, xs_nz)
    flags = ([False] * len(res_consts) + [True] * (len(linear_consts) + len(linear_carry)) + [False] * len(res_rows)
             + [True] * len(linear_xs))
    tangents_out = scan_p.bind(
        *res_consts, *linear_consts, *linear_carry, *res_rows, *linear_xs, jaxpr=body.tangent,
        num_consts=len(res_consts) + len(linear_consts), num_carry=len(linear_carry), linear=tuple(flags), **params)
    return outs[:m], fill(body.carry_nz + body.ys_nz, tangents_out, map(Zero.of, outs[:m]))


def _scan_transpose(cts, *args, jaxpr, num_consts, num_carry, linear, **params):
    is_lin = [is_linear(x) for x in args]
    consts_lin, carry_lin, xs_lin = split(is_lin, num_consts, num_carry)

    if not all(carry_lin):
        parts = split_call(scan_p, args, is_lin, dict(
            jaxpr=jaxpr, num_consts=num_consts, num_carry=num_carry, linear=linear, **params))
        if parts is not None:  # some results do not depend on linear operands: run that part of the loop first
            found, _, rest_args = parts
            rest_cts = [cts[i] for i in found.rest_outs]
            cts_in = scan_p.transpose(rest_cts, *rest_args, **found.rest_params)
            place = {i: ct for i, ct in zip(found.rest_inputs, cts_in) if i >= 0}
            return [place[i] if lin else None for i, lin in enumerate(is_lin)]
    found = _transpose_linear(cts, args, jaxpr, consts_lin, xs_lin, num_consts, num_carry, params)
    return [ct if lin else None for ct, lin in zip(found, is_lin)]


def _transpose_linear(cts, args, jaxpr, consts_lin, xs_lin, num_consts, num_carry, params):
    """Cotangents of all operands (None for those that are known), where every carry is linear."""
    ct_carry, ct_ys = split(cts, num_carry)
    ys_nz = nonzero_flags(ct_ys)
    flags = consts_lin + [True] * num_carry + xs_lin
    n_c = sum(consts_lin)

    def derive(carry: list[bool]):
        result = transpose_jaxpr(jaxpr, flags, carry + ys_nz)
        return result, result[1][n_c:n_c + num_carry]
    (program, in_nz, logged), carry_nz = carry_fixpoint(derive, nonzero_flags(ct_carry))
    consts_nz, carry_found, xs_nz = split(in_nz, n_c, num_carry)
    consts, carry, xs = split(args, num_consts, num_carry)
    res_consts, res_rows = [x for x in consts if not is_linear(x)], [x for x in xs if not is_linear(x)]
    body = jaxpr.memo(("scan_backward", tuple(flags), tuple(carry_nz), tuple(ys_nz), logged), lambda: _backward_body(
        jaxpr, program, len(res_consts), consts_lin, num_carry, consts_nz, carry_nz, carry_found, ys_nz, xs_lin))
    totals = [zeros(splits.cotangent_type(x.aval)) for x in select(filter(is_linear, consts), consts_nz)]
    params = {**params, "reverse": not params["reverse"]}
    run = _backward_in_two if params["_split_transpose"] and totals else _backward
    outs = logs.rejoin(
        run(body, res_consts, totals, instantiate_all(ct_carry, carry_nz), res_rows, select(ct_ys, ys_nz), params), logged)
    ct_consts, ct_init, ct_xs = split(outs, len(totals), sum(carry_nz))
    zero = lambda x: Zero(splits.cotangent_type(x.aval) if is_linear(x) else get_aval(x).to_ct_aval())
    linear_consts, linear_xs = [x for x in consts if is_linear(x)], [x for x in xs if is_linear(x)]
    by_const = iter(fill(consts_nz, ct_consts, map(zero, linear_consts)))
    by_x = iter(fill(xs_nz, ct_xs, map(zero, linear_xs)))
    return ([next(by_const) if lin else None for lin in consts_lin] + fill(carry_nz, ct_init, map(zero, carry))
            + [next(by_x) if lin else None for lin in xs_lin])


def _backward(body, consts, totals, carry, rows, ct_ys, params):
    """The backward loop: the sums for the constants, the cotangents of the carry, and those of the rows."""
    kinds = [False] * len(consts) + [True] * (len(totals) + len(carry)) + [False] * len(rows) + [True] * len(ct_ys)
    return scan_p.bind(*consts, *totals, *carry, *rows, *ct_ys, jaxpr=body, num_consts=len(consts),
                       num_carry=len(totals) + len(carry), linear=tuple(kinds), **params)


def _backward_in_two(body, consts, totals, carry, rows, ct_ys, params):
    """The backward loop as two: one for the cotangents of the carry, which it stacks, and one for the sums over the steps.

    The sums are then off the path from step to step, at the price of one stacked carry.
    """
    r, t, c = len(consts), len(totals), len(carry)
    chain, sums = body.memo(("two", r, t, c), lambda: _split_backward(body.jaxpr, body.consts, r, t, c))
    outs = scan_p.bind(*consts, *carry, *rows, *ct_ys, jaxpr=chain, num_consts=r, num_carry=c,
                       linear=(False,) * (r + c + len(rows) + len(ct_ys)), **params)
    ct_init, seen, ct_xs = split(outs, c, c)
    found = scan_p.bind(*consts, *totals, *rows, *ct_ys, *seen, jaxpr=sums, num_consts=r, num_carry=t,
                        linear=(False,) * (r + t + len(rows) + len(ct_ys) + c), **params)
    return [*found, *ct_init, *ct_xs]


def _split_backward(jaxpr, values, r, t, c):
    res, totals, carry, rows = split(jaxpr.invars, r, t, c)
    new_totals, new_carry, ct_xs = split(jaxpr.outvars, t, c)
    parts = [(res + carry + rows, new_carry + carry + ct_xs), (res + totals + rows + carry, new_totals)]
    return [ClosedJaxpr(dce(jaxpr.replace(invars=ins, outvars=outs), [True] * len(outs), keep_inputs=True)[0], values)
            for ins, outs in parts]


def _backward_body(jaxpr, program, n_res, consts_lin, num_carry, consts_nz, carry_nz, carry_found, ys_nz, xs_lin):
    """``(residual constants; totals, cotangents of the carry; residual rows, cotangents of ys) -> (totals, ..; of xs)``."""
    in_avals, out_avals = jaxpr.in_avals, jaxpr.out_avals
    n_consts = len(consts_lin)
    x_avals = in_avals[n_consts + num_carry:]
    tangents = lambda avals: [splits.cotangent_type(a.strip_weak_type()) for a in avals]  # they are those of a linear program, so tangents already
    const_avals = in_avals[:n_consts]
    total_avals = tangents(select(select(const_avals, consts_lin), consts_nz))
    carry_avals = tangents(select(out_avals[:num_carry], carry_nz))
    row_avals = [a for a, lin in zip(x_avals, xs_lin) if not lin]
    y_avals = tangents(select(out_avals[num_carry:], ys_nz))
    sizes = n_res, len(total_avals), len(carry_avals), len(row_avals)

    def run(*args):
        res, totals, ct_carry, rows, ct_ys = split(args, *sizes)
        found = eval_jaxpr(program.jaxpr, program.consts, *res, *rows, *ct_carry, *ct_ys)
        ct_consts, ct_before, ct_xs = split(found, len(totals), sum(carry_found))
        before = iter(fill(carry_found, ct_before, [None] * num_carry))
        all_before = [ct for ct, nz in zip(before, carry_nz) if nz]
        return [*map(add_values, totals, ct_consts),
                *(zeros(a) if ct is None else ct for ct, a in zip(all_before, carry_avals)), *ct_xs]
    res_avals = [a for a, lin in zip(const_avals, consts_lin) if not lin]
    traced, consts, _ = trace_to_jaxpr(run, [*res_avals, *total_avals, *carry_avals, *row_avals, *y_avals],
                                       jaxpr.jaxpr.debug_info)
    return ClosedJaxpr(traced, consts)


def _scan_batch(axis, args, dims, *, jaxpr, num_consts, num_carry, **params):
    n_ys = len(jaxpr.out_avals) - num_carry
    consts_b, carry_b, xs_b = split([d is not None for d in dims], num_consts, num_carry)

    def derive(carry: list[bool]):
        result = batch_jaxpr(jaxpr, axis, consts_b + carry + xs_b, carry + [False] * n_ys)
        return result, result[1][:num_carry]
    (closed, out_b), carry_b = carry_fixpoint(derive, carry_b)
    consts, carry, xs = split(list(zip(args, dims)), num_consts, num_carry)
    operands = [*(moved(x, d, 0) for x, d in consts),
                *(bdim_at_front(x, d, axis) if b else x for (x, d), b in zip(carry, carry_b)),
                *(moved(x, d, 1) for x, d in xs)]
    outs = scan_p.bind(*operands, jaxpr=closed, num_consts=num_consts, num_carry=num_carry, **params)
    return outs, [0 if b else None for b in out_b[:num_carry]] + [1 if b else None for b in out_b[num_carry:]]


def _scan_split(unknown, params):
    """Two loops: one over what the known operands determine, which stacks what the other one reads."""
    jaxpr, num_consts, num_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
    n_ys = len(jaxpr.out_avals) - num_carry
    consts_u, carry_u, xs_u = split(unknown, num_consts, num_carry)

    def derive(carry: list[bool]):
        parts = split_jaxpr(jaxpr, consts_u + carry + xs_u, carry + [False] * n_ys)
        return parts, parts.out_unknown[:num_carry]
    parts, carry_u = carry_fixpoint(derive, carry_u)
    if all(parts.out_unknown):
        return None
    flags = consts_u + carry_u + xs_u
    known = [i for i, u in enumerate(flags) if not u]
    # A residual that is a constant or a row of the original loop is that operand; a carry must be stacked.
    carried = [i for i in parts.residuals if num_consts <= i < num_consts + num_carry]
    body = parts.known
    if carried:
        position = {i: v for i, v in zip(known, body.jaxpr.invars)}
        body = ClosedJaxpr(body.jaxpr.replace(
            outvars=body.jaxpr.outvars + [position[i] for i in carried]), body.consts)
    number = {i: ~(parts.num_fresh + k) for k, i in enumerate(carried)}
    sources = [number.get(i, i) for i in parts.residuals]
    fixed = [0 <= i < num_consts for i in sources]
    r, late = len(sources), [i for i, u in enumerate(flags) if u]
    c, k = sum(consts_u), sum(carry_u)
    order = [*(i for i in range(r) if fixed[i]), *range(r, r + c + k), *(i for i in range(r) if not fixed[i]),
             *range(r + c + k, r + len(late))]
    entries = sources + late
    n_known = num_consts - c
    return EquationSplit(
        parts.out_unknown, known,
        {**params, "jaxpr": body, "num_consts": n_known, "num_carry": num_carry - k, "linear": (False,) * len(known)},
        [entries[i] for i in order],
        {**params, "jaxpr": reorder(parts.rest, order), "num_consts": sum(fixed) + c, "num_carry": k,
         "linear": (False,) * len(order)})


def _scan_dce(eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn | None:
    """Drop carries and results that nobody needs."""
    params = eqn.params
    jaxpr, num_consts, num_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
    used_carry, used_ys = split(used, num_carry)

    def derive(carry: list[bool]):
        small, inputs = narrow(jaxpr, carry + used_ys)
        return (small, inputs), inputs[num_consts:num_consts + num_carry]
    (small, inputs), used_carry = carry_fixpoint(derive, used_carry)
    if not any(used) and not small.effects:
        return None
    consts_in, carry_in, xs_in = split(inputs, num_consts, num_carry)
    # a carry may be needed by its own result alone: then it is kept as an input, though the body does not read it
    kept = consts_in + used_carry + xs_in
    if carry_in != used_carry:
        small = ClosedJaxpr(small.jaxpr.replace(invars=select(jaxpr.jaxpr.invars, kept)), small.consts)
    outs = used_carry + used_ys
    return eqn.replace(
        invars=select(eqn.invars, kept), outvars=select(eqn.outvars, outs), effects=small.effects,
        params={**params, "jaxpr": small, "num_consts": sum(consts_in), "num_carry": sum(used_carry),
                "linear": tuple(select(params["linear"], kept))})


def _scan_save(eqn: JaxprEqn, policy: Callable) -> tuple[JaxprEqn, JaxprEqn] | None:
    """What the policy keeps in the body is kept for each step, as rows of further results."""
    params = eqn.params
    parts = saved_parts(params["jaxpr"], policy)
    if parts is None:
        return None
    known, again, avals = parts
    rows = [Var(unmapped_aval(a, params["length"], 0)) for a in avals]
    return (eqn.replace(outvars=[*eqn.outvars, *rows], params={**params, "jaxpr": known}),
            eqn.replace(invars=[*eqn.invars, *rows], params={**params, "jaxpr": again, "linear": (*params["linear"], *[False] * len(rows))}))


def _scan_discharge(prim, args, refs, params):
    """References that the body reads are constants of the loop, those it changes are carried; rows of a reference among
    ``xs`` are read and stacked."""
    body, n, m = params["jaxpr"], params["num_consts"], params["num_carry"]
    closed, written = discharged(body, refs)
    count = len(body.out_avals)
    result_of = {i: count + k for k, i in enumerate(written)}  # where the body returns the new value
    carried, rows = [i for i in written if i < n], [i for i in written if i >= n]
    fixed = [i for i in range(n) if i not in result_of]
    order = [*fixed, *range(n, n + m), *carried, *range(n + m, len(args))]
    outputs = [*range(m), *(result_of[i] for i in carried), *range(m, count), *(result_of[i] for i in rows)]
    outs = scan_p.bind(*(args[i] for i in order), **{
        **params, "jaxpr": reorder(closed, order, outputs), "num_consts": len(fixed), "num_carry": m + len(carried),
        "linear": (False,) * len(args)})
    carry, refs_carried, ys, refs_rows = split(outs, m, len(carried), count - m)
    return carry + ys, place([*carried, *rows], refs_carried + refs_rows, len(args))


def _scan_lower(b, *args, jaxpr, length, reverse, num_consts, num_carry, unroll, **_):
    """A counted `while`; the rows are read from and written to stacked arrays in place."""
    consts, carry, xs = split(args, num_consts, num_carry)
    y_types = b.out_avals[num_carry:]
    dtype = np.dtype(np.int32 if length < 2**31 else np.int64)
    ys = [stack_buffer(b, a) for a in y_types]
    if length == 0:
        return [*carry, *ys]
    unroll = min(unroll, length)
    whole = length - length % unroll
    program, observer = (jaxpr, None) if whole == unroll else observed(jaxpr)

    def step(inner: Builder, i: Value, carry: Sequence[Value], ys):
        where = subtract(inner, inner.scalar(length - 1, dtype), i) if reverse else i
        rows = [inner.index(x, where) for x in xs]
        outs = inner.jaxpr(program, *consts, *carry, *rows)
        return outs[:num_carry], [inner.update(y, where, row) for y, row in zip(ys, outs[num_carry:])]

    def steps(inner: Builder, i: Value, carry: Sequence[Value], ys, count: int):
        for k in range(count):
            carry, ys = step(inner, i if k == 0 else add(inner, i, inner.scalar(k, dtype)), carry, ys)
        return carry, ys

    if whole == unroll:
        carry, ys = steps(b, b.scalar(0, dtype), carry, ys, whole)
    else:
        def body(inner: Builder, i: Value, *rest):
            now, rows = split(rest, num_carry)
            now, rows = steps(inner, i, now, rows, unroll)
            return [add(inner, i, inner.scalar(unroll, dtype)), *now, *rows]
        outs = emit_observed_while(
            b, observer, [b.scalar(0, dtype), *carry, *ys],
            lambda inner, i, *_: less(inner, i, inner.scalar(whole, dtype)), body, jaxpr.effects, counted=True,
            more=length - whole)
        carry, ys = split(outs[1:], num_carry)
    if whole < length:
        carry, ys = steps(b, b.scalar(whole, dtype), carry, ys, length - whole)
    return [*carry, *ys]


def _scan_agree(args, params):
    """In a manual region: the carry varies over what the body makes of it, and the body knows."""
    body, n, m = params["jaxpr"], params["num_consts"], params["num_carry"]
    given, carry = [manual.varying(x) for x in args], slice(n, n + m)
    if not any(given) and not any(a.vma for a in (*body.in_avals, *body.out_avals)):
        return args, params
    axes = manual.loop_axes(body, given, carry)
    outs = axes[carry] + [a.vma for a in body.out_avals[m:]]
    return manual.vary_to(args, axes), {**params, "jaxpr": manual.retyped(body, axes, outs)}


def _scan_interpret(run, *args, jaxpr, length, reverse, num_consts, num_carry, **_):
    """The loop in Python; rows are read and stacked on the host."""
    consts, carry, xs = split(args, num_consts, num_carry)
    rows = []
    for i in reversed(range(length)) if reverse else range(length):
        outs = run(jaxpr, *consts, *carry, *(index_in_dim(x, i, keepdims=False) for x in xs))
        carry = outs[:num_carry]
        rows.append(outs[num_carry:])
    rows = rows[::-1] if reverse else rows
    ys = [stack(column) for column in zip(*rows)] if rows else [
        zeros(stacked(a, 0)) for a in jaxpr.out_avals[num_carry:]]
    return [*carry, *ys]


class _ScanPrimitive(ScanHabits, ProgramPrimitive):
    """Of one shape with every primitive that holds programs, and with a second form of its parameters for libraries."""


scan_p: ProgramPrimitive = _ScanPrimitive(
    "scan",
    out_type=_scan_type,
    effects=lambda *avals, jaxpr, **_: operand_effects(jaxpr),
    impl=lambda *args, **params: run_eagerly(scan_p, args, params),
    jvp=_scan_jvp, linearize=_scan_linearize, transpose=_scan_transpose, batch=_scan_batch, lower=_scan_lower,
    dce=_scan_dce, split=_scan_split, agree=_scan_agree, takes_refs=True, discharge=_scan_discharge, interpret=_scan_interpret, save=_scan_save,
    program="jaxpr", traits=Traits(Kind.LOOP, hidden={"linear": ..., "_split_transpose": False}))
