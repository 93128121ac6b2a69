"""Series through primitives that hold programs: jit, checkpoint, cond, scan and while_loop.

The program is expanded as a whole: it gets and gives, beside each value, its coefficients. Loops carry them along, and
their conditions see values only. While a JVP rule is running (see `trace`) a program's operands may be series that are
not complete yet, so it is expanded to the order that is asked for, and to no higher one.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable, Sequence

from jax_core.configuration import context
from jax_core.representation.jaxpr import ClosedJaxpr, eval_jaxpr
from jax_core.programs.jit_primitive import jit_p
from jax_core.representation.primitive import Primitive, Zero
from jax_core.transformations.checkpoint import remat_p
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import instantiate

from ..lax.control_flow.common import carry_fixpoint, reorder, split
from ..lax.control_flow.cond import _agree_on_outputs as agree_on_outputs
from ..lax.control_flow.cond import cond_p
from ..lax.control_flow.scan import scan_p
from ..lax.control_flow.while_loop import _ignore_more_carries as ignore_more_carries
from ..lax.control_flow.while_loop import while_p
from .rules import jet_rules
from .trace import JetTrace, JetTracer, over, times

Terms = list | None
"""The coefficients of ``t^1, t^2, ...`` (None where one is zero), or None where all are."""


def jet_flat(fun: Callable[..., Any], primals: Sequence[Any], terms: Sequence[Terms], order: int) -> tuple[list, list[Terms]]:
    """Values and coefficients of the flat function ``fun``."""
    trace = JetTrace(context.state.trace, order)
    inputs = [x if t is None or order == 0 else JetTracer(trace, x, order, lambda k, t=t: t[k - 1])
              for x, t in zip(primals, terms)]
    with context.Use(trace):
        outs = fun(*inputs)
    return trace.primals(outs), [terms_of(trace, x, order) for x in outs]


def terms_of(trace: JetTrace, x: Any, order: int) -> Terms:
    """Coefficients 1 to ``order`` of a value."""
    if not trace.owns(x):
        return None
    found = [x.coefficient(k) for k in range(1, order + 1)]
    return None if all(t is None for t in found) else found


def jet_jaxpr(closed: ClosedJaxpr, order: int, nonzero: Sequence[bool],
              force: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    """The program ``(values, coefficients of the nonzero ones) -> (results, coefficients of the nonzero ones)``.

    The ``order`` coefficients of a value stand together. Results in ``force`` have coefficients in any case.

    Returns:
      the program, and which results have coefficients.
    """
    return closed.memo(("jet", order, tuple(nonzero), tuple(force)), lambda: _jet_jaxpr(closed, order, nonzero, force))


def _jet_jaxpr(closed, order, nonzero, force):
    n = len(closed.in_avals)
    nonzero_out: list[bool] = []

    def run(*args):
        given = iter(args[n:])
        terms = [[next(given) for _ in range(order)] if nz else None for nz in nonzero]
        outs, out_terms = jet_flat(lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs), args[:n], terms, order)
        nonzero_out[:] = [f or t is not None for t, f in zip(out_terms, force)]
        return [*outs, *_flat(outs, out_terms, nonzero_out, order)]
    avals = closed.in_avals + [a.to_tangent_aval() for a, nz in zip(closed.in_avals, nonzero) if nz for _ in range(order)]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals, closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts), list(nonzero_out)


def _flat(primals, terms, wanted, order) -> list:
    """The coefficients of the wanted values one after the other, as arrays."""
    return [instantiate(Zero.of(x)) if t is None or t[k] is None else t[k]
            for x, t, w in zip(primals, terms, wanted) if w for k in range(order)]


def _rows(flat: Sequence[Any], nonzero: Sequence[bool], order: int) -> list[Terms]:
    """The inverse of `_flat`."""
    given = iter(flat)
    return [[next(given) for _ in range(order)] if nz else None for nz in nonzero]


def _present(terms: Sequence[Terms]) -> list[bool]:
    return [t is not None for t in terms]


# -- one function for each primitive: (primals, terms, order, params) -> (results, their terms) ----------------------------

def _run_call(prim, primals, terms, order, params):
    nonzero = _present(terms)
    closed = params["jaxpr"]
    derived, nonzero_out = jet_jaxpr(closed, order, nonzero, [False] * len(closed.out_avals))
    params = {**params, "jaxpr": derived}
    if prim is jit_p:
        params.update(in_shardings=None, out_shardings=None, donated_invars=(False,) * len(derived.in_avals))
    outs = prim.bind(*primals, *_flat(primals, terms, nonzero, order), **params)
    n = len(nonzero_out)
    return outs[:n], _rows(outs[n:], nonzero_out, order)


def _run_cond(prim, primals, terms, order, params):
    index, *operands = primals
    nonzero = _present(terms[1:])
    branches, nonzero_out = agree_on_outputs(lambda b, force: jet_jaxpr(b, order, nonzero, force), params["branches"])
    outs = prim.bind(index, *operands, *_flat(operands, terms[1:], nonzero, order),
                     **{**params, "branches": tuple(branches)})
    n = len(nonzero_out)
    return outs[:n], _rows(outs[n:], nonzero_out, order)


def _run_scan(prim, primals, terms, order, params):
    closed, num_consts, num_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
    n, n_ys = len(primals), len(closed.out_avals) - num_carry
    consts_nz, carry_nz, xs_nz = split(_present(terms), num_consts, num_carry)

    def derive(carry):
        result = jet_jaxpr(closed, order, consts_nz + carry + xs_nz, carry + [False] * n_ys)
        return result, result[1][:num_carry]
    (body, nonzero_out), carry_nz = carry_fixpoint(derive, carry_nz)
    a, b, m = sum(consts_nz) * order, sum(carry_nz) * order, num_carry + n_ys
    inputs = [*range(num_consts), *range(n, n + a), *range(num_consts, num_consts + num_carry),
              *range(n + a, n + a + b), *range(num_consts + num_carry, n), *range(n + a + b, len(body.in_avals))]
    outputs = [*range(num_carry), *range(m, m + b), *range(num_carry, m), *range(m + b, len(body.out_avals))]
    args = []
    for part, part_terms, part_nz in zip(split(primals, num_consts, num_carry), split(terms, num_consts, num_carry),
                                         (consts_nz, carry_nz, xs_nz)):
        args += [*part, *_flat(part, part_terms, part_nz, order)]
    outs = prim.bind(*args, **{**params, "jaxpr": reorder(body, inputs, outputs), "num_consts": num_consts + a,
                               "num_carry": num_carry + b, "linear": (False,) * len(args)})
    carry, carry_terms, ys, ys_terms = split(outs, num_carry, b, n_ys)
    return carry + ys, _rows(carry_terms + ys_terms, nonzero_out, order)


def _run_while(prim, primals, terms, order, params):
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts, carry = split(primals, nc, nb)
    _, consts_terms, carry_terms = split(terms, nc, nb)
    consts_nz = _present(consts_terms)

    def derive(carry_nz):
        return jet_jaxpr(params["body_jaxpr"], order, consts_nz + carry_nz, carry_nz)
    body, carry_nz = carry_fixpoint(derive, _present(carry_terms))
    a, n = sum(consts_nz) * order, len(carry)
    inputs = [*range(nb), *range(nb + n, nb + n + a), *range(nb, nb + n), *range(nb + n + a, len(body.in_avals))]
    cond = ignore_more_carries(params["cond_jaxpr"], tuple(body.out_avals[n:]))
    outs = prim.bind(
        *cond_consts, *body_consts, *_flat(body_consts, consts_terms, consts_nz, order),
        *carry, *_flat(carry, carry_terms, carry_nz, order), cond_nconsts=nc, cond_jaxpr=cond, body_nconsts=nb + a,
        body_jaxpr=reorder(body, inputs))
    return outs[:n], _rows(outs[n:], carry_nz, order)


# -- calls from the trace ------------------------------------------------------------------------------------------------

def _expand(trace: JetTrace, prim: Primitive, args: Sequence[Any], params: dict, run: Callable) -> list:
    """Series of the results: at once where the operands are complete, else order by order."""
    primals, order = trace.primals(args), trace.order_of(args)
    if trace.created is None:
        outs, terms = run(prim, primals, [terms_of(trace, x, order) for x in args], order, params)
        return trace.wrap(outs, order, lambda k, series: [None if t is None else t[k - 1] for t in terms])
    outs = prim.bind(*primals, **params)

    def following(k, series):
        terms = run(prim, primals, [terms_of(trace, x, k) for x in args], k, params)[1]
        return [None if t is None else t[k - 1] for t in terms]
    return trace.wrap(outs if prim.multiple_results else [outs], order, following)


def _call(trace: JetTrace, prim: Primitive, args: Sequence[Any], params: dict) -> list:
    """A call needs no order by order: inside rules its equations stand for themselves."""
    if trace.created is None:
        return _expand(trace, prim, args, params, _run_call)
    with context.Use(trace):
        return eval_jaxpr(params["jaxpr"].jaxpr, params["jaxpr"].consts, *args)


PROGRAMS: dict[Primitive, Callable] = {
    jit_p: _call, remat_p: _call,
    cond_p: partial(_expand, run=_run_cond), scan_p: partial(_expand, run=_run_scan),
    while_p: partial(_expand, run=_run_while)}


def run_user_rule(trace: JetTrace, prim: Primitive, args: Sequence[Any], params: dict) -> Any:
    """A rule from `rules.jet_rules`, which takes and gives derivatives."""
    rule = jet_rules[prim]

    def run(prim, primals, terms, order, params):
        series = [[instantiate(Zero.of(x))] * order if t is None else
                  [instantiate(Zero.of(x)) if c is None else times(c, math.factorial(k)) for k, c in enumerate(t, 1)]
                  for x, t in zip(primals, terms)]
        outs, out_series = rule(primals, series, **params)
        if not prim.multiple_results:
            outs, out_series = [outs], [out_series]
        return outs, [[over(c, math.factorial(k)) for k, c in enumerate(s, 1)] if isinstance(s, (list, tuple)) else None
                      for s in out_series]
    outs = _expand(trace, prim, args, params, run)
    return outs if prim.multiple_results else outs[0]
