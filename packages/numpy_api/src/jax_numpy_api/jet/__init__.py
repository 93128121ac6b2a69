"""Taylor-mode differentiation: derivatives of any order along a curve, in one pass. See `trace` for how it works.

``trace``     a trace whose values are truncated power series
``rules``     series of sums, products and quotients
``programs``  series through primitives that hold programs
"""
from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.compat import linear_util
from jax_core.representation import dtypes, tree
from jax_core.representation.arguments import takes
from jax_core.representation.aval import get_aval
from jax_core.representation.primitive import Primitive, Zero
from jax_core.representation.typing import PyTree
from jax_core.traces.structural import convert_element_type_p, instantiate
from jax_core.transformations.forward import has_tangent

from . import rules as _rules  # fills tables of `trace`, as `programs` does
from .programs import jet_flat
from .trace import JetTrace, JetTracer, jet_rules, over, settle, times

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef

__all__ = ["JetTrace", "JetTracer", "ZeroSeries", "ZeroTerm", "call_param_updaters", "def_comp", "def_deriv", "deflinear",
           "defzero", "deriv_prop", "fact", "jet", "jet2", "jet_fun", "jet_rules", "jet_subtrace",
           "linear_prop", "traceable", "zero_prop", "zero_series", "zero_term"]


class ZeroTerm:
    """A coefficient that is zero: stands in a series in place of an array."""


class ZeroSeries:
    """A series whose coefficients are all zero: stands in place of a list of them."""


zero_term = ZeroTerm()
zero_series = ZeroSeries()
call_param_updaters: dict = {}
"""Kept for code that registers here; programs are expanded as they are, and no parameter needs an update."""


def fact(n: int) -> int:
    """``n!``

    >>> from jax.experimental import jet
    >>> jet.fact(5)
    120
    """
    return math.factorial(n)


def jet(fun: Callable[..., PyTree], primals: Sequence[PyTree], series: Sequence[object], factorial_scaled: bool = True,
        **_: Any) -> tuple[Any, Any]:
    """Value and higher derivatives of ``fun`` at the start of a curve, all in one pass of Taylor mode.

    For a curve ``x(t)`` with ``x(0) = primals[i]`` and derivatives ``series[i]``, these are the value and the derivatives of
    ``fun(x(t))`` at ``t = 0``. The cost grows with the square of the order, where nested `jvp` doubles for each order.
    For the derivatives of a function of one variable take the curve ``x + t``, whose series is ``[1, 0, 0, ...]``.

    Args:
      fun: a function of arrays, and pytrees of them.
      primals: its arguments.
      series: for each argument the derivatives of orders 1, 2, ... K, as a list of arrays of its shape. Where an argument
        is a pytree, each leaf has such a list. `zero_series` and `zero_term` stand for zeros.
      factorial_scaled: series hold derivatives; if false, coefficients of the powers of t (derivatives over factorials).

    Returns:
      ``fun(*primals)``, and the same structure with the list of K derivatives at each leaf.

    Raises:
      ValueError: series have different lengths, or are not of the structure and shapes of the primals.
      TypeError: an argument is not an array.

    Sources: Griewank, Walther, "Evaluating Derivatives", 2nd ed., chapter 13; Faa di Bruno's formula.

    >>> from jax.experimental.jet import jet
    >>> value, derivatives = jet(jnp.sin, (0.0,), ((1.0, 0.0, 0.0),))  # along the line x = t
    >>> [d.item() for d in derivatives]
    [1.0, 0.0, -1.0]
    """
    if len(primals) != len(series):
        raise ValueError(f"jet: {len(primals)} primals and {len(series)} series; give one series for each argument")
    leaves, in_tree = tree.flatten(tuple(primals))
    rows = _leaf_series(in_tree, tuple(series))
    order = _common_order(rows)
    leaves = [_differentiable(i, x, row) for i, (x, row) in enumerate(zip(leaves, rows))]
    terms = [_read_series(i, x, row, factorial_scaled) for i, (x, row) in enumerate(zip(leaves, rows))]
    structure: list = []

    def flat(*xs):
        outs, out_tree = tree.flatten(fun(*tree.unflatten(in_tree, xs)))
        structure[:] = [out_tree]
        return outs
    outs, out_terms = jet_flat(flat, leaves, terms, order)
    rows_out = [_write_series(x, t, order, factorial_scaled) for x, t in zip(outs, out_terms)]
    return tree.unflatten(structure[0], outs), tree.unflatten(structure[0], rows_out)


jet2 = partial(jet, factorial_scaled=False)
jet2.__doc__ = """As `jet`, of Taylor coefficients: not scaled by factorials.

>>> from jax.experimental import jet
>>> [float(c) for c in jet.jet2(jnp.exp, (0.,), ([1., 0., 0.],))[1]]  # 1, 1 / 2, 1 / 6
[1.0, 0.5, 0.1666666716337204]
"""


