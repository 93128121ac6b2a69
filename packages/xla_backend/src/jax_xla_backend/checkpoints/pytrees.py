"""Trees of arrays in a folder: `jax.experimental.array_serialization.pytree_serialization`.

The folder has one database, ``array_store``, in which the arrays have the numbers of their leaves, and ``pytreedef.json`` with the
structure and the arrays' types. The latter is written last: a folder that has it is whole. Other files there are left alone.
"""
from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import json
import os
import re
from typing import Any, Sequence

import numpy as np

from jax_core.configuration.flags import write_public_formats
from jax_core.export import public_format
from jax_core.export.container import tree_from_json, tree_to_json
from jax_core.representation import dtypes, tree
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import PyTree

from ..arrays.array import ArrayImpl
from ..platforms import client
from .managers import barrier, check_connected
from .stores import (
    get_tensorstore_spec,
    is_remote_path,
    is_tensorstore_spec_leaf,
    key_value_store,
    merge_nested_ts_specs,
    tensorstore,
)
from .transfer import async_serialize, combine_kvstores, run, run_deserialization

STRUCTURE, ARRAYS = "pytreedef.json", "array_store"
TREE, LEAVES = "__jax_pytreedef_repr", "__jax_leaf_ids"
TIMEOUT_SECS = 300
ARRAY = re.compile(r"Array\((\w+)\[([\d, ]*)\]\)")
_saves = itertools.count()
_threads = concurrent.futures.ThreadPoolExecutor(4, thread_name_prefix="pytree_serialization")


class PyTreeFuture(concurrent.futures.Future):
    """What is being written or read.

    Attributes:
      pytree: shapes and dtypes of what will have been read; None for what is written.
    """

    def __init__(self, future: concurrent.futures.Future, pytree: PyTree = None):
        super().__init__()
        self.pytree = pytree
        future.add_done_callback(self._take)

    def _take(self, future: concurrent.futures.Future) -> None:
        error = future.exception()
        if error is None:
            self.set_result(future.result())
        else:
            self.set_exception(error)


def serialize_pytreedef(node: Any) -> dict[str, Any]:
    """A structure as values that JSON has; leaves are numbered.

    Args:
      node: a `PyTreeDef`.

    Raises:
      ValueError: nodes of a type that was not registered with `register_pytree_node_serialization`.

    >>> from jax.experimental.array_serialization import pytree_serialization_utils
    >>> written = pytree_serialization_utils.serialize_pytreedef(jax.tree.structure({"a": 1, "b": (2, 3)}))
    >>> sorted(written)
    ['__jax_leaf_ids', '__jax_pytreedef_repr']
    """
    return {TREE: _structure(node), LEAVES: list(range(node.num_leaves))}


def deserialize_pytreedef(pytreedef_repr: dict[str, Any]) -> Any:
    """The structure that `serialize_pytreedef` stored, as a tree of the leaves' numbers.

    Raises:
      ValueError: no such structure, or nodes of a type that is not registered here.

    >>> from jax.experimental.array_serialization.pytree_serialization_utils import deserialize_pytreedef, serialize_pytreedef
    >>> deserialize_pytreedef(serialize_pytreedef(jax.tree.structure({"w": 1.0, "b": (2.0, 3.0)})))
    {'b': (0, 1), 'w': 2}
    """
    if TREE not in pytreedef_repr or LEAVES not in pytreedef_repr:
        raise ValueError(f"deserialize_pytreedef: expected the entries {TREE!r} and {LEAVES!r}, got {sorted(pytreedef_repr)}")
    stored = pytreedef_repr[TREE]
    of_public = isinstance(stored, str) and stored != "*"
    return tree.unflatten(tree_from_json(public_format.tree_of_text(stored) if of_public else stored), pytreedef_repr[LEAVES])


def _structure(treedef: Any) -> Any:
    """A structure as JSON has it."""
    found = tree_to_json(treedef)
    return public_format.text_of_tree(found) if write_public_formats.value else found


def save(data: PyTree, directory: str | os.PathLike[str], *, overwrite: bool = True, ts_specs: PyTree = None) -> None:
    """Write a tree of arrays into a folder, and wait until it is there. Every process calls it.

    Args:
      data: its leaves are arrays or None.
      directory: a folder that all processes see, or ``gs://...``, ``s3://...``.
      overwrite: take away what was saved there before.
      ts_specs: a tree like ``data`` whose leaves are dicts with entries of tensorstore's specs, such as the driver, or None.

    Raises:
      ImportError: there is no tensorstore.
      ValueError: something is saved there and ``overwrite`` is False; other leaves, or nodes of a type that was not
        registered with `jax.export.register_pytree_node_serialization`.

    >>> from jax.experimental.array_serialization import pytree_serialization
    >>> pytree_serialization.save({"w": jnp.arange(3.)}, "/tmp/weights")  # doctest: +SKIP
    """
    nonblocking_save(data, directory, overwrite=overwrite, ts_specs=ts_specs).result()


