"""Parameters and members that the public API has besides the usual ones, and what they do."""
import inspect
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.extend import core as extend_core


def test_checkpoint_takes_static_arguments_by_name():
    """The argument steers Python control flow, given by name or by position."""
    f = jax.checkpoint(lambda x, mode: jnp.sin(x) if mode == "sin" else x, static_argnames="mode")
    assert np.allclose(jax.grad(lambda x: f(x, "sin"))(1.0), np.cos(1.0))
    assert np.allclose(jax.grad(lambda x: f(x, mode="sin"))(1.0), np.cos(1.0))
    assert jax.grad(lambda x: f(x, mode="identity"))(1.0) == 1.0


def test_disable_jit_is_a_context_manager_with_a_default():
    """Inside it a jitted function sees values."""
    with jax.disable_jit():
        assert jax.jit(lambda x: float(x) + 1)(1.0) == 2.0
    with jax.disable_jit(False), pytest.raises(jax.errors.ConcretizationTypeError):
        jax.jit(lambda x: float(x))(1.0)


def test_custom_gradient_is_a_decorator_with_options():
    """Called without a function it waits for one."""
    square = jax.custom_gradient()(lambda x: (x * x, lambda ct: (7 * ct,)))
    assert jax.grad(square)(2.0) == 7.0


def test_options_of_vjp_and_linearize():
    """An option is never ignored."""
    with pytest.raises(ValueError, match="args_res"):
        jax.vjp(jnp.multiply, jnp.ones(2), jnp.ones(2), saveable_args=False)[1](jnp.ones(2))
    assert jax.vjp(jnp.sin, 1.0, in_nzs=False)[1](1.0) == (0.0,)
    _, derivative = jax.linearize(lambda x, y: (jnp.sin(x), x * y), 1.0, 2.0, in_nzs=(False, True))
    assert derivative.out_nzs == (False, True) and derivative(1.0, 1.0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="2 entries"):
        jax.linearize(jnp.sin, 1.0, in_nzs=(True, True))


def test_floating_stays_the_abstract_dtype():
    """No module of the implementation takes its place."""
    assert not inspect.ismodule(jnp.floating)
    jnp.round(1.5), jnp.isclose(1.0, 1.0)
    assert jnp.issubdtype(jnp.float32, jnp.floating)


def test_dtype_names_are_not_python_types():
    """`jnp.float64` is the NumPy scalar type and the dtype of its name, and not `float`."""
    assert jnp.float64 != float and jnp.int_ != int and jnp.bool_ != bool
    assert jnp.float64 == np.float64 and jnp.float64 == np.dtype("float64") and np.dtype(bool) == jnp.bool_


def test_shape_dtype_struct_like():
    """Shape, dtype and weak type of an array."""
    assert jax.ShapeDtypeStruct.like(np.ones((2, 3), np.int8)).shape == (2, 3)
    assert jax.ShapeDtypeStruct.like(1.0).weak_type


def test_programs_with_and_without_constants_answer_alike():
    """A closed and an open jaxpr have the same inquiries."""
    closed = jax.make_jaxpr(lambda x: x + np.arange(3.0, dtype=np.float32))(1.0)
    assert closed.invars == closed.jaxpr.invars and closed.num_consts == closed.jaxpr.num_consts
    assert closed.jaxpr.with_consts(closed.consts).jaxpr is closed.jaxpr
    assert np.allclose(extend_core.jaxpr_as_fun(closed, 2.0)[0], [2, 3, 4])


def test_types_of_mapped_values():
    """A row of a mapped type, and back."""
    row = extend_core.mapped_aval(4, 0, jax.core.ShapedArray((4, 3), np.float32))
    assert row.shape == (3,) and extend_core.unmapped_aval(4, 1, row).shape == (3, 4)


def test_output_types_of_dot_algorithms():
    """The type of the sum, and the operands' own where the algorithm widens it."""
    preset = jax.lax.DotAlgorithmPreset
    assert preset.F16_F16_F32.supported_output_types(np.float16, np.float16) == (np.float32, np.float16)
    assert preset.F16_F16_F32.supported_output_types(np.float32, np.float32) == (np.float32,)
    assert preset.DEFAULT.supported_output_types(np.float32, np.float32) is None


