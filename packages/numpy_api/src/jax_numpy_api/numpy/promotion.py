"""What happens to the arguments of a numerical function before its primitive is bound.

Three steps, in this order: every argument must be an array or a number (lists are refused: converting one element by
element is slow and hides a mistake), all get one dtype by the promotion lattice of `jax_core.representation.dtypes`, and shapes are
broadcast. Each step adds an equation only where one is needed: numbers become literals of the other operand's dtype, a
rank-0 operand is left to the primitive (elementwise primitives take it as it is), and a weak value that meets a strong
one of its own dtype is not converted.

Operands are typed as arrays after these steps, though numbers and values of NumPy are left as they are: primitives take all alike.
What needs more of an array than that calls `as_array`.
"""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, cast, overload

import numpy as np

from jax_core import backends
from jax_core.configuration import context, engine, flags
from jax_core.programs.call import can_be_key
from jax_core.references.primitives import is_ref
from jax_core.representation import dtypes, source, splits
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapeDtypeStruct, aval_of_type, foreign_value, get_aval, own_array
from jax_core.representation.errors import ConcretizationTypeError, TracerIntegerConversionError, no_array, shape_error
from jax_core.representation.jaxpr import NEED_X64
from jax_core.representation.typing import ArrayLike, Axis
from jax_core.traces.structural import Implied, broadcast_in_dim_p, convert_element_type_p
from jax_core.traces.trace import EVAL, Tracer

from ..lax.nary import kept_wide

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_SCALARS = {bool, int, float, complex}


# -- are these arrays? -------------------------------------------------------------------------------------------------

def is_arraylike(x: object) -> bool:
    """Whether ``x`` is an array, a tracer, a NumPy value, a number, or converts itself by ``__jax_array__``."""
    kind = type(x)
    return (kind in aval_of_type and kind is not ShapeDtypeStruct  # which has a type but no value
            or isinstance(x, (np.ndarray, np.generic, Array, int, float, complex)) or hasattr(x, "__jax_array__"))


_arraylike_kinds: set[type] = set()
"""Classes of values that `check_arraylike` has found to be arrays or numbers."""


def check_arraylike(name: str, *args: Any) -> None:
    """Raise TypeError unless every argument is an array or a number."""
    for x in args:
        if type(x) not in _arraylike_kinds:
            break
    else:
        return
    for position, x in enumerate(args):
        if not is_arraylike(x):
            if is_ref(x):
                raise TypeError(f"{name}: argument {position} is no array: {no_array(get_aval(x))}")
            raise TypeError(f"{name} requires ndarray or scalar arguments, got {type(x)} at position {position}."
                            + (" Make it an array first, as by jnp.asarray." if isinstance(x, (list, tuple)) else
                               f" Apply jax.experimental.sparse.sparsify to the function, or make it dense by {type(x).__name__}.todense."
                               if hasattr(x, "todense") else ""))
        if type(x) in aval_of_type:
            _arraylike_kinds.add(type(x))


def unwrapped(x: object) -> Any:
    """``x``, or the array it converts itself to by ``__jax_array__``."""
    if type(x) in aval_of_type or not hasattr(x, "__jax_array__"):
        return x
    return own_array(x)


def is_array(x: object) -> TypeIs[Array]:
    """Whether ``x`` is one of our arrays or a tracer (not a NumPy value or a number)."""
    return isinstance(x, Array)


# -- host values -------------------------------------------------------------------------------------------------------

def evaluating() -> bool:
    """Whether no transformation is in force, so that values may be computed at once."""
    return context.state.trace is EVAL


def host(x: object) -> np.ndarray | None:
    """A NumPy view of a value that can be read now without waiting or copying, else None."""
    if hasattr(x, "aval"):
        return None if isinstance(x, Tracer) else host_view(x)
    if isinstance(x, (np.generic, np.ndarray)) or type(x) in _SCALARS:
        found = np.asarray(x)
        return None if found.dtype == object else found  # an int of more than 64 bits
    return None


def host_view(x: object) -> np.ndarray | None:
    """A view of one of our arrays that is ready on the default device; a result computed from it may be put there."""
    return None if getattr(x, "committed", True) else backends.get().host_view(x)


