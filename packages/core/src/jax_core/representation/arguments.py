"""Arguments of a traced function: their names for messages, and the static ones among them.

A call is taken apart into flat leaves and static values, ``(pairs (position, value), pairs (name, value))``.
"""
from __future__ import annotations

import functools
import inspect
import operator
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence, TypeVar, cast

import numpy as np

from . import tree
from .aval import aval_of_type, get_aval
from .source import describe_function, written_in

if TYPE_CHECKING:
    from .typing import PyTree

_Function = TypeVar("_Function", bound=Callable)


def check_callable(name: str, fun: Callable[..., PyTree]) -> None:
    """Raise TypeError if the transformation ``name`` cannot call ``fun`` for values: it is no function, or a generator function, whose body
    would run when nothing is traced any more."""
    if not callable(fun):
        called = f"; give the function itself, {name}(f), and call what comes back" if hasattr(fun, "dtype") else ""
        raise TypeError(f"{name}: expected a callable, got {fun!r} of type {type(fun).__name__}{called}")
    code = getattr(fun, "__code__", None)  # quicker than inspect, which also looks through partials
    if code.co_flags & inspect.CO_GENERATOR if isinstance(code, CodeType) else inspect.isgeneratorfunction(fun):
        raise TypeError(f"{name}: {describe_function(fun)} is a generator function; return a list or use lax.scan")


def signature_of(fun: Callable) -> inspect.Signature | None:
    """The signature of ``fun``, None where it cannot be read."""
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def note_call(error: TypeError, fun: Callable, how: str, args: Sequence[object], kwargs: Mapping[str, object] | None = None) -> None:
    """Say in a note to ``error`` ``how`` the user's ``fun`` is called, if a call with these arguments is what it does not allow."""
    signature = signature_of(fun)
    try:
        if signature is not None:
            signature.bind(*args, **kwargs or {})
    except TypeError:
        error.add_note(f"{how}; {describe_function(fun)} does not take them.")


def run_rule(rule: Callable, how: str, *args: object) -> Any:
    """The result of the user's ``rule``, whose equations are written there. ``how``: see `note_call`."""
    with written_in(rule):
        try:
            return rule(*args)
        except TypeError as error:
            note_call(error, rule, how, args)
            raise


class Parameters(NamedTuple):
    """What a function calls its arguments: those by position, those by keyword too, and the ones that take the rest."""

    positional: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    more: str | None = None
    keywords: str | None = None


def names_of(fun: Callable) -> tuple[CodeType | inspect.Signature | None, int]:
    """What tells the parameters of ``fun`` when ``fun`` itself is gone, for `parameters`, and how many of them are bound."""
    bound = 0
    for _ in range(64):  # objects that have every attribute would go on for ever
        if (signature := getattr(fun, "__signature__", None)) is not None:
            return signature if isinstance(signature, inspect.Signature) else None, bound
        if type(fun) is MethodType:
            bound, fun = bound + 1, fun.__func__
        elif isinstance(fun, functools.partial):
            bound, fun = bound + len(fun.args), fun.func
        elif (inner := getattr(fun, "__wrapped__", None)) is not None:
            fun = inner
        elif type(code := getattr(fun, "__code__", None)) is CodeType:
            return code, bound
        elif type(call := getattr(type(fun), "__call__", None)) is FunctionType:
            bound, fun = bound + 1, call
        else:
            return signature_of(fun), bound
    return None, 0


def parameters(source: CodeType | inspect.Signature | None, bound: int) -> Parameters:
    """The parameters that are not bound, of what `names_of` gave."""
    if source is None:
        return Parameters()
    if isinstance(source, inspect.Signature):
        by_kind: dict = {}
        for name, parameter in source.parameters.items():
            by_kind.setdefault(parameter.kind, []).append(name)
        either = by_kind.get(inspect.Parameter.POSITIONAL_OR_KEYWORD, [])
        return Parameters(tuple(by_kind.get(inspect.Parameter.POSITIONAL_ONLY, []) + either)[bound:],
                          frozenset(either + by_kind.get(inspect.Parameter.KEYWORD_ONLY, [])),
                          next(iter(by_kind.get(inspect.Parameter.VAR_POSITIONAL, ())), None),
                          next(iter(by_kind.get(inspect.Parameter.VAR_KEYWORD, ())), None))
    names, n = source.co_varnames, source.co_argcount
    end = n + source.co_kwonlyargcount
    takes_more, takes_keywords = bool(source.co_flags & inspect.CO_VARARGS), bool(source.co_flags & inspect.CO_VARKEYWORDS)
    return Parameters(names[bound:n], frozenset(names[source.co_posonlyargcount:end]), names[end] if takes_more else None,
                      names[end + takes_more] if takes_keywords else None)


class LazyNames:
    """Names of flat arguments, worked out only for messages and listings. Programs outlive their functions, which are not kept."""

    def __init__(self, fun, in_tree, static):
        self.in_tree, self.static, self.source = in_tree, static, names_of(fun)

    def _names(self):
        args = tree.skeleton(self.in_tree)
        known = parameters(*self.source)
        return [name_at(known, path, self.static) for path, _ in tree.flatten_with_path(args)[0]]

    def __len__(self):
        return self.in_tree.num_leaves

    def __getitem__(self, i):
        return self._names()[i]

    def __iter__(self):
        return iter(self._names())


class LazyPaths:
    """Paths of the flat results, ``result['loss']``, worked out only for messages.

    Args:
      structure: a list that will hold the structure of the result.
    """

    def __init__(self, structure: list):
        self.structure = structure

    def __len__(self):
        return self.structure[0].num_leaves

    def __getitem__(self, i):
        leaves, _ = tree.flatten_with_path(tree.skeleton(self.structure[0]))
        return f"result{tree.keystr(leaves[i][0])}"


