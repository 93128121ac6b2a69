"""`jax.experimental.pallas.triton`: what kernels for GPUs use besides: options, and operations on blocks."""
from __future__ import annotations

import dataclasses
from typing import Any

from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from . import specs


@dataclasses.dataclass(frozen=True)
class CompilerParams(specs.CompilerParams):
    """Options for the GPU's compiler: warps that work on a block (4 by default), and stages of pipelined loops."""

    num_warps: int | None = None
    num_stages: int | None = None

    def __post_init__(self):
        for name in ("num_warps", "num_stages"):
            n = getattr(self, name)
            if n is not None and (not isinstance(n, int) or n < 1):
                raise ValueError(f"triton.CompilerParams: {name}={n!r}; give a positive integer or None.")


def approx_tanh(x: ArrayLike) -> Any:
    """The hyperbolic tangent; on GPUs by the fast instruction where there is one.

    >>> from jax.experimental.pallas import triton as plgpu
    >>> plgpu.approx_tanh(jnp.array([0., 1.])).round(2)
    Array([0.  , 0.76], dtype=float32)
    """
    return jnp.tanh(x)


def debug_barrier() -> None:
    """Wait for all threads of a block; on references, which are one after the other, there is nothing to wait for.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import triton as plgpu
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = x_ref[...]
    ...     plgpu.debug_barrier()
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """


def dot(a: ArrayLike, b: ArrayLike, trans_a: bool = False, trans_b: bool = False, allow_tf32: bool | None = None,
        precision: Any = None) -> Any:
    """The product of two matrices, accumulated in float32 (int32 for integers).

    Args:
      trans_a, trans_b: take the transpose of a factor.
      allow_tf32: True: factors may be rounded to tf32. Not beside ``precision``.

    Raises:
      ValueError: a factor is no matrix, or both ``allow_tf32`` and ``precision`` are given.

    >>> from jax.experimental.pallas import triton as plgpu
    >>> plgpu.dot(jnp.ones((2, 3)), jnp.arange(6.).reshape(3, 2))
    Array([[6., 9.],
           [6., 9.]], dtype=float32)
    """
    if jnp.ndim(a) != 2 or jnp.ndim(b) != 2:
        raise ValueError(f"triton.dot: factors of shapes {jnp.shape(a)} and {jnp.shape(b)}; both must be matrices.")
    if allow_tf32 is not None:
        if precision is not None:
            raise ValueError("triton.dot: allow_tf32 and precision say the same; give one of them.")
        precision = lax.Precision.HIGH if allow_tf32 else lax.Precision.HIGHEST
    contracted = (0 if trans_a else 1,), (1 if trans_b else 0,)
    integers = jnp.issubdtype(jnp.result_type(a), jnp.integer)
    return lax.dot_general(a, b, (contracted, ((), ())), precision=precision,
                           preferred_element_type=jnp.int32 if integers else jnp.float32)
