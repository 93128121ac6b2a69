"""Copies between memories of a TPU, and the semaphores by which a kernel knows that they are finished.

Interpreted, a copy happens when it is started and waiting has nothing to do; semaphores are counters that nobody waits for.
Compiled, they are the TPU's (`jax_xla_backend.kernels.mosaic`).
"""
from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from jax_core.references import indexing
from jax_core.references.indexing import Index, Slice
from jax_core.references.primitives import DISCHARGED, ref_primitive
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.effects import ReadEffect, WriteEffect
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.typing import ArrayLike

from .control import run_scoped
from .memory import part_of
from .spaces import SemaphoreType


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

    def split(self, args: Sequence[Any]) -> list[tuple[Any, Index, list]]:
        """For each one that is there the reference, the index and its operands."""
        refs, rest = args[:len(self.given)], iter(args[len(self.given):])
        return [(ref, i, [next(rest) for e in i.entries if e is None or type(e) is Slice and e.start is None])
                for ref, i in zip(refs, self.given)]


def _copy_type(*avals, parts, add, priority):
    (source, i, moving), (destination, j, others), *semaphores = parts.split(avals)
    have, want = indexing.part_shape(source.shape, i, moving), indexing.part_shape(destination.shape, j, others)
    if (have, source.dtype) != (want, destination.dtype):
        raise ValueError(f"a copy from {source.dtype.name}{list(have)} to {destination.dtype.name}{list(want)}; what is copied and the place it is "
                         "copied to have the same shape and dtype.")
    for ref, index, operands in semaphores:
        shape = indexing.part_shape(ref.shape, index, operands)
        if not isinstance(ref.memory_space, SemaphoreType) or shape:
            raise ValueError(f"a copy signals one semaphore, and was given a reference of type {ref} and shape {shape}; pass "
                             "pltpu.SemaphoreType.DMA, or .at[i] of an array of them.")
    return ()


def _copy_effects(*avals, parts, add, priority):
    return frozenset([ReadEffect(0), *(WriteEffect(k) for k in range(1, len(parts.given)))])


def _wait_effects(*avals, parts, add, priority):
    return frozenset(WriteEffect(k) for k in range(1, len(parts.given)))


def _copy_at_once(prim, args, refs, params):
    (source, i, moving), (destination, j, others), *semaphores = params["parts"].split(args)
    change = indexing.accumulate if params["add"] else indexing.write
    new = change(destination, j, others, indexing.read(source, i, moving))
    return [], [None, new, *[None] * (len(args) - 2)]


def _written(name):
    """The lowering rule in a kernel: a call of ``kernel.name`` on the references, then the operands of their indices."""
    def lower(b, *operands, parts, add, priority):
        codes = "|".join(["-" if i is None else i.code() for i in parts] + [str(int(add)), str(priority)])
        return b.emit(f"stablehlo.custom_call @kernel.{name}({', '.join(map(str, operands))})", *operands, out=[],
                      attrs=f'{{has_side_effect = true, backend_config = "{codes}"}}')
    return lower


def _copy_primitive(name, effects, discharge):
    rule = none("copies are between references, which the traces themselves handle")
    prim = Primitive(name, multiple_results=True, takes_refs=True, out_type=_copy_type, effects=effects, jvp=rule, transpose=rule, batch=rule,
                     lower=DISCHARGED, in_kernel=_written(name))
    prim.discharge = discharge
    return prim


start_copy_p = _copy_primitive("dma_start", _copy_effects, _copy_at_once)
wait_copy_p = _copy_primitive("dma_wait", _wait_effects, lambda prim, args, refs, params: ([], [None] * len(args)))


# -- copies ----------------------------------------------------------------------------------------------------------------

class AsyncCopy:
    """A copy between references, or views of parts of them."""

    def __init__(self, source: Any, destination: Any, semaphore: Any, source_semaphore: Any):
        self.src_ref, self.dst_ref, self.sem, self.src_sem = source, destination, semaphore, source_semaphore

    def _bind(self, prim: Primitive, add: bool = False, priority: int = 0) -> None:
        named = [None if r is None else part_of("async_copy", r, None) for r in (self.src_ref, self.dst_ref, self.sem, self.src_sem)]
        there = [part for part in named if part is not None]
        prim.bind(*(ref for ref, *_ in there), *(x for *_, operands in there for x in operands),
                  parts=Parts(*(None if part is None else part[1] for part in named)), add=bool(add), priority=int(priority))  # type: ignore[arg-type]

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


