"""Arrays made from values, shapes and ranges.

Eagerly, small arrays are made by NumPy and handed to the backend without a copy: nothing is compiled for a new shape.
Inside a transformation the same functions bind primitives, so that no constant is stored in the program.
"""
from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Sequence, cast

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.representation import dtypes, errors, source, splits
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval, own_array, refuse_masked
from jax_core.representation.placements import is_placement, is_spec
from jax_core.representation.tracebacks import shorten
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_core.traces import structural
from jax_core.traces.structural import broadcast_in_dim_p, convert_element_type_p
from jax_core.traces.trace import EVAL, Tracer

from .. import lax
from ..lax.convert import warn_of_lost_part
from ..lax.create import beside, refuse_complex, varying_as
from ..lax.placement import sharding_constraint_p
from .broadcasting import broadcast_to
from .promotion import _parse_shape, canonical_shape, check_arraylike, convert, evaluating, is_array, shape_of, strong, unwrapped

_HOST_LIMIT = 1 << 20  # bytes; larger arrays are filled by the compiled program, which writes with all cores
_SCALARS = {bool, int, float, complex}

# -- placement ---------------------------------------------------------------------------------------------------------


def placed(x: ArrayLike, device: Placement | None = None, out_sharding: Placement | None = None) -> Any:
    """``x`` on ``device`` or with ``out_sharding``; as it is where neither is given."""
    where: Any = device if device is not None else out_sharding
    if where is None:
        return x
    structural.check_out_sharding("jax.numpy", out_sharding)
    if evaluating() and not isinstance(x, Tracer):
        if is_spec(where):
            where = structural.as_placement(where)
        if device is None and getattr(getattr(where, "mesh", None), "explicit_axes", False):  # as types have it, an entry for each axis
            where = splits.with_entries(where, (*where.spec, *[None] * (np.ndim(x) - len(where.spec))))
        return backends.get().put(x, None, where)
    if hasattr(type(where), "device_kind"):  # a device: moved there at once where nothing is staged, whatever is transformed
        return sharding_constraint_p.bind(x, sharding=structural.as_placement(where))
    if is_placement(where):
        where = structural.as_placement(where)
        wanted = splits.in_type(where, np.ndim(x))
        if wanted is not None:
            return x if wanted == get_aval(x).placement and not where.mesh.auto_axes else structural.reshard(x, where)
        return lax.with_sharding_constraint(x, where)
    return x


def _to_asked(x: Any, device: Placement | None, out_sharding: Placement | None = None) -> Any:
    """`placed` for the elements of ``x``, which are not taken from devices that they were put on."""
    structural.check_out_sharding("jax.numpy", out_sharding)
    where = device if device is not None else out_sharding
    if where is not None and getattr(x, "committed", False) and not isinstance(x, Tracer) and not is_spec(where):
        asked, given = structural.as_placement(where), x.sharding
        if getattr(asked, "device_set", given.device_set) != given.device_set:
            raise ValueError(f"the array of shape {x.shape} is committed to {given}, but device or out_sharding asks for {where}; move it there by "
                             "jax.device_put")
    return placed(x, device, out_sharding)


# -- filled arrays -----------------------------------------------------------------------------------------------------

def _filled(shape: tuple, value: Any, dtype: Any, weak: bool = False) -> Any:
    """An array of ``shape`` with every element ``value``, a number."""
    if dtype == dtypes.float0:  # has no values, so that no program computes it
        return np.zeros(shape, dtype)
    if evaluating() and not isinstance(dtype, dtypes.ExtendedDType) and math.prod(shape) * dtype.itemsize <= _HOST_LIMIT and (
            dtype.itemsize < 8 or dtypes.explicit_dtype(dtype) == dtype):  # else a host array would be narrowed
        host = np.zeros(shape, dtype) if value is _ZERO else np.full(shape, 1 if value is _ONE else value, dtype)
        return backends.get().from_host(host, weak)
    number = 0 if value is _ZERO else 1 if value is _ONE else value
    if isinstance(dtype, dtypes.ExtendedDType):
        return lax.full(shape, number, cast(Any, dtype))
    literal = convert(number, dtype, weak)
    return broadcast_in_dim_p.bind(literal, shape=shape, broadcast_dimensions=(), sharding=None)


_ZERO, _ONE = object(), object()


