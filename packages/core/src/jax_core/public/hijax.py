"""`jax.experimental.hijax`: types of a user's own, represented by arrays, and primitives on them.

A type is a subclass of `HiType`; `register_hitype` says which type a value of a Python class has. See
`transformations.high_primitives` for primitives.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..extension_points import high_values
from ..references.api import RefView as TransformedRef
from ..representation import high
from ..representation.aval import AbstractRef, AbstractValue, ShapedArray, register_value_class
from ..representation.high import HiPspec, MappingSpec, aval_method, aval_property
from ..representation.primitive import Linear, Zero, is_linear
from ..representation.typing import ArrayLike
from ..traces.structural import add, instantiate, zeros
from ..traces.trace import attributes_by_type
from ..transformations import batching
from ..transformations.high_primitives import (
    GradAccum,
    HiPrim,
    NullAccum,
    RefAccum,
    ValAccum,
    bdims_at_front,
    jvp_from_lin,
    linearize_from_jvp,
    vjp_from_jvp,
    vjp_from_lin,
)
from ..transformations.vmap import vmap
from .effect_types import control_flow_allowed_effects
from .named_high_primitives import HiPrimitive

if TYPE_CHECKING:
    from ..representation.typing import MeshLike, Placement, PyTree, SpecLike

instantiate_zeros = instantiate
is_undefined_primal = is_linear
VJPHiPrimitive = HiPrim


class HiType(AbstractValue):
    """Base class of high-level types. Subclasses say by which arrays a value is represented, and what its tangents are."""

    is_high = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        attributes_by_type()

    def lo_ty(self) -> list[AbstractValue]:
        raise self._missing("lo_ty()")

    def lower_val(self, hi_val: ArrayLike, /) -> list:
        raise self._missing("lower_val(value)")

    def raise_val(self, *lo_vals: Any) -> Any:
        raise self._missing("raise_val(*arrays)")

    def vspace_add(self, x: ArrayLike, y: ArrayLike) -> Any:
        """The sum of two values; by default that of the arrays that represent them."""
        to_arrays, from_arrays = high_values.get()
        return from_arrays(self, list(map(add, to_arrays(self, x), to_arrays(self, y))))

    def vspace_zero(self) -> Any:
        """The zero of the tangents; by default zeros represent it."""
        return self.raise_val(*map(zeros, self.lo_ty()))

    def dec_rank(self, size: int, spec: object) -> AbstractValue:
        raise self._missing("dec_rank(size, spec), for vmap")

    def inc_rank(self, size: int, spec: object) -> AbstractValue:
        raise self._missing("inc_rank(size, spec), for vmap")

    def leading_axis_spec(self) -> Any:
        raise self._missing("leading_axis_spec()")

    def shard(self, mesh: MeshLike, manual_axes: frozenset, check_vma: bool, spec: SpecLike) -> Any:
        raise self._missing("shard(mesh, manual_axes, check_vma, spec)")

    def unshard(self, mesh: MeshLike, check_vma: bool, spec: SpecLike) -> Any:
        raise self._missing("unshard(mesh, check_vma, spec)")

    def reshard(self, sharding: Placement) -> Any:
        raise self._missing("reshard(sharding)")

    def nospec(self, mesh: MeshLike, check_vma: bool, all_names: tuple) -> Any:
        raise self._missing("nospec(mesh, check_vma, all_names)")

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} is a high-level type and must have a method {method}")


class MutableHiType(HiType):
    """Base class of high-level types whose values change."""


class AvalQDD(AbstractValue):
    """A type together with what it holds at some time."""

    def __init__(self, aval: AbstractValue, qdd: object):
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD(AvalQDD):
    """`AvalQDD` of a value that changes."""


register_value_class(HiType, lambda aval: aval)  # where types stand for values, as in `eval_shape`


def register_hitype(val_cls: type, typeof_fn: Callable) -> None:
    """Say how the type of a value of class ``val_cls`` is found."""
    high.register(val_cls, typeof_fn)


def unmap_avals(axis_data: batching.AxisData, avals: Sequence[Any], dims: Sequence[int | None]) -> list[AbstractValue]:
    """The types of a batch, each with its mapped axis put in.

    Args:
      axis_data: the mapped axis, as batching rules are given it.
      avals: types of the rows.
      dims: where the mapped axis goes in each; None for one that is not mapped.

    >>> from jax.experimental import hijax
    >>> from jax_core.transformations.batching import AxisData
    >>> hijax.unmap_avals(AxisData("i", 5), [jax.typeof(jnp.ones(3))], [0])
    [ShapedArray(float32[5,3])]
    """
    return [aval if dim is None else aval.inc_rank(axis_data.size, dim) if aval.is_high else
            batching.unmapped_aval(aval, axis_data.size, dim, axis_data.explicit_mesh_axis) for aval, dim in zip(avals, dims, strict=True)]


def vmap_rule(axis_data: batching.AxisData, f: Callable[..., PyTree], in_axes: PyTree, out_axes: PyTree, *, sum_match: bool = False) -> Callable:
    """``f`` mapped over the axis that a batching rule is given: `jax.vmap` with its name, its size and its mesh axes.

    Args:
      axis_data: the mapped axis, as batching rules are given it.
      in_axes, out_axes: as for `jax.vmap`.
      sum_match: a result that is mapped, and is not by ``out_axes``, is summed over the axis, as a cotangent is.

    Raises:
      ValueError: such a result, without ``sum_match``.

    >>> from jax.experimental import hijax
    >>> from jax_core.transformations.batching import AxisData
    >>> hijax.vmap_rule(AxisData("i", 2), jnp.sin, (0,), None, sum_match=True)(jnp.zeros((2, 3)))
    Array([0., 0., 0.], dtype=float32)
    """
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    return vmap(f, axes, out_axes, axis_name=axis_data.name, axis_size=axis_data.size, spmd_axis_name=axis_data.spmd_name, sum_match=sum_match)


__all__ = ["AbstractRef", "AbstractValue", "AvalMutableQDD", "AvalQDD", "GradAccum", "HiPrim", "HiPrimitive", "HiPspec", "HiType", "Linear",
           "MappingSpec", "MutableHiType", "NullAccum", "RefAccum", "ShapedArray", "TransformedRef", "VJPHiPrimitive", "ValAccum", "Zero", "aval_method",
           "aval_property", "bdims_at_front", "control_flow_allowed_effects", "instantiate_zeros", "is_undefined_primal",
           "jvp_from_lin", "linearize_from_jvp", "register_hitype", "unmap_avals", "vjp_from_jvp", "vjp_from_lin", "vmap_rule"]
