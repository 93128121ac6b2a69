"""Dtypes, shapes, weak types and error classes of some four thousand calls, as measured on the public release.

`data/numpy_facts.json` maps an expression to what it gave: ``[dtype, shape, weak type]`` of an array, a list of these of
several, or the name of an exception class. Each is evaluated while tracing, so that nothing is compiled, but for those that ask for the numbers
of an array that they make themselves, which cannot be had there.
"""
from __future__ import annotations

import builtins
import json
import pathlib
import warnings

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.errors import NonConcreteBooleanIndexError
from jax_core.transformations.autodiff import grad
from jax_numpy_api import nn

FACTS = json.loads((pathlib.Path(__file__).parent / "data" / "numpy_facts.json").read_text())
GROUPS = 40


def operands() -> dict:
    """The arrays that the expressions name."""
    rng = np.random.RandomState(0)

    def f(*shape):
        return jnp.asarray(np.asarray(rng.randn(*shape)).astype(np.float32))
    spd = np.eye(4, dtype=np.float32) * 4
    return dict(
        jnp=jnp, np=np, x=f(3, 4), y=f(3, 4), v=f(5), w=f(4), s=f(), m=f(4, 4), t=f(2, 3, 4), e=jnp.zeros((0, 3)),
        i8=jnp.arange(6, dtype=jnp.int8), u8=jnp.arange(6, dtype=jnp.uint8), i=jnp.arange(12).reshape(3, 4) - 5,
        j=jnp.arange(12).reshape(3, 4) % 5 - 2, u=jnp.arange(6, dtype=jnp.uint32), b=jnp.arange(12).reshape(3, 4) % 3 == 0,
        c=f(3, 4) + 1j * f(3, 4), h=f(5).astype(jnp.float16), bf=f(5).astype(jnp.bfloat16),
        n=jnp.asarray([1.0, np.nan, -np.inf, np.inf, 0.0, -0.0, 2.5]),
        nn=jnp.asarray([[1.0, np.nan, 3.0], [np.nan] * 3, [2.0, 5.0, -1.0]]), idx=jnp.asarray([0, 2, 1, -1]),
        xs=jnp.asarray([3, 1, 2, 3, 1, 0, 7]), spd=jnp.asarray(spd), bb=jnp.asarray([True, False, True]))


def describe(x):
    if isinstance(x, (tuple, list)):
        return [describe(y) for y in x]
    return [str(x.dtype), list(x.shape), bool(getattr(x, "weak_type", False))] if hasattr(x, "dtype") else "object"


def outcome(expression: str, names: dict):
    found = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                make_jaxpr(lambda: found.append(describe(eval(expression, names))))()
            except (TypeError, NonConcreteBooleanIndexError):
                if "jnp.array(" not in expression:
                    raise
                found.append(describe(eval(expression, names)))
    except Exception as error:
        return [c.__name__ for c in type(error).__mro__]
    return found[0]


def agree(got, want) -> bool:
    if isinstance(want, str) and want != "object":  # an exception: ours may be a subclass, or a base class
        return isinstance(got, list) and bool(got) and (want in got or issubclass(
            getattr(builtins, want, Exception), getattr(builtins, str(got[0]), ())))
    return got == want


@pytest.mark.parametrize("group", range(GROUPS))
def test_facts(group):
    names = operands()
    wrong = []
    for expression in sorted(FACTS)[group::GROUPS]:
        got = outcome(expression, names)
        if not agree(got, FACTS[expression]):
            wrong.append(f"{expression}: {got}, expected {FACTS[expression]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("fun, want", [
    (lambda x: jnp.linalg.norm(x), 500.0), (lambda x: jnp.linalg.norm(x, ord=3), 449.794), (lambda x: jnp.linalg.vector_norm(x), 500.0),
    (lambda x: jnp.linalg.norm(x[:, None], "fro"), 500.0), (lambda x: grad(jnp.linalg.norm)(x)[1], 0.8), (lambda x: nn.standardize(x)[1], 1.0),
    (lambda x: jnp.average(x, weights=jnp.array([500, 500], x.dtype)), 350.0), (lambda x: jnp.corrcoef(x, -x)[0, 1], -1.0)],
    ids="norm cubes vector_norm fro slope standardize average corrcoef".split())
def test_float16_whose_squares_are_too_large_for_it(fun, want):
    out = fun(jnp.array([300, 400], np.float16))
    assert out.dtype == np.float16
    np.testing.assert_allclose(out, want, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("axis, shape", [(1, (3,)), (0, (2,)), ((0, 2), (2, 4)), ((2, 0), (4, 2)), (None, (2, 3, 4))])
def test_averages_with_a_weight_for_each_position_of_some_axes(dtype, axis, shape):
    x, weights = np.arange(24.0).reshape(2, 3, 4), np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    want = np.average(x, axis, weights, returned=True)
    for out, expected in zip(jnp.average(jnp.asarray(x, dtype), axis, jnp.asarray(weights, dtype), returned=True), want, strict=True):
        assert out.dtype == dtype
        np.testing.assert_allclose(np.asarray(out, np.float64), expected, rtol=2 * float(jnp.finfo(dtype).eps))
