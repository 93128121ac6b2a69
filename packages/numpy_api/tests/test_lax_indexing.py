"""Slices, gathers and scatters: laws, modes for indices out of bounds, and errors."""
import functools

import numpy as np
import pytest

from harness import LAWS, Bad, Case
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jacfwd, jacrev, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
INDICES = np.array([[0], [5], [-1], [3], [3]], np.int32)  # of an axis of length 4: two are out of bounds, one comes twice
UNIQUE = np.array([[2], [9], [0], [-2]], np.int32)
KINDS = "f32[4,3] i32[4,3] bf16[4,3] bool[4,3] c64[4,3] u8[4,3]"


SLICES = [
    Case(lambda x: lax.slice(x, (0, 1), (3, 3), (2, 1)), KINDS, name="slice", tolerance=0, reference=lambda x: x[0:3:2, 1:3]),
    Case(lambda x: lax.slice(x, (1,), (1,)), "f32[4] i8[4]", name="slice to nothing", reference=lambda x: x[1:1]),
    Case(lambda x: lax.slice_in_dim(x, 1, -1, 2, 1), "f32[2,7]", name="slice_in_dim", reference=lambda x: x[:, 1:-1:2]),
    Case(lambda x: lax.index_in_dim(x, -1, 1, False), "f32[2,3]", name="index_in_dim", reference=lambda x: x[:, -1]),
    Case(lambda x, i: lax.dynamic_slice(x, (i, -2), (2, 2)), "f32[4,3],i32[] c64[4,3],i64[] bool[4,3],u8[]", domain=(0, 3),
         name="dynamic_slice", reference=lambda x, i: x[min(i, 2):min(i, 2) + 2, 1:3]),
    Case(lambda x, i: lax.dynamic_index_in_dim(x, i, 1, False), "f32[4,3],i32[]", domain=(-3, -1), name="dynamic_index_in_dim",
         reference=lambda x, i: x[:, i]),
    Case(lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)), "f32[4,3],f32[2,2],i32[] i8[4,3],i8[2,2],i32[]", domain=(0, 4),
         name="dynamic_update_slice", reference=lambda x, u, i: lax.dynamic_update_slice_p.reference(x, u, i, 1)),
    Case(lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 0), "f32[4,3],f32[3],i32[]", domain=(0, 3), order=1,
         name="dynamic_update_index_in_dim", reference=lambda x, u, i: np.where(np.arange(4)[:, None] == i, u, x)),
    Case(lambda x, i: lax.index_take(x, [i, lax.rev(i, (0,))], (0, 1)), "f32[4,4,2],i32[3]", domain=(0, 3), name="index_take",
         reference=lambda x, i: x[i, i[::-1]]),
]


def rows(mode, fill=0):
    """What gathering INDICES from the first axis means."""
    def read(x):
        inside = (INDICES[:, 0] >= 0) & (INDICES[:, 0] < 4)
        out = x[np.clip(INDICES[:, 0], 0, 3)]
        return out if mode == "clip" else np.where(inside[:, None], out, np.asarray(fill, x.dtype))
    return read


