"""Who decides how values are split over mesh axes, for a part of a program: `auto_axes`, `explicit_axes`.

Types of this system do not carry placements, so inside both the compiler decides; what is promised holds at the border: the
kinds of the axes are as asked while the function runs, and its arguments or results are placed as said.
"""
from __future__ import annotations

import functools
from typing import Any, Callable

from jax_core.representation import tree
from jax_core.representation.typing import Placement

from ..placement import mesh as meshes
from ..placement.mesh import AxisType, get_abstract_mesh, use_abstract_mesh
from ..placement.partition_spec import PartitionSpec
from ..arrays.device_put import device_put
from ..arrays.put import as_sharding
from ..placement.sharding import Sharding


def auto_axes(f: Callable[..., Any] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
              out_sharding: Placement | None = None) -> Callable:
    """``f``, inside of which the compiler decides how values are split over mesh axes.

    Args:
      f: the function; without it, a decorator.
      axes: the mesh axes, a name or several; default all of the mesh in context.
      out_sharding: a placement of the results, as a pytree prefix; it may also be given in the call. Axes that were ``Auto``
        before are left to the compiler.

    Raises:
      TypeError: ``out_sharding`` is given neither here nor in the call. ValueError: the mesh has no such axis.
    """
    if f is None:
        return lambda f: auto_axes(f, axes=axes, out_sharding=out_sharding)

    @functools.wraps(f)
    def placed(*args, out_sharding=out_sharding, **kwargs):
        if out_sharding is None:
            raise TypeError("auto_axes: Missing required keyword argument: 'out_sharding'; give it to auto_axes or in the call.")
        here, there = _kinds("auto_axes", axes, AxisType.Auto)
        with use_abstract_mesh(there):
            outs = f(*args, **kwargs)
        return outs if not here.explicit_axes else _place(outs, out_sharding)
    return placed


def explicit_axes(f: Callable[..., Any] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
                  in_sharding: Placement | None = None) -> Callable:
    """``f``, inside of which mesh axes are ``Explicit``; its arguments are placed first.

    Args:
      f: the function; without it, a decorator.
      axes: the mesh axes, a name or several; default all of the mesh in context.
      in_sharding: a placement of the arguments, as a pytree prefix of them; it may also be given in the call.

    Raises:
      TypeError: ``in_sharding`` is given neither here nor in the call. ValueError: the mesh has no such axis.
    """
    if f is None:
        return lambda f: explicit_axes(f, axes=axes, in_sharding=in_sharding)

    @functools.wraps(f)
    def placed(*args, in_sharding=in_sharding, **kwargs):
        if in_sharding is None:
            raise TypeError("explicit_axes: Missing required keyword argument: 'in_sharding'; give it to explicit_axes or in the "
                            "call.")
        _, there = _kinds("explicit_axes", axes, AxisType.Explicit)
        args = _place(args, in_sharding)
        with use_abstract_mesh(there):
            return f(*args, **kwargs)
    return placed


def _kinds(function: str, axes: Any, kind: AxisType) -> tuple:
    """The abstract mesh in context, and the same with these axes of ``kind``."""
    here = get_abstract_mesh()
    if axes is None:
        names = tuple(n for n in here.axis_names if n not in here.manual_axes)
    else:
        names = tuple(axes) if isinstance(axes, (tuple, list, set, frozenset)) else (axes,)
    unknown = [n for n in names if n not in here.axis_names]
    if unknown:
        raise ValueError(f"{function}: axes={axes!r} names {unknown[0]!r}, but the mesh in context has the axes {here.axis_names}; "
                         "set a mesh with jax.set_mesh.")
    return here, here.update_axis_types(dict.fromkeys(names, kind))


def _place(values: Any, shardings: Any) -> Any:
    if meshes.current_mesh() is None and not any(isinstance(s, Sharding) for s in tree.leaves(shardings)):
        return values  # no mesh, so there is one way only
    specs = tree.tree_map(as_sharding, shardings, is_leaf=lambda s: isinstance(s, (PartitionSpec, Sharding)))
    return device_put(values, specs)


__all__ = ["auto_axes", "explicit_axes"]
