"""Who decides how values are split over mesh axes, for a part of a program: `auto_axes`, `explicit_axes`.

Types carry how values are split over ``Explicit`` axes. At the border of both, arguments and results are cast: the same parts
on the same devices, in types that say more or less.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

from jax_core.representation import splits, tree
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Keys, Kind, Traits
from jax_core.representation.typing import Placement
from jax_core.traces.trace import Tracer

from ..arrays.array import ArrayImpl
from ..arrays.device_put import reshard
from ..arrays.put import put
from ..placement import mesh as meshes
from ..placement.mesh import AbstractMesh, AxisType, get_abstract_mesh, use_abstract_mesh
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def auto_axes(f: Callable[..., PyTree] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
              out_sharding: Placement | None = None) -> Callable:
    """``f``, inside of which the compiler decides how values are split over mesh axes.

    Args:
      f: the function; without it, a decorator.
      axes: the mesh axes, a name or several; default all of the mesh in context.
      out_sharding: a placement of the results, as a pytree prefix; it may also be given in the call. Axes that were ``Auto``
        before are left to the compiler.

    Raises:
      TypeError: ``out_sharding`` is given neither here nor in the call. ValueError: the mesh has no such axis.

    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> with jax.set_mesh(mesh):
    ...     x = jax.device_put(jnp.arange(4.), jax.P("d"))
    ...     print(jax.sharding.auto_axes(lambda x: x * 2, out_sharding=jax.P("d"))(x))
    [0. 2. 4. 6.]
    """
    if f is None:
        return lambda f: auto_axes(f, axes=axes, out_sharding=out_sharding)

    @functools.wraps(f)
    def placed(*args, out_sharding: Placement | None = out_sharding, **kwargs):
        if out_sharding is None:
            raise TypeError("auto_axes: Missing required keyword argument: 'out_sharding'; give it to auto_axes or in the call.")
        here, there = _kinds("auto_axes", axes, AxisType.Auto, (out_sharding, [getattr(x, "sharding", None) for x in tree.leaves((args, kwargs))]))
        args, kwargs = _cast((args, kwargs), there)
        with use_abstract_mesh(there):
            outs = f(*args, **kwargs)
        return outs if not here.explicit_axes else _place(_cast(outs, here), out_sharding, here)
    return placed


def explicit_axes(f: Callable[..., PyTree] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
                  in_sharding: Placement | None = None) -> Callable:
    """``f``, inside of which mesh axes are ``Explicit``; its arguments are placed first.

    Args:
      f: the function; without it, a decorator.
      axes: the mesh axes, a name or several; default all of the mesh in context.
      in_sharding: a placement of the arguments, as a pytree prefix of them; it may also be given in the call.

    Raises:
      TypeError: ``in_sharding`` is given neither here nor in the call. ValueError: the mesh has no such axis.

    >>> mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    >>> with jax.set_mesh(mesh):
    ...     print(jax.jit(jax.sharding.explicit_axes(lambda x: x * 2, in_sharding=jax.P("d")))(jnp.arange(4.)))
    [0. 2. 4. 6.]
    """
    if f is None:
        return lambda f: explicit_axes(f, axes=axes, in_sharding=in_sharding)

    @functools.wraps(f)
    def placed(*args, in_sharding=in_sharding, **kwargs):
        if in_sharding is None:
            raise TypeError("explicit_axes: Missing required keyword argument: 'in_sharding'; give it to explicit_axes or in the "
                            "call.")
        if get_abstract_mesh().empty:
            raise ValueError("explicit_axes: the context mesh cannot be empty, as it says which axes become Explicit; set one with jax.set_mesh")
        here, there = _kinds("explicit_axes", axes, AxisType.Explicit, in_sharding)
        with use_abstract_mesh(there):
            args = _place(_cast(args, there), in_sharding, there)
            outs = f(*args, **kwargs)
        return _cast(outs, here)
    return placed


def _kinds(function: str, axes: Any, kind: AxisType, shardings: Any) -> tuple:
    """The abstract mesh in context, or else the first one of ``shardings``, and the same with these axes of ``kind``."""
    here = get_abstract_mesh()
    if here.empty:
        here = next((s.mesh.abstract_mesh for s in tree.leaves(shardings) if isinstance(s, NamedSharding)), here)
    if axes is None:
        names = tuple(n for n in here.axis_names if n not in here.manual_axes)
    else:
        names = tuple(axes) if isinstance(axes, (tuple, list, set, frozenset)) else (axes,)
    unknown = [n for n in names if n not in here.axis_names]
    if unknown:
        raise ValueError(f"{function}: axes={axes!r} names {unknown[0]!r}, but the mesh in context has the axes {here.axis_names}; "
                         "set a mesh with jax.set_mesh.")
    return here, here.update_axis_types(dict.fromkeys(names, kind))


def _lower_cast(b, x, *, mesh):
    return x


def _cast_type(x, *, mesh):
    return x if x.placement is None else x.update(sharding=x.placement.update(mesh=mesh))


def _cast_now(x, *, mesh):
    sharding = getattr(x, "sharding", None)
    if not isinstance(sharding, NamedSharding) or sharding.mesh.shape_tuple != mesh.shape_tuple or sharding.mesh.abstract_mesh == mesh:
        return x
    return put(x, None, sharding.update(mesh=sharding.mesh.update(axis_types=mesh.axis_types)))


mesh_cast_p: Primitive = Primitive(
    "mesh_cast", out_type=_cast_type, jvp=LINEAR, lower=_lower_cast, impl=_cast_now, splits=splits.as_told,
    transpose=lambda ct, x, *, mesh: mesh_cast_p.bind(ct, mesh=mesh if x.aval.placement is None else x.aval.placement.mesh),
    batch=lambda axis, args, dims, *, mesh: (mesh_cast_p.bind(*args, mesh=mesh), dims[0]),
    reference=lambda x, *, mesh: x, traits=Traits(Kind.KERNEL, keys=Keys.PASSED))


def _cast(values: Any, mesh: AbstractMesh) -> Any:
    """``values`` in types for the axis kinds of ``mesh``."""
    def one(x):
        if not isinstance(x, Tracer | ArrayImpl):
            return x
        return mesh_cast_p.bind(x, mesh=mesh)
    return tree.tree_map(one, values)


def _place(values: Any, shardings: Any, mesh: AbstractMesh) -> Any:
    if get_abstract_mesh().empty and not mesh.empty:  # the mesh is that of the arguments
        shardings = tree.tree_map(lambda s: NamedSharding(mesh, s) if isinstance(s, PartitionSpec) else s, shardings,
                                  is_leaf=lambda s: isinstance(s, PartitionSpec))
    elif meshes.current_mesh() is None and not any(isinstance(s, Sharding) for s in tree.leaves(shardings)):
        return values  # no mesh, so there is one way only
    return reshard(values, shardings)


__all__ = ["auto_axes", "explicit_axes"]
