"""Control flow: values, types, messages, printed form, and the cost of eager calls."""
import functools
import gc

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.references.api import new_ref
from jax_core.transformations.autodiff import grad, jvp, value_and_grad
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp

X = np.arange(4, dtype=np.float32)
f32 = np.float32


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


# -- scan ------------------------------------------------------------------------------------------------------------

def cumulative(c, x):
    c = lax.add(c, x)
    return c, lax.mul(c, c)


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, 9, True, False, 0])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["eager", "jit"])
def test_scan_gives_what_a_python_loop_gives(unroll, reverse, run):
    xs = np.arange(7, dtype=np.float32)
    carry, ys = run(lambda xs: lax.scan(cumulative, 1.0, xs, reverse=reverse, unroll=unroll))(xs)
    c, expected = 1.0, []
    for x in xs[::-1] if reverse else xs:
        c += x
        expected.append(c * c)
    close(carry, c)
    close(ys, expected[::-1] if reverse else expected)


def test_scan_takes_and_returns_pytrees():
    xs = {"a": X, "b": (X * 2, None)}

    def body(carry, x):
        return {"n": lax.add(carry["n"], 1), "t": (lax.add(carry["t"][0], x["a"]),)}, [x["b"][0], None, x["a"]]
    carry, ys = lax.scan(body, {"n": 0, "t": (f32(0),)}, xs)
    assert sorted(carry) == ["n", "t"] and int(carry["n"]) == 4
    close(carry["t"][0], X.sum())
    close(ys[0], X * 2)
    assert ys[1] is None


def test_scan_over_nothing_repeats_length_times():
    carry, ys = lax.scan(lambda c, _: (lax.mul(c, 2), c), 1, None, length=5)
    assert int(carry) == 32
    np.testing.assert_array_equal(ys, [1, 2, 4, 8, 16])


@pytest.mark.parametrize("unroll", [1, 3, True])
def test_scan_of_length_zero_gives_the_carry_and_empty_results(unroll):
    carry, ys = lax.scan(cumulative, f32(3), np.zeros((0,), np.float32), unroll=unroll)
    close(carry, 3.0)
    assert ys.shape == (0,) and ys.dtype == np.float32


def test_scan_hands_on_a_carry_that_does_not_change():
    carry, ys = lax.scan(lambda c, x: ((c[0], lax.add(c[1], x)), lax.mul(c[0], x)), (f32(3), f32(0)), X)
    close(carry[0], 3.0)
    close(ys, 3 * X)


@pytest.mark.parametrize("loop", [
    lambda x: lax.scan(lambda c, _: ((c[0], lax.add(c[1], 1)), None), (x, 0), None, length=2)[0][0],
    lambda x: lax.while_loop(lambda c: lax.lt(c[1], 2), lambda c: (c[0], lax.add(c[1], 1)), (x, 0))[0],
    lambda x: lax.fori_loop(0, 2, lambda i, c: c, x)], ids=["scan", "while_loop", "fori_loop"])
def test_loops_hand_back_the_object_that_they_do_not_change(loop):
    for x in (3, 2.5, True, np.ones(2), np.float32(1)):
        assert loop(x) is x


def test_weakly_typed_carry_takes_the_type_of_the_result():
    as_f32 = lambda c: lax.convert_element_type(c, f32)
    carry, _ = lax.scan(lambda c, x: (lax.add(as_f32(c), x), None), 0, X)
    assert carry.dtype == np.float32 and not carry.weak_type
    carry, _ = lax.scan(lambda c, x: (lax.mul(c, 2), None), 1, None, length=3)
    assert carry.weak_type
    carry, _ = lax.scan(lambda c, _: ((c[1], lax.add(as_f32(c[1]), f32(1))), None), (0, 0), None, length=3)
    assert carry[0].dtype == np.float32


def test_scan_of_bools_and_integers():
    carry, ys = lax.scan(lambda c, x: (lax.bitwise_xor(c, x), c), False, np.array([True, False, True, True]))
    assert bool(carry) is True
    np.testing.assert_array_equal(ys, [False, True, True, False])


def test_disable_jit_runs_a_checkpointed_function_on_arrays():
    with flags.disable_jit(True):
        out, n, own = checkpoint(lambda x, n, own: (x.dtype, n, own), static_argnums=1)(0.5, 3, own=Ellipsis)
    assert (out, n, own) == (np.float32, 3, Ellipsis)


