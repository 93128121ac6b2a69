"""Lowering: the text compiles on the jaxlib at hand, computes what the program says, and holds nothing it should not.

Programs here are made of core's own primitives and of a few declared below, so that only core and this package are
needed. They are compiled through jaxlib directly; how the runtime uses modules is tested elsewhere.
"""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from jax_core import backends
from jax_core.interfaces import LowerSpec
from jax_core.programs.jit import jit
from jax_core.representation import dtypes, source
from jax_core.representation.aval import ShapedArray, abstract_token
from jax_core.representation.effects import Effect
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.marks import ELEMENTWISE
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import ARITHMETIC, Kind, Traits
from jax_core.traces import structural
from jax_core.traces.staging import trace_to_closed, trace_to_jaxpr
from jax_xla_backend.arrays.put import put
from jax_xla_backend.compiling import parsing
from jax_xla_backend.jaxlib_compat import _jax
from jax_xla_backend.lowering import nested_modules, types
from jax_xla_backend.lowering.facts import Facts
from jax_xla_backend.lowering.module import lower_module
from jax_xla_backend.lowering.types import dense_text, type_text
from jax_xla_backend.platforms import client

pytestmark = pytest.mark.only_cpu

backends.get()  # sets jaxlib up
NO = none("not needed in these tests")


def _like(*types, **_):
    """The type of highest rank."""
    return max(types, key=lambda x: len(x.shape))


def primitive(name, lower, out_type=_like, **rules):
    rules = {**dict(jvp=NO, transpose=NO, batch=ELEMENTWISE), **rules}
    return Primitive(name, out_type=out_type, lower=lower, **rules)


mul_p = primitive("mul", "stablehlo.multiply", traits=Traits(Kind.ELEMENTWISE, ARITHMETIC))
erf_p = primitive("erf", "chlo.erf", traits=Traits(Kind.ELEMENTWISE, 1.2))


def program(fun, *avals):
    jaxpr, consts, _ = trace_to_jaxpr(fun, avals)
    return ClosedJaxpr(jaxpr, consts)


def lower(fun, *avals, name="f", **spec):
    return lower_module(program(fun, *avals), LowerSpec(name, **spec))


def run(module, *args, debug_info=False):
    """Results of the module for NumPy arguments, as NumPy arrays."""
    on = client.get_client("cpu")
    devices = tuple(on.local_devices()[:1])
    text = module.text(debug_info)
    source_module = parsing.parse(text) if module.facts.host_callbacks else text
    extra = (list(module.facts.host_callbacks),) if module.facts.host_callbacks else ()
    loaded = on.compile_and_load(source_module, _jax.DeviceList(devices), _jax.CompileOptions(), *extra)
    tokens = [np.zeros((0,), bool) for _ in module.facts.ordered_effects]
    inputs = [put(np.asarray(x)) for x in (*tokens, *module.facts.consts, *args)]
    outs = loaded.execute_sharded(inputs).disassemble_into_single_device_arrays()[len(tokens):]
    return [out[0]._single_device_array_to_np_array_did_copy()[0] for out in outs]


def f32(*shape):
    return ShapedArray(shape, np.float32)


X = np.arange(12, dtype=np.float32).reshape(3, 4)

# -- types and constants -----------------------------------------------------------------------------------------------

DTYPES = ["bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
          "uint64", "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn",
          "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3",
          "float8_e8m0fnu", "float4_e2m1fn"]


def values(name, size):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    if name == "float8_e8m0fnu":
        return (2.0 ** (np.arange(size) % 3)).astype(dtype)
    x = (np.arange(size) % 2 if name in ("bool", "int2", "uint2") else np.arange(size) % 4).astype(dtype)
    if name in ("bfloat16", "float16", "float32", "float64", "complex64", "complex128") and size > 4:
        x[:4] = [np.inf, -np.inf, -0.0, np.nan]
        x[4] = 1e-5
    return x


