"""custom_vmap under every transformation."""
import numpy as np
import pytest

from jax_core.transformations import autodiff, vmap
from jax_core.programs import jit
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


def test_forward_mode_differentiates_the_rule():
    slope = lambda x: autodiff.jvp(f, (x,), (np.float32(1),))[1]
    close(vmap.vmap(slope)(X), 2 * np.cos(X))


def test_reverse_mode_differentiates_the_program():
    close(autodiff.grad(lambda x: total(f(x)))(X), np.cos(X))


def test_wrong_structure_is_refused():
    g = custom_vmap(lambda x: x)
    g.def_vmap(lambda size, batched, x: ((x, x), True))
    with pytest.raises(ValueError, match="structure of the output of the rule"):
        vmap.vmap(g)(X)
