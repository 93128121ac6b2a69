"""Complex numbers: their parts, `complex` that joins parts, `conj`; and `abs` and `sign`, of real numbers too.

Differentiation treats a complex number as a pair of reals; a linear function's transpose uses no conjugate, so that the
gradient of a real function of ``z`` is the conjugate of its steepest ascent.

``|z|`` and ``z / |z|`` have no derivative at 0: for complex numbers both rules give 0 there, and `abs` of reals 1.

Source: StableHLO specification, `real`, `imag`, `complex`, `abs`, `sign`.
"""
from __future__ import annotations

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.marks import ELEMENTWISE, LINEAR
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.traits import Reach
from jax_core.representation.typing import ArrayLike

from .arithmetic import div_p, max_p, mul_p, neg_p
from .compare import eq_p, ge_p
from .nary import (
    COMPLEX,
    FLOAT,
    INEXACT,
    NUMERIC,
    SIGNED,
    apply,
    as_operand,
    check_dtype,
    constant,
    elementwise,
    full_operands,
    integers,
    like,
    nary_result,
    real_part,
    unbroadcast,
)
from .select import select_n_p


def _zeros_like(x):
    return constant(0, x)


def _no_part(ct):
    """The other part of a cotangent, 0. It is not weakly typed, so neither is the cotangent, whatever ``ct`` is."""
    return get_aval(ct).dtype.type(0)


real_p = elementwise("real", "stablehlo.real", accepts=COMPLEX, jvp=LINEAR, result=real_part, reference=np.real, exact=True,
                     transpose=lambda ct, x: complex_p.bind(ct, _no_part(ct)))
imag_p = elementwise("imag", "stablehlo.imag", accepts=COMPLEX, jvp=LINEAR, result=real_part, reference=np.imag, exact=True,
                     transpose=lambda ct, x: complex_p.bind(_no_part(ct), neg_p.bind(ct)))


def _complex_type(x, y):
    if x.dtype.itemsize < 4:
        raise TypeError(f"lax.complex does not accept dtype {x}; it takes float32 and float64, as no complex dtype has narrower parts")
    return dtypes.to_complex_dtype(x.dtype)


def _complex_transpose(ct, x, y):
    return (unbroadcast(real_p.bind(ct), x) if is_linear(x) else None,
            unbroadcast(imag_p.bind(neg_p.bind(ct)), y) if is_linear(y) else None)


def _complex_lower(b, x, y):
    x, y = full_operands(b, (x, y))
    return b.emit(f"stablehlo.complex {x}, {y}", x, y, out=b.out_avals[0])


def _complex_reference(x, y):
    out = np.empty(joint_shape(np.shape(x), np.shape(y)), np.result_type(np.asarray(x).dtype, np.complex64))
    out.real, out.imag = x, y
    return out


complex_p: Primitive = elementwise("complex", _complex_lower, accepts=FLOAT, result=_complex_type, transpose=_complex_transpose,
                        jvp=(lambda g, out, x, y: complex_p.bind(like(g, out), _zeros_like(g)),
                             lambda g, out, x, y: complex_p.bind(_zeros_like(g), like(g, out))),
                        reference=_complex_reference, exact=True)


def _conj_type(x, *, input_dtype=None):
    check_dtype("conj", x, INEXACT)
    return nary_result("conj", (x,), dtypes.to_complex_dtype(x.dtype))


def _conj_transpose(ct, x, *, input_dtype=None):
    conjugate = conj_p.bind(ct, input_dtype=get_aval(ct).dtype)
    return conjugate if x.dtype.kind == "c" else real_p.bind(conjugate)


def _conj_lower(b, x, *, input_dtype=None):
    """The imaginary part with the sign changed; of a real number, the complex one without imaginary part."""
    part = b.out_avals[0].update(dtype=real_part(b.out_avals[0]), weak_type=False)
    if x.aval.dtype.kind == "c":
        real = b.emit(f"stablehlo.real {x}", x, out=part)
        imag = b.emit(f"stablehlo.imag {x}", x, out=part)
        imag = b.emit(f"stablehlo.negate {imag}", imag, out=part)
    else:
        real, imag = b.convert(x, part.dtype), b.full(0, part)
    return b.emit(f"stablehlo.complex {real}, {imag}", real, imag, out=b.out_avals[0])


conj_p = Primitive(
    "conj", out_type=_conj_type, jvp=LINEAR, transpose=_conj_transpose, batch=ELEMENTWISE, lower=_conj_lower,
    reference=lambda x, *, input_dtype=None: np.conj(x).astype(dtypes.to_complex_dtype(np.asarray(x).dtype)), exact=True)


# -- magnitude and sign ------------------------------------------------------------------------------------------------

def _abs_tangent(g, out, x):
    """Of a complex number: the part of ``g`` along ``x``. Of a real one: ``g`` or ``-g``, and ``g`` at 0."""
    if get_aval(x).dtype.kind != "c":
        return select_n_p.bind(ge_p.bind(x, constant(0, x)), neg_p.bind(g), g)
    direction = sign_p.bind(x)
    return real_p.bind(mul_p.bind(g, conj_p.bind(direction, input_dtype=get_aval(x).dtype)))


