"""Types of `jax.ref`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Array, Ref
from jax.core import AbstractValue
from jax.experimental.hijax import TransformedRef, aval_method, aval_property
from jax.typing import ArrayLike
from types import EllipsisType
from typing import Any
from jax import Ref as Ref

class AbstractRef(AbstractValue):
    """The type of a mutable reference to an array of type ``inner_aval``; see the package `refs`."""
    T: aval_property
    def __init__(self, inner_aval: AbstractValue, memory_space: object | None = None, kind: str | None = None) -> None: ...
    def __len__(self) -> Any: ...
    addupdate: aval_method
    at: aval_property
    bitcast: aval_method
    get: aval_method
    @property
    def inner_aval(self) -> Any: ...
    @property
    def kind(self) -> Any: ...
    @property
    def manual_axis_type(self) -> Any: ...
    @property
    def mat(self) -> Any: ...
    @property
    def ndim(self) -> Any: ...
    reshape: aval_method
    set: aval_method
    @property
    def size(self) -> Any: ...
    swap: aval_method
    transpose: aval_method
def addupdate(ref: Ref | TransformedRef, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, x: ArrayLike) -> None:
    """Add ``x`` to the part of ``ref`` that ``idx`` names; elements that ``idx`` names twice get both."""
def empty_ref(ty: AbstractValue, memory_space: object | None = None, pin: bool = False) -> Any:
    """A mutable reference to an array of the shape and dtype of ``ty`` whose contents are not specified (they are zeros)."""
def free_ref(ref: Ref) -> None:
    """Say that ``ref`` is not used any more."""
def freeze(ref: Ref) -> Array:
    """The contents of ``ref``, which must not be used any more."""
def get(ref: Ref | TransformedRef, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None = None) -> Any:
    """The part of ``ref`` that ``idx`` names, by default all of it."""
def new_ref(init_val: ArrayLike, *, memory_space: object | None = None, kind: str | None = None, pin: bool = False) -> Any:
    """A mutable reference to a copy of the array ``init_val``."""
def set(ref: Ref | TransformedRef, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, value: ArrayLike) -> None:
    """Store ``value`` in the part of ``ref`` that ``idx`` names; see `swap`."""
def swap(ref: Ref | TransformedRef, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, value: ArrayLike, _function_name: str = 'ref_swap') -> Any:
    """Store ``value`` in the part of ``ref`` that ``idx`` names, and return what was there."""
