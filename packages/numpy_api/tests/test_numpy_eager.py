"""What eager calls do: no compilation where the host computes exactly, arrays as results, errors that say what to do."""
import sys
import warnings

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core import backends
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.array import Array
from jax_core.representation.errors import ConcretizationTypeError, NonConcreteBooleanIndexError
from jax_core.transformations.autodiff import jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_numpy_api.numpy.grids import _quotient


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled during the test."""
    names = []
    backend = backends.get()
    compile_ = backend.compile

    def counted(*args):
        names.append(args)
        return compile_(*args)
    monkeypatch.setattr(type(backend), "compile", staticmethod(counted))
    return names


def test_new_shapes_are_not_compiled(compiled):
    """Data movement, comparisons, integer arithmetic and sorting of arrays of many shapes."""
    x = jnp.arange(50.0)
    for n in range(3, 30):
        part = x[:n]
        jnp.concatenate([part, part]), jnp.stack([part, part], 1), part[::2], part[np.arange(n)[::-1]], jnp.unique(part)
        part.at[1].set(0.0), part > 2, jnp.where(part > 2, part, 0.0), jnp.sort(part), jnp.argsort(part), part[part > 3]
        jnp.arange(n) % 5 + 1, jnp.arange(n).sum(), jnp.tile(part, 2), jnp.pad(part, 1), jnp.take(part, jnp.arange(n)), part.argmax()
        jnp.zeros((n, 2)), jnp.linspace(0, 1, n), jnp.searchsorted(part, part), jnp.nonzero(part), jnp.eye(n), jnp.flip(part)
    assert compiled == []


def test_exact_functions_are_compiled_once_called_often(compiled):
    x = jnp.arange(7)
    for _ in range(40):
        x + 1
    assert len(compiled) == 1


@pytest.mark.parametrize("value", [2, 1.5, True, 1j, np.float32(2), np.arange(3)])
@pytest.mark.parametrize("name", ["positive", "real", "floor", "trunc", "nan_to_num", "round", "clip", "sum", "max", "ravel", "abs"])
def test_results_are_arrays(name, value):
    if isinstance(value, complex) and name in ("clip", "floor", "trunc"):
        return
    assert isinstance(getattr(jnp, name)(value), Array)
    seen = []
    jit(lambda: seen.append(getattr(jnp, name)(value)))()
    assert isinstance(seen[0], Array)


def test_item_assignment_names_the_way_out():
    x = jnp.zeros((3, 3))
    with pytest.raises(TypeError, match="object does not support item assignment. JAX arrays are immutable; perhaps you want "
                                        "jax.ops.index_update or jax.ops.index_add instead\\?") as caught:
        x[1, :] = 1.0
    assert "x.at[index].set(value)" in caught.value.__notes__[0]


def test_traced_length():
    with pytest.raises(TypeError) as caught:
        jit(lambda n: jnp.ones((n,)))(3)
    assert str(caught.value) == (
        "Shapes must be 1D sequences of concrete values of integer type, got (Traced<ShapedArray(int32[], weak_type=True)>"
        "with<DynamicJaxprTrace(level=0/1)>,).\nIf using `jit`, try using `static_argnums` or applying `jit` to smaller "
        "subfunctions.")


@pytest.mark.parametrize("call,error,message", [
    (lambda: jnp.sum([1, 2]), TypeError, "sum requires ndarray or scalar arguments, got <class 'list'> at position 0"),
    (lambda: jnp.ones(3) + [1, 2, 3], TypeError, "unsupported operand"),
    (lambda: jnp.ones(3) + jnp.ones(4), TypeError, r"add got incompatible shapes for broadcasting: \(3,\), \(4,\)"),
    (lambda: jnp.ones((3, 2)) @ jnp.ones((3, 2)), TypeError, r"matmul: incompatible shapes \(3, 2\) and \(3, 2\)"),
    (lambda: jnp.dot(jnp.ones((3, 2)), jnp.ones(3)), TypeError, r"dot: incompatible shapes \(3, 2\) and \(3,\)"),
    (lambda: jnp.concatenate([jnp.ones((2, 3)), jnp.ones((3, 4))]), TypeError, r"concatenation along axis 0: .* shapes \(2, 3\), \(3, 4\)"),
    (lambda: jnp.ones((3, 2)).reshape(7), TypeError, r"cannot reshape array of shape \(3, 2\) \(size 6\) into shape \(7,\) \(size 7\)"),
    (lambda: jnp.ones((0, 3)).reshape(0, -1), TypeError, r"cannot reshape array of shape \(0, 3\) \(size 0\) into shape \(0, -1\): beside"),
    (lambda: jnp.broadcast_to(jnp.ones(3), (4,)), ValueError, r"broadcast_to: an array of shape \(3,\) does not broadcast to shape \(4,\)"),
    (lambda: jnp.stack([jnp.ones(2), jnp.ones(3)]), ValueError, r"stack got \(2,\), \(3,\)"),
    (lambda: jnp.ones(3)[[0, 1]], TypeError, "an index is a list"),
    (lambda: jnp.ones(3)[0.5], TypeError, "Indexer must have integer or boolean type"),
    (lambda: jnp.ones(3)[0, 1], IndexError, "array is 1-dimensional, but 2 were indexed"),
    (lambda: jnp.ones(3)["a"], TypeError, "string indexing"),
    (lambda: jnp.ones(3)[np.array([True, False])], IndexError, r"boolean index did not match .* got \(2,\), expected \(3,\)"),
    (lambda: jnp.ones((2, 3)).at[0].set(jnp.ones(2)), ValueError, r"a value of shape \(2,\) cannot be written"),
    (lambda: jnp.max(jnp.ones(0)), ValueError, "jax.numpy.max: max of no elements has no value"),
    (lambda: jnp.sum(jnp.ones(3), out=jnp.ones(())), NotImplementedError, "The 'out' argument to jnp.sum is not supported"),
    (lambda: jnp.sum(jnp.ones(3), axis=1), ValueError, "axis 1 is out of bounds for array of dimension 1"),
    (lambda: jnp.array(2 ** 40), OverflowError, "1099511627776 does not fit int32"),
    (lambda: jnp.array_equal([1], "a"), TypeError, "a"),
    (lambda: jnp.array_equiv({}, 1), TypeError, "{}"),
    (lambda: jnp.array(None), ValueError, "jax.numpy.array: None is no value of an array"),
    (lambda: jnp.array([[1, 2], [3]]), ValueError, "inhomogeneous"),
    (lambda: jnp.array([1, jnp.ones(3)]), TypeError, r"jnp\.array: the elements of a sequence have the shapes \(\), \(3,\); .*broadcast"),
    (lambda: jnp.array([[jnp.ones(2)], np.ones(2)]), TypeError, r"have the shapes \(1, 2\), \(2,\)"),
    (lambda: jnp.arange(3) ** -1, TypeError, "Integers cannot be raised to negative powers"),
    (lambda: jnp.einsum("ij,jk", jnp.ones((2, 3)), jnp.ones((2, 3))), ValueError, r"label 'j' .* has length 3 and 2"),
    (lambda: jnp.linalg.solve(jnp.ones((3, 3)), jnp.ones(4)), ValueError, r"a of shape \(3, 3\) and b of shape \(4,\) do not fit"),
    (lambda: jit(lambda x: x[x > 0])(jnp.ones(3)), NonConcreteBooleanIndexError, "boolean"),
    (lambda: jit(lambda x, i: x[:i])(jnp.ones(3), 2), IndexError, "Slice entries must be static integers"),
    (lambda: jnp.ones(3)[0.0:2.0], TypeError, "Slice entries must be static integers"),
    (lambda: jnp.ones(3)["a":], TypeError, "Slice entries must be static integers"),
    (lambda: jnp.ones((3, 3))[jnp.arange(2), jnp.arange(3)], ValueError, "could not be broadcast together with shapes"),
    (lambda: jnp.eye(-1), ValueError, "numbers of rows and columns must not be negative, got -1 and -1"),
    (lambda: jnp.identity(-1), ValueError, "must not be negative"),
    (lambda: jnp.fill_diagonal(jnp.eye(2), 0.), NotImplementedError, "pass inplace=False"),
    (lambda: jnp.trapezoid(jnp.ones(3), jnp.ones(4)), TypeError, r"trapezoid got incompatible shapes for broadcasting: \(3,\), \(2,\)"),
    (lambda: jit(lambda n: jnp.arange(n))(3), ConcretizationTypeError, "jnp.arange argument"),
    (lambda: jit(lambda x: jnp.unique(x))(jnp.ones(3)), ConcretizationTypeError, "pass the length as size"),
    (lambda: jit(lambda x: jnp.nonzero(x))(jnp.ones(3)), ConcretizationTypeError, "pass the length as size"),
], ids=lambda x: None)
def test_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


_X, _I, _M = jnp.linspace(0.1, 0.9, 10), jnp.arange(10), jnp.eye(3) + 0.5
_ROW, _BYTES, _SMALL, _FUNCTIONS = _M[0], _I.astype("uint8"), [_X < 0.5], [jnp.negative, lambda x: x * x]


@pytest.mark.parametrize("call", [
    lambda: jnp.poly(_ROW), lambda: jnp.polyval(_X, _X), lambda: jnp.polyadd(_X, _X), lambda: jnp.polysub(_X, _X), lambda: jnp.polyder(_X),
    lambda: jnp.polyint(_X), lambda: jnp.vander(_X), lambda: jnp.unwrap(_X), lambda: jnp.gradient(_X), lambda: jnp.trapezoid(_X),
    lambda: jnp.geomspace(1.0, 2.0, 10), lambda: jnp.cross(_M, _M), lambda: jnp.trace(_M), lambda: jnp.matvec(_M, _ROW),
    lambda: jnp.vecmat(_ROW, _M), lambda: jnp.vdot(_X, _X), lambda: jnp.vecdot(_X, _X), lambda: jnp.outer(_X, _X),
    lambda: jnp.packbits(_I), lambda: jnp.unpackbits(_BYTES), lambda: jnp.nanmax(_X), lambda: jnp.nanmin(_X, axis=0),
    lambda: jnp.nansum(_X), lambda: jnp.nanprod(_X), lambda: jnp.nanmean(_X), lambda: jnp.nanvar(_X, ddof=1), lambda: jnp.nanstd(_X),
    lambda: jnp.nanargmax(_X), lambda: jnp.nanargmin(_X), lambda: jnp.ptp(_X), lambda: jnp.count_nonzero(_X), lambda: jnp.cov(_X),
    lambda: jnp.corrcoef(_M), lambda: jnp.digitize(_X, _X), lambda: jnp.isin(_X, _X), lambda: jnp.argsort(_X), lambda: jnp.sort(_X),
    lambda: jnp.lexsort((_X, _X)), lambda: jnp.argpartition(_X, 2),
    lambda: jnp.top_k(_X, 2), lambda: jnp.take(_X, _I), lambda: jnp.take_along_axis(_X, _I), lambda: jnp.unstack(_M),
    lambda: jnp.tril(_M), lambda: jnp.triu(_M), lambda: jnp.diagonal(_M), lambda: jnp.diag(_X), lambda: jnp.rot90(_M),
    lambda: jnp.allclose(_X, _X), lambda: jnp.swapaxes(_M, 0, 1), lambda: jnp.flip(_X), lambda: jnp.fliplr(_M), lambda: jnp.flipud(_M),
    lambda: jnp.iscomplex(_X), lambda: jnp.isreal(_X), lambda: jnp.inner(_X, _X), lambda: jnp.minmax(_X), lambda: jnp.logspace(0.0, 1.0, 5),
    lambda: jnp.bincount(_I, length=10), lambda: jnp.tile(_X, 2), lambda: jnp.append(_X, _X), lambda: jnp.diagflat(_X),
    lambda: jnp.piecewise(_X, _SMALL, _FUNCTIONS)])
def test_a_call_that_comes_again_is_one_dispatch(call):
    """The arguments are named outside, so no call of Python's but those on the way to the dispatcher is left."""
    for _ in range(20):
        call()
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else "")
                   if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    assert len(calls) <= 20, calls