def from_numpy(x: np.ndarray, *sources: Any, weak: bool = False) -> Any:
    """A result that NumPy computed from ``sources``, on the device to which one of them is committed, if any is.

    ``weak``: its elements are some of the sources', so that it is weakly typed if all of these are.
    """
    weak = weak and dtypes.lattice_result_type(*map(unwrapped, sources))[1]
    for origin in sources:
        if isinstance(origin, Array) and not isinstance(origin, Tracer) and origin.committed and (
                len(origin.sharding.device_set) == 1):
            return backends.get().put(x, None, origin.sharding)  # a committed array is hardly ever weak
    if x.dtype.itemsize >= 8 and not any(isinstance(origin, Array) and origin.dtype == x.dtype for origin in sources):
        x = x.astype(dtypes.canonicalize_dtype(x.dtype), copy=False)
    return backends.get().from_host(x, weak, True)


def concrete(x: ArrayLike | Tracer) -> np.ndarray | None:
    """The contents of ``x`` as a NumPy array, waiting for them if need be; None for a tracer of unknown value."""
    value: Any = unwrapped(x)
    if isinstance(value, Tracer):
        value = value.concrete()
        if value is None:
            return None
    found = np.asarray(value)
    return np.asarray(value, dtypes.dtype(value)) if found.dtype == object and isinstance(value, int) else found


# -- dtypes ------------------------------------------------------------------------------------------------------------

_join_cache: dict = {}


def _key(x: Any) -> Any:
    kind = type(x)
    if kind in _SCALARS:
        return kind
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype if x.dtype.itemsize < 8 else (x.dtype, "host")  # narrowed where 64 bits are off, beside an array of them too
    dtype = getattr(x, "dtype", None)
    if dtype is None:  # a subclass of a Python number, or something that converts itself
        return dtypes.dtype_and_weak_type(unwrapped(x))
    return (dtype, True) if getattr(x, "weak_type", False) else dtype


def joined(*args: Any) -> tuple[Any, bool]:
    """The dtype that operands are brought to, and whether it is weak; cached by the kinds of the operands."""
    key = (engine.trace_key(), *map(_key, args))
    try:
        return _join_cache[key]
    except KeyError:
        result = _join_cache[key] = _joined(args)
        return result
    except TypeError:
        return _joined(args)


def _joined(args: Sequence[Any]) -> tuple[Any, bool]:
    """Operands of 64 bits, from a part of the program where these are on, keep them only among themselves where they are off."""
    dtype, weak = dtypes.lattice_result_type(*map(unwrapped, args))
    alike = all(hasattr(x, "dtype") and x.dtype == dtype for x in args) and (  # to NumPy None is float64
        len(args) == 1 or not weak and not any(isinstance(x, (np.ndarray, np.generic)) for x in args))
    return dtype if alike else dtypes.explicit_dtype(dtype), weak


def joined_in_product(preferred: np.dtype | None, *args: Any) -> tuple[Any, bool]:
    """`joined` for the operands of a product; where the dtype of its result is given, strict promotion lets them differ.

    Integers that the common dtype cannot hold, as of 32 bits beside halves, do not lose digits that the result has.
    """
    try:
        dtype, weak = joined(*args)
    except dtypes.TypePromotionError:
        if preferred is None:
            raise
        dtype, weak = dtypes.common_dtype(*map(dtypes.dtype, args)), False
    if preferred is not None and preferred != dtype and dtypes.issubdtype(dtype, np.floating) and dtypes.issubdtype(preferred, np.inexact):
        digits = dtypes.finfo(dtype).nmant + 1
        if any(_digits(dtypes.dtype(x)) > digits for x in args):
            dtype = dtypes.common_dtype(dtype, preferred)
    return dtype, weak


def _digits(dtype: np.dtype) -> int:
    """How many binary digits a number of an integer dtype may have, but for its sign; 0 for other dtypes."""
    return dtypes.iinfo(dtype).max.bit_length() if dtypes.issubdtype(dtype, np.integer) else 0


