"""Arrays in files, in NumPy's formats."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .creation import asarray


def load(file: Any, *args: Any, **kwargs: Any) -> Array:
    """An array from a ``.npy`` file; of other files what `numpy.load` gives. Source: `numpy.load`."""
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray):
        return out
    if out.dtype == np.dtype("V2"):  # the format does not know bfloat16, and stores its bytes
        out = out.view(dtypes.bfloat16)
    return asarray(out)


def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Write an array to a ``.npy`` file. Source: `numpy.save`."""
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to a ``.npz`` file. Source: `numpy.savez`."""
    host = [np.asarray(a) for a in args]
    np.savez(file, *host, **{k: np.asarray(v) for k, v in kwds.items()})
