"""Functions with a reverse-mode rule of the user's own: a forward function that saves residuals, and a backward one.

Under differentiation the forward function runs and one linear equation, `custom_lin`, goes on the tape; its transpose
rule is the user's backward function. Forward mode through it has no meaning and says so.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Sequence

from ..configuration import context, flags
from ..references.discharge import call_rule, custom_rule
from ..representation import dtypes, splits, tree, tree_nodes
from ..representation.arguments import check_callable, run_rule, signature_of
from ..representation.aval import ShapedArray, aval_of_type, described_value, get_aval
from ..representation.effects import operand_effects, refuse_effects
from ..representation.errors import UnexpectedTracerError
from ..representation.jaxpr import eval_jaxpr
from ..representation.literals import typed
from ..representation.primitive import Primitive, ProgramPrimitive, Zero, none
from ..representation.source import name_of
from ..representation.splits import cotangent_type
from ..representation.tracebacks import api_boundary
from ..representation.traits import Kind, Traits
from ..representation.tree import map as _map
from ..representation.typing import ArrayLike, PyTree
from ..traces.staging import trace_to_closed
from ..traces.structural import instantiate, matchaxis, reduce_sum
from ..traces.trace import Tracer
from . import accumulators, custom_vjp_remat, logs
from .batching import batch_fun, mapped_aval, unmapped_aval
from .custom_jvp import (
    _HANDLED,
    MappedResults,
    SymbolicZero,
    Wrapping,
    as_typed,
    batch_all_mapped,
    bind_arguments,
    check_nondiff,
    named_as,
    narrowed,
)
from .forward import closed_over, has_tangent
from .manual import settled
from .pullback import shown


class CustomVJPPrimal:
    """What a forward function with ``symbolic_zeros`` gets: the ``value``, and whether it is ``perturbed``."""

    __slots__ = ("value", "perturbed")

    def __init__(self, value: ArrayLike, perturbed: bool):
        self.value, self.perturbed = value, perturbed


class _Saved(NamedTuple):
    """What a backward function must know of its forward call: the structure of the residuals, and which primals are perturbed."""

    residuals: tree.PyTreeDef
    perturbed: tuple[bool, ...]


class CustomVjpCall:
    """A flat function with its rule.

    ``fwd(primals, perturbed) -> (residuals, outs, facts)`` and ``bwd(facts, residuals, cotangents) -> cotangents of primals``; flat lists,
    and what ``bwd`` must know of the call of ``fwd`` that its residuals are from, as the next call may find another: with symbolic zeros
    the structure of the residuals depends on which primals are perturbed.
    """

    kind = "custom_vjp"
    __slots__ = ("fun", "fwd", "bwd", "symbolic_zeros", "name", "optimize_remat")

    def __init__(self, fun, fwd, bwd, symbolic_zeros=False, name="custom_vjp", optimize_remat=False):
        self.fun, self.fwd, self.bwd, self.symbolic_zeros, self.name = fun, fwd, bwd, symbolic_zeros, name
        self.optimize_remat = optimize_remat

    def run_linear(self, primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
        live = [i for i, t in enumerate(tangents) if not isinstance(t, Zero)]
        perturbed = [not isinstance(t, Zero) for t in tangents]
        if self.optimize_remat:
            residuals, outs, facts = custom_vjp_remat.forward(self.fun, lambda xs: self.fwd(xs, perturbed), primals)
        else:
            residuals, outs, facts = self.fwd(primals, perturbed)
        out_avals = tuple(get_aval(x) for x in outs)
        linear_outs = [i for i, a in enumerate(out_avals) if has_tangent(a)]
        bwd, symbolic_zeros = self.bwd, self.symbolic_zeros

        def bwd_live(res, cts):
            every = [Zero(a.to_ct_aval()) for a in out_avals]
            for i, ct in zip(linear_outs, cts):
                every[i] = ct
            found = bwd(facts, res, [SymbolicZero(ct.aval) if isinstance(ct, Zero) and symbolic_zeros
                              else shown(ct) for ct in every])
            return [found[i] for i in live]

        live_tangents = custom_lin_p.bind(
            *residuals, *(tangents[i] for i in live), num_res=len(residuals), bwd=named_as(bwd, bwd_live), name=self.name,
            in_zeros=[not p for p in perturbed], symbolic_zeros=symbolic_zeros,
            out_avals=tuple(out_avals[i].to_tangent_aval() for i in linear_outs))
        out_tangents = [Zero.of(x) for x in outs]
        for i, t in zip(linear_outs, live_tangents):
            out_tangents[i] = t
        return outs, out_tangents

    def batched(self, trace, dims):
        """The triple on a batch of the `vmap` of ``trace``, and the function that gives the positions of the mapped axis in its results."""
        axis, tag, mapped = trace.axis, trace.tag, MappedResults(trace, dims, self.name)

        called, forward, backward = self.fun, self.fwd, self.bwd  # neither self nor the trace: the rules live on in programs, and these hold traced values

        def fun(*args):
            run, out_dims = batch_fun(called, axis, dims, tag)
            outs = run(*args)
            return mapped.place(outs, out_dims(), mapped.settle([d is not None for d in out_dims()], "call"))

        def fwd(primals, perturbed):
            found: list = []

            def run(*args):
                res, outs, facts = forward(args, perturbed)
                found[:] = [len(res), facts]
                return [*res, *outs]
            batched, out_dims = batch_fun(run, axis, dims, tag)
            flat = batched(*primals)
            (n, facts), ds = found, out_dims()
            flags = mapped.settle([d is not None for d in ds[n:]], "fwd rule")
            return flat[:n], mapped.place(flat[n:], ds[n:], flags), (facts, ds[:n])

        def bwd(facts, residuals, cts):
            inner, res_dims = facts
            return batched_cotangents(functools.partial(backward, inner), axis, residuals, res_dims, cts, mapped.dims(), dims, tag)

        return CustomVjpCall(fun, named_as(forward, fwd), named_as(backward, bwd), self.symbolic_zeros, self.name, self.optimize_remat), mapped.dims

    def stage(self, trace, args):
        call_jaxpr, consts = trace_to_closed(self.fun, [get_aval(x) for x in args])
        refuse_effects(f"custom_vjp {self.name}", call_jaxpr.effects, "in_custom_derivatives", "functions with custom derivatives")
        return trace.record(custom_vjp_call_p, [*consts, *args], dict(
            name=self.name, call_jaxpr=call_jaxpr, fwd_jaxpr_thunk=self.fwd, bwd=self.bwd, num_consts=len(consts),
            symbolic_zeros=self.symbolic_zeros, **({"optimize_remat": True} if self.optimize_remat else {})))


def batched_cotangents(bwd, axis, residuals, res_dims, cts, ct_dims, in_dims, tag=None):
    """Run ``bwd`` on a batch, with zeros as zeros; cotangents of inputs without mapped axis are summed over the batch."""
    n, wanted, structure = len(residuals), logs.wanted(), []
    zeros = {i: type(ct)(ct.aval if d is None else mapped_aval(ct.aval, d))
             for i, (ct, d) in enumerate(zip(cts, ct_dims)) if isinstance(ct, (Zero, SymbolicZero))}
    cts, ct_dims = ([x for i, x in enumerate(of) if i not in zeros] for of in (cts, ct_dims))

    def run(*args):
        given = iter(args[n:])
        every = [zeros[i] if i in zeros else next(given) for i in range(len(zeros) + len(cts))]
        outs, logged = logs.apart(wanted, lambda: [instantiate(ct) for ct in bwd(args[:n], every)])
        structure[:] = [logged]
        return outs
    batched, out_dims = batch_fun(run, axis, [*res_dims, *ct_dims], tag)
    outs, found_dims = batched(*residuals, *cts), out_dims()
    count = len(outs) - structure[0].num_leaves
    outs = logs.rejoin([*outs[:count], *(matchaxis(axis, x, d, 0) for x, d in zip(outs[count:], found_dims[count:]))], structure[0])
    result = []
    for ct, d, want in zip(outs, found_dims, in_dims):
        if getattr(ct, "dtype", None) == dtypes.float0:
            result.append(Zero.from_primal_value(ct) if want is None else Zero(ShapedArray(
                (*ct.shape[:want], axis.size, *ct.shape[want:]), dtypes.float0)))
        elif want is None:
            result.append(ct if d is None else reduce_sum(ct, (d,)))
        else:
            result.append(matchaxis(axis, ct, d, want))
    return result


def _narrowed_rule(chosen, *, call_jaxpr, fwd_jaxpr_thunk, bwd, symbolic_zeros, **_):
    every = [Zero(a.to_ct_aval()) for a in call_jaxpr.out_avals]
    places = chosen(range(len(every)))

    def fwd(primals, perturbed):
        residuals, outs, facts = fwd_jaxpr_thunk(primals, perturbed)
        return residuals, chosen(outs), facts

    def full_bwd(facts, residuals: PyTree, cts):
        given = dict(zip(places, cts))
        return bwd(facts, residuals, [given[i] if i in given else SymbolicZero(zero.aval) if symbolic_zeros else shown(zero)
                                      for i, zero in enumerate(every)])
    return {"fwd_jaxpr_thunk": named_as(fwd_jaxpr_thunk, fwd), "bwd": named_as(bwd, full_bwd)}


class _CustomVjpPrimitive(ProgramPrimitive):
    def bind(self, *args, call_jaxpr, fwd_jaxpr_thunk, bwd, num_consts, symbolic_zeros, name: str = "custom_vjp",
             optimize_remat=False):
        def fwd(primals, perturbed):
            if any(perturbed[:num_consts]):
                raise closed_over("custom_vjp", name)
            return fwd_jaxpr_thunk(as_typed(primals[num_consts:], avals), perturbed[num_consts:])

        def full_bwd(facts, res, cts):
            return [None] * num_consts + list(bwd(facts, res, cts))
        named_as(fwd_jaxpr_thunk, fwd), named_as(bwd, full_bwd)
        avals = call_jaxpr.in_avals[num_consts:]
        fun = lambda *xs: eval_jaxpr(call_jaxpr.jaxpr, call_jaxpr.consts, *xs)
        if not num_consts:
            full_bwd = bwd
        call = CustomVjpCall(fun, fwd, full_bwd, symbolic_zeros, name, optimize_remat)
        return context.state.trace.process_custom_vjp(call, args)


custom_vjp_call_p = _CustomVjpPrimitive(
    "custom_vjp_call",
    out_type=lambda *avals, call_jaxpr, **_: call_jaxpr.out_avals,
    effects=lambda *avals, call_jaxpr, **_: operand_effects(call_jaxpr),
    jvp=_HANDLED, linearize=_HANDLED, transpose=_HANDLED, batch=_HANDLED, split=_HANDLED,
    dce=lambda eqn, used: narrowed(eqn, used, _narrowed_rule),
    lower=lambda b, *xs, call_jaxpr, **_: b.jaxpr(call_jaxpr, *xs),
    takes_refs=True, discharge=custom_rule(["fwd_jaxpr_thunk", "bwd"]), program="call_jaxpr",
    traits=Traits(Kind.CALL, hidden={"num_consts": 0}, labels={"fwd_jaxpr_thunk": "fwd"}))


def _no_forward_mode(*args, name, **_):
    raise TypeError(f"can't apply forward-mode autodiff (jvp) to the custom_vjp function {name}: only a "
                    "reverse-mode rule is given. Use jax.custom_jvp, whose rule serves both modes, or differentiate "
                    "with jax.grad, jax.vjp or jax.jacrev.")


def _lin_transpose(cts, *args, num_res, bwd, **_):
    found = bwd(args[:num_res], cts)
    return [None] * num_res + [Zero(cotangent_type(x.aval)) if ct is None else settled(ct, x.aval) for x, ct in zip(args[num_res:], found)]


def _lin_batch(axis, args, dims, *, num_res, bwd, out_avals, **params):
    res_dims, in_dims = dims[:num_res], dims[num_res:]

    def batched_bwd(res, cts):
        return batched_cotangents(bwd, axis, res, res_dims, cts, [0] * len(cts), in_dims)
    avals = tuple(unmapped_aval(a, axis.size, 0, axis.explicit_mesh_axis) for a in out_avals)
    outs = custom_lin_p.bind(*args, num_res=num_res, bwd=named_as(bwd, batched_bwd), out_avals=avals, **params)
    return outs, [0] * len(outs)


def _lin_jvp(primals, tangents, *, name, **_):
    _no_forward_mode(name=name)


custom_lin_p = Primitive(
    "custom_lin", multiple_results=True, cacheable=False,
    out_type=lambda *avals, out_avals, **_: out_avals,
    jvp=_lin_jvp, transpose=_lin_transpose, batch=_lin_batch, impl=_no_forward_mode,
    lower=lambda b, *xs, name, **_: _no_forward_mode(name=name),
    own_type=True, takes_refs=True, agree=lambda args, params: (args, params), splits=splits.as_told,
    traits=Traits(Kind.KERNEL, hidden={"name": ..., "out_avals": ...}))


_FWD_CALL = "custom_vjp calls the forward function, the first of defvjp, with the arguments of the function"
_BWD_CALL = ("custom_vjp calls the backward function, the second of defvjp, with the arguments of nondiff_argnums, if any, the residuals and "
             "the cotangent of the output")


class custom_vjp(Wrapping):
    """A function whose reverse-mode derivative is given by the user.

    Args:
      fun: the function; pytrees of arrays in and out.
      nondiff_argnums, nondiff_argnames: arguments that are passed as they are: to the forward function in their
        places, and to the backward function before the residuals.

    Set the rule with `defvjp`.

    >>> f = jax.custom_vjp(lambda x: x * x)
    >>> f.defvjp(lambda x: (x * x, x), lambda x, g: (10. * x * g,))
    >>> jax.grad(f)(3.)
    Array(30., dtype=float32, weak_type=True)
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        check_callable("custom_vjp", fun)
        functools.update_wrapper(self, fun)
        self.fun, self._name = fun, name_of(fun)
        self.signature = signature_of(fun)
        self.nondiff_argnums = check_nondiff("custom_vjp", fun, self.signature, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable | None = None
        self.bwd: Callable | None = None
        self.symbolic_zeros = False
        self.optimize_remat = False
        self._logs = self._accumulators = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _set(self, method, fwd, bwd, symbolic_zeros, optimize_remat, generic_batching, logs=False, accumulators=False):
        if generic_batching:
            raise NotImplementedError(f"custom_vjp.{method}: generic_batching is not supported; leave it out")
        self.fwd, self.bwd, self._logs, self._accumulators = fwd, bwd, logs, accumulators
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    def defvjp(self, fwd: Callable[..., PyTree], bwd: Callable[..., tuple[Any, ...]], symbolic_zeros: bool = False,
               optimize_remat: bool = False, generic_batching: bool = False) -> None:
        """Set ``fwd(*args) -> (out, residuals)`` and ``bwd(*nondiff_args, residuals, cotangent) -> tuple of cotangents``.

        With ``symbolic_zeros``, ``fwd`` gets objects with ``value`` and ``perturbed``, and ``bwd`` a `SymbolicZero`
        for each cotangent that is zero. With ``optimize_remat`` the function itself is run in place of ``fwd`` where the
        residuals are not kept, as in the first pass through a `checkpoint`.

        Raises:
          NotImplementedError: ``generic_batching``, another way to batch the rule, is asked for.
        """
        self._set("defvjp", fwd, bwd, symbolic_zeros, optimize_remat, generic_batching)

    def defvjp_with_logs(self, fwd: Callable[..., PyTree], bwd: Callable[..., tuple[tuple[Any, ...], dict | None]],
                         symbolic_zeros: bool = False, optimize_remat: bool = False, generic_batching: bool = False) -> None:
        """As `defvjp`, where ``bwd`` returns a pair: the cotangents, and a dict of values to log, or None.

        The pullback of `vjp` returns what was logged when it is called by its attribute ``with_logs``; `grad` drops it.
        Within one backward pass each key can be used once, though a loop stacks the logs of its steps and `vmap` those of its lanes;
        after a conditional a key holds the ``index`` of the branch and what the ``branches`` logged.

        >>> f = jax.custom_vjp(lambda x: 2. * x)
        >>> f.defvjp_with_logs(lambda x: (f(x), None), lambda _, g: ((2. * g,), {"cotangent of f": g}))
        >>> jax.vjp(lambda x: 5. * f(x), 1.)[1].with_logs(1.)[1]
        {'cotangent of f': Array(5., dtype=float32, weak_type=True)}
        """
        self._set("defvjp_with_logs", fwd, bwd, symbolic_zeros, optimize_remat, generic_batching, logs=True)

    def defvjp_with_accums(self, fwd: Callable[..., PyTree], bwd: Callable[..., dict | None], symbolic_zeros: bool = False,
                           optimize_remat: bool = False, generic_batching: bool = False) -> None:
        """As `defvjp`, where ``bwd(*nondiff_args, residuals, cotangent, *accumulators)`` adds to cotangents in place of returning them.

        There is a tree of accumulators for each argument: for each of its arrays a `ValAccum`, or a `NullAccum`, which drops what is added,
        where no cotangent is wanted. Their method ``accum(x)`` adds; where nothing is added the cotangent is zero. Of ``bwd`` is
        returned None, or a dict of values to log, as in `defvjp_with_logs`.

        Raises:
          NotImplementedError: ``generic_batching``, another way to batch the rule, is asked for.
          TypeError: when differentiated: ``bwd`` returned something else.
          ValueError: when differentiated: what was added has another shape than the argument.

        >>> f = jax.custom_vjp(lambda x: x * x)
        >>> f.defvjp_with_accums(lambda x: (x * x, x), lambda x, g, to_x: to_x.accum(2. * x * g))
        >>> jax.grad(f)(3.)
        Array(6., dtype=float32, weak_type=True)
        """
        self._set("defvjp_with_accums", fwd, bwd, symbolic_zeros, optimize_remat, generic_batching, accumulators=True)

    def defremat(self, fwd: Callable[..., PyTree], rem: Callable[..., object], bwd: Callable[..., tuple[Any, ...]],
                 generic_batching: bool = False) -> None:
        """Set a rule in two steps: ``fwd(*args) -> (out, res)``, ``rem(res, *args) -> (out, res2)``, and ``bwd`` for ``res2``.

        The output is that of ``fwd``; ``rem`` runs right after it. Under `checkpoint` both are run again where the policy
        does not keep what they computed. A rule that `defvjp` has set before stays.

        Raises:
          NotImplementedError: ``generic_batching``, another way to batch the rule, is asked for.
        """
        self._set_in_two_steps("defremat", fwd, rem, bwd, generic_batching)

    def defremat_with_logs(self, fwd: Callable[..., PyTree], rem: Callable[..., object], bwd: Callable[..., tuple[tuple[Any, ...], dict | None]],
                           generic_batching: bool = False) -> None:
        """As `defremat`, where ``bwd`` returns a pair: the cotangents, and a dict of values to log, or None (see `defvjp_with_logs`).

        Raises:
          NotImplementedError: ``generic_batching``, another way to batch the rule, is asked for.

        >>> f = jax.custom_vjp(jnp.sin)
        >>> f.defremat_with_logs(lambda x: (jnp.sin(x), ()), lambda _, x: (jnp.sin(x), jnp.cos(x)), lambda slope, g: ((slope * g,), {"slope": slope}))
        >>> jax.vjp(f, 0.)[1].with_logs(2.)
        ((Array(2., dtype=float32, weak_type=True),), {'slope': Array(1., dtype=float32, weak_type=True)})
        """
        self._set_in_two_steps("defremat_with_logs", fwd, rem, bwd, generic_batching, logs=True)

    def _set_in_two_steps(self, method, fwd, rem, bwd, generic_batching, logs=False):
        @functools.wraps(fwd)
        def forward(*args):
            out, res = fwd(*args)
            return out, rem(res, *args)[1]
        if self.fwd is None or generic_batching:
            self._set(method, forward, bwd, False, False, generic_batching, logs=logs)

    @api_boundary
    def __call__(self, *args, **kwargs):
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"custom_vjp: no rule is set for {self._name}; set one with "
                                 f"{self._name}.defvjp(fwd, bwd)")
        args = bind_arguments(self.fun, self.signature, args, kwargs)
        nondiff = [args[i] for i in self.nondiff_argnums if i < len(args)]
        if nondiff:
            self._refuse_tracers(nondiff)
        dynamic = tuple(x for i, x in enumerate(args) if i not in self.nondiff_argnums)
        flat, in_tree = tree.flatten(dynamic)
        count = len(args)  # the functions below outlive this call on a tape, and so do not hold the arguments
        out_tree: list = []
        out_avals: list = []  # of the function, where it is traced first

        def in_place(values):
            given, rest = iter(values), iter(nondiff)
            return [next(rest) if i in self.nondiff_argnums else next(given) for i in range(count)]

        def fun(*leaves):
            outs, tree_out = tree.flatten(self.fun(*in_place(tree.unflatten(in_tree, typed(leaves)))))
            out_tree[:] = [tree_out]
            out_avals[:] = map(get_aval, outs) if flags.custom_vjp3.value else ()
            return outs

        def fwd(primals, perturbed):
            primals = typed(primals)
            if self.symbolic_zeros:
                primals = [CustomVJPPrimal(x, p) for x, p in zip(primals, perturbed)]
            result = run_rule(self.fwd, _FWD_CALL, *in_place(tree.unflatten(in_tree, primals)))
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise TypeError(f"custom_vjp: the forward function {name_of(self.fwd)} of {self._name} must return a pair (output, "
                                f"residuals), got {described_value(result)}")
            outs, tree_out = tree.flatten(result[0])
            res, tree_res = tree.flatten(result[1])
            if out_tree and out_tree[0] != tree_out:
                raise TypeError(f"custom_vjp: {self._name} returns structure {out_tree[0]} and its forward "
                                f"function {tree_out}; they must be the same")
            for k, (x, want) in enumerate(zip(outs, out_avals)):
                if (got := get_aval(x)).shape != want.shape or got.dtype != want.dtype:
                    raise TypeError(f"custom_vjp: the forward function {name_of(self.fwd)} of {self._name} returns {described_value(x)} as output "
                                    f"{k}, and {self._name} itself {want.str_short()}; they must be of one type")
            out_tree[:] = [tree_out]
            self._check_residuals(result[1], res, self.fwd)
            return res, outs, _Saved(tree_res, tuple(perturbed))

        def bwd(saved, res, cts):
            given = [*nondiff, tree.unflatten(saved.residuals, res), tree.unflatten(out_tree[0], cts)]
            if self._accumulators:
                found = accumulators.fill(f"custom_vjp: the backward function of {self._name}, set by defvjp_with_accums,", functools.partial(
                    run_rule, self.bwd, _BWD_CALL, *given), [a.to_ct_aval() for a in dynamic_avals], saved.perturbed, in_tree)
                return self._flatten_cotangents(found, dynamic_avals, in_tree)
            found = run_rule(self.bwd, _BWD_CALL, *given)
            if self._logs:
                found, logged = logs.pair(f"custom_vjp: the backward function of {self._name}, set by defvjp_with_logs,", found)
                logs.add(logged)
            return self._flatten_cotangents(found, dynamic_avals, in_tree)

        dynamic_avals = [get_aval(x) for x in flat]
        if flags.custom_vjp3.value:
            trace_to_closed(fun, dynamic_avals)  # leaves the types of its results
        call = CustomVjpCall(fun, named_as(self.fwd, fwd), named_as(self.bwd, bwd), self.symbolic_zeros, self._name, self.optimize_remat)
        outs = context.state.trace.process_custom_vjp(call, flat)
        return tree.unflatten(out_tree[0], outs)

    def _check_residuals(self, given: PyTree, leaves: Sequence[object], forward: Callable[..., PyTree]) -> None:
        for i, x in enumerate(leaves):
            if type(x) not in aval_of_type:
                try:
                    get_aval(x)
                except TypeError:
                    path = tree.keystr(tree.flatten_with_path(given)[0][i][0])
                    raise TypeError(
                        f"custom_vjp: the forward function {name_of(forward)} of {self._name} returned residuals with {x!r} of type "
                        f"{type(x).__name__} at residuals{path}, which is not a valid JAX type; residuals are pytrees of arrays. Mark an "
                        "argument that is not one by nondiff_argnums: the backward function is given it too.") from None

    def _refuse_tracers(self, nondiff: Sequence[Any]) -> None:
        """The backward function runs when their transformation may have ended, so they cannot be handed to it."""
        held = next((x for x in tree.leaves(nondiff) if isinstance(x, Tracer)), None)
        if held is not None:
            raise UnexpectedTracerError(
                f"custom_vjp {self._name}: a non-differentiated argument (nondiff_argnums) is traced, {held!r}, or holds such a "
                "value; only static values can be passed so. Pass it as a differentiated argument, whose cotangent the backward "
                "function returns as None.")

    def _flatten_cotangents(self, found, avals, in_tree):
        if isinstance(found, list) and not isinstance(found, tuple):
            found = tuple(found)
        if not isinstance(found, tuple) or len(found) != len(in_tree.children()):
            count = len(in_tree.children())
            got = f"{len(found)} of them" if isinstance(found, tuple) else described_value(found)
            raise TypeError(f"custom_vjp: the backward function {name_of(self.bwd)} of {self._name} must return a tuple of {count} "
                            f"cotangents, one for each differentiated argument, got {got}")
        cts: list = []
        position = 0
        for i, (sub, ct) in enumerate(zip(in_tree.children(), found)):
            want = avals[position: position + sub.num_leaves]
            position += sub.num_leaves
            cts.extend(self._argument_cotangents(i, sub, ct, want))
        return cts

    def _argument_cotangents(self, i, sub, ct, avals):
        if ct is None:
            return [_zeros_of(a.to_ct_aval()) for a in avals]
        try:
            leaves = _leaves_like(sub, ct)
        except (ValueError, TypeError) as error:
            raise TypeError(f"custom_vjp: the backward function of {self._name} returned for argument {i} a "
                            f"cotangent of structure {tree.structure(ct)}, expected {sub}") from error
        result = []
        for aval, x in zip(avals, leaves):
            want = aval.to_ct_aval()
            if x is None:
                result.append(_zeros_of(want))
                continue
            if isinstance(x, (SymbolicZero, Zero)) or want.dtype == dtypes.float0:
                result.append(Zero(want))
                continue
            got = get_aval(x)
            if got.dtype != dtypes.float0 and (got.shape != want.shape or got.vma != want.vma) and not flags.disable_bwd_checks.value:
                hint = "" if got.shape != want.shape else (
                    f"; it must vary over the mesh axes {set(want.vma)}, as the argument does: apply jax.lax.psum to what varies over more, "
                    "jax.lax.pcast(..., to='varying') to what varies over fewer")
                raise ValueError(f"custom_vjp: the backward function of {self._name} returned for argument {i} a "
                                 f"cotangent of type {got.str_short()}, expected {want.str_short()}{hint}")
            result.append(Zero(want) if got.dtype == dtypes.float0 else x)
        return result


