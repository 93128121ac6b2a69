"""Differential tests against NumPy with generated cases: indexing, updates, reductions, einsum, padding, reshaping.

The examples are derandomised, so that a run repeats. Reading and writing are tried eagerly (which may run on the host)
and compiled, where the indices are operands.
"""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import jax_numpy_api.numpy as jnp
from jax_core.programs.jit import jit

EXAMPLES = settings(max_examples=120, deadline=None, derandomize=True, database=None)
FEW = settings(max_examples=25, deadline=None, derandomize=True, database=None)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def filled(shape, dtype=np.float32):
    return (np.arange(np.prod(shape)).reshape(shape) % 97).astype(dtype)


@st.composite
def indices(draw, shape):
    """A valid index of an array of ``shape``: basic parts, arrays of integers and masks mixed."""
    parts, axis, arrays = [], 0, draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    while axis < len(shape):
        n = shape[axis]
        kind = draw(st.sampled_from(["int", "slice", "array", "none", "mask", "ellipsis", "stop"]))
        if kind == "int":
            parts.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            parts.append(draw(st.slices(n)))
        elif kind == "array":
            parts.append(np.asarray(draw(hnp.arrays(np.int32, arrays, elements=st.integers(-n, n - 1)))))
        elif kind == "mask":
            parts.append(draw(hnp.arrays(bool, (n,))))
        elif kind == "none":
            parts.append(None)
            continue
        elif kind == "ellipsis" and Ellipsis not in [p for p in parts if p is Ellipsis]:
            parts.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis - 1))
            continue
        else:
            break
        axis += 1
    return tuple(parts)


def by_numpy(function):
    """The result, or None where NumPy refuses."""
    try:
        return function()
    except (IndexError, ValueError):
        return None


