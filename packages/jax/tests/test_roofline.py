"""Costs of programs, counted by hand."""
import io
from contextlib import redirect_stdout

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import roofline as rooflines
from jax.experimental.roofline import RooflineResult, RooflineShape, roofline
from jax.extend.core import Primitive

X, W = np.ones((8, 16), np.float32), np.ones((16, 32), np.float32)


def cost(f, *args, **options):
    return roofline(f, **options)(*args)[1]


def test_matrix_product():
    """Two operations for each product; operands and result travel, unless they are pinned."""
    shapes, found = roofline(lambda x, w: x @ w)(X, W)
    assert shapes.shape == (8, 32) and shapes.dtype == np.float32
    assert found == RooflineResult(flops=8192, unfused_flops=8192, hbm_bytes=3584, unfused_hbm_bytes=3584, peak_hbm_bytes=2560)
    assert cost(lambda x, w: x @ w, X, W, pin_lhs_in_vmem=True).hbm_bytes == 2048
    assert cost(lambda x, w: x @ w, X, W, pin_rhs_in_vmem=True).hbm_bytes == 1536


def test_elementwise_and_reductions():
    """They count as unfused work only."""
    assert cost(jnp.sin, X) == RooflineResult(unfused_flops=128, unfused_hbm_bytes=1024, peak_hbm_bytes=512)
    assert cost(lambda x: x + x, X).unfused_hbm_bytes == 1536
    assert cost(jnp.sum, X).unfused_flops == 127
    assert cost(lambda x: x.T.reshape(-1), X) == RooflineResult(peak_hbm_bytes=512)
    assert cost(lambda x: jnp.sin(x) * 2 + x, X).peak_hbm_bytes == 1024


def test_programs_within_programs():
    """Steps of a scan count each, and of branches the dearest."""
    assert cost(lambda x: jax.jit(jnp.sin)(x), X).unfused_flops == 128
    assert cost(lambda x: lax.scan(lambda c, _: (c @ c.T @ c, None), x, None, length=5)[0], X).flops == 5 * 2 * 2 * 8 * 8 * 16
    assert cost(lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda y: jnp.sin(jnp.cos(y)), x), X).unfused_flops >= 256


def test_backward_pass():
    forward, both = rooflines.roofline_and_grad(lambda x, w: x @ w, None, None, None)(X, W)[1:]
    assert forward.flops == 8192 and both.flops == 3 * 8192
    assert cost(lambda x, w: x @ w, X, W, vjp=True) == both


def test_collectives_on_a_mesh():
    """The cost of one device, with bytes and hops for each axis."""
    mesh, spec = jax.make_mesh((1,), ("x",)), jax.sharding.PartitionSpec
    found = cost(lambda x: lax.psum(x @ x.T, "x"), X, mesh=mesh, in_specs=spec(), out_specs=spec())
    assert found.flops == 2 * 8 * 8 * 16 and found.ici_bytes == {"x": 0} and found.ici_latency == {"x": 0}


def test_arithmetic_of_results():
    """Costs add up; peaks do not."""
    a = RooflineResult(flops=1, peak_hbm_bytes=5, ici_bytes={"x": 2})
    b = RooflineResult(flops=2, peak_hbm_bytes=3, ici_bytes={"x": 1, "y": 4})
    assert a + b == RooflineResult(flops=3, peak_hbm_bytes=5, ici_bytes={"x": 3, "y": 4})
    assert a * 3 == RooflineResult(flops=3, peak_hbm_bytes=5, ici_bytes={"x": 6})
    assert a + RooflineResult.zeros() == a
    shape = RooflineShape.from_aval(jax.ShapeDtypeStruct((2, 3), np.dtype(np.int8)))
    assert (shape.size, shape.bytes, RooflineShape.total_bytes([shape, shape])) == (6, 6, 12)


def test_rules_of_ones_own():
    mine = Primitive("mine")
    mine.def_abstract_eval(lambda x: x)

    @rooflines.register_roofline(mine)
    def _(ctx, x):
        return RooflineResult(flops=7 * x.size)
    assert cost(mine.bind, X).flops == 7 * 128
    free = Primitive("free")
    free.def_abstract_eval(lambda x: x)
    rooflines.register_standard_roofline(free)
    assert cost(free.bind, X).flops == 0


@pytest.mark.parametrize("shown", [True, False])
def test_printing_the_program(shown):
    with redirect_stdout(io.StringIO()) as text:
        cost(jnp.sin, X, print_jaxpr=shown)
    assert ("sin" in text.getvalue()) == shown