def _zeros_of(want):
    """What a rule's None stands for: zeros, not the absence of a cotangent, so that the rules it came from still run
    (flax keeps statistics of 8-bit floats as what these return)."""
    return Zero(want) if want.dtype == dtypes.float0 else instantiate(Zero(want))


def _leaves_like(structure, ct):
    """The leaves of the cotangent ``ct`` of an argument; one may stand for a whole subtree of it."""
    try:
        return structure.flatten_up_to(ct)
    except (ValueError, TypeError):
        return tree.broadcast_prefix(ct, tree.skeleton(structure), lambda x: x is None)


def custom_gradient(fun: Callable[..., PyTree] | None = None, *, with_logs: bool = False, remat: bool = False,
                    with_accums: object | None = None) -> Callable:
    """A function whose rule is a closure: ``fun(*args) -> (out, vjp)`` with ``vjp(cotangent) -> cotangents of args``.

    Without ``fun``, a decorator.

    Args:
      with_logs: ``vjp`` returns a pair of the cotangents and a dict of values to log, as the backward function of
        `custom_vjp.defvjp_with_logs` does.
      remat: must have its default.
      with_accums: `ValAccum`, or a pytree of it that is a prefix of the tuple of arguments: ``vjp(cotangent, *accumulators)`` adds
        to accumulators in the structure of the arguments, and returns None or a dict of values to log.

    Raises:
      NotImplementedError: ``remat`` is given.
      TypeError: ``with_accums`` has other leaves, or asks for a `RefAccum`, which this backward pass has not.

    >>> clip = jax.custom_gradient(lambda x: (x, lambda g: (jnp.clip(g, -1., 1.),)))
    >>> jax.grad(lambda x: 5. * clip(x))(2.)
    Array(1., dtype=float32, weak_type=True)
    """
    if remat:
        raise NotImplementedError("custom_gradient: remat is not supported; use custom_vjp")
    if fun is None:
        return functools.partial(custom_gradient, with_logs=with_logs, with_accums=with_accums)

    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        leaves, in_tree = tree.flatten(args)
        zeros = [Zero.from_primal_value(x) for x in leaves]

        @custom_vjp
        def call(*args):
            return run(*args)[0]

        def run(*args):
            pair = fun(*args, **kwargs)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"custom_gradient: {name_of(fun)} must return a pair (output, vjp), where vjp maps a cotangent of the output to "
                                f"those of the arguments, got {described_value(pair)}")
            return pair

        def fwd(*args):
            out, vjp = run(*args)
            avals = [get_aval(x) for x in tree.leaves(out)]
            structure = tree.structure(out)
            out_tree: list = []
            if with_accums is not None:
                _check_accums(name_of(fun), with_accums, args)

            def flat_vjp(*cts):
                logged = None
                if with_accums is not None:
                    places = [accumulators.ValAccum(z.aval) for z in zeros]
                    logged = vjp(tree.unflatten(structure, cts), *in_tree.unflatten(places))
                    accumulators.check_logged(f"custom_gradient: the vjp that {name_of(fun)} returns", logged)
                    found = in_tree.unflatten([instantiate(place.freeze()) for place in places])
                elif with_logs:
                    found, logged = logs.pair(f"custom_gradient: the vjp that {name_of(fun)} returns", vjp(tree.unflatten(structure, cts)))
                else:
                    found = vjp(tree.unflatten(structure, cts))
                outs, structure_out = tree.flatten((_as_cotangents(found, in_tree, zeros), logged))
                out_tree[:] = [structure_out]
                return outs
            closed, consts = trace_to_closed(flat_vjp, [a.to_ct_aval() for a in avals])
            return out, _Closure(closed, consts, out_tree[0])

        def bwd(closure, ct):
            outs = eval_jaxpr(closure.closed.jaxpr, closure.closed.consts, *closure.consts, *tree.leaves(ct))
            found, logged = tree.unflatten(closure.out_tree, outs)
            return tree.unflatten(in_tree, found), logged
        call.defvjp_with_logs(fwd, bwd)
        return call(*args)
    return wrapped


