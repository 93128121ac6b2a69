"""The primitive `jit`: a nested call of a jitted function as one equation, and its rules."""
from __future__ import annotations

import weakref
from typing import Any, Sequence

from .. import backends
from ..interfaces import LowerSpec
from ..references.discharge import any_refs, discharged, pure
from ..references.primitives import cell_of
from ..representation import high, tree
from ..representation.aval import AbstractRef
from ..representation.jaxpr import ClosedJaxpr
from ..representation.splits import with_lanes, without_open_axes
from ..representation.traits import Kind, Traits
from ..traces import nans
from ..traces.trace import Tracer, escaped
from ..transformations.batching import batch_jaxpr, dims_of, in_front
from ..transformations.high_primitives import on_arrays
from ..transformations.program_call import program_call
from .call import Call, compile_program, fast_call
from .options import Inline, JitOptions, asked_placements, placements_of_results


def jit_params(closed: ClosedJaxpr, name: str, donated: tuple, options: JitOptions | None = None,
               call: Call | None = None) -> dict:
    """Parameters of a `jit` equation."""
    placed = options is not None and (options.in_shardings is not None or options.out_shardings is not None or options.whole)
    return dict(jaxpr=closed, name=name, donated_invars=donated,
                in_shardings=_nested_placements(options, call, closed, True) if placed else None,
                out_shardings=_nested_placements(options, call, closed, False) if placed else None,
                in_layouts=None, out_layouts=None, ctx_mesh=None,
                keep_unused=options is not None and options.keep_unused, inline=options.inline if options is not None else Inline.AUTO,
                compiler_options_kvs=options.compiler_options if options is not None else ())


def _nested_placements(options, call, closed, inputs):
    if inputs:
        flat = asked_placements(options.in_shardings, call.in_tree, call.avals, "in_shardings", call.fun)
        return None if flat is None else (None,) * (len(closed.in_avals) - len(flat)) + flat
    program = call.program()
    block = backends.get().placements.of_block() if options.in_block else None
    return placements_of_results(options, program.out_tree, closed.out_avals, call.fun, block)


def _derived_params(params: dict, closed: ClosedJaxpr, tangent: bool, inputs: Any, outputs: Any) -> dict:
    """Parameters for a program derived from that of ``params``: placements and donation stay with operands and results."""
    donated = (False,) * len(closed.in_avals) if inputs is None else _chosen(params["donated_invars"], inputs, False, closed.in_avals)
    return {**params, "donated_invars": donated, "in_shardings": _placements(params["in_shardings"], inputs, closed.in_avals),
            "out_shardings": _placements(params["out_shardings"], outputs, closed.out_avals)}


def _placed_alike(params: dict, original: Any, ins: Sequence[Any], outs: Sequence[Any]) -> dict:
    """Tangents and cotangents lie as the values that they are of."""
    asked = original["in_shardings"], original["out_shardings"]
    if asked == (None, None):
        return params

    def of(roles, count):
        found = [None if role is None or asked[role[0]] is None else asked[role[0]][role[1]] for role in roles]
        return (*found, *[None] * (count - len(found)))
    closed = params["jaxpr"]
    return {**params, "in_shardings": of(ins, len(closed.in_avals)), "out_shardings": of(outs, len(closed.out_avals))}


def _placements(placements, flags, avals):
    return None if placements is None or flags is None else _chosen(placements, flags, None, avals)


def _chosen(values, flags, other, avals):
    """Those of ``values`` whose flag is set, and ``other`` for whatever is new behind them."""
    kept = tuple(v for v, f in zip(values, flags) if f)
    return (*kept, *[other] * (len(avals) - len(kept)))


def _jit_impl(*args, **params):
    closed = params["jaxpr"]
    key = ("callable", params["name"], params["donated_invars"], params["in_shardings"], params["out_shardings"],
           params["compiler_options_kvs"])
    call = closed.memo(key, lambda: _program_callable(closed, params))
    return call(*args)


def _program_callable(closed, params):
    if high.holds_high(closed):
        return _callable_on_arrays(closed, params)
    if any_refs(closed.in_avals):
        return _callable_on_refs(closed, params)
    spec = LowerSpec(params["name"], params["donated_invars"], params["keep_unused"], _decided(params["in_shardings"]),
                     _decided(params["out_shardings"]), None, None, params["compiler_options_kvs"])
    out_tree = tree.structure([0] * len(closed.out_avals))
    program = weakref.ref(closed)  # the callable is kept by the program, so it must not keep the program

    def miss(*args):
        for x in args:
            if isinstance(x, Tracer):
                raise escaped(x)
        alive = program()
        run = compile_program(alive, spec).execute(list(args))
        if nans.watching():
            nans.check_program(pure(alive), args, run.results, params["name"])
        return run.results, fast_call(run, out_tree, len(args))
    return backends.get().dispatcher(miss, miss, (), (), params["name"])


