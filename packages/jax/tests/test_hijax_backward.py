"""Backward rules of a user's primitives: what they log, the residuals that they keep in trees of their own, and references to add to."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import hijax


class Square(hijax.HiPrim):
    """Keeps its operand under ``name``, and logs the cotangent there."""

    def __init__(self, aval, name):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {"name": name}
        super().__init__()

    def expand(self, x):
        return x ** 2

    def vjp_fwd(self, nonzeros, x):
        return self(x), (), True, {self.name: x}

    def vjp_bwd(self, res, kept, g, accum):
        accum.accum(2 * kept[self.name] * g)
        return {self.name: g}


class ByReturn(hijax.HiPrim):
    """Logs by a flag."""
    vjp_bwd_retval_logs = True

    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    def expand(self, x):
        return 3 * x

    def vjp_fwd(self, nonzeros, x):
        return self(x), None

    def vjp_bwd_retval(self, res, g):
        return (3 * g,), {"g": g}


class ByMethod(ByReturn):
    def vjp_bwd_retval_logs(self, res, g):
        return (3 * g,), {"m": g}


class Taken(hijax.HiPrim):
    """An element, whose cotangent goes straight into a reference."""

    def __init__(self, aval, i):
        self.in_avals, self.out_aval, self.params = (aval,), hijax.ShapedArray((), aval.dtype), {"i": i}
        super().__init__()

    def expand(self, x):
        return x[self.i]

    def vjp_fwd(self, nonzeros, x):
        return self(x), None

    def vjp_bwd(self, res, g, accum):
        if isinstance(accum, hijax.RefAccum):
            accum.ref[self.i] += g
        else:
            accum.accum(jnp.zeros(accum.aval.shape).at[self.i].add(g))


def square(x, name="square"):
    return Square(jax.typeof(x), name)(x)


def plain(value):
    """Numbers of a tree, with lists for arrays."""
    if type(value).__name__ == "CondSum":
        return ["branch", int(value.index), *map(plain, value.branches)]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else None if value is None else np.asarray(value).tolist()


def in_scan(xs):
    return jax.lax.scan(lambda c, x: (c + square(x), None), 0.0, xs)[0]


def in_cond(x):
    return jax.lax.cond(x > 0, lambda x: square(x, "yes"), lambda x: square(x, "no"), x)


XS = jnp.arange(1.0, 4.0)
PROGRAMS = {  # function, argument, its logs for a cotangent of 1, its structured residuals
    "alone": (square, 3.0, {"square": 1}, [{"square": 3}]),
    "twice": (lambda x: square(square(x, "first"), "second"), 3.0, {"second": 1, "first": 18}, [{"first": 3}, {"second": 9}]),
    "jit": (jax.jit(square), 3.0, {"square": 1}, [[{"square": 3}]]),
    "beside others": (lambda x: square(x) + x, 3.0, {"square": 1}, [{"square": 3}, []]),
    "scan": (in_scan, XS, {"square": [1, 1, 1]}, [[{"square": [1, 2, 3]}, []]]),
    "cond": (in_cond, 3.0, {"yes": ["branch", 1, None, 1], "no": ["branch", 1, 0, None]}, [["branch", 1, [{"no": 3}], [{"yes": 3}]]]),
    "none": (lambda x: x * 2.0, 3.0, {}, [[]]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_logs_and_structured_residuals(name):
    f, x, logged, kept = PROGRAMS[name]
    pullback = jax.vjp(f, x)[1]
    assert plain(pullback.with_logs(1.0)[1]) == logged
    assert plain(pullback.structured_residuals) == kept
    assert plain(pullback(1.0)[0]) == plain(jax.grad(f)(x))  # unasked, nothing is logged


@pytest.mark.parametrize("kind, key", [(ByReturn, "g"), (ByMethod, "m")])
def test_logs_of_rules_that_return_cotangents(kind, key):
    f = lambda x: kind(jax.typeof(x))(x)
    assert plain(jax.vjp(f, 2.0)[1].with_logs(5.0)[1]) == {key: 5} and jax.grad(f)(2.0) == 3


def test_bad_logs():
    class Bad(Square):
        def vjp_bwd(self, res, kept, g, accum):
            return 1

    class NoPair(ByReturn):
        def vjp_bwd_retval(self, res, g):
            return (g,)

    with pytest.raises(TypeError, match="Bad.vjp_bwd"):
        jax.grad(lambda x: Bad(jax.typeof(x), "bad")(x))(2.0)
    with pytest.raises(TypeError, match="NoPair.* must produce a pair"):
        jax.grad(lambda x: NoPair(jax.typeof(x))(x))(2.0)


@pytest.mark.parametrize("kind", [lambda x: Taken(jax.typeof(x), 2)(x), lambda x: square(x)[2] / 4, lambda x: ByReturn(jax.typeof(x))(x)[2] / 3])
def test_cotangents_are_added_to_references(kind):
    ref = jax.new_ref(jnp.full(4, 10.0))
    for _ in range(2):
        jax.vjp(kind, jnp.full(4, 2.0))[1].with_refs(ref)(1.0)
    assert ref[...].tolist() == [10, 10, 12, 10]


def test_an_element_is_added_in_place():
    x, ref = jnp.arange(1000.0), jax.new_ref(jnp.zeros(1000))
    program = str(jax.jit(lambda: jax.vjp(lambda x: Taken(jax.typeof(x), 3)(x), x)[1].with_refs(ref)(1.0)).trace().jaxpr)
    assert "[3]" in program and "broadcast" not in program  # no array of zeros with one element


def test_a_program_is_expanded_once():
    calls = []

    class Counted(Square):
        def expand(self, x):
            calls.append(x)
            return x ** 2

    f = jax.jit(lambda x: Counted(jax.typeof(x), "n")(x))
    assert f(3.0) == f(4.0) - 7 == 9 and len(calls) == 1


def test_equal_objects_with_attributes_that_are_no_parameters_have_programs_of_their_own():
    class Plain(hijax.HiPrim):
        def __init__(self, aval, fun):
            self.in_avals, self.out_aval, self.params, self.fun = (aval,), aval, {}, fun
            super().__init__()

        def expand(self, x):
            return self.fun(x)

    sine, cosine = (jax.jit(lambda x, fun=fun: Plain(jax.typeof(x), fun)(x))(2.0) for fun in (jnp.sin, jnp.cos))
    assert sine > 0 > cosine
