"""Primitives that are a program and something said about it: where it runs, what it is called, in which order.

They transform alike: the derived program (its derivative, its batched form) is called with the same said about it. What
differs is the lowering, and what is said about derived programs.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ..representation import tree
from ..representation.aval import get_aval
from .batching import batch_jaxpr, moved
from .forward import jvp_jaxpr
from ..representation.jaxpr import ClosedJaxpr, dce, runs_its_program
from ..representation.primitive import Primitive, Zero, is_linear
from .reverse import linearize_jaxpr, transpose_jaxpr
from .split import EquationSplit, split_jaxpr
from ..traces.staging import trace_to_closed


# -- the rules of a call, by its program; ``call(args, closed, tangent)`` calls a derived program -------------------------

def jvp_of_call(call: Callable, closed: ClosedJaxpr, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list, list]:
    """Results and tangents of the program ``closed``: one call that gives both."""
    derivative, nonzero_out = jvp_jaxpr(closed, [not isinstance(t, Zero) for t in tangents])
    n = len(closed.out_avals)
    outs = call([*primals, *(t for t in tangents if not isinstance(t, Zero))], derivative, False)
    rest = iter(outs[n:])
    return outs[:n], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, nonzero_out)]


def linearize_call(call: Callable, closed: ClosedJaxpr, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list, list]:
    """The same by two calls: one gives results and residuals, the other is linear in the tangents."""
    lin = linearize_jaxpr(closed, [not isinstance(t, Zero) for t in tangents])
    outs = call(primals, lin.primal, False)
    live = [t for t in tangents if not isinstance(t, Zero)]
    rest = iter(call([*lin.residuals(primals, outs), *live], lin.tangent, True))
    return outs[:len(closed.out_avals)], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, lin.nonzero_out)]


def transpose_call(call: Callable, closed: ClosedJaxpr, cts: Sequence[Any], args: Sequence[Any]) -> list:
    """Cotangents of the linear arguments of the program ``closed``; None for the others."""
    backward, nonzero = transpose_jaxpr(closed, [is_linear(x) for x in args], [not isinstance(ct, Zero) for ct in cts])
    known = [x for x in args if not is_linear(x)]
    outs = iter(call([*known, *(ct for ct in cts if not isinstance(ct, Zero))], backward, True))
    flags = iter(nonzero)
    return [(next(outs) if next(flags) else Zero(x.aval)) if is_linear(x) else None for x in args]


def program_call(name: str, lower: Callable, derived: Callable = lambda params, closed, tangent: params) -> Primitive:
    """A primitive ``name`` whose parameter ``jaxpr`` is the program that it calls.

    Args:
      lower: ``lower(b, *values, jaxpr, **params)``, as for any primitive.
      derived: ``derived(params, closed, tangent) -> params`` for a derived program ``closed``; ``tangent`` says that it
        computes tangents or cotangents.
    """
    def call(args, params, closed, tangent=False):
        return prim.bind(*args, **derived({**params, "jaxpr": closed}, closed, tangent))

    def bound(params):
        return lambda args, closed, tangent: call(args, params, closed, tangent)

    def jvp(primals, tangents, **params):
        return jvp_of_call(bound(params), params["jaxpr"], primals, tangents)

    def linearize(primals, tangents, **params):
        return linearize_call(bound(params), params["jaxpr"], primals, tangents)

    def transpose(cts, *args, **params):
        return transpose_call(bound(params), params["jaxpr"], cts, args)

    def batch(axis, args, dims, **params):
        closed, out = batch_jaxpr(params["jaxpr"], axis, [d is not None for d in dims])
        outs = call([moved(x, d, 0) for x, d in zip(args, dims)], params, closed)
        return outs, [0 if b else None for b in out]

    def drop(eqn, used):
        closed = eqn.params["jaxpr"]
        small, reads = dce(closed.jaxpr, used)
        if not small.eqns and not any(used):
            return None
        small = ClosedJaxpr(small, closed.consts)
        return eqn.replace(invars=[v for v, r in zip(eqn.invars, reads) if r], effects=small.effects,
                           outvars=[v for v, u in zip(eqn.outvars, used) if u],
                           params=derived({**eqn.params, "jaxpr": small}, small, False))

    def split(unknown: Sequence[bool], params):
        parts = split_jaxpr(params["jaxpr"], unknown)
        if all(parts.out_unknown):
            return None
        late = [i for i, u in enumerate(unknown) if u]
        return EquationSplit(parts.out_unknown, [i for i, u in enumerate(unknown) if not u],
                             derived({**params, "jaxpr": parts.known}, parts.known, False), [*parts.residuals, *late],
                             derived({**params, "jaxpr": parts.rest}, parts.rest, True))

    prim = Primitive(
        name, multiple_results=True, cacheable=False, out_type=lambda *avals, jaxpr, **_: jaxpr.out_avals,
        effects=lambda *avals, jaxpr, **_: jaxpr.effects, jvp=jvp, linearize=linearize, transpose=transpose, batch=batch,
        lower=lower)
    prim.holds_program, prim.dce, prim.split, prim.interpret = True, drop, split, runs_its_program("jaxpr")
    return prim


def bind_function(prim: Primitive, fun: Callable, args: tuple, kwargs: dict, params: Callable[[ClosedJaxpr, Any], dict]) -> Any:
    """Trace ``fun(*args, **kwargs)`` and bind ``prim`` to its program, with ``params(program, structure of the result)``."""
    flat, in_tree = tree.flatten((args, kwargs))
    out_tree: list[Any] = []

    def on_leaves(*leaves):
        given, given_kwargs = tree.unflatten(in_tree, leaves)
        outs, structure = tree.flatten(fun(*given, **given_kwargs))
        out_tree[:] = [structure]
        return outs
    closed, consts = trace_to_closed(on_leaves, [get_aval(x) for x in flat])
    outs = prim.bind(*consts, *flat, jaxpr=closed, **params(closed, out_tree[0]))
    return tree.unflatten(out_tree[0], outs)


__all__ = ["bind_function", "program_call"]
