"""Costs of programs, counted by hand."""
import io
import math
from contextlib import redirect_stdout

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import hijax, roofline as rooflines
from jax.experimental.roofline import RooflineResult, RooflineShape, roofline
from jax.extend.core import Primitive
from jax.sharding import AbstractMesh, AxisType

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
    """A product of matrices has two on the way back; what checkpoint computes again is part of it."""
    forward, backward = rooflines.roofline_and_grad(lambda x, w: x @ w, None, None, None)(X, W)[1:]
    assert forward.flops == 8192 and backward.flops == 2 * 8192
    assert cost(lambda x, w: x @ w, X, W, vjp=True) == backward
    assert cost(jax.checkpoint(lambda x, w: jnp.sin(x @ w)), X, W, vjp=True).flops == 3 * 8192


def test_collectives_on_a_mesh():
    """The cost of one device, with bytes and hops for each axis; whole arrays do not count."""
    mesh, spec = jax.make_mesh((1,), ("x",)), jax.sharding.PartitionSpec
    found = cost(lambda x: lax.psum(x @ x.T, "x"), X, mesh=mesh, in_specs=spec(), out_specs=spec())
    assert found.flops == 2 * 8 * 8 * 16 and found.ici_bytes == {"x": 0} and found.ici_latency == {"x": 0}


def torus(lengths, names):
    return AbstractMesh(lengths, names, axis_types=(AxisType.Auto,) * len(names))


@pytest.mark.parametrize("lengths, gathered, summed, exchanged, hops", [
    ((2,), 512, 512, 512, (2, 4, 1)), ((4,), 1536, 768, 512, (4, 8, 2)), ((8,), 3584, 896, 1024, (8, 16, 4)),
    ((2, 2), 768, 384, 512, (4, 8, 2)), ((2, 4), 1792, 448, 1024, (8, 16, 3)), ((4, 4), 3840, 480, 512, (8, 16, 4)),
    ((1, 4), 1536, 768, 512, (4, 8, 2))])
