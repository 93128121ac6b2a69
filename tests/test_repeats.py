"""Small programs whose shared values XLA's fusion would compute again and again are compiled without fusion."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_xla_backend.compiling.compiler_options import UNFUSED_OPTIONS, options_for


def leaves(n, *shape):
    return tuple(np.full(shape, 0.1 * i, np.float32) for i in range(n))


def all_need_a_sum(c):
    total = c[0]
    for x in c[1:]:
        total = total + x
    return tuple(x * 0.9 + total * 0.1 for x in c)


def each_on_its_own(c):
    return tuple(x * 1.01 + 0.5 for x in c)


def butterflies(c):
    c, h = list(c), 1
    while h < len(c):
        for i in range(0, len(c), 2 * h):
            for j in range(i, i + h):
                c[j], c[j + h] = c[j] + c[j + h], c[j] - c[j + h]
        h *= 2
    return tuple(c)


def joined(v):
    return jnp.stack(all_need_a_sum(tuple(v[i] for i in range(v.shape[0]))))


def pendulum(y):
    """A step of Runge and Kutta's method: XLA takes what is stacked and sliced apart well."""
    def slope(y):
        a, b, c, d = y
        s, k = jnp.sin(a - b), jnp.cos(a - b)
        return jnp.stack([c, d, (s * k - s * (c * c * k + d * d)) / (2 - k * k), (s * c * c + k * d * d * s) / (2 - k * k)])
    k1 = slope(y)
    k2 = slope(y + 0.05 * k1)
    k3 = slope(y + 0.05 * k2)
    return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + 0.1 * k3))


def looped(body):
    return lambda c: lax.fori_loop(0, 5, lambda i, c: body(c), c)


@pytest.mark.parametrize("body, carry, unfused", [
    (all_need_a_sum, leaves(64), True),
    (all_need_a_sum, leaves(64, 1024), True),
    (all_need_a_sum, leaves(64, 1025), False),  # passes over memory count
    (all_need_a_sum, leaves(8), False),
    (each_on_its_own, leaves(64), False),
    (butterflies, leaves(64), True),
    (butterflies, leaves(32), False),  # 9 times, and more than a loop in one function holds
    (all_need_a_sum, leaves(32, 4), True),
    (all_need_a_sum, leaves(32, 512), False),
    (pendulum, np.ones(4, np.float32), False),
    (butterflies, leaves(8), False),
    (joined, np.zeros(64, np.float32), True),
    (lambda c: lax.cond(c[0] > 0, all_need_a_sum, each_on_its_own, c), leaves(64), True),
    (lambda c: all_need_a_sum(tuple(map(jnp.sum, c))), leaves(64, 3), True),
    (lambda c: (jnp.linalg.norm(jnp.stack(c)),) * len(c), leaves(64), False),
])
@pytest.mark.parametrize("wrap", [lambda f: f, looped], ids=["plain", "loop"])
def test_which_programs_repeat_work(body, carry, unfused, wrap):
    if wrap is looped and np.shape(jax.tree.leaves(carry)[0]) == (3,):
        pytest.skip("this body changes the shapes, so it is none for a loop")
    module = jax.jit(wrap(body)).lower(carry)._module
    assert module.facts.work.repeats_work is unfused
    assert (options_for(module, "cpu", ())[:1] == UNFUSED_OPTIONS) is unfused
    assert UNFUSED_OPTIONS[0] not in options_for(module, "cuda", ())


def ring(n):
    """A step of Runge and Kutta's method for ``n`` coupled oscillators, written by components."""
    def slope(y):
        q = [y[i] for i in range(2 * n)]
        return jnp.stack(q[n:] + [-q[i] + 0.1 * q[(i + 1) % n] * q[i - 1] for i in range(n)])

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + 0.05 * k1)
        return y + 0.1 / 6 * (k1 + 2 * k2 + 3 * slope(y + 0.05 * k2)), None
    return step


@pytest.mark.parametrize("n, unfused", [(4, False), (16, True)])
def test_steps_that_start_from_few_numbers_keep_fusion(n, unfused):
    """The first ran at half the speed without fusion and unrolling: LLVM finds its equal work; the second compiled for minutes with fusion."""
    gradient = jax.grad(lambda y: lax.scan(ring(n), y, length=5)[0].sum())
    module = jax.jit(gradient).lower(np.ones(2 * n, np.float32))._module
    assert module.facts.work.repeats_work is unfused


def test_chains_of_reductions_keep_fusion():
    def chain(x):
        for _ in range(60):
            x = jnp.clip(x, -1, 1)
            x = jnp.where(x > 0, x, 0.1 * x)
            x = x + jnp.sum(x, axis=0, keepdims=True)
            x = jnp.concatenate([x[1:], x[:1]])
        return x
    for function in (chain, jax.grad(lambda x: chain(x).sum())):
        assert not jax.jit(function).lower(np.ones((16, 16), np.float32))._module.facts.work.repeats_work


def test_callers_options_stand():
    module = jax.jit(all_need_a_sum).lower(leaves(64))._module
    assert options_for(module, "cpu", (("xla_cpu_enable_fast_math", False),)) == (("xla_cpu_enable_fast_math", False),)


@pytest.mark.parametrize("body", [all_need_a_sum, butterflies])
def test_results_are_those_of_single_operations(body):
    carry = leaves(64, 3)
    want = body(carry)
    for got, one in zip(jax.jit(body)(carry), want):
        assert np.allclose(got, one, rtol=1e-5)


def test_a_sum_for_every_leaf_is_in_the_program_once():
    """64 leaves took 22 microseconds a step and 8 s to compile where each leaf's kernel had the sum."""
    text = jax.jit(looped(all_need_a_sum)).lower(leaves(64)).compile().as_text()
    assert text.count(" add(") < 64 * 4