def _dtype_asked(dtype: Any, name: str, default: Callable, shape: Any = None) -> Any:
    if shape is not None and isinstance(dtype, int) and not isinstance(dtype, bool):
        first = shape if isinstance(shape, int) else "m"
        raise TypeError(f"jax.numpy.{name}: the second argument is the dtype, got {dtype}; the lengths of all axes are one argument, a "
                        f"tuple: jnp.{name}(({first}, {dtype}))")
    return default() if dtype is None else dtypes.canonicalize_user_dtype(dtype, name)


def zeros(shape: Shape | int, dtype: DTypeLike | None = None, *, device: Placement | None = None,
          out_sharding: Placement | None = None) -> Array:
    """An array of zeros.

    Args:
      shape: an integer or a sequence of integers, known while tracing.
      dtype: by default the default float dtype.
      device, out_sharding: placement.

    Raises:
      TypeError: ``shape`` holds something that is not a known integer.

    Source: `numpy.zeros`.

    >>> jnp.zeros((2, 3))
    Array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    dtype = _dtype_asked(dtype, "zeros", dtypes.default_float_dtype, shape)
    return placed(_filled(canonical_shape("zeros", shape), _ZERO, dtype), device, out_sharding)


def ones(shape: Shape | int, dtype: DTypeLike | None = None, *, device: Placement | None = None,
         out_sharding: Placement | None = None) -> Array:
    """An array of ones; arguments as for `zeros`. Source: `numpy.ones`.

    >>> jnp.ones((2, 1), dtype=int)
    Array([[1],
           [1]], dtype=int32)
    """
    dtype = _dtype_asked(dtype, "ones", dtypes.default_float_dtype, shape)
    return placed(_filled(canonical_shape("ones", shape), _ONE, dtype), device, out_sharding)


def empty(shape: Shape | int, dtype: DTypeLike | None = None, *, device: Placement | None = None,
          out_sharding: Placement | None = None) -> Array:
    """An array of zeros (nothing is left uninitialised); arguments as for `zeros`. Source: `numpy.empty`.

    >>> jnp.empty((2, 3)).shape
    (2, 3)
    """
    dtype = _dtype_asked(dtype, "empty", dtypes.default_float_dtype, shape)
    return placed(_filled(canonical_shape("empty", shape), _ZERO, dtype), device, out_sharding)


def full(shape: Shape | int, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, device: Placement | None = None,
         out_sharding: Placement | None = None) -> Array:
    """An array filled with one value.

    Args:
      shape: of the result.
      fill_value: a number, or an array that broadcasts to ``shape``.
      dtype: by default that of ``fill_value`` (weak if it is a Python number).
      device, out_sharding: placement.

    Source: `numpy.full`.

    >>> jnp.full((2, 2), 7)
    Array([[7, 7],
           [7, 7]], dtype=int32, weak_type=True)
    """
    check_arraylike("full", fill_value)
    fill_value = unwrapped(fill_value)
    asked, weak = (dtypes.dtype_and_weak_type(fill_value) if dtype is None
                   else (dtypes.canonicalize_user_dtype(dtype, "full"), False))
    shape = canonical_shape("full", shape)
    if type(fill_value) is complex:
        refuse_complex("jnp.full", fill_value, asked)
    if isinstance(fill_value, (bool, int, float, complex, np.generic)):
        return placed(_filled(shape, convert(fill_value, asked, weak), asked, weak), device, out_sharding)
    return placed(broadcast_to(astype_of(fill_value, asked, weak), shape), device, out_sharding)


def astype_of(x: ArrayLike, dtype: DTypeLike | None, weak: bool = False) -> Array:
    """``x`` converted, as one of our arrays."""
    x = convert(x, dtype, weak)
    return x if is_array(x) else backends.get().put(x)


def _like_arguments(name: str, a: Any, dtype: Any, shape: Any) -> tuple:
    """Shape, dtype and weakness of the result of a ``*_like`` function."""
    if not (hasattr(a, "dtype") and hasattr(a, "shape")):  # a ShapeDtypeStruct will do as well as an array
        check_arraylike(name, a)
        a = unwrapped(a)
    shape = shape_of(a) if shape is None else canonical_shape(name, shape)
    if dtype is not None:
        return shape, dtypes.canonicalize_user_dtype(dtype, name), False
    return (shape, *dtypes.dtype_and_weak_type(a))


def _beside(a: Any, sizes: Any, device: Any, out_sharding: Any) -> Any:
    """Where an array like ``a`` goes: where ``a`` is (see `beside`), unless another placement is given."""
    if device is None and out_sharding is None and hasattr(a, "shape"):
        return beside(a, sizes)
    return device


def zeros_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: Shape | int | None = None, *,
               device: Placement | None = None, out_sharding: Placement | None = None) -> Array:
    """Zeros of the shape and dtype of ``a``, each of which can be given instead.

    Args:
      device, out_sharding: placement of the result.

    Source: `numpy.zeros_like`.

    >>> jnp.zeros_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    sizes, kind, weak = _like_arguments("zeros_like", a, dtype, shape)
    device = _beside(a, sizes, device, out_sharding)
    return varying_as(a, placed(_filled(sizes, _ZERO, kind, weak), device, out_sharding))


