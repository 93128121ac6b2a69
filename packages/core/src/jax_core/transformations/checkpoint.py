"""checkpoint (remat): trade memory for time by recomputing values in the backward pass.

A checkpointed function is one equation, `checkpoint`, that holds its program. Linearizing it runs the program as it
is, and puts on the tape another `checkpoint` that holds, in one program, the recomputation of the residuals and the
linear equations that read them. A policy says which intermediate values are saved instead; these become operands.

Source: "Algorithm 799: revolve" (Griewank, Walther, 2000) for the idea; per-equation policies as users of JAX know them.
"""
from __future__ import annotations

import inspect
import logging
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from .. import backends
from ..configuration import context, flags
from ..representation import tree
from ..representation.arguments import LazyNames, check_callable, put_static
from ..representation.aval import get_aval
from ..representation.dtypes import ExtendedDType
from ..representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, dce, eval_jaxpr, makers, program_of
from ..representation.marks import ELEMENTWISE, LINEAR
from ..representation.primitive import Primitive, Zero
from ..representation.source import describe_function
from ..representation.tracebacks import boundary
from ..representation.traits import Kind, Traits
from ..representation.typing import PyTree
from ..traces.staging import check_may_trace, trace_to_closed, trace_to_jaxpr
from ..traces.structural import copy_p
from ..traces.trace import EVAL, Tracer
from ..traces.traced_once import TracedOnce
from .custom_jvp import custom_jvp
from .program_call import program_call
from .reverse import linearize_flat, linearize_jaxpr
from .saving import Answer, Offloadable, keep_saved, written_out
from .splitting import EquationSplit, split_jaxpr

name_p = Primitive(
    "name", out_type=lambda x, *, name: x, jvp=LINEAR, transpose=lambda ct, x, *, name: ct, batch=ELEMENTWISE,
    lower=lambda b, x, *, name: x, reference=lambda x, *, name: np.asarray(x), exact=True, impl=lambda x, *, name: x,
    traits=Traits(Kind.IDENTITY))


def checkpoint_name(x: PyTree, name: str) -> Any:
    """``x`` itself (a pytree), named for the policies that save values by name.

    >>> f = jax.checkpoint(lambda x: jnp.sin(jax.ad_checkpoint.checkpoint_name(jnp.cos(x), 'c')),
    ...                    policy=jax.checkpoint_policies.save_only_these_names('c'))
    >>> jax.grad(f)(0.0)
    Array(-0., dtype=float32, weak_type=True)
    """
    return tree.map(lambda leaf: name_p.bind(leaf, name=name), x)


def checkpoint_name_fwd(x: PyTree, name: str) -> Any:
    """`checkpoint_name` for the value alone: its tangent gets no name.

    >>> jax.ad_checkpoint.checkpoint_name_fwd(jnp.float32(1), 'x')
    Array(1., dtype=float32)
    """
    return tree.map(lambda leaf: _named_value(leaf, name), x)


def _named_value(x, name):
    named = custom_jvp(lambda x: name_p.bind(x, name=name))
    named.defjvp(lambda primals, tangents: (name_p.bind(primals[0], name=name), tangents[0]))
    return named(x)


Saveable, Recompute = Answer("Saveable", True), Answer("Recompute", False)


