"""Types of `jax.experimental.pallas.ops.gpu.rms_norm`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any

def rms_norm(x: Array, weight: Array, bias: Array, num_warps: int | None = None, num_stages: int | None = 3, eps: float = 1e-05, backward_pass_impl: str = 'triton', interpret: bool = False) -> Array:
    """Rows scaled to a mean square of 1, then times ``weight`` plus ``bias``, by a kernel for GPUs; arguments as for `layer_norm`."""
def rms_norm_reference(x: Array, weight: Array, bias: Array, *, eps: float = 1e-05) -> Array:
    """What `rms_norm` computes, by plain operations."""
