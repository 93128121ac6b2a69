"""Bits as elements of another width, of which the axis before the last has more or fewer.

So TPUs pack narrow elements: those of neighbouring rows share a word, the first row in its low bits. Kernels look at memory and at values
this way.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..representation import dtypes
from ..representation.aval import ShapedArray
from ..representation.marks import ZERO
from ..representation.primitive import Primitive
from ..traces.structural import bdim_at_front


def rows_of(shape: tuple, dtype: Any, to: Any) -> tuple:
    """The shape of elements of dtype ``to`` that have the bits of such an array.

    Raises:
      NotImplementedError: fewer than two axes. ValueError: the rows are no whole number of wider elements.
    """
    have, want = dtypes.itemsize_bits(np.dtype(dtype)), dtypes.itemsize_bits(np.dtype(to))
    if have == want:
        return tuple(shape)
    text = f"bitcast: {dtypes.short_name(dtype)}[{','.join(map(str, shape))}] to {np.dtype(to).name}"
    if len(shape) < 2:
        raise NotImplementedError(f"{text}: another width changes the number of rows, the axis before the last, and there is none.")
    if shape[-2] * have % want:
        raise ValueError(f"{text}: {shape[-2]} rows are no whole number of rows of the wider elements; give a multiple of {want // have}.")
    return (*shape[:-2], shape[-2] * have // want, shape[-1])


def _type(x, *, to):
    return ShapedArray(rows_of(x.shape, x.dtype, to), to)


def _lower(b, x, *, to):
    (*outer, n, m), want = x.aval.shape, b.out_avals[0]
    rows = want.shape[-2]
    order = [*range(len(outer)), len(outer), len(outer) + 2, len(outer) + 1]
    if n > rows:  # rows of the wide elements, their parts, columns
        x = b.emit(f"stablehlo.reshape {x}", x, out=ShapedArray((*outer, rows, n // rows, m), x.aval.dtype))
        x = b.emit(f"stablehlo.transpose {x}, dims = {order}", x, out=ShapedArray((*outer, rows, m, n // rows), x.aval.dtype))
        return b.emit(f"stablehlo.bitcast_convert {x}", x, out=want)
    if n == rows:
        return b.emit(f"stablehlo.bitcast_convert {x}", x, out=want)
    x = b.emit(f"stablehlo.bitcast_convert {x}", x, out=ShapedArray((*outer, n, m, rows // n), to))
    x = b.emit(f"stablehlo.transpose {x}, dims = {order}", x, out=ShapedArray((*outer, n, rows // n, m), to))
    return b.emit(f"stablehlo.reshape {x}", x, out=want)


def _in_kernel(b, x, *, to):
    return b.emit(f"stablehlo.custom_call @kernel.bitcast_rows({x})", x, out=b.out_avals[0], attrs='{backend_config = ""}')


bitcast_rows_p: Primitive = Primitive(
    "bitcast_rows", out_type=_type, jvp=ZERO, lower=_lower, in_kernel=_in_kernel,
    batch=lambda axis, args, dims, *, to: (bitcast_rows_p.bind(bdim_at_front(args[0], dims[0], axis), to=to), 0))


def bitcast_rows(x: Any, to: Any) -> Any:
    """The bits of ``x`` as elements of dtype ``to``."""
    return bitcast_rows_p.bind(x, to=np.dtype(to))
