"""jax.flatten_util: a pytree of arrays as one vector."""
from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

from jax_core.representation import dtypes, tree
from jax_core.representation.typing import PyTree

from . import lax
from . import numpy as jnp


def ravel_pytree(pytree: PyTree) -> tuple[Any, Callable]:
    """All leaves of ``pytree``, flattened and joined, and the function that takes such a vector apart again.

    Returns:
      ``dtype[n]`` with the leaves' promoted dtype, and ``unravel``, which restores structure, shapes and dtypes.

    Raises:
      ValueError: (by ``unravel``) a vector of another length. TypeError: of another dtype.

    >>> flat, back = jax.flatten_util.ravel_pytree({"a": jnp.ones(2), "b": 3.})
    >>> flat
    Array([1., 1., 3.], dtype=float32)
    >>> back(10 * flat)["b"]
    Array(30., dtype=float32)
    """
    leaves, structure = tree.flatten(pytree)
    if not leaves:
        return jnp.array([]), lambda flat: tree.unflatten(structure, [])
    shapes = [np.shape(x) for x in leaves]
    own = [dtypes.dtype(x) for x in leaves]
    common = dtypes.common_dtype(*own)  # of dtypes, not of leaves: a Python number counts as much as an array
    several = any(d != common for d in own)
    ends = np.cumsum([int(np.prod(s)) for s in shapes]).tolist()
    flat = jnp.concatenate([jnp.ravel(lax.convert_element_type(x, common) if several else x) for x in leaves])

    def unravel(vector: Any) -> Any:
        if np.shape(vector) != (ends[-1],):
            raise ValueError(f"unravel: expected a vector of shape {(ends[-1],)}, got shape {np.shape(vector)}")
        if several and dtypes.dtype(vector) != common:
            raise TypeError(f"unravel: the pytree has leaves of several dtypes, so the vector must have dtype {common}, "
                            f"got {dtypes.dtype(vector)}")
        pieces = [vector[start:end].reshape(s) for start, end, s in zip([0, *ends], ends, shapes)]
        if several:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a complex vector holds the real leaves, too
                pieces = [lax.convert_element_type(x, d) for x, d in zip(pieces, own)]
        return tree.unflatten(structure, pieces)
    return flat, unravel
