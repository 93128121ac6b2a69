"""Types and constants as StableHLO text.

A type's text is looked up by its aval, and avals are shared objects, so every text is made once in the life of the
process. Extended dtypes (random keys) appear as the array they are stored in: the logical axes first, then those of
one element. Values of dtype float0 carry nothing; inside programs they are booleans (``i1``), and so are tokens where they enter and
leave a program.

Source: StableHLO specification, "Types" and "Constants"; MLIR language reference, "Dense elements attribute".
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence, cast

import ml_dtypes
import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import AbstractRef, AbstractValue, ShapedArray, Token, abstract_token

from ..jaxlib_compat import FLOAT6, VERSION_TEXT, RuntimeError_

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike

_ELEMENTS = {"bool": "i1", "complex64": "complex<f32>", "complex128": "complex<f64>", "float16": "f16",
             "float32": "f32", "float64": "f64", "bfloat16": "bf16"}
_MAX_LISTED = 16  # a constant of more elements is written as a string of bytes


def _element_text(dtype: np.dtype) -> str:
    name = dtype.name
    if name in _ELEMENTS:
        return _ELEMENTS[name]
    if name.startswith("float"):  # float8_e4m3fn is f8E4M3FN
        width, _, layout = name[5:].partition("_")
        return f"f{width}{layout.upper()}"
    return name.replace("uint", "ui").replace("int", "i")


_element_texts: dict[Any, str] = {}


def element_text(dtype: DTypeLike) -> str:
    """Name of an element type: ``f32``, ``i1``, ``complex<f64>``, ``f8E4M3FN``."""
    text = _element_texts.get(dtype)
    if text is None:
        text = _element_texts[dtype] = _element_text(np.dtype(dtype))
    return text


TOKEN_ARRAY = ShapedArray((), np.dtype(bool))


def physical_aval(aval: AbstractValue) -> AbstractValue:
    """The type that ``aval`` is stored as; ``aval`` itself unless its dtype is extended, or float0, or it is that of tokens."""
    if not isinstance(aval, ShapedArray):
        return TOKEN_ARRAY if aval is abstract_token else aval
    if aval.dtype == dtypes.float0:
        return ShapedArray(aval.shape, bool)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        element = aval.dtype.physical_element_aval
        return ShapedArray(aval.shape + element.shape, element.dtype, memory_space=aval.memory_space)
    return aval


def is_extended(aval: AbstractValue) -> bool:
    """Whether ``aval`` is an array of an extended dtype (keys)."""
    return isinstance(aval.dtype, dtypes.ExtendedDType)


class NoContents:
    """What turns arrays of dtype float0 into the booleans that stand for them inside programs, and back; as the dtypes of keys do."""

    name = "float0"
    unwrap = staticmethod(lambda x: np.zeros(x.shape, bool))
    wrap = staticmethod(lambda x: np.zeros(x.shape, dtypes.float0))


class TokenArrays:
    """What turns tokens outside of programs into the booleans that programs take and return for them, and back."""

    name = "token"
    unwrap = staticmethod(lambda x: np.zeros((), bool) if x.buf is None else x.buf)
    wrap = staticmethod(Token)


def conversions(avals: Sequence[AbstractValue]) -> tuple:
    """Pairs (index, converter) of the values that programs hold in another form than their users."""
    return tuple((i, TokenArrays if a is abstract_token else NoContents if a.dtype == dtypes.float0 else a.dtype)
                 for i, a in enumerate(avals) if is_extended(a) or a.dtype == dtypes.float0)


_texts: dict[AbstractValue, str] = {abstract_token: "!stablehlo.token"}


def type_text(aval: AbstractValue) -> str:
    """``tensor<3x4xf32>``."""
    text = _texts.get(aval)
    if text is None:
        text = _texts[aval] = _type_text(aval)
        if len(_texts) > 1 << 16:
            _texts.clear()
            _texts[abstract_token] = "!stablehlo.token"
    return text


def _type_text(aval) -> str:
    if type(aval) is AbstractRef:  # in kernels, where a reference is memory
        return type_text(aval.inner_aval)
    if not isinstance(aval, ShapedArray):
        raise TypeError(f"lowering: a value of type {aval} has no counterpart in StableHLO")
    stored = physical_aval(aval)
    if all([type(n) is int and n < 1 << 63 for n in stored.shape]) and math.prod(stored.shape) * stored.dtype.itemsize >= 1 << 63:
        # XLA counts with 64 bits; that of jaxlib 0.10 ends the process
        raise RuntimeError_(f"RESOURCE_EXHAUSTED: Out of memory: a value of type {aval.str_short()} has more bytes than any memory holds")
    if not FLOAT6 and stored.dtype.name.startswith("float6_"):
        raise NotImplementedError(f"lowering: a value of type {aval.str_short()} needs jaxlib 0.12 or later, and this is {VERSION_TEXT}; "
                                  "use a float8 dtype, or update jaxlib")
    return "tensor<" + "".join([f"{n}x" for n in stored.shape]) + element_text(stored.dtype) + ">"


def signature(text: str, types: Sequence[str], outs: Sequence[str]) -> str:
    """The types at the end of an op, in the form that the op wants."""
    if text.startswith("chlo.") and not text.startswith("chlo.broadcast_"):
        out = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
        return f" : {', '.join(types)} -> {out}"
    if text.startswith(("stablehlo.optimization_barrier", "sdy.")) and not text.startswith("sdy.manual_computation"):
        return f" : {', '.join(outs)}"
    if not types and not text.startswith(('"', "stablehlo.custom_call", "func.call", "sdy.manual_computation")):
        return f" : {', '.join(outs)}"
    out = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
    return f" : ({', '.join(types)}) -> {out}"


# -- constants -----------------------------------------------------------------------------------------------------

_DECIMAL = frozenset(map(np.dtype, ("float16", "float32", "float64", ml_dtypes.bfloat16)))


def _float_text(x: np.generic) -> str:
    """Digits that read back as the same bits; bits in hexadecimal where there are none (NaN, infinities, 8 bits)."""
    if x.dtype in _DECIMAL and np.isfinite(x):
        text = repr(float(x))
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text
    return "0x" + x.tobytes()[::-1].hex().upper()


def element_constant(x: np.generic) -> str:
    """One element of a ``dense`` constant."""
    kind = x.dtype.kind
    if kind == "b":
        return "true" if x else "false"
    if kind in "iu":
        return str(int(x))
    if kind == "c":
        return f"({_float_text(x.real)},{_float_text(x.imag)})"
    if dtypes.issubdtype(x.dtype, np.integer):  # int4 and its kin
        return str(int(x))
    return _float_text(x)


def as_dtype(value: object, dtype: np.dtype) -> Any:
    """``value`` as a NumPy scalar; integers out of range wrap around."""
    if type(value) is int and dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        if dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
    with np.errstate(all="ignore"):  # too large a value becomes infinite, as it does in the program
        return np.asarray(value).astype(dtype)[()]


_literal_texts: dict = {}
_LITERAL_LIMIT = 1 << 12


def literal_text(value: Any, dtype: Any) -> str:
    """A scalar of this dtype as an element of a ``dense`` constant."""
    try:
        key = (type(value), value or str(value), dtype)  # 0.0 and -0.0 are equal keys, their texts are not
        text = _literal_texts.get(key)
    except (TypeError, ValueError):  # an array
        return element_constant(as_dtype(value, dtype))
    if text is None:
        text = element_constant(as_dtype(value, dtype))
        if len(_literal_texts) >= _LITERAL_LIMIT:
            _literal_texts.clear()
        _literal_texts[key] = text
    return text


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return element_constant(cast(np.generic, array[()]))
    return "[" + ", ".join([_nested(part) for part in array]) + "]"


def dense_text(array: np.ndarray) -> str:
    """What stands between ``dense<`` and ``>`` for ``array``: one element, a nested list, or a string of bytes."""
    if array.size == 0:
        return ""
    data = np.ascontiguousarray(array)
    if array.ndim == 0:
        return element_constant(cast(np.generic, data.reshape(())[()]))
    raw = data.reshape(-1).view(np.uint8).reshape(array.size, -1)
    if (raw == raw[0]).all():
        return element_constant(data.reshape(-1)[0])
    if array.size <= _MAX_LISTED:
        return _nested(data)
    return f'"0x{data.tobytes().hex().upper()}"'
