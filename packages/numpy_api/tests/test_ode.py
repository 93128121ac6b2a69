"""odeint: against closed forms and SciPy; gradients against closed forms and differences."""
import numpy as np
import pytest
import scipy.integrate

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jacrev
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp, ode

pytestmark = pytest.mark.any_code

T = np.array([0.0, 0.3, 1.0, 1.1, 2.5])


@pytest.fixture(autouse=True)
def doubles():
    with flags.enable_x64(True):
        yield


def pendulum(y, t, m, g):
    angle, speed = y
    return jnp.stack([speed, -m * speed - g * jnp.sin(angle)])


def test_pair_and_extension_have_their_order():
    """Weights sum to their nodes and to 1; halving the step divides the error by 2**5, in between steps too."""
    for node, row in zip(ode._TIMES, ode._SLOPES):
        assert sum(row) == pytest.approx(node, abs=1e-14)
    assert sum(ode._ERROR) == pytest.approx(0, abs=1e-14) and sum(ode._BEND) == pytest.approx(0, abs=1e-13)
    control = ode._Control(0.0, 1e9, np.inf, np.inf)

    def errors(h):
        slope_at = lambda y, t: y * jnp.cos(t)
        y, t = jnp.ones(1), jnp.asarray(0.2)
        still = ode._Curve(t, jnp.zeros_like(t), (y,) * 5)
        front = ode._Front(t, y, slope_at(y, t), jnp.asarray(h), jnp.asarray(10.0), jnp.asarray(0), still)
        front = ode._attempt(slope_at, control, front)
        exact = lambda x: np.exp(np.sin(x) - np.sin(0.2))
        return abs(front.value[0] - exact(0.2 + h)), abs(front.curve.at(0.2 + 0.4 * h)[0] - exact(0.2 + 0.4 * h))
    (end, middle), (half_end, half_middle) = errors(0.2), errors(0.1)
    assert end / half_end > 50 and middle / half_middle > 25  # 2**6 and 2**5 in the limit


@pytest.mark.parametrize("func, y0, args", [
    (pendulum, np.array([1.0, 0.5]), (0.3, 9.8)),
    (lambda y, t, a: a * y * jnp.cos(3 * t), np.array(2.0), (0.7,)),
    (lambda y, t: jnp.stack([y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]), np.array([2.0, 0.0]), ()),
])
def test_scipy(func, y0, args):
    got = jit(lambda y, t: ode.odeint(func, y, t, *args))(y0, T)
    want = scipy.integrate.solve_ivp(lambda t, y: np.asarray(func(jnp.reshape(y, y0.shape), t, *args)).reshape(-1), (T[0], T[-1]),
                                     y0.reshape(-1), t_eval=T, method="DOP853", rtol=1e-12, atol=1e-12).y.T
    np.testing.assert_allclose(np.asarray(got).reshape(len(T), -1), want, rtol=2e-6, atol=2e-6)


def test_complex_and_trees():
    w = 2 - 0.5j
    out = ode.odeint(lambda y, t: {"z": 1j * w * y["z"], "x": (-y["x"][0],)}, {"z": np.array([1 + 1j]), "x": (np.ones((2, 1)),)}, T)
    np.testing.assert_allclose(out["z"], (1 + 1j) * np.exp(1j * w * T)[:, None], rtol=1e-6)
    np.testing.assert_allclose(out["x"][0], np.exp(-T)[:, None, None] * np.ones((2, 1)), rtol=1e-6)
    assert out["x"][0].dtype == np.float64


def test_gradients_of_a_closed_form():
    def last(y, t, k, n):
        return ode.odeint(lambda y, t, k, n: k["rate"] * y * t ** n, y, t, k, n)[-1]
    y, k = 2.0, {"rate": -0.6}
    want = y * np.exp(k["rate"] * T[-1] ** 2 / 2)
    y_bar, t_bar, k_bar = grad(last, (0, 1, 2))(y, T, k, 1)
    assert float(y_bar) == pytest.approx(want / y, rel=1e-6)
    assert float(k_bar["rate"]) == pytest.approx(want * T[-1] ** 2 / 2, rel=1e-6)
    np.testing.assert_allclose(t_bar, [0, 0, 0, 0, k["rate"] * T[-1] * want], rtol=1e-6, atol=1e-9)
    assert float(grad(lambda t: last(y, t, k, 1))(T + 0.5)[0]) == pytest.approx(
        -k["rate"] * 0.5 * y * np.exp(k["rate"] * ((T[-1] + 0.5) ** 2 - 0.25) / 2), rel=1e-6)
    second = grad(grad(lambda r: last(y, T, {"rate": r}, 1)))(k["rate"])
    assert float(second) == pytest.approx(want * (T[-1] ** 2 / 2) ** 2, rel=1e-5)


def test_gradients_against_differences():
    weights = np.arange(10.0).reshape(5, 2)
    loss = lambda y, t, m, g: jnp.sum(weights * ode.odeint(pendulum, y, t, m, g, rtol=1e-11, atol=1e-11) ** 2)
    point = (np.array([1.0, 0.5]), T, 0.3, 2.0)
    for i, bar in enumerate(grad(loss, (0, 1, 2, 3))(*point)):
        direction = np.cos(np.arange(np.size(point[i]))).reshape(np.shape(point[i]))
        moved = lambda h: loss(*point[:i], point[i] + h * direction, *point[i + 1:])
        difference = (moved(1e-4) - moved(-1e-4)) / 2e-4
        assert float(np.sum(bar * direction)) == pytest.approx(float(difference), rel=1e-6, abs=1e-6)


