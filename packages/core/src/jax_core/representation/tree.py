"""Pytrees: nested containers as trees of leaves, and functions over them.

Which types are containers, `tree_nodes` says.

Functions have their long names (`tree_map`, of `jax.tree_util`) and, at the end, the short
ones of `jax.tree`. Those that find two trees of different structure say where
(`prefix_mismatches`).
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .tracebacks import shorten as _shorten
from .tree_nodes import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey, pytree, registry, storage_registry

if TYPE_CHECKING:
    from .typing import PyTree

KeyEntry = TypeVar("KeyEntry", bound=Hashable)
KeyPath = tuple[KeyEntry, ...]
_MISSING: Any = object()
_map, _all = builtins.map, builtins.all  # this module defines functions of the same names

# The C++ methods, bound once: looking them up costs as much as flattening a small tree.
_flatten = registry.flatten
_flatten_with_path = registry.flatten_with_path
_flatten_one_level = registry.flatten_one_level
_flatten_stored = storage_registry.flatten


# --- flattening ------------------------------------------------------------------------
def _check_predicate(name: str, is_leaf: object) -> None:
    if not callable(is_leaf):
        raise TypeError(f"{name}: is_leaf must be a function of a node, or None, got {is_leaf!r} of type {type(is_leaf).__name__}")


def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, left to right, and its structure.

    Args:
      tree: any value.
      is_leaf: called with each node on the way down; where it returns true, the node counts as a leaf.

    Raises:
      RecursionError: the tree is deeper than the stack allows.

    >>> jax.tree.flatten({"b": 2, "a": (1, None)})
    ([1, 2], PyTreeDef({'a': (*, None), 'b': *}))
    """
    if is_leaf is not None:
        _check_predicate("tree_flatten", is_leaf)
    try:
        return _flatten(tree, is_leaf)
    except SystemError as error:
        raise _end_of_stack(error)


def _end_of_stack(error: SystemError) -> BaseException:
    """What jaxlib reports so: a tree that is too deep, or holds itself."""
    return error.__cause__ if isinstance(error.__cause__, RecursionError) else error


def flatten_stored(tree: PyTree) -> tuple[list[Any], PyTreeDef]:
    """The leaves and the structure as the dispatcher of compiled calls sees them: random keys are nodes that hold their words."""
    return _flatten_stored(tree)


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

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

    Raises:
      RecursionError: the tree is deeper than the stack allows.

    >>> jax.tree.leaves([1, (2, {"x": 3})])
    [1, 2, 3]
    """
    if is_leaf is not None:
        _check_predicate("tree_leaves", is_leaf)
    try:
        return _flatten(tree, is_leaf)[0]
    except SystemError as error:
        raise _end_of_stack(error)


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTreeDef:
    """The structure of a tree.

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

    Raises:
      RecursionError: the tree is deeper than the stack allows.

    >>> jax.tree.structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    if is_leaf is not None:
        _check_predicate("tree_structure", is_leaf)
    try:
        return _flatten(tree, is_leaf)[1]
    except SystemError as error:
        raise _end_of_stack(error)


