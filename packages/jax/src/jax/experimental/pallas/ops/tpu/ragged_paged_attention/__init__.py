"""jax.experimental.pallas.ops.tpu.ragged_paged_attention: implemented in `jax_numpy_api.kernels.ragged_paged_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.ragged_paged_attention:{name}" for name in """
    dynamic_validate_inputs get_tuned_block_sizes ragged_paged_attention ref_ragged_paged_attention static_validate_inputs""".split()})
