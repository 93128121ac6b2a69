"""jax.example_libraries.optimizers: first-order methods as triples of pure functions.

An optimizer is ``(init_fn, update_fn, params_fn)``: the state for some parameters, the state after a step, and the
parameters in a state. Each method is written for one array; `optimizer` lifts it to pytrees. Step sizes are numbers or
schedules (functions of the step's number).

Sources: Polyak (1964), Nesterov (1983), Duchi et al. (2011, adagrad), Hinton (2012, rmsprop), Kingma, Ba (2015, adam and
adamax), Anil et al. (2019, sm3).
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jax_core.representation import tree, tree_nodes
from jax_core.representation.typing import ArrayLike, PyTree

from .. import numpy as jnp

Array = Any
Params = Any
State = Any
Updates = Any
Step = int


class OptimizerState(NamedTuple):
    """The state of an optimizer for a pytree of parameters; itself a pytree, whose leaves are those of ``packed_state``.

    Attributes:
      packed_state: for each parameter the leaves of its state.
      tree_def: structure of the parameters.
      subtree_defs: for each parameter the structure of its state.
    """

    packed_state: Sequence[Sequence[Any]]
    tree_def: Any
    subtree_defs: Sequence[Any]


tree_nodes.register_pytree_node(
    OptimizerState, lambda s: ((s.packed_state,), (s.tree_def, s.subtree_defs)),
    lambda structures, packed: OptimizerState(packed[0], *structures))

InitFn = Callable[[Params], OptimizerState]
UpdateFn = Callable[[int, Updates, OptimizerState], OptimizerState]
ParamsFn = Callable[[OptimizerState], Params]
Schedule = Callable[[ArrayLike], ArrayLike]


class Optimizer(NamedTuple):
    """``init_fn(params) -> state``, ``update_fn(step, gradients, state) -> state``, ``params_fn(state) -> params``."""

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


def _packed(states: Sequence[Any], tree_def: Any) -> OptimizerState:
    flat = [tree.flatten(state) for state in states]
    return OptimizerState(tuple(leaves for leaves, _ in flat), tree_def, tuple(structure for _, structure in flat))


def _states(state: OptimizerState) -> list:
    """Those of the leaves. Raises TypeError for what is no state of an optimizer."""
    if not isinstance(state, OptimizerState):
        raise TypeError(f"expected the state of an optimizer, as its init makes it, got {state!r} of type {type(state).__name__}")
    return [tree.unflatten(structure, leaves) for structure, leaves in zip(state.subtree_defs, state.packed_state)]


def optimizer(opt_maker: Callable[..., tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]]) -> Callable:
    """Lift an optimizer of one array to pytrees. Used as a decorator.

    Args:
      opt_maker: returns ``(init(x) -> s, update(i, g, s) -> s, get_params(s) -> x)``, where ``s`` is a pytree.

    Returns:
      a function of the same arguments that returns an `Optimizer`; its ``update_fn`` raises TypeError for gradients of
      another structure than the parameters, for what is no state, and for an ``update`` that changes the structure of its state.

    >>> from jax.example_libraries import optimizers
    >>> @optimizers.optimizer
    ... def descent(rate):
    ...     return lambda x0: x0, lambda i, g, x: x - rate * g, lambda x: x
    >>> init, update, params = descent(0.1)
    >>> params(update(0, {'w': 1.0}, init({'w': 2.0})))
    {'w': 1.9}
    """
    @functools.wraps(opt_maker)
    def make(*args, **kwargs):
        init, update, get_params = opt_maker(*args, **kwargs)

        def init_fn(params: dict):
            leaves, structure = tree.flatten(params)
            return _packed([init(x) for x in leaves], structure)

        def update_fn(i: ArrayLike, grads: PyTree, state: PyTree):
            states = _states(state)
            leaves, structure = tree.flatten(grads)
            if structure != state.tree_def:
                raise TypeError(f"{opt_maker.__name__}: the gradients have the structure {structure}, the parameters "
                                f"{state.tree_def}; they must be the same")
            after = _packed([update(i, g, s) for g, s in zip(leaves, states)], structure)
            for old, new in zip(state.subtree_defs, after.subtree_defs):
                if old != new:
                    raise TypeError(f"{opt_maker.__name__}: update changed the structure of a state from {old} to {new}")
            return after

        def params_fn(state: PyTree):
            states = _states(state)
            return tree.unflatten(state.tree_def, [get_params(s) for s in states])
        return Optimizer(init_fn, update_fn, params_fn)
    return make


# -- methods -------------------------------------------------------------------------------------------------------------

def _from_zeros(count: int, step: Callable[..., tuple]) -> tuple[Callable, Callable, Callable]:
    """The method that keeps ``count`` arrays beside the parameters ``x``, all 0 at first: ``step(i, g, x, *arrays)`` gives them and ``x`` anew."""
    def init(x: Array):
        return x, *(jnp.zeros_like(x) for _ in range(count))
    return init, lambda i, g, state: step(i, g, *state), lambda state: state[0]


@optimizer
def sgd(step_size: ArrayLike) -> Any:
    """Gradient descent: ``x -= step g``.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.sgd(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.9], dtype=float32)
    """
    step = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - step(i) * g, lambda x: x


@optimizer
def momentum(step_size: ArrayLike, mass: float) -> Any:
    """Heavy ball: ``v = mass v + g``, ``x -= step v``.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.momentum(0.1, 0.9)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.9], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, v: Array):
        v = mass * v + g
        return x - step(i) * v, v
    return _from_zeros(1, update)


