"""Tracebacks show the user's frames; `jax_traceback_filtering` chooses how, and shows all on request."""
import traceback

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_core.representation.source import is_internal
from jax_core.representation.tracebacks import NOTE, UnfilteredStackTrace

X = np.ones(3, np.float32)


def bad(x):
    return x + jnp.ones(5)


def in_scan(x):
    return lax.scan(lambda c, _: (bad(c), None), x, None, 2)


@jax.custom_jvp
def with_rule(x):
    return x * 2


@with_rule.defjvp
def rule(primals, tangents):
    return bad(primals[0]), tangents[0]


@jax.custom_vjp
def with_backward(x):
    return x * 2


def backward(_, ct):
    return bad(ct),


with_backward.defvjp(lambda x: (x * 2, None), backward)
total = lambda f: lambda x: f(x).sum()

CASES = {
    "an operator": lambda: bad(jnp.ones(3)),
    "an operator on the right": lambda: np.ones(5, np.float32) + jnp.ones(3),
    "jit": lambda: jax.jit(bad)(X),
    "jit with donation": lambda: jax.jit(bad, donate_argnums=0)(X),
    "jit in jit": lambda: jax.jit(lambda x: jax.jit(bad)(x))(X),
    "grad": lambda: jax.grad(bad)(X),
    "grad of jit of scan": lambda: jax.grad(jax.jit(in_scan))(X),
    "value_and_grad": lambda: jax.value_and_grad(bad)(X),
    "jvp": lambda: jax.jvp(bad, (X,), (X,)),
    "vjp": lambda: jax.vjp(bad, X),
    "linearize": lambda: jax.linearize(bad, X),
    "jacfwd": lambda: jax.jacfwd(bad)(X),
    "jacrev": lambda: jax.jacrev(bad)(X),
    "hessian": lambda: jax.hessian(total(bad))(X),
    "vmap": lambda: jax.vmap(bad)(np.ones((2, 3), np.float32)),
    "vmap of grad": lambda: jax.vmap(jax.grad(bad))(np.ones((2, 3), np.float32)),
    "scan": lambda: in_scan(X),
    "while": lambda: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0], bad(c[1])), (0, X)),
    "fori": lambda: lax.fori_loop(0, 3, lambda i, c: bad(c), X),
    "cond": lambda: lax.cond(True, bad, lambda x: x, X),
    "switch": lambda: lax.switch(1, [lambda x: x, bad], X),
    "map": lambda: lax.map(bad, np.ones((2, 3), np.float32)),
    "associative_scan": lambda: lax.associative_scan(lambda a, b: bad(a), np.ones((4, 3), np.float32)),
    "checkpoint": lambda: jax.jit(jax.checkpoint(bad))(X),
    "eval_shape": lambda: jax.eval_shape(bad, X),
    "make_jaxpr": lambda: jax.make_jaxpr(bad)(X),
    "trace": lambda: jax.jit(bad).trace(X),
    "lower": lambda: jax.jit(bad).lower(X),
    "a rule of a custom_jvp": lambda: jax.jvp(with_rule, (X,), (X,)),
    "a rule of a custom_vjp": lambda: jax.grad(total(with_backward))(X),
    "a named axis that is not there": lambda: jax.jit(lambda x: lax.psum(x, "nowhere"))(X),
    "a draw": lambda: jax.random.normal("no key"),
    "split": lambda: jax.random.split(jax.random.key(0), -1),
    "choice": lambda: jax.random.choice(jax.random.key(0), 5, (7,), replace=False),
    "an index": lambda: jnp.ones(3)["x"],
    "an update": lambda: jnp.ones(3).at[0].add("x"),
    "an update that does not fit": lambda: jnp.ones(3).at[:2].mul(jnp.ones(3)),
    "jnp.array": lambda: jnp.array("x"),
    "a ragged jnp.array": lambda: jnp.array([[1], [2, 3]]),
    "device_put": lambda: jax.device_put("x"),
    "tree.map of other trees": lambda: jax.tree.map(lambda a, b: a, [1], [1, 2]),
    "a function in tree.map": lambda: jax.tree.map(bad, [jnp.ones(3)]),
}


def raised(call):
    with pytest.raises(Exception) as info:
        call()
    return info.value


def frames(error):
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


@pytest.mark.parametrize("case", CASES)
def test_only_frames_of_the_user_are_left(case):
    error = raised(CASES[case])
    assert [f.f_code.co_filename for f in frames(error) if is_internal(f.f_code)] == []
    assert frames(error)[-1].f_code.co_filename == __file__
    assert error.__notes__ == [NOTE]


def test_the_frames_are_those_of_the_calls_in_order():
    names = [f.f_code.co_name for f in frames(raised(lambda: jax.grad(jax.jit(in_scan))(X)))]
    assert names == ["raised", "<lambda>", "in_scan", "<lambda>", "bad"]


def test_off_leaves_all_frames():
    with jax_traceback_filtering("off"):
        error = raised(CASES["scan"])
    assert sum(is_internal(f.f_code) for f in frames(error)) > 5
    assert not hasattr(error, "__notes__")


def test_remove_frames_keeps_the_whole_traceback_in_the_cause():
    with jax_traceback_filtering("remove_frames"):
        error = raised(CASES["grad of jit of scan"])
    assert not any(is_internal(f.f_code) for f in frames(error))
    assert isinstance(error.__cause__, UnfilteredStackTrace)
    assert any(is_internal(f.f_code) for f in frames(error.__cause__))


def test_tracebackhide_marks_the_frames():
    with jax_traceback_filtering("tracebackhide"):
        error = raised(CASES["scan"])
    marked = [f for f in frames(error) if f.f_locals.get("__tracebackhide__")]
    assert len(marked) > 5 and marked == [f for f in frames(error) if is_internal(f.f_code)]


def test_errors_that_are_handled_do_no_harm():
    def tries(x):
        try:
            return bad(x)
        except TypeError:
            return x
    assert np.array_equal(jax.jit(tries)(X), X)


class jax_traceback_filtering:
    """The flag for a block."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.before = jax.config.jax_traceback_filtering
        jax.config.update("jax_traceback_filtering", self.value)

    def __exit__(self, *exc):
        jax.config.update("jax_traceback_filtering", self.before)
