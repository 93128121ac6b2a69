"""Arrays in files, in NumPy's formats."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, IO

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .creation import asarray

if TYPE_CHECKING:
    from os import PathLike


def load(file: str | PathLike | IO[bytes], *args: Any, **kwargs: Any) -> Array:
    """An array from a ``.npy`` file; of other files what `numpy.load` gives. Source: `numpy.load`.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), 'x.npy')
    >>> np.save(path, np.arange(3, dtype=np.float32))
    >>> jnp.load(path)
    Array([0., 1., 2.], dtype=float32)
    """
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray):
        return out
    if out.dtype == np.dtype("V2"):  # the format does not know bfloat16, and stores its bytes
        out = out.view(dtypes.bfloat16)
    return asarray(out)


def save(file: str | PathLike | IO[bytes], arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Write an array to a ``.npy`` file.

    Args:
      arr: what is written.
      allow_pickle: as NumPy has it.

    Source: `numpy.save`.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), 'x.npy')
    >>> jnp.save(path, jnp.arange(3))
    >>> jnp.load(path)
    Array([0, 1, 2], dtype=int32)
    """
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file: str | PathLike | IO[bytes], *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays to a ``.npz`` file.

    Args:
      allow_pickle: as NumPy has it.

    Source: `numpy.savez`.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), 'x.npz')
    >>> jnp.savez(path, a=jnp.arange(3))
    >>> np.load(path)['a']
    array([0, 1, 2], dtype=int32)
    """
    host = [np.asarray(a) for a in args]
    named: dict[str, Any] = {k: np.asarray(v) for k, v in kwds.items()}
    np.savez(file, *host, **named)
