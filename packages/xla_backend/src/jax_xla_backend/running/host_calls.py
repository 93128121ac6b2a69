"""Programs that call Python functions, on one CPU device: they run in the thread that calls them, and to the end.

XLA's CPU client runs such a program at once if its inputs are there, and leaves it to a thread of its pool if they are
still being computed. In the pool, a callback that waits for something else that needs the pool can wait for ever; Ctrl-C
does not reach it; the interpreter may end under it; and its error comes out of whatever looks at the result first. So the
inputs are waited for before the program starts. Then effects are over when the call returns, those of consecutive
programs follow each other without tokens, and `effects_barrier` has nothing to wait for.

Each call of such a program passes through Python (`misses`), which costs about 1.3 µs: jaxlib's dispatcher calls it
for every call, and it calls a second dispatcher, which knows the program.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core.extension_points import program_caller
from jax_core.representation import tree
from jax_core.representation.tracebacks import shorten

from ..arrays import callback_buffers, interruptible
from ..arrays.array import ArrayImpl
from ..jaxlib_compat import RuntimeError_

if TYPE_CHECKING:
    from ..jaxlib_compat import Device
    from ..lowering.module import Module


program_caller.fill(__name__)


def calls_host(module: Module, devices: Sequence[Device]) -> bool:
    """Whether a lowered module for ``devices`` is a program of this kind."""
    return len(devices) == 1 and devices[0].platform == "cpu" and bool(module.facts.host_callbacks)


def wait_for(inputs: Sequence[object]) -> None:
    """Wait until the arrays among ``inputs`` have been computed. An error in that computation is raised."""
    for x in inputs:
        if type(x) is ArrayImpl and not x.is_ready():
            interruptible.wait(x.block_until_ready)
            x.block_until_ready()


def misses(miss: Callable, record: Callable, new_dispatcher: Callable) -> Callable:
    """The function that a dispatcher shall call for calls that it does not know.

    When a program has called the host, no call is known to that dispatcher any more: each goes to a second one, after its
    inputs have been waited for.

    Args:
      miss: ``miss(*args, **kwargs) -> (result, call or None)`` executes, and says what to repeat.
      record: what a dispatcher wants to know of a call.
      new_dispatcher: makes a dispatcher out of a function.
    """
    second: Any = None
    lends: bool | None = False  # None: not what may be donated

    def recorded(*args, **kwargs):
        nonlocal lends
        result, fast = miss(*args, **kwargs)
        if fast is None:
            return result, None
        if lends is False:
            lends = _lends(fast.program)
        return result, record(fast, result)

    def missed(*args, **kwargs):
        nonlocal second, lends
        try:
            if second is None:
                result, fast = miss(*args, **kwargs)
                if fast is not None and fast.program.calls_host:
                    second, fast, lends = new_dispatcher(recorded), None, _lends(fast.program)
                return result, None if fast is None else record(fast, result)
            for x in args:
                if type(x) is ArrayImpl:
                    if not x.is_ready():
                        wait_for((x,))
                elif type(x) not in _NUMBERS:
                    wait_for(_stored_leaves(x))
            if kwargs:
                wait_for(_stored_leaves(kwargs))
            try:
                if lends is not False:
                    with callback_buffers.lending(_stored_leaves((args, kwargs)) if lends else ()):
                        return second(*args, **kwargs), None
                return second(*args, **kwargs), None
            except ValueError as error:
                if error.__traceback__.tb_next is not None:
                    raise
                failure = RuntimeError_(str(error))  # the dispatcher itself raises the wrong class
            raise failure
        except Exception as error:
            shorten(error)
            raise
    return missed


def _lends(program: Any) -> bool | None:
    """Whether callbacks of a program look at buffers; None if it may overwrite arguments."""
    if not program.on_buffers:
        return False
    return None if program.facts.donated else True


def _stored_leaves(arguments: Any) -> list[Any]:
    """The arrays of arguments, the words of random keys among them."""
    return tree.flatten_stored(arguments)[0]


_NUMBERS = frozenset((bool, int, float, complex))
