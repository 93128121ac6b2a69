"""Series of sums, products and quotients, which all others are made of.

A row of `SERIES` takes ``(trace, prim, args, params)`` and returns ``following(k, results)``, which gives coefficient k of
each result. `COMPOSED` holds primitives that are written with others. What is in neither goes by its JVP rule (`trace.ode`).

Source: Griewank, Walther, "Evaluating Derivatives", 2nd ed., table 13.1.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from jax_core.representation.primitive import Primitive, Zero
from jax_core.traces.structural import convert_element_type_p
from jax_core.transformations.forward import run_jvp_rule

from ..lax.arithmetic import (
    add_p,
    addition_chain,
    div_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_p,
    neg_p,
    one_minus_square_p,
    square_p,
    sub_p,
)
from ..lax.complex import abs_p, complex_p
from ..lax.conv import conv_general_dilated_p
from ..lax.dot import dot_general_p
from ..lax.gather import gather_p
from ..lax.nary import constant
from ..lax.reduce import reduce_max_p, reduce_min_p, shift_p
from ..lax.scatter import scatter_add_p, scatter_p, scatter_sub_p
from ..lax.select import clamp_p, select_n_p
from ..lax.slicing import dynamic_slice_p, dynamic_update_slice_p
from ..lax.sort import approx_top_k_p, sort_p, top_k_p
from ..lax.window import reduce_window_max_p, reduce_window_min_p
from .trace import COMPOSED, SERIES, JetTrace, accumulate, coefficients, ode, times

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike

    from .trace import JetTracer

# -- piecewise linear ----------------------------------------------------------------------------------------------------

def piecewise_linear(trace: JetTrace, prim: Primitive, args: Sequence[object], params: dict) -> Callable:
    """Where a JVP rule is linear and does not change along the curve, it serves coefficients of any order."""
    def following(k: int, series):
        terms = coefficients(trace, args, k)
        if all(isinstance(t, Zero) for t in terms):
            return [None] * len(series)
        _, tangents = run_jvp_rule(prim, trace.primals(args), terms, params)
        return [None if isinstance(t, Zero) else t for t in (tangents if prim.multiple_results else [tangents])]
    return following


def _absolute(trace, prim, args, params):
    """`abs` is piecewise linear for real numbers only."""
    return (ode if args[0].dtype.kind == "c" else piecewise_linear)(trace, prim, args, params)


# -- products and quotients ------------------------------------------------------------------------------------------------

def product(trace: JetTrace, prim: Primitive, args: Sequence[ArrayLike | JetTracer], params: dict) -> Callable:
    """``z_k = sum of x_i y_(k-i)``, for any product."""
    x, y = args

    def following(k: int, series):
        total = None
        for i in range(k + 1):
            a = trace.coefficient(x, i)
            b = None if a is None else trace.coefficient(y, k - i)
            total = accumulate(total, None if b is None else prim.bind(a, b, **params))
        return [total]
    return following


def _square(trace, prim, args, params):
    """As `product`, each pair once."""
    x, = args

    def following(k: int, series):
        total = None
        for i in range((k + 1) // 2):
            a, b = x.coefficient(i), x.coefficient(k - i)
            total = accumulate(total, None if a is None or b is None else mul_p.bind(a, b))
        total = times(total, 2)
        middle = None if k % 2 else x.coefficient(k // 2)
        return [total if middle is None else accumulate(total, square_p.bind(middle))]
    return following


def _one_minus_square(trace, prim, args, params):
    squares = _square(trace, prim, args, params)

    def following(k: int, series):
        term, = squares(k, series)
        return [None if term is None else neg_p.bind(term)]
    return following


def _quotient(trace, prim, args, params):
    """From ``z y = x``: ``z_k = (x_k - sum of z_(k-j) y_j for j > 0) / y_0``."""
    x, y = args

    def following(k: int, series):
        z, = series
        rest = None
        for j in range(1, k + 1):
            b = trace.coefficient(y, j)
            a = None if b is None else z.coefficient(k - j)
            rest = accumulate(rest, None if a is None else mul_p.bind(a, b))
        top = trace.coefficient(x, k)
        if rest is not None:
            top = neg_p.bind(rest) if top is None else sub_p.bind(top, rest)
        return [None if top is None else div_p.bind(top, trace.coefficient(y, 0))]
    return following


def _integer_pow(x, *, y):
    """By products, which hold also where the base is zero."""
    if y == 0:
        return integer_pow_p.bind(x.primal, y=0)
    powers = [x]
    for i, j in addition_chain(abs(y)):
        powers.append(square_p.bind(powers[i]) if i == j else mul_p.bind(powers[i], powers[j]))
    return powers[-1] if y > 0 else div_p.bind(constant(1, x), powers[-1])


_PIECEWISE_LINEAR = (
    convert_element_type_p, add_p, sub_p, max_p, min_p, complex_p, gather_p, scatter_p, scatter_add_p, scatter_sub_p, select_n_p,
    clamp_p, dynamic_slice_p, dynamic_update_slice_p, sort_p, top_k_p, approx_top_k_p, reduce_max_p, reduce_min_p, shift_p,
    reduce_window_max_p, reduce_window_min_p)

SERIES.update({
    mul_p: product, dot_general_p: product, conv_general_dilated_p: product, square_p: _square,
    one_minus_square_p: _one_minus_square, div_p: _quotient, abs_p: _absolute,
    **{prim: piecewise_linear for prim in _PIECEWISE_LINEAR}})

COMPOSED[integer_pow_p] = _integer_pow
