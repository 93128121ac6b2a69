"""`Array`, the class that users test against, and the table of methods that arrays and tracers share.

Concrete arrays come from a backend and tracers from this package; both show the same operators and methods, which
come from the numpy-like package (`extension_points.array_methods`). Classes and methods may come in any order.
"""
from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, Callable, Collection, Mapping

from ..extension_points import array_methods
from . import extended
from .aval import AbstractRef, register_value_class

if TYPE_CHECKING:  # what other packages attach (`_attach`) is known to type checkers from a stub
    from .array_methods import ArrayMethods
else:
    ArrayMethods = object

_classes: list[tuple[type, frozenset]] = []


class _ArrayMeta(abc.ABCMeta):
    def __instancecheck__(cls, instance):
        if cls is not Array:
            return type.__instancecheck__(cls, instance)
        kind = type(instance)
        if kind in _classes_set:
            return True
        if getattr(kind, "_is_traced_array", None):  # asked of the class: objects may answer to every name
            return type(instance.aval) is not AbstractRef  # tracers of mutable references are no arrays
        if abc.ABCMeta.__subclasscheck__(cls, kind):
            return True
        claimed = getattr(instance, "__class__", kind)  # stand-ins (unittest.mock, proxies) count, as with Python's own isinstance
        return claimed is not kind and isinstance(claimed, type) and (claimed in _classes_set or abc.ABCMeta.__subclasscheck__(cls, claimed))


class Array(ArrayMethods, metaclass=_ArrayMeta):
    """An n-dimensional array: concrete, or a tracer that stands for one inside a transformation.

    Arrays are made by functions such as `jax.numpy.array` and `jax.device_put`, never by calling this class. They are
    immutable: an "update" is an expression, ``x.at[index].set(value)``, whose result is a new array.
    """

    __slots__ = ()
    __module__ = "jax"  # where users, and pickles, find it; so with the other public classes that carry such a line
    # what backends and tracers provide themselves
    shape: tuple[int, ...]
    dtype: Any
    ndim: int
    size: int
    itemsize: int
    nbytes: int
    weak_type: bool
    aval: Any
    sharding: Any
    device: Any
    committed: bool
    is_fully_addressable: bool
    is_fully_replicated: bool
    addressable_shards: Any
    global_shards: Any
    addressable_data: Callable
    copy_to_host_async: Callable
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *args, **kwargs):
        if cls is Array:
            raise TypeError("jax.Array cannot be called; use jax.numpy.array or jax.numpy.asarray to make an array")
        return super().__new__(cls)


_classes_set: set[type] = set()


def register_array_class(cls: type, own: frozenset | None = None) -> None:
    """Make ``cls``, whose values have an attribute ``aval``, an array class: `isinstance` says so, and all shared methods are attached,
    except those named in ``own``, which are by default those that the class itself defines."""
    register_value_class(cls)
    own = frozenset(vars(cls)) if own is None else own
    _classes.append((cls, own))
    _classes_set.add(cls)
    Array.register(cls)
    if array_methods.value is not None:
        _attach(cls, own, array_methods.value)


def _attach(cls: type, own: Collection[str], methods: Mapping[str, Any]) -> None:
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)


def _attach_to_all(methods: Mapping[str, Any]) -> None:
    for cls, own in _classes:
        _attach(cls, own, methods)
    _attach(Array, vars(Array), methods)


register_array_class(extended.EArray, own=extended.OWN_METHODS)
array_methods.when_filled(_attach_to_all)
