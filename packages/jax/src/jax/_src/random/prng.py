"""jax._src.random.prng: what pickled typed keys of the public jax are read by."""
from __future__ import annotations

from typing import Callable

from jax._lazy import beside as _beside
from jax_random.impls import PRNGImpl as _PRNGImpl, resolve as _resolve
from jax_random.keys import PRNGKeyArray  # noqa: F401  # named in pickles


class PRNGImpl:
    """Pickles make a source of random bits from its functions; ours is found by its name."""

    def __new__(cls, key_shape: tuple[int, ...], seed: Callable, split: Callable, random_bits: Callable, fold_in: Callable,  # type: ignore[misc]  # see above
                name: str, tag: str) -> _PRNGImpl:
        return _resolve(name)

__getattr__ = _beside(__name__)