def is_position(argnums: object) -> bool:
    """Whether this is one position: all else names several, be it a range, a set or an array (which has ``__index__`` whatever its rank)."""
    return hasattr(argnums, "__index__") and not getattr(argnums, "ndim", 0)


def argument_name(fun: Callable[..., PyTree], path, static) -> str:
    """``x['weights']`` for the flat argument at ``path`` of ``(args, kwargs)``."""
    return name_at(parameters(*names_of(fun)), path, static)


def name_at(known: Parameters, path, static) -> str:
    """`argument_name` for a function with the parameters ``known``."""
    group, rest = path[0].idx, path[1:]
    if not rest:
        return ""
    if group == 1:
        key = rest[0].key
        name = f"{known.keywords}[{key!r}]" if known.keywords is not None and key not in known.named else f"{key}"
        return f"{name}{tree.keystr(rest[1:])}"
    taken = {i for i, _ in static[0]}
    position = [i for i in range(len(taken) + rest[0].idx + 1) if i not in taken][rest[0].idx]
    after = position - len(known.positional)
    name = known.positional[position] if after < 0 else f"{known.more or 'args'}[{after if known.more else position}]"
    return f"{name}{tree.keystr(rest[1:])}"


def wrong_result(fun: Callable[..., PyTree], structure, outs, i: int) -> TypeError:
    """For a function that returned what is no array: leaf ``i`` of the result."""
    path = tree.keystr(tree.flatten_with_path(tree.unflatten(structure, outs))[0][i][0])
    return TypeError(f"function {describe_function(fun)} returned a value of type {type(outs[i])} at output path "
                     f"{path or '(the output)'}, which is not a valid JAX type; return arrays, numbers, and pytrees of them.")


def check_values(fun: Callable[..., PyTree], structure, outs, also: type | tuple[type, ...] = ()) -> None:
    """Raises TypeError if a leaf of what ``fun`` returned is neither an array nor of the classes ``also``."""
    for i, x in enumerate(outs):
        if type(x) not in aval_of_type and not isinstance(x, also):
            try:
                get_aval(x)
            except TypeError:
                raise wrong_result(fun, structure, outs, i) from None


def put_static(args, kwargs, static, count: int):
    """Put the static arguments back in their places."""
    nums, names = static
    if nums:
        given, fixed = iter(args), dict(nums)
        args = [fixed[i] if i in fixed else next(given) for i in range(count)]
    if names:
        kwargs = {**kwargs, **dict(names)}
    return args, kwargs


def integer(what: str, x: Any) -> int:
    """``x`` as an int; ``what`` is the function and its argument, as in "lax.rev: dimensions", for messages.

    Raises:
      TypeError: it is no integer; of a traced one, the error that says why its value is not known.
    """
    try:
        return operator.index(x)
    except TypeError as error:
        if type(error) is not TypeError:
            raise
        got = f"{x.dtype}{list(x.shape)}" if hasattr(x, "dtype") and hasattr(x, "shape") else repr(x)
        raise TypeError(f"{what} must be an integer, got {got} of type {type(x).__name__}") from None


def integers(what: str, xs: Any) -> tuple[int, ...]:
    """As `integer`, of each of a sequence."""
    try:
        given = tuple(xs)
    except TypeError as error:
        if type(error) is not TypeError:
            raise
        raise TypeError(f"{what} must be a sequence of integers, got {xs!r} of type {type(xs).__name__}") from None
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        return tuple([integer(f"{what}[{i}]", x) for i, x in enumerate(given)])


def int_rows(what: str, rows: Any, fields: str) -> tuple[tuple[int, ...], ...]:
    """``rows``, one an axis, as tuples of the integers that ``fields`` names, as "low, high".

    Raises:
      TypeError: they are no sequences of integers. ValueError: one has another length.
    """
    count = fields.count(",") + 1
    try:
        given = [tuple(row) for row in rows]
    except TypeError:
        raise TypeError(f"{what} must be a sequence of tuples ({fields}), one for each axis, got {rows!r}") from None
    for row in given:
        if len(row) != count:
            raise ValueError(f"{what} must have an entry ({fields}) for each axis, got {row!r}")
    return tuple(integers(what, row) for row in given)


def takes(**kinds: type | tuple[type, ...]) -> Callable[[_Function], _Function]:
    """A decorator: TypeError, before anything is done, for an argument that is not of the class given here for its name.

    For functions that change or read an object of one class; arrays and numbers have checks of their own.
    """
    def decorate(fun: _Function) -> _Function:
        places = list(inspect.signature(fun).parameters)
        wanted = [(name, places.index(name), kind) for name, kind in kinds.items()]

        @functools.wraps(fun)
        def checked(*args: object, **kwargs: object) -> Any:
            for name, place, kind in wanted:
                value = args[place] if place < len(args) else kwargs.get(name, checked)  # a missing one is told by the call
                if value is not checked and not isinstance(value, kind):
                    many = kind if isinstance(kind, tuple) else (kind,)
                    raise TypeError(f"{fun.__name__}: {name} must be of the class {' or '.join(k.__name__ for k in many)}, "
                                    f"got {value!r} of type {type(value).__name__}")
            return fun(*args, **kwargs)
        return cast(_Function, checked)
    return decorate


def joint_shape(*shapes: Sequence[Any]) -> tuple[int, ...]:
    """The shape to which ``shapes`` broadcast. Raises ValueError if there is none.

    Source: `numpy.broadcast_shapes`, which takes 32 axes at most.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except RuntimeError:
        return (*joint_shape(*(tuple(s[:-32]) for s in shapes)), *joint_shape(*(tuple(s[-32:]) for s in shapes)))
