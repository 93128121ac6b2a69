"""The interpreter ends while threads are in callbacks."""
import os
import subprocess
import sys
import textwrap

import pytest


def run(program):
    text = """
        import sys, threading
        from jax_callbacks import callback_timeout, io_callback
        from jax_core.programs.jit import jit
        from jax_callbacks import ending
        begun, leaving, said, last = threading.Event(), threading.Event(), threading.Event(), 0
        ending.at_end(leaving.set)  # from here on no callback begins
        def slow(x):
            if x == last:
                begun.set()
                waits_for.wait()
            print("ran", int(x), flush=True)
        class Said:
            flush = sys.__stderr__.flush
            def write(self, text):
                sys.__stderr__.write(text)
                said.set()
        f = jit(lambda x: io_callback(slow, None, x, ordered=True))
    """
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text) + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=600, env={**os.environ, "JAX_PLATFORMS": "cpu"})


def test_a_thread_is_joined():
    done = run("last = None; threading.Thread(target=lambda: [f(i) for i in range(3)]).start()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran 0\nran 1\nran 2\n", "")


@pytest.mark.parametrize("last", [0, 2])
def test_a_daemon_thread_ends_its_callback_and_begins_no_other(last):
    done = run(f"""
        f(7)
        last, waits_for = {last}, leaving
        threading.Thread(target=lambda: [f(i) for i in range(100)], daemon=True).start()
        begun.wait()
        """)
    ran = ["ran 7", *(f"ran {i}" for i in range(last + 1))]
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", " ".join(ran).split())


def test_a_long_wait_is_announced():
    done = run("""
        ending.SAY_AFTER, ending.GIVE_UP_AFTER, sys.stderr, last, waits_for = 0.1, 1e9, Said(), 1, said
        threading.Thread(target=f, args=(1,), daemon=True, name="worker").start()
        begun.wait()
        """)
    assert (done.returncode, done.stdout) == (0, "ran 1\n")
    assert done.stderr == "jax: waiting for callbacks in the daemon threads worker before the interpreter ends\n"


def test_the_wait_has_an_end():
    done = run("""
        ending.GIVE_UP_AFTER, last, waits_for = 0.3, 1, threading.Event()
        threading.Thread(target=f, args=(1,), daemon=True, name="worker").start()
        begun.wait()
        """)
    assert "callbacks still run in the daemon threads worker; the interpreter ends without them" in done.stderr
