"""For the whole suite: eight virtual CPU devices, set before anything starts the client, and no programs on disk."""
import gc
import itertools
import os
import re
import sys
import traceback

import hypothesis
import pytest

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
# The same examples everywhere, and none refused because a loaded machine is slow to make them.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, database=None,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")


ACCELERATOR = os.environ.get("JAX_PLATFORMS", "").partition(",")[0] not in ("", "cpu")
"""Whether the suite runs on a GPU or TPU (`nox -s tests_gpu`), of which there may be one only."""

STRICT = "strict" in os.environ.get("JAX_NUMPY_DTYPE_PROMOTION", "") or "raise" in os.environ.get("JAX_NUMPY_RANK_PROMOTION", "")
"""Whether the suite runs where dtypes or ranks are not promoted (`nox -s strict`)."""
if STRICT:
    os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")  # `strict_modes` looks at our frames


def pytest_configure(config):
    config.addinivalue_line("markers", "any_code: what programs compute is tested, whatever their code: it is the one that compiles in the least time")
    config.addinivalue_line("markers", "only_cpu: a test of code for the CPU alone, or of what only the CPU has")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests are collected without the garbage collector, as what that makes stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture
def young_heap():
    """Leaves what is there already out of collections, also what tests left since `pytest_collection_finish`."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    """Leaves the modules and 20,000 tests, which stay to the end, out of collections: looking through them took most of a test that collects."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Workers of pytest-xdist agree on what to run by names: one with an address in it would end the run, of the whole suite only."""
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"names of tests that differ from run to run; give ids: {unstable[0]}")


def pytest_runtest_setup(item):
    if ACCELERATOR and item.get_closest_marker("only_cpu") is not None:
        pytest.skip("is about the CPU alone")


@pytest.fixture(autouse=True)
def code(request):
    """Compilation takes most of the suite's time, and of what is not about code most would be for code that runs once."""
    if request.node.get_closest_marker("any_code") is None:
        yield
        return
    from jax_core.configuration import flags
    with flags.disable_most_optimizations(True):
        yield


def why_not_here(error):
    """What an accelerator or a compiler lacks for a test that ended in ``error``, or a setting refuses; None where the test is to blame, or what it tests."""
    text = str(error)
    if STRICT:
        from strict_modes import mixed_by_the_test
        return mixed_by_the_test(error)
    if "xla_cpu_max_isa=SSE4_2" in os.environ.get("XLA_FLAGS", "") and "Failed to materialize symbols" in text:
        return "XLA of jaxlib 0.10, told to keep to SSE4.2, refers to conversions of halves that nothing defines"
    if not ACCELERATOR:
        return None
    if re.search(r"needs \d+ devices, and there are \d+|has \d+ places for \d+ devices", text):
        return "is about several devices, of which this machine has too few"
    if isinstance(error, (IndexError, ValueError)) and "devices" in (traceback.extract_tb(error.__traceback__)[-1].line or ""):
        return "is about a second device"
    if isinstance(error, NotImplementedError) and "there is no lowering for platform" in text:
        return text
    return "the vendor's compiler refuses it" if type(error).__name__ == "UnsupportedByCompiler" else None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    return (yield from _judged())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    return (yield from _judged())


def _judged():
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        if (reason := why_not_here(error)) is not None:
            pytest.skip(reason)
        raise


MAPPINGS = 20_000
"""Of memory, from which on a worker forgets its programs: long before the product would (`jax_xla_backend.compiling.mappings`), and without its warning."""
TURN = 100
"""Tests from one look at them to the next."""
_run = itertools.count(1)


def _forget_programs():
    """Forget compiled programs, if there are many."""
    if next(_run) % TURN or "jax_xla_backend" not in sys.modules:  # core is tested by itself, too
        return
    from jax_core.programs.call import clear_caches
    from jax_xla_backend.compiling.mappings import mapped
    if mapped() > MAPPINGS:
        clear_caches()
        gc.collect()


def pytest_runtest_teardown():
    """Keeps a worker's memory small. What a program on an accelerator still has to report, a later test would get."""
    _forget_programs()
    if ACCELERATOR:
        import jax
        try:
            jax.effects_barrier()
        except BaseException:
            pass
