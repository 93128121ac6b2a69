"""What the distributions share: location and scale, support, densities from log densities, distribution functions of both
tails and their inverses.

A distribution states its formulas for location 0 and scale 1 inside its support. Here they become functions of users'
arguments: outside of the support densities are 0, beyond it distribution functions 0 or 1; parameters that are no
parameters give NaN. Formulas are evaluated inside the support only, so that derivatives are right outside, too.
"""
from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import numpy as jnp
from ...numpy.promotion import convert, in_float32, promote_args_inexact
from .examples import EXAMPLES

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

_WHAT = {
    "pdf": "Density", "logpdf": "Logarithm of the density", "pmf": "Probability", "logpmf": "Logarithm of the probability",
    "cdf": "Distribution function", "logcdf": "Logarithm of the distribution function",
    "sf": "Survival function, one minus the distribution function", "logsf": "Logarithm of the survival function",
    "ppf": "Quantile: inverse of the distribution function", "isf": "Inverse of the survival function",
}
_FIRST = {"x": "where, any shape", "k": "where, any shape; other than whole numbers have no probability", "mu": "parameter of the distribution"}


def public(name: str, what: str, parameters: list[str], fun: Callable[..., PyTree]) -> Callable[..., Array]:
    """``fun`` as one compiled call with a signature; ``"loc"`` and ``"scale"`` get their defaults."""
    defaults = {"loc": 0, "scale": 1}
    signature = inspect.Signature([
        inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(p, inspect.Parameter.empty),
                          annotation="ArrayLike")
        for p in parameters], return_annotation="Array")
    compiled, count = inlined(fun, wide_numbers=True), len(parameters)

    def call(*args: Any, **kwargs: Any) -> Array:
        if kwargs or len(args) != count:
            args = _by_position(call, signature, args, kwargs)
        return compiled(*args)

    call.__name__ = call.__qualname__ = what
    call.__module__ = _distribution()  # by which it is found when it is pickled
    setattr(call, "__signature__", signature)
    call.__doc__ = _docstring(name, what, parameters)
    return call


