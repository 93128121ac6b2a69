"""Types of `jax.experimental.sparse.util`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, TypeAlias
from jax.experimental.sparse import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from jax.experimental.sparse import SparseEfficiencyError as SparseEfficiencyError
from jax.experimental.sparse import SparseEfficiencyWarning as SparseEfficiencyWarning
from jax.experimental.sparse.bcoo import SparseInfo as SparseInfo

Shape: TypeAlias = tuple[int, ...]
def broadcasting_vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """`vmap` under which an axis of length 1 is repeated as often as the longest one asks."""
def nfold_vmap(fun: Callable[..., Any], N: int, *, broadcasted: bool = True, in_axes: Any = 0) -> Callable[..., Any]:
    """``fun`` mapped over ``N`` leading axes; with ``broadcasted`` axes of length 1 are repeated."""