@pytest.mark.parametrize("axis", [[0, 1], np.array([0, 1])], ids=str)
def test_axes_that_are_no_key(axis):
    """A list cannot be a static argument; functions that compute at once take it all the same, as of the public jax."""
    assert jnp.max(_M, axis=axis) == 1.5 and jnp.sum(_M != 0, axis) == 9
    with pytest.raises(ValueError, match="argument 'axis' of nanmax is static"):
        jnp.nanmax(_M, axis=axis)


@pytest.mark.parametrize("on_host", [True, False])
def test_fill_values_are_told_apart(on_host, monkeypatch):
    """-0.0 and 0.0 are equal, and not the same; also where an eager call is compiled, as it is on a GPU."""
    if not on_host:
        monkeypatch.setattr(lax.gather_p, "exact", None)
    at = jnp.array([20])
    for taken in (lambda v: jnp.take(_X, at, fill_value=v)), (lambda v: jit(lambda x: jnp.take(x, at, fill_value=v))(_X)), (
            lambda v: vmap(lambda i: jnp.take(_X, i, fill_value=v))(at)), (lambda v: jvp(lambda x: jnp.take(x, at, fill_value=v), [_X], [_X])[0]), (
            lambda v: lax.scan(lambda c, i: (c, jnp.take(c, i, fill_value=v)), _X, at)[1]):
        assert [np.signbit(taken(v)[0]) for v in (0.0, -0.0)] == [False, True]


