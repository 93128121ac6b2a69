"""Arrays in files, in NumPy's formats, and arrays out of buffers, texts and iterators."""
from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

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


# -- other sources -----------------------------------------------------------------------------------------------------

def frombuffer(buffer: bytes | memoryview, dtype: DTypeLike = float, count: int = -1, offset: int = 0) -> Array:
    """A 1-d array from the bytes of a buffer.

    Args:
      count: how many elements; -1 for all.
      offset: bytes to skip.

    Source: `numpy.frombuffer`.

    >>> jnp.frombuffer(bytes([1, 2]), dtype=jnp.uint8)
    Array([1, 2], dtype=uint8)
    """
    if isinstance(buffer, Array):  # which need not be where a buffer can show it
        buffer = np.asarray(buffer)
    return asarray(np.frombuffer(buffer, dtype=np.dtype(dtype), count=count, offset=offset))


def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str) -> Array:
    """A 1-d array from numbers written in a string, ``count`` of them unless that is -1. Source: `numpy.fromstring`.

    >>> jnp.fromstring("1 2 3", dtype=int, sep=" ")
    Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype=np.dtype(dtype), count=count, sep=sep))


def fromfile(*args: Any, **kwargs: Any) -> Array:
    """A 1-d array from the bytes or the text of a file, with the arguments of `numpy.fromfile`.

    The file is read when the function is called: inside a traced function, while it is traced.

    Raises:
      TypeError: the first argument is neither a path nor an open file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), 'x')
    >>> np.arange(3, dtype=np.float32).tofile(path)
    >>> jnp.fromfile(path, dtype=jnp.float32)
    Array([0., 1., 2.], dtype=float32)
    """
    file = args[0] if args else kwargs.get("file", "")
    if not isinstance(file, (str, bytes, os.PathLike)) and not hasattr(file, "fileno"):
        raise TypeError(f"jax.numpy.fromfile: a path or an open file is needed, got {file!r} of type {type(file).__name__}")
    return asarray(np.fromfile(*args, **kwargs))


def fromiter(*args: Any, **kwargs: Any) -> Array:
    """A 1-d array from the items of an iterator, with the arguments of `numpy.fromiter`.

    The items are taken when the function is called: inside a traced function, while it is traced.

    >>> jnp.fromiter((n * n for n in range(4)), dtype=int)
    Array([0, 1, 4, 9], dtype=int32)
    """
    return asarray(np.fromiter(*args, **kwargs))
