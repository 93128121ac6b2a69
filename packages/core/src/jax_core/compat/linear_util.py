"""`jax.extend.linear_util`: functions with transformations stacked on them, each used once.

A transformation is a generator function: it yields the arguments for the function inside, is sent the result, and
yields its own result (with ``_aux``, together with auxiliary data that is read afterwards).
"""
from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

if TYPE_CHECKING:
    from ..representation.jaxpr import DebugInfo
    from ..representation.typing import PyTree


class StoreException(Exception):
    """Auxiliary data was read before it was there, or stored twice."""


class Store:
    """Holds auxiliary data once the function has run."""

    __slots__ = ("_value",)
    _EMPTY = object()

    def __init__(self):
        self._value = Store._EMPTY

    def store(self, value: object) -> None:
        if self._value is not Store._EMPTY:
            raise StoreException("auxiliary data was stored already")
        self._value = value

    def __call__(self) -> Any:
        if self._value is Store._EMPTY:
            raise StoreException("auxiliary data is read before the function has run")
        return self._value

    val = property(__call__)


class EqualStore(Store):
    """The same for a function that runs more than once: equal data may be stored again."""

    __slots__ = ()

    def store(self, value: object) -> None:
        if self._value is Store._EMPTY:
            self._value = value
        elif self._value != value:
            raise StoreException(f"auxiliary data was stored already and differs: {self._value} and {value}")


class _Transform:
    """One transformation of a function; equal to another of the same generator and arguments, whatever store it fills."""

    __slots__ = ("gen", "arguments", "run")

    def __init__(self, gen: Callable, arguments: tuple, run: Callable[..., Any]):
        self.gen, self.arguments, self.run = gen, arguments, run

    def __call__(self, call: Callable, *args: Any, **kwargs: Any) -> Any:
        return self.run(call, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Transform) and (self.gen, self.arguments) == (other.gen, other.arguments)

    def __hash__(self) -> int:
        return hash((self.gen, self.arguments))


