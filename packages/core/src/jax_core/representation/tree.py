"""Pytrees: nested containers as trees of leaves, and functions over them.

Flattening is jaxlib's C++, on its default registry: the compiled-call dispatcher takes that
same registry object (`registry`), so that a call of a jitted function flattens its
arguments without entering Python. This is the one module of core that imports jaxlib.

Containers are tuples, named tuples, lists, dicts (in sorted order of keys), `OrderedDict`,
`defaultdict`, `None` (with no leaves), and every type registered here. All else is a leaf.

Functions have their long names (`tree_map`, of `jax.tree_util`) and, at the end, the short
ones of `jax.tree`. Those that find two trees of different structure say where
(`prefix_mismatches`).
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import functools
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # jaxlib reads it while it loads, and would log device counts
from jaxlib._jax import pytree as _pytree
from jaxlib._jax.pytree import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey

from .tracebacks import shorten as _shorten

if TYPE_CHECKING:
    from .typing import PyTree

registry = default_registry = _pytree.default_registry()
# Structures are pickled with a reference to their registry, by module and name.
registry.__module__, registry.__name__ = __name__, "registry"

KeyEntry = TypeVar("KeyEntry", bound=Hashable)
KeyPath = tuple[KeyEntry, ...]
_Type = TypeVar("_Type", bound=type)
_MISSING: Any = object()
_map, _all = builtins.map, builtins.all  # this module defines functions of the same names

# The C++ methods, bound once: looking them up costs as much as flattening a small tree.
_flatten = registry.flatten
_flatten_with_path = registry.flatten_with_path
_flatten_one_level = registry.flatten_one_level


# --- flattening ------------------------------------------------------------------------
def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, left to right, and its structure.

    Args:
      tree: any value.
      is_leaf: called with each node on the way down; where it returns true, the node counts as a leaf.

    >>> jax.tree.flatten({"b": 2, "a": (1, None)})
    ([1, 2], PyTreeDef({'a': (*, None), 'b': *}))
    """
    return _flatten(tree, is_leaf)


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of structure `treedef` whose leaves are `leaves`.

    Raises:
      ValueError: there are more or fewer leaves than the structure has.

    >>> leaves, treedef = jax.tree.flatten({"a": 1, "b": 2})
    >>> jax.tree.unflatten(treedef, [10, 20])
    {'a': 10, 'b': 20}
    """
    return _structure("tree_unflatten", treedef).unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[Any]:
    """The leaves of a tree, left to right.

    >>> jax.tree.leaves([1, (2, {"x": 3})])
    [1, 2, 3]
    """
    return _flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTreeDef:
    """The structure of a tree.

    >>> jax.tree.structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    return _flatten(tree, is_leaf)[1]


def tree_flatten_with_path(tree: PyTree, is_leaf: Callable[..., bool] | None = None,
                           is_leaf_takes_path: bool = False) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """The leaves of a tree, each with the path of keys that leads to it, and the structure.

    Args:
      tree: any value.
      is_leaf: as for `tree_flatten`.
      is_leaf_takes_path: `is_leaf` is called with the path and the node.

    >>> jax.tree.flatten_with_path({"a": [5]})[0]
    [((DictKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    if is_leaf is None or is_leaf_takes_path:
        predicate = is_leaf
    else:
        def predicate(path: KeyPath, node: object) -> bool:
            return is_leaf(node)
    return _flatten_with_path(tree, predicate)


def tree_leaves_with_path(tree: PyTree, is_leaf: Callable[..., bool] | None = None,
                          is_leaf_takes_path: bool = False) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the path of keys that leads to it.

    >>> jax.tree.leaves_with_path({"a": [5]})
    [((DictKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def flatten_one_level(tree: PyTree) -> tuple[Iterable[Any], Hashable]:
    """The children of one container, and what else is needed to build it.

    Raises:
      ValueError: `tree` is a leaf.

    >>> jax.tree_util.flatten_one_level({'a': 1, 'b': (2, 3)})
    ((1, (2, 3)), ('a', 'b'))
    """
    found = _flatten_one_level(tree)
    if found is None:
        raise ValueError(f"flatten_one_level: a value of type {type(tree)} is a leaf, so it has no children.")
    return found


def flatten_one_level_with_keys(tree: PyTree) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """As `flatten_one_level`, with pairs of key and child in place of the children.

    Raises:
      ValueError: a leaf has no children.

    >>> jax.tree_util.flatten_one_level_with_keys({'a': 1, 'b': (2, 3)})
    (((DictKey(key='a'), 1), (DictKey(key='b'), (2, 3))), ('a', 'b'))
    """
    found = registry.flatten_one_level_with_keys(tree)
    if found is None:
        raise ValueError(f"flatten_one_level_with_keys: a value of type {type(tree)} is a leaf, so it has no children.")
    return found


def is_tree_node(typ: type) -> bool:
    """Whether values of this type are containers.

    >>> jax.tree_util.is_tree_node(list)
    True
    """
    return registry.is_node(typ) or (isinstance(typ, type) and issubclass(typ, tuple) and hasattr(typ, "_fields"))


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether every element of `iterable` is a leaf.

    >>> jax.tree_util.all_leaves([1, 2]), jax.tree_util.all_leaves([[1], 2])
    (True, False)
    """
    if is_leaf is None:
        return _pytree.all_leaves(registry, iterable)
    for element in iterable:
        leaves = _flatten(element, is_leaf)[0]
        if len(leaves) != 1 or leaves[0] is not element:
            return False
    return True


