"""Tests run with float32 defaults and the original layout, whatever the environment says."""
import pytest

from jax_core.configuration import flags


@pytest.fixture(autouse=True)
def default_flags():
    with flags.enable_x64(False), flags.threefry_partitionable(False), flags.debug_key_reuse(False):
        yield