def ones_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: Shape | int | None = None, *,
              device: Placement | None = None, out_sharding: Placement | None = None) -> Array:
    """Ones of the shape and dtype of ``a``, each of which can be given instead.

    Args:
      device, out_sharding: placement of the result.

    Source: `numpy.ones_like`.

    >>> jnp.ones_like(jnp.arange(2.))
    Array([1., 1.], dtype=float32)
    """
    sizes, kind, weak = _like_arguments("ones_like", a, dtype, shape)
    device = _beside(a, sizes, device, out_sharding)
    return varying_as(a, placed(_filled(sizes, _ONE, kind, weak), device, out_sharding))


def empty_like(prototype: ArrayLike, dtype: DTypeLike | None = None, shape: Shape | int | None = None, *,
               device: Placement | None = None) -> Array:
    """Zeros of the shape and dtype of ``prototype``.

    Args:
      device: placement of the result.

    Source: `numpy.empty_like`.

    >>> jnp.empty_like(jnp.arange(3)).dtype
    dtype('int32')
    """
    sizes, kind, weak = _like_arguments("empty_like", prototype, dtype, shape)
    device = _beside(prototype, sizes, device, None)
    return varying_as(prototype, placed(_filled(sizes, _ZERO, kind, weak), device))


def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: Shape | int | None = None, *,
              device: Placement | None = None, out_sharding: Placement | None = None) -> Array:
    """``fill_value`` in the shape and dtype of ``a``, each of which can be given instead.

    Args:
      device, out_sharding: placement of the result.

    Source: `numpy.full_like`.

    >>> jnp.full_like(jnp.arange(2), 7)
    Array([7, 7], dtype=int32)
    """
    sizes, kind, weak = _like_arguments("full_like", a, dtype, shape)
    device = _beside(a, sizes, device, out_sharding)
    check_arraylike("full_like", fill_value)
    fill_value = unwrapped(fill_value)
    if isinstance(fill_value, (bool, int, float, complex, np.generic)):
        if type(fill_value) is complex:
            refuse_complex("jnp.full_like", fill_value, kind)
        value = fill_value if isinstance(kind, dtypes.ExtendedDType) else convert(fill_value, kind, weak)
        return varying_as(a, placed(_filled(sizes, value, kind, weak), device, out_sharding))
    value = astype_of(fill_value, kind, weak)
    return varying_as(a, placed(broadcast_to(value if weak and not np.ndim(value) else strong(value), sizes), device, out_sharding))


# -- from values -------------------------------------------------------------------------------------------------------

def array(object: object, dtype: DTypeLike | None = None, *, copy: bool = True, order: str | None = "K", ndmin: int = 0,
          device: Placement | None = None, out_sharding: Placement | None = None) -> Array:
    """An array with the contents of ``object``.

    Args:
      object: a number, an array, a NumPy value, a buffer, or nested sequences of these of one shape.
      dtype: by default as NumPy would infer it, in JAX's widths; a Python number gives a weak type.
      copy: whether the result must not share memory with ``object``.
      order: only "K" (None) and "C" have a meaning here.
      ndmin: axes of length 1 are put in front up to this rank.
      device, out_sharding: placement.

    Raises:
      TypeError: contents that are not numbers. ValueError: None, or sequences of different lengths.
      OverflowError: an integer that does not fit the dtype.

    Source: `numpy.array`.

    >>> jnp.array([[1, 2], [3, 4]], dtype=jnp.float32)
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    try:
        if order is not None and order not in ("K", "C"):
            raise NotImplementedError(f"jnp.array: order={order!r}; arrays have one layout here, order='K' (or 'C').")
        asked = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, "array")
        result = _array_of(object, asked, bool(copy))
        if type(ndmin) is not int:
            ndmin = integer("array: ndmin", ndmin)
        if ndmin > result.ndim:
            result = lax.expand_dims(result, range(ndmin - result.ndim))
        return _to_asked(result, device, out_sharding)
    except Exception as error:
        shorten(error)
        raise


def asarray(a: object, dtype: DTypeLike | None = None, order: str | None = None, *, copy: bool | None = None,
            device: Placement | None = None, out_sharding: Placement | None = None) -> Array:
    """``a`` as an array, itself if it is one already; arguments as for `array`.

    Raises:
      ValueError: ``copy=False`` where a copy is needed to keep the result immutable.

    Source: `numpy.asarray`.

    >>> jnp.asarray([1, 2.5])
    Array([1. , 2.5], dtype=float32)
    """
    if dtype is None and order is None and device is None and out_sharding is None and not copy and type(a) is not np.ndarray and is_array(a):
        if isinstance(a, Tracer) and isinstance(a.concrete(), (bool, int, float, complex)):  # a Python number that is differentiated
            return lax.copy_p.bind(a)
        return a
    return array(a, dtype, copy=bool(copy), order=order, device=device, out_sharding=out_sharding)


def of_list(x: object) -> Any:
    """``x``, or the array of its numbers if it is a list or a tuple: for functions that take these, as SciPy's do."""
    return array(x) if isinstance(x, (list, tuple)) else x


