"""With `jax_explicit_x64_dtypes` "allow", what was asked for in 64 bits has them while x64 is off; all else has 32."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import eval_shape, make_jaxpr
from jax_core.references.api import new_ref
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.jaxpr import eval_jaxpr
from jax_core.transformations.autodiff import grad, hessian, jacfwd, jacrev, jvp, linearize
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, nn
from jax_numpy_api.checkify import checkify, float_checks
from jax_numpy_api.scipy import special

WIDE = """
jnp.int64(np.array(1 << 40)); jnp.int64(1 << 40); jnp.array(1 << 40, dtype=jnp.int64); jnp.zeros(3, jnp.float64); jnp.full(3, 2.0, "float64");
jnp.arange(3, dtype=np.dtype("int64")); jnp.linspace(0, 1, 3, dtype=jnp.float64); jnp.eye(3, dtype=jnp.float64); lax.full((2,), 1, jnp.int64);
jnp.asarray(np.ones(3), dtype=np.float64); jnp.zeros(3).astype(jnp.float64); jnp.max(i); jnp.max(i, initial=0); jnp.sum(i); i + 1;
i[0]; jnp.concatenate([i, i]); jnp.stack([f, f]); jnp.zeros_like(i); nn.relu(f); jnp.sin(f); jnp.where(True, f, 2.0); i.at[0].set(1 << 40);
jit(lambda: jnp.full(3, 0.1, jnp.float64))(); jit(lambda x: x)(f); eval_shape(lambda x: x + 1, ShapeDtypeStruct((), jnp.int64))
"""
NARROW = """
jnp.zeros(3); jnp.zeros(3, float); jnp.full(3, np.float64(2)); jnp.asarray(np.ones(3)); jnp.sin(np.float64(1)); jnp.zeros_like(np.ones(3));
jit(lambda x: x)(np.ones(2)); jnp.unique(i, return_index=True)[1]; jnp.argmax(i); jnp.searchsorted(i, i)
"""


@pytest.mark.parametrize("width, calls", [(8, WIDE), (4, NARROW)])
def test_widths(width, calls):
    with flags.enable_x64(False), flags.explicit_x64_dtypes("allow"):
        names = dict(jnp=jnp, np=np, lax=lax, nn=nn, jit=jit, eval_shape=eval_shape, ShapeDtypeStruct=ShapeDtypeStruct,
                     i=jnp.array([0, 1], dtype=jnp.int64), f=jnp.full(2, 0.1, jnp.float64))
        found = {call.strip(): eval(call, names).dtype.itemsize for call in calls.split(";")}
        assert found == dict.fromkeys(found, width)
        assert int(jnp.int64(1 << 40)) == 1 << 40
        assert float(jit(lambda: jnp.full(1, 0.1, jnp.float64))()[0]) == 0.1


@pytest.mark.parametrize("call", [
    lambda x: jnp.expand_dims(x, 1), lambda x: lax.slice(x, (0,), (2,)), lambda x: lax.reshape(x, (3, 1)), lambda x: jnp.broadcast_to(x, (2, 3)),
    lambda x: jnp.take(x, 0), lambda x: jnp.outer(x, x), lambda x: x + x])
def test_an_array_of_64_bits_holds_them_where_x64_is_off(call):
    with flags.enable_x64(True):
        x = jnp.array([1e-300, 2.0, 1 / 3])
    with flags.enable_x64(False):
        for got in call(x), jit(call)(x):
            assert got.dtype == np.asarray(got).dtype == np.float64 and np.asarray(got).min() < 1e-290
            assert np.all(np.asarray(got + got) == 2 * np.asarray(got))


KEPT = """
f[0]; f.at[0].set(1.0); jnp.concatenate([f, f]); jnp.zeros_like(f); jnp.ones_like(f); jnp.unique(f, size=3); jnp.deg2rad(f); jnp.angle(f); jnp.trunc(f); jnp.reciprocal(f);
jnp.modf(f)[0]; jnp.sort(f); nn.silu(f); jsp.digamma(f); jnp.sin(i); f + f; f[None].T; vmap(lambda x: x)(f); jnp.linalg.svd(m)[0]; lax.neg(w)
"""
NARROWED = """
f + 1; f * np.float32(2); jnp.median(f); jnp.sinc(f); jnp.max(f); jnp.ptp(f); jnp.cov(m); jnp.fft.rfft(f).real; jnp.nan_to_num(f); jnp.nansum(f); jnp.frexp(f)[0];
jnp.poly(f); jnp.polyder(f); jsp.ndtr(f); jsp.factorial(f); nn.gelu(f); jnp.linalg.inv(m); jnp.linalg.cholesky(m); vmap(lambda x: x + 1)(f); jnp.unique(np.ones(2));
f * np.float64(2); np.float64(2) + f; f ** np.float64(2); jnp.hypot(f, np.ones(3)); jnp.where(f > 1, f, np.float64(2)); f / np.ones(3)
"""


@pytest.mark.parametrize("width, calls", [(8, KEPT), (4, NARROWED)])
def test_an_array_of_64_bits_is_narrowed_beside_others_where_x64_is_off(width, calls):
    """By operators and functions alike, in programs as outside of them; and none fails for a constant of another width."""
    with flags.enable_x64(True):
        held = dict(f=jnp.array([0.5, 0.25, 0.75]), m=jnp.array([[2.0, 0.5], [0.5, 3.0]]), i=jnp.arange(3), w=jnp.asarray(0.5))
    with flags.enable_x64(False):
        run = lambda call: eval("lambda f, m, i, w: " + call, dict(jnp=jnp, np=np, lax=lax, nn=nn, jsp=special, vmap=vmap))
        found = {call.strip(): (run(call.strip())(**held).dtype.itemsize, eval_shape(run(call.strip()), **held).dtype.itemsize) for call in calls.split(";")}
        assert found == dict.fromkeys(found, (width, width))


def test_a_loop_that_narrows_what_it_carries_is_refused():
    with flags.enable_x64(True):
        x = jnp.ones(3)
    with flags.enable_x64(False), pytest.raises(TypeError, match="must return a carry with the same types"):
        jvp(lambda x: lax.fori_loop(0, 2, lambda i, c: c * 2, x), (x,), (x,))


@pytest.mark.parametrize("fun", [nn.softplus, nn.relu, nn.gelu, nn.elu, jnp.sinc, jnp.mean, jnp.var, jnp.sum, lambda x: jnp.logaddexp(x, 1.0), lambda x: x + 1])
def test_a_weak_number_of_64_bits_narrows_where_x64_is_off(fun):
    def program(x):
        with flags.enable_x64(True):
            y = x * 1.5
        return fun(y)
    with flags.enable_x64(False):
        assert jit(program)(0.5).dtype == np.float32 and np.allclose(jit(program)(0.5), fun(jnp.float32(0.75)))


def _wide(fun):
    def inside(x):
        with flags.enable_x64(True):
            return fun(x)
    return inside


@pytest.mark.parametrize("around", [grad, lambda f: grad(jit(f)), lambda f: lambda x: vmap(grad(jit(f)))(x[None])[0], lambda f: hessian(jit(f)),
                                    lambda f: jit(lambda x: (new_ref(x), grad(f)(x))[1]), lambda f: lambda x: checkify(grad(f), errors=float_checks)(x)[1], lambda f: jit(grad(f)), lambda f: grad(lambda x: grad(f)(x).sum() + f(x)),
                                    lambda f: lambda x: eval_jaxpr((made := make_jaxpr(grad(jit(f)))(x)).jaxpr, made.consts, x)[0]])
@pytest.mark.parametrize("fun", [
    lambda x: (x.astype("float64") * 2).sum(), lambda x: x[jnp.array([0, 1])].sum(), lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + i, x).sum(),
    lambda x: (1 / (x.astype("float64") + 3)).sum(), lambda x: lax.scan(lambda c, t: (c * t + 1, None), x, jnp.arange(3.0, dtype="float32"))[0].sum()])
def test_derivatives_of_a_part_with_x64(fun, around):
    """What is written with x64 on is transposed, and run again, where it is off: its numbers keep their dtypes."""
    x = jnp.array([1.0, 2.0, 4.0], "float32")
    with flags.enable_x64(True):
        wanted = np.asarray(around(fun)(x))
    with flags.enable_x64(False):
        got = around(_wide(fun))(x)
    assert got.dtype == np.float32 and np.allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("around", [lambda f: grad(lambda x: f(x).sum()), lambda f: jit(grad(lambda x: jit(f)(x).sum())), lambda f: vmap(grad(jit(f))), lambda f: hessian(lambda x: f(x).sum()),
                                    jacfwd, jacrev, lambda f: vmap(grad(grad(jit(f)))), lambda f: lambda x: jvp(f, (x,), (x,))[1]])
@pytest.mark.parametrize("fun", [jnp.tanh, lambda x: x ** 3, lax.logistic, lax.log1p, lax.cbrt])
def test_derivatives_of_an_array_of_64_bits_where_x64_is_off(fun, around):
    """The constants of the rules are as wide as the array."""
    with flags.enable_x64(True):
        x = jnp.array([0.1, 2.0])
        wanted = np.asarray(around(fun)(x))
    with flags.enable_x64(False):
        got = around(fun)(x)
    assert got.dtype == np.float64 and np.allclose(got, wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("fun", [jnp.sin, lambda x: jnp.remainder(x, 2.0)])
def test_derivatives_of_numpy_arrays_are_narrow_where_x64_is_off(fun):
    """What NumPy makes has 64 bits without having asked for them."""
    x = np.ones(3)
    assert [out.dtype for out in jvp(fun, (x,), (x,))] == [np.float32] * 2
    assert jacfwd(fun)(x).dtype == np.float32 and linearize(fun, x)[1](x).dtype == np.float32


@pytest.mark.parametrize("x", [np.ones(3), np.arange(3), np.float64(2)])
def test_stop_gradient_narrows_what_numpy_makes_where_x64_is_off(x):
    assert lax.stop_gradient(x).dtype == dtypes.canonicalize_dtype(x.dtype) != x.dtype


@pytest.mark.parametrize("fun", [
    lambda x, i: x[i], lambda x, i: jnp.take(x, i), lambda x, i: x.at[i].add(1), lambda x, i: jnp.take_along_axis(x, i, 0), lambda x, i: jnp.convolve(x, x), lambda x, i: x @ x,
    lambda x, i: jnp.dot(x, x), lambda x, i: jnp.vdot(x, x), lambda x, i: jnp.linalg.solve(jnp.diag(x), x), lambda x, i: jnp.linalg.multi_dot([jnp.diag(x)] * 3),
    lambda x, i: lax.reduce(x, x[0], lax.add, (0,)), lambda x, i: lax.cond(i[0], lambda: x, lambda: -x), lambda x, i: lax.switch(i[1], [lambda: x, lambda: -x]),
    lambda x, i: jnp.polymul(x, x), lambda x, i: jnp.correlate(x, x)])
def test_arrays_of_64_bits_where_x64_is_off(fun):
    """Positions and conditions as well as what is multiplied; nothing is narrowed, so nothing warns."""
    with flags.enable_x64(True):
        x, i = jnp.array([0.1, 2.0]), jnp.array([0, 1])
        wanted = np.asarray(fun(x, i))
    with flags.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        for got in (fun(x, i), jit(fun)(x, i)):
            assert got.dtype == np.float64 and np.allclose(got, wanted, rtol=1e-14, atol=0)
