"""jvp, vjp, grad, linearize, vmap, jit and their compositions, on toy primitives and the NumPy double."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from jax_core.configuration import flags
from jax_core.programs import jit, tracing
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.jaxpr import check_jaxpr
from jax_core.transformations import autodiff, vmap
from jax_core.transformations.checkpoint import checkpoint, saved_residuals
from toys import add, cos, exp, f32, greater, mul, neg, sin, total

pytestmark = pytest.mark.usefixtures("numpy_backend_in_use")
grad, jvp, vjp, linearize, vmap, jit = (
    autodiff.grad, autodiff.jvp, autodiff.vjp, autodiff.linearize, vmap.vmap, jit.jit)


def wave(x):
    return mul(sin(x), exp(x))


def wave_slope(x):
    return np.exp(x) * (np.sin(x) + np.cos(x))


X = f32(0.3, -1.2, 2.0)


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-6, atol=1e-6)


def test_jvp_is_the_derivative_along_the_tangent():
    value, tangent = jvp(wave, (X,), (f32(1, 2, 3),))
    close(value, np.sin(X) * np.exp(X))
    close(tangent, wave_slope(X) * f32(1, 2, 3))


def test_vjp_is_its_transpose():
    _, pull = vjp(wave, X)
    close(pull(f32(1, 2, 3))[0], wave_slope(X) * f32(1, 2, 3))


def test_grad_of_grad():
    second = grad(lambda x: total(grad(lambda y: total(wave(y)))(x)))(X)
    close(second, 2 * np.exp(X) * np.cos(X))


def test_linearized_function_is_linear_and_can_be_called_again():
    value, push = linearize(wave, X)
    close(value, np.sin(X) * np.exp(X))
    for t in (f32(1, 0, 0), f32(0.5, -2, 1)):
        close(push(t), wave_slope(X) * t)


def test_scalar_operand_gets_the_sum_of_cotangents():
    close(grad(lambda s: total(mul(s, X)))(np.float32(2)), X.sum())


def test_vmap_equals_a_loop():
    xs = np.stack([X, X + 1])
    close(vmap(lambda x: total(wave(x)))(xs), [total(wave(x)) for x in xs])


def test_vmap_with_axes_in_and_out():
    xs = np.stack([X, X + 1], axis=1)
    out = vmap(wave, in_axes=1, out_axes=-1)(xs)
    close(out, wave(xs))


def test_vmap_sums_what_nobody_asked_to_be_mapped():
    """With ``sum_match``; results that do not depend on the mapped arguments are left as they are."""
    xs = np.arange(3.0, dtype=np.float32)
    f = lambda x: (sin(x), x, 2.0)
    total, each, same = vmap(f, out_axes=(None, 0, None), sum_match=True)(xs)
    np.testing.assert_allclose(total, np.sin(xs).sum(), rtol=1e-6)
    np.testing.assert_array_equal(each, xs)
    assert np.shape(same) == () and same == 2.0
    with pytest.raises(ValueError, match="out_axes is None"):
        vmap(f, out_axes=(None, 0, None))(xs)


def test_vmap_of_unmapped_result_is_repeated():
    close(vmap(lambda x: np.float32(3))(X), [3, 3, 3])


def test_per_example_gradients():
    xs = np.stack([X, X + 1])
    out = vmap(grad(lambda w, x: total(wave(mul(w, x)))), in_axes=(None, 0))(np.float32(0.5), xs)
    close(out, [grad(lambda w: total(wave(mul(w, x))))(np.float32(0.5)) for x in xs])


@pytest.mark.parametrize("wrap", [jit, checkpoint, lambda f: jit(checkpoint(f)), lambda f: checkpoint(jit(f)),
                                  lambda f: jit(jit(f))], ids=["jit", "remat", "jit remat", "remat jit", "jit jit"])
def test_wrappers_change_no_derivative(wrap):
    f = wrap(lambda x: total(wave(x)))
    close(f(X), total(wave(X)))
    close(grad(f)(X), wave_slope(X))
    close(jit(grad(f))(X), wave_slope(X))
    close(grad(lambda x: total(mul(grad(f)(x), x)))(X), wave_slope(X) + X * 2 * np.exp(X) * np.cos(X))
    close(jvp(f, (X,), (f32(1, 1, 1),))[1], wave_slope(X).sum())
    close(vmap(grad(f))(np.stack([X, X])), np.stack([wave_slope(X)] * 2))


def test_jit_traces_once_for_each_type():
    traced = []
    f = jit(lambda x: traced.append(1) or sin(x))
    f(X), f(X + 1), f(X[:2]), f(X[:2])
    assert len(traced) == 2


def test_nested_jit_is_traced_once():
    traced = []
    inner = jit(lambda x: traced.append(1) or sin(x))
    close(jit(lambda x: inner(inner(x)))(X), np.sin(np.sin(X)))
    assert len(traced) == 1


def test_closure_over_a_tracer_of_an_outer_function():
    close(jit(lambda x: jit(lambda y: mul(x, y))(f32(1, 2, 3)))(X), X * f32(1, 2, 3))
    close(grad(lambda x: total(jit(lambda y: mul(x, y))(f32(1, 2, 3))))(X), f32(1, 2, 3))


def test_jitted_closure_does_not_keep_another_calls_tracer():
    def outer(x):
        @jit
        def inner(y):
            return mul(x, y)
        return inner(f32(1, 1, 1))
    close(grad(lambda x: total(outer(x)))(X), [1, 1, 1])
    close(grad(lambda x: total(outer(x)))(X + 1), [1, 1, 1])


def test_static_arguments():
    f = jit(lambda x, n: x if n == 0 else mul(x, np.float32(n)), static_argnums=1)
    close(f(X, 0), X)
    close(f(X, 3), 3 * X)
    with pytest.raises(ValueError, match="not hashable"):
        f(X, [1])


def test_equal_static_values_of_other_types_make_other_programs():
    kind = jit(lambda x, k: mul(x, np.float32({int: 1, float: 2, bool: 3}[type(k)])), static_argnums=1)
    assert [float(kind(np.float32(1), k)) for k in (1, 1.0, True, 1)] == [1, 2, 3, 1]


def test_unknown_static_name_is_named():
    with pytest.raises(ValueError, match=r"static_argnames has \['z'\]"):
        jit(lambda x: x, static_argnames="z")


def test_bool_of_a_tracer_names_function_and_argument():
    with pytest.raises(TypeError, match="transformed by jit.*flattened positions \\[0\\]"):
        jit(lambda x: x if greater(x, np.float32(0)) else neg(x))(np.float32(1))


def test_errors_about_tracers_name_the_argument_and_the_line():
    def f(x, flag):
        flipped = neg(flag)
        return x if flipped else neg(x)
    with pytest.raises(TypeError, match=r"It comes from the argument flag, and was computed at .*test_transformations.py:\d+ \(.*f\)\."):
        jit(f)(np.float32(1), np.float32(2))
    with pytest.raises(TypeError, match=r"It comes from the arguments a\['k'\], b, and"):
        jit(lambda a, b: b if mul(a["k"], b) else b)({"k": np.float32(1)}, np.float32(2))


def test_grad_may_branch_on_values():
    f = lambda x: mul(x, x) if greater(x, np.float32(0)) else neg(x)
    close(grad(f)(np.float32(3)), 6)
    close(grad(f)(np.float32(-3)), -1)


def test_escaped_tracer_is_an_error():
    from jax_core.representation.errors import UnexpectedTracerError
    kept = []
    jit(lambda x: kept.append(x) or x)(X)
    with pytest.raises(UnexpectedTracerError, match="used after"):
        sin(kept[0])


def test_leaks_are_found_where_they_are_made():
    kept = []
    with flags.checking_leaks():
        jit(lambda x: mul(x, x))(X)
        with pytest.raises(Exception, match="Leaked trace .* 1 tracer"):
            jit(lambda x: kept.append(sin(x)) or x)(X)


def test_repr_of_a_tracer():
    seen = []
    jit(lambda x: seen.append(repr(x)) or x)(2.0)
    assert seen == ["Traced<ShapedArray(float32[], weak_type=True)>with<DynamicJaxprTrace(level=0/1)>"]


def test_gradients_of_weak_values_are_weak():
    for x, weak in ((2.0, True), (np.float32(2), False)):
        jaxpr = tracing.make_jaxpr(grad(lambda x: mul(x, x)))(x)
        assert jaxpr.out_avals[0].weak_type is weak


def test_grad_needs_a_scalar():
    with pytest.raises(TypeError, match="scalar-output"):
        grad(sin)(X)


def test_grad_of_integers_is_refused():
    with pytest.raises(TypeError, match="int32"):
        grad(lambda x: x)(np.int32(1))


def test_vmap_sizes_are_listed():
    with pytest.raises(ValueError, match=r"inconsistent sizes(.|\n)*length 3(.|\n)*length 2"):
        vmap(mul)(X, X[:2])


def test_printed_form():
    text = str(tracing.make_jaxpr(lambda x: mul(sin(x), 2.0))(X))
    assert text == "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b 2.0:f32[] in (c,) }"
    text = str(tracing.make_jaxpr(lambda x: (mul(sin(x), sin(mul(x, 2.0))), cos(x))[0])(X))  # too long for a line; cos is not read
    assert text == ("{ lambda ; a:f32[3]. let\n    b:f32[3] = sin a\n    c:f32[3] = mul a 2.0:f32[]\n    d:f32[3] = sin c\n"
                    "    e:f32[3] = mul b d\n    _:f32[3] = cos a\n  in (e,) }")


def test_the_seed_of_a_gradient_is_no_equation():
    text = str(tracing.make_jaxpr(grad(lambda x: mul(x, x)))(3.0))
    assert "broadcast" not in text and "mul a 1.0:f32[]" in text


def test_eval_shape_runs_nothing():
    out = tracing.eval_shape(lambda x: {"y": total(x)}, ShapeDtypeStruct((1 << 20, 1 << 20), np.float32))
    assert out["y"].shape == () and out["y"].dtype == np.float32


def test_saved_residuals_of_checkpoint_are_its_arguments():
    everything = saved_residuals(lambda x: total(sin(sin(sin(x)))), X)
    arguments = saved_residuals(lambda x: total(checkpoint(lambda x: sin(sin(sin(x))))(x)), X)
    assert len(everything) == 3
    assert [where for _, where in arguments] == ["from the argument x"]


def test_policy_saves_what_it_says():
    policy = lambda prim, *_, **__: prim.name == "exp"
    f = lambda x: total(checkpoint(lambda x: sin(exp(sin(x))), policy=policy)(x))
    assert any("output of checkpoint" in where or "exp" in where for _, where in saved_residuals(f, X))
    close(grad(f)(X), np.cos(np.exp(np.sin(X))) * np.exp(np.sin(X)) * np.cos(X))


def test_long_programs_do_not_recurse():
    def chain(x):
        for _ in range(5000):
            x = sin(x)
        return x
    jaxpr = tracing.make_jaxpr(grad(chain))(0.5)
    check_jaxpr(jaxpr.jaxpr)
    assert len(jaxpr.eqns) >= 3 * 5000 - 2


OPS = {"sin": sin, "cos": cos, "neg": neg, "exp of sin": lambda x: exp(sin(x)), "square": lambda x: mul(x, x),
       "jit": lambda x: jit(lambda x: mul(sin(x), x))(x), "remat": checkpoint(lambda x: mul(cos(x), x))}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(OPS)), min_size=1, max_size=5), st.integers(0, 2 ** 31))
def test_random_programs_differentiate_alike_in_all_modes(names, seed):
    def f(x):
        for name in names:
            x = add(OPS[name](x), x)
        return x
    rng = np.random.default_rng(seed)
    with flags.enable_x64(True):  # so that rounding cannot be taken for a difference
        x, t, ct = (rng.uniform(-0.5, 0.5, 3) for _ in range(3))
        value, pushed = jvp(f, (x,), (t,))
        close(jit(f)(x), value)
        (pulled,) = vjp(f, x)[1](ct)
        np.testing.assert_allclose(np.vdot(pushed, ct), np.vdot(t, pulled), rtol=1e-9, atol=1e-12)
        close(linearize(f, x)[1](t), pushed)
        close(vmap(lambda s: jvp(f, (s,), (1.0,))[1])(x), vjp(f, x)[1](np.ones(3))[0])
        check_jaxpr(tracing.make_jaxpr(vmap(grad(lambda s: f(s))))(x).jaxpr)
