"""Laws of the functions of jax.numpy that arrange, reduce, read and write arrays."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from harness import LAWS, Case
from jax_core.programs.jit import jit
from jax_core.representation.errors import ConcretizationTypeError


def narrowed(reference):
    """A reference with NumPy's 64-bit integers as the default 32-bit ones."""
    def one(x):
        x = np.asarray(x)
        return x.astype(np.int32) if x.dtype == np.int64 else x

    def call(*xs):
        out = reference(*xs)
        return [one(x) for x in out] if isinstance(out, (list, tuple)) else one(out)
    return call


def case(name, types, *args, like=None, **options):
    """The function ``name`` with further arguments, against NumPy's of the same name."""
    keywords = {k: options.pop(k) for k in list(options) if k in KEYWORDS}
    reference = narrowed(like or (lambda *xs: getattr(np, name)(*xs, *args, **keywords)))
    label = name + "".join(f"-{a}" for a in (*args, *keywords.values()))
    return Case(lambda *xs: getattr(jnp, name)(*xs, *args, **keywords), types, reference=reference, name=label, **options)


KEYWORDS = {"axis", "keepdims", "ddof", "method", "mode", "indexing", "where", "initial", "side", "k", "offset"}

INDICES = [
    np.s_[1], np.s_[-1], np.s_[1:], np.s_[::-1], np.s_[::2, 1], np.s_[..., 0], np.s_[None, 1], np.s_[:, None, -2:],
    (np.array([2, 0, 0]),), (slice(None), np.array([1, -1])), (np.array([[0], [2]]), np.array([1, 3])),
    (np.array([0, 1]), slice(1, 3)), (slice(None, None, 2), np.array([0, 3])), (np.array([1, 2]), None), (np.array([True, False, True]),),
    (slice(None, None, -1), np.array([0, 3])), np.s_[5:2], np.s_[()], (Ellipsis, np.array([3, 3])),
]


def updated(op, index):
    """NumPy's in-place operation on a copy."""
    def reference(x, v):
        x = x.copy()
        {"set": lambda: x.__setitem__(index, v), "add": lambda: np.add.at(x, index, v),
         "multiply": lambda: np.multiply.at(x, index, v), "max": lambda: np.maximum.at(x, index, v),
         "min": lambda: np.minimum.at(x, index, v)}[op]()
        return x
    return reference


UPDATES = [("set", np.s_[1]), ("set", np.s_[::2, 1:]), ("set", (np.array([2, 0]),)), ("set", (slice(None), np.array([1, 3]))),
           ("add", (np.array([2, 0, 2]),)), ("add", np.s_[1:, ::-2]), ("multiply", np.s_[0]), ("max", (np.array([0, 2]), 1)),
           ("min", np.s_[..., 2]), ("add", (np.array([True, False, True]),)), ("multiply", (np.array([0, 2]), slice(0, 2)))]

