"""The cycle collector waits longer while a program is written, and is as before afterwards."""
import gc
import threading

import pytest

from jax_core.traces.collector import RELAXED


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_thresholds_come_back_also_after_nesting_and_errors(thresholds):
    with RELAXED:
        assert gc.get_threshold()[0] > thresholds[0]
        with pytest.raises(KeyError), RELAXED:
            raise KeyError
        assert gc.get_threshold()[0] > thresholds[0]
    assert gc.get_threshold() == thresholds


def test_higher_thresholds_and_a_collector_switched_off_stay():
    for setting in [(10**6, 10, 10), (0, 10, 10)]:
        gc.set_threshold(*setting)
        with RELAXED:
            assert gc.get_threshold() == setting
        assert gc.get_threshold() == setting


def test_what_the_user_sets_meanwhile_stays():
    with RELAXED:
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)


def test_threads_that_overlap_leave_it_as_it_was(thresholds):
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with RELAXED:
            inside.set()
            leave.wait()
    other = threading.Thread(target=hold)
    other.start()
    inside.wait()
    with RELAXED:
        pass
    assert gc.get_threshold()[0] > thresholds[0]
    leave.set()
    other.join()
    assert gc.get_threshold() == thresholds
