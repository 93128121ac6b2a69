"""The C++ dispatcher: a call with known argument types runs without entering Python.

`jaxlib._jax.pjit` makes a callable that looks up the types of its arguments, its static arguments and the
configuration (`cpp_state`) in a table. On a hit it executes; on a miss it calls Python, which returns the result and,
if the call may be repeated without Python, a record of what to execute.
"""
from __future__ import annotations

import threading
import types
from typing import Any, Callable, Hashable, NamedTuple, Sequence

from jax_core.interfaces import FastCall
from jax_core.representation import tree
from jax_core.representation.tracebacks import shorten
from jax_core.representation.tree_nodes import storage_registry

from ..arrays.array import ArrayImpl, are_deleted, check_not_deleted, donation_message, mark_donated, only_arrays
from ..arrays.put import put
from ..jaxlib_compat import Config, _jax, equip
from ..platforms import client
from . import host_calls

_cache = _jax.PjitFunctionCache(capacity=8192)
_eager_cache = _jax.PjitFunctionCache(capacity=2048)
_process = Config("jax_process", None, include_in_jit_key=True)


class _Own:
    """A method that each jitted function has of its own. It is not in its dictionary under that name: `functools.wraps` copies the dictionary, and
    what wraps a jitted function (`jax.grad`, a user's decorator) would seem to have methods, which pass over the wrapper."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"_own_{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            return instance.__dict__[self._key]
        except KeyError:
            raise AttributeError(f"{instance!r} has no method {self._key.removeprefix('_own_')!r}") from None

    def __set__(self, instance: Any, value: Callable) -> None:
        instance.__dict__[self._key] = value


class _OwnMethods:
    trace, lower, eval_shape, clear_cache = _Own(), _Own(), _Own(), _Own()


_OWN = {name: value for name, value in vars(_OwnMethods).items() if isinstance(value, _Own)}


class _Fast(NamedTuple):
    """What the dispatcher reads, by name; it must be a tuple.

    Inputs are counted with the constants in front: the bit vector has a bit for each constant and each flat argument, the
    placements and layouts one entry for each constant and each argument that is kept.
    """

    xla_executable: Any
    out_pytree_def: Any
    in_shardings: Sequence[Any]
    out_shardings: Sequence[Any]
    out_avals: Sequence[Any]
    out_committed: Sequence[bool]
    kept_var_bitvec: Sequence[bool]
    in_device_local_layouts: Sequence[Any]
    const_args: Sequence[Any]


def record(fast: FastCall, result: object) -> _Fast:
    """The dispatcher's form of a call, which gave ``result``.

    The record of a program that calls the host is for the dispatcher of `host_calls`.
    """
    loaded = fast.program
    facts, consts, out_avals = loaded.facts, loaded.consts, loaded.out_avals
    kept = set(facts.kept)
    out_tree = tree.flatten_stored(result)[1] if facts.converted_out else fast.out_tree
    return _Fast(
        loaded.loaded, out_tree, [loaded.token_sharding] * len(consts) + loaded.in_shardings, loaded.out_shardings,
        out_avals,
        [loaded.committed] * len(out_avals), [True] * len(consts) + [i in kept for i in range(fast.inputs)],
        [None] * (len(consts) + len(facts.kept)), consts)


def _place_argument(x: Any, sharding: Any, *_: Any) -> Any:
    """Called by the dispatcher for an argument that is not where the program wants it."""
    return put(x, None, sharding)


equip(_jax.PjitFunction, _OWN)


def dispatcher(fun: Callable, miss: Callable, static_argnums: Sequence[int], static_argnames: Sequence[str],
               name: str, key: Hashable = None, donate_argnums: Sequence[int] = (), donate_argnames: Sequence[str] = (),
               eager: bool = False) -> Any:
    """A callable that repeats known calls fast; see `jax_core.interfaces.Backend.dispatcher`.

    Args:
      donate_argnums, donate_argnames: arguments that the program may consume; those that it did are marked with ``name``.
      key: what besides ``fun`` the compiled program depends on. Dispatchers of the same function with equal keys share
        what they know; None shares nothing.
    """
    def checked_miss(*args, **kwargs):
        client.check_process()
        return miss(*args, **kwargs)

    def new(miss, key=None):
        return _jax.pjit(name, fun, miss, list(static_argnums), list(static_argnames), object() if key is None else key,
                         storage_registry, _place_argument, _eager_cache if eager else _cache)

    call = new(host_calls.misses(checked_miss, record, new), key)
    return _Donating(call, name, donate_argnums, donate_argnames) if donate_argnums or donate_argnames else call


_TAKEN = ("deleted or donated", "nvalid buffer")
"""What jaxlib says where two threads donate an array at once, on the CPU and by plugins: one of them has the buffer."""


class _Donating(_OwnMethods):
    """``call``, after which the arrays that it consumed say so when they are used, in another such call too.

    jaxlib's own dispatcher may report a bad buffer, on stderr too, without a word about where it went.
    """

    def __init__(self, call: Any, name: str, argnums: Sequence[int], argnames: Sequence[str]):
        self._call, self._message, self._argnums, self._argnames = call, donation_message(name), argnums, argnames
        self._only = argnums[0] if len(argnums) == 1 and argnums[0] >= 0 else None
        self._cache_size, self._clear_cache = call._cache_size, call._clear_cache

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<PjitFunction of {getattr(self, '__wrapped__', self._call)!r}>"  # as jaxlib's own

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        only = self._only
        if only is not None and not kwargs and only < len(args):  # the most frequent
            given = args[only]
        else:
            given = [args[i] for i in self._argnums if -len(args) <= i < len(args)]
            given += [kwargs[n] for n in self._argnames if n in kwargs]
        try:
            if type(given) is ArrayImpl:
                if given.is_deleted():
                    check_not_deleted(given)
                leaves: Sequence[Any] = (given,)
            else:
                leaves = _leaves(given)
                _check_not_donated(leaves)
            try:
                result = self._call(*args, **kwargs)
            except (RuntimeError, ValueError) as error:
                if not any(words in str(error) for words in _TAKEN):
                    raise
                _check_not_donated(leaves)
                raise RuntimeError(f"Array has been deleted, by a call in another thread. {self._message}") from error
        except Exception as error:
            shorten(error)
            raise
        if type(given) is not ArrayImpl:
            mark_donated(leaves, self._message)
        elif given.is_deleted():
            given.__dict__.setdefault("_deleted", self._message)
        return result


def _leaves(given: Any) -> Sequence[Any]:
    """The leaves of a tree, in any order."""
    values = tuple(given.values()) if type(given) is dict else given if type(given) in (tuple, list) else None
    if values is None or not only_arrays(values):
        return tree.flatten_stored(given)[0]
    return values


def _check_not_donated(leaves: Sequence[Any]) -> None:
    if any(are_deleted(leaves)):
        for x in leaves:
            if type(x) is ArrayImpl:
                check_not_deleted(x)


def clear() -> None:
    """Forget all recorded calls."""
    _cache.clear()
    _eager_cache.clear()
    _jax.PjitFunctionCache.clear_all()


def _close_after_fork() -> None:
    """In a forked child every call misses, and the miss raises."""
    _process.set_global(threading.get_ident())


client.process_forked.add(_close_after_fork)
