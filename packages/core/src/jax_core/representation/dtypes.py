"""Dtypes: which exist, how they are named and classified, and how they combine.

Dtypes are NumPy's, with the small and narrow ones of ml_dtypes, `float0` (the tangent
type of integers) and extended dtypes (random keys). What JAX adds to NumPy:

- *Canonical* dtypes: while `jax_enable_x64` is off, 64-bit types stand for the 32-bit
  types of the same kind.
- *Weak* types: a Python scalar has a kind but no width. It takes the width of what it
  meets, so `bf16_array * 2.0` is bfloat16.
- *Promotion* is the join of a lattice, drawn below. Its nodes are the dtypes and, as weak
  types, the Python types `int`, `float` and `complex`.

Joins are computed once per pair and kept in a dictionary, as promotion is on the path of
every operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Sequence, TypeAlias

import ml_dtypes
import numpy as np

from ..compat.extended_dtypes import DtypeByRules
from ..configuration import engine, flags
from . import source
from .errors import TypePromotionError
from .extended import EArray

if TYPE_CHECKING:
    from .typing import DTypeLike

# --- the types ---------------------------------------------------------------------------
finfo = ml_dtypes.finfo
iinfo = ml_dtypes.iinfo
bfloat16 = ml_dtypes.bfloat16

float0: np.dtype = np.dtype([("float0", np.void, 0)])
"""The dtype of tangents of integers and booleans: a type with one value, of no bytes."""

_bool = np.dtype(np.bool_)


def _available(*names: str) -> tuple[np.dtype, ...]:
    """Those of the named ml_dtypes types that the installed version has."""
    return tuple(np.dtype(getattr(ml_dtypes, name)) for name in names if hasattr(ml_dtypes, name))


_signed = tuple(map(np.dtype, ("int8", "int16", "int32", "int64")))
_unsigned = tuple(map(np.dtype, ("uint8", "uint16", "uint32", "uint64")))
_floats = (np.dtype(np.float16), np.dtype(bfloat16), np.dtype(np.float32), np.dtype(np.float64))
_complexes = (np.dtype(np.complex64), np.dtype(np.complex128))
_narrow_signed = _available("int1", "int2", "int4")
_narrow_unsigned = _available("uint1", "uint2", "uint4")
_narrow_floats = _available(
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")

_KINDS: dict[np.dtype, str] = {
    _bool: "b",
    **dict.fromkeys(_signed + _narrow_signed, "i"),
    **dict.fromkeys(_unsigned + _narrow_unsigned, "u"),
    **dict.fromkeys(_floats + _narrow_floats, "f"),
    **dict.fromkeys(_complexes, "c"),
}
numeric_dtypes = frozenset(_KINDS)
"""Every dtype that arrays of numbers or booleans can have."""

for _dtype in (*_narrow_signed, *_narrow_unsigned, *_narrow_floats):  # int4, float8_e5m2, ... as names of this module
    globals()[_dtype.name] = _dtype.type


class extended(np.generic):
    """Abstract scalar type: every extended dtype is a subtype of it (`issubdtype`)."""

    __module__ = "jax.dtypes"


class prng_key(extended):
    """Abstract scalar type of random keys."""

    __module__ = "jax.dtypes"


class _Opaque:
    """The rules of dtypes that have none of their own: elements are no numbers, and have no tangents."""

    tangent_dtype = staticmethod(lambda dtype: float0)
    convert_from = convert_to = staticmethod(lambda dtype, other: False)


class ExtendedDType(DtypeByRules):
    """Base class of dtypes that NumPy does not know, such as those of random keys.

    A subclass gives `type` (a subclass of `extended`), `name`, `itemsize`, equality, hash and
    `physical_element_aval`, the array type that one element is stored as. `wrap(stored)` makes
    an array of it out of the array that it is stored in, and `unwrap` is the opposite. Where the
    dispatcher of compiled calls may do both by itself (`tree_nodes.register_stored`), `is_node` is true.
    """

    __slots__ = ()
    type: type
    name: str
    is_node = False
    _rules: Any = _Opaque

    def wrap(self, stored: Any) -> Any:
        """The array whose elements are stored in ``stored``."""
        return EArray.of(self, stored)

    def unwrap(self, x: Any) -> Any:
        """The array that ``x`` is stored in."""
        return x.data

    def before_call(self, name: str, args: Sequence[object], program: object) -> None:
        """Called, while `jax_debug_key_reuse` is set, before a compiled function that holds arrays of this dtype is called."""

    def after_call(self, results: Sequence[object], program: object) -> None:
        """Called after `before_call`, when nothing is traced, with what the function returned."""

    def __repr__(self) -> str:
        return self.name


extended_dtype_finders: list[Any] = []
"""Functions that give the extended dtype of a name, or None; packages that have such dtypes add theirs."""


def extended_dtype_named(name: str) -> ExtendedDType | None:
    """The extended dtype whose `name` this is, as far as the packages that are loaded know it."""
    return next((found for find in extended_dtype_finders if (found := find(name)) is not None), None)


python_scalar_dtypes: dict[type, np.dtype] = {
    bool: _bool, int: np.dtype("int64"), float: np.dtype("float64"), complex: np.dtype("complex128")}
"""The widest dtype a Python scalar stands for."""

_PYTHON_TYPE_OF_KIND = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _kind(dtype: Any) -> str | None:
    """`b`, `i`, `u`, `f`, `c`, or `None` for a dtype that is not of numbers."""
    return _KINDS.get(dtype)


# --- canonical dtypes ----------------------------------------------------------------------
_NARROWED = {np.dtype(wide): np.dtype(narrow) for wide, narrow in (
    ("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64"))}
_canonical_x32: dict[Any, Any] = {}  # filled as asked: what users write as a dtype -> canonical dtype
_canonical_x64: dict[Any, Any] = {}


def canonicalize_dtype(dtype: DTypeLike | None, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays get when `dtype` is asked for.

    Args:
      dtype: anything `numpy.dtype` takes, a scalar type of jax.numpy, or an extended dtype.
      allow_extended_dtype: return extended dtypes unchanged, and do not refuse them.

    Returns:
      A dtype; 64-bit types become 32-bit while `jax_enable_x64` is off.

    Raises:
      TypeError: `dtype` is not a dtype.
      ValueError: it is an extended dtype, and these are not allowed.

    >>> jax.dtypes.canonicalize_dtype("float64")
    dtype('float32')
    """
    table = _canonical_x64 if flags.enable_x64.value else _canonical_x32
    try:
        return table[dtype]
    except (KeyError, TypeError):
        pass
    if isinstance(dtype, ExtendedDType):
        if allow_extended_dtype:
            return dtype
        raise ValueError(f"canonicalize_dtype: {dtype} is an extended dtype; a dtype of numbers is needed here.")
    result = np.dtype(dtype)
    if table is _canonical_x32:
        result = _NARROWED.get(result, result)
    if isinstance(dtype, (type, str, np.dtype)):
        table[dtype] = result
    return result


