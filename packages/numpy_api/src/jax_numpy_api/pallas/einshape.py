"""Reordering, splitting and merging axes by one equation, as ``a(bc)->b(ac)``: each letter is an axis, and letters in brackets are one axis together."""
from __future__ import annotations

import math
import re
from typing import Sequence

from jax_core.representation.typing import Array

from .. import numpy as jnp


def _groups(where: str, side: str) -> list[str]:
    """The letters of each axis."""
    found = re.findall(r"\(([A-Za-z]*)\)|([A-Za-z])", side)
    groups = [together or single for together, single in found]
    rest = re.sub(r"\([A-Za-z]*\)|[A-Za-z]|\s", "", side)
    if rest:
        raise ValueError(f"{where}: {side.strip()!r} has {rest!r}; a side consists of letters, and of letters in brackets.")
    return groups


def _lengths(where: str, groups: Sequence[str], shape: Sequence[int], sizes: dict[str, int]) -> dict[str, int]:
    """The length that each letter stands for."""
    known: dict[str, int] = {}
    for group, n in zip(groups, shape):
        open_letters = [a for a in group if a not in sizes and len(group) > 1]
        given = math.prod(sizes[a] for a in group if a in sizes) if len(group) > 1 else 1
        if len(open_letters) > 1:
            raise ValueError(f"{where}: an axis of length {n} is to be split into {', '.join(group)}; give the sizes of all of these but one.")
        if given == 0 or n % given or not open_letters and len(group) > 1 and n != given:
            raise ValueError(f"{where}: an axis of length {n} cannot be split into {', '.join(group)} with the sizes {sizes}.")
        for letter in group:
            length = n if len(group) == 1 else sizes.get(letter, n // given)
            if known.setdefault(letter, length) != length or sizes.get(letter, length) != length:
                raise ValueError(f"{where}: {letter} would have the lengths {known[letter]} and {sizes.get(letter, length)}.")
    return known


def einshape(equation: str, x: Array, assert_is_tile_preserving: bool = False, **sizes: int) -> Array:
    """``x`` with its axes in another order, split and merged.

    Args:
      equation: ``from->to``. A letter is an axis; letters in brackets are the parts of one axis, the last of which changes fastest.
      x: an array.
      assert_is_tile_preserving: accepted; the compiler finds out itself whether tiles stay whole.
      sizes: lengths of letters. Of an axis that is split, one may be left out.

    Raises:
      ValueError: an equation that does not fit ``x``, or lengths that are not known or contradict each other.
      NotImplementedError: letters that are on one side only, or twice.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.einshape("(ab)c->b(ac)", jnp.arange(12).reshape(6, 2), a=2).shape
    (3, 4)
    """
    where = f"einshape {equation!r}"
    if equation.count("->") != 1:
        raise ValueError(f"{where}: an equation has the form 'from->to'.")
    before, after = (_groups(where, side) for side in equation.split("->"))
    shape = jnp.shape(x)
    if len(before) != len(shape):
        raise ValueError(f"{where}: its left side has {len(before)} axes, and the array has the shape {shape}.")
    lengths = _lengths(where, before, shape, sizes)
    letters, wanted = "".join(before), "".join(after)
    unknown = sorted(set(wanted) - set(letters))
    if unknown:
        raise ValueError(f"{where}: {', '.join(unknown)} on the right side is not on the left.")
    if sorted(letters) != sorted(wanted) or len(set(letters)) != len(letters):
        raise NotImplementedError(f"{where}: each letter stands once on each side; sums and diagonals are jnp.einsum's.")
    x = jnp.reshape(x, [lengths[a] for a in letters]).transpose([letters.index(a) for a in wanted])
    return jnp.reshape(x, [math.prod(lengths[a] for a in group) for group in after])
