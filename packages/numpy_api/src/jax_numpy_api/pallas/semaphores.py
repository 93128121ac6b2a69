"""Semaphores: counters that kernels wait for, on this device and on others.

Interpreted, nobody waits, as all that others do has happened when a kernel comes to a wait (`devices`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Hashable

import numpy as np

from jax_core.references import indexing
from jax_core.references.primitives import ref_primitive, write_in_kernel
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.typing import ArrayLike

from . import devices
from .devices import DeviceIdType
from .hidden import hidden
from .memory import part_of
from .spaces import SemaphoreType

if TYPE_CHECKING:
    from .devices import DeviceId


def _counted(name):
    def out_type(ref, amount, *operands, index):
        if indexing.part_shape(ref.shape, index, operands) or not isinstance(ref.memory_space, SemaphoreType):
            raise ValueError(f"{name.replace('sem_', 'semaphore_')}: a reference of type {ref} was given; one semaphore is "
                             "needed, pltpu.SemaphoreType.REGULAR or .at[i] of an array of them.")
        return ()
    return out_type


def _semaphore_primitive(name, sign):
    return ref_primitive(name, out_type=_counted(name), multiple_results=True,
                         on_contents=lambda x, amount, *operands, index: ([], indexing.accumulate(x, index, operands, sign * amount)))


def _signal_there(x, amount, device, active, *operands, index, mesh):
    def take(x, amount, *operands):
        return indexing.accumulate(x, index, operands, amount)
    return [], devices.delivered(mesh, device, active, [amount, *operands], take, x)


def _there_type(ref, amount, device, active, *operands, index, mesh):
    return _counted("sem_signal")(ref, amount, *operands, index=index)


def _signal_there_in_kernel(b, *operands, index, mesh):
    return write_in_kernel("sem_signal_there", b, *operands, index=index)


def _on_other_core(x, amount, device, core, *operands, index, mesh):
    raise NotImplementedError("semaphore_signal: interpreted with interpret=True, cores run one after the other, and none waits for another; "
                              "give interpret=pltpu.InterpretParams(), which runs them at once.")


signal_p = _semaphore_primitive("sem_signal", 1)
wait_p = _semaphore_primitive("sem_wait", -1)
signal_there_p = ref_primitive("sem_signal_there", out_type=_there_type, multiple_results=True, on_contents=_signal_there,
                               more_effects=lambda *, index, mesh: devices.effects(mesh), in_kernel=_signal_there_in_kernel)
"""Of another device; after the amount stand its number, and whether to signal at all."""
signal_core_p = ref_primitive("sem_signal_core", out_type=lambda ref, amount, device, core, *operands, index, mesh: _counted("sem_signal")(
    ref, amount, *operands, index=index), multiple_results=True, on_contents=_on_other_core, more_effects=lambda *, index, mesh: devices.effects(mesh))
"""Of another core; after the amount stand the numbers of its device, if there is a mesh, and of the core."""
read_p = ref_primitive("sem_read", out_type=lambda ref, *operands, index: ShapedArray((), np.dtype(np.int32)), writes=False,
                       on_contents=lambda x, *operands, index: (indexing.read(x, index, operands), None))


def _amount(name: str, x: ArrayLike) -> Any:
    if get_aval(x).shape or not np.issubdtype(get_aval(x).dtype, np.integer):
        raise ValueError(f"{name}: {get_aval(x).str_short()} was given to count by; it must be an integer scalar.")
    return np.int32(x) if isinstance(x, (int, np.integer)) else x.astype(np.int32)  # type: ignore[union-attr]  # a tracer or an array


def semaphore_signal(sem_or_view: object, inc: ArrayLike = 1, *, device_id: DeviceId | None = None,
                     device_id_type: DeviceIdType | None = None, core_index: ArrayLike | None = None) -> None:
    """Add ``inc`` to a semaphore.

    Args:
      device_id: the device whose semaphore it is, under `jax.shard_map`, as in `pltpu.make_async_remote_copy`. None: this device.
      device_id_type: how ``device_id`` names it; it tells itself.
      core_index: the core whose semaphore it is; interpreted by `pltpu.InterpretParams` only, and not compiled.

    Raises:
      NotImplementedError: another core's, compiled or with ``interpret=True``, when the kernel is lowered.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref, sem):
    ...     pl.semaphore_signal(sem)
    ...     o_ref[...] = pl.semaphore_read(sem)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((), jnp.int32), scratch_shapes=[pltpu.SemaphoreType.REGULAR], interpret=True)()
    Array(1, dtype=int32)
    """
    ref, index, operands = part_of("semaphore_signal", sem_or_view, None)
    amount = _amount("semaphore_signal", inc)
    if core_index is not None:
        mesh = () if device_id is None else devices.mesh_in_scope("semaphore_signal")
        number = devices.number_of("semaphore_signal", device_id, mesh, device_id_type) if mesh else np.int32(0)
        signal_core_p.bind(ref, amount, number, _amount("semaphore_signal", core_index), *operands, index=index, mesh=mesh)
        return
    if device_id is None:
        signal_p.bind(ref, amount, *operands, index=index)
        return
    mesh = devices.mesh_in_scope("semaphore_signal")
    number = devices.number_of("semaphore_signal", device_id, mesh, device_id_type)
    signal_there_p.bind(ref, amount, number, np.bool_(True), *operands, index=index, mesh=mesh)


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


def get_barrier_semaphore(tag: Hashable | None = None) -> Any:
    """The semaphore that every device has for this kernel before it starts: others may signal it at once, as that they are there.

    Args:
      tag: kernels that run at the same time have different ``collective_id`` in their ``compiler_params``; a tag changes nothing.

    >>> from functools import partial
    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     here = pltpu.get_barrier_semaphore()
    ...     pl.semaphore_signal(here, device_id=(jax.lax.axis_index("i") + 1) % jax.lax.axis_size("i"))
    ...     pl.semaphore_wait(here)
    ...     o_ref[...] = x_ref[...]
    >>> mesh = jax.make_mesh((1,), ("i",), (jax.sharding.AxisType.Auto,))
    >>> @partial(jax.shard_map, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def after_all(x):
    ...     return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True,
    ...                           compiler_params=pltpu.CompilerParams(collective_id=0))(x)
    >>> after_all(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    return hidden("get_barrier_semaphore", "barrier_semaphore", SemaphoreType.BARRIER)
