"""Kernels that send to other devices: interpreted on the eight devices of the tests, and written for TPUs."""
import functools
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

pytestmark = pytest.mark.any_code

DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)
N = 8


def mesh(**axes):
    """The devices, in axes over which the compiler decides how arrays are split."""
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))


def neighbours():
    place = lax.axis_index("i")
    return place, (place + N - 1) % N, (place + 1) % N


def meet(left, right):
    """Wait until both neighbours are in the kernel."""
    here = pltpu.get_barrier_semaphore()
    for other in (left, right):
        pl.semaphore_signal(here, device_id=other)
    pl.semaphore_wait(here, 2)


def gathered(interpret, x):
    """Blocks go round the ring, one place in each step of the grid."""
    def kernel(x, out, copied, sent, came):
        place, left, right = neighbours()

        @pl.when(pl.program_id(0) == 0)
        def _():
            meet(left, right)
            pltpu.async_copy(x, out.at[place], copied).wait()
        part = out.at[(place + N - pl.program_id(0)) % N]
        pltpu.async_remote_copy(part, part, sent, came.at[pl.program_id(0) % 2], device_id=(right,)).wait()
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct((N, *x.shape), x.dtype), grid=N - 1, in_specs=[ANYWHERE], out_specs=ANYWHERE,
                          scratch_shapes=[DMA, DMA, DMA((2,))], compiler_params=pltpu.CompilerParams(collective_id=0), interpret=interpret)(x)


def scattered_sum(interpret, x):
    """Partial sums go round the ring; who has read one lets its neighbour send the next."""
    def kernel(x, out, total, arrived, sent, came, free):
        place, left, right = neighbours()
        meet(left, right)
        total[...] = x[left]

        @pl.loop(0, N - 1)
        def _(step):
            slot = step % 2
            pltpu.async_remote_copy(total, arrived.at[slot], sent, came.at[slot], device_id={"i": right}).wait()
            pl.semaphore_signal(free, device_id=left)
            pl.semaphore_wait(free)
            total[...] = arrived[slot] + x[(place + 2 * N - 2 - step) % N]
        out[...] = total[...]
    shape = x.shape[1:]
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct(shape, x.dtype), interpret=interpret, compiler_params=pltpu.CompilerParams(collective_id=1),
                          scratch_shapes=[pltpu.VMEM(shape, x.dtype), pltpu.VMEM((2, *shape), x.dtype), DMA, DMA((2,)), REGULAR])(x)


def to_the_first(interpret, x):
    """All send to one device, each to a place of its own."""
    def kernel(x, out, sent, came):
        place, _, _ = neighbours()
        pltpu.make_async_remote_copy(x, out.at[place], sent, came, device_id=0).start()
        pltpu.make_async_copy(x, x, sent).wait()

        @pl.when(place == 0)
        def _():
            for i in range(N):
                pltpu.make_async_copy(x, out.at[i], came).wait()

        @pl.when(place != 0)
        def _():
            out[...] = jnp.zeros_like(out)
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct((N, *x.shape), x.dtype), scratch_shapes=[DMA, DMA], interpret=interpret)(x)


def counted(interpret, x):
    """A semaphore counts who has signalled it: the device at place k is signalled by k others."""
    def kernel(x, out, seen):
        place, _, _ = neighbours()
        for other in range(N):
            pl.semaphore_signal(seen, (place < other).astype(jnp.int32), device_id=other)
        out[...] = jnp.full(out.shape, pl.semaphore_read(seen).astype(jnp.float32))
        pl.semaphore_wait(seen, pl.semaphore_read(seen))
    return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), scratch_shapes=[REGULAR], interpret=interpret)(x)


X = np.arange(N * 8 * 128, dtype=np.float32).reshape(N * 8, 128)
Y = np.random.default_rng(0).integers(0, 9, (N * N, 8, 128)).astype(np.float32)
FIRST = np.zeros((N, N, 8, 128), np.float32)
FIRST[0] = X.reshape(N, 8, 128)
CASES = {
    "gathered": (gathered, X, np.broadcast_to(X.reshape(N, 8, 128), (N, N, 8, 128))),
    "scattered sum": (scattered_sum, Y, Y.reshape(N, N, 8, 128).sum(0)),
    "to the first": (to_the_first, X, FIRST),
    "counted": (counted, X, np.repeat(np.arange(N, dtype=np.float32), 8)[:, None] * np.ones((1, 128), np.float32)),
}


