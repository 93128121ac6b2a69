"""`remat_opt`: the forward function of a custom_vjp with ``optimize_remat``, which is the plain function where its residuals
are not kept.

A forward function computes results and residuals together, often by another algorithm than the function itself. Under
`checkpoint` the first pass throws the residuals away; dead-code elimination then puts the plain function in its place.
"""
from __future__ import annotations

from typing import Callable, Sequence

from ..representation.aval import get_aval
from ..representation.jaxpr import ClosedJaxpr, Var, dce
from ..traces.staging import trace_to_closed
from ..traces.structural import moved
from .batching import batch_jaxpr
from .program_call import narrow_call, program_call


def _derived(params, closed, *_):
    return {**params, "fun_jaxpr": None}


def _dce(eqn, used):
    fun, count = eqn.params["fun_jaxpr"], eqn.params["num_res"]
    if fun is None or any(used[:count]):
        return narrow_call(eqn, used, _derived)
    if not any(used) and not eqn.effects:
        return None
    small, reads = dce(fun.jaxpr, used[count:])
    return eqn.replace(
        invars=[v for v, r in zip(eqn.invars, reads) if r], outvars=[v for v, u in zip(eqn.outvars, used) if u],
        params=dict(jaxpr=ClosedJaxpr(small, fun.consts), fun_jaxpr=None, num_res=0), effects=small.effects)


def _batch(axis, args, dims, *, jaxpr, fun_jaxpr, num_res):
    mapped = [d is not None for d in dims]
    closed, _ = batch_jaxpr(jaxpr, axis, mapped, True)
    fun = None if fun_jaxpr is None else batch_jaxpr(fun_jaxpr, axis, mapped, True)[0]
    outs = remat_opt_p.bind(*(moved(x, d, 0) for x, d in zip(args, dims)), jaxpr=closed, fun_jaxpr=fun, num_res=num_res)
    return outs, [0] * len(outs)


remat_opt_p = program_call(
    "remat_opt", lower=lambda b, *xs, jaxpr, **_: b.jaxpr(jaxpr, *xs),
    derived=_derived, dce=_dce, batch=_batch)
"""``jaxpr``: from the operands to residuals and results; ``fun_jaxpr``: to the results alone, None for derived programs."""


def forward(fun: Callable, fwd: Callable, primals: Sequence[object]) -> tuple[list, list, object]:
    """What ``fwd`` returns, so that ``fun`` stands in where the residuals are not used.

    Args:
      fun: flat function of the primals that returns a sequence of results.
      fwd: flat function that returns ``(residuals, results, facts)``.
    """
    found: list = []
    avals = [get_aval(x) for x in primals]

    def both(*args):
        residuals, outs, facts = fwd(args)
        found[:] = [len(residuals), facts]
        return [*residuals, *outs]
    closed, consts = trace_to_closed(both, avals)
    plain, plain_consts = trace_to_closed(fun, avals)
    extra = [[Var(get_aval(x)) for x in group] for group in (consts, plain_consts)]
    closed = ClosedJaxpr(closed.jaxpr.replace(
        invars=closed.jaxpr.invars[:len(consts)] + extra[1] + closed.jaxpr.invars[len(consts):]), closed.consts)
    plain = ClosedJaxpr(plain.jaxpr.replace(invars=extra[0] + plain.jaxpr.invars), plain.consts)
    count, facts = found
    outs = remat_opt_p.bind(*consts, *plain_consts, *primals, jaxpr=closed, fun_jaxpr=plain, num_res=count)
    return outs[:count], outs[count:], facts