def _check_accums(name, with_accums, args):
    for kind in tree.broadcast_prefix(with_accums, args):
        if kind is accumulators.RefAccum:
            raise TypeError(f"custom_gradient: with_accums of {name} asks for a RefAccum; the cotangents are summed as values here: ask for ValAccum")
        if kind is not accumulators.ValAccum:
            raise TypeError(f"custom_gradient: the leaves of with_accums of {name} must be ValAccum or RefAccum, got {kind!r}")


def _as_cotangents(found, in_tree, zeros):
    """The flat cotangents that a closure returned: a tuple of them, or the only one; None stands for zeros."""
    parts = in_tree.children()
    if not isinstance(found, tuple) or len(parts) == 1 != len(found):
        found = (found,)
    if len(found) != len(parts):
        raise TypeError(f"custom_gradient: the function has {len(parts)} arguments, and its vjp returned {len(found)} cotangents")
    flat = [leaf for part, ct in zip(parts, found) for leaf in ([None] * part.num_leaves if ct is None else part.flatten_up_to(ct))]
    return [instantiate(zero) if ct is None else ct for ct, zero in zip(flat, zeros)]


class _Closure:
    """A traced function and what it closes over, as a pytree."""

    __slots__ = ("closed", "consts", "out_tree")

    def __init__(self, closed, consts, out_tree):
        self.closed, self.consts, self.out_tree = closed, consts, out_tree


