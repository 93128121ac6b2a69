"""What callbacks are given, what they may return, and what becomes of it."""
import copy
import operator
import pickle

import numpy as np
import pytest

from jax_callbacks import debug, io_callback, pure_callback
from jax_core import backends
from jax_core.configuration.flags import enable_x64
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.traces.trace import Tracer
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.api import block_until_ready, device_put, devices


def through(function, x, *more, result=None, **kwargs):
    result = ShapeDtypeStruct(x.shape, x.dtype) if result is None else result
    return pure_callback(function, result, x, *more, **kwargs)


MODES = pytest.mark.parametrize("mode", [lambda f: f, jit], ids=["eager", "jit"])
DTYPES = ["bool", "int4", "uint4", "int8", "uint8", "int32", "uint32", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16",
          "float32", "complex64"]


@MODES
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3)])
def test_every_dtype_goes_there_and_back(mode, dtype, shape):
    seen = []

    def host(x):
        seen.append((x.dtype, x.shape))
        return x
    x = jnp.ones(shape, dtype)
    y = mode(lambda x: through(host, x))(x)
    assert seen == [(x.dtype, shape)] or x.size == 0 and not seen  # without elements there is nothing to ask for
    assert y.dtype == x.dtype and y.shape == shape
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x))


@MODES
def test_trees_and_keywords(mode):
    def host(a, *, b):
        return {"sum": a["x"] + b[0], "pair": [b[1], a["x"]]}
    x = jnp.arange(3.0)

    def f(x):
        return pure_callback(host, {"sum": x, "pair": (x, x)}, {"x": x}, b=(x, 2 * x))
    y = mode(f)(x)
    np.testing.assert_array_equal(y["sum"], [0, 2, 4])
    np.testing.assert_array_equal(y["pair"][0], [0, 2, 4])


@MODES
def test_arguments_are_arrays_of_jax(mode):
    def host(x, n):
        assert isinstance(x, Array) and issubclass(type(x), Array) and not isinstance(x, np.ndarray) and not np.asarray(x).flags.writeable
        assert isinstance(x, backends.get().array_type) and not isinstance(x, Tracer)
        assert n.dtype == np.int32 and n.shape == () and int(n) == 3
        with pytest.raises(TypeError):
            x[0] = 1
        before = x
        x += 1
        assert before[0] == 0 and x[0] == 1
        return before
    mode(lambda x: through(host, x, 3))(jnp.arange(4.0))


@pytest.mark.parametrize("host", [
    lambda x: x.at[0].set(5.0), lambda x: x.block_until_ready(), lambda x: jnp.sin(x), lambda x: jit(jnp.cos)(x),
    lambda x: jnp.asarray(x) + x, lambda x: vmap(lambda v: v * 2)(x), lambda x: grad(lambda v: (v * v).sum())(x),
    lambda x: device_put(x), lambda x: np.tanh(x), lambda x: x * 2 + jnp.ones(4), lambda x: x.reshape(2, 2).T.ravel(),
    lambda x: x[::-1], lambda x: jnp.where(x > 1, x, 0)])
@MODES
def test_code_for_arrays_of_jax_works(mode, host):
    x = jnp.arange(4.0)
    np.testing.assert_allclose(mode(lambda x: through(host, x))(x), np.asarray(host(x)), rtol=1e-6)


