"""jet: derivatives along a curve agree with nested jvp, with known formulas to order 6, and under every transformation."""
import math

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.primitive import Primitive, none
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import jet as taylor, lax, nn, numpy as jnp
from jax_numpy_api.jet import jet, jet2, zero_series, zero_term
from jax_numpy_api.scipy import special

pytestmark = pytest.mark.any_code


@pytest.fixture(autouse=True)
def x64():
    with flags.enable_x64(True):
        yield


def nested(f, primals, series):
    """The derivatives of ``f`` along the curve with these derivatives, by one `jvp` inside another."""
    def along(t):
        return f(*[x + sum((np.asarray(c) * t**k / math.factorial(k) for k, c in enumerate(row, 1)), np.zeros(np.shape(x)))
                   for x, row in zip(primals, series)])
    functions = [along]
    for _ in series[0]:
        functions.append(lambda t, g=functions[-1]: jvp(g, (t,), (1.0,))[1])
    value, *derivatives = jit(lambda t: [g(t) for g in functions])(0.0)
    return value, derivatives


def check(f, primals, series, rtol=1e-9):
    value, terms = jit(lambda p, s: jet(f, p, s))(primals, series)
    want, want_terms = nested(f, primals, series)
    np.testing.assert_allclose(value, want, rtol=rtol, atol=rtol)
    for got, expected in zip(terms, want_terms, strict=True):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


ONE_VARIABLE = {
    "exp": jnp.exp, "exp2": jnp.exp2, "expm1": jnp.expm1, "log": jnp.log, "log2": jnp.log2, "log1p": jnp.log1p,
    "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh,
    "arcsin": lambda x: jnp.arcsin(x / 3), "arccos": lambda x: jnp.arccos(x / 3), "arctan": jnp.arctan,
    "arcsinh": jnp.arcsinh, "arccosh": lambda x: jnp.arccosh(x + 2), "arctanh": lambda x: jnp.arctanh(x / 3),
    "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "cbrt": jnp.cbrt, "logistic": nn.sigmoid, "erf": special.erf,
    "erfc": special.erfc, "erfinv": lambda x: special.erfinv(x / 3), "power": lambda x: x**2.5, "x**x": lambda x: x**x,
    "fifth": lambda x: x**5, "x**-3": lambda x: x**-3, "quotient": lambda x: jnp.sin(x) / (1 + x * x),
    "gammaln": special.gammaln, "digamma": special.digamma, "abs": jnp.abs, "square": jnp.square,
    "arctan2": lambda x: jnp.arctan2(x, 2.0), "logaddexp": lambda x: jnp.logaddexp(x, 1.0), "i0e": special.i0e,
    "softplus": nn.softplus, "gelu": nn.gelu, "silu": nn.silu, "relu": nn.relu, "maximum": lambda x: jnp.maximum(x, x * x),
    "where": lambda x: jnp.where(x > 0.5, jnp.sin(x), x), "clip": lambda x: jnp.clip(x, 0.0, 0.5), "sinc": jnp.sinc,
    "floor": lambda x: jnp.floor(x) + x, "remainder": lambda x: jnp.remainder(x, 0.3), "hypot": lambda x: jnp.hypot(x, 2.0),
    "complex": lambda x: jnp.real(jnp.exp(1j * x) / (2 + x * 1j)), "abs of complex": lambda x: jnp.abs(lax.complex(x, x * x)),
    "polynomial": lambda x: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x),
}


@pytest.mark.parametrize("name", ONE_VARIABLE)
def test_functions_of_one_variable(name):
    check(ONE_VARIABLE[name], (0.7,), ((1.0, 0.5, -0.3),))


