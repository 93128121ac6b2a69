"""Programs for devices that are only described, compiled by the vendors' own compilers where these are installed."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.experimental.custom_partitioning
import jax.numpy as jnp
from jax.experimental import serialize_executable, topologies
from jax.experimental.fused import fused
from jax.memory import Space

HERE = pathlib.Path(__file__).parent
CONFIG = (HERE / "h100.txtpb").read_text()
WHEELS = {"tpu": "libtpu", "cuda": "jax_cuda12_plugin"}
DEVICES = {"tpu": dict(topology_name="v5e:2x2", platform="tpu"),
           "cuda": dict(topology_name="h100", platform="cuda", topology="1x2x2", target_config=CONFIG)}


def need(platform):
    if importlib.util.find_spec(WHEELS[platform]) is None:
        pytest.skip(f"the wheel {WHEELS[platform]} with the compiler for {platform} is not installed")


@pytest.fixture(params=DEVICES, scope="module")
def topology(request):
    need(request.param)
    return topologies.get_topology_desc(**DEVICES[request.param])


def described(shape, sharding):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)


def test_a_single_device(topology):
    here = jax.sharding.SingleDeviceSharding(topology.devices[0])
    fun = jax.jit(lambda x: jnp.tanh(x @ x))
    for lowered in (fun.lower(described((64, 64), here)), jax.jit(fun, in_shardings=here).lower(described((64, 64), None))):
        compiled = lowered.compile()
        assert "HloModule" in compiled.as_text() and compiled.cost_analysis()["flops"] >= 2 * 64**3
        assert compiled.memory_analysis().argument_size_in_bytes >= 4 * 64**2
        assert compiled.output_shardings == here
        with pytest.raises(RuntimeError, match="described device.*not attached"):
            compiled(jnp.ones((64, 64)))


def test_a_slice(topology):
    mesh = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    sharding = jax.NamedSharding(mesh, jax.P("x", "y"))
    compiled = jax.jit(lambda x: (x @ x).sum(0)).lower(described((64, 64), sharding)).compile()
    assert "all-" in compiled.as_text() and compiled.input_shardings[0] == (sharding,)
    assert len(topology.devices) == 4


@pytest.mark.parametrize("spec", [jax.P(None, "x"), jax.P("x")], ids=str)
def test_the_gradient_of_a_kernel_adds_up_no_equal_parts(topology, spec):
    """The devices of the axis "y" have equal parts: a sum over all four would count each twice."""
    mesh = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    place = lambda spec: jax.NamedSharding(mesh, spec)
    loss = lambda k, x: (jax.lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")) ** 2).sum()
    text = jax.jit(jax.grad(loss), out_shardings=place(jax.P())).lower(
        described((3, 8, 16), place(jax.P())), described((4, 64, 8), place(spec))).compile().as_text()
    assert "all-" in text
    sums = [line for line in text.splitlines() if " all-reduce(" in line or " all-reduce-start(" in line]
    assert not [line for line in sums if "{{0,1,2,3}}" in line or "=[1,4]" in line or "{'axis_0','axis_1'}" in line], sums


def test_a_partition_rule_is_asked(topology):
    """A vendor's compiler has an XLA of its own, which must be told of the rules, too."""
    @jax.experimental.custom_partitioning.custom_partitioning
    def double(x):
        return x * 2
    seen = []

    def partition(mesh, args, result):
        seen.append(args[0].sharding.spec)
        return mesh, lambda x: x + x, result.sharding, (args[0].sharding,)
    double.def_partition(partition, sharding_rule="i j -> i j")
    mesh = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    lowered = jax.jit(double).lower(described((64, 64), jax.NamedSharding(mesh, jax.P("x", "y"))))
    if topology.devices[0].platform == "tpu":  # libtpu 0.0.52 still does not ask
        with pytest.raises(NotImplementedError, match=r"asks no rules of custom_partitioning: .* jax\.shard_map\.$"):
            lowered.compile()
        return
    text = lowered.compile().as_text()
    assert seen == [jax.P("x", "y")] and "[32,32]" in text


