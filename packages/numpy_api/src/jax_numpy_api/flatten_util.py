"""jax.flatten_util: a pytree of arrays as one vector."""
from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import warnings
from typing import Any, Callable

import numpy as np

from jax_core import backends
from jax_core.representation import dtypes, tree
from jax_core.representation.typing import PyTree

from . import lax, numpy as jnp
from .numpy.promotion import evaluating, host


def ravel_pytree(pytree: PyTree) -> tuple[Any, Callable]:
    """All leaves of ``pytree``, flattened and joined, and the function that takes such a vector apart again.

    Returns:
      ``dtype[n]`` with the leaves' promoted dtype (float32 if there are none), and ``unravel``, which restores structure, shapes and dtypes.

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
        return jnp.zeros(0, np.float32), _Empty(structure)
    own = tuple(map(dtypes.dtype, leaves))
    common = dtypes.common_dtype(*own)  # of dtypes, not of leaves: a Python number counts as much as an array
    unravel = _Unravel(structure, tuple(map(np.shape, leaves)), own, common)
    several = unravel.several
    flat = jnp.concatenate([jnp.ravel(lax.convert_element_type(x, common) if several else x) for x in leaves])
    return flat, unravel


@dataclasses.dataclass(frozen=True)
class _Empty:
    """The inverse for a pytree without leaves."""

    structure: Any

    def __call__(self, vector: Any) -> Any:
        return tree.unflatten(self.structure, [])


@dataclasses.dataclass(frozen=True)
class _Unravel:
    """The inverse for pytrees of one type. They are equal, so that one can be a static argument of `jit`."""

    structure: Any
    shapes: tuple
    own: tuple
    common: Any

    @functools.cached_property
    def ends(self) -> list[int]:
        """Where the part of each leaf ends."""
        return list(itertools.accumulate(map(math.prod, self.shapes)))

    @functools.cached_property
    def several(self) -> bool:
        """Whether the leaves have several dtypes."""
        return any(d != self.common for d in self.own)

    def __call__(self, vector: Any) -> Any:
        ends = self.ends
        if np.shape(vector) != (ends[-1],):
            raise ValueError(f"unravel: expected a vector of shape {(ends[-1],)}, got shape {np.shape(vector)}")
        several = self.several
        if several and dtypes.dtype(vector) != self.common:
            raise TypeError(f"unravel: the pytree has leaves of several dtypes, so the vector must have dtype {self.common}, "
                            f"got {dtypes.dtype(vector)}")
        if not several and evaluating() and (view := host(vector)) is not None:
            from_host = backends.get().from_host
            pieces = [from_host(view[start:end].reshape(s), computed=True) for start, end, s in zip([0, *ends], ends, self.shapes)]
            return tree.unflatten(self.structure, pieces)
        vector = jnp.asarray(vector, dtype=dtypes.dtype(vector))
        pieces = [vector[start:end].reshape(s) for start, end, s in zip([0, *ends], ends, self.shapes)]
        if several:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a complex vector holds the real leaves, too
                pieces = [lax.convert_element_type(x, d) for x, d in zip(pieces, self.own)]
        return tree.unflatten(self.structure, pieces)