GATHERS = [
    Case(lambda x, mode=mode: lax.gather(x, INDICES, G((1,), (0,), (0,)), (1, 3), mode=mode, fill_value=7), KINDS,
         name=f"gather rows {mode}", tolerance=0, reference=rows(mode, 7)) for mode in ("clip", "fill")
] + [
    Case(lambda x: lax.gather(x, INDICES, G((1,), (0,), (0,)), (1, 3), mode="fill"), "f32[4,3]", name="gather rows default fill",
         derivative=False, reference=rows("fill", np.nan)),
    Case(lambda x: lax.gather(x, INDICES, G((1,), (0,), (0,)), (1, 3), mode="fill"), "i16[4,3]", name="gather rows default fill",
         reference=rows("fill", -2**15)),
    Case(lambda x: lax.gather(x, INDICES, G((1,), (0,), (0,)), (1, 3), mode="fill"), "u8[4,3]", name="gather rows default fill",
         reference=rows("fill", 255)),
    Case(lambda x: lax.gather(x, INDICES, G((0,), (1,), (1,)), (2, 1), mode="clip"), "f32[2,4]", name="gather columns",
         reference=lambda x: x[:, np.clip(INDICES[:, 0], 0, 3)]),
    Case(lambda x, i: lax.gather(x, i, G((0, 2), (), (0, 1)), (2, 2), mode="clip"), "f32[4,3],i32[5,2]", name="gather windows",
         domain=(-1, 4), reference=lambda x, i: np.stack([x[a:a + 2, b:b + 2] for a, b in np.clip(i, 0, (2, 1))], 1)),
    Case(lambda x, i: lax.gather(x, i, G((), (0, 1), (0, 1)), (1, 1), mode="promise_in_bounds"), "f32[4,3],i32[2,5,2]",
         domain=(0, 2), name="gather points", reference=lambda x, i: x[i[..., 0], i[..., 1]]),
    Case(lambda x, i: lax.gather(x, i, G((), (1,), (1,), (0,), (0,)), (1, 1), mode="clip"), "f32[4,3],i32[4,2,1]",
         domain=(0, 2), name="gather by batch", reference=lambda x, i: np.take_along_axis(x, i[..., 0], 1)),
    Case(lambda x, i: lax.gather(x, i, G((0,), (), ()), (3,)), "f32[3],i32[2,0]", name="gather without indices",
         reference=lambda x, i: np.stack([x, x], 1)),
    Case(lambda x, i: lax.gather(x, i, G((1,), (), ()), (2,)), "f32[4],i32[3,0]", name="gather of a part without indices",
         reference=lambda x, i: np.stack([x[:2]] * 3)),
]


def scattered(write, mode, indices=INDICES):
    def reference(x, u):
        out = x.copy()
        for i, row in zip(indices[:, 0], u):
            i = min(max(i, 0), 3) if mode == "clip" else i
            if 0 <= i < 4:
                out[i] = write(out[i], row)
        return out
    return reference


WRITES = {"scatter": lambda a, b: b, "scatter_add": np.add, "scatter_sub": np.subtract, "scatter_mul": np.multiply,
          "scatter_min": np.minimum, "scatter_max": np.maximum}
SCATTERS = [
    Case(lambda x, u, name=name, mode=mode: getattr(lax, name)(x, INDICES, u, S((1,), (0,), (0,)), mode=mode),
         "f32[4,3],f32[5,3] i32[4,3],i32[5,3] bf16[4,3],bf16[5,3]", name=f"{name} rows {mode}", reference=scattered(write, mode),
         domain=(0.5, 2) if name == "scatter_mul" else (-2, 2), tolerance=2)
    for name, write in WRITES.items() for mode in ("clip", "drop")
] + [
    Case(lambda x, u, name=name: getattr(lax, name)(x, UNIQUE, u, S((1,), (0,), (0,)), unique_indices=True),
         "f32[4,3],f32[4,3] c64[4,3],c64[4,3]" if name not in ("scatter_min", "scatter_max") else "f32[4,3],f32[4,3]",
         name=f"{name} unique rows", reference=scattered(write, "drop", UNIQUE), tolerance=2) for name, write in WRITES.items()
] + [
    Case(lambda x, i, u, name=name: getattr(lax, name)(x, i, u, S((), (1,), (1,), (0,), (0,)), mode="clip"),
         "f32[4,3],i32[4,2,1],f32[4,2]", domain=[(-2, 2), (0, 2), (-2, 2)], name=f"{name} by batch", reference=False)
    for name in ("scatter", "scatter_add")
] + [
    Case(lambda x, i, u: lax.scatter_add(x, i, u, S((1, 2), (), (0, 1)), mode=mode), "f32[4,3],i32[3,2],f32[3,2,2]",
         domain=[(-2, 2), (-1, 4), (-2, 2)], name=f"scatter_add windows {mode}", reference=False) for mode in ("clip", "drop")
] + [  # index vectors without entries; several updates of one element are written in any order
    Case(lambda x, i, u, name=name, window=window: getattr(lax, name)(x, i, u, S(window, (), ())),
         types if name != "scatter" else types.replace("3,0", "1,0").replace("3]", "1]"), domain=(0.5, 2), name=f"{name} without indices", tolerance=2,
         reference=lambda x, i, u, write=write: functools.reduce(write, np.moveaxis(u, -1, 0), x))
    for name, write in WRITES.items() for window, types in (((), "f32[],i32[3,0],f32[3]"), ((0,), "f32[2],i32[3,0],f32[2,3]"))
] + [
    Case(lambda x: lax.scatter_apply(x, UNIQUE, lax.sin, S((1,), (0,), (0,)), update_shape=(4, 3), unique_indices=True), "f32[4,3]",
         name="scatter_apply", reference=lambda x: np.where(np.isin(np.arange(4), UNIQUE)[:, None], np.sin(x), x)),
]
ORDERED = {"scatter rows clip", "scatter rows drop"}  # one place is written twice: the last one wins, on the CPU


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.only_cpu if case.name in ORDERED else ()) for case in SLICES + GATHERS + SCATTERS], ids=str)
def test_law(case, law):
    law(case)