def test_disable_jit_runs_python_loops():
    seen = []

    def body(c, x):
        seen.append(float(x))
        return lax.add(c, x), c
    with flags.disable_jit(True):
        carry, ys = lax.scan(body, f32(0), X)
        assert lax.cond(True, lambda: "taken", lambda: "other") == "taken"
        assert float(lax.while_loop(lambda c: c < 5, lambda c: c + 2, 0.0)) == 6.0
        assert int(lax.fori_loop(0, 3, lambda i, c: c + int(i), 0)) == 3
    assert seen == [0.0, 1.0, 2.0, 3.0]
    close(carry, 6.0)
    close(ys, [0, 0, 1, 3])


# -- scan: messages --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, kind, text", [
    (lambda: lax.scan(3, 0.0, X), TypeError, r"lax\.scan: f should be a callable, got 3 of type int"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, (X, X[:2])), ValueError, "different leading axis sizes: 2, 4"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, None), ValueError, "no values to scan over and `length`"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, X, length=5), ValueError, r"length` argument of 5 which disagrees with "
                                                                            r"leading axis sizes \[4\]"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, {"a": X, "b": 2.0}), ValueError, r"no leading axis to scan over: xs\['b'\]"),
    (lambda: lax.scan(lambda c, x: c, 0.0, X), TypeError, r"must return a pair \(carry, y\), got"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, X, unroll=-1), ValueError, "unroll must be a bool or a non-negative int"),
    (lambda: lax.scan(lambda c, x: (c, x), "a", X), TypeError, "init is 'a' of type str, which is not a valid JAX type"),
    (lambda: lax.scan(lambda c, x: (c, x), 0.0, ["a"]), TypeError, r"xs\[0\] is 'a' of type str"),
    (lambda: lax.scan(lambda c, x: ("a", x), 0.0, X), TypeError, "not a valid JAX type"),
])
def test_scan_refuses(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_a_carry_that_changes_type_is_explained_leaf_by_leaf():
    def body(c, x):
        return {"a": c["a"], "b": [lax.convert_element_type(c["b"][0], np.int32), c["b"][0]]}, None
    with pytest.raises(TypeError) as error:
        lax.scan(body, {"a": f32(0), "b": [X, X[:2]]}, X)
    text = str(error.value)
    assert "carry['b'][0]: carry input has type float32[4], carry output has type int32[4] (dtypes do not match)" in text
    assert "carry['b'][1]: carry input has type float32[2], carry output has type float32[4] (shapes do not match)" in text
    assert "carry['a']" not in text and "body at" in text.replace("<locals>.", "")


def test_a_carry_that_changes_structure_is_explained():
    with pytest.raises(TypeError, match="same pytree structure(.|\n)*tuple of length 2(.|\n)*tuple of length 1"):
        lax.scan(lambda c, x: ((c[0],), None), (f32(0), X), X)
    with pytest.raises(TypeError, match="same pytree structure"):
        lax.while_loop(lambda c: True, lambda c: (c[0],), (f32(0), X))


# -- while_loop and fori_loop ----------------------------------------------------------------------------------------

def test_while_loop_counts():
    loop = lambda n: lax.while_loop(lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), lax.mul(c[1], 2)), (0, 1))
    for n in (0, 1, 5):
        assert [int(v) for v in loop(n)] == [n, 2**n]
        assert [int(v) for v in jit(loop)(n)] == [n, 2**n]


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_bounds_that_are_floats(dtype):
    """blackjax draws numbers of steps as floats."""
    add_index = lambda i, c: c + i
    assert lax.fori_loop(dtype(1), dtype(4), add_index, 0) == 6
    traced = jit(lambda lower, upper: lax.fori_loop(lower, upper, lambda i, c: (c[0] + i, i), (0.0, 0.0 if dtype is float else np.float32(0))))
    total, last = traced(dtype(0.5), dtype(2.7))
    assert (total, last) == (4.5, 2.5) and last.dtype == np.float32 and last.weak_type == (dtype is float)
    for bounds in [(dtype(0.5), dtype(2.7)), (0, dtype(3)), (dtype(0), 3)]:
        with pytest.raises(TypeError, match="must be an integer scalar"):
            lax.fori_loop(*bounds, add_index, 0.0)


