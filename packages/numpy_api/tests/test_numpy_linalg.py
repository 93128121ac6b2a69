"""Laws of jax.numpy.linalg, fft, products and einsum."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from harness import LAWS, Case, steps_of
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad, jvp
from jax_numpy_api import lax
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices


def spd(x):
    """A well-conditioned hermitian matrix made of any square one."""
    return x @ np.conj(np.swapaxes(x, -1, -2)) + 3 * np.eye(x.shape[-1], dtype=x.dtype)


def jspd(x):
    x = jnp.asarray(x)
    return x @ jnp.conj(jnp.swapaxes(x, -1, -2)) + 3 * jnp.eye(x.shape[-1], dtype=x.dtype)


def linalg(name, types, *args, made=True, like=None, result=lambda x: x, **options):
    """A function of positive definite matrices against NumPy's; ``result`` picks what is comparable."""
    own, theirs = getattr(jnp.linalg, name), like or getattr(np.linalg, name)
    return Case(lambda x, *rest: result(own(jspd(x) if made else jnp.asarray(x), *rest, *args)), types,
                reference=lambda x, *rest: result(theirs(spd(x) if made else x, *rest, *args)), name=name + str(args),
                tolerance=options.pop("tolerance", 128), **options)


def product(text, types):
    return Case(lambda *xs: jnp.einsum(text, *xs), types, reference=lambda *xs: np.einsum(text, *xs), name=f"einsum({text})",
                tolerance=32)