# --- structures --------------------------------------------------------------------------
def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of these structures.

    >>> jax.tree_util.treedef_tuple([jax.tree.structure(1), jax.tree.structure([2])])
    PyTreeDef((*, [*]))
    """
    return _pytree.treedef_tuple(registry, [_structure("treedef_tuple", t) for t in treedefs])


def _structure(name: str, treedef: Any) -> PyTreeDef:
    """``treedef``, if it is one; jaxlib ends the process for what is not."""
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(f"{name}: expected a structure, as of jax.tree.structure, got {treedef!r} of type {type(treedef).__name__}")
    return treedef


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of a tree's immediate children.

    >>> jax.tree_util.treedef_children(jax.tree.structure([1, (2, 3)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    return _structure("treedef_children", treedef).children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a single node: a leaf, `None` or an empty container.

    >>> jax.tree_util.treedef_is_leaf(jax.tree.structure(5))
    True
    """
    return _structure("treedef_is_leaf", treedef).num_nodes == 1


# --- mapping and reducing ------------------------------------------------------------------
def tree_map(f: Callable[..., PyTree], tree: PyTree, *rest: Any, is_leaf: Callable[[PyTree], bool] | None = None) -> Any:
    """Apply `f` to each leaf of `tree`, together with what stands in its place in the other trees.

    Args:
      f: called with one argument per tree.
      tree: decides the structure of the result.
      *rest: trees that have the structure of `tree`, or where it has leaves, more.
      is_leaf: as for `tree_flatten`, asked of `tree`.

    Returns:
      A tree with the structure of `tree`.

    Raises:
      ValueError: the structure of `tree` is not a prefix of that of another; says where.

    >>> jax.tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
    {'a': 11, 'b': (22, 33)}
    """
    try:
        if not callable(f):
            raise TypeError(f"tree_map: the function comes first, then the trees, got a value of type {type(f).__name__}")
        leaves, treedef = _flatten(tree, is_leaf)
        if not rest:
            return treedef.unflatten(_map(f, leaves))
        columns = [_flatten_like(treedef, other, tree, "tree_map", f"rest[{i}]", is_leaf) for i, other in enumerate(rest)]
        return treedef.unflatten(_map(f, leaves, *columns))
    except Exception as error:
        _shorten(error)
        raise


