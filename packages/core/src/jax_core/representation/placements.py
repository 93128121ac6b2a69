"""What a placement is, told without its class.

Shardings, `PartitionSpec` and `Format` are classes of the backend; whoever is below it tells them by what they have.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from .typing import MeshSharding, SpecLike


def is_spec(where: object) -> TypeIs[SpecLike]:
    """Whether it is a `PartitionSpec`: no other class has a mark for axes that are left open."""
    return hasattr(type(where), "UNCONSTRAINED")


def is_on_mesh(where: object) -> TypeIs[MeshSharding]:
    """Whether it is a sharding on a mesh, which has a spec."""
    return hasattr(where, "mesh")


def is_format(where: object) -> bool:
    """Whether it is a `Format`: a placement, and the order in which elements are stored."""
    return hasattr(where, "layout") and hasattr(where, "sharding")


def is_placement(where: object) -> bool:
    """Whether it is a sharding, a `PartitionSpec` or a `Format`."""
    return hasattr(type(where), "device_set") or is_spec(where) or is_format(where)


def is_open(sharding: object) -> bool:
    """Whether it is on no mesh: the placement of types which leave it to the compiler."""
    return getattr(getattr(sharding, "mesh", None), "empty", False)
