"""A handful of primitives for tests of the transformations, so that core is tested without numpy_api."""
import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ELEMENTWISE, LINEAR, ZERO
from jax_core.representation.primitive import Primitive, is_linear, none
from jax_core.traces import structural


def _same_shape(*avals, **_):
    return max(avals, key=lambda a: a.ndim)


def _elementwise(name, op, jvp, reference):
    return Primitive(name, out_type=_same_shape, jvp=jvp, transpose=none(f"{name} is not linear"), batch=ELEMENTWISE,
                     lower=op, reference=reference)


def _fit(ct, x):
    """``ct`` summed to the shape of the operand ``x``, which may be a scalar."""
    extra = len(np.shape(ct)) - x.ndim
    return structural.reduce_sum(ct, tuple(range(extra))) if extra else ct


neg_p = Primitive("neg", out_type=lambda x: x, jvp=LINEAR, transpose=lambda ct, x: neg(ct), batch=ELEMENTWISE,
                  lower="stablehlo.negate", reference=np.negative)
sin_p = _elementwise("sin", "stablehlo.sine", (lambda g, y, x: mul(g, cos(x)),), np.sin)
cos_p = _elementwise("cos", "stablehlo.cosine", (lambda g, y, x: neg(mul(g, sin(x))),), np.cos)
exp_p = _elementwise("exp", "stablehlo.exponential", (lambda g, y, x: mul(g, y),), np.exp)
mul_p = Primitive(
    "mul", out_type=_same_shape, jvp=(lambda g, out, x, y: mul(g, y), lambda g, out, x, y: mul(x, g)),
    transpose=lambda ct, x, y: (_fit(mul(ct, y), x) if is_linear(x) else None,
                                _fit(mul(x, ct), y) if is_linear(y) else None),
    batch=ELEMENTWISE, lower="stablehlo.multiply", reference=np.multiply)
greater_p = Primitive("gt", out_type=lambda x, y: ShapedArray(_same_shape(x, y).shape, np.bool_), jvp=ZERO,
                      batch=ELEMENTWISE, lower=none("not needed"), reference=np.greater)

neg, sin, cos, exp, mul, greater = (p.bind for p in (neg_p, sin_p, cos_p, exp_p, mul_p, greater_p))
add = structural.add


def total(x):
    """Sum of all elements."""
    return structural.reduce_sum(x, tuple(range(len(np.shape(x)))))


def f32(*values):
    return np.array(values, np.float32)