def test_collectives_over_a_torus(lengths, gathered, summed, exchanged, hops):
    """Of 512 bytes on each device, counted by hand: rings of both directions, several axes at once, the links across the middle."""
    names = ("x", "y")[:len(lengths)]
    mesh = torus(lengths, names)
    spec = jax.sharding.PartitionSpec(names)
    whole = jax.ShapeDtypeStruct((8 * math.prod(lengths), 16), np.float32)

    def of(f):
        found = cost(f, whole, mesh=mesh, in_specs=spec, out_specs=spec)
        assert set(found.ici_bytes) == set(names) and len(set(found.ici_bytes.values())) == len(set(found.ici_latency.values())) == 1
        return found.ici_bytes["x"], found.ici_latency["x"]
    assert of(lambda x: lax.all_gather(x, names, axis=0, tiled=True)) == (gathered, hops[0])
    assert of(lambda x: lax.psum(x, names)) == of(lambda x: lax.pmax(x, names)) == (summed, hops[1])
    assert of(lambda x: lax.psum_scatter(x, names, scatter_dimension=1, tiled=True)) == (summed // 2, hops[0])
    assert of(lambda x: lax.all_to_all(x, names, split_axis=1, concat_axis=0, tiled=True)) == (exchanged, hops[2])


@pytest.mark.parametrize("lengths, perm, shared, far", [
    ((2,), [(0, 1), (1, 0)], 2, 1), ((5,), [(0, 1), (1, 4), (2, 0)], 3, 2), ((8,), [(7, 2)], 1, 3), ((4,), [(0, 0)], 0, 0),
    ((2, 2), [(3, 0), (1, 3)], 2, 2), ((2, 4), [(7, 5)], 1, 2)])
def test_messages_between_pairs(lengths, perm, shared, far):
    """Each goes the shorter way; the busiest link counts."""
    names = ("x", "y")[:len(lengths)]
    spec = jax.sharding.PartitionSpec(names)
    whole = jax.ShapeDtypeStruct((math.prod(lengths), 4), np.float32)
    found = cost(lambda x: lax.ppermute(x, names, perm), whole, mesh=torus(lengths, names), in_specs=spec, out_specs=spec)
    assert found.ici_bytes["x"] == 16 * shared and found.ici_latency["x"] == far and found.peak_hbm_bytes == 16


INDICES = np.zeros((5,), np.int32)
UNFUSED = {
    "choice": (lambda x: lax.select_n(x > 0, x, x), (256, 516 + 128 + 128 + 512)),
    "running sum": (lambda x: lax.cumsum(x, 0), (8, 1024)),
    "filled where out of bounds": (lambda x: lax.gather(x, INDICES[:, None], ROWS, (1, 16), mode="fill"), (4 * 5 + 80, 20 + 640)),
    "clipped": (lambda x: lax.gather(x, INDICES[:, None], ROWS, (1, 16), mode="clip"), (0, 20 + 640)),
    "callback": (lambda x: jax.pure_callback(np.sin, x, x), (0, 1024)),
    "slice at a place": (lambda x: lax.dynamic_slice(x, (np.int32(1), np.int32(2)), (2, 3)), (0, 48 + 8)),
    "written": (lambda x: lax.dynamic_update_slice(x, np.ones((2, 3), np.float32), (np.int32(1), np.int32(2))), (0, 72 + 8)),
    "scatter": (lambda x: SCATTER(lax.scatter, x), (0, 960 + 20)),
    "scatter_add": (lambda x: SCATTER(lax.scatter_add, x), (80, 960 + 20)),
}
ROWS = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
SCATTER = lambda f, x: f(x, INDICES[:, None], np.ones((5, 16), np.float32), lax.ScatterDimensionNumbers((1,), (0,), (0,)))


@pytest.mark.parametrize("name", UNFUSED)
def test_operations_and_bytes(name):
    program, expected = UNFUSED[name]
    found = cost(program, X)
    assert (found.unfused_flops, found.unfused_hbm_bytes) == expected


@pytest.mark.parametrize("lengths, window, stride, padding, holes, spread", [
    (7, 3, 1, (1, 1), 1, 1), (7, 3, 2, (2, 0), 1, 2), (5, 4, 3, (3, 2), 2, 1), (6, 3, 2, (0, 5), 4, 3), (5, 2, 6, (1, 1), 4, 1), (4, 2, 1, (-1, 0), 1, 1)])
def test_convolutions_count_products_with_elements_alone(lengths, window, stride, padding, holes, spread):
    """As many as a convolution of ones with ones adds up, twice."""
    x, w = np.ones((1, 1, lengths), np.float32), np.ones((1, 1, window), np.float32)
    f = lambda x, w: lax.conv_general_dilated(x, w, (stride,), [padding], lhs_dilation=(holes,), rhs_dilation=(spread,))
    assert cost(f, x, w).unfused_flops == 2 * int(f(x, w).sum())


def test_convolutions_of_any_size_are_counted_at_once():
    n = 2 ** 19
    x, w = jax.ShapeDtypeStruct((1, 1, n), np.float32), jax.ShapeDtypeStruct((1, 1, n), np.float32)
    assert cost(lambda x, w: lax.conv_general_dilated(x, w, (n - 1,), [(0, 0)], lhs_dilation=(n,)), x, w).unfused_flops == 2 * n


def test_primitives_given_by_objects_cost_what_they_stand_for():
    class Product(hijax.HiPrim):
        def __init__(self, x, w):
            self.in_avals, self.out_aval, self.params = (x, w), jax.core.ShapedArray((8, 32), x.dtype), {}
            super().__init__()

        def expand(self, x, w):
            return x @ w
    assert cost(lambda x, w: Product(jax.typeof(x), jax.typeof(w))(x, w), X, W).flops == 8192


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
