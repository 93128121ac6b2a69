"""jax.experimental.pallas.ops.tpu.paged_attention.util: implemented in `jax_numpy_api.kernels.paged_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "MASK_VALUE": "jax_numpy_api.kernels.tpu_softmax:DEFAULT_MASK_VALUE",
    "grouped_query_attention_reference": "jax_numpy_api.kernels.paged_attention:grouped_query_attention_reference"})