def async_copy(src_ref: object, dst_ref: object, sem: object = None, *, src_sem: object = None, priority: int = 0, add: bool = False) -> AsyncCopy:
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


# -- semaphores --------------------------------------------------------------------------------------------------------------

def _counted(name):
    def out_type(ref, amount, *operands, index):
        if indexing.part_shape(ref.shape, index, operands) or not isinstance(ref.memory_space, SemaphoreType):
            raise ValueError(f"{name.replace('sem_', 'semaphore_')}: a reference of type {ref} was given; one semaphore is needed, pltpu.SemaphoreType.REGULAR or .at[i] of an "
                             "array of them.")
        return ()
    return out_type


def _semaphore_primitive(name, sign):
    return ref_primitive(name, out_type=_counted(name), multiple_results=True,
                         on_contents=lambda x, amount, *operands, index: ([], indexing.accumulate(x, index, operands, sign * amount)))


signal_p = _semaphore_primitive("sem_signal", 1)
wait_p = _semaphore_primitive("sem_wait", -1)
read_p = ref_primitive("sem_read", out_type=lambda ref, *operands, index: ShapedArray((), np.dtype(np.int32)), writes=False,
                       on_contents=lambda x, *operands, index: (indexing.read(x, index, operands), None))


def _amount(name: str, x: ArrayLike) -> Any:
    if get_aval(x).shape or not np.issubdtype(get_aval(x).dtype, np.integer):
        raise ValueError(f"{name}: {get_aval(x).str_short()} was given to count by; it must be an integer scalar.")
    return np.int32(x) if isinstance(x, (int, np.integer)) else x.astype(np.int32)  # type: ignore[union-attr]  # a tracer or an array


def semaphore_signal(sem_or_view: object, inc: ArrayLike = 1, *, device_id: object = None, device_id_type: object = None,
                     core_index: ArrayLike | None = None) -> None:
    """Add ``inc`` to a semaphore.

    Args:
      device_id, device_id_type, core_index: semaphores of other devices and cores are not implemented.

    Raises:
      NotImplementedError: for another device or core.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref, sem):
    ...     pl.semaphore_signal(sem)
    ...     o_ref[...] = pl.semaphore_read(sem)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((), jnp.int32), scratch_shapes=[pltpu.SemaphoreType.REGULAR], interpret=True)()
    Array(1, dtype=int32)
    """
    if device_id is not None or core_index is not None:
        raise NotImplementedError("semaphore_signal: semaphores of other devices and cores are not implemented; leave device_id and core_index out.")
    ref, index, operands = part_of("semaphore_signal", sem_or_view, None)
    signal_p.bind(ref, _amount("semaphore_signal", inc), *operands, index=index)


def semaphore_wait(sem_or_view: object, value: ArrayLike = 1, *, decrement: bool = True) -> None:
    """Wait until a semaphore holds at least ``value``, and take ``value`` from it unless ``decrement`` is false.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref, sem):
    ...     pl.semaphore_signal(sem, 3)
    ...     pl.semaphore_wait(sem, 2)
    ...     o_ref[...] = pl.semaphore_read(sem)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((), jnp.int32), scratch_shapes=[pltpu.SemaphoreType.REGULAR], interpret=True)()
    Array(1, dtype=int32)
    """
    ref, index, operands = part_of("semaphore_wait", sem_or_view, None)
    amount = _amount("semaphore_wait", value)
    wait_p.bind(ref, amount, *operands, index=index)
    if not decrement:
        signal_p.bind(ref, amount, *operands, index=index)


def semaphore_read(sem_or_view: object) -> Any:
    """What a semaphore holds, an int32 scalar.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref, sem):
    ...     pl.semaphore_signal(sem, 2)
    ...     o_ref[...] = pl.semaphore_read(sem)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((), jnp.int32), scratch_shapes=[pltpu.SemaphoreType.REGULAR], interpret=True)()
    Array(2, dtype=int32)
    """
    ref, index, operands = part_of("semaphore_read", sem_or_view, None)
    return read_p.bind(ref, *operands, index=index)