def _array_of(x: Any, dtype: Any, copy: bool) -> Array:
    kind = type(x)
    if kind is np.ndarray:
        return _from_numpy(x, dtype)
    if kind in _SCALARS:
        return _scalar_array(x, dtype)
    if kind in (list, tuple):
        return _from_sequence(x, dtype)
    if is_array(x):
        return _from_array(x, dtype, copy)
    if isinstance(x, (np.ndarray, np.generic)):
        return _from_numpy(x, dtype)
    if isinstance(x, (bool, int, float, complex)):
        return _scalar_array(x, dtype)
    return _from_object(x, dtype, copy)


def _put(x: np.ndarray, weak: bool = False) -> Array:
    """The contents of a NumPy array, copied, as one of ours."""
    made = backends.get().from_host(x, weak)
    if context.state.trace is EVAL:
        return made
    return context.state.trace.array_made(made, None if x.shape else x.item() if weak else x[()])


def _scalar_array(x: Any, dtype: Any) -> Array:
    weak = dtype is None and not isinstance(x, bool)
    dtype = dtypes.dtype(x) if dtype is None else dtype  # of a subclass too, as an IntEnum
    if isinstance(x, (int, float)) and dtype.kind in "iu":
        x = _whole(x, dtype)
    elif isinstance(x, complex) and dtype.kind not in "cb":
        float(x)  # type: ignore[arg-type]  # raises the TypeError that Python gives
    return _put(np.asarray(x, dtype), weak)


def _whole(x: Any, dtype: Any) -> int:
    """A number without its fraction. Raises OverflowError if ``dtype``, of integers, cannot hold it; ValueError for NaN."""
    whole, info = int(x), dtypes.iinfo(dtype)
    if not int(info.min) <= whole <= int(info.max):
        off = " (64 bits are switched off: jax_enable_x64)" if dtype.itemsize == 4 and not flags.enable_x64.value else ""
        raise OverflowError(f"{whole} does not fit {dtype.name}, which holds {info.min} to {info.max}; use a wider dtype{off}")
    return whole


def _from_array(x: Any, dtype: Any, copy: bool) -> Array:
    if dtype is not None and (x.dtype != dtype or getattr(x, "weak_type", False)):
        return convert_to(x, dtype)
    return lax.copy_p.bind(x) if copy else x


def convert_to(x: Array, dtype: DTypeLike) -> Array:
    """A cast that also makes a weak type strong."""
    if x.dtype == dtype and not x.weak_type:
        return x
    if dtypes.issubdtype(x.dtype, np.complexfloating) and not dtypes.issubdtype(dtype, np.complexfloating) \
            and dtype != np.bool_:
        warn_of_lost_part(x.dtype, dtype)
        x = lax.real(x)
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False, sharding=None)


