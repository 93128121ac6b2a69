"""custom_jvp and custom_vjp under every transformation."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs import jit, tracing
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import Effect
from jax_core.representation.marks import ELEMENTWISE, LINEAR
from jax_core.representation.primitive import Primitive, none
from jax_core.transformations import autodiff, vmap
from jax_core.transformations.accumulators import RefAccum, ValAccum
from jax_core.transformations.custom_jvp import SymbolicZero, custom_jvp
from jax_core.transformations.custom_vjp import custom_gradient, custom_vjp
from toys import cos, f32, mul, sin, total

pytestmark = pytest.mark.usefixtures("numpy_backend_in_use")
grad, jvp, jit, vmap = autodiff.grad, autodiff.jvp, jit.jit, vmap.vmap
X = f32(0.3, -1.2, 2.0)
WRAPS = [lambda f: f, jit, lambda f: jit(jit(f))]


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)


@custom_jvp
def twice_sloped(x):
    """sin, with twice its slope: the factor shows that the rule was used."""
    return sin(x)


@twice_sloped.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return twice_sloped(x), mul(2.0, mul(cos(x), t))


@custom_vjp
def thrice_sloped(x):
    return sin(x)


thrice_sloped.defvjp(lambda x: (sin(x), (x,)), lambda res, ct: (mul(3.0, mul(cos(res[0]), ct)),))


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("f, factor", [(twice_sloped, 2), (thrice_sloped, 3)], ids=["jvp", "vjp"])
def test_rule_is_used(f, factor, wrap):
    g = wrap(f)
    close(g(X), np.sin(X))
    close(grad(lambda x: total(g(x)))(X), factor * np.cos(X))
    close(jit(grad(lambda x: total(g(x))))(X), factor * np.cos(X))
    close(vmap(grad(g))(X), factor * np.cos(X))
    close(grad(lambda x: total(vmap(g)(x)))(X), factor * np.cos(X))
    close(jit(vmap(grad(g)))(X), factor * np.cos(X))
    close(grad(lambda x: total(vmap(lambda y: mul(g(y), g(y)))(x)))(X), 2 * factor * np.cos(X) * np.sin(X))


def test_forward_mode_uses_the_jvp_rule_and_refuses_a_vjp_rule():
    close(jvp(twice_sloped, (X,), (f32(1, 1, 1),))[1], 2 * np.cos(X))
    with pytest.raises(TypeError, match="can't apply forward-mode"):
        jvp(thrice_sloped, (X,), (f32(1, 1, 1),))


def test_second_derivatives_differentiate_the_rule():
    close(grad(lambda x: total(grad(lambda y: total(twice_sloped(y)))(x)))(X), -2 * np.sin(X))
    close(grad(lambda x: total(grad(lambda y: total(thrice_sloped(y)))(x)))(X), -3 * np.sin(X))


def test_nondiff_arguments_come_first():
    @custom_jvp
    def f(x, n):
        return mul(x, np.float32(n))
    f = custom_jvp(f.fun, nondiff_argnums=(1,))
    f.defjvp(lambda n, primals, tangents: (f(primals[0], n), mul(tangents[0], np.float32(10 * n))))
    close(jvp(lambda x: f(x, 3), (X,), (f32(1, 1, 1),))[1], [30, 30, 30])

    g = custom_vjp(lambda n, x: mul(x, np.float32(n)), nondiff_argnums=(0,))
    g.defvjp(lambda n, x: (g(n, x), None), lambda n, res, ct: (mul(ct, np.float32(-n)),))
    close(grad(lambda x: total(g(4, x)))(X), [-4, -4, -4])


def test_symbolic_zeros():
    seen = []
    f = custom_jvp(lambda x, y: mul(x, y))

    def rule(primals, tangents):
        seen.append([isinstance(t, SymbolicZero) for t in tangents])
        return f(*primals), mul(tangents[0], primals[1])
    f.defjvp(rule, symbolic_zeros=True)
    close(grad(lambda x: total(f(x, X)))(X), X)
    assert seen == [[False, True]]


@pytest.mark.parametrize("wrap", [lambda f: f, vmap, lambda f: vmap(jit(f)), lambda f: vmap(vmap(lambda x: total(f(x))))])
def test_zeros_reach_the_backward_function_as_zeros_through_vmap(wrap):
    seen = []
    f = custom_vjp(lambda x: (sin(x), mul(x, x)))

    def backward(x, cts):
        seen.append([type(ct) is SymbolicZero and ct.shape == np.shape(x) for ct in cts])
        return (mul(cts[1], x),)
    f.defvjp(lambda x: (f(x.value), x.value), backward, symbolic_zeros=True)
    x = np.tile(X, (2, 1)) if wrap not in (vmap,) else X
    close(grad(lambda x: total(wrap(lambda x: f(x)[1])(x)))(x), x)
    assert seen == [[True, False]]


def test_functions_are_traced_first_where_the_flags_say_so():
    constant = custom_jvp(lambda x: np.float32(2))
    constant.defjvp(lambda primals, tangents: (np.zeros(2, np.float32), np.zeros(2, np.float32)))
    assert type(constant(X)) is np.float32 and jvp(constant, (X,), (X,))[0].shape == (2,)
    other = custom_vjp(lambda x: sin(x))
    other.defvjp(lambda x: (sin(x)[:2], None), lambda _, ct: (X,))
    with flags.custom_jvp3(True), flags.custom_vjp3(True):
        with pytest.raises(TypeError, match=r"returns a value of type float32\[\] where the primal output of its rule"):
            jvp(constant, (X,), (X,))
        with pytest.raises(TypeError, match="returns float32.2. as output 0, and <lambda> itself float32.3."):
            grad(lambda x: total(other(x)))(X)


def test_defjvps():
    f = custom_jvp(lambda x, y: mul(x, y))
    f.defjvps(lambda t, out, x, y: mul(t, y), None)
    close(grad(lambda x: total(f(x, x)))(X), X)
    for rules in ([], [None], [None] * 3):
        f.defjvps(*rules)
        with pytest.raises(ValueError, match=f"was given {len(rules)} rules, and is called with 2"):
            grad(lambda x: total(f(x, x)))(X)


def test_bwd_may_return_none():
    f = custom_vjp(lambda x, y: mul(x, y))
    f.defvjp(lambda x, y: (mul(x, y), y), lambda y, ct: (mul(ct, y), None))
    gx, gy = grad(lambda x, y: total(f(x, y)), (0, 1))(X, X)
    close(gx, X)
    close(gy, [0, 0, 0])


def test_cotangents_of_unmapped_arguments_are_summed():
    f = custom_vjp(lambda w, x: mul(w, x))
    f.defvjp(lambda w, x: (mul(w, x), (w, x)), lambda res, ct: (mul(ct, res[1]), mul(ct, res[0])))
    close(grad(lambda w: total(vmap(f, in_axes=(None, 0))(w, X)))(np.float32(2)), X.sum())


def test_custom_gradient():
    @custom_gradient
    def f(x):
        return mul(x, x), lambda ct: (mul(ct, 5.0),)
    close(grad(lambda x: f(x))(np.float32(3)), 5)


def test_custom_gradient_with_accumulators():
    def rule(x, y):
        def vjp(ct, x_place, y_places):
            x_place.accum(mul(ct, 5.0))
            x_place.accum(mul(ct, 2.0))
            y_places["a"].accum(mul(ct, 3.0))
        return mul(x, y["a"]), vjp
    args = (np.float32(3), {"a": np.float32(2), "b": np.float32(1)})
    f = custom_gradient(rule, with_accums=(ValAccum, {"a": ValAccum, "b": ValAccum}))
    assert [float(grad(g)(*args)) for g in (f, custom_gradient(with_accums=ValAccum)(rule))] == [7, 7]
    ct = grad(f, 1)(*args)
    assert float(ct["a"]) == 3 and float(ct["b"]) == 0
    for wrong, error in ((True, TypeError), (RefAccum, TypeError), ((ValAccum,), ValueError)):
        with pytest.raises(error):
            grad(custom_gradient(rule, with_accums=wrong))(*args)
    with pytest.raises(TypeError, match="None or a dict"):
        grad(custom_gradient(lambda x: (x, lambda ct, place: (ct,)), with_accums=ValAccum))(np.float32(1))


def test_wrong_cotangent_is_named():
    f = custom_vjp(lambda x: sin(x))
    f.defvjp(lambda x: (sin(x), None), lambda res, ct: (f32(1, 2),))
    with pytest.raises(ValueError, match=r"argument 0 a cotangent of type float32\[2\], expected float32\[3\]"):
        grad(lambda x: total(f(x)))(X)


def test_missing_rule_is_named():
    with pytest.raises(AttributeError, match="no rule is set for h"):
        @custom_jvp
        def h(x):
            return x
        h(X)


def test_linear_call_uses_its_own_transpose():
    from jax_core.transformations.custom_vjp import linear_call
    f = lambda x: linear_call(lambda r, x: mul(r, x), lambda r, ct: mul(mul(7.0, r), ct), f32(2, 3, 4), x)
    close(f(X), f32(2, 3, 4) * X)
    close(jvp(f, (X,), (f32(1, 1, 1),))[1], [2, 3, 4])
    close(grad(lambda x: total(f(x)))(X), [14, 21, 28])
    close(jit(grad(lambda x: total(f(x))))(X), [14, 21, 28])
    close(grad(lambda x: total(vmap(f)(x)))(np.stack([X, X])), np.stack([f32(14, 21, 28)] * 2))


@pytest.mark.parametrize("around", [lambda f: f, jit, lambda f: lambda x: vmap(f)(x[None])[0]])
def test_the_transpose_of_the_transpose_of_a_linear_call_is_its_function(around):
    from jax_core.transformations.custom_vjp import linear_call
    times = f32(2, 3, 4)  # closed over

    def transposed(f, n):
        return f if n == 0 else lambda x: autodiff.linear_transpose(transposed(f, n - 1), X)(x)[0]
    f = lambda x: linear_call(lambda r, x: mul(r, mul(times, x)), lambda r, ct: mul(r, mul(7.0, ct)), f32(5, 5, 5), x)
    for n, want in enumerate([[10, 15, 20], [35] * 3] * 2):
        close(around(transposed(f, n))(f32(1, 1, 1)), want)


@pytest.mark.parametrize("wrap", WRAPS)
def test_transpose_is_that_of_the_function(wrap):
    """`linear_transpose` asks for the transpose of what the function computes; a JVP rule says nothing of that."""
    @custom_jvp
    def scaled(x, factor):
        return mul(x, factor)

    scaled.defjvp(lambda primals, tangents: (scaled(*primals), mul(7.0, tangents[0])))
    (ct,) = autodiff.linear_transpose(wrap(lambda x: mul(scaled(x, sin(X)), 4.0)), X)(f32(1, 2, 3))
    close(ct, 4 * np.sin(X) * f32(1, 2, 3))
    (ct,) = autodiff.linear_transpose(wrap(lambda x: scaled(X, x)), X)(f32(1, 2, 3))
    close(ct, X * f32(1, 2, 3))
    with pytest.raises(NotImplementedError, match="sin is not linear"):
        autodiff.linear_transpose(wrap(twice_sloped), X)(X)


def _closing_custom_jvp(x):
    call = custom_jvp(lambda y: mul(x, y))
    call.defjvp(lambda p, t: (mul(x, p[0]), mul(5.0, mul(x, t[0]))))
    return call


def _closing_custom_vjp(x):
    call = custom_vjp(lambda y: mul(x, y))
    call.defvjp(lambda y: (mul(x, y), (x,)), lambda res, ct: (mul(5.0, mul(res[0], ct)),))
    return call


@pytest.mark.parametrize("make", [_closing_custom_jvp, _closing_custom_vjp])
@pytest.mark.parametrize("mapped", [True, False])
def test_rules_close_over_values_of_a_vmap(make, mapped):
    """Also where no argument of the call itself is mapped."""
    def fun(z):
        return total(vmap(lambda x: make(x)(mul(x, z) if mapped else z))(X))
    x = np.asarray(X)
    close(fun(2.0), np.sum(2 * x * x if mapped else 2 * x))
    close(grad(fun)(2.0), 5 * np.sum(x * x if mapped else x))


def test_results_that_no_mapped_value_reaches_stay_unmapped():
    assert vmap(lambda x, y: twice_sloped(y), in_axes=(0, None), out_axes=None)(X, 0.5).shape == ()


@pytest.mark.parametrize("number", [2, 2.0, True, np.float64(2)])
def test_rules_in_a_program_see_numbers_with_shape_and_dtype(number):
    """equinox' checkpointed loop makes buffers of the shapes of what it is called with."""
    seen = []

    def jvp_rule(primals, tangents):
        seen.append((primals[1].shape, primals[1].dtype))
        return scaled(*primals), mul(tangents[0], f32(2.0)[0])
    scaled = custom_jvp(lambda x, n: sin(x))
    scaled.defjvp(jvp_rule)
    saved = custom_vjp(lambda x, n: sin(x))
    saved.defvjp(lambda x, n: (seen.append((n.shape, n.dtype)) or sin(x), x), lambda x, ct: (mul(ct, cos(x)), None))
    want = ((), get_aval(number).dtype)
    jvp(jit(lambda x: scaled(x, number)), (X,), (X,))
    grad(lambda x: total(jit(lambda x: saved(x, number))(x)))(X)
    assert seen == [want, want]


