"""Values to devices and back: `device_put` and its primitive, `reshard`, `device_get`, waiting for trees of arrays."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jax_core import extension_points
from jax_core.configuration import context
from jax_core.references.api import Ref
from jax_core.representation import dtypes, memory, partial_sums, splits, tree
from jax_core.representation.aval import get_aval
from jax_core.representation.memory import Space
from jax_core.representation.primitive import Primitive
from jax_core.representation.splits import in_type
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.traits import Keys, Kind, Traits
from jax_core.representation.typing import PyTree
from jax_core.traces import structural
from jax_core.traces.trace import EVAL, Tracer

from ..jaxlib_compat import _jax
from ..placement import mesh
from ..placement.layout import Format
from ..placement.no_collectives import check_no_collectives, no_collectives
from ..placement.partition_spec import UNCONSTRAINED, PartitionSpec
from ..placement.sharding import NamedSharding, Sharding
from ..platforms import client
from ..platforms.distributed_state import state
from . import transfer_guards
from .agreement import check_same
from .array import ArrayImpl, ready
from .put import as_sharding, put


def _device_put_type(x, *, placement, src=None):
    space = placement if isinstance(placement, Space) else memory.of_kind(placement.memory_kind) if isinstance(placement, Sharding) else x.memory_space
    return x if x.memory_space is space else x.update(memory_space=space)


def _device_put_lower(b, x, *, placement, src=None):
    if isinstance(placement, NamedSharding):
        x = b.sharding_constraint(x, placement)
    out = _device_put_type(x.aval, placement=placement)
    return x if out is x.aval else b.to_memory(x, out)


def _device_put_jvp(g, out, x, *, placement, src=None):
    """The tangent goes the same way, and remembers where ``x`` was, for its cotangent to go back there."""
    known = type(x) is ArrayImpl
    return device_put_p.bind(g, placement=placement, src=src if src is not None else x._sharding if known else get_aval(x).memory_space)


def _device_put_batch(axis, args, dims, *, placement, src=None):
    """All lanes go where each was to go: specs get an entry for the mapped axis."""
    everywhere = lambda p: structural.batched_placement(axis, p, dims[0]) if isinstance(p, NamedSharding) else p
    return device_put_p.bind(*args, placement=everywhere(placement), src=everywhere(src)), dims[0]


device_put_p: Primitive = Primitive(
    "device_put",
    out_type=_device_put_type,
    splits=splits.as_told, sums=partial_sums.as_first,
    jvp=(_device_put_jvp,),
    transpose=lambda ct, x, *, placement, src=None: ct if src is None else device_put_p.bind(ct, placement=src, src=placement),
    batch=_device_put_batch,
    lower=_device_put_lower,
    impl=lambda x, *, placement, src=None: put(x, None, placement),
    traits=Traits(Kind.KERNEL, keys=Keys.PASSED),
)


def _move_to(memory: str) -> tuple[Primitive, dict]:
    return device_put_p, {"placement": Space.Device if memory == "device" else Space.Host}


extension_points.memory_move.fill(_move_to)
_PLACEMENTS = (client.Device, Sharding, Format, PartitionSpec, Space)


def _placements(name: str, device: Any, treedef: Any, count: int) -> list[Any]:
    """One placement for each leaf; ``device`` may be a tree that is a prefix of the values' tree."""
    if device is None or isinstance(device, _PLACEMENTS):
        return [device] * count
    leaf = lambda p: p is None or isinstance(p, _PLACEMENTS)
    if tree.tree_structure(device, leaf).num_leaves == 1 and leaf(device) is False and tree.all_leaves([device]):
        as_sharding(device)  # raises, and says what is allowed
    full = tree.skeleton(treedef)
    return tree.broadcast_prefix(device, full, is_leaf=leaf, names=(f"device_put {name}", "x"))


