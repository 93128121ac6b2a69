"""Functions of lists that interpreters of programs import as ``jax._src.util``, since tutorials use them, and functions with an equality."""
from __future__ import annotations

import functools
import itertools
from typing import Any, Callable, Iterable, Sequence, TypeVar

from .api_util import safe_map

T = TypeVar("T")


def safe_zip(*sequences: Sequence[Any]) -> list[tuple]:
    """``list(zip(...))`` of sequences of one length.

    Raises:
      ValueError: the lengths differ.

    >>> from jax._src import util
    >>> util.safe_zip([1, 2], "ab")
    [(1, 'a'), (2, 'b')]
    """
    lengths = tuple(map(len, sequences))
    if len(set(lengths)) > 1:
        raise ValueError(f"safe_zip: the sequences have lengths {lengths}, which must be equal")
    return list(zip(*sequences))


def unzip2(pairs: Iterable[tuple]) -> tuple[tuple, tuple]:
    """The first and the second entries of pairs.

    >>> from jax._src import util
    >>> util.unzip2([(1, "a"), (2, "b")])
    ((1, 2), ('a', 'b'))
    """
    first, second = _columns(pairs, 2)
    return first, second


def unzip3(triples: Iterable[tuple]) -> tuple[tuple, tuple, tuple]:
    """The first, the second and the third entries of triples.

    >>> from jax._src import util
    >>> util.unzip3([(1, "a", None), (2, "b", None)])
    ((1, 2), ('a', 'b'), (None, None))
    """
    first, second, third = _columns(triples, 3)
    return first, second, third


def _columns(rows: Iterable[tuple], count: int) -> tuple[tuple, ...]:
    return tuple(zip(*rows, strict=True)) or ((),) * count


def split_list(values: Sequence[T], lengths: Sequence[int]) -> list[list[T]]:
    """Pieces of ``values`` with these lengths, one after the other, and what is left.

    Raises:
      ValueError: there are fewer values.

    >>> from jax._src import util
    >>> util.split_list("abcd", [1, 2])
    [['a'], ['b', 'c'], ['d']]
    """
    if sum(lengths) > len(values):
        raise ValueError(f"split_list: pieces of lengths {list(lengths)} need {sum(lengths)} values, got {len(values)}")
    ends = [0, *itertools.accumulate(lengths)]
    return [list(values[a:b]) for a, b in zip(ends, [*ends[1:], len(values)])]


def partition_list(second: Sequence[bool], values: Sequence[T]) -> tuple[list[T], list[T]]:
    """The values where ``second`` is false, and those where it is true; `merge_lists` puts them together again.

    >>> from jax._src import util
    >>> util.partition_list([True, False, True], "abc")
    (['b'], ['a', 'c'])
    """
    pairs = safe_zip(second, values)
    return [x for s, x in pairs if not s], [x for s, x in pairs if s]


def merge_lists(second: Sequence[bool], zeros: Sequence[T], ones: Sequence[T]) -> list[T]:
    """One list of values from ``zeros`` and ``ones``, in order: from the latter where ``second`` is true.

    Raises:
      ValueError: the lengths do not fit.

    >>> from jax._src import util
    >>> util.merge_lists([True, False, True], "b", "ac")
    ['a', 'b', 'c']
    """
    if len(zeros) + len(ones) != len(second) or len(ones) != sum(map(bool, second)):
        raise ValueError(f"merge_lists: {len(second)} entries of which {sum(map(bool, second))} are true, for {len(zeros)} and {len(ones)} values")
    rest = iter(zeros), iter(ones)
    return [next(rest[bool(s)]) for s in second]


def concatenate(sequences: Iterable[Sequence[T]]) -> list[T]:
    """All entries of the sequences, one after the other.

    >>> from jax._src import util
    >>> util.concatenate([[1], [2, 3]])
    [1, 2, 3]
    """
    return list(itertools.chain.from_iterable(sequences))


def wraps(wrapped: Callable, namestr: str | None = None, docstr: str | None = None, **names: Any) -> Callable[[T], T]:
    """`functools.wraps` with another name or docstring, in which ``{fun}`` is the name and ``{doc}`` the docstring of ``wrapped``.

    >>> from jax._src import util
    >>> util.wraps(abs, namestr="my_{fun}")(lambda x: x).__name__
    'my_abs'
    """
    def decorate(fun: Any) -> Any:
        functools.update_wrapper(fun, wrapped)
        name, doc = getattr(wrapped, "__name__", "<unnamed function>"), getattr(wrapped, "__doc__", "") or ""
        fun.__name__ = (namestr or "{fun}").format(fun=name, **names)
        fun.__doc__ = (docstr or "{doc}").format(fun=name, doc=doc, **names)
        return fun
    return decorate