_PYTHON_TYPE = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def convert(x: ArrayLike, dtype: Any, weak: bool = False) -> Any:
    """``x`` with elements of ``dtype``; numbers and NumPy values are converted here, arrays by an equation."""
    kind = type(x)
    if kind in _SCALARS:
        if not weak:
            return _literal(x, dtype)
        if dtypes.dtype(x) == dtype:
            return x
        number = _PYTHON_TYPE[dtypes.short_name(dtype)[0]](x)
        return number if dtypes.dtype(number) == dtype else _literal(x, dtype)  # no number is as wide
    if isinstance(x, (np.ndarray, np.generic)):
        if weak and isinstance(x, np.generic):
            return convert(x.item(), dtype, True)
        return x if x.dtype == dtype else _cast_numpy(x, dtype)
    if not isinstance(x, Array):
        kinds: tuple[Any, ...] = (int, float, complex)
        for number in kinds:  # subclasses of them, as an IntEnum
            if isinstance(x, number):
                return convert(number(x), dtype, weak)
        value = unwrapped(x)
        return convert(foreign_value(x) if value is x else value, dtype, weak)
    if x.dtype == dtype and (not weak or x.weak_type):
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak, sharding=None)


def _literal(x: Any, dtype: np.dtype) -> Any:
    """A number as a NumPy scalar; integers that an array of Python ints holds wrap as they do when a compiled program converts them."""
    if isinstance(dtype, dtypes.ExtendedDType):
        raise TypeError(f"the number {x!r} does not become an element of dtype {dtype}: keys combine with keys only, as of jax.random.key")
    if isinstance(x, complex) and dtype.kind not in "cb":
        x = x.real
    if isinstance(x, float) and dtype.kind in "iu":
        return dtypes.saturated(x, dtype)
    try:
        with np.errstate(over="ignore"):  # infinity, as in compiled programs
            scalar = dtype.type(x)
    except OverflowError:
        widest = np.iinfo(dtypes.default_int_dtype())
        if isinstance(x, int) and widest.min <= x <= widest.max:
            return np.int64(x).astype(dtype)
        raise OverflowError(f"Python int {x} too large to convert to {dtype.name}") from None
    return scalar if dtype.itemsize < 8 else kept_wide(scalar)


def _cast_numpy(x: Any, dtype: Any) -> Any:
    canonical = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
    if canonical != x.dtype:
        x = x.astype(canonical)
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x != 0 if dtype == bool else x.real
    return x.astype(dtype)


FLOAT32 = np.dtype(np.float32)  # what an equation holds, which a class is not


def in_float32(fun: Callable[..., Any], *args: Any) -> Any:
    """``fun`` of arguments of one dtype; of halves of a float it is computed in float32 and rounded once: differences, powers and sums of squares
    have no place in halves where the result has."""
    dtype = dtypes.dtype(args[0])
    if dtypes.finfo(dtype).bits >= 32:
        return fun(*args)
    return convert(fun(*[x if type(x) in (int, float) else convert(x, FLOAT32) for x in args]), dtype)


def narrowed(x: Any) -> Array:
    """``x``; if it has 64 bits while x64 is off, as narrow as beside a number: for what the public jax writes with numbers."""
    if getattr(x, "dtype", None) not in NEED_X64 or not isinstance(x, Array):
        return x
    dtype = dtypes.explicit_dtype(x.dtype)
    return x if dtype == x.dtype else convert(x, dtype, x.weak_type)


def promote_dtypes(*args: Any) -> list[Array]:
    """All arguments with the dtype of their join."""
    if len(args) == 1:
        return [unwrapped(args[0])]
    dtype, weak = joined(*args)
    return [convert(x, dtype, weak) for x in args]


def check_numbers(name: str, dtype: np.dtype) -> None:
    """Refuse keys, as TypeError, where only numbers are meant."""
    if isinstance(dtype, dtypes.ExtendedDType):
        raise TypeError(f"{name} does not accept dtype {dtype}; it takes numbers, and jax.random.key_data gives those of keys")


def _to_inexact(dtype: Any) -> Any:
    if dtypes.issubdtype(dtype, np.inexact):
        return dtype
    check_numbers("a function of inexact numbers", dtype)
    return dtypes.to_inexact_dtype(dtype)


def promote_dtypes_inexact(*args: Any) -> list[Array]:
    """As `promote_dtypes`, to a floating-point or complex dtype."""
    dtype, weak = joined(*args)
    dtype = _to_inexact(dtype)
    return [convert(x, dtype, weak) for x in args]


