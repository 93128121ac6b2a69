"""For the whole suite: eight virtual CPU devices, set before anything starts the client, and no programs on disk."""
import gc
import os

import hypothesis
import pytest

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
# The same examples everywhere, and none refused because a loaded machine is slow to make them.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, database=None,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")


@pytest.fixture
def young_heap():
    """Leaves what is there already out of collections, which take seconds each late in a worker's life."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
