"""jit with unusual arguments, lowering for other platforms, and the tools that watch a running program."""
import copy
import functools
import gc

import cloudpickle
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import sparse
from jax_core.programs import call as calls


class Wrapped:
    """An object that is an array only by `__jax_array__`."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return jnp.asarray(self.value)


THREE = np.float32([1, 2, 3])


@pytest.mark.parametrize("call, want", [
    (lambda x: jax.jit(lambda x: x * 2)(x), THREE * 2),
    (lambda x: jax.jit(lambda t: t["a"] * 2)({"a": x}), THREE * 2),
    (lambda x: jax.jit(lambda y: y + jnp.asarray(x))(1.0), THREE + 1),
    (lambda x: jnp.sin(x), np.sin(THREE)),
    (lambda x: jax.vmap(lambda x: x * 2)(x), THREE * 2),
    (lambda x: jax.grad(lambda x: jnp.sum(x * x))(x), THREE * 2),
    (lambda x: jax.jit(lambda y: jax.grad(lambda z: jnp.sum(z * z))(Wrapped(y)))(THREE), THREE * 2),
    (lambda x: jax.jvp(jnp.square, (x,), (THREE,))[1], 2 * THREE * THREE),
    (lambda x: jax.vjp(jnp.square, x)[1](THREE)[0], 2 * THREE * THREE),
    (lambda x: jax.device_put(x), THREE),
], ids=["jit", "leaf", "closure", "jnp", "vmap", "grad", "grad in jit", "jvp", "vjp", "device_put"])
def test_objects_that_are_arrays_by_jax_array(call, want):
    assert np.allclose(call(Wrapped(THREE)), want)


def test_static_arguments_in_all_positions():
    fun = lambda x, n, *, m=1: x * n + m
    for kw, args in [(dict(static_argnums=1), (THREE, 2)), (dict(static_argnums=-1), (THREE, 2)), (dict(static_argnums=(-1,)), (THREE, 2)),
                     (dict(static_argnames="n"), (THREE, 2)), (dict(static_argnums=1, static_argnames="m"), (THREE, 2))]:
        seen = []
        compiled = jax.jit(lambda x, n, *, m=1: (seen.append(type(n)), fun(x, n, m=m))[1], **kw)
        assert np.allclose(compiled(*args), fun(*args)) and seen == [int]
    assert np.allclose(jax.jit(lambda *a: a[0] * a[-1], static_argnums=-1)(THREE, 1, 2), THREE * 2)


def test_static_arguments_that_cannot_be_hashed():
    fun = jax.jit(lambda x, n: x, static_argnums=1)
    for call in (fun, fun.lower, fun.trace):
        with pytest.raises(ValueError, match=r"(?s)Non-hashable static arguments.*list"):
            call(THREE, [1, 2])


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("kw", [dict(donate_argnames="x"), dict(donate_argnums=0), dict(donate_argnums=-2)], ids=str)
def test_donated_arguments_are_consumed(kw, by_name):
    x = jnp.asarray(THREE) + 0
    compiled = jax.jit(lambda x, y: x + y, **kw)
    if by_name and "donate_argnums" in kw and kw["donate_argnums"] < 0:
        return
    out = compiled(x=x, y=1.0) if by_name else compiled(x, 1.0)
    assert np.allclose(out, THREE + 1) and x.is_deleted()
    with pytest.raises((RuntimeError, ValueError), match="donated|deleted"):  # jaxlib 0.10 finds it in a warm call, as a ValueError
        x + 1


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda f: cloudpickle.loads(cloudpickle.dumps(f))], ids=["copy", "deepcopy", "cloudpickle"])
@pytest.mark.parametrize("kw", [{}, dict(donate_argnums=0), dict(static_argnames="n", donate_argnames="x"), dict(inline=True)], ids=str)
def test_a_jitted_function_is_copied_and_pickled_with_its_options(again, kw):
    jitted = jax.jit(lambda x, n=2: x * n, **kw)
    jitted(jnp.ones(3))
    copied = again(jitted)
    x = jnp.ones(3)
    assert np.allclose(copied(x, n=3), 3) and x.is_deleted() == ("donate_argnums" in kw or "donate_argnames" in kw)
    lowered = copied.lower(jnp.ones(3))
    assert lowered.args_info[0][0].donated == ("donate_argnums" in kw or "donate_argnames" in kw)


@pytest.mark.parametrize("transformed", [jax.grad, lambda f: jax.vmap(f, axis_size=2, in_axes=None), lambda f: lambda x: jax.jvp(f, (x,), (x,))],
                         ids=["grad", "vmap", "jvp"])
def test_an_inlined_function_of_known_numbers_is_one_program_in_an_eager_transformation(transformed, monkeypatch):
    """Its equations are not run one by one; where one is traced, they are."""
    f = jax.jit(lambda x: jnp.sin(x) * 2 + 1, inline=True)
    known, evaluated = jnp.float32(0.5), []
    bind = calls.eval_jaxpr
    monkeypatch.setattr(calls, "eval_jaxpr", lambda *args: evaluated.append(1) or bind(*args))
    transformed(lambda x: x * f(known))(jnp.float32(2))
    assert not evaluated
    assert "sin" in str(jax.make_jaxpr(transformed(lambda x: x * f(known)))(jnp.float32(2)))
    assert evaluated


def test_clear_cache_frees_the_executable():
    """Those of other functions stay, and so does what was compiled ahead."""
    client = jax.devices()[0].client
    alive = lambda: len(client.live_executables())
    f, g = jax.jit(lambda x: x * 2 + 1), jax.jit(lambda x: x * 3 + 1)
    f(1.), g(1.)
    gc.collect()  # what other tests left shall not go in the midst
    before = alive()
    f.clear_cache()
    assert alive() == before - 1
    assert (float(f(1.)), float(g(1.))) == (3, 4) and alive() == before  # `==` of arrays may compile
    ahead = f.lower(1.).compile()
    f.clear_cache()
    assert ahead(1.) == 3


def test_recursion():
    @functools.partial(jax.jit, static_argnums=1)
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)
    assert power(2.0, 10) == 1024 and jax.grad(power)(2.0, 3) == 12

    @jax.jit
    def endless(x):
        return endless(x)
    with pytest.raises(RecursionError):
        endless(1.0)


@pytest.mark.only_cpu
@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu", "cpu"])
def test_programs_lower_for_platforms_that_are_not_here(platform):
    def fun(x):
        y = lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos, default=jnp.tanh)
        return lax.scan(lambda c, _: (jnp.linalg.cholesky(c @ c.T + jnp.eye(3)), None), y, None, 2)[0]
    lowered = jax.jit(fun).trace(np.eye(3, dtype=np.float32)).lower(lowering_platforms=(platform,))
    text = lowered.as_text()
    op = {"cpu": "sine", "cuda": "cosine"}.get(platform, "tanh")
    assert f"stablehlo.{op}" in text
    if platform not in {d.platform for d in jax.devices()} | {"cpu"}:
        with pytest.raises(RuntimeError, match=platform):
            lowered.compile()


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu", "cpu"])
def test_a_median_of_many_is_sorted_for_on_gpus_only(platform):
    text = jax.jit(jnp.median).trace(jax.ShapeDtypeStruct((1 << 16,), jnp.float32)).lower(lowering_platforms=(platform,)).as_text()
    assert ("stablehlo.sort" in text, "stablehlo.while" in text) == ((True, False) if platform in ("cuda", "rocm") else (False, True))


def test_a_platform_that_does_not_exist():
    with pytest.raises(RuntimeError, match="nowhere"):
        jax.jit(jnp.sin).trace(1.0).lower(lowering_platforms=("nowhere",))


# -- tools -------------------------------------------------------------------------------------------------------------

CARRIED = []
LEAKS = {
    "jit": lambda keep: jax.jit(keep)(1.0),
    "scan": lambda keep: lax.scan(lambda c, _: (keep(c), None), 1.0, None, 2),
    "while": lambda keep: lax.while_loop(lambda c: c < 3, keep, 1.0),
    "cond": lambda keep: lax.cond(True, keep, lambda x: x, 1.0),
    "vmap": lambda keep: jax.vmap(keep)(jnp.ones(3)),
    "vmap in jit": lambda keep: jax.jit(jax.vmap(keep))(jnp.ones(3)),
    "jvp": lambda keep: jax.jvp(keep, (1.0,), (1.0,)),
    "make_jaxpr": lambda keep: jax.make_jaxpr(keep)(1.0),
    "eval_shape": lambda keep: jax.eval_shape(keep, 1.0),
}


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_are_found_where_they_are_made(name):
    def keep(x):
        CARRIED.append(x * 2)
        return x + 1.0

    def clean(x):
        return x + 1.0
    CARRIED.clear()
    with jax.checking_leaks():
        LEAKS[name](clean)
        with pytest.raises(Exception, match="Leaked"):
            LEAKS[name](keep)
    CARRIED.clear()


def test_disable_jit_runs_all_control_flow_in_python():
    seen = []

    def note(x):
        assert not isinstance(x, jax.core.Tracer)
        seen.append(float(x))
        return x + 1.0
    with jax.disable_jit():
        jax.jit(note)(0.0)
        lax.scan(lambda c, _: (note(c), None), 1.0, None, 2)
        lax.while_loop(lambda c: c < 5, note, 3.0)
        lax.fori_loop(0, 1, lambda i, c: note(c), 5.0)
        lax.cond(True, note, lambda x: x, 6.0)
        lax.switch(1, [lambda x: x, note], 7.0)
        lax.map(note, jnp.float32([8.0, 9.0]))
        jax.checkpoint(note)(10.0)
    assert seen == list(range(11))


def test_known_values_are_computed_while_tracing():
    @jax.jit
    def fun(x):
        with jax.ensure_compile_time_eval():
            n = jnp.sum(jnp.arange(4))
            assert not isinstance(n, jax.core.Tracer) and int(n) == 6
            y = x * n  # of a traced value: traced as ever
        return y
    assert fun(2.0) == 12


def test_transfers_are_guarded():
    x = np.ones(3, np.float32)
    with jax.transfer_guard("disallow"):
        with pytest.raises(Exception, match="Disallowed host-to-device"):
            jax.jit(lambda x: x * 2)(x)
        jax.device_put(x)
    with jax.transfer_guard_host_to_device("disallow_explicit"), pytest.raises(Exception, match="Disallowed"):
        jax.device_put(x)
    with jax.transfer_guard("allow"):
        jax.jit(lambda x: x * 2)(x)


def test_live_arrays_are_listed():
    x = jnp.arange(12345.0)
    assert any(a is x for a in jax.live_arrays())
    shape = x.shape
    del x
    assert all(a.shape != shape for a in jax.live_arrays())


def test_programs_are_checked_wherever_they_are_made():
    with jax.enable_checks(True):
        fun = lambda x: lax.scan(lambda c, _: (lax.cond(c > 0, jnp.sin, jnp.cos, c), None), x, None, 3)[0]
        for wrap in (jax.jit, jax.grad, lambda f: jax.jit(jax.grad(f)), lambda f: jax.grad(jax.grad(f)), jax.checkpoint):
            wrap(fun)(1.0)
        jax.vmap(jax.grad(fun))(jnp.ones(3))


# -- while loops -------------------------------------------------------------------------------------------------------

def test_callbacks_of_a_vmapped_while_loop_run_for_live_lanes_only():
    calls = []

    def body(c):
        jax.debug.callback(lambda i, n: calls.append((int(i), int(n))), c[0], c[1])
        return c[0] + 1, c[1]
    jax.vmap(lambda n: lax.while_loop(lambda c: c[0] < c[1], body, (0, n)))(jnp.array([3, 0, 1]))
    jax.effects_barrier()
    assert sorted(calls) == [(0, 1), (0, 3), (1, 3), (2, 3)]


def test_modes_of_differentiation_of_loops():
    loop = lambda x, **kw: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x), **kw)[1]
    want = jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(jnp.sin(x)))))(0.7)
    assert np.allclose(jax.jvp(loop, (0.7,), (1.0,))[1], want) and np.allclose(jax.jacfwd(loop)(0.7), want)
    with pytest.raises(ValueError, match=r"lax.scan.*fori_loop.*max_steps"):
        jax.grad(loop)(0.7)
    assert np.allclose(jax.grad(lambda x: loop(x, max_steps=10))(0.7), want)
    assert np.allclose(jax.grad(lambda x: lax.fori_loop(0, 4, lambda i, c: jnp.sin(c), x))(0.7), want)
    with pytest.raises(ValueError, match=r"lax.scan.*fori_loop.*max_steps"):
        jax.jit(jax.grad(lambda x, n: lax.fori_loop(0, n, lambda i, c: jnp.sin(c), x)))(0.7, 4)


def test_a_node_that_compares_in_its_own_way_is_printed(capsys):
    """`==` of a sparse array asks for its dtype, which stand-ins for its parts have not."""
    jax.debug.print("{}", sparse.BCOO.fromdense(jnp.eye(2)))
    jax.jit(lambda m: jax.debug.print("{}", m))(sparse.BCOO.fromdense(jnp.eye(3)))
    jax.effects_barrier()
    out = capsys.readouterr().out
    assert "float32[2, 2]" in out and "float32[3, 3]" in out


def test_a_result_that_has_no_memory():
    """The call raises, each time: whoever reads such an array ends the process."""
    fun = jax.jit(lambda x: jnp.broadcast_to(x, (10 ** 7, 10 ** 7)))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Out of memory"):
            np.asarray(fun(1.0))
