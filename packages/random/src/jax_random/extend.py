"""jax.extend.random: one's own implementations of random bits, and the parts of those built in."""
from __future__ import annotations

from typing import Any

from jax_core.representation.typing import ArrayLike

from .api import _seeded
from .impls import PRNGImpl, define_prng_impl, rbg_prng_impl, resolve, threefry_prng_impl, unsafe_rbg_prng_impl
from .primitives import random_bits_p, random_fold_in_p, random_seed_p, random_split_p, random_unwrap_p, random_wrap_p
from .threefry import threefry2x32_p, threefry_2x32


def random_seed(seeds: ArrayLike, impl: PRNGImpl) -> Any:
    """Typed keys of an array of integers, one for each.

    Args:
      seeds: integers of any shape.
      impl: an implementation, its specification or its name.

    Raises:
      TypeError: the seeds are not integers.

    >>> from jax.extend import random as extend_random
    >>> extend_random.random_seed(jnp.arange(3), impl="threefry2x32").shape
    (3,)
    """
    chosen = resolve(impl)
    if hasattr(seeds, "shape") and seeds.shape:
        return random_wrap_p.bind(random_seed_p.bind(seeds, impl=chosen), impl=chosen)
    return seed_with_impl(chosen, seeds)


def seed_with_impl(impl: PRNGImpl, seed: ArrayLike) -> Any:
    """The typed key of an integer, for an implementation.

    Raises:
      TypeError: the seed is not an integer scalar.

    >>> from jax.extend import random as extend_random
    >>> extend_random.seed_with_impl(extend_random.threefry_prng_impl, 0).dtype
    key<fry>
    """
    chosen = resolve(impl)
    return random_wrap_p.bind(_seeded("seed_with_impl", seed, chosen), impl=chosen)


__all__ = ["define_prng_impl", "random_bits_p", "random_fold_in_p", "random_seed", "random_seed_p", "random_split_p", "random_unwrap_p",
           "random_wrap_p", "rbg_prng_impl", "seed_with_impl", "threefry2x32_p", "threefry_2x32",
           "threefry_prng_impl", "unsafe_rbg_prng_impl"]
