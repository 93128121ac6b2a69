"""Arrays to a store and back, part by part: a part is written by one device that holds it, and read for each device that needs it.

Nothing of an array but this process's own parts is ever in its memory, and of what is being read at most ``concurrent_gb``.
"""
from __future__ import annotations

import asyncio
import concurrent.futures
import math
import os
from typing import TYPE_CHECKING, Any, Awaitable, Coroutine, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import DTypeLike, Placement, Shape

from ..arrays.array import ArrayImpl
from ..arrays.from_parts import make_array_from_callback
from ..placement.layout import Format
from ..placement.sharding import Sharding
from ..platforms import client
from .stores import DEFAULT_DRIVER, get_tensorstore_spec, metadata, shared_context, tensorstore

if TYPE_CHECKING:
    from jax_core.representation.array import Array

    from .stores import StoreSpec


class BytesInFlight:
    """What may be read at one time; who wants more waits.

    Args:
      most: bytes.
    """

    def __init__(self, most: int):
        self.most = self.left = most
        self._changed = asyncio.Condition()

    async def wait_for_bytes(self, requested_bytes: int) -> None:
        """Take so many bytes.

        Raises:
          ValueError: more than there are at all.
        """
        if requested_bytes > self.most:
            raise ValueError(f"array_serialization: one part needs {requested_bytes} bytes to be read, and at most {self.most} may be read "
                             "at a time; raise concurrent_gb")
        async with self._changed:
            await self._changed.wait_for(lambda: self.left >= requested_bytes)
            self.left -= requested_bytes

    async def release_bytes(self, requested_bytes: int) -> None:
        """Give them back."""
        async with self._changed:
            self.left += requested_bytes
            self._changed.notify_all()


