"""Types of `jax.tree`. Written by packages/jax/tools/make_stubs.py."""
from jax.tree_util import PyTreeDef
from typing import Any, Callable, Iterable

def all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether every leaf of a tree is true."""
def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with the structure of `full_tree` whose leaves are those of `prefix_tree`, repeated."""
def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, left to right, and its structure."""
def flatten_with_path(tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]:
    """The leaves of a tree, each with the path of keys that leads to it, and the structure."""
def leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree, left to right."""
def leaves_with_path(tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree, each with the path of keys that leads to it."""
def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply `f` to each leaf of `tree`, together with what stands in its place in the other trees."""
def map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> Any:
    """As `tree_map`, with the path of keys to the leaf as first argument of `f`."""
def reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = ..., is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Combine the leaves of a tree from left to right, starting from `initializer` where given."""
def reduce_associative(operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = ..., is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Combine the leaves of a tree in order, in a balanced way, by an associative operation."""
def static(**kwargs: Any) -> Any:
    """A dataclass field that `register_dataclass` makes part of the structure, not a child."""
def structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef:
    """The structure of a tree."""
def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Turn a tree of trees inside out: `[{a, b}, {a, b}]` becomes `{a: [..], b: [..]}`."""
def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of structure `treedef` whose leaves are `leaves`."""
