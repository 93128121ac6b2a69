"""Placement inside a program: `with_sharding_constraint`.

What a sharding is, the backend knows (`jax_core.interfaces.Backend.as_sharding`); here it is only handed on. A constraint is
the identity; its cotangent has the same placement, and under vmap the mapped axis is left to the compiler, or spread over
the mesh axes that `vmap` was told of (``spmd_axis_name``).

Source: Shardy, `sdy.sharding_constraint`.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core import backends
from jax_core.configuration import flags
from jax_core.representation import splits, tree
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.marks import LINEAR
from jax_core.representation.placements import is_format, is_on_mesh, is_open, is_placement, is_spec
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Keys, Kind, Traits
from jax_core.representation.typing import Placement, PyTree
from jax_core.traces.trace import Tracer


def _constraint_batch(axis, args, dims, *, sharding, **params):
    (x,), (d,) = args, dims
    spec = getattr(sharding, "spec", None)
    if spec is None:  # all on one device, or all of it on every device
        return sharding_constraint_p.bind(x, sharding=sharding, **params), d
    over = axis.spmd_name if isinstance(axis.spmd_name, tuple) else (axis.spmd_name,)
    if any(name in over for name in spec.axis_names()):
        raise ValueError(f"lax.with_sharding_constraint: {spec} names the mesh axis {axis.spmd_name!r}, but vmap(spmd_axis_name={axis.spmd_name!r}) "
                         "around it splits the axis that is mapped over that one; leave it out of one of the two")
    parts = [*spec, *[None] * (np.ndim(x) - 1 - len(spec))]
    kind = type(spec)
    parts.insert(d, axis.spmd_name if axis.spmd_name is not None else kind.UNCONSTRAINED)
    batched = type(sharding)(sharding.mesh, kind(*parts), memory_kind=sharding.memory_kind)
    return sharding_constraint_p.bind(x, sharding=batched, **params), d


def _constraint_type(x, *, sharding, **_):
    """The operand's type; where the mesh of ``sharding`` has ``Auto`` axes alone, types of results say nothing of how they are split."""
    if not isinstance(x, ShapedArray):
        return x
    if x.placement is not None and is_on_mesh(sharding) and not sharding.mesh.explicit_axes:
        x = x.update(sharding=None)
    return x if x.placement is not None else x.on_mesh_of(sharding)


def _place_now(x, *, sharding, **_):
    where = splits.as_it_lies(x, sharding)
    if flags.disable_jit.value:
        try:
            where.shard_shape(np.shape(x))
        except ValueError:  # parts of several lengths: the program would have been compiled with longer ones, of an array there are none
            return x
    return backends.get().put(x, None, where)


sharding_constraint_p: Primitive = Primitive(
    "sharding_constraint", out_type=_constraint_type, jvp=LINEAR,
    transpose=lambda ct, x, **params: sharding_constraint_p.bind(ct, **params), batch=_constraint_batch,
    lower=lambda b, x, *, sharding, **_: b.sharding_constraint(x, sharding), splits=splits.as_told,
    reference=lambda x, **_: np.array(x), impl=_place_now,
    traits=Traits(Kind.KERNEL, keys=Keys.PASSED))


