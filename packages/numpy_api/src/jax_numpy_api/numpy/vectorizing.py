"""Functions of small arrays made functions of large ones: `vectorize`, `apply_along_axis`, `apply_over_axes`."""
from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any, Callable, Collection, Sequence, cast

import numpy as np

from jax_core.representation.arguments import check_callable, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.vmap import vmap

from .. import lax
from .creation import of_list
from .promotion import as_array, canonical_axis, check_arraylike, check_batch_ranks, shape_of

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

_NAME = r"\w+"
_ARGUMENT = rf"\((?:{_NAME}(?:,{_NAME})*,?)?\)"
_SIGNATURE = re.compile(rf"^(?:{_ARGUMENT}(?:,{_ARGUMENT})*)?->(?:{_ARGUMENT}(?:,{_ARGUMENT})*)?$")


def _parsed(signature: str) -> tuple[list, list]:
    """Names of the core axes of each argument and of each result."""
    if not isinstance(signature, str):
        raise TypeError(f"vectorize: signature must be a string such as '(n),(n)->()', got {signature!r}")
    text = signature.replace(" ", "")
    if not _SIGNATURE.match(text):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    sides = text.split("->")
    taken, given = ([tuple(n for n in group[1:-1].split(",") if n) for group in re.findall(_ARGUMENT, side)] for side in sides)
    return taken, given


def vectorize(pyfunc: Callable, *, excluded: Collection = frozenset(), signature: str | None = None) -> Callable:
    """``pyfunc`` mapped over all axes of its arguments, which broadcast; by `vmap`, so that it is fast.

    Args:
      pyfunc: traceable function of numbers, or with ``signature`` of arrays.
      excluded: positions and names of arguments that are passed on as they are.
      signature: core axes, such as ``"(m,k),(k)->(m)"``; axes before them are mapped over. A number is a name as any other:
        ``"(3)->()"`` takes vectors of any length.

    Returns:
      a function of arrays, or of lists of numbers.

    Raises:
      ValueError: a bad signature, or shapes that do not fit it. TypeError: ``excluded`` holds something else.

    Source: `numpy.vectorize`.

    >>> norm = jnp.vectorize(lambda v: jnp.sqrt(v @ v), signature="(n)->()")
    >>> norm(jnp.array([[3., 4.], [6., 8.]]))
    Array([ 5., 10.], dtype=float32)
    """
    check_callable("jax.numpy.vectorize", pyfunc)
    if any(not isinstance(e, (str, int)) for e in excluded):
        raise TypeError(f"jax.numpy.vectorize: excluded={set(excluded)!r} must hold positions (ints) and names (strings)")
    if any(isinstance(e, int) and e < 0 for e in excluded):
        raise ValueError(f"jax.numpy.vectorize: excluded={set(excluded)!r} holds a negative number; count positions from 0")
    cores = _parsed(signature) if signature is not None else None

    @functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        where = f"on vectorized function with excluded={set(excluded)!r} and signature={signature!r}"
        empty = {i for i, a in enumerate(args) if a is None}  # passed on as they are
        fun, rest = _exclude(pyfunc, args, kwargs, {*excluded, *empty})
        rest = [of_list(a) for a in rest]
        check_arraylike("vectorize", *rest)
        inputs = cores[0] if cores else [()] * (len(rest) + len(empty - set(excluded)))
        left = [i for i in range(len(args)) if i not in excluded]  # the arguments that the signature speaks of
        if len(inputs) != len(rest) + len(empty - set(excluded)):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(rest)} {where}")
        if any(i in empty and core for i, core in zip(left, inputs)):
            raise ValueError(f"Cannot pass None at locations {empty} with signature={signature!r}, which gives them axes")
        inputs = [core for i, core in itertools.zip_longest(left, inputs) if i not in empty]
        args = [as_array(a) for a in rest]
        sizes = _core_sizes(args, inputs, where)
        leads = [a.shape[:a.ndim - len(core)] for a, core in zip(args, inputs)]
        check_batch_ranks("vectorize", *((a.shape, len(core)) for a, core in zip(args, inputs)))
        lead = mapped_shape(leads, where)
        checked = _checked(fun, cores[1], sizes, where) if cores else _checked(fun, None, sizes, where)
        return _mapped(checked, args, leads, lead)
    return wrapped


def _exclude(fun: Callable, args: tuple, kwargs: dict, excluded: Collection) -> tuple:
    """The function of the arguments that are mapped over, and these."""
    if not excluded and not kwargs:
        return fun, args
    call, rest, named = filled_in(fun, excluded, args, kwargs)
    count = len(rest)
    return lambda *values: call(*values[:count], **dict(zip(named, values[count:]))), (*rest, *named.values())