def test_a_process_may_begin_inside_a_context_manager():
    """The backend, loaded inside it, knows the override."""
    code = ("import numpy as np, jax, jax.numpy as jnp\nwith jax.enable_x64(True):\n"
            "    assert jax.jit(jnp.sin)(np.arange(3.0)).dtype == np.float64\n"
            "assert jax.jit(jnp.sin)(np.arange(3.0)).dtype == np.float32")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rules_are_set_with_the_names_of_parameters_that_users_know():
    """Of `interpreters.ad` and `interpreters.batching`."""
    from jax.interpreters import ad, batching
    double = extend_core.Primitive("double_it")
    double.def_impl(lambda x: 2 * x)
    double.def_abstract_eval(lambda x: x)
    ad.deflinear2(primitive=double, transpose_rule=lambda ct, _: [2 * ct])
    assert jax.grad(lambda x: double.bind(x))(1.0) == 2.0
    assert batching.bdim_at_front(np.ones((2, 3)), bdim=1, size=3).shape == (3, 2)
    assert batching.broadcast(np.ones(2), sz=3, axis=1, mesh_axis=None).shape == (2, 3)
    with pytest.raises(NotImplementedError, match="mesh_axis"):
        batching.broadcast(np.ones(2), 3, 1, "x")


def test_names_of_arguments_for_messages():
    """Each leaf of each argument that is not static has one."""
    from jax.api_util import debug_info
    found = debug_info("jit", lambda x, n, y: x, ({"a": 1, "b": (2, 3)}, 4), {"y": 5}, static_argnums=(1,), sourceinfo="here")
    assert found.arg_names == ("x['a']", "x['b'][0]", "x['b'][1]", "y")
    assert found.func_src_info == "here" and found.traced_for == "jit"
    assert debug_info("id", lambda x, y: x, {"a": 1, "b": 2}, {}).arg_names == ("x", "y")  # numpyro's tests of provenance
    with pytest.raises(TypeError, match="args must be of the class Collection, got 3"):
        debug_info("id", lambda x: x, 3, {})


def test_primitives_say_types_and_bind_under_a_trace():
    """Of the primitives that users declare."""
    twin = extend_core.Primitive("twin")
    twin.multiple_results = True
    twin.def_abstract_eval(lambda x: [x, x])
    twin.def_impl(lambda x: [x, x + 1])
    aval = jax.core.ShapedArray((2,), np.float32)
    assert twin.abstract_eval(aval) == ([aval, aval], frozenset())
    with jax.core.eval_context():
        assert twin.bind_with_trace(extend_core.find_top_trace(()), (1,), {}) == [1, 2]


def test_arguments_that_a_pullback_reads_are_pytrees_and_can_be_taken_out():
    """Each is shown in its own structure; the backward pass of a loop puts back what the forward pass left out."""
    def f(x, w):
        return jnp.tanh(x @ w[0] + w[1]["b"])
    x, w = jnp.ones((2, 3)), (jnp.ones((3, 3)), {"b": jnp.ones(3)})
    y, pull = jax.vjp(f, x, w)
    expected = jax.tree.leaves(pull(y))
    assert type(pull.args_res[1][1]["b"]).__name__ == "NotNeeded" and pull.args_res[1][0] is w[0]
    pull.args_res[1] = None
    with pytest.raises(ValueError, match="args_res"):
        pull(y)
    assert len(jax.tree.leaves(pull)) == len(expected) - 1
    for wrong in (w[0], (w[0], {"c": w[1]["b"]})):
        pull.args_res[1] = wrong
        with pytest.raises(ValueError, match=r"args_res\[1\] must have the structure"):
            pull(y)
    pull.args_res[1] = w
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(pull(y)), expected))
    layers = jax.tree.map(lambda a: jnp.stack([a, 2 * a, a / 3]), w)

    def forward(x, w):
        y, pull = jax.vjp(f, x, w)
        pull.args_res[1] = None
        return y, pull

    def backward(ct, step):
        pull, w = step
        pull.args_res[1] = w
        return pull(ct)

    def by_hand(x, layers):
        y, pulls = jax.lax.scan(forward, x, layers)
        return jax.lax.scan(backward, jnp.ones_like(y), (pulls, layers), reverse=True)
    whole = jax.grad(lambda x, layers: jax.lax.scan(lambda x, w: (f(x, w), None), x, layers)[0].sum(), argnums=(0, 1))(x, layers)
    for a, b in zip(jax.tree.leaves(jax.jit(by_hand)(x, layers)), jax.tree.leaves(whole)):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_donated_positions_without_the_static_ones():
    rebase = jax.api_util.rebase_donate_argnums
    assert rebase((2, 2), (0,)) == (1,) and rebase((3, 5), (0, 2, 4)) == (1, 2) and rebase((-1,), (0,)) == (-1,)
    with pytest.raises(ValueError, match=r"the arguments \[1\]"):
        rebase((0, 1), (1,))