def _from_numpy(x: Any, dtype: Any) -> Array:
    refuse_masked(x, unless_whole=True)
    if x.dtype.kind in "SU" and isinstance(dtype, np.dtype):
        return _put(x.astype(dtype))  # numbers as text
    if x.dtype.kind in "OSUVMm" and x.dtype not in dtypes.numeric_dtypes and x.dtype != dtypes.float0:
        if x.dtype.kind == "O" and x.ndim:
            return _from_sequence(x.tolist(), dtype)
        raise TypeError(f"{'a ' + type(x[()]).__name__ if x.dtype == object else repr(x)}, of dtype {x.dtype}, holds no numbers; arrays hold numbers and "
                        f"booleans only{' (of what a generator gives, make a list first)' if x.dtype == object and hasattr(x[()], '__next__') else ''}")
    wanted = dtypes.array_dtype(x.dtype, x) if dtype is None else dtype
    if x.dtype.kind == "c" and wanted.kind not in "cb":
        warn_of_lost_part(x.dtype, wanted)
        x = x.real
    return _put(np.asarray(x, wanted, order="C"))


def _from_object(x: Any, dtype: Any, copy: bool) -> Array:
    if x is None:
        raise ValueError("jax.numpy.array: None is no value of an array; use jnp.nan, or leave it out")
    if hasattr(x, "__jax_array__"):
        return _array_of(own_array(x), dtype, copy)
    if hasattr(x, "__cuda_array_interface__") and hasattr(x, "__dlpack__"):  # on a GPU, from where NumPy takes nothing
        return _from_array(from_dlpack(x, copy=True), dtype, copy)
    if hasattr(x, "__array__"):
        return _from_numpy(np.asarray(x), dtype)
    if isinstance(x, (str, bytes)) and dtype is not None:
        return _from_numpy(np.asarray(x), dtype)
    if isinstance(x, (str, bytes, dict, set)):
        kind = np.asarray(x).dtype
        raise TypeError(f"{x!r}, of dtype {kind}, holds no numbers; arrays hold numbers and booleans only")
    try:
        return _from_numpy(np.asarray(memoryview(x)), dtype)
    except TypeError:
        pass
    if isinstance(x, Sequence):
        return _from_sequence(list(x), dtype)
    if hasattr(x, "__dlpack__"):
        return _from_array(from_dlpack(x, copy=True), dtype, copy)  # whoever has it may write to it
    return _from_numpy(np.asarray(x), dtype)


_TEXT = frozenset({str, bytes, np.str_, np.bytes_})
MOST_AXES, _FEW_LEVELS = 64, 4  # NumPy's limit; so many levels are counted without a look at what comes twice


def _leaf_types(x: Any) -> set:
    """The classes of the innermost elements of nested lists and tuples; whole levels are scanned at C speed. Raises ValueError for more
    levels than an array has axes, as a list has that holds itself."""
    found: set = set()
    level = x
    for depth in itertools.count():
        if not level:
            break
        if depth > _FEW_LEVELS:
            if depth > MOST_AXES:
                raise ValueError(f"jax.numpy.array: the list is nested deeper than {MOST_AXES} levels, the most axes of an array; does it hold itself?")
            level = list({id(z): z for z in level}.values())  # else one that holds itself twice doubles the level each time
        kinds = set(map(type, level))
        nested = kinds & {list, tuple}
        found |= kinds - nested
        if not nested:
            break
        if kinds == nested:
            level = list(itertools.chain.from_iterable(level))
        else:
            level = [y for z in level if type(z) in nested for y in z]
    return found


def _from_sequence(x: Any, dtype: Any) -> Array:
    kinds = _leaf_types(x)
    if kinds <= _SCALARS:
        return _from_numbers(x, kinds, dtype)
    if isinstance(dtype, np.dtype) and kinds <= _SCALARS | _TEXT:
        return _put(np.array(x, dtype))
    if type(None) in kinds:
        raise ValueError("jax.numpy.array: None is no value of an array; use jnp.nan, or leave it out")
    if all(issubclass(k, (np.ndarray, np.generic, bool, int, float, complex)) for k in kinds):
        return _from_numpy_leaves(x, kinds, dtype)
    return _stacked(x, dtype)


def _from_numbers(x: Any, kinds: set, dtype: Any) -> Array:
    """Nested sequences of Python numbers: NumPy does it, in the dtype that the kinds give."""
    if dtype is None:
        if bool in kinds and len(kinds) > 1:
            dtypes.result_type(*(k() for k in kinds))  # which is refused where promotion is strict
        widest = next((k for k in (complex, float, int, bool) if k in kinds), float)
        dtype = dtypes.canonicalize_dtype(dtypes.python_scalar_dtypes[widest])
    if dtype.kind in "iu" and float in kinds:
        return _put(_in_range(np.array(x), dtype).astype(dtype))
    return _put(np.array(x, dtype))


