"""The length of an axis as a number in a program: the primitive `dim_as_value`."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import backends
from ..configuration import flags
from ..representation.aval import ShapedArray
from ..representation.marks import ELEMENTWISE, ZERO
from ..representation.primitive import Primitive
from ..representation.traits import Kind, Traits


def dtype_of_lengths() -> np.dtype:
    """What lengths are as numbers."""
    return np.dtype("int64" if flags.enable_x64.value else "int32")


def _type(*, dim: object) -> ShapedArray:
    return ShapedArray((), dtype_of_lengths(), weak_type=True)


def _known(dim: object) -> int:
    try:
        return operator.index(dim)  # type: ignore[arg-type]
    except TypeError as error:
        raise NotImplementedError(f"dim_as_value: the length '{dim}' is not known here; a whole program is evaluated by jax.core.eval_jaxpr, which "
                                  "finds the lengths from the arguments, and exported by jax.export") from error


def _reference(*, dim: object) -> np.ndarray:
    return np.asarray(_known(dim), dtype_of_lengths())


dim_as_value_p = Primitive(
    "dim_as_value", out_type=_type, jvp=ZERO, batch=ELEMENTWISE, lower=lambda b, *, dim: b.scalar(_known(dim), b.out_avals[0].dtype),
    reference=_reference, impl=lambda *, dim: backends.get().from_host(_reference(dim=dim), True), traits=Traits(Kind.MOVE))
"""The length ``dim``, an integer or a symbolic dimension."""


def as_value(dim: object) -> Any:
    """The length as an array, or as a number of the program that is traced."""
    return dim_as_value_p.bind(dim=dim)
