"""`Array`, the class that users test against, and the table of methods that arrays and tracers share.

Concrete arrays come from a backend and tracers from this package; both show the same operators and methods, which
come from the numpy-like package through `register_array_methods`. Classes and methods may be registered in any order.
"""
from __future__ import annotations

import abc
from typing import Any, Callable, Mapping

from .aval import AbstractRef

_methods: dict[str, Any] = {}
_classes: list[tuple[type, frozenset]] = []


class _ArrayMeta(abc.ABCMeta):
    def __instancecheck__(cls, instance):
        if cls is not Array:
            return type.__instancecheck__(cls, instance)
        kind = type(instance)
        if kind in _classes_set:
            return True
        if getattr(instance, "_is_traced_array", None):
            return type(instance.aval) is not AbstractRef  # tracers of mutable references are no arrays
        return abc.ABCMeta.__subclasscheck__(cls, kind)


class Array(metaclass=_ArrayMeta):
    """An n-dimensional array: concrete, or a tracer that stands for one inside a transformation.

    Arrays are made by functions such as `jax.numpy.array` and `jax.device_put`, never by calling this class. They are
    immutable: an "update" is an expression, ``x.at[index].set(value)``, whose result is a new array.
    """

    __slots__ = ()
    # what backends and tracers provide themselves
    shape: tuple[int, ...]
    dtype: Any
    ndim: int
    size: int
    itemsize: int
    nbytes: int
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


def register_array_class(cls: type, own: frozenset = frozenset()) -> None:
    """Make ``cls`` an array class: `isinstance` says so, and all shared methods are attached, except those named in ``own``."""
    _classes.append((cls, own))
    _classes_set.add(cls)
    Array.register(cls)
    for name, method in _methods.items():
        _attach(cls, own, name, method)


def register_array_methods(table: Mapping[str, Any]) -> None:
    """Attach every entry of ``table`` (name to function or property) to all array classes, present and future."""
    _methods.update(table)
    for name, method in table.items():
        for cls, own in _classes:
            _attach(cls, own, name, method)
    for name, method in table.items():
        if name not in Array.__dict__:
            setattr(Array, name, method)


def _attach(cls, own, name, method):
    if name not in own:
        setattr(cls, name, method)
