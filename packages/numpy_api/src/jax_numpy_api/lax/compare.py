"""Comparisons: eq, ne, lt, le, gt, ge; the same in the total order of floats; is_finite.

A NaN is unequal to everything and in no order with anything, except in the total order, where
-NaN < -inf < ... < -0 < +0 < ... < inf < NaN. Results are booleans, so none has a tangent.

Compiled CPU programs take subnormal floats for zero (XLA sets the processor so), and the comparisons that run on the host
do the same: a guard like ``where(x == 0, 1, x)`` would fail if ``x`` were unequal to 0 here and zero in the next operation.

Source: StableHLO specification, `compare`, `is_finite`; IEEE 754, totalOrder.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.traits import Algebra
from jax_core.representation.typing import ArrayLike

from .nary import ANY, FLOAT, ORDERED, apply, boolean, elementwise, emit, full_operands

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.typing import DTypeLike


def compare_kind(dtype: DTypeLike) -> str:
    """How StableHLO calls the comparison of values of this dtype."""
    if dtypes.issubdtype(dtype, np.inexact):
        return "FLOAT"
    return "UNSIGNED" if dtype == bool or dtypes.issubdtype(dtype, np.unsignedinteger) else "SIGNED"


def emit_compare(b: Builder, direction: str, x: Value, y: Value, kind: str | None = None):
    """One `stablehlo.compare` of two values of one type."""
    kind = kind or compare_kind(x.aval.dtype)
    return b.emit(f"stablehlo.compare {direction}, {x}, {y}, {kind}", x, y, out=x.aval.update(dtype=bool, weak_type=False))


_OR_EQUAL = {"GE": "GT", "LE": "LT"}
"""Of floats these are written in two parts: XLA takes ``abs(x) >= 0``, and the like, for true, also of NaN. LLVM puts them together again."""


def _comparison(name, direction, accepts, reference, total=False):
    def lower(b: Builder, x: Value, y: Value):
        x, y = _same_shape(b, x, y)
        if total:
            return emit_compare(b, direction, x, y, "TOTALORDER")
        if direction in _OR_EQUAL and compare_kind(x.aval.dtype) == "FLOAT":
            return emit(b, "stablehlo.or", emit_compare(b, _OR_EQUAL[direction], x, y), emit_compare(b, "EQ", x, y))
        return emit_compare(b, direction, x, y)
    def on_host(x: Array, y: Array):
        return reference(x, y) if total or _all_apart(x, y) else reference(flushed(x), flushed(y))
    return elementwise(name, lower, accepts=accepts, jvp=ZERO, reference=on_host, result=boolean, exact=True, algebra=Algebra.COMPARISON)


def _same_shape(b, x, y):
    return full_operands(b, (x, y))


_SMALLEST = {np.dtype(t): dtypes.finfo(t).smallest_normal for t in (np.float32, np.float64)}


def _all_apart(x, y):
    """Whether no two elements are both 0 or subnormal: then zeros for subnormal numbers change nothing. One look at both, in place of one at each."""
    smallest = _SMALLEST.get(getattr(x, "dtype", None))
    if smallest is None:
        return False
    size = np.maximum(np.abs(x), np.abs(y))
    return size.size and size.min() >= smallest


def zero_for_subnormal(b: Builder, x: Value, otherwise: Value):
    """``otherwise``, but where ``x`` is 0 or subnormal a zero with its sign."""
    tiny = b.full(float(dtypes.finfo(x.aval.dtype).tiny), x.aval)
    near = emit_compare(b, "LT", b.emit(f"stablehlo.abs {x}", x, out=x.aval), tiny)
    zero = b.elementwise("stablehlo.multiply", x, b.full(0, x.aval), out=x.aval)
    return b.emit(f"stablehlo.select {near}, {zero}, {otherwise}", near, zero, otherwise, out=x.aval)


def flushed(x: ArrayLike):
    """``x`` with zeros for its subnormal elements. Half floats have none left: they are compared as float32."""
    x = np.asarray(x)
    kind = x.dtype.kind
    if kind in "biu" or x.dtype == np.float16 or not dtypes.issubdtype(x.dtype, np.inexact):
        return x
    if kind == "c":
        out = np.empty_like(x)  # not a sum: an infinity by 1j has a NaN for its real part
        out.real, out.imag = flushed(x.real), flushed(x.imag)
        return out
    small = np.abs(x) < dtypes.finfo(x.dtype).smallest_normal
    return np.where(small, np.zeros((), x.dtype), x) if small.any() else x


def _total_key(x):
    """Integers in the total order of the floats ``x``."""
    x = np.ascontiguousarray(x)
    width = x.dtype.itemsize * 8
    bits = x.view(f"i{width // 8}")
    return np.where(bits < 0, np.iinfo(bits.dtype).max ^ bits, bits)


def _equality(name: str, direction: str, reference, all_words: bool):
    """A comparison for equality, which takes key arrays too: keys are equal if all their words are."""
    numbers = _comparison(name, direction, ANY, reference)

    def out_type(x: ShapedArray, y: ShapedArray):
        keys = [isinstance(a.dtype, dtypes.ExtendedDType) for a in (x, y)]
        if not any(keys):
            return numbers.out_type(x, y)
        if x.dtype != y.dtype:
            raise TypeError(f"lax.{name} does not accept dtypes {x.str_short()}, {y.str_short()}; keys are compared "
                            "with keys of the same implementation.")
        return ShapedArray(x.shape or y.shape, bool)

    def lower(b: Builder, x: Value, y: Value):
        if not isinstance(x.aval.dtype, dtypes.ExtendedDType):
            return numbers.lower(b, x, y)
        out = b.out_avals[0]
        x, y = (b.broadcast(a, out.shape) if a.aval.shape != out.shape else a for a in (x, y))
        words = emit_compare(b, direction, b.physical(x), b.physical(y))
        start = b.scalar(all_words, np.dtype(bool))
        return b.emit(f"stablehlo.reduce({words} init: {start}) applies stablehlo.{'and' if all_words else 'or'} across "
                      f"dimensions = {list(range(len(out.shape), len(words.aval.shape)))}", words, start, out=out)

    return numbers.with_rule(out_type=out_type, lower=lower, lowers_keys=True)


eq_p = _equality("eq", "EQ", np.equal, True)
ne_p = _equality("ne", "NE", np.not_equal, False)
lt_p = _comparison("lt", "LT", ORDERED, np.less)
le_p = _comparison("le", "LE", ORDERED, np.less_equal)
gt_p = _comparison("gt", "GT", ORDERED, np.greater)
ge_p = _comparison("ge", "GE", ORDERED, np.greater_equal)
eq_to_p = _comparison("eq_to", "EQ", FLOAT, lambda x, y: _total_key(x) == _total_key(y), total=True)
le_to_p = _comparison("le_to", "LE", FLOAT, lambda x, y: _total_key(x) <= _total_key(y), total=True)
lt_to_p = _comparison("lt_to", "LT", FLOAT, lambda x, y: _total_key(x) < _total_key(y), total=True)
is_finite_p = elementwise("is_finite", "stablehlo.is_finite", accepts=FLOAT, jvp=ZERO, reference=np.isfinite, result=boolean,
                          exact=True)


def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x == y``, as booleans. Raises TypeError if dtypes differ or shapes do not fit.

    Source: StableHLO `compare`.

    >>> lax.eq(jnp.array([1, 2]), jnp.array([1, 3]))
    Array([ True, False], dtype=bool)
    """
    return apply(eq_p, x, y)