@api_boundary
def device_put(x: PyTree, device: PyTree = None, *, src: PyTree = None, donate: PyTree = False,
               may_alias: PyTree = None) -> Any:
    """Copy values to devices.

    Args:
      x: a tree of arrays, NumPy values and Python scalars.
      device: a device, a sharding, a `Format`, a tree of these that is a prefix of ``x``; or None, which leaves arrays
        where they are and puts all else on the default device, uncommitted.
      src: where ``x`` is now, a placement or a tree of them; cotangents go back there. Known by itself where ``x`` is an array.
      donate: ``x`` is not used afterwards, so its memory may be freed; a flag, or a tree of flags that is a prefix of ``x``.
      may_alias: the result may share memory with ``x``; a flag, or a tree of them.

    Returns:
      the tree of arrays.

    Raises:
      TypeError: a leaf is not a valid JAX value.
      ValueError: ``device`` is of another kind, a shape does not fit a sharding, or ``may_alias`` and ``donate`` are both true; an array on devices of
        several processes for one device. AssertionError: processes give different values for one array.

    >>> jax.device_put(np.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    leaves, treedef = tree.tree_flatten(x)
    placements, sources = _placements("device", device, treedef, len(leaves)), _placements("src", src, treedef, len(leaves))
    shares = [may_alias] * len(leaves) if may_alias is None or isinstance(may_alias, bool) else tree.broadcast_prefix(
        may_alias, x, is_leaf=lambda flag: flag is None, names=("device_put may_alias", "x"))
    gone = [donate] * len(leaves) if isinstance(donate, bool) else tree.broadcast_prefix(donate, x, names=("device_put donate", "x"))
    if any(a and d for a, d in zip(shares, gone)):
        raise ValueError("device_put: may_alias and donate cannot both be true; memory that is given away is not shared")
    with transfer_guards.explicit():
        if state.client is not None and context.state.trace is EVAL:
            check_same(leaves, [None if p is None or isinstance(p, Space) or isinstance(x, Tracer) or hasattr(x, "_device_put") else as_sharding(p)
                                for p, x in zip(placements, leaves)])
        out = [_device_put_leaf(*each) for each in zip(leaves, placements, shares, gone, sources)]
    return tree.tree_unflatten(treedef, out)


def _device_put_leaf(x: Any, placement: Any, may_alias: bool | None, donate: bool, src: Any) -> Any:
    if isinstance(x, Tracer):
        if isinstance(placement, Space):
            return device_put_p.bind(x, placement=placement, **({} if src is None else {"src": src if isinstance(src, Space) else as_sharding(src)}))
        where = None if placement is None else as_sharding(placement)
        if where is not None:
            where.check_compatible_aval(x.shape)
        if where is not None and (in_type(where, x.ndim) is not None or x.aval.placement is not None):
            return structural.reshard(x, where)
        return device_put_p.bind(x, placement=where, **({} if src is None else {"src": as_sharding(src)}))
    if placement is not None and context.state.trace is not EVAL and isinstance(x, (ArrayImpl, np.ndarray)):
        where = as_sharding(placement)
        if in_type(where, x.ndim) is not None:  # a constant of the program, of a type that says how it is split
            return structural.reshard(x, where)
    if not isinstance(x, (ArrayImpl, np.ndarray)) and hasattr(x, "_device_put"):
        if placement is not None and not isinstance(placement, Space):
            as_sharding(placement).check_compatible_aval(x.shape)  # of the keys: their words are not split
        return x._device_put(placement)  # arrays of extended types (keys) know their own parts
    try:
        result = put(x, None, placement, bool(may_alias), on_mesh=False)
    except TypeError as error:
        raise TypeError(f"device_put: {error}") from None
    if result is x and may_alias is False and not donate:
        return x.copy()
    if donate and type(x) is ArrayImpl and result is not x:
        x.delete()
    return result


def reshard(xs: PyTree, out_shardings: PyTree) -> Any:
    """``xs`` (a tree of arrays) with other shardings.

    Args:
      xs: a tree of arrays.
      out_shardings: a sharding or `PartitionSpec`, or a tree of them that is a prefix of ``xs``.

    Raises:
      ValueError: a spec names a mesh axis that is not ``Explicit``, or an array is committed to other devices.
      TypeError: a device, or something else that is on no mesh.

    >>> jax.reshard(jnp.arange(3), jax.NamedSharding(jax.make_mesh((1,), ('x',)), jax.P('x')))
    Array([0, 1, 2], dtype=int32)
    """
    wanted = tree.broadcast_prefix(tree.tree_map(_asked, out_shardings, is_leaf=_is_place), xs, is_leaf=_is_place)
    for x, where in zip(tree.tree_leaves(xs), wanted):
        if type(x) is ArrayImpl and x.committed and where._is_concrete and x.sharding._device_assignment != where._device_assignment:
            raise ValueError(f"Received incompatible devices for jitted computation: reshard splits an array of type {x.aval.str_short()}, which lies on "
                             f"devices {[d.id for d in x.sharding._device_assignment]}, over devices {[d.id for d in where._device_assignment]}; "
                             "move it by jax.device_put.")
        if no_collectives.value:
            check_no_collectives(getattr(x, "sharding", None), where)
    leaves, structure = tree.tree_flatten(xs)
    kept = [_auto_axes_as_they_are(x, where) for x, where in zip(leaves, wanted)]
    moved = iter(place([x for x, where in zip(leaves, kept) if where is not None], [where for where in kept if where is not None]))
    return tree.tree_unflatten(structure, [x if where is None else next(moved) for x, where in zip(leaves, kept)])


def _is_place(where: Any) -> bool:
    return isinstance(where, (Sharding, PartitionSpec))


def _asked(where: Any) -> Any:
    """What `reshard` is asked for, checked, as a sharding."""
    if not isinstance(where, PartitionSpec) and not hasattr(where, "mesh"):
        raise TypeError(f"reshard: {where!r} of type {type(where).__name__} is neither a PartitionSpec nor a sharding on a mesh; for a device, "
                        "call jax.device_put")
    sharding = as_sharding(where)
    if isinstance(sharding, NamedSharding):
        _check_explicit(sharding)
    return sharding


@functools.lru_cache(1 << 10)
def _check_explicit(sharding: NamedSharding) -> None:
    if UNCONSTRAINED in sharding.spec.partitions:
        raise ValueError(f"reshard: {sharding.spec} leaves an axis to the compiler (UNCONSTRAINED), so no type says it; name mesh axes or None, or use "
                         "jax.lax.with_sharding_constraint")
    kinds = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
    bad = [name for name in sharding.spec.axis_names() if kinds[name] is not mesh.AxisType.Explicit]
    if bad:
        raise ValueError(f"reshard: {sharding.spec} names axis {bad[0]!r}, which is {kinds[bad[0]].name}; only Explicit axes "
                         "can be asked for here, for others use jax.lax.with_sharding_constraint")


def _auto_axes_as_they_are(x, where):
    """``where``, and the ``Auto`` axes that split ``x`` already, along axes that change in no other way; None if there is nothing to change."""
    if not isinstance(where, NamedSharding) or not where.mesh.auto_axes:
        return where
    if type(x) is not ArrayImpl:
        return None if isinstance(x, Tracer) and not where.mesh.explicit_axes and get_aval(x).placement is None else where
    own = x.sharding
    if not isinstance(own, NamedSharding) or own.mesh.shape_tuple != where.mesh.shape_tuple or own._device_assignment != where._device_assignment:
        return where
    explicit, rows = where.mesh.explicit_axes, [None] * x.ndim
    for i, (asked, lies) in enumerate(zip([*where.spec, *rows], [*own.spec, *rows][:x.ndim])):
        rows[i] = lies if splits.entry_of(lies, explicit) == splits.entry_of(asked, explicit) else asked
    while rows and rows[-1] is None and not explicit:
        rows.pop()
    return where.update(spec=where.spec.update(partitions=rows))


def place(xs: PyTree, shardings: PyTree) -> Any:
    """`device_put` by specs that have an entry for each axis, as types that say it have."""
    leaves, structure = tree.tree_flatten(xs)
    wanted = tree.broadcast_prefix(shardings, xs, is_leaf=_is_place)
    return device_put(xs, tree.tree_unflatten(structure, [_full_spec(as_sharding(where), np.ndim(x)) for x, where in zip(leaves, wanted)]))


@functools.lru_cache(1 << 10)
def _full_spec(sharding: Sharding, ndim: int) -> Sharding:
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return sharding
    return sharding.update(spec=sharding.spec.update(partitions=(*sharding.spec, *[None] * (ndim - len(sharding.spec)))))


def device_get(x: PyTree) -> Any:
    """Copy a tree of values to the host: arrays become NumPy arrays, all else (tracers and references too) stays as it is.

    The transfers run at the same time.

    >>> jax.device_get({"a": jnp.arange(2)})
    {'a': array([0, 1], dtype=int32)}
    """
    leaves, treedef = tree.tree_flatten(x)
    with transfer_guards.explicit():
        copy_to_host_async(leaves)
        return tree.tree_unflatten(treedef, [_get_leaf(leaf) for leaf in leaves])


def _get_leaf(x: Any) -> Any:
    if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType):
        return x  # keys have no NumPy counterpart
    if isinstance(x, Tracer):
        return x  # it has no contents yet
    if isinstance(x, Ref):
        return x  # whoever holds it goes on to write to it: the contents are ref[...]
    if type(x) is ArrayImpl:
        x.block_until_ready()  # raises where there was no memory for the contents; NumPy would end the process
    return np.asarray(x) if hasattr(x, "__array__") and not isinstance(x, np.generic) else x


def copy_to_host_async(x: PyTree) -> Any:
    """Begin the transfer of all arrays in the tree ``x`` to the host, and return ``x``.

    >>> x = jnp.arange(3)
    >>> jax.copy_to_host_async(x)
    Array([0, 1, 2], dtype=int32)
    >>> np.asarray(x)
    array([0, 1, 2], dtype=int32)
    """
    for leaf in tree.tree_leaves(x):
        begin = getattr(leaf, "copy_to_host_async", None)
        if begin is not None:
            begin()
    return x


def block_until_ready(x: PyTree) -> Any:
    """Wait until all arrays in the tree ``x`` are computed, and return ``x``.

    >>> jax.block_until_ready([jnp.arange(2)])
    [Array([0, 1], dtype=int32)]
    """
    done = []
    for leaf in tree.tree_leaves(x):
        if type(leaf) is ArrayImpl and not leaf.is_deleted() and ready(leaf):
            done.append(leaf)  # or failed: asked about below, all at once
        else:
            wait = getattr(leaf, "block_until_ready", None)
            if wait is not None:
                wait()
    try:
        _jax.batched_block_until_ready(done)
    except Exception:
        for leaf in done:
            leaf.block_until_ready()  # one of them raises the error
        raise
    return x


def live_arrays(platform: str | None = None) -> list[ArrayImpl]:
    """All arrays on the devices of a platform (default: the default platform) that are not deleted.

    >>> x = jnp.ones(3)
    >>> any(x is y for y in jax.live_arrays())
    True
    """
    return [a for a in client.get_client(platform).live_arrays() if not a.is_deleted()]


__all__ = ["block_until_ready", "copy_to_host_async", "device_get", "device_put", "live_arrays", "reshard"]
