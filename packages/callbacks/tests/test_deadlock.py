"""Callbacks never hang: every program of `stress.py`, under a watchdog.

20 rounds of each by default; ``CALLBACK_ROUNDS=200`` for the long run.
"""
import os
import pathlib
import subprocess
import sys

import pytest

ROUNDS = os.environ.get("CALLBACK_ROUNDS", "20")
SCRIPT = pathlib.Path(__file__).parent / "stress.py"
SCENARIOS = ["jnp_functions", "jitted_functions", "waiting_for_arrays", "putting", "nested_callbacks", "inside_scan",
             "many_threads", "callbacks_that_start_threads", "big_operands", "in_a_row", "custom_derivatives"]


def run(scenario, rounds=ROUNDS, **env):
    done = subprocess.run([sys.executable, "-X", "faulthandler", str(SCRIPT), scenario, rounds], timeout=600 + 2 * int(rounds),
                          capture_output=True, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu", **env})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("dispatch", ["true", "false"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_ends(scenario, dispatch):
    assert run(scenario, JAX_CPU_ENABLE_ASYNC_DISPATCH=dispatch).endswith("done\n")


def test_several_devices():
    assert run("several_devices", JAX_NUM_CPU_DEVICES="4", XLA_FLAGS="").endswith("done\n")


def test_pending_ordered_callbacks_happen_before_exit():
    assert sorted(run("exit_with_pending", "1").split("\n")) == ["", "call 0", "call 1", "call 2", "done"]
