"""`jax.debug.breakpoint`: stop in the middle of a running program and look around, in the manner of pdb.

The frames are those of the traced Python function, kept from the time when it was traced. Their local variables that are
arrays come out of the running program; all others are as they were.
"""
from __future__ import annotations

import bdb
import cmd
import inspect
import linecache
import os
import pprint
import sys
from typing import Any

from jax_core.representation import source
from jax_core.representation.aval import is_jax_type

from . import debug

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class DebuggerFrame:
    """One frame of the traced function: where it was, and its variables."""

    __slots__ = ("file", "line", "function", "locals", "globals")

    def __init__(self, frame: Any):
        self.file, self.line, self.function = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        self.locals = dict(frame.f_locals) if frame.f_locals is not frame.f_globals else {}
        self.globals = frame.f_globals

    def with_locals(self, values: dict) -> "DebuggerFrame":
        other = object.__new__(DebuggerFrame)
        other.file, other.line, other.function = self.file, self.line, self.function
        other.locals, other.globals = values, self.globals
        return other

    def where(self) -> str:
        return f"{self.file}({self.line}){self.function}()"

    def text(self, context: int | None = 5) -> str:
        """The lines around the current one, or with None all lines of the file that belong together."""
        first = max(1, self.line - context) if context is not None else 1
        last = self.line + context if context is not None else len(linecache.getlines(self.file))
        lines = []
        for n in range(first, last + 1):
            line = linecache.getline(self.file, n)
            if line:
                lines.append(f"{'->' if n == self.line else '  '} {n:4d}  {line.rstrip()}")
        return "\n".join(lines)


class Debugger(cmd.Cmd):
    """The prompt. Expressions are evaluated among the variables of the current frame."""

    prompt = "(jdb) "

    def __init__(self, frames: list[DebuggerFrame], stdin: Any = None, stdout: Any = None):
        super().__init__(stdin=stdin or sys.stdin, stdout=stdout or sys.stdout)
        self.use_rawinput = stdin is None and stdout is None
        self.frames, self.position = frames, 0
        self.quit = False

    @property
    def frame(self) -> DebuggerFrame:
        return self.frames[self.position]

    def say(self, text: str) -> None:
        self.stdout.write(f"{text}\n")

    def show_position(self) -> None:
        self.say(f"> {self.frame.where()}\n-> {linecache.getline(self.frame.file, self.frame.line).strip()}")

    def evaluate(self, expression: str) -> Any:
        return eval(expression, self.frame.globals, self.frame.locals)

    def preloop(self):
        self.show_position()

    def emptyline(self):
        return False

    def default(self, line: str):
        if line == "EOF":
            return self.do_continue("")
        line = line.removeprefix("!").strip()
        try:
            try:
                value = self.evaluate(line)
            except SyntaxError:
                exec(line, self.frame.globals, self.frame.locals)
            else:
                if value is not None:
                    self.say(repr(value))
        except Exception as error:
            self.say(f"*** {type(error).__name__}: {error}")
        return False

    def _print(self, expression, show):
        try:
            self.say(show(self.evaluate(expression)))
        except Exception as error:
            self.say(f"*** {type(error).__name__}: {error}")

    def do_p(self, arg: str):
        """p expression: print its value."""
        self._print(arg, repr)

    def do_pp(self, arg: str):
        """pp expression: pretty-print its value."""
        self._print(arg, pprint.pformat)

    def do_up(self, arg: str):
        """u(p): go to the frame that called this one."""
        if self.position + 1 == len(self.frames):
            return self.say("*** Oldest frame")
        self.position += 1
        return self.show_position()

    def do_down(self, arg: str):
        """d(own): go to the frame that this one called."""
        if self.position == 0:
            return self.say("*** Newest frame")
        self.position -= 1
        return self.show_position()

    def do_where(self, arg: str):
        """w(here), bt: show all frames, the innermost last."""
        for i in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[i]
            self.say(f"{'>' if i == self.position else ' '} {frame.where()}\n"
                     f"  -> {linecache.getline(frame.file, frame.line).strip()}")

    def do_list(self, arg: str):
        """l(ist): show the lines around the current one."""
        self.say(self.frame.text())

    def do_longlist(self, arg: str):
        """ll: show the whole file of this frame."""
        self.say(self.frame.text(None))

    def do_locals(self, arg: str):
        """locals: show the variables of this frame."""
        for name, value in self.frame.locals.items():
            self.say(f"{name} = {value!r}")

    def do_args(self, arg: str):
        """a(rgs): as locals."""
        self.do_locals(arg)

    def do_continue(self, arg: str):
        """c(ontinue): let the program run on."""
        return True

    def do_quit(self, arg: str):
        """q(uit): end the program; its caller gets bdb.BdbQuit."""
        self.quit = True
        return True

    do_u, do_d, do_w, do_bt, do_l, do_ll, do_a = do_up, do_down, do_where, do_where, do_list, do_longlist, do_args
    do_c, do_cont, do_q, do_exit = do_continue, do_continue, do_quit, do_quit


