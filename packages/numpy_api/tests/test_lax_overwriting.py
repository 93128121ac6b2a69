"""Arrays that are overwritten with what is read from other places of them, which XLA's compiler for CPUs may have overwritten already.

The reference is the same function run op by op. A change of shape beside the update is what makes the compiler lose sight of the array.
"""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.ffi import ffi_call


def shifted(x, y=None):
    return x.at[1:].set((x if y is None else y)[:-1])


def first(x):
    """0, which the compiler does not know."""
    return (abs(x.ravel()[0]) * 0).astype(np.int32)


FUNCTIONS = {
    "set": lambda x: shifted(x)[None],
    "set of a computed array": lambda x: shifted(x + 1)[None],
    "set, computed twice": lambda x: (x * 2).at[1:].set((x * 2)[:-1])[None],
    "set after sums, computed twice": lambda x: jnp.cumsum(x, 0).at[1:].set(jnp.cumsum(x, 0)[:-1])[None],
    "set of something computed": lambda x: x.at[1:].set(jnp.abs(x[:-1]) * 0.5)[None],
    "add": lambda x: x.at[1:].add(x[:-1])[None],
    "multiply": lambda x: x.at[:-1].multiply(x[1:])[None],
    "a step of diffusion": lambda x: x.at[1:-1].set((x[:-2] + x[2:]) / 2)[None],
    "both ends": lambda x: shifted(x).at[:1].set(x[-1:])[None],
    "again and again": lambda x: shifted(shifted(shifted(x) * 2))[None],
    "past the end": lambda x: lax.dynamic_update_slice_in_dim(x, x[:-1], 5, 0)[None],
    "along two axes": lambda x: lax.dynamic_update_slice(jnp.tile(x.ravel(), (3, 1)), x.ravel()[None, :-1], (1, 1))[None],
    "last axis": lambda x: x.at[..., 1:].set(x[..., :-1])[None],
    "gathered": lambda x: x.at[1:].set(jnp.take(x, np.arange(x.shape[0] - 1), axis=0))[None],
    "sorted": lambda x: x.at[1:].set(jnp.sort(x[:-1], axis=0)[::-1])[None],
    "reversed": lambda x: x.at[1:].set(x[:-1][::-1])[None],
    "at indices": lambda x: lax.dynamic_update_slice_in_dim(x, x[:-1], first(x) + 1, 0)[None],
    "from indices": lambda x: lax.dynamic_update_slice_in_dim(x, lax.dynamic_slice_in_dim(x, first(x), x.shape[0] - 1, 0), 1, 0)[None],
    "the array has been reshaped": lambda x: shifted((x[None] + 1)[0]),
    "what is read has been reshaped": lambda x: shifted(x, (x[None] + 1 - 1)[0])[None],
    "turned": lambda x: shifted(x.reshape(-1) + 1).reshape(-1, 1).T,
    "in a function": lambda x: jit(shifted)(x)[None],
    "arguments of a function": lambda x: jit(shifted)(x, x[:])[None],
    "arguments of a function in a function": lambda x: jit(lambda x, y: jit(shifted)(x, y * 2))(x, x + 1)[None],
    "argument that is computed": lambda x: jit(lambda x, y: x.at[1:].set(y))(x, abs(x[:-1]))[None],
    "in a branch": lambda x: lax.cond(first(x) == 0, lambda x: shifted(x)[None], lambda x: x[None], x + 1),
    "a carry": lambda x: lax.fori_loop(0, 3, lambda i, c: shifted(c[0])[None], x[None]),
    "a result of a loop": lambda x: lax.scan(lambda c, _: (c * 0.5, shifted(c)[None]), x, None, length=2)[1],
    "mapped": lambda x: vmap(shifted, 1, 1)(x.reshape(x.shape[0], -1))[None],
    "one row": lambda x: x.reshape(1, -1).at[first(x), 1:].set(x.reshape(1, -1)[first(x), :-1])[None],
    "one row is added to": lambda x: x.reshape(1, -1).at[first(x), 1:].add(x.reshape(1, -1)[first(x), :-1])[None],
    "one of a few rows": lambda x: jnp.stack([x.ravel(), x.ravel() * 2]).at[first(x), 1:].max(x.ravel()[:-1] * 3)[None],
    "one row is clipped": lambda x: jnp.stack([x.ravel()] * 2).at[first(x) + 5, 1:].set(x.ravel()[:-1] * 3, mode="clip")[None],
    "one row out of bounds": lambda x: jnp.stack([x.ravel()] * 2).at[first(x) + 5, 1:].set(x.ravel()[:-1] * 3)[None],
}
DTYPES = [np.float32, np.int8, np.complex64, bool, jnp.bfloat16]


