"""Exported programs as bytes: the format, and writing it. Reading is in `loading`.

A file is: 8 bytes of magic with the version of this format, the SHA-256 of the rest, the length of a header, the
header (JSON), and blobs that it refers to by number. A module is kept as a portable StableHLO artifact, which later
versions of the compiler read, and beside it as compressed text, which the same jaxlib reads without loading MLIR's
bindings. Structures of arguments are trees of names; types of nodes that are not Python's own must be registered.
"""
from __future__ import annotations

import collections
import hashlib
import json
import struct
import zlib
from typing import Any, Callable, Sequence

from .. import backends
from ..representation import dtypes, tree, tree_nodes
from ..representation.aval import ShapedArray
from ..representation.memory import Space, mark
from . import symbolic_shapes, symbols

MAGIC = b"jaxexp2\n"
EARLIER = b"jaxexp1\n"  # its derivatives have no cotangents of dtype float0


# -- types of nodes --------------------------------------------------------------------------------------------------------

class _NodeType:
    """How a registered type of pytree nodes is stored."""

    def __init__(self, nodetype, name, serialize_auxdata, deserialize_auxdata, from_children):
        self.nodetype, self.name, self.from_children = nodetype, name, from_children
        self.serialize_auxdata, self.deserialize_auxdata = serialize_auxdata, deserialize_auxdata


_by_type: dict[type, _NodeType] = {}
_by_name: dict[str, _NodeType] = {}


def register_pytree_node_serialization(nodetype: type, *, serialized_name: str, serialize_auxdata: Callable[[Any], bytes],
                                       deserialize_auxdata: Callable[[bytes], object],
                                       from_children: Callable[[Any, Sequence[Any]], Any] | None = None) -> type:
    """Let structures with nodes of this registered pytree type be stored.

    Args:
      serialized_name: unique, and the same where the program is loaded.
      serialize_auxdata, deserialize_auxdata: the node's auxiliary data as bytes, and back.
      from_children: ``from_children(auxdata, children) -> node``; by default the type's own way.

    Returns:
      ``nodetype``.

    Raises:
      ValueError: the type or the name is registered already, or ``from_children`` is left out for a type that is no registered pytree node.

    >>> @jax.tree_util.register_pytree_node_class
    ... class Box:
    ...     def __init__(self, value):
    ...         self.value = value
    ...     def tree_flatten(self):
    ...         return (self.value,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, data, children):
    ...         return cls(*children)
    >>> Box is jax.export.register_pytree_node_serialization(
    ...     Box, serialized_name='docs.Box', serialize_auxdata=lambda data: b'', deserialize_auxdata=lambda data: None)
    True
    """
    if nodetype in _by_type:
        raise ValueError(f"Duplicate serialization registration for type `{nodetype}`. Previous registration was with "
                         f"serialized_name `{_by_type[nodetype].name}`.")
    if serialized_name in _by_name:
        raise ValueError(f"Duplicate serialization registration for serialized_name `{serialized_name}`. Previous registration was "
                         f"for type `{_by_name[serialized_name].nodetype}`.")
    named = isinstance(nodetype, type) and issubclass(nodetype, tuple) and hasattr(nodetype, "_fields") and nodetype not in tree_nodes._registry
    if from_children is None and (named or not tree.registry.is_node(nodetype)):
        raise ValueError(f"register_pytree_node_serialization: {nodetype} has no way of its own to be made of children, as it is no registered pytree "
                         "node; give from_children, or call jax.tree_util.register_pytree_node first"
                         + (" (for a named tuple register_namedtuple_serialization)." if named else "."))
    entry = _NodeType(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children)
    _by_type[nodetype] = _by_name[serialized_name] = entry
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let structures with this named tuple be stored; see `register_pytree_node_serialization`.

    Raises:
      ValueError: not a named tuple, or registered already.

    >>> import collections
    >>> Pair = collections.namedtuple('Pair', 'a b')
    >>> jax.export.register_namedtuple_serialization(Pair, serialized_name='docs.Pair') is Pair
    True
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"register_namedtuple_serialization: use it only for named tuples, got {nodetype}")
    fields = json.dumps(list(nodetype._fields)).encode()

    def check(stored: bytes) -> None:
        if stored != fields:
            raise ValueError(f"deserialize: the named tuple stored as {serialized_name!r} had the fields {json.loads(stored)}, and "
                             f"{nodetype} has {json.loads(fields)}")
    return register_pytree_node_serialization(nodetype, serialized_name=serialized_name, serialize_auxdata=lambda _: fields,
                                              deserialize_auxdata=check, from_children=lambda _, children: nodetype(*children))