BAD = [
    Bad(lambda x: lax.slice(x, (0,), (5,)), "f32[4]", TypeError, "slice: .*0 <= start <= limit <= length"),
    Bad(lambda x: lax.slice(x, (0, 1), (2, 2)), "f32[4]", ValueError, "one entry for each of the 1 axes"),
    Bad(lambda x: lax.slice(x, (0,), (2,), (0,)), "f32[4]", TypeError, "positive"),
    Bad(lambda x: lax.index_in_dim(x, 4), "f32[4]", IndexError, "index 4 is out of bounds for axis 0 with size 4"),
    Bad(lambda x: lax.dynamic_slice(x, (0,), (5,)), "f32[4]", TypeError, r"slice_sizes=\(5,\)"),
    Bad(lambda x: lax.dynamic_slice(x, (0, 0), (1,)), "f32[4]", ValueError, "2 start indices for the 1 axes"),
    Bad(lambda x: lax.dynamic_slice(x, (0.5,), (1,)), "f32[4]", TypeError, "must be integers of the same type, got: float32"),
    Bad(lambda x, u: lax.dynamic_update_slice(x, u, (0,)), "f32[4],i32[2]", TypeError, "float32 and int32"),
    Bad(lambda x, u: lax.dynamic_update_slice(x, u, (0,)), "f32[4],f32[5]", TypeError, "larger than the operand"),
    Bad(lambda x, i: lax.gather(x, i, G((), (0,), (0,)), (1,)), "f32[4],f32[1,1]", ValueError, "integer type"),
    Bad(lambda x, i: lax.gather(x, i, G((), (0,), (0,)), (2,)), "f32[4],i32[1,1]", TypeError, "slice size must be 1"),
    Bad(lambda x, i: lax.gather(x, i, G((), (0,), (0,)), (1,), mode="near"), "f32[4],i32[1,1]", ValueError, 'mode "near"'),
    Bad(lambda x, i, u: lax.scatter_add(x, i, u, S((), (0,), (0,))), "f32[4],i32[2,1],f32[3]", TypeError, r"point at \(2,\) places"),
    Bad(lambda x, i, u: lax.scatter(x, i, u, S((), (0,), (0,))), "f32[4],i32[2,1],i32[2]", TypeError, "same dtype"),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_arguments(bad):
    with pytest.raises(bad.error, match=bad.message):
        bad.case.call(*bad.case.samples(0))


def test_compiled_and_host_references_agree_on_every_mode():
    """Eager gathers and scatters run in NumPy; compiled they run in XLA."""
    rng = np.random.default_rng(0)
    x, indices = rng.normal(size=(5, 4, 3)).astype(np.float32), rng.integers(-3, 8, (6, 2)).astype(np.int32)
    for mode in ("clip", "fill"):
        numbers = G((1, 2), (0,), (0, 2))
        def read(x, i):
            return lax.gather(x, i, numbers, (1, 4, 2), mode=mode)
        assert np.array_equal(read(x, indices), jit(read)(x, indices), equal_nan=True)
    updates = rng.normal(size=(6, 4, 2)).astype(np.float32)
    for mode in ("clip", "drop"):
        def write(x, i, u):
            return lax.scatter(x, i, u, S((1, 2), (0,), (0, 2)), mode=mode)
        assert np.array_equal(write(x, indices, updates), jit(write)(x, indices, updates))


def test_narrow_indices_reach_long_axes():
    """An int8 index into an axis longer than 127, negative from its end."""
    x = np.arange(300, dtype=np.int32)
    start = lax.dynamic_slice(x, (np.int8(-3),), (2,))
    assert np.array_equal(start, [297, 298])
    assert np.array_equal(jit(lambda i: lax.dynamic_slice(x, (i,), (2,)))(np.int8(-3)), [297, 298])
    index = np.array([[100], [-3]], np.int8)
    assert np.array_equal(jit(lambda i: lax.gather(x, i, G((), (0,), (0,)), (1,), mode="fill"))(index), [100, -2**31])


@pytest.mark.only_cpu
def test_the_derivative_of_overwriting_follows_the_last_update():
    """Two updates of one element: the last wins, and it alone gets the cotangent."""
    def f(u):
        return lax.reduce_sum(lax.scatter(np.zeros(3, np.float32), np.array([[1], [1]], np.int32), u, S((), (0,), (0,))), (0,))
    assert np.array_equal(grad(f)(np.array([5, 6], np.float32)), [0, 1])


def test_ties_of_scatter_max_share_the_tangent():
    """Three equal candidates, the old value among them, get a third each."""
    def f(x, u):
        return lax.scatter_max(x, np.array([[0], [0]], np.int32), u, S((), (0,), (0,)))
    x, u = np.array([2.0, 1.0], np.float32), np.array([2.0, 2.0], np.float32)
    _, tangent = jvp(f, [x, u], [np.array([3, 1], np.float32), np.array([6, 0], np.float32)])
    assert np.allclose(tangent, [3, 1])


def test_scatter_mul_by_zero_has_a_derivative():
    """The product of the other factors, also where an update is zero."""
    def f(u):
        return lax.reduce_sum(lax.scatter_mul(np.full(1, 2, np.float32), np.zeros((2, 1), np.int32), u, S((), (0,), (0,))), (0,))
    assert np.allclose(grad(f)(np.array([0, 5], np.float32)), [10, 0])
    assert np.allclose(grad(f)(np.array([0, 0], np.float32)), [0, 0])


@pytest.mark.parametrize("updates", [[0, 5, 2, 3], [0, 0, 2, 3], [0, 0, 0, 3], [1, 5, 2, 3], [0, 5, 2, 0]], ids=str)
def test_products_have_every_derivative_at_zeros(updates):
    """As the product written out."""
    places = np.array([[0], [1], [0], [0]], np.int32)

    def written(u):
        return 2 * u[0] * u[2] * u[3] + 3 * u[1]

    def scattered(u):
        return lax.reduce_sum(lax.scatter_mul(np.array([2, 3], np.float32), places, u, S((), (0,), (0,))), (0,))
    found, wanted = scattered, written
    for _ in range(3):
        found, wanted = jacfwd(found), jacrev(wanted)
        assert np.allclose(found(np.array(updates, np.float32)), wanted(np.array(updates, np.float32)))
    second = jit(jacrev(jacrev(scattered)))(np.array(updates, np.float32))
    assert np.allclose(second, jacrev(jacrev(written))(np.array(updates, np.float32)))


def test_modes_have_names():
    """The names of the public API, for gathers and scatters alike."""
    mode = lax.GatherScatterMode
    assert [mode.from_any(s) for s in ("clip", "fill", "drop", "promise_in_bounds", None)] == [
        mode.CLIP, mode.FILL_OR_DROP, mode.FILL_OR_DROP, mode.PROMISE_IN_BOUNDS, mode.FILL_OR_DROP]


def test_empty_operands_and_indices():
    """Nothing is read from or written to empty arrays, compiled or not."""
    none = np.zeros((0, 1), np.int32)
    y = np.ones((4, 3), np.float32)
    def write(y, i, u):
        return lax.scatter_add(y, i, u, S((1,), (0,), (0,)))
    for run in (lambda f: f, jit):
        assert run(lambda y, i: lax.gather(y, i, G((1,), (0,), (0,)), (1, 3)))(y, none).shape == (0, 3)
        assert np.array_equal(run(write)(y, none, np.zeros((0, 3), np.float32)), y)
    assert vmap(lambda i: lax.dynamic_slice(y, (i, 0), (0, 3)))(np.arange(2)).shape == (2, 0, 3)
