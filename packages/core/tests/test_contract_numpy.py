"""The NumPy double keeps the contract of a backend."""
import pytest

from jax_core.testing.contract import *

pytestmark = pytest.mark.usefixtures("numpy_backend_in_use")