def promote_dtypes_complex(*args: Any) -> list[Array]:
    """As `promote_dtypes`, to a complex dtype."""
    dtype, weak = joined(*args)
    dtype = dtypes.to_complex_dtype(_to_inexact(dtype))
    return [convert(x, dtype, weak) for x in args]


def promote_dtypes_numeric(*args: Any) -> list[Array]:
    """As `promote_dtypes`, with booleans as the default integer."""
    dtype, weak = joined(*args)
    return [convert(x, dtypes.to_numeric_dtype(dtype), weak) for x in args]


@overload
def strong(x: Array) -> Array: ...
@overload
def strong(x: ArrayLike) -> Any: ...
def strong(x: ArrayLike) -> Any:
    """``x`` with its weak type made strong: what was computed from many elements does not give way any more."""
    if type(x) in (int, float, complex):
        return convert(x, dtypes.dtype(x))
    if isinstance(x, Array) and x.weak_type:
        return convert_element_type_p.bind(x, new_dtype=x.dtype, weak_type=False, sharding=None)
    return x


# -- shapes ------------------------------------------------------------------------------------------------------------

def settled(x: ArrayLike) -> Any:
    """``x``; an array with axes without its weak type, which is left to single numbers by formulas with constants of their own."""
    return strong(x) if np.ndim(x) else x


def shape_of(x: ArrayLike) -> tuple[int, ...]:
    """Shape of an array or a number; () for a number."""
    return x.shape if hasattr(x, "shape") else np.shape(unwrapped(x))


def broadcast_shape(name: str, *shapes: Sequence[int], kind: type[Exception] | None = None) -> tuple[int, ...]:
    """The common shape. Where there is none, raises in the name of ``name``, with all shapes: ``kind``, by default TypeError if they have
    one rank, numbers left aside, else ValueError."""
    try:
        return joint_shape(*shapes)
    except ValueError:
        listed = ", ".join(str(tuple(s)) for s in shapes)
        kind = kind or (TypeError if len({len(s) for s in shapes if s}) == 1 else ValueError)
        raise kind(f"{name} got incompatible shapes for broadcasting: {listed}.") from None


def broadcast_to(x: ArrayLike, shape: tuple[int, ...], sharding: object = None, kind: type[tuple] = tuple) -> Array:
    """``x`` repeated to ``shape``, which its own shape is known to fit; where it is repeated, split as ``sharding`` says.

    ``kind`` is `Implied` for an operand of an elementwise operation.
    """
    own = shape_of(x)
    if own == shape and not isinstance(x, (bool, int, float, complex)):
        return x  # type: ignore[return-value]  # a value of NumPy serves as well
    lead = len(shape) - len(own)
    return broadcast_in_dim_p.bind(x, shape=tuple(shape), broadcast_dimensions=kind(range(lead, len(shape))),
                                   sharding=sharding)


def broadcast_together(args: Sequence[ArrayLike], shape: tuple[int, ...], kind: type[tuple] = tuple) -> list[Array]:
    """``args`` repeated to their common ``shape``, and split over a mesh as those are that say it; ``kind`` as for `broadcast_to`."""
    if all([type(x) in (bool, int, float, complex) or shape_of(x) == shape for x in args]):  # numbers have no cotangents
        return [broadcast_to(x, shape) for x in args]
    sharding = splits.of_broadcast([get_aval(x) for x in args if isinstance(x, Array)], shape)
    return [broadcast_to(x, shape, sharding, kind) for x in args]


def promote_shapes(name: str, *args: Any) -> list[Array]:
    """Arguments broadcast to one shape; those of rank 0 are left as they are."""
    shapes = [shape_of(x) for x in args]
    ranked = [s for s in shapes if s]
    if not ranked or all(s == ranked[0] for s in ranked):
        return list(args)
    if len({len(s) for s in ranked}) > 1:
        check_rank_promotion(name, shapes)
    full = broadcast_shape(name, *shapes)
    stretched = iter(broadcast_together([x for x, s in zip(args, shapes) if s], full, Implied))
    return [x if not s else next(stretched) for x, s in zip(args, shapes)]