@optimizer
def nesterov(step_size: ArrayLike, mass: float) -> Any:
    """Nesterov's momentum: ``v = mass v + g``, ``x -= step (mass v + g)``.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.nesterov(0.1, 0.9)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.81], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, v: Array):
        v = mass * v + g
        return x - step(i) * (mass * v + g), v
    return _from_zeros(1, update)


def _rsqrt_or_zero(x):
    """``x**-0.5``, and 0 where ``x`` is 0, where no gradient was ever seen."""
    positive = x > 0
    return jnp.where(positive, 1 / jnp.sqrt(jnp.where(positive, x, 1)), 0)


@optimizer
def adagrad(step_size: ArrayLike, momentum: float = 0.9) -> Any:
    """Gradients over the root of the sum of their squares, averaged with weight ``momentum`` on the past.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.adagrad(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.99], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, squares: Array, m: Array):
        squares = squares + jnp.square(g)
        m = (1 - momentum) * (g * _rsqrt_or_zero(squares)) + momentum * m
        return x - step(i) * m, squares, m
    return _from_zeros(2, update)


@optimizer
def rmsprop(step_size: ArrayLike, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """Gradients over the root of the running mean (weight ``gamma`` on the past) of their squares plus ``eps``.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.rmsprop(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.6837723], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, mean: Array):
        mean = gamma * mean + (1 - gamma) * jnp.square(g)
        return x - step(i) * g / jnp.sqrt(mean + eps), mean
    return _from_zeros(1, update)


@optimizer
def rmsprop_momentum(step_size: ArrayLike, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9) -> Any:
    """`rmsprop`, whose steps gather momentum.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.rmsprop_momentum(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.6837723], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, mean: Array, v: Array):
        mean = gamma * mean + (1 - gamma) * jnp.square(g)
        v = momentum * v + step(i) * g / jnp.sqrt(mean + eps)
        return x - v, mean, v
    return _from_zeros(2, update)


@optimizer
def adam(step_size: ArrayLike, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Running means of gradients (``b1``) and of their squares (``b2``), corrected for their start at zero.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.adam(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.9], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, m: Array, v: Array):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * jnp.square(g)
        n = i + 1
        first, second = (jnp.asarray(1 - b ** n, m.dtype) for b in (b1, b2))
        return x - step(i) * (m / first) / (jnp.sqrt(v / second) + eps), m, v
    return _from_zeros(2, update)


