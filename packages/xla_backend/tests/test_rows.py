"""Iterating over arrays: rows cut on the host, and from some number on by a program."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_numpy_api import numpy as jnp
from jax_xla_backend.arrays import rows

ARRAYS = {
    "vector": jnp.arange(10.0), "matrix": jnp.arange(12).reshape(3, 4), "weak": jnp.asarray(1.0) * jnp.ones(()) + jnp.zeros(3),
    "booleans": jnp.array([True, False]), "bfloat16": jnp.ones((4, 2, 2), jnp.bfloat16), "empty rows": jnp.ones((3, 0)),
    "with NaN": jnp.array([1.0, jnp.nan]), "committed": jit(lambda: jnp.arange(3))(), "complex": jnp.ones(2) + 1j,
}


@pytest.fixture
def at_once(monkeypatch):
    """Programs from the second time on; those that were made."""
    monkeypatch.setattr(rows, "_WORTH_COMPILING", 1)
    given = {}
    monkeypatch.setattr(rows, "_given", given)
    return lambda: [found for found in given.values() if callable(found)]


@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
def test_both_ways_agree(at_once, x):
    on_host = list(x)
    assert not at_once()
    for found in (list(x), list(x), list(reversed(x))[::-1]):
        assert len(at_once()) == 1
        assert [row.aval for row in found] == [row.aval for row in on_host]
        assert [row.sharding for row in found] == [row.sharding for row in on_host]
        assert [row.committed for row in found] == [row.committed for row in on_host]
        np.testing.assert_array_equal(np.stack(found), np.stack(on_host))


def test_one_program_serves_all_arrays_of_a_type(at_once):
    for start in range(5):
        a, b, c = jnp.arange(start, start + 3)
        assert (a, b, c) == (start, start + 1, start + 2)
    program, = at_once()
    assert program._cache_size() == 1


def test_none_for_many_rows_or_large_arrays(at_once):
    for x in (jnp.ones(65), jnp.ones((2, 100, 100)), jnp.ones(1)):
        for _ in range(3):
            assert len(list(x)) == len(x)
    assert not at_once()


def test_while_a_program_is_traced_rows_are_constants(at_once):
    x = jnp.arange(3.0)
    for _ in range(3):
        list(x)
    assert at_once()
    assert "jit" not in str(make_jaxpr(lambda y: sum(x) + y)(1.0))


def test_nothing_is_traced_or_watched(at_once):
    x = jnp.array([1.0, jnp.nan, 2.0])
    list(x)
    with flags.no_tracing(True):
        assert len(list(x)) == 3
    assert not at_once()
    list(x), list(x)
    assert at_once()
    with flags.debug_nans(True):
        assert len(list(x)) == 3


def test_a_deleted_array_says_so(at_once):
    x = jnp.arange(7.0)
    list(x), list(x)
    assert at_once()
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        list(x)
