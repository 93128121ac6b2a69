"""buffer_callback: Python functions on the program's own buffers."""
import numpy as np
import pytest

from jax_callbacks.buffers import buffer_callback
from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp

pytestmark = pytest.mark.only_cpu

X = np.arange(3, dtype=np.float32)


def struct(*shape):
    return ShapeDtypeStruct(shape, np.float32)


def double(context, out, x):
    np.asarray(out)[...] = 2 * np.asarray(x)


@pytest.mark.parametrize("transform", [lambda f: f, jit], ids=["eager", "jit"])
def test_reads_operands_and_writes_results(transform):
    seen = []

    def callback(context, out, x, *, other):
        seen.append((context.stage.name, x.shape, x.dtype, x.writeable, out["sum"].writeable, other["y"].ndim))
        np.asarray(out["sum"])[...] = np.asarray(x) + np.asarray(other["y"])
        np.asarray(out["pair"][0])[...] = 7
    call = buffer_callback(callback, {"sum": struct(3), "pair": (struct(), None)})
    out = transform(lambda x, y: call(x, other={"y": y}))(X, X)
    np.testing.assert_array_equal(out["sum"], 2 * X)
    assert out["pair"][0] == 7 and out["pair"][1] is None
    assert seen == [("EXECUTE", (3,), np.float32, False, True, 1)]


@pytest.mark.parametrize("method, calls", [("sequential", 2), ("sequential_unrolled", 2), ("expand_dims", 1), ("broadcast_all", 1)])
def test_vmap(method, calls):
    shapes = []

    def callback(context, out, x, y):
        shapes.append((x.shape, y.shape))
        np.asarray(out)[...] = np.asarray(x) + np.asarray(y)
    call = buffer_callback(callback, struct(3), vmap_method=method)
    out = vmap(call, (0, None))(np.stack([X, 2 * X]), X)
    np.testing.assert_array_equal(out, [2 * X, 3 * X])
    assert len(shapes) == calls
    assert shapes[0] == {"expand_dims": ((2, 3), (1, 3)), "broadcast_all": ((2, 3), (2, 3))}.get(method, ((3,), (3,)))


def test_results_in_place_of_operands():
    def callback(context, out, x):
        np.asarray(out)[...] += 1
    call = buffer_callback(callback, struct(3), input_output_aliases={0: 0})
    x = jnp.asarray(X)
    np.testing.assert_array_equal(jit(lambda x: call(x * 1))(x), X + 1)
    np.testing.assert_array_equal(x, X)


def test_calls_with_side_effects_stay():
    calls = []
    kept = buffer_callback(lambda context, out, x: calls.append(1), [], has_side_effect=True)
    dropped = buffer_callback(lambda context, out, x: calls.append(2), struct(3))
    jit(lambda x: (kept(x), dropped(x), x)[2])(X).block_until_ready()
    assert calls == [1]


def test_errors_reach_the_caller():
    def callback(context, out, x):
        raise ValueError("from the callback")
    with pytest.raises(ValueError, match="from the callback"):
        np.asarray(jit(buffer_callback(callback, struct(3)))(X))
    with pytest.raises(ValueError, match="must not return any values"):
        np.asarray(jit(buffer_callback(lambda context, out, x: 3, struct(3)))(X))


@pytest.mark.parametrize("make, error, message", [
    (lambda: buffer_callback(double, 3), ValueError, "Got 3 at position 0"),
    (lambda: buffer_callback(double, struct(3), vmap_method="nope"), ValueError, "vmap_method='nope' is unknown"),
    (lambda: buffer_callback(double, struct(3), input_output_aliases={1: 0})(X), ValueError, "input index 1 outside"),
    (lambda: vmap(buffer_callback(double, struct()))(X), NotImplementedError, "vmap_method=None"),
    (lambda: jvp(buffer_callback(double, struct(3)), (X,), (X,)), ValueError, "do not support JVP"),
])
def test_bad_calls(make, error, message):
    with pytest.raises(error, match=message):
        make()
