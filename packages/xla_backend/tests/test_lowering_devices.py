"""Lowering for several devices (the suite runs with eight CPU devices; see conftest)."""
from __future__ import annotations

import numpy as np
import pytest

from jax_core import backends
from jax_core.configuration import flags
from jax_core.interfaces import LowerSpec
from jax_core.programs.jit import jit
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.traces import structural
from jax_core.traces.staging import trace_to_jaxpr
from jax_xla_backend.arrays.device_put import device_put_p
from jax_xla_backend.arrays.put import put
from jax_xla_backend.lowering.module import lower_module
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms import client

pytestmark = pytest.mark.only_cpu

backends.get()  # sets jaxlib up
X = np.arange(16, dtype=np.float32).reshape(4, 4)


def on(*axes):
    """A placement on a 2 by 2 mesh."""
    return NamedSharding(Mesh(np.array(client.devices()[:4]).reshape(2, 2), ("x", "y")), P(*axes))


def test_arguments_and_results_carry_their_placements():
    """The mesh is declared once."""
    x = put(X, None, on("x", "y"))
    closed = ClosedJaxpr(*trace_to_jaxpr(lambda x: [structural.add(x, x)], [x.aval])[:2])
    text = lower_module(closed, LowerSpec("f"), (on("x", "y"),), (on(None, "x"),)).text()
    assert "mhlo.num_partitions = 4" in text
    assert text.count('sdy.mesh @mesh = <["x"=2, "y"=2]>') == 1
    assert '%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}' in text
    assert '(tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})' in text
    out = jit(lambda x: structural.add(x, x), out_shardings=on(None, "x"))(x)
    assert out.sharding == on(None, "x")
    np.testing.assert_array_equal(out, 2 * X)


@pytest.mark.parametrize("shardy", [True, False])
@pytest.mark.parametrize("spread", [True, False])
def test_constraints_inside_a_program(spread, shardy):
    """They hold for arguments that are spread already, and spread those that are not, with either partitioner."""
    before = flags.use_shardy_partitioner.value
    flags.config.update("jax_use_shardy_partitioner", shardy)
    try:
        double = jit(lambda x: device_put_p.bind(structural.add(x, x), placement=on(None, "x")))
        out = double(put(X, None, on("x", "y")) if spread else X)
    finally:
        flags.config.update("jax_use_shardy_partitioner", before)
    assert out.sharding.is_equivalent_to(on(None, "x"), 2)
    np.testing.assert_array_equal(out, 2 * X)


def test_placements_of_an_inner_jit_hold():
    inner = jit(lambda x: structural.add(x, x), out_shardings=on("y"))
    out = jit(lambda x: inner(x))(X)
    assert out.sharding.is_equivalent_to(on("y"), 2)
    np.testing.assert_array_equal(out, 2 * X)