tree_nodes.register_pytree_node(_Closure, lambda c: (tuple(c.consts), (c.closed, c.out_tree)),
                          lambda static, consts: _Closure(static[0], consts, static[1]))


def zero_from_primal(val: PyTree, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a pytree ``val`` of values: arrays, or `SymbolicZero` objects.

    >>> jax.custom_derivatives.zero_from_primal({'a': jnp.ones(2)})
    {'a': Array([0., 0.], dtype=float32)}
    """
    def zero_of(x):
        zero = Zero.from_primal_value(x)
        return SymbolicZero(zero.aval) if symbolic_zeros else shown(zero)
    return _map(zero_of, val)


def custom_vjp_primal_tree_values(tree: PyTree) -> Any:
    """The values in a pytree of what a forward function with ``symbolic_zeros`` gets.

    Raises:
      TypeError: a leaf is something else.

    >>> f = jax.custom_vjp(lambda x: x * 3.0)
    >>> def forward(x):  # x.value and x.perturbed
    ...     return f(jax.custom_derivatives.custom_vjp_primal_tree_values(x)), None
    >>> f.defvjp(forward, lambda _, ct: (ct * 3.0,), symbolic_zeros=True)
    >>> jax.grad(f)(1.0)
    Array(3., dtype=float32, weak_type=True)
    """
    def value(x):
        if not isinstance(x, CustomVJPPrimal):
            raise TypeError(f"custom_vjp_primal_tree_values: leaves are CustomVJPPrimal, as a forward function with symbolic_zeros gets them; got {x!r} "
                            f"of type {type(x).__name__}")
        return x.value
    return _map(value, tree, is_leaf=lambda x: isinstance(x, CustomVJPPrimal))


def linear_call(fun: Callable[..., PyTree], fun_transpose: Callable[..., object], residual_args: PyTree,
                linear_args: PyTree) -> Any:
    """``fun(residual_args, linear_args)``, linear in the second, with ``fun_transpose(residual_args, ct)`` as its transpose, whose
    transpose in turn is ``fun``.

    Forward mode applies ``fun`` to tangents of the linear arguments; residual arguments are constants to it.

    Raises:
      ValueError: ``fun_transpose`` returned a cotangent whose shape or dtype is not that of its linear argument.

    >>> double = lambda _, x: 2 * x
    >>> f = lambda x: jax.custom_derivatives.linear_call(double, double, (), x)
    >>> jax.grad(f)(3.0)
    Array(2., dtype=float32, weak_type=True)
    """
    res, res_tree = tree.flatten(residual_args)
    lin, lin_tree = tree.flatten(linear_args)
    out_tree: list = []

    def run(*leaves):
        outs, structure = tree.flatten(fun(tree.unflatten(res_tree, leaves[:len(res)]),
                                           tree.unflatten(lin_tree, leaves[len(res):])))
        out_tree[:] = [structure]
        return outs
    closed, consts = trace_to_closed(run, [get_aval(x) for x in (*res, *lin)])
    structure = out_tree[0]

    def checked(residuals, cts):
        found = lin_tree.flatten_up_to(fun_transpose(tree.unflatten(res_tree, residuals[len(consts):]), tree.unflatten(structure, cts)))
        for x, ct in zip(lin, map(get_aval, found)):
            want = get_aval(x).to_ct_aval()
            if (ct.shape, ct.dtype) != (want.shape, want.dtype):
                raise ValueError(f"linear_call: fun_transpose returned a cotangent of type {ct.str_short()} for a linear argument of type "
                                 f"{want.str_short()}; shape and dtype must be equal")
        return found

    def transpose(residuals, cts):
        return linear_call(checked, lambda residuals, x: eval_jaxpr(closed.jaxpr, closed.consts, *residuals, *x), residuals, cts)
    outs = linear_call_p.bind(*consts, *res, *lin, call=closed, num_res=len(consts) + len(res), transpose_rule=transpose)
    return tree.unflatten(structure, outs)


def _linear_call_jvp(primals, tangents, *, call, num_res, transpose_rule):
    params = dict(call=call, num_res=num_res, transpose_rule=transpose_rule)
    if any(not isinstance(t, Zero) for t in tangents[:num_res]):
        raise NotImplementedError("linear_call: its residual arguments cannot be differentiated; make them linear "
                                  "arguments, or use custom_jvp")
    outs = linear_call_p.bind(*primals, **params)
    pushed = linear_call_p.bind(*primals[:num_res], *map(instantiate, tangents[num_res:]), **params)
    return outs, pushed


def _linear_call_batch(axis, args, dims, *, call, num_res, transpose_rule):
    run = batch_all_mapped(lambda *xs: eval_jaxpr(call.jaxpr, call.consts, *xs), axis, dims)
    closed, consts = trace_to_closed(run, [get_aval(x) for x in args])
    n = len(consts)

    def transpose(residuals, cts):
        return batched_cotangents(transpose_rule, axis, residuals[n:], dims[:num_res], cts, [0] * len(cts), dims[num_res:])
    outs = linear_call_p.bind(*consts, *args, call=closed, num_res=num_res + n, transpose_rule=transpose)
    return outs, [0] * len(outs)


linear_call_p = ProgramPrimitive(
    "linear_call",
    out_type=lambda *avals, call, **_: call.out_avals,
    impl=lambda *args, call, **_: eval_jaxpr(call.jaxpr, call.consts, *args),
    effects=lambda *avals, call, **_: operand_effects(call),
    jvp=_linear_call_jvp, batch=_linear_call_batch,
    transpose=lambda cts, *args, call, num_res, transpose_rule: [None] * num_res + list(
        transpose_rule(list(args[:num_res]), [instantiate(ct) for ct in cts])),
    lower=lambda b, *xs, call, **_: b.jaxpr(call, *xs),
    linearize=none("its jvp is the call itself"), split=none("its operands are known together"),
    dce=none("the transpose rule takes the cotangents of all results"),
    discharge=call_rule("call"), program="call", traits=Traits(Kind.CALL))
