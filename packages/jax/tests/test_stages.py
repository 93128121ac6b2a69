"""jax.stages: what each stage shows, and programs compiled ahead for arguments on several devices."""
import functools

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def f(x, y):
    return {"a": x * 2 + y}


ARGS = (1.0, np.ones(3, np.float32))


def test_traced():
    traced = jax.jit(f).trace(*ARGS)
    assert traced.fun_name == "f" and not traced.effects
    assert str(traced.in_avals) == "((ShapedArray(float32[], weak_type=True), ShapedArray(float32[3])), {})"
    assert str(traced.out_avals) == "{'a': ShapedArray(float32[3])}" and traced.out_info["a"].shape == (3,)
    np.testing.assert_array_equal(traced(*ARGS)["a"], [3, 3, 3])
    np.testing.assert_array_equal(jax.jvp(lambda x: traced(x, ARGS[1])["a"], (1.0,), (1.0,))[1], [2, 2, 2])
    with pytest.raises(TypeError, match=r"argument y is float32\[4\], but it was compiled for float32\[3\]"):
        traced(1.0, np.ones(4, np.float32))


def test_lowered():
    lowered = jax.jit(f).lower(*ARGS)
    assert "stablehlo.multiply" in lowered.as_text() and lowered.as_text("hlo").startswith("HloModule jit_f")
    assert "stablehlo.multiply" in str(lowered.compiler_ir())
    for hlo in (lowered.as_text("hlo"), lowered.compiler_ir("hlo").as_hlo_text()):  # called as in the program, without places
        assert "x.1 = f32[] parameter(0)" in hlo and "mul.1 = " in hlo and "metadata" not in hlo
    with pytest.raises(ValueError, match="dialect must be"):
        lowered.compiler_ir("other")
    assert lowered.cost_analysis()["flops"] > 0
    assert lowered.in_avals == jax.jit(f).trace(*ARGS).in_avals
    with pytest.raises(ValueError, match="dialect must be"):
        lowered.as_text("other")


def placed(spec):
    return NamedSharding(Mesh(np.array(jax.devices()[:4]), ("x",)), PartitionSpec(*spec))


def test_an_argument_that_is_not_used_lies_nowhere():
    compiled = jax.jit(lambda x, y: x * 2).lower(np.ones(3), np.ones(3)).compile()
    (used, unused), _ = compiled.input_shardings
    assert used.device_set == {jax.devices()[0]} and unused is None and compiled.input_formats[0][1].sharding is None


@pytest.mark.only_cpu
@pytest.mark.parametrize("described", [False, True])
def test_programs_are_compiled_for_where_their_arguments_are(described):
    x = jax.device_put(np.arange(8, dtype=np.float32), placed("x"))
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) if described else x)
    assert "sdy.sharding" in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.input_shardings == ((placed("x"),), {}) and compiled.output_shardings == placed("x")
    for argument in (x, np.arange(8, dtype=np.float32)):
        out = compiled(argument)
        np.testing.assert_array_equal(out, 2 * np.arange(8))
        assert out.sharding == placed("x")
    with pytest.raises(ValueError, match="in_shardings place argument 0"):
        compiled(jax.device_put(np.arange(8, dtype=np.float32), placed("")))


@pytest.mark.only_cpu
def test_programs_run_on_the_device_that_they_were_compiled_for():
    """Committed arguments that lie elsewhere are refused, others are moved; no second program is compiled in silence."""
    first, second = jax.devices()[:2]
    there = jax.device_put(np.ones(3, np.float32), second)
    compiled = jax.jit(f).lower(jnp.float32(1), jnp.ones(3)).compile()
    assert compiled(1.0, jnp.ones(3))["a"].devices() == {first}
    with pytest.raises(ValueError, match=r"compiled for argument y, float32\[3\], on devices \[0\],\nbut it lies as .*id=1"):
        compiled(1.0, there)
    compiled = jax.jit(f).lower(jnp.float32(1), there).compile()
    assert compiled.input_shardings[0][1].device_set == {second}
    assert compiled(1.0, np.ones(3, np.float32))["a"].devices() == {second} == compiled(jnp.float32(1), there)["a"].devices()
    with pytest.raises(ValueError, match="compiled for argument y"):
        compiled(1.0, jax.device_put(there, first))


@pytest.mark.only_cpu
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_jit_that_is_told_a_device_moves_arguments_there_ahead_of_time_too():
    first, second = jax.devices()[:2]
    compiled = jax.jit(lambda x: x * 2, device=second).lower(np.ones(3, np.float32)).compile()
    for x in np.ones(3, np.float32), jax.device_put(np.ones(3, np.float32), first), jax.device_put(np.ones(3, np.float32), second):
        assert compiled(x).devices() == {second} and compiled(x).tolist() == [2, 2, 2]


