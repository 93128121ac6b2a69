"""`jax._src.sharding_impls`, under which name jaxlib's C++ asks for `make_single_device_sharding` whenever it places an array.

Libraries find the classes of placements here, the value that stands for "nothing was said" (oryx), `canonicalize_sharding` (jaxns), and which
rows of an array a process holds (axlearn, kauldron); benchmarks of the public jax, the check of placements of many arrays.
"""
from __future__ import annotations

from typing import Any, Sequence

from jax_core.programs.options import UNSPECIFIED, Unspecified as UnspecifiedValue
from jax_core.representation.aval import AbstractValue
from jax_core.representation.placements import is_open
from jax_core.traces.structural import check_out_sharding

from ..platforms.client import process_index
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


def get_process_index_and_count(tensor_sharding: Sharding, dim: int, ndims: int) -> tuple[int, int]:
    """Which of how many parts along axis ``dim`` of an array of ``ndims`` axes this process holds, as ``tensor_sharding`` splits it.

    Processes that hold the same rows have the same number. ``(0, 1)`` where one process holds everything.

    Raises:
      NonUniformShardingError: processes hold overlapping or unlike parts, so that no count describes them.

    >>> from jax._src.sharding_impls import get_process_index_and_count
    >>> get_process_index_and_count(jnp.ones((4, 2)).sharding, 0, 2)
    (0, 1)
    """
    if tensor_sharding.is_fully_addressable:
        return 0, 1
    shape = (tensor_sharding.num_devices,) * ndims  # which every split divides
    held: dict[int, set[int]] = {}
    for device, index in tensor_sharding.devices_indices_map(shape).items():
        held.setdefault(device.process_index, set()).update(range(*index[dim].indices(shape[dim])))
    parts = sorted({tuple(sorted(rows)) for rows in held.values()})
    if len({len(part) for part in parts}) > 1 or sum(map(len, parts)) != shape[dim]:
        raise NonUniformShardingError(f"get_process_index_and_count: along axis {dim} the processes of {tensor_sharding} hold parts that overlap or differ "
                                      "in length; no number of equal parts describes them.")
    return parts.index(tuple(sorted(held[process_index()]))), len(parts)


def local_to_global_shape(sharding: Sharding, local_shape: Sequence[int]) -> tuple[int | None, ...]:
    """The shape of the whole array of which each process holds ``local_shape``; None for axes along which processes hold unlike parts.

    Raises:
      ValueError: that is so along every axis that is split.

    >>> from jax._src.sharding_impls import local_to_global_shape
    >>> local_to_global_shape(jnp.ones((4, 2)).sharding, (4, 2))
    (4, 2)
    """
    def whole(dim: int, length: int) -> int | None:
        try:
            return length * get_process_index_and_count(sharding, dim, len(local_shape))[1]
        except NonUniformShardingError:
            return None

    shape = tuple(whole(dim, length) for dim, length in enumerate(local_shape))
    if shape and all(length is None for length in shape):
        raise ValueError(f"local_to_global_shape: no axis of {tuple(local_shape)} is held by the processes of {sharding} in equal parts")
    return shape


def pjit_check_aval_sharding(shardings: Sequence[Any], flat_avals: Sequence[AbstractValue], names: Sequence[str], what_aval: str,
                             allow_uneven_sharding: bool) -> None:
    """Check that arrays of these types can have these placements; ``what_aval`` says in errors what they are, ``names`` which.

    Raises:
      ValueError: a placement names more axes than its array has, or, unless ``allow_uneven_sharding``, splits one into unequal parts.

    >>> from jax._src.pjit import pjit_check_aval_sharding
    >>> pjit_check_aval_sharding([jnp.ones(3).sharding], [jax.typeof(jnp.ones(3))], ["x"], "arguments", False)
    """
    for sharding, aval, name in zip(shardings, flat_avals, names, strict=True):
        if isinstance(sharding, Sharding):
            try:
                (sharding.check_compatible_aval if allow_uneven_sharding else sharding.shard_shape)(aval.shape)
            except ValueError as error:
                raise ValueError(f"{what_aval}: {name or 'an array'} of type {aval.str_short()} cannot be placed: {error}") from None


class NonUniformShardingError(ValueError):
    """The processes of a program do not hold equal parts of an array."""


__all__ = ["AxisType", "DuplicateSpecError", "GSPMDSharding", "IndivisibleError", "NamedSharding", "NonUniformShardingError", "PartitionSpec", "Sharding",
           "SingleDeviceSharding", "UNSPECIFIED", "UnspecifiedValue", "canonicalize_sharding", "get_process_index_and_count", "local_to_global_shape",
           "make_single_device_sharding", "pjit_check_aval_sharding"]