def filled_in(fun: Callable[..., PyTree], excluded: Collection[int | str], args: Sequence[object], kwargs: dict[str, object]
              ) -> tuple[Callable[..., PyTree], list[object], dict[str, object]]:
    """``fun`` with the arguments at the positions and of the names in ``excluded`` filled in, and the arguments that are left."""
    fixed = {i: a for i, a in enumerate(args) if i in excluded}
    names = {k: v for k, v in kwargs.items() if k in excluded}

    def call(*values, **more):
        positional = list(values)
        for i in sorted(fixed):
            positional.insert(i, fixed[i])
        return fun(*positional, **more, **names)
    return call, [a for i, a in enumerate(args) if i not in fixed], {k: v for k, v in kwargs.items() if k not in names}


def _core_sizes(args: list, inputs: list, where: str) -> dict:
    sizes: dict = {}
    for i, (a, core) in enumerate(zip(args, inputs)):
        if a.ndim < len(core):
            raise ValueError(f"input with shape {a.shape} does not have enough dimensions for all core dimensions {core} "
                             f"{where}")
        for name, n in zip(core, a.shape[a.ndim - len(core):]):
            expected = sizes.setdefault(name, n)
            if n != expected:
                raise ValueError(f"inconsistent size for core dimension {name!r}: {n} vs {expected} in argument {i} {where}")
    return sizes


def mapped_shape(leads: Sequence[tuple[int, ...]], where: str) -> tuple[int, ...]:
    """What the shapes of the axes that are mapped over broadcast to."""
    try:
        return joint_shape(*leads)
    except ValueError:
        raise ValueError(f"vectorize: axes to map over do not broadcast: {', '.join(map(str, leads))} {where}") from None


def _checked(fun: Callable, outputs: list | None, sizes: dict, where: str) -> Callable:
    """``fun``, with the shapes of its results compared with the signature."""
    def call(*args):
        out = fun(*args)
        parts = out if isinstance(out, tuple) else (out,)
        if outputs is None:
            return out
        if len(parts) != len(outputs):
            raise TypeError(f"wrong number of output arguments: expected {len(outputs)}, got {len(parts)} {where}")
        known = dict(sizes)
        for part, core in zip(parts, outputs):
            shape = shape_of(part)
            if len(shape) != len(core):
                raise ValueError(f"output shape {shape} does not match core dimensions {core} {where}")
            for name, n in zip(core, shape):
                expected = known.setdefault(name, n)
                if n != expected:
                    raise ValueError(f"inconsistent size for core dimension {name!r}: {n} vs {expected} in a result {where}")
        return out
    return call


def _mapped(fun: Callable, args: list, leads: list, lead: tuple) -> Any:
    """One `vmap` for each axis to map over; axes of length 1 are dropped where others are longer."""
    squeezed, axes_of = [], []
    for a, own in zip(args, leads):
        missing = len(lead) - len(own)
        keep = [d for d in range(missing, len(lead)) if own[d - missing] == lead[d]]
        drop = tuple(d - missing for d in range(missing, len(lead)) if d not in keep)
        squeezed.append(lax.squeeze(a, drop) if drop else a)
        axes_of.append(set(keep))
    for d in reversed(range(len(lead))):
        in_axes = tuple(0 if d in axes else None for axes in axes_of)
        if any(axis == 0 for axis in in_axes):
            fun = vmap(fun, in_axes=in_axes)
        else:
            fun = vmap(fun, in_axes=in_axes, axis_size=lead[d])
    return fun(*squeezed)


def apply_along_axis(func1d: Callable[..., PyTree], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """``func1d`` of each line along an axis, whose result takes the place of the axis.

    Args:
      func1d: traceable function of a vector, and of ``args`` and ``kwargs``.
      axis: along which.
      arr: array.

    Source: `numpy.apply_along_axis`.

    >>> jnp.apply_along_axis(lambda row: row / row.sum(), 1, jnp.array([[1., 3.], [2., 2.]]))
    Array([[0.25, 0.75],
           [0.5 , 0.5 ]], dtype=float32)
    """
    check_callable("jax.numpy.apply_along_axis", func1d)
    check_arraylike("apply_along_axis", arr)
    arr = as_array(arr)
    axis = canonical_axis(axis, arr.ndim)
    fun = lambda line: func1d(line, *args, **kwargs)
    for i in range(1, arr.ndim - axis):
        fun = vmap(fun, in_axes=i, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func: Callable[[Array, int], Array], a: ArrayLike, axes: Sequence[int]) -> Array:
    """``func(a, axis)`` for each axis in turn; a result without the axis gets it back with length 1.

    Args:
      axes: one or several, over which ``func`` is called in turn.

    Raises:
      ValueError: ``func`` returns an array of another rank.

    Source: `numpy.apply_over_axes`.

    >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3)), [0, 1])
    Array([[6.]], dtype=float32)
    """
    check_callable("jax.numpy.apply_over_axes", func)
    check_arraylike("apply_over_axes", a)
    a = as_array(a)
    for axis in (axes,) if isinstance(axes, (int, np.integer)) else axes:
        out = func(a, cast(int, axis))
        if out.ndim == a.ndim - 1:
            out = lax.expand_dims(out, (canonical_axis(cast(int, axis), a.ndim),))
        elif out.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = out
    return a