MATRIX = np.array([[3.0, 0.5, 0.2], [0.5, 2.0, -0.3], [0.2, -0.3, 1.5]])
OF_MATRICES = {
    "matmul": lambda a: a @ jnp.sin(a), "einsum": lambda a: jnp.einsum("ij,kj->ik", a, a * a), "sum": jnp.sum,
    "prod": lambda a: jnp.prod(a, axis=1), "cumsum": lambda a: jnp.cumsum(a, 0), "cumprod": lambda a: jnp.cumprod(a, 1),
    "softmax": nn.softmax, "logsumexp": special.logsumexp, "sort": lambda a: jnp.sort(a * a, 1),
    "max": lambda a: jnp.max(a, 1), "gather": lambda a: a[jnp.array([2, 0]), 1:], "var": jnp.var,
    "scatter": lambda a: a.at[0, jnp.array([1, 1])].add(a[1, :2]), "set": lambda a: a.at[1].set(a[0] ** 2),
    "multiply at": lambda a: a.at[0, 1].multiply(a[2, 2]), "concatenate": lambda a: jnp.concatenate([a, a * a]),
    "pad": lambda a: jnp.pad(a, 1), "cholesky": lambda a: jnp.linalg.cholesky(a + a.T), "inv": jnp.linalg.inv,
    "solve": lambda a: jnp.linalg.solve(a, a[0]), "det": jnp.linalg.det, "eigvalsh": lambda a: jnp.linalg.eigvalsh(a + a.T),
    "svd": lambda a: jnp.linalg.svd(a, compute_uv=False), "qr": lambda a: jnp.linalg.qr(a)[1], "fft": lambda a: jnp.abs(jnp.fft.fft(a)),
    "conv": lambda a: jnp.convolve(a[0], a[1]), "take": lambda a: lax.dynamic_slice(a, (1, 0), (2, 2)), "norm": jnp.linalg.norm,
    "vmap": vmap(lambda row: jnp.tanh(row).sum() * row), "argmax": lambda a: a[0] * jnp.argmax(a[1]),
    "top_k": lambda a: lax.top_k(a * a, 2)[0], "windows": lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 1), "valid"),
}


@pytest.mark.parametrize("name", OF_MATRICES)
def test_functions_of_arrays(name):
    rng = np.random.default_rng(0)
    check(OF_MATRICES[name], (MATRIX,), (tuple(rng.normal(size=(2, 3, 3)) / 4),), rtol=1e-8)


def loop(x):
    return lax.fori_loop(0, 4, lambda i, y: jnp.sin(y) + x * i, x)


def scanned(x):
    carry, ys = lax.scan(lambda c, a: (c * jnp.cos(x) + a, jnp.exp(c) * a), x, jnp.arange(3.0) * x)
    return carry + ys.sum()


def while_of_value(x):
    return lax.while_loop(lambda c: c[0] < 20.0, lambda c: (c[0] * 2, jnp.sin(c[1]) * c[0]), (x, x * x))[1]


def branches(x):
    return lax.cond(x > 0.5, lambda y: jnp.sin(y) * y, lambda y: 1.0, x) + lax.switch(
        1, [jnp.cos, lambda y: 2.0 * y, jnp.exp], x)


@custom_jvp
def cube(x):
    return x * x * x


@cube.defjvp
def _cube_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return cube(x), jit(lambda y, x: 3 * y / x)(cube(x), x) * t


@custom_jvp
def rotated(x, y):
    return jnp.cos(x) * y, jnp.sin(x) * y


@rotated.defjvp
def _rotated_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    u, v = rotated(x, y)
    return (u, v), (-v * dx + u / y * dy, u * dx + v / y * dy)


