"""Functions with a batching rule of the user's own.

Inside another transformation a call is one equation that holds the function's program and the rule. Forward mode
differentiates the rule along with the program; reverse mode differentiates the program alone, as there is no transpose
of a user's rule to be had.
"""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from .. import extension_points
from ..configuration import context
from ..references.discharge import call_rule
from ..representation import tree
from ..representation.arguments import check_callable, run_rule, signature_of
from ..representation.aval import described_value, get_aval
from ..representation.jaxpr import eval_jaxpr
from ..representation.primitive import ProgramPrimitive, Zero, none
from ..representation.source import describe_function, name_of
from ..representation.traits import Kind, Traits
from ..traces.staging import trace_to_closed
from ..traces.structural import instantiate, moved
from ..traces.trace import EVAL
from .batching import AxisData, batch_fun
from .custom_jvp import Wrapping, bind_arguments
from .forward import jvp_flat, jvp_jaxpr
from .reverse import linearize_jaxpr


class custom_vmap(Wrapping):
    """``fun`` whose behaviour under `vmap` is given by the user with `def_vmap`.

    It cannot be called before a rule is set.

    >>> @jax.custom_batching.custom_vmap
    ... def total(x):
    ...     return x.sum()
    >>> @total.def_vmap
    ... def _(axis_size, in_batched, x):
    ...     return x.sum(axis=1), True
    >>> jax.vmap(total)(jnp.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """

    fun: Callable
    vmap_rule: Callable | None

    def __init__(self, fun: Callable[..., Any]):
        check_callable("custom_vmap", fun)
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
        if self.vmap_rule is None:
            raise AttributeError(f"custom_vmap: no rule is set for {name_of(self.fun)}; set one with @{name_of(self.fun)}.def_vmap")
        if context.state.trace is EVAL:
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
    rule = f"the rule {name_of(call.vmap_rule)} of {name_of(call.fun)}"
    in_batched = list(tree.unflatten(in_tree, batched[n_consts:]))
    result = run_rule(call.vmap_rule, "custom_vmap calls the rule with axis_size, in_batched and the arguments of the function", axis_size, in_batched,
                      *tree.unflatten(in_tree, args[n_consts:]))
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        wrong_length = isinstance(result, (tuple, list)) or np.ndim(result) > 0  # as Python says of `a, b = result`
        raise (ValueError if wrong_length else TypeError)(
            f"custom_vmap: {rule} must return a pair (output, out_batched), got {described_value(result)}")
    outs, structure = tree.flatten(result[0])
    flags, flag_tree = tree.flatten(result[1])
    if structure != out_tree:
        raise ValueError(f"custom_vmap: {rule} must return an output of the structure that {name_of(call.fun)} returns, {out_tree}, "
                         f"got {structure}")
    if flag_tree != out_tree:
        raise ValueError(f"custom_vmap: {rule} must return as out_batched a bool for each part of the output, in its structure "
                         f"{out_tree}, got {flag_tree}")
    for x, mapped in zip(outs, flags):
        if mapped and (not np.shape(x) or np.shape(x)[0] != axis_size):
            raise ValueError(f"custom_vmap: {rule} says that an output of shape {np.shape(x)} is "
                             f"batched, but its first axis is not of length {axis_size}")
    return outs, flags


def _batch(axis, args, dims, *, call, rule):
    args = [moved(x, d, 0) for x, d in zip(args, dims)]
    outs, flags = rule(axis.size, [d is not None for d in dims], *args)
    return outs, [0 if b else None for b in flags]


def _jvp(primals, tangents, *, call, rule):
    """The rule is differentiated along with the program. It gets those operands as mapped whose value and tangent both are; where
    one of the two alone is, the derivative of the rule is mapped over it, and the rule sees one lane.
    """
    nonzero = [not isinstance(t, Zero) for t in tangents]
    closed, nonzero_out = jvp_jaxpr(call, nonzero)
    n, n_out = len(primals), len(call.out_avals)

    def jvp_rule(axis_size, batched, *args):
        given = iter(batched[n:])
        tangent_batched = [next(given) if nz else b for b, nz in zip(batched, nonzero)]
        both = [b and tb for b, tb in zip(batched, tangent_batched)]
        alone = [b and not f for b, f in zip(batched[:n], both)] + [
            tb and not f for tb, f, nz in zip(tangent_batched, both, nonzero) if nz]
        out_flags: list[bool] = []

        def derivative(*xs):
            rest = iter(xs[n:])
            pushed = [next(rest) if nz else Zero.of(x) for x, nz in zip(xs, nonzero)]

            def run(*ys):
                outs, found = rule(axis_size, both, *ys)
                out_flags[:] = found
                return outs
            outs, out_tangents = jvp_flat(run, xs[:n], pushed)
            return [*outs, *(instantiate(t) for t, nz in zip(out_tangents, nonzero_out) if nz)]
        if not any(alone):
            outs, dims = derivative(*args), [None] * (n_out + sum(nonzero_out))
        else:
            mapped, out_dims = batch_fun(derivative, AxisData(None, axis_size), [0 if a else None for a in alone])
            outs, dims = mapped(*args), out_dims()
        flags = [*out_flags, *(b for b, nz in zip(out_flags, nonzero_out) if nz)]
        placed = [_own_lane(moved(x, d, 0), f, axis_size) if d is not None else x for x, d, f in zip(outs, dims, flags)]
        return placed, [f or d is not None for d, f in zip(dims, flags)]
    outs = custom_vmap_call_p.bind(*primals, *(t for t in tangents if not isinstance(t, Zero)), call=closed,
                                   rule=jvp_rule)
    rest = iter(outs[n_out:])
    return outs[:n_out], [next(rest) if nz else Zero.of(x) for x, nz in zip(outs, nonzero_out)]


def _own_lane(x, also_batched: bool, size: int):
    """``x``, mapped over its first axis; where the rule mapped it too, over its second, each lane with its own result."""
    if not also_batched:
        return x
    run, out_dims = batch_fun(lambda row, i: [extension_points.array_methods.get()["__getitem__"](row, i)], AxisData(None, size), [0, 0])
    outs = run(x, np.arange(size))
    return moved(outs[0], out_dims()[0], 0)


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
    discharge=call_rule("call"), program="call", traits=Traits(Kind.CALL))