def test_texts_of_programs_name_their_results():
    lowered = jax.jit(lambda x: x + 4711).lower(np.float32(1))  # no other test's program, which would be shared
    assert '@main(%arg0: tensor<f32>) -> (tensor<f32> {jax.result_info = "result"}) {' in lowered.as_text()
    assert "loc(" in lowered.as_text(debug_info=True) and "loc(" not in lowered.as_text()
    pair = jax.jit(lambda x: {"a": x, "b": [x]}).lower(np.float32(1))
    assert """-> (tensor<f32> {jax.result_info = "result['a']"}, tensor<f32> {jax.result_info = "result['b'][0]"}) {""" in pair.as_text()
    assert str(pair.compiler_ir()).count("jax.result_info") == 2
    compiled = lowered.compile().as_text()
    assert 'op_name="jit(<lambda>)/add"' in compiled and "test_stages.py" in compiled  # the located text is what is compiled


@pytest.mark.only_cpu
def test_several_platforms():
    """A module for each, all of them made at once; what is compiled is the one for this process."""
    def f(x):
        return jax.lax.platform_dependent(x, tpu=lambda x: x * 3, default=lambda x: x + 2)
    traced = jax.jit(f).trace(np.ones(3, np.float32))
    both = traced.lower(lowering_platforms=("tpu", "cpu"))
    tpu, cpu = (text for text in both.as_text().split("// platform: ") if text)
    assert tpu.startswith("tpu\n") and "multiply" in tpu and "add" not in tpu and cpu.startswith("cpu\n") and "add" in cpu
    assert both.compile()(np.ones(3, np.float32)).tolist() == [3, 3, 3]
    for none in None, (), ("cpu",), ["cpu", "cpu"]:
        assert "// platform" not in traced.lower(lowering_platforms=none).as_text()
    for wrong, error in ("cpu", TypeError), (("cpu", 3), TypeError), (("cpu", "no such"), RuntimeError):
        with pytest.raises(error):
            traced.lower(lowering_platforms=wrong)


class Prototype:
    """A shape and a dtype, and nothing else of an array."""
    shape, dtype = (2, 3), np.dtype("float32")


@pytest.mark.parametrize("stage", [lambda fun: jax.jit(fun).trace(Prototype()).lower(), lambda fun: jax.jit(fun).lower(Prototype()),
                                   lambda fun: jax.jit(fun, static_argnames="n").lower(Prototype(), n=Prototype())], ids=["trace", "lower", "static"])
def test_what_has_a_shape_and_a_dtype_describes_an_argument(stage):
    def total(x, n=None):
        assert n is None or type(n) is Prototype
        return x.sum(0)
    np.testing.assert_array_equal(stage(total).compile()(jnp.ones((2, 3))), [2, 2, 2])


def test_prototypes_may_be_weakly_typed():
    weak = jax.core.ShapedArray((), np.dtype("float32"), weak_type=True)
    assert jax.eval_shape(lambda x: x, weak).weak_type and jax.make_jaxpr(lambda x: x)(weak).out_avals[0].weak_type


@pytest.mark.parametrize("name", ["shape", "dtype", "sharding", "weak_type"])
def test_descriptions_do_not_change(name):
    described = jax.ShapeDtypeStruct((2,), np.float32)
    with pytest.raises(RuntimeError, match=f"{name} cannot be changed"):
        setattr(described, name, None)
    assert described == jax.ShapeDtypeStruct((2,), np.float32)


def test_functions_that_take_memory_over_are_shown_as_the_others():
    assert repr(jax.jit(f, donate_argnums=0)) == repr(jax.jit(f)) != repr(jax.jit(lambda x: x))


def decorated(fun):
    @functools.wraps(fun)
    def call(*args):
        return -fun(*args)
    return call


@pytest.mark.parametrize("wrap", [jax.grad, jax.vmap, jax.checkpoint, decorated])
@pytest.mark.parametrize("options", [{}, {"donate_argnums": 0}], ids=str)
def test_what_wraps_a_jitted_function_has_none_of_its_stages(wrap, options):
    """They would be those of the function inside, without the wrapper."""
    inner = jax.jit(jnp.sin, **options)
    wrapped = wrap(inner)
    for stage in ("trace", "lower", "eval_shape", "clear_cache"):
        assert callable(getattr(inner, stage)) and not hasattr(wrapped, stage), stage
    assert jax.jit(wrapped).eval_shape(np.ones(3, np.float32) if wrap is jax.vmap else 1.0).dtype == np.float32