@pytest.mark.parametrize("number", [2, 2.0, 2j])
@pytest.mark.parametrize("zeros", [False, True])
def test_functions_and_rules_called_with_numbers_may_ask_for_their_dtype(number, zeros):
    """Outside of programs too: in the function, in its rule, with and without symbolic zeros; the number is still one of Python."""
    want, seen = get_aval(number).dtype, []

    def saw(x):
        seen.append((x.dtype, x.shape, type(number).__repr__(x), str(x), isinstance(x, type(number))))
    forward = custom_jvp(lambda x, n: (saw(n), sin(x))[1])
    forward.defjvp(lambda primals, tangents: (saw(primals[1]), (forward(*primals), tangents[0]))[1], symbolic_zeros=zeros)
    saved = custom_vjp(lambda x, n: (saw(n), sin(x))[1])
    saved.defvjp(lambda x, n: (saw(n.value), (sin(x.value), x.value))[1] if zeros else (saw(n), (sin(x), x))[1],
                 lambda x, ct: (mul(ct, cos(x)), None), symbolic_zeros=zeros)
    forward(X, number), saved(X, number)
    jvp(lambda x: forward(x, number), (X,), (X,))
    grad(lambda x: total(saved(x, number)))(X)
    assert seen == [(want, (), repr(number), str(number), True)] * len(seen) and len(seen) == 5


