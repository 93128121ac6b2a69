"""Types of `jax.extend.random`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence

def define_prng_impl(*, key_shape: Sequence[int], seed: Callable[[ArrayLike], ArrayLike], split: Callable[[ArrayLike, tuple[int, ...]], ArrayLike], random_bits: Callable[[ArrayLike, int, tuple[int, ...]], ArrayLike], fold_in: Callable[[ArrayLike, int], ArrayLike], name: str = '<unnamed>', tag: str = '?') -> Any:
    """Register an implementation of random bits; `jax.random.key(seed, impl=name)` makes keys for it."""
random_bits_p: Any
random_fold_in_p: Any
def random_seed(seeds: ArrayLike, impl: Any) -> Any:
    """Typed keys of an array of integers, one for each."""
random_seed_p: Any
random_split_p: Any
random_unwrap_p: Any
random_wrap_p: Any
rbg_prng_impl: Any
def seed_with_impl(impl: Any, seed: ArrayLike) -> Any:
    """The typed key of an integer, for an implementation."""
threefry2x32_p: Any
def threefry_2x32(keypair: Array | Sequence[ArrayLike], count: ArrayLike) -> Any:
    """The words that one key gives for an array of counters, paired as in the original layout."""
threefry_prng_impl: Any
unsafe_rbg_prng_impl: Any