@pytest.mark.parametrize("call, text", [
    (lambda: lax.while_loop(3, lambda c: c, 0), "cond_fun should be a callable"),
    (lambda: lax.while_loop(lambda c: c, lambda c: c, 0), r"must return a boolean scalar, but returned int32\[\]"),
    (lambda: lax.while_loop(lambda c: (c, c), lambda c: c, 0), "must return a boolean scalar, but returned the pytree"),
    (lambda: lax.while_loop(lambda c: lax.lt(X, f32(3)), lambda c: c, 0), r"boolean scalar, but returned bool\[4\]"),
    (lambda: lax.while_loop(lambda c: lax.lt(c[0], 3), lambda c: (c[0], X), (0, f32(0))),
     r"carry\[1\]: carry input has type float32\[\], carry output has type float32\[4\]"),
    (lambda: lax.fori_loop(0, 3.5, lambda i, c: c, 0), "upper must be an integer scalar, got float32"),
    (lambda: lax.fori_loop(np.int8(0), np.int32(3), lambda i, c: c, 0), "lower and upper as arguments"),
    (lambda: lax.fori_loop(0, np.array([3]), lambda i, c: c, 0), "upper must be an integer scalar"),
])
def test_loops_refuse(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("bounds", [(0, 5), (2, 5), (5, 2), (-3, 3), (np.int8(1), np.int8(4))])
def test_fori_loop_gives_what_range_gives(bounds):
    loop = lambda lo, hi: lax.fori_loop(lo, hi, lambda i, c: lax.add(lax.mul(c, 3), lax.convert_element_type(i, np.int32)),
                                        np.int32(1))
    expected = functools.reduce(lambda c, i: 3 * c + i, range(*map(int, bounds)), 1)
    assert int(loop(*bounds)) == expected
    assert int(jit(loop)(*bounds)) == expected
    assert int(jit(lambda hi: loop(bounds[0], hi))(bounds[1])) == expected


def test_the_index_of_fori_loop_promotes_as_its_first_value():
    loop = jit(lambda lower, upper: lax.fori_loop(lower, upper, lambda i, c: jnp.add(i, c), np.int8(0)), static_argnums=0)
    assert loop(0, np.int32(4)).dtype == np.int8 and int(loop(0, np.int32(4))) == 6
    with pytest.raises(TypeError, match="same types"):
        jit(lambda lower: lax.fori_loop(lower, 4, lambda i, c: jnp.add(i, c), np.int8(0)))(np.int32(0))


def test_fori_loop_takes_whole_floats():
    assert int(lax.fori_loop(0.0, 3.0, lambda i, c: lax.add(c, i), 0)) == 3


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_conditions_may_change_references(wrap):
    """As in Python: the condition runs once more than the body."""
    r = new_ref(np.zeros(2, np.float32))

    def condition(i):
        r[0] = r[0] + 1
        return r[0] < 3
    assert int(wrap(lambda: lax.while_loop(condition, lambda i: lax.add(i, 1), 0))()) == 2
    assert np.asarray(r[...]).tolist() == [3, 0]


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_references_pass_barriers(wrap):
    r = new_ref(np.zeros(2, np.float32))

    def run(r):
        same, x = lax.optimization_barrier((r, X))
        same[...] = x[2:]
        return r[...]
    assert np.asarray(wrap(run)(r)).tolist() == np.asarray(r[...]).tolist() == [2, 3]


@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["static", "traced"])
def test_fori_loop_traces_its_body_once(run):
    seen = []

    def body(i, c):
        seen.append(i)
        return lax.add(c, c)
    loop = run(lambda n, x: lax.fori_loop(0, n, body, x))
    assert [float(loop(3, f32(1))), float(loop(4, f32(1))), float(run(lambda n, x: lax.fori_loop(0, n, body, x))(5, f32(1)))] == [8, 16, 32]
    assert len(seen) == 1
    loop(3, np.ones(2, np.float32))
    assert len(seen) == 2


def test_fori_loop_unroll_needs_static_bounds():
    assert float(lax.fori_loop(0, 7, lambda i, c: lax.add(c, f32(1)), f32(0), unroll=3)) == 7
    with pytest.raises(ValueError, match="unroll needs loop bounds that are statically known, but upper is traced"):
        jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 0, unroll=2))(3)


def test_fori_loop_with_static_bounds_is_a_scan_and_else_a_while():
    body = lambda i, c: lax.mul(c, f32(2))
    assert "scan[" in str(make_jaxpr(lambda x: lax.fori_loop(0, 3, body, x))(f32(1)))
    assert "while[" in str(make_jaxpr(lambda x, n: lax.fori_loop(0, n, body, x))(f32(1), 3))


