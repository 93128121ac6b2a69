"""ffi_call: jaxlib's LAPACK handlers, and handlers compiled here; layouts, aliases, attributes, vmap, lowering rules."""
import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.primitive import Primitive, none
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_numpy_api.ffi import ffi_call, ffi_lowering
from jax_xla_backend.placement.layout import Layout
from jax_xla_backend.running import ffi

SPD = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
LOWER = dict(uplo=np.uint8(ord("L")))


def struct(*shape, dtype=np.float32):
    return ShapeDtypeStruct(shape, dtype)


def cholesky(x, *, layout=(1, 0), **options):
    """LAPACK's factorisation, which reads and writes matrices column by column."""
    call = ffi_call("lapack_spotrf_ffi", (struct(*x.shape), struct(dtype=np.int32)), input_layouts=[layout],
                    output_layouts=[layout, None], **options)
    return call(x, **LOWER)


@pytest.mark.only_cpu
@pytest.mark.parametrize("layout", [(1, 0), Layout((1, 0))], ids=["axes", "Layout"])
def test_lapack(layout):
    for call in (cholesky, jit(cholesky, static_argnames="layout")):
        factor, info = call(SPD, layout=layout)
        assert info == 0
        np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(SPD), rtol=1e-6)


@pytest.mark.only_cpu
@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"])
def test_vmap(method):
    batch = np.stack([SPD, 2 * SPD, 3 * SPD])
    factors, info = vmap(lambda x: cholesky(x, vmap_method=method))(batch)
    np.testing.assert_allclose(np.tril(factors), np.linalg.cholesky(batch), rtol=1e-6)
    factors, info = vmap(lambda x: cholesky(x, vmap_method=method), in_axes=2)(np.moveaxis(batch, 0, 2))
    np.testing.assert_allclose(np.tril(factors), np.linalg.cholesky(batch), rtol=1e-6)
    np.testing.assert_array_equal(info, [0, 0, 0])


def operand_shapes(method):
    call = ffi_call("two", struct(2), vmap_method=method)
    text = str(make_jaxpr(vmap(lambda x, y: call(x, y), (0, None)))(np.ones((3, 2)), np.ones(2)))
    return text


def test_operands_without_mapped_axis():
    assert "f32[1,2]" in operand_shapes("expand_dims")
    assert "f32[3,2]" in operand_shapes("broadcast_all").split("broadcast_in_dim")[0]
    assert "broadcast_in_dim" not in operand_shapes("legacy_vectorized")
    assert "scan" in operand_shapes("sequential")


def test_text_of_a_call():
    call = ffi_call("a target", (struct(2, 3), struct()), has_side_effect=True, input_output_aliases={0: 0},
                    input_layouts=[(1, 0), None], output_layouts=[None, None])
    text = jit(lambda x, y: call(x, y, a=1, b=1.5, c=True, d="s", e=np.arange(3, dtype=np.int32), f={"x": np.int8(2)})).lower(
        np.ones((2, 3), np.float32), np.ones(2, np.float32)).as_text()
    for part in ('@"a target"', "has_side_effect = true", "operand_index = 0", "[dense<[0, 1]> : tensor<2xindex>, dense<[0]>",
                 "a = 1 : i64", "b = 1.5 : f64", "c = true", 'd = "s"', "e = array<i32: 0, 1, 2>", "f = {x = 2 : i8}"):
        assert part in text, part


def test_calls_with_side_effects_stay():
    def f(has_side_effect):
        call = ffi_call("target", struct(2), has_side_effect=has_side_effect)
        return jit(lambda x: (call(x), x)[1]).lower(np.ones(2, np.float32)).as_text()
    assert "custom_call" in f(True) and "custom_call" not in f(False)


def test_older_handlers_get_a_string():
    call = ffi_call("old", struct(2), custom_call_api_version=2, legacy_backend_config="abc")
    text = jit(lambda x: call(x)).lower(np.ones(2, np.float32)).as_text()
    assert "api_version = 2" in text and 'backend_config = "abc"' in text


