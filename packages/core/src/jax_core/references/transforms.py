"""Steps of views of references that are no indices: another order of axes, another shape, other meaning of the bits."""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import numpy as np

from ..representation.typing import DTypeLike


@dataclasses.dataclass(frozen=True)
class TransposeTransform:
    """The axes in the order ``permutation``."""

    permutation: tuple[int, ...]

    def shape_of(self, shape: Sequence[int]) -> tuple:
        """The shape of the view of something of ``shape``."""
        if sorted(self.permutation) != list(range(len(shape))):
            raise ValueError(f"a view of a reference: {self.permutation} is no permutation of the axes of the shape {tuple(shape)}")
        return tuple(shape[i] for i in self.permutation)

    def read(self, value: Any) -> Any:
        """The view of ``value``."""
        return value.transpose(self.permutation)

    def write(self, value: Any, new: Any) -> Any:
        """``value`` with ``new`` as its view."""
        return new.transpose(tuple(map(int, np.argsort(self.permutation))))


@dataclasses.dataclass(frozen=True)
class ReshapeTransform:
    """The same elements in another shape; one length may be -1."""

    new_shape: tuple[int, ...]

    def shape_of(self, shape: Sequence[int]) -> tuple:
        """As for `TransposeTransform`."""
        size, known = math.prod(shape), math.prod(n for n in self.new_shape if n != -1)
        wanted = tuple(size // known if n == -1 and known else n for n in self.new_shape)
        if math.prod(wanted) != size or self.new_shape.count(-1) > 1:
            raise ValueError(f"a view of a reference: a part of shape {tuple(shape)} cannot be seen in the shape {self.new_shape}")
        return wanted

    def read(self, value: Any) -> Any:
        """As for `TransposeTransform`."""
        return value.reshape(self.shape_of(value.shape))

    def write(self, value: Any, new: Any) -> Any:
        """As for `TransposeTransform`."""
        return new.reshape(value.shape)


@dataclasses.dataclass(frozen=True)
class BitcastTransform:
    """The same bits as elements of another dtype of the same width."""

    to: Any

    def shape_of(self, shape: Sequence[int]) -> tuple:
        """As for `TransposeTransform`."""
        return tuple(shape)

    def read(self, value: Any) -> Any:
        """As for `TransposeTransform`."""
        return value.view(self.to)

    def write(self, value: Any, new: Any) -> Any:
        """As for `TransposeTransform`."""
        return new.view(value.dtype)


KINDS = (TransposeTransform, ReshapeTransform, BitcastTransform)


def bitcast_of(dtype: Any, to: DTypeLike) -> BitcastTransform:
    """The step from elements of ``dtype`` to those of ``to``."""
    to = np.dtype(to)
    if to.itemsize != np.dtype(dtype).itemsize:
        raise NotImplementedError(f"bitcast of a reference: elements of {np.dtype(dtype).name} and {to.name} differ in width")
    return BitcastTransform(to)
