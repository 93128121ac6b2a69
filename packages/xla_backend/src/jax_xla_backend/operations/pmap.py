"""pmap: one copy of a function on each device, with collectives between the copies.

It is `vmap` under `jit` with the mapped axis laid out over the devices. Collectives over the axis become reductions,
gathers and transposes of the mapped array, and XLA's partitioner turns these into communication between the devices. So
`pmap` composes with all else as `vmap` and `jit` do, and on a single device it is nothing but these two.

Left aside: a runtime with replicas of its own, as the reference had.
"""
from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, Callable, Hashable, Iterable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.arguments import check_callable
from jax_core.representation.source import describe_function
from jax_core.representation.typing import PyTree
from jax_core.transformations.vmap import vmap

from ..arrays.device_put import device_put
from ..placement.mesh import Mesh
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding
from ..platforms import client
from .multihost import global_array_to_host_local_array_impl, host_local_array_to_global_array_impl

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike


def pmap(fun: Callable[..., PyTree], axis_name: Hashable | None = None, *, in_axes: int | Sequence[Any] | None = 0,
         out_axes: PyTree = 0, static_broadcasted_argnums: int | Iterable[int] = (),
         devices: Sequence[DeviceLike] | None = None, backend: str | None = None, axis_size: int | None = None,
         donate_argnums: int | Iterable[int] = ()) -> Callable:
    """``fun`` mapped over a leading axis of its arguments, each slice on a device of its own.

    Args:
      fun: the function; its collectives (`lax.psum` ...) refer to the axis by ``axis_name``.
      axis_name: name of the mapped axis.
      in_axes: which axis of each argument is mapped, as for `vmap`; None passes the argument to every device whole.
      out_axes: where the mapped axis goes in each result; None for results that are equal on all devices.
      static_broadcasted_argnums: arguments that are part of the program; hashable.
      devices: the devices to use, in order; the first ones by default.
      backend: platform whose devices are used by default.
      axis_size: length of the axis, needed where no argument is mapped.
      donate_argnums: arguments whose memory may be used for results.

    Returns:
      a callable with the attribute ``lower``. Results are laid out over the devices.

    Raises:
      TypeError: ``fun`` is not callable, numbers of arguments are no integers, or ``devices`` is no sequence.
      ValueError: ``devices`` is empty or has a device twice; the mapped axes differ in length, or the length exceeds the number of devices
        (or is not that of ``devices``).

    >>> jax.pmap(lambda x: x * 2)(jnp.arange(3.0)[None])
    Array([[0., 2., 4.]], dtype=float32)
    """
    check_callable("pmap", fun)
    static, donated = _numbers("static_broadcasted_argnums", static_broadcasted_argnums), _numbers("donate_argnums", donate_argnums)
    if devices is not None:
        if not isinstance(devices, (list, tuple, np.ndarray)):
            raise TypeError(f"pmap: devices must be a list of devices, got {devices!r} of type {type(devices).__name__}")
        if not len(devices) or len(set(devices)) != len(devices):
            raise ValueError(f"pmap: devices must name at least one device, and each once, got {list(devices)}; leave it out to use the first ones")
    if set(static) & set(donated):
        raise ValueError(f"pmap: arguments {sorted(set(static) & set(donated))} are both static and donated.")
    for name, given in ("in_axes", in_axes), ("out_axes", out_axes):
        bad = next((a for a in tree.leaves(given) if isinstance(a, bool) or not isinstance(a, (int, np.integer))), None)
        if bad is not None:
            raise TypeError(f"pmap: {name} must hold ints and None, got {bad!r} of type {type(bad).__name__}")
    compiled: dict = {}

    def prepare(args, kwargs):
        """The compiled function for such arguments, the placements of its results, and the arguments it takes."""
        fixed = _fixed(fun, static, args)
        dynamic = tuple(x for i, x in enumerate(args) if i not in static)
        axes = tuple(a for i, a in enumerate(in_axes) if i not in static) if isinstance(in_axes, (tuple, list)) else in_axes
        structure = tree.structure(dynamic)
        try:
            flat_axes = tree.flatten_axes("pmap in_axes", structure, axes)
        except ValueError as error:
            if not kwargs:
                raise
            raise ValueError(f"{error}\nin_axes is for arguments by position; those by keyword, {sorted(kwargs)}, are always mapped along "
                             "their first axis.") from None
        size = _mapped_length(fun, dynamic, flat_axes, kwargs, axis_size)
        ranks = tuple(map(np.ndim, tree.leaves(dynamic)))
        names = tuple(kwargs)
        key = (structure, tuple(flat_axes), ranks, fixed, size, names)
        known = compiled.get(key)
        if known is None:
            chosen = _devices(fun, size, devices, backend)
            if _traced.fun is not None and len(chosen) > 1:
                raise ValueError(f"pmap: {describe_function(fun)} is mapped over {len(chosen)} devices inside of the pmap of {describe_function(_traced.fun)}, "
                                 "which has given each device its part; use jax.vmap inside, or jax.shard_map over a mesh of two axes.")
            spread = len(chosen) != size  # the other processes map over their own parts
            if not isinstance(axes, tuple):
                axes = (axes,) * len(dynamic)
            mapped = _first_where_none(functools.partial(
                vmap, _noted(_with_names(_with_static(fun, fixed), names)), (*axes, *[0] * len(names)), axis_name=axis_name, axis_size=len(chosen)), out_axes)
            layouts = _layouts(chosen, structure, flat_axes, ranks, out_axes, len(names), axis_name)
            whole = jit(mapped, donate_argnums=_positions(donated, static) or None, **layouts)
            known = compiled[key] = (_between_processes(whole, layouts) if spread else whole), layouts.get("out_shardings")
        return *known, (*dynamic, *kwargs.values())

    @functools.wraps(fun)
    def run(*args, **kwargs):
        call, placements, operands = prepare(args, kwargs)
        outs = call(*operands)
        return device_put(outs, placements) if flags.disable_jit.value else outs  # `jit` has placed them otherwise

    def lower(*args, **kwargs):
        call, _, operands = prepare(args, kwargs)
        return call.lower(*operands)

    setattr(run, "lower", lower)
    return run