class HashablePartial:
    """``f`` with arguments, as `functools.partial`; equal to another whose function has the same code and whose arguments are equal.

    optree's functions that put a tree together again are such, so that they can be static arguments.

    >>> from jax._src import util
    >>> power = lambda base, exponent: base ** exponent
    >>> util.HashablePartial(power, 2)(3), util.HashablePartial(power, 2) == util.HashablePartial(power, 2)
    (8, True)
    """

    def __init__(self, f: Callable, *args: Any, **kwargs: Any):
        self.f, self.args, self.kwargs = f, args, kwargs

    def _key(self) -> tuple:
        return getattr(self.f, "__code__", self.f), self.args, frozenset(self.kwargs.items())

    def __eq__(self, other: object) -> bool:
        return type(other) is HashablePartial and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*self.args, *args, **self.kwargs, **kwargs)


class HashableFunction:
    """``f``, a function that is made anew in each call of another, equal to one with the same code and an equal ``closure``.

    >>> from jax._src import util
    >>> scaled = lambda by: util.HashableFunction(lambda x: by * x, closure=by)
    >>> scaled(2)(3), scaled(2) == scaled(2), scaled(2) == scaled(3)
    (6, True, False)
    """

    def __init__(self, f: Callable, closure: Any):
        self.f, self.closure = f, closure

    def __eq__(self, other: object) -> bool:
        return type(other) is HashableFunction and self.f.__code__ is other.f.__code__ and self.closure == other.closure

    def __hash__(self) -> int:
        return hash((self.f.__code__, self.closure))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*args, **kwargs)


def _within(name: str, idx: int, length: int) -> None:
    if not 0 <= idx < length:
        raise IndexError(f"{name}: idx must be from 0 to {length - 1}, got {idx}")


def tuple_insert(t: tuple[T, ...], idx: int, val: T) -> tuple[T, ...]:
    """``t`` with ``val`` before its entry ``idx``.

    Raises:
      IndexError: ``idx`` is negative, or greater than the length.

    >>> from jax._src import util
    >>> util.tuple_insert((1, 2), 1, 9)
    (1, 9, 2)
    """
    _within("tuple_insert", idx, len(t) + 1)
    return (*t[:idx], val, *t[idx:])


def tuple_delete(t: tuple[T, ...], idx: int) -> tuple[T, ...]:
    """``t`` without its entry ``idx``.

    Raises:
      IndexError: there is no such entry.

    >>> from jax._src import util
    >>> util.tuple_delete((1, 2), 0)
    (2,)
    """
    _within("tuple_delete", idx, len(t))
    return (*t[:idx], *t[idx + 1:])


def tuple_update(t: tuple[T, ...], idx: int, val: T) -> tuple[T, ...]:
    """``t`` with ``val`` for its entry ``idx``.

    Raises:
      IndexError: there is no such entry.

    >>> from jax._src import util
    >>> util.tuple_update((1, 2), 0, 9)
    (9, 2)
    """
    _within("tuple_update", idx, len(t))
    return (*t[:idx], val, *t[idx + 1:])


def subvals(lst: Iterable[T], replace: Iterable[tuple[int, T]]) -> tuple[T, ...]:
    """Entries of ``lst``, with others at some places.

    >>> from jax._src import util
    >>> util.subvals([1, 2, 3], [(0, 5)])
    (5, 2, 3)
    """
    values = list(lst)
    for place, value in replace:
        values[place] = value
    return tuple(values)


def unflatten(xs: Iterable[T], ns: Sequence[int]) -> list[list[T]]:
    """The values of ``xs`` in lists of the lengths ``ns``.

    Raises:
      ValueError: there are more or fewer.

    >>> from jax._src import util
    >>> util.unflatten([1, 2, 3], [2, 1])
    [[1, 2], [3]]
    """
    values = list(xs)
    if len(values) != sum(ns):
        raise ValueError(f"unflatten: there are {len(values)} values for lists of the lengths {list(ns)}")
    return split_list(values, ns)[:len(ns)]


def curry(f: Callable) -> Callable:
    """``curry(f)(x)(y)`` is ``f(x, y)``.

    >>> from jax._src import util
    >>> util.curry(pow)(2)(3)
    8
    """
    return functools.partial(functools.partial, f)


def foreach(f: Callable, *sequences: Iterable) -> None:
    """``f`` of the first entries, of the second ones, and so on.

    Raises:
      ValueError: the lengths differ.

    >>> from jax._src import util
    >>> util.foreach(print, [1, 2], [3, 4])
    1 3
    2 4
    """
    for values in zip(*sequences, strict=True):
        f(*values)


def wrap_name(transform_name: str, name: str) -> str:
    """The name of a function that is transformed.

    >>> from jax._src import util
    >>> util.wrap_name("vmap", "f")
    'vmap(f)'
    """
    return f"{transform_name}({name})"


def ceil_of_ratio(x: int, y: int) -> int:
    """``x / y``, rounded up.

    >>> from jax._src import util
    >>> util.ceil_of_ratio(7, 2)
    4
    """
    return -(-x // y)


__all__ = ["HashableFunction", "HashablePartial", "ceil_of_ratio", "concatenate", "curry", "foreach", "merge_lists", "partition_list", "safe_map",
           "safe_zip", "split_list", "subvals", "tuple_delete", "tuple_insert", "tuple_update", "unflatten", "unzip2", "unzip3", "wrap_name", "wraps"]
