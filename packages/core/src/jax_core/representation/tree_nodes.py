"""Types of pytree nodes: registration of containers, and `Partial`.

Flattening is jaxlib's C++, on its default registry (`registry`). The compiled-call dispatcher takes a second one, so that a call of a
jitted function flattens its arguments without entering Python. This is the one module of core that imports jaxlib.

Containers are tuples, named tuples, lists, dicts (in sorted order of keys), `OrderedDict`, `defaultdict`, `None` (with no
leaves), and every type registered here. All else is a leaf.
"""
from __future__ import annotations

import collections
import dataclasses
import functools
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from .interrupts import held_back

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # jaxlib reads it while it loads, and would log device counts
with held_back():  # what has broken off while it loaded ends the process when it is loaded again
    from jaxlib._jax import pytree as pytree
from jaxlib._jax.pytree import (
    DictKey as DictKey,
    FlattenedIndexKey as FlattenedIndexKey,
    GetAttrKey as GetAttrKey,
    PyTreeDef as PyTreeDef,
    SequenceKey as SequenceKey,
)

registry = default_registry = pytree.default_registry()
# Structures are pickled with a reference to their registry, by module and name.
registry.__module__, registry.__name__ = __name__, "registry"

# What the dispatcher of compiled calls takes arguments apart with: the same containers, and arrays that are stored as another array
# (random keys), which are leaves everywhere else.
storage_registry = pytree.PyTreeRegistry()

for _kind, _says in (  # jaxlib's classes have no docstrings
        (DictKey, "A step of a path: the value under ``key`` in a dictionary."),
        (SequenceKey, "A step of a path: element ``idx`` of a tuple or list."),
        (GetAttrKey, "A step of a path: the attribute ``name`` of an object."),
        (FlattenedIndexKey, "A step of a path: child number ``key`` of a container that has no names for its children."),
        (PyTreeDef, "The structure of a pytree, without its leaves; `tree_structure` makes it, `tree_unflatten` fills it.")):
    _kind.__doc__ = _says

_Type = TypeVar("_Type", bound=type)


class _RegistryEntry(NamedTuple):
    """How values of one type are taken apart and put together."""

    to_iter: Callable[[Any], tuple[Iterable[Any], Any]]
    from_iter: Callable[[Any, tuple], Any]


# For Python code that wants to look at the registry; the C++ one decides.
_registry: dict[type, _RegistryEntry] = {
    tuple: _RegistryEntry(lambda x: (x, None), lambda _, children: tuple(children)),
    list: _RegistryEntry(lambda x: (x, None), lambda _, children: list(children)),
    dict: _RegistryEntry(lambda x: ([x[k] for k in sorted(x)], tuple(sorted(x))),
                         lambda keys, children: dict(zip(keys, children))),
    type(None): _RegistryEntry(lambda _: ((), None), lambda _, __: None),
}


def register_pytree_node(nodetype: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
                         unflatten_func: Callable[[Any, tuple], Any],
                         flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]] | None
                         = None) -> None:
    """Make values of a type containers.

    Args:
      nodetype: the type; subclasses are not included.
      flatten_func: value to (children, auxiliary data). The data must have a hash and equality: they
        are part of the structure.
      unflatten_func: (auxiliary data, children) to a value. It must accept children that are not
        arrays: tracers, `None`, or bare objects.
      flatten_with_keys_func: as `flatten_func`, with a pair of key and child for each child.

    Raises:
      ValueError: the type is registered already.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> jax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, parts: Pair(*parts))
    >>> jax.tree.map(lambda x: x * 2, Pair(1, 2)).b
    4
    """
    registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    storage_registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    _registry[nodetype] = _RegistryEntry(flatten_func, unflatten_func)


def register_stored(nodetype: type, stored: Callable[[Any], tuple[tuple[Any], Hashable]], rebuilt: Callable[[Any, tuple], Any]) -> None:
    """Tell the dispatcher of compiled calls how values of a type, leaves of pytrees, are stored.

    Args:
      stored: value to (a tuple of the one array that it is stored as, what it is besides).
      rebuilt: the opposite.
    """
    storage_registry.register_node(nodetype, stored, rebuilt)


