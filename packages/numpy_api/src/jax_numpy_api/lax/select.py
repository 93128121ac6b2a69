"""Choice by a condition: `select_n` (one of n cases for each element) and `clamp`.

The cotangent of a case is the result's cotangent where that case was chosen, and zero elsewhere. `clamp` passes tangents
where the operand lies within its bounds; where a bound applies, it is the bound's tangent that passes.

Source: StableHLO specification, `select`, `clamp`.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes, partial_sums
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.marks import ELEMENTWISE
from jax_core.representation.primitive import Primitive, Zero, is_linear, none
from jax_core.representation.traits import Kind, Reach, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces import structural

from .bits import and_p, or_p
from .compare import emit_compare, gt_p, lt_p
from .nary import (
    ORDERED,
    as_operand,
    check_same_dtypes,
    common_shape,
    constant,
    full_operands,
    like,
    nary_type,
    quiet,
    unbroadcast,
)

# -- select_n ------------------------------------------------------------------------------------------------------------

def _select_type(which, *cases):
    if not cases:
        raise TypeError("lax.select_n must have at least one case")
    if which.dtype != bool and not dtypes.issubdtype(which.dtype, np.integer):
        raise TypeError(f"lax.select_n: `which` must be of booleans or integers, got {which.str_short()}.")
    if which.dtype == bool and len(cases) > 2:
        raise TypeError(f"lax.select_n: a boolean `which` chooses between at most 2 cases, got {len(cases)}; use an integer "
                        "`which`.")
    check_same_dtypes("select_n", cases)
    shape = common_shape("select_n", cases)
    if which.shape and shape and which.shape != shape:
        raise TypeError(f"lax.select_n: `which` must be a scalar or have the shape of the cases, got {which.str_short()} and "
                        f"cases of shape {shape}.")
    return ShapedArray(shape or which.shape, cases[0].dtype, all(c.weak_type for c in cases))


def _select_jvp(primals, tangents):
    which, *cases = primals
    out = select_n_p.bind(*primals)
    if all(isinstance(t, Zero) for t in tangents[1:]):
        return out, Zero.of(out)
    tangents = [constant(0, x) if isinstance(t, Zero) else t for t, x in zip(tangents[1:], cases)]
    if np.shape(which) != np.shape(out):
        tangents = [like(t, out) for t in tangents]
    return out, select_n_p.bind(which, *tangents)


def _select_transpose(ct, which, *cases):
    if isinstance(ct, Zero):
        return [None, *(ct for _ in cases)]
    zero = constant(0, ct) if partial_sums.of(get_aval(ct)) is partial_sums.NOTHING else structural.zeros(get_aval(ct))
    found: list = [None]
    for i, case in enumerate(cases):
        if is_linear(case):
            chosen = select_n_p.bind(which, *(ct if j == i else zero for j in range(len(cases))))
            found.append(unbroadcast(chosen, case))
        else:
            found.append(None)
    return found


def _select_lower(b, which, *cases):
    out = b.out_avals[0]
    cases = full_operands(b, cases)
    if len(cases) == 1:
        return cases[0]
    if which.aval.shape != out.shape and which.aval.shape:
        which = b.broadcast(which, out.shape)
    if which.aval.dtype == bool:
        return b.emit(f"stablehlo.select {which}, {cases[1]}, {cases[0]}", which, cases[1], cases[0], out=out)
    return _select_tree(b, which, cases, 0)


def _select_tree(b, which, cases, first):
    """Halve the cases by ``which < middle`` until one is left."""
    if len(cases) == 1:
        return cases[0]
    half = len(cases) // 2
    middle = b.full(first + half, which.aval)
    low = emit_compare(b, "LT", which, middle)
    left = _select_tree(b, which, cases[:half], first)
    right = _select_tree(b, which, cases[half:], first + half)
    return b.emit(f"stablehlo.select {low}, {left}, {right}", low, left, right, out=b.out_avals[0])


def _select_reference(which, *cases):
    if len(cases) == 2 and which.dtype == bool:
        return np.where(which, cases[1], cases[0])
    shape = joint_shape(np.shape(which), *map(np.shape, cases))
    which = np.clip(np.asarray(which).astype(np.int64), 0, len(cases) - 1)
    if len(cases) == 1:
        return np.array(np.broadcast_to(cases[0], shape))
    out = np.where(which == 0, cases[0], cases[1])
    for i, case in enumerate(cases[2:], 2):
        out = np.where(which == i, case, out)
    return np.array(np.broadcast_to(out, shape), dtype=np.asarray(cases[0]).dtype)


select_n_p = Primitive(
    "select_n", out_type=_select_type, jvp=_select_jvp, transpose=_select_transpose, batch=ELEMENTWISE,
    lower=_select_lower, reference=_select_reference, exact=True, sums=partial_sums.of_cases,
    traits=Traits(Kind.ELEMENTWISE, chooses=True, reach=Reach.AS_OPERANDS))


def select_n(which: ArrayLike, *cases: Any) -> Array:
    """For each element the one of ``cases`` that ``which`` names.

    Args:
      which: booleans (False: first case, True: second) or integers in [0, number of cases); of the cases' shape, or a scalar.
      *cases: arrays of one shape and dtype.

    Raises:
      TypeError: no cases, or shapes or dtypes do not fit.

    Source: StableHLO `select`.

    >>> lax.select_n(jnp.array([0, 2, 1]), jnp.array([1, 2, 3]), jnp.array([4, 5, 6]), jnp.array([7, 8, 9]))
    Array([1, 8, 6], dtype=int32)
    """
    if not cases:
        raise ValueError("lax.select_n must have at least one case")
    cases = tuple(as_operand("select_n", c, i + 1) for i, c in enumerate(cases))
    shapes = {c.shape if hasattr(c, "shape") else () for c in cases}
    if len(shapes) > 1:
        raise TypeError(f"lax.select_n: cases must have equal shapes, got {', '.join(str(np.shape(c)) for c in cases)}; "
                        "broadcast them first, or use jax.numpy.where.")
    if np.shape(which) and np.shape(which) not in shapes:
        raise TypeError(f"lax.select_n: `which` must be a scalar or have the shape of the cases, got shape {np.shape(which)} and "
                        f"cases of shape {np.shape(cases[0])}.")
    return select_n_p.bind(which, *cases)


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """For each element ``on_true`` where ``pred``, else ``on_false``.

    Args:
      pred: booleans; of the shape of the others, or a scalar.
      on_true, on_false: arrays of one shape and dtype.

    Raises:
      TypeError: shapes or dtypes do not fit.

    Source: StableHLO `select`.

    >>> lax.select(jnp.array([True, False]), jnp.array([1, 2]), jnp.array([10, 20]))
    Array([ 1, 20], dtype=int32)
    """
    return select_n(pred, on_false, on_true)


# -- clamp ---------------------------------------------------------------------------------------------------------------

def _masked(g, out, chosen):
    return select_n_p.bind(chosen, constant(0, g), like(g, out))


def _inside(low, x, high):
    """Whether ``low < x < high``."""
    return and_p.bind(gt_p.bind(x, low), lt_p.bind(x, high))


def _clamp_lower(b, low, x, high):
    if x.aval.shape != b.out_avals[0].shape or low.aval.shape != high.aval.shape:
        low, x, high = full_operands(b, (low, x, high))
    return b.emit(f"stablehlo.clamp {low}, {x}, {high}", low, x, high, out=b.out_avals[0])


clamp_p = Primitive(
    "clamp", out_type=nary_type("clamp", ORDERED),
    jvp=(lambda g, out, low, x, high: _masked(g, out, _inside(x, low, high)),
         lambda g, out, low, x, high: _masked(g, out, _inside(low, x, high)),
         lambda g, out, low, x, high: _masked(g, out, or_p.bind(lt_p.bind(high, x), lt_p.bind(high, low)))),
    transpose=none("lax.clamp is not linear, so it has no transpose"), batch=ELEMENTWISE, lower=_clamp_lower,
    reference=quiet(lambda low, x, high: np.minimum(np.maximum(low, x), high)), exact=True)


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """``x`` brought into ``[min, max]``.

    Args:
      min, max: bounds of the dtype of ``x``; of its shape, or scalars. Where ``min > max`` the result is ``max``.

    Raises:
      TypeError: shapes or dtypes do not fit.

    Source: StableHLO `clamp`.

    >>> lax.clamp(0., jnp.array([-1., 0.5, 2.]), 1.)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    min, x, max = (as_operand("clamp", v, i) for i, v in enumerate((min, x, max)))
    for bound, name in ((min, "min"), (max, "max")):
        if np.shape(bound) not in ((), np.shape(x)):
            raise TypeError(f"lax.clamp: {name} must be a scalar or have the shape of the operand, got shape {np.shape(bound)} "
                            f"for an operand of shape {np.shape(x)}.")
    return clamp_p.bind(min, x, max)