def _between_processes(call, layouts):
    """``call``, a function of global arrays, as one of the parts that this process has of each."""
    def whole(operands):
        placements = tree.broadcast_prefix(layouts["in_shardings"], operands, is_leaf=lambda p: p is None)
        leaves, structure = tree.flatten(operands)
        grid = tree.leaves(layouts["out_shardings"])[0].mesh
        specs = [PartitionSpec(*grid.axis_names) if p is None else p.spec for p in placements]
        return tree.unflatten(structure, [host_local_array_to_global_array_impl(x, global_mesh=grid, pspec=spec) for x, spec in zip(leaves, specs)])

    @functools.wraps(call)
    def run(*operands):
        outs = call(*whole(operands))
        placements = tree.broadcast_prefix(layouts["out_shardings"], outs)
        leaves, structure = tree.flatten(outs)
        return tree.unflatten(structure, [global_array_to_host_local_array_impl(x, global_mesh=p.mesh, pspec=p.spec) for x, p in zip(leaves, placements)])
    setattr(run, "lower", lambda *operands: call.lower(*whole(operands)))
    return run


class _Traced(threading.local):
    """The mapped function that is being traced."""

    fun: Callable | None = None


_traced = _Traced()


def _noted(fun):
    @functools.wraps(fun)
    def call(*args):
        before, _traced.fun = _traced.fun, fun
        try:
            return fun(*args)
        finally:
            _traced.fun = before
    return call


def _first_where_none(mapped_with, out_axes):
    """The mapped function; a result with None among ``out_axes`` is that of the first device, as there is one for all."""
    is_none = lambda axis: axis is None
    if not any(map(is_none, tree.leaves(out_axes, is_leaf=is_none))):
        return mapped_with(out_axes=out_axes)
    call = mapped_with(out_axes=tree.tree_map(lambda axis: 0 if axis is None else axis, out_axes, is_leaf=is_none))

    @functools.wraps(call)
    def first(*args):
        outs = call(*args)
        leaves, structure = tree.flatten(outs)
        axes = tree.broadcast_prefix(out_axes, outs, is_leaf=is_none)
        return tree.unflatten(structure, [x[0] if axis is None else x for x, axis in zip(leaves, axes)])
    return first


def _fixed(fun, static: tuple[int, ...], args: tuple) -> tuple:
    """The static arguments with their positions; raises ValueError where one is missing or cannot be a key."""
    if static and max(static) >= len(args):
        raise ValueError(f"pmap: static_broadcasted_argnums={static} counts positional arguments, and {describe_function(fun)} was "
                         f"called with {len(args)}; pass those that are static by position.")
    for i in static:
        try:
            hash(args[i])
        except TypeError as error:
            raise ValueError(f"pmap: argument {i} of {describe_function(fun)} is static (static_broadcasted_argnums), so it is part of "
                             f"a key and must be hashable, but is of type {type(args[i]).__name__}; pass something immutable such as "
                             "a tuple, or let it be an argument like the others.") from error
    return tuple((i, args[i]) for i in static)