def register_pytree_with_keys(nodetype: type,
                              flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
                              unflatten_func: Callable[[Any, tuple], Any],
                              flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None) -> None:
    """As `register_pytree_node`, for a type whose children have keys of their own.

    Args:
      flatten_with_keys: gives pairs of key and child, and what is static.
      unflatten_func: gives a container of what is static and of children.

    `flatten_func` may be given where it is faster than leaving out the keys.

    >>> class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    >>> key = jax.tree_util.GetAttrKey('inside')
    >>> jax.tree_util.register_pytree_with_keys(Box, lambda b: (((key, b.inside),), None), lambda _, parts: Box(*parts))
    >>> jax.tree_util.tree_leaves_with_path(Box(3))
    [((GetAttrKey(name='inside'),), 3)]
    """
    if flatten_func is None:
        def flatten_func(x: object) -> tuple[Iterable[Any], Hashable]:
            pairs, aux = flatten_with_keys(x)
            return [child for _, child in pairs], aux
    register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def _check_has(cls: Any, name: str, *methods: str) -> None:
    missing = [m for m in methods if not hasattr(cls, m)]
    if not isinstance(cls, type) or missing:
        raise TypeError(f"{name}: expected a class with {' and '.join(methods)}, got {cls!r}"
                        f"{' without ' + ' and '.join(missing) if missing else ''}.")


def register_pytree_node_class(cls: _Type) -> _Type:
    """Class decorator: the class has methods `tree_flatten(self)` and `tree_unflatten(cls, aux, children)`.

    >>> @jax.tree_util.register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    ...     def tree_flatten(self):
    ...         return (self.a, self.b), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, parts):
    ...         return cls(*parts)
    >>> jax.tree.leaves(Pair(1, 2))
    [1, 2]
    """
    _check_has(cls, "register_pytree_node_class", "tree_flatten", "tree_unflatten")
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def register_pytree_with_keys_class(cls: _Type) -> _Type:
    """Class decorator: as `register_pytree_node_class`, with a method `tree_flatten_with_keys(self)`.

    >>> @jax.tree_util.register_pytree_with_keys_class
    ... class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    ...     def tree_flatten_with_keys(self):
    ...         return ((jax.tree_util.GetAttrKey('inside'), self.inside),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, parts):
    ...         return cls(*parts)
    >>> jax.tree_util.tree_leaves_with_path(Box(3))
    [((GetAttrKey(name='inside'),), 3)]
    """
    _check_has(cls, "register_pytree_with_keys_class", "tree_flatten_with_keys", "tree_unflatten")
    flatten = (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    unflatten = cls.tree_unflatten  # type: ignore[attr-defined]
    register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), unflatten, flatten)
    return cls