def breakpoint(*, backend: str | None = None, filter_frames: bool = True, num_frames: int | None = None,
               ordered: bool = False, token: object = None, **kwargs: Any) -> Any:
    r"""Stop the program here when it runs, and open a prompt.

    Commands are those of pdb that look and move: ``p``, ``pp``, ``u``, ``d``, ``w``, ``l``, ``ll``, ``a``, ``c``, ``q``,
    ``help``; everything else is evaluated as Python.

    Args:
      backend: ``"cli"`` or None: a prompt on the terminal.
      filter_frames: leave out frames of this system.
      num_frames: how many frames to keep, the innermost first; default all.
      ordered: breakpoints and other ordered debug callbacks happen in program order.
      token: returned as it is; accepted for programs that thread one through.
      kwargs: ``stdin``, ``stdout``: files to use in place of the terminal.

    Raises:
      ValueError: unknown ``backend``.
      bdb.BdbQuit: raised by the program when the user quits.

    >>> import io
    >>> commands, said = io.StringIO('p x\nc\n'), io.StringIO()
    >>> def f(x):
    ...     jax.debug.breakpoint(stdin=commands, stdout=said)
    ...     return x + 1
    >>> jax.jit(f)(2)
    Array(3, dtype=int32, weak_type=True)
    >>> jax.effects_barrier()
    >>> 'x' in said.getvalue() and '2' in said.getvalue()
    True
    """
    if backend not in (None, "cli"):
        raise ValueError(f"jax.debug.breakpoint: backend={backend!r} is unknown; use 'cli' or None")
    frames = _frames(filter_frames, num_frames)
    arrays = [{k: v for k, v in f.locals.items() if _is_operand(v)} for f in frames]

    def stop(arrays):
        known = [f.with_locals({**f.locals, **values}) for f, values in zip(frames, arrays)]
        prompt = Debugger(known, kwargs.get("stdin"), kwargs.get("stdout"))
        prompt.cmdloop()
        if prompt.quit:
            raise bdb.BdbQuit

    debug.bind("debug.breakpoint", stop, (arrays,), {}, ordered, False)
    return token


def _is_operand(value: Any) -> bool:
    return not isinstance(value, (bool, int, float, complex)) and is_jax_type(value)


def _frames(filter_frames: bool, num_frames: int | None) -> list[DebuggerFrame]:
    frames: list[DebuggerFrame] = []
    frame = inspect.currentframe()
    while frame is not None and (num_frames is None or len(frames) < num_frames):
        own = frame.f_code.co_filename.startswith(_HERE)
        if not own and not (filter_frames and source.is_internal(frame.f_code)):
            frames.append(DebuggerFrame(frame))
        frame = frame.f_back
    return frames
