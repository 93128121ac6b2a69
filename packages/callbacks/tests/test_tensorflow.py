"""Functions of ours as TensorFlow's, and TensorFlow's in our programs (`jax_callbacks.tensorflow`)."""
from __future__ import annotations

import sys

import numpy as np
import pytest

from jax_callbacks.tensorflow import PolyShape, call_tf, convert, dtype_of_val, eval_polymorphic_shape
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_numpy_api import numpy as jnp

pytestmark = pytest.mark.any_code
X = np.arange(20, dtype=np.float32).reshape(5, 4) / 20
P = {"w": np.full((4, 3), 0.1, np.float32), "b": np.zeros(3, np.float32)}


@pytest.mark.parametrize("function", [lambda: convert(jnp.sin), lambda: call_tf(abs), lambda: dtype_of_val(1.0)])
def test_without_tensorflow_an_error_says_how_to_get_it(function, monkeypatch):
    """What asks for TensorFlow says so itself."""
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(ImportError, match=r"^jax2tf\.\w+: needs the package tensorflow, .*pip install tensorflow"):
        function()


def test_shapes_of_results_are_said_as_specifications():
    """For one specification for all arguments, and for one for each; PolyShape is one in parts."""
    each = eval_polymorphic_shape(lambda x, y: {"z": x @ y}, polymorphic_shapes=["b, _", None])(X, X.T)
    assert each[0]["z"].dtype == np.float32 and each[1] == {"z": "(b, 5)"}
    assert eval_polymorphic_shape(jnp.add, polymorphic_shapes=PolyShape("n", ...))(X, X)[1] == "(n, 4)"
    with pytest.raises(ValueError, match="PolyShape: None is no part"):
        PolyShape("b", None)


def model(p, x):
    """Results of two kinds, one of which has no derivative."""
    return {"y": jnp.tanh(x @ p["w"]).sum(0) + p["b"], "n": jnp.argmax(x, 0)}


def test_converted_functions_are_differentiated_and_saved(tmp_path):
    """Eagerly, compiled by TensorFlow, with parameters that a module keeps, and from a file."""
    tf = pytest.importorskip("tensorflow", reason="an optional dependency")
    want, slope = model(P, X), grad(lambda p: model(p, X)["y"].sum())(P)
    converted = convert(model)
    for call in (converted, tf.function(converted, autograph=False)):
        np.testing.assert_allclose(call(P, tf.constant(X))["y"], want["y"], rtol=1e-5)
    module = tf.Module()
    module.p = tf.nest.map_structure(tf.Variable, P)
    module.f = tf.function(lambda x: converted(module.p, x), autograph=False, input_signature=[tf.TensorSpec(X.shape, tf.float32)])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(module.f(X)["y"])
    for name, g in zip("bw", tape.gradient(total, [module.p["b"], module.p["w"]])):
        np.testing.assert_allclose(g, slope[name], rtol=1e-5)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))  # it holds the variables
    np.testing.assert_array_equal(loaded.f(X)["n"], want["n"])
    assert convert(jnp.sin)(np.float64(1)).dtype == dtype_of_val(np.float64(1)) == tf.float32
    with pytest.raises(NotImplementedError, match=r"has the shape \(None, 4\)"):
        tf.function(converted, autograph=False).get_concrete_function(P, tf.TensorSpec((None, 4), tf.float32))
    with pytest.raises(LookupError), tf.GradientTape() as tape:
        x = tf.Variable(1.0)
        tape.gradient(convert(jnp.sin, with_gradient=False)(x), x)


def test_tensorflow_functions_are_called_and_differentiated():
    """Their results may have no derivative, and so may their arguments."""
    tf = pytest.importorskip("tensorflow", reason="an optional dependency")
    call = call_tf(lambda a, n: {"s": tf.sin(a) * tf.cast(n, tf.float32), "k": tf.shape(a)}, has_side_effects=False)
    got = jit(call)(X, 2)
    np.testing.assert_allclose(got["s"], 2 * np.sin(X), rtol=1e-5)
    assert got["k"].tolist() == [5, 4]
    np.testing.assert_allclose(jit(grad(lambda a, n: call(a, n)["s"].sum()))(X, 3), 3 * np.cos(X), rtol=1e-5)
