"""`jax.debug.breakpoint` on a real terminal: a process behind a pseudo-terminal, with somebody typing."""
import os
import select
import subprocess
import sys
import textwrap
import time

import pytest

pty = pytest.importorskip("pty", reason="needs a Unix terminal")

PROGRAM = """
    from jax_callbacks import debugger
    from jax_core.programs.jit import jit
    from jax_numpy_api import lax, numpy as jnp
    import jax_xla_backend

    def inner(y):
        debugger.breakpoint()
        return y + 1

    @jit
    def f(x):
        return inner(x * 2)

    print("result", f(3.0))
    try:
        f(4.0)
    except BaseException as error:
        print("ended by", type(error).__name__)
"""


class Terminal:
    """A Python process behind a pseudo-terminal."""

    def __init__(self, path):
        self.master, end = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, path], stdin=end, stdout=end, stderr=end, start_new_session=True, env={
                **os.environ, "JAX_PLATFORMS": "cpu", "TERM": "dumb", "PYTHONPATH": os.pathsep.join(sys.path)})
        os.close(end)

    def read_until(self, text, seconds=600.0):
        """What is shown up to ``text``."""
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"waited for {text!r}, saw {shown!r}"
            try:
                shown += os.read(self.master, 4096).decode(errors="replace")
            except OSError:  # the process has ended
                break
        assert text in shown, f"the process ended without {text!r}: {shown!r}"
        return shown

    def type(self, line):
        os.write(self.master, (line + "\n").encode())

    def close(self):
        os.close(self.master)
        self.process.wait(600)


@pytest.fixture
def terminal(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    process = Terminal(str(path))
    yield process
    process.close()


def test_prompt_on_a_terminal(terminal):
    assert "inner()" in terminal.read_until("(jdb) ")
    terminal.type("p y")
    assert "6." in terminal.read_until("(jdb) ")
    terminal.type("u")
    assert "f()" in terminal.read_until("(jdb) ")
    terminal.type("x * 100")
    assert "300" in terminal.read_until("(jdb) ")
    terminal.type("c")
    assert "result 7.0" in terminal.read_until("(jdb) ")
    terminal.type("q")
    terminal.read_until("ended by BdbQuit")
