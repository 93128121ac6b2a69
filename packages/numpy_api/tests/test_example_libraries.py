"""optimizers: each method minimises, follows its formula, and keeps its state a pytree."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad
from jax_numpy_api import numpy as jnp
from jax_numpy_api.example_libraries import optimizers

METHODS = {
    "sgd": lambda: optimizers.sgd(0.2),
    "momentum": lambda: optimizers.momentum(0.05, 0.9),
    "nesterov": lambda: optimizers.nesterov(0.05, 0.9),
    "adagrad": lambda: optimizers.adagrad(0.5),
    "rmsprop": lambda: optimizers.rmsprop(optimizers.exponential_decay(0.1, 20, 0.5)),
    "rmsprop_momentum": lambda: optimizers.rmsprop_momentum(optimizers.exponential_decay(0.02, 20, 0.5)),
    "adam": lambda: optimizers.adam(0.1),
    "adamax": lambda: optimizers.adamax(0.1),
    "sm3": lambda: optimizers.sm3(0.5),
}
TARGET = {"w": np.arange(6.0, dtype=np.float32).reshape(2, 3) / 6, "b": (np.float32(0.5), np.ones(3, np.float32))}


def loss(params):
    return sum(jnp.sum((x - y) ** 2) for x, y in zip(tree.leaves(params), tree.leaves(TARGET)))


@pytest.mark.parametrize("name", METHODS)
def test_method_minimises(name):
    """From zero to a known minimum, jitted, on a pytree of a number, a vector and a matrix."""
    init, update, get = METHODS[name]()
    state = init(tree.map(jnp.zeros_like, TARGET))
    step = jit(lambda i, state: update(i, grad(loss)(get(state)), state))
    for i in range(150):
        state = step(i, state)
    assert loss(get(state)) < 1e-2 * loss(tree.map(jnp.zeros_like, TARGET))
    assert tree.structure(get(state)) == tree.structure(TARGET)


def test_first_steps_of_adam():
    """Worked by hand: the first step has the length of the step size, whatever the gradient."""
    init, update, get = optimizers.adam(0.1)
    state = update(0, jnp.array([3.0, -0.01]), init(jnp.zeros(2)))
    np.testing.assert_allclose(get(state), [-0.1, 0.1], rtol=1e-5)


def test_momentum_by_hand():
    init, update, get = optimizers.momentum(1.0, 0.5)
    state = update(1, 1.0, update(0, 1.0, init(0.0)))
    assert get(state) == -1.0 - 1.5
    init, update, get = optimizers.nesterov(1.0, 0.5)
    assert get(update(0, 1.0, init(0.0))) == -1.5


@pytest.mark.parametrize("schedule,values", [
    (optimizers.constant(0.1), [0.1, 0.1, 0.1]),
    (optimizers.exponential_decay(1.0, 2, 0.25), [1.0, 0.25, 0.25 ** 2.5]),
    (optimizers.inverse_time_decay(1.0, 2, 1.0), [1.0, 0.5, 1 / 3.5]),
    (optimizers.inverse_time_decay(1.0, 2, 1.0, staircase=True), [1.0, 0.5, 1 / 3]),
    (optimizers.polynomial_decay(1.0, 4, 0.5, power=2.0), [1.0, 0.625, 0.5]),
    (optimizers.piecewise_constant([2, 4], [3.0, 2.0, 1.0]), [3.0, 3.0, 1.0]),
])
def test_schedules(schedule, values):
    """At steps 0, 2 and 5, as numbers and traced."""
    for i, value in zip((0, 2, 5), values):
        np.testing.assert_allclose(schedule(i), value, rtol=1e-6)
        np.testing.assert_allclose(jit(schedule)(i), value, rtol=1e-6)


def test_clip_grads():
    """The norm over all leaves is what is bounded."""
    grads = {"a": jnp.array([3.0, 0.0]), "b": jnp.array(4.0)}
    assert optimizers.l2_norm(grads) == 5.0
    np.testing.assert_allclose(optimizers.l2_norm(optimizers.clip_grads(grads, 1.0)), 1.0, rtol=1e-6)
    assert optimizers.clip_grads(grads, 6.0)["b"] == 4.0


def test_states_can_be_unpacked_and_packed():
    """For serialization, with a mark where the state of each parameter begins."""
    init, update, get = optimizers.adam(0.1)
    state = update(0, TARGET, init(TARGET))
    marked = optimizers.unpack_optimizer_state(state)
    assert isinstance(marked["w"], optimizers.JoinPoint) and len(marked["w"].subtree) == 3
    again = optimizers.pack_optimizer_state(marked)
    assert tree.structure(again) == tree.structure(state)
    assert all(np.array_equal(x, y) for x, y in zip(tree.leaves(again), tree.leaves(state)))
    with pytest.raises(TypeError, match="JoinPoint"):
        optimizers.pack_optimizer_state({"a": 1.0})


def test_errors_of_optimizers():
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(TypeError, match="^sgd: the gradients have the structure"):
        update(0, [1.0], init((1.0,)))
    bad = optimizers.optimizer(lambda: (lambda x: (x,), lambda i, g, s: (s[0], s[0]), lambda s: s[0]))()
    with pytest.raises(TypeError, match="changed the structure of a state"):
        bad.update_fn(0, 1.0, bad.init_fn(1.0))
    with pytest.raises(TypeError, match="make_schedule"):
        optimizers.make_schedule(jnp.ones(2))
    with pytest.raises(ValueError, match="2 boundaries need 3 values"):
        optimizers.piecewise_constant([1, 2], [1.0, 2.0])
