"""Types of `jax.tree_util`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Hashable, Iterable, Self, Sequence, TypeAlias, TypeVar

class DictKey:
    """A step of a path: the value under ``key`` in a dictionary."""
    def __init__(self, key: Hashable) -> None: ...
    @property
    def key(self) -> Any: ...
class FlattenedIndexKey:
    """A step of a path: child number ``key`` of a container that has no names for its children."""
    def __init__(self, key: int) -> None: ...
    @property
    def key(self) -> int: ...
class GetAttrKey:
    """A step of a path: the attribute ``name`` of an object."""
    def __init__(self, name: str) -> None: ...
    @property
    def name(self) -> str: ...
KeyEntry = TypeVar('KeyEntry')
KeyPath: TypeAlias = tuple[Any, ...]
class Partial:
    """A `functools.partial` that is a container: its arguments are children, its function is structure."""
    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Self: ...
class PyTreeDef:
    """The structure of a pytree, without its leaves; `tree_structure` makes it, `tree_unflatten` fills it."""
    def children(self) -> list[PyTreeDef]: ...
    def compose(self, inner_treedef: PyTreeDef, /) -> PyTreeDef: ...
    def flatten_up_to(self, tree: Any, /) -> list[Any]: ...
    def node_data(self) -> tuple[type[Any], Any] | None: ...
    def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
    @property
    def num_leaves(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def deserialize_using_proto(self, *args: Any, **kwargs: Any) -> Any: ...
    def from_iterable_tree(self, *args: Any, **kwargs: Any) -> Any: ...
    def from_node_data_and_children(self, *args: Any, **kwargs: Any) -> Any: ...
    def serialize_using_proto(self, *args: Any, **kwargs: Any) -> Any: ...
    def walk(self, *args: Any, **kwargs: Any) -> Any: ...
class SequenceKey:
    """A step of a path: element ``idx`` of a tuple or list."""
    def __init__(self, idx: int) -> None: ...
    @property
    def idx(self) -> int: ...
def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether every element of `iterable` is a leaf."""
default_registry: Any
def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """The children of one container, and what else is needed to build it."""
def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """As `flatten_one_level`, with pairs of key and child in place of the children."""
def is_tree_node(typ: type) -> bool:
    """Whether values of this type are containers."""
def keystr(keys: tuple[Any, ...], *, simple: bool = False, separator: str = '') -> str:
    """A path as text: `[0]['w'].bias`, or with `simple`, the bare keys: `0/w/bias`."""
def register_pytree_node(nodetype: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]], unflatten_func: Callable[[Any, tuple], Any], flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None) -> None:
    """Make values of a type containers."""
def register_pytree_with_keys(nodetype: type, flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]], unflatten_func: Callable[[Any, tuple], Any], flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None) -> None:
    """As `register_pytree_node`, for a type whose children have keys of their own."""
def tree_all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether every leaf of a tree is true."""
def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with the structure of `full_tree` whose leaves are those of `prefix_tree`, repeated."""
def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, left to right, and its structure."""
def tree_flatten_with_path(tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]:
    """The leaves of a tree, each with the path of keys that leads to it, and the structure."""
def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree, left to right."""
def tree_leaves_with_path(tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree, each with the path of keys that leads to it."""
def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply `f` to each leaf of `tree`, together with what stands in its place in the other trees."""
def tree_map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False) -> Any:
    """As `tree_map`, with the path of keys to the leaf as first argument of `f`."""
def tree_reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = ..., is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Combine the leaves of a tree from left to right, starting from `initializer` where given."""
def tree_reduce_associative(operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = ..., is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Combine the leaves of a tree in order, in a balanced way, by an associative operation."""
def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef:
    """The structure of a tree."""
def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Turn a tree of trees inside out: `[{a, b}, {a, b}]` becomes `{a: [..], b: [..]}`."""
def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of structure `treedef` whose leaves are `leaves`."""
def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of a tree's immediate children."""
def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a single node: a leaf, `None` or an empty container."""
def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of these structures."""
_C = TypeVar("_C", bound=type[Any])
def register_dataclass(nodetype: _C, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None, drop_fields: Sequence[str] = ()) -> _C:
    """Make a dataclass a container: some fields are children, the others part of the structure."""
def register_pytree_node_class(cls: _C) -> _C:
    """Make a class a container by its methods `tree_flatten` and `tree_unflatten`; a decorator."""
def register_pytree_with_keys_class(cls: _C) -> _C:
    """As `register_pytree_node_class`, for a class whose `tree_flatten_with_keys` names its children."""
def register_static(cls: _C) -> _C:
    """Make a class a container without children: its objects are part of the structure."""
