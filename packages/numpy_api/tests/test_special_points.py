"""Special points of the differentiable elementwise functions of lax, jax.numpy and jax.nn; and that the law catches wrong ones."""
import pytest
from mpmath import mp
from special_points import At, special_points_law

from jax_core.custom_jvp import custom_jvp
from jax_numpy_api import lax

ROWS = [At(lax.log1p, mp.log1p, points="-1.25"), At(lax.exp, mp.exp), At(lax.sin, mp.sin), At(lax.tanh, mp.tanh), At(lax.erf, mp.erf)]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_special_points(row):
    special_points_law(row)


# -- the law catches wrong rules -----------------------------------------------------------------------------------------

def planted(fun, tangent):
    """``fun`` with the tangent ``tangent(g, *operands)``."""
    wrong = custom_jvp(fun)
    wrong.defjvp(lambda primals, tangents: (fun(*primals), tangent(tangents, *primals)))
    return wrong


def fails(row, message):
    with pytest.raises(AssertionError, match=message):
        special_points_law(row)


def test_a_wrong_derivative_at_a_tie_is_caught():
    """As log(exp x + exp y) by ``max + log1p(exp(-abs(x - y)))`` has it."""
    def tangent(g, x, y):
        larger = lax.ge(y, x)
        weight = lax.logistic(lax.neg(lax.abs(lax.sub(x, y))))
        weight = lax.select(lax.eq(x, y), lax.full_like(x, 0), weight)
        return lax.add(lax.mul(g[0], lax.select(larger, weight, lax.sub(lax.full_like(x, 1), weight))),
                       lax.mul(g[1], lax.select(larger, lax.sub(lax.full_like(x, 1), weight), weight)))

    def value(x, y):
        return lax.add(lax.max(x, y), lax.log1p(lax.exp(lax.neg(lax.abs(lax.sub(x, y))))))
    row = At(planted(value, tangent), lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), grid=[0.5, 2.0], name="tied")
    fails(row, r"^special points of tied: derivative by operand 0 at \(0.5, 0.5\) is 0.0 \(jvp\) and 0.0 \(vjp\), expected 0.5;")


def test_a_kink_must_be_told():
    fails(At(lambda x: lax.max(x, 0.0), lambda x: max(x, 0), nan=0, name="ramp"), "0.0 from below or 1.0 from above: a kink, which the row")


def test_another_slope_at_a_kink_is_caught():
    fails(At(lambda x: lax.max(x, 0.0), lambda x: max(x, 0), nan=0, at={0: 0}, name="ramp"), r"derivative at \(0\) is 0.5 \(jvp\)")


def test_swallowed_nan_is_caught():
    swallows = planted(lambda x: lax.sin(x), lambda g, x: lax.select(lax.eq(x, x), lax.mul(g[0], lax.cos(x)), lax.full_like(x, 0)))
    row = At(swallows, mp.sin, name="sin")
    fails(row, r"^special points of sin: derivative at \(nan\) is 0.0 \(jvp\), expected nan$")


def test_a_wrong_value_at_infinity_is_caught():
    fails(At(lambda x: lax.sub(x, lax.sub(x, lax.exp(x))), mp.exp, name="exp"), r"value at \(inf\) is nan, expected inf")


def test_nan_for_a_limit_at_infinity_is_caught():
    fails(At(lambda x: lax.mul(x, lax.logistic(x)), lambda x: x / (1 + mp.exp(-x)), name="silu"),
          r"derivative at \(inf\) is nan \(jvp\) and nan \(vjp\), expected 1$")
