"""Kernels compiled by the vendors' own compilers for described devices, where these are installed."""
import importlib.util
import pathlib

import pytest

import jax
import jax.numpy as jnp
from jax.experimental import topologies

HERE = pathlib.Path(__file__).parent
WHEELS = {"tpu": "libtpu"}
DEVICES = {"tpu": dict(topology_name="v5e:2x2", platform="tpu")}
SPEC = importlib.util.spec_from_file_location("kernels", HERE.parents[1] / "examples" / "kernels.py")
kernels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kernels)


@pytest.fixture(params=DEVICES, scope="module")
def compiled(request):
    if importlib.util.find_spec(WHEELS[request.param]) is None:
        pytest.skip(f"the wheel {WHEELS[request.param]} with the compiler for {request.param} is not installed")
    topology = topologies.get_topology_desc(**DEVICES[request.param])
    here = jax.sharding.SingleDeviceSharding(topology.devices[0])

    def run(function, *types):
        args = [jax.ShapeDtypeStruct(shape, dtype, sharding=here) for shape, dtype in types]
        return jax.jit(function).lower(*args).compile().as_text()
    return run


def derivative(causal):
    return lambda q, k, v, ct: jax.vjp(lambda *args: kernels.attention(*args, causal), q, k, v)[1](ct)


def cases(dtype):
    matrix, row, heads = ((1024, 256), dtype), ((1, 256), dtype), ((4, 512, 128), dtype)
    return {"add": (kernels.add, matrix, matrix), "softmax": (kernels.softmax, matrix), "layer norm": (kernels.layer_norm, matrix, row, row),
            "mapped softmax": (jax.vmap(kernels.softmax), ((2, 1024, 256), dtype)),
            "matmul": (kernels.matmul, ((256, 512), dtype), ((512, 256), dtype)),
            "attention": (kernels.attention, heads, heads, heads), "its derivative": (derivative(False), *[heads] * 4),
            "causal": (lambda *qkv: kernels.attention(*qkv, True), heads, heads, heads), "its derivative, causal": (derivative(True), *[heads] * 4)}


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", cases(jnp.float32))
def test_kernels_compile(compiled, case, dtype):
    function, *types = cases(dtype)[case]
    assert "custom-call" in compiled(function, *types)