def on_all(function, interpret, checked=True):
    return jax.jit(jax.shard_map(functools.partial(function, interpret), mesh=mesh(i=N), in_specs=jax.P("i"), out_specs=jax.P("i"),
                                 check_vma=checked))


@pytest.mark.parametrize("interpret, checked", [(True, True), (True, False), (pltpu.InterpretParams(detect_races=True), False)],
                         ids=["checked", "unchecked", "without races"])
@pytest.mark.parametrize("case", CASES)
def test_interpreted(case, interpret, checked):
    function, x, expected = CASES[case]
    if case == "counted" and interpret is not True:
        pytest.skip("what a semaphore holds that nobody waits for depends on who is faster")
    found = np.asarray(on_all(function, interpret, checked)(x))
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("case", CASES)
def test_written_for_tpus(case):
    """The custom call says that the kernel talks to other devices, and which barrier is its own."""
    function, x, _ = CASES[case]
    text = on_all(function, False).trace(x).lower(lowering_platforms=("tpu",)).as_text()
    assert re.search(r'has_communication\\22: ?true', text)
    assert ("collective_id" in text) == (function in (gathered, scattered_sum))


def test_two_axes():
    """A device is named by its places along both axes, or by its number; along one axis it goes round, along the other it stays."""
    def kernel(x, out, sent, came, *, way):
        row, column = lax.axis_index("a"), lax.axis_index("b")
        other = {"places": ((row + 1) % 2, column), "names": {"a": (row + 1) % 2}, "number": (row + 1) % 2 * 4 + column,
                 "both": {("a", "b"): (row + 1) % 2 * 4 + column}}[way]
        pltpu.async_remote_copy(x, out, sent, came, device_id=other).wait()
    x = np.arange(8.0, dtype=np.float32)
    for way in ("places", "names", "number", "both"):
        f = lambda x: pl.pallas_call(functools.partial(kernel, way=way), jax.ShapeDtypeStruct(x.shape, x.dtype), scratch_shapes=[DMA, DMA], interpret=True)(x)
        turned = jax.shard_map(f, mesh=mesh(a=2, b=4), in_specs=jax.P(("a", "b")), out_specs=jax.P(("a", "b")))(x)
        np.testing.assert_array_equal(turned, np.roll(x.reshape(2, 4), 1, 0).ravel())


def failing(device_id, kind=None):
    def kernel(x, out, sent, came):
        pltpu.async_remote_copy(x, out, sent, came, device_id=device_id, device_id_type=kind).wait()
    f = lambda x: pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), scratch_shapes=[DMA, DMA], interpret=True)(x)
    return jax.shard_map(f, mesh=mesh(a=2, b=4), in_specs=jax.P(("a", "b")), out_specs=jax.P(("a", "b")))


@pytest.mark.parametrize("device_id, kind, message", [
    ((1,), None, "make_async_remote_copy: device_id has 1 places, and the mesh has the axes 'a', 'b'; give one for each, or a dictionary of those that differ."),
    ({"c": 1}, None, "make_async_remote_copy: device_id has a place along 'c', and the axes of the mesh are 'a', 'b'."),
    (1.5, None, "make_async_remote_copy: device_id has float32[]; places and numbers of devices are integer scalars."),
    (1, pl.DeviceIdType.MESH, "make_async_remote_copy: device_id=1 is one number, and the mesh has the axes 'a', 'b'; give a tuple with a place along each."),
], ids=["too few", "unknown axis", "float", "one number"])
def test_wrong_devices(device_id, kind, message):
    with pytest.raises(ValueError) as error:
        failing(device_id, kind)(np.arange(8.0))
    assert str(error.value) == message


def test_without_a_mesh():
    def kernel(x, out, sent, came):
        pltpu.async_remote_copy(x, out, sent, came, device_id=0).wait()
    with pytest.raises(ValueError, match="^make_async_remote_copy: there are no other devices here; call the kernel under jax.shard_map"):
        pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32), scratch_shapes=[DMA, DMA], interpret=True)(jnp.ones(2))
    with pytest.raises(ValueError, match="^get_barrier_semaphore was called outside of a kernel"):
        pltpu.get_barrier_semaphore()


def test_a_barrier_needs_a_number():
    def kernel(x, out):
        pl.semaphore_wait(pltpu.get_barrier_semaphore(), 0)
        out[...] = x[...]
    f = jax.shard_map(pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.float32)), mesh=mesh(i=N), in_specs=jax.P("i"),
                      out_specs=jax.P("i"))
    with pytest.raises(ValueError, match="compiler_params=pltpu.CompilerParams"):
        jax.jit(f).trace(X).lower(lowering_platforms=("tpu",))