def tree_map_with_path(f: Callable[..., PyTree], tree: PyTree, *rest: Any, is_leaf: Callable[..., bool] | None = None,
                       is_leaf_takes_path: bool = False) -> Any:
    """As `tree_map`, with the path of keys to the leaf as first argument of `f`.

    >>> jax.tree.map_with_path(lambda path, x: jax.tree_util.keystr(path), {"a": [1, 2]})
    {'a': ["['a'][0]", "['a'][1]"]}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    paths = [path for path, _ in pairs]
    leaves = [leaf for _, leaf in pairs]
    columns = [_flatten_like(treedef, other, tree, "tree_map_with_path", f"rest[{i}]", None)
               for i, other in enumerate(rest)]
    return treedef.unflatten(_map(f, paths, leaves, *columns))


def _flatten_like(treedef: PyTreeDef, other: Any, tree: Any, function: str, name: str,
                  is_leaf: Callable[[Any], bool] | None) -> list[Any]:
    """The subtrees of `other` that stand where `treedef`, the structure of `tree`, has leaves."""
    try:
        return treedef.flatten_up_to(other)
    except (ValueError, TypeError) as error:
        reasons = list(prefix_mismatches(tree, other, "tree", name, is_leaf))
        if not reasons:  # the error is of another kind
            raise
        raise ValueError(f"{function}: the trees do not match.\n" + "\n".join(reasons)) from error


def tree_reduce(function: Callable[[Any, Any], Any], tree: PyTree, initializer: PyTree = _MISSING,
                is_leaf: Callable[[PyTree], bool] | None = None) -> Any:
    """Combine the leaves of a tree from left to right, starting from `initializer` where given.

    Raises:
      TypeError: there are no leaves and no initializer.

    >>> jax.tree.reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]})
    6
    """
    leaves = _flatten(tree, is_leaf)[0]
    if initializer is not _MISSING:
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise TypeError("tree_reduce: the tree has no leaves; give an initializer.")
    return functools.reduce(function, leaves)


def tree_reduce_associative(operation: Callable[[Any, Any], Any], tree: PyTree, *, identity: PyTree = _MISSING,
                            is_leaf: Callable[[PyTree], bool] | None = None) -> Any:
    """Combine the leaves of a tree in order, in a balanced way, by an associative operation.

    Args:
      operation: combines two values.
      tree: any tree.
      identity: the result for a tree without leaves.
      is_leaf: as for `tree_flatten`.

    Raises:
      TypeError: there are no leaves and no identity.

    >>> jax.tree.reduce_associative(max, [3, 9, 4])
    9
    """
    leaves = _flatten(tree, is_leaf)[0]
    if leaves:
        return _reduce_balanced(operation, leaves)
    if identity is _MISSING:
        raise TypeError("tree_reduce_associative: the tree has no leaves; give an identity.")
    return identity


def _reduce_balanced(operation: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return operation(_reduce_balanced(operation, values[:half]), _reduce_balanced(operation, values[half:]))


def tree_all(tree: PyTree, *, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether every leaf of a tree is true.

    >>> jax.tree.all({"a": True, "b": [1, 0]})
    False
    """
    return _all(_flatten(tree, is_leaf)[0])


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: PyTree) -> Any:
    """Turn a tree of trees inside out: `[{a, b}, {a, b}]` becomes `{a: [..], b: [..]}`.

    Args:
      outer_treedef: structure of the outer tree.
      inner_treedef: structure of each inner tree; `None` takes that of the first.
      pytree_to_transpose: a tree of structure outer of inner.

    Raises:
      TypeError: it has another structure. ValueError: the outer tree has no leaves, so that nothing is left to make the inner tree of.

    >>> jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    leaves, treedef = _flatten(pytree_to_transpose)
    _structure("tree_transpose", outer_treedef)
    if inner_treedef is None:
        inner = outer_treedef.flatten_up_to(pytree_to_transpose)
        inner_treedef = _flatten(inner[0] if inner else 0)[1]
    expected = outer_treedef.compose(_structure("tree_transpose", inner_treedef))
    if treedef != expected and (  # a node of a user's class may take in what is inside its children when it is made
            treedef.num_leaves != expected.num_leaves or treedef != _flatten(expected.unflatten(leaves))[1]):
        raise TypeError(f"tree_transpose: the tree has structure\n  {treedef}\nand not that of outer_treedef with"
                        f" inner_treedef at its leaves,\n  {expected}")
    if inner_treedef.num_leaves and not outer_treedef.num_leaves:
        raise ValueError(f"tree_transpose: outer_treedef, {outer_treedef}, has no leaves, so there is nothing to put at the leaves of the inner tree")
    width = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(leaves[i::width]) for i in range(width)]
    return inner_treedef.unflatten(columns)


# --- prefixes ------------------------------------------------------------------------------
def broadcast_prefix(prefix_tree: PyTree, full_tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None, *,
                     names: tuple[str, str] = ("prefix_tree", "full_tree")) -> list[Any]:
    """For each leaf of `full_tree`, the leaf of `prefix_tree` that stands above it.

    Args:
      prefix_tree: a tree like `full_tree` with some subtrees replaced by leaves.
      full_tree: any tree.
      is_leaf: as for `tree_flatten`, asked of `prefix_tree`.
      names: what the message calls the two trees.

    Raises:
      ValueError: `prefix_tree` is not a prefix of `full_tree`; says where.
    """
    leaves, treedef = _flatten(prefix_tree, is_leaf)
    try:
        subtrees = treedef.flatten_up_to(full_tree)
    except (ValueError, TypeError) as error:
        raise ValueError(prefix_mismatch_message(*names, prefix_tree, full_tree, is_leaf)) from error
    result: list[Any] = []
    for leaf, subtree in zip(leaves, subtrees):
        result.extend([leaf] * _flatten(subtree)[1].num_leaves)
    return result


def tree_broadcast(prefix_tree: PyTree, full_tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> Any:
    """The tree with the structure of `full_tree` whose leaves are those of `prefix_tree`, repeated.

    Raises:
      ValueError: `prefix_tree` is not a prefix of `full_tree`; says where.

    >>> jax.tree.broadcast([1, 2], [1, {"a": 0, "b": 0}])
    [1, {'a': 2, 'b': 2}]
    """
    leaves = broadcast_prefix(prefix_tree, full_tree, is_leaf)
    return _flatten(full_tree, is_leaf)[1].unflatten(leaves)


def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: PyTree) -> list[Any]:
    """One axis specification per leaf, from a specification that is a prefix of the tree.

    Args:
      name: of the argument that holds the specification, for messages, as "vmap in_axes".
      treedef: structure of the values.
      axis_tree: a prefix of that structure; `None` is a specification, not an empty tree.

    Raises:
      ValueError: `axis_tree` is not a prefix; says where.
    """
    if axis_tree is None or type(axis_tree) is int:  # by far the most frequent
        return [axis_tree] * treedef.num_leaves
    values = _structure("flatten_axes", treedef).unflatten([_VALUE] * treedef.num_leaves)
    try:
        return broadcast_prefix(axis_tree, values, _is_none)
    except ValueError as error:
        reasons = "\n".join(prefix_mismatches(axis_tree, values, name, "the values", _is_none))
        raise ValueError(f"{name} must have the structure of the values or a prefix of it, but {axis_tree} is none of"
                         f" {treedef}.\n{reasons}") from error


class _Value:
    """Stands for a leaf in messages."""

    def __repr__(self) -> str:
        return "*"


_VALUE = _Value()


def _is_none(x: Any) -> bool:
    return x is None


def prefix_mismatch_message(prefix_name: str, full_name: str, prefix_tree: PyTree, full_tree: PyTree,
                            is_leaf: Callable[[PyTree], bool] | None = None) -> str:
    """Why `prefix_tree` is not a prefix of `full_tree`: one line for each place where they differ."""
    reasons = list(prefix_mismatches(prefix_tree, full_tree, prefix_name, full_name, is_leaf))
    return f"{prefix_name} is not a tree prefix of {full_name}." + "".join("\n" + reason for reason in reasons)


def prefix_mismatches(prefix_tree: PyTree, full_tree: PyTree, prefix_name: str, full_name: str,
                      is_leaf: Callable[[PyTree], bool] | None = None) -> Iterator[str]:
    """The places where `prefix_tree` is not a prefix of `full_tree`, each as a sentence.

    Args:
      prefix_tree, full_tree: the trees.
      prefix_name, full_name: what to call them; a path is appended, as in `in_axes[0]['w']`.
      is_leaf: as for `tree_flatten`, asked of `prefix_tree`.
    """
    if is_leaf is not None and is_leaf(prefix_tree):
        return
    prefix = registry.flatten_one_level_with_keys(prefix_tree)
    if prefix is None:
        return
    if type(prefix_tree) is not type(full_tree):
        yield (f"{prefix_name or 'the root'} is {_described(prefix_tree)}, but {full_name or 'the root'} is"
               f" {_described(full_tree)}.")
        return
    pairs, aux = list(prefix[0]), prefix[1]
    full_pairs, full_aux = registry.flatten_one_level_with_keys(full_tree)
    full_pairs = list(full_pairs)
    keys, full_keys = [key for key, _ in pairs], [key for key, _ in full_pairs]
    if len(keys) != len(full_keys) or keys != full_keys:
        yield _different_children(prefix_tree, full_tree, prefix_name, full_name, keys, full_keys)
        return
    if aux != full_aux:
        yield (f"{prefix_name} and {full_name} are both {_described(full_tree)}, but their metadata differ:"
               f" {aux!r} and {full_aux!r}.")
        return
    for (key, child), (_, full_child) in zip(pairs, full_pairs):
        yield from prefix_mismatches(child, full_child, f"{prefix_name}{key}", f"{full_name}{key}", is_leaf)


def prefix_errors(prefix_tree: PyTree, full_tree: PyTree,
                  is_leaf: Callable[[PyTree], bool] | None = None) -> list[Callable[[str], ValueError]]:
    """For each place where `prefix_tree` is not a prefix of `full_tree`, a function from the prefix' name to the error."""
    def error(i):
        return lambda name: ValueError(list(prefix_mismatches(prefix_tree, full_tree, name, f"{name} tree", is_leaf))[i])
    return [error(i) for i, _ in enumerate(prefix_mismatches(prefix_tree, full_tree, "", "", is_leaf))]


