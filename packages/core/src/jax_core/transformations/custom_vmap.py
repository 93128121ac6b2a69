"""Functions with a batching rule of the user's own.

Inside another transformation a call is one equation that holds the function's program and the rule. Forward mode
differentiates the rule along with the program; reverse mode differentiates the program alone, as there is no transpose
of a user's rule to be had.
"""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from ..configuration import context
from ..representation import tree
from ..representation.aval import get_aval
from .custom_jvp import bind_arguments
from ..representation.arguments import signature_of
from .forward import jvp_flat, jvp_jaxpr
from ..representation.jaxpr import eval_jaxpr, runs_its_program
from ..representation.primitive import ProgramPrimitive, Zero, none
from ..representation.traits import Kind, Traits
from ..references.discharge import call_rule
from .reverse import linearize_jaxpr
from ..representation.source import describe_function, name_of
from ..traces.staging import trace_to_closed
from ..traces.structural import broadcast, instantiate, moved
from ..traces.trace import EVAL


class custom_vmap:
    """``fun`` whose behaviour under `vmap` is given by the user with `def_vmap`.

    Without a rule, `vmap` works as for any function.
    """

    fun: Callable
    vmap_rule: Callable | None

    def __init__(self, fun: Callable[..., Any]):
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule: Callable | None = None
        self.signature = signature_of(fun)

    def def_vmap(self, vmap_rule: Callable[..., tuple[Any, Any]]) -> Callable:
        """Set the rule ``(axis_size, in_batched, *args) -> (out, out_batched)``; returns it.

        ``in_batched`` is a list of pytrees of booleans like the arguments; mapped axes come first, in and out.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any):
        if context.state.trace is EVAL or self.vmap_rule is None:
            return self.fun(*args, **kwargs)
        args = tuple(bind_arguments(self.fun, self.signature, args, kwargs))
        flat, in_tree = tree.flatten(args)
        out_tree: list = []

        def flat_fun(*leaves):
            outs, structure = tree.flatten(self.fun(*tree.unflatten(in_tree, leaves)))
            out_tree[:] = [structure]
            return outs
        closed, consts = trace_to_closed(flat_fun, [get_aval(x) for x in flat])
        rule = functools.partial(_flat_rule, self, in_tree, out_tree[0], len(consts))
        outs = custom_vmap_call_p.bind(*consts, *flat, call=closed, rule=rule)
        return tree.unflatten(out_tree[0], outs)


def _flat_rule(call, in_tree, out_tree, n_consts, axis_size, batched, *args):
    """The user's rule on flat lists, its answer checked."""
    if any(batched[:n_consts]):
        raise ValueError(f"custom_vmap: {describe_function(call.fun)} closes over a value that is mapped; pass it as "
                         "an argument instead")
    in_batched = list(tree.unflatten(in_tree, batched[n_consts:]))
    result = call.vmap_rule(axis_size, in_batched, *tree.unflatten(in_tree, args[n_consts:]))
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"custom_vmap: the rule of {name_of(call.fun)} must return a pair (output, out_batched), got "
                        f"{type(result).__name__}")
    outs, structure = tree.flatten(result[0])
    flags, flag_tree = tree.flatten(result[1])
    if structure != out_tree:
        raise ValueError(f"custom_vmap: structure of the output of the rule, {structure}, does not match that of the "
                         f"original call, {out_tree}")
    if flag_tree != out_tree:
        raise ValueError(f"custom_vmap: structure of out_batched, {flag_tree}, does not match that of the output, "
                         f"{out_tree}")
    for x, mapped in zip(outs, flags):
        if mapped and (not np.shape(x) or np.shape(x)[0] != axis_size):
            raise ValueError(f"custom_vmap: the rule of {name_of(call.fun)} says that an output of shape {np.shape(x)} is "
                             f"batched, but its first axis is not of length {axis_size}")
    return outs, flags


def _batch(axis, args, dims, *, call, rule):
    args = [moved(x, d, 0) for x, d in zip(args, dims)]
    outs, flags = rule(axis.size, [d is not None for d in dims], *args)
    return outs, [0 if b else None for b in flags]


def _jvp(primals, tangents, *, call, rule):
    nonzero = [not isinstance(t, Zero) for t in tangents]
    closed, nonzero_out = jvp_jaxpr(call, nonzero)
    n, n_out = len(primals), len(call.out_avals)

    def jvp_rule(axis_size, batched, *args):
        given = iter(zip(args[n:], batched[n:]))
        flags, values, pushed = [], [], []
        for x, b, nz in zip(args[:n], batched[:n], nonzero):
            t, tb = next(given) if nz else (Zero.of(x), False)
            both = b or tb
            values.append(x if b or not both else broadcast(x, axis_size))
            pushed.append(t if tb or not both or isinstance(t, Zero) else broadcast(t, axis_size))
            flags.append(both)
        out_flags: list[bool] = []

        def run(*xs):
            outs, found = rule(axis_size, flags, *xs)
            out_flags[:] = found
            return outs
        pushed = [Zero.of(x) if isinstance(t, Zero) else t for x, t in zip(values, pushed)]
        outs, out_tangents = jvp_flat(run, values, pushed)
        kept = [(instantiate(t), b) for t, b, nz in zip(out_tangents, out_flags, nonzero_out) if nz]
        return [*outs, *(t for t, _ in kept)], [*out_flags, *(b for _, b in kept)]
    outs = custom_vmap_call_p.bind(*primals, *(t for t in tangents if not isinstance(t, Zero)), call=closed,
                                   rule=jvp_rule)
    rest = iter(outs[n_out:])
    return outs[:n_out], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, nonzero_out)]


def _linearize(primals, tangents, *, call, rule):
    lin = linearize_jaxpr(call, [not isinstance(t, Zero) for t in tangents])
    n = len(call.out_avals)
    outs = eval_jaxpr(lin.primal.jaxpr, lin.primal.consts, *primals)
    residuals = lin.residuals(primals, outs)
    pushed = iter(eval_jaxpr(lin.tangent.jaxpr, lin.tangent.consts, *residuals,
                             *(t for t in tangents if not isinstance(t, Zero))))
    return outs[:n], [next(pushed) if nz else Zero.of(x) for x, nz in zip(outs, lin.nonzero_out)]


custom_vmap_call_p = ProgramPrimitive(
    "custom_vmap_call",
    out_type=lambda *avals, call, rule: call.out_avals,
    effects=lambda *avals, call, rule: call.effects,
    impl=lambda *args, call, rule: eval_jaxpr(call.jaxpr, call.consts, *args),
    jvp=_jvp, linearize=_linearize, transpose=none("custom_vmap_call is written out before it is transposed"),
    batch=_batch, lower=lambda b, *xs, call, rule: b.jaxpr(call, *xs),
    split=none("the rule for vmap is for the whole call"), dce=none("the rule for vmap gives all results"),
    discharge=call_rule("call"), interpret=runs_its_program("call"), traits=Traits(Kind.CALL))
