"""Types of `jax.dtypes`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax.typing import DTypeLike
from typing import Any
from jax.errors import TypePromotionError as TypePromotionError
from ml_dtypes import bfloat16 as bfloat16
from ml_dtypes import finfo as finfo
from ml_dtypes import iinfo as iinfo

def canonicalize_dtype(dtype: DTypeLike | None, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays get when `dtype` is asked for."""
class extended:
    """Abstract scalar type: every extended dtype is a subtype of it (`issubdtype`)."""
float0: Any
def issubdtype(a: DTypeLike, b: DTypeLike) -> bool:
    """Whether dtype or scalar type `a` is, or is a kind of, `b`."""
def itemsize_bits(dtype: np.dtype) -> int:
    """The width of a dtype in bits; a boolean counts as 8."""
class prng_key(extended):
    """Abstract scalar type of random keys."""
def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype that combining the arguments gives, as `numpy.result_type` under JAX's rules."""
def scalar_type_of(x: object) -> type:
    """The Python type (bool, int, float or complex) of the elements of `x`, a value or dtype."""