AS_ARRAYS = [  # what is asked of an argument gives what it gives of an array of the same contents
    lambda x: x + 1, lambda x: 1 - x, lambda x: x * x, lambda x: x == x, lambda x: -x, lambda x: x @ x, lambda x: divmod(x, 2), lambda x: x[0],
    lambda x: list(x), lambda x: list(reversed(x)), lambda x: np.ones(3) + x, lambda x: np.sin(x), lambda x: np.sum(x), lambda x: x / np.float64(2),
    lambda x: x.sum(), lambda x: x.T, lambda x: x.at[0].set(x[0]), lambda x: x.astype(np.float16), lambda x: pickle.loads(pickle.dumps(x)),
    copy.copy, copy.deepcopy, repr, str, len, lambda x: x.tolist(), lambda x: x.tobytes(), lambda x: x.item(1), lambda x: x.device, lambda x: x.sharding,
    lambda x: x.committed, lambda x: x.weak_type, lambda x: x.format, lambda x: x.ndim, lambda x: x.size, lambda x: x.nbytes, lambda x: x.itemsize,
    lambda x: x.__array_namespace__().__name__, lambda x: np.from_dlpack(x), lambda x: x.__dlpack_device__(), lambda x: x.is_deleted(),
    lambda x: lax.add(x, x), lambda x: lax.sin(x), lambda x: jnp.add(x, 1.5), lambda x: jnp.stack([x, x]), lambda x: jit(lambda y: y + x)(x),
    lambda x: lax.scan(lambda c, y: (c + y, y), x.sum() * 0, x), lambda x: lax.scan(lambda c, y: (c, y), x, x)[0],
    lambda x: lax.cond(True, lambda y: y, lambda y: y + y, x), lambda x: lax.while_loop(lambda y: False, lambda y: y, x), lambda x: device_put(x), lambda x: jnp.result_type(x, 1.0), lambda x: tree.leaves(x)[0] is x,
    lambda x: x.__class__, lambda x: np.asarray(x, np.float64), lambda x: np.array(x, copy=False), lambda x: np.array(x, copy=True).flags.writeable,
    lambda x: hasattr(x, "__array_interface__"), hash, float, int, bool, complex, operator.index, lambda x: f"{x:.1f}", lambda x: x.item(),
    lambda x: x.flags, lambda x: {x: 1}, lambda x: operator.setitem(x, 0, 1), lambda x: jit(lambda y: y, static_argnums=0)(x)]


def outcome(ask, x):
    try:
        found = ask(x)
    except Exception as error:
        return type(error)
    return [(type(v), getattr(v, "dtype", None), getattr(v, "committed", None), getattr(v, "weak_type", None),
             np.asarray(v).tolist() if isinstance(v, (Array, np.ndarray)) else v) for v in tree.leaves(found)]


@pytest.mark.parametrize("value", [np.arange(3, dtype=np.int32), np.array([0.5, 1.5], np.float32), np.float32(2), np.array([True])], ids=str)
def test_an_argument_answers_as_an_array(value):
    array, different = device_put(value, devices("cpu")[0]), []  # where callbacks get their arguments
    jit(lambda x: debug.callback(lambda x: different.extend(i for i, ask in enumerate(AS_ARRAYS) if outcome(ask, x) != outcome(ask, array)), x))(value)
    assert different == []


def test_an_argument_has_all_attributes_of_arrays():
    found = []
    jit(lambda x: debug.callback(lambda x: found.extend(dir(x)), x))(jnp.ones(2))
    assert set(dir(backends.get().array_type)) - set(found) <= {"__dict__", "__del__", "__buffer__", "__release_buffer__"}


def test_an_array_of_the_backend_is_made_when_it_is_needed(monkeypatch):
    """It takes as long as a whole call of a callback from a loop, and what most functions do needs none."""
    made, make = [], backends.get().on_host
    monkeypatch.setattr(type(backends.get()), "on_host", staticmethod(lambda x: (made.append(x), make(x))[1]))

    def host(x):
        assert (x.shape, x.dtype, x.ndim, x.size, len(x), x.nbytes) == ((2,), np.float32, 1, 2, 2, 8)
        assert np.rint(x).tolist() == np.asarray(x, np.float64).tolist() == x.tolist()
        assert str(x) == f"{x}" == "[1. 1.]" and x.item(0) == 1 and x.aval.str_short() == "float32[2]" and x.block_until_ready() is x
        return x
    jit(lambda x: through(host, x))(jnp.ones(2))
    assert made == []
    jit(lambda x: through(lambda x: x + x.sum(), x))(jnp.ones(2))
    assert len(made) == 1  # and once