@pytest.mark.only_cpu
def test_derivatives_are_the_users():
    call = ffi_call("target", struct(2))
    with pytest.raises(ValueError, match="`target` cannot be differentiated"):
        jvp(call, (np.ones(2, np.float32),), (np.ones(2, np.float32),))

    @custom_vjp
    def logdet(x):
        return 2 * jnp.log(jnp.diagonal(cholesky(x)[0])).sum()
    logdet.defvjp(lambda x: (logdet(x), x), lambda x, ct: (ct * jnp.linalg.inv(x),))
    np.testing.assert_allclose(grad(logdet)(SPD), np.linalg.inv(SPD), rtol=1e-5)


@pytest.mark.only_cpu
def test_lowering_rule():
    shape_of = lambda x, *, uplo: (x, x.update(shape=x.shape[:-2], dtype=np.dtype(np.int32)))
    prim = Primitive("cholesky_test", multiple_results=True, out_type=shape_of, jvp=none(""), transpose=none(""), batch=none(""),
                     lower=ffi_lowering("lapack_spotrf_ffi", operand_layouts=[(1, 0)], result_layouts=[(1, 0), ()]))
    factor, info = prim.bind(SPD, **LOWER)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(SPD), rtol=1e-6)
    assert info == 0


def test_further_attributes_of_a_lowering_rule():
    shape_of = lambda x: x
    prim = Primitive("told", out_type=shape_of, jvp=none(""), transpose=none(""), batch=none(""),
                     lower=ffi_lowering("t", extra_attributes={"mhlo.frontend_attributes": '{num_batch_dims = "1"}'}))
    assert 'mhlo.frontend_attributes = {num_batch_dims = "1"}' in jit(lambda x: prim.bind(x)).lower(SPD).as_text()


@pytest.mark.parametrize("make, error, message", [
    (lambda x: ffi_call("t", 3), ValueError, "got 3 at position 0"),
    (lambda x: ffi_call("t", struct(2), vmap_method="nope"), ValueError, "ffi_call: vmap_method='nope' is unknown; give one of 'sequential'"),
    (lambda x: ffi_call("t", struct(2), input_output_aliases={3: 0})(x), ValueError, "'3:0' with input index 3 outside .* \\[0, 1\\)"),
    (lambda x: ffi_call("t", struct(2), input_output_aliases={0: 1})(x), ValueError, "output index 1 outside .* \\[0, 1\\)"),
    (lambda x: ffi_call("t", struct(3), input_output_aliases={0: 0})(x), ValueError, "float32\\[2\\] and an output of type float32\\[3\\]"),
    (lambda x: ffi_call("t", struct(2), input_layouts=[None, None])(x), ValueError, "arguments \\(1\\) must equal .* layouts \\(2\\)"),
    (lambda x: ffi_call("t", struct(2))(x, a=[1, 2]), TypeError, "a=\\[1, 2\\] is a list"),
    (lambda x: ffi_call("t", struct(2), input_layouts=[(1,)])(x), ValueError, "layout \\(1,\\) is not a permutation of the 1 axes"),
    (lambda x: ffi_call("t", struct(2))(x, a=object()), TypeError, "no attribute handler defined for a="),
    (lambda x: ffi_call("t", struct(2), custom_call_api_version=3)(x, a=1), ValueError, "need custom_call_api_version=4 or more, got 3"),
    (lambda x: ffi_call("t", struct(2), legacy_backend_config="a")(x), ValueError, "legacy_backend_config is for handlers of older versions"),
    (lambda x: vmap(ffi_call("t", struct()))(x), NotImplementedError, "`t`: vmap is only supported when it is given a vmap_method"),
    (lambda x: ffi_call("no such handler", struct(2))(x), RuntimeError, "no such handler"),
])
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make(np.ones(2, np.float32))