def tree_to_json(treedef: Any) -> Any:
    data = treedef.node_data()
    if data is None:
        return "*"
    kind, aux = data
    children = [tree_to_json(child) for child in treedef.children()]
    if kind is type(None):
        return None
    if kind is tuple or kind is list:
        return [kind.__name__, *children]
    if kind is dict or kind is collections.OrderedDict:
        return [kind.__name__, [_key_to_json(k) for k in aux], *children]
    entry = _by_type.get(kind)
    if entry is None:
        raise ValueError(f"serialize: the arguments or results hold a pytree node of type {kind.__module__}.{kind.__qualname__}; register it "
                         "with jax.export.register_pytree_node_serialization or register_namedtuple_serialization.")
    return ["registered", entry.name, entry.serialize_auxdata(aux).hex(), *children]


def tree_from_json(item: Any) -> Any:
    make = tree.PyTreeDef.from_node_data_and_children
    if item == "*":
        return tree.structure(0)
    if item is None:
        return tree.structure(None)
    kind, *rest = item
    if kind in ("tuple", "list"):
        return make(tree.registry, ({"tuple": tuple, "list": list}[kind], None), list(map(tree_from_json, rest)))
    if kind in ("dict", "OrderedDict"):
        keys = [_key_from_json(k) for k in rest[0]]
        node = dict if kind == "dict" else collections.OrderedDict
        return make(tree.registry, (node, keys if node is dict else tuple(keys)), list(map(tree_from_json, rest[1:])))
    name, aux, *children = rest
    if name not in _by_name:
        raise ValueError(f"deserialize: the program's structures hold a pytree node stored as {name!r}; register its type with "
                         "jax.export.register_pytree_node_serialization or register_namedtuple_serialization before loading.")
    entry = _by_name[name]
    aux, parts = entry.deserialize_auxdata(bytes.fromhex(aux)), list(map(tree_from_json, children))
    if entry.from_children is None:
        return make(tree.registry, (entry.nodetype, aux), parts)
    built = entry.from_children(aux, [tree.unflatten(part, [0] * part.num_leaves) for part in parts])
    return tree.structure(built)


def _key_to_json(key: Any) -> Any:
    if isinstance(key, str):
        return key
    if isinstance(key, (bool, int, float)):
        return [type(key).__name__, key]
    if isinstance(key, tuple):
        return ["tuple", [_key_to_json(k) for k in key]]
    raise TypeError(f"serialize: a dict among the arguments or results has the key {key!r}; keys must be strings or numbers")


def _key_from_json(item: Any) -> Any:
    if isinstance(item, str):
        return item
    kind, value = item
    return tuple(map(_key_from_json, value)) if kind == "tuple" else {"bool": bool, "int": int, "float": float}[kind](value)


# -- types -------------------------------------------------------------------------------------------------------------------

class StoredKeyType(dtypes.ExtendedDType):
    """The dtype of random keys in a loaded program, until the package that knows it by its name is loaded too."""

    __slots__ = ("name", "itemsize", "physical_element_aval")
    type = dtypes.prng_key
    kind = "V"

    def __init__(self, name: str, element: ShapedArray):
        self.name, self.itemsize, self.physical_element_aval = name, element.nbytes, element  # type: ignore[misc]  # slots of this class

    def __eq__(self, other):
        return isinstance(other, StoredKeyType) and (self.name, self.physical_element_aval) == (other.name, other.physical_element_aval)

    def __hash__(self):
        return hash(self.name)


