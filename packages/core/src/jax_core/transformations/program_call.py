"""Primitives that are a program and something said about it: where it runs, what it is called, in which order.

They transform alike: the derived program (its derivative, its batched form) is called with the same said about it. What
differs is the lowering, and what is said about derived programs.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ..references.discharge import call_rule
from ..representation import tree
from ..representation.aval import get_aval
from ..representation.effects import operand_effects
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, dce
from ..representation.primitive import Primitive, ProgramPrimitive, Zero, is_linear
from ..representation.splits import cotangent_type
from ..traces.staging import trace_to_closed
from . import logs
from .batching import batch_jaxpr, dims_of, in_front
from .forward import jvp_jaxpr
from .reverse import linearize_jaxpr, transpose_into_refs, transpose_jaxpr
from .splitting import EquationSplit, split_jaxpr

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue
    from .batching import AxisData


# -- the rules of a call, by its program; ``call(args, closed, tangent, ins, outs)`` calls a derived program ---------------
#
# ``ins`` and ``outs`` say for each operand and result whose it is: ``(0, i)`` for the i-th operand of the call, ``(1, i)`` for its i-th result (a value,
# its tangent or its cotangent), None for what is new.

def _roles(which: int, flags: Sequence[bool]) -> list[tuple[int, int]]:
    return [(which, i) for i, f in enumerate(flags) if f]


def jvp_of_call(call: Callable, closed: ClosedJaxpr, primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
    """Results and tangents of the program ``closed``: one call that gives both."""
    nonzero = [not isinstance(t, Zero) for t in tangents]
    derivative, nonzero_out = jvp_jaxpr(closed, nonzero)
    n = len(closed.out_avals)
    outs = call([*primals, *(t for t in tangents if not isinstance(t, Zero))], derivative, False,
                [*_roles(0, [True] * len(primals)), *_roles(0, nonzero)], [*_roles(1, [True] * n), *_roles(1, nonzero_out)])
    rest = iter(outs[n:])
    return outs[:n], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, nonzero_out)]


def linearize_call(call: Callable, closed: ClosedJaxpr, primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
    """The same by two calls: one gives results and residuals, the other is linear in the tangents."""
    nonzero = [not isinstance(t, Zero) for t in tangents]
    lin = linearize_jaxpr(closed, nonzero)
    outs = call(primals, lin.primal, False, _roles(0, [True] * len(primals)), _roles(1, [True] * len(closed.out_avals)))
    live, residuals = [t for t in tangents if not isinstance(t, Zero)], lin.residuals(primals, outs)
    rest = iter(call([*residuals, *live], lin.tangent, True, [*[None] * len(residuals), *_roles(0, nonzero)], _roles(1, lin.nonzero_out)))
    return outs[:len(closed.out_avals)], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, lin.nonzero_out)]


def transpose_call(call: Callable, closed: ClosedJaxpr, cts: Sequence[Any], args: Sequence[Any]) -> list:
    """Cotangents of the linear arguments of the program ``closed``; None for the others."""
    linear, given = [is_linear(x) for x in args], [not isinstance(ct, Zero) for ct in cts]
    backward, nonzero, logged = transpose_jaxpr(closed, linear, given)
    known = [x for x in args if not is_linear(x)]
    of_linear = [role for role, there in zip(_roles(0, linear), nonzero) if there]
    outs = iter(logs.rejoin(call([*known, *(ct for ct in cts if not isinstance(ct, Zero))], backward, True,
                                 [*_roles(0, [not x for x in linear]), *_roles(1, given)],
                                 of_linear if len(of_linear) == len(backward.out_avals) else []), logged))
    flags = iter(nonzero)
    return [(next(outs) if next(flags) else Zero(cotangent_type(x.aval))) if is_linear(x) else None for x in args]


def accumulate_call(call: Callable, closed: ClosedJaxpr, refs: Sequence[Any], cts: Sequence[Any], args: Sequence[Any]) -> list | None:
    """`transpose_call`, where the cotangents of arguments that have a reference in ``refs`` are added to that."""
    if logs.wanted():
        return None
    linear, given = [is_linear(x) for x in args], [not isinstance(ct, Zero) for ct in cts]
    found = transpose_into_refs(closed, [None if r is None else get_aval(r) for r in refs], linear, given)
    if found is None:
        return None
    backward, nonzero = found
    there, known = [r for r in refs if r is not None], [x for x in args if not is_linear(x)]
    outs = iter(call([*there, *known, *(ct for ct in cts if not isinstance(ct, Zero))], backward, True,
                     [*[None] * len(there), *_roles(0, [not x for x in linear]), *_roles(1, given)], []))
    flags = iter(nonzero)
    return [(next(outs) if next(flags) else Zero(cotangent_type(x.aval))) if is_linear(x) else None for x in args]


def _same(params: dict, closed: ClosedJaxpr, tangent: bool, inputs: Any, outputs: Any) -> dict:
    """The default for ``derived``: the same is said of every derived program."""
    return params


def _as_derived(params: dict, original: Mapping[str, object], ins: Sequence[Any], outs: Sequence[Any]) -> dict:
    """The default for ``said``: nothing more."""
    return params


def program_call(name: str, lower: Callable, derived: Callable = _same, said: Callable = _as_derived, **rules: Any) -> ProgramPrimitive:
    """A primitive ``name`` whose parameter ``jaxpr`` is the program that it calls.

    Args:
      lower: ``lower(b, *values, jaxpr, **params)``, as for any primitive.
      derived: ``derived(params, closed, tangent, inputs, outputs) -> params`` for a derived program ``closed``, which is
        ``params["jaxpr"]`` already. ``tangent`` says that it computes tangents or cotangents; ``inputs`` and ``outputs`` which
        operands and results of the original it has, as flags (those that are new come last), None where they are others.
      said: ``said(params, original, ins, outs) -> params`` for a program of derivatives: what is said of it, where ``original`` says it of
        the operands and results that ``ins`` and ``outs`` name (as above; those that are missing at the end are new).
      rules: rules in place of those of a call, or besides them.
    """
    def call(args, params: Mapping[str, object], closed, tangent=False, inputs=None, outputs=None):
        return prim.bind(*args, **derived({**params, "jaxpr": closed}, closed, tangent, inputs, outputs))

    def bound(params: dict):
        return lambda args, closed, tangent, ins, outs: prim.bind(*args, **said(
            derived({**params, "jaxpr": closed}, closed, tangent, None, None), params, ins, outs))

    def jvp(primals, tangents, **params):
        return jvp_of_call(bound(params), params["jaxpr"], primals, tangents)

    def linearize(primals, tangents, **params):
        return linearize_call(bound(params), params["jaxpr"], primals, tangents)

    def transpose(cts, *args, **params):
        return transpose_call(bound(params), params["jaxpr"], cts, args)

    def accumulate(refs, cts, args, params: dict):
        return accumulate_call(bound(params), params["jaxpr"], refs, cts, args)

    def batch(axis: AxisData, args, dims: Sequence[int | None], **params):
        args, batched = in_front(args, dims)
        closed, out = batch_jaxpr(params["jaxpr"], axis, batched)
        return call(args, params, closed), dims_of(out)

    def split(unknown, params: dict):
        parts = split_jaxpr(params["jaxpr"], unknown)
        if all(parts.out_unknown):
            return None
        late, early = [i for i, u in enumerate(unknown) if u], [i for i, u in enumerate(unknown) if not u]
        of_known, of_rest = (derived({**params, "jaxpr": each}, each, rest, None, None) for each, rest in ((parts.known, False), (parts.rest, True)))
        return EquationSplit(
            parts.out_unknown, early, said(of_known, params, _roles(0, [not u for u in unknown]), _roles(1, [not u for u in parts.out_unknown])),
            [*parts.residuals, *late], said(of_rest, params, [*[None] * len(parts.residuals), *_roles(0, unknown)], _roles(1, parts.out_unknown)))

    def discharge(params: dict, closed: ClosedJaxpr):
        outputs = [True] * len(params["jaxpr"].out_avals)
        return derived({**params, "jaxpr": closed}, closed, False, [True] * len(closed.in_avals), outputs)

    of_a_call: dict[str, Any] = dict(
        out_type=lambda *avals, jaxpr, **_: jaxpr.out_avals, effects=lambda *avals, jaxpr, **_: operand_effects(jaxpr),
        jvp=jvp, linearize=linearize, transpose=transpose, batch=batch, dce=lambda eqn, used: narrow_call(eqn, used, derived), split=split,
        discharge=call_rule("jaxpr", discharge), program="jaxpr")
    if rules.get("takes_refs"):
        of_a_call["accumulate"] = accumulate
    prim = ProgramPrimitive(name, lower=lower, **{**of_a_call, **rules})
    return prim


def narrow_call(eqn: JaxprEqn, used: Sequence[bool], derived: Callable = _same) -> JaxprEqn | None:
    """The equation of a call without the results that are not ``used``, and without what only they need."""
    closed = eqn.params["jaxpr"]
    small, reads = closed.memo(("dce", tuple(used)), lambda: _narrowed(closed, used))
    if not small.eqns and not any(used):
        return None
    return eqn.replace(invars=[v for v, r in zip(eqn.invars, reads) if r], effects=small.effects,
                       outvars=[v for v, u in zip(eqn.outvars, used) if u],
                       params=derived({**eqn.params, "jaxpr": small}, small, False, reads, used))


def _narrowed(closed, used):
    small, reads = dce(closed.jaxpr, used)
    return ClosedJaxpr(small, closed.consts), reads


def bind_function(prim: Primitive, fun: Callable, args: tuple, kwargs: dict, params: Callable[[ClosedJaxpr, Any], dict],
                  seen_as: Callable[[AbstractValue], AbstractValue] = lambda aval: aval) -> Any:
    """Trace ``fun(*args, **kwargs)`` and bind ``prim`` to its program, with ``params(program, structure of the result)``.

    ``seen_as`` gives the type that the function sees of an argument.
    """
    flat, in_tree = tree.flatten((args, kwargs))
    out_tree: list[Any] = []

    def on_leaves(*leaves):
        given, given_kwargs = tree.unflatten(in_tree, leaves)
        outs, structure = tree.flatten(fun(*given, **given_kwargs))
        out_tree[:] = [structure]
        return outs
    closed, consts = trace_to_closed(on_leaves, [seen_as(get_aval(x)) for x in flat])
    outs = prim.bind(*consts, *flat, jaxpr=closed, **params(closed, out_tree[0]))
    return tree.unflatten(out_tree[0], outs)


__all__ = ["bind_function", "program_call"]