def register_static(cls: _Type) -> _Type:
    """Class decorator: values are containers without leaves, and so part of the structure.

    They need a hash and equality. A jitted function treats them as static arguments.

    Raises:
      TypeError: ``cls`` is not a class.

    >>> @jax.tree_util.register_static
    ... class Settings(str):
    ...     pass
    >>> jax.tree.leaves((1, Settings('fast')))
    [1]
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_static: {cls!r} is not a class.")
    register_pytree_with_keys(cls, lambda x: ((), x), lambda x, _: x, lambda x: ((), x))
    return cls


def register_dataclass(nodetype: _Type, data_fields: Sequence[str] | None = None,
                       meta_fields: Sequence[str] | None = None, drop_fields: Sequence[str] = ()) -> _Type:
    """Make a dataclass a container: some fields are children, the others part of the structure.

    Args:
      nodetype: the class. One that is not a dataclass must name its fields, and is built by keyword.
      data_fields: names of the fields that are children.
      meta_fields: names of the fields with a hash and equality that are not. Where neither is given,
        those marked with `dataclasses.field(metadata=dict(static=True))`, as by `jax.tree.static`.
      drop_fields: names of fields that are left out, and take their defaults.

    Returns:
      The class, so that this is also a decorator.

    Raises:
      TypeError: only one of the field lists is given, or none for a class that is not a dataclass.
      ValueError: the lists do not name each field of `__init__` once; or the class is registered already.

    >>> import dataclasses
    >>> @jax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Line:
    ...     slope: float
    ...     name: str = dataclasses.field(metadata={'static': True})
    >>> jax.tree.leaves(Line(2.0, 'a'))
    [2.0]
    """
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(f"register_dataclass: give both data_fields and meta_fields or neither; got"
                        f" data_fields={data_fields} and meta_fields={meta_fields}.")
    if dataclasses.is_dataclass(nodetype):
        fields = [f for f in dataclasses.fields(nodetype) if f.init]
        if data_fields is None:
            data_fields = [f.name for f in fields if not f.metadata.get("static") and f.name not in drop_fields]
            meta_fields = [f.name for f in fields if f.metadata.get("static") and f.name not in drop_fields]
        _check_fields(nodetype, {f.name for f in fields}, data_fields, meta_fields or (), drop_fields)
    elif data_fields is None:
        raise TypeError(f"register_dataclass: {nodetype!r} is not a dataclass, so data_fields and meta_fields must say"
                        " which attributes it has.")
    elif both := set(data_fields) & set(meta_fields or ()):
        raise ValueError(f"register_dataclass: {', '.join(sorted(both))} of {nodetype.__name__} are in data_fields and in meta_fields.")
    data, meta = tuple(data_fields), tuple(meta_fields or ())
    registry.register_dataclass_node(nodetype, list(data), list(meta))
    storage_registry.register_dataclass_node(nodetype, list(data), list(meta))
    _registry[nodetype] = _RegistryEntry(
        lambda x: ([getattr(x, n) for n in data], tuple(getattr(x, n) for n in meta)),
        lambda aux, children: nodetype(**dict(zip(data, children)), **dict(zip(meta, aux))))
    return nodetype


def _check_fields(nodetype: type, init_fields: set[str], data: Sequence[str], meta: Sequence[str],
                  drop: Sequence[str]) -> None:
    named = [*data, *meta]
    twice = {name for name in named if named.count(name) > 1}
    missing = init_fields - set(named) - set(drop)
    unknown = set(named) - init_fields
    problems = [f"{what}: {', '.join(sorted(names))}" for what, names in
                (("named twice", twice), ("not named", missing), ("not fields of __init__", unknown)) if names]
    if problems:
        raise ValueError(f"register_dataclass: data_fields and meta_fields of {nodetype.__name__} must name each field"
                         f" of its __init__ once ({'; '.join(problems)}). List fields to be left out in drop_fields.")


def static(**kwargs: Any) -> Any:
    """A dataclass field that `register_dataclass` makes part of the structure, not a child.

    Args:
      **kwargs: as of `dataclasses.field`.

    >>> import dataclasses
    >>> @jax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: jax.Array
    ...     name: str = jax.tree.static(default='layer')
    >>> jax.tree.leaves(Layer(3.0))
    [3.0]
    """
    metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(metadata=metadata, **kwargs)


def _sequence_pairs(keys: Iterable[Any], values: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(DictKey(key), value) for key, value in zip(keys, values)]


register_pytree_with_keys(
    collections.OrderedDict,
    lambda x: (_sequence_pairs(x, x.values()), tuple(x)),
    lambda keys, children: collections.OrderedDict(zip(keys, children)),
    lambda x: (list(x.values()), tuple(x)))
register_pytree_with_keys(
    collections.defaultdict,
    lambda x: (_sequence_pairs(sorted(x), map(x.__getitem__, sorted(x))), (x.default_factory, tuple(sorted(x)))),
    lambda aux, children: collections.defaultdict(aux[0], zip(aux[1], children)),
    lambda x: ([x[key] for key in sorted(x)], (x.default_factory, tuple(sorted(x)))))


class Partial(functools.partial):
    """A `functools.partial` that is a container: its arguments are children, its function is structure.

    So it can be passed to and returned from transformed functions. The function must have a
    hash and equality. A partial function inside is kept whole, as part of the structure.

    >>> scaled = jax.tree_util.Partial(jnp.multiply, jnp.array([1., 2.]))
    >>> jax.jit(lambda f, x: f(x))(scaled, 10.)
    Array([10., 20.], dtype=float32)
    """

    __module__ = "jax.tree_util"

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Partial:
        # functools.partial would merge the inner partial's arguments with ours, and so make them children.
        if isinstance(func, functools.partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **kw)

    def __repr__(self) -> str:
        arguments = [repr(self.func), *map(repr, self.args), *(f"{k}={v!r}" for k, v in self.keywords.items())]
        return f"Partial({', '.join(arguments)})"


class _Whole:
    """A callable that hides what it wraps, and is equal to it."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.function(*args, **kw)

    func = property(lambda self: self.function.func)
    args = property(lambda self: self.function.args)
    keywords = property(lambda self: self.function.keywords)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if type(other) is _Whole else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


def _partial_from_children(func: Callable[..., Any], children: Iterable[Any]) -> Partial:
    args, keywords = children
    return Partial(func, *args, **keywords)


register_pytree_node(Partial, lambda x: ((x.args, x.keywords), x.func), _partial_from_children)
