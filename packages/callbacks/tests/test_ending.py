"""The interpreter ends while threads are in callbacks."""
import os
import subprocess
import sys
import textwrap
import time

import pytest


def run(program):
    text = """
        import threading, time
        from jax_callbacks import callback_timeout, io_callback
        from jax_core.programs.jit import jit
        begun = threading.Event()
        def slow(x):
            begun.set()
            time.sleep(0.4)
            print("ran", int(x), flush=True)
        f = jit(lambda x: io_callback(slow, None, x, ordered=True))
    """
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text) + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=60, env={**os.environ, "JAX_PLATFORMS": "cpu"})


def test_a_thread_is_joined():
    done = run("threading.Thread(target=lambda: [f(i) for i in range(3)]).start()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran 0\nran 1\nran 2\n", "")


@pytest.mark.parametrize("before", [0.0, 0.6])
def test_a_daemon_thread_ends_its_callback_and_begins_no_other(before):
    done = run(f"""
        f(7)
        begun.clear()
        threading.Thread(target=lambda: [f(i) for i in range(100)], daemon=True).start()
        begun.wait()
        time.sleep({before})
        """)
    ran = done.stdout.split("\n")[:-1]
    assert done.returncode == 0 and done.stderr == "" and ran == ["ran 7", "ran 0", "ran 1"][:len(ran)]


def test_a_long_wait_is_announced():
    done = run("""
        from jax_callbacks import ending
        ending.SAY_AFTER = 0.1
        threading.Thread(target=f, args=(1,), daemon=True, name="worker").start()
        begun.wait()
        """)
    assert (done.returncode, done.stdout) == (0, "ran 1\n")
    assert done.stderr == "jax: waiting for callbacks in the daemon threads worker before the interpreter ends\n"


def test_the_wait_has_an_end():
    start = time.monotonic()
    done = run("""
        from jax_callbacks import ending
        ending.GIVE_UP_AFTER = 0.3
        g = jit(lambda x: io_callback(lambda x: begun.set() or time.sleep(30), None, x))
        threading.Thread(target=g, args=(1,), daemon=True, name="worker").start()
        begun.wait()
        """)
    assert "callbacks still run in the daemon threads worker; the interpreter ends without them" in done.stderr
    assert time.monotonic() - start < 25