def _from_numpy_leaves(x: Any, kinds: set, dtype: Any) -> Array:
    """Nested sequences with NumPy values: promotion is ours, so the dtype is found first; from one value of each class,
    where a class has one dtype."""
    if dtype is None:
        plain = all(k in _SCALARS or issubclass(k, (np.number, np.bool_)) for k in kinds)
        dtype = dtypes.result_type(*([k() for k in kinds] if plain else _leaves(x)))
    host = np.array(x)
    if host.dtype.kind == "O":
        host = np.array(x, dtype)
    return _put(_in_range(host, dtype).astype(dtype))


def _in_range(host: np.ndarray, dtype: Any) -> np.ndarray:
    """``host``. Raises OverflowError if ``dtype``, of integers, cannot hold a number in it; ValueError for NaN."""
    if dtype.kind in "iu" and host.dtype.kind in "iuf" and host.size:
        for extreme in (host.min(), host.max()):
            _whole(extreme, dtype)
    return host


def _leaves(x: Any) -> list:
    if isinstance(x, (list, tuple)):
        return [leaf for y in x for leaf in _leaves(y)]
    return [x]


def _stacked(x: Any, dtype: Any) -> Array:
    """Nested sequences with arrays among them: convert to a strong type, then stack level by level."""
    text = dtype is not None
    leaves = [_leaf(np.array(y, dtype) if text and type(y) in _TEXT else y) for y in _leaves(x)]
    if dtype is None:
        dtype = dtypes.result_type(*leaves)
    rest = iter(leaves)

    def build(y: Array):
        if isinstance(y, (list, tuple)):
            return _stack([build(z) for z in y], dtype)
        return convert(next(rest), dtype)
    return convert_to(build(x), dtype)


def _leaf(x: Any) -> Any:
    """An innermost element as something that has a dtype."""
    x = unwrapped(x)
    if hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, (str, bytes, dict, set)) or not hasattr(x, "__array__") and not isinstance(x, Sequence):
        raise TypeError(f"{x!r} of type {type(x).__name__} is no array; give numbers, sequences of numbers or arrays")
    return np.asarray(x)


def _stack(parts: list, dtype: Any) -> Array:
    if not parts:
        return _put(np.zeros((0,), dtype))
    shapes = dict.fromkeys(shape_of(p) for p in parts)
    if len(shapes) != 1:
        raise TypeError(f"jnp.array: the elements of a sequence have the shapes {', '.join(map(str, shapes))}; give elements of one shape, "
                        "as jnp.broadcast_arrays makes them.")
    if not isinstance(dtype, dtypes.ExtendedDType) and not any(
            isinstance(p, Tracer) or getattr(p, "committed", False) for p in parts):
        views = [np.asarray(p) for p in parts]
        return _put(np.stack(views).astype(dtype, copy=False))
    shape = next(iter(shapes))
    pieces = [broadcast_in_dim_p.bind(p, shape=(1, *shape), broadcast_dimensions=tuple(range(1, len(shape) + 1)),
                                      sharding=None) for p in parts]
    return strong(lax.concatenate(pieces, 0))  # as it is where all elements are known