@pytest.mark.parametrize("dtype", [np.int32, jnp.int32, "int32", np.dtype("int32")], ids=repr)
@pytest.mark.parametrize("name", ["argsort", "sum", "prod", "cumsum", "cumprod", "trace", "concatenate", "stack", "asarray", "full_like", "eye"])
def test_a_dtype_is_given_in_any_form(name, dtype):
    """A class of NumPy has attributes of arrays, which are no numbers."""
    args = {"trace": (_M,), "concatenate": ([_X, _X],), "stack": ([_X, _X],), "full_like": (_X, 2), "eye": (3,)}.get(name, (_X,))
    assert getattr(jnp, name)(*args, dtype=dtype).dtype == np.int32


@pytest.mark.parametrize("index, choice", [((), ()), ((4,), ()), ((), (4,)), ((3, 1), (4,)), ((4,), (3, 1)), ((2, 3, 4), (3, 1)), ((1,), (2, 1, 4)), ((), (1, 1))])
def test_choose_among_many_makes_nothing_larger_than_its_result(index, choice):
    rng = np.random.default_rng(0)
    at, among = rng.integers(-3, 25, index).astype(np.int32), rng.normal(size=(20, *choice)).astype(np.float32)
    expected = np.choose(at, among, mode="wrap")
    for choices in (among, list(among)):
        np.testing.assert_array_equal(jnp.choose(at, choices, mode="wrap"), expected)
    program = make_jaxpr(lambda a, c: jnp.choose(a, c, mode="wrap"))(at, among).jaxpr
    largest = max(v.aval.size for equation in program.eqns for v in equation.outvars)
    assert largest <= (len(choice) + 1) * max(expected.size, 1)  # a position along each axis