PROGRAMS = {
    "jit": lambda x: jit(jnp.sin)(x) * x, "nested jit": jit(lambda x: jit(lambda y: (y * y, 1))(x)[0]), "loop": loop,
    "scan": scanned, "while": while_of_value, "cond": branches, "checkpoint": checkpoint(lambda x: jnp.sin(x) * x),
    "custom_jvp": cube, "custom_jvp of pairs": lambda x: sum(rotated(x, x * x)), "staged custom_jvp": jit(cube),
    "associative_scan": lambda x: lax.associative_scan(jnp.multiply, jnp.arange(1.0, 5.0) * x),
    "grad": lambda x: grad(lambda y: jnp.sin(y) * y**3)(x), "jvp": lambda x: jvp(jnp.sin, (x,), (x,))[1],
    "map": lambda x: lax.map(lambda a: jnp.sin(a * x), jnp.arange(3.0)),
    "custom_linear_solve": lambda x: lax.custom_linear_solve(
        lambda v: v * (2 + x), jnp.exp(x), lambda mv, b: b / mv(1.0), symmetric=True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name], (0.7,), ((1.0, 0.5, -0.3),))


# Derivatives of orders 0 to 6 at x, by formulas.
KNOWN = {
    "exp": (jnp.exp, 0.3, [math.exp(0.3)] * 7),
    "sin": (jnp.sin, 0.3, [math.sin(0.3 + n * math.pi / 2) for n in range(7)]),
    "log": (jnp.log, 0.6, [math.log(0.6)] + [(-1) ** (n - 1) * math.factorial(n - 1) / 0.6**n for n in range(1, 7)]),
    "1/x": (lambda x: 1 / x, 0.6, [(-1) ** n * math.factorial(n) / 0.6 ** (n + 1) for n in range(7)]),
    "x**2.5": (lambda x: x**2.5, 0.6, [math.prod(2.5 - i for i in range(n)) * 0.6 ** (2.5 - n) for n in range(7)]),
    "x**4 at 0": (lambda x: x**4, 0.0, [0, 0, 0, 0, 24, 0, 0]),
    "x**4.0 at 0": (lambda x: jnp.power(x, 4.0), 0.0, [0, 0, 0, 0, 24, 0, 0]),
    "tanh at 0": (jnp.tanh, 0.0, [0, 1, 0, -2, 0, 16, 0]),
    "tan at 0": (jnp.tan, 0.0, [0, 1, 0, 2, 0, 16, 0]),
    "erf at 0": (special.erf, 0.0, [c * 2 / math.sqrt(math.pi) for c in (0, 1, 0, -2, 0, 12, 0)]),
    "logistic at 0": (nn.sigmoid, 0.0, [1 / 2, 1 / 4, 0, -1 / 8, 0, 1 / 4, 0]),
    "sqrt at 1": (jnp.sqrt, 1.0, [1, 1 / 2, -1 / 4, 3 / 8, -15 / 16, 105 / 32, -945 / 64]),
    "arctan at 0": (jnp.arctan, 0.0, [0, 1, 0, -2, 0, 24, 0]),
    "lambert": (lambda x: lax.fori_loop(0, 60, lambda i, w: w - (w * jnp.exp(w) - x) / (jnp.exp(w) * (1 + w)), x), 0.0,
                [(-n) ** (n - 1) if n else 0 for n in range(7)]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_derivatives_to_order_6(name):
    f, x, want = KNOWN[name]
    value, terms = jet(f, (x,), ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0),))
    np.testing.assert_allclose([value, *terms], want, rtol=1e-12, atol=1e-12)


def test_several_arguments_and_structures():
    def f(params, x):
        return {"y": jnp.tanh(params["w"] @ x + params["b"]), "x": (x, 3)}
    params = {"w": MATRIX, "b": np.ones(3)}
    row = {"w": [np.ones((3, 3)), np.zeros((3, 3))], "b": [np.ones(3), np.ones(3)]}
    x, xs = np.arange(3.0), [np.ones(3), 2 * np.ones(3)]
    value, series = jet(f, (params, x), (row, xs))
    want, want_terms = nested(lambda w, b, x: f({"w": w, "b": b}, x)["y"], (params["w"], params["b"], x),
                              (row["w"], row["b"], xs))
    np.testing.assert_allclose(value["y"], want)
    np.testing.assert_allclose(series["y"], want_terms, rtol=1e-12)
    np.testing.assert_array_equal(series["x"][0], xs)
    assert value["x"][1] == 3 and len(series["x"][1]) == 2


