"""Members of types that libraries with types of their own (`jax.experimental.hijax`) know, and ask those of this system for.

``shard`` and ``unshard`` go between the type of an array and that of its parts in a manual region; ``reshard`` gives a type another
placement; ``lower_val2`` and ``raise_val2`` take the arrays that represent a value as one list.
"""
from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

from .. import backends

if TYPE_CHECKING:
    from ..representation.typing import MeshLike, Placement, PyTree, SpecLike


class aval_method(collections.namedtuple("aval_method", ["fun"])):
    """Marks a function as a method that tracers of a high-level type have."""

    __slots__ = ()
    fun: Callable


class aval_property(collections.namedtuple("aval_property", ["fget"])):
    """Marks a function as a property that tracers of a high-level type have."""

    __slots__ = ()
    fget: Callable


class TypeHabits:
    """For all types."""

    __slots__ = ()

    def lower_val2(self, hi_val: PyTree) -> list:
        """The arrays that represent a value."""
        return self.lower_val(hi_val)  # type: ignore[attr-defined]  # of `representation.aval.AbstractValue`

    def raise_val2(self, lo_vals_ft: Sequence[object]) -> Any:
        """The value that arrays represent; the inverse of `lower_val2`."""
        return self.raise_val(*lo_vals_ft)  # type: ignore[attr-defined]  # of `representation.aval.AbstractValue`

    def shard(self, mesh: MeshLike, manual_axes: frozenset, check_vma: bool, spec: SpecLike) -> Any:
        """The type of a part, where a value is split over ``mesh`` as ``spec`` says."""
        raise self._unknown("shard")

    def unshard(self, mesh: MeshLike, check_vma: bool, spec: SpecLike) -> Any:
        """The type of the whole of which the parts have this type; the inverse of `shard`."""
        raise self._unknown("unshard")

    def reshard(self, sharding: Placement) -> Any:
        """This type with another placement."""
        raise self._unknown("reshard")

    def _unknown(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} is a type that cannot be split over a mesh: it has no method {method}")


class ArrayTypeHabits:
    """For `ShapedArray`."""

    __slots__ = ()
    layout = None  # the usual one: types say nothing of how elements are stored
    itemsize = aval_property(lambda x: x.dtype.itemsize)

    def shard(self, mesh: MeshLike, manual_axes: frozenset, check_vma: bool, spec: SpecLike) -> Any:
        """As for `TypeHabits`."""
        return backends.get().placements.part_type(cast(Any, self), mesh, manual_axes, check_vma, spec)

    def unshard(self, mesh: MeshLike, check_vma: bool, spec: SpecLike) -> Any:
        """As for `TypeHabits`."""
        return backends.get().placements.whole_type(cast(Any, self), mesh, spec)

    def reshard(self, sharding: Placement) -> Any:
        """As for `TypeHabits`."""
        return self.update(sharding=sharding)  # type: ignore[attr-defined]  # of `representation.aval.ShapedArray`

    def nospec(self, mesh: MeshLike, check_vma: bool, all_names: tuple) -> Any:
        """How a value of this type that nobody says anything of leaves a manual region: split over nothing where that is checked, else
        over all axes along its first one."""
        return backends.get().placements.spec_of(() if check_vma else (all_names,))


class RefTypeHabits:
    """For `AbstractRef`: what tracers that are references have."""

    __slots__ = ()
    mat = property(lambda self: self.manual_axis_type)
    at = aval_property(lambda ref: ref.at)
    T = aval_property(lambda ref: ref.at[...].T)
    get = aval_method(lambda ref, idx=(): ref.get(idx))
    set = aval_method(lambda ref, value, idx=(): ref.set(value, idx))
    swap = aval_method(lambda ref, value, idx=(): ref.swap(value, idx))
    addupdate = aval_method(lambda ref, value, idx=(): ref.addupdate(value, idx))
    transpose = aval_method(lambda ref, permutation: ref.at[...].transpose(permutation))
    reshape = aval_method(lambda ref, *shape: ref.at[...].reshape(*shape))
    bitcast = aval_method(lambda ref, dtype: ref.at[...].bitcast(dtype))

    def shard(self, mesh: MeshLike, manual_axes: frozenset, check_vma: bool, spec: SpecLike) -> Any:
        """As for `TypeHabits`."""
        inner = self.inner_aval.shard(mesh, manual_axes, check_vma, spec)  # type: ignore[attr-defined]  # of `representation.aval.AbstractRef`
        return self.update(inner)  # type: ignore[attr-defined]
