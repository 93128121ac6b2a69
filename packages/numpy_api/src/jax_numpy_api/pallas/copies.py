"""Copies between memories of a TPU, and from one TPU to another.

Interpreted, a copy happens when it is started and waiting has nothing to do. Compiled, they are the TPU's
(`jax_xla_backend.kernels.mosaic`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.references import indexing
from jax_core.references.indexing import Index, Slice
from jax_core.references.primitives import DISCHARGED
from jax_core.representation.effects import ReadEffect, WriteEffect
from jax_core.representation.primitive import Primitive, none

from . import devices
from .control import run_scoped
from .devices import DeviceIdType
from .memory import part_of
from .spaces import SemaphoreType

if TYPE_CHECKING:
    from jax_core.interfaces import Builder

    from .devices import DeviceId


# -- the primitives ------------------------------------------------------------------------------------------------------

class Parts(NamedTuple):
    """Static indices of what a copy works on; a semaphore is None where there is none."""

    source: Index
    destination: Index
    semaphore: Index | None
    source_semaphore: Index | None

    @property
    def given(self) -> list[Index]:
        return [i for i in self if i is not None]

    def split(self, args: Sequence[object]) -> list[tuple[Any, Index, list]]:
        """For each one that is there the reference, the index and its operands."""
        refs, rest = args[:len(self.given)], iter(args[len(self.given):])
        return [(ref, i, [next(rest) for e in i.entries if e is None or type(e) is Slice and e.start is None])
                for ref, i in zip(refs, self.given)]


def _copy_type(*avals, parts, **_):
    (source, i, moving), (destination, j, others), *semaphores = parts.split(avals)
    have, want = indexing.part_shape(source.shape, i, moving), indexing.part_shape(destination.shape, j, others)
    if (have, source.dtype) != (want, destination.dtype):
        raise ValueError(f"a copy from {source.dtype.name}{list(have)} to {destination.dtype.name}{list(want)}; what is copied and the place it is "
                         "copied to have the same shape and dtype.")
    for ref, index, operands in semaphores:
        shape = indexing.part_shape(ref.shape, index, operands)
        if ref.memory_space is not SemaphoreType.DMA or shape:
            raise ValueError(f"a copy signals one semaphore for copies, and was given a reference of type {ref} and shape {shape}; pass "
                             "pltpu.SemaphoreType.DMA, or .at[i] of an array of them.")
    return ()


def copy_effects(*avals, parts, mesh=(), **_):
    return frozenset([ReadEffect(0), *(WriteEffect(k) for k in range(1, len(parts.given)))]) | devices.effects(mesh)


def _wait_effects(*avals, parts, **_):
    return frozenset(WriteEffect(k) for k in range(1, len(parts.given)))


def _copy_at_once(prim, args, refs, params):
    (source, i, moving), (destination, j, others), *semaphores = params["parts"].split(args)
    change = indexing.accumulate if params["add"] else indexing.write
    new = change(destination, j, others, indexing.read(source, i, moving))
    return [], [None, new, *[None] * (len(args) - 2)]


def _send(prim, args, refs, params):
    (source, i, moving), (destination, j, others), *semaphores = params["parts"].split(args)
    device, active = args[-2:]

    def take(contents, value, *operands):
        return indexing.write(contents, j, operands, value)
    new = devices.delivered(params["mesh"], device, active, [indexing.read(source, i, moving), *others], take, destination)
    return [], [None, new, *[None] * (len(args) - 2)]


def _written(name):
    """The lowering rule in a kernel: a call of ``kernel.name`` on the references, then the operands of their indices."""
    def lower(b: Builder, *operands, parts, add=False, priority=0, to_the_end=False, **_):
        codes = "|".join(["-" if i is None else i.code() for i in parts] + [str(int(add)), str(priority), str(int(to_the_end))])
        return b.emit(f"stablehlo.custom_call @kernel.{name}({', '.join(map(str, operands))})", *operands, out=[],
                      attrs=f'{{has_side_effect = true, backend_config = "{codes}"}}')
    return lower


def copy_primitive(name: str, effects: Callable, discharge: Callable) -> Primitive:
    """A primitive that copies, or waits for a copy; see `start_copy_p`."""
    rule = none("copies are between references, which the traces themselves handle")
    return Primitive(name, multiple_results=True, takes_refs=True, out_type=_copy_type, effects=effects, jvp=rule, transpose=rule, batch=rule,
                     lower=DISCHARGED, in_kernel=_written(name), discharge=discharge)


start_copy_p = copy_primitive("dma_start", copy_effects, _copy_at_once)
send_copy_p = copy_primitive("dma_send", copy_effects, _send)
"""Its last operands are the number of the device, and whether to send at all."""
wait_copy_p = copy_primitive("dma_wait", _wait_effects, lambda prim, args, refs, params: ([], [None] * len(args)))


# -- copies ----------------------------------------------------------------------------------------------------------------

class AsyncCopy:
    """A copy between references, or views of parts of them.

    ``to_the_end``: both parts end where an array, or what is used of a buffer, ends, so that what lies behind may be copied too: a TPU copies
    whole tiles.
    """

    def __init__(self, source: Any, destination: Any, semaphore: Any, source_semaphore: Any, to_the_end: bool = False):
        self.src_ref, self.dst_ref, self.sem, self.src_sem, self.to_the_end = source, destination, semaphore, source_semaphore, to_the_end

    def _bind(self, prim: Primitive, add: bool = False, priority: int = 0) -> None:
        named = [None if r is None else part_of("async_copy", r, None) for r in (self.src_ref, self.dst_ref, self.sem, self.src_sem)]
        there = [part for part in named if part is not None]
        prim.bind(*(ref for ref, *_ in there), *(x for *_, operands in there for x in operands),
                  parts=Parts(*(None if part is None else part[1] for part in named)), add=bool(add), priority=int(priority),  # type: ignore[arg-type]
                  to_the_end=self.to_the_end)

    def start(self, priority: int = 0, *, add: bool = False) -> None:
        """Copy; with ``add``, add to what is there."""
        self._bind(start_copy_p, add, priority)

    def wait(self) -> None:
        """Wait until the copy is finished."""
        self._bind(wait_copy_p)

    wait_send = wait_recv = wait


def make_async_copy(src_ref: object, dst_ref: object, sem: object = None, *, src_sem: object = None) -> AsyncCopy:
    """A copy of one reference, or view of a part, to another, which ``start()`` starts and ``wait()`` waits for.

    Args:
      sem: the semaphore (``pltpu.SemaphoreType.DMA``) by which the end of the copy is known; compiled kernels need one.

    Raises:
      ValueError: source and destination differ in shape or dtype, or ``sem`` is no semaphore.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref, sem):
    ...     copy = pltpu.make_async_copy(x_ref, o_ref, sem)
    ...     copy.start()
    ...     copy.wait()
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), scratch_shapes=[pltpu.SemaphoreType.DMA],
    ...                interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    return AsyncCopy(src_ref, dst_ref, sem, src_sem)