def default_int_dtype() -> np.dtype:
    """int32, or int64 where x64 is enabled."""
    return canonicalize_dtype(np.int64)


def default_uint_dtype() -> np.dtype:
    """uint32, or uint64 where x64 is enabled."""
    return canonicalize_dtype(np.uint64)


def default_float_dtype() -> np.dtype:
    """float32, or float64 where x64 is enabled."""
    return canonicalize_dtype(np.float64)


def default_complex_dtype() -> np.dtype:
    """complex64, or complex128 where x64 is enabled."""
    return canonicalize_dtype(np.complex128)


def default_types() -> dict[str, np.dtype]:
    """The default dtype of each kind: of `"b"`, `"i"`, `"u"`, `"f"` and `"c"`."""
    return {"b": _bool, "i": default_int_dtype(), "u": default_uint_dtype(),
            "f": default_float_dtype(), "c": default_complex_dtype()}


def explicit_dtype(dtype: DTypeLike) -> Any:
    """The dtype of something that was made with `dtype` given: canonical, or as given where `jax_explicit_x64_dtypes` is "allow"."""
    if flags.explicit_x64_dtypes.value == "allow":
        return dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
    return canonicalize_dtype(dtype, allow_extended_dtype=True)


def canonicalize_user_dtype(dtype: DTypeLike | None, fun_name: str) -> Any:
    """The dtype a user's explicit request gives; warns (or refuses) when that is not what was asked.

    Args:
      dtype: what the user passed as `dtype=`; not `None`.
      fun_name: the function it was passed to, for messages.

    Returns:
      The canonical dtype.

    Raises:
      TypeError: not a dtype, or not one an array can have.
      ValueError: an array; or a 64-bit dtype while x64 is off and `jax_explicit_x64_dtypes` is "error".
    """
    if isinstance(dtype, ExtendedDType):
        return dtype
    if isinstance(dtype, np.ndarray):
        raise TypeError(f"{fun_name}: a NumPy array of dtype {dtype.dtype} was given where a dtype is wanted; write dtype=x.dtype")
    if not isinstance(dtype, (type, str, np.dtype)) and hasattr(dtype, "__array__") and not isinstance(dtype, np.generic):
        raise ValueError(f"{fun_name}: an array of dtype {getattr(dtype, 'dtype', '')} was given where a dtype is wanted; write dtype=x.dtype")
    # Python's own int, float and complex ask for a kind; jax.numpy's scalar types and ShapeDtypeStruct carry a dtype, and so do NumPy's scalars.
    try:
        asked = dtype.dtype if isinstance(dtype, np.generic) else np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{fun_name}: dtype={dtype!r} is no dtype ({error}); give one such as jnp.float32 or 'float32'") from None
    if asked not in _KINDS and asked != float0:
        raise TypeError(f"{fun_name}: dtype={dtype!r} is not a dtype that JAX arrays can have; they hold booleans,"
                        " integers, floating-point and complex numbers.")
    if dtype is int or dtype is float or dtype is complex:
        return canonicalize_dtype(asked)
    if flags.enable_x64.value or asked not in _NARROWED:
        return asked
    mode = flags.explicit_x64_dtypes.value
    if mode == "allow":
        return asked
    narrow = _NARROWED[asked]
    if mode == "error":
        raise ValueError(f"{fun_name}: dtype={asked.name} was asked for, but 64-bit types are off. Use {narrow.name},"
                         " or turn them on with jax.config.update('jax_enable_x64', True).")
    source.warn(f"Explicitly requested dtype {asked.name} in {fun_name} is not available and was truncated to"
                f" {narrow.name}: 64-bit types are off. Turn them on with"
                " jax.config.update('jax_enable_x64', True) or the environment variable JAX_ENABLE_X64=1.")
    return narrow


