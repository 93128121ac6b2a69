"""while_loop and fori_loop: loops whose number of steps may depend on values.

One primitive, `while_p`, with a condition and a body. Forward mode carries tangents along. Reverse mode needs every
step's values, whose number is not known beforehand, so it raises, and names the three remedies: `scan`, a `fori_loop`
with a static number of steps (which is a `scan`), and ``while_loop(..., max_steps=n)`` of this system.

With a batched condition the loop runs until no lane is live, and lanes that are done keep their carry. If the body has
side effects or callbacks, the lanes run one after the other, so that a callback is made for live lanes only.
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.extension_points import LoopBody
from jax_core.references.discharge import discharged, place
from jax_core.representation import dtypes, tree
from jax_core.representation.aval import get_aval, plain_values
from jax_core.representation.effects import AccumEffect, WriteEffect, operand_effects, ordered_effects
from jax_core.representation.jaxpr import ClosedJaxpr, JaxprEqn, Literal, Var, eval_jaxpr
from jax_core.representation.primitive import ProgramPrimitive, Zero, none
from jax_core.representation.source import describe_function
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import bdim_at_front, moved
from jax_core.traces.trace import to_concrete_value
from jax_core.transformations import manual
from jax_core.transformations.autodiff import jvp
from jax_core.transformations.batching import batch_jaxpr
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.forward import jvp_jaxpr
from jax_core.transformations.high_primitives import holds_high_values
from jax_core.transformations.splitting import EquationSplit, split_jaxpr

from ..arithmetic import add
from ..bits import bitwise_and
from ..compare import emit_compare, lt
from ..reduce import reduce_or_p
from .common import (
    BodyOf,
    as_arrays,
    bind_noting_keys,
    carry_fixpoint,
    check_carry,
    check_counts,
    check_effects,
    convert,
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
    trace_body,
    with_strong_carry,
)
from .cond import cond as choose, lane_select, runs_lane_by_lane
from .high_types import while_loop_high
from .lowering import emit_observed_while, observed
from .map import map_flat
from .scan import scan

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array


@api_boundary
def while_loop(cond_fun: Callable[..., PyTree], body_fun: Callable[..., PyTree], init_val: PyTree, *,
               max_steps: int | None = None) -> Any:
    """``while cond_fun(val): val = body_fun(val)``, as one compiled loop.

    Args:
      cond_fun: function of the carry; returns a boolean scalar.
      body_fun: function of the carry; returns the next, of the same structure, shapes and dtypes.
      init_val: the first carry, a pytree of arrays. Weakly typed leaves (Python numbers) take the type of the body's
        result.
      max_steps: an upper bound on the number of steps (the loop stops there), which makes reverse mode possible: an
        extension of this system. Memory for the derivative is that of about ``2 * sqrt(max_steps)`` carries; steps are
        computed once more on the way back.

    Raises:
      TypeError: a function is not callable, the condition is not a boolean scalar, or the carry changes its type.
      ValueError: reverse-mode differentiation without ``max_steps``.

    Source: StableHLO `while`.

    >>> lax.while_loop(lambda n: n < 100, lambda n: 2 * n, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    require_callable("lax.while_loop", cond_fun=cond_fun, body_fun=body_fun)
    if isinstance(body_fun, LoopBody):
        return body_fun.set_up_while_loop(while_loop, cond_fun, init_val, max_steps=max_steps)
    max_steps = _check_bound(max_steps)
    if holds_high_values(init_val):
        return while_loop_high(functools.partial(while_loop, max_steps=max_steps), cond_fun, body_fun, init_val)
    if flags.disable_jit.value:
        live = cond_fun(as_arrays(init_val))
        if to_concrete_value(live) is not None:  # else a transformation hides the values, and only the loop will do
            return _while_in_python(cond_fun, body_fun, init_val, live, max_steps)
    if max_steps is not None:
        return _bounded_while_loop(cond_fun, body_fun, init_val, max_steps)
    leaves, in_tree = tree.flatten(init_val)
    body, body_consts, leaves = _trace_while_body("lax.while_loop", body_fun, init_val, plain_values(leaves), in_tree)
    cond, cond_consts = _trace_condition(cond_fun, in_tree, [get_aval(x) for x in leaves])
    if ordered_effects(cond.effects) or any([isinstance(e, (WriteEffect, AccumEffect)) for e in cond.effects]):
        return _condition_in_body(cond_fun, body_fun, init_val)
    return tree.unflatten(in_tree, _bind(cond, cond_consts, body, body_consts, leaves))


def _bind(cond, cond_consts, body, body_consts, init):
    """Bind the primitive; carries that the body hands on unchanged become constants of both programs."""
    nb = len(body_consts)
    fixed = handed_on(body.jaxpr.invars[nb:], body.jaxpr.outvars)
    if any(fixed):
        i_fixed, i_moving = [i for i, f in enumerate(fixed) if f], [i for i, f in enumerate(fixed) if not f]

        def order(count: int):
            return [*range(count), *(count + i for i in i_fixed), *(count + i for i in i_moving)]
        cond, body = reorder(cond, order(len(cond_consts))), reorder(body, order(nb), i_moving)
        constant = [init[i] for i in i_fixed]
        cond_consts, body_consts = [*cond_consts, *constant], [*body_consts, *constant]
    outs = iter(bind_noting_keys(while_p, *cond_consts, *body_consts, *(x for x, f in zip(init, fixed) if not f),
                                 cond_nconsts=len(cond_consts), cond_jaxpr=cond, body_nconsts=len(body_consts), body_jaxpr=body))
    return [x if f else next(outs) for x, f in zip(init, fixed)]


def _trace_while_body(name, body_fun, init_val, leaves, in_tree):
    """The body as a program, its constants, and the carry with weakly typed leaves converted where need be."""
    given, known = leaf_avals(name, "init_val", init_val, leaves), None
    args_tree = tree.treedef_tuple((in_tree,))
    for _ in range(len(leaves) + 1):
        if known is None:
            body, consts, out_tree = trace_body("while_loop", body_fun, args_tree, given)
        else:
            body = known
        promoted = promote_carry(leaves, given, body.out_avals) if out_tree == in_tree else None
        if promoted is None:
            break
        leaves, before = promoted, given
        given = [get_aval(x) for x in leaves]
        known = with_strong_carry(body, len(consts), before, given)
    try:
        check_carry(name, body_fun, init_val, given, out_tree, body.out_avals)
    except TypeError as error:
        if tree.treedef_is_leaf(out_tree) and body.out_avals[0].shape == () and body.out_avals[0].dtype == bool:
            error.add_note(f"{name} takes cond_fun before body_fun; {describe_function(body_fun)}, given as body_fun, returns one bool, as a "
                           "condition does: are the two swapped?")
        raise
    check_effects(name, body.effects)
    return body, consts, leaves


def _trace_condition(cond_fun, in_tree, avals):
    cond, consts, out_tree = trace_body("while_loop", cond_fun, tree.treedef_tuple((in_tree,)), avals)
    where = f"lax.while_loop: cond_fun {describe_function(cond_fun)} must return a boolean scalar"
    if not tree.treedef_is_leaf(out_tree) or out_tree.num_leaves != 1:
        raise TypeError(f"{where}, but returned the pytree {out_tree}.")
    aval = cond.out_avals[0]
    if aval.shape != () or aval.dtype != bool:
        raise TypeError(f"{where}, but returned {aval.str_short()}; reduce it (jnp.any, jnp.all) or compare it.")
    check_effects("lax.while_loop", cond.effects)
    return cond, consts


def _condition_in_body(cond_fun, body_fun, init_val):
    """The loop for a condition with ordered effects, or one that changes references: what it leaves only the body can pass on, with its result."""
    def body(carry: PyTree):
        val = body_fun(carry[1])
        return cond_fun(val), val
    return while_loop(lambda carry: carry[0], BodyOf("lax.while_loop", body, body_fun, ("", 0)), (cond_fun(init_val), init_val))[1]


def _check_bound(max_steps) -> int | None:
    if max_steps is None:
        return None
    if not hasattr(max_steps, "__index__") or max_steps.__index__() < 0:
        raise ValueError(f"lax.while_loop: max_steps must be a non-negative integer, got {max_steps!r}.")
    return max_steps.__index__()


def _while_in_python(cond_fun, body_fun, val, live, max_steps):
    """The loop for `jax.disable_jit`."""
    steps, val = 0, as_arrays(val)
    while max_steps is None or steps < max_steps:
        if to_concrete_value(live) is None:  # the body brought in values of a transformation, such as mapped ones
            return while_loop(cond_fun, body_fun, val, max_steps=None if max_steps is None else max_steps - steps)
        if not live:
            break
        val, steps = as_arrays(body_fun(val)), steps + 1
        live = cond_fun(val)
    return val


@api_boundary
def fori_loop(lower: ArrayLike, upper: ArrayLike, body_fun: Callable[..., Any], init_val: PyTree, *,
              unroll: int | bool | None = None) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)``, as one compiled loop.

    Args:
      lower, upper: integer scalars. Where both are known the loop is a `scan`, which can be differentiated in reverse mode;
        else it is a `while_loop`. Both may be floats: whole numbers, or traced, where the index is a float, too.
      body_fun: function of the index and the carry; returns the next carry, of the same structure and types. The index is
        weakly typed, as a Python integer is, unless ``lower`` is traced and has a strong type, or a bound has a type that is
        not the default one.
      init_val: the first carry, a pytree of arrays.
      unroll: steps per iteration of the compiled loop; needs a static number of steps.

    Raises:
      TypeError: the bounds are not integer scalars of one type, or the carry changes its type.
      ValueError: ``unroll`` with bounds that are not static.

    Source: StableHLO `while`.

    >>> lax.fori_loop(1, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    require_callable("lax.fori_loop", body_fun=body_fun)
    if isinstance(body_fun, LoopBody):
        return body_fun.set_up_fori_loop(fori_loop, lower, upper, init_val, unroll=unroll)
    lower, upper, one = _loop_bounds(lower, upper)
    first, last = to_concrete_value(lower), to_concrete_value(upper)
    if flags.disable_jit.value and first is not None and last is not None:
        val = as_arrays(init_val)
        for i in range(int(first), int(last)):
            val = as_arrays(body_fun(as_arrays(i), val))
        return val
    if first is not None and last is not None:
        return _static_fori_loop(int(first), int(last) - int(first), body_fun, init_val, unroll)
    if unroll is not None and unroll is not False:
        raise ValueError("lax.fori_loop: unroll needs loop bounds that are statically known, but "
                         f"{'lower' if first is None else 'upper'} is traced.")

    def body(carry: PyTree):
        i, end, val = carry
        return add(i, one), end, body_fun(i, val)
    return while_loop(_before_end, BodyOf("lax.fori_loop", body, body_fun, (0, "upper", 1), alone=True), (lower, upper, init_val))[2]


def _before_end(carry):
    return lt(carry[0], carry[1])


def _loop_bounds(lower, upper):
    """Both bounds with one type, and the number 1 of ``lower``'s: an index that starts as a Python number promotes like one.

    Two floats are taken where they are whole numbers, or are traced: samplers draw their numbers of steps as floats.
    """
    avals = []
    floats = _is_real(lower) and _is_real(upper)
    if floats and all(to_concrete_value(x) is not None for x in (lower, upper)):
        floats = False
        if float(lower).is_integer() and float(upper).is_integer():
            lower, upper = int(lower), int(upper)
    for name, x in (("lower", lower), ("upper", upper)):
        try:
            aval = get_aval(x)
        except TypeError:
            raise TypeError(f"lax.fori_loop: {name} must be an integer scalar, got {x!r}.") from None
        if aval.shape != () or not (floats or dtypes.issubdtype(aval.dtype, np.integer)):
            raise TypeError(f"lax.fori_loop: {name} must be an integer scalar, got {aval.str_short()}.")
        avals.append(aval)
    strong = [a for a in avals if not a.weak_type]
    if len({a.dtype for a in strong}) > 1:
        raise TypeError(f"lower and upper as arguments to fori_loop must have equal types, got {avals[0].str_short()} and "
                        f"{avals[1].str_short()}.")
    if not strong:
        return lower, upper, 1.0 if floats else 1
    dtype = np.dtype(dtypes.result_type(*avals))
    if avals[0].weak_type and avals[0].dtype == dtype:
        return lower, upper if avals[1].dtype == dtype else convert(upper, dtype), 1.0 if floats else 1
    lower, upper = (x if a.dtype == dtype and not a.weak_type else convert(x, dtype)
                    for x, a in zip((lower, upper), avals))
    return lower, upper, dtype.type(1)


def _is_real(x):
    """Whether a bound is one real floating-point number."""
    return isinstance(x, float) or getattr(x, "shape", None) == () and dtypes.issubdtype(x.dtype, np.floating)


def _static_fori_loop(first, length, body_fun, init_val, unroll):
    def body(carry: PyTree, _: object):
        i, val = carry
        return (add(i, 1), body_fun(i, val)), None
    if length <= 0:
        length = 0
    (_, result), _ = scan(BodyOf("lax.fori_loop", body, body_fun, (0, 1), alone=True), (first, init_val), None, length,
                          unroll=1 if unroll is None else unroll)
    return result


# -- a bound on the number of steps ----------------------------------------------------------------------------------

def _bounded_while_loop(cond_fun, body_fun, init_val, max_steps):
    """A while loop of at most ``max_steps`` steps whose derivative is that of a checkpointed scan over segments.

    The scan keeps the carry at the start of each of about sqrt(n) segments; the transposed scan runs a segment again to
    get the values inside. Segments after the end of the loop are skipped.

    Source: Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
    differentiation", 1992; one level of his recursion.
    """
    leaves, in_tree = tree.flatten(init_val)
    body, body_consts, leaves = _trace_while_body("lax.while_loop", body_fun, init_val, plain_values(leaves), in_tree)
    cond, cond_consts = _trace_condition(cond_fun, in_tree, [get_aval(x) for x in leaves])
    n_cond, n_body = len(cond_consts), len(body_consts)

    @custom_jvp
    def run(*args):
        cond_consts, body_consts, carry = split(args, n_cond, n_body)
        live = lambda val: eval_jaxpr(cond.jaxpr, cond.consts, *cond_consts, *val)[0]
        step = lambda val: eval_jaxpr(body.jaxpr, body.consts, *body_consts, *val)
        return while_loop(lambda c: bitwise_and(lt(c[0], np.int32(max_steps)), live(c[1])),
                          lambda c: (add(c[0], np.int32(1)), step(c[1])), (np.int32(0), carry))[1]

    @run.defjvp
    def run_jvp(primals: Sequence[Array], tangents: Sequence[Array]):
        return jvp(lambda *args: _segments(cond, body, n_cond, n_body, args, max_steps), primals, tangents)

    return tree.unflatten(in_tree, run(*cond_consts, *body_consts, *leaves))


def _segments(cond, body, n_cond, n_body, args, max_steps):
    """At most ``max_steps`` steps, as a scan over checkpointed segments."""
    cond_consts, body_consts, carry = split(args, n_cond, n_body)
    size = max(math.isqrt(max(max_steps - 1, 0)) + 1, 1)
    count = -(-max_steps // size)

    def step(val, number):
        def advance(val):
            return eval_jaxpr(body.jaxpr, body.consts, *body_consts, *val)
        live = eval_jaxpr(cond.jaxpr, cond.consts, *cond_consts, *val)[0]
        return choose(bitwise_and(lt(number, np.int32(max_steps)), live), advance, lambda val: val, val), None

    def segment(val, start):
        def run(val, start):
            def inner(carry: PyTree, _: object):
                number, val = carry
                return (add(number, np.int32(1)), step(val, number)[0]), None
            return scan(inner, (start, val), None, size)[0][1]
        live = eval_jaxpr(cond.jaxpr, cond.consts, *cond_consts, *val)[0]
        return choose(live, checkpoint(run), lambda val, start: val, val, start), None

    starts = np.arange(count, dtype=np.int32) * np.int32(size)
    return scan(segment, carry, starts)[0]


# -- the rules -------------------------------------------------------------------------------------------------------

def _while_type(*avals, body_jaxpr, cond_nconsts, body_nconsts, **_):
    check_counts("while", avals, cond_nconsts=cond_nconsts, body_nconsts=body_nconsts)
    return body_jaxpr.out_avals


def _while_jvp_parts(primals, tangents, params):
    """The loop that carries values and tangents: its operands, parameters, and which carries have tangents."""
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    body = params["body_jaxpr"]
    cond_consts, body_consts, carry = split(primals, nc, nb)
    _, consts_t, carry_t = split(tangents, nc, nb)
    consts_nz = nonzero_flags(consts_t)

    def derive(carry_nz: Sequence[bool]):
        return jvp_jaxpr(body, consts_nz + carry_nz, carry_nz)
    closed, carry_nz = carry_fixpoint(derive, nonzero_flags(carry_t))
    a, n = sum(consts_nz), len(carry)
    order = [*range(nb), *range(nb + n, nb + n + a), *range(nb, nb + n), *range(nb + n + a, len(closed.in_avals))]
    args = [*cond_consts, *body_consts, *select(consts_t, consts_nz), *carry, *instantiate_all(carry_t, carry_nz)]
    cond = _ignore_more_carries(params["cond_jaxpr"], tuple(closed.out_avals[n:]))
    return args, dict(cond_nconsts=nc, cond_jaxpr=cond, body_nconsts=nb + a, body_jaxpr=reorder(closed, order)), carry_nz


def _ignore_more_carries(cond: ClosedJaxpr, more: tuple) -> ClosedJaxpr:
    """The condition of a loop with more carries at the end."""
    return cond.memo(("more", more), lambda: ClosedJaxpr(cond.jaxpr.replace(
        invars=cond.jaxpr.invars + [Var(a) for a in more]), cond.consts))


def _while_jvp(primals, tangents, **params):
    args, loop, carry_nz = _while_jvp_parts(primals, tangents, params)
    outs = while_p.bind(*args, **loop)
    n = len(carry_nz)
    return outs[:n], fill(carry_nz, outs[n:], map(Zero.of, outs[:n]))


def _while_split(unknown, params):
    """A loop over the carries that are known, now; later the whole loop again, for the others."""
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    cond_u, body_u, carry_u = split(unknown, nc, nb)

    def derive(carry: Sequence[bool]):
        parts = split_jaxpr(body, body_u + carry, carry)
        return parts, parts.out_unknown
    parts, carry_u = carry_fixpoint(derive, carry_u)
    if all(carry_u) or any(cond_u):
        return None
    read = _read_by(cond.jaxpr)
    if any(u and v in read for u, v in zip(carry_u, cond.jaxpr.invars[nc:])):
        return None  # the number of steps is not known
    early = [not u for u in carry_u]
    small, used = narrow(body, early)
    consts_in = used[:nb]
    if any(c and u for c, u in zip(used, body_u + carry_u)):
        return None  # an equation inside cannot be split
    small = ClosedJaxpr(small.jaxpr.replace(invars=select(body.jaxpr.invars, consts_in + early)), small.consts)
    short = ClosedJaxpr(cond.jaxpr.replace(invars=cond.jaxpr.invars[:nc] + select(cond.jaxpr.invars[nc:], early)),
                        cond.consts)
    kept = [True] * nc + consts_in + early
    return EquationSplit(
        carry_u, [i for i, k in enumerate(kept) if k],
        dict(cond_nconsts=nc, cond_jaxpr=short, body_nconsts=sum(consts_in), body_jaxpr=small),
        range(len(unknown)), params, [i if u else None for i, u in enumerate(carry_u)])


def _read_by(jaxpr):
    """The variables that a program reads or returns."""
    return {v for v in [*(v for e in jaxpr.eqns for v in e.invars), *jaxpr.outvars] if type(v) is not Literal}


def _while_transpose(cts, *args, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr):
    raise ValueError(
        "Reverse-mode differentiation does not work through lax.while_loop, nor through lax.fori_loop with traced "
        "bounds: the number of steps is not known beforehand, so there is no place to keep what the backward pass needs. "
        "Use lax.scan, or lax.fori_loop with bounds that are Python integers, or give an upper bound on the number of "
        "steps: while_loop(cond_fun, body_fun, init_val, max_steps=n). Forward mode (jax.jvp, jax.jacfwd) works.")


def _while_batch(axis, args, dims, *, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr):
    batched = [d is not None for d in dims]
    cond_b, body_b, carry_b = split(batched, cond_nconsts, body_nconsts)

    def derive(carry: Sequence[bool]):
        return batch_jaxpr(body_jaxpr, axis, body_b + carry, carry)
    body, carry_b = carry_fixpoint(derive, carry_b)
    cond, (pred_b,) = batch_jaxpr(cond_jaxpr, axis, cond_b + carry_b)
    pairs = list(zip(args, dims))
    cond_consts, body_consts, carry = split(pairs, cond_nconsts, body_nconsts)
    if pred_b and runs_lane_by_lane(body_jaxpr, cond_jaxpr):
        return _while_lane_by_lane(args, dims, dict(cond_nconsts=cond_nconsts, cond_jaxpr=cond_jaxpr,
                                                    body_nconsts=body_nconsts, body_jaxpr=body_jaxpr))
    front = lambda group: [moved(x, d, 0) for x, d in group]
    consts_c, consts_b = front(cond_consts), front(body_consts)
    if not pred_b:
        operands = [bdim_at_front(x, d, axis) if b else x for (x, d), b in zip(carry, carry_b)]
        outs = while_p.bind(*consts_c, *consts_b, *operands, cond_nconsts=cond_nconsts, cond_jaxpr=cond,
                            body_nconsts=body_nconsts, body_jaxpr=body)
        return outs, [0 if b else None for b in carry_b]
    every = [True] * len(carry)
    body, _ = batch_jaxpr(body_jaxpr, axis, body_b + every, every)
    cond, _ = batch_jaxpr(cond_jaxpr, axis, cond_b + every, [True])
    any_live, masked = _masked_loop(cond, body, cond_nconsts, body_nconsts)
    operands = [bdim_at_front(x, d, axis) for x, d in carry]
    outs = while_p.bind(*consts_c, *consts_c, *consts_b, *operands, cond_nconsts=cond_nconsts, cond_jaxpr=any_live,
                        body_nconsts=cond_nconsts + body_nconsts, body_jaxpr=masked)
    return outs, [0] * len(outs)


def _masked_loop(cond: ClosedJaxpr, body: ClosedJaxpr, nc: int, nb: int) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Condition "some lane is live", and a body that leaves the carry of other lanes as it is."""
    def make():

        def some(*args):
            live, = eval_jaxpr(cond.jaxpr, cond.consts, *args)
            return [reduce_or_p.bind(live, axes=tuple(range(np.ndim(live))))]

        def step(*args):
            cond_consts, body_consts, carry = split(args, nc, nb)
            live = eval_jaxpr(cond.jaxpr, cond.consts, *cond_consts, *carry)[0]
            after = eval_jaxpr(body.jaxpr, body.consts, *body_consts, *carry)
            return [lane_select(live, [old, new]) for old, new in zip(carry, after)]
        any_jaxpr, any_consts, _ = trace_to_jaxpr(some, cond.in_avals)
        step_jaxpr, step_consts, _ = trace_to_jaxpr(step, cond.in_avals[:nc] + body.in_avals)
        return ClosedJaxpr(any_jaxpr, any_consts), ClosedJaxpr(step_jaxpr, step_consts), cond
    return body.memo(("masked", id(cond), nc, nb), make)[:2]


def _while_lane_by_lane(args, dims, params):
    batched = [d is not None for d in dims]
    fixed = [x for x, b in zip(args, batched) if not b]

    def lane(*given):
        given, rest = iter(given), iter(fixed)
        return while_p.bind(*(next(given) if b else next(rest) for b in batched), **params)
    outs = map_flat(lane, [moved(x, d, 0) for x, d in zip(args, dims) if d is not None])
    return outs, [0] * len(outs)


def _while_dce(eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn | None:
    """Drop the carries that neither the used results nor the condition need."""
    params = eqn.params
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    read = _read_by(cond.jaxpr)
    carry = [u or v in read for u, v in zip(used, cond.jaxpr.invars[nc:])]

    def derive(carry: Sequence[bool]):
        small, inputs = narrow(body, carry)
        return (small, inputs[:nb]), inputs[nb:]
    (small, consts_in), carry = carry_fixpoint(derive, carry)
    if all(carry) and all(consts_in):
        return eqn
    small = ClosedJaxpr(small.jaxpr.replace(invars=select(body.jaxpr.invars, consts_in + carry)), small.consts)
    less = ClosedJaxpr(cond.jaxpr.replace(invars=cond.jaxpr.invars[:nc] + select(cond.jaxpr.invars[nc:], carry)),
                       cond.consts)
    kept = [True] * nc + consts_in + carry
    return eqn.replace(invars=select(eqn.invars, kept), outvars=select(eqn.outvars, carry),
                       effects=small.effects | less.effects,
                       params=dict(cond_nconsts=nc, cond_jaxpr=less, body_nconsts=sum(consts_in), body_jaxpr=small))


def _while_discharge(prim, args, refs, params):
    """References that the body changes are carried, and the condition sees them change; the others are constants."""
    cond, body, nc, nb = params["cond_jaxpr"], params["body_jaxpr"], params["cond_nconsts"], params["body_nconsts"]
    in_cond, in_body = refs[:nc], refs[nc:]
    check, changed = discharged(cond, [*in_cond, *in_body[nb:]])
    if changed:
        raise NotImplementedError("lax.while_loop: the condition changes a mutable reference; change it in the body.")
    step, written = discharged(body, in_body)
    place_of = {in_body[i]: k for k, i in enumerate(written)}  # number of a reference: its place among the new carries
    stale = [i for i in range(nc) if in_cond[i] is not None and in_cond[i] in place_of]
    kept = [i for i in range(nc) if i not in stale]
    fixed, n = [i for i in range(nb) if i not in written], len(body.out_avals)
    check = _reading_carries(check, kept, stale, [place_of[in_cond[i]] for i in stale], nc,
                             tuple(step.out_avals[n:]))
    step = reorder(step, [*fixed, *range(nb, nb + n), *written])
    operands = [*(args[i] for i in kept), *(args[nc + i] for i in (*fixed, *range(nb, nb + n), *written))]
    outs = while_p.bind(*operands, cond_nconsts=len(kept), cond_jaxpr=check, body_nconsts=len(fixed), body_jaxpr=step)
    return outs[:n], place([nc + i for i in written], outs[n:], len(args))


def _reading_carries(cond: ClosedJaxpr, kept: Sequence[int], stale: Sequence[int], places: Sequence[int], nc: int,
                     more: tuple) -> ClosedJaxpr:
    """The condition of a loop with carries of types ``more`` at the end; constants ``stale`` are read from these."""
    def make():
        jaxpr = cond.jaxpr
        carries = [Var(a) for a in more]
        for i, k in zip(stale, places):
            carries[k] = jaxpr.invars[i]
        return ClosedJaxpr(jaxpr.replace(
            invars=[*(jaxpr.invars[i] for i in kept), *jaxpr.invars[nc:], *carries]), cond.consts)
    return cond.memo(("reading carries", tuple(stale), tuple(places), nc, more), make)


def _while_lower(b, *args, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr):
    cond_consts, body_consts, carry = split(args, cond_nconsts, body_nconsts)
    body, observer = observed(body_jaxpr)
    return emit_observed_while(
        b, observer, carry,
        lambda inner, *vals: _uncounted(inner, inner.jaxpr(cond_jaxpr, *cond_consts, *vals)[0]),
        lambda inner, *vals: inner.jaxpr(body, *body_consts, *vals), body_jaxpr.effects)


def _uncounted(b: Builder, going: Value) -> Value:
    """The condition, for a compiler that counts steps before it runs, and wrongly, in a form that it does not look into."""
    if not b.compiler_errs:
        return going
    number = b.convert(going, np.dtype(np.int32))
    return emit_compare(b, "NE", number, b.scalar(0, number.aval.dtype))


def _while_agree(args, params):
    """In a manual region: the carry varies over what condition and body make of it, and both know."""
    cond, body, nc, nb = params["cond_jaxpr"], params["body_jaxpr"], params["cond_nconsts"], params["body_nconsts"]
    given = [manual.varying(x) for x in args]
    if not any(given) and not any(a.vma for a in (*cond.in_avals, *body.in_avals, *body.out_avals)):
        return args, params
    known = [g | a.vma for g, a in zip(given[:nc], cond.in_avals)]

    def condition(axes):
        return manual.retyped(cond, known + [a | c.vma for a, c in zip(axes[nb:], cond.in_avals[nc:])]).out_avals[0].vma
    axes = manual.loop_axes(body, given[nc:], slice(nb, None), condition)
    return manual.vary_to(args, known + axes), {
        **params, "cond_jaxpr": manual.retyped(cond, known + axes[nb:]), "body_jaxpr": manual.retyped(body, axes, axes[nb:])}


def _while_interpret(run, *args, cond_nconsts, cond_jaxpr, body_nconsts, body_jaxpr):
    """The loop in Python."""
    cond_consts, body_consts, carry = split(args, cond_nconsts, body_nconsts)
    while run(cond_jaxpr, *cond_consts, *carry)[0]:
        carry = run(body_jaxpr, *body_consts, *carry)
    return carry


def _while_effects(*avals, cond_jaxpr, cond_nconsts, body_jaxpr, **_):
    return operand_effects(cond_jaxpr) | operand_effects(body_jaxpr, cond_nconsts)


while_p: ProgramPrimitive = ProgramPrimitive(
    "while",
    out_type=_while_type,
    effects=_while_effects,
    impl=lambda *args, **params: run_eagerly(while_p, args, params),
    jvp=_while_jvp, linearize=none("the number of steps, and so of residuals, is not known"), transpose=_while_transpose,
    batch=_while_batch, lower=_while_lower,
    dce=_while_dce, agree=_while_agree, takes_refs=True, discharge=_while_discharge, split=_while_split, interpret=_while_interpret,
    traits=Traits(Kind.LOOP))