@optimizer
def adamax(step_size: ArrayLike, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """`adam` with the running maximum of the gradients' moduli in place of their mean square.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.adamax(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.9], dtype=float32)
    """
    step = make_schedule(step_size)

    def update(i: ArrayLike, g: Array, x: Array, m: Array, v: Array):
        m = b1 * m + (1 - b1) * g
        v = jnp.maximum(b2 * v, jnp.abs(g))
        n = i + 1
        return x - step(i) / jnp.asarray(1 - b1 ** n, m.dtype) * m / (v + eps), m, v
    return _from_zeros(2, update)


@optimizer
def sm3(step_size: ArrayLike, momentum: float = 0.9) -> Any:
    """`adagrad` with one accumulator for each index of each axis instead of one for each element.

    A number has one accumulator, as a vector of one element has.

    >>> from jax.example_libraries import optimizers
    >>> init, update, params = optimizers.sm3(0.1)
    >>> params(update(0, jnp.array([1.0]), init(jnp.array([2.0]))))
    Array([1.99], dtype=float32)
    """
    step = make_schedule(step_size)

    def along(v: Array, axis: int, ndim: int):
        return v.reshape([-1 if k == axis else 1 for k in range(ndim)])

    def init(x: Array):
        x = jnp.asarray(x)
        return x, jnp.zeros_like(x), [jnp.zeros(n, x.dtype) for n in x.shape or (1,)]

    def update(i: ArrayLike, g: Array, state: PyTree):
        x, m, bounds = state
        least = functools.reduce(jnp.minimum, [along(v, k, x.ndim) for k, v in enumerate(bounds)])
        squares = least + jnp.square(g)
        m = (1 - momentum) * (g * _rsqrt_or_zero(squares)) + momentum * m
        bounds = [squares.max([a for a in range(x.ndim) if a != k]).reshape(-1) for k in range(len(bounds))]
        return x - step(i) * m, m, bounds
    return init, update, lambda state: state[0]


# -- schedules -----------------------------------------------------------------------------------------------------------

def constant(step_size: float) -> Schedule:
    """The same step size always.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.constant(0.1)(1000)
    0.1
    """
    def schedule(i: ArrayLike):
        return step_size
    return schedule


def exponential_decay(step_size: float, decay_steps: int, decay_rate: float) -> Schedule:
    """``step_size * decay_rate ** (i / decay_steps)``.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """
    def schedule(i: ArrayLike):
        return step_size * decay_rate ** (i / decay_steps)
    return schedule


def inverse_time_decay(step_size: float, decay_steps: int, decay_rate: float, staircase: bool = False) -> Schedule:
    """``step_size / (1 + decay_rate * i / decay_steps)``; with ``staircase`` the quotient ``i / decay_steps`` is rounded down.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.inverse_time_decay(1.0, 10, 1.0)(10)
    0.5
    """
    def schedule(i: ArrayLike):
        progress = jnp.floor(i / decay_steps) if staircase else i / decay_steps
        return step_size / (1 + decay_rate * progress)
    return schedule


def polynomial_decay(step_size: float, decay_steps: int, final_step_size: float, power: float = 1.0) -> Schedule:
    """From ``step_size`` to ``final_step_size`` in ``decay_steps`` steps, as ``(1 - i / decay_steps) ** power``; then constant.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.polynomial_decay(1.0, 10, 0.0)(5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    def schedule(i: ArrayLike):
        left = 1 - jnp.minimum(i, decay_steps) / decay_steps
        return final_step_size + (step_size - final_step_size) * left ** power
    return schedule


def piecewise_constant(boundaries: Sequence[ArrayLike], values: ArrayLike) -> Schedule:
    """``values[k]`` for steps after the ``k``-th boundary; a boundary itself belongs to the piece before it.

    Raises:
      ValueError: not one value more than boundaries, or one of them is not a vector.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.piecewise_constant([10, 20], [1.0, 0.1, 0.01])(15)
    Array(0.1, dtype=float32)
    """
    ends, steps = jnp.array(boundaries), jnp.array(values)
    if ends.ndim != 1 or steps.ndim != 1:
        raise ValueError("piecewise_constant: boundaries and values must be vectors, got shapes "
                         f"{ends.shape} and {steps.shape}")
    if ends.shape[0] != steps.shape[0] - 1:
        raise ValueError(f"piecewise_constant: {ends.shape[0]} boundaries need {ends.shape[0] + 1} values, got "
                         f"{steps.shape[0]}")

    def schedule(i: ArrayLike):
        return steps[jnp.sum(i > ends)]
    return schedule


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule as it is; a number as a constant schedule.

    Raises:
      TypeError: neither of the two.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.make_schedule(0.1)(7)
    0.1
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) == 0 and not isinstance(scalar_or_schedule, str):
        return constant(scalar_or_schedule)
    raise TypeError(f"make_schedule: expected a number or a function of the step, got {type(scalar_or_schedule)}")


# -- gradients -----------------------------------------------------------------------------------------------------------

def l2_norm(tree: PyTree) -> Any:
    """The Euclidean norm of all leaves together.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.l2_norm({'a': jnp.array([3.0]), 'b': jnp.array([4.0])})
    Array(5., dtype=float32)
    """
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in _leaves(tree)))


_leaves = tree.leaves


def clip_grads(grad_tree: PyTree, max_norm: float) -> Any:
    """Gradients scaled down to the norm ``max_norm`` where theirs is larger.

    >>> from jax.example_libraries import optimizers
    >>> optimizers.clip_grads(jnp.array([3.0, 4.0]), 1.0)
    Array([0.6, 0.8], dtype=float32)
    """
    norm = l2_norm(grad_tree)
    return tree.map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


# -- states as pytrees ---------------------------------------------------------------------------------------------------

class JoinPoint:
    """A leaf that holds a pytree: where the tree of parameters ends and the state of one parameter begins."""

    def __init__(self, subtree: Any):
        self.subtree = subtree

    def __iter__(self):
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state in the structure of the parameters, with a `JoinPoint` for each; for serialization.

    Raises:
      TypeError: ``opt_state`` is something else.

    >>> from jax.example_libraries import optimizers
    >>> state = optimizers.momentum(0.1, 0.9)[0](jnp.array([2.0]))
    >>> jax.tree.leaves(optimizers.unpack_optimizer_state(state))[0].subtree
    (Array([2.], dtype=float32), Array([0.], dtype=float32))
    """
    if not isinstance(opt_state, OptimizerState):
        raise TypeError(f"unpack_optimizer_state: expected the state of an optimizer, got {opt_state!r} of type {type(opt_state).__name__}")
    return tree.unflatten(opt_state.tree_def, [JoinPoint(state) for state in _states(opt_state)])


def pack_optimizer_state(marked_pytree: PyTree) -> OptimizerState:
    """The inverse of `unpack_optimizer_state`.

    Raises:
      TypeError: a leaf is not a `JoinPoint`.

    >>> from jax.example_libraries import optimizers
    >>> init, _, params = optimizers.sgd(0.1)
    >>> state = init(jnp.array([2.0]))
    >>> params(optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(state)))
    Array([2.], dtype=float32)
    """
    marks, structure = tree.flatten(marked_pytree)
    wrong = [x for x in marks if not isinstance(x, JoinPoint)]
    if wrong:
        raise TypeError(f"pack_optimizer_state: each leaf must be a JoinPoint, got {type(wrong[0]).__name__}")
    return _packed([mark.subtree for mark in marks], structure)