def test_coefficients_of_powers_in_place_of_derivatives():
    _, derivatives = jet(jnp.sin, (0.5,), ((1.0, 2.0, 6.0),))
    _, coefficients = jet2(jnp.sin, (0.5,), ((1.0, 1.0, 1.0),))
    np.testing.assert_allclose(coefficients, np.array(derivatives) / [1, 2, 6], rtol=1e-14)
    np.testing.assert_array_equal(jet(jnp.sin, (0.5,), ((1.0, 1.0, 1.0),), factorial_scaled=False)[1], coefficients)


def test_zeros():
    value, terms = jet(lambda x, y: jnp.sin(x) * y, (0.5, 2.0), ([1.0, zero_term], zero_series))
    np.testing.assert_allclose([value, *terms], 2 * np.sin(0.5 + np.arange(3) * np.pi / 2))
    np.testing.assert_array_equal(jet(lambda x: jnp.ones(2), (1.0,), ((1.0,),))[1], [np.zeros(2)])
    assert jet(jnp.sin, (1.0,), ((),))[1] == []


def test_an_integer_moves_as_a_float():
    value, (first,) = jet(jnp.sin, (1,), ((1.0,),))
    np.testing.assert_allclose([value, first], [math.sin(1), math.cos(1)], rtol=1e-6)


def test_scalars_keep_their_type():
    with flags.enable_x64(False):
        value, terms = jet(lambda x: x * jnp.float32(2), (jnp.float32(3),), ((1.0, 0.0),))
    assert [t.dtype for t in (value, *terms)] == [np.float32] * 3


def test_transformations_of_jet():
    def second(x):
        return jet(lambda y: jnp.sin(y) * y, (x,), ((1.0, 0.0),))[1][1]
    third = lambda x: -3 * np.sin(x) - x * np.cos(x)
    np.testing.assert_allclose(grad(second)(0.4), third(0.4), rtol=1e-12)
    np.testing.assert_allclose(jvp(second, (0.4,), (1.0,))[1], third(0.4), rtol=1e-12)
    xs = np.linspace(0.1, 1.0, 4)
    np.testing.assert_allclose(vmap(second)(xs), 2 * np.cos(xs) - xs * np.sin(xs), rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(jit(second)))(xs), third(xs), rtol=1e-12)
    _, (inner,) = jet(second, (0.4,), ((1.0,),))
    np.testing.assert_allclose(inner, third(0.4), rtol=1e-12)


def test_vmap_inside_sees_the_series():
    f = lambda x: vmap(lambda a: jnp.sin(a * x))(jnp.arange(3.0))
    check(f, (0.7,), ((1.0, 0.5, -0.3),))


def test_custom_vjp_is_expanded_as_it_is_written():
    @custom_vjp
    def f(x):
        return jnp.sin(x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * 0.0,))
    np.testing.assert_allclose(jet(f, (0.5,), ((1.0, 0.0),))[1], [math.cos(0.5), -math.sin(0.5)], rtol=1e-14)


def count_equations(order):
    from jax_core.programs.tracing import make_jaxpr
    series = ((1.0,) + (0.0,) * (order - 1),)
    return len(make_jaxpr(lambda x: jet(lambda y: jnp.exp(jnp.sin(y)) * jnp.tanh(y), (x,), series))(0.5).jaxpr.eqns)


def test_cost_grows_with_the_square_of_the_order():
    """Nested jvp doubles with each order."""
    four, eight, sixteen = map(count_equations, (4, 8, 16))
    assert eight < 4 * four and sixteen < 4 * eight


def test_long_programs_are_no_deep_recursion():
    def f(x):
        for _ in range(1500):
            x = jnp.sin(x)
        return x
    jit(lambda x: jet(f, (x,), ((1.0, 0.0),))).lower(0.5)


