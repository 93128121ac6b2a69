"""Callbacks in programs on several devices, in a process that has four."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.only_cpu

SCRIPT = pathlib.Path(__file__).parent / "several_devices.py"
WHOLE = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
TWICE = [2 * v for v in WHOLE]


@pytest.fixture(scope="module")
def found():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=600, env={
        **os.environ, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "4", "XLA_FLAGS": ""})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "rematerialization" not in done.stderr  # a complaint of XLA's partitioner
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", [kind + where for kind in ("pure", "io", "ordered") for where in ("", " on the last")])
def test_one_call_with_the_whole_array(found, kind):
    assert found[kind] == [[WHOLE], TWICE]


def test_each_device_of_a_manual_region_calls_in_order(found):
    assert found["in turn"] == [[WHOLE[i:i + 2], [v + 1 for v in WHOLE[i:i + 2]]] for i in (0, 2, 4, 6)]


def test_device_that_makes_the_call(found):
    assert found["which"] == [[WHOLE], True]
    assert found["on all"][0] == "NotImplementedError" and "sharding must be on one device" in found["on all"][1]


def test_debug_callback(found):
    assert found["debug"] == [[WHOLE], WHOLE]


def test_partitioned_debug_callback_gets_each_part(found):
    assert found["partitioned"] == [[WHOLE[i:i + 2] for i in (0, 2, 4, 6)], WHOLE]


def test_large_arrays_arrive_whole(found):
    """XLA's compiler failed with calls that take the way of large operands and return nothing."""
    assert found["large"] == [1 << 19, 1 << 19, 2.0]


def test_errors_keep_their_type(found):
    assert found["error"] == "key"


def test_placement_is_told_once(found):
    assert found["sharding"] == ["PartitionSpec('x',)"] or found["sharding"] == ["P('x',)"]