CASES = [
    case("sum", "f32[3,4] i8[3,4] bool[3,4] bf16[3,4]", axis=0, like=lambda x: np.sum(x.astype(np.float64) if x.dtype.kind in "fV" else x, 0).astype(
        np.int32 if x.dtype.kind in "ib" else x.dtype)),
    case("prod", "f32[2,3]", axis=1, keepdims=True, tolerance=32), case("max", "f32[3,4] i8[3,4] bool[2,2]", axis=1),
    case("min", "f32[3,4] u8[3,4]"), case("mean", "f32[3,4] bf16[64] c64[3]"), case("mean", "f32[2,3,4]", axis=(0, 2), keepdims=True),
    case("var", "f32[3,4] f32[5]", axis=0, tolerance=32), case("var", "c64[5]", tolerance=32, vmapped=False),
    case("std", "f32[3,4]", axis=1, ddof=1, tolerance=32), case("all", "bool[3,4] f32[2]", axis=0), case("any", "bool[3,4]"),
    case("ptp", "f32[3,4]", axis=1), case("count_nonzero", "i8[3,4] f32[3]"), case("cumsum", "f32[3,4] i32[3,4]", axis=1),
    case("cumprod", "f32[5]", tolerance=32), case("nansum", "f32[3,4]", axis=0), case("nanmean", "f32[3,4]", axis=1),
    case("nanmax", "f32[3,4]", axis=0), case("nanvar", "f32[3,4]", axis=0, tolerance=32), case("argmax", "f32[3,4] i8[3,4]", axis=1),
    case("argmin", "f32[3,4]"), case("average", "f32[3,4]", axis=0), case("median", "f32[3,5] f32[4,2]", axis=0),
    case("quantile", "f32[7]", 0.3, tolerance=32), case("percentile", "f32[3,7]", np.array([10, 60]), axis=1, tolerance=32),
    case("cov", "f32[3,6]", tolerance=64, like=lambda x: np.cov(x.astype(np.float64)).astype(np.float32)),
    case("corrcoef", "f32[3,6]", tolerance=64, like=lambda x: np.corrcoef(x.astype(np.float64)).astype(np.float32)),
    case("sort", "f32[3,4] i8[9] bool[4] bf16[5]"), case("argsort", "f32[9] i8[9]", like=lambda x: np.argsort(x, kind="stable")),
    case("lexsort", "i8[3,9]", domain=(0, 3), vmapped=False), case("partition", "f32[7]", 3, like=np.sort),
    Case(lambda x, v: jnp.searchsorted(jnp.sort(x), v, side="right"), "f32[6],f32[2,3] i32[6],i32[4]", name="searchsorted",
         reference=narrowed(lambda x, v: np.searchsorted(np.sort(x), v, side="right"))),
    case("digitize", "f32[6]", np.array([-1.0, 0.0, 1.0], np.float32)),
    Case(lambda x: jnp.bincount(x, length=5), "i32[9]", name="bincount", domain=(0, 4), reference=narrowed(lambda x: np.bincount(x, minlength=5))),
    Case(lambda x: jnp.histogram(x, bins=4, range=(-2, 2))[0], "f32[20]", name="histogram", derivative=False,
         reference=lambda x: np.histogram(x, bins=4, range=(-2, 2))[0].astype(np.float32)),
    case("reshape", "f32[2,6] i8[3,4]", (4, 3)), Case(lambda x: jnp.reshape(x, (-1, 2), order="F"), "f32[3,4]", name="reshape_F",
                                                       reference=lambda x: np.reshape(x, (-1, 2), order="F")),
    case("ravel", "f32[2,3]", "F"), case("squeeze", "f32[1,3,1]"), case("expand_dims", "f32[3]", (0, 2)),
    case("transpose", "f32[2,3,4]", (1, 2, 0)), case("moveaxis", "f32[2,3,4]", (0, 1), (2, 0)), case("swapaxes", "f32[2,3]", 0, 1),
    case("broadcast_to", "f32[3,1] i8[]", (2, 3, 4)), case("flip", "f32[2,3]", 1), case("rot90", "f32[2,3]", 3),
    case("roll", "f32[2,3]", 2, 1), case("roll", "f32[7]", -2), case("tile", "f32[2,3]", (2, 1)), case("repeat", "f32[2,3]", 2, axis=1),
    case("repeat", "f32[3,2]", np.array([0, 2, 1]), axis=0), case("tril", "f32[3,4]", -1), case("triu", "f32[2,3,3]", 1),
    case("diag", "f32[3]", 1), case("diag", "f32[3,4]", -1), case("diagonal", "f32[2,3,4]", 1, 1, 2), case("trace", "f32[2,3,3]", 0, 1, 2),
    Case(lambda *xs: jnp.concatenate(xs), "f32[2,3],f32[1,3] i8[2],i8[0]", name="concatenate",
         reference=lambda *xs: np.concatenate(xs)),
    Case(lambda *xs: jnp.stack(xs, -1), "f32[2,3],f32[2,3]", name="stack", reference=lambda *xs: np.stack(xs, -1)),
    Case(lambda *xs: jnp.block([[xs[0], xs[1]], [xs[1], xs[0]]]), "f32[2,2],f32[2,2]", name="block",
         reference=lambda x, y: np.block([[x, y], [y, x]])),
    case("split", "f32[6,2]", 3), case("split", "f32[6]", [1, 4]), case("append", "f32[2],f32[3]"), case("kron", "f32[2,2],f32[2,3]"),
    case("take", "f32[3,4]", np.array([[2, 0], [1, 1]]), axis=1),
    Case(lambda x, i: jnp.take_along_axis(x, i, 1), "f32[3,4],i32[3,2]", name="take_along_axis", domain=[(-2, 2), (0, 3)],
         reference=lambda x, i: np.take_along_axis(x, i, 1)),
    Case(lambda x: jnp.insert(x, np.array([1, 3]), 7.0, axis=1), "f32[2,4]", name="insert", reference=lambda x: np.insert(x, [1, 3], 7.0, 1)),
    case("delete", "f32[2,4]", np.array([0, 2]), 1), case("gradient", "f32[6]"), case("gradient", "f32[3,4]", 2.0, axis=1),
    case("trapezoid", "f32[6]", tolerance=32), case("convolve", "f32[6],f32[3] f32[3],f32[6]", mode="same", tolerance=32, like=lambda x, y: np.convolve(x, y, "same")),
    case("correlate", "f32[6],f32[3]", mode="full", tolerance=32, like=lambda x, y: np.correlate(x, y, "full")),
    Case(lambda x, f: jnp.interp(x, np.arange(4, dtype=np.float32), f), "f32[5],f32[4]", name="interp", domain=[(0.1, 2.9), (-2, 2)],
         reference=lambda x, f: np.interp(x, np.arange(4), f).astype(np.float32), tolerance=32, order=1),
    case("polyval", "f32[4],f32[5]", tolerance=32), case("polyder", "f32[5]"), case("polyint", "f32[5]"), case("vander", "f32[4]", 3, tolerance=32),
    case("poly", "f32[4]", tolerance=32), case("poly", "f32[1]"),
    case("polymul", "f32[4],f32[3]", tolerance=32),
] + [case("pad", "f32[3,4]", ((1, 2), (2, 0)), mode=m, tolerance=16)
     for m in ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "median")
] + [Case(lambda x, i=i: x[i] if hasattr(x, "at") else jnp.asarray(x)[i], "f32[3,4] i8[3,4]", name=f"getitem{i}",
          reference=lambda x, i=i: x[i]) for i in INDICES
] + [Case(lambda x, v, op=op, i=i: getattr(jnp.asarray(x).at[i], op)(v), "f32[3,4],f32[] i32[3,4],i32[]", name=f"at_{op}{i}",
          reference=updated(op, i)) for op, i in UPDATES]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_law(case, law):
    law(case)