def test_looks_of_an_argument(capsys):
    jit(lambda x: debug.callback(lambda x: print(x, repr(x), f"{x} {x[1]:.2f}"), x))(jnp.arange(2.0))
    assert capsys.readouterr().out == "[0. 1.] Array([0., 1.], dtype=float32) [0. 1.] 1.00\n"


def test_attributes_of_an_argument():
    def host(x):
        assert x.devices() == {x.device} and x.sharding.device_set == {x.device} and x.device.platform == "cpu"
        assert x.aval.str_short() == "float32[4]" and not x.weak_type and x.is_ready() and not x.is_deleted()
        assert [s.data.tolist() for s in x.addressable_shards] == [[0, 1, 2, 3]]
        return x
    jit(lambda x: through(host, x))(jnp.arange(4.0))


def test_arguments_may_be_kept():
    """Also those large enough to be passed in buffers that are used again."""
    for n in (4, 1 << 19):
        kept = []
        f = jit(lambda x: io_callback(lambda a: (kept.append(a[:2]), a)[1], x, x))
        for i in range(4):
            f(jnp.full(n, i, jnp.float32))
        assert [k.tolist() for k in kept] == [[i, i] for i in range(4)]


@pytest.mark.only_cpu
def test_large_arguments_of_the_program_are_not_copied():
    """Their memory stays as it is for as long as the callback keeps it, also when the array itself is deleted."""
    x = jnp.arange(1 << 19, dtype=jnp.float32)
    where, kept = [], []

    def host(a):
        where.append(np.asarray(a).ctypes.data == x.unsafe_buffer_pointer() == a.unsafe_buffer_pointer())
        kept.append(np.asarray(a)[-2:])
        return a
    f = jit(lambda x: through(host, x.reshape(2, -1)))
    for _ in range(3):
        f(x)
    jit(lambda x: through(host, x + 1))(x)
    donating = jit(lambda x: through(host, x), donate_argnums=0)
    y = x * 1
    donating(y)
    assert where == [True, True, True, False, False]
    x.delete()
    np.testing.assert_array_equal([k.ravel()[-1] for k in kept], [524287, 524287, 524287, 524288, 524287])


WRONG = [
    (lambda x: x[:2], r"wrong shape: expected float32\[4\], got float32\[2\]"),
    (lambda x: x.astype(np.int32), r"wrong dtype: expected float32\[4\], got int32\[4\]"),
    (lambda x: (x, x), r"wrong structure: expected PyTreeDef\(\*\), got PyTreeDef\(\(\*, \*\)\)"),
    (lambda x: None, "wrong structure"),
    (lambda x: {"a": x}, None),
]


@MODES
@pytest.mark.parametrize("host, message", WRONG[:4])
@pytest.mark.parametrize("call", [pure_callback, io_callback])
def test_wrong_results_are_refused(mode, host, message, call):
    f = mode(lambda x: call(host, x, x))
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            block_until_ready(f(jnp.arange(4.0)))


@MODES
@pytest.mark.parametrize("result", ["text", object(), np.array(["a"]), np.datetime64("2020-01-01")],
                         ids=["text", "object", "array of text", "date"])
def test_results_that_are_no_numbers_are_refused(mode, result):
    with pytest.raises(TypeError, match=r"which is not an array or number; expected float32\[4\]"):
        block_until_ready(mode(lambda x: pure_callback(lambda x: result, x, x))(jnp.arange(4.0)))


@MODES
@pytest.mark.parametrize("host, result", [
    (lambda x: 1.5, jnp.float32(0)), (lambda x: 3, jnp.float32(0)), (lambda x: True, jnp.zeros((), bool)),
    (lambda x: np.float64(1.5), jnp.float32(0)), (lambda x: np.arange(4.0), jnp.zeros(4)),
    (lambda x: np.arange(4), jnp.zeros(4, int))])
