"""jax._src.random.threefry2x32: the functions of this implementation, by the names that pickled keys of the public jax have for them."""
from jax._lazy import beside as _beside
from jax_random.impls import resolve as _resolve

_impl = _resolve("threefry2x32")
threefry_seed, threefry_split, threefry_random_bits, threefry_fold_in = _impl.seed, _impl.split, _impl.random_bits, _impl.fold_in

__getattr__ = _beside(__name__)
