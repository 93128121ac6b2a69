"""Steps of views of references that are no indices: another order of axes, another shape, other meaning of the bits."""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ..representation import dtypes
from .bits import bitcast_rows, rows_of

if TYPE_CHECKING:
    from ..representation.array import Array


@dataclasses.dataclass(frozen=True)
class TransposeTransform:
    """The axes in the order ``permutation``."""

    permutation: tuple[int, ...]

    def shape_of(self, shape: Sequence[int]) -> tuple:
        """The shape of the view of something of ``shape``."""
        if sorted(self.permutation) != list(range(len(shape))):
            raise ValueError(f"a view of a reference: {self.permutation} is no permutation of the axes of the shape {tuple(shape)}")
        return tuple(shape[i] for i in self.permutation)

    def read(self, value: Array) -> Any:
        """The view of ``value``."""
        return value.transpose(self.permutation)

    def write(self, value: Array, new: Array) -> Any:
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

    def read(self, value: Array) -> Any:
        """As for `TransposeTransform`."""
        return value.reshape(self.shape_of(value.shape))

    def write(self, value: Array, new: Array) -> Any:
        """As for `TransposeTransform`."""
        return new.reshape(value.shape)


@dataclasses.dataclass(frozen=True)
class BitcastTransform:
    """The same bits as elements of another dtype; of another width, the view has more or fewer rows (`bits`)."""

    of: Any
    to: Any

    def shape_of(self, shape: Sequence[int]) -> tuple:
        """As for `TransposeTransform`."""
        return rows_of(tuple(shape), self.of, self.to)

    def read(self, value: Array) -> Any:
        """As for `TransposeTransform`."""
        return self._seen(value, self.to)

    def write(self, value: Array, new: Array) -> Any:
        """As for `TransposeTransform`."""
        return self._seen(new, self.of)

    def _seen(self, value: Any, dtype: Any) -> Any:
        return value.view(dtype) if dtypes.itemsize_bits(self.of) == dtypes.itemsize_bits(self.to) else bitcast_rows(value, dtype)


KINDS = (TransposeTransform, ReshapeTransform, BitcastTransform)