# --- the dtype of a value --------------------------------------------------------------------
def dtype_and_weak_type(x: Any) -> tuple[Any, bool]:
    """The canonical dtype of a value or dtype, and whether it is weak.

    Args:
      x: an array, a tracer, a NumPy or Python scalar, a dtype, or anything that names a dtype.

    Raises:
      TypeError: `x` has no dtype, or one that JAX arrays cannot have.
    """
    if type(x) in python_scalar_dtypes:
        return canonicalize_dtype(type(x)), type(x) is not bool
    weak = getattr(x, "weak_type", None)
    if weak is not None and not isinstance(x, type):  # a JAX value: canonical already
        return x.dtype, weak
    if isinstance(x, (np.ndarray, np.generic)):
        return array_dtype(x.dtype, x), False
    if isinstance(x, type):
        if x in python_scalar_dtypes:
            return canonicalize_dtype(x), x is not bool
    elif not isinstance(x, (np.dtype, ExtendedDType)) and (found := getattr(x, "dtype", None)) is not None:
        return array_dtype(found, x), False
    if isinstance(x, (np.dtype, type, str, ExtendedDType)) or x is None:
        return array_dtype(x, x), False
    for python_type in (int, float, complex):  # instances of subclasses, as of an IntEnum
        if isinstance(x, python_type):
            return canonicalize_dtype(python_type), True
    if hasattr(x, "__jax_array__"):
        return dtype_and_weak_type(x.__jax_array__())
    raise TypeError(f"{x!r} of type {type(x).__name__} has no dtype; a number, an array or a dtype is needed.")


def array_dtype(dtype: Any, x: object) -> Any:
    """The canonical form of `dtype`, that of the value `x`. Raises TypeError for those that arrays cannot have."""
    result = canonicalize_dtype(dtype, allow_extended_dtype=True)
    if result in _KINDS or isinstance(result, ExtendedDType) or result == float0:
        return result
    raise TypeError(f"{x!r} has dtype {result}, which JAX arrays cannot have; they hold booleans, integers,"
                    " floating-point and complex numbers.")