def _callable_on_arrays(closed, params):
    """Runs a program on high-level types by that on the arrays which represent them."""
    in_avals, out_avals, program = closed.in_avals, closed.out_avals, on_arrays(closed)
    inner = {**params, "jaxpr": program, "donated_invars": (False,) * len(program.in_avals), "in_shardings": None, "out_shardings": None}

    def call(*args):  # it is kept by the program, so it must not keep the program
        return high.lift(out_avals, jit_p.bind(*high.lower(in_avals, args), **inner))
    return call


def _callable_on_refs(closed, params):
    """Runs a program on references made outside of transformations: the memory of those that it changes is used again."""
    refs = [type(a) is AbstractRef for a in closed.in_avals]
    changed, written = discharged(closed, refs)
    inner = _derived_params({**params, "jaxpr": changed}, changed, False, [True] * len(refs), [True] * len(closed.out_avals))
    donated = tuple(d and not r or i in written for i, (d, r) in enumerate(zip(inner["donated_invars"], refs)))
    donating, count = {**inner, "donated_invars": donated}, len(closed.out_avals)

    def call(*args):  # it is kept by the program, so it must not keep the program
        values = [cell_of(jit_p.name, x) if r else x for x, r in zip(args, refs)]
        cells = [values[i] for i in written]
        again = nans.watching()  # whether the arguments are read again after the call
        for i, r in enumerate(refs):
            if r:
                values[i] = values[i].take() if i in written and not again else values[i].value
        outs = _jit_impl(*values, **(inner if again else donating))
        for cell, value in zip(cells, outs[count:]):
            cell.give(value)
        return outs[:count]
    return call


def _jit_lower(b, *xs, jaxpr, name, in_shardings, out_shardings, inline, **_):
    """A call; the placements asked for hold inside an outer program too."""
    xs = _placed(b, xs, in_shardings)
    if inline is Inline.JAX_LATE:
        with b.within(f"jit({name})"):
            outs = b.jaxpr(jaxpr, *xs)
    else:
        outs = b.call(name, jaxpr, *xs, late=inline is Inline.XLA_LATE)
    return _placed(b, outs, out_shardings)


def _placed(b, xs, placements):
    if placements is None:
        return xs
    placements = [getattr(p, "sharding", p) for p in placements]  # of a format; storage inside is the compiler's
    return [b.sharding_constraint(x, p) if hasattr(p, "num_devices") else x for x, p in zip(xs, placements)]


def _jit_batch(axis, args, dims, **params):
    """What was donated still is; placements are those of each lane."""
    args, batched = in_front(args, dims)
    closed, out = batch_jaxpr(params["jaxpr"], axis, batched)
    asked = {"in_shardings": _of_lanes(params["in_shardings"], axis, batched), "out_shardings": _of_lanes(params["out_shardings"], axis, out)}
    return jit_p.bind(*args, **{**params, "jaxpr": closed, **asked}), dims_of(out)


def _of_lanes(placements, axis, batched):
    """The placements of values with the mapped axis in front, of those that are ``batched``."""
    if placements is None:
        return None
    return tuple(with_lanes(p, axis.spmd_name if axis.spmd_name is not None else axis.explicit_mesh_axis) if b else p
                 for p, b in zip(placements, batched))


def _decided(placements):
    """Those for the inputs or results of a program of its own, which leave no axis to the compiler."""
    return None if placements is None else tuple(map(without_open_axes, placements))


def _nothing(flags: tuple | None) -> bool:
    """Whether nothing is said of any argument or result."""
    return flags is None or not any([f is not None and f is not False for f in flags])


_NOT_PRINTED = {"ctx_mesh": ..., "compiler_options_kvs": (), "donated_invars": _nothing, "in_shardings": _nothing, "out_shardings": _nothing,
                "inline": Inline.AUTO, "keep_unused": False, "in_layouts": ..., "out_layouts": ...}

jit_p = program_call("jit", _jit_lower, _derived_params, said=_placed_alike, impl=_jit_impl, batch=_jit_batch, takes_refs=True, transparent=True,
                     traits=Traits(Kind.CALL, hidden=_NOT_PRINTED))
