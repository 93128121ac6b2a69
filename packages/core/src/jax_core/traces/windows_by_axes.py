"""Which sums, maxima and minima over windows the CPU takes along one axis after another, each in a kernel of its own (`jax_numpy_api.lax.window_cpu`)?

XLA computes each from all elements of its window, one after the other, in a loop that is only fast unrolled: of 256 x 256 numbers the maxima of
5 x 5 in 1.2 ms, and in 0.06 axis by axis. Each kernel takes some 15 ms to compile.
"""
from __future__ import annotations

import math
from typing import Any, Mapping

FEW = 4
"""Elements of a window that are combined at once."""
_WORTH, _BYTES = 1 << 16, 1 << 14  # elements in all windows, and bytes of the array, at least


def pays(x: Any, out: Any, params: Mapping[str, Any]) -> bool:
    """Whether windows of an array of type ``x``, reduced to type ``out``, are; ``params`` as of `reduce_window_sum_p`."""
    window, strides = tuple(params["window_dimensions"]), tuple(params["window_strides"])
    elements = math.prod(window)
    if elements <= FEW or window == strides or out.size * elements < _WORTH or x.nbytes < _BYTES:
        return False
    return x.dtype.kind not in "bc" and all(d == 1 for d in params["base_dilation"]) and all(end >= 0 for ends in params["padding"] for end in ends)