def test_reverse_mode_through_while_names_the_remedy():
    loop = lambda x: lax.while_loop(lambda c: lax.lt(c, f32(9)), lambda c: lax.mul(c, f32(2)), x)
    close(jvp(loop, (f32(1),), (f32(1),))[1], 16.0)
    with pytest.raises(ValueError, match=r"Reverse-mode differentiation does not work(.|\n)*lax\.scan(.|\n)*max_steps"):
        grad(loop)(f32(1))
    with pytest.raises(ValueError, match="Reverse-mode"):
        jit(grad(lambda x, n: lax.fori_loop(0, n, lambda i, c: lax.mul(c, x), x)))(f32(1), 3)


def test_a_while_loop_that_tangents_do_not_pass_does_not_stop_reverse_mode():
    def f(x):
        n = lax.while_loop(lambda i: lax.lt(i, 5), lambda i: lax.add(i, 2), 0)
        return lax.mul(x, lax.convert_element_type(n, np.float32))
    close(grad(f)(f32(3)), 6.0)


@pytest.mark.parametrize("max_steps", [4, 5, 9, 16, 30])
def test_bounded_while_loop_differentiates_in_reverse(max_steps):
    def loop(x, **kw):
        return lax.while_loop(lambda c: lax.lt(c[0], f32(9)), lambda c: (lax.mul(c[0], c[1]), c[1]), (x, f32(2)), **kw)[0]
    value, slope = value_and_grad(lambda x: loop(x, max_steps=max_steps))(f32(1))
    close(value, loop(f32(1)))
    close(slope, 16.0)
    close(jit(grad(lambda x: loop(x, max_steps=max_steps)))(f32(1)), 16.0)
    close(vmap(grad(lambda x: loop(x, max_steps=max_steps)))(np.array([1, 5, 10], np.float32)), [16, 2, 1])


def test_bounded_while_loop_stops_at_the_bound():
    assert int(lax.while_loop(lambda c: True, lambda c: lax.add(c, 1), 0, max_steps=7)) == 7
    with pytest.raises(ValueError, match="max_steps must be a non-negative integer"):
        lax.while_loop(lambda c: True, lambda c: c, 0, max_steps=-1)


def test_bounded_while_loop_keeps_about_two_roots_of_n_carries():
    """The stacked residuals of the outer scan grow with the square root of the bound."""
    def program(n):
        loop = lambda x: lax.while_loop(lambda c: lax.lt(c, f32(9)), lambda c: lax.sin(c), x, max_steps=n)
        return str(make_jaxpr(grad(loop))(f32(1)))
    text = program(10_000)
    assert "10000]" not in text.replace(" ", "") and "[100]" in text


# -- cond and switch -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("pred", [True, False, 1, 0, 0.0, 2.5, np.bool_(True), np.float32(0)])
def test_cond_takes_the_truth_of_a_scalar(pred):
    choose = lambda p: lax.cond(p, lambda x: lax.add(x, f32(1)), lambda x: lax.neg(x), X)
    expected = X + 1 if pred else -X
    close(choose(pred), expected)
    close(jit(choose)(pred), expected)


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 7])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint32])
def test_switch_clamps_its_index(index, dtype):
    branches = [lambda x: x, lambda x: lax.mul(x, f32(10)), lambda x: lax.neg(x)]
    index = np.array(index).astype(dtype)[()]
    expected = [X, X * 10, -X][min(max(int(index), 0), 2)]
    close(lax.switch(index, branches, X), expected)
    close(jit(lambda i: lax.switch(i, branches, X))(index), expected)


def test_cond_forms():
    close(lax.cond(True, lambda: X, lambda: X * 2), X)
    close(lax.cond(False, lambda x: x, lambda x: lax.neg(x), operand=X), -X)
    assert float(lax.cond(True, lambda _: f32(1), lambda _: f32(2), operand=None)) == 1
    close(lax.cond(False, X, lambda x: x, X * 3, lambda x: lax.neg(x)), -3 * X)  # the first form of the function
    out = lax.cond(True, lambda a, b: {"s": lax.add(a, b["x"]), "n": None}, lambda a, b: {"s": a, "n": None}, X, {"x": X})
    close(out["s"], 2 * X)
    assert lax.switch(0, [lambda x: "anything"], X) == "anything"