@pytest.mark.parametrize("heads", [8, 2])
def test_attention_by_cudnn_on_parts(topology, heads):
    if topology.devices[0].platform == "tpu":
        pytest.skip("cuDNN is for CUDA")
    mesh = topologies.make_mesh(topology, (2, 2), ("x", "y"))
    array = lambda *shape, spec=("x", None, "y"): jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=jax.NamedSharding(mesh, jax.P(*spec)))
    loss = lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, b, implementation="cudnn").astype(jnp.float32).sum()
    args = array(4, 128, 8, 64), array(4, 128, heads, 64), array(4, 128, heads, 64), array(1, 8, 128, 128, spec=())
    text = jax.jit(jax.grad(loss, (0, 1, 2, 3))).lower(*args).compile().as_text()
    calls = [line for line in text.splitlines() if "__cudnn$fmhaScaleBiasSoftmax" in line]
    assert len(calls) == 2 and all(f"bf16[2,128,{heads // 2},64]" in line for line in calls) and "all-gather" not in text


def test_stored(topology):
    here = jax.sharding.SingleDeviceSharding(topology.devices[0])
    stored, *trees = serialize_executable.serialize(jax.jit(jnp.sin).lower(described((8,), here)).compile())
    assert len(stored) > 1000
    with pytest.raises(ValueError, match="compiled for .* and not for cpu"):
        serialize_executable.deserialize_and_load(stored, *trees)


WRONG = {
    "an unknown generation": ("tpu", dict(topology_name="v99:2x2"), "describes no topology 'v99:2x2'.*Names are"),
    "a form that does not exist": ("tpu", dict(topology_name="v5e:3x7"), "describes no topology 'v5e:3x7'"),
    "an axis without devices": ("tpu", dict(topology_name="v5e:0x2"), "describes no topology 'v5e:0x2': an axis has no devices"),
    "no text of a configuration": ("cuda", dict(target_config="nonsense"), "Give target_config"),
    "a form of hosts": ("cuda", dict(topology="2"), "describes no topology 'h100'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_there(case):
    platform, change, message = WRONG[case]
    need(platform)
    with pytest.raises(ValueError, match=message):
        topologies.get_topology_desc(**{**DEVICES[platform], **change})


@pytest.mark.parametrize("value", [np.ones(2), jnp.ones(2)], ids=["NumPy", "array"])
def test_nothing_is_put_on_a_described_device(value):
    need("tpu")
    with pytest.raises(ValueError, match="^device_put: TPU_0.* is only described"):
        jax.device_put(value, topologies.get_topology_desc(**DEVICES["tpu"]).devices[0])


def test_a_program_that_is_too_large_says_what_takes_how_much():
    need("tpu")
    here = jax.sharding.SingleDeviceSharding(topologies.get_topology_desc(**DEVICES["tpu"]).devices[0])
    with pytest.raises(RuntimeError, match=r"(?s)Ran out of memory.*14.400 GB  inputs.*sine  f32\[60000,60000\].*jax.checkpoint"):
        jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x) @ x.T).lower(described((60000, 60000), here)).compile()


LACKING = {  # what the vendors' compilers do not have
    "tpu": ("int64", lambda x: x @ x, "rewriting is not implemented.*convert to 32 bits"),
    "cuda": ("float4_e2m1fn", lambda x: x @ x, "no product of matrices in this dtype"),
}


@pytest.mark.parametrize("platform", LACKING)
def test_a_dtype_that_the_platform_lacks(platform):
    need(platform)
    dtype, fun, message = LACKING[platform]
    here = jax.sharding.SingleDeviceSharding(topologies.get_topology_desc(**DEVICES[platform]).devices[0])
    with jax.enable_x64(True), pytest.raises(NotImplementedError, match=message):
        jax.jit(fun).lower(jax.ShapeDtypeStruct((128, 128), dtype, sharding=here)).compile()


