"""jax.experimental.sparse._lowerings: which numbers sparse products on GPUs take; test generators read it."""
import numpy as _np

SUPPORTED_DATA_DTYPES = [_np.float32, _np.float64, _np.complex64, _np.complex128]
SUPPORTED_INDEX_DTYPES = [_np.int32]
