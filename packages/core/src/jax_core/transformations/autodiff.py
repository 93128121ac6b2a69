"""Derivatives: the public functions. The traces and rules are in `forward` and `reverse`."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import backends
from ..configuration import context, flags as config
from ..references.discharge import pure
from ..references.primitives import RefTangent
from ..representation import dtypes, splits, tree, tree_nodes
from ..representation.arguments import check_callable, check_values, is_position
from ..representation.aval import AbstractRef, ShapedArray, as_type, described_value, get_aval, plain_values
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr, needs_x64, types_compatible
from ..representation.literals import typed
from ..representation.primitive import Linear, Zero
from ..representation.source import describe_function, name_of, transformed
from ..representation.tracebacks import api_boundary, boundary
from ..representation.typing import AxisName
from ..traces.staging import trace_to_jaxpr
from ..traces.structural import convert_element_type_p, full, instantiate, reshard, zeros
from ..traces.trace import EVAL, Tracer
from .forward import has_tangent, jvp_flat
from .pullback import VJP, Tape, flags, is_weak, shown, shown_of
from .reverse import backward_pass, linearize_flat, vjp_flat
from .vmap import vmap

if TYPE_CHECKING:
    from ..representation.typing import PyTree


_LEAF = tree.structure(0)


def _flat_function(fun: Callable, in_tree: Any, kwargs: dict, has_aux: bool, name: str = "grad", scope: str = "jvp",
                   user: Callable | None = None):
    """``fun`` on flat leaves; returns the function and a record filled at each call: ``out_tree``, ``aux``.

    ``scope``: the transformation that names what it traces, or nothing. ``user``: the user's function, where ``fun`` calls it.
    """
    record: dict[str, Any] = {}

    def flat(*leaves):
        with transformed(scope):
            out = fun(*tree.unflatten(in_tree, leaves), **kwargs)
        if has_aux:
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise TypeError(f"{name}: with has_aux=True {describe_function(user or fun)} must return a pair (output, "
                                f"auxiliary data), got {described_value(out)}")
            out, aux = out
            aux_leaves, record["aux_tree"] = tree.flatten(aux)
            record["aux_count"] = len(aux_leaves)
        else:
            aux_leaves = []
        outs, record["out_tree"] = tree.flatten(out)
        check_values(user or fun, record["out_tree"], outs)
        record["count"] = len(outs)
        return [*outs, *aux_leaves]
    return flat, record


def positions(name: str, argnums) -> tuple[int, ...]:
    """``argnums`` as a tuple. Raises TypeError for what names no positions."""
    try:
        return (argnums.__index__(),) if is_position(argnums) else tuple(i.__index__() for i in argnums)
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: argnums must be an integer or several, got {argnums!r}; arguments are differentiated by position, "
                        "not by name") from None


def positions_among(name: str, argnums, count: int) -> tuple[int, ...]:
    """``argnums`` as a tuple of positions from 0 among ``count`` arguments. Raises ValueError where one of them is not there, and as `positions`."""
    nums = positions(name, argnums)
    if not all(-count <= i < count for i in nums):
        raise ValueError(f"{name}: argnums={argnums} names an argument that there is not; the function was called with {count}")
    return tuple(i % count for i in nums)


def split_args(name: str, fun: Callable, args: tuple, argnums):
    """The arguments to differentiate, and a function that puts values in their places."""
    nums = positions(name, argnums)
    if any(not -len(args) <= i < len(args) for i in nums):
        kind = TypeError if name in ("grad", "value_and_grad") and max(nums) >= len(args) else ValueError  # as the public functions have it
        raise kind(f"{name}: argnums={argnums} but {describe_function(fun)} was called with {len(args)} "
                   f"positional argument{'s' * (len(args) != 1)}; differentiated arguments must be passed by position")
    nums = tuple(i % len(args) for i in nums)
    if not nums:
        raise ValueError(f"{name}: argnums={argnums} names no argument of {describe_function(fun)}; name one at least")
    if len(set(nums)) < len(nums):
        raise TypeError(f"{name}: argnums={argnums} names an argument of {describe_function(fun)} twice; name each once")

    def place(*values):
        given = dict(zip(nums, values))
        return [given.get(i, x) for i, x in enumerate(args)]
    return tuple(args[i] for i in nums), place


def _check_inputs(name: str, leaves: Sequence[Any], in_tree: Any, holomorphic: bool, allow_int: bool) -> None:
    """Raise TypeError where one of ``leaves`` cannot be differentiated by."""
    for i, x in enumerate(leaves):
        try:
            _check_input(name, x, holomorphic, allow_int)
        except TypeError as error:
            path = tree.flatten_with_path(tree.unflatten(in_tree, leaves))[0][i][0]
            if len(path) > 1:  # the argument alone needs no further word
                error.add_note(f"It is at {tree.keystr(path[1:])} of its argument.")
            raise


def _check_input(name: str, x: Any, holomorphic: bool, allow_int: bool) -> None:
    try:
        aval = get_aval(x)
    except TypeError as error:
        pytree = ", or make its class a pytree (jax.tree_util.register_dataclass)" if hasattr(x, "__dataclass_fields__") else ""
        raise TypeError(f"{name}: {error}, so nothing can be differentiated with respect to it; close over it, leave its argument "
                        f"out of argnums{pytree}.") from None
    if type(aval) is AbstractRef:
        raise TypeError(f"{name} cannot differentiate with respect to a mutable reference, got an argument of type {aval}: its "
                        "gradient must be added to a reference. Use jax.vjp and the pullback's method with_refs.")
    if aval.is_high:
        return
    if holomorphic:
        if not dtypes.issubdtype(aval.dtype, np.complexfloating):
            raise TypeError(f"{name}: with holomorphic=True each input must be complex, got {aval.str_short()}; convert it, or "
                            "leave holomorphic out")
    elif name in ("jacfwd", "hessian"):
        if not dtypes.issubdtype(aval.dtype, np.floating):
            raise TypeError(f"{name}: an input must be of a real float dtype, got {aval.str_short()}; convert it to float (for a "
                            "holomorphic function of complex numbers pass holomorphic=True, for tangents of dtype float0 use jax.jvp)")
    elif not allow_int and not dtypes.issubdtype(aval.dtype, np.inexact):
        raise TypeError(f"{name}: an input must be of a float or complex dtype, got {aval.str_short()}; convert it to float, "
                        "or pass allow_int=True, which gives a gradient of dtype float0")


def _check_output(name: str, x: Any, holomorphic: bool) -> None:
    dtype = get_aval(x).dtype
    if holomorphic:
        _check_holomorphic_output(name, dtype)
    elif dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{name}: the function must return real floats, it returned {dtype.name}; pass holomorphic=True if it is "
                        "holomorphic, else take jax.vjp, or differentiate its real part")
    elif not dtypes.issubdtype(dtype, np.floating):
        raise TypeError(f"{name}: the function must return real floats, it returned {dtype.name}; convert its result, or take "
                        "jax.vjp")


def _check_holomorphic_output(name: str, dtype: Any) -> None:
    if not dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{name}: with holomorphic=True the function must return complex numbers, it returned {dtype.name}; "
                        "leave holomorphic out for a real function")


def value_and_grad(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False,
                   holomorphic: bool = False, allow_int: bool = False,
                   reduce_axes: Sequence[AxisName] = ()) -> Callable:
    """A function that returns the value of ``fun``, a scalar, and its gradient.

    Args:
      argnums: which positional arguments to differentiate; several give a tuple of gradients.
      has_aux: ``fun`` returns ``(value, auxiliary data)``, and so does the value here.
      holomorphic: ``fun`` is a holomorphic function of complex arguments.
      allow_int: integer arguments are allowed; their gradients have dtype float0.

    Raises:
      TypeError: the result is not a real scalar, or an argument has the wrong dtype.

    >>> value, slope = jax.value_and_grad(lambda x: x ** 3)(2.)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """
    return _value_and_grad("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)


def _value_and_grad(name: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool, allow_int: bool,
                    reduce_axes: Sequence[AxisName]) -> Callable:
    check_callable(name, fun)
    if reduce_axes:
        raise NotImplementedError(f"{name}: reduce_axes is not supported; reduce with lax.psum instead")
    positions(name, argnums)

    @boundary(fun)
    def value_and_grad_of(*args, **kwargs):
        chosen, place = split_args(name, fun, args, argnums)
        flat, in_tree = tree.flatten(chosen)
        flat = plain_values(flat)
        _check_inputs(name, flat, in_tree, holomorphic, allow_int)
        flat = typed(flat)
        run, record = _flat_function(lambda *values: fun(*place(*values), **kwargs), in_tree, {}, has_aux, name, user=fun)
        outs, pullback = vjp_flat(run, flat)
        if record["out_tree"] != _LEAF or np.shape(outs[0]) != () or type(get_aval(outs[0])) is AbstractRef:
            got = tree.unflatten(record["out_tree"], [get_aval(x).str_short() for x in outs[:record["count"]]])
            raise TypeError(f"Gradient only defined for scalar-output functions. {describe_function(fun)} returned "
                            f"{got}; reduce it to one number, as by its mean or sum, or use jax.jacrev or jax.vjp for other outputs.")
        _check_output(name, outs[0], holomorphic)
        cts = pullback(_one(outs[0]), *[Zero.of(x) for x in outs[1:]])
        grads = tree.unflatten(in_tree, [shown_of(get_aval(x), ct) for x, ct in zip(flat, cts)])
        grads = grads[0] if is_position(argnums) else grads
        value = outs[0]
        if has_aux:
            return (value, tree.unflatten(record["aux_tree"], outs[1:])), grads
        return value, grads
    return value_and_grad_of


def _one(value: Any) -> Any:
    """The cotangent of the result of a function that is differentiated: a float, as a gradient with respect to a weak value is weak."""
    aval = splits.cotangent_type(get_aval(value))
    one = full(aval, 1.0)
    if aval.placement is None or any(aval.sums) or isinstance(value, Tracer):
        return one
    return backends.get().put(one, aval, value.sharding)  # a type does not say which devices


def grad(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False,
         allow_int: bool = False, reduce_axes: Sequence[AxisName] = ()) -> Callable:
    """A function that returns the gradient of ``fun``, and its auxiliary data with ``has_aux``; see `value_and_grad`.

    It computes the value on the way; `value_and_grad` returns it, too. The gradient costs a few times what ``fun`` costs, however many
    numbers the argument holds. The function that is returned can be mapped, compiled and differentiated again.

    Args:
      fun: a function of arrays, numbers and pytrees of them that returns one real float.
      argnums: which positional arguments to differentiate by, from 0 on; several give a tuple, one entry for each. Arguments that are
        passed by name are not differentiated by.
      has_aux: ``fun`` returns a pair, the float and anything else, which is handed through.
      holomorphic: ``fun`` is a holomorphic function of complex arguments. Without it arguments may be complex where the result is real: the
        gradient then is the conjugate of the direction of steepest ascent.
      allow_int: integer arguments are allowed; their gradients have dtype float0.
      reduce_axes: must be empty.

    Returns:
      a function of the same arguments, whose result has the structure, shapes and dtypes of the argument that is differentiated by; with
      ``has_aux`` a pair of this and what was handed through.

    Raises:
      TypeError: when called: the result is not one real float, an argument has another dtype, or ``argnums`` is out of range.

    >>> jax.grad(lambda x: x ** 3)(2.)
    Array(12., dtype=float32, weak_type=True)
    >>> jax.grad(lambda w, x: jnp.sum(w * x), argnums=(0, 1))(2., jnp.array([3., 4.]))
    (Array(7., dtype=float32, weak_type=True), Array([2., 2.], dtype=float32))
    """
    both = _value_and_grad("grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @boundary(fun)
    def grad_of(*args, **kwargs):
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return grad_of


@api_boundary
def jvp(fun: Callable[..., PyTree], primals: Sequence[object], tangents: Sequence[object], has_aux: bool = False) -> tuple:
    """Value of ``fun`` at ``primals`` and its derivative along ``tangents``.

    Args:
      primals, tangents: tuples of equal structure, shapes and (tangent) dtypes; integer primals take float0 tangents.

    Returns:
      ``(value, tangent)``, or ``(value, tangent, aux)`` with ``has_aux``.

    Raises:
      TypeError: structures or dtypes differ. ValueError: shapes differ.

    >>> value, slope = jax.jvp(lambda x, y: x * y, (2., 3.), (1., 0.))
    >>> float(value), float(slope)
    (6.0, 3.0)
    """
    check_callable("jvp", fun)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp: primal and tangent arguments must be tuples or lists, got "
                        f"{type(primals).__name__} and {type(tangents).__name__}")
    flat, in_tree = tree.flatten(tuple(primals))
    flat_tangents, tangent_tree = tree.flatten(tuple(tangents))
    if type(primals) is not type(tangents):
        raise TypeError(f"jvp: primals and tangents must both be tuples or both be lists, got {type(primals).__name__} and "
                        f"{type(tangents).__name__}")
    if in_tree != tangent_tree:
        raise TypeError(f"jvp: primal and tangent arguments must have the same tree structure, got {in_tree} and "
                        f"{tangent_tree}")
    flat_tangents = [_check_tangent("jvp", x, t) for x, t in zip(flat, flat_tangents)]
    run, record = _flat_function(fun, in_tree, {}, has_aux, "jvp")
    outs, out_tangents = jvp_flat(run, flat, flat_tangents)
    n = record["count"]
    _refuse_references("jvp", fun, outs[:n])
    value = tree.unflatten(record["out_tree"], outs[:n])
    tangent = tree.unflatten(record["out_tree"], list(map(_shown_beside, outs, out_tangents[:n])))
    return (value, tangent, tree.unflatten(record["aux_tree"], outs[n:])) if has_aux else (value, tangent)


def _refuse_references(name: str, fun: Callable, outs: Sequence[Any]) -> None:
    for x in outs:
        if type(get_aval(x)) is AbstractRef:
            raise ValueError(f"{name}: {describe_function(fun)} returned a mutable reference of type {get_aval(x)}, which has no derivative; "
                             "return its contents, ref[...], or make the reference outside and pass it in.")


def _shown_beside(value, tangent):
    """A tangent as users get it; one that was given as a number is an array where the value has become one."""
    if isinstance(tangent, (float, complex)) and not isinstance(value, (float, complex, Tracer)):
        return backends.get().put(tangent, get_aval(value))
    return shown_of(get_aval(value), tangent)


def _check_tangent(name, x, t):
    want, got = get_aval(x).to_tangent_aval(), get_aval(t)
    if want.is_high or got.is_high:
        if got != want:
            raise TypeError(f"{name}: the tangent of a primal of type {get_aval(x)} has the type {want}, got {got}")
        return t
    if got.dtype != want.dtype:
        raise TypeError(f"{name}: primal and tangent arguments must have equal types, except that integer primals take "
                        f"tangents of dtype float0; got primal dtype {get_aval(x).dtype} and so expected tangent dtype "
                        f"{want.dtype}, but got tangent dtype {got.dtype} instead.")
    if got.shape != want.shape:
        raise ValueError(f"{name} called with different primal and tangent shapes; got primal shape {want.shape} and "
                         f"tangent shape {got.shape}")
    if want.dtype == dtypes.float0:
        return Zero(want)
    return RefTangent(t) if type(want) is AbstractRef else t


@api_boundary
def vjp(fun: Callable[..., PyTree], *primals: Any, has_aux: bool = False, reduce_axes: Sequence[object] = (),
        saveable_args: bool = True,
        in_nzs: Sequence[bool] | None = None) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]:
    """Value of ``fun`` at ``primals``, and the function from a cotangent of it to a tuple of cotangents of ``primals``.

    Args:
      primals: pytrees of arrays. The gradient of a mutable reference is that of its first contents; it can only be added
        to another reference, see `pullback.VJP.with_refs`.
      has_aux: ``fun`` returns ``(value, auxiliary data)``.
      saveable_args: a bool, or nested tuples of bools that are a prefix of ``primals``: which arguments the pullback may
        keep. Others must be put back, in its attribute ``args_res``, before it is called.
      in_nzs: such a prefix: which arguments to differentiate; the cotangents of the others are zeros.

    Returns:
      ``(value, pullback)``, or ``(value, pullback, aux)`` with ``has_aux``. ``reduce_axes`` must be empty.

    Raises:
      TypeError: ``fun`` cannot be called.
      NotImplementedError: ``reduce_axes`` is given.

    >>> out, pullback = jax.vjp(lambda x, y: x * y, 2., 3.)
    >>> [float(x) for x in pullback(1.)]
    [3.0, 2.0]
    """
    check_callable("vjp", fun)
    if reduce_axes:
        raise NotImplementedError("vjp: reduce_axes is not supported; reduce with lax.psum instead")
    flat, in_tree = tree.flatten(primals)
    flat = typed(plain_values(flat))
    avals = [get_aval(x) for x in flat]
    nonzero = list(map(has_tangent, avals))
    if in_nzs is not None:
        nonzero = [a and b for a, b in zip(nonzero, flags("in_nzs", in_nzs, in_tree))]
    run, record = _flat_function(fun, in_tree, {}, has_aux, "vjp")
    outcome = linearize_flat(run, flat, nonzero)
    n = record["count"]
    saveable = (True,) if saveable_args is True else flags("saveable_args", saveable_args, in_tree)
    outs = outcome[0]
    result = VJP(Tape(flat, nonzero, *outcome[1:]), nonzero, avals, in_tree, record["out_tree"], [get_aval(x) for x in outs[:n]],
                 name_of(fun))
    if not all(saveable):
        result.keep(saveable)
    value = tree.unflatten(record["out_tree"], outs[:n])
    return (value, result, tree.unflatten(record["aux_tree"], outs[n:])) if has_aux else (value, result)


@api_boundary
def linearize(fun: Callable[..., PyTree], *primals: Any, has_aux: bool = False,
              in_nzs: Sequence[bool] | None = None) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]:
    """Value of ``fun`` at ``primals``, and its derivative there as a linear function of tangents.

    The derivative can be called many times without evaluating ``fun`` again.

    Args:
      in_nzs: a bool, or nested tuples of bools that are a prefix of ``primals``: which arguments have a tangent; tangents
        given for the others are ignored, as they are for mutable references.

    Returns:
      ``(value, derivative)``, or ``(value, derivative, aux)`` with ``has_aux``. ``derivative`` is a pytree of the values that it
      keeps; its attribute ``out_nzs`` says which results depend on the arguments.

    Raises:
      TypeError: ``fun`` cannot be called; raised by the derivative, for tangents of another structure.

    >>> out, derivative = jax.linearize(lambda x: x ** 2, 3.)
    >>> derivative(1.)
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable("linearize", fun)
    flat, in_tree = tree.flatten(primals)
    flat = plain_values(flat)
    run, record = _flat_function(fun, in_tree, {}, has_aux, "linearize")
    in_avals = [get_aval(x) for x in flat]
    wanted = [True] * len(flat) if in_nzs is None else flags("in_nzs", in_nzs, in_tree)
    checked = [w and type(a) is not AbstractRef for w, a in zip(wanted, in_avals)]
    nonzero = [c and has_tangent(a) for c, a in zip(checked, in_avals)]
    outs, inputs, trace, tangents = linearize_flat(run, flat, nonzero)
    n, out_tree = record["count"], record["out_tree"]
    _refuse_references("linearize", fun, outs[:n])
    live = [t for t in tangents[:n] if not isinstance(t, Zero)]
    jaxpr, residuals = trace.to_jaxpr(inputs, live)
    out_avals = [get_aval(x) for x in outs[:n]]
    out_zeros = [Zero(t.aval) if isinstance(t, Zero) else None for t in tangents[:n]]

    def apply(jaxpr, residuals, *given):
        flat_tangents, tangent_tree = tree.flatten(given)
        if tangent_tree != in_tree:
            raise TypeError(f"linearize: tangents of structure {tangent_tree} given for primals of structure {in_tree}")
        given = [_check_linear_input(a, t) if w else None for a, t, w in zip(in_avals, flat_tangents, checked)]
        results = iter(eval_jaxpr(jaxpr, (), *residuals, *(t for t, nz in zip(given, nonzero) if nz)))
        found = [next(results) if zero is None else zero for zero in out_zeros]
        if any([is_weak(a) and not is_weak(get_aval(t)) for a, t, nz in zip(in_avals, given, nonzero) if nz]):
            return tree.unflatten(out_tree, list(map(shown, found)))  # a tangent that is stronger than its value makes strong what it is multiplied into
        return tree.unflatten(out_tree, list(map(shown_of, out_avals, found)))
    derivative: Any = tree_nodes.Partial(functools.partial(apply, jaxpr), residuals)
    derivative.out_nzs = tree.skeleton(out_tree, [not isinstance(t, Zero) for t in tangents[:n]])
    value = tree.unflatten(out_tree, outs[:n])
    return (value, derivative, tree.unflatten(record["aux_tree"], outs[n:])) if has_aux else (value, derivative)


