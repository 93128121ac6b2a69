"""Chebyshev series: every table that a module of special functions holds, against NumPy's sum, and how its sum is arranged."""
import importlib

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.jaxpr import Literal
from jax_numpy_api import numpy as jnp
from jax_numpy_api.lax import series

MODULES = ["lax.special", *(f"scipy.special.{name}" for name in ("errors", "exponentials", "gammas", "integrals"))]
TABLES = {f"{module}.{name}": table for module in MODULES for name, table in vars(importlib.import_module(f"jax_numpy_api.{module}")).items()
          if isinstance(table, tuple) and len(table) > 3 and all(isinstance(c, float) for c in table)}


def paths(function, x):
    """How many paths lead from the result of ``function(x)`` back to ``x``."""
    jaxpr = make_jaxpr(function)(x).jaxpr
    found = {jaxpr.invars[0]: 1}
    for eqn in jaxpr.eqns:
        found[eqn.outvars[0]] = sum(found.get(v, 0) for v in eqn.invars if not isinstance(v, Literal))
    return found[jaxpr.outvars[0]]


def clenshaw(table, t):
    before, now = 0 * t, 0 * t + table[-1]
    for c in table[-2:0:-1]:
        before, now = now, 2 * t * now - before + c
    return t * now - before + table[0]


def test_the_tables_are_found():
    assert len(TABLES) > 25


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_sum(table):
    """Within four units of the sum, or of the largest that rounding the argument can do."""
    with flags.enable_x64(True):
        t = np.cos(np.linspace(0, np.pi, 201))
        true = clenshaw(np.asarray(table, np.longdouble), t.astype(np.longdouble))
        slope = np.abs(np.gradient(true.astype(np.float64), t))
        allowed = np.finfo(np.float64).eps * (4 * np.abs(true) + slope)
        assert np.all(np.abs(np.asarray(series.chebyshev(table, jnp.asarray(t))) - true) < allowed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_paths(table, dtype):
    """Compilers walk the paths through a sum: their number grows with that of the terms, not as the recurrence's does."""
    with flags.enable_x64(True):
        assert paths(lambda t: series.chebyshev(table, t), jnp.ones(3, dtype)) <= 4 * len(table)


def test_paths_of_the_recurrence():
    """The count sees what it is there for."""
    assert paths(lambda t: clenshaw((1.0,) * 30, t), jnp.ones(3)) > 1e5
