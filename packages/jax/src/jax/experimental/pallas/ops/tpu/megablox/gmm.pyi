"""Types of `jax.experimental.pallas.ops.tpu.megablox.gmm`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import DTypeLike
from typing import Any, Callable, TypeAlias

def gmm(lhs: Array, rhs: Array, group_sizes: Array, preferred_element_type: DTypeLike = ..., tiling: tuple[int, int, int] | Callable[[int, int, int], tuple[int, int, int] | None] | None = ..., group_offset: Array | None = None, existing_out: Array | None = None, transpose_rhs: bool = False, interpret: bool = False) -> Array:
    """The rows of each group times its matrix: ``lhs[rows of g] @ rhs[g]``."""
def make_group_metadata(*, group_sizes: Array, m: int, tm: int, start_group: Array, num_nonzero_groups: int, visit_empty_groups: bool = True) -> tuple[tuple[Array, Array, Array], Array]:
    """Which step takes what."""
partial: TypeAlias = Any
def tgmm(lhs: Array, rhs: Array, group_sizes: Array, preferred_element_type: DTypeLike = ..., tiling: tuple[int, int, int] | Callable[[int, int, int], tuple[int, int, int] | None] | None = ..., group_offset: Array | None = None, num_actual_groups: int | None = None, existing_out: Array | None = None, interpret: bool = False) -> Array:
    """A matrix for each group, from its columns and rows: ``lhs[:, g] @ rhs[g, :]``; the derivative of `gmm` by its matrices."""