def nonblocking_save(data: PyTree, directory: str | os.PathLike[str], *, overwrite: bool = True, ts_specs: PyTree = None) -> PyTreeFuture:
    """`save`, which returns as soon as the arrays' memory may change; ``result()`` of what it returns waits for the rest.

    >>> from jax.experimental.array_serialization import pytree_serialization
    >>> written = pytree_serialization.nonblocking_save({"w": jnp.arange(3.)}, "/tmp/weights")  # doctest: +SKIP
    >>> written.result()  # doctest: +SKIP
    """
    check_connected("pytree_serialization.save")
    leaves, structure = tree.flatten(data, is_leaf=_is_none)
    for leaf in leaves:
        if leaf is not None and not isinstance(leaf, (ArrayImpl, np.ndarray)):
            raise ValueError(f"pytree_serialization.save: the tree has a leaf of type {type(leaf).__name__}; only arrays "
                             "and None are stored, and of random keys jax.random.key_data")
    description = {TREE: _structure(structure), LEAVES: list(map(_described, leaves))}
    specs = _broadcast(ts_specs, data, is_tensorstore_spec_leaf)
    folder, number = _whole_path(directory), next(_saves)
    if client.process_index() == 0:
        _make_room(folder, overwrite)
    barrier(f"pytree_save_{number}_begins", TIMEOUT_SECS)
    process = client.process_index() if client.process_count() > 1 else None
    futures: list[Any] = []

    async def write():
        await asyncio.gather(*(async_serialize(x, merge_nested_ts_specs(_spec_of(folder, i, process), spec), commit_future=futures)
                               for i, (x, spec) in enumerate(zip(leaves, specs)) if x is not None))
    run(write())
    return PyTreeFuture(_threads.submit(_finish, folder, futures, description, number))


def _finish(folder: str, futures: Sequence[Any], description: dict[str, Any], number: int) -> None:
    for future in futures:
        future.result()
    barrier(f"pytree_save_{number}_written", TIMEOUT_SECS)
    if client.process_index() == 0:
        store = f"{folder}/{ARRAYS}"
        if (n := client.process_count()) > 1:
            combine_kvstores(_database(store), [_database(f"{store}/process_{i}") for i in range(n)])
        _files(folder).write(STRUCTURE, json.dumps(description, indent=1)).result()
    barrier(f"pytree_save_{number}_done", TIMEOUT_SECS)


def load_pytreedef(directory: str | os.PathLike[str]) -> Any:
    """The tree that is saved in a folder, with shapes and dtypes instead of arrays.

    Raises:
      FileNotFoundError: nothing is saved there.

    >>> from jax.experimental.array_serialization import pytree_serialization
    >>> pytree_serialization.load_pytreedef("/tmp/weights")  # doctest: +SKIP
    {'w': ShapeDtypeStruct(shape=(3,), dtype=float32)}
    """
    numbers, leaves = _stored(_whole_path(directory))
    return tree.map(lambda i: leaves[i], numbers)


def _stored(folder: str) -> tuple[Any, list[ShapeDtypeStruct | None]]:
    """The tree of numbers of what is saved in ``folder``, and the leaves by number."""
    found = _files(folder).read(STRUCTURE).result()
    if found.state == "missing":
        raise FileNotFoundError(f"pytree_serialization.load: nothing is saved in {folder!r}, or not all of it: there is no {STRUCTURE}")
    description = json.loads(found.value)
    numbers = deserialize_pytreedef({**description, LEAVES: list(range(len(description[LEAVES])))})
    return numbers, list(map(_undescribed, description[LEAVES]))


def load(directory: str | os.PathLike[str], shardings: PyTree, *, mask: PyTree = None, ts_specs: PyTree = None) -> Any:
    """Read a tree of arrays that `save` wrote. Every process calls it.

    Args:
      directory: a folder, or ``gs://...``, ``s3://...``.
      shardings: a tree, or a prefix of one: where each array goes.
      mask: a tree, or a prefix of one, of bools: None is returned for leaves where it is False.
      ts_specs: the `ts_specs` of `save`.

    Raises:
      FileNotFoundError: nothing is saved there.
      ImportError: there is no tensorstore.
      TypeError: an array without a sharding.
      ValueError: ``shardings`` is no prefix of what is saved.

    >>> from jax.experimental.array_serialization import pytree_serialization
    >>> here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> pytree_serialization.load("/tmp/weights", {"w": here})  # doctest: +SKIP
    {'w': Array([0., 1., 2.], dtype=float32)}
    """
    return nonblocking_load(directory, shardings, mask=mask, ts_specs=ts_specs).result()