def test_equations_show_the_users_rules():
    """Under the names that the user gave them; what a rule for fewer results, or for a batch, is made of does not show."""
    triple = custom_vjp(lambda x: mul(x, 3.))

    def triple_fwd(x):
        return triple(x), ()

    def triple_bwd(_, g):
        return (mul(g, 3.),)
    triple.defvjp(triple_fwd, triple_bwd)
    halve = custom_jvp(lambda x: mul(x, .5))

    @halve.defjvp
    def halve_jvp(primals, tangents):
        return halve(*primals), tangents[0]
    for wrap in (lambda f: f, vmap):
        text = str(tracing.make_jaxpr(wrap(lambda x: halve(triple(x))))(np.ones(3, np.float32)))
        assert " bwd=triple_bwd\n" in text and " fwd=triple_fwd\n" in text and " jvp=halve_jvp\n" in text and "num_consts" not in text
    linear = str(tracing.make_jaxpr(lambda x: jvp(triple, (x,), (x,)))(1.))
    assert " bwd=triple_bwd\n" in linear and " in_zeros=[False]\n" in linear and "out_avals" not in linear


class Noted(Effect):
    """Says nothing of where it is allowed."""


@pytest.mark.parametrize("wrap", [custom_jvp, custom_vjp])
def test_effects_that_are_not_allowed_in_rules_are_refused(wrap):
    note = Primitive("note", out_type=lambda x: x, effects=lambda x: frozenset({Noted()}), jvp=LINEAR, transpose=lambda ct, x: ct,
                     batch=ELEMENTWISE, lower=none("only traced"), reference=np.positive)
    fun = wrap(note.bind)
    fun.defjvp(lambda x, t: (x, t)) if wrap is custom_jvp else fun.defvjp(lambda x: (x, ()), lambda _, g: g)
    with pytest.raises(NotImplementedError, match="Effects not supported inside functions with custom derivatives"):
        tracing.make_jaxpr(fun)(2.)
    assert tracing.make_jaxpr(note.bind)(2.).effects


@pytest.mark.parametrize("way", [lambda f: f, jit, lambda f: vmap(f)], ids=["called", "jit", "vmap"])
def test_residuals_whose_structure_depends_on_what_is_perturbed(way):
    """Two pullbacks of one function: each backward call gets the residuals of its own forward call, whichever came last."""
    f = custom_vjp(lambda x, y: mul(x, y))

    def forward(x, y):
        return mul(x.value, y.value), (y.value if x.perturbed else None, x.value if y.perturbed else None)

    def backward(residuals, g):
        return tuple(None if r is None else mul(g, r) for r in residuals)
    f.defvjp(forward, backward, symbolic_zeros=True)
    fun, x, y, one = way(f), np.float32([2.]), np.float32([3.]), np.float32([1.])
    to_x, to_y = autodiff.vjp(lambda x: fun(x, y), x)[1], autodiff.vjp(lambda y: fun(x, y), y)[1]
    assert [float(pull(one)[0][0]) for pull in (to_x, to_y, to_x)] == [3., 2., 3.]
