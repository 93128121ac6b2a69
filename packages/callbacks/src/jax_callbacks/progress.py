"""Progress bars for loops in compiled programs: ``lax.scan(progress_bar(body), init, xs)``.

The loop carries two more numbers: the step it is at, and the step at which it will next report. Reporting is a callback;
it answers with the step for the next report, chosen so that reports come about twenty times a second, so a loop of short
steps rarely leaves its compiled code. The functions of `lax` see the attribute ``__jax_loop__`` of the body and leave it
to this module to set the loop up.
"""
from __future__ import annotations

import functools
import time
from typing import Any, Callable

import numpy as np
from jax_core import tree

from .api import call_io

_STEP = np.int32
_LAST = 2**31 - 1


def progress_bar(body: Callable, length: int | None = None, *, desc: str | None = None, interval: float = 0.05,
                 **options: Any) -> Callable:
    """``body`` for `scan`, `fori_loop`, `while_loop` or `map` with a tqdm bar that shows how far the loop is.

    The bar is drawn where the program runs: also under `jit`, `vmap` (one bar for the batch) and `grad` (for the forward
    pass), on a terminal or in a notebook.

    Args:
      body: the function to give to the loop.
      length: number of steps; where left out, that of `scan`, `map` and `fori_loop` with static bounds is known.
      desc: text before the bar; default the name of ``body``.
      interval: seconds between two drawings.
      options: for `tqdm`.

    Returns:
      a function to be passed as the body of one loop. Called by itself it is ``body``.

    Raises:
      TypeError: ``body`` cannot be called. ValueError: ``interval`` is negative.
    """
    if not callable(body):
        raise TypeError(f"progress_bar: expected the body of a loop, got {body!r} of type {type(body).__name__}")
    if interval < 0:
        raise ValueError(f"progress_bar: interval must not be negative, got {interval}")
    name = desc if desc is not None else getattr(body, "__name__", None)
    bar = _Bar(length, {"desc": name, **options}, interval)

    def call(*args, **kwargs):
        return body(*args, **kwargs)
    functools.update_wrapper(call, body)
    call.__jax_loop__ = _Loop(body, bar)
    return call


class _Bar:
    """The bar on the host."""

    def __init__(self, total: int | None, options: dict, interval: float):
        self.total, self.options, self.interval = total, options, interval
        self.bar: Any = None
        self.started = self.shown = 0.0

    def report(self, step: Any) -> np.ndarray:
        """Show that ``step`` steps are done; returns the step at which to report next, for each element of a batch."""
        if not step.ndim:
            return _STEP(self._report(int(step)))
        return np.full(step.shape, self._report(int(step.max())), _STEP)

    def _report(self, step: int) -> int:
        now = time.perf_counter()
        if step == 0 or self.bar is None:
            self._start(now)
        if step > self.bar.n:
            self.bar.update(step - self.bar.n)
        if step == 0:
            return 1
        rate = step / max(now - self.started, 1e-9)
        ahead = max(1, min(3 * step, int(rate * self.interval)))  # at most four times as far: early steps may not be typical
        return min(step + ahead, _LAST)

    def finish(self, step: Any, due: Any) -> None:
        """The loop has ended after ``step`` steps."""
        if self.bar is None:
            self._start(time.perf_counter())
        self.bar.update(max(0, int(np.max(step)) - self.bar.n))
        self.bar.close()
        self.bar = None

    def _start(self, now: float) -> None:
        from tqdm.auto import tqdm  # takes a while to load

        if self.bar is not None:
            self.bar.close()
        self.bar = tqdm(total=self.total, mininterval=self.interval, **self.options)
        self.started = now


class _Loop:
    """Sets up the four kinds of loops around one body."""

    def __init__(self, body: Callable, bar: _Bar):
        self.body, self.bar = body, bar

    def _begin(self, total: Any) -> tuple:
        if self.bar.total is None and isinstance(total, int):
            self.bar.total = total
        return _STEP(0), _STEP(0)

    def _tick(self, step: Any, due: Any) -> tuple:
        """Report if it is time; returns the counters for the next step."""
        from jax_numpy_api import lax  # lax holds the loops, which call this module

        due = lax.cond(step >= due, lambda i: call_io(self.bar.report, _COUNT, (i,), {}, takes_batches=True), lambda i: due, step)
        return step + _STEP(1), due

    def _end(self, counters: tuple) -> None:
        """The compiler may know the last step beforehand, but not ``due``, which makes it wait for the loop."""
        call_io(self.bar.finish, None, counters, {}, takes_batches=True)

    def scan(self, scan: Callable, init: Any, xs: Any, length: int | None, **options: Any) -> tuple:
        """`lax.scan`."""
        leaves = tree.leaves(xs)
        start = self._begin(length if length is not None or not leaves else np.shape(leaves[0])[0])

        def step(state, x):
            counters = self._tick(*state[0])
            carry, y = self.body(state[1], x)
            return (counters, carry), y
        (counters, carry), ys = scan(step, (start, init), xs, length, **options)
        self._end(counters)
        return carry, ys

    def map(self, loop: Callable, xs: Any, batch_size: int | None) -> Any:
        """`lax.map`, as a scan without batches."""
        if batch_size is not None:
            raise NotImplementedError("progress_bar: lax.map with batch_size has no bar; leave one of them out")
        from jax_numpy_api import lax

        wrapped = _Loop(lambda carry, x: (carry, self.body(x)), self.bar)
        return wrapped.scan(lax.scan, (), xs, None)[1]

    def fori_loop(self, loop: Callable, lower: Any, upper: Any, init: Any, **options: Any) -> Any:
        """`lax.fori_loop`."""
        static = all(isinstance(x, (int, np.integer)) for x in (lower, upper))
        start = self._begin(int(upper) - int(lower) if static else None)

        def step(i, state):
            return self._tick(*state[0]), self.body(i, state[1])
        counters, carry = loop(lower, upper, step, (start, init), **options)
        self._end(counters)
        return carry

    def while_loop(self, loop: Callable, condition: Callable, init: Any, **options: Any) -> Any:
        """`lax.while_loop`."""
        start = self._begin(None)
        counters, carry = loop(lambda state: condition(state[1]),
                               lambda state: (self._tick(*state[0]), self.body(state[1])), (start, init), **options)
        self._end(counters)
        return carry


_COUNT = np.zeros((), _STEP)

__all__ = ["progress_bar"]