def _check_linear_input(aval, t):
    want, got = aval.to_tangent_aval(), get_aval(t)
    if not types_compatible(want, got):
        raise ValueError(f"call of a linearized function: the tangent of {aval.str_short()} must be {want.str_short()}, got "
                         f"{got.str_short()}; linearize anew at a point of the new shape")
    return t


@api_boundary
def linear_transpose(fun: Callable[..., PyTree], *primals: Any, reduce_axes: Sequence[object] = ()) -> Callable:
    """The transpose of ``fun``, which must be linear; ``primals`` give types only: arrays, or anything with
    ``shape`` and ``dtype``.

    Returns:
      a function from a cotangent of the result to a tuple of cotangents of ``primals``; it is a pytree.

    Raises:
      TypeError: neither all inputs and results are inexact nor all integers. NotImplementedError: ``fun`` is not linear.

    >>> jax.linear_transpose(lambda x: 3. * x, 1.)(2.)
    (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable("linear_transpose", fun)
    flat, in_tree = tree.flatten(primals)
    flat = plain_values(list(map(as_type, flat)))
    avals = list(map(get_aval, flat))
    run, record = _flat_function(fun, in_tree, {}, False, scope="")
    jaxpr, consts, out_avals = trace_to_jaxpr(run, avals)
    values = [*avals, *out_avals]
    if not (all(has_tangent(a) or a.dtype == dtypes.float0 for a in values)
            or all(dtypes.issubdtype(a.dtype, np.integer) for a in values)):
        raise TypeError(f"linear_transpose: {describe_function(fun)} maps {[a.str_short() for a in avals]} to "
                        f"{[a.str_short() for a in out_avals]}; inputs and results must all be floating-point or complex, or all "
                        "integers")
    closed = pure(ClosedJaxpr(jaxpr, consts))

    def apply(consts, cotangent):
        flat_cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != record["out_tree"]:
            raise TypeError(f"linear_transpose: cotangent of structure {ct_tree} given for a result of structure "
                            f"{record['out_tree']}")
        for ct, aval in zip(flat_cts, out_avals):
            if not types_compatible(get_aval(ct), aval):
                raise TypeError(f"linear_transpose: cotangent of type {get_aval(ct).str_short()} given for a result of "
                                f"type {aval.str_short()}")
        cts = backward_pass(closed.jaxpr, consts, [Linear(a) for a in avals], flat_cts)
        if context.state.trace is EVAL:  # a number that came through as it was
            cts = [backends.get().put(ct) if isinstance(ct, (int, float, complex)) else ct for ct in cts]
        return tree.unflatten(in_tree, list(map(shown_of, avals, cts)))
    return tree_nodes.Partial(apply, list(closed.consts))


# -- Jacobians ---------------------------------------------------------------------------------------------------------

_COMPUTED = 1 << 10
"""A basis of as many elements is computed by the program that is traced; a constant would be memory that it keeps and reads."""


def _basis(leaves: Sequence[Any]) -> list[Any]:
    """For each leaf an array ``(total size, *shape)`` that runs through the standard basis of all leaves together."""
    if not config.enable_x64.value and any(map(needs_x64, leaves)):
        with config.enable_x64(True):
            return _basis_parts(leaves)
    return _basis_parts(leaves)


def _basis_parts(leaves):
    sizes = [int(np.prod(np.shape(x))) for x in leaves]
    total, start, result, from_host = sum(sizes), 0, [], backends.get().from_host
    for x, n in zip(leaves, sizes):
        if config.one_form.value:  # a constant would have as many numbers
            rows, columns = _positions(total).reshape(total, 1), _positions(n).reshape(1, n) + np.int32(start)
            same = convert_element_type_p.bind(rows == columns, new_dtype=get_aval(x).dtype, weak_type=get_aval(x).weak_type)
            part = same.reshape(total, *np.shape(x))
        elif total * n >= _COMPUTED and context.state.trace is not EVAL:
            rows, columns = from_host(np.arange(total)[:, None].astype(np.int32), False), from_host(np.arange(start, start + n, dtype=np.int32)[None], False)
            same = convert_element_type_p.bind(rows == columns, new_dtype=get_aval(x).dtype, weak_type=get_aval(x).weak_type)
            part = same.reshape(total, *np.shape(x))
        else:
            rows = np.zeros((total, n), get_aval(x).dtype)
            rows[np.arange(start, start + n), np.arange(n)] = 1
            part = from_host(rows.reshape(total, *np.shape(x)), get_aval(x).weak_type, True)
        result.append(_split_as(x, part))
        start += n
    return result


def _positions(n: int) -> Any:
    """1, 2, ..., n, computed."""
    return full(ShapedArray((n,), np.int32), 1).cumsum()


def _split_as(x: Any, part: Any) -> Any:
    """The basis ``part`` of tangents of ``x``, each of them split over mesh axes as the type of ``x`` says."""
    placement = getattr(get_aval(x), "placement", None)
    if placement is None or placement.spec.unreduced or placement.spec.reduced:
        return part
    return reshard(part, splits.with_axis(placement, 0))


def _block(x: Any, tangent: Any) -> Any:
    """A tangent or cotangent of ``x`` as part of a Jacobian. That of integers and booleans is zeros of their own dtype, so that
    it has entries; keys have no such zeros and keep float0."""
    aval = get_aval(x)
    if has_tangent(aval) or isinstance(aval.dtype, dtypes.ExtendedDType):
        return shown_of(aval, instantiate(tangent))
    return zeros(aval)


def _cut(rows: Any, shapes: Sequence[tuple], axis: int) -> list:
    """Split axis ``axis`` (0 or last) of ``rows`` into pieces, one for each shape, and give it that shape.

    Uses the methods that every array has, as indexing is declared in numpy_api.
    """
    shape = np.shape(rows)
    axis = axis % len(shape)
    if len(shapes) == 1:
        return [rows.reshape((*shape[:axis], *shapes[0], *shape[axis + 1:]))]
    pieces, start = [], 0
    for s in shapes:
        n = int(np.prod(s))
        piece = rows[(slice(None),) * axis + (slice(start, start + n),)]
        pieces.append(piece.reshape((*shape[:axis], *s, *shape[axis + 1:])))
        start += n
    return pieces


def _differentiated(name, fun, args, kwargs, argnums, has_aux, holomorphic, allow_int):
    """The leaves to differentiate by, checked, their structure, and ``fun`` as a function of them (`_flat_function`)."""
    chosen, place = split_args(name, fun, args, argnums)
    flat, in_tree = tree.flatten(chosen)
    flat = plain_values(flat)
    _check_inputs(name, flat, in_tree, holomorphic, allow_int)
    return flat, in_tree, *_flat_function(lambda *values: fun(*place(*values), **kwargs), in_tree, {}, has_aux, name, user=fun)


def jacfwd(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False,
           holomorphic: bool = False) -> Callable:
    """The Jacobian of ``fun``, column by column in forward mode (best for few inputs and many outputs).

    Args:
      fun: a function of arrays, numbers and pytrees of them that returns a pytree of arrays.
      argnums: which positional arguments to differentiate by, from 0 on; several give a tuple, one entry for each. Arguments that are
        passed by name are not differentiated by.
      has_aux: ``fun`` returns a pair, what is differentiated and anything else, which is handed through.
      holomorphic: ``fun`` is a holomorphic function of complex arguments; else arguments must be real.

    Raises:
      TypeError: when called: an argument has another dtype. ValueError: ``argnums`` is out of range.

    Returns:
      a function whose result has the structure of ``fun``'s output, and at each leaf that of the differentiated
      arguments; a block has the shape ``output.shape + input.shape``.

    >>> jax.jacfwd(lambda x: jnp.array([x[0] * x[1], x[1]]))(jnp.array([2., 3.]))
    Array([[3., 2.],
           [0., 1.]], dtype=float32)
    """
    return _jacfwd("jacfwd", fun, argnums, has_aux, holomorphic)


def _jacfwd(name: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool) -> Callable:
    check_callable(name, fun)
    positions(name, argnums)

    @boundary(fun)
    def jacobian_of(*args, **kwargs):
        flat, in_tree, run, record = _differentiated(name, fun, args, kwargs, argnums, has_aux, holomorphic, False)

        def push(*tangents):
            outs, out_tangents = jvp_flat(run, flat, list(tangents))
            n = record["count"]
            return [*map(_block, outs[:n], out_tangents)], outs[n:]
        columns, aux = vmap(push, out_axes=(-1, None))(*_basis(flat))
        for x in columns:
            _check_jacobian_output(name, x, holomorphic)
        shapes = [np.shape(x) for x in flat]
        rows = [tree.unflatten(in_tree, _cut(c, shapes, -1)) for c in columns]
        rows = [r[0] for r in rows] if is_position(argnums) else rows
        result = tree.unflatten(record["out_tree"], rows)
        return (result, tree.unflatten(record["aux_tree"], aux)) if has_aux else result
    return jacobian_of


def _check_jacobian_output(name, x, holomorphic):
    if holomorphic:
        _check_holomorphic_output(name, get_aval(x).dtype)


def jacrev(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False,
           allow_int: bool = False) -> Callable:
    """The Jacobian of ``fun``, row by row in reverse mode (best for many inputs and few outputs); see `jacfwd`.

    Args:
      fun: a function of arrays, numbers and pytrees of them that returns a pytree of floats.
      argnums: which positional arguments to differentiate by, from 0 on; several give a tuple, one entry for each. Arguments that are
        passed by name are not differentiated by.
      has_aux: ``fun`` returns a pair, what is differentiated and anything else, which is handed through.
      holomorphic: ``fun`` is a holomorphic function of complex arguments; else results must be real.
      allow_int: integer arguments are allowed; their derivatives have dtype float0.

    Returns:
      a function as of `jacfwd`.

    Raises:
      TypeError: when called: an argument or a result has another dtype. ValueError: ``argnums`` is out of range.

    >>> jax.jacrev(lambda x: jnp.array([x[0] * x[1], x[1]]))(jnp.array([2., 3.]))
    Array([[3., 2.],
           [0., 1.]], dtype=float32)
    """
    return _jacrev("jacrev", fun, argnums, has_aux, holomorphic, allow_int)


def _jacrev(name: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool, allow_int: bool) -> Callable:
    check_callable(name, fun)
    positions(name, argnums)

    @boundary(fun)
    def jacobian_of(*args, **kwargs):
        flat, in_tree, run, record = _differentiated(name, fun, args, kwargs, argnums, has_aux, holomorphic, allow_int)
        outs, pullback = vjp_flat(run, flat)
        n = record["count"]
        for x in outs[:n]:
            _check_output(name, x, holomorphic)
        none = [Zero.of(x) for x in outs[n:]]
        pull = lambda *cts: list(map(_block, flat, pullback(*cts, *none)))
        blocks = vmap(pull)(*_basis(outs[:n])) if n else ()
        shapes = [np.shape(x) for x in outs[:n]]
        cut = [_cut(block, shapes, 0) for block in blocks]  # for each input leaf, for each output leaf
        rows = [tree.unflatten(in_tree, [pieces[i] for pieces in cut]) for i in range(n)]
        rows = [r[0] for r in rows] if is_position(argnums) else rows
        result = tree.unflatten(record["out_tree"], rows)
        return (result, tree.unflatten(record["aux_tree"], outs[n:])) if has_aux else result
    return jacobian_of


jacobian = jacrev


def hessian(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False,
            holomorphic: bool = False) -> Callable:
    """The matrix of second derivatives: `jacfwd` of `jacrev`, one derivative an argument at each level.

    Args:
      fun: a function of arrays, numbers and pytrees of them that returns one real float, or a pytree of them, whose leaves have a matrix each.
      argnums: which positional arguments to differentiate by, from 0 on; several give a tuple, one entry for each. Arguments that are
        passed by name are not differentiated by.
      has_aux: ``fun`` returns a pair, what is differentiated and anything else, which is handed through.
      holomorphic: ``fun`` is a holomorphic function of complex arguments; else arguments must be real.

    Returns:
      a function whose result has the shape ``output.shape + input.shape + input.shape``, and for pytrees their structure twice.

    Raises:
      TypeError: when called: an argument has another dtype. ValueError: ``argnums`` is out of range.

    >>> jax.hessian(lambda x: x[0] ** 2 * x[1])(jnp.array([2., 3.]))
    Array([[6., 4.],
           [4., 0.]], dtype=float32)
    """
    return _jacfwd("hessian", _jacrev("hessian", fun, argnums, has_aux, holomorphic, False), argnums, has_aux, holomorphic)


# -- closures ----------------------------------------------------------------------------------------------------------

@api_boundary
def closure_convert(fun: Callable[..., PyTree], *example_args: Any) -> tuple[Callable, list]:
    """``fun`` with the traced values it closes over as explicit trailing arguments.

    Returns:
      the converted function ``(*args, *values)``, and the list of the (inexact) values. For use with `custom_vjp`.

    Raises:
      TypeError: raised by the converted function, for arguments of another structure.

    >>> scale = 3.
    >>> f, consts = jax.closure_convert(lambda x: scale * x, 1.)
    >>> f(2., *consts)
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable("closure_convert", fun)
    flat, in_tree = tree.flatten(example_args)
    run, record = _flat_function(fun, in_tree, {}, False, scope="")
    jaxpr, consts, _ = trace_to_jaxpr(run, [get_aval(x) for x in flat])
    hoist = [isinstance(x, Tracer) and has_tangent(get_aval(x)) for x in consts]
    values = [x for x, h in zip(consts, hoist) if h]
    out_tree = record["out_tree"]

    def converted(*args):
        n = len(args) - len(values)
        given = iter(args[n:])
        all_consts = [next(given) if h else x for x, h in zip(consts, hoist)]
        leaves, structure = tree.flatten(tuple(args[:n]))
        if structure != in_tree:
            raise TypeError(f"closure_convert: {describe_function(fun)} was converted for arguments of structure "
                            f"{in_tree}, and called with {structure}")
        return tree.unflatten(out_tree, eval_jaxpr(jaxpr, all_consts, *leaves))
    return converted, values
