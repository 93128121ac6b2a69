"""Dtypes: the promotion lattice against the reference's recorded tables, and its laws."""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from jax_core.configuration import flags
from jax_core.representation import dtypes
from jax_core.representation.errors import TypePromotionError

FACTS = json.loads((pathlib.Path(__file__).parent / "data" / "promotion.json").read_text())


class Value:
    """A stand-in for an array: a dtype and whether it is weak."""

    def __init__(self, dtype, weak_type):
        self.dtype = dtype
        self.weak_type = weak_type


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def _value(name):
    """What a name in the recorded table stands for."""
    if name.startswith("py:"):
        return {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[name[3:]]
    if name.startswith("~"):
        return Value(dtypes.canonicalize_dtype(_dtype(name[1:])), True)
    return _dtype(name)


def _result(*values):
    """The result type as the recorded table writes it."""
    try:
        dtype, weak = dtypes.result_type(*values, return_weak_type_flag=True)
    except TypePromotionError:
        return "!"
    return ("~" if weak else "") + dtype.name


@pytest.mark.parametrize("settings", FACTS["tables"])
def test_result_type_is_that_of_the_reference_for_every_pair(settings):
    x64, mode = settings.split()
    with flags.enable_x64(x64 == "x64=1"), flags.numpy_dtype_promotion(mode):
        names = FACTS["names"]
        wrong = []
        for a, row in zip(names, FACTS["tables"][settings]):
            for b, want in zip(names, row.split()):
                got = _result(_value(a), _value(b))
                if got != want:
                    wrong.append((a, b, got, want))
    assert wrong == []


STRONG = st.sampled_from([_value(name) for name in FACTS["names"] if name[0] != "~" and not name.startswith("py:")])
ANY = st.sampled_from([_value(name) for name in FACTS["names"]])


@given(a=ANY, b=ANY)
def test_promotion_does_not_depend_on_the_order(a, b):
    assert _result(a, b) == _result(b, a)


@given(values=st.lists(STRONG, min_size=1, max_size=4), seed=st.randoms())
def test_promotion_of_many_does_not_depend_on_the_order(values, seed):
    shuffled = list(values)
    seed.shuffle(shuffled)
    assert _result(*values) == _result(*shuffled)


@given(a=STRONG)
def test_a_dtype_with_itself_or_with_a_boolean_is_that_dtype(a):
    want = dtypes.canonicalize_dtype(a).name
    assert _result(a) == _result(a, a) == _result(a, True) == _result(a, np.bool_) == want


@given(a=STRONG, b=STRONG)
def test_the_promoted_type_absorbs_both(a, b):
    joined = _result(a, b)
    if joined != "!":
        assert _result(_dtype(joined), a) == _result(_dtype(joined), b) == joined


@given(a=ANY, b=ANY, x64=st.booleans())
def test_results_are_canonical(a, b, x64):
    with flags.enable_x64(x64):
        try:
            found = dtypes.result_type(a, b)
        except TypePromotionError:
            return
        assert found == dtypes.canonicalize_dtype(found)


def test_weak_values_keep_their_width_among_themselves():
    """`lattice_result_type` reports the width; `result_type` gives the default of the kind."""
    narrow = Value(np.dtype("int16"), True)
    assert dtypes.lattice_result_type(narrow, narrow) == (np.dtype("int16"), True)
    assert dtypes.result_type(narrow, narrow) == np.int32


def test_a_64_bit_type_is_made_only_from_64_bit_types_while_x64_is_off():
    i32, u32 = Value(np.dtype("int32"), False), Value(np.dtype("uint32"), False)
    i64 = Value(np.dtype("int64"), False)  # made under an explicit request
    assert dtypes.lattice_result_type(i32, u32) == (np.int32, False)
    assert dtypes.lattice_result_type(i32, i64) == (np.int64, False)


def test_strict_promotion_names_the_flag_and_the_remedy():
    with flags.numpy_dtype_promotion("strict"):
        with pytest.raises(TypePromotionError) as error:
            dtypes.result_type(np.int32, np.float32)
    assert str(error.value) == (
        "Dtypes int32 and float32 have no implicit promotion to a common dtype, as jax_numpy_dtype_promotion is"
        " 'strict'. Convert one of the values, as with x.astype('float32').")


class KeyType(dtypes.ExtendedDType):
    """A stand-in for the dtype of random keys."""

    type = dtypes.prng_key
    name = "key<test>"


def test_extended_dtypes_combine_with_themselves_only():
    key = Value(KeyType(), False)
    key2 = Value(key.dtype, False)
    assert dtypes.result_type(key, key2) is key.dtype
    with pytest.raises(ValueError, match=r"^dtype key<test> takes no part in promotion"):
        dtypes.result_type(key, 1)
    with pytest.raises(ValueError, match=r"^canonicalize_dtype: key<test> is an extended dtype"):
        dtypes.canonicalize_dtype(key.dtype)
    assert dtypes.canonicalize_dtype(key.dtype, allow_extended_dtype=True) is key.dtype


@pytest.mark.parametrize("a, b, want", [
    (KeyType(), dtypes.extended, True), (KeyType(), dtypes.prng_key, True), (KeyType(), np.generic, True),
    (KeyType(), "f4", False), (dtypes.prng_key, dtypes.extended, True), ("f4", dtypes.extended, False),
    (dtypes.bfloat16, np.floating, True), (dtypes.bfloat16, np.inexact, True), (dtypes.bfloat16, float, False),
    (dtypes.bfloat16, dtypes.bfloat16, True), ("int4", np.signedinteger, True), ("uint2", np.integer, True),
    ("uint2", np.signedinteger, False), (dtypes.float0, np.void, True), (int, np.integer, True),
    (bool, np.bool_, True), (np.int32, int, False), (None, np.floating, True), ("complex64", np.inexact, True),
])
def test_issubdtype(a, b, want):
    assert dtypes.issubdtype(a, b) is want


@pytest.mark.parametrize("dtype, kind, want", [
    ("f4", "real floating", True), ("f4", ("integral", "f4"), True), ("bfloat16", "real floating", True),
    ("int4", "signed integer", True), ("bool", "numeric", False), ("bool", "bool", True), ("f4", (), False),
    ("complex64", "numeric", True), ("uint8", "integral", True),
])
def test_isdtype(dtype, kind, want):
    assert dtypes.isdtype(dtype, kind) is want


def test_isdtype_refuses_what_is_no_kind():
    with pytest.raises(ValueError, match=r"^isdtype: kind='foo' is neither one of"):
        dtypes.isdtype("f4", "foo")
    with pytest.raises(TypeError, match=r"^isdtype: kind=<class 'numpy.floating'> must be a dtype"):
        dtypes.isdtype("f4", np.floating)


@pytest.mark.parametrize("name, short", [
    ("bool", "bool"), ("int8", "i8"), ("uint64", "u64"), ("float16", "f16"), ("bfloat16", "bf16"),
    ("complex64", "c64"), ("float8_e4m3fn", "f8_e4m3fn"), ("int4", "i4"), ("uint2", "u2"),
    ("float4_e2m1fn", "f4_e2m1fn"),
])
def test_short_names(name, short):
    assert dtypes.short_name(_dtype(name)) == short


def test_short_names_of_types_that_are_not_numbers():
    assert dtypes.short_name(dtypes.float0) == "float0"
    assert dtypes.short_name(KeyType()) == "key<test>"


# Recorded from the reference (jax 0.12): dtype -> inexact, numeric, complex.
@pytest.mark.parametrize("row", [
    "bool float32 int32 complex64", "int8 float32 int8 complex64", "int64 float64 int64 complex128",
    "uint32 float32 uint32 complex64", "uint64 float64 uint64 complex128", "float16 float16 float16 complex64",
    "bfloat16 bfloat16 bfloat16 complex64", "float64 float64 float64 complex128",
    "complex64 complex64 complex64 complex64", "complex128 complex128 complex128 complex128",
    "int4 float32 int4 complex64", "float8_e5m2 float8_e5m2 float8_e5m2 complex64",
])
def test_related_dtypes(row):
    name, *want = row.split()
    dtype = _dtype(name)
    functions = (dtypes.to_inexact_dtype, dtypes.to_numeric_dtype, dtypes.to_complex_dtype)
    assert [f(dtype).name for f in functions] == want


def test_supports_inf_of_common_types():
    yes = {d.name for d in dtypes.numeric_dtypes if dtypes.supports_inf(d)}
    assert {"float16", "bfloat16", "float32", "float64", "complex64", "float8_e5m2", "float8_e3m4"} <= yes
    assert not yes & {"int32", "bool", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2fnuz"}


@pytest.mark.parametrize("name", [
    "float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float8_e4m3", "float8_e5m2fnuz", "float16", "bfloat16"])
def test_supports_inf_is_true_to_the_arithmetic(name):
    assert dtypes.supports_inf(_dtype(name)) == bool(np.isinf(np.float64(np.inf).astype(_dtype(name)).astype("f8")))


def test_a_64_bit_request_warns_where_the_user_made_it():
    with pytest.warns(UserWarning) as warned:
        assert dtypes.canonicalize_user_dtype("float64", "zeros") == np.float32
    assert str(warned[0].message) == (
        "Explicitly requested dtype float64 in zeros is not available and was truncated to float32: 64-bit types are"
        " off. Turn them on with jax.config.update('jax_enable_x64', True) or the environment variable"
        " JAX_ENABLE_X64=1.")


def test_pythons_own_types_ask_for_a_kind_and_do_not_warn(recwarn):
    assert dtypes.canonicalize_user_dtype(float, "zeros") == np.float32
    assert dtypes.canonicalize_user_dtype(int, "zeros") == np.int32
    with flags.enable_x64(True):
        assert dtypes.canonicalize_user_dtype(float, "zeros") == np.float64
    assert not recwarn


def test_explicit_x64_dtypes_modes():
    with flags.explicit_x64_dtypes("error"), pytest.raises(ValueError, match=r"^zeros: dtype=int64 was asked for"):
        dtypes.canonicalize_user_dtype("int64", "zeros")
    with flags.explicit_x64_dtypes("allow"):
        assert dtypes.canonicalize_user_dtype("int64", "zeros") == np.int64


@pytest.mark.parametrize("bad", ["S3", object, "datetime64[s]"])
def test_dtypes_that_arrays_cannot_have_are_refused(bad):
    with pytest.raises(TypeError, match=r"^zeros: dtype=.* is not a dtype that JAX arrays can have"):
        dtypes.canonicalize_user_dtype(bad, "zeros")
    with pytest.raises(TypeError, match="which JAX arrays cannot have"):
        dtypes.result_type(bad)


@pytest.mark.parametrize("bad", [[1, 2], object()])
def test_values_without_a_dtype_are_refused(bad):
    with pytest.raises(TypeError, match="has no dtype; a number, an array or a dtype is needed"):
        dtypes.result_type(bad)


def test_weakness_of_python_values():
    assert dtypes.is_weakly_typed(1) and dtypes.is_weakly_typed(1.0) and dtypes.is_weakly_typed(float)
    assert not dtypes.is_weakly_typed(np.float32(1)) and not dtypes.is_weakly_typed(np.ones(2))
    assert dtypes.is_weakly_typed(Value(np.dtype("int8"), True))


def test_every_type_of_ml_dtypes_is_a_name_here():
    for name in ("int4", "uint2", "float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn", "bfloat16"):
        assert getattr(dtypes, name) is getattr(ml_dtypes, name)


def test_scalar_type_of():
    assert [dtypes.scalar_type_of(x) for x in (True, 1, 1.0, 1j)] == [bool, int, float, complex]
    assert dtypes.scalar_type_of(np.int8(1)) is int and dtypes.scalar_type_of(dtypes.bfloat16(1)) is float


def test_itemsize_bits():
    names = ("int4", "uint2", "bool", "complex64", "float8_e5m2", "bfloat16", "float4_e2m1fn")
    assert [dtypes.itemsize_bits(_dtype(n)) for n in names] == [4, 2, 8, 64, 8, 16, 4]