@pytest.mark.parametrize("size", [0, 1, 5, 40])
@pytest.mark.parametrize("name", DTYPES)
def test_constant_keeps_its_bits(name, size):
    """Splats, listed constants and strings of bytes come out of XLA as they went in."""
    x = values(name, size)
    kind = type_text(ShapedArray(x.shape, x.dtype))
    text = (f"module @m {{ func.func public @main() -> {kind} {{ %0 = stablehlo.constant dense<{dense_text(x)}> : {kind}"
            f" return %0 : {kind} }} }}")

    class Module:
        facts = Facts([], (), [], [])
        text = staticmethod(lambda debug_info: text_)
    text_ = text
    (out,) = run(Module)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(out.astype(np.complex128), x.astype(np.complex128))
    if x.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(out.astype(np.float64)), np.signbit(x.astype(np.float64)))


@pytest.mark.parametrize("aval,text", [
    (f32(), "tensor<f32>"), (f32(3, 0), "tensor<3x0xf32>"), (ShapedArray((2,), bool), "tensor<2xi1>"),
    (ShapedArray((2,), dtypes.float0), "tensor<2xi1>"), (ShapedArray((), ml_dtypes.bfloat16), "tensor<bf16>"),
    (ShapedArray((), np.complex64), "tensor<complex<f32>>"), (abstract_token, "!stablehlo.token"),
    (ShapedArray((1,), ml_dtypes.float8_e4m3fn), "tensor<1xf8E4M3FN>"), (ShapedArray((), np.uint8), "tensor<ui8>"),
])
def test_type_text(aval, text):
    assert type_text(aval) == text


# -- equations ---------------------------------------------------------------------------------------------------------

def test_scalars_broadcast_in_elementwise_operations():
    """Literals become constants of the full shape, scalar values are broadcast."""
    module = lower(lambda x, s: [mul_p.bind(mul_p.bind(x, 2.0), s)], f32(3, 4), f32())
    assert "dense<2.0> : tensor<3x4xf32>" in module.text()
    (out,) = run(module, X, np.float32(5))
    np.testing.assert_array_equal(out, 10 * X)


def test_chlo_operations_are_accepted():
    (out,) = run(lower(lambda x: [erf_p.bind(x)], f32(1)), np.zeros(1, np.float32))
    assert out == 0


def test_equations_of_one_kind_are_lowered_once():
    """The rule runs for the first of equal equations; the others fill in names, and the text is that of the rule."""
    calls = []

    def rule(b, x, *, n):
        calls.append(n)
        total = x
        for _ in range(n):
            total = b.emit(f"stablehlo.add {total}, {b.full(1, x.aval)}", total, b.full(1, x.aval), out=x.aval)
        return total

    count_p = primitive("count", rule)

    def fun(x):
        for n in (2, 2, 3, 0, 2):
            x = mul_p.bind(count_p.bind(x, n=n), 2.0)
        return [x]

    module = lower(fun, f32(4))
    assert calls == [2, 3, 0]
    (out,) = run(module, np.zeros(4, np.float32))
    expected = 0.0
    for n in (2, 2, 3, 0, 2):
        expected = (expected + n) * 2
    np.testing.assert_array_equal(out, expected)
    assert lower(fun, f32(4)).text() == module.text()
    assert calls == [2, 3, 0]


def test_float_parameters_are_not_confused():
    """0.0 and -0.0 are equal as keys, and must not share a text."""
    fill_p = primitive("fill", lambda b, x, *, value: b.full(value, x.aval))
    zero, minus = run(lower(lambda x: [fill_p.bind(x, value=0.0), fill_p.bind(x, value=-0.0)], f32(2), keep_unused=True),
                      np.ones(2, np.float32))
    assert not np.signbit(zero).any() and np.signbit(minus).all()


def test_literals_zero_and_minus_zero():
    plus, minus = run(lower(lambda x: [mul_p.bind(x, 0.0), mul_p.bind(x, -0.0)], f32(2)), np.ones(2, np.float32))
    assert not np.signbit(plus).any() and np.signbit(minus).all()


def test_missing_rule_names_the_primitive():
    lost_p = primitive("lost", None)
    with pytest.raises(NotImplementedError, match="'lost' not found for platform cpu"):
        lower(lambda x: [lost_p.bind(x)], f32())