def check_rank_promotion(name: str, shapes: list) -> None:
    """Refuse shapes of several ranks, or warn of them, as `jax_numpy_rank_promotion` says."""
    mode = flags.numpy_rank_promotion.value
    if mode == "allow":
        return
    message = (f"Operands could not be broadcast together without rank promotion in {name}: shapes "
               f"{', '.join(map(str, shapes))}; reshape them to one rank, or set jax_numpy_rank_promotion to 'allow'.")
    if mode == "raise":
        raise ValueError(message)
    source.warn(f"Following NumPy automatic rank promotion for {name} on shapes {' '.join(map(str, shapes))}.")


def check_batch_ranks(name: str, *operands: tuple[tuple[int, ...], int]) -> None:
    """`check_rank_promotion` of batch axes: an operand is a shape and how many of its last axes are no batch. Numbers fit all."""
    if len({len(shape) - core for shape, core in operands if shape}) > 1:
        check_rank_promotion(name, [shape for shape, _ in operands])


# -- all steps ---------------------------------------------------------------------------------------------------------

def _promoted(rule: Callable[..., list], name: str, args: tuple) -> list:
    try:
        return rule(*args)
    except (ValueError, TypeError):
        keys = [x for x in args if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType)]
        if not keys:
            if any([getattr(x, "dtype", None) == dtypes.float0 for x in args]):
                raise TypeError(f"{name} does not accept dtype float0 beside numbers: it is that of the tangents of integers and booleans, "
                                "which hold nothing; jnp.zeros(x.shape) gives zeros of another dtype") from None
            raise
        raise TypeError(f"{name} does not accept dtype {keys[0].dtype} beside or in place of numbers; random keys can be moved, "
                        "indexed and compared with each other, and jax.random.key_data gives their integers.") from None


def promote_args(name: str, *args: Any) -> list[Array]:
    """Checked, of one dtype, broadcast."""
    check_arraylike(name, *args)
    return promote_shapes(name, *_promoted(promote_dtypes, name, args))


def promote_args_inexact(name: str, *args: Any) -> list[Array]:
    """Checked, of one inexact dtype, broadcast."""
    check_arraylike(name, *args)
    return promote_shapes(name, *_promoted(promote_dtypes_inexact, name, args))


def promote_args_numeric(name: str, *args: Any) -> list[Array]:
    """Checked, of one numeric dtype, broadcast."""
    check_arraylike(name, *args)
    return promote_shapes(name, *_promoted(promote_dtypes_numeric, name, args))


def as_array(x: ArrayLike) -> Array:
    """``x`` as one of our arrays (or itself where it is one)."""
    value: Any = x
    if hasattr(value, "aval"):
        return value
    value = unwrapped(value)
    return value if hasattr(value, "aval") else backends.get().put(value)


def as_value(x: ArrayLike) -> Array:
    """``x``, with Python numbers and NumPy scalars made arrays, for operations that ask for a shape."""
    return x if isinstance(x, Array) else as_array(x)


def refuse_out(name: str, out: object) -> None:
    """Arrays are immutable, so no function writes into one."""
    if out is not None:
        raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported.")


# -- axes and shapes given by users ------------------------------------------------------------------------------------

def canonical_axis(axis: int, ndim: int, name: str = "axis", out_of_range: type[Exception] = ValueError) -> int:
    """``axis`` counted from the front. Raises ``out_of_range`` out of range (`AxisError` is an IndexError as well), TypeError for what is not
    an integer."""
    try:
        index = axis.__index__()
    except (AttributeError, TypeError) as error:
        if isinstance(error, TracerIntegerConversionError):
            raise
        raise TypeError(f"{source.entered('jax_numpy_api')}{name} must be an integer, got {axis!r} of type {type(axis).__name__}") from None
    if not -ndim <= index < ndim:
        raise out_of_range(f"{source.entered('jax_numpy_api')}{name} {index} is out of bounds for array of dimension {ndim}")
    return index + ndim if index < 0 else index


