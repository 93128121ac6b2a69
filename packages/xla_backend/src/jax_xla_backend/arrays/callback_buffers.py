"""Callbacks with large operands: fewer and faster copies.

jaxlib's usual handler copies every operand into fresh memory and every result into the program's buffer with one thread.
For 64 MB each way that takes 50 ms, most of it page faults. A second handler of jaxlib hands over the buffers themselves.
With it, an operand that is an argument of the program is not copied at all: the callback gets the memory of the argument,
which stays as it is for as long as anybody looks at it. Any other operand lies in memory that the program uses again as
soon as the callback returns, so a callback that keeps it, or a slice of it, would see it change; nothing tells where
NumPy's slices of an array are, so they cannot be moved away when the callback returns. Such operands are copied, by two threads,
into memory that is used again by the next call unless the callback kept a reference. The result's buffer is asked to be of
huge pages before it is written to.
"""
from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import numpy as np

from jax_core.extension_points import callback_caller
from jax_core.representation.aval import abstract_token

from .array import ArrayImpl, host_view

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

callback_caller.fill(__name__)

TARGET = "xla_buffer_python_cpu_callback"
_LARGE = 1 << 20  # bytes of operands and results together from which this way is taken
_SPLIT = 1 << 22  # bytes from which two threads copy
_HUGE_PAGES = 14  # MADV_HUGEPAGE

_lent = threading.local()
_helper: Any = None
_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


def worthwhile(avals: Sequence[AbstractValue]) -> bool:
    """Whether a callback with operands and results of these types shall go this way."""
    arrays = [a for a in avals if a is not abstract_token]
    return (sum(math.prod(a.shape) * a.dtype.itemsize for a in arrays) >= _LARGE
            and all(not a.dtype.name.endswith(("int4", "int2", "int1")) and "float4" not in a.dtype.name for a in arrays))


@contextlib.contextmanager
def lending(inputs: Sequence[object]) -> Iterator[None]:
    """While this thread runs a program with ``inputs``, which the program does not overwrite, callbacks may look at them."""
    before = getattr(_lent, "inputs", ())
    _lent.inputs = [x for x in inputs if type(x) is ArrayImpl]
    try:
        yield
    finally:
        _lent.inputs = before


def _argument(x: np.ndarray) -> np.ndarray | None:
    """The argument of the program that runs whose memory ``x`` is, as an array that keeps this memory alive."""
    start = x.ctypes.data
    for argument in getattr(_lent, "inputs", ()):
        value = host_view(argument) if argument.nbytes == x.nbytes else None
        if value is not None and value.ctypes.data == start and value.dtype == x.dtype and value.flags.c_contiguous:
            return value.reshape(x.shape)
    return None


def on_buffers(function: Callable, in_avals: Sequence[AbstractValue], out_avals: Sequence[AbstractValue]) -> Callable:
    """``function(*arrays) -> arrays`` in the form that the handler calls: with buffers of operands, then of results."""
    is_token = [a is abstract_token for a in in_avals]
    writes = [i for i, a in enumerate(out_avals) if a is not abstract_token]
    count = len(in_avals)
    free: list[list[np.ndarray]] = [[] for _ in in_avals]  # memory for each operand

    def call(context, *buffers):
        values: list[Any] = []
        blocks: list[Any] = []  # what was copied
        for buffer, token, spare in zip(buffers, is_token, free):
            x = None if token else np.asarray(buffer)
            value = None if token else _argument(x)
            blocks.append(None if token or value is not None else _block(x, spare))
            values.append(value if blocks[-1] is None else _read_only(blocks[-1]))
        del x, value
        results = function(*values)
        for i in writes:
            _copy(_writable(np.asarray(buffers[count + i])), results[i])
        del results, values
        for i in range(count):
            if blocks[i] is not None and sys.getrefcount(blocks[i]) == 2 and not free[i]:
                free[i].append(blocks[i])
    return call


def _block(x: np.ndarray, spare: list) -> np.ndarray:
    """A copy of ``x``, in spare memory if there is some."""
    try:
        block = spare.pop()
    except IndexError:
        block = np.empty(x.shape, x.dtype)
    _copy(block, x)
    return block


def _read_only(x: np.ndarray) -> np.ndarray:
    view = x.view()
    view.flags.writeable = False
    return view


def _writable(x: np.ndarray) -> np.ndarray:
    """``x``, which nobody has written to yet, prepared for being written to as a whole."""
    if x.nbytes >= _SPLIT and _libc is not None:
        start = -(-x.ctypes.data // 4096) * 4096
        size = (x.ctypes.data + x.nbytes - start) // 4096 * 4096
        _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _HUGE_PAGES)  # advice: failure changes nothing
    return x


def _copy(target: np.ndarray, source: np.ndarray) -> None:
    """``target[...] = source``, by two threads where it is large."""
    global _helper
    if target.nbytes < _SPLIT or not (source.flags.c_contiguous and target.flags.c_contiguous):
        np.copyto(target, source)
        return
    if _helper is None:
        from concurrent.futures import ThreadPoolExecutor  # start-up: takes 15 ms to load, and few programs need it

        _helper = ThreadPoolExecutor(1, "jax-copy")
    to, of = target.reshape(-1), np.asarray(source).reshape(-1)
    half = to.size // 2
    rest = _helper.submit(np.copyto, to[half:], of[half:])
    np.copyto(to[:half], of[:half])
    rest.result()