def async_copy(src_ref: object, dst_ref: object, sem: object = None, *, src_sem: object = None, priority: int = 0,
               add: bool = False) -> AsyncCopy:
    """Start a copy; ``wait()`` of what it returns waits for it. See `make_async_copy`.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref, sem):
    ...     pltpu.async_copy(x_ref, o_ref, sem).wait()
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), scratch_shapes=[pltpu.SemaphoreType.DMA],
    ...                interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    copy = make_async_copy(src_ref, dst_ref, sem, src_sem=src_sem)
    copy.start(priority, add=add)
    return copy


def sync_copy(src_ref: object, dst_ref: object, *, add: bool = False) -> None:
    """Copy one reference, or view of a part, to another; with ``add``, add to what is there.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     pltpu.sync_copy(x_ref, o_ref)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    run_scoped(lambda sem: async_copy(src_ref, dst_ref, sem, add=add).wait(), SemaphoreType.DMA)


# -- copies to other devices -------------------------------------------------------------------------------------------------

class RemoteCopy:
    """A copy of a reference here to one on another device. ``wait`` waits for what is sent from here and for what comes here."""

    def __init__(self, source: Any, destination: Any, send: Any, receive: Any, device: Any, mesh: devices.Mesh):
        self.src_ref, self.dst_ref, self.send_sem, self.recv_sem = source, destination, send, receive
        self.device, self.mesh = device, mesh

    def start(self) -> None:
        """Send."""
        named = [part_of("async_remote_copy", r, None) for r in (self.src_ref, self.dst_ref, self.recv_sem, self.send_sem)]
        send_copy_p.bind(*(ref for ref, *_ in named), *(x for *_, operands in named for x in operands), self.device, np.bool_(True),
                         parts=Parts(*(index for _, index, _ in named)), mesh=self.mesh)

    def wait_send(self) -> None:
        """Wait until what was sent has left, so that it may change."""
        AsyncCopy(self.src_ref, self.src_ref, self.send_sem, None).wait()

    def wait_recv(self) -> None:
        """Wait until what another device has sent is here."""
        AsyncCopy(self.dst_ref, self.dst_ref, self.recv_sem, None).wait()

    def wait(self) -> None:
        """Wait for both."""
        self.wait_send()
        self.wait_recv()


