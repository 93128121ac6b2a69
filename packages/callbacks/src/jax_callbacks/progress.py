"""Progress bars for loops in compiled programs: ``lax.scan(progress_bar(body), init, xs)``.

The body gets one more equation, `progress_p`, which has no operands and no results, so transformations of the loop carry it
along. Where the loop is compiled it becomes a loop over runs of steps, with a callback before each run (see
`Primitive.loop_observer`). The callback answers with the step for the next report, chosen so that reports come about ten
times a second. The loop inside is compiled as it would be without a bar.

The functions of `lax` see that the body is an `extension_points.LoopBody` and leave it to this module to set the loop up.
"""
from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.extension_points import LoopBody
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_numpy_api import lax

from .api import call_io, lower_call
from .effects import IOEffect
from .site import DYNAMIC, Site

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.typing import PyTree


def progress_bar(body: Callable[..., PyTree], length: int | None = None, *, desc: str | None = None, interval: float = 0.1,
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

    >>> from jax.experimental import progress_bar
    >>> step = progress_bar(lambda total, x: (total + x, None), desc="adding", disable=True)  # no bar in this text
    >>> lax.scan(step, 0., jnp.arange(4.))[0]
    Array(6., dtype=float32)
    """
    if not callable(body):
        raise TypeError(f"progress_bar: expected the body of a loop, got {body!r} of type {type(body).__name__}")
    if interval < 0:
        raise ValueError(f"progress_bar: interval must not be negative, got {interval}")
    name = desc if desc is not None else getattr(body, "__name__", None)
    bar = _Bar(length, {"desc": name, **options}, interval)
    return _Loop(body, bar)


class _Bar:
    """The bar on the host."""

    def __init__(self, total: int | None, options: dict, interval: float):
        self.total, self.options, self.interval = total, options, interval
        self.bar: Any = None
        self.started = 0.0

    def report(self, step: np.ndarray, total: int | None) -> np.ndarray:
        """Show that ``step`` steps are done; returns the step at which to report next."""
        now, done = time.perf_counter(), int(step)
        if done == 0 or self.bar is None:
            self._start(now, total)
        self._show(done)
        if done == 0:
            return step.dtype.type(1)
        rate = done / max(now - self.started, 1e-9)
        ahead = max(1, min(9 * done, int(rate * self.interval)))  # at most ten times as far: early steps may not be typical
        return step.dtype.type(min(done + ahead, _LAST[step.itemsize]))

    def finish(self, step: np.ndarray, total: int | None) -> None:
        """The loop has ended after ``step`` steps."""
        if self.bar is None:
            self._start(time.perf_counter(), total)
        self.bar.n = max(self.bar.n, int(step))  # closing draws it
        self.close()

    def one(self, total: int | None) -> None:
        """One more step begins, in a loop that is not compiled as a loop; the last one closes the bar."""
        if self.bar is None:
            self._start(time.perf_counter(), total)
        self._show(self.bar.n + 1)
        if self.bar.n == self.bar.total:
            self.close()

    def close(self) -> None:
        """End the bar, if there is one."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def _show(self, done: int) -> None:
        if done > self.bar.n:
            self.bar.update(done - self.bar.n)

    def _start(self, now: float, total: int | None) -> None:
        from tqdm.auto import tqdm  # start-up: loaded with the first bar

        self.close()
        self.bar = tqdm(total=self.total if self.total is not None else total, mininterval=self.interval, **self.options)
        self.started = now


_LAST = {4: 2**31 - 1, 8: 2**63 - 1}  # steps that a counter of so many bytes can hold


# -- the equation ----------------------------------------------------------------------------------------------------

class ProgressEffect(IOEffect):
    """Somebody counts the steps of a loop; the steps of a batch count once."""

    __slots__ = ()
    of_lanes = False


class _Observer:
    """How a compiled loop reports; see `Primitive.loop_observer`."""

    @staticmethod
    def report(b: Builder, step: Value, *, bar: _Bar, total: int | None) -> Any:
        return _call(b, bar.report, total, [step], ShapedArray((), step.aval.dtype))[0]

    @staticmethod
    def finish(b: Builder, step: Value, *, bar: _Bar, total: int | None) -> None:
        _call(b, bar.finish, total, [step], None)


def _call(b: Any, function: Callable, total: int | None, operands: list, out: ShapedArray | None) -> list:
    """A call of ``function(*operands, total)``."""
    call = functools.partial(function, total=total)
    in_tree = tree.structure((tuple(operands), {}))
    site = Site("progress_bar", call, in_tree, [DYNAMIC] * len(operands), None if out is None else tree.structure(0),
                () if out is None else (out,))
    return lower_call(b, operands, site, _EFFECT, True, out=site.out_avals)


_EFFECT = ProgressEffect()
progress_p: Primitive = Primitive(
    "progress", multiple_results=True, cacheable=False,
    out_type=lambda *, bar, total: (),
    effects=lambda **_: frozenset([_EFFECT]),
    impl=lambda *, bar, total: bar.one(total) or [],
    jvp=ZERO,
    batch=lambda axis, args, dims, **params: (progress_p.bind(**params), []),
    lower=lambda b, *, bar, total: _call(b, bar.one, total, [], None),
    loop_observer=_Observer)


class _Loop(LoopBody):
    """A body with a bar. It sets up the four kinds of loops; called by itself it is the body."""

    def __init__(self, body: Callable, bar: _Bar):
        functools.update_wrapper(self, body)
        self.body, self.bar = body, bar

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.body(*args, **kwargs)

    def _watched(self, total: int | None) -> Callable:
        """The body with the equation."""
        def body(*args):
            progress_p.bind(bar=self.bar, total=total)
            return self.body(*args)
        return functools.update_wrapper(body, self.body)

    def set_up_scan(self, scan: Callable, init: PyTree, xs: object, length: int | None, **options: Any) -> tuple:
        """`lax.scan`."""
        leaves = tree.leaves(xs)
        if length is None and leaves and np.ndim(leaves[0]):
            length = np.shape(leaves[0])[0]
        return scan(self._watched(length), init, xs, length, **options)

    def set_up_map(self, loop: Callable, xs: object, batch_size: int | None) -> Any:
        """`lax.map`, as a scan without batches."""
        if batch_size is not None:
            raise NotImplementedError("progress_bar: lax.map with batch_size has no bar; leave one of them out")
        wrapped = _Loop(lambda carry, x: (carry, self.body(x)), self.bar)
        return wrapped.set_up_scan(lax.scan, (), xs, None)[1]

    def set_up_fori_loop(self, loop: Callable, lower: Any, upper: Any, init: object, **options: Any) -> Any:
        """`lax.fori_loop`."""
        static = all(isinstance(x, (int, np.integer)) for x in (lower, upper))
        return loop(lower, upper, self._watched(int(upper) - int(lower) if static else None), init, **options)

    def set_up_while_loop(self, loop: Callable, condition: Callable, init: PyTree, max_steps: int | None = None) -> Any:
        """`lax.while_loop`. Its derivative, where it has one, is no single loop, so that its end must be told."""
        body = self._watched(None)
        if max_steps is None:
            return loop(condition, body, init)
        count, carry = loop(lambda state: condition(state[1]), lambda state: (state[0] + np.int32(1), body(state[1])),
                            (np.int32(0), init), max_steps=max_steps)
        call_io(lambda count: self.bar.close(), None, (count,), {})
        return carry


__all__ = ["progress_bar"]
