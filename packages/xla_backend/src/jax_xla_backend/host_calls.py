"""Programs that call Python functions, on one CPU device: they run in the thread that calls them, and to the end.

XLA's CPU client runs such a program at once if its inputs are there, and leaves it to a thread of its pool if they are
still being computed. In the pool, a callback that waits for something else that needs the pool can wait for ever; Ctrl-C
does not reach it; the interpreter may end under it; and its error comes out of whatever looks at the result first. So the
inputs are waited for before the program starts. Then effects are over when the call returns, those of consecutive
programs follow each other without tokens, and `effects_barrier` has nothing to wait for.

Each call of such a program passes through Python (`repeat`), which costs about 1.5 µs: jaxlib's dispatcher calls it
for every call, and it calls a second dispatcher, which knows the program.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

from jax_core import tree

from . import tokens, waiting
from .array import ArrayImpl
from .jaxlib_compat import RuntimeError_


def calls_host(module: Any, devices: Sequence[Any]) -> bool:
    """Whether a lowered module for ``devices`` is a program of this kind."""
    return len(devices) == 1 and devices[0].platform == "cpu" and bool(getattr(module, "host_callbacks", ()))


def wait_for(inputs: Sequence[Any]) -> None:
    """Wait until the arrays among ``inputs`` have been computed. An error in that computation is raised."""
    for x in inputs:
        if type(x) is ArrayImpl and not x.is_ready():
            waiting.interruptible(x.block_until_ready)
            x.block_until_ready()


def dummies(module: Any, sharding: Any) -> list:
    """Values for the token arguments of the program's ordered effects, which order nothing here."""
    return [tokens.fresh(sharding) for _ in module.ordered_effects]


def repeat(miss: Callable, new_dispatcher: Callable) -> Callable:
    """``call(args, kwargs)`` for a function whose programs call the host.

    Args:
      miss: ``miss(*args, **kwargs) -> (result, record or None)``, as for a dispatcher; the results that the record's program
        returns are ``(tokens, result)``.
      new_dispatcher: makes a dispatcher out of such a function.
    """
    def inner_miss(*args, **kwargs):
        result, record = miss(*args, **kwargs)
        return ((), result), record

    call = new_dispatcher(inner_miss)
    leaves = tree.tree_leaves

    def repeated(args, kwargs):
        for x in args:
            if type(x) is ArrayImpl:
                if not x.is_ready():
                    wait_for((x,))
            elif type(x) not in _NUMBERS:
                wait_for(leaves(x))
        if kwargs:
            wait_for(leaves(kwargs))
        try:
            return call(*args, **kwargs)[1]
        except ValueError as error:
            if error.__traceback__.tb_next is not None:
                raise
            failure = RuntimeError_(str(error))  # the dispatcher itself raises the wrong class
        raise failure
    repeated.clear = call._clear_cache
    return repeated


_NUMBERS = frozenset((bool, int, float, complex))