def _numbers(name: str, argnums) -> tuple[int, ...]:
    found = (argnums,) if isinstance(argnums, int) else tuple(argnums) if isinstance(argnums, Iterable) else (argnums,)
    bad = next((n for n in found if not isinstance(n, (int, np.integer))), None)
    if bad is not None:
        raise TypeError(f"pmap: {name} must be an int or ints, got {bad!r} of type {type(bad).__name__}")
    return found


def _positions(argnums, static):
    """Positions among the arguments that are left when the static ones are taken out."""
    return tuple(i - sum(s < i for s in static) for i in argnums)


def _with_static(fun, fixed):
    if not fixed:
        return fun

    @functools.wraps(fun)
    def call(*dynamic, **kwargs):
        args = list(dynamic)
        for i, x in fixed:
            args.insert(i, x)
        return fun(*args, **kwargs)
    return call


def _with_names(fun, names):
    """``fun``, which gets the arguments of these names by position, behind the others: placements are for such only."""
    if not names:
        return fun

    @functools.wraps(fun)
    def call(*args):
        return fun(*args[:-len(names)], **dict(zip(names, args[-len(names):])))
    return call


def _mapped_length(fun, args, axes, kwargs, axis_size) -> int:
    """The length of the mapped axis; raises ValueError where lengths differ."""
    sizes = {}
    for (path, x), axis in zip(tree.leaves_with_path(args), axes):
        if axis is not None:
            sizes[f"argument {tree.keystr(path)}"] = _length(fun, path, x, axis)
    for path, x in tree.leaves_with_path(kwargs):
        sizes[f"keyword argument {tree.keystr(path)}"] = _length(fun, path, x, 0)
    found = set(sizes.values()) | ({axis_size} if axis_size is not None else set())
    if not found:
        raise ValueError(f"pmap: {describe_function(fun)} has no mapped argument; give axis_size.")
    if len(found) > 1:
        lines = "\n  ".join(f"{name}: {n}" for name, n in sizes.items())
        given = f"axis_size={axis_size}, " if axis_size is not None else ""
        raise ValueError(f"pmap got inconsistent sizes for array axes to be mapped over: {given}\n  {lines}")
    return found.pop()


def _length(fun, path, x, axis) -> int:
    shape = np.shape(x)
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"pmap: {describe_function(fun)}: argument {tree.keystr(path)} of shape {shape} has no axis {axis} "
                         "to map over.")
    return shape[axis]


def _devices(fun, size: int, devices, backend) -> list:
    """The devices to map over: ``size`` of them, or of each process ``size``."""
    if client.process_count() > 1:
        every = list(client.devices(backend) if devices is None else devices)
        me = client.process_index()
        mine = [d for d in every if d.process_index == me]
        if len(mine) < len(every):
            if devices is None:
                each = {p: [d for d in every if d.process_index == p][:size] for p in sorted({d.process_index for d in every})}
                every, mine = [d for those in each.values() for d in those], each[me]
            if len(mine) != size:
                raise ValueError(f"pmap: compiling {describe_function(fun)} requires {size} logical devices of this process, but {len(mine)} XLA devices are "
                                 "available; each process maps over as many as it has of the devices.")
            return every
    if devices is not None:
        if len(devices) != size:
            raise ValueError(f"pmap: the mapped axis of {describe_function(fun)} has length {size}, but {len(devices)} devices "
                             "are given; they must be equally many.")
        return list(devices)
    available = client.devices(backend)
    if size > len(available):
        raise ValueError(f"pmap: compiling {describe_function(fun)} requires {size} logical devices, but only "
                         f"{len(available)} XLA devices are available; use jax.vmap for a longer axis.")
    return list(available[:size])


def _layouts(devices, structure, axes, ranks, out_axes, more, axis_name) -> dict:
    """The placements of arguments, of which ``more`` by name follow, and of results, for `jit`."""
    if len(devices) == 1 and devices[0] == client.devices()[0]:
        return {}
    name = axis_name if isinstance(axis_name, str) else "devices"
    mesh = Mesh(np.array(devices), (name,))

    def placed(axis: int, rank: int | None = None):
        if axis is None:
            return NamedSharding(mesh, PartitionSpec())
        axis = axis + rank if axis < 0 and rank is not None else axis
        if axis < 0:
            raise NotImplementedError("pmap: negative out_axes need the rank of the result; count from the front.")
        return NamedSharding(mesh, PartitionSpec(*[None] * axis, name))
    ins = (*tree.unflatten(structure, [placed(a, r) for a, r in zip(axes, ranks)]), *[None] * more)
    outs = tree.tree_map(placed, out_axes, is_leaf=lambda a: a is None)
    return dict(in_shardings=ins, out_shardings=outs)
