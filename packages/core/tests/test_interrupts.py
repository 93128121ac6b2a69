"""Ctrl-C where something runs that cannot be begun again."""
import os
import signal
import subprocess
import sys

import pytest

from jax_core.representation.interrupts import held_back

LOADING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:  # asked for each module that jaxlib's own initialisation imports
    begun = False
    def find_spec(self, name, path=None, target=None):
        if Interrupting.begun:
            os.kill(os.getpid(), signal.SIGINT)
        Interrupting.begun |= name == "jaxlib._jax"

sys.meta_path.insert(0, Interrupting())
try:
    import jax_core.representation.tree_nodes
except KeyboardInterrupt:
    print("interrupted")
sys.meta_path.pop(0)
import jax_core.representation.tree_nodes
"""


def test_a_second_try_loads_jaxlib():
    """Whose loading, broken off, would end the process at the next try."""
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr


def test_it_is_raised_at_the_end():
    before, reached = signal.signal(signal.SIGINT, signal.default_int_handler), False
    try:
        with pytest.raises(KeyboardInterrupt):
            with held_back():
                os.kill(os.getpid(), signal.SIGINT)
                reached = True
        assert reached and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