CASES = [
    Case(lambda x, y: jnp.matmul(x, y), "f32[2,3],f32[3,4] f32[3],f32[3] i32[2,3],i32[3] c64[2,2],c64[2,2]", name="matmul",
         reference=np.matmul, tolerance=32),
    Case(lambda x, y: jnp.matmul(x, y), "f32[2,1,3,2],f32[5,2,4]", name="matmul_batched", reference=np.matmul, tolerance=32),
    Case(lambda x, y: jnp.dot(x, y), "f32[2,3,4],f32[5,4,2] f32[],f32[3]", name="dot", reference=np.dot, tolerance=32),
    Case(lambda x, y: jnp.vdot(x, y), "c64[2,3],c64[2,3]", name="vdot", reference=np.vdot, tolerance=32),
    Case(lambda x, y: jnp.inner(x, y), "f32[2,3],f32[4,3]", name="inner", reference=np.inner, tolerance=32),
    Case(lambda x, y: jnp.outer(x, y), "f32[2],f32[3]", name="outer", reference=np.outer),
    Case(lambda x, y: jnp.tensordot(x, y, ((0, 2), (1, 0))), "f32[2,3,4],f32[4,2]", name="tensordot", tolerance=32,
         reference=lambda x, y: np.tensordot(x, y, ((0, 2), (1, 0)))),
    Case(lambda x, y: jnp.cross(x, y), "f32[2,3],f32[3]", name="cross", reference=np.cross, tolerance=32),
    Case(lambda x, y: jnp.vecdot(x, y), "f32[2,3],f32[3] c64[3],c64[3]", name="vecdot", tolerance=32,
         reference=lambda x, y: (np.conj(x) * y).sum(-1)),
    product("ij,jk->ki", "f32[2,3],f32[3,4]"), product("bij,bjk->bik", "f32[2,2,3],f32[2,3,2]"), product("ii->i", "f32[3,3]"),
    product("iij,jk->k", "f32[2,2,3],f32[3,4]"), product("i,j,k->kji", "f32[2],f32[3],f32[2]"), product("...ij->...j", "f32[2,3,4]"),
    product("ij,jk,kl,lm", "f32[2,3],f32[3,2],f32[2,4],f32[4,2]"), product("abc,cd,def->abef", "f32[2,1,3],f32[3,2],f32[2,2,1]"),
    product("ij,ij->", "f32[2,3],f32[2,3]"), product("ijk,ik->j", "f32[2,3,2],f32[2,2]"), product("ab,ab->ab", "f32[2,3],f32[2,3]"),
    linalg("cholesky", "f32[3,3] c64[3,3] f32[2,3,3]"), linalg("inv", "f32[3,3] c64[2,2] f32[2,3,3]", vmapped=True),
    linalg("det", "f32[4,4] c64[4,4]", tolerance=512), linalg("det", "f32[2,2]", made=False), linalg("det", "f32[2,3,3]", made=False),
    linalg("slogdet", "f32[4,4] c64[3,3]", result=lambda r: r[1]), linalg("solve", "f32[3,3],f32[3,2] f32[3,3],f32[3] c64[2,2],c64[2,1]"),
    linalg("eigvalsh", "f32[3,3] c64[3,3]"), linalg("eigh", "f32[3,3]", result=lambda r: abs(r[1]), tolerance=1024),
    linalg("svd", "f32[3,4]", False, made=False, result=lambda r: r[1]),
    Case(lambda x: (lambda q: q[0] @ q[1])(jnp.linalg.qr(jnp.asarray(x))), "f32[4,3] f32[3,4]", name="qr", reference=lambda x: x,
         tolerance=64),
    linalg("pinv", "f32[4,3]", made=False, tolerance=512), linalg("matrix_power", "f32[3,3]", 3, made=False),
    linalg("matrix_power", "f32[3,3]", -2), linalg("matrix_rank", "f32[4,3]", made=False, result=lambda r: np.int32(r) if isinstance(r, (int, np.integer)) else r),
    linalg("norm", "f32[3,4] c64[3]", made=False), linalg("norm", "f32[5]", 3, made=False), linalg("norm", "f32[3,4]", "nuc", made=False),
    linalg("norm", "f32[3,4]", 2, made=False), linalg("norm", "f32[3,4]", 1, made=False), linalg("cond", "f32[3,3] f32[0,2,2]", tolerance=1024),
    Case(lambda a, b: jnp.linalg.lstsq(jnp.asarray(a), b)[0], "f32[5,3],f32[5]", name="lstsq", tolerance=512,
         reference=lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    Case(lambda *xs: jnp.linalg.multi_dot(xs), "f32[2,3],f32[3,4],f32[4,2]", name="multi_dot", tolerance=32,
         reference=lambda *xs: np.linalg.multi_dot(xs)),
] + [Case(lambda x, f=f, o=o: getattr(jnp.fft, f)(x, **o), types, name=f"{f}{o}", tolerance=64,
          reference=lambda x, f=f, o=o: np.asarray(getattr(np.fft, f)(x, **o)))
     for f, types, o in [("fft", "c64[5] f32[3,4]", {}), ("ifft", "c64[3,4]", {"axis": 0, "norm": "ortho"}), ("rfft", "f32[6] f32[5]", {"n": 8}),
                         ("irfft", "c64[4]", {}), ("irfft", "c64[4]", {"n": 5}), ("fft2", "f32[3,4]", {}), ("rfftn", "f32[2,3,4]", {}),
                         ("irfftn", "c64[2,3,3]", {"norm": "forward"}), ("hfft", "c64[4]", {}), ("ihfft", "f32[6]", {}),
                         ("fftshift", "f32[5,4]", {}), ("fftn", "f32[2,2,3,2]", {})]]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_law(case, law):
    law(case)


def test_derivative_of_det_of_a_singular_matrix():
    a = np.diag([1.0, 2.0, 3.0, 0.0]).astype(np.float32)
    want = np.diag([0.0, 0.0, 0.0, 6.0])
    assert np.allclose(grad(jnp.linalg.det)(jnp.asarray(a)), want, atol=1e-5)


@pytest.mark.parametrize("a, want", [
    ([[2e38, 2e38], [2e38, 2e38]], 0), ([[1e20, 2e20], [2e20, 1e20]], -np.inf), ([[2e38, -3e38], [0.5, 0.25]], 2e38), ([[1e30, -1e30], [1e30, 1e30]], np.inf),
    ([[1e-30, 0, 0], [0, 1e25, 2e25], [0, 1e25, 1e25]], -1e20), ([[0, 1, 0], [1, 3e38, 1], [0.5, 3e38, 2]], -1.5), ([[1e20, 0, 0], [0, 1, 0], [0, 0, 2]], 2e20),
    ([[1e30, 1e30, 1], [1e30, -1e30, 1], [1, 1, 1e30]], -np.inf), ([[np.nan, 1], [1, 1]], np.nan), ([[1e20j, 1e20], [1e20, -1e20j]], 0)])
def test_a_determinant_is_right_where_a_product_overflows(a, want):
    got = jnp.linalg.det(jnp.asarray(a, np.complex64 if np.iscomplexobj(a) else np.float32))
    np.testing.assert_allclose(got, np.asarray(want, got.dtype), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("shape", [(4, 3), (2, 4)])
def test_the_derivative_of_a_pseudo_inverse_is_right_where_its_square_is_0_or_inf(shape, dtype):
    """That of a multiple of a matrix is the reciprocal multiple."""
    rng = np.random.default_rng(0)
    x, t = (rng.normal(size=(2, *shape)) + (1j * rng.normal(size=(2, *shape)) if dtype == "complex64" else 0)).astype(dtype)
    want = np.asarray(jvp(jnp.linalg.pinv, (x,), (t,))[1])
    for scale in map(np.float32, (1e-30, 1e30)):
        got = np.asarray(jvp(jnp.linalg.pinv, (x * scale,), (t * scale,))[1]) * scale
        assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def test_a_hermitian_pseudo_inverse_and_its_derivative_are_of_the_hermitian_part():
    a, t = np.array([[3 + 1j, 1], [5, 2]], np.complex64), np.array([[1, 2j], [5, 3]], np.complex64)
    part = lambda x: (x + x.conj().T) / 2
    value, slope = jvp(lambda x: jnp.linalg.pinv(x, hermitian=True), (a,), (t,))
    want = np.linalg.pinv(part(a), hermitian=True)
    np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(slope, -want @ part(t) @ want, rtol=1e-4, atol=1e-4)


def test_the_derivative_of_a_determinant_is_right_where_a_product_overflows():
    a = jnp.float32([[1e20, 1e20, 0], [1e20, 1e20, 0], [0, 0, 1]])
    np.testing.assert_allclose(grad(jnp.linalg.det)(a), [[1e20, -1e20, 0], [-1e20, 1e20, 0], [0, 0, 0]], rtol=1e-5)


@pytest.mark.parametrize("call", [
    lambda m, v: jnp.linalg.pinv(m), lambda m, v: jnp.linalg.pinv(m, 1e-3), lambda m, v: jnp.linalg.matrix_rank(m),
    lambda m, v: jnp.linalg.matrix_rank(m, tol=1e-3), lambda m, v: jnp.linalg.vector_norm(v), lambda m, v: jnp.linalg.vector_norm(m, axis=(0, 1), ord=1),
    lambda m, v: jnp.linalg.norm(m), lambda m, v: jnp.linalg.inv(m), lambda m, v: jnp.linalg.solve(m, v), lambda m, v: jnp.linalg.cond(m),
], ids=["pinv", "pinv_rtol", "rank", "rank_tol", "vector_norm", "vector_norm_axes", "norm", "inv", "solve", "cond"])
def test_a_known_eager_call_is_one_program(call):
    m, v = jnp.eye(4) + 0.1, jnp.ones(4)
    call(m, v), call(m, v)
    assert steps_of(lambda: call(m, v)) <= 2


def test_results_of_qr_have_names():
    assert {mode: type(jnp.linalg.qr(jnp.eye(2), mode)).__name__ for mode in ("reduced", "complete", "raw")} == dict.fromkeys(
        ("reduced", "complete", "raw"), "QRResult")


@pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
@pytest.mark.parametrize("name", ["cholesky", "qr", "eigvalsh", "inv"])
def test_a_batch_stays_where_it_is(name):
    """Each device works on its part of the batch, nothing is gathered, and the result is split as the operand."""
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"))
    x = np.random.default_rng(0).normal(size=(4, 2, 3, 3)).astype(np.float32)
    x = spd(x)
    fun = jit(lambda x: tree.leaves(getattr(jnp.linalg, name)(x))[0])
    split = NamedSharding(mesh, PartitionSpec("x", "y"))
    found = fun.lower(device_put(x, split)).compile()
    assert "all-gather" not in found.as_text()
    out = found(device_put(x, split))
    assert out.sharding.is_equivalent_to(split, out.ndim)
    np.testing.assert_allclose(out, fun(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("vectors", [(4,), (5, 4), (2, 5, 4)], ids=str)
def test_products_of_one_matrix_and_vectors_need_no_other_order(vectors):
    """The product ends the program: a batch of vectors comes first, as in the result, whose axes were exchanged by code that takes 30 ms to compile."""
    rng = np.random.default_rng(0)
    matrix, v = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=vectors).astype(np.float32)
    for function, operands, want in ((jnp.matvec, (matrix, v), v @ matrix.T), (jnp.vecmat, (v, matrix.T), v @ matrix.T)):
        assert make_jaxpr(function)(*operands).eqns[-1].primitive is lax.dot_general_p
        np.testing.assert_allclose(function(*operands), want, rtol=1e-5)


def test_einsum_has_as_many_labels_as_there_are():
    factors = sum([[np.full(2, i % 3 + 1, np.float32), [i]] for i in range(60)], [])
    np.testing.assert_allclose(jnp.einsum(*factors, [55]), np.full(2, 6.**20 * 2.**59), rtol=1e-5)
