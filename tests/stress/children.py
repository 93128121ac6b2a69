"""What the stress sessions share: processes of the same interpreter, figures, and the exit status."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from typing import Any

_bad: list[str] = []


def child(code: str, *args: Any, timeout: float = 600, **environment: str) -> subprocess.CompletedProcess:
    """Run code in a new process. The return code is -1 if it had to be ended."""
    env = {**os.environ, "JAX_PLATFORMS": "cpu", **environment}
    try:
        return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, args)], env=env, capture_output=True, text=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired as over:
        return subprocess.CompletedProcess(over.cmd, -1, "", f"still running after {timeout} s")


def figure(name: str, value: Any, good: bool = True, note: str = "") -> None:
    """Print a figure, and remember a bad one."""
    print(f"{'ok ' if good else 'BAD'} {name}: {value}", flush=True)
    if not good:
        _bad.append(name)
        if note:
            print(textwrap.indent(note[-2000:], "    "), flush=True)


def passed(name: str, done: subprocess.CompletedProcess, wanted: str) -> None:
    """Whether a child printed what it should, and ended well."""
    good = done.returncode == 0 and done.stdout.strip() == wanted
    figure(name, "as it should be" if good else f"return code {done.returncode}, printed {done.stdout[-200:]!r}", good, done.stderr)


def end(start: float) -> None:
    """Leave with a status that says whether all was well."""
    print(f"{len(_bad)} bad{': ' + ', '.join(_bad) if _bad else ''}; {time.time() - start:.0f} s", flush=True)
    sys.exit(bool(_bad))
