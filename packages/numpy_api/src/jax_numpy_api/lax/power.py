"""Powers with any exponent, whose derivative takes a logarithm. Powers with a fixed integer are in `arithmetic`.

Source: StableHLO specification, `power`.
"""
from __future__ import annotations

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.marks import ELEMENTWISE
from jax_core.representation.primitive import Zero, none
from jax_core.representation.traits import Algebra, Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import convert_element_type_p

from .arithmetic import mul_p, sub_p
from .compare import emit_compare, eq_p, gt_p
from .complex import abs_p
from .elementary_cpu import powers
from .elementary_cpu.lanes import Formulation
from .nary import INEXACT, Elementwise, apply, check_dtype, constant, emit, full_operands, nary_result
from .select import select_n_p
from .transcendental import log_p


def _pow_type(x, y):
    check_dtype("pow", x, INEXACT, 0)
    if not dtypes.issubdtype(y.dtype, np.integer) and y.dtype != x.dtype:
        raise TypeError(f"lax.pow requires an exponent of the dtype of the base, or an integer, got {x.str_short()} and "
                        f"{y.str_short()}; convert one with lax.convert_element_type, or use jax.numpy.power.")
    return nary_result("pow", (x, y), x.dtype)


def _pow_plain(b, x, y):
    return emit(b, "stablehlo.power", *full_operands(b, (x, y)), out=b.out_avals[0])


_pow_formulation = Formulation(_pow_plain, narrow=powers.pow)
_SIMPLE = -1.0, 0.5, 1.0, 2.0, 3.0  # exponents that XLA makes a quotient, a root or products of


def _pow_lower(b, x, y):
    """One exponent for all may be a constant for which XLA has a simpler form. Where it is, the comparisons are done when compiling, and one way remains."""
    y, out = b.convert(y, x.aval.dtype), b.out_avals[0]
    power = _pow_formulation(b, x, y)
    if y.aval.shape == out.shape or not _pow_formulation.applies(b):
        return power
    for simple in _SIMPLE:
        value = b.scalar(simple, y.aval.dtype)
        same = emit_compare(b, "EQ", y, value)
        power = emit(b, "stablehlo.select", same, _pow_plain(b, x, value), power, out=out)
    return power


def _pow_tangent_x(g, out, x, y):
    """``y x^(y-1)``; where ``y`` is 0 the power is constant, also where ``x`` is 0 (the formula says 0 * inf) or NaN."""
    size = abs_p.bind(x)
    ordinary = select_n_p.bind(gt_p.bind(size, constant(0, size)), constant(1, x), x)
    base = select_n_p.bind(eq_p.bind(y, _scalar(0, y)), x, ordinary)
    return mul_p.bind(g, mul_p.bind(_as(y, x), pow_p.bind(base, sub_p.bind(y, _scalar(1, y)))))


def _pow_tangent_y(g, out, x, y):
    """``x^y log x``. At ``x = 0`` its limit for y > 0 is 0; for y = 0 we say 0 too, and for y < 0 NaN (inf * 0)."""
    if dtypes.issubdtype(get_aval(y).dtype, np.integer):
        return Zero.of(out)
    base = select_n_p.bind(eq_p.bind(x, constant(0, x)), x, constant(1, x))
    return mul_p.bind(g, mul_p.bind(log_p.bind(base), out))


def _scalar(value, x):
    dtype = get_aval(x).dtype
    return constant(value, x) if dtype.kind not in "iu" else dtype.type(value)


def _as(y, x):
    dtype = get_aval(x).dtype
    if get_aval(y).dtype == dtype:
        return y
    return convert_element_type_p.bind(y, new_dtype=dtype, weak_type=False, sharding=None)


def _pow_reference(x, y):
    """NumPy's; of complex numbers it is 0 for some NaN and any infinite exponent, which has no direction."""
    x, y = np.broadcast_arrays(x, y)
    power = np.power(x, y.astype(x.dtype))
    if x.dtype.kind != "c":
        return power
    return np.where((np.isnan(x) | ~np.isfinite(y)) & (x != 1) & (y != 0), np.array(complex(np.nan, np.nan), x.dtype), power)


pow_p = Elementwise(
    "pow", out_type=_pow_type, jvp=(_pow_tangent_x, _pow_tangent_y),
    transpose=none("lax.pow is not linear, so it has no transpose"), batch=ELEMENTWISE, lower=_pow_lower,
    reference=_pow_reference, traits=Traits(Kind.ELEMENTWISE, 3.0, algebra=Algebra.POWER, spelled_out=True))


def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x ** y`` of a floating or complex ``x``; ``y`` has its dtype, or is an integer. Raises TypeError otherwise.

    Source: StableHLO `power`.

    >>> lax.pow(2., 0.5)
    Array(1.4142135, dtype=float32, weak_type=True)
    """
    return apply(pow_p, x, y)
