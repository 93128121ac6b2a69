"""Reductions over the name of a mapped axis are reductions over that axis of the whole array: values, derivatives, errors."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import nn, numpy as jnp

X = np.linspace(-1.2, 2.1, 12, dtype=np.float32).reshape(3, 4) ** 3

KEPT = {f"jnp.{name}": getattr(jnp, name) for name in ("sum", "mean", "max", "min", "var", "std", "nansum", "nanmean", "nanmax", "ptp")}
KEPT |= {"nn.logsumexp": nn.logsumexp, "nn.logmeanexp": nn.logmeanexp,
         "any": lambda x, axis, keepdims: jnp.any(x > 1, axis, keepdims=keepdims), "all": lambda x, axis, keepdims: jnp.all(x > -1, axis, keepdims=keepdims),
         "count_nonzero": lambda x, axis, keepdims: jnp.count_nonzero(x > 0, axis, keepdims=keepdims),
         "sum where": lambda x, axis, keepdims: jnp.sum(x, axis, where=x > 0, initial=2, keepdims=keepdims),
         "mean where": lambda x, axis, keepdims: jnp.mean(x, axis, where=x > 0, keepdims=keepdims),
         "var where": lambda x, axis, keepdims: jnp.var(x, axis, where=x > 0, ddof=1, keepdims=keepdims),
         "max where": lambda x, axis, keepdims: jnp.max(x, axis, where=x > 0, initial=-5, keepdims=keepdims),
         "logsumexp b": lambda x, axis, keepdims: nn.logsumexp(x, axis, b=2.0, keepdims=keepdims),
         "ufunc": lambda x, axis, keepdims: jnp.add.reduce(x, axis, keepdims=keepdims)}
ALIKE = {"softmax": nn.softmax, "log_softmax": nn.log_softmax, "standardize": nn.standardize,
         "softmax where": lambda x, axis: nn.softmax(x, axis, where=x > 0)}
CASES = KEPT | {name: lambda x, axis, keepdims, f=f: f(x, axis) for name, f in ALIKE.items()}
AXES = {"name": ("i", 0), "with a position": (("i", 0), (0, 1)), "after a position": ((-1, "i"), (0, 1))}


def mapped(f, axis, where=vmap):
    return lambda x: where(lambda row: f(row, axis, keepdims=True), axis_name="i")(x)


def whole(f, axis):
    return lambda x: jnp.broadcast_to(f(x, axis, keepdims=True), (3, *(f(x, axis, keepdims=True)).shape[1:]))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("case", CASES)
def test_value(case, axes):
    named, positional = AXES[axes]
    expected = whole(CASES[case], positional)(X)
    for how in (lambda f: f, jit):
        found = how(mapped(CASES[case], named))(X)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("any", "all", "count_nonzero")])
def test_derivative(case):
    def loss(f):
        return lambda x: jnp.sum(jnp.sin(f(x)) * np.arange(1.0, 13.0, dtype=np.float32).reshape(3, 4))
    f = CASES[case]
    np.testing.assert_allclose(grad(loss(mapped(f, "i")))(X), grad(loss(whole(f, 0)))(X), rtol=2e-4, atol=2e-5)


def test_two_names():
    f = vmap(vmap(lambda x: jnp.var(x, ("i", "j")), axis_name="i"), axis_name="j")
    np.testing.assert_allclose(f(X), np.full((3, 4), X.var()), rtol=1e-5)


def test_numbers_and_integers():
    assert vmap(lambda _: jnp.sum(2.0, "i"), axis_name="i")(X).tolist() == [6.0] * 3
    assert vmap(lambda _: jnp.mean(2, "i"), axis_name="i")(X).tolist() == [2.0] * 3
    narrow = vmap(lambda x: jnp.sum(x, "i"), axis_name="i")(np.full((3,), 100, np.int8))
    assert (narrow.dtype, narrow.tolist()) == (np.int32, [300] * 3)


def test_one_hot():
    f = vmap(lambda i: nn.one_hot(i, 4, axis="i"), axis_name="i", in_axes=None, axis_size=4)
    assert f(2).tolist() == [0, 0, 1, 0]
    with pytest.raises(ValueError, match="has 4 positions, one for each class, but num_classes=3"):
        vmap(lambda i: nn.one_hot(i, 3, axis="i"), axis_name="i")(np.arange(4))


@pytest.mark.parametrize("f", [jnp.sum, jnp.max, jnp.var, nn.softmax, nn.logsumexp, lambda x, axis: nn.one_hot(x, 2, axis=axis)])
def test_a_name_that_is_not_in_scope(f):
    with pytest.raises(NameError, match="unbound axis name: i"):
        f(X, axis="i")


def test_bad_axes():
    for axis, error in ((("i", "i"), ValueError), (("i", 0, 0), ValueError), (("i", 3), ValueError), (("i", 0.5), TypeError)):
        with pytest.raises(error):
            vmap(lambda x: jnp.sum(x, axis), axis_name="i")(X)
    with pytest.raises(NotImplementedError, match="no product over these"):
        vmap(lambda x: jnp.prod(x, "i"), axis_name="i")(X)
    for f in (jnp.cumsum, jnp.sort, jnp.argmax, jnp.median):
        with pytest.raises(TypeError):
            vmap(lambda x: f(x, axis="i"), axis_name="i")(X)


def test_strict_modes():
    with flags.numpy_rank_promotion("raise"), flags.numpy_dtype_promotion("strict"):
        for f in ALIKE.values():
            vmap(lambda x: f(x, ("i", 0)), axis_name="i")(X)
        vmap(lambda x: jnp.std(x, ("i", 0)) + nn.logsumexp(x, "i")[0], axis_name="i")(X)