@pytest.mark.parametrize("call, kind, text", [
    (lambda: lax.cond(X, lambda: 1, lambda: 2), TypeError, r"pred must be a scalar, got an array of shape \(4,\)"),
    (lambda: lax.cond("a", lambda: 1, lambda: 2), TypeError, "pred must be a scalar, got 'a'"),
    (lambda: lax.cond((1,), lambda: 1, lambda: 2), TypeError, "pred must be a scalar"),
    (lambda: lax.cond(True, 3, lambda x: x, X), TypeError, "true_fun should be a callable"),
    (lambda: lax.cond(True, lambda: 1, lambda: 2.0), TypeError,
     r"output: false_fun returns float32\[\], true_fun returns int32"),
    (lambda: lax.cond(True, lambda x: (x, x), lambda x: x, X), TypeError, "must return the same pytree structure"),
    (lambda: lax.cond(True, lambda x: {"a": [x, x]}, lambda x: {"a": [x, X[:2]]}, X), TypeError,
     r"output\['a'\]\[1\]: false_fun returns float32\[2\], true_fun returns float32\[4\]"),
    (lambda: lax.switch(0.5, [lambda: 1, lambda: 2]), TypeError, r"index must be an integer scalar, got float32\[\]"),
    (lambda: lax.switch(X.astype(int), [lambda: 1, lambda: 2]), TypeError, "index must be a scalar"),
    (lambda: lax.switch(0, []), ValueError, "at least one branch"),
    (lambda: lax.switch(0, [3]), TypeError, "sequence of callables"),
])
def test_conditionals_refuse(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_the_first_branch_says_which_results_are_weak():
    """That of 0, or False."""
    assert lax.cond(True, lambda: f32(1), lambda: 1.0).weak_type and lax.switch(1, [lambda: 1.0, lambda: f32(1)]).weak_type
    assert not lax.cond(True, lambda: 1.0, lambda: f32(1)).weak_type
    assert lax.cond(True, lambda: 1.0, lambda: 2.0).weak_type


@pytest.mark.only_cpu
def test_platform_dependent_lowers_only_the_branch_of_the_platform():
    f = lambda x: lax.platform_dependent(x, cpu=lambda x: lax.add(x, f32(1)), default=lambda x: lax.neg(x))
    g = lambda x: lax.platform_dependent(x, tpu=lambda x: lax.add(x, f32(1)), default=lambda x: lax.neg(x))
    close(f(X), X + 1)
    close(jit(f)(X), X + 1)
    close(jit(g)(X), -X)
    assert "case" not in jit(f).lower(X).as_text()


def test_vmap_of_a_cond_keeps_it_where_the_predicate_is_not_batched():
    f = lambda p, x: lax.cond(p, lambda x: lax.sin(x), lambda x: lax.neg(x), x)
    assert "cond[" in str(make_jaxpr(vmap(f, in_axes=(None, 0)))(True, X))
    text = str(make_jaxpr(vmap(f))(X > 1, X))
    assert "cond[" not in text and "select_n" in text
    close(vmap(f)(X > 1, X), np.where(X > 1, np.sin(X), -X))


HANDED_ON = {
    "while_loop": lambda x, w: lax.while_loop(lambda c: lax.lt(c[0], x), lambda c: (lax.add(c[0], f32(1)), c[1]), (f32(0), w))[::-1],
    "cond": lambda x, w: lax.cond(lax.lt(x, f32(1)), lambda x, w: (w, x), lambda x, w: (w, lax.neg(x)), x, w),
    "cond of scan": lambda x, w: lax.cond(lax.lt(x, f32(1)), *[lambda x, w: (lax.scan(lambda c, _: (c, None), w, None, 2)[0], x)] * 2, x, w),
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_vmap_leaves_what_is_handed_on_unmapped(name):
    """Lanes may stop and choose as they like: an operand that every way hands on is the same for all."""
    w, other = vmap(HANDED_ON[name], in_axes=(0, None), out_axes=(None, 0))(X, lax.full((), 7, np.float32))
    close(w, 7)
    assert other.shape == X.shape


@pytest.mark.parametrize("reverse", [False, True])
def test_slices_that_a_scan_returns_are_not_stacked_anew(reverse):
    xs = lax.full((3,), 2, np.float32)
    (c, (rows, same)) = lax.scan(lambda c, x: (c, (x, x)), X, xs, reverse=reverse)
    assert rows is same is xs
    close(c, X)
    jaxpr = make_jaxpr(lambda xs: lax.scan(lambda c, x: (lax.add(c, x), (x, lax.neg(x))), f32(0), xs, reverse=reverse))(X)
    assert jaxpr.jaxpr.outvars[1] is jaxpr.jaxpr.invars[0] and len(jaxpr.eqns[0].outvars) == 2


def test_what_the_gradient_of_a_scan_needs_is_stacked_once():
    f = lambda w: lax.scan(lambda c, _: (lax.mul(c, w), c), f32(1), None, 3)
    forward = make_jaxpr(grad(lambda w: lax.reduce_sum(f(w)[1], (0,))))(f32(2)).eqns[0]
    assert forward.primitive.name == "scan" and len(forward.outvars) == 2
    close(grad(lambda w: lax.reduce_sum(f(w)[1], (0,)))(f32(2)), 5.0)


def test_gradients_of_branches_not_taken_stay_out_of_a_batched_cond():
    f = lambda x: lax.cond(lax.gt(x, f32(0)), lambda x: lax.log(x), lambda x: lax.mul(x, f32(2)), x)
    xs = np.array([0.0, 1.0, 2.0], np.float32)
    close(vmap(grad(f))(xs), [2.0, 1.0, 0.5])
    close(grad(lambda xs: lax.reduce_sum(vmap(f)(xs), (0,)))(xs), [2.0, 1.0, 0.5])


# -- printed form ----------------------------------------------------------------------------------------------------

def test_jaxprs_print_with_the_parameters_that_libraries_read():
    jaxpr = make_jaxpr(lambda x: lax.scan(lambda c, y: (lax.add(c, y), None), f32(0), x))(X)
    eqn, = jaxpr.eqns
    assert eqn.primitive.name == "scan"
    assert set(eqn.params) == {"_split_transpose", "jaxpr", "length", "linear", "num_carry", "num_consts", "reverse",
                               "unroll"}
    eqn, = make_jaxpr(lambda x: lax.while_loop(lambda c: lax.lt(c, f32(3)), lambda c: lax.add(c, x), x))(f32(1)).eqns
    assert set(eqn.params) == {"body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"}
    assert eqn.primitive.name == "while" and eqn.params["body_nconsts"] == 1
    jaxpr = make_jaxpr(lambda p, x: lax.cond(p, lambda x: x, lambda x: lax.neg(x), x))(True, X)
    assert [e.primitive.name for e in jaxpr.eqns] == ["convert_element_type", "cond"]
    assert [len(b.eqns) for b in jaxpr.eqns[1].params["branches"]] == [1, 0]


# -- residuals -------------------------------------------------------------------------------------------------------

def scans(jaxpr):
    return [e for e in jaxpr.eqns if e.primitive.name == "scan"]


def test_constants_of_a_scan_are_not_stacked_as_residuals():
    w = np.ones((4, 4), np.float32)

    def loss(w, xs):
        def body(c, x):
            return lax.tanh(lax.add(lax.dot(lax.sin(w), c), x)), None
        return lax.reduce_sum(lax.scan(body, X, xs)[0], (0,))
    jaxpr = make_jaxpr(grad(loss))(w, np.ones((7, 4), np.float32))
    forward, backward = scans(jaxpr)
    stacked = [v.aval.shape for v in forward.outvars if v.aval.shape[:1] == (7,)]
    assert (7, 4, 4) not in stacked and len(stacked) == 2
    assert not any(v.aval.shape == (7, 4, 4) for v in backward.invars)


def test_inputs_and_outputs_that_are_residuals_are_kept_once():
    def loss(xs):
        _, ys = lax.scan(lambda c, x: (c, lax.exp(x)), f32(0), xs)
        return lax.reduce_sum(ys, (0,))
    jaxpr = make_jaxpr(grad(loss))(X)
    forward, backward = scans(jaxpr)
    assert sum(v.aval.shape == (4,) for v in forward.outvars) == 1


def test_dead_carries_and_results_are_dropped():
    from jax_core.representation.jaxpr import dce
    jaxpr = make_jaxpr(lambda x: lax.scan(
        lambda c, y: ((lax.add(c[0], y), lax.sin(c[1])), (lax.cos(c[1]), y)), (f32(0), f32(1)), x)[0][0])(X).jaxpr
    small, used = dce(jaxpr, [True])
    eqn, = scans(small)
    assert eqn.params["num_carry"] == 1 and len(eqn.outvars) == 1 and used == [True]
    loop = make_jaxpr(lambda x: lax.while_loop(lambda c: lax.lt(c[0], 5), lambda c: (lax.add(c[0], 1), lax.sin(c[1])),
                                               (0, x))[0])(f32(1)).jaxpr
    small, used = dce(loop, [True])
    assert len(small.eqns[0].outvars) == 1 and used == [False]
    choice = make_jaxpr(lambda p, x, y: lax.cond(p, lambda: (x, y), lambda: (lax.sin(x), lax.cos(y)))[1])(True, f32(1), f32(2)).jaxpr
    small, used = dce(choice, [True])
    assert used == [True, False, True]


# -- eager calls -----------------------------------------------------------------------------------------------------

def test_eager_loops_with_a_fresh_lambda_share_one_executable():
    from jax_numpy_api.lax.control_flow import common
    run = lambda: (lax.scan(lambda c, x: (lax.add(lax.mul(c, x), f32(0.25)), c), f32(1), X),
                   lax.cond(True, lambda x: lax.sin(x), lambda x: lax.cos(x), X),
                   lax.while_loop(lambda c: lax.lt(c, f32(5)), lambda c: lax.add(c, f32(1.5)), f32(0)))
    run()
    gc.collect()
    known, objects = len(common._known_programs), len(gc.get_objects())
    for _ in range(200):
        run()
    gc.collect()
    assert len(common._known_programs) == known
    assert len(gc.get_objects()) - objects < 200


def test_programs_that_differ_in_a_literal_are_different():
    for value in (0.0, -0.0, 1.0, float("nan")):
        out = lax.scan(lambda c, _: (lax.mul(c, f32(value)), None), f32(1), None, length=1)[0]
        np.testing.assert_array_equal(np.asarray(out), f32(value))
        assert np.signbit(np.asarray(out)) == np.signbit(f32(value))


# -- map and associative_scan ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 4, 10])
def test_map_gives_what_vmap_gives(batch_size):
    xs = {"a": np.arange(10, dtype=np.float32).reshape(5, 2), "b": np.arange(5)}
    f = lambda x: (lax.mul(x["a"], f32(2)), lax.add(x["b"], 1))
    out = lax.map(f, xs, batch_size=batch_size)
    close(out[0], xs["a"] * 2)
    np.testing.assert_array_equal(out[1], xs["b"] + 1)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 13])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_gives_all_prefixes(n, axis, reverse):
    x = np.arange(1, 2 * n + 1).reshape((n, 2) if axis == 0 else (2, n))
    out = lax.associative_scan(lambda a, b: lax.add(a, b), x, reverse=reverse, axis=axis)
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
    np.testing.assert_array_equal(out, expected)