def saturated(x: float, dtype: np.dtype) -> np.generic:
    """A float as an integer, as a compiled program converts it: NaN is 0, what is too large the nearest bound."""
    info = iinfo(dtype)
    if x != x:
        return dtype.type(0)
    return dtype.type(int(info.min) if x <= int(info.min) else int(info.max) if x >= int(info.max) else int(x))


def dtype(x: Any, canonicalize: bool = True) -> Any:
    """The dtype of a value, or the one a dtype-like object names.

    Args:
      x: as in `dtype_and_weak_type`.
      canonicalize: whether 64-bit types become 32-bit while x64 is off.

    >>> jax.lax.dtype(1.0)
    dtype('float32')
    """
    if canonicalize:
        return dtype_and_weak_type(x)[0]
    if type(x) in python_scalar_dtypes:
        return python_scalar_dtypes[type(x)]
    found = None if isinstance(x, (np.dtype, type, ExtendedDType)) else getattr(x, "dtype", None)
    if found is not None:
        return found
    return x if isinstance(x, ExtendedDType) else np.dtype(x)


def is_weakly_typed(x: object) -> bool:
    """Whether `x` is a Python number, a type of these, or a JAX value of weak type."""
    if isinstance(x, type):
        return x in python_scalar_dtypes
    weak = getattr(x, "weak_type", None)
    return type(x) in python_scalar_dtypes if weak is None else bool(weak)


def scalar_type_of(x: object) -> type:
    """The Python type (bool, int, float or complex) of the elements of `x`, a value or dtype.

    Raises:
      TypeError: the elements are not numbers.

    >>> jax.dtypes.scalar_type_of(jnp.ones(2))
    <class 'float'>
    """
    found = dtype(x, canonicalize=False)
    kind = _kind(found)
    if kind is None:
        raise TypeError(f"scalar_type_of: elements of dtype {found} are not Python numbers.")
    return _PYTHON_TYPE_OF_KIND[kind]


# --- classification --------------------------------------------------------------------------
_GROUP_OF_KIND = {"i": np.signedinteger, "u": np.unsignedinteger, "f": np.floating}
_narrow_groups = {d.type: _GROUP_OF_KIND[k] for d, k in _KINDS.items() if d.type.__module__ == "ml_dtypes"}


def issubdtype(a: DTypeLike, b: DTypeLike) -> bool:
    """Whether dtype or scalar type `a` is, or is a kind of, `b`.

    As `numpy.issubdtype`, but the types of ml_dtypes belong to `floating` and `integer`,
    and extended dtypes to `extended`. Both may be dtypes, scalar types or abstract types.

    >>> jax.dtypes.issubdtype(jax.random.key(0).dtype, jax.dtypes.prng_key)
    True
    """
    try:
        return _issubdtype(a, b)  # type: ignore[arg-type]  # not all that stands for a dtype has a hash
    except TypeError:  # something that cannot be a cache key
        return _issubdtype.__wrapped__(a, b)


@functools.lru_cache(maxsize=1024)
def _issubdtype(a: Any, b: Any) -> bool:
    if isinstance(b, ExtendedDType):
        return a == b
    a_type, b_type = _scalar_type(a), _scalar_type(b)
    if a_type in _narrow_groups and a_type is not b_type:
        a_type = _narrow_groups[a_type]
    return issubclass(a_type, b_type)


def _scalar_type(x: Any) -> type:
    if isinstance(x, ExtendedDType):
        return x.type
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return np.dtype(x).type


_ISDTYPE_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype: DTypeLike, kind: DTypeLike | Sequence[DTypeLike]) -> bool:
    """Whether `dtype` is of a kind (array API standard).

    Args:
      dtype: a dtype.
      kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" or "numeric"; a dtype; or a tuple of these, any of which will do.

    Raises:
      ValueError: `kind` is a string that is neither.
      TypeError: `kind` is something else.
    """
    dtype = dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
    return any(_is_kind(dtype, k) for k in (kind if isinstance(kind, tuple) else (kind,)))


_ABSTRACT_TYPES = (np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
                   np.complexfloating, np.flexible, np.character, extended, prng_key)


