"""vmap: the public function. The traces and rules are in `batching`."""
from __future__ import annotations

import numbers
from typing import Any, Callable, Hashable, Sequence

import numpy as np

from ..configuration import flags
from ..references.api import refuse_views
from ..representation import splits, tree
from ..representation.arguments import LazyPaths, argument_name, check_callable, check_values
from ..representation.aval import AbstractRef, get_aval, plain_values
from ..representation.high import MappingSpec
from ..representation.primitive import Zero
from ..representation.source import describe_function, transformed
from ..representation.tracebacks import boundary
from ..representation.typing import PyTree
from ..traces.structural import matchaxis, reduce_sum
from . import vmappable
from .batching import AxisData, batch_fun


def vmap(fun: Callable[..., PyTree], in_axes: int | None | Sequence[Any] = 0, out_axes: PyTree = 0,
         axis_name: Hashable | None = None, axis_size: int | None = None,
         spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
         sum_match: bool = False) -> Callable:
    """``fun`` mapped over axes of its arguments, as one batched computation.

    Args:
      in_axes: which axis of each argument is mapped; None for none. An int for all, or a tuple with an entry for each
        argument, each a pytree prefix of it. Keyword arguments are mapped along axis 0.
      out_axes: where the mapped axis goes in each result.
      axis_name: name of the axis for collectives (`lax.psum` ...).
      axis_size: length, needed where no argument is mapped.
      spmd_axis_name: mesh axes over which the mapped axis is spread.
      sum_match: a result that is mapped where ``out_axes`` says None is summed over the mapped axis; else that is an error.

    Raises:
      ValueError: axes of different lengths (each is named), or no mapped argument and no ``axis_size``.

    >>> jax.vmap(jnp.dot, in_axes=(0, None))(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    check_callable("vmap", fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    _check_options(in_axes, out_axes, axis_size)

    @boundary(fun)
    def vmapped(*args, **kwargs):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(f"vmap: in_axes has {len(in_axes)} entries, but {describe_function(fun)} was called with "
                             f"{len(args)} positional arguments; give one entry for each"
                             + (f" (the keyword arguments {sorted(kwargs)} have none: they are mapped over their first axis)" if kwargs else ""))
        if vmappable.registered and any(map(vmappable.is_vmappable, tree.leaves((args, kwargs), is_leaf=vmappable.is_vmappable))):
            return vmappable.mapped(fun, args, kwargs, in_axes, out_axes, axis_name, axis_size)
        flat, in_tree = tree.flatten((args, kwargs))
        flat = plain_values(flat)
        if any([type(getattr(x, "aval", None)) is AbstractRef for x in flat]):
            refuse_views("vmap", (args, kwargs))
        axes = _flat_axes(fun, in_axes, args, kwargs, in_tree)
        if vmappable.node_rules:
            vmappable.check_nodes((args, kwargs), axes, "in_axes")
        size = _mapped_size(fun, in_tree, flat, axes, axis_size)
        for x, a in zip(flat, axes):
            if isinstance(a, MappingSpec):
                get_aval(x).dec_rank(size, a)  # an error now where the type has no such method
        dims = [a if a is None or isinstance(a, MappingSpec) else a + np.ndim(x) if a < 0 else a for a, x in zip(axes, flat)]
        split_over = _split_over(fun, flat, dims)
        axis = AxisData(axis_name, size, _spread(fun, spmd_axis_name, split_over), split_over)
        out_tree: list = []

        def flat_fun(*leaves):
            given, given_kwargs = tree.unflatten(in_tree, leaves)
            result = fun(*given, **given_kwargs)
            outs, structure = tree.flatten(result)
            out_tree[:] = [structure]
            if vmappable.node_rules:
                vmappable.check_nodes(result, _flat_out_axes(fun, out_axes, structure), "out_axes")
            check_values(fun, structure, outs, also=Zero)
            return outs
        run, out_dims = batch_fun(flat_fun, axis, dims)
        with transformed("vmap"):
            outs = run(*flat)
        wanted = _flat_out_axes(fun, out_axes, out_tree[0])
        dims_out = out_dims()
        for i, (d, w) in enumerate(zip(dims_out, wanted)):
            if w is None and d is not None:
                if not sum_match or isinstance(d, MappingSpec):
                    raise _unasked_axis(fun, outs[i], d, LazyPaths(out_tree)[i])
                outs[i], dims_out[i] = reduce_sum(outs[i], (d,)), None
        return tree.unflatten(out_tree[0], [_place(fun, axis, x, d, w) for x, d, w in zip(outs, dims_out, wanted)])
    return vmapped


def _check_options(in_axes, out_axes, axis_size):
    if not (in_axes is None or isinstance(in_axes, (int, tuple)) or _is_int(in_axes) or vmappable.is_spec(in_axes) or
            isinstance(in_axes, MappingSpec)):
        raise TypeError(f"vmap: in_axes={in_axes!r} is of type {type(in_axes).__name__}; give an int, None, or a tuple with an "
                        "entry per positional argument")
    _check_axes("in_axes", in_axes)
    _check_axes("out_axes", out_axes)
    if axis_size is not None and getattr(axis_size, "__hash__", None) is None:
        raise ValueError(f"vmap: axis_size must be an integer, got {axis_size!r} of type {type(axis_size).__name__}")


def _is_int(x) -> bool:
    return (isinstance(x, numbers.Integral) or hasattr(type(x), "__index__") and getattr(x, "shape", None) == ()) and not isinstance(x, bool)


def _flat_axes(fun, in_axes, args, kwargs, in_tree):
    if _is_int(in_axes) or in_axes is None or isinstance(in_axes, MappingSpec):
        n_kwargs = len(tree.leaves(kwargs))
        return [in_axes] * (in_tree.num_leaves - n_kwargs) + [0] * n_kwargs
    try:
        positional = tree.broadcast_prefix(in_axes, args, is_leaf=lambda x: x is None, names=("in_axes", "args"))
    except ValueError as error:
        raise ValueError(f"vmap: in_axes={in_axes} does not fit the arguments args of {describe_function(fun)}, which have "
                         f"structure {tree.structure(args)}. {error}") from None
    return list(positional) + [0] * (in_tree.num_leaves - len(positional))


def _check_axes(name, axes):
    is_spec = vmappable.is_spec if vmappable.registered else None
    bad = [x for x in tree.leaves(axes, is_leaf=is_spec) if not (_is_int(x) or isinstance(x, MappingSpec) or is_spec and is_spec(x))]
    if bad:
        raise TypeError(f"vmap: {name} must hold ints and None, got {bad[0]!r} of type {type(bad[0]).__name__}")


def _flat_out_axes(fun, out_axes, out_tree):
    if _is_int(out_axes) or out_axes is None or isinstance(out_axes, MappingSpec):
        return [out_axes] * out_tree.num_leaves
    try:
        return tree.broadcast_prefix(out_axes, tree.unflatten(out_tree, range(out_tree.num_leaves)),
                                     is_leaf=lambda x: x is None, names=("out_axes", "result"))
    except ValueError as error:
        raise ValueError(f"vmap: out_axes={out_axes} does not fit the result of {describe_function(fun)}, which has structure "
                         f"{out_tree}. {error}") from None


def _unasked_axis(fun, x, dim, path) -> ValueError:
    return ValueError(f"vmap has mapped output but out_axes is None: at vmap out_axes for {describe_function(fun)}, {path} of type "
                      f"{get_aval(x)} got axis spec None but output was batched on axis {dim}, as it depends on the mapped "
                      "arguments; give it an axis there")


def _place(fun, axis, x, dim, wanted):
    if isinstance(dim, MappingSpec) or isinstance(wanted, MappingSpec):
        if dim != wanted:
            raise ValueError(f"vmap: a result of {describe_function(fun)} of type {get_aval(x)} is mapped as {dim}, and out_axes asks "
                             f"for {wanted}")
        return x
    if wanted is not None:
        ndim = np.ndim(x) + (dim is None)
        if not -ndim <= wanted < ndim:
            raise ValueError(f"vmap: out_axes={wanted} is out of bounds for a result of {describe_function(fun)} with "
                             f"{ndim} axes")
        wanted = wanted + ndim if wanted < 0 else wanted
    return matchaxis(axis, x, dim, wanted)


def _mapped_size(fun, in_tree, flat, axes, axis_size):
    sizes = set() if axis_size is None else {axis_size}
    for x, a in zip(flat, axes):
        if a is None or isinstance(a, MappingSpec):
            continue
        if get_aval(x).is_high:
            raise ValueError(f"vmap: the argument of non-array type {get_aval(x)} of {describe_function(fun)} is mapped as a MappingSpec "
                             f"in in_axes says, not along axis {a}")
        shape = np.shape(x) if not hasattr(x, "shape") else x.shape
        if not -len(shape) <= a < len(shape):
            raise ValueError(f"vmap was requested to map its argument along axis {a}, which implies that its rank "
                             f"should be at least {a + 1 if a >= 0 else -a}, but is only {len(shape)} (its shape is "
                             f"{tuple(shape)}), in a call of {describe_function(fun)}")
        sizes.add(shape[a])
    if len(sizes) == 1:
        return next(iter(sizes))
    if not sizes:
        raise ValueError(f"vmap: the call of {describe_function(fun)} maps no array, so the length of the mapped axis is unknown; "
                         "map an argument by in_axes, or pass axis_size")
    paths = tree.flatten_with_path(tree.unflatten(in_tree, flat))[0]
    lines = [f"  axis {a} of {_name(fun, path)}, of shape {tuple(np.shape(x))}, has length {np.shape(x)[a]}"
             for (path, _), x, a in zip(paths, flat, axes) if a is not None]
    extra = [] if axis_size is None else [f"  axis_size is {axis_size}"]
    raise ValueError("vmap got inconsistent sizes for array axes to be mapped in a call of "
                     f"{describe_function(fun)}:\n" + "\n".join(lines + extra))


def _spread(fun, spmd_axis_name, split_over):
    """The mesh axes over which the caller spreads the mapped axis. Raises ValueError where the arguments are ``split_over`` others."""
    if spmd_axis_name is None or split_over is None:
        return spmd_axis_name
    spread = spmd_axis_name
    if flags.remove_size_one_mesh_axis_from_type.value:
        spread = splits.entry_of(spread, split_over if isinstance(split_over, tuple) else (split_over,)) or spread
    if spread != split_over:
        raise ValueError(f"vmap: spmd_axis_name={spmd_axis_name!r}, but the arguments of {describe_function(fun)} are split over "
                         f"{split_over!r} along the axis that is mapped, which says it already; leave spmd_axis_name out.")
    return spread


def _split_over(fun, flat, dims):
    """The ``Explicit`` mesh axes that the mapped axis is split over. Raises ValueError where arguments differ in it."""
    found: set = set()
    for x, d in zip(flat, dims):
        if d is not None and (placement := getattr(x, "aval", None)) is not None and (placement := placement.placement) is not None:
            found.add(placement.spec.partitions[d])
    if len(found) > 1:
        raise ValueError(f"vmap: the arguments of {describe_function(fun)} are split over different mesh axes along the axis that is mapped: "
                         f"{sorted(map(repr, found))}. Reshard some of them, so that all are split alike there.")
    return found.pop() if found else None


def _name(fun, path) -> str:
    return f"argument {argument_name(fun, path, ((), ()))}"
