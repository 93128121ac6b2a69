"""jax._src.random.rbg: the functions of this implementation, by the names that pickled keys of the public jax have for them."""
from jax._lazy import beside as _beside
from jax_random.impls import resolve as _resolve

_impl, _unsafe = _resolve("rbg"), _resolve("unsafe_rbg")
_rbg_seed, _rbg_split, _rbg_random_bits, _rbg_fold_in = _impl.seed, _impl.split, _impl.random_bits, _impl.fold_in
_unsafe_rbg_split, _unsafe_rbg_fold_in = _unsafe.split, _unsafe.fold_in

__getattr__ = _beside(__name__)
