"""Kernels (`pallas_call`) for the compilers of accelerators: Mosaic for TPUs, Triton for NVIDIA's GPUs.

A kernel's body is lowered as any program is, to StableHLO, in which a reference is a tensor and an operation on it a call of
``kernel.<name>`` (`jax_core.references.primitives.write_in_kernel`). That text is read with the MLIR bindings and written
again in the dialect of the compiler, operation by operation. So kernels know of no primitive, and what is lowered in the
usual way (loops, conditions, functions) needs nothing here.

``translation``  StableHLO to the dialects that both compilers share
``mosaic``       vectors and memory of a TPU
``triton``       blocks and pointers of a GPU
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value


def compile_kernel(b: Builder, program: Any, operands: Sequence[Value]) -> list:
    """Emit the call of a kernel's ``program`` (`jax_numpy_api.pallas.grid.Program`); its results.

    Raises:
      NotImplementedError: the platform has no compiler of kernels, or it lacks something that the kernel uses.
    """
    if program.steps == 0:
        given = operands[program.dynamic + len(program.scalars):]
        shared = {o: given[i] for i, o in program.aliases}
        return [shared[k] if k in shared else b.full(0, aval) for k, aval in enumerate(program.out_avals)]
    if b.platform == "tpu":
        from . import mosaic  # start-up: its dialect is loaded with it
        return mosaic.emit(b, program, operands)
    if b.platform == "cuda":
        from . import triton  # start-up: its dialect is loaded with it
        return triton.emit(b, program, operands)
    raise NotImplementedError(f"pallas_call {program.options.name}: there is no compiler of kernels for {b.platform}; pass interpret=True, "
                              "which runs the kernel step by step on any platform.")
