"""A generator with state, in the manner of `numpy.random.default_rng`: each draw uses a key that no other draw uses.

The state is a counter in a mutable reference, so it works under `jit` and the other transformations without being passed
around: draw number n uses ``fold_in(base key, n)``.
"""
from __future__ import annotations

from typing import Any, Hashable, Sequence, cast

import numpy as np

from jax_core.references.api import new_ref
from jax_core.references.primitives import is_ref
from jax_core.representation import dtypes, tree_nodes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike
from jax_core.traces.trace import trace_state_clean
from jax_numpy_api import numpy as jnp

from . import api
from .normals import normal
from .uniforms import randint, uniform


class StatefulPRNG:
    """A random generator that updates itself; made by `stateful_rng`. It is a pytree of a key and a reference.

    It can be passed to a jitted function or closed over, but not returned from one.
    """

    def __init__(self, _base_key: ArrayLike, _counter: Any):
        if not dtypes.issubdtype(cast(Any, getattr(_base_key, "dtype", None)), dtypes.prng_key):
            raise ValueError(f"StatefulPRNG: Expected base_key to be a typed PRNG key, as jax.random.key makes, got {_base_key!r}")
        if not is_ref(_counter) or not dtypes.issubdtype(_counter.dtype, np.integer):
            raise ValueError(f"StatefulPRNG: Expected counter to be a scalar integer ref, or one for each key, got {_counter!r}")
        self._base_key, self._counter = _base_key, _counter

    def __repr__(self):
        return f"StatefulPRNG(_base_key={self._base_key!r}, _counter={self._counter!r})"

    def key(self, shape: int | Sequence[int] = ()) -> Array:
        """A fresh key, or an array of fresh keys of this shape."""
        fresh = api.fold_in(self._base_key, self._counter[...])
        self._counter[...] += 1
        return fresh if shape == () else api.split(fresh, shape)

    def random(self, size: int | Sequence[int] | None = None, dtype: DTypeLike = float) -> Any:
        """Independent samples from the interval [0, 1), of shape ``size``."""
        return uniform(self.key(), _shape(size), dtype)

    def uniform(self, low: ArrayLike = 0, high: ArrayLike = 1, size: int | Sequence[int] | None = None, *,
                dtype: DTypeLike = float) -> Array:
        """Independent samples from [low, high), of shape ``size``; by default that of ``low`` and ``high`` together."""
        return uniform(self.key(), _shape(size, low, high), dtype, minval=low, maxval=high)

    def normal(self, loc: ArrayLike = 0, scale: ArrayLike = 1, size: int | Sequence[int] | None = None, *,
               dtype: DTypeLike = float) -> Array:
        """Independent normal samples with mean ``loc`` and standard deviation ``scale``; shape as for `uniform`."""
        draw = normal(self.key(), _shape(size, loc, scale), dtype)
        return draw * jnp.asarray(scale, draw.dtype) + jnp.asarray(loc, draw.dtype)

    def integers(self, low: ArrayLike, high: ArrayLike | None = None, size: int | Sequence[int] | None = None, *,
                 dtype: DTypeLike = int) -> Array:
        """Independent integers from [low, high), or [0, low) without ``high``; shape as for `uniform`."""
        low, high = (0, low) if high is None else (low, high)
        return randint(self.key(), _shape(size, low, high), low, high, dtype)

    def split(self, num: int | Sequence[int]) -> "StatefulPRNG":
        """Independent generators as one object with leading axes ``num``, to be mapped over by `vmap`."""
        keys = self.key(num)
        return StatefulPRNG(keys, new_ref(jnp.zeros(keys.shape, np.int32)))

    def spawn(self, n_children: int) -> list["StatefulPRNG"]:
        """A list of ``n_children`` independent generators.

        Raises:
          ValueError: ``n_children`` is negative.
        """
        if n_children < 0:
            raise ValueError(f"StatefulPRNG.spawn: n_children must not be negative, got {n_children}")
        keys: Any = self.key(n_children)
        return [StatefulPRNG(keys[i], new_ref(np.int32(0))) for i in range(n_children)]


tree_nodes.register_pytree_node(StatefulPRNG, lambda rng: ((rng._base_key, rng._counter), None),
                          lambda _, children: _restored(*children))


def _restored(base_key: Any, counter: Any) -> StatefulPRNG:
    """A generator of what a tree's leaves may be: not only keys and references."""
    rng = object.__new__(StatefulPRNG)
    rng._base_key, rng._counter = base_key, counter
    return rng


def _shape(size: Any, *parameters: Any) -> tuple[int, ...]:
    if size is None:
        return joint_shape(*map(np.shape, parameters))
    return (size,) if hasattr(size, "__index__") else tuple(size)


def stateful_rng(seed: ArrayLike | None = None, *, impl: str | Hashable | None = None) -> StatefulPRNG:
    """A random generator with state.

    Args:
      seed: an integer scalar; without it the operating system's randomness is used, outside of transformations only.
      impl: name of the generator of the keys, such as ``"threefry2x32"``.

    Raises:
      TypeError: no seed is given inside a transformed function, or it is not an integer scalar.

    >>> from jax.experimental import random as stateful
    >>> rng = stateful.stateful_rng(0)
    >>> first, second = rng.uniform(), rng.uniform()
    >>> bool(first != second)
    True
    """
    if seed is None:
        if not trace_state_clean():
            raise TypeError("When used within transformed code, stateful_rng needs a seed; without one the program would draw the "
                            "same numbers at each call.")
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    return StatefulPRNG(api.key(seed, impl=impl), new_ref(np.int32(0)))
