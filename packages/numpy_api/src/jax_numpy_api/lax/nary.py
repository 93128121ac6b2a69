"""How elementwise primitives are declared: one call, or one row of a table, with all rules.

Operands of an elementwise primitive have one shape, or rank 0; rank-0 operands count for every element, so that a Python
scalar needs no array of its own. The functions of `jax.lax`, and `bind`, also stretch axes of length 1. Dtypes must be equal: promotion
is for `jax.numpy`. The result is weakly typed if all operands are.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import joint_shape
from jax_core.representation.aval import AbstractValue, ShapedArray, get_aval
from jax_core.representation.marks import ELEMENTWISE
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.tracebacks import shorten
from jax_core.representation.traits import Algebra, Kind, Quick, Reach, Traits
from jax_core.traces.structural import broadcast_in_dim, implied_broadcast, reduce_sum_p

from .accuracy import accuracy_text

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array
    from jax_core.representation.typing import ArrayLike, DTypeLike

    from .accuracy import Accuracy

FLOAT = ("real floating",)
COMPLEX = ("complex floating",)
INEXACT = FLOAT + COMPLEX
INTEGER = ("integral",)
SIGNED = ("signed integer",)
NUMERIC = INTEGER + INEXACT
BITS = ("bool",) + INTEGER
ORDERED = ("bool",) + INTEGER + FLOAT
ANY = ("bool",) + NUMERIC


def same(x: ShapedArray, *rest: ShapedArray) -> np.dtype:
    """Result dtype of most primitives: that of the first operand."""
    return x.dtype


def boolean(*avals: ShapedArray) -> np.dtype:
    """Result dtype of comparisons."""
    return _bool


def real_part(x: ShapedArray, *rest: ShapedArray) -> np.dtype:
    """Result dtype of `abs`, `real`, `imag`: a complex dtype's half."""
    return dtypes.to_floating_dtype(x.dtype) if x.dtype.kind == "c" else x.dtype


_bool = np.dtype(bool)


def check_dtype(name: str, x: AbstractValue, accepts: tuple[str, ...], position: int | None = None) -> None:
    """Raise TypeError unless the dtype of ``x`` is of one of the kinds ``accepts``."""
    if isinstance(x.dtype, dtypes.ExtendedDType) or x.dtype == dtypes.float0 or not dtypes.isdtype(x.dtype, accepts):
        where = "" if position is None else f" as argument {position}"
        raise TypeError(f"lax.{name} does not accept dtype {x.str_short()}{where}; it takes {', '.join(accepts)}. "
                        "Convert it first, as with lax.convert_element_type.")


def refuse_keys(name: str, *avals: AbstractValue) -> None:
    """Raise TypeError where an operand holds random keys, of whose words nothing is computed."""
    for i, x in enumerate(avals):
        if isinstance(x.dtype, dtypes.ExtendedDType):
            raise TypeError(f"lax.{name} does not accept dtype {x.str_short()} as argument {i}; it takes numbers, and jax.random.key_data "
                            "gives those of keys")


def integers(*avals: ShapedArray, **params: Any) -> bool:
    """Where arithmetic is exact on the host: on integers and booleans, whose results have the same bits everywhere."""
    return avals[0].dtype.kind in "biu"