def _is_row(x: Any) -> bool:
    return isinstance(x, (list, tuple, ZeroSeries))


def _leaf_series(in_tree, series) -> list:
    """The series of each leaf."""
    rows: list = []
    for i, (part, given) in enumerate(zip(tree.treedef_children(in_tree), series)):
        if isinstance(given, ZeroSeries):
            rows += [given] * part.num_leaves
        elif tree.treedef_is_leaf(part) and part.num_leaves == 1:
            if not _is_row(given):
                raise TypeError(f"jet: series[{i}] must be a list with one array for each order, got {given!r}")
            rows.append(given)
        else:
            try:
                rows += part.flatten_up_to(given)
            except (ValueError, TypeError) as e:
                raise ValueError(f"jet: series[{i}] must have the structure of primals[{i}], {part}, with a list of "
                                 f"arrays at each leaf: {e}") from None
    return rows


def _common_order(rows) -> int:
    orders = {len(row) for row in rows if not isinstance(row, ZeroSeries)}
    if len(orders) > 1:
        raise ValueError(f"jet: jet terms have inconsistent lengths for different arguments: {sorted(orders)}; give each "
                         "argument as many derivatives, zeros included")
    return orders.pop() if orders else 0


def _differentiable(i, x, row):
    """An integer with a series as a float, as it moves along a curve."""
    try:
        aval = get_aval(x)
    except TypeError:
        raise TypeError(f"jet: primal value at position {i} is not an array but {type(x).__name__}") from None
    if isinstance(row, ZeroSeries) or has_tangent(aval) or not len(row):
        return x
    return convert_element_type_p.bind(x, new_dtype=dtypes.to_inexact_dtype(aval.dtype), weak_type=aval.weak_type, sharding=None)


def _read_series(i, x, row, scaled):
    """Coefficients of powers of t for the series a user gave."""
    if isinstance(row, ZeroSeries):
        return None
    terms: list = []
    for k, term in enumerate(row, 1):
        if isinstance(term, ZeroTerm):
            terms.append(None)
            continue
        if np.shape(term) not in ((), np.shape(x)):
            raise ValueError(f"jet: the derivative of order {k} at position {i} has shape {np.shape(term)}, its primal "
                             f"{np.shape(x)}; shapes must be equal")
        term = settle(term, x)
        terms.append(over(term, math.factorial(k)) if scaled else term)
    return terms


def _write_series(x, terms, order, scaled) -> list:
    if not has_tangent(get_aval(x)):  # an integer or truth value; its derivatives are zero where it does not jump
        return [np.zeros(np.shape(x), dtypes.to_inexact_dtype(get_aval(x).dtype))] * order
    if terms is None:
        return [instantiate(Zero.of(x))] * order
    return [instantiate(Zero.of(x)) if t is None else times(t, math.factorial(k)) if scaled else t
            for k, t in enumerate(terms, 1)]


# -- rules of users --------------------------------------------------------------------------------------------------------

def _zeros_like(outs, order):
    return [instantiate(Zero.of(outs))] * order