def test_associative_scan_of_pairs():
    a, b = np.random.RandomState(0).uniform(size=(2, 9)).astype(np.float32)
    compose = lambda f, g: (lax.mul(f[0], g[0]), lax.add(lax.mul(f[1], g[0]), g[1]))
    got = lax.associative_scan(compose, (a, b))
    s, rows = 0.0, []
    for x, y in zip(a, b):
        s = x * s + y
        rows.append(s)
    close(got[1], rows)
    with pytest.raises(ValueError, match="same length along axis 0, the first dimension, got"):
        lax.associative_scan(compose, (a, b[:3]))
    with pytest.raises(TypeError, match="fn should be a callable"):
        lax.associative_scan(3, a)


# -- custom solves ---------------------------------------------------------------------------------------------------

def _newton(f, x):
    return lax.while_loop(lambda s: lax.gt(lax.abs(f(s)), f32(1e-6)),
                          lambda s: lax.sub(s, lax.div(*jvp(f, (s,), (f32(1),)))), x)


def root_of(a):
    return lax.custom_root(lambda x: lax.sub(lax.mul(x, x), a), f32(1), _newton, lambda g, y: lax.div(y, g(f32(1))))


def test_custom_root_differentiates_by_the_implicit_function_theorem():
    close(root_of(f32(2)), np.sqrt(2), 1e-4)
    close(grad(root_of)(f32(2)), 0.5 / np.sqrt(2), 1e-4)
    close(jit(grad(grad(root_of)))(f32(2)), -0.25 * 2**-1.5, 1e-4)
    close(jvp(root_of, (f32(2),), (f32(1),))[1], 0.5 / np.sqrt(2), 1e-4)
    close(vmap(grad(root_of))(np.array([1, 2, 4], np.float32)), 0.5 / np.sqrt([1, 2, 4]), 1e-4)
    aux = lambda a: lax.custom_root(lambda x: lax.sub(lax.mul(x, x), a), f32(1), lambda f, x: (_newton(f, x), X),
                                    lambda g, y: lax.div(y, g(f32(1))), has_aux=True)
    close(grad(lambda a: aux(a)[0])(f32(2)), 0.5 / np.sqrt(2), 1e-4)
    with pytest.raises(TypeError, match="f must return the types of initial_guess"):
        lax.custom_root(lambda x: X, f32(1), _newton, lambda g, y: y)


