"""How arrays are printed: NumPy's functions and options, which our arrays' own representations obey."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation.typing import ArrayLike


def array_repr(arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
               suppress_small: bool | None = None) -> str:
    """The representation of an array.

    Args:
      max_line_width, precision, suppress_small: of the text, as NumPy has them.

    Source: `numpy.array_repr`.

    >>> jnp.array_repr(jnp.arange(2))
    'Array([0, 1], dtype=int32)'
    """
    if all(x is None for x in (max_line_width, precision, suppress_small)):
        return repr(arr)
    return np.array_repr(np.asarray(arr), max_line_width, precision, suppress_small).replace("array(", "Array(", 1)


def array_str(a: ArrayLike, max_line_width: int | None = None, precision: int | None = None,
              suppress_small: bool | None = None) -> str:
    """The contents of an array as text.

    Args:
      max_line_width, precision, suppress_small: of the text, as NumPy has them.

    Source: `numpy.array_str`.

    >>> jnp.array_str(jnp.arange(2))
    '[0 1]'
    """
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


def get_printoptions() -> dict:
    """NumPy's printing options. Source: `numpy.get_printoptions`.

    >>> jnp.get_printoptions()["precision"]
    8
    """
    return dict(np.get_printoptions())


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """Set NumPy's printing options. Source: `numpy.set_printoptions`.

    >>> old = np.get_printoptions()
    >>> jnp.set_printoptions(precision=2)
    >>> print(jnp.array([1 / 3]))
    [0.33]
    >>> np.set_printoptions(**old)
    """
    np.set_printoptions(*args, **kwargs)


def printoptions(*args: Any, **kwargs: Any) -> Any:
    """A context manager for NumPy's printing options. Source: `numpy.printoptions`.

    >>> with jnp.printoptions(precision=2):
    ...     print(jnp.array([1 / 3]))
    [0.33]
    """
    return np.printoptions(*args, **kwargs)