def _by_position(fun: Callable, signature: inspect.Signature, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """The arguments of a call in the order of the signature, with defaults."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        name = f"{fun.__module__.rpartition('.')[2]}.{fun.__name__}"
        raise TypeError(f"{name}: {error}; its arguments are {', '.join(signature.parameters)}") from None
    bound.apply_defaults()
    return bound.args


def _distribution() -> str:
    """The module outside of this one that is being imported: that of a distribution."""
    frame = sys._getframe(1)
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals["__name__"]


def _docstring(name: str, what: str, parameters: list[str]) -> str:
    first, *shapes = [p for p in parameters if p not in ("loc", "scale")]
    known = f"  {first}: {'probabilities, any shape' if what in ('ppf', 'isf') else _FIRST[first]}."
    if shapes:
        known += f"\n  {', '.join(shapes)}: parameters of the distribution."
    tail = [p for p in parameters if p in ("loc", "scale")]
    if tail:
        known += f"\n  {', '.join(tail)}: what standard values are shifted{' and multiplied' if len(tail) == 2 else ''} by."
    lines = [f"{_WHAT[what]} of the {name} distribution.", f"Args:\n{known}",
             "All are broadcast against each other. The result has their shape and floating dtype; it is NaN where a parameter is\n"
             "not allowed.", f"Source: `scipy.stats`, {what} of the {name} distribution."]
    if (name, what) in EXAMPLES:
        call, result = EXAMPLES[name, what]
        lines.append(f">>> jax.scipy.stats.{call}\n{result}")
    return "\n\n".join(lines)


def promoted(name: str, *args: ArrayLike) -> list:
    """Arguments in one floating dtype. Raises TypeError for complex numbers, which have no order."""
    reals = promote_args_inexact(name, *args)
    if dtypes.issubdtype(dtypes.dtype(reals[0]), np.complexfloating):
        raise TypeError(f"jax.scipy.stats.{name} takes real numbers, got {', '.join([str(dtypes.dtype(x)) for x in args])}; take the real part first")
    return reals


def nan_unless(ok: Any, value: ArrayLike) -> Any:
    """``value``; where ``ok`` does not hold it and its derivatives are NaN."""
    return value if ok is True else value * jnp.where(ok, 1.0, np.nan)


def finite(z: Array) -> Array:
    """``z`` with the largest number for infinity, so that a logarithm of it can be subtracted from it."""
    return jnp.minimum(z, float(dtypes.finfo(z.dtype).max))


def _chosen(at, direct, point, inside, shapes, otherwise):
    """``direct(point, *shapes)`` where ``at`` holds, else ``otherwise(point, *shapes)``; neither is evaluated at the other's points, where its
    slopes may be infinite."""
    there = direct(jnp.where(at, point, inside), *[jnp.where(at, s, 0.5) for s in shapes])
    return jnp.where(at, there, otherwise(jnp.where(at, inside, point), *[jnp.where(at, 0.5, s) for s in shapes]))


def power_at_end(x: Array, power: Array) -> Array:
    """``x**power`` for ``x`` 0 or 1, with its slopes. Those of a negative power are the ones of a pole of first order, which costs less."""
    pole = power < 0
    return jnp.where(pole, 1 + power - power / jnp.where(pole, x, 1.0), x ** jnp.where(pole, 0.0, power))


End = Union[ArrayLike, Callable[..., Any]]  # of a support: a number, or a function of the shape parameters


class Continuous:
    """A continuous distribution.

    Args:
      name: for docstrings and errors.
      shapes: names of the shape parameters.
      low, high: ends of the support, numbers or functions of the shape parameters.
      inside: a point inside the support.
      valid: tells where shape parameters are allowed.
      closed: the formulas have slopes at the ends of the support, which then count there.
      formulas: of ``(z, *shapes)`` inside the support: ``logpdf``, and what is wanted of ``cdf, sf, logcdf, logsf``, and of
        ``(q, *shapes)``: ``ppf, isf``. Missing ones are derived: logcdf = log(cdf), sf = 1 - cdf, isf(q) = ppf(1 - q), ...
      analytic: the functions whose formulas hold for complex numbers too.
      edge, direct: where the slope of the logarithm is infinite, and the density as a product, which has a slope there.
    """

    def __init__(self, name: str, shapes: str = "", *, low: End = -np.inf, high: End = np.inf,
                 inside: End = 0.0, valid: Callable | None = None, loc_scale: bool = True, closed: bool = False,
                 analytic: str = "", edge: Callable | None = None, direct: Callable | None = None, **formulas: Callable):
        self.analytic = analytic.split()
        self.name, self.shapes, self.formulas = name, shapes.split(), formulas
        self.ends, self.inside, self.valid = (low, high), inside, valid
        self.closed = closed
        self.edge, self.direct = edge, direct
        self.tail = ["loc", "scale"] if loc_scale else []

    def __call__(self, what: str, first: str = "x") -> Callable:
        """The public function ``what``, whose first parameter is called ``first``."""
        base = what.removeprefix("log") if what in ("logpdf", "logcdf", "logsf") else what
        rule = {"pdf": self._density, "cdf": self._tail, "sf": self._tail, "ppf": self._quantile, "isf": self._quantile}[base]

        def fun(*args):
            reals = (promote_args_inexact if what in self.analytic else promoted)(f"{self.name}.{what}", *args)
            return in_float32(lambda *reals: rule(what, *self._split(reals)), *reals)
        return public(self.name, what, [first, *self.shapes, *self.tail], fun)

    def functions(self, names: str, **first: str) -> list[Callable]:
        """Several public functions; ``first`` names their first parameter where it is not ``x``."""
        return [self(n, first.get(n, "q" if n in ("ppf", "isf") else "x")) for n in names.split()]

    def _split(self, args):
        count = len(self.shapes) + 1
        loc, scale = args[count:] if self.tail else (0, 1)
        shapes = args[1:count]
        ok = True if self.valid is None else self.valid(*shapes)
        if type(scale) not in (int, float):
            ok = (scale > 0) & ok
        elif not scale > 0:
            ok = False
        return jnp.asarray(args[0]), shapes, loc, scale, ok

    def _bounds(self, shapes):
        return [end(*shapes) if callable(end) else end for end in self.ends]

    def _inner(self, z, shapes, low, high, ok):
        """Where ``z`` is in the support (or NaN, or nothing is ``ok``), and ``z`` moved inside where it is not."""
        within = ~(((z < low) | (z > high)) & ok)  # else a cotangent of NaN would end at the selection
        inside = self.inside(*shapes) if callable(self.inside) else self.inside
        return within, jnp.where(within, z, inside)

    def _density(self, what, x, shapes, loc, scale, ok):
        z = (x - loc) / scale
        low, high = self._bounds(shapes)
        within, safe = self._inner(z, shapes, low, high, ok)

        def _of(safe, *shapes):
            value = self.formulas["logpdf"](safe, *shapes) - jnp.log(scale)
            return jnp.exp(value) if what == "pdf" else value
        if what == "pdf" and self.edge is not None and self.direct is not None:
            inside = self.inside(*shapes) if callable(self.inside) else self.inside
            value = _chosen(self.edge(safe, *shapes), lambda *args: self.direct(*args) / scale, safe, inside, shapes, _of)
        else:
            value = _of(safe, *shapes)
        value = jnp.where(within, value, 0.0 if what == "pdf" else -np.inf)
        return convert(nan_unless(ok & ~jnp.isnan(z), value), x.dtype)

    def _formula(self, what):
        """The formula for ``what``, derived from what is there."""
        f = self.formulas
        if what in f:
            return f[what]
        if what == "sf":
            cdf = self._formula("cdf")
            return lambda *args: 1 - cdf(*args)
        if what == "cdf":
            return lambda *args: jnp.exp(f["logcdf"](*args))
        plain = self._formula(what.removeprefix("log"))
        return lambda *args: jnp.log(plain(*args))

    def _tail(self, what, x, shapes, loc, scale, ok):
        z = (x - loc) / scale
        low, high = self._bounds(shapes)
        below, above = (0.0, 1.0) if what.endswith("cdf") else (1.0, 0.0)
        if what.startswith("log"):
            below, above = (-np.inf if v == 0 else 0.0 for v in (below, above))
        # at an end where the value is -inf the slope is the formula's, at others 0, as the formula may have none there
        under = z < low if self.closed or below == -np.inf else z <= low
        over = z > high if self.closed or above == -np.inf else z >= high
        under, over = under & ok, over & ok  # as in `_inner`
        inside = self.inside(*shapes) if callable(self.inside) else self.inside
        value = jnp.where(under, below, jnp.where(over, above, self._formula(what)(jnp.where(under | over, inside, z), *shapes)))
        return convert(nan_unless(ok & ~jnp.isnan(z), value), x.dtype)

    def _quantile(self, what, q, shapes, loc, scale, ok):
        f = self.formulas
        within = True if jnp.iscomplexobj(q) else ~((q < 0) | (q > 1))
        safe = q if within is True else jnp.where(within, nan_unless(within, q), 0.5)  # for the slope, which the selection alone would make 0
        z = f[what](safe, *shapes) if what in f else f["ppf"](1 - safe, *shapes)
        return convert(nan_unless(ok & within, z * scale + loc), q.dtype)


class Discrete:
    """A distribution on whole numbers.

    Args:
      shapes: names of the parameters.
      logpmf: of ``(k, *shapes)``, for whole ``k`` in the support.
      low, high: ends of the support, numbers or functions of the parameters.
      valid: tells where parameters are allowed.
      edge, direct: as in `Continuous`; the former is of the parameters alone.
    """

    def __init__(self, name: str, shapes: str, logpmf: Callable, *, low: End = 0, high: End = np.inf,
                 valid: Callable | None = None, edge: Callable | None = None, direct: Callable | None = None):
        self.name, self.shapes, self.log_probability = name, shapes.split(), logpmf
        self.ends, self.valid = (low, high), valid
        self.edge, self.direct = edge, direct

    def functions(self) -> list[Callable]:
        """pmf and logpmf."""
        def make(what):
            def fun(*args):
                return in_float32(lambda *reals: self._probability(what, *reals), *promoted(f"{self.name}.{what}", *args))
            return public(self.name, what, ["k", *self.shapes, "loc"], fun)
        return [make("pmf"), make("logpmf")]

    def _probability(self, what, k, *parameters):
        *shapes, loc = parameters
        k = jnp.asarray(k - loc)
        low, high = (end(*shapes) if callable(end) else end for end in self.ends)
        ok = (True if self.valid is None else self.valid(*shapes)) & ~jnp.isnan(k)  # as in `Continuous`
        outside = ((k < low) | (k > high) | (k == np.inf) | (k != jnp.floor(k))) & ok
        inside = jnp.where(outside, low, k)
        moved = (inside < k) | (inside > k)  # where `outside` is, by another formula; see `apart`
        shapes = [jnp.where(moved, 0.5, s) for s in shapes]  # so that no slope there is infinite

        def _of(k, *shapes):
            value = self.log_probability(k, *shapes)
            return jnp.exp(value) if what == "pmf" else value
        if what == "pmf" and self.edge is not None and self.direct is not None:
            value = _chosen(self.edge(*shapes), self.direct, inside, low, shapes, _of)
        else:
            value = _of(inside, *shapes)
        apart = jnp.abs(inside - k) > 0  # the same once more: a mask with one more reader would be a kernel of its own
        value = jnp.where(apart, 0.0 if what == "pmf" else -np.inf, value)
        return convert(nan_unless(ok, value), k.dtype, k.weak_type)  # formulas may hold numbers of the dtype