def tree_flatten_with_path(tree: PyTree, is_leaf: Callable[..., bool] | None = None,
                           is_leaf_takes_path: bool = False) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """The leaves of a tree, each with the path of keys that leads to it, and the structure.

    Args:
      tree: any value.
      is_leaf: as for `tree_flatten`.
      is_leaf_takes_path: `is_leaf` is called with the path and the node.

    Raises:
      RecursionError: the tree is deeper than the stack allows.

    >>> jax.tree.flatten_with_path({"a": [5]})[0]
    [((DictKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    if is_leaf is not None:
        _check_predicate("tree_flatten_with_path", is_leaf)
    if is_leaf is None or is_leaf_takes_path:
        predicate = is_leaf
    else:
        def predicate(path: KeyPath, node: object) -> bool:
            return is_leaf(node)
    try:
        return _flatten_with_path(tree, predicate)
    except SystemError as error:
        raise _end_of_stack(error)


def tree_leaves_with_path(tree: PyTree, is_leaf: Callable[..., bool] | None = None,
                          is_leaf_takes_path: bool = False) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the path of keys that leads to it.

    Args:
      is_leaf: called on each node; true for what counts as a leaf.
      is_leaf_takes_path: whether it is called with the path, too.

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


def _one_level_with_keys(tree: PyTree) -> Any:
    """Pairs of key and child, and the metadata; None for a leaf. jaxlib 0.10 gives every field of a named tuple the first one's key."""
    found = registry.flatten_one_level_with_keys(tree)
    if found is None or not (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        return found
    pairs = list(found[0])
    if len(pairs) > 1 and pairs[0][0] == pairs[1][0]:
        pairs = [(GetAttrKey(name), child) for name, (_, child) in zip(tree._fields, pairs)]
    return pairs, found[1]


def flatten_one_level_with_keys(tree: PyTree) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """As `flatten_one_level`, with pairs of key and child in place of the children.

    Raises:
      ValueError: a leaf has no children.

    >>> jax.tree_util.flatten_one_level_with_keys({'a': 1, 'b': (2, 3)})
    (((DictKey(key='a'), 1), (DictKey(key='b'), (2, 3))), ('a', 'b'))
    """
    found = _one_level_with_keys(tree)
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

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

    >>> jax.tree_util.all_leaves([1, 2]), jax.tree_util.all_leaves([[1], 2])
    (True, False)
    """
    if is_leaf is None:
        return pytree.all_leaves(registry, iterable)
    _check_predicate("all_leaves", is_leaf)
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
    return pytree.treedef_tuple(registry, [_structure("treedef_tuple", t) for t in treedefs])


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


def skeleton(structure: PyTreeDef, values: Iterable[Any] | None = None) -> Any:
    """A tree of that structure with stand-ins as leaves, their numbers or ``values``, for what asks only where leaves are.

    Classes may want arrays as children (``assert x.ndim``), or give back arrays only (array_api_extra's). A node that refuses its stand-ins
    or loses them is a tuple of them.
    """
    stand_ins = list(range(structure.num_leaves) if values is None else values)
    try:
        return _with_leaves(structure.unflatten(stand_ins), structure.num_leaves)
    except Exception:  # whatever the user's class raises
        return _lenient(structure, iter(stand_ins))


def _with_leaves(node: Any, count: int) -> Any:
    """``node``. Raises ValueError where it does not flatten to ``count`` leaves."""
    if tree_structure(node).num_leaves != count:
        raise ValueError(f"the node has {tree_structure(node).num_leaves} leaves, not {count}")
    return node


def _lenient(structure: PyTreeDef, values: Iterator[Any]) -> Any:
    node = structure.node_data()
    if node is None:
        return next(values)
    parts = structure.children()
    children = [_lenient(part, values) for part in parts]
    try:
        return _with_leaves(PyTreeDef.from_node_data_and_children(registry, node, [_leaf] * len(parts)).unflatten(children), structure.num_leaves)
    except Exception:
        return tuple(children)


_leaf = tree_structure(0)


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
    if is_leaf is not None:
        _check_predicate("tree_map", is_leaf)
    try:
        if not callable(f):
            raise TypeError(f"tree_map: the function comes first, then the trees, got a value of type {type(f).__name__}")
        leaves, treedef = _flatten(tree, is_leaf)
        if not rest:
            return treedef.unflatten(_map(f, leaves))
        columns = [_flatten_like(treedef, other, tree, "tree_map", f"rest[{i}]", is_leaf) for i, other in enumerate(rest)]
        return treedef.unflatten(_map(f, leaves, *columns))
    except SystemError as error:
        raise _end_of_stack(error)
    except Exception as error:
        _shorten(error)
        raise


def tree_map_with_path(f: Callable[..., PyTree], tree: PyTree, *rest: Any, is_leaf: Callable[..., bool] | None = None,
                       is_leaf_takes_path: bool = False) -> Any:
    """As `tree_map`, with the path of keys to the leaf as first argument of `f`.

    Args:
      f: function of a path and of one leaf of each tree.
      tree: the tree whose structure the result has.
      rest: more trees, each with ``tree`` as a prefix.
      is_leaf: says of a node whether it is taken as a leaf.
      is_leaf_takes_path: ``is_leaf`` is called with path and node.

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

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

    Raises:
      TypeError: there are no leaves and no initializer.

    >>> jax.tree.reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]})
    6
    """
    if is_leaf is not None:
        _check_predicate("tree_reduce", is_leaf)
    leaves = tree_leaves(tree, is_leaf)
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
    if is_leaf is not None:
        _check_predicate("tree_reduce_associative", is_leaf)
    leaves = tree_leaves(tree, is_leaf)
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

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

    >>> jax.tree.all({"a": True, "b": [1, 0]})
    False
    """
    if is_leaf is not None:
        _check_predicate("tree_all", is_leaf)
    return _all(tree_leaves(tree, is_leaf))


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
    if is_leaf is not None:
        _check_predicate("tree_broadcast", is_leaf)
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

    Args:
      is_leaf: called on each node; true for what counts as a leaf.

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
    prefix = _one_level_with_keys(prefix_tree)
    if prefix is None:
        return
    if type(prefix_tree) is not type(full_tree):
        yield (f"{prefix_name or 'the root'} is {_described(prefix_tree)}, but {full_name or 'the root'} is"
               f" {_described(full_tree)}.")
        return
    pairs, aux = list(prefix[0]), prefix[1]
    full_pairs, full_aux = _one_level_with_keys(full_tree)
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


def equality_errors(tree1: PyTree, tree2: PyTree, is_leaf: Callable[[PyTree], bool] | None = None,
                    path: KeyPath = ()) -> Iterator[tuple[KeyPath, str, str, str]]:
    """For each place where the trees differ in structure, its path below ``path``, what either has there, and how these differ. It is not looked into."""
    one, two = (None if is_leaf is not None and is_leaf(tree) else _one_level_with_keys(tree) for tree in (tree1, tree2))
    if one is None or two is None:
        if one is not two:
            yield path, _described(tree1), _described(tree2), "one is a leaf and the other is not"
        return
    if type(tree1) is not type(tree2):
        yield path, _described(tree1), _described(tree2), "the types differ"
        return
    (pairs1, aux1), (pairs2, aux2) = (list(one[0]), one[1]), (list(two[0]), two[1])
    if len(pairs1) != len(pairs2) and isinstance(tree1, (tuple, list)):
        yield path, _described(tree1), _described(tree2), "the lengths differ"
    elif len(pairs1) != len(pairs2) or aux1 != aux2:
        yield path, f"{_described(tree1)} with {aux1!r}", f"{_described(tree2)} with {aux2!r}", "the keys or the other metadata differ"
    else:
        for (key, child1), (_, child2) in zip(pairs1, pairs2):
            yield from equality_errors(child1, child2, is_leaf, (*path, key))


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