def _aval_to_json(aval: ShapedArray) -> list:
    shape = [d if isinstance(d, int) else str(d) for d in aval.shape]
    if not isinstance(aval.dtype, dtypes.ExtendedDType):
        return [dtypes.name_of(aval.dtype) + mark(aval.memory_space), shape]
    element = aval.dtype.physical_element_aval
    return [aval.dtype.name, shape, element.dtype.name, list(element.shape)]


def _placements(avals: Sequence[ShapedArray]) -> list:
    """How types say that values are split, as data."""
    return [backends.get().placements.describe(a.placement) if a.placement is not None else None for a in avals]


def types_from_json(items: list, placements: list | None, scope: object) -> list[ShapedArray]:
    """The types of a file; those of older files say nothing of placements."""
    return with_placements([aval_from_json(item, scope) for item in items], placements or (None,) * len(items))


def with_placements(avals: Sequence[ShapedArray], placements: Sequence[dict | None]) -> list[ShapedArray]:
    """The types, which say that values are split as these data tell."""
    return [a if p is None else a.update(sharding=backends.get().placements.in_types(p)) for a, p in zip(avals, placements)]


def aval_from_json(item: list, scope: Any) -> ShapedArray:
    name, shape, *element = item
    shape = [d if isinstance(d, int) else symbols.parse_dimension(d, scope) for d in shape]
    if not element:
        name, _, space = name.partition("<")
        aval = symbolic_shapes.array_type(shape, dtypes.dtype_named(name))
        return aval.update(memory_space=Space.Host) if space == "host>" else aval
    known = dtypes.extended_dtype_named(name)
    return symbolic_shapes.array_type(shape, known or StoredKeyType(name, ShapedArray(tuple(element[1]), dtypes.dtype_named(element[0]))))


# -- files -------------------------------------------------------------------------------------------------------------------

def write(exported: Any, vjp_order: int) -> bytes:
    """An `Exported` program as bytes."""
    blobs: list[bytes] = []

    def blob(data: bytes) -> int:
        blobs.append(data)
        return len(blobs) - 1
    exporting = backends.get().exporting
    modules: dict = {}
    for platform, module in exported.modules.items():
        modules.setdefault(module, []).append(platform)
    header = dict(
        fun_name=exported.fun_name, in_tree=tree_to_json(exported.in_tree), out_tree=tree_to_json(exported.out_tree),
        in_avals=list(map(_aval_to_json, exported.in_avals)), out_avals=list(map(_aval_to_json, exported.out_avals)),
        in_types=_placements(exported.in_avals), out_types=_placements(exported.out_avals), devices=exported.nr_devices, calls_such=exported._calls_such,
        in_placements=exported._in_placements, out_placements=exported._out_placements,
        platforms=list(exported.platforms), kept=list(exported.module_kept_var_idx),
        disabled_checks=[check._impl for check in exported.disabled_safety_checks],
        calling_convention_version=exported.calling_convention_version, constraints=symbolic_shapes.constraints_of(exported.in_avals),
        compiler=exporting.compiler_version(), modules=[dict(
            platforms=platforms, text=blob(zlib.compress(_module_text(module))), template=not isinstance(module, str),
            artifact=blob(exporting.portable_artifact(module)) if isinstance(module, str) else None)
            for module, platforms in modules.items()],
        vjp=blob(write(exported.vjp(), vjp_order - 1)) if vjp_order > 0 else None)
    header["blobs"] = [len(b) for b in blobs]
    text = json.dumps(header, separators=(",", ":")).encode()
    rest = b"".join([struct.pack("<Q", len(text)), text, *blobs])
    return MAGIC + hashlib.sha256(rest).digest() + rest


def _module_text(module: Any) -> bytes:
    return (module if isinstance(module, str) else module.to_json()).encode()
