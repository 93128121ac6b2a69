"""What loops keep and copy: residuals of a scan, buffers handed on by a conditional, bounded while loops."""
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax

pytestmark = pytest.mark.only_cpu

N, T = 30, 20  # width of the carry, steps
W = np.asarray(np.random.RandomState(0).randn(N, N) * 0.1, np.float32)
X = np.linspace(0, 1, N, dtype=np.float32)


def stacked(fun, *args):
    """Shapes of what the first loop of the gradient stacks, with scalars left out."""
    closed = jax.make_jaxpr(jax.grad(fun))(*args)
    loop = next(e for e in closed.eqns if e.primitive.name == "scan")
    return [v.aval.shape for v in loop.outvars[loop.params["num_carry"]:] if v.aval.shape != (T,)]


def run(step, carry=X, **kw):
    return lax.scan(lambda c, _: (step(c), None), carry, None, length=T, **kw)[0].sum()


BODIES = {  # name: (function of carry and constant, what is stacked for the gradient with respect to the carry)
    "a constant": (lambda c, w: jnp.tanh(w @ c), 1),
    "computed from a constant": (lambda c, w: jnp.tanh((jnp.exp(w) + 1) @ c), 1),
    "in a jit": (lambda c, w: jax.jit(lambda c, w: jnp.tanh(w @ c))(c, w), 1),
    "computed from a constant in a jit": (lambda c, w: jax.jit(lambda c, w: jnp.tanh(jnp.exp(w) @ c))(c, w), 1),
    "in a jit in a jit": (lambda c, w: jax.jit(lambda c, w: jax.jit(lambda c, w: jnp.tanh(jnp.exp(w) @ c))(c, w))(c, w), 1),
    "in a checkpoint": (jax.checkpoint(lambda c, w: jnp.tanh(jnp.exp(w) @ jnp.sin(c))), 1),
    "in a conditional": (lambda c, w: lax.cond(c[0] > 0, lambda c: jnp.tanh(w @ c), lambda c: c * 2, c), 1),
    "computed from a constant in a conditional": (
        lambda c, w: lax.cond(c[0] > 0, lambda c: jnp.tanh(jnp.exp(w) @ c), lambda c: jnp.sin(w @ c), c), 1),
    "computed from a constant in a conditional, in both branches": (
        lambda c, w: lax.cond(c[0] > 0, lambda c: jnp.tanh(jnp.exp(w) @ c), lambda c: jnp.sin(jnp.cos(w) @ c), c), 1),
    "computed from a constant or the carry in a conditional": (
        lambda c, w: lax.cond(c[0] > 0, lambda c: jnp.tanh(jnp.exp(w[0]) * c), lambda c: jnp.sin(c) * jnp.cos(w[0]), c), 1),
    "custom_jvp": (lambda c, w: jax.nn.relu(jnp.exp(w) @ c), 1),
    "linear": (lambda c, w: jnp.exp(w) @ c, 0),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("loop", ["scan", "fori", "jit of scan", "vmap of scan"])
def test_constants_are_not_stacked_as_residuals(name, loop):
    body, count = BODIES[name]
    fun = {
        "scan": lambda c, w: run(lambda c: body(c, w), c),
        "fori": lambda c, w: lax.fori_loop(0, T, lambda i, c: body(c, w), c).sum(),
        "jit of scan": lambda c, w: run(lambda c: body(c, w), c),
        "vmap of scan": lambda c, w: jax.vmap(lambda c: run(lambda c: body(c, w), c))(c).sum(),
    }[loop]
    if loop == "vmap of scan" and "in a conditional" in name:
        return  # the predicate is batched: both branches run, and another thing is kept
    c = np.stack([X, X]) if loop == "vmap of scan" else X
    shapes = stacked(fun, c, W)
    assert len(shapes) == count
    assert all(np.prod(shape) <= T * c.size for shape in shapes)
    want = jax.grad(lambda c, w: python(body, c, w))(X, W)
    assert np.allclose((jax.jit(jax.grad(fun)) if loop.startswith("jit") else jax.grad(fun))(c, W), want, rtol=2e-3, atol=1e-5)


def python(body, c, w):
    for _ in range(T):
        c = body(c, w)
    return c.sum()


def test_nested_scans_stack_one_value_for_each_inner_step():
    def outer(c, w):
        return run(lambda c: lax.scan(lambda d, _: (jnp.tanh(jnp.exp(w) @ d), None), c, None, length=7)[0], c)
    assert stacked(outer, X, W) == [(T, 7, N)]


def test_the_gradient_of_a_constant_is_summed_not_stacked():
    closed = jax.make_jaxpr(jax.grad(lambda w: run(lambda c: jnp.tanh(jnp.exp(w) @ c))))(W)
    loops = [e for e in closed.eqns if e.primitive.name == "scan"]
    assert max(np.prod(v.aval.shape) for e in loops for v in e.outvars) <= max(T * N, N * N)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_split_transpose_is_two_loops_with_equal_results(reverse, wrap):
    def fun(w, c, xs, split):
        def step(c, x):
            return jnp.tanh(w @ c) * x, (c * w[0]).sum()
        c, ys = lax.scan(step, c, xs, reverse=reverse, _split_transpose=split)
        return c.sum() + (ys ** 2).sum()
    xs = np.linspace(0.5, 1, 6, dtype=np.float32)
    loops = {split: sum(e.primitive.name == "scan" for e in jax.make_jaxpr(
        lambda w: jax.grad(fun)(w, X, xs, split))(W).eqns) for split in (False, True)}
    assert loops == {False: 2, True: 3}
    for kind in (jax.grad, lambda f, nums: lambda *a: jax.jacrev(jax.grad(f, 1), nums)(*a)):
        one, two = (wrap(lambda w, c, xs, split=split: kind(lambda *a: fun(*a, split), (0, 1, 2))(w, c, xs))(W, X, xs)
                    for split in (False, True))
        for a, b in zip(one, two):
            assert np.allclose(a, b, rtol=1e-4, atol=1e-5)


# -- conditionals that hand buffers on ---------------------------------------------------------------------------------

SIZE = 5000
KEEP = lambda i, s: s
SET_A = lambda i, s: {**s, "a": s["a"].at[i % 5].set(2.0)}
ADD_B = lambda i, s: {**s, "b": s["b"].at[i % 5].add(1.0)}
BOTH = lambda i, s: {"a": s["a"].at[i % 5].set(2.0), "b": s["b"].at[i % 3].add(1.0)}
SWAP = lambda i, s: {"a": s["b"], "b": s["a"]}
DOUBLE = lambda i, s: {"a": s["a"] * 2, "b": s["b"] + s["a"]}
SWITCHES = {"set or keep": [SET_A, KEEP], "keep or set": [KEEP, SET_A], "set or add": [SET_A, ADD_B],
            "set, add or keep": [SET_A, ADD_B, KEEP], "both or keep": [BOTH, KEEP], "both, one or keep": [BOTH, SET_A, KEEP],
            "double or keep": [DOUBLE, KEEP], "swap or keep": [SWAP, KEEP], "swap or set": [SWAP, SET_A]}


def choosing(branches, n=7):
    def fun(a):
        step = lambda i, s: lax.switch((i * 5) % 7 % (len(branches) + 1), [lambda s, f=f: f(i, s) for f in branches], s)
        return lax.fori_loop(0, n, step, {"a": a, "b": a * 2})
    return fun


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("size", [6, SIZE])
def test_conditionals_that_hand_on_give_what_python_gives(name, size):
    fun, a = choosing(SWITCHES[name]), np.arange(size, dtype=np.float32) / size
    with jax.disable_jit():
        want = fun(jnp.asarray(a))
    got = jax.jit(fun)(a)
    for key in want:
        assert np.array_equal(got[key], want[key])
    total = lambda a: sum(jnp.sum(x ** 2) for x in fun(a).values())
    assert np.allclose(jax.jit(jax.grad(total))(a), jax.grad(lambda a: total_in_python(SWITCHES[name], a))(a), rtol=1e-5)
    lanes = jax.jit(jax.vmap(fun))(np.stack([a, a + 1]))
    assert np.array_equal(lanes["a"][0], want["a"])


def total_in_python(branches, a):
    s = {"a": a, "b": a * 2}
    for i in range(7):
        s = branches[min((i * 5) % 7 % (len(branches) + 1), len(branches) - 1)](i, s)
    return sum(jnp.sum(x ** 2) for x in s.values())


@pytest.mark.parametrize("name", [n for n in SWITCHES if "swap" not in n and "double" not in n])
def test_no_branch_copies_what_another_updates(name):
    """In the compiled program no buffer is copied inside the loop, unless a branch itself needs the value before and after."""
    text = jax.jit(choosing(SWITCHES[name])).lower(np.zeros(SIZE, np.float32)).compile().as_text()
    inside = [part for part in re.split(r"\n(?=%|ENTRY)", text) if not part.startswith(("ENTRY", "HloModule"))]
    assert not [line for part in inside for line in part.split("\n") if re.search(rf"= f32\[{SIZE}\]\S* copy\(", line)]


def test_small_or_unrelated_results_stay_conditionals():
    lower = lambda fun, *a: jax.jit(fun).lower(*a).as_text()
    assert "stablehlo.case" in lower(choosing([SET_A, KEEP]), np.zeros(6, np.float32))
    new = lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)
    assert "stablehlo.case" in lower(new, np.zeros(SIZE, np.float32))
    assert "stablehlo.case" not in lower(choosing([SET_A, KEEP]), np.zeros(SIZE, np.float32))


