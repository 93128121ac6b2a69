"""debug_nans and debug_infs name the operation and the user's line, wherever the operation is."""
import inspect
import warnings

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import expm


@pytest.fixture(autouse=True)
def watching():
    with jax.debug_nans(True):
        yield


def log(x):
    return jnp.log(x)


def root(x):
    return jnp.sum(jnp.sqrt(x) * 0.0)


def line_of(fun):
    return f"{__file__}:{inspect.getsourcelines(fun)[1] + 1} ({fun.__name__})"


NEGATIVE, ZERO = np.float32(-1), np.float32(0)
PAIR = np.float32([1, -1])
loop = lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 3)[0]
rows = lambda f: lambda x: lax.scan(lambda c, row: (c, f(row * x)), 0.0, jnp.ones(3))[1]
whiles = lambda f, **kw: lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (0, x), **kw)[1]
chosen = lambda f: lambda x: lax.cond(x < 1, f, lambda x: x, x)

FORWARD = {
    "eager": (log, NEGATIVE),
    "jit": (jax.jit(log), NEGATIVE),
    "jit in jit": (jax.jit(lambda x: jax.jit(log)(x) + 1), NEGATIVE),
    "scan": (loop(log), NEGATIVE),
    "jit of scan": (jax.jit(loop(log)), NEGATIVE),
    "rows of a scan": (jax.jit(rows(log)), NEGATIVE),
    "scan in scan": (jax.jit(loop(loop(log))), NEGATIVE),
    "while": (jax.jit(whiles(log)), NEGATIVE),
    "eager while": (whiles(log), NEGATIVE),
    "while with a bound": (jax.jit(whiles(log, max_steps=5)), NEGATIVE),
    "fori": (jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: log(c), x)), NEGATIVE),
    "fori with a traced bound": (jax.jit(lambda x, n=3: lax.fori_loop(0, n, lambda i, c: log(c), x)), NEGATIVE),
    "cond": (jax.jit(chosen(log)), NEGATIVE),
    "switch": (jax.jit(lambda x: lax.switch(1, [lambda x: x, log], x)), NEGATIVE),
    "cond in while": (jax.jit(whiles(chosen(log))), NEGATIVE),
    "map": (jax.jit(lambda x: lax.map(log, x)), PAIR),
    "associative_scan": (jax.jit(lambda x: lax.associative_scan(lambda a, b: log(a * b), x)), PAIR),
    "custom_linear_solve": (jax.jit(lambda x: lax.custom_linear_solve(lambda v: v * x, x, lambda mv, b: log(b))), NEGATIVE),
    "checkpoint": (jax.jit(jax.checkpoint(log)), NEGATIVE),
    "vmap": (jax.vmap(log), PAIR),
    "vmap of jit": (jax.vmap(jax.jit(log)), PAIR),
    "jit of vmap": (jax.jit(jax.vmap(log)), PAIR),
    "vmap of scan": (jax.vmap(loop(log)), PAIR),
    "vmap of while": (jax.vmap(whiles(log)), PAIR),
    "vmap of cond": (jax.vmap(chosen(log)), PAIR),
    "vmap of a custom_vmap": (jax.vmap(jax.custom_batching.sequential_vmap(log)), PAIR),
}


@pytest.mark.parametrize("name", FORWARD)
def test_the_operation_and_its_line_are_named(name):
    fun, x = FORWARD[name]
    with pytest.raises(FloatingPointError) as error:
        fun(x)
    assert str(error.value).startswith(f"invalid value (nan) encountered in log, at {line_of(log)}.")


grads = jax.grad
BACKWARD = {
    "eager": (grads(root), ZERO),
    "jit outside": (jax.jit(grads(root)), ZERO),
    "jit inside": (grads(jax.jit(root)), ZERO),
    "scan": (grads(loop(root)), ZERO),
    "jit of scan": (jax.jit(grads(loop(root))), ZERO),
    "scan in scan": (jax.jit(grads(loop(loop(root)))), ZERO),
    "fori": (grads(lambda x: lax.fori_loop(0, 2, lambda i, c: root(c), x)), ZERO),
    "while with a bound": (jax.jit(grads(whiles(root, max_steps=5))), ZERO),
    "cond": (jax.jit(grads(chosen(root))), ZERO),
    "checkpoint": (jax.jit(grads(jax.checkpoint(root))), ZERO),
    "vmap of grad": (jax.vmap(grads(root)), np.float32([1, 0])),
    "vmap of grad of jit": (jax.vmap(grads(jax.jit(root))), np.float32([1, 0])),
    "grad of vmap": (grads(lambda x: jax.vmap(root)(x).sum()), np.float32([1, 0])),
    "grad of vmap of scan": (grads(lambda x: jax.vmap(loop(root))(x).sum()), np.float32([1, 0])),
    "forward mode": (lambda x: jax.jvp(root, (x,), (np.float32(1),)), ZERO),
    "forward mode through while": (lambda x: jax.jvp(whiles(root), (x,), (np.float32(1),)), ZERO),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_derivatives_name_the_line_of_the_function(name):
    fun, x = BACKWARD[name]
    with pytest.raises(FloatingPointError) as error:
        fun(x)
    assert f", at {line_of(root)}." in str(error.value)


@pytest.mark.parametrize("wrap", [grads, lambda f: jax.jit(grads(f)), lambda f: grads(jax.jit(f)), lambda f: grads(loop(f))],
                         ids=["eager", "jit outside", "jit inside", "scan"])
def test_a_rule_of_the_user_is_named_by_its_own_line(wrap):
    @jax.custom_vjp
    def f(x):
        return x * 1.0

    def backward(x, ct):
        return (ct * jnp.log(x - 1),)
    f.defvjp(lambda x: (f(x), x), backward)
    with pytest.raises(FloatingPointError, match="encountered in log, at .*backward"):
        wrap(f)(ZERO)


def test_operations_that_hand_on_a_nan_are_not_blamed():
    with_nan = np.float32([np.nan, 1])
    assert np.isnan(jnp.sin(with_nan)[0])
    assert np.isnan(jax.jit(lambda x: jnp.sin(x) * 2)(with_nan)[0])


@pytest.mark.parametrize("run", [lambda f, x: f(x), lambda f, x: jax.vmap(f)(x), lambda f, x: jax.vmap(jax.jit(f))(x),
                                 lambda f, x: grads(lambda x: f(x).sum())(x), lambda f, x: jax.vmap(lambda row: expm(jnp.diag(row)))(x[:, None])],
                         ids=["eager", "vmap", "vmap of jit", "grad", "vmap of expm"])
def test_a_constant_that_is_not_chosen_is_let_pass(run):
    """Under vmap the constant is spread before anything is chosen; expm has such a constant."""
    unless_positive = lambda x: jnp.where(x > 0, x, jnp.nan)
    run(unless_positive, np.float32([1, 2]))
    run(jnp.float32, np.float32([1, 2]))


@pytest.mark.parametrize("run", [lambda f, x: f(x), lambda f, x: jax.vmap(f)(x), lambda f, x: jax.jit(jax.vmap(f))(x)], ids=["eager", "vmap", "jit of vmap"])
def test_a_constant_that_is_chosen_is_found(run):
    with pytest.raises(FloatingPointError, match="encountered in"):
        run(lambda x: jnp.where(x > 0, x, jnp.nan) * 2, PAIR)


def test_a_second_nan_is_found_among_those_handed_on():
    with pytest.raises(FloatingPointError, match="encountered in log"):
        jax.jit(lambda x, y: (x, log(y)))(np.float32(np.nan), NEGATIVE)


def test_a_nan_that_reaches_no_result_is_let_pass():
    assert jax.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))(NEGATIVE) == 0


