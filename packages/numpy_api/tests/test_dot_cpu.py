"""Products whose left operand has the contracted axis first: written over two axes for the CPU."""

import re

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_numpy_api.lax.dot_cpu import split_contraction

pytestmark = pytest.mark.only_cpu

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("left, right, numbers, want", [
    ((512, 48), (512, 64), (((0,), (0,)), ((), ())), ((2, 256, 48), (2, 256, 64), (((0, 1), (0, 1)), ((), ())))),
    ((495, 48), (64, 495), (((0,), (1,)), ((), ())), ((3, 165, 48), (64, 3, 165), (((0, 1), (1, 2)), ((), ())))),
    ((4, 128, 48), (4, 128, 64), (((1,), (1,)), ((0,), (0,))),
     ((4, 2, 64, 48), (4, 2, 64, 64), (((1, 2), (1, 2)), ((0,), (0,))))),
    ((128, 48, 4), (128, 64, 4), (((0,), (0,)), ((2,), (2,))),
     ((2, 64, 48, 4), (2, 64, 64, 4), (((0, 1), (0, 1)), ((3,), (3,))))),
    ((48, 128), (128, 64), (((1,), (0,)), ((), ())), None),        # fast as it is
    ((509, 48), (509, 64), (((0,), (0,)), ((), ())), None),        # a prime number
    ((512, 320), (512, 64), (((0,), (0,)), ((), ())), None),       # not long enough
    ((128, 8), (128, 8), (((0,), (0,)), ((), ())), None),           # small
    ((4048, 512), (4048,), (((0,), (0,)), ((), ())), None),         # a vector
    ((64, 64, 48), (64, 64, 64), (((0, 1), (0, 1)), ((), ())), None),
    ((0, 48), (0, 64), (((0,), (0,)), ((), ())), None),
])
def test_which_are_split(left, right, numbers, want):
    assert split_contraction(left, right, numbers) == want


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("left, right, numbers", [
    ((512, 48), (512, 64), (((0,), (0,)), ((), ()))),
    ((495, 48), (64, 495), (((0,), (1,)), ((), ()))),
    ((3, 128, 48), (3, 128, 64), (((1,), (1,)), ((0,), (0,)))),
    ((128, 48, 3), (64, 128, 3), (((0,), (1,)), ((2,), (2,)))),
])
def test_values(dtype, left, right, numbers):
    with flags.enable_x64(dtype == "float64"):
        a, b = (jnp.asarray(RNG.normal(size=shape), dtype) for shape in (left, right))
        product = jit(lambda a, b: lax.dot_general(a, b, numbers))
        ((i,), (j,)), (batch, other) = numbers
        wide = [np.asarray(x, np.float64) for x in (a, b)]
        names = [["k" if d == c else "b" if d in bs else free for d in range(x.ndim)]
                 for x, c, bs, free in zip(wide, (i, j), (batch, other), "mn")]
        want = np.einsum(f"{''.join(names[0])},{''.join(names[1])}->{'b' * bool(batch)}mn", *wide)
        error = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 1e-2, "float16": 2e-3}[dtype]
        np.testing.assert_allclose(np.asarray(product(a, b), np.float64), want, rtol=error, atol=error * np.abs(want).max())
        assert re.search(r" contracting_dims = \[\d, \d\] x", product.lower(a, b).as_text())


def test_gradients_of_weights_need_no_transpose():
    """The operands come in the order that leaves the result in place."""
    def names(jaxpr):
        return [e.primitive.name for e in jaxpr.eqns]
    x, w = np.ones((5, 3), np.float32), np.ones((3, 4), np.float32)
    jaxpr = make_jaxpr(grad(lambda w, x: jnp.sum(jnp.sin(x @ w))))(w, x)
    assert "transpose" not in names(jaxpr.jaxpr) and names(jaxpr.jaxpr).count("dot_general") == 2
    attention = make_jaxpr(lambda q, k: jnp.einsum("bthk,bshk->bhts", q, k))(np.ones((2, 3, 4, 5)), np.ones((2, 6, 4, 5)))
    assert "transpose" not in names(attention.jaxpr)


@pytest.mark.parametrize("preset", lax.DotAlgorithmPreset)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_named_algorithms(preset, dtype):
    x = jnp.arange(4).reshape(2, 2).astype(dtype)
    dot = jit(lambda x: lax.dot(x, x, precision=preset))
    if preset.name in ("DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F32_F32_F32", "F64_F64_F64"):
        assert dot(x).dtype == x.dtype and np.asarray(dot(x)).tolist() == [[2, 3], [6, 11]]
    else:
        with pytest.raises(ValueError, match=f"precision={preset} is an algorithm that the CPU does not have"):
            dot(x)


def test_operands_of_a_named_algorithm_are_rounded_to_its_dtypes():
    x = np.float32([[1 + 2**-12, 0], [0, 1]])
    assert lax.dot(x, np.eye(2, dtype="float32"), precision="F16_F16_F16")[0, 0] == 1
    assert lax.dot(x, np.eye(2, dtype="float32"), precision="F32_F32_F32")[0, 0] == x[0, 0]


@pytest.mark.parametrize("n, dtype", [(33_000, np.float32), (40_000, np.float32), (20_000, np.float64)])
def test_sums_of_products_with_long_rows(n, dtype):
    """XLA's library for the CPU added them up wrongly with jaxlib before 0.12 (jax-ml/jax #39103)."""
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 3)).astype(dtype), rng.random((n, 3)).astype(dtype)
    with flags.enable_x64(True):
        found = [jit(lambda x, y, rows=rows: jnp.sum(x[:rows] @ y.T, 0))(x, y) for rows in (2, 3)]
        mapped = jit(vmap(lambda row: jnp.sum((x @ row) ** 2)))(y)
    for rows, sums in zip((2, 3), found):
        np.testing.assert_allclose(sums, (x[:rows] @ y.T).sum(0), rtol=1e-5)
    np.testing.assert_allclose(mapped, ((x @ y.T) ** 2).sum(0), rtol=1e-5)
