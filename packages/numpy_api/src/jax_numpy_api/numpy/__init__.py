"""jax.numpy: NumPy's interface, on arrays that can be traced, differentiated, batched and compiled.

Importing this package attaches the operators and methods to all arrays. Everything else is imported when it is first
asked for: `_MODULES` says in which module each name is.

Modules without public names: ``promotion`` (what becomes of arguments before a primitive is bound), ``rows`` (how a row of ``ufuncs``
becomes a function), ``indexing`` and ``index_plans`` (``x[index]`` and ``x.at[index]``), ``order_statistics`` (elements of given rank
without sorting), ``bessel``, ``for_libraries`` (what libraries import from ``jax._src``).
"""
from __future__ import annotations

import importlib
import sys
import types as _types
from typing import TYPE_CHECKING, Any

import numpy as _np

from jax_core.representation.array import Array as ndarray

from .array_methods import provide as _provide

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "creation": """arange array asarray astype copy empty empty_like eye from_dlpack full full_like
        identity ones ones_like tri zeros zeros_like""",
    "grids": "fromfunction geomspace indices linspace logspace meshgrid",
    "ufuncs": """abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2
        atanh bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift cbrt ceil conj conjugate cos
        cosh deg2rad degrees equal exp exp2 expm1 fabs floor greater greater_equal imag invert iscomplex iscomplexobj
        isfinite isinf isnan isneginf isposinf isreal isrealobj left_shift less less_equal log log10 log1p log2
        logical_not nextafter not_equal positive rad2deg radians real reciprocal right_shift sign sin sinh sqrt square
        tan tanh""",
    "ufunc_objects": """add bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 logical_and logical_or logical_xor
        maximum minimum multiply negative subtract""",
    "ufunc_class": "frompyfunc ufunc",
    "arithmetic": """clip divide divmod float_power floor_divide fmax fmin fmod gcd heaviside hypot lcm mod
        pow power remainder true_divide""",
    "rounding": """allclose around array_equal array_equiv copysign frexp isclose ldexp modf nan_to_num rint round
        signbit sinc spacing trunc""",
    "reductions": "all amax amin any average count_nonzero max mean min minmax prod ptp std sum var",
    "nan_reductions": "nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "extreme_places": "argmax argmin",
    "running": "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum",
    "shaping": """atleast_1d atleast_2d atleast_3d diag diagflat diagonal expand_dims flip fliplr flipud iterable
        matrix_transpose moveaxis ndim permute_dims ravel reshape resize roll rollaxis rot90 shape size squeeze
        swapaxes tile transpose tril triu""",
    "joining": """append array_split block column_stack concat concatenate dsplit dstack hsplit hstack split stack unstack
        vsplit vstack""",
    "broadcasting": "broadcast_arrays broadcast_shapes broadcast_to",
    "taking": "repeat take take_along_axis",
    "index_tricks": """c_ diag_indices diag_indices_from index_exp ix_ mask_indices mgrid ogrid r_ ravel_multi_index s_
        tril_indices tril_indices_from triu_indices triu_indices_from unravel_index""",
    "selection": """argwhere choose compress delete extract fill_diagonal flatnonzero insert nonzero piecewise place put
        put_along_axis select trim_zeros where""",
    "setops": "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values",
    "sorting": "argpartition argsort digitize lexsort partition searchsorted sort sort_complex top_k",
    "statistics": """bincount corrcoef cov histogram histogram2d histogram_bin_edges histogramdd median nanmedian
        nanpercentile nanquantile percentile quantile""",
    "linear_algebra": "cross dot inner kron matmul matvec outer tensordot trace vdot vecdot vecmat",
    "einsums": "einsum einsum_path",
    "polynomial": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander",
    "signal": "convolve correlate diff ediff1d gradient interp trapezoid unwrap",
    "windows": "bartlett blackman hamming hanning i0 kaiser",
    "padding": "pad",
    "bytes": "packbits unpackbits",
    "vectorizing": "apply_along_axis apply_over_axes vectorize",
    "files": "frombuffer fromfile fromiter fromstring load save savez",
    "printing": "array_repr array_str get_printoptions printoptions set_printoptions",
    "dtypes_api": """ComplexWarning bfloat16 bool bool_ can_cast cdouble character complex128 complex64 complex_
        complexfloating csingle double dtype finfo flexible float16 float32 float4_e2m1fn float64 float6_e2m3fn
        float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2
        float8_e5m2fnuz float8_e8m0fnu float_ floating generic iinfo inexact int1 int16 int2 int32 int4 int64 int8 int_
        integer isdtype isscalar issubdtype number object_ promote_types result_type signedinteger single uint uint1
        uint16 uint2 uint32 uint4 uint64 uint8 unsignedinteger""",
    "array_api": "__array_namespace_info__ __array_api_version__",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

e, pi, euler_gamma, inf, nan, newaxis = _np.e, _np.pi, _np.euler_gamma, _np.inf, _np.nan, None

_provide(sys.modules[__name__])


def _second_name(fun: _types.FunctionType, name: str) -> _types.FunctionType:
    """``fun`` under another of its names, which `functools` and test generators read; what it has compiled is shared."""
    alias = _types.FunctionType(fun.__code__, fun.__globals__, name, fun.__defaults__, fun.__closure__)
    alias.__kwdefaults__ = fun.__kwdefaults__
    alias.__dict__.update(fun.__dict__)
    alias.__doc__, alias.__annotations__, alias.__qualname__ = fun.__doc__, fun.__annotations__, name
    alias.__module__ = __name__  # where pickle finds this object; its home has `fun` under both names
    return alias


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is not None:
        value = getattr(importlib.import_module(f".{home}", __name__), name)
        if type(value) is _types.FunctionType and value.__name__ != name:
            value = _second_name(value, name)
    elif name in ("linalg", "fft"):
        return importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'jax.numpy' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, "linalg", "fft", "ndarray", "e", "pi", "euler_gamma", "inf", "nan", "newaxis"})