def given_axes(axis: Any, named: bool = False) -> Any:
    """What a user gave for axes, in a form that can be hashed: None, an integer, or a tuple of them for anything that yields
    integers (a list, a range, an array). With ``named``, strings, the names of mapped axes, may stand among them; then it is a tuple.
    Raises TypeError for all else."""
    if axis is None or type(axis) is int:
        return axis
    if named and isinstance(axis, str):
        return (axis,)
    try:
        if not isinstance(axis, (str, tuple, list)) and not np.ndim(axis):
            if not isinstance(axis, Iterable) or hasattr(axis, "__index__"):
                return operator.index(cast(Any, axis))
            axis = tuple(axis)
        return tuple(map(operator.index, axis))
    except (TypeError, ValueError) as error:  # ValueError: np.ndim of lists of different lengths
        if named and isinstance(axis, (tuple, list)) and any(isinstance(a, str) for a in axis):
            return tuple(a if isinstance(a, str) else operator.index(a) for a in axis)
        if isinstance(axis, Tracer):
            raise ConcretizationTypeError(axis) from None
        if isinstance(error, TracerIntegerConversionError):
            raise
        raise TypeError(f"axis must be None, an integer or several integers, got {axis!r}") from None


def given_flag(value: object) -> bool:
    """A user's yes or no on which a program depends. Raises ValueError where it cannot be hashed, as a static argument of `jit`."""
    if value is not True and value is not False and not can_be_key(value):
        raise ValueError(f"Non-hashable static arguments are used: {value!r} of type {type(value).__name__} where True or False is meant.")
    return bool(value)


def given_key_axes(axis: object, named: bool = False) -> Any:
    """`given_axes` of what can be hashed. Raises ValueError for a list, as a static argument of `jit`."""
    if axis is not None and not can_be_key(axis):
        raise ValueError(f"Non-hashable static arguments are used: axis={axis!r} of type {type(axis).__name__}; write a tuple.")
    return given_axes(axis, named)


def several_axes(axis: Axis) -> tuple[int, ...]:
    """The same, but not None, always as a tuple."""
    axes = given_axes(axis)
    return axes if isinstance(axes, tuple) else (axes,)


def canonical_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """A tuple of distinct axes counted from the front; all axes for None."""
    if axis is None:
        return tuple(range(ndim))
    given = several_axes(axis)
    axes = tuple(canonical_axis(a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in 'axis': {given}")
    return axes


def split_axes(axis: Any, ndim: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The axes to reduce: the positional ones, as `canonical_axes` gives them, and the names of mapped ones."""
    if type(axis) is not tuple or not any(type(a) is str for a in axis):
        return canonical_axes(axis, ndim), ()
    names = tuple(a for a in axis if type(a) is str)
    if len(set(names)) != len(names):
        raise ValueError(f"duplicate value in 'axis': {axis}")
    return canonical_axes(tuple(a for a in axis if type(a) is not str), ndim), names


def given_size(name: str, size: object) -> int:
    """What a user gave as ``size``. Raises TypeError for what is no integer, ValueError for a negative one."""
    size = integer(f"{name}: size", size)
    if size < 0:
        raise ValueError(f"{name}: size must not be negative, got {size}")
    return size


def canonical_shape(name: str, shape: object) -> tuple[int, ...]:
    """A shape that a user gave to the function ``name``: an integer or a sequence of them, all known now.

    Raises:
      TypeError: something else, such as a value that is being traced, or a negative length.
    """
    if type(shape) is tuple:
        for n in shape:
            if type(n) is not int or n < 0:
                break
        else:
            return shape
    result = _parse_shape(name, shape)
    for n in result:
        if n < 0:
            raise TypeError(f"{name}: a shape must have no negative lengths, got {result}")
    return result


def _parse_shape(name: str, shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    if isinstance(shape, Array) and not shape.shape or hasattr(shape, "__index__") and not hasattr(shape, "__iter__"):
        shape = (shape,)
    if isinstance(shape, (set, frozenset, Mapping, bytes, str, np.void)) or hasattr(shape, "__next__"):  # without an order, or read once
        raise shape_error(shape, name)
    try:
        entries = tuple(shape)
    except TypeError:
        raise shape_error(shape, name) from None
    result = []
    for n in entries:
        try:
            known: Any = concrete(n) if isinstance(n, Tracer) else n
            result.append(known.__index__())
        except (AttributeError, TypeError):
            raise shape_error(entries, name) from None
    return tuple(result)