def test_a_small_result_beside_a_buffer():
    def fun(p, x):
        return lax.cond(p, lambda x: (x.at[0].set(9.0), x[1]), lambda x: (x, x[2] * 2), x)
    x = np.arange(SIZE, dtype=np.float32)
    for p in (True, False):
        out, small = jax.jit(fun)(p, x)
        assert out[0] == (9 if p else 0) and small == (1 if p else 4) and np.array_equal(out[1:], x[1:])


# -- loops with a bound ------------------------------------------------------------------------------------------------

def test_a_bounded_while_loop_keeps_a_square_root_of_its_steps():
    kept = {}
    for n in (100, 400, 1600):
        fun = lambda x: lax.while_loop(lambda c: c[0] < 1e9, lambda c: jnp.sin(c) + c, x, max_steps=n).sum()
        closed = jax.make_jaxpr(jax.grad(fun))(X)
        kept[n] = max(v.aval.shape[0] for e in loops_in(closed.jaxpr) for v in e.outvars
                      if v.aval.ndim == 2 and v.aval.shape[1:] == (N,))
    assert kept[100] <= 11 and kept[400] <= 21 and kept[1600] <= 41


def loops_in(jaxpr):
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "scan":
            yield eqn
        for value in eqn.params.values():
            for item in value if isinstance(value, (tuple, list)) else [value]:
                if hasattr(item, "eqns"):
                    yield from loops_in(getattr(item, "jaxpr", item))
