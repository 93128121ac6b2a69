"""Sums of series by which special functions are computed."""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.programs import jit
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.transformations.custom_jvp import SymbolicZero, custom_jvp

from ... import numpy as jnp
from ...lax import series
from ...lax.control_flow.cond import platform_dependent
from ...lax.quotient_cpu import kept
from ...numpy.promotion import check_arraylike, narrowed, promote_args_inexact


def chebyshev(coefficients: Sequence[float], low: float, high: float, x: Array) -> Any:
    """The Chebyshev series on ``[low, high]`` at ``x``, which is clipped to the interval. `benchmarks/accuracy/fit.py` computes coefficients."""
    t = 2 * jnp.clip(x, low, high) - (low + high)
    return series.chebyshev(coefficients, t * (1 / (high - low)) if dtypes.dtype(x) == np.float32 else t / (high - low))


_OF_REALS = "betaln comb digamma gammaln hyp2f1 log_ndtr ndtr ndtri spence".split()


def wide(name: str, *args: Any, kept: bool = False) -> tuple[list[Array], np.dtype]:
    """Real arguments as float32 or float64 arrays of one dtype, and the dtype that the result has.

    Args:
      kept: arrays of 64 bits stay so while x64 is off.

    Raises:
      ValueError: complex arguments; TypeError in functions of `_OF_REALS`.
    """
    reals = [jnp.asarray(x if kept else narrowed(x)) for x in promote_args_inexact(name, *args)]
    dtype = reals[0].dtype
    if dtypes.issubdtype(dtype, np.complexfloating):
        refusal = TypeError if name in _OF_REALS else ValueError  # as in the public jax
        raise refusal(f"{name} does not support complex-valued inputs, got {dtype}")
    if dtype not in (np.float32, np.float64):
        reals = [x.astype(np.float32) for x in reals]
    return reals, dtype


def check_floats(name: str, x: object) -> None:
    """Raise TypeError for integers and booleans, of functions that are defined for floats alone."""
    check_arraylike(name, x)
    if not dtypes.issubdtype(dtypes.dtype(x), np.inexact):
        raise TypeError(f"{name} takes floating-point numbers, got {dtypes.dtype(x)}; convert it first, as by x.astype(float)")


inlined = functools.partial(jit.inlined, wide_numbers=True)


class _Held:
    """The tangent of an argument that is held fixed: products with it are it, and a sum has the other term alone. Zeros in its place would
    give NaN wherever the slope by that argument is infinite."""
    __array_ufunc__ = None

    def _itself(self, *_: object) -> "_Held":
        return self

    def _other(self, other: Any) -> Any:
        return other

    __mul__ = __rmul__ = __truediv__ = __neg__ = astype = _itself
    __add__ = __radd__ = __rsub__ = _other

    def __sub__(self, other: Any) -> Any:
        return -other


HELD = _Held()


class differentiable:  # used as a decorator
    """`custom_jvp` for functions of arrays: function and rule get arrays where users gave Python numbers. Rules only scale tangents and
    add them up."""

    def __init__(self, fun: Callable):
        functools.update_wrapper(self, fun)
        self._call = custom_jvp(lambda *args: fun(*map(jnp.asarray, args)))

    def defjvp(self, rule: Callable) -> Callable:
        """Set the rule ``(primals, tangents) -> (value, tangent)``."""
        def with_held(primals, tangents):
            value, tangent = rule(tuple(map(jnp.asarray, primals)), tuple(HELD if type(t) is SymbolicZero else t for t in tangents))
            return value, jnp.zeros_like(value) if tangent is HELD else tangent
        return self._call.defjvp(with_held, symbolic_zeros=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = inspect.signature(self).bind(*args, **kwargs).args
        return self._call(*args)


def _kahan_log1p(x):
    w = kept(1 + x)  # or the compiler would put x for w - 1
    return jnp.where(w == 1, x, jnp.log(w) * jnp.where(jnp.isfinite(w), x / (w - 1), 1))


@differentiable
def _wide_log1p(x):
    return platform_dependent(x, cpu=_kahan_log1p, default=jnp.log1p)


@_wide_log1p.defjvp
def _wide_log1p_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _wide_log1p(x), t / (1 + x)


def log1p(x: Array) -> Any:
    """``log(1 + x)``. In float64 XLA's own is off by up to 62 units in the last place on CPU (measured at x = -0.404), so there
    by Kahan's formula ``x log(w) / (w - 1)``, ``w = 1 + x`` rounded. On other platforms it is XLA's own,
    which on an H200 keeps to the tolerances of `boxcox1p` and its kin."""
    return _wide_log1p(x) if dtypes.dtype(x) == np.float64 == dtypes.explicit_dtype(np.float64) else jnp.log1p(x)