def nonblocking_load(directory: str | os.PathLike[str], shardings: PyTree, *, mask: PyTree = None, ts_specs: PyTree = None) -> PyTreeFuture:
    """`load`, which goes on while the program does; ``pytree`` of what it returns has the arrays' shapes and dtypes.

    >>> from jax.experimental.array_serialization import pytree_serialization
    >>> here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> later = pytree_serialization.nonblocking_load("/tmp/weights", {"w": here})  # doctest: +SKIP
    >>> later.result()  # doctest: +SKIP
    {'w': Array([0., 1., 2.], dtype=float32)}
    """
    folder = _whole_path(directory)
    numbers, leaves = _stored(folder)
    places, specs = _broadcast(shardings, numbers, _is_none), _broadcast(ts_specs, numbers, is_tensorstore_spec_leaf)
    chosen = [True] * len(leaves) if mask is None else _broadcast(mask, numbers, None)
    wanted = [i for i, x in enumerate(leaves) if x is not None and chosen[i]]
    structure = tree.structure(numbers)

    def read() -> Any:
        arrays = run_deserialization([places[i] for i in wanted], [merge_nested_ts_specs(_spec_of(folder, i, None), specs[i]) for i in wanted])
        found = dict(zip(wanted, arrays))
        return tree.unflatten(structure, [found.get(i) for i in range(len(leaves))])
    return PyTreeFuture(_threads.submit(read), tree.unflatten(structure, leaves))


# -- the folder ------------------------------------------------------------------------------------------------------------

def _whole_path(directory: str | os.PathLike[str]) -> str:
    return str(directory).rstrip("/") if is_remote_path(directory) else os.path.abspath(directory)


def _spec_of(folder: str, leaf: int, process: int | None) -> dict[str, Any]:
    return get_tensorstore_spec(f"{folder}/{ARRAYS}/{leaf}", ocdbt=True, process_idx=process)


def _database(path: str) -> dict[str, Any]:
    return {"driver": "ocdbt", "base": key_value_store(path)}


def _files(folder: str) -> Any:
    """The folder as a store of files."""
    spec = key_value_store(folder)
    return tensorstore().KvStore.open({**spec, "path": spec["path"].rstrip("/") + "/"}).result()


def _make_room(folder: str, overwrite: bool) -> None:
    files, ts = _files(folder), tensorstore()
    before = ts.KvStore.KeyRange(f"{ARRAYS}/", f"{ARRAYS}0")  # "0" comes after "/"
    if not overwrite and (files.read(STRUCTURE).result().state != "missing" or files.list(before).result()):
        raise ValueError(f"pytree_serialization.save: something is saved in {folder!r}, and overwrite=False; choose another folder")
    files.delete_range(ts.KvStore.KeyRange(STRUCTURE, STRUCTURE + "0")).result()
    files.delete_range(before).result()


# -- leaves ----------------------------------------------------------------------------------------------------------------

def _is_none(x: Any) -> bool:
    return x is None


def _broadcast(prefix: Any, whole: Any, is_leaf: Any) -> list[Any]:
    """A leaf of ``prefix`` for each leaf of ``whole``, None among them."""
    if prefix is None:
        return [None] * len(tree.leaves(whole, is_leaf=_is_none))
    marked = tree.map(lambda _: 0, whole, is_leaf=_is_none)
    return tree.broadcast_prefix(prefix, marked, is_leaf=is_leaf)


def _described(leaf: Any) -> str | None:
    return None if leaf is None else f"Array({np.dtype(leaf.dtype).name}[{', '.join(map(str, leaf.shape))}])"


def _undescribed(text: str | None) -> ShapeDtypeStruct | None:
    if text is None:
        return None
    match = ARRAY.fullmatch(text)
    if match is None:
        raise ValueError(f"pytree_serialization.load: {STRUCTURE} describes a leaf as {text!r}; only arrays are known")
    return ShapeDtypeStruct(tuple(map(int, filter(None, match[2].split(", ")))), dtypes.dtype_named(match[1]))


__all__ = ["PyTreeFuture", "deserialize_pytreedef", "load", "load_pytreedef", "nonblocking_load", "nonblocking_save", "save", "serialize_pytreedef"]