def test_attributes_of_tracers_hide_no_method_of_arrays():
    """`var`, an array's method, was once the name of a tracer's own attribute."""
    from jax_core.traces.trace import Tracer
    from jax_numpy_api.numpy import array_methods  # noqa: F401
    methods = {name for name in vars(Tracer) if callable(getattr(Tracer, name))}
    pending = [Tracer]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        slots = {name for name in getattr(kind, "__slots__", ()) if not name.startswith("__")}
        assert kind is Tracer or not slots & methods, (kind, slots & methods)


def test_bincount_counts_zeros_and_takes_negative_numbers_for_them():
    x = np.array([3, 0, -2, 0, 1, -1])
    np.testing.assert_array_equal(jnp.bincount(x), [4, 1, 0, 1])
    np.testing.assert_array_equal(jit(lambda x: jnp.bincount(x, length=3))(x), [4, 1, 0])
    np.testing.assert_array_equal(jnp.bincount(x, weights=np.arange(6.0), length=4), [1 + 2 + 3 + 5, 4, 0, 0])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin", "nanmedian",
                                  "nancumsum", "nancumprod"])
def test_functions_that_leave_nan_out(name, axis):
    x = np.array([[1.5, np.nan, -2.0], [np.nan, 3.0, np.nan], [4.0, -0.5, 2.0]], np.float32)
    np.testing.assert_allclose(getattr(jnp, name)(x, axis), getattr(np, name)(x, axis), rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("positions", [1, -1, np.array([0, 2]), np.array([2, 0, 2]), slice(0, 2), slice(None, None, -2), np.array([], int)])
def test_delete(positions, axis):
    x = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(jnp.delete(x, positions, axis), np.delete(x, positions, axis))


def test_delete_at_traced_positions():
    x = np.arange(12).reshape(3, 4)
    for positions in (np.int32(-2), np.array([3, 0]), np.array([-1, -3])):
        delete = jit(lambda x, i: jnp.delete(x, i, 1, assume_unique_indices=True))
        np.testing.assert_array_equal(delete(x, positions), np.delete(x, positions, 1))
    np.testing.assert_array_equal(jit(lambda x, i: jnp.delete(x, i))(x, 5), np.delete(x, 5))
    for positions in (np.array([3, 0]), np.array([True, False, False, True])):
        with pytest.raises(ConcretizationTypeError, match="assume_unique_indices"):
            jit(lambda x, i: jnp.delete(x, i, 1))(x, positions)
    with pytest.raises(IndexError, match="obj names 9 positions, once each, of the 2 along the axis"):
        jit(lambda x, i: jnp.delete(x, i, assume_unique_indices=True))(x[0, :2], np.arange(9))


@pytest.mark.parametrize("q", [0.3, np.array([0.0, 0.5, 1.0])])
def test_quantiles_that_leave_nan_out(q):
    x = np.array([[1.5, np.nan, -2.0, 7.0], [np.nan, 3.0, np.nan, 8.0], [4.0, -0.5, 2.0, np.nan]], np.float32)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(jnp.nanquantile(x, q, axis), np.nanquantile(x, q, axis), rtol=1e-6)
        np.testing.assert_allclose(jnp.nanpercentile(x, 100 * q, axis), np.nanpercentile(x, 100 * q, axis), rtol=1e-6)
        assert np.isnan(jnp.quantile(x, q, axis)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_parts_of_floats(dtype):
    """With subnormal numbers, which float16 would lose in its own arithmetic."""
    x = np.array([0.0, 1.0, -3.5, 6e-8, 6e-5, 65504.0, np.inf], dtype)
    mantissa, exponent = jnp.frexp(x)
    want = np.frexp(x)
    assert mantissa.dtype == dtype and exponent.dtype == np.int32
    np.testing.assert_array_equal(mantissa, want[0])
    np.testing.assert_array_equal(exponent[:-1], want[1][:-1])


def test_least_multiples_and_differences():
    np.testing.assert_array_equal(jnp.lcm(np.array([0, 4, 6, -6]), np.array([5, 0, 4, 4])), [0, 0, 12, 12])
    x = np.array([[1, 4, 9, 16], [0, 1, 0, 2]])
    for n, axis in ((1, 1), (2, -1), (1, 0), (5, 1)):
        np.testing.assert_array_equal(jnp.diff(x, n, axis), np.diff(x, n, axis))
    assert jnp.diff(np.zeros(0)).shape == (0,)


def test_stack_takes_an_array_apart():
    x = np.arange(6.0).reshape(2, 3)
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(jnp.stack(jnp.asarray(x), axis), np.stack(x, axis))
    for function, error in ((jnp.stack, TypeError), (jnp.unstack, ValueError)):
        with pytest.raises(error):
            function(jnp.float32(1))


@pytest.mark.parametrize("arrays, message", [([[1, 2], 3], "Mismatched list depths in jnp.block: \\[0, 1\\]"), ([1, []], "a list is empty"),
                                             ([(1, 2)], "does not allow tuples")])
def test_blocks_that_do_not_nest(arrays, message):
    with pytest.raises(ValueError, match=message):
        jnp.block(arrays)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_pad_turns_reflections_about_the_end(mode, length):
    """Also where a reflection is longer than the array, and is reflected again."""
    x = np.arange(length) ** 2 + 1
    np.testing.assert_array_equal(jnp.pad(x, (7, 3), mode=mode, reflect_type="odd"), np.pad(x, (7, 3), mode=mode, reflect_type="odd"))


@pytest.mark.parametrize("row, ends, want", [
    ([np.inf, 2.0], 0.0, [0.0, np.inf, np.inf, 2.0, 1.0, 0.0]), ([np.nan, 2.0], 1.0, [1.0, np.nan, np.nan, 2.0, 1.5, 1.0]),
    ([3e38, 1.0], -3e38, [-3e38, 0.0, 3e38, 1.0, -1.5e38, -3e38])])
def test_ramps_end_at_what_was_given(row, ends, want):
    """Whatever they start from, and though the way is longer than the largest number."""
    got = jnp.pad(jnp.array(row, np.float32), 2, mode="linear_ramp", end_values=ends)
    np.testing.assert_allclose(got, np.array(want, np.float32), rtol=1e-6)


def test_take_clips_negative_positions_to_the_first():
    """As NumPy's "clip", and unlike `x.at[...].get(mode="clip")`, where they count from the end."""
    x, positions = jnp.arange(5.0), np.array([-1, -7, 7, 2])
    np.testing.assert_array_equal(jnp.take(x, positions, mode="clip"), np.take(np.arange(5.0), positions, mode="clip"))
    np.testing.assert_array_equal(x.at[positions].get(mode="clip"), [4, 0, 4, 2])


@pytest.mark.parametrize("x, dtype, want", [
    (["3.0", "1e-3"], "float32", [3, 1e-3]), ([["1"], ["2"]], "int32", [[1], [2]]), ([3.0, "4"], "float32", [3, 4]), (np.array(["3"]), "float32", [3]),
    (np.str_("3"), "float32", 3), (b"3", "float32", 3), ("1+2j", "complex64", 1 + 2j), (["True", ""], "bool", [True, False]), ([np.str_("2"), 1], "int32", [2, 1])])
def test_text_is_a_number_where_a_dtype_is_given(x, dtype, want):
    """As jax-md reads parameters of forces from files."""
    got = jnp.array(x, dtype)
    assert got.dtype == dtype and np.array_equal(got, np.array(want, dtype))


def test_text_beside_traced_numbers():
    assert jit(lambda x: jnp.array([x, "3"], "float32"))(1.0).tolist() == [1, 3]
    with pytest.raises(ValueError, match="x"):
        jnp.array(["x"], "float32")
    with pytest.raises(TypeError, match="'3' of type str is no array"):
        jnp.array(["3"])


def test_an_array_of_which_nothing_is_masked_is_its_data():
    """As netCDF4 reads arrays (jax-md's tests)."""
    for x in (np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0], mask=[False, False])):
        assert jnp.array(x).tolist() == [1, 2] and jnp.array(x, "int32").tolist() == [1, 2]
    with pytest.raises(ValueError, match="masked arrays"):
        jnp.array(np.ma.array([1.0, 2.0], mask=[False, True]))