def with_sharding_constraint(x: PyTree, shardings: Placement) -> Any:
    """``x``, placed as ``shardings`` say; the compiler arranges the rest of the program around it.

    Args:
      x: an array or a pytree of arrays.
      shardings: a sharding, a `PartitionSpec` for the mesh in context, or a `Format`, or a pytree of them
        that is a prefix of ``x``.

    Raises:
      ValueError: a sharding does not fit its array, is None, or names unreduced or reduced axes.
      TypeError: it is something else. RuntimeError: a `PartitionSpec` where no mesh is in context.

    Source: Shardy, `sdy.sharding_constraint`.

    >>> place = jnp.zeros(()).sharding
    >>> jax.jit(lambda x: jax.lax.with_sharding_constraint(x, place))(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    leaves, structure = tree.tree_flatten(x)
    wanted = tree.broadcast_prefix(shardings, x, is_leaf=lambda s: s is None or is_placement(s))
    return tree.tree_unflatten(structure, [_constrain(leaf, where) for leaf, where in zip(leaves, wanted)])


def _constrain(x, where):
    if where is None:
        raise ValueError("lax.with_sharding_constraint: a sharding is None; give jax.sharding.Sharding instances, or "
                         "jax.sharding.PartitionSpec().")
    if not is_placement(where):
        raise TypeError(f"lax.with_sharding_constraint: shardings must be jax.sharding.Sharding or PartitionSpec instances, got "
                        f"{where!r} of type {type(where).__name__}.")
    if is_format(where):
        x = _constrain(x, where.sharding)
        return x if where.layout is None else backends.get().placements.with_layout(x, where.layout)
    sharding = _resolved(where)
    if is_open(sharding):
        return x
    if hasattr(sharding, "check_compatible_aval"):
        try:
            sharding.check_compatible_aval(np.shape(x))
        except ValueError as error:
            raise ValueError(f"lax.with_sharding_constraint: the sharding {sharding} does not fit an array of shape {np.shape(x)}: "
                             f"{error}") from None
    told = [spec for p in (sharding, get_aval(x).placement) if (spec := getattr(p, "spec", None)) is not None and (spec.unreduced or spec.reduced)]
    if told:
        raise ValueError(f"lax.with_sharding_constraint: {told[0]}, of {'the constraint' if told[0] is sharding.spec else 'the array'}, names axes over "
                         "which a sum is still to be made, or was: that is a matter of types, which a constraint does not change; use "
                         "jax.sharding.reshard.")
    asked, here = splits.in_type(sharding, np.ndim(x)), backends.get().placements.on_no_mesh(0).mesh
    if asked is None and not here.empty and here.are_all_axes_explicit and is_on_mesh(sharding):
        asked = sharding.update(spec=sharding.spec.update(partitions=(*sharding.spec, *[None] * (np.ndim(x) - len(sharding.spec)))))
        return _as_typed(x, asked, here)
    if asked is not None:
        if any(asked.spec.partitions) and (here.empty or sharding.mesh.auto_axes):
            raise ValueError(f"lax.with_sharding_constraint: {sharding} names Explicit mesh axes, over which types say how arrays are split; name Auto axes "
                             "only, or use jax.sharding.reshard.")
        if not here.empty:
            return _as_typed(x, asked, sharding.mesh, sharding)
    if not isinstance(x, Tracer):
        _check_place(x, where, sharding)
    elif is_spec(where) and not backends.get().placements.on_no_mesh(0).mesh.empty:
        sharding = sharding.update(mesh=sharding.mesh.abstract_mesh, memory_kind=None)  # programs name the axes of the mesh that is set, not its devices
    return sharding_constraint_p.bind(x, sharding=sharding)


def _check_place(x, where, sharding):
    """Outside of a program a constraint moves nothing to other devices."""
    own = getattr(x, "sharding", None)
    if not is_spec(where) and not getattr(where, "_is_concrete", True):
        if own is None:
            raise ValueError(f"lax.with_sharding_constraint: {where} is on an abstract mesh, so the devices are those of the array, and "
                             f"a value of type {type(x).__name__} has none; give a jax.Array.")
        if not is_on_mesh(own):
            raise TypeError(f"lax.with_sharding_constraint: {where} is on an abstract mesh, so the devices are those of the array, which must lie on a "
                            f"mesh (a NamedSharding), but lies as {own}.")
    elif own is not None and getattr(x, "committed", False) and own._device_assignment != sharding._device_assignment:
        raise ValueError(f"Received incompatible devices for jitted computation: lax.with_sharding_constraint places an array of shape {np.shape(x)} that "
                         f"lies on devices {[d.id for d in own._device_assignment]} on devices {[d.id for d in sharding._device_assignment]}; "
                         "move it by jax.device_put.")


def _as_typed(x, asked, mesh, sharding=None):
    """``x``, whose type must say already what is asked of ``Explicit`` axes of ``mesh``; the others are the compiler's, told by ``sharding``."""
    aval = get_aval(x)
    given = splits.entries(aval)
    if any(a is not None and a != g for a, g in zip(asked.spec.partitions, given)) or (
            mesh.are_all_axes_explicit and given != asked.spec.partitions):
        raise AssertionError(f"lax.with_sharding_constraint asserts how an array is split over Explicit mesh axes, and asks for "
                             f"{asked.spec}, but the array is {aval.str_short()}; use jax.sharding.reshard to change it.")
    return x if mesh.are_all_axes_explicit else sharding_constraint_p.bind(x, sharding=_beside(given, sharding))


def _beside(given, sharding):
    """``sharding``, whose entries also name the ``Explicit`` axes that the type names (``given``): else it would take them away."""
    entries = [*sharding.spec, *[None] * (len(given) - len(sharding.spec))]
    for i, (told, typed) in enumerate(zip(entries, given)):
        more = splits.names_of(typed)
        if told is not type(sharding.spec).UNCONSTRAINED and not set(more) <= set(splits.names_of(told)):
            names = (*more, *[n for n in splits.names_of(told) if n not in more])
            entries[i] = names if len(names) > 1 else names[0]
    return sharding if entries == [*sharding.spec] else splits.with_entries(sharding, tuple(entries))


def _resolved(where):
    if not is_spec(where) and getattr(where, "_is_concrete", True):
        return where
    try:
        return backends.get().placements.as_sharding(where)
    except ValueError:
        if is_spec(where) and not backends.get().placements.on_no_mesh(0).mesh.empty:  # it does not fit the mesh
            raise
        if not is_spec(where):  # on an abstract mesh: the devices will be those of the array
            return where
        raise RuntimeError(f"lax.with_sharding_constraint: {where} needs a mesh in context (jax.set_mesh(mesh)); or give a "
                           "jax.sharding.NamedSharding, which has its own.") from None
