"""A dtype that a library defines by a class of rules, as flax does for statistics whose cotangents are combined by their maximum."""
import dataclasses

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax._src import core, dtypes


class Rules:
    physical_element_aval = staticmethod(lambda dtype: core.ShapedArray((), np.dtype(np.float32)))
    tangent_dtype = staticmethod(lambda dtype: dtype)
    convert_from = convert_to = staticmethod(lambda a, b: np.dtype(np.float32) in (a, b))
    zero = staticmethod(lambda dtype: made(jnp.float32(-np.inf)))
    add = staticmethod(lambda dtype, x, y: made(jnp.maximum(read(x), read(y))))
    full = staticmethod(lambda shape, value, dtype: made(lax.full(shape, read(value))))


class largest(dtypes.extended):
    pass


@dataclasses.dataclass(frozen=True)
class Largest(dtypes.ExtendedDType):
    _rules: type = Rules
    type: type = largest
    name: str = "largest"

    def __repr__(self):
        return self.name


def made(x):
    return lax.convert_element_type(x, Largest())


def read(x):
    return lax.convert_element_type(x, jnp.float32)


X = jnp.arange(3.0)


def test_conversion_changes_no_bits():
    x = made(X)
    assert x.dtype == Largest() and str(jax.typeof(x)) == "largest[3]" and isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, largest)
    assert read(x).tolist() == jax.jit(lambda x: read(x[:]))(x).tolist() == [0, 1, 2]
    assert core.physical_aval(jax.typeof(x)) == core.ShapedArray((3,), np.dtype(np.float32))
    with pytest.raises(ValueError, match=r"int32\[3\] cannot be converted to largest"):
        made(jnp.arange(3))
    with pytest.raises(TypeError, match=r"convert it with jax.lax.convert_element_type"):
        np.asarray(x)
    with pytest.raises(TypeError, match="lax.add does not accept dtype largest"):
        x + x


def test_an_array_is_where_its_data_is():
    x = made(X)
    assert (x.device, x.is_fully_addressable, x.is_fully_replicated) == (X.device, True, True)


def used_twice(x):
    kept = made(x)
    return (2 * read(kept) + 5 * read(kept)).sum()


@pytest.mark.parametrize("slope", [jax.grad(used_twice), jax.jit(jax.grad(used_twice)), lambda x: jax.vmap(jax.grad(used_twice))(x[None])[0]],
                         ids=["eager", "jit", "vmap"])
def test_cotangents_are_added_by_its_rule(slope):
    assert slope(X).tolist() == [5, 5, 5]


def test_steps_of_a_loop_share_one():
    def loop(kept):
        return lax.scan(lambda c, factor: (c + factor * read(kept).sum(), None), 0.0, jnp.array([1.0, 4.0, 3.0]))[0]
    (slope,) = jax.vjp(loop, made(X))[1](jnp.float32(1))
    assert slope.dtype == Largest() and read(slope).tolist() == [4, 4, 4]
