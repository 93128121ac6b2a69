"""Small differential equations, by Runge and Kutta's method in a scan, and gradients through them; for `interleaved.py`, in the modes run and compile.

A step works on 2 to 32 numbers, so what counts is the code of one step: whether it computes each value once, and has no loops of its own.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)


def solution(slope, y, steps, h):
    """``steps`` states after ``y``."""
    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y
    return lax.scan(step, y, None, length=steps)[1]


def lotka_volterra_fit(p, y, seen):
    """Ten steps of gradient descent for the four rates."""
    def loss(p):
        slope = lambda y: jnp.stack([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])
        return jnp.mean((solution(slope, y, len(seen), 0.05) - seen) ** 2)

    def update(p, _):
        value, slope = jax.value_and_grad(loss)(p)
        return p - 0.001 * slope, value
    return lax.scan(update, p, None, length=10)


def pendulum(y):
    return solution(lambda y: jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]]), y, 500, 0.01).sum()


def ring(y):
    """Coupled oscillators: places, then speeds."""
    n = len(y) // 2

    def slope(y):
        q = [y[i] for i in range(2 * n)]
        return jnp.stack(q[n:] + [-q[i] + 0.1 * q[(i + 1) % n] * q[i - 1] for i in range(n)])
    return solution(slope, y, 200, 0.05).sum()


def numbers(n):
    return jnp.asarray(rng.uniform(0.1, 1, n).astype(np.float32))


programs = {
    "lotka_volterra_fit": (lotka_volterra_fit, (jnp.array([1., 0.4, 1., 0.3]), jnp.array([2., 1.]), jnp.abs(numbers((200, 2))))),
    "pendulum": (pendulum, (numbers(2),)),
    "pendulum_grad": (jax.grad(pendulum), (numbers(2),)),
    "ring_4_grad": (jax.grad(ring), (numbers(8),)),
    "ring_8_grad": (jax.grad(ring), (numbers(16),)),
}
