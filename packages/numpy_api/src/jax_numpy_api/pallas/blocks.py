"""Where the blocks of an operand are in its array, and how one is cut out of it and put back, for who interprets kernels."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.references.discharge import discharged
from jax_core.representation.aval import AbstractRef
from jax_core.representation.jaxpr import eval_jaxpr

from ..lax.arithmetic import div, rem
from ..lax.shape import reshape
from ..lax.slicing import dynamic_slice, dynamic_update_slice
from .grid import Operand
from .specs import Element, Squeezed

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def padding(operand: Operand) -> list[tuple[int, int]]:
    """Elements to add before and after the array along each axis, so that it consists of whole blocks."""
    found = []
    for d, n in zip(operand.block, operand.aval.shape):
        if type(d) is Element:
            before, after = d.padding
            found.append((before, max(after, d.block_size - n - before)))
        else:
            found.append((0, 0) if type(d) is Squeezed else (0, max(-n % max(d.block_size, 1), d.block_size - n)))
    return found


def product(grid: Sequence[int | Array]) -> Any:
    static: Any = np.int32(math.prod(n for n in grid if isinstance(n, int)))
    for n in grid:
        static = static if isinstance(n, int) else static * n
    return static


def indices_of(number: Array, grid: Sequence[int | Array]) -> list:
    """The indices along each axis of step ``number``; it is not looked at where there is one step."""
    found: list = []
    for axis in reversed(range(len(grid))):
        n = grid[axis]
        if isinstance(n, int) and n == 1:
            found.append(np.int32(0))
            continue
        size = np.int32(n) if isinstance(n, int) else n
        found.append(number if axis == 0 else rem(number, size))
        number = div(number, size) if axis else number
    return found[::-1]


def starts_of(operand: Operand, ids: Sequence[Array], scalars: Sequence[Array], before: Sequence[int]) -> list:
    """The first element of this step's block along each axis."""
    index_map, _ = discharged(operand.index_map, [type(a) is AbstractRef for a in operand.index_map.in_avals])
    indices = eval_jaxpr(index_map.jaxpr, index_map.consts, *ids, *scalars)[:len(operand.block)]
    found = []
    for d, i, b in zip(operand.block, indices, before):
        if type(d) is Element:
            extra = b - d.padding[0]  # where the array has more padding than this operand asked for
            found.append(i + np.int32(extra) if extra else i)
        else:
            n = 1 if type(d) is Squeezed else d.block_size
            i = i if n == 1 else i * np.int32(n)
            found.append(i + np.int32(b) if b else i)
    return found


def block_of(operand: Operand, x: Array, starts: Sequence[Array]) -> Any:
    if np.shape(x) != operand.sizes:
        x = dynamic_slice(x, starts, operand.sizes)
    return reshape(x, operand.block_aval.shape) if operand.block_aval.shape != operand.sizes else x


def put_back(operand: Operand, x: Array, block: Array, starts: Sequence[Array]) -> Any:
    if np.shape(block) != operand.sizes:
        block = reshape(block, operand.sizes)
    return block if np.shape(x) == operand.sizes else dynamic_update_slice(x, block, starts)