def astype(x: ArrayLike, dtype: DTypeLike | None, /, *, copy: bool = False, device: Placement | None = None) -> Array:
    """``x`` with its elements converted.

    Args:
      x: array or number.
      dtype: of the result; None for the default float dtype.
      copy: whether a new array must be made even if nothing changes.
      device: placement.

    Source: `numpy.astype`, array API standard.

    >>> jnp.astype(jnp.array([1.7, -1.7]), int)
    Array([ 1, -1], dtype=int32)
    """
    check_arraylike("astype", x)
    x = unwrapped(x)
    asked = dtypes.canonicalize_user_dtype(float if dtype is None else dtype, "astype")
    if not is_array(x):
        return _to_asked(_array_of(np.asarray(x) if type(x) in _SCALARS else x, asked, False), device)
    if x.dtype == asked and not x.weak_type:
        return _to_asked(lax.copy_p.bind(x) if copy else x, device)
    if dtypes.issubdtype(x.dtype, np.complexfloating) and (dtypes.issubdtype(asked, np.floating) or dtypes.issubdtype(asked, np.integer)):
        source.warn(f"a conversion from {x.dtype.name} to {asked.name} drops the imaginary part, and will be an error; write "
                    "jnp.real(x) or jnp.imag(x)", DeprecationWarning)
        x = lax.real(x)
    return _to_asked(convert_to(x, asked), device)


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """A new array with the contents of ``a``. Source: `numpy.copy`.

    >>> jnp.copy(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    check_arraylike("copy", a)
    return array(a, copy=True, order=order)


def from_dlpack(x: object, /, *, device: Placement | None = None, copy: bool | None = None) -> Array:
    """An array that shares memory with (or copies) one of another library.

    Args:
      x: object with ``__dlpack__``.
      device: placement.
      copy: True to copy always, False to refuse copying.

    Source: `numpy.from_dlpack`, array API standard.

    >>> jnp.from_dlpack(np.arange(3, dtype=np.int32))
    Array([0, 1, 2], dtype=int32)
    """
    return backends.get().from_dlpack(x, device, copy)


# -- ranges ------------------------------------------------------------------------------------------------------------

def _range_argument(x: Any, name: str) -> Any:
    if x is None:
        return None
    check_arraylike("arange", x)
    x = unwrapped(x)
    if isinstance(x, Tracer):
        known = x.concrete()
        if known is None:
            raise errors.ConcretizationTypeError(x, f"It arose in the jnp.arange argument '{name}', from which the length of the result follows.")
        x = known
    if np.ndim(x) != 0:
        raise ValueError(f"jnp.arange: arguments must be scalars; got {name} of shape {np.shape(x)}")
    return x if type(x) in _SCALARS else np.asarray(x)[()]


def arange(start: ArrayLike, stop: ArrayLike | None = None, step: ArrayLike | None = None,
           dtype: DTypeLike | None = None, *, device: Placement | None = None,
           out_sharding: Placement | None = None) -> Array:
    """Evenly spaced values of the half-open interval from ``start`` to ``stop``.

    Args:
      start, stop, step: numbers known while tracing; with one number, the interval begins at 0. ``step`` is 1 by
        default.
      dtype: by default that of the numbers.
      device, out_sharding: placement.

    Returns:
      a 1-d array of ``ceil((stop - start) / step)`` elements.

    Raises:
      ConcretizationTypeError: a number is not known while tracing.
      ZeroDivisionError: ``step`` is 0. ValueError: complex numbers.

    Source: `numpy.arange`.

    >>> jnp.arange(2, 10, 3)
    Array([2, 5, 8], dtype=int32)
    """
    if dtype is device is out_sharding is None and type(start) is int and type(stop) in _COUNTS and type(step) in _COUNTS and evaluating():
        found = _range_of_ints(start, cast("int | None", stop), cast("int | None", step))
        if found is not None:
            return found
    asked = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, "arange")
    if asked == dtypes.float0:
        raise TypeError("arange: dtype=float0 holds no numbers to count with")
    numbers = [_range_argument(x, n) for x, n in ((start, "stop" if stop is None else "start"), (stop, "stop"), (step, "step"))]
    given = [x for x in numbers if x is not None]
    if any(np.iscomplexobj(x) for x in given):
        raise ValueError("jnp.arange: complex start, stop and step have no order; use a real range.")
    result = asked or dtypes.canonicalize_dtype(dtypes.result_type(*given))
    if result == np.bool_ and stop is None:
        raise TypeError("jnp.arange: a range of booleans is not defined; give a dtype of numbers.")
    low, high, gap = numbers
    return placed(_arange(low, high, gap, result), device, out_sharding)


_COUNTS = int, type(None)


def _range_of_ints(start: int, stop: int | None, step: int | None) -> Array | None:
    """The most frequent ranges, eager ones of not too many ints; None for others, where `_arange` says what is to be done."""
    low, high, gap = (0, start, step or 1) if stop is None else (start, stop, step or 1)
    if step == 0 or max(abs(low), abs(high), abs(gap)) > _HOST_LIMIT or flags.transfer_guard_host_to_device.value not in (None, "allow"):
        return None
    dtype = dtypes.default_int_dtype()
    return _put(np.arange(low, high, gap, dtype=cast(Any, dtype))) if len(range(low, high, gap)) * dtype.itemsize <= _HOST_LIMIT else None


def _arange(start, stop, step, dtype):
    if stop is None:
        start, stop = 0.0 if step is None and isinstance(start, float) else 0, start
    step = 1 if step is None else step
    if step == 0:
        raise ZeroDivisionError("jnp.arange: step must not be 0")
    size = max(0, int(math.ceil((_number(stop) - _number(start)) / _number(step))))
    simple = start == 0 and step == 1
    if evaluating() and size * dtype.itemsize <= _HOST_LIMIT and not (
            simple and flags.transfer_guard_host_to_device.value not in (None, "allow")):
        return _put(_host_range(start, step, size, dtype))
    if simple:
        return lax.iota(dtype, size)
    whole = dtypes.issubdtype(dtype, np.integer)
    if not whole and (evaluating() or size * dtype.itemsize <= _HOST_LIMIT):  # rounded once; a larger one would make the program as large
        return backends.get().put(_host_range(start, step, size, dtype))
    wide = dtype if whole or dtype.itemsize >= 4 else np.dtype(np.float32)
    steps = lax.iota(wide, size)
    steps = steps if step == 1 else lax.mul(wide.type(step), steps)
    return lax.convert_element_type(lax.add(wide.type(start), steps), dtype)


def _number(x):
    return x if type(x) in _SCALARS else x.item()


def _host_range(start, step, size, dtype):
    if dtype.kind in "iu":
        return (np.arange(size, dtype=np.int64) * int(step) + int(start)).astype(dtype)
    with np.errstate(over="ignore"):  # infinities of a narrow dtype are no news
        return (np.arange(size, dtype=np.float64) * _number(step) + _number(start)).astype(dtype)


# -- matrices with a pattern -------------------------------------------------------------------------------------------

def eye(N: int, M: int | None = None, k: ArrayLike = 0, dtype: DTypeLike | None = None, *,
        device: Placement | None = None) -> Array:
    """Ones on a diagonal, zeros elsewhere.

    Args:
      N, M: numbers of rows and columns; square by default.
      k: which diagonal; positive ones lie above the main one. May be traced.
      dtype: by default the default float dtype.
      device: placement.

    Raises:
      ValueError: a negative number of rows or columns.

    Source: `numpy.eye`.

    >>> jnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    kind = _dtype_asked(dtype, "eye", dtypes.default_float_dtype)
    if isinstance(N, (tuple, list)):
        raise TypeError(f"eye: N must be the number of rows, got {N!r}; the number of columns is an argument of its own")
    rows, columns = _parse_shape("eye", (N, N if M is None else M))
    if min(rows, columns) < 0:
        raise ValueError(f"eye: the numbers of rows and columns must not be negative, got {rows} and {columns}")
    if not isinstance(k, (int, np.integer)) and (np.ndim(k) or not dtypes.issubdtype(dtypes.dtype(k), np.integer)):
        raise ValueError(f"eye: k must be a single integer, got {k!r}")
    if evaluating() and isinstance(k, (int, np.integer)) and rows * columns * kind.itemsize <= _HOST_LIMIT:
        return placed(_put(np.eye(rows, columns, int(k), kind)), device)
    return placed(lax.convert_element_type(_compare_indices(rows, columns, k, lax.eq), kind), device)


