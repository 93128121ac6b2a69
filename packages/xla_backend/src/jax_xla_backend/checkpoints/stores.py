"""Where and how an array is stored: the specs that tensorstore opens.

A path is a folder of this machine, or begins with ``gs://`` or ``s3://``. With OCDBT, many arrays share the files of one database,
whose folder is the array's parent; without, an array is a folder of its own.
"""
from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ..arrays.array import ArrayImpl

if TYPE_CHECKING:
    from jax_core.representation.array import Array

DEFAULT_DRIVER = "zarr3"
LARGEST_CHUNK = 2**31  # bytes
REMOTE = {"gs://": "gcs", "s3://": "s3"}
StoreSpec = dict[str, Any]  # of an array, or of what it lies in, as tensorstore reads it


def tensorstore() -> Any:
    """The package.

    Raises:
      ImportError: it is not installed.
    """
    try:
        import tensorstore as package  # an optional dependency
    except ImportError as error:
        raise ImportError("jax.experimental.array_serialization: arrays are written and read by the package tensorstore, which is not "
                          "installed here; run `pip install tensorstore`", name="tensorstore") from error
    return package


@functools.cache
def shared_context() -> Any:
    """Limits and caches that all reads and writes of this process share."""
    return tensorstore().Context({"file_io_concurrency": {"limit": 128}})


def is_remote_path(path: str | os.PathLike[str]) -> bool:
    """Whether it begins with ``gs://`` or ``s3://``."""
    return str(path).startswith(tuple(REMOTE))


