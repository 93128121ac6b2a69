"""Products of matrices on TPUs, by blocks; sums are in float32."""
from __future__ import annotations

from functools import partial

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array, DTypeLike

from .. import numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import cdiv, when
from ..pallas.grid import num_programs, program_id
from ..pallas.spaces import VMEM
from ..pallas.specs import BlockSpec
from ..pallas.tpu import CompilerParams


def _kernel(x, y, out, total):
    @when(program_id(2) == 0)
    def _():
        total[...] = jnp.zeros(total.shape, total.dtype)
    total[...] += jnp.dot(x[...], y[...], preferred_element_type=total.dtype)

    @when(program_id(2) == num_programs(2) - 1)
    def _():
        out[...] = total[...].astype(out.dtype)


@partial(jit, static_argnames=("block_shape", "block_k", "out_dtype", "debug"))
def matmul(x: Array, y: Array, *, block_shape: tuple[int, int], block_k: int = 256, out_dtype: DTypeLike | None = None, debug: bool = False) -> Array:
    """``x @ y`` of two matrices, on a TPU.

    Args:
      block_shape: rows and columns of the blocks of the result.
      block_k: columns of ``x`` of a step.
      out_dtype: by default that of ``x``.
      debug: print the kernel's program.

    Raises:
      ValueError: operands that are not matrices, or do not fit.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> from jax.experimental.pallas.ops.tpu.matmul import matmul
    >>> with pltpu.force_tpu_interpret_mode():
    ...     matmul(jnp.ones((16, 300)), jnp.ones((300, 8)), block_shape=(8, 8))[0, :2]
    Array([300., 300.], dtype=float32)
    """
    if not (x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]):
        raise ValueError(f"matmul: operands of shapes {x.shape} and {y.shape}; both must be matrices, "
                         "and the columns of one be as many as the rows of the other.")
    (m, k), n = x.shape, y.shape[1]
    rows, columns, depth = min(block_shape[0], m), min(block_shape[1], n), min(block_k, k)
    more = -k % depth  # what lies behind the end would be counted
    x, y = (jnp.pad(x, [(0, 0), (0, more)]), jnp.pad(y, [(0, more), (0, 0)])) if more else (x, y)
    integers = jnp.issubdtype(jnp.result_type(x, y), jnp.integer)
    return pallas_call(
        _kernel, ShapeDtypeStruct((m, n), out_dtype or x.dtype), grid=(cdiv(m, rows), cdiv(n, columns), (k + more) // depth), name="matmul", debug=debug,
        in_specs=[BlockSpec((rows, depth), lambda i, j, k: (i, k)), BlockSpec((depth, columns), lambda i, j, k: (k, j))],
        out_specs=BlockSpec((rows, columns), lambda i, j, k: (i, j)), scratch_shapes=[VMEM((rows, columns), np.int32 if integers else np.float32)],
        compiler_params=CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")))(x, y)