@pytest.mark.parametrize("shape", [(16,), (8, 16), (5000,), (2, 64, 40)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_read_is_what_was_there(name, shape):
    f = FUNCTIONS[name]
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    assert np.allclose(jit(f)(x), f(jnp.asarray(x)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", ["set", "both ends", "at indices", "one row"])
def test_dtypes(name, dtype):
    f = FUNCTIONS[name]
    x = jnp.asarray(np.random.default_rng(0).integers(0, 3, 300)).astype(dtype)
    assert np.array_equal(jit(f)(x), f(x))


@pytest.mark.parametrize("index", [np.int8, np.uint8, np.int32, np.uint32], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("at", [0, 1, 100, 127, -1])
def test_starts_are_clamped(at, index):
    """Also where the length does not fit in the dtype of the start."""
    x = np.arange(300, dtype=np.float32)
    start = np.array(at).astype(index)
    f = lambda x, start: lax.dynamic_update_slice(x, x[:150][::-1], (start,), allow_negative_indices=False)[None]
    assert np.array_equal(jit(f)(x, start), f(jnp.asarray(x), start))


def rows(t):
    return lax.fori_loop(1, t.shape[0], lambda i, t: t.at[i].set(t[i - 1] * 0.5 + 1), t)


def in_rows(t):
    """Each row is shifted: few elements of many."""
    def step(i, t):
        return lax.dynamic_update_slice(t, lax.dynamic_slice(t, (i, 0), (1, t.shape[1] - 1)) * 0.5, (i, 1))
    return lax.fori_loop(0, t.shape[0], step, t)


def in_rows_behind_a_view(t):
    return lax.fori_loop(0, t.shape[0], lambda i, c: c[0].at[i, 1:].set(c[0, i, :-1] * 0.5)[None], t[None])


@pytest.mark.parametrize("f", [rows, in_rows, in_rows_behind_a_view], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(8, 16), (60, 100)], ids=str)
def test_in_loops(f, shape):
    t = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    assert np.allclose(jit(f)(t), f(jnp.asarray(t)), rtol=1e-5)


def test_a_barrier_elsewhere_in_the_program():
    """With it, compilers before jaxlib 0.12 drop all barriers; few elements of a large array are computed behind one."""
    def f(t):
        t = t + 1
        return lax.optimization_barrier(t * 2), lax.dynamic_update_slice(t, t[2:3, :-1], (2, 1))[None]
    t = np.random.default_rng(0).normal(size=(60, 100)).astype(np.float32)
    for a, b in zip(jit(f)(t), f(jnp.asarray(t)), strict=True):
        assert np.array_equal(a, b)


def test_results_of_a_call_without_operands():
    """Its results are nobody else's memory."""
    def f():
        a, b = ffi_call("made_of_nothing", (ShapeDtypeStruct((8,), np.float32),) * 2)()
        return lax.dynamic_update_slice(a, b[:-1], (1,))
    assert "made_of_nothing" in jit(f).lower().as_text()


@pytest.mark.only_cpu
def test_chains_take_time_in_proportion():
    """Each array but the first is computed once, as kernels that read it at several places would have the code of all before it; and text is short."""
    def f(x):
        for _ in range(20):
            x = x.at[1:-1].set((x[:-2] + x[2:]) / 2)
        return x
    text = jit(f).lower(np.ones(300, np.float32)).as_text()
    assert text.count("stablehlo.optimization_barrier") == 19
    assert text.count("\n") < 20 * 9


@pytest.mark.only_cpu
@pytest.mark.parametrize("f, overwrites", [
    (lambda x: x.at[1:].add(x[1:] * 2), True),  # in its place
    (lambda x: x.at[3].set(x[4]), True),
    (lambda x: x.at[1:].set(0), True),
    (lambda x, y: x.at[1:].set(y[:-1]), True),  # two arguments are two arrays
    (rows, True),
    (in_rows, True),  # behind a barrier
    (lambda x, y: jit(lambda x, y: x.at[1:].set(y))(x, y[:-1]), True),  # and of a function, too
    (lambda x: jit(lambda x, y: x.at[1:].set(y))(x, x[:-1] + 1), False),
    (lambda x: jit(lambda x, y: jit(lambda x, y: x.at[1:].set(y))(x, y + 1))(x, x[:-1]), False),
    (lambda x: x.at[1:].set(x[:-1]), False),
    (lambda x: x.at[first(x), 1:].set(x[first(x), :-1]), False),
], ids=["in its place", "another row", "a number", "another array", "rows", "in rows", "function of another array", "function", "function in a function",
        "shifted", "shifted row"])
def test_what_needs_no_other_form_is_overwritten(f, overwrites):
    """As in a loop all else would take time for the whole array."""
    text = jit(f).lower(*[np.ones((60, 100), np.float32)] * f.__code__.co_argcount).as_text()
    assert overwrites == ("stablehlo.dynamic_update_slice" in text or "stablehlo.scatter" in text and "stablehlo.pad" not in text)