def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x != y``, as booleans. Raises TypeError if dtypes differ or shapes do not fit.

    Source: StableHLO `compare`.

    >>> lax.ne(jnp.array([1, 2]), jnp.array([1, 3]))
    Array([False,  True], dtype=bool)
    """
    return apply(ne_p, x, y)


def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x < y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ.

    Source: StableHLO `compare`.

    >>> lax.lt(jnp.array([1, 3]), jnp.array([2, 2]))
    Array([ True, False], dtype=bool)
    """
    return apply(lt_p, x, y)


def le(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x <= y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ.

    Source: StableHLO `compare`.

    >>> lax.le(jnp.array([1, 3]), jnp.array([2, 2]))
    Array([ True, False], dtype=bool)
    """
    return apply(le_p, x, y)


def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x > y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ.

    Source: StableHLO `compare`.

    >>> lax.gt(jnp.array([1, 3]), jnp.array([2, 2]))
    Array([False,  True], dtype=bool)
    """
    return apply(gt_p, x, y)


def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >= y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ.

    Source: StableHLO `compare`.

    >>> lax.ge(jnp.array([1, 2]), jnp.array([2, 2]))
    Array([False,  True], dtype=bool)
    """
    return apply(ge_p, x, y)


def is_finite(x: ArrayLike) -> Array:
    """Elementwise: neither infinite nor NaN. Raises TypeError unless ``x`` is real floating. Source: StableHLO `is_finite`.

    >>> lax.is_finite(jnp.array([1., jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    return apply(is_finite_p, x)
