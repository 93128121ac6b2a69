"""Memory spaces, and the types of references in them: what a kernel asks for besides its operands.

A memory space is a label here; what it means is up to who compiles the kernel. A semaphore is a counter.
"""
from __future__ import annotations

import enum
from typing import Any, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import AbstractRef, ShapedArray
from jax_core.representation.typing import DTypeLike


class MemoryRef:
    """Memory for an array of one type, in one memory space; made by calling a memory space.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.VMEM((8, 128), jnp.float32)
    MemoryRef(float32[8,128], vmem)
    """

    __slots__ = ("inner_aval", "memory_space")

    def __init__(self, inner_aval: ShapedArray, memory_space: Any):
        self.inner_aval, self.memory_space = inner_aval, memory_space

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)

    def get_ref_aval(self) -> AbstractRef:
        """The type of a reference to this memory."""
        return AbstractRef(self.inner_aval, self.memory_space)

    def get_array_aval(self) -> ShapedArray:
        """The type of the contents."""
        return self.inner_aval

    def __eq__(self, other):
        return type(other) is MemoryRef and (self.inner_aval, self.memory_space) == (other.inner_aval, other.memory_space)

    def __hash__(self):
        return hash((self.inner_aval, self.memory_space))

    def __repr__(self):
        return f"MemoryRef({self.inner_aval.str_short()}, {self.memory_space})"


class _Space(enum.Enum):
    """A memory space; called with a shape and a dtype, memory there."""

    def __str__(self):
        return self.value

    def __repr__(self):
        return self.value

    def __call__(self, shape: Sequence[int], dtype: DTypeLike) -> MemoryRef:
        """Memory for an array of this shape and dtype, for ``scratch_shapes`` and `run_scoped`."""
        return MemoryRef(ShapedArray(tuple(shape), dtypes.canonicalize_dtype(dtype)), self)


class MemorySpace(_Space):
    """Memory spaces that every platform has.

    >>> from jax.experimental import pallas as pl
    >>> pl.ANY((8, 128), jnp.float32)
    MemoryRef(float32[8,128], any)
    """

    ANY = "any"
    """Wherever the array is: the kernel copies parts of it itself. Such an operand is not cut into blocks."""
    DEFAULT = "default"
    """Where the platform puts blocks."""
    HOST = "host"
    ERROR = "error"
    INDEX = "index"
    KEY = "key"


class TpuMemorySpace(_Space):
    """Memory spaces of a TPU.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.SMEM((4,), jnp.int32)
    MemoryRef(int32[4], smem)
    """

    VMEM = "vmem"
    """Vector memory: blocks, and what vector units work on."""
    VMEM_SHARED = "vmem_shared"
    SMEM = "smem"
    """Scalar memory: indices and flags, read one element at a time."""
    CMEM = "cmem"
    SEMAPHORE = "semaphore_mem"
    HBM = "hbm"
    """Main memory."""


ANY, HOST = MemorySpace.ANY, MemorySpace.HOST
VMEM, VMEM_SHARED, SMEM = TpuMemorySpace.VMEM, TpuMemorySpace.VMEM_SHARED, TpuMemorySpace.SMEM
CMEM, SEMAPHORE, HBM = TpuMemorySpace.CMEM, TpuMemorySpace.SEMAPHORE, TpuMemorySpace.HBM

MAIN_MEMORY = ANY, HBM
"""Where a TPU's kernels copy from and to, and neither load nor store."""


class SemaphoreType(enum.Enum):
    """Kinds of semaphores. A kind is memory for one semaphore, a kind called with a shape for an array of them."""

    REGULAR = "regular"
    DMA = "dma"
    BARRIER = "barrier"

    def __str__(self):
        return f"{self.value}_semaphore"

    def __call__(self, shape: Sequence[int] | int) -> MemoryRef:
        """Memory for an array of semaphores of this shape, or so many in a row; its memory space says their kind."""
        shape = (shape,) if isinstance(shape, int) else shape
        return MemoryRef(ShapedArray(tuple(shape), np.dtype(np.int32)), self)

    def get_ref_aval(self) -> AbstractRef:
        """The type of a reference to one semaphore."""
        return self(()).get_ref_aval()


def ref_type(name: str, what: object) -> AbstractRef:
    """The type of a reference to the memory that ``what`` asks for; ``name`` is the function that was asked.

    Raises:
      TypeError: it does not ask for memory.
    """
    if isinstance(what, AbstractRef):
        return what
    if hasattr(what, "get_ref_aval"):
        return what.get_ref_aval()
    if hasattr(what, "shape") and hasattr(what, "dtype"):
        return AbstractRef(ShapedArray(tuple(what.shape), dtypes.canonicalize_dtype(what.dtype)), MemorySpace.DEFAULT)
    raise TypeError(f"{name}: {what!r} of type {type(what).__name__} does not say what memory it wants; give a memory space called "
                    "with a shape and a dtype, as pltpu.VMEM((8, 128), jnp.float32), or a jax.ShapeDtypeStruct.")
