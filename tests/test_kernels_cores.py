"""`pl.kernel` on the cores of a chip, and what kernels use besides: packed words, chips, waits."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu, triton as plgpu

X = jnp.arange(32 * 128, dtype=jnp.float32).reshape(32, 128)
TWO = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
SAME = jax.ShapeDtypeStruct(X.shape, X.dtype)


def doubled(x, out, room):
    mine = pl.ds(16 * jax.lax.axis_index("core"), 16)
    pltpu.sync_copy(x.at[mine], room)
    room[...] = 2 * room[...] + jax.lax.axis_index("core").astype(jnp.float32)
    pltpu.sync_copy(room, out.at[mine])


ROOM = [pltpu.VMEM((16, 128), jnp.float32)]
EXPECTED = 2 * np.asarray(X) + np.repeat([0, 1], 16)[:, None]


def test_each_core_has_its_part():
    np.testing.assert_array_equal(pl.kernel(doubled, SAME, mesh=TWO, scratch_types=ROOM, interpret=True)(X), EXPECTED)
    np.testing.assert_array_equal(pl.kernel(out_type=[SAME], mesh=[TWO], scratch_types=ROOM, interpret=True)(doubled)(X)[0], EXPECTED)
    mapped = jax.vmap(pl.kernel(doubled, SAME, mesh=TWO, scratch_types=dict(room=ROOM[0]), interpret=True))(jnp.stack([X, X]))
    np.testing.assert_array_equal(mapped, [EXPECTED, EXPECTED])


def test_references_are_changed():
    def added(x, total):
        pltpu.sync_copy(x, total, add=True)
    ref = jax.new_ref(X)
    assert pl.kernel(added, mesh=pltpu.TensorCoreMesh(axis_name="core"), interpret=True)(X, ref) == ()
    np.testing.assert_array_equal(ref[...], 2 * X)


def test_written_for_tpus():
    text = jax.jit(pl.kernel(doubled, SAME, mesh=TWO, scratch_types=ROOM)).trace(X).lower(lowering_platforms=("tpu",)).as_text()
    assert "tpu_custom_call" in text


def test_one_mesh():
    with pytest.raises(NotImplementedError, match="^pl.kernel: kernels on several meshes"):
        pl.kernel(doubled, SAME, mesh=[TWO, TWO])


@pytest.mark.parametrize("packed, unpacked", [(jnp.bfloat16, jnp.float32), (jnp.int16, jnp.int32), (jnp.uint8, jnp.uint32), (jnp.int8, jnp.int32),
                                              (jnp.int4, jnp.int32)], ids=lambda d: d.__name__)
def test_packed_and_unpacked(packed, unpacked):
    """Each place gives back what was put there, in fewer bits."""
    count = 2 if packed == jnp.bfloat16 else 32 // jnp.iinfo(packed).bits
    values = [jnp.asarray(np.random.default_rng(k).integers(0 if packed == jnp.uint8 else -100, 100, 50), unpacked) for k in range(count)]
    words = pltpu.pack_elementwise(values, packed_dtype=packed)
    assert words.dtype == jnp.uint32
    for k, x in enumerate(values):
        found = pltpu.unpack_elementwise(words, index=k, packed_dtype=packed, unpacked_dtype=unpacked)
        np.testing.assert_array_equal(found, x.astype(packed).astype(unpacked))


def test_rounding_is_right_on_average():
    x = jnp.full((4096,), 1 + 1 / 512, jnp.float32)
    bits = jax.random.bits(jax.random.key(0), (4096,), jnp.uint32)
    found = pltpu.stochastic_round(x, bits, target_dtype=jnp.bfloat16).astype(jnp.float32)
    assert set(found.tolist()) == {1.0, 1.0078125}
    assert abs(float(found.mean()) - float(x[0])) < 3e-4
    assert np.isnan(pltpu.stochastic_round(jnp.float32([np.nan]), jnp.uint32([7]), target_dtype=jnp.bfloat16).astype(jnp.float32))


@pytest.mark.parametrize("call, message", [
    (lambda: pltpu.pack_elementwise([X], packed_dtype=jnp.bfloat16), "pltpu.pack_elementwise: 1 arrays were given, and a word has 2 places for bfloat16."),
    (lambda: pltpu.pack_elementwise([X, X], packed_dtype=jnp.float16), "pltpu.pack_elementwise: between float32 and float16; words hold"),
    (lambda: pltpu.unpack_elementwise(X, index=2, packed_dtype=jnp.bfloat16, unpacked_dtype=jnp.float32), "pltpu.unpack_elementwise: index=2; a word"),
    (lambda: pltpu.stochastic_round(X, X, target_dtype=jnp.bfloat16), "pltpu.stochastic_round: float32"),
    pytest.param(lambda: pltpu.get_tpu_info(), "get_tpu_info: the devices are of kind 'cpu'", marks=pytest.mark.only_cpu),
    pytest.param(lambda: plgpu.get_gpu_info(), "get_gpu_info: the devices are of kind 'cpu'", marks=pytest.mark.only_cpu),
    (lambda: pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5E, 2), "get_tpu_info_for_chip: 2 tensor cores as one device of a TPU v5e"),
])
def test_errors(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)


def test_chips():
    chip = pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5P, 2)
    assert chip.is_megacore and not chip.is_lite and chip.num_cores == 2 and chip.sparse_core.num_cores == 4 and not chip.is_split_chip
    chips = {version.name: pltpu.get_tpu_info_for_chip(version, 1) for version in pltpu.ChipVersion}
    assert {name for name, c in chips.items() if c.is_split_chip} == {"TPU_V2", "TPU_V3", "TPU_V4", "TPU_V5P", "TPU_7", "TPU_7X", "TPU_8I"}
    tiles = {name: [c.get_sublane_tiling(np.dtype(d)) for d in ("float32", jnp.bfloat16, "int8", jnp.int4)] for name, c in chips.items()}
    assert tiles["TPU_V6E"] == [8, 8, 32, 64] and tiles["TPU_7"] == [8, 16, 32, 64]
    assert tiles["TPU_8I"] == [8, 16, 32, 64] and tiles["TPU_8T"] == [16, 32, 64, 128]
    assert chips["TPU_8I"].sparse_core.num_subcores == 4 and chips["TPU_8T"].sparse_core.num_cores == 2
    products = {name: [c.is_matmul_supported(a, b) for a, b in (("float32", "float32"), ("bfloat16", "int8"), ("int8", "uint8"), ("float8_e4m3fn", "float8_e5m2"))]
                for name, c in chips.items()}
    assert [chips["TPU_8T"].is_matmul_supported("bfloat16", d) for d in ("int4", "uint4")] == [True, False]
    assert products["TPU_V3"] == [True, False, False, False] and products["TPU_V4"] == [True, True, False, False]
    assert products["TPU_V5E"] == [True, False, True, False] and products["TPU_7X"] == [True, False, False, True]
    assert {plgpu.get_gpu_info_from_version(v).arch_name for v in plgpu.GpuVersion} >= {"8.0", "9.0", "10.0"}


def test_run_state():
    def swapped(refs):
        refs["a"][...], refs["b"][...] = refs["b"][...], refs["a"][...]
    found = jax.jit(pl.run_state(swapped))({"a": jnp.zeros(2), "b": jnp.ones(2)})
    np.testing.assert_array_equal(found["a"], [1, 1])


@pytest.mark.parametrize("text, numbers, printed", [("x", (0, 2), "x 1.0 3.0\n"), ("{{}} is", (1,), "{{}} is 2.0\n"), ("{} of {}", (0, 1), "1.0 of 2.0\n")])
def test_values_are_printed_after_a_text_without_braces(text, numbers, printed, capfd):
    def kernel(x, out):
        pl.debug_print(text, *[x[i] for i in numbers])
        out[...] = x[...]
    jax.block_until_ready(pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(1.0, 4.0)))
    jax.effects_barrier()
    assert capfd.readouterr().out == printed


@pytest.mark.any_code
def test_keys_are_operands():
    """What a kernel draws from a key is no number for each of its words."""
    def kernel(key, out):
        out[...] = jax.random.bits(key[0], (2,))
    keys = jax.random.split(jax.random.key(0), 3)
    draw = pl.pallas_call(kernel, jax.ShapeDtypeStruct((3, 2), jnp.uint32), grid=(3,), in_specs=[pl.BlockSpec((1,), lambda i: i)],
                          out_specs=pl.BlockSpec((None, 2), lambda i: (i, 0)), interpret=True)
    np.testing.assert_array_equal(draw(keys), jax.vmap(lambda key: jax.random.bits(key, (2,)))(keys))