def _is_kind(dtype: Any, kind: Any) -> bool:
    if isinstance(kind, str) and kind in _ISDTYPE_KINDS:
        return (_kind(dtype) or "?") in _ISDTYPE_KINDS[kind]
    names_a_dtype = isinstance(kind, (str, type, np.dtype, ExtendedDType)) or hasattr(kind, "dtype")
    if kind in _ABSTRACT_TYPES or not names_a_dtype:
        raise TypeError(f"isdtype: kind={kind!r} must be a dtype, one of {list(_ISDTYPE_KINDS)}, or a tuple of these.")
    try:
        return dtype == (kind if isinstance(kind, ExtendedDType) else np.dtype(kind))
    except TypeError:
        raise ValueError(f"isdtype: kind={kind!r} is neither one of {list(_ISDTYPE_KINDS)} nor a dtype.") from None


def supports_inf(dtype: DTypeLike) -> bool:
    """Whether the dtype has an infinity."""
    return _kind(dtype) in ("f", "c") and dtype not in _WITHOUT_INF


_WITHOUT_INF = frozenset(d for d in _narrow_floats if d.name in (
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"))


# --- names and sizes ---------------------------------------------------------------------------
def _short(dtype: np.dtype) -> str:
    """`float32` -> `f32`, `float8_e5m2` -> `f8_e5m2`, `bfloat16` -> `bf16`, `bool` -> `bool`."""
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        if dtype.name.startswith(long):
            return short + dtype.name.removeprefix(long)
    return dtype.name


_SHORT_NAMES: dict[Any, str] = {float0: "float0", **{d: _short(d) for d in _KINDS}}


def short_name(dtype: np.dtype) -> str:
    """The name of a dtype in printed types: `f32`, `bf16`, `i8`, `bool`, `key<fry>`."""
    name = _SHORT_NAMES.get(dtype) or getattr(dtype, "name", None)
    if name is None:
        raise TypeError(f"short_name: expected a dtype, got {dtype!r}")
    return name


def itemsize_bits(dtype: np.dtype) -> int:
    """The width of a dtype in bits; a boolean counts as 8.

    Raises:
      ValueError: the dtype is not of numbers.

    >>> jax.dtypes.itemsize_bits(jnp.int4)
    4
    """
    dtype = dtype if isinstance(dtype, ExtendedDType) else np.dtype(dtype)
    kind = _kind(dtype)
    if kind is None:
        raise ValueError(f"itemsize_bits: dtype {dtype} is not of numbers.")
    if kind in "iu":
        return iinfo(dtype).bits
    return finfo(dtype).bits if dtype in _narrow_floats else dtype.itemsize * 8


# --- the promotion lattice ---------------------------------------------------------------------
#
#  bool - int* -+- uint8 -+- uint16 -+- uint32 -+- uint64 -+
#               |          \         \         \           +- float* -+- each narrow float
#               +- int8 ---- int16 ---- int32 ---- int64 ---+           +- bfloat16 -+- float32 - float64
#               +- each narrow int                                     +- float16 --+       \          \
#                                                                      +- complex* ------ complex64 - complex128
#
# Starred nodes are the weak types of Python scalars. The strict lattice has only the edges
# that give a Python scalar the dtype of what it meets.
_Node: TypeAlias = Any  # np.dtype, or int, float or complex


def _standard_edges() -> dict[_Node, list[_Node]]:
    i8, i16, i32, i64 = _signed
    u8, u16, u32, u64 = _unsigned
    f16, bf16, f32, f64 = _floats
    c64, c128 = _complexes
    return {
        _bool: [int], int: [u8, i8, *_narrow_signed, *_narrow_unsigned],
        u8: [u16, i16], u16: [u32, i32], u32: [u64, i64], u64: [float],
        i8: [i16], i16: [i32], i32: [i64], i64: [float],
        float: [f16, bf16, complex, *_narrow_floats],
        f16: [f32], bf16: [f32], f32: [f64, c64], f64: [c128],
        complex: [c64], c64: [c128],
    }


def _strict_edges() -> dict[_Node, list[_Node]]:
    return {
        int: [float, *_signed, *_unsigned, *_narrow_signed, *_narrow_unsigned],
        float: [complex, *_floats, *_narrow_floats],
        complex: [*_complexes],
    }


def _upper_bounds(edges: dict[_Node, list[_Node]]) -> dict[_Node, frozenset[_Node]]:
    """Of each node, all nodes that can be reached from it, itself included."""
    bounds: dict[_Node, frozenset[_Node]] = {}

    def visit(node: _Node) -> frozenset[_Node]:
        if node not in bounds:
            bounds[node] = frozenset([node]).union(*map(visit, edges.get(node, ())))
        return bounds[node]

    for node in (*_KINDS, int, float, complex):
        visit(node)
    return bounds


class _Lattice(dict[tuple[_Node, _Node], _Node]):
    """Joins of pairs of nodes, each computed when first asked for."""

    def __init__(self, edges: Callable[[], dict[_Node, list[_Node]]], strict: bool):
        self._bounds = _upper_bounds(edges())
        self._strict = strict

    def __missing__(self, pair: tuple[_Node, _Node]) -> _Node:
        for node in pair:
            if node not in self._bounds:
                raise ValueError(f"dtype {node} takes no part in promotion: it combines with itself only,"
                                 f" and here it meets {_node_name(pair[pair[0] is node])}.")
        common = self._bounds[pair[0]] & self._bounds[pair[1]]
        for node in common:
            if self._bounds[node] == common:
                self[pair] = node
                return node
        raise TypePromotionError(_no_join_message(pair, self._strict))


def _node_name(node: _Node) -> str:
    return f"Python {node.__name__}" if isinstance(node, type) else name_of(node)


def _no_join_message(pair: tuple[_Node, _Node], strict: bool) -> str:
    a, b = map(_node_name, pair)
    message = f"Dtypes {a} and {b} have no implicit promotion to a common dtype"
    if strict:
        message += ", as jax_numpy_dtype_promotion is 'strict'"
    else:
        narrow = next(n for n in pair if n in (*_narrow_floats, *_narrow_signed, *_narrow_unsigned))
        limits, kind = (ml_dtypes.finfo, "floats") if narrow in _narrow_floats else (ml_dtypes.iinfo, "integers")
        message += f": {limits(narrow).bits}-bit {kind} do not support implicit promotion"
    target = next((_node_name(n) for n in reversed(pair) if isinstance(n, np.dtype) and n not in _narrow_floats), b)
    return f"{message}. Convert one of the values, as with x.astype('{target}')."


_standard = _Lattice(_standard_edges, strict=False)
_strict = _Lattice(_strict_edges, strict=True)


def _weak_node(dtype: np.dtype) -> _Node:
    """The node of a weak value: the Python type of its kind (a boolean is never weak)."""
    kind = _KINDS[dtype]
    return _bool if kind == "b" else _PYTHON_TYPE_OF_KIND[kind]


def _join(a: _Node, b: _Node, lattice: _Lattice) -> _Node:
    """The join of two nodes; while x64 is off, 32-bit types do not make a 64-bit one."""
    if a is b:
        return a
    node = lattice[a, b]
    if node in _NARROWED and node is not a and node is not b and not flags.enable_x64.value:
        if a not in _NARROWED and b not in _NARROWED:
            return _NARROWED[node]
    return node


def lattice_result_type(*args: Any) -> tuple[Any, bool]:
    """The dtype that operands of an operation are brought to, and whether it is weak.

    Args:
      *args: values or dtypes, at least one.

    Raises:
      ValueError: no arguments, or dtypes that take no part in promotion.
      TypePromotionError: the dtypes have no common one.
    """
    if len(args) == 2:  # by far the most frequent
        dtype1, weak1 = dtype_and_weak_type(args[0])
        dtype2, weak2 = dtype_and_weak_type(args[1])
        if dtype1 is dtype2 and not (weak1 or weak2):
            return dtype1, False
        key = (dtype1, weak1, dtype2, weak2, engine.trace_key())
        found = _pair_results.get(key)
        if found is None:
            found = _pair_results[key] = _combine([(dtype1, weak1), (dtype2, weak2)])
        return found
    return _combine([dtype_and_weak_type(arg) for arg in args])


_pair_results: dict[tuple[Any, bool, Any, bool, engine.TraceKey], tuple[Any, bool]] = {}


def _combine(pairs: list[tuple[Any, bool]]) -> tuple[Any, bool]:
    """The join of dtypes, each with its weakness."""
    if not pairs:
        raise ValueError("result_type: at least one array or dtype is required.")
    first, weak = pairs[0]
    if not weak and all(pair == (first, False) for pair in pairs):
        return first, False
    lattice = _strict if flags.numpy_dtype_promotion.value == "strict" else _standard
    if lattice is _standard and all(weak for _, weak in pairs):
        # Among weak values alone widths do count; the result stays weak, unless it is boolean.
        dtype = functools.reduce(lambda a, b: _join(a, b, lattice), [d for d, _ in pairs])
        return dtype, dtype != _bool
    nodes = [_weak_node(d) if weak else d for d, weak in pairs]
    node = functools.reduce(lambda a, b: _join(a, b, lattice), nodes)
    if isinstance(node, type):
        return canonicalize_dtype(node), True
    return node, False


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype that combining the arguments gives, as `numpy.result_type` under JAX's rules.

    Args:
      *args: values or dtypes, at least one.
      return_weak_type_flag: return the pair of dtype and weakness.

    Raises:
      ValueError: no arguments, or dtypes that take no part in promotion.
      TypePromotionError: the dtypes have no common one.

    >>> jax.dtypes.result_type(jnp.int8, jnp.float16)
    dtype('float16')
    """
    dtype, weak = lattice_result_type(*args)
    if weak:
        dtype = default_types()[_KINDS[dtype]]
    return (dtype, weak) if return_weak_type_flag else dtype


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype that values of dtypes `a` and `b` combine to; Python's int, float and complex are weak.

    Unlike `result_type` the result is not made canonical: `promote_types("int32", float)`
    is float64. But without x64 no 64-bit integer comes of smaller ones: int32 stands in for the sum of uint32 and a signed type.

    Raises:
      TypePromotionError: there is none.
    """
    lattice = _strict if flags.numpy_dtype_promotion.value == "strict" else _standard
    nodes = [x if x in (int, float, complex) else np.dtype(x) for x in (a, b)]
    node = nodes[0] if nodes[0] == nodes[1] else lattice[nodes[0], nodes[1]]
    if node == np.int64 and node not in nodes and not flags.enable_x64.value:
        return np.dtype(np.int32)
    return np.dtype(node)


# --- related dtypes ----------------------------------------------------------------------------
def dtype_named(name: str) -> np.dtype:
    """The dtype whose ``name`` is this: NumPy's, those of ml_dtypes, and ``"float0"``."""
    if name == "float0":
        return float0
    try:
        return np.dtype(name)
    except TypeError:
        return np.dtype(getattr(ml_dtypes, name))  # it registers no names with NumPy


def name_of(dtype: Any) -> str:
    """The name by which `dtype_named` finds a dtype; NumPy calls float0 ``void``."""
    return "float0" if dtype == float0 else dtype.name


def to_inexact_dtype(dtype: np.dtype) -> Any:
    """The floating or complex dtype that functions such as `sin` compute an input of `dtype` in.

    Booleans and integers up to 32 bits give float32, wider ones float64; the rest is unchanged.
    """
    if _kind(dtype) not in ("b", "i", "u"):
        return dtype
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)


def to_floating_dtype(dtype: np.dtype) -> Any:
    """The dtype of real parts: as `to_inexact_dtype`, and the half of a complex dtype."""
    dtype = to_inexact_dtype(dtype)
    return np.dtype(f"f{dtype.itemsize // 2}") if _kind(dtype) == "c" else dtype


def to_numeric_dtype(dtype: np.dtype) -> Any:
    """The dtype arithmetic on `dtype` gives: int32 (the default integer) for booleans, else unchanged."""
    return np.dtype(np.int32) if dtype == _bool else dtype


def to_complex_dtype(dtype: np.dtype) -> np.dtype:
    """The complex dtype that holds numbers of `dtype`: complex128 for 64-bit types, else complex64."""
    if _kind(dtype) == "c":
        return dtype
    return np.dtype(np.complex128 if to_inexact_dtype(dtype) == np.float64 else np.complex64)


def common_dtype(*args: Any) -> np.dtype:
    """The dtype in which an operation that is defined for several dtypes at once computes, whatever
    `jax_numpy_dtype_promotion` allows where nothing but promotion would mix them.

    Raises:
      TypePromotionError: there is none.
    """
    return np.dtype(functools.reduce(lambda a, b: _join(a, b, _standard), map(np.dtype, args)))
