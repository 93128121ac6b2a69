"""Tests run with float32 defaults and the original layout, whatever the environment says."""
import pytest

from jax_core.configuration import config


@pytest.fixture(autouse=True)
def default_flags():
    with config.enable_x64(False), config.threefry_partitionable(False), config.debug_key_reuse(False):
        yield
