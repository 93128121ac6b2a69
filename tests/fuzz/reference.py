"""Another interpreter, whose `jax` is another implementation, as the judge of programs."""
from __future__ import annotations

import base64
import json
import os
import pathlib
import pickle
import select
import subprocess

from fuzz.outcome import Leaf, Outcome


class Reference:
    """A child process that runs texts; started again when it dies or does not answer."""

    def __init__(self, python: str, seconds: float = 60.0):
        self.python, self.seconds = python, seconds
        self.child: subprocess.Popen | None = None

    def run(self, text: str) -> Outcome:
        if self.child is None:
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
                "JAX_THREEFRY_PARTITIONABLE": "1", "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1"}
            self.child = subprocess.Popen([self.python, str(pathlib.Path(__file__).with_name("outcome.py"))], env=environment,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.child.stdin is not None and self.child.stdout is not None
        try:
            self.child.stdin.write(json.dumps(text).encode() + b"\n")
            self.child.stdin.flush()
            ready = select.select([self.child.stdout], [], [], self.seconds)[0]
            answer = self.child.stdout.readline() if ready else b""
        except BrokenPipeError:
            answer = b""
        if not answer:
            self.close()
            return Outcome("no answer", "the reference crashed or hangs", "", ())
        error, detail, tree, leaves = pickle.loads(base64.b64decode(answer))
        return Outcome(error, detail, tree, tuple(Leaf(*leaf) for leaf in leaves))

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None
