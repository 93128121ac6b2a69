"""The array API standard: the namespace of an array, and what it can do."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core import backends
from jax_core.configuration import flags
from jax_core.extension_points import array_namespace
from jax_core.representation import dtypes

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike, Placement

__array_api_version__ = "2025.12"
_OLDER = ("2021.12", "2022.12", "2023.12", "2024.12")


def namespace(api_version: str | None = None) -> Any:
    """jax.numpy (or this package, where the public one is not loaded).

    Raises:
      ValueError: a version of the standard that is not supported.
    """
    if api_version not in (None, __array_api_version__, *_OLDER):
        raise ValueError(f"array API version {api_version!r} is not supported; the newest supported is "
                         f"{__array_api_version__!r}")
    return array_namespace.value or sys.modules[__package__]


class ArrayNamespaceInfo:
    """What the standard's ``__array_namespace_info__`` returns."""

    def capabilities(self) -> dict:
        """Whether indexing by mask and shapes that depend on values work, in compiled programs too, and the largest rank."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> Any:
        """None: the device that `jax_default_device` names, else the first."""
        return None

    def devices(self) -> tuple:
        """All devices of this process, and None."""
        return None, *backends.get().devices()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict:
        """The dtypes that arrays get where none is given."""
        return {"real floating": dtypes.default_float_dtype(), "complex floating": dtypes.default_complex_dtype(),
                "integral": dtypes.default_int_dtype(), "indexing": dtypes.default_int_dtype()}

    def dtypes(self, *, device: Placement | None = None, kind: str | tuple[str, ...] | None = None) -> dict:
        """The dtypes there are, by name; those of 64 bits (128 for complex) only while x64 is enabled."""
        names = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"]
        if flags.enable_x64.value:
            names += ["int64", "uint64", "float64", "complex128"]
        found = {n: np.dtype(n) for n in names}
        return found if kind is None else {n: d for n, d in found.items() if dtypes.isdtype(d, kind)}


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """What this namespace can do. Source: array API standard."""
    return ArrayNamespaceInfo()
