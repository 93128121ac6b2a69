"""Typed keys: their dtype ``key<fry>`` and the arrays of them.

A key array of shape ``s`` is stored as its words, ``uint32[*s, *key_shape]``. Inside transformations it is an ordinary
tracer whose dtype is a `KeyType`; outside it is a `PRNGKeyArray`, which holds the array of words. What moves elements
about (indexing, `reshape`, `concatenate`, `where`, ...) works on both through the ordinary primitives.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence, TypeAlias

import numpy as np

from jax_core import backends, extension_points
from jax_core.configuration import flags
from jax_core.representation import array, dtypes, splits, tree_nodes
from jax_core.representation.aval import ShapedArray

from .primitives import random_wrap_p

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike

_U32 = np.dtype(np.uint32)


class KeyType(dtypes.ExtendedDType):
    """The dtype of the keys of one implementation.

    Attributes:
      impl: the `PRNGImpl`.
      name: ``key<tag>``.
      physical_element_aval: type of the words of one key.
    """

    __slots__ = ("impl", "name", "itemsize", "physical_element_aval", "__weakref__")  # the third and fourth replace properties of the class below
    type = dtypes.prng_key
    is_node = True

    def __init__(self, impl: Any):
        self.impl, self.name = impl, f"key<{impl.tag}>"
        self.itemsize = 4 * math.prod(impl.key_shape)  # type: ignore[misc]
        self.physical_element_aval = ShapedArray(impl.key_shape, _U32)  # type: ignore[misc]

    def __eq__(self, other):
        return self is other or (type(other) is KeyType and self.impl is other.impl)

    def __hash__(self):
        return hash((KeyType, self.impl))

    def __reduce__(self):
        return _dtype_of, (self.impl,)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle of the public jax, as keys."""
        KeyType.__init__(self, state["_impl"])

    # -- how arrays of this dtype are stored: called by backends ---------------------------------------------------
    def physical_aval(self, aval: ShapedArray) -> ShapedArray:
        """The type of the words of keys of type ``aval``."""
        return ShapedArray(aval.shape + self.impl.key_shape, _U32)

    def wrap(self, words: ArrayLike) -> "PRNGKeyArray":
        """The key array of an array of words."""
        return PRNGKeyArray(self.impl, words)

    def unwrap(self, keys: "PRNGKeyArray") -> Any:
        """The array of words of a key array."""
        return keys._base_array

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Keys whose words are all zero."""
        return self.full(shape, 0)

    def full(self, shape: tuple[int, ...], value: object) -> Any:
        """Keys whose words are all ``value``, an integer."""
        return random_wrap_p.bind(np.full((*shape, *self.impl.key_shape), value, np.uint32), impl=self.impl)


    def before_call(self, name: str, args: Sequence[object], program: Any) -> None:
        """Note the keys that a compiled function consumes; see `key_reuse`."""
        from . import key_reuse, key_signatures  # start-up: few ask for the check

        for x, consumed in zip(args, key_signatures.consumed_inputs(program)):
            if consumed and isinstance(getattr(x, "dtype", None), KeyType):
                key_reuse.consume(name, x)

    def after_call(self, results: Sequence[object], program: Any) -> None:
        """Note which results are keys that the function consumed before it returned them."""
        from . import key_reuse, key_signatures  # start-up: few ask for the check

        for x, consumed in zip(results, key_signatures.consumed_results(program)):
            if consumed and isinstance(x, PRNGKeyArray):
                x._consumed = np.asarray(True), f"the call that returned it, at {key_reuse.where()}"


def _dtype_of(impl: Any) -> KeyType:
    return impl.dtype


class PRNGKeyArray:
    """An array of typed keys. Made by `jax.random.key`, `split`, `wrap_key_data`; never by calling this class."""
    __module__ = "jax._src.random.prng"  # see `Tracer`

    __slots__ = ("dtype", "_base_array", "_consumed", "__weakref__")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 100
    weak_type = False

    def __init__(self, impl: Any, words: Any):
        if type(words) is np.ndarray or isinstance(words, np.generic):
            words = backends.get().put(words)
        self.dtype, self._base_array = impl.dtype, words
        self._consumed: tuple[np.ndarray, str] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        words = self._base_array.shape
        return words[:len(words) - len(self.dtype.impl.key_shape)]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    @property
    def aval(self) -> ShapedArray:
        """The type, split over mesh axes as the words are."""
        words, shape = self._base_array.aval.placement, self.shape
        return ShapedArray(shape, self.dtype, sharding=None if words is None else splits.with_entries(words, words.spec.partitions[:len(shape)]))

    _impl = property(lambda self: self.dtype.impl)  # this name and `_base_array` are used by libraries

    # -- placement: that of the words, less the axes of a key ------------------------------------------------------
    committed = property(lambda self: self._base_array.committed)
    is_fully_addressable = property(lambda self: self._base_array.is_fully_addressable)
    is_fully_replicated = property(lambda self: self._base_array.is_fully_replicated)

    @property
    def sharding(self) -> Any:
        found = self._base_array.sharding
        spec = getattr(found, "spec", None)
        if spec is None or len(spec) <= self.ndim:
            return found
        return found.update(spec=spec.update(partitions=spec.partitions[:self.ndim]))

    @property
    def device(self) -> Any:
        """The device, or the sharding where there are several."""
        return self.sharding if len(self.devices()) > 1 else next(iter(self.devices()))

    def devices(self) -> set:
        return self._base_array.devices()

    def _device_put(self, placement: Any) -> "PRNGKeyArray":
        """These keys on another device or with another sharding (of the key array: words stay together)."""
        return PRNGKeyArray(self.dtype.impl, backends.get().put(self._base_array, None, placement))

    @property
    def addressable_shards(self):
        return [s.stored_for(self, self._of_words) for s in self._base_array.addressable_shards]

    @property
    def global_shards(self):
        return [s.stored_for(self, self._of_words) for s in self._base_array.global_shards]

    def addressable_data(self, index: int) -> "PRNGKeyArray":
        """What the device numbered ``index`` of this process holds."""
        return self._of_words(self._base_array.addressable_data(index))

    def on_device_size_in_bytes(self) -> int:
        return self._base_array.on_device_size_in_bytes()

    def to_device(self, device: object, *, stream: int | None = None) -> "PRNGKeyArray":
        """These keys on another device or with another sharding; ``stream`` must be None."""
        if stream is not None:
            raise NotImplementedError("to_device: stream is not supported; transfers are asynchronous as they are.")
        return self._device_put(device)

    def _of_words(self, words: Any) -> "PRNGKeyArray":
        return PRNGKeyArray(self.dtype.impl, words)

    # -- waiting, copying ------------------------------------------------------------------------------------------
    def block_until_ready(self) -> "PRNGKeyArray":
        self._base_array.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        self._base_array.copy_to_host_async()

    def delete(self) -> None:
        self._base_array.delete()

    def is_deleted(self) -> bool:
        return self._base_array.is_deleted()

    def unsafe_buffer_pointer(self) -> int:
        return self._base_array.unsafe_buffer_pointer()

    def copy(self) -> "PRNGKeyArray":
        other = PRNGKeyArray(self.dtype.impl, self._base_array.copy())
        other._consumed = self._consumed
        return other

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _rebuild, (self.dtype.impl, np.asarray(self._base_array))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle of the public jax, which makes keys empty and then gives their parts by name."""
        PRNGKeyArray.__init__(self, state["_impl"], state["_base_array"])

    # -- Python protocols ------------------------------------------------------------------------------------------
    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d key array")
        return iter([PRNGKeyArray(self.dtype.impl, self._base_array[i]) for i in range(self.shape[0])])

    def __getitem__(self, index):
        if flags.debug_key_reuse.value and self.shape:
            from . import key_reuse  # start-up: few ask for the check
            key_reuse.take(self, index)
        return extension_points.array_methods.get()["__getitem__"](self, index)

    def __bool__(self):
        raise TypeError(f"the truth value of keys is not defined; got {self.aval}")

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"NumPy has no dtype for keys, so {self.aval.str_short()} cannot become one of its arrays; take their words "
                        "by jax.random.key_data(keys)")

    def __repr__(self):
        return f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n{np.asarray(self._base_array)}"

    __str__ = __repr__

    def __format__(self, spec):
        if spec:
            raise TypeError(f"format: keys have no number to be written as {spec!r}; got {self.aval.str_short()}")
        return repr(self)


def _refused(name: str):
    def method(self, *others):
        raise TypeError(f"{name.strip('_')} does not accept dtype {self.dtype}; keys can be moved, indexed and compared for "
                        "equality, and jax.random.key_data gives their words")
    method.__name__ = name
    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift",
              "rshift"):
    setattr(PRNGKeyArray, f"__{_name}__", _refused(f"__{_name}__"))
    setattr(PRNGKeyArray, f"__r{_name}__", _refused(f"__r{_name}__"))
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "round"):
    setattr(PRNGKeyArray, f"__{_name}__", _refused(f"__{_name}__"))


def _rebuild(impl, words):
    return PRNGKeyArray(impl, words)


_OMITTED = frozenset({
    "astype", "tolist", "item", "tobytes", "__float__", "__int__", "__complex__", "__index__", "__dlpack__",
    "__dlpack_device__", "__array_namespace__", "traceback"})

tree_nodes.register_stored(PRNGKeyArray, lambda keys: ((keys._base_array,), keys.dtype.impl), lambda impl, words: PRNGKeyArray(impl, *words))
array.register_array_class(PRNGKeyArray, own=_OMITTED | vars(PRNGKeyArray).keys())

Key: TypeAlias = array.Array
"""For annotations: a key, typed or old-style."""