class CheckpointPolicies:
    """``jax.checkpoint_policies``: functions ``(primitive, *avals, **params) -> whether to save the result``."""

    @staticmethod
    def everything_saveable(*_, **__) -> bool:
        """Save all: as without checkpoint."""
        return True

    @staticmethod
    def nothing_saveable(*_, **__) -> bool:
        """Save nothing but the arguments."""
        return False

    @staticmethod
    def dots_saveable(prim: Primitive, *_, **__) -> bool:
        """Save results of matrix products and convolutions."""
        return prim.traits.kind in (Kind.PRODUCT, Kind.CONVOLUTION)

    checkpoint_dots = dots_saveable

    @staticmethod
    def dots_with_no_batch_dims_saveable(prim: Primitive, *_, **params) -> bool:
        """Save results of matrix products without batch dimensions."""
        return prim.traits.kind is Kind.PRODUCT and not params["dimension_numbers"][1][0]

    checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Callable:
        """Offload results of matrix products without batch dimensions."""
        def policy(prim: Primitive, *_, **params):
            keep = prim.traits.kind is Kind.PRODUCT and not params["dimension_numbers"][1][0]
            return Offloadable(offload_src, offload_dst) if keep else False
        return policy

    @staticmethod
    def save_anything_except_these_names(*names_not_to_save: str) -> Callable:
        """Save everything but the values named so by `checkpoint_name`."""
        return lambda prim, *_, **params: not (prim is name_p and params["name"] in names_not_to_save)

    @staticmethod
    def save_any_names_but_these(*names_not_to_save: str) -> Callable:
        """Save named values with other names than these, and nothing else."""
        return lambda prim, *_, **params: prim is name_p and params["name"] not in names_not_to_save

    @staticmethod
    def save_only_these_names(*names_which_can_be_saved: str) -> Callable:
        """Save the values with these names, and nothing else."""
        return lambda prim, *_, **params: prim is name_p and params["name"] in names_which_can_be_saved

    @staticmethod
    def save_from_both_policies(policy_1: Callable, policy_2: Callable) -> Callable:
        """Save what either policy saves."""
        return lambda prim, *avals, **params: policy_1(prim, *avals, **params) or policy_2(prim, *avals, **params)

    @staticmethod
    def save_and_offload_only_these_names(*, names_which_can_be_saved: Sequence[str],
                                          names_which_can_be_offloaded: Sequence[str], offload_src: str,
                                          offload_dst: str) -> Callable:
        """Save values by name, some in other memory. Raises ValueError if a name is in both lists."""
        both = sorted(set(names_which_can_be_saved) & set(names_which_can_be_offloaded))
        if both:
            raise ValueError(f"save_and_offload_only_these_names: {both} are among the names to save and among those to offload; "
                             "put each name in one of the lists")
        def policy(prim: Primitive, *_, **params):
            if prim is name_p and params["name"] in names_which_can_be_saved:
                return True
            if prim is name_p and params["name"] in names_which_can_be_offloaded:
                return Offloadable(offload_src, offload_dst)
            return False
        return policy


checkpoint_policies = CheckpointPolicies()


def _positions(fun: Callable, names: Sequence[str]) -> tuple[int, ...]:
    """Where the parameters called ``names`` stand, those that can be passed by position."""
    if not names:
        return ()
    found = list(inspect.signature(fun).parameters.values())
    return tuple(i for i, p in enumerate(found) if p.name in names and p.kind == p.POSITIONAL_OR_KEYWORD)


_HOST_NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)  # a program that returns one returns an array