def run(work: Coroutine) -> Any:
    """The result of ``work``; in a notebook, whose thread has a loop already, by a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def async_serialize(arr_inp: ArrayImpl | np.ndarray, tensorstore_spec: dict[str, Any], commit_future: list[Any] | None = None,
                          context: object = None, chunk_layout: object = None, primary_host: int | None = None, replica_id: int = 0,
                          transaction: object = None) -> None:
    """Write an array.

    Args:
      arr_inp: the array; of a NumPy array, process 0 writes all.
      tensorstore_spec: where; shape, dtype and chunks are added if it has none.
      commit_future: a list, to which what is still to be waited for is added: then this waits only until the array's memory
        may change. Without it, it waits until all is written.
      context, chunk_layout: tensorstore's, instead of our own.
      primary_host: the only process that makes the array's files; None if any may.
      replica_id: which of the devices with equal parts write.
      transaction: tensorstore's; the array is there once it is committed.

    Raises:
      ImportError: there is no tensorstore.
      TypeError: an array of keys.
      ValueError: several processes would write an array that each holds whole.

    >>> import asyncio
    >>> from jax.experimental.array_serialization import serialization
    >>> spec = serialization.get_tensorstore_spec("/tmp/array")
    >>> asyncio.run(serialization.async_serialize(jnp.arange(3.), spec))  # doctest: +SKIP
    """
    ts = tensorstore()
    if isinstance(arr_inp.dtype, dtypes.ExtendedDType):
        raise TypeError(f"async_serialize: arrays of dtype {arr_inp.dtype} are not stored; store jax.random.key_data of keys")
    if client.process_count() > 1 and isinstance(arr_inp, ArrayImpl) and arr_inp.is_fully_addressable:
        raise ValueError(f"async_serialize: each of the {client.process_count()} processes has an array {arr_inp.aval.str_short()} of its own for "
                         f"{tensorstore_spec.get('kvstore')}; make it one array of all processes, with multihost_utils.host_local_array_to_global_array")
    spec = dict(tensorstore_spec)
    spec.setdefault("metadata", metadata(arr_inp, spec.get("driver", DEFAULT_DRIVER)))
    spec.setdefault("dtype", np.dtype(arr_inp.dtype).name)
    options: dict[str, Any] = {"context": context or shared_context(), "transaction": transaction}
    if chunk_layout is not None:
        options["chunk_layout"] = chunk_layout
    makes = primary_host is None or primary_host == client.process_index()
    store = await (ts.open(ts.Spec(spec), create=True, open=True, **options) if makes else
                   ts.open(ts.Spec(spec), open=True, assume_metadata=True, **options))
    writes = [store[index].write(part) if index else store.write(part) for index, part in _parts(arr_inp, replica_id)]
    await asyncio.gather(*(w.copy for w in writes))
    if commit_future is not None:
        commit_future += [w.commit for w in writes]
    elif transaction is None:
        await asyncio.gather(*(w.commit for w in writes))


def _parts(x: Any, replica_id: int) -> list[tuple[tuple[slice, ...], np.ndarray]]:
    """What this process writes of ``x``."""
    if not isinstance(x, ArrayImpl):
        return [((), np.asarray(x))] if client.process_index() == 0 else []
    mine = [s for s in x.addressable_shards if s.replica_id == replica_id]
    for shard in mine:
        shard.data.copy_to_host_async()
    return [(shard.index, np.asarray(shard.data)) for shard in mine]


async def async_deserialize(in_type: Placement | Format | ShapeDtypeStruct, tensorstore_spec: Any,
                            global_shape: Shape | None = None, dtype: DTypeLike | None = None, byte_limiter: BytesInFlight | None = None,
                            context: object = None, chunk_layout: object = None, assume_metadata: bool = False) -> ArrayImpl:
    """Read an array.

    Args:
      in_type: a sharding; a `Format`, whose sharding counts; or a `ShapeDtypeStruct` with a sharding, shape and dtype.
      tensorstore_spec: where.
      global_shape: of the result: what is stored beyond it is left out, what is missing is zero. Default: as stored.
      dtype: of the result; default: as stored.
      byte_limiter: what many reads share.
      context, chunk_layout: tensorstore's, instead of our own.
      assume_metadata: take shape and dtype from the spec without a look at the store.

    Raises:
      ImportError: there is no tensorstore.
      TypeError: ``in_type`` says no sharding.
      ValueError: another rank is stored.

    >>> import asyncio
    >>> from jax.experimental.array_serialization import serialization
    >>> spec = serialization.get_tensorstore_spec("/tmp/array")
    >>> here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> asyncio.run(serialization.async_deserialize(here, spec))  # doctest: +SKIP
    Array([0., 1., 2.], dtype=float32)
    """
    ts = tensorstore()
    if isinstance(in_type, ShapeDtypeStruct):
        global_shape, dtype = in_type.shape if global_shape is None else global_shape, in_type.dtype if dtype is None else dtype
    place: Any = in_type if isinstance(in_type, Sharding) else getattr(in_type, "sharding", None)
    if not isinstance(place, Sharding):
        raise TypeError(f"async_deserialize: in_type must be a sharding, or a Format or ShapeDtypeStruct that has one, got {in_type!r}")
    options = {} if chunk_layout is None else {"chunk_layout": chunk_layout}
    spec = tensorstore_spec if isinstance(tensorstore_spec, ts.Spec) else ts.Spec(tensorstore_spec)
    store = await ts.open(spec, open=True, assume_metadata=assume_metadata, context=context or shared_context(), **options)
    shape = store.shape if global_shape is None else tuple(global_shape)
    if len(shape) != len(store.shape):
        raise ValueError(f"async_deserialize: the shape {shape} is asked for, and {store.shape} is stored in {spec.to_json().get('kvstore')}")
    wanted = dtypes.canonicalize_dtype(store.dtype.numpy_dtype if dtype is None else dtype)
    boxes = {_corners(index, shape): index for index in place.addressable_devices_indices_map(shape).values()}
    parts = await asyncio.gather(*(_read(store, box, wanted, byte_limiter) for box in boxes))
    read = dict(zip(boxes, parts))
    return make_array_from_callback(shape, place, lambda index: read[_corners(index, shape)], wanted)


def _corners(index: Sequence[slice], shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(s.indices(n)[:2] for s, n in zip(index, shape))


async def _read(store: Any, box: tuple[tuple[int, int], ...], dtype: np.dtype, limiter: BytesInFlight | None) -> np.ndarray:
    """The elements of ``box``, zero where nothing is stored."""
    inside = tuple(slice(a, max(a, min(b, n))) for (a, b), n in zip(box, store.shape))
    part = np.zeros([b - a for a, b in box], dtype)
    stored = store[inside] if inside else store
    if math.prod(s.stop - s.start for s in inside) == 0:
        return part
    size = estimate_read_memory_footprint(store, stored.domain)
    if limiter is not None:
        await limiter.wait_for_bytes(size)
    try:
        found = await stored.read()
    finally:
        if limiter is not None:
            await limiter.release_bytes(size)
    part[tuple(slice(0, n) for n in found.shape)] = found
    return part


def estimate_read_memory_footprint(t: Any, domain: Any) -> int:
    """Bytes of the chunks that hold the elements ``domain`` of the store ``t``."""
    chunk = t.chunk_layout.read_chunk.shape
    if chunk is None or any(n == 0 for n in chunk):
        return math.prod(domain.shape) * t.dtype.numpy_dtype.itemsize
    spans = [(-(-stop // n) - start // n) * n for start, stop, n in zip(domain.inclusive_min, domain.exclusive_max, chunk)]
    return math.prod(spans) * t.dtype.numpy_dtype.itemsize


def combine_kvstores(combined_kvstore: StoreSpec, kvstores: Sequence[StoreSpec], context: object = None) -> None:
    """Put the entries of ``kvstores`` into one database, without copying what is already written in its folder.

    Args:
      combined_kvstore: its spec (``ocdbt``).
      kvstores: specs of databases in folders below it, as each process writes one.
      context: tensorstore's, instead of our own.
    """
    ts = tensorstore()

    async def combine():
        use = context or shared_context()
        whole = await ts.KvStore.open(combined_kvstore, context=use)
        for spec in kvstores:
            part = await ts.KvStore.open(spec, context=use)
            await part.experimental_copy_range_to(whole)
    run(combine())


def run_serialization(arrays: Sequence[Array], tensorstore_specs: Sequence[StoreSpec]) -> None:
    """Write ``arrays``, each to its spec, and wait for it.

    >>> from jax.experimental.array_serialization import serialization
    >>> spec = serialization.get_tensorstore_spec("/tmp/array")
    >>> serialization.run_serialization([jnp.arange(3.)], [spec])  # doctest: +SKIP
    """
    async def write():
        await asyncio.gather(*map(async_serialize, arrays, tensorstore_specs))
    run(write())


def run_deserialization(shardings: Sequence[Placement | Format], tensorstore_specs: Sequence[StoreSpec],
                        global_shapes: Sequence[Shape] | None = None, dtypes: Sequence[DTypeLike] | None = None,
                        concurrent_gb: int = 32) -> list[ArrayImpl]:
    """Read the arrays of ``tensorstore_specs``; see `async_deserialize`.

    >>> from jax.experimental.array_serialization import serialization
    >>> spec = serialization.get_tensorstore_spec("/tmp/array")
    >>> here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> serialization.run_deserialization([here], [spec])  # doctest: +SKIP
    [Array([0., 1., 2.], dtype=float32)]
    """
    none = [None] * len(tensorstore_specs)

    async def read():
        limiter = BytesInFlight(concurrent_gb * 10**9)
        every: list[Awaitable] = [async_deserialize(place, spec, shape, dtype, limiter) for place, spec, shape, dtype in
                                  zip(shardings, tensorstore_specs, global_shapes or none, dtypes or none, strict=True)]
        return await asyncio.gather(*every)
    return list(run(read()))


def zarr_spec(ckpt_path: str | os.PathLike[str], ocdbt: bool = False, process_idx: int | None = None, arr: ArrayImpl | None = None,
              driver: str = "zarr") -> dict[str, Any]:
    """`tensorstore_impl.get_tensorstore_spec` with the defaults of ``serialization``: the older format, files of its own.

    >>> from jax.experimental.array_serialization import serialization
    >>> serialization.get_tensorstore_spec("/tmp/array")
    {'driver': 'zarr', 'kvstore': {'driver': 'file', 'path': '/tmp/array'}}
    """
    return get_tensorstore_spec(ckpt_path, ocdbt, process_idx, arr, driver)


__all__ = ["async_deserialize", "async_serialize", "combine_kvstores", "estimate_read_memory_footprint", "run_deserialization",
           "run_serialization", "zarr_spec"]