def _different_children(prefix_tree: Any, full_tree: Any, prefix_name: str, full_name: str,
                        keys: list[Any], full_keys: list[Any]) -> str:
    if isinstance(full_tree, (tuple, list)):
        return (f"{prefix_name} is {_described(prefix_tree)}, but {full_name} is {_described(full_tree)}.")
    missing = [str(key) for key in full_keys if key not in keys]
    extra = [str(key) for key in keys if key not in full_keys]
    parts = []
    if missing:
        parts.append(f"{prefix_name} lacks {', '.join(missing)} of {full_name}")
    if extra:
        parts.append(f"{prefix_name} has {', '.join(extra)}, which {full_name} lacks")
    if not parts:
        parts.append(f"{prefix_name} and {full_name} have the same keys in different order")
    return "; ".join(parts) + "."


def _described(tree: Any) -> str:
    if type(tree) in (tuple, list):
        return f"a {type(tree).__name__} of length {len(tree)}"
    if tree is None or tree is _VALUE:
        return "None" if tree is None else "a leaf"
    kind = "a" if registry.flatten_one_level(tree) is not None else "a leaf:"
    return f"{kind} {type(tree).__name__}"


def structure_differences(tree1: PyTree, tree2: PyTree, name1: str = "tree1", name2: str = "tree2") -> list[str]:
    """The places where two trees differ in structure, each as a sentence; empty if nowhere."""
    found = list(prefix_mismatches(tree1, tree2, name1, name2))
    if not found:  # a leaf of the first tree may stand above a container of the second
        found = list(prefix_mismatches(tree2, tree1, name2, name1))
    return found