def test_structural_primitives_compute():
    def fun(x):
        y = structural.transpose(structural.broadcast_in_dim(structural.reduce_sum(x, (1,)), (2, 3), (1,)), (1, 0))
        y = structural.convert_element_type_p.bind(y, new_dtype=np.dtype("int32"), weak_type=False)
        (y,) = structural.optimization_barrier_p.bind(y)
        return [y, structural.zeros(ShapedArray((2,), np.int8))]
    out, zeros = run(lower(fun, f32(3, 4)), X)
    np.testing.assert_array_equal(out, np.stack([X.sum(1)] * 2, 1).astype(np.int32))
    assert zeros.dtype == np.int8 and not zeros.any()


def test_region_operations_compute():
    """A loop that reads a value from outside, with constants of its own, around a sort and a branch."""
    def rule(b, x, n):
        i32, scalar = ShapedArray((), np.int32), ShapedArray((), bool)

        def cond(b, i, y):
            return [b.emit(f"stablehlo.compare LT, {i}, {n}, SIGNED", i, n, out=scalar)]

        def body(b, i, y):
            flag = b.emit(f"stablehlo.remainder {i}, {b.scalar(2, np.int32)}", i, b.scalar(2, np.int32), out=i32)
            branches = [b.region([], lambda b: [b.elementwise("stablehlo.add", y, b.scalar(1, np.float32), out=y.aval)]),
                        b.region([], lambda b: [b.elementwise("stablehlo.add", y, x, out=y.aval)])]
            y = b.emit(f'"stablehlo.case"({flag}) ({", ".join(branches)})', flag, out=y.aval)
            return [b.emit(f"stablehlo.add {i}, {b.scalar(1, np.int32)}", i, b.scalar(1, np.int32), out=i32), y]

        start = b.scalar(0, np.int32)
        regions = b.region([i32, x.aval], cond), b.region([i32, x.aval], body)
        y = b.emit(f'"stablehlo.while"({start}, {x}) ({", ".join(regions)})', start, x, out=[i32, x.aval])[1]
        f = ShapedArray((), np.float32)
        less = b.region([f, f], lambda b, p, q: [b.emit(f"stablehlo.compare GT, {p}, {q}, FLOAT", p, q, out=scalar)])
        y = b.emit(f'"stablehlo.sort"({y}) ({less})', y, out=y.aval, attrs="{dimension = 0 : i64, is_stable = true}")
        zero = b.scalar(0, np.float32)
        total = b.emit(f'"stablehlo.reduce"({y}, {zero}) ({b.reducer("stablehlo.add", np.float32)})', y, zero, out=f,
                       attrs="{dimensions = array<i64: 0>}")
        return b.elementwise("stablehlo.divide", y, total)

    loop_p = primitive("loop", rule, out_type=lambda x, n: x)
    (out,) = run(lower(lambda x, n: [loop_p.bind(x, n)], f32(3), ShapedArray((), np.int32)),
                 np.array([1, 2, 3], np.float32), np.int32(3))
    expected = (np.array([1, 2, 3]) * 2 + 2)[::-1]
    np.testing.assert_allclose(out, expected / expected.sum(), rtol=1e-6)


def test_fun_traces_once_and_is_inlined():
    calls = []

    def double_sum(x):
        calls.append(x)
        return structural.add(mul_p.bind(x, 2.0), x)

    fun_p = primitive("fun", lambda b, x: b.fun(lambda y: double_sum(y), x)[0])
    module = lower(lambda x: [fun_p.bind(fun_p.bind(x))], f32(3))
    assert len(calls) == 1 and "call" not in module.text()
    (out,) = run(module, np.ones(3, np.float32))
    np.testing.assert_array_equal(out, 9.0)


# -- functions ---------------------------------------------------------------------------------------------------------

call_p = Primitive("call", multiple_results=True, cacheable=False, jvp=NO, transpose=NO, batch=NO,
                   out_type=lambda *xs, jaxpr, **_: jaxpr.out_avals,
                   effects=lambda *xs, jaxpr, **_: jaxpr.effects,
                   lower=lambda b, *xs, jaxpr, name: b.call(name, jaxpr, *xs))