def test_gradient_of_a_complex_state():
    def loss(z, w):
        return jnp.abs(ode.odeint(lambda y, t: w * y, z, T)[-1] - 1j) ** 2
    z, w = 0.5 + 0.2j, -0.1 + 2j
    exact = lambda z, w: jnp.abs(z * jnp.exp(w * T[-1]) - 1j) ** 2
    for got, want in zip(grad(loss, (0, 1))(z, w), grad(exact, (0, 1))(z, w)):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_batches_and_closures():
    rates = np.array([0.1, -1.0, 3.0])
    solve = lambda r: ode.odeint(lambda y, t: r * y, 1.0, T)
    np.testing.assert_allclose(vmap(solve)(rates), np.exp(rates[:, None] * T), rtol=1e-6)
    np.testing.assert_allclose(vmap(jacrev(solve))(rates), T * np.exp(rates[:, None] * T), rtol=1e-5, atol=1e-7)


def test_limits_of_steps():
    calls = lambda **kwargs: ode.odeint(lambda y, t: jnp.where(jnp.abs(t - 1.0) < 0.05, 20.0, 0.0), 0.0, np.array([0.0, 2.0]), **kwargs)[1]
    assert float(calls(hmax=0.01)) == pytest.approx(2.0, rel=1e-2)  # a longer step would not see the pulse
    assert np.isfinite(ode.odeint(lambda y, t: -y, 1.0, T, mxstep=2)).all()


def test_a_solution_that_ends_is_nan_and_a_loop_that_ends():
    out = ode.odeint(lambda y, t: y * y, 1.0, np.array([0.0, 0.5, 0.9, 1.5]))
    np.testing.assert_allclose(out[:3], [1.0, 2.0, 10.0], rtol=1e-5)
    assert np.isnan(out[3])
    assert np.isnan(ode.odeint(lambda y, t: jnp.nan * y, 1.0, T)[1:]).all()


def test_times_that_go_back_are_nan_from_there_on():
    out = ode.odeint(lambda y, t: y, np.ones(2), np.array([0.0, 0.5, 0.5, 0.25, 1.0]))
    np.testing.assert_allclose(out[:3, 0], np.exp([0, 0.5, 0.5]), rtol=1e-6)
    assert np.isnan(out[3:]).all()


def test_a_step_that_leaves_the_domain_is_made_shorter():
    out = ode.odeint(lambda y, t: -jnp.sqrt(y), 1.0, np.array([0.0, 1.0, 1.9]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(out, [1.0, 0.25, 0.05 ** 2], rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
def test_the_dtype_is_that_of_the_start(dtype):
    out = ode.odeint(lambda y, t: -y, np.ones(2, dtype), T.astype(np.float32), rtol=1e-5, atol=1e-5)
    assert out.dtype == dtype
    np.testing.assert_allclose(out[:, 0], np.exp(-T), rtol=1e-3)


@pytest.mark.parametrize("call, message", [
    (lambda: ode.odeint(lambda y, t, a: y, 1.0, T, "a"), "odeint: arguments must be arrays or numbers, got 'a'"),
    (lambda: ode.odeint(lambda y, t: jnp.ones(3), np.ones(2), T), "odeint: func returns 3 numbers, but y0 has 2"),
    (lambda: ode.odeint(lambda y, t: -y, 1, T), "odeint: y0 must be of a float .* got int64 and float64"),
    (lambda: ode.odeint(lambda y, t: -y, 1.0, np.arange(3)), "odeint: y0 must be of a float .* got float64 and int64"),
])
def test_mistakes(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_parts_for_solvers_of_ones_own():
    """A solver made of the parts finds the exponential, and its curves the values between."""
    slope_at, t, y = (lambda y, t: -y), jnp.asarray(0.0), jnp.ones(2)
    f, dt = slope_at(y, t), ode.initial_step_size(slope_at, t, y, 4, 1e-6, 1e-6, -y)
    for _ in range(5):
        end, slope, error, slopes = ode.runge_kutta_step(slope_at, y, f, t, dt)
        np.testing.assert_allclose(end, y * np.exp(-dt), rtol=1e-5)
        curve = ode.interp_fit_dopri(y, end, slopes, dt)
        np.testing.assert_allclose([jnp.polyval(curve, s) for s in (0.0, 0.3, 1.0)], [y * np.exp(-s * dt) for s in (0.0, 0.3, 1.0)], rtol=1e-4)
        y, f, t = end, slope, t + dt
        dt = ode.optimal_step_size(dt, ode.mean_error_ratio(error, 1e-6, 1e-6, y, end))
    assert ode.abs2(jnp.array([3 + 4j])) == 25 and ode.ravel_first_arg(lambda y, t: [y, t], lambda v: v)(jnp.ones(2), 3.0).tolist() == [1, 1, 3]