class WrappedFun:
    """A function with transformations; run it with `call_wrapped`."""

    __slots__ = ("f", "transforms", "params", "debug_info", "in_type", "stores")

    def __init__(self, f: Callable[..., Any], transforms: tuple = (), params: dict | None = None,
                 debug_info: DebugInfo | None = None, stores: tuple = ()):
        self.f, self.transforms, self.params = f, transforms, params or {}
        self.debug_info, self.in_type, self.stores = debug_info, None, stores

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    @property
    def f_transformed(self) -> Callable:
        return self.call_wrapped

    def replace_debug_info(self, dbg: DebugInfo | None) -> "WrappedFun":
        """The same with other names for messages."""
        return WrappedFun(self.f, self.transforms, self.params, dbg, self.stores)

    def with_unknown_names(self) -> "WrappedFun":
        """The same without names of arguments and results."""
        return self if self.debug_info is None else self.replace_debug_info(self.debug_info.with_unknown_names())

    def wrap(self, transform: Callable, store: Store | None = None) -> "WrappedFun":
        """``transform(call, *args, **kwargs)``, whose auxiliary data goes to ``store``, around what there is."""
        return WrappedFun(self.f, (transform, *self.transforms), self.params, self.debug_info, (store, *self.stores))

    def populate_stores(self, stores: Sequence[Store | None]) -> None:
        """Put what ``stores`` hold, of a run that was kept, into those of this function."""
        for own, other in zip(self.stores, stores, strict=True):
            if own is not None and other is not None:
                own.store(other())

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function through all of its transformations."""
        call = functools.partial(self.f, **self.params)
        for transform in reversed(self.transforms):
            call = functools.partial(transform, call)
        return call(*args, **kwargs)


def wrap_init(f: Callable[..., PyTree], params: dict | None = None, *, debug_info: DebugInfo | None = None) -> WrappedFun:
    """``f`` without transformations yet.

    >>> from jax.extend import linear_util
    >>> linear_util.wrap_init(lambda x: x + 1).call_wrapped(2)
    3
    """
    return WrappedFun(f, (), params, debug_info)


def _drive(generator_function: Callable, static: tuple, call: Callable, args: tuple, kwargs: dict) -> Any:
    generator = generator_function(*static, *args, **kwargs)
    inner_args, inner_kwargs = next(generator)
    result = generator.send(call(*inner_args, **inner_kwargs))
    generator.close()
    return result


def _checked(fun: WrappedFun, gen: Callable) -> WrappedFun:
    if isinstance(fun, WrappedFun):
        return fun
    raise TypeError(f"{getattr(gen, '__name__', 'transformation')}: needs a function that linear_util.wrap_init has wrapped, got {fun!r} "
                    f"of type {type(fun).__name__}")


def _applied(apply: Callable, gen: Callable, fun: WrappedFun | None, static: tuple) -> Any:
    """``apply`` on ``fun``; without ``fun``, ``apply`` itself under the name of the transformation ``gen``."""
    if fun is not None:
        return apply(fun, *static)
    functools.update_wrapper(apply, gen, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    del apply.__wrapped__  # type: ignore[attr-defined]  # it takes a function, not the arguments of the generator
    return apply


def transformation(gen: Callable, fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """``fun`` with the transformation of the generator function ``gen`` on it.

    With ``gen`` alone, a decorator: it gives the function ``(fun, *gen_static_args)``.

    >>> from jax.extend import linear_util
    >>> @linear_util.transformation
    ... def negated(*args):
    ...     out = yield args, {}
    ...     yield -out
    >>> negated(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(2)
    -3
    """
    def apply(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
        return _checked(fun, gen).wrap(_Transform(gen, gen_static_args, lambda call, *args, **kwargs: _drive(gen, gen_static_args, call, args, kwargs)))
    return _applied(apply, gen, fun, gen_static_args)


def transformation_with_aux(gen: Callable, fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Like `transformation`; the result is a pair with a function that gives the auxiliary data.

    >>> from jax.extend import linear_util
    >>> @linear_util.transformation_with_aux
    ... def counted(*args):
    ...     out = yield args, {}
    ...     yield out, len(args)
    >>> f, count = counted(linear_util.wrap_init(lambda x, y: x + y))
    >>> f.call_wrapped(1, 2), count()
    (3, 2)
    """
    def apply(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = False,
              unk_names: bool = False) -> tuple[WrappedFun, Callable]:
        _checked(fun, gen)
        store = EqualStore() if use_eq_store else Store()

        def transform(call, *args, **kwargs):
            out, aux = _drive(gen, gen_static_args, call, args, kwargs)
            store.store(aux)
            return out
        return (fun.with_unknown_names() if unk_names else fun).wrap(_Transform(gen, gen_static_args, transform), store), store
    return _applied(apply, gen, fun, gen_static_args)


def transformation2(gen: Callable, fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Like `transformation`, written as a function ``(call, *gen_static_args, *args, **kwargs) -> result``.

    >>> from jax.extend import linear_util
    >>> @linear_util.transformation2
    ... def negated(call, *args):
    ...     return -call(*args)
    >>> negated(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(2)
    -3
    """
    def apply(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
        return _checked(fun, gen).wrap(_Transform(gen, gen_static_args, lambda call, *args, **kwargs: gen(call, *gen_static_args, *args, **kwargs)))
    return _applied(apply, gen, fun, gen_static_args)


def transformation_with_aux2(gen: Callable, fun: WrappedFun | None = None, *gen_static_args: Any,
                             use_eq_store: bool = False, unk_names: bool = False) -> Any:
    """Like `transformation2` with auxiliary data, which the function puts in its second argument, a `Store`.

    Args:
      gen: the transformation.
      fun: what it is put on; without it, a decorator.
      gen_static_args: its own arguments.
      use_eq_store: the function may run again if the data is equal.
      unk_names: the names of arguments are no longer those of ``fun``.

    >>> from jax.extend import linear_util
    >>> @linear_util.transformation_with_aux2
    ... def counted(call, store, *args):
    ...     store.store(len(args))
    ...     return call(*args)
    >>> f, count = counted(linear_util.wrap_init(lambda x, y: x + y))
    >>> f.call_wrapped(1, 2), count()
    (3, 2)
    """
    def apply(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = use_eq_store,
              unk_names: bool = unk_names) -> tuple[WrappedFun, Callable]:
        _checked(fun, gen)
        store = EqualStore() if use_eq_store else Store()
        inner = fun.with_unknown_names() if unk_names else fun
        run = lambda call, *args, **kwargs: gen(call, store, *gen_static_args, *args, **kwargs)
        return inner.wrap(_Transform(gen, gen_static_args, run), store), store
    return _applied(apply, gen, fun, gen_static_args)


def merge_linear_aux(aux1: Callable, aux2: Callable) -> tuple[bool, Any]:
    """Auxiliary data of whichever of two functions has run, and whether it was the first.

    >>> from jax.extend import linear_util
    >>> @linear_util.transformation_with_aux
    ... def counted(*args):
    ...     out = yield args, {}
    ...     yield out, len(args)
    >>> ran, first = counted(linear_util.wrap_init(lambda x: x))
    >>> other, second = counted(linear_util.wrap_init(lambda x: x))
    >>> ran.call_wrapped(5), linear_util.merge_linear_aux(first, second)
    (5, (True, 1))
    """
    if not (callable(aux1) and callable(aux2)):
        raise TypeError(f"merge_linear_aux: two functions are needed, got {aux1!r} and {aux2!r}")
    try:
        return True, aux1()
    except StoreException:
        return False, aux2()


def cache(call: Callable[..., object], *, explain: Callable[..., object] | None = None) -> Callable:
    """``call(wrapped_fun, *args)`` remembered for each function, its transformations, and arguments; their auxiliary data with it.

    >>> from jax.extend import linear_util
    >>> @linear_util.cache
    ... def double(fun, n):
    ...     print("worked out")
    ...     return 2 * fun.call_wrapped(n)
    >>> def square(n):
    ...     return n * n
    >>> double(linear_util.wrap_init(square), 3), double(linear_util.wrap_init(square), 3)
    worked out
    (18, 18)
    """
    known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def cached(fun: WrappedFun, *args: Any) -> Any:
        results = known.setdefault(fun.f, {})
        key = (fun.transforms, tuple(sorted(fun.params.items())), args)
        if key in results:
            result, stores = results[key]
            fun.populate_stores(stores)
        else:
            result = call(fun, *args)
            results[key] = result, fun.stores
        return result
    cached.cache_clear = known.clear  # type: ignore[attr-defined]
    return cached