def inner(factor, shape=(3,)):
    return trace_to_closed(lambda x: [mul_p.bind(x, factor)], [f32(*shape)])[0]


def test_equal_functions_are_written_once():
    """Equality is that of the text: the same program, and another program of the same equations."""
    one, again, other = inner(2.0), inner(2.0), inner(3.0)

    def fun(x):
        for closed in (one, one, again, other):
            (x,) = call_p.bind(x, jaxpr=closed, name="g")
        return [x]

    module = lower(fun, f32(3))
    assert module.text().count("func.func private") == 2 and module.text().count("func.call") == 4
    assert "@g(" in module.text() and "@g_0(" in module.text()
    (out,) = run(module, np.ones(3, np.float32))
    np.testing.assert_array_equal(out, 24.0)


def test_names_become_symbols():
    closed = inner(2.0)
    module = lower(lambda x: call_p.bind(x, jaxpr=closed, name="<lambda>"), f32(3), name="a b/c")
    assert module.name == "jit_a_b_c" and "@_lambda(" in module.text()
    run(module, np.ones(3, np.float32))


@pytest.mark.parametrize("name", ["σ", "größe", "變數", "f😀", "1st", "$x", ".", ""])
def test_functions_may_have_any_name(name):
    closed = inner(2.0)
    module = lower(lambda x: call_p.bind(x, jaxpr=closed, name=name), f32(3), name=name)
    assert module.name.startswith("jit_") and module.text().isascii()
    (out,) = run(module, np.ones(3, np.float32))
    np.testing.assert_array_equal(out, 2.0)