@pytest.mark.parametrize("call", [
    lambda x: jnp.pad(x, 1), lambda x: jnp.pad(x, 2, mode="reflect"), lambda x: jnp.pad(x, (1, 2), constant_values=2.5),
    lambda x: jnp.percentile(x, 30), lambda x: jnp.nanpercentile(x, 30.0), lambda x: jnp.linspace(0.0, 1, 7), lambda x: jnp.linspace(2, 2, 3),
    lambda x: jnp.linspace(0, 1, 4, endpoint=False), lambda x: jnp.linspace(1.0, -1.0, 1), lambda x: jnp.atleast_3d(x), lambda x: jnp.moveaxis(x[None], 0, 1),
    lambda x: jnp.sort_complex(x), lambda x: jnp.ediff1d(x), lambda x: jnp.unwrap(4 * x), lambda x: jnp.diff(x, 2)])
def test_first_and_later_calls_and_programs_agree(call):
    x = jnp.asarray([0.25, -1.5, 3.0, 2.0, 0.5])
    first, traced = call(x), jit(call)(x)
    for _ in range(20):
        later = call(x)
    assert first.dtype == later.dtype == traced.dtype and first.weak_type == later.weak_type == traced.weak_type
    np.testing.assert_allclose(later, first, rtol=1e-6)
    np.testing.assert_allclose(traced, first, rtol=1e-5)


