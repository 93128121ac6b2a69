"""Values of a lowered program without compiling it: the StableHLO that it was lowered to, run by the interpreter in jaxlib.

XLA's compilation is nine tenths of what a small program costs. Both implementations lower to the same language, so that their
programs can be compared as they are written; a share is compiled still, as what XLA makes of them counts, too. The interpreter ends
the process at an operation that it does not have: programs with one of those are left to the compiler.
"""
from __future__ import annotations

import functools
import re
from typing import Any, Sequence

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

UNKNOWN = re.compile(r"stablehlo\.(custom_call|composite|cholesky|triangular_solve|fft|rng\w*|batch_norm\w*|map|dynamic_\w*conv|all_\w+|"
                     r"collective_\w+|reduce_scatter|partition_id|replica_id)\b|dot_general[^\n]*<(\d+x)*0x|ragged_dot|= .?mhlo\.|xi[24]>|<i[24]>|xf[468]E|tensor<f[468]E|sdy\.(?!mesh|sharding\b)")
PLACED = re.compile(r"sdy\.sharding_constraint (\S+) <.*> :")  # on the one device that programs run on, it does nothing
TWO_BYTES = {"bf16": np.uint16}


@functools.cache
def _context() -> ir.Context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    stablehlo.register_interpreter_dialect(context)
    stablehlo.register_stablehlo_passes()
    return context


def _attribute(value: np.ndarray, wanted: ir.Type) -> ir.Attribute:
    kind = ir.RankedTensorType(wanted)
    if value.dtype == bool:
        words = str(value.tolist()).lower() if value.size else ""
        return ir.Attribute.parse(f"dense<{words}> : {wanted}")
    if not value.size:
        return ir.Attribute.parse(f"dense<> : {wanted}")
    raw = np.ascontiguousarray(value).reshape(value.shape)  # the former makes a vector of a scalar
    raw = raw.view(TWO_BYTES.get(str(kind.element_type), raw.dtype))
    return ir.DenseElementsAttr.get(raw, type=kind.element_type, shape=kind.shape)


def _readable(function: Any) -> list[bool]:
    """Make ``main`` return what Python can read: the parts of complex numbers as two arrays, bfloat16 as float32. Which results are two?"""
    old = function.body.blocks[0].operations[len(function.body.blocks[0].operations) - 1]
    results, twice = [], []
    with ir.InsertionPoint(old), ir.Location.unknown():
        for operand in old.operands:
            kind = ir.RankedTensorType(operand.type)
            twice.append(str(kind.element_type).startswith("complex"))
            if twice[-1]:
                results += [stablehlo.RealOp(operand).result, stablehlo.ImagOp(operand).result]
            elif str(kind.element_type) == "bf16":
                results.append(stablehlo.ConvertOp(ir.RankedTensorType.get(kind.shape, ir.F32Type.get()), operand).result)
            else:
                results.append(operand)
        ir.Operation.create("func.return", operands=results)
    old.operation.erase()
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(function.type.inputs, [r.type for r in results]))
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]
    return twice


def _complex(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Not a sum: infinity times 1j is NaN."""
    whole = np.empty(real.shape, np.result_type(real, np.complex64))
    whole.real, whole.imag = real, imaginary
    return whole


def values(text: str, arguments: Sequence[Sequence[np.ndarray]]) -> list[list[np.ndarray]] | None:
    """The results of the module ``text`` for each list of arguments; None where only the compiler can tell."""
    text = PLACED.sub(r"stablehlo.optimization_barrier \1 :", text)
    if UNKNOWN.search(text):
        return None
    try:
        with _context():
            module = ir.Module.parse(text)
            passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
            main = next(op for op in module.body.operations if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main")
            wanted = main.type.inputs
            twice = _readable(main)
            if not module.operation.verify() or re.search(r"\bchlo\.", str(module)):
                return None
            found = []
            for given in arguments:
                if len(given) != len(wanted):
                    return None
                raw = stablehlo.eval_module(module, list(map(_attribute, given, wanted)))
                flat = iter([np.array(r) for r in raw])
                found.append([_complex(next(flat), next(flat)) if two else next(flat) for two in twice])
            return found
    except (ir.MLIRError, ValueError, TypeError, RuntimeError):
        return None
