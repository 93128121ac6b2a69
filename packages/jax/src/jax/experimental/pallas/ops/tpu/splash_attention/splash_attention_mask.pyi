"""Types of `jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax.experimental.pallas.ops.tpu.splash_attention import Mask
from typing import Any
from jax.experimental.pallas.ops.tpu.splash_attention import CausalMask as CausalMask
from jax.experimental.pallas.ops.tpu.splash_attention import FullMask as FullMask
from jax.experimental.pallas.ops.tpu.splash_attention import LocalMask as LocalMask
from jax.experimental.pallas.ops.tpu.splash_attention import Mask as Mask
from jax.experimental.pallas.ops.tpu.splash_attention import MultiHeadMask as MultiHeadMask
from jax.experimental.pallas.ops.tpu.splash_attention import NumpyMask as NumpyMask

class ChunkedCausalMask(Mask):
    """Keys of the query's own chunk that do not come after it."""
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, shape: tuple[int, int], chunk_size: int, shard_count: int = 1) -> None: ...
    def seen(self, q: Any, k: Any) -> Any: ...
    chunk_size: Any
class LogicalAnd(Mask):
    """What both masks show."""
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, left: Mask, right: Mask) -> None: ...
class LogicalOr(Mask):
    """What one of the masks shows."""
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, left: Mask, right: Mask) -> None: ...
def make_causal_mask(shape: tuple[int, int], offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: keys up to ``offset`` places after the query."""
def make_chunk_attention_mask(shape: tuple[int, int], chunk_size: int) -> np.ndarray:
    """Booleans ``[queries, keys]``: keys of the query's own chunk that do not come after it."""
def make_local_attention_mask(shape: tuple[int, int], window_size: tuple[int | None, int | None], *, offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: so many keys before and after the query's place plus ``offset``; None for all of them."""
def make_random_mask(shape: tuple[int, int], sparsity: float, seed: int) -> np.ndarray:
    """Booleans, of which about the part ``sparsity`` is False."""