@EXAMPLES
@given(st.data())
def test_reading(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    x = filled(shape)
    want = by_numpy(lambda: x[index])
    assume(want is not None)
    got = jnp.asarray(x)[index]
    assert got.shape == want.shape and np.array_equal(got, want), index


def split(index):
    """Arrays of integers in an index, and a function that puts others in their place."""
    arrays = [p for p in index if isinstance(p, np.ndarray) and p.dtype != bool]

    def rebuild(new):
        rest = iter(new)
        return tuple(next(rest) if isinstance(p, np.ndarray) and p.dtype != bool else p for p in index)
    return arrays, rebuild


@FEW
@given(st.data())
def test_reading_compiled(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    x = filled(shape)
    want = by_numpy(lambda: x[index])
    assume(want is not None)
    arrays, rebuild = split(index)
    got = jit(lambda x, *new: x[rebuild(new)])(x, *arrays)
    assert got.shape == want.shape and np.array_equal(got, want), index


@EXAMPLES
@given(st.data())
def test_writing(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    x = filled(shape, np.int32)
    target = by_numpy(lambda: x[index])
    assume(target is not None)
    value = np.int32(7) if data.draw(st.booleans()) else filled(target.shape, np.int32) + 100
    for op, ufunc in (("add", np.add), ("multiply", np.multiply), ("min", np.minimum), ("max", np.maximum)):
        want = x.copy()
        ufunc.at(want, index, value)
        assert np.array_equal(getattr(jnp.asarray(x).at[index], op)(value), want), (op, index)
    repeated = np.zeros(shape, np.int32)
    np.add.at(repeated, index, 1)
    assume(np.ndim(value) == 0 or repeated.max() <= 1)  # which of several values wins is not defined
    want = x.copy()
    want[index] = value
    assert np.array_equal(jnp.asarray(x).at[index].set(value), want), index


@FEW
@given(st.data())
def test_writing_compiled(data):
    shape = data.draw(SHAPES)
    index = data.draw(indices(shape))
    x = filled(shape, np.float32)
    target = by_numpy(lambda: x[index])
    assume(target is not None)
    value = filled(target.shape) + 1
    want = x.copy()
    np.add.at(want, index, value)
    arrays, rebuild = split(index)
    got = jit(lambda x, v, *new: x.at[rebuild(new)].add(v))(x, value, *arrays)
    assert np.array_equal(got, want), index


@EXAMPLES
@given(st.data())
def test_out_of_bounds(data):
    """Reads clamp, writes drop; with modes, fill and clip."""
    n = data.draw(st.integers(1, 5))
    index = data.draw(hnp.arrays(np.int32, hnp.array_shapes(max_dims=2, max_side=4), elements=st.integers(-12, 12)))
    x = filled((n,)) + 1
    wrapped = np.where(index < 0, index + n, index)
    inside, nearest = (wrapped >= 0) & (wrapped < n), np.clip(wrapped, 0, n - 1)
    a = jnp.asarray(x)
    assert np.array_equal(a[index], x[nearest])
    assert np.array_equal(a.at[index].get(mode="fill", fill_value=-1), np.where(inside, x[nearest], -1))
    assert np.array_equal(a.at[index].get(mode="clip"), x[nearest])
    dropped, clipped = x.copy(), x.copy()
    np.add.at(dropped, wrapped[inside], 1)
    np.add.at(clipped, nearest, 1)
    assert np.array_equal(a.at[index].add(1.0), dropped)
    assert np.array_equal(a.at[index].add(1.0, mode="clip"), clipped)


@st.composite
def axes_of(draw, rank):
    axes = draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank))
    signed = tuple(a - rank if draw(st.booleans()) else a for a in axes)
    return draw(st.sampled_from([None, signed, *(signed[:1] and [signed[0]])]))


@pytest.mark.parametrize("name", ["sum", "max", "min", "all", "any", "mean", "prod", "count_nonzero"])
@FEW
@given(st.data())
def test_reductions(name, data):
    shape = data.draw(SHAPES)
    axis, keepdims = data.draw(axes_of(len(shape))), data.draw(st.booleans())
    x = data.draw(hnp.arrays(np.int32, shape, elements=st.integers(-3, 3)))
    want = np.asarray(getattr(np, name)(x, axis=axis, keepdims=keepdims))
    got = np.asarray(getattr(jnp, name)(x, axis=axis, keepdims=keepdims))
    assert got.shape == want.shape
    assert np.allclose(got, want, rtol=1e-6)


@st.composite
def einsums(draw):
    lengths = {c: draw(st.integers(1, 3)) for c in "abcd"}
    inputs = draw(st.lists(st.text("abcd", min_size=1, max_size=3), min_size=1, max_size=3))
    letters = sorted(set("".join(inputs)))
    out = "".join(draw(st.permutations(letters))[:draw(st.integers(0, len(letters)))])
    return ",".join(inputs) + "->" + out, [filled(tuple(lengths[c] for c in t)) % 7 - 3 for t in inputs]


@settings(EXAMPLES, max_examples=40)
@given(einsums())
def test_einsum(case):
    text, arrays = case
    want = np.einsum(text, *arrays)
    got = jnp.einsum(text, *arrays)
    assert got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-4), text


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum"])
@FEW
@given(st.data())
def test_pad(mode, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    widths = [tuple(data.draw(st.integers(0, 6)) for _ in range(2)) for _ in shape]
    x = filled(shape)
    assert np.array_equal(jnp.pad(x, widths, mode=mode), np.pad(x, widths, mode=mode)), widths


@EXAMPLES
@given(st.data())
def test_reshape(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    size, left, new = int(np.prod(shape)), int(np.prod(shape)), []
    for _ in range(data.draw(st.integers(0, 3))):
        n = data.draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0] or [0]))
        new.append(n)
        left = left // n if n else left
    new.append(left)
    if size and data.draw(st.booleans()):
        new[data.draw(st.integers(0, len(new) - 1))] = -1
    order = data.draw(st.sampled_from("CF"))
    x = filled(shape)
    assert np.array_equal(jnp.reshape(x, tuple(new), order=order), np.reshape(x, tuple(new), order=order))


@EXAMPLES
@given(st.data())
def test_joining_and_cutting(data):
    shape = data.draw(SHAPES)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = filled(shape)
    cuts = data.draw(st.lists(st.integers(0, shape[axis]), max_size=3).map(sorted))
    parts = jnp.split(jnp.asarray(x), cuts, axis)
    for got, want in zip(parts, np.split(x, cuts, axis)):
        assert np.array_equal(got, want)
    assert np.array_equal(jnp.concatenate(parts, axis), x)
    shift = data.draw(st.integers(-9, 9))
    assert np.array_equal(jnp.roll(x, shift, axis), np.roll(x, shift, axis))
    assert np.array_equal(jnp.flip(x, axis), np.flip(x, axis))


@EXAMPLES
@given(st.lists(st.integers(-5, 5), max_size=20), st.integers(1, 12))
def test_unique_padded(values, size):
    x = np.asarray(values, np.int32)
    want, first, inverse, counts = np.unique(x, True, True, True)
    assume(len(want) <= size and len(x))
    got = jnp.unique(x, True, True, True, size=size)
    n = len(want)
    assert np.array_equal(got[0][:n], want) and np.all(np.asarray(got[0])[n:] == want[0])
    assert np.array_equal(got[1][:n], first) and np.array_equal(got[2], inverse) and np.array_equal(got[3][:n], counts)
    assert not np.asarray(got[3])[n:].any()
