"""`jax.extend.linear_util`: functions with transformations stacked on them, each used once.

A transformation is a generator function: it yields the arguments for the function inside, is sent the result, and
yields its own result (with ``_aux``, together with auxiliary data that is read afterwards).
"""
from __future__ import annotations

import functools
import weakref
from typing import Any, Callable


class StoreException(Exception):
    """Auxiliary data was read before it was there, or stored twice."""


class Store:
    """Holds auxiliary data once the function has run."""

    __slots__ = ("_value",)
    _EMPTY = object()

    def __init__(self):
        self._value = Store._EMPTY

    def store(self, value: Any) -> None:
        if self._value is not Store._EMPTY:
            raise StoreException("auxiliary data was stored already")
        self._value = value

    def __call__(self) -> Any:
        if self._value is Store._EMPTY:
            raise StoreException("auxiliary data is read before the function has run")
        return self._value

    val = property(__call__)


class WrappedFun:
    """A function with transformations; run it with `call_wrapped`."""

    __slots__ = ("f", "transforms", "params", "debug_info", "in_type", "stores")

    def __init__(self, f: Callable, transforms: tuple = (), params: dict | None = None, debug_info: Any = None,
                 stores: tuple = ()):
        self.f, self.transforms, self.params = f, transforms, params or {}
        self.debug_info, self.in_type, self.stores = debug_info, None, stores

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    @property
    def f_transformed(self) -> Callable:
        return self.call_wrapped

    def wrap(self, transform: Callable) -> "WrappedFun":
        """``transform(call, *args, **kwargs)`` around what there is."""
        return WrappedFun(self.f, (transform, *self.transforms), self.params, self.debug_info, self.stores)

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function through all of its transformations."""
        call = functools.partial(self.f, **self.params)
        for transform in reversed(self.transforms):
            call = functools.partial(transform, call)
        return call(*args, **kwargs)


def wrap_init(f: Callable, params: dict | None = None, *, debug_info: Any = None) -> WrappedFun:
    """``f`` without transformations yet."""
    return WrappedFun(f, (), params, debug_info)


def _drive(generator_function: Callable, static: tuple, call: Callable, args: tuple, kwargs: dict) -> Any:
    generator = generator_function(*static, *args, **kwargs)
    inner_args, inner_kwargs = next(generator)
    result = generator.send(call(*inner_args, **inner_kwargs))
    generator.close()
    return result


def transformation(generator_function: Callable) -> Callable:
    """Decorator: ``transform(wrapped_fun, *static)`` puts the generator's transformation on a `WrappedFun`."""
    @functools.wraps(generator_function)
    def apply(fun: WrappedFun, *static: Any) -> WrappedFun:
        return fun.wrap(lambda call, *args, **kwargs: _drive(generator_function, static, call, args, kwargs))
    return apply


def transformation_with_aux(generator_function: Callable) -> Callable:
    """Like `transformation`; the result of ``transform(...)`` is a pair with a function that gives the auxiliary data."""
    @functools.wraps(generator_function)
    def apply(fun: WrappedFun, *static: Any) -> tuple[WrappedFun, Callable]:
        store = Store()

        def transform(call, *args, **kwargs):
            out, aux = _drive(generator_function, static, call, args, kwargs)
            store.store(aux)
            return out
        return fun.wrap(transform), store
    return apply


def transformation2(function: Callable) -> Callable:
    """Decorator for a transformation written as a function ``(call, *static, *args, **kwargs) -> result``."""
    @functools.wraps(function)
    def apply(fun: WrappedFun, *static: Any) -> WrappedFun:
        return fun.wrap(lambda call, *args, **kwargs: function(call, *static, *args, **kwargs))
    return apply


def transformation_with_aux2(function: Callable) -> Callable:
    """Like `transformation2` with auxiliary data, which the function puts in its second argument, a `Store`."""
    @functools.wraps(function)
    def apply(fun: WrappedFun, *static: Any) -> tuple[WrappedFun, Callable]:
        store = Store()
        return fun.wrap(lambda call, *args, **kwargs: function(call, store, *static, *args, **kwargs)), store
    return apply


def merge_linear_aux(aux1: Callable, aux2: Callable) -> tuple[bool, Any]:
    """Auxiliary data of whichever of two functions has run, and whether it was the first."""
    try:
        return True, aux1()
    except StoreException:
        return False, aux2()


def cache(call: Callable, *, explain: Callable | None = None) -> Callable:
    """``call(wrapped_fun, *args)`` remembered for each underlying function and arguments."""
    known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def cached(fun: WrappedFun, *args: Any) -> Any:
        results = known.setdefault(fun.f, {})
        key = (tuple(sorted(fun.params.items())), args)
        if key not in results:
            results[key] = call(fun, *args)
        return results[key]
    cached.cache_clear = known.clear  # type: ignore[attr-defined]
    return cached