def diagonal_solve(d, b, **kw):
    return lax.custom_linear_solve(lambda x: lax.mul(d, x), b, lambda mv, b: lax.div(b, d), **kw)


@pytest.mark.parametrize("kw", [dict(symmetric=True), dict(transpose_solve=lambda vm, b: lax.div(b, X + 1))],
                         ids=["symmetric", "transpose_solve"])
def test_custom_linear_solve_differentiates(kw):
    d, b = X + 1, X * 2 + 1
    if "transpose_solve" in kw:
        kw = dict(transpose_solve=lambda vm, ct: lax.div(ct, vm(np.ones(4, np.float32))))
    total = lambda d, b: lax.reduce_sum(diagonal_solve(d, b, **kw), (0,))
    close(diagonal_solve(d, b, **kw), b / d)
    close(grad(total, 0)(d, b), -b / d**2)
    close(grad(total, 1)(d, b), 1 / d)
    close(jit(grad(total, 0))(d, b), -b / d**2)
    close(grad(lambda d: lax.reduce_sum(grad(total)(d, b), (0,)))(d), 2 * b / d**3)
    close(vmap(lambda d: diagonal_solve(d, b, **kw))(np.stack([d, 2 * d])), np.stack([b / d, b / d / 2]))
    close(vmap(grad(total, 1), in_axes=(None, 0))(d, np.stack([b, b])), np.stack([1 / d, 1 / d]))