@takes(prim=Primitive)
def zero_prop(prim: Primitive, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    """The rule of a primitive that is constant between jumps: the derivatives are zero.

    >>> from jax.experimental import jet
    >>> jax.tree.map(float, jet.zero_prop(lax.sign_p, (2.,), ([1., 5.],)))
    (1.0, [0.0, 0.0])
    """
    out = prim.bind(*primals_in, **params)
    order = len(series_in[0])
    return out, [_zeros_like(x, order) for x in out] if prim.multiple_results else _zeros_like(out, order)


@takes(prim=Primitive)
def linear_prop(prim: Primitive, primals_in: Sequence[object], series_in: Sequence[object], **params: Any) -> tuple[Any, Any]:
    """The rule of a primitive that is linear in all operands together: derivatives go through it order by order.

    >>> from jax.experimental import jet
    >>> jax.tree.map(float, jet.linear_prop(lax.neg_p, (2.,), ([1., 5.],)))
    (-2.0, [-1.0, -5.0])
    """
    out = prim.bind(*primals_in, **params)
    rows = [prim.bind(*terms, **params) for terms in zip(*series_in)]
    return out, [list(column) for column in zip(*rows)] if prim.multiple_results else rows


@takes(prim=Primitive)
def deriv_prop(prim: Primitive, deriv: Callable, primals_in: Sequence[Any], series_in: Sequence[Any]) -> tuple[Any, Any]:
    """The rule of a function of one variable whose first derivative is ``deriv``: ``y' = deriv(x) x'``.

    >>> from jax.experimental import jet
    >>> jax.tree.map(float, jet.deriv_prop(lax.sin_p, jnp.cos, (0.,), ([1., 0.],)))
    (0.0, [1.0, 0.0])
    """
    x, = primals_in
    terms, = series_in
    out = prim.bind(x)
    order = len(terms)
    if order == 0:
        return out, []
    curve = lambda z, dz: deriv(z) * dz
    first, rest = jet(curve, (x, terms[0]), (list(terms[:-1]), list(terms[1:])))
    return out, [first, *rest]


def defzero(prim: Primitive) -> None:
    """Declare ``prim`` constant between jumps.

    >>> from jax.experimental import jet
    >>> from jax.extend.core import Primitive
    >>> round_p = Primitive("round_of_jet_example")
    >>> _ = round_p.def_impl(jnp.round)
    >>> _ = round_p.def_abstract_eval(lambda x: x)
    >>> jet.defzero(round_p)
    >>> jax.tree.map(float, jet.jet(round_p.bind, (3.2,), ([1., 5.],)))
    (3.0, [0.0, 0.0])
    """
    jet_rules[prim] = partial(zero_prop, prim)


def deflinear(prim: Primitive) -> None:
    """Declare ``prim`` linear in all operands together.

    >>> from jax.experimental import jet
    >>> from jax.extend.core import Primitive
    >>> double_p = Primitive("double_of_jet_example")
    >>> _ = double_p.def_impl(lambda x: 2 * x)
    >>> _ = double_p.def_abstract_eval(lambda x: x)
    >>> jet.deflinear(double_p)
    >>> jet.jet(double_p.bind, (3.,), ([1., 5.],))[1]
    [2.0, Array(10., dtype=float32, weak_type=True)]
    """
    jet_rules[prim] = partial(linear_prop, prim)


def def_deriv(prim: Primitive, deriv: Callable) -> None:
    """Declare ``prim``, a function of one variable, by its first derivative.

    >>> from jax.experimental import jet
    >>> from jax.extend.core import Primitive
    >>> square_p = Primitive("square_of_jet_example")
    >>> _ = square_p.def_impl(lambda x: x * x)
    >>> _ = square_p.def_abstract_eval(lambda x: x)
    >>> jet.def_deriv(square_p, lambda x: 2 * x)
    >>> jax.tree.map(float, jet.jet(square_p.bind, (3.,), ([1., 0.],))[1])
    [6.0, 2.0]
    """
    jet_rules[prim] = partial(deriv_prop, prim, deriv)


def def_comp(prim: Primitive, comp: Callable, **kwargs: Any) -> None:
    """Declare ``prim`` by a function of arrays that computes the same and can be expanded.

    >>> from jax.experimental import jet
    >>> from jax.extend.core import Primitive
    >>> cube_p = Primitive("cube_of_jet_example")
    >>> _ = cube_p.def_impl(lambda x: x ** 3)
    >>> _ = cube_p.def_abstract_eval(lambda x: x)
    >>> jet.def_comp(cube_p, lambda x: x * x * x)
    >>> jax.tree.map(float, jet.jet(cube_p.bind, (2.,), ([1., 0.],))[1])
    [12.0, 12.0]
    """
    jet_rules[prim] = partial(jet, comp, **kwargs)


# -- for code that composes wrapped functions (`jax.extend.linear_util`); series hold coefficients of powers -----------------

@linear_util.transformation2
def jet_subtrace(f: Callable, order: int, primals: Sequence[Any], series: Sequence[Any]) -> tuple[list, list]:
    """Values and coefficients of a flat function; `zero_series` where all are zero."""
    terms = [None if isinstance(row, ZeroSeries) else [None if isinstance(t, ZeroTerm) else settle(t, x) for t in row]
             for x, row in zip(primals, series)]
    outs, out_terms = jet_flat(f, primals, terms, order)
    return outs, [zero_series if t is None else [zero_term if c is None else c for c in t] for t in out_terms]


@linear_util.transformation2
def jet_fun(f: Callable, order: int, primals: Sequence[object], series: Sequence[object]) -> tuple[tuple, list]:
    """What `jet_subtrace` made of a flat function, with arrays in place of symbolic zeros."""
    outs, out_series = f(order, primals, series)
    rows = [[zero_term] * order if isinstance(row, ZeroSeries) else row for row in out_series]
    return tuple(outs), [[instantiate(Zero.of(x)) if isinstance(t, ZeroTerm) else t for t in row] for x, row in zip(outs, rows)]


@linear_util.transformation_with_aux2
def traceable(f: Callable, store: Any, in_tree: PyTreeDef, *primals_and_series: Any) -> list:
    """A function of ``(primals, series)`` as a flat one; the structure of its result goes to the store."""
    leaves, out_tree = tree.flatten(f(*tree.unflatten(in_tree, primals_and_series)))
    store.store(out_tree)
    return leaves