def make_async_remote_copy(src_ref: object, dst_ref: object, send_sem: object, recv_sem: object, device_id: DeviceId,
                           device_id_type: DeviceIdType | None = None) -> RemoteCopy:
    """A copy of one reference, or view of a part, to one on another device, which ``start()`` starts. For kernels under `jax.shard_map`.

    Args:
      src_ref: here. ``dst_ref``: the reference of that name on the other device.
      send_sem: the semaphore here by which it is known that the data has left.
      recv_sem: the semaphore *there* by which it is known that it has come. All devices run the same kernel, so each waits for its own.
      device_id: the other device: its number in the mesh, a tuple of its places along the axes of the mesh, or a dictionary of the places along
        those axes where it differs from this device.
      device_id_type: which of these it is; it tells itself.

    Raises:
      ValueError: outside of `jax.shard_map`, references that differ in shape or dtype, or no semaphores.

    >>> from functools import partial
    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def to_the_right(x_ref, o_ref, send, receive):
    ...     right = (jax.lax.axis_index("i") + 1) % jax.lax.axis_size("i")
    ...     copy = pltpu.make_async_remote_copy(x_ref, o_ref, send, receive, device_id=right)
    ...     copy.start()
    ...     copy.wait()
    >>> mesh = jax.make_mesh((1,), ("i",), (jax.sharding.AxisType.Auto,))
    >>> @partial(jax.shard_map, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def turned(x):
    ...     return pl.pallas_call(to_the_right, jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True,
    ...                           scratch_shapes=[pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA])(x)
    >>> turned(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    mesh = devices.mesh_in_scope("make_async_remote_copy")
    number = devices.number_of("make_async_remote_copy", device_id, mesh, device_id_type)
    return RemoteCopy(src_ref, dst_ref, send_sem, recv_sem, number, mesh)


def async_remote_copy(src_ref: object, dst_ref: object, send_sem: object, recv_sem: object, device_id: DeviceId,
                      device_id_type: DeviceIdType | None = None) -> RemoteCopy:
    """Start a copy to another device; ``wait()`` of what it returns waits for it. See `make_async_remote_copy`.

    >>> from functools import partial
    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def to_itself(x_ref, o_ref, send, receive):
    ...     pltpu.async_remote_copy(x_ref, o_ref, send, receive, device_id=(jax.lax.axis_index("i"),)).wait()
    >>> mesh = jax.make_mesh((1,), ("i",), (jax.sharding.AxisType.Auto,))
    >>> @partial(jax.shard_map, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def same(x):
    ...     return pl.pallas_call(to_itself, jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True,
    ...                           scratch_shapes=[pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA])(x)
    >>> same(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    copy = make_async_remote_copy(src_ref, dst_ref, send_sem, recv_sem, device_id, device_id_type)
    copy.start()
    return copy