def test_imported_modules_may_quote_names():
    """As those of the public jax do: `"<lambda>"`, and letters beyond ASCII."""
    text = """module @jit_f {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = call @"<lambda>"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = call @"\\CF\\83"(%0) : (tensor<3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @"<lambda>"(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @"\\CF\\83"(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 {name = "@main"} : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""
    imported_p = Primitive("imported", out_type=lambda x: x, jvp=NO, transpose=NO, batch=NO,
                           lower=lambda b, x: nested_modules.call(b, "σ", text, [x])[0])
    module = lower(lambda x: [imported_p.bind(imported_p.bind(x))], f32(3))
    assert module.text().count("func.func private") == 3 and '"@main"' in module.text()
    (out,) = run(module, np.ones(3, np.float32))
    np.testing.assert_array_equal(out, 64.0)


# -- inputs, constants, donation ---------------------------------------------------------------------------------------

def test_unused_inputs_and_dead_equations_go():
    def fun(x, y, z):
        mul_p.bind(y, y)
        return [mul_p.bind(x, z)]
    module = lower(fun, f32(), f32(), f32())
    assert module.facts.kept == (0, 2) and module.text().count("multiply") == 1
    assert lower(fun, f32(), f32(), f32(), keep_unused=True).facts.kept == (0, 1, 2)


def test_small_constants_are_written_large_ones_passed():
    small, large, dead = np.arange(3, dtype=np.float32), np.ones((100, 100), np.float32), np.ones(3, np.float32)

    def fun(x):
        mul_p.bind(x, dead)
        return [mul_p.bind(x, small), mul_p.bind(large, 2.0)]

    module = lower(fun, f32(3))
    assert len(module.facts.consts) == 1 and module.facts.consts[0] is large
    first, second = run(module, np.full(3, 2, np.float32))
    np.testing.assert_array_equal(first, [0, 2, 4])
    np.testing.assert_array_equal(second, 2.0)


def test_a_number_is_repeated_by_one_operation():
    """However many equations need it in that shape; zeros of both signs are two numbers."""
    def fun(x):
        repeated = [structural.broadcast_in_dim(value, shape, ()) for value in (0.0, -0.0, 0.0) for shape in ((3,), (2, 3))]
        return [*repeated, structural.broadcast_in_dim(x, (3,), ()), structural.broadcast_in_dim(x, (3,), ())]

    module = lower(fun, f32())
    assert module.text().count("broadcast_in_dim") == 6
    found = run(module, np.float32(-0.0))
    for value, sign in zip(found, [False] * 2 + [True] * 2 + [False] * 2 + [True] * 2, strict=True):
        np.testing.assert_array_equal(np.signbit(value), sign)


def test_donated_inputs_take_the_place_of_results():
    def fun(x, y, z, w):
        return [mul_p.bind(x, 2.0), structural.reduce_sum(y, (0,)), mul_p.bind(z, w)]
    with pytest.warns(UserWarning, match=r"^Some donated buffers were not usable: float32\[3,3\]\."):
        module = lower(fun, f32(3), f32(3, 3), f32(3), f32(3), donated=(True, True, True, False))
    assert module.facts.donated == (0, 2)
    text = module.text()
    assert "%arg0: tensor<3xf32> {tf.aliasing_output = 0 : i32}" in text
    assert "%arg2: tensor<3xf32> {tf.aliasing_output = 1 : i32}" in text


def test_donated_inputs_of_the_size_of_a_result_are_for_the_compiler_to_use():
    """Where no result has their type; each such result takes one of them."""
    def fun(x, y, z):
        return [structural.broadcast_in_dim(x, (1, 3), (1,)), mul_p.bind(z, z)]
    with pytest.warns(UserWarning, match=r"^Some donated buffers were not usable: float32\[3\]\. No result of \w+ that is left has their size"):
        module = lower(fun, f32(3), f32(3), f32(2), donated=(True, True, False), keep_unused=True)
    assert module.facts.donated == (0,)
    assert "%arg0: tensor<3xf32> {jax.buffer_donor = true}" in module.text()
    x = put(np.ones(3, np.float32))
    x = jit(lambda x: mul_p.bind(x, x))(x)
    jit(lambda x: structural.broadcast_in_dim(mul_p.bind(x, x), (1, 3), (1,)), donate_argnums=0)(x)
    assert x.is_deleted()


def test_literal_input_and_repeated_results():
    out = run(lower(lambda x: [x, 1.0, x, mul_p.bind(x, x)], f32(2)), np.full(2, 3, np.float32))
    assert [o.tolist() for o in out] == [[3, 3], 1, [3, 3], [9, 9]]


def test_float0_is_carried_as_booleans():
    aval = ShapedArray((2,), dtypes.float0)
    module = lower(lambda x: [x, np.zeros((3,), dtypes.float0)], aval)
    out = run(module, np.zeros(2, bool))
    assert [o.shape for o in out] == [(2,), (3,)] and out[0].dtype == bool


# -- effects and callbacks ---------------------------------------------------------------------------------------------

class Order(Effect):
    """An ordered effect."""

    ordered = True

    def __repr__(self):
        return "Order"


ORDER = Order()
seen: list = []


def _callback_lower(b, x, *, tag):
    def show(token, value):
        assert token is None and not value.flags.writeable
        seen.append((tag, value.tolist()))
        return token, value + 1
    token, out = b.host_callback(show, [b.token(ORDER), x], [abstract_token, x.aval], has_side_effect=True)
    b.set_token(ORDER, token)
    return out


show_p = primitive("show", _callback_lower, out_type=lambda x, *, tag: x, effects=lambda x, *, tag: frozenset({ORDER}))


def test_ordered_callbacks_run_in_order():
    closed = trace_to_closed(lambda x: [show_p.bind(x, tag="inner")], [f32()])[0]

    def fun(x):
        show_p.bind(x, tag="first")
        y = call_p.bind(x, jaxpr=closed, name="g")[0]
        return [show_p.bind(y, tag="last")]

    module = lower(fun, f32())
    assert module.facts.ordered_effects == [] and len(module.facts.host_callbacks) == 3  # one CPU device: programs follow each other
    seen.clear()
    (out,) = run(module, np.float32(1))
    assert out == 3 and seen == [("first", 1.0), ("inner", 1.0), ("last", 2.0)]


def test_callbacks_without_operands_and_results():
    def rule(b):
        b.host_callback(lambda: seen.append("called") or (), [], [], has_side_effect=True)
        return []
    nothing_p = Primitive("nothing", multiple_results=True, out_type=lambda: [], jvp=NO, transpose=NO, batch=NO,
                          lower=rule, effects=lambda: frozenset({Effect()}))

    def fun(x):
        nothing_p.bind()
        return [x]
    seen.clear()
    run(lower(fun, f32()), np.float32(1))
    assert seen == ["called"]


def test_callbacks_on_other_platforms_are_text():
    closed = program(lambda x: [show_p.bind(x, tag="a")], f32())
    assert "@xla_ffi_python_gpu_callback(" in lower_module(closed, LowerSpec("f"), platform="cuda").text()


def test_callbacks_on_tpu_are_messages():
    """Each operand and result has a channel of its own, and the token passes through all of them."""
    closed = program(lambda x: [show_p.bind(show_p.bind(x, tag="a"), tag="b")], f32())
    module = lower_module(closed, LowerSpec("f"), platform="tpu")
    assert [(t.send_channels, t.receive_channels) for t in module.facts.host_transfers] == [([1], [2]), ([3], [4])]
    text = module.text()
    parsing.parse(text)
    assert text.count("stablehlo.send") == 2 and "#stablehlo.channel_handle<handle = 4, type = 3>" in text
    assert module.facts.host_callbacks == []


def test_platform_without_callbacks_is_named():
    closed = program(lambda x: [show_p.bind(x, tag="a")], f32())
    with pytest.raises(NotImplementedError, match="platform abacus has no callbacks; they exist on cpu, cuda, rocm, tpu"):
        lower_module(closed, LowerSpec("f"), platform="abacus")


def test_custom_call_attributes():
    def rule(b, x):
        return b.custom_call("my.target", x, out=[x.aval], backend_config={"n": 3, "s": 'a"b', "f": np.float32(1.5),
                                                                           "on": True, "axes": (1, 2)},
                             operand_layouts=[(0, 1)], result_layouts=[(1, 0)], output_operand_aliases={0: 0})[0]
    text = lower(lambda x: [primitive("c", rule).bind(x)], f32(2, 3)).text()
    assert ('{api_version = 4 : i32, backend_config = {n = 3 : i64, s = "a\\22b", f = 1.5 : f32, on = true, '
            "axes = array<i64: 1, 2>}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = "
            "[dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<"
            "output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}") in text
    parsing.parse(text)


# -- keys --------------------------------------------------------------------------------------------------------------

class KeyType(dtypes.ExtendedDType):
    """Keys of two words."""

    type = dtypes.prng_key
    name, itemsize = "key<test>", 8
    physical_element_aval = ShapedArray((2,), np.uint32)

    def __eq__(self, other):
        return type(other) is KeyType

    def __hash__(self):
        return hash(KeyType)


KEY = KeyType()


def keys(*shape):
    return ShapedArray(shape, KEY)


def test_key_arrays_are_stored_with_their_words_last():
    assert type_text(keys(3)) == "tensor<3x2xui32>"


def test_structural_primitives_on_keys_go_through_their_batching_rule():
    def fun(k):
        return [structural.transpose(structural.broadcast_in_dim(k, (2, 3), (1,)), (1, 0))]
    module = lower(fun, keys(3))
    words = np.arange(6, dtype=np.uint32).reshape(3, 2)
    (out,) = run(module, words)
    np.testing.assert_array_equal(out, np.stack([words] * 2, 1))


def test_key_aware_rules_see_physical_arrays():
    unwrap_p = primitive("unwrap", lambda b, k: b.physical(k), batch=NO,
                         out_type=lambda k: ShapedArray(k.shape + (2,), np.uint32))
    wrap_p = primitive("wrap", lambda b, x: x, batch=NO, out_type=lambda x: ShapedArray(x.shape[:-1], KEY))
    unwrap_p.lowers_keys = wrap_p.lowers_keys = True

    def fun(k):
        words = mul_p.bind(unwrap_p.bind(k), np.uint32(3))
        return [structural.transpose(wrap_p.bind(words), (1, 0))]
    words = np.arange(12, dtype=np.uint32).reshape(2, 3, 2)
    (out,) = run(lower(fun, keys(2, 3)), words)
    np.testing.assert_array_equal(out, 3 * words.transpose(1, 0, 2))


def test_leading_axis_of_keys():
    def rule(b, k, i):
        return b.update(k, i, b.index(k, b.scalar(0, np.int32)))
    put_p = primitive("put", rule, out_type=lambda k, i: k)
    put_p.lowers_keys = True
    words = np.arange(6, dtype=np.uint32).reshape(3, 2)
    (out,) = run(lower(lambda k, i: [put_p.bind(k, i)], keys(3), ShapedArray((), np.int32)), words, np.int32(2))
    np.testing.assert_array_equal(out, words[[0, 1, 0]])


# -- locations, planner ------------------------------------------------------------------------------------------------

def test_locations_only_where_wanted():
    def fun(x):
        with source.named_scope("layer"):
            x = mul_p.bind(x, 2.0)
        return [structural.add(x, x)]
    module = lower(fun, f32(2))
    plain, located = module.text(), module.text(debug_info=True)
    assert plain.count("loc(") == 2 and 'loc("layer/mul")' in plain  # of the product and of its constant
    assert "test_lowering.py" in located and 'loc("jit(f)/layer/mul"' in located and 'loc("arg0")' in located
    np.testing.assert_array_equal(run(module, np.ones(2, np.float32), debug_info=True)[0], 4.0)


def test_same_program_from_other_lines_has_the_same_text():
    one = lower(lambda x: [mul_p.bind(x, 2.0)], f32(2)).text()
    assert one == lower(lambda x: [mul_p.bind(x, 2.0)], f32(2)).text()


def _shared(x):
    """A value that two results read, and the results."""
    y = x
    for _ in range(4):
        y = mul_p.bind(erf_p.bind(mul_p.bind(y, x)), 0.5)
    return [mul_p.bind(y, 2.0), mul_p.bind(y, 3.0)]


def test_planner_places_barriers():
    module = lower(_shared, f32(64, 64))
    assert module.text().count("optimization_barrier") == module.facts.barriers == 1
    assert 'loc("planner: 2 kernels need it and would each compute 12 equations")' in module.text()
    off = lower(_shared, f32(64, 64), compiler_options=(("jax_fusion_planner", "off"),))
    assert "optimization_barrier" not in off.text() and off.facts.barriers == 0
    x = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)
    for a, b in zip(run(module, x), run(off, x)):
        np.testing.assert_array_equal(a, b)


def test_planner_leaves_small_and_single_uses_alone():
    assert lower(_shared, f32(4)).facts.barriers == 0
    assert lower(lambda x: _shared(x)[:1], f32(64, 64)).facts.barriers == 0


def test_planner_is_for_cpu():
    assert "optimization_barrier" not in lower_module(program(_shared, f32(64, 64)), LowerSpec("f"), platform="cuda").text()
    with pytest.raises(ValueError, match="jax_fusion_planner must be 'on' or 'off', got 'maybe'"):
        lower(_shared, f32(64, 64), compiler_options=(("jax_fusion_planner", "maybe"),))


def test_rules_run_for_each_platform():
    """What a rule wrote for one platform is not repeated on another."""
    named_p = primitive("named", lambda b, x: b.emit(f"stablehlo.{'negate' if b.platform == 'cpu' else 'abs'} {x}", x,
                                                     out=x.aval))
    closed = program(lambda x: [named_p.bind(x)], f32(7))
    assert "negate" in lower_module(closed, LowerSpec("f")).text()
    assert "abs" in lower_module(closed, LowerSpec("f"), platform="cuda").text()


def test_floats_of_6_bits_need_a_newer_jaxlib(monkeypatch):
    """The CPU compiler of an older one ends the process."""
    monkeypatch.setattr(types, "FLOAT6", False)
    with pytest.raises(NotImplementedError, match=r"a value of type float6_e2m3fn\[7,11\] needs jaxlib 0.12 or later, and this is"):
        type_text(ShapedArray((7, 11), np.dtype(ml_dtypes.float6_e2m3fn)))