_N = 20_001
_LARGE = np.sin(np.arange(_N) * 0.7).astype(np.float32)
_WHOLE = (np.arange(_N, dtype=np.int32) * 7919 - 50_000)
_SORTED = np.sort(_LARGE)


@pytest.mark.parametrize("call", [
    lambda p: p.hanning(_N), lambda p: p.hamming(_N), lambda p: p.blackman(_N), lambda p: p.blackman(_N - 1), lambda p: p.bartlett(_N),
    lambda p: p.linspace(-3.0, 10.0, _N), lambda p: p.linspace(-3.0, 10.0, _N, endpoint=False), lambda p: p.linspace(5, 5, _N),
    lambda p: p.delete(_WHOLE, np.array([3, -1, 17])), lambda p: p.delete(_WHOLE, 0), lambda p: p.delete(_WHOLE, np.array([_N - 1, 0])), lambda p: p.delete(_WHOLE, np.array([], int)),
    lambda p: p.delete(_WHOLE[:_N - 1].reshape(-1, 2), np.array([-2, 5]), axis=0), lambda p: p.bitwise_count(np.abs(_WHOLE)),
    lambda p: p.searchsorted(_SORTED, _LARGE[::7]), lambda p: p.searchsorted(_SORTED, _LARGE[::7], side="right"),
    lambda p: p.histogram2d(_LARGE, _LARGE[::-1].copy(), 8, range=((-1, 1), (-0.5, 0.5)))[0],
    lambda p: p.histogram2d(_LARGE, _LARGE[::-1].copy(), [np.array([-1.0, -0.25, 0.5]), 4], range=((-1, 1), (-1, 1)), weights=np.float32(_WHOLE % 5))[0],
    lambda p: p.stack(p.indices((150, 140))), lambda p: p.frexp(_LARGE)[0], lambda p: p.frexp(_LARGE)[1], lambda p: p.trapezoid(_LARGE)],
    ids=lambda call: None)
def test_calls_on_many_elements_agree_with_numpy(call):
    """The first of them and those after they were compiled."""
    expected = call(np)
    for _ in range(18):
        found = call(jnp)
    np.testing.assert_allclose(call(jnp), found, rtol=1e-6, atol=1e-7)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("call", [
    lambda p, x: p.reshape(x, (3, 2)), lambda p, x: p.ravel(x), lambda p, x: p.squeeze(x[None]), lambda p, x: p.squeeze(x[:, None], 1),
    lambda p, x: p.expand_dims(x, (0, -1)), lambda p, x: p.transpose(x), lambda p, x: p.transpose(x[None], (2, 0, 1)), lambda p, x: p.resize(x, (4, 5)),
    lambda p, x: p.roll(x, -2), lambda p, x: p.roll(x, (1, 2), (0, 1)), lambda p, x: p.roll(x, 7, 1), lambda p, x: p.meshgrid(x[0], x[:, 0])[1],
    lambda p, x: p.split(x, 3, axis=1)[2], lambda p, x: p.array_split(x, 2, axis=1)[1], lambda p, x: p.split(x, [1, 1], axis=1)[1],
    lambda p, x: p.vstack([x, x[:1]]), lambda p, x: p.hstack([x, x]), lambda p, x: p.hstack([x[0], x[1]]), lambda p, x: p.dstack([x, x]),
    lambda p, x: p.column_stack([x[:, 0], x]), lambda p, x: p.stack([x, x], 1), lambda p, x: p.concatenate([x, x], -1), lambda p, x: p.arange(7, 1, -2),
    lambda p, x: p.diag_indices(3)[1], lambda p, x: p.correlate(x[0], x[1], "full"), lambda p, x: p.convolve(x[0], x[1], "same")],
    ids=lambda call: None)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_moves_of_few_elements_agree_with_numpy(call, dtype):
    """The first calls, on the host, and those after them, which are compiled."""
    x = np.array([[3, 0, 1], [2, 5, 0]]).astype(dtype)
    expected = call(np, x)
    for _ in range(20):
        found = call(jnp, jnp.asarray(x))
        assert found.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(found).astype(float), np.asarray(expected).astype(float))


