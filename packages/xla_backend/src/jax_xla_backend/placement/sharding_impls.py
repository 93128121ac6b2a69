"""`jax._src.sharding_impls`, under which name jaxlib's C++ asks for `make_single_device_sharding` whenever it places an array.

Libraries find the classes of placements here, the value that stands for "nothing was said" (oryx), and `canonicalize_sharding` (jaxns).
"""
from __future__ import annotations

from jax_core.programs.options import UNSPECIFIED, Unspecified as UnspecifiedValue
from jax_core.representation.placements import is_open
from jax_core.traces.structural import check_out_sharding

from .mesh import get_abstract_mesh
from .partition_spec import PartitionSpec
from .sharding import (
    AxisType,
    DuplicateSpecError,
    GSPMDSharding,
    IndivisibleError,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    make_single_device_sharding,
)


def canonicalize_sharding(sharding: object, api_name: str, check_mesh_consistency: bool = True) -> NamedSharding | None:
    """``sharding``, the argument ``out_sharding`` of ``api_name``, as a type holds it: on an abstract mesh, or None where nothing is said.

    Raises:
      TypeError: it is neither a `PartitionSpec` nor a `NamedSharding`.
      ValueError: as `check_out_sharding`; a `PartitionSpec` is given where no mesh is in context.

    >>> from jax._src.sharding_impls import canonicalize_sharding
    >>> with jax.set_mesh(jax.make_mesh((1,), ("x",))):
    ...     canonicalize_sharding(jax.P("x"), "my_function").spec
    P('x',)
    """
    if sharding is None or is_open(sharding):
        return None
    if not isinstance(sharding, (NamedSharding, PartitionSpec)):
        raise TypeError(f"{api_name}: out_sharding={sharding!r} is of type {type(sharding).__name__}; give a PartitionSpec or a NamedSharding")
    here = get_abstract_mesh()
    if isinstance(sharding, PartitionSpec):
        if here.empty:
            raise ValueError(f"{api_name}: out_sharding={sharding!r} is a PartitionSpec and no mesh is in context; set one by jax.set_mesh, or give a "
                             "NamedSharding")
        sharding = NamedSharding(here, sharding)
    if check_mesh_consistency:
        check_out_sharding(api_name, sharding)
    return NamedSharding(sharding.mesh.abstract_mesh, sharding.spec)


__all__ = ["AxisType", "DuplicateSpecError", "GSPMDSharding", "IndivisibleError", "NamedSharding", "PartitionSpec", "Sharding",
           "SingleDeviceSharding", "UNSPECIFIED", "UnspecifiedValue", "canonicalize_sharding", "make_single_device_sharding"]
