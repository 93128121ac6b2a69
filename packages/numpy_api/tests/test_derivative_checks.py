"""jax.test_util: tolerances, also by dtype."""
import contextlib

import numpy as np
import pytest

from jax_core.transformations.custom_jvp import custom_jvp
from jax_numpy_api import numpy as jnp
from jax_numpy_api.test_util import check_close, check_grads


@custom_jvp
def sine(x):
    return jnp.sin(x)


sine.defjvp(lambda primals, tangents: (sine(*primals), 1.05 * jnp.cos(primals[0]) * tangents[0]))


@pytest.mark.parametrize("tolerance, passes", [
    (0.1, True), ({np.float32: 0.1}, True), ({jnp.float32: 0.1, np.float64: 1e-9}, True),
    (None, False), (1e-3, False), ({np.float32: 1e-3}, False), ({np.float64: 0.1}, False),
])
def test_tolerances_by_dtype(tolerance, passes):
    """A derivative that is a twentieth off passes if the tolerance for its dtype allows it; other dtypes have the default."""
    check = lambda: check_grads(sine, (np.float32(0.5),), 1, atol=tolerance, rtol=tolerance)
    if passes:
        check()
    else:
        with pytest.raises(AssertionError, match="jvp tangent"):
            check()


@pytest.mark.parametrize("mode, passes", [("fwd", True), ("rev", False)])
def test_forward_mode_may_err_by_three_times_the_tolerance(mode, passes):
    check = lambda: check_grads(sine, (np.float32(0.5),), 1, modes=[mode], atol=1e-9, rtol=2e-2)
    if passes:
        check()
    else:
        with pytest.raises(AssertionError, match="vjp cotangent"):
            check()


@pytest.mark.parametrize("got, want, error", [
    ({"a": np.float32(1)}, {"a": 1 + 1e-8}, None), (np.int32(2), np.int32(2), None), (np.float32(1), np.float32(1.001), AssertionError),
    (np.int32(2), np.int32(3), AssertionError), (np.ones(2), np.ones((2, 1)), AssertionError), ([1.0], [1.0, 2.0], ValueError)], ids=str)
def test_closeness(got, want, error):
    """Structures, shapes, and values within the rounding of their dtype."""
    with contextlib.nullcontext() if error is None else pytest.raises(error):
        check_close(got, want)


def test_closeness_with_tolerances_by_dtype():
    check_close(np.float32(1), np.float32(1.001), rtol={np.float32: 1e-2})
    with pytest.raises(AssertionError, match="as planned"):
        check_close(np.float32(1), np.float32(1.001), rtol={np.float64: 1e-2}, err_msg="as planned")