def check_same_dtypes(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless all dtypes are equal."""
    first = avals[0].dtype
    for aval in avals[1:]:
        if aval.dtype != first:
            raise TypeError(f"lax.{name} requires arguments to have the same dtypes, got {', '.join(a.str_short() for a in avals)}; "
                            "convert one with lax.convert_element_type, or use jax.numpy, which promotes.")


def common_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The one shape of all operands that are not scalars; raises TypeError if there are two."""
    shape: tuple[int, ...] = ()
    for aval in avals:
        if aval.shape != shape and aval.shape:
            if shape:
                raise TypeError(f"lax.{name} requires operands of equal shapes, or scalars, got "
                                f"{', '.join(a.str_short() for a in avals)}; broadcast them with lax.broadcast_in_dim, "
                                "or use jax.numpy.")
            shape = aval.shape
    return shape


def nary_type(name: str, accepts: tuple[str, ...], result: Callable = same, equal: bool = True) -> Callable:
    """The type rule of an elementwise primitive."""
    def out_type(*avals, **params):
        if len(avals) == 1:
            check_dtype(name, avals[0], accepts)
        else:
            for i, aval in enumerate(avals):
                check_dtype(name, aval, accepts, i)
            if equal:
                check_same_dtypes(name, avals)
        return nary_result(name, avals, result(*avals))
    return out_type


def nary_result(name: str, avals: Sequence[ShapedArray], dtype: np.dtype) -> ShapedArray:
    """The result type for these operand types: their common shape; weak if all are."""
    shape = common_shape(name, avals)
    return ShapedArray(shape, dtype, all(a.weak_type for a in avals))


def full_operands(b: Builder, xs: Sequence[Value]) -> list:
    """The operands as values of the result's shape: scalars, and axes of length 1, are broadcast."""
    out = b.out_avals[0]
    return [x if x.aval.shape == out.shape else b.repeated(x, out) for x in xs]


def op(name: str) -> Callable:
    """The lowering rule "the op ``name``", for ops that take the parameter ``accuracy``."""
    def lower(b: Builder, x: Value, accuracy: Accuracy | None = None):
        return b.emit(f"{name} {x}", x, out=b.out_avals[0], attrs=accuracy_text(accuracy))
    return lower


class SpelledOut:
    """A lowering rule that writes many simple operations for one that would be costly.

    Attributes:
      in_float32: whether it does so for float32, the usual dtype.
    """

    __slots__ = ("in_float32",)
    in_float32: bool

    def __call__(self, b, *operands, **params):
        raise NotImplementedError


def int_array(values: Sequence[int]) -> str:
    """Integers as the attributes of StableHLO's operations hold them."""
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


def emit(b: Builder, name: str, *xs, out: AbstractValue | None = None):
    """The elementwise op ``name`` on values of one shape; ``out`` is the type of the first one if it is not given."""
    return b.emit(f"{name} {', '.join(map(str, xs))}", *xs, out=xs[0].aval if out is None else out)


def whole_bytes(b: Builder, x: Value) -> Any:
    """``x``, of a dtype of whole bytes: XLA's CPU code for sorting, counting and reducing pairs of narrower integers is wrong."""
    dtype = x.aval.dtype
    if dtypes.issubdtype(dtype, np.integer) and dtype != np.bool_ and dtypes.itemsize_bits(dtype) < 8:
        return b.convert(x, np.dtype(np.int8 if dtypes.issubdtype(dtype, np.signedinteger) else np.uint8))
    return x


# -- tangents and cotangents ---------------------------------------------------------------------------------------------

def like(g: ArrayLike, out: ArrayLike) -> Any:
    """The tangent ``g`` of a scalar operand, repeated to the shape of ``out``."""
    shape = np.shape(out)
    return g if np.shape(g) == shape else broadcast_in_dim(g, shape, ())


def unbroadcast(ct: Array, operand: Array) -> Any:
    """The cotangent ``ct`` of a result, for a linear operand that may be a scalar that counted for all elements: their sum."""
    if isinstance(ct, Zero):
        return ct
    shape = operand.aval.shape
    if np.shape(ct) == shape:
        return ct
    return reduce_sum_p.bind(ct, axes=tuple(range(np.ndim(ct))), out_sharding=None)


def flag(value: object) -> bool:
    """A user's yes or no as a parameter of a primitive. Raises TypeError where it cannot be hashed, as parameters must."""
    hash(value)
    return bool(value)


def promise(what: str, given: object) -> bool:
    """A user's yes or no that the compiler is told; ``what`` names it in messages. Raises TypeError if it is no bool."""
    if not isinstance(given, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, got {given!r} of type {type(given).__name__}")
    return bool(given)


def typed_scalar(value: float, dtype: DTypeLike) -> Any:
    """``value`` in exactly the dtype: a Python scalar where that has it by default, else a NumPy scalar; an array where that would be narrowed."""
    dtype = np.dtype(dtype)
    if dtype == (_FLOAT64 if flags.enable_x64.value else _FLOAT32):
        return float(value)
    return dtype.type(value) if dtype.itemsize < 8 else kept_wide(dtype.type(value))


def kept_wide(x: Any) -> Any:
    """``x``, a NumPy scalar, as one of our arrays if it is of 64 bits while x64 is off: as a NumPy value it would be narrowed."""
    if x.dtype.itemsize < 8 or dtypes.canonicalize_dtype(x.dtype) == x.dtype:
        return x
    return backends.get().put(x, ShapedArray((), x.dtype))


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def constant(value: float, x: ArrayLike) -> Any:
    """The scalar ``value`` in the dtype of ``x``."""
    return typed_scalar(value, get_aval(x).dtype)


# -- declarations --------------------------------------------------------------------------------------------------------

class Elementwise(Primitive):
    """A primitive whose `bind` stretches axes of length 1, as that of the public jax does: interpreters of users bind primitives directly.

    An equation holds operands of one shape, or rank 0. Operands that are so cost nothing more: the others are told by the error of the type rule.
    """

    stretches = True

    def bind(self, *args: Any, **params: Any) -> Any:
        try:
            return context.state.trace.process(self, args, params)
        except Exception as error:
            if type(error) is TypeError and (stretched := _fitted(self.name, args)) is not None:
                return self.bind(*stretched, **params)
            shorten(error)
            raise


def _fitted(name: str, args: Sequence[Any]) -> list | None:
    """``args`` of one rank and different shapes as operands of one shape; None where they need not or cannot be."""
    shapes = {shape for shape in (getattr(x, "shape", ()) for x in args) if shape}
    if len(shapes) < 2 or len({len(shape) for shape in shapes}) > 1:
        return None
    try:
        joint_shape(*shapes)
    except ValueError:
        return None
    return _stretched(name, args, shapes)


def elementwise(name: str, lower: object, *, accepts: tuple[str, ...], jvp: object, transpose: object = None,
                reference: Callable | None = None, result: Callable = same, equal: bool = True,
                exact: Any = False, cost: float | None = None, quick: Quick = Quick.SAME, reads: int = 1,
                in_sums: bool = False, loses_nan: bool = False, loops: bool = False, algebra: Algebra | None = None,
                reach: Reach = Reach.ANY, sums: Callable | None = None) -> Primitive:
    """Declare an elementwise primitive.

    Args:
      name: of the primitive; messages say ``lax.<name>``.
      lower: name of an op, or a rule.
      accepts: kinds of dtypes that operands may have.
      jvp, transpose, reference, exact: as for `Primitive`; without ``transpose`` there is none, as it is not linear.
      result: dtype of the result from the operands' types.
      equal: whether operands must have one dtype.
      cost, quick, reads, in_sums, loses_nan, loops, algebra, reach: as for `Traits`.
      sums: as for `Primitive`.
    """
    return Elementwise(
        name, out_type=nary_type(name, accepts, result, equal), jvp=jvp,
        transpose=transpose or none(f"lax.{name} is not linear, so it has no transpose"), batch=ELEMENTWISE,
        lower=lower, reference=quiet(reference), exact=exact,
        traits=Traits(Kind.ELEMENTWISE, cost, quick=quick, reads=reads, in_sums=in_sums, loses_nan=loses_nan, loops=loops, algebra=algebra, reach=reach,
                      spelled_out=isinstance(lower, SpelledOut) and lower.in_float32), sums=sums)


def quiet(reference):
    """NumPy's warnings about overflow and invalid values are not for our users; on integers there are none."""
    if reference is None:
        return None

    def run(*args, **params):
        if getattr(args[0], "dtype", _bool).kind in "biu":
            return reference(*args, **params)
        with np.errstate(all="ignore"):
            return reference(*args, **params)
    return run


# -- public functions ----------------------------------------------------------------------------------------------------

def apply(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Bind ``prim``; axes of length 1 are stretched where operands have one rank and different shapes.

    Raises:
      TypeError: an argument is no array or number, dtypes differ, or shapes do not fit.
    """
    full = ()
    for i, x in enumerate(args):
        shape = getattr(x, "shape", None)
        if shape is None:
            if type(x) not in dtypes.python_scalar_dtypes:
                return apply(prim, *(as_operand(prim.name, x, i) for i, x in enumerate(args)), **params)
        elif shape and shape != full:
            if full:
                return prim.bind(*_stretched(prim.name, args, {s for s in map(np.shape, args) if s}), **params)
            full = shape
    return prim.bind(*args, **params)


def as_operand(name: str, x: ArrayLike, position: int) -> Any:
    """``x`` if it can be an operand (objects with ``__jax_array__`` are asked for their array), else TypeError."""
    if type(x) in dtypes.python_scalar_dtypes or getattr(x, "shape", None) is not None:
        return x
    if hasattr(x, "__jax_array__"):
        return x.__jax_array__()
    for kind in dtypes.python_scalar_dtypes:  # instances of subclasses, as of an IntEnum
        if isinstance(x, kind):
            return kind(x)
    raise TypeError(f"lax.{name}: argument {position} must be an array or a number, got {x!r} of type {type(x).__name__}; convert "
                    "it with jax.numpy.asarray.")


def _stretched(name, args, shapes):
    if len({len(s) for s in shapes}) > 1:
        raise TypeError(f"lax.{name} requires operands of one rank, or scalars, got shapes "
                        f"{', '.join(str(np.shape(x)) for x in args)}; use lax.expand_dims, or jax.numpy.")
    try:
        full = joint_shape(*shapes)
    except ValueError:
        raise TypeError(f"lax.{name} got incompatible shapes for broadcasting: {', '.join(str(np.shape(x)) for x in args)}; "
                        "axes must have equal lengths, or 1.") from None
    dims = tuple(range(len(full)))
    sharding = splits.of_broadcast([get_aval(x) for x in args if np.shape(x)], full)
    return [x if np.shape(x) in ((), full) else implied_broadcast(x, full, dims, sharding) for x in args]