def checkpoint(fun: Callable[..., PyTree], *, prevent_cse: bool | tuple[bool, ...] = True, policy: Callable[..., bool] | None = None,
               static_argnums: int | tuple[int, ...] = (), static_argnames: str | Sequence[str] = (),
               concrete: bool = False) -> Callable:
    """``fun``, whose intermediate values are recomputed in the backward pass instead of being kept.

    It is traced, as by `jit`: once for arguments of the same types and equal static arguments.

    Args:
      prevent_cse: keep the compiler from undoing this by sharing the two computations; not needed inside `scan`. A tuple
        says it for each positional argument, or for parts of it; what is saved, and cotangents, are kept apart all the same.
      policy: says which values to save all the same; see `checkpoint_policies`. Default: none.
      static_argnums: positions of arguments that are passed as they are.
      static_argnames: names of such arguments; one passed by position is found by the signature.

    Raises:
      NotImplementedError: ``concrete`` is true.
      TypeError: ``fun`` cannot be called for values, ``policy`` not at all, or ``prevent_cse`` is neither a bool nor a tuple.
      ValueError: when called, ``prevent_cse`` is a tuple that is no prefix of the arguments.

    >>> jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.cos(x))))(0.5)
    Array(-0.30635893, dtype=float32, weak_type=True)
    """
    if concrete:
        raise NotImplementedError("checkpoint: concrete=True is not supported; make arguments that steer Python "
                                  "control flow static with static_argnums")
    check_callable("checkpoint", fun)
    if policy is not None and not callable(policy):
        raise TypeError(f"checkpoint: policy must be a function, as those of jax.checkpoint_policies, got {policy!r} of type {type(policy).__name__}")
    static_argnums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    static_argnames = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    given_argnums = static_argnums
    if not isinstance(prevent_cse, bool) and not isinstance(prevent_cse, (tuple, list)):
        raise TypeError(f"checkpoint: prevent_cse must be a bool or a tuple of bools, got {prevent_cse!r} of type {type(prevent_cse).__name__}")
    kept_apart = prevent_cse if isinstance(prevent_cse, bool) else tuple(prevent_cse)
    static_argnums += _positions(fun, static_argnames)

    @boundary(fun)
    def wrapped(*args, **kwargs):
        outside = [i for i in given_argnums if not -len(args) <= i < len(args)]
        if outside:
            raise ValueError(f"checkpoint: static_argnums {outside} name no argument: {describe_function(fun)} was called with {len(args)} "
                             "positional arguments")
        nums = {i if i >= 0 else i + len(args) for i in static_argnums} & set(range(len(args)))
        static = (tuple((i, args[i]) for i in sorted(nums)),
                  tuple((n, kwargs.pop(n)) for n in static_argnames if n in kwargs))
        prevent_cse = kept_apart if isinstance(kept_apart, bool) else _flags_of(kept_apart, args, kwargs, nums)
        flat, in_tree = tree.flatten((tuple(x for i, x in enumerate(args) if i not in nums), kwargs))
        if flags.disable_jit.value and context.state.trace is EVAL:  # on arrays, as otherwise
            arrays = [backends.get().put(x) if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)) else x for x in flat]
            given, given_kwargs = put_static(*tree.unflatten(in_tree, arrays), static, len(args))
            return fun(*given, **given_kwargs)
        avals, count = tuple(map(get_aval, flat)), len(args)

        def trace():
            check_may_trace(fun, avals)
            out_tree: list = []

            def flat_fun(*leaves):
                given, given_kwargs = tree.unflatten(in_tree, leaves)
                given, given_kwargs = put_static(given, given_kwargs, static, count)
                outs, structure = tree.flatten(fun(*given, **given_kwargs))
                out_tree[:] = [structure]
                return outs
            debug = DebugInfo("checkpoint", describe_function(fun), LazyNames(fun, in_tree, static))
            return *trace_to_closed(flat_fun, avals, debug), out_tree[0]
        kinds = tuple(type(x) for group in static for _, x in group)  # 1, 1.0 and True are equal
        closed, consts, out_tree = _programs(fun, (in_tree, avals, static, kinds, count), trace)
        if flags.debug_key_reuse.value:
            for dtype in {t for t in (getattr(x, "dtype", None) for x in (*consts, *flat)) if isinstance(t, ExtendedDType)}:
                dtype.before_call("checkpoint", (*consts, *flat), closed)
        if context.state.trace is EVAL:
            arrays = [copy_p.bind(x) if isinstance(x, _HOST_NUMBERS) else x for x in flat]
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *consts, *arrays)
        else:
            if type(prevent_cse) is tuple:
                prevent_cse = (True,) * len(consts) + prevent_cse
            outs = remat_p.bind(*consts, *flat, jaxpr=closed, prevent_cse=prevent_cse, differentiated=False, policy=policy)
        return tree.unflatten(out_tree, outs)
    return wrapped


remat = checkpoint
_programs = TracedOnce()


def _flags_of(prefix: tuple, args: tuple, kwargs: dict, static: set[int]) -> bool | tuple[bool, ...]:
    """``prevent_cse`` for each leaf of the arguments that are not static: one answer if it is True for all."""
    if len(prefix) == len(args):  # a static argument has no leaf
        prefix = tuple(p for i, p in enumerate(prefix) if i not in static)
    given = tuple(x for i, x in enumerate(args) if i not in static)
    found = tuple(map(bool, tree.broadcast_prefix(prefix, given))) + (True,) * len(tree.leaves(kwargs))
    return all(found) or found


def _flags_of_derived(params: dict, closed: ClosedJaxpr, tangent: bool, inputs: Sequence[bool] | None, outputs: Any) -> dict:
    """Operands that stay keep their flags, new ones are kept apart."""
    flags = params["prevent_cse"]
    if isinstance(flags, bool) or inputs is None:
        return params
    return {**params, "prevent_cse": _padded([f for f, kept in zip(flags, inputs) if kept], closed)}


def _flags_by_role(params: dict, original: Mapping[str, Any], ins: Sequence[Any], outs: Sequence[Any]) -> dict:
    """The same for the program of a derivative, whose operands ``ins`` names; residuals are kept apart, and cotangents, too, but for a flag."""
    known = original["prevent_cse"]
    if isinstance(known, bool):
        return params
    cotangents = not flags.remat_barrier_no_cotangents.value
    return {**params, "prevent_cse": _padded([role is None or (cotangents if role[0] == 1 else known[role[1]]) for role in ins], params["jaxpr"])}


