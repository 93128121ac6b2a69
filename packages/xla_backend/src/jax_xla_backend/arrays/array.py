"""jaxlib's array class, and reading what is in an array.

What arrays can do besides is in `array_methods`, which attaches it to the class.

On the CPU an array's contents are read in place: ``_npy_value`` keeps a read-only NumPy view of the buffer once
somebody has asked for it. jaxlib copies instead of donating a buffer that has such a view, so views stay valid. What we look at
for ourselves is kept only where that copy would be small: reading one row of a buffer must not make each later update copy it.
"""
from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np

from ..jaxlib_compat import READING_HOLDS, _jax
from ..platforms.distributed_state import state
from . import interruptible, transfer_guards

if TYPE_CHECKING:
    from jax_core.representation.typing import ShardingLike

    from ..jaxlib_classes import ArrayImpl
else:
    ArrayImpl = _jax.ArrayImpl
block = _jax.ArrayImpl.block_until_ready  # jaxlib's own methods, kept before ours take their names
delete = _jax.ArrayImpl.delete
ready = _jax.ArrayImpl.is_ready  # which must not be asked of a deleted array: the process ends
read = _jax.ArrayImpl._single_device_array_to_np_array_did_copy


def are_deleted(values: Sequence[Any]) -> Iterable[bool]:
    """For each of ``values`` whether it is an array that was deleted. Without Python for each where all are arrays, as there may be thousands."""
    if only_arrays(values):
        return map(ArrayImpl.is_deleted, values)
    return [type(x) is ArrayImpl and x.is_deleted() for x in values]


def only_arrays(values: Iterable[Any]) -> bool:
    """Whether all of ``values`` are arrays."""
    return set(map(type, values)) <= _ARRAYS


_ARRAYS = {ArrayImpl}


def donation_message(name: str) -> str:
    """What arrays say that were consumed by a call of the function ``name``."""
    return (f"It was donated to `{name}` (an argument in donate_argnums or donate_argnames), which reuses its memory; use the function's "
            "result instead, or do not donate this argument.")


def mark_donated(arrays: Sequence[object], message: str) -> None:
    """Note on those of ``arrays`` that were consumed by a call that they were, by its `donation_message`.

    Their handles stay: another thread may be in jaxlib's dispatcher with the same array, past its check that there is one.
    """
    for x in itertools.compress(arrays, are_deleted(arrays)):
        x.__dict__.setdefault("_deleted", message)


def deleted_message(x: ArrayImpl) -> str:
    """What to say about the use of a deleted array."""
    text = f"Array has been deleted with shape={x.aval.strip_weak_type().str_short()}."
    why = x.__dict__.get("_deleted")
    return text if why is None else f"{text} {why}"


def check_not_deleted(x: ArrayImpl) -> None:
    """Raise RuntimeError if ``x`` was deleted or donated."""
    if x.is_deleted():
        raise RuntimeError(deleted_message(x))


def host_view(x: ArrayImpl) -> np.ndarray | None:
    """A read-only view of ``x`` if that needs no wait and no copy, else None."""
    if type(x) is not ArrayImpl:  # keys have no NumPy counterpart
        return None
    view = x._npy_value
    if view is not None:
        return None if x.is_deleted() else view
    if x.is_deleted() or x.platform() != "cpu" or not ready(x) or len(x.sharding.device_set) != 1:
        return None
    return _look(x)


def until_ready(x: ArrayImpl) -> None:
    """Wait for the contents. With other processes also where they are there, as a failure that one of them caused is explained then."""
    if not ready(x) or state.client is not None:
        interruptible.wait(lambda: block(x))


LARGE = 1 << 18
"""From so many bytes on, a copy costs clearly more than the microsecond in which a view is made anew. And `block` is asked before such an array is read,
which raises where there was no memory for it: to read it then ends the process (jaxlib 0.12)."""


def view_for_now(x: ArrayImpl) -> np.ndarray:
    """As `host_value` for an array on one device, but a view of a large one is not kept, so that it can be donated in place afterwards."""
    until_ready(x)
    return _look(x)


def _look(x: ArrayImpl) -> np.ndarray:
    if x.nbytes < LARGE:
        x._npy_value = view = read(x)[0]
        return view
    block(x)
    if READING_HOLDS:
        with contextlib.suppress(BufferError):  # of a dtype that Python's buffers do not have
            return np.asarray(memoryview(x))
    return read(x)[0]


def host_value(x: ArrayImpl) -> np.ndarray:
    """The contents as a read-only NumPy array; waits for them.

    Raises:
      RuntimeError: the array was deleted, or parts of it are out of reach of this process.
    """
    view = x._npy_value
    if view is None or x.is_deleted():
        check_not_deleted(x)
        view = x._npy_value = _fetch(x)
    return view


def is_unreduced(sharding: ShardingLike | None) -> bool:
    """Whether the parts of an array that lies so are addends of a sum that is still to be made."""
    spec = getattr(sharding, "spec", None)
    return spec is not None and bool(spec.unreduced)


def _fetch(x: ArrayImpl) -> np.ndarray:
    if is_unreduced(x._sharding):
        raise RuntimeError(f"the values of an array of type {x.aval.str_short()} cannot be fetched, because it is unreduced: a sum over "
                           "devices that is still to be made; use jax.sharding.reshard(x, jax.P()), or look at x.addressable_shards")
    until_ready(x)
    if x.nbytes >= LARGE:
        block(x)
    here = x._sharding.is_fully_addressable
    if x._arrays and len(x._sharding._internal_device_list) == 1:
        return read(x)[0]
    if x._arrays and x.is_fully_replicated:
        return read(x._fully_replicated_shard())[0]
    places = (x._sharding.devices_indices_map if here else x._sharding.addressable_devices_indices_map)(x.shape)
    if not here and len(set(map(str, places.values()))) < len(set(map(str, x._sharding.devices_indices_map(x.shape).values()))):
        raise RuntimeError(
            f"the values of an array of shape {x.shape} cannot be fetched, because parts of it are on devices of other "
            "processes; use jax.experimental.multihost_utils.process_allgather, or look at x.addressable_shards")
    if transfer_guards.used():
        transfer_guards.check("device_to_host", f"the parts of an array of type {x.aval.str_short()}")
    out = np.empty(x.shape, x.dtype)
    if not out.size:  # jaxlib 0.10 gives empty parts the shape of the whole
        return out
    for part in x._arrays:
        part._copy_single_device_array_to_host_async()
    for part, index in zip(x._arrays, places.values()):
        out[index] = read(part)[0]
    out.flags.writeable = False
    return out
