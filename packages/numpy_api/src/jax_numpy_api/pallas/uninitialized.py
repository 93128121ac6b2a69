"""What memory holds that nobody has written to: NaN, the lowest integer, False. A program must not depend on it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.traces.structural import broadcast_in_dim

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike


def uninitialized_value(dtype: DTypeLike | None, zeros: bool = False) -> Any:
    """The element of such memory, a NumPy scalar; with ``zeros`` it is zero."""
    dtype = np.dtype(dtype)
    if zeros or dtype == np.bool_:
        return np.zeros((), dtype)[()]
    if dtypes.issubdtype(dtype, np.integer):
        return np.asarray(dtypes.iinfo(dtype).min, dtype)[()]
    return np.asarray(np.nan).astype(dtype)[()]


def uninitialized(shape: Sequence[int], dtype: DTypeLike, zeros: bool = False) -> Any:
    """Such memory of a shape."""
    return broadcast_in_dim(uninitialized_value(dtype, zeros), tuple(shape), ())