SOURCE = r"""
#include <cmath>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;

static ffi::Error Scale(float factor, ffi::Span<const int64_t> shifts, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (factor < 0) return ffi::Error(ffi::ErrorCode::kInvalidArgument, "factor is negative");
  float shift = 0;
  for (int64_t s : shifts) shift += s;
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = factor * x.typed_data()[i] + shift;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(ScaleHandler, Scale, ffi::Ffi::Bind().Attr<float>("factor").Attr<ffi::Span<const int64_t>>("shifts")
                              .Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

static ffi::Error Wide(double number, float narrow, ffi::ResultBuffer<ffi::F64> y) {
  for (size_t i = 0; i < y->element_count(); ++i) y->typed_data()[i] = number + narrow;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(WideHandler, Wide, ffi::Ffi::Bind().Attr<double>("number").Attr<float>("narrow").Ret<ffi::Buffer<ffi::F64>>());
"""


@pytest.fixture(scope="module")
def scale(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("ffi")
    (folder / "scale.cc").write_text(SOURCE)
    library = folder / "libscale.so"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", f"-I{ffi.include_dir()}", str(folder / "scale.cc"), "-o", str(library)],
                   check=True)
    handlers = ctypes.cdll.LoadLibrary(str(library))
    ffi.register_ffi_target("test_scale", ffi.pycapsule(handlers.ScaleHandler), platform="cpu")
    ffi.register_ffi_target("test_wide", ffi.pycapsule(handlers.WideHandler), platform="cpu")
    ffi.register_ffi_target_as_batch_partitionable("test_scale")

    def call(x, factor=2.0, shifts=(1, 2), **options):
        return ffi_call("test_scale", ShapeDtypeStruct(x.shape, x.dtype), **options)(
            x, factor=np.float32(factor), shifts=np.asarray(shifts, np.int64))
    return call


@pytest.mark.only_cpu
def test_compiled_handler(scale):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(scale(x), 2 * x + 3)
    np.testing.assert_array_equal(jit(lambda x: scale(x + 1) * 2)(x), 2 * (2 * (x + 1) + 3))
    np.testing.assert_array_equal(scale(x, shifts=()), 2 * x)


@pytest.mark.only_cpu
def test_compiled_handler_in_place(scale):
    x = jnp.arange(6.0)
    run = jit(lambda x: scale(x, input_output_aliases={0: 0}), donate_argnums=0)
    np.testing.assert_array_equal(run(x), 2 * np.arange(6) + 3)
    assert x.is_deleted()


@pytest.mark.only_cpu
def test_compiled_handler_errors_reach_python(scale):
    with pytest.raises(RuntimeError, match="factor is negative"):
        np.asarray(scale(np.ones(2, np.float32), factor=-1.0))


@pytest.mark.only_cpu
def test_compiled_handler_under_vmap(scale):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for method in ("sequential", "broadcast_all"):
        np.testing.assert_array_equal(vmap(lambda r: scale(r, vmap_method=method))(x), 2 * x + 3)


@pytest.mark.only_cpu
@pytest.mark.parametrize("number", [2.5, np.float64(2.5), 1e-300, float("inf"), -np.inf])
def test_numbers_reach_a_handler_as_what_they_are(scale, number):
    """NumPy's float64 is a float of Python, whose text it had not; results of 64 bits are not halved without x64."""
    out = ffi_call("test_wide", ShapeDtypeStruct((2,), np.float64))(number=number, narrow=np.float32(0.5))
    assert np.asarray(out).dtype == np.float64
    np.testing.assert_array_equal(np.asarray(out), [number + 0.5] * 2)


def test_attributes_that_are_equal_and_of_other_types_are_other_calls():
    def text(value):
        return jit(lambda: ffi_call("unknown", ShapeDtypeStruct((2,), np.float32))(a=value)).lower().as_text()
    wanted = {"1 : i64": 1, "true": True, "1.0 : f64": 1.0, "1 : i8": np.int8(1), "1.0 : f32": np.float32(1), "1.0 : f16": np.float16(1),
              "0x7F800000 : f32": np.float32(np.inf), "bf16": np.dtype("bfloat16"), "i32": np.dtype("int32")}
    assert [f"a = {said}" in text(value) for said, value in wanted.items()] == [True] * len(wanted)