def _padded(flags: list[bool], closed: ClosedJaxpr) -> tuple[bool, ...]:
    return (*flags, *[True] * (len(closed.in_avals) - len(flags)))


def _split(closed: ClosedJaxpr, nonzero: Sequence[bool], policy: Callable | None):
    """The two programs of a linearized checkpoint.

    Returns:
      ``known: args -> (results, saved values)``, ``tangent: (args, saved values, tangents) -> result tangents``, the
      number of saved values, and which results have a tangent.
    """
    lin = linearize_jaxpr(closed, nonzero)
    primal = lin.primal.jaxpr
    if policy is not None or not all(effect.repeatable for effect in primal.effects):  # it is asked about what is in the calls, too
        primal = written_out(primal)
    n_out = len(closed.out_avals)
    known, again, saved = keep_saved(primal, policy)
    residuals = lin.residuals(primal.invars, primal.outvars)
    tangent = lin.tangent.jaxpr
    inputs = tangent.invars[len(residuals):]
    rename = dict(zip(tangent.invars, residuals))
    read = lambda v: v if type(v) is Literal else rename.get(v, v)
    eqns = [_recomputed(e) for e in again.eqns] + [e.replace(invars=[read(v) for v in e.invars]) for e in tangent.eqns]
    joined = Jaxpr(primal.constvars, again.invars + inputs, [read(v) for v in tangent.outvars], eqns)
    joined, used = dce(joined, [True] * len(joined.outvars))
    needed = used[:len(primal.invars) + len(saved)]
    kept = [i for i, v in enumerate(saved) if needed[len(primal.invars) + i]]
    known = known.replace(outvars=known.outvars[:n_out] + [saved[i] for i in kept])
    known, _ = dce(known, [True] * len(known.outvars), keep_inputs=True)
    joined = joined.replace(invars=[v for v, u in zip(primal.invars, needed) if u] + [saved[i] for i in kept] + inputs)
    consts = lin.primal.consts
    return (ClosedJaxpr(known, consts), ClosedJaxpr(joined, consts), needed[:len(primal.invars)], len(kept),
            lin.nonzero_out)


def _recomputed(eqn):
    """The equation under a scope that says so, for profiles and printed programs."""
    place = eqn.source_info
    return eqn.replace(source_info=place.replace(name_stack=("rematted_computation", *place.scopes)))


def _remat_linearize(primals, tangents, *, jaxpr, prevent_cse, differentiated, policy):
    nonzero = [not isinstance(t, Zero) for t in tangents]
    known, tangent, needed, n_saved, nonzero_out = jaxpr.memo(
        ("remat", tuple(nonzero), policy), lambda: _split(jaxpr, nonzero, policy))
    if flags.log_checkpoint_residuals.value:
        _log_residuals(jaxpr, known, needed)
    params = dict(prevent_cse=prevent_cse, policy=policy)
    n_out = len(jaxpr.out_avals)
    outs = remat_p.bind(*primals, jaxpr=known, differentiated=differentiated, **params)
    operands = [x for x, used in zip(primals, needed) if used] + list(outs[n_out:])
    if flags.remat_barrier_no_cotangents.value and prevent_cse:
        told = (True,) * len(needed) if prevent_cse is True else prevent_cse
        params["prevent_cse"] = (*[f for f, used in zip(told, needed) if used], *[True] * n_saved, *[False] * sum(nonzero))
    elif type(prevent_cse) is tuple:
        params["prevent_cse"] = _padded([f for f, used in zip(prevent_cse, needed) if used], tangent)
    out_tangents = iter(remat_p.bind(*operands, *(t for t in tangents if not isinstance(t, Zero)), jaxpr=tangent,
                                     differentiated=True, **params))
    return outs[:n_out], [next(out_tangents) if nz else Zero.of(x) for x, nz in zip(outs, nonzero_out)]


def _log_residuals(closed: ClosedJaxpr, known: ClosedJaxpr, needed: Sequence[bool]) -> None:
    """Say what the derivative of a checkpoint keeps: arguments, and what was computed and saved."""
    logger, debug = logging.getLogger("jax.checkpoint"), closed.jaxpr.debug_info
    name = debug.func_name if debug is not None else "a function"
    for i, (v, need) in enumerate(zip(closed.jaxpr.invars, needed)):
        if need:
            logger.warning("checkpoint of %s keeps its input %d, %s", name, i, v.aval.str_short())
    made = makers(known.jaxpr)
    for v in known.jaxpr.outvars[len(closed.out_avals):]:
        logger.warning("checkpoint of %s saves %s, %s", name, v.aval.str_short(), _origin(made[v], v) if v in made else "an input")


