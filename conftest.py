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


def pytest_collection_modifyitems(items):
    """Workers of pytest-xdist agree on what to run by names: one with an address in it would end the run, of the whole suite only."""
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"names of tests that differ from run to run; give ids: {unstable[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """XLA of jaxlib 0.10, told to keep to SSE4.2, refers to conversions of halves that nothing defines."""
    try:
        return (yield)
    except Exception as error:
        if "xla_cpu_max_isa=SSE4_2" in os.environ.get("XLA_FLAGS", "") and "Failed to materialize symbols" in str(error):
            pytest.skip("this jaxlib cannot compile conversions of halves for SSE4.2")
        raise