# --- paths ---------------------------------------------------------------------------------
def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as text: `[0]['w'].bias`, or with `simple`, the bare keys: `0/w/bias`.

    Args:
      keys: the path.
      simple: leave out brackets, quotes and dots.
      separator: put between the keys.

    Raises:
      TypeError: ``separator`` is not a string.

    >>> path, _ = jax.tree.leaves_with_path({"a": [5]})[0]
    >>> jax.tree_util.keystr(path)
    "['a'][0]"
    """
    if not isinstance(separator, str):
        raise TypeError(f"keystr: separator must be a string, got {separator!r}")
    return separator.join(_bare(key) if simple else str(key) for key in keys)


def _bare(key: Any) -> str:
    if isinstance(key, SequenceKey):
        return str(key.idx)
    if isinstance(key, (DictKey, FlattenedIndexKey)):
        return str(key.key)
    return str(key.name) if isinstance(key, GetAttrKey) else str(key)


# --- registration --------------------------------------------------------------------------
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
    _registry[nodetype] = _RegistryEntry(flatten_func, unflatten_func)


def register_pytree_with_keys(nodetype: type,
                              flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
                              unflatten_func: Callable[[Any, tuple], Any],
                              flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None) -> None:
    """As `register_pytree_node`, for a type whose children have keys of their own.

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
    data, meta = tuple(data_fields), tuple(meta_fields or ())
    registry.register_dataclass_node(nodetype, list(data), list(meta))
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
    lambda x: (_sequence_pairs(sorted(x), _map(x.__getitem__, sorted(x))), (x.default_factory, tuple(sorted(x)))),
    lambda aux, children: collections.defaultdict(aux[0], zip(aux[1], children)),
    lambda x: ([x[key] for key in sorted(x)], (x.default_factory, tuple(sorted(x)))))


# --- Partial -------------------------------------------------------------------------------
class Partial(functools.partial):
    """A `functools.partial` that is a container: its arguments are children, its function is structure.

    So it can be passed to and returned from transformed functions. The function must have a
    hash and equality. A partial function inside is kept whole, as part of the structure.
    """

    __module__ = "jax.tree_util"

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Partial:
        # functools.partial would merge the inner partial's arguments with ours, and so make them children.
        if isinstance(func, functools.partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **kw)

    def __repr__(self) -> str:
        arguments = [repr(self.func), *_map(repr, self.args), *(f"{k}={v!r}" for k, v in self.keywords.items())]
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


# --- the short names of jax.tree -------------------------------------------------------------
flatten = tree_flatten
unflatten = tree_unflatten
leaves = tree_leaves
structure = tree_structure
flatten_with_path = tree_flatten_with_path
leaves_with_path = tree_leaves_with_path
map = tree_map
map_with_path = tree_map_with_path
reduce = tree_reduce
reduce_associative = tree_reduce_associative
all = tree_all
transpose = tree_transpose
broadcast = tree_broadcast