def _double(name="double"):
    return Primitive(name, out_type=lambda x: x, jvp=none("no rule"), transpose=none(""), batch=none(""),
                     lower=lambda b, x: b.elementwise("stablehlo.add", x, x))


def test_rules_of_users():
    rules = dict(taylor.jet_rules)
    try:
        double = _double()
        taylor.deflinear(double)
        np.testing.assert_allclose(jet(lambda x: double.bind(jnp.sin(x)), (0.0,), ((1.0, 0.0, 0.0),))[1], [2, 0, -2])
        taylor.def_deriv(double, lambda x: 3 * x * x)
        np.testing.assert_allclose(jet(double.bind, (1.0,), ((1.0, 0.0, 0.0),))[1], [3, 6, 6])
        taylor.def_comp(double, jnp.exp)
        np.testing.assert_allclose(jet(double.bind, (0.0,), ((1.0, 0.0, 0.0),))[1], [1, 1, 1])
        taylor.defzero(double)
        np.testing.assert_array_equal(jet(double.bind, (1.0,), ((1.0, 0.0),))[1], [0, 0])
        taylor.jet_rules[double] = lambda primals, series: (primals[0] * 2, [7 * t for t in series[0]])
        np.testing.assert_allclose(jet(lambda x: double.bind(x * x), (1.0,), ((1.0, 0.0),))[1], [14, 14])
    finally:
        taylor.jet_rules.clear()
        taylor.jet_rules.update(rules)


def test_wrapped_functions():
    from jax_core.compat import linear_util
    wrapped = linear_util.wrap_init(lambda x, y: [jnp.sin(x) * y, 3.0])
    (value, three), (terms, zeros) = taylor.jet_fun(taylor.jet_subtrace(wrapped), 2).call_wrapped((1.0, 2.0), ((1.0, 0.0), zero_series))
    np.testing.assert_allclose([value, *terms], [2 * math.sin(1), 2 * math.cos(1), -math.sin(1)], rtol=1e-14)
    assert three == 3.0 and [float(z) for z in zeros] == [0.0, 0.0]
    from jax_core.representation import tree
    flat, out_tree = taylor.traceable(linear_util.wrap_init(lambda p, s: {"a": p[0], "b": s}), tree.structure(((0,), [0, 0])))
    assert flat.call_wrapped(1, 2, 3) == [1, 2, 3] and out_tree() == tree.structure({"a": 0, "b": [0, 0]})


def test_a_primitive_without_derivatives_says_so():
    with pytest.raises(NotImplementedError, match="no rule"):
        jet(_double("undifferentiable").bind, (1.0,), ((1.0,),))


@pytest.mark.parametrize("primals, series, error, message", [
    ((1.0,), ((1.0, 0.0), (1.0,)), ValueError, "1 primals and 2 series"),
    ((1.0, 2.0), ((1.0, 0.0), (1.0,)), ValueError, "inconsistent lengths for different arguments: \\[1, 2\\]"),
    ((1.0,), (1.0,), TypeError, "series\\[0\\] must be a list"),
    ((np.ones(3),), ((np.ones(2),),), ValueError, "order 1 at position 0 has shape \\(2,\\), its primal \\(3,\\)"),
    (({"a": 1.0},), ((1.0,),), ValueError, "series\\[0\\] must have the structure of primals\\[0\\]"),
    (("text",), ((1.0,),), TypeError, "position 0 is not an array but str"),
])
def test_errors(primals, series, error, message):
    with pytest.raises(error, match=message):
        jet(jnp.sin, primals, series)


@pytest.mark.parametrize("x64", [False, True])
def test_series_of_python_numbers_are_weak(x64):
    with flags.enable_x64(x64):
        value, terms = jit(lambda a: jet(lambda c: c * 2.0, (a,), ((a, a),)))(2.0)
        assert value.weak_type and all(term.weak_type for term in terms)
