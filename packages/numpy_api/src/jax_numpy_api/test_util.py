"""jax.test_util: derivatives compared with finite differences.

A random direction is enough: a wrong derivative agrees with the difference along it with probability zero.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.representation import dtypes, tree
from jax_core.transformations import autodiff

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import ArrayLike, PyTree

_TOLERANCE = {"bfloat16": 1e-1, "float16": 6e-2, "float32": 2e-3, "float64": 1e-5}
_FORWARD = 3  # times the tolerance: each element of a tangent is compared, in reverse mode one sum
_CLOSE = {"bfloat16": 1e-2, "float16": 1e-3, "float32": 1e-6, "float64": 1e-15}
_STEP = {"bfloat16": 2e-2, "float16": 1e-2, "float32": 5e-3, "float64": 1e-4}


def _precision(x: Any) -> str:
    dtype = dtypes.dtype(x)
    if dtypes.issubdtype(dtype, np.complexfloating):
        return "float64" if dtype.itemsize == 16 else "float32"
    return dtype.name if dtypes.issubdtype(dtype, np.floating) else "float32"


def _loosest(table: dict, pytree: Any) -> float:
    return max((table.get(_precision(x), 1e-2) for x in tree.leaves(pytree)), default=1e-5)


Tolerance = float | Mapping[Any, float] | None
"""One number, numbers by dtype (the default serves dtypes that are not among them), or the default."""


def _tolerance(given: Tolerance, pytree: Any) -> float:
    """The tolerance for values of the dtypes in ``pytree``, the loosest one if they differ."""
    if isinstance(given, Mapping):
        by_dtype = {np.dtype(dtype): value for dtype, value in given.items()}
        return max((by_dtype.get(dtypes.dtype(x), _loosest(_TOLERANCE, x)) for x in tree.leaves(pytree)), default=1e-5)
    return _loosest(_TOLERANCE, pytree) if given is None else given


def _direction(rng: np.random.Generator, x: Any) -> Any:
    """A random direction of unit length; float0 for values that have no tangent."""
    dtype, shape = dtypes.dtype(x), np.shape(x)
    if not dtypes.issubdtype(dtype, np.inexact):
        return np.zeros(shape, dtypes.float0)
    d = rng.standard_normal(shape)
    if dtypes.issubdtype(dtype, np.complexfloating):
        d = d + 1j * rng.standard_normal(shape)
    return np.asarray(d / max(np.linalg.norm(d), 1e-30), dtype)


def _moved(pytree: Any, direction: Any, step: float) -> Any:
    def move(x: Array, d):
        if d.dtype == dtypes.float0:
            return x
        wide = np.complex128 if np.iscomplexobj(x) else np.float64
        return np.asarray(np.asarray(x, wide) + step * np.asarray(d, wide), dtypes.dtype(x))
    return tree.map(move, pytree, direction)


def _differences(f: Callable, args: Any, direction: Any, step: float) -> list[list]:
    """The derivative of each result along ``direction``, once for a short step and once for a long one.

    Two central differences, extrapolated to no step (Richardson, 1911), so that curvature costs ``step**4``. The short step is for
    functions that are steep, the long one for those that round. Low precision has one long difference, and loses by any other.
    """
    def central(h):
        high, low = (tree.leaves(f(*_moved(args, direction, s))) for s in (h, -h))
        return [(np.asarray(x, np.complex128) - np.asarray(y, np.complex128)) / (2 * h) for x, y in zip(high, low)]

    def extrapolated(h):
        return [(4 * x - y) / 3 for x, y in zip(central(h), central(2 * h))]
    return [central(step)] if step > _STEP["float32"] else [extrapolated(step), extrapolated(step / 16)]


def _closest(got: Any, candidates: Sequence[Any]) -> np.ndarray:
    """For each element, the candidate that is closest to ``got``: a wrong derivative is far from all."""
    errors = [np.abs(np.asarray(c) - got) for c in candidates]
    return np.choose(np.argmin(np.nan_to_num(errors, nan=np.inf), axis=0), candidates)


def _inner(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """Real inner product of two flat lists, leaves without tangent left out."""
    return float(sum(np.sum(np.real(np.asarray(x, np.complex128) * np.asarray(y, np.complex128)))
                     for x, y in zip(xs, ys)
                     if getattr(x, "dtype", None) != dtypes.float0 and getattr(y, "dtype", None) != dtypes.float0))


def check_close(xs: PyTree, ys: PyTree, atol: Tolerance = None, rtol: Tolerance = None, err_msg: str = "") -> None:
    """Compare two pytrees, leaf by leaf.

    Args:
      xs, ys: of one structure.
      atol, rtol: tolerances; by default that of the coarser dtype's rounding, and integers must be equal.
      err_msg: is put before what differs.

    Raises:
      AssertionError: two leaves differ in shape, or by more than the tolerance.
      ValueError: the structures differ.

    >>> from jax._src.public_test_util import check_close
    >>> check_close({"a": jnp.float32(1)}, {"a": 1 + 1e-8})
    """
    def compare(x: ArrayLike, y: ArrayLike) -> None:
        inexact = [v for v in (x, y) if dtypes.issubdtype(dtypes.dtype(v), np.inexact)]
        default = max((_CLOSE.get(_precision(v), 1e-1) for v in inexact), default=0.0)
        a, r = ({np.dtype(k): v for k, v in given.items()}.get(dtypes.dtype(x), default) if isinstance(given, Mapping) else
                default if given is None else given for given in (atol, rtol))
        wide = _wide(x), _wide(y)
        if wide[0].shape != wide[1].shape:
            raise AssertionError(f"check_close: shapes {wide[0].shape} and {wide[1].shape}. {err_msg}".rstrip())
        np.testing.assert_allclose(*wide, atol=a, rtol=r, err_msg=err_msg)

    tree.map(compare, xs, ys)


def _wide(x: Any) -> np.ndarray:
    """``x`` in a dtype in which NumPy compares: inexact ones in 64 bits."""
    value, dtype = np.asarray(x), dtypes.dtype(x)
    if not dtypes.issubdtype(dtype, np.inexact):
        return value
    return value.astype(np.complex128 if dtypes.issubdtype(dtype, np.complexfloating) else np.float64)


def check_jvp(f: Callable[..., PyTree], f_jvp: Callable, args: Sequence[object], atol: Tolerance = None,
              rtol: Tolerance = None, eps: float = 1e-4, err_msg: str = "") -> None:
    """Compare ``f_jvp(primals, tangents)`` with a central difference of ``f`` in a random direction.

    Args:
      atol, rtol: tolerances, or tolerances by dtype; default by the lowest precision among arguments and results. Three times
        as much is allowed.
      eps: step of the difference; a default by precision is used if it is larger.

    Raises:
      AssertionError: they differ.

    >>> jax.test_util.check_jvp(jnp.sin, lambda x, t: jax.jvp(jnp.sin, x, t), (0.5,))
    """
    rng = np.random.default_rng(0)
    direction = tree.map(lambda x: _direction(rng, x), tuple(args))
    value, tangent = f_jvp(tuple(args), direction)
    atol, rtol = _tolerance(atol, (args, value)), _tolerance(rtol, (args, value))
    step = max(eps or 0.0, _loosest(_STEP, (args, value)))
    for got, *wanted in zip(tree.leaves(tangent), *_differences(f, tuple(args), direction, step)):
        if getattr(got, "dtype", None) != dtypes.float0:
            got = np.asarray(got, np.complex128)
            np.testing.assert_allclose(got, _closest(got, wanted), err_msg=f"jvp tangent {err_msg}", atol=_FORWARD * atol,
                                       rtol=_FORWARD * rtol)


def check_vjp(f: Callable[..., PyTree], f_vjp: Callable, args: Sequence[object], atol: Tolerance = None,
              rtol: Tolerance = None, eps: float = 1e-4, err_msg: str = "") -> None:
    """Compare ``f_vjp(*primals) -> (value, pullback)`` with a central difference, through a random cotangent.

    Raises:
      AssertionError: they differ.

    >>> jax.test_util.check_vjp(jnp.sin, lambda x: jax.vjp(jnp.sin, x), (0.5,))
    """
    rng = np.random.default_rng(1)
    direction = tree.map(lambda x: _direction(rng, x), tuple(args))
    value, pullback = f_vjp(*args)
    cotangent = tree.map(lambda x: _direction(rng, x), value)
    atol, rtol = _tolerance(atol, (args, value)), _tolerance(rtol, (args, value))
    step = max(eps or 0.0, _loosest(_STEP, (args, value)))
    got = _inner(tree.leaves(pullback(cotangent)), tree.leaves(direction))
    wanted = [_inner(tree.leaves(cotangent), ds) for ds in _differences(f, tuple(args), direction, step)]
    np.testing.assert_allclose(got, _closest(got, wanted), err_msg=f"vjp cotangent projection {err_msg}", atol=atol, rtol=rtol)


def check_grads(f: Callable[..., PyTree], args: Sequence[object], order: int, modes: Sequence[str] = ("fwd", "rev"),
                atol: Tolerance = None, rtol: Tolerance = None, eps: float | None = None) -> None:
    """Compare derivatives of ``f`` up to ``order`` with finite differences, in forward and reverse mode.

    Args:
      f: function of arrays (pytrees) that returns a pytree.
      modes: ``"fwd"``, ``"rev"`` or both; higher orders mix them.
      atol, rtol: tolerances, or tolerances by dtype; default by the lowest precision among arguments and results. Forward mode may
        err by three times as much.

    Raises:
      AssertionError: some derivative is wrong. ValueError: unknown mode.

    >>> jax.test_util.check_grads(jnp.sin, (0.5,), order=2)
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if set(modes) - {"fwd", "rev"}:
        raise ValueError(f"check_grads: modes must be 'fwd' and 'rev', got {modes}")
    _check_grads(f, tuple(args), order, modes, atol, rtol, eps, "")


def _check_grads(f, args, order, modes, atol, rtol, eps, trail):
    if "fwd" in modes:
        name = f"{trail}jvp of "
        push = lambda primals, tangents: autodiff.jvp(f, primals, tangents)
        check_jvp(f, push, args, atol, rtol, eps or 0.0, name)
        if order > 1:
            rng = np.random.default_rng(order)
            direction = tree.map(lambda x: _direction(rng, x), args)
            _check_grads(lambda *xs: autodiff.jvp(f, xs, direction), args, order - 1, modes, atol, rtol, eps, name)
    if "rev" in modes:
        name = f"{trail}vjp of "
        check_vjp(f, lambda *xs: autodiff.vjp(f, *xs), args, atol, rtol, eps or 0.0, name)
        if order > 1:
            rng = np.random.default_rng(order + 1)
            value, _ = autodiff.vjp(f, *args)
            cotangent = tree.map(lambda x: _direction(rng, x), value)

            def pulled(*xs):
                cts = autodiff.vjp(f, *xs)[1](cotangent)
                return [ct for ct in tree.leaves(cts) if getattr(ct, "dtype", None) != dtypes.float0]
            _check_grads(pulled, args, order - 1, modes, atol, rtol, eps, name)