@pytest.mark.parametrize("shifts, axis, dtype", [(30, None, "int32"), (30, 0, "int8"), (4, (0, 1, 1, 0), "int32"), (1, 1, "int32")], ids=str)
def test_rolls_along_one_axis_are_one(shifts, axis, dtype):
    """As many traced ones in turn would double the code with each."""
    shift, x = np.random.default_rng(0).integers(-99, 99, shifts).astype(dtype), np.arange(35).reshape(7, 5)
    np.testing.assert_array_equal(jit(lambda x, s: jnp.roll(x, s, axis))(x, shift), np.roll(x, shift, axis))
    known = (int(shift[0]), *jnp.asarray(shift)[1:])
    np.testing.assert_array_equal(jit(lambda x, s: jnp.roll(x, (known[0], *s), axis))(x, known[1:]), np.roll(x, shift, axis))
    text = jit(lambda x, s: jnp.roll(x, s, axis)).trace(x, shift).lower().as_text()
    assert text.count("stablehlo.concatenate") == (1 if np.ndim(axis) == 0 else 2)


def test_the_program_of_a_polynomial_does_not_grow_with_its_roots():
    assert len(jit(jnp.poly).trace(np.ones(40, np.float32)).jaxpr.eqns) < 10


@pytest.mark.parametrize("size, counts", [(2, [2, 1]), (5, [2, 1, 2, 0, 0])])
def test_distinct_elements_are_placed_by_one_scatter(size, counts):
    """A search for each among the ranks is a dozen gathers, each a kernel of its own on a TPU."""
    f, x = jit(lambda x: jnp.unique(x, return_counts=True, size=size)), np.array([7, 3, 9, 3, 9], np.int32)
    np.testing.assert_array_equal(f(x), [([3, 7, 9, 3, 3])[:size], counts])
    text = f.trace(x).lower().as_text()
    assert (text.count('"stablehlo.scatter"'), text.count('"stablehlo.gather"')) == (1, 1)