def test_numbers_and_64_bit_results_are_converted(mode, host, result):
    y = mode(lambda x: pure_callback(host, result, x))(jnp.arange(4.0))
    np.testing.assert_array_equal(y, host(None))
    assert y.dtype == result.dtype


def test_64_bit_declarations_need_x64():
    with pytest.raises(ValueError, match="cannot specify 64-bit types like [a-z0-9]* without jax_enable_x64"):
        pure_callback(lambda: 1.0, np.zeros((), np.float64))
    with pytest.raises(ValueError, match="without jax_enable_x64"):
        pure_callback(lambda: 1.0, ShapeDtypeStruct((), float))
    with enable_x64(True):
        y = jit(lambda: pure_callback(lambda: np.float64(0.1), np.zeros((), np.float64)))()
        assert y.dtype == np.float64 and y == 0.1


def test_arguments_must_be_arrays():
    with pytest.raises(TypeError, match="Error interpreting argument to pure_callback as a JAX value"):
        pure_callback(lambda x: x, jnp.zeros(()), "text")


# -- vmap ------------------------------------------------------------------------------------------------------------

@MODES
@pytest.mark.parametrize("method, shapes", [
    (None, ((2,), (2,))), ("sequential", ((2,), (2,))), ("sequential_unrolled", ((2,), (2,))),
    ("expand_dims", ((3, 2), (1, 2))), ("broadcast_all", ((3, 2), (3, 2))), ("legacy_vectorized", ((3, 2), (2,)))])
def test_vmap_methods(mode, method, shapes):
    seen = set()

    def host(a, b):
        seen.add((a.shape, b.shape))
        return a + b

    def f(a, b):
        return through(host, a, b, vmap_method=method)
    a, b = jnp.arange(6.0).reshape(3, 2), jnp.arange(2.0)
    np.testing.assert_array_equal(mode(vmap(f, in_axes=(0, None)))(a, b), a + b)
    assert seen == {shapes}


def test_nested_vmap():
    def host(a, b):
        assert (a.shape, b.shape) == ((1, 3, 2), (4, 1, 2))
        return a + b
    f = vmap(vmap(lambda a, b: through(host, a, b, vmap_method="expand_dims"), (0, None)), (None, 0))
    assert f(jnp.ones((3, 2)), jnp.ones((4, 2))).shape == (4, 3, 2)


def test_unknown_vmap_method():
    with pytest.raises(ValueError) as error:
        through(lambda x: x, jnp.ones(3), vmap_method="foo")
    assert str(error.value) == (
        "pure_callback: vmap_method='foo' is unknown; give one of 'sequential', 'sequential_unrolled', 'expand_dims', "
        "'broadcast_all', 'legacy_vectorized', or None")


# -- in programs -----------------------------------------------------------------------------------------------------

def test_in_while_loop_and_cond():
    f = jit(lambda n: lax.while_loop(lambda x: x < n, lambda x: through(lambda a: a + 1, x), 0))
    assert f(5) == 5
    g = jit(lambda p, x: lax.cond(p, lambda x: through(lambda a: a + 1, x), lambda x: x, x))
    assert g(True, 3) == 4 and g(False, 3) == 3


def test_second_call_compiles_and_traces_nothing():
    traced = []

    @jit
    def f(x):
        traced.append(1)
        return through(lambda a: a * 2, x)
    for i in range(5):
        assert f(jnp.float32(i)) == 2 * i
    assert len(traced) == 1


def test_memory_stays_flat():
    import gc
    import resource

    f = jit(lambda x: lax.scan(lambda c, _: (through(lambda a: a + 1, c), None), x, None, length=2000)[0])
    x = jnp.zeros((16, 16))
    f(x).block_until_ready()
    most = []
    for _ in range(5):  # what is kept of each call would grow in all of them; what a thread takes once, in one
        gc.collect()
        for _ in range(4):
            f(x).block_until_ready()
        most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert min(after - before for before, after in zip(most, most[1:])) < 3 << 10
