"""`jax.experimental.pallas.triton`: what kernels for GPUs use besides: options, and operations on blocks."""
from __future__ import annotations

import dataclasses
from typing import Any, Sequence

from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Kind, Traits
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


def _assembly_type(*avals, results, asm, constraints, pack):
    for aval in avals:
        if aval.shape != results[0].shape:
            raise ValueError(f"elementwise_inline_asm: an argument of shape {aval.shape} for results of shape {results[0].shape}; broadcast it, "
                             "as the instructions see one element of each.")
    return results


def _assembly_in_kernel(b, *operands, results, asm, constraints, pack):
    code = f"{asm.encode().hex()}|{constraints.encode().hex()}|{pack}"  # in hexadecimal digits, as these texts may have any characters
    return b.emit(f"stablehlo.custom_call @kernel.elementwise_inline_asm({', '.join(map(str, operands))})", *operands, out=list(results),
                  attrs=f'{{backend_config = "{code}"}}')


_ONLY_THERE = none("elementwise_inline_asm holds instructions of NVIDIA's GPUs, and works in kernels that are compiled for these: not in interpreted ones, "
                   "on other platforms, or outside of pallas_call.")

assembly_p = Primitive("elementwise_inline_asm", multiple_results=True, out_type=_assembly_type, lower=_ONLY_THERE, impl=_ONLY_THERE,
                       in_kernel=_assembly_in_kernel, batch=none("elementwise_inline_asm works on blocks of a kernel; vmap the function around pallas_call."),
                       jvp=none("elementwise_inline_asm: the derivative of instructions is not known; give the function around pallas_call one, "
                                "by jax.custom_jvp."),
                       transpose=none("elementwise_inline_asm has no derivative, so none to transpose."), traits=Traits(Kind.KERNEL))


def elementwise_inline_asm(asm: str, *, args: Sequence[ArrayLike], constraints: str, pack: int, result_shape_dtypes: Sequence[Any]) -> Sequence[Any]:
    """Results of instructions of NVIDIA's GPUs, element by element.

    Args:
      asm: the instructions, in which ``$0``, ``$1``, ... stand for the results and then the arguments.
      args: blocks of one shape.
      constraints: a register for each of them, as LLVM writes it: ``"=r,r"``.
      pack: so many elements are in the registers at a time.
      result_shape_dtypes: shape and dtype of each result, as `jax.ShapeDtypeStruct`; all shapes are that of the arguments.

    Raises:
      ValueError: there is no result, shapes differ, or ``pack`` is not positive.
      NotImplementedError: outside of a kernel that is compiled for an NVIDIA GPU.

    Source: `tt.elementwise_inline_asm` of Triton's dialect.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import triton as plgpu
    >>> def kernel(x_ref, o_ref):
    ...     [o_ref[...]] = plgpu.elementwise_inline_asm("tanh.approx.f32 $0, $1;", args=[x_ref[...]], constraints="=f,f", pack=1,
    ...                                                 result_shape_dtypes=[jax.ShapeDtypeStruct((8,), jnp.float32)])
    >>> call = jax.jit(pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), jnp.float32)))
    >>> "tanh.approx.f32" in call.trace(jnp.ones(8)).lower(lowering_platforms=("cuda",)).as_text()
    True
    """
    results = tuple(ShapedArray(tuple(x.shape), dtypes.explicit_dtype(x.dtype)) for x in result_shape_dtypes)
    if not results or any(x.shape != results[0].shape for x in results):
        raise ValueError(f"elementwise_inline_asm: result_shape_dtypes={list(result_shape_dtypes)}; give one result or more, all of one shape.")
    if not isinstance(pack, int) or pack < 1:
        raise ValueError(f"elementwise_inline_asm: pack={pack!r} is a number of elements; give 1 or more.")
    return assembly_p.bind(*args, results=results, asm=asm, constraints=constraints, pack=pack)


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