@pytest.mark.parametrize("run", [lambda f, k: f(k), lambda f, k: jax.jit(f)(k), lambda f, k: jax.vmap(jax.jit(f))(k[None])[0],
                                 lambda f, k: lax.scan(lambda c, _: (f(c), None), k, None, 2)[0]], ids=["eager", "jit", "vmap", "scan"])
def test_typed_keys_and_other_values_without_nan_pass(run):
    """`jit` gave a key, which is no array of NumPy, to the search for NaN."""
    assert run(lambda k: jax.random.fold_in(k, 1), jax.random.key(0)).dtype == jax.random.key(0).dtype
    assert run(lambda x: x, jnp.ones((), jnp.int4)).dtype == jnp.int4
    with pytest.raises(FloatingPointError, match="encountered in log"):
        jax.jit(lambda k: (k, log(-jax.random.uniform(k))))(jax.random.key(0))


def test_infinities():
    with jax.debug_nans(False), jax.debug_infs(True):
        with pytest.raises(FloatingPointError, match=r"invalid value \(inf\) encountered in div"):
            jax.jit(lambda x: lax.scan(lambda c, _: (1.0 / c, None), x, None, 1))(ZERO)


def test_donated_arguments_can_be_looked_at_again():
    x = jnp.float32(-1)
    with pytest.raises(FloatingPointError, match="encountered in log"):
        jax.jit(log, donate_argnums=0)(x)


def test_a_nan_of_the_compilers_rewriting_is_a_warning_and_the_program_goes_on(monkeypatch):
    """Such a NaN is gone when the program runs one operation at a time."""
    from jax_core.traces import nans
    monkeypatch.setattr(nans, "_run_watched", lambda closed, *args: [])
    with pytest.warns(UserWarning, match="Execution goes on"):
        assert np.isnan(jax.jit(log)(NEGATIVE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jax.jit(log)(np.float32(1)) == 0


CONSTANTS = {
    "a result": (lambda x: (jnp.nan, x + 2), "is a literal of the program"),
    "of a branch": (lambda x: lax.cond(x == 1, lambda _: jnp.nan, lambda _: 2.0, None), r"\(nan\) encountered in cond"),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_in_programs(name):
    """What no operation made is found too; what the caller gave is not to blame."""
    fun, text = CONSTANTS[name]
    with pytest.raises(FloatingPointError, match=text):
        jax.jit(fun)(1)
    assert np.isnan(jax.jit(lambda x: lax.cond(True, lambda x: x, lambda x: x + 1, x))(jnp.nan))


def test_compiled_programs_are_watched():
    """Those that `Lowered.compile` gave, whether the flag was on then or is only now."""
    with jax.debug_nans(False):
        before = jax.jit(log).lower(-1.0).compile()
        donating = jax.jit(lambda x: jnp.log(x), donate_argnums=0).lower(jnp.ones(3)).compile()
        before(1.0)
    with pytest.raises(FloatingPointError, match="encountered in log"):
        before(-1.0)
    with pytest.raises(FloatingPointError, match="donated"):
        donating(-jnp.ones(3))
    assert np.isnan(donating(jnp.array([1, 1, jnp.nan]))[2])  # it was handed on
    with pytest.raises(FloatingPointError, match="encountered in log"):
        jax.jit(log).lower(-1.0).compile()(-1.0)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_what_a_callback_makes_is_blamed_on_it(wrap):
    call = wrap(lambda x: jax.pure_callback(np.sqrt, jax.ShapeDtypeStruct((), "float32"), x))
    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match="host callback"):
        call(jnp.float32(-1))
    assert call(jnp.float32(4)) == 2
