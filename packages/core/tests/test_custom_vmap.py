"""custom_vmap under every transformation."""
from typing import NamedTuple

import numpy as np
import pytest

from jax_core.programs import jit
from jax_core.transformations import autodiff, vmap
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.custom_vmap import custom_vmap
from toys import f32, mul, sin, total

pytestmark = pytest.mark.usefixtures("numpy_backend_in_use")
X = f32(0.3, -1.2, 2.0)


@custom_vmap
def f(x):
    return sin(x)


@f.def_vmap
def _(axis_size, in_batched, x):
    assert in_batched == [True]
    return mul(2.0, sin(x)), True


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)


def test_rule_is_used_under_vmap_only():
    close(f(X), np.sin(X))
    close(jit.jit(f)(X), np.sin(X))
    close(vmap.vmap(f)(X), 2 * np.sin(X))
    close(jit.jit(vmap.vmap(f))(X), 2 * np.sin(X))
    close(vmap.vmap(jit.jit(f))(X), 2 * np.sin(X))


MAPPED = [  # which of value and tangent are mapped, what the rule is told, the factor of the derivative, which results are mapped
    ((0, 0), [True], (0, 0)), ((0, None), [False], (0, 0)), ((None, 0), [False], (None, 0))]


@pytest.mark.parametrize("in_axes, told, out_axes", MAPPED)
def test_forward_mode_differentiates_the_rule(in_axes, told, out_axes):
    seen = []
    g = custom_vmap(lambda x: sin(x))

    @g.def_vmap
    def _(axis_size, in_batched, x):
        seen.append((axis_size, in_batched))
        return mul(2.0, sin(x)), in_batched[0]
    x, t = (X if a == 0 else np.float32(0.5) for a in in_axes)
    for mode in (lambda f: f, jit.jit):
        y, slope = vmap.vmap(mode(lambda x, t: autodiff.jvp(g, (x,), (t,))), in_axes=in_axes, out_axes=out_axes)(x, t)
        close(y, 2 * np.sin(x))
        close(slope, 2 * np.cos(x) * t)
    assert seen == [(3, told)] * 2


def test_a_rule_is_needed():
    with pytest.raises(AttributeError, match="no rule is set"):
        custom_vmap(lambda x: x)(X)


def test_rules_are_set_through_wrappers():
    for wrapped in (custom_vmap(custom_jvp(sin)), custom_jvp(custom_vmap(sin))):
        wrapped.defjvp(lambda p, t: (p[0], t[0]))
        wrapped.def_vmap(lambda size, batched, x: (x, True))
        close(vmap.vmap(wrapped)(X), X)


def test_a_method_of_a_pytree_has_a_rule():
    class Scaled(NamedTuple):
        factor: float

        @custom_vmap
        def of(self, x):
            return mul(self.factor, x)

        @of.def_vmap
        def _(axis_size, in_batched, self, x):
            assert in_batched == [Scaled(False), True]
            return mul(10 * self.factor, x), True

    close(Scaled(3.0).of(X), 3 * X)
    close(vmap.vmap(Scaled(3.0).of)(X), 30 * X)


def test_reverse_mode_differentiates_the_program():
    close(autodiff.grad(lambda x: total(f(x)))(X), np.cos(X))


@pytest.mark.parametrize("returned, error", [
    (lambda x: x, ValueError), (lambda x: (x,), ValueError), (lambda x: [x, True, True], ValueError),
    (lambda x: None, TypeError), (lambda x: 1.0, TypeError), (lambda x: {"a": x, "b": True}, TypeError)])
def test_what_is_no_pair_is_refused_as_unpacking_it_would_be(returned, error):
    g = custom_vmap(lambda x: x)
    g.def_vmap(lambda size, batched, x: returned(x))
    with pytest.raises(error, match="must return a pair"):
        vmap.vmap(g)(X)


def test_wrong_structure_is_refused():
    g = custom_vmap(lambda x: x)
    g.def_vmap(lambda size, batched, x: ((x, x), True))
    with pytest.raises(ValueError, match="must return an output of the structure"):
        vmap.vmap(g)(X)
