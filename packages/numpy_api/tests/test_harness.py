"""The laws catch wrong rules: each test plants one, and sees its law fail."""
import numpy as np
import pytest

from harness import Case, eager_law, jvp_law, second_law, value_law, vjp_law, vmap_law
from jax_core.representation.marks import LINEAR
from jax_core.traces.structural import reduce_sum_p
from jax_numpy_api import lax
from jax_numpy_api.lax.nary import constant


def planted(prim, **rules):
    """A case for ``prim`` with some rules replaced."""
    wrong = prim.with_rule(**rules)
    return Case(lambda *xs: wrong.bind(*xs), "f32[3,2]", name=prim.name)


def fails(law, case, message):
    with pytest.raises(AssertionError, match=message):
        law(case)


def test_value_law_catches_a_small_error():
    case = Case(lambda x: lax.mul(lax.sin(x), np.float32(1 + 1e-5)), "f32[3,2]", name="sin")
    fails(value_law, case, r"^value of sin\(f32\[3,2\]\): error")


def test_value_law_catches_a_wrong_shape():
    fails(value_law, Case(lambda x: lax.reshape(lax.sin(x), (6,)), "f32[3,2]", name="sin"), "shape")


def test_jvp_law_catches_a_small_error():
    case = planted(lax.tanh_p, jvp=(lambda g, y, x: lax.mul(g, lax.mul(constant(1 + 1e-5, x), lax.one_minus_square(y))),))
    fails(jvp_law, case, "^jvp of tanh: error")


def test_vjp_law_catches_a_wrong_transpose():
    wrong = lax.neg_p.with_rule(transpose=lambda ct, x: ct)
    wrong.jvp = LINEAR
    fails(vjp_law, Case(lambda x: wrong.bind(x), "f32[3,2]", name="neg"), "^vjp of neg: ")


def test_second_law_catches_a_derivative_that_is_not_differentiated():
    case = planted(lax.sin_p, jvp=(lambda g, y, x: lax.mul(g, lax.stop_gradient(lax.cos(x))),))
    jvp_law(case)
    fails(second_law, case, "^second derivative of sin: ")


def test_vmap_law_catches_a_wrong_axis():
    wrong = lax.rev_p.with_rule(batch=lambda axis, args, dims, *, dimensions: (
        lax.rev_p.bind(args[0], dimensions=dimensions), dims[0]))
    fails(vmap_law, Case(lambda x: wrong.bind(x, dimensions=(0,)), "f32[3,2]", name="rev"), "^vmap of rev with in_axes=")


def test_vmap_law_catches_a_lost_axis_of_a_reduction():
    wrong = reduce_sum_p.with_rule(batch=lambda axis, args, dims, *, axes, out_sharding=None: (
        reduce_sum_p.bind(args[0], axes=(1,)), 0))
    fails(vmap_law, Case(lambda x: wrong.bind(x, axes=(1,)), "f32[3,2]", name="reduce_sum"), "^vmap of reduce_sum with")


@pytest.mark.only_cpu
def test_eager_law_catches_a_reference_that_differs_from_the_lowering():
    wrong = lax.rev_p.with_rule(reference=lambda x, *, dimensions: np.array(x))
    fails(eager_law, Case(lambda x: wrong.bind(x, dimensions=(0,)), "f32[3,2]", name="rev"), r"^eager rev\(f32\[3,2\]\): error")