def _remat_lower(b, *xs, jaxpr, prevent_cse, differentiated, policy):
    if prevent_cse is True and differentiated and xs:
        xs = b.barrier(xs)
    elif prevent_cse and differentiated and any(prevent_cse):
        apart = iter(b.barrier([x for x, f in zip(xs, prevent_cse) if f]))
        xs = [next(apart) if f else x for x, f in zip(xs, prevent_cse)]
    return b.jaxpr(jaxpr, *xs)


def _remat_split(unknown, params):
    """The results that are known now; the others later, from all operands, with everything in between computed again."""
    parts = split_jaxpr(params["jaxpr"], unknown)
    if all(parts.out_unknown):
        return None
    closed, n_known = params["jaxpr"], len(parts.out_unknown) - sum(parts.out_unknown)
    used = [i < n_known for i in range(len(parts.known.jaxpr.outvars))]
    known, _ = dce(parts.known.jaxpr, used, keep_inputs=True)
    late = closed.jaxpr.replace(outvars=[v for v, u in zip(closed.jaxpr.outvars, parts.out_unknown) if u])
    early = {**params, "jaxpr": ClosedJaxpr(known, closed.consts)}
    return EquationSplit(
        parts.out_unknown, [i for i, u in enumerate(unknown) if not u],
        _flags_of_derived(early, early["jaxpr"], False, [not u for u in unknown], None), range(len(unknown)),
        {**params, "jaxpr": ClosedJaxpr(late, closed.consts)})


remat_p = program_call("remat2", _remat_lower, _flags_of_derived, _flags_by_role, linearize=_remat_linearize, split=_remat_split, takes_refs=True,
                       impl=lambda *args, jaxpr, **_: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args), traits=Traits(Kind.CALL, scope="checkpoint"))


def saved_residuals(f: Callable[..., PyTree], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
    """What differentiating ``f`` would keep for the backward pass: ``(type, where it comes from)`` for each value, arguments first.

    >>> [str(aval) for aval, _ in jax.ad_checkpoint.saved_residuals(lambda x: jnp.sin(x) * 2, 1.0)]
    ['~float32[]']
    """
    flat, in_tree = tree.flatten((args, kwargs))
    names = LazyNames(f, in_tree, ((), ()))
    found: list = []

    def run(*leaves):
        def flat_fun(*xs):
            a, k = tree.unflatten(in_tree, xs)
            return tree.leaves(f(*a, **k))
        outs, inputs, trace, tangents = linearize_flat(flat_fun, leaves)
        _, residuals = trace.to_jaxpr(inputs, [t for t in tangents if not isinstance(t, Zero)])
        position = {id(x): i for i, x in enumerate(leaves)}
        for r in sorted(residuals, key=lambda r: position.get(id(r), len(leaves))):
            if id(r) in position:
                where = f"from the argument {names[position[id(r)]]}"
            elif isinstance(r, Tracer) and r._trace.producer(r._var) is not None:
                where = _origin(r._trace.producer(r._var), r._var)
            else:
                where = "from a constant"
            found.append((get_aval(r), where))
        return outs
    trace_to_jaxpr(run, [get_aval(x) for x in flat])
    return found


def _origin(eqn: JaxprEqn, var: Var) -> str:
    """The operation that makes ``var``, a result of ``eqn``: inside, if that is a call of a program."""
    if eqn.primitive is name_p:
        return f"named '{eqn.params['name']}' from {eqn.source_info.place}"
    inner = program_of(eqn)
    if inner is not None and len(inner.jaxpr.outvars) == len(eqn.outvars):
        made = inner.jaxpr.outvars[eqn.outvars.index(var)]
        producer = next((e for e in inner.jaxpr.eqns if made in e.outvars), None)
        if producer is not None and eqn.primitive.traits.kind is not Kind.LOOP:
            return _origin(producer, made)
    return f"output of {eqn.primitive.name} from {eqn.source_info.place}"


def print_saved_residuals(f: Callable[..., PyTree], *args: Any, **kwargs: Any) -> None:
    """Print `saved_residuals`, a line each.

    >>> jax.ad_checkpoint.print_saved_residuals(lambda x: x * 2, 1.0)  # nothing
    """
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {where}")
