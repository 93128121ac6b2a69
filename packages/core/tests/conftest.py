"""Core's tests run on the NumPy double, so no backend has to be installed beside core."""

import pytest

from jax_core import backends
from jax_core.testing import numpy_backend


@pytest.fixture
def numpy_backend_in_use():
    before = backends.use(numpy_backend.load())
    yield
    backends.use(before)
