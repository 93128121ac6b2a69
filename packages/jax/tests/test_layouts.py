"""Arrays and programs with layouts of their own: what is computed with them, and how results are stored."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding

A = np.arange(12, dtype=np.float32).reshape(3, 4)
TURNED = Layout((1, 0))


def one():
    return SingleDeviceSharding(jax.devices()[0])


def two():
    return NamedSharding(jax.make_mesh((2,), "x"), P(None, "x"))


def turned(where=one):
    return jax.device_put(A, Format(TURNED, where()))


def order(x):
    return x.format.layout.major_to_minor


@pytest.mark.parametrize("where", [one, two])
def test_put_with_a_layout(where):
    x = turned(where)
    assert order(x) == (1, 0) and x.format.sharding == where()
    np.testing.assert_array_equal(x, A)
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(shard.data, A[shard.index])


def test_types_have_a_format():
    """Its parts are None where they were not given."""
    for given, layout, where in ((None, None, None), (one(), None, one()), (Format(None, one()), None, one()), (Format(TURNED, one()), TURNED, one())):
        found = jax.ShapeDtypeStruct(A.shape, A.dtype, sharding=given)
        assert found.format == Format(layout, where) and found.sharding == where
    assert repr(jax.ShapeDtypeStruct((3,), np.float32)) == "ShapeDtypeStruct(shape=(3,), dtype=float32)"


USES = [
    (lambda x: x + 1, A + 1), (lambda x: x[1], A[1]), (lambda x: x.T, A.T), (lambda x: x.copy(), A), (lambda x: x.sum(0), A.sum(0)),
    (jax.jit(lambda x: x * 2), A * 2), (jax.vmap(lambda row: row + 1), A + 1), (jax.grad(lambda x: (x * x).sum()), 2 * A),
    (jax.jit(lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0]), A * 8),
    (lambda x: jax.device_put(x, jax.devices()[3]), A), (lambda x: jax.device_put(x, two()), A), (lambda x: jax.device_put(x, one()), A),
    (jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * 2, x, x)), A * 2),
]


@pytest.mark.parametrize("where", [one, two])
@pytest.mark.parametrize("use, wanted", USES, ids=range(len(USES)))
def test_values_are_those_of_the_array(use, wanted, where):
    """Whatever the layout, also when the same function met the usual one before, and when a call is repeated."""
    for x in (jax.device_put(A, where()), turned(where), turned(where)):
        for _ in range(2):
            np.testing.assert_array_equal(use(x), wanted)


def test_a_program_takes_the_layout_of_its_argument():
    f, x = jax.jit(lambda x: x * 2), turned()
    assert 'mhlo.layout_mode = "{0,1}"' in f.lower(x).as_text()
    assert "layout_mode" not in f.lower(A).as_text()
    compiled = f.lower(jax.ShapeDtypeStruct(A.shape, A.dtype, sharding=x.format)).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(compiled(x), A * 2)


def test_results_in_a_layout():
    x = jax.jit(lambda a: a @ a.T, out_shardings=Format(TURNED, one()))(A)
    assert order(x) == (1, 0)
    np.testing.assert_array_equal(x + 1, A @ A.T + 1)


def test_the_compiler_chooses():
    compiled = jax.jit(lambda x: x.T, out_shardings=Format(Layout.AUTO)).lower(jax.device_put(A, two())).compile()
    x = compiled(jax.device_put(A, two()))
    assert x.format == compiled.output_formats
    np.testing.assert_array_equal(x, A.T)


def test_arguments_that_are_not_placed_are_stored_as_asked():
    f = jax.jit(lambda x: x.T, in_shardings=Format(TURNED, one()))
    for x in (A, jnp.asarray(A), turned(), A):
        np.testing.assert_array_equal(f(x), A.T)


def test_donated_memory_is_used_where_the_layouts_agree():
    usual = Format(Layout((0, 1)), two())
    text = jax.jit(lambda x: x * 2, out_shardings=usual, donate_argnums=0).lower(jax.device_put(A, two())).as_text()
    assert "tf.aliasing_output = 0" in text
    x = turned()
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1, donate_argnums=0)(x), A + 1)
    assert x.is_deleted()


def test_parts_in_a_layout():
    x = jax.make_array_from_callback(A.shape, Format(TURNED, two()), lambda index: A[index])
    assert order(x) == (1, 0)
    np.testing.assert_array_equal(x, A)


auto = Format(Layout.AUTO)
ERRORS = [
    (ValueError, "is to have the layout", lambda: jax.jit(lambda x: x, in_shardings=Format(Layout((0, 1)), one()))(turned())),
    (ValueError, "compile.. chooses", lambda: jax.jit(lambda x: x.T, in_shardings=auto)(turned())),
    (ValueError, "is to have the layout", lambda: jax.jit(lambda x: x * 2).lower(A).compile()(turned())),
    (ValueError, "wrap it: Format", lambda: jax.jit(lambda x: x, in_shardings=Layout.AUTO)(A)),
    (ValueError, "axes, got shape", lambda: jax.device_put(np.arange(3), Format(TURNED, one()))),
    (ValueError, "axes, got shape", lambda: jax.jit(lambda x: x, out_shardings=Format(TURNED, one()))(np.arange(3))),
    (ValueError, "leaves the layout to the compiler", lambda: jax.device_put(A, Format(Layout.AUTO, one()))),
    (TypeError, "leaves the layout to the compiler", lambda: jax.ShapeDtypeStruct((2,), np.float32, sharding=auto)),
    (ValueError, "must be a Format too", lambda: jax.ShapeDtypeStruct((3, 4), np.float32, sharding=turned().format).update(sharding=one())),
    (ValueError, "AUTO. in out_shardings", lambda: jax.jit(lambda x: x, donate_argnums=0, in_shardings=auto)(jnp.asarray(A))),
    (ValueError, "AUTO. in in_shardings", lambda: jax.jit(lambda x: x, donate_argnums=0, out_shardings=auto)(jnp.asarray(A))),
    (TypeError, "must have a sharding", lambda: jax.make_array_from_callback((3, 4), Format(), lambda index: A[index])),
]


@pytest.mark.parametrize("kind, text, call", ERRORS, ids=range(len(ERRORS)))
def test_errors(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("dtype", ["int4", "uint2"])
def test_packed_numbers_have_no_layout_of_their_own(dtype):
    """Programs say how many bits an element takes, arrays do not."""
    there = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    jax.device_put(np.ones((2, 3), np.float32), Format(Layout((1, 0)), there))  # from now on, layouts are looked at
    x = jax.device_put(jnp.ones((2, 3), dtype), there)
    assert jax.jit(lambda x: x)(x).astype(int).tolist() == [[1] * 3] * 2


def test_a_constraint_outside_of_a_program_stores_the_array_so():
    x = with_layout_constraint(jnp.asarray(A), TURNED)
    assert order(x) == (1, 0)
    np.testing.assert_array_equal(x, A)
