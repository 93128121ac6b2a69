"""What every backend must keep, as functions to be called from its tests (pytest finds those named ``test_*``).

``from jax_core.testing.contract import *`` in a test module runs them against the backend that is installed.
"""
from __future__ import annotations

import numpy as np

from .. import backends
from ..programs import jit, tracing
from ..traces import structural
from ..representation.aval import ShapedArray, get_aval
from ..interfaces import LowerSpec

__all__ = ["test_put_keeps_contents_and_type", "test_host_views_are_read_only", "test_from_host_keeps_contents",
           "test_from_host_narrows_while_x64_is_off", "test_evaluate_runs_one_primitive", "test_lower_and_compile", "test_dispatcher_repeats_calls",
           "test_dispatcher_sees_new_types"]


def _x():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_put_keeps_contents_and_type():
    backend = backends.get()
    x = backend.put(_x())
    assert isinstance(x, backend.array_type)
    assert get_aval(x) == ShapedArray((2, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(x), _x())


def test_host_views_are_read_only():
    backend = backends.get()
    view = backend.host_view(backend.put(_x()))
    assert view is None or not view.flags.writeable


def test_from_host_keeps_contents():
    backend = backends.get()
    x = backend.from_host(_x(), weak_type=True)
    assert get_aval(x) == ShapedArray((2, 3), np.float32, True)
    np.testing.assert_array_equal(np.asarray(x), _x())


def test_from_host_narrows_while_x64_is_off():
    x = backends.get().from_host(np.array([0.5, 1.5]))
    assert get_aval(x).dtype == np.float32 and np.asarray(x).dtype == np.float32


def test_evaluate_runs_one_primitive():
    backend = backends.get()
    x = backend.put(_x())
    out = backend.evaluate(structural.transpose_p, [x], dict(permutation=(1, 0)))
    np.testing.assert_array_equal(np.asarray(out), _x().T)


def test_lower_and_compile():
    backend = backends.get()
    closed = tracing.make_jaxpr(lambda x: structural.add(x, x))(_x())
    spec = LowerSpec("twice")
    module = backend.lower(closed, spec)
    assert "add" in module.text()
    [out] = backend.compile(module, spec).execute([_x()])
    np.testing.assert_array_equal(np.asarray(out), 2 * _x())


def test_dispatcher_repeats_calls():
    traces = []

    def f(x):
        traces.append(x)
        return structural.add(x, x)
    g = jit.jit(f)
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(g(_x())), 2 * _x())
    assert len(traces) == 1


def test_dispatcher_sees_new_types():
    traces = []

    def f(x):
        traces.append(x)
        return structural.add(x, x)
    g = jit.jit(f)
    g(_x())
    assert g(_x()[0]).shape == (3,)
    assert len(traces) == 2