@pytest.mark.parametrize("negative", [True, False])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("size", [None, 0, 1, 3])
def test_slices_that_start_at_a_number_agree_with_the_program(compiled, size, axis, negative):
    """They are read on the host; starts beyond an end, and negative ones, are where the program would have them."""
    x = jnp.arange(12).reshape(4, 3)
    for start in range(-6, 7):
        def read(x):
            if size is None:
                return lax.dynamic_index_in_dim(x, start, axis, False, allow_negative_indices=negative)
            return lax.dynamic_slice_in_dim(x, start, size, axis, allow_negative_indices=negative)
        if start < 0 and not negative and size is not None:
            with pytest.raises(ValueError, match="is negative, and allow_negative_indices is False"):
                read(x)
            continue
        before = len(compiled)
        found = read(x)
        assert len(compiled) == before
        want = jit(read)(x)
        assert found.aval == want.aval
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_integers_on_a_line_are_exact_in_programs_too(dtype):
    grid = jit(lambda low, high, num: jnp.linspace(low, high, num), static_argnums=2)
    for num in (2, 3, 50, 56, 99, 129):
        for low in (-3, 0, 100):
            low, high = jnp.asarray(low, dtype), jnp.asarray(low + num - 1, dtype)
            assert grid(low, high, num).tolist() == list(range(int(low), int(high) + 1))
    far = jnp.finfo(dtype).max
    assert np.isfinite(np.asarray(grid(-far, far, 6), np.float64)).all()


@pytest.mark.parametrize("units", [-2, -1, 0, 1, 2])
def test_a_step_is_exact_where_division_is_not(units, monkeypatch):
    def divide(a, b):
        return (np.divide(np.asarray(a), np.asarray(b)).view(np.int32) + units).view(np.float32)
    monkeypatch.setattr(lax, "div", divide)
    for gaps in (2, 33, 49, 1000, 4095):
        for step in np.float32([0.5, 1, 7.25, -3]):
            assert float(_quotient(step * np.float32(gaps), np.float32(gaps), gaps)) == step


def test_decades_of_geomspace_are_exact():
    assert jnp.geomspace(1, 1000, 4).tolist() == [1, 10, 100, 1000]
    assert jnp.geomspace(-100, -1, 3).tolist() == [-100, -10, -1]
    assert jnp.geomspace(1, 10**6, 7, dtype=int).tolist() == jnp.logspace(0, 6, 7, dtype=int).tolist() == [10**k for k in range(7)]


@pytest.mark.parametrize("shape", [(3,), (1,), (3, 4), (1, 4), (2, 3, 4), (2, 3, 4, 5), (3, 0)], ids=str)
def test_rows_of_one_array_are_joined_as_a_whole(shape):
    """As NumPy joins the sequence of them, in operations whose number does not depend on how many they are."""
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    joins = [(getattr(np, name), getattr(jnp, name)) for name in ("vstack", "hstack", "dstack", "column_stack")]
    for axis in range(-len(shape) + 1, len(shape) - 1):
        joins.append((lambda rows, axis=axis: np.concatenate(list(rows), axis), lambda rows, axis=axis: jnp.concatenate(rows, axis)))
    for numpys, ours in joins:
        np.testing.assert_array_equal(ours(jnp.asarray(x)), numpys(list(x)), strict=True)
        assert len(make_jaxpr(ours)(x).eqns) <= 4, numpys
    assert jnp.vstack(x, dtype=jnp.int16).dtype == np.int16
    with pytest.raises(ValueError, match="^Need at least one array"):
        jnp.dstack(jnp.zeros((0, *shape)))


@pytest.mark.parametrize("args", [(0.5, 3e5), (3.25, -1e5, -0.25), (0, 4e5, 0.5, "bfloat16"), (0, 1e6, 2.5, "complex64")], ids=str)
def test_long_ranges_are_computed_where_they_are_used(args):
    """A program does not hold their elements, which are those of eager calls."""
    program = make_jaxpr(lambda: jnp.arange(*args))()
    assert not program.consts
    want = jnp.arange(*args)
    found = jit(lambda: jnp.arange(*args))()
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(found, want)


def test_a_range_beyond_a_narrow_dtype_is_infinite_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.arange(0, 200000, 7e4, dtype="float16")[-1] == np.inf