def key_value_store(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The spec of the key-value store at ``path``.

    Raises:
      ValueError: the path of a bucket has no name of a bucket.
    """
    text = os.path.normpath(path) if not is_remote_path(path) else str(path)
    if not is_remote_path(text):
        return {"driver": "file", "path": text}
    bucket, _, inside = text[5:].partition("/")
    if not bucket:
        raise ValueError(f"array_serialization: the path {text!r} names no bucket; write it as {text[:5]}BUCKET/FOLDER")
    return {"driver": REMOTE[text[:5]], "bucket": bucket, "path": inside}


def get_tensorstore_spec(ckpt_path: str | os.PathLike[str], ocdbt: bool = True, process_idx: int | None = None,
                         arr: ArrayImpl | None = None, driver: str = DEFAULT_DRIVER) -> dict[str, Any]:
    """The spec of the array stored at ``ckpt_path``.

    Args:
      ckpt_path: a folder, or a path in a bucket (``gs://`` or ``s3://``).
      ocdbt: in the database of the parent folder, instead of in files of its own.
      process_idx: the process that writes, if each writes a database of its own.
      arr: its shape, dtype and parts become part of the spec.
      driver: how tensorstore lays out chunks.

    Raises:
      ValueError: a relative path with ``ocdbt``.

    >>> from jax.experimental.array_serialization import tensorstore_impl
    >>> tensorstore_impl.get_tensorstore_spec("/tmp/all/weights")["kvstore"]
    {'driver': 'ocdbt', 'base': {'driver': 'file', 'path': '/tmp/all'}, 'path': 'weights'}
    """
    path = str(ckpt_path) if is_remote_path(ckpt_path) else os.path.normpath(ckpt_path)
    if not ocdbt:
        store = key_value_store(path)
    else:
        if not is_remote_path(path) and not os.path.isabs(path):
            raise ValueError(f"get_tensorstore_spec: with ocdbt=True the path must be absolute, got {str(ckpt_path)!r}; os.path.abspath makes it so")
        folder, _, name = path.rpartition("/")
        base = folder or "/" if process_idx is None else f"{folder}/process_{process_idx}"
        store = {"driver": "ocdbt", "base": key_value_store(base), "path": name}
    spec: dict[str, Any] = {"driver": driver, "kvstore": store}
    if arr is not None:
        spec["metadata"] = metadata(arr, driver)
    return spec


def metadata(arr: Array | np.ndarray, driver: str, largest: int | None = None) -> dict[str, Any]:
    """Shape, dtype and chunks of ``arr``, in the words of ``driver``. A chunk lies within what one device holds, and has no more than ``largest`` bytes."""
    local = arr.sharding.shard_shape(arr.shape) if isinstance(arr, ArrayImpl) else arr.shape
    chunks = chunks_of(local, np.dtype(arr.dtype).itemsize, largest)
    if driver == "zarr":
        return {"compressor": {"id": "zstd"}, "shape": list(arr.shape), "chunks": chunks}
    return {"shape": list(arr.shape), "data_type": np.dtype(arr.dtype).name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}}


def chunks_of(shape: Sequence[int], itemsize: int, largest: int | None = None) -> list[int]:
    """``shape``, its longest axes divided until a chunk has no more than ``largest`` bytes (by default what a chunk may have)."""
    most = max(LARGEST_CHUNK if largest is None else largest, itemsize)
    chunks = [max(n, 1) for n in shape]
    while math.prod(chunks) * itemsize > most:
        axis = max(range(len(chunks)), key=chunks.__getitem__)
        n = chunks[axis]
        chunks[axis] = n // next(p for p in range(2, n + 1) if n % p == 0)
    return chunks


def is_remote_storage(tspec: StoreSpec | str) -> bool:
    """Whether a spec, or an address, is of a bucket.

    >>> from jax.experimental.array_serialization.serialization import is_remote_storage
    >>> is_remote_storage({"driver": "zarr", "kvstore": {"driver": "ocdbt", "base": "gs://bucket/folder"}})
    True
    """
    if isinstance(tspec, str):
        return is_remote_path(tspec)
    if tspec.get("driver") in REMOTE.values():
        return True
    return any(is_remote_storage(tspec[key]) for key in ("kvstore", "base") if isinstance(tspec.get(key), (dict, str)))


def is_tensorstore_spec_leaf(leaf: object) -> bool:
    """Whether a tree of specs ends at ``leaf``: at None, or at a dict that has a driver or a store.

    >>> from jax.experimental.array_serialization.tensorstore_impl import is_tensorstore_spec_leaf
    >>> is_tensorstore_spec_leaf({"driver": "zarr"}), is_tensorstore_spec_leaf({"weights": None})
    (True, False)
    """
    return leaf is None or isinstance(leaf, dict) and ("driver" in leaf or "kvstore" in leaf)


def merge_nested_ts_specs(dict1: dict[Any, Any], dict2: dict[Any, Any] | None) -> dict[Any, Any]:
    """``dict1`` with the entries of ``dict2``, which win. Of the store's entries both are kept.

    >>> from jax.experimental.array_serialization.tensorstore_impl import merge_nested_ts_specs
    >>> merge_nested_ts_specs({"driver": "zarr3", "kvstore": {"path": "w"}}, {"driver": "zarr", "kvstore": {"driver": "file"}})
    {'driver': 'zarr', 'kvstore': {'path': 'w', 'driver': 'file'}}
    """
    if dict2 is None:
        return dict1
    return {**dict1, **dict2, "kvstore": {**dict1.get("kvstore", {}), **dict2.get("kvstore", {})}}


def verify_tensorstore_spec(spec: StoreSpec, arr: ArrayImpl | None, path: str | os.PathLike[str], ocdbt: bool,
                            check_metadata: bool = True) -> None:
    """Check that ``spec`` stores ``arr`` at ``path``.

    Args:
      spec: tensorstore's, as a dict.
      arr: what is to be stored; None if only the place is checked.
      path: the folder that holds the database (``ocdbt``), or the array's own.
      ocdbt: whether the store must be a database.
      check_metadata: whether shape and dtype in the spec must be those of ``arr``.

    Raises:
      ValueError: another store, path, shape or dtype.

    >>> from jax.experimental.array_serialization import tensorstore_impl
    >>> spec = tensorstore_impl.get_tensorstore_spec("/tmp/all/weights", arr=jnp.ones(3))
    >>> tensorstore_impl.verify_tensorstore_spec(spec, jnp.ones(3), "/tmp/all", ocdbt=True)  # says nothing: it fits
    """
    store = spec.get("kvstore", {})
    if ocdbt and store.get("driver") != "ocdbt":
        raise ValueError(f"verify_tensorstore_spec: the store must have the driver 'ocdbt', got {dict(spec)}")
    if check_metadata and arr is not None and (known := spec.get("metadata")) is not None:
        shape, dtype = known.get("shape"), known.get("data_type", spec.get("dtype"))
        if shape is not None and tuple(shape) != tuple(arr.shape):
            raise ValueError(f"verify_tensorstore_spec: metadata say shape {tuple(shape)}, the array has {tuple(arr.shape)}")
        if dtype is not None and dtype != np.dtype(arr.dtype).name:
            raise ValueError(f"verify_tensorstore_spec: metadata say dtype {dtype}, the array has {arr.dtype}")
    base = store.get("base", {}) if ocdbt else store
    wanted = key_value_store(path)
    found = key_value_store(base) if isinstance(base, str) else base
    if any(found.get(key, "").rstrip("/") != wanted[key].rstrip("/") for key in wanted):
        raise ValueError(f"verify_tensorstore_spec: the spec's store {store} is not at the path {str(path)!r}")


__all__ = ["get_tensorstore_spec", "is_remote_storage", "is_tensorstore_spec_leaf", "merge_nested_ts_specs", "verify_tensorstore_spec"]
