"""Series through primitives that hold programs: jit, checkpoint, cond, scan and while_loop.

The program is expanded as a whole: it gets and gives, beside each value, its coefficients. Loops carry them along, and
their conditions see values only. While a JVP rule is running (see `trace`) a program's operands may be series that are
not complete yet, so it is expanded to the order that is asked for, and to no higher one.
"""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core.configuration import context
from jax_core.programs.jit_primitive import jit_p
from jax_core.representation.jaxpr import ClosedJaxpr, eval_jaxpr
from jax_core.representation.primitive import Primitive, Zero
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import instantiate
from jax_core.transformations.checkpoint import remat_p

from ..lax.control_flow.common import carry_fixpoint, reorder, split
from ..lax.control_flow.cond import _agree_on_outputs as agree_on_outputs, cond_p
from ..lax.control_flow.scan import scan_p
from ..lax.control_flow.while_loop import _ignore_more_carries as ignore_more_carries, while_p
from .trace import PROGRAMS, JetTrace, JetTracer, Terms, expand, terms_of

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def _nth(terms: Terms) -> Callable[[int], Any]:
    return lambda k: None if terms is None else terms[k - 1]


def jet_flat(fun: Callable[..., PyTree], primals: Sequence[object], terms: Sequence[Terms], order: int) -> tuple[list, list[Terms]]:
    """Values and coefficients of the flat function ``fun``."""
    trace = JetTrace(context.state.trace, order)
    inputs = [x if t is None or order == 0 else JetTracer(trace, x, order, _nth(t))
              for x, t in zip(primals, terms)]
    with context.Use(trace):
        outs = fun(*inputs)
    return trace.primals(outs), [terms_of(trace, x, order) for x in outs]


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


def _call(trace: JetTrace, prim: Primitive, args: Sequence[Any], params: dict) -> list:
    """A call needs no order by order: inside rules its equations stand for themselves."""
    if trace.created is None:
        return expand(trace, prim, args, params, _run_call)
    with context.Use(trace):
        return eval_jaxpr(params["jaxpr"].jaxpr, params["jaxpr"].consts, *args)


PROGRAMS.update({
    jit_p: _call, remat_p: _call,
    cond_p: partial(expand, run=_run_cond), scan_p: partial(expand, run=_run_scan),
    while_p: partial(expand, run=_run_while)})