def _compare_indices(rows, columns, k, compare):
    i = lax.broadcasted_iota(np.int32, (rows, columns), 0)
    j = lax.broadcasted_iota(np.int32, (rows, columns), 1)
    if isinstance(k, (int, np.integer)):
        k = int(np.clip(k, -_FARTHEST, _FARTHEST))
        return compare(lax.add(i, np.int32(k)) if k else i, j)
    dtype = dtypes.dtype(k)
    if dtype.itemsize >= 4:
        k = lax.clamp(dtype.type(0 if dtype.kind == "u" else -_FARTHEST), k, dtype.type(_FARTHEST))
    return compare(lax.add(i, convert(k, np.dtype(np.int32))), j)


_FARTHEST = 1 << 30
"""A diagonal outside of every matrix, whose sum with an index is still an int32."""


def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The square matrix with ones on its main diagonal. Source: `numpy.identity`.

    >>> jnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on and below diagonal ``k``, zeros above. Raises OverflowError for a ``k`` that is no default integer.

    Args:
      N, M: rows and columns; by default as many.

    Source: `numpy.tri`.

    >>> jnp.tri(3, dtype=int)
    Array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int32)
    """
    kind = _dtype_asked(dtype, "tri", dtypes.default_float_dtype)
    whole = dtypes.iinfo(dtypes.default_int_dtype())
    if isinstance(k, int) and not whole.min <= k <= whole.max:
        raise OverflowError(f"jax.numpy.tri: k={k} does not fit in {whole.dtype}")
    rows, columns = canonical_shape("tri", (N, N if M is None else M))
    if evaluating() and rows * columns * kind.itemsize <= _HOST_LIMIT:
        return _put(np.tri(rows, columns, integer("tri: k", k)).astype(kind))
    return lax.convert_element_type(_compare_indices(rows, columns, k, lax.ge), kind)
