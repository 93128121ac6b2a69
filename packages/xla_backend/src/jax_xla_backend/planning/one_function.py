"""Is a program to be one function of the compiler's, as a loop over small arrays is?

Since jaxlib 0.12 XLA's CPU compiler emits each kernel through MLIR, with a context of its own to set up, and LLVM compiles each
of them apart. A function that is called and not inlined is emitted as a whole, straight for LLVM. So programs over
small arrays compile in less time, and run as fast, as they are a single kernel.

Not all operations can be in such a function (what calls a library cannot), it runs on one thread, and where a result takes the
buffer of a computed value its code has no vector instructions: so passes over inputs alone may be larger. docs/internals/compile-time.md has the measurements.
"""
from __future__ import annotations

import collections

from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.dtypes import ExtendedDType
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, jaxprs_in_params
from jax_core.representation.traits import Kind
from jax_core.traces.structural import copy_p

from .small_programs import has_large, is_small, leaves, programs

WHOLE = "main.whole"
"""The name of the function."""
EQUAL = 4
"""Kernels of a kind, on average and at most: a function holds each of them, and XLA's kernels are compiled once."""
EQUAL_RESULTS = 8
"""Results of a type, likewise: few of them come from equal kernels."""
PASSED_ELEMENTS = 1 << 14
"""Of any array in a pass over inputs, at most: XLA may share larger ones between threads."""
TILED = 64
"""Elements of an array with its axes in another order, at most: the code that moves it in tiles takes long to compile."""

_FREE = (Kind.VIEW, Kind.IDENTITY)
_TAKEN = {Kind.ELEMENTWISE, Kind.MOVE, Kind.REDUCTION, Kind.SEARCH, Kind.SWEEP, Kind.DRAW, Kind.CALL, *_FREE}
_DTYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
           "complex64", "complex128"}


def fits_small(jaxpr: Jaxpr) -> bool:
    """Whether a program over small arrays is to be one function."""
    results = collections.Counter(x.aval for x in jaxpr.outvars)
    return results.total() <= EQUAL_RESULTS * len(results) and is_small(jaxpr, equal=EQUAL, results=False) and _fits(jaxpr)


def fits_passes(jaxpr: Jaxpr) -> bool:
    """Whether a program that does nothing but pass over its inputs is to be one function.

    XLA's library adds up floats of large arrays, and takes their extrema.
    """
    equations = [eqn for program in programs(jaxpr) for eqn in leaves(program)]
    return not any([has_large(eqn, PASSED_ELEMENTS) or eqn.primitive.traits.kind is Kind.REDUCTION and has_large(eqn) and
                    eqn.outvars[0].aval.dtype.kind not in "biu" for eqn in equations]) and _fits(jaxpr)


def reads_all(jaxpr: Jaxpr) -> bool:
    """Whether all inputs are certainly needed: they are results, or some are computed from them by arithmetic and sums of floats, which the compiler never
    leaves out, as ``x * 0`` and ``x - x`` may be NaN. Of integers it does."""
    needed = {x for x in jaxpr.outvars if type(x) is not Literal}
    for eqn in reversed(jaxpr.eqns):
        traits = eqn.primitive.traits
        reads = traits.in_sums and (not callable(traits.reads) or traits.reads(**eqn.params) > 0)
        if (reads or traits.kind is Kind.REDUCTION and not jaxprs_in_params(eqn.params)) and eqn.outvars[0] in needed:
            if all([getattr(x.aval.dtype, "kind", "") == "f" and x.aval.size for x in (*eqn.invars, *eqn.outvars)]):
                needed.update([x for x in eqn.invars if type(x) is not Literal])
    return needed.issuperset(jaxpr.invars) and needed.issuperset(jaxpr.constvars)


def _fits(jaxpr: Jaxpr) -> bool:
    """Whether all of it can be in a function, which takes and gives arrays only, and something is to be computed."""
    if not all([_has_known_dtype(x.aval) for x in (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)]):
        return False
    computes = False
    for program in programs(jaxpr):
        for eqn in program.eqns:
            if not _is_taken(eqn):
                return False
            traits = eqn.primitive.traits
            computes = computes or traits.kind not in _FREE and not traits.joins and eqn.primitive is not copy_p and traits.kind is not Kind.CALL
    return computes


def _is_taken(eqn: JaxprEqn) -> bool:
    traits = eqn.primitive.traits
    if traits.kind not in _TAKEN and not (
            traits.kind is Kind.KERNEL and (traits.part is not None or traits.inner.over_windows or traits.keys is not None)):
        return False
    if not all([_has_known_dtype(x.aval) for x in (*eqn.invars, *eqn.outvars)]):
        return False
    turned = traits.kind is Kind.VIEW and "permutation" in eqn.params and eqn.outvars[0].aval.size > TILED
    return not turned and (traits.kind in (Kind.CALL, Kind.REDUCTION) or not jaxprs_in_params(eqn.params))


def _has_known_dtype(aval: AbstractValue) -> bool:
    return isinstance(aval, ShapedArray) and (isinstance(aval.dtype, ExtendedDType) or aval.dtype.name in _DTYPES)