def _sign_jvp(primals, tangents):
    """Of a complex number: the part of ``g`` across ``x``, divided by ``|x|``, as ``x / |x|`` only turns."""
    (x,), (g,) = primals, tangents
    out = sign_p.bind(x)
    if isinstance(g, Zero) or get_aval(x).dtype.kind != "c":
        return out, Zero.of(out)
    size = abs_p.bind(x)
    scale = select_n_p.bind(eq_p.bind(size, constant(0, size)), size, constant(1, size))
    turn = div_p.bind(imag_p.bind(mul_p.bind(g, conj_p.bind(out, input_dtype=get_aval(out).dtype))), scale)  # of reals: complex ones leave the range
    return out, mul_p.bind(complex_p.bind(_zeros_like(turn), turn), out)


def _sign_reference(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        zero = np.maximum(np.abs(x.real), np.abs(x.imag)) < np.finfo(x.dtype).tiny  # subnormal numbers are zeros on all platforms
        return np.where(zero, 0, np.exp(1j * np.angle(x.astype(np.complex128)))).astype(x.dtype)
    return np.sign(x) if x.dtype.kind != "f" else np.where(x == 0, x, np.sign(x))


def _sign_lower(b, x):
    """StableHLO has no sign of unsigned integers: there it is ``x != 0``. XLA's of complex numbers overflows."""
    if x.aval.dtype.kind == "c":
        return b.fun(_direction, x)[0]
    if not dtypes.issubdtype(x.aval.dtype, np.unsignedinteger):
        return b.emit(f"stablehlo.sign {x}", x, out=b.out_avals[0])
    return b.emit(f"stablehlo.minimum {x}, {(one := b.full(1, x.aval))}", x, one, out=b.out_avals[0])


def _abs_lower(b, x):
    """A complex number with an infinite part is infinite, though the other may be NaN; XLA's own is NaN then."""
    size = b.elementwise("stablehlo.abs", x)
    return size if x.aval.dtype.kind != "c" else b.fun(_infinite_with_a_part, x, size)[0]


def _infinite_with_a_part(x, size):
    infinity = constant(np.inf, size)
    for part in (real_p.bind(x), imag_p.bind(x)):
        size = select_n_p.bind(eq_p.bind(abs_p.bind(part), infinity), size, infinity)
    return size


def _direction(x):
    """``x / |x|``, of a number whose larger part is 1, or -1, as the size of a large one overflows. Of infinite parts only their signs count."""
    parts = real_p.bind(x), imag_p.bind(x)
    sizes = [abs_p.bind(part) for part in parts]
    larger = max_p.bind(*sizes)
    none, infinite = eq_p.bind(larger, constant(0, larger)), eq_p.bind(larger, constant(np.inf, larger))
    scaled = [div_p.bind(part, select_n_p.bind(none, larger, constant(1, larger))) for part in parts]
    signs = [mul_p.bind(sign_p.bind(part), select_n_p.bind(eq_p.bind(size, larger), constant(0, size), constant(1, size)))
             for part, size in zip(parts, sizes)]
    near = [select_n_p.bind(infinite, *pair) for pair in zip(scaled, signs)]
    size = select_n_p.bind(none, abs_p.bind(complex_p.bind(*near)), constant(1, larger))
    return complex_p.bind(*(div_p.bind(part, size) for part in near))


abs_p = elementwise("abs", _abs_lower, accepts=SIGNED + INEXACT, jvp=(_abs_tangent,), result=real_part, reference=np.abs,
                    exact=integers, in_sums=True, reach=Reach.AS_OPERANDS)
sign_p = elementwise("sign", _sign_lower, accepts=NUMERIC, jvp=_sign_jvp, reference=_sign_reference, exact=integers)


def abs(x: ArrayLike) -> Array:
    """Elementwise ``|x|``; of complex numbers a real. Raises TypeError for booleans and unsigned integers.

    Source: StableHLO `abs`.

    >>> lax.abs(jnp.array([-3., 4.]))
    Array([3., 4.], dtype=float32)
    """
    return apply(abs_p, x)


def sign(x: ArrayLike) -> Array:
    """Elementwise -1, 0 or 1; NaN and zeros stay as they are; of complex numbers ``x / |x|``. Raises TypeError for booleans.

    Source: StableHLO `sign`.

    >>> lax.sign(jnp.array([-2., 0., 5.]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return apply(sign_p, x)


# -- parts -------------------------------------------------------------------------------------------------------------


def real(x: ArrayLike) -> Array:
    """The real part of complex ``x``. Raises TypeError unless ``x`` is complex. Source: StableHLO `real`.

    >>> lax.real(jnp.complex64(1 + 2j))
    Array(1., dtype=float32)
    """
    return apply(real_p, x)


def imag(x: ArrayLike) -> Array:
    """The imaginary part of complex ``x``. Raises TypeError unless ``x`` is complex. Source: StableHLO `imag`.

    >>> lax.imag(jnp.complex64(1 + 2j))
    Array(2., dtype=float32)
    """
    return apply(imag_p, x)


def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """The complex number ``x + iy`` of real floating parts (float32 or float64).

    Args:
      x, y: of one dtype and shape, or scalars.

    Source: StableHLO `complex`.

    >>> lax.complex(1., 2.)
    Array(1.+2.j, dtype=complex64, weak_type=True)
    """
    return apply(complex_p, x, y)


def conj(x: ArrayLike) -> Array:
    """The complex conjugate; a real floating ``x`` becomes complex. Raises TypeError for other dtypes.

    Source: StableHLO `complex` of `real` and the negated `imag`.

    >>> lax.conj(jnp.complex64(1 + 2j))
    Array(1.-2.j, dtype=complex64)
    """
    x = as_operand("conj", x, 0)
    return conj_p.bind(x, input_dtype=get_aval(x).dtype)

