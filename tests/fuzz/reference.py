"""Interpreters as children that run texts: another implementation as the judge of programs, and ours where a crash must not end the run."""
from __future__ import annotations

import base64
import json
import os
import pathlib
import pickle
import select
import subprocess
import sys
import tempfile
from typing import Any, Self, Sequence

from fuzz.outcome import Leaf, Outcome

SETTINGS = {"JAX_THREEFRY_PARTITIONABLE": "1", "JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "fuzz-bytecode")}  # nothing is written beside the sources, and only the first process compiles them
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # a judge need not be fast, and compiles in two thirds of the time
SERVER = ("-m", "fuzz.outcome")
TESTS = str(pathlib.Path(__file__).parents[1])
TEXTS = 2000  # of one process; what it compiled stays in its memory


class Interpreter:
    """A child process that runs texts; started again when it dies, does not answer, or has run many."""

    def __init__(self, python: str, environment: dict[str, str], script: Sequence[str], seconds: float = 60.0):
        self.command, self.environment, self.seconds = [python, *script], environment | SETTINGS, seconds
        self.child: subprocess.Popen | None = None
        self.texts = 0

    @classmethod
    def other(cls, python: str) -> Self:
        """Another environment's interpreter."""
        return cls(python, os.environ | {"XLA_FLAGS": QUICK, "PYTHONPATH": TESTS}, SERVER)

    @classmethod
    def ours(cls, script: Sequence[str] = SERVER, seconds: float = 60.0) -> Self:
        """This interpreter, with what it imports; ``script`` answers, within so many seconds."""
        folders = [TESTS, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        return cls(sys.executable, os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}, script, seconds)

    def start(self, asked: str | tuple) -> None:
        """Have a text run, or `outcome.stages` of the arguments ``asked``; `finish` waits for it."""
        if self.texts == TEXTS:
            self.close()
        if self.child is None:
            self.child = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL)
            self.texts = 0
        self.texts += 1
        self._write(asked)

    def go_on(self) -> None:
        """Have the values computed of what was started; `finish` waits for them."""
        self._write("go on")

    def _write(self, asked: Any) -> None:
        assert self.child is not None and self.child.stdin is not None
        try:
            self.child.stdin.write(json.dumps(asked).encode() + b"\n")
            self.child.stdin.flush()
        except BrokenPipeError:  # `finish` finds that there is no answer
            pass

    def finish(self) -> list[Outcome]:
        assert self.child is not None and self.child.stdout is not None
        ready = select.select([self.child.stdout], [], [], self.seconds)[0]
        answer = self.child.stdout.readline() if ready else b""
        if not answer:
            code = self.child.poll() if not ready else self.child.wait()
            self.close()
            return [Outcome("no answer", f"none in {self.seconds:.0f} s" if code is None else f"the process ended with {code}", "", ())]
        return [Outcome(error, detail, tree, tuple(Leaf(*leaf) for leaf in leaves)) for error, detail, tree, leaves in pickle.loads(base64.b64decode(answer))]

    def run(self, text: str) -> Outcome:
        self.start(text)
        return self.finish()[0]

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None
