"""Laws of reshaping, joining, cutting, creating and converting."""
import numpy as np
import pytest

from harness import LAWS, Case
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.array import Array
from jax_numpy_api import lax
from jax_numpy_api.lax.interleave import interleave


def _in_turn(axis):
    def reference(x, y):
        places = np.argsort([*range(0, 2 * x.shape[axis], 2), *range(1, 2 * y.shape[axis], 2)])
        return np.take(np.concatenate([x, y], axis), places, axis)
    return reference


CASES = [
    Case(lax.reshape, "f32[2,3] i8[6] c64[3,2] bool[6]", new_sizes=(3, 2), reference=lambda x: np.reshape(x, (3, 2))),
    Case(lax.reshape, "f32[2,3]", new_sizes=(6,), dimensions=(1, 0), reference=lambda x: np.ravel(x.T)),
    Case(lax.reshape, "f32[0,3]", new_sizes=(3, 0), reference=lambda x: np.reshape(x, (3, 0))),
    Case(lax.squeeze, "f32[2,1,3,1] i8[0,1,2,1]", dimensions=(1, -1), reference=lambda x: np.squeeze(x, (1, -1))),
    Case(lax.expand_dims, "f32[2,3] bf16[0]", dimensions=(0, -1), reference=lambda x: np.expand_dims(x, (0, -1))),
    Case(lax.collapse, "f32[2,3,4]", start_dimension=1, reference=lambda x: x.reshape(2, 12)),
    Case(lax.collapse, "f32[2,3,4]", start_dimension=0, stop_dimension=2, reference=lambda x: x.reshape(6, 4)),
    Case(lax.concatenate, "f32[2,3],f32[1,3] i8[2],i8[0] c64[1],c64[2]", sequence=True, dimension=0,
         reference=lambda *xs: np.concatenate(xs, 0)),
    Case(lax.concatenate, "f32[2,3],f32[2,1],f32[2,2]", sequence=True, dimension=1, reference=lambda *xs: np.concatenate(xs, 1)),
    Case(lax.stack, "f32[2,3],f32[2,3] bool[2],bool[2] i8[],i8[]", sequence=True, axis=-1, reference=lambda *xs: np.stack(xs, -1)),
    Case(lax.unstack, "f32[2,3] i8[3,0]", axis=1, reference=lambda x: tuple(np.moveaxis(x, 1, 0))),
    Case(interleave, "f32[3],f32[3] f32[3],f32[2] c64[3],c64[3] bool[2],bool[2] i8[1],i8[0] bf16[2],bf16[1]", axis=0, reference=_in_turn(0)),
    Case(interleave, "f32[2,3,2],f32[2,2,2]", axis=1, reference=_in_turn(1)),
    Case(lax.split, "f32[2,6] i8[0,6] bf16[1,6]", sizes=(1, 3, 2), axis=1, reference=lambda x: np.split(x, (1, 4), 1)),
    Case(lax.pad, "f32[2,3],f32[] i8[2,3],i8[] bool[0,3],bool[]", padding_config=((1, 2, 1), (0, 1, 0))),
    Case(lax.pad, "f32[5,4],f32[] c64[5,4],c64[]", padding_config=((-1, -2, 0), (1, -3, 2))),
    Case(lax.pad, "f32[4],f32[]", padding_config=((-3, 2, 1),)), Case(lax.pad, "f32[0],f32[]", padding_config=((2, 1, 3),)),
    Case(lax.rev, "f32[3,4] bf16[5,1] i8[0,2]", dimensions=(0,)), Case(lax.rev, "f32[2,3]", dimensions=(1, 0)),
    Case(lax.tile, "f32[2,3] i8[0,1] bool[1,2]", reps=(2, 3)),
    Case(lax.transpose, "f32[2,3,4] i8[0,1,2]", permutation=(2, 0, 1), reference=lambda x: np.transpose(x, (2, 0, 1))),
    Case(lax.broadcast, "f32[2,3] i8[]", sizes=(4,), reference=lambda x: np.broadcast_to(x, (4, *x.shape))),
    Case(lax.broadcast_in_dim, "f32[3,1] i8[3,1]", shape=(2, 3, 4), broadcast_dimensions=(1, 2),
         reference=lambda x: np.broadcast_to(x, (2, 3, 4))),
    Case(lax.broadcast_to_rank, "f32[3] f32[]", rank=3, reference=lambda x: x.reshape((1,) * (3 - x.ndim) + x.shape)),
    Case(lax.broadcast_like, "f32[3,1],f32[2,3,4]", reference=lambda x, y: np.broadcast_to(x, y.shape)),
    Case(lambda v: lax.full((2, 3), v), "f32[] i8[] c64[]", name="full", reference=lambda v: np.full((2, 3), v)),
    Case(lambda v: lax.full_like(v, 2, shape=(3,)), "f32[] i8[2] c64[]", name="full_like",
         reference=lambda v: np.full((3,), 2, v.dtype)),
    Case(lambda x: lax.add(x, lax.broadcasted_iota(np.float32, (2, 3), 1)), "f32[2,3]", name="iota", derivative=False,
         reference=lambda x: x + np.arange(3, dtype=np.float32)),
    Case(lax.bitcast_convert_type, "f32[3] i32[2,2] u32[0]", new_dtype=np.int32, reference=lambda x: x.view(np.int32)),
    Case(lax.bitcast_convert_type, "f32[3]", new_dtype=np.int8, reference=lambda x: x.view(np.int8).reshape(3, 4)),
    Case(lax.bitcast_convert_type, "u8[3,4]", new_dtype=np.uint32, reference=lambda x: x.view(np.uint32).reshape(3)),
    Case(lax.optimization_barrier, "f32[3] i8[2]", reference=lambda x: x),
    Case(lax.stop_gradient, "f32[3] i8[2]", reference=lambda x: x, derivative=False),
    Case(lax.copy, "f32[3] i8[2]", reference=lambda x: x),
] + [Case(lax.convert_element_type, "f32[4] bf16[4] i32[4] u8[4] bool[4] c64[3] f32[0]", new_dtype=t, domain=(0, 100),
          reference=lambda x, t=t: (x.real if x.dtype.kind == "c" and np.dtype(t).kind != "c" else x).astype(t),
          derivative=False)
     for t in (np.float32, np.int8, np.uint16, bool, np.complex64)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_law(case, law):
    law(case)


def test_a_broadcast_that_changes_nothing_is_left_out():
    """But for a number, which becomes an array."""
    assert not make_jaxpr(lambda x: lax.broadcast_in_dim(x, (2, 3), (0, 1)))(np.ones((2, 3), np.float32)).eqns
    assert isinstance(lax.broadcast_in_dim(2.0, (), ()), Array)