def in_memories(a, b):
    return fused(out_spaces=(Space.Host, Space.Device))(lambda a, b: (a + b, a * b))(jax.device_put(a, Space.Host), b)


COMPILES = {  # on each platform; what ended in an error of the compiler
    "a scatter into a scalar": (lambda x: [getattr(x.at[True], how)(u) for how in ("set", "add", "mul", "min", "max") for u in (2.0, jnp.ones(1))], ()),
    "several scatters into a scalar": (
        lambda x: jax.lax.scatter_add(x, np.zeros((2, 3, 0), int), jnp.ones((2, 3)), jax.lax.ScatterDimensionNumbers((), (), ())), ()),
    "scatters of rows without indices": (
        lambda x: jax.lax.scatter_max(x, np.zeros((3, 0), int), jnp.ones((8, 3)), jax.lax.ScatterDimensionNumbers((0,), (), ())), (8,)),
    "fused of two memories": (lambda x: in_memories(x, x), (8,)),
    "vmap of fused": (lambda x: jax.vmap(in_memories)(x, x), (8,)),
    "cotangents of fused in the host's memory": (lambda x: jax.vjp(in_memories, x, x)[1](in_memories(x, x)), (8,)),
    "tangents of fused": (lambda x: jax.jvp(in_memories, (x, x), (x, x)), (8,)),
    "results moved to the host's memory": (lambda x: (jax.device_put(x, Space.Host), jax.vmap(lambda x: jax.device_put(x + 1, Space.Host))(x), x), (8,)),
    "gradient of a move": (jax.grad(lambda x: jax.device_put(jax.device_put(jnp.sin(x), Space.Host), Space.Device).sum()), (8,)),
    "rows of a loop in the host's memory": (
        lambda x: jax.lax.scan(lambda c, x: (c + x, jax.device_put(c, Space.Host)), jnp.zeros((8, 128)), x), (3, 8, 128)),
}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(name, topology):
    fun, shape = COMPILES[name]
    jax.jit(fun).lower(described(shape, jax.sharding.SingleDeviceSharding(topology.devices[0]))).compile()


@pytest.mark.parametrize("platform", DEVICES)
def test_without_the_device_the_cpu_is_used(platform):
    """No library of a vendor is loaded for that, and the warning is one."""
    need(platform)
    if any(pathlib.Path("/dev").glob("nvidia[0-9]*")) or any(pathlib.Path("/dev").glob("accel[0-9]*")):
        pytest.skip("this machine has such a device")
    code = ("import jax, json, sys, warnings\nwith warnings.catch_warnings(record=True) as seen:\n    devices = jax.devices()\n"
            "libraries = open('/proc/self/maps').read()\n"
            "print(json.dumps([devices[0].platform, len(seen), 'libtpu.so' in libraries or 'xla_cuda_plugin' in libraries]))")
    env = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS" and not name.startswith("TPU_")}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=600, check=True).stdout
    assert json.loads(out) == ["cpu", 1, False]


def test_two_processes_compile_at_once(topology):
    """Without a device there is nothing that only one of them may have; this process has the library loaded."""
    platform = "tpu" if "TPU" in topology.devices[0].device_kind else "cuda"
    code = f"from jax.experimental import topologies; print(len(topologies.get_topology_desc(**{DEVICES[platform]!r}).devices))"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TPU_", "ALLOW_"))} | {"JAX_PLATFORMS": "cpu"}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=600, check=True).stdout == "4\n"


@pytest.mark.parametrize("name", ["svd", "svd full", "pure_callback", "io_callback ordered", "sharded callback", "debug.print", "callbacks without results",
                                  "ordered callbacks in a loop", "ordered callbacks stacked", "callback under vmap", "callback in a branch", "qr", "psum"])
def test_programs(name, topology):
    """A sample of what `nox -s aot_tpu` and `aot_cuda` compile."""
    spec = importlib.util.spec_from_file_location("accelerators", HERE.parents[1] / "benchmarks" / "accelerators.py")
    accelerators = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(accelerators)
    dict(accelerators.programs(topology))[name]().compile()