def test_custom_linear_solve_says_what_reverse_mode_needs():
    with pytest.raises(TypeError, match="needs transpose_solve"):
        grad(lambda b: lax.reduce_sum(diagonal_solve(X + 1, b), (0,)))(X)
    with pytest.raises(ValueError, match="solve must return the types of b"):
        lax.custom_linear_solve(lambda x: x, X, lambda mv, b: X[:2])
    with pytest.raises(TypeError, match="solve must return the types of b"):
        lax.custom_linear_solve(lambda x: x, X, lambda mv, b: lax.convert_element_type(X, np.int32))


# -- effects of named axes -------------------------------------------------------------------------------------------

def test_collectives_inside_control_flow_reach_the_mapped_axis():
    f = lambda x: lax.scan(lambda c, _: (lax.add(c, lax.psum(x, "i")), lax.axis_index("i")), f32(0), None, length=2)
    carry, index = vmap(f, axis_name="i")(X)
    close(carry, np.full(4, 2 * X.sum()))
    np.testing.assert_array_equal(np.asarray(index), np.arange(4)[:, None] + np.zeros((1, 2), int))
    g = lambda x: lax.cond(True, lambda: lax.psum(x, "i"), lambda: x)
    close(vmap(g, axis_name="i")(X), np.full(4, X.sum()))
    with pytest.raises(NameError, match="unbound axis name: k"):
        lax.psum(X, "k")


@pytest.mark.parametrize("around", [lambda f, x: lax.neg(f(x)), lambda f, x: lax.neg(checkpoint(f)(x)), lambda f, x: vmap(f)(x)],
                         ids=["jit", "checkpoint", "vmap"])
def test_called_programs_carry_nothing_for_nobody(around):
    """A loop in a program that is called is written without the carries that nothing needs, as one at the top is."""
    @jit
    def called(x):
        return lax.while_loop(lambda c: lax.reduce_and(lax.lt(c[0], lax.full_like(x, 5)), range(np.ndim(x))),
                              lambda c: (lax.add(c[0], lax.full_like(x, 1)), lax.neg(c[1]), lax.sin(c[2])), (x, x, x))[1]
    text = jit(lambda x: around(called, x)).lower(np.ones(2, np.float32)).as_text()
    assert "stablehlo.while" in text and "sine" not in text
