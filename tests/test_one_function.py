"""Programs over small arrays are one function of the compiler's: which those are, that they compute the same, and what must not end the process."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_core.configuration import flags
from jax_xla_backend.compiling import compile as xla_compile, compiler_options, tiered_compilation
from jax_xla_backend.planning import one_function
from jax_xla_backend.planning.small_programs import ELEMENTS

SMALL = np.linspace(0.1, 1, ELEMENTS, dtype=np.float32)
PASSED = np.linspace(0.1, 1, one_function.PASSED_ELEMENTS, dtype=np.float32)
BIG = np.linspace(0.1, 1, one_function.PASSED_ELEMENTS + 1, dtype=np.float32)
KEY = jax.random.key(0)
SPECIAL = np.float32([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-40, 3e38, -3e38, 0.5, 1.5, -2.5, 1, -1, 88, -104, 1e-9, 16777217, 2.0**31])


@pytest.fixture(autouse=True)
def whatever_jaxlib(monkeypatch):
    monkeypatch.setattr(compiler_options, "SMALL_PROGRAMS_ARE_FUNCTIONS", True)


def is_one(function, *args, items=()):
    return compiler_options.is_one_function(jax.jit(function).lower(*args)._module, "cpu", items)


@pytest.mark.parametrize("function, args, one", [
    (jnp.sin, (SMALL,), True), (lambda x: x.sum() + x.max(), (SMALL,), True), (jnp.sin, (PASSED,), True), (jnp.sin, (BIG,), False),
    (lambda x: (x > 0.5).any(), (PASSED,), True),
    (jnp.sum, (PASSED,), False),                                         # the library's
    (lambda x: jnp.roll(x, 1) + jnp.cumsum(x), (SMALL,), True),
    (lambda x: jnp.roll(x, 1), (PASSED,), False),                        # no pass
    (lambda: jnp.arange(5) * 2, (), True),
    (lambda x: x[jnp.array([1, 2])] + x.at[3].set(2.0)[:2], (SMALL,), True),
    (lambda key: jax.random.normal(key, (8,)), (KEY,), True),
    (lambda x: jax.jit(jnp.tanh)(x) * 2, (SMALL,), True),
    (lambda x: jnp.outer(x, x), (SMALL[:20],), True),
    (lambda x: x.reshape(2, -1), (SMALL,), False), (lambda x: jnp.copy(x), (SMALL,), False), (lambda x: jnp.concatenate([x[:4], x[:4]]), (SMALL,), True),
    (lambda x: jnp.concatenate([x, x]), (SMALL[:9],), False),             # no code
    (lambda x: x.reshape(8, 8).T + 1, (SMALL[:64],), True), (lambda x: x.reshape(8, 9).T + 1, (SMALL[:72],), False),
    (lambda x: x @ x, (SMALL.reshape(32, 32),), False), (jnp.sort, (SMALL,), False), (jnp.fft.fft, (SMALL,), False),
    (lambda x: x.at[(x * 3).astype(int)].add(x), (SMALL,), False), (jnp.linalg.cholesky, (np.eye(3, dtype=np.float32),), False),
    (lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x), (SMALL,), False),
    (lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (SMALL,), False),
    (lambda x: lax.optimization_barrier(x * 2) + 1, (SMALL,), False),
    (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (SMALL,), False),
    (lambda x: jax.pure_callback(np.sin, x, x), (SMALL,), False),
    (lambda x, token: (x * x, token), (SMALL, lax.create_token()), False),  # the compiler aborts
    (lambda x, keys: (x * x, keys), (SMALL, jax.random.split(KEY)), True),
    (lambda x: x.astype(jnp.float8_e4m3fn), (SMALL,), False),
    (jnp.tan, (SMALL,), False),                                          # less exact so
    (lambda x: [(x + i).sum() for i in range(4)], (SMALL,), True), (lambda x: [(x + i).sum() for i in range(5)], (SMALL,), False),  # many equal kernels
    (lambda x: [x + i for i in range(8)], (SMALL,), True), (lambda x: [x + i for i in range(9)], (SMALL,), False),
    (lambda x: None, (SMALL,), False),
])
def test_which_programs_are_one_function(function, args, one):
    assert is_one(function, *args) is one


def test_options_of_the_caller_and_the_switches_stand():
    assert is_one(jnp.sin, SMALL) and not is_one(jnp.sin, SMALL, items=(("xla_cpu_enable_fast_math", False),))
    assert not compiler_options.is_one_function(jax.jit(jnp.sin).lower(SMALL)._module, "cuda", ())
    with flags.disable_most_optimizations(True):
        assert not is_one(jnp.sin, SMALL)
    with flags.quick_compile(False):
        assert not is_one(jnp.sin, SMALL)


def compiled(function, *args, **options):
    program = jax.jit(lambda *xs: function(*xs), **options).lower(*args).compile()
    assert "xla_cpu_small_call" in program.runtime_executable().hlo_modules()[0].to_string()
    return program


PROGRAMS = {
    "elementwise": lambda x: jnp.where(x > 0.5, jnp.exp(x) / (1 + x), jnp.log1p(x) ** 1.5),
    "extrema": lambda x: (x.max(), x.min(), jnp.argmax(x), jnp.nanmax(x), jnp.maximum(x, x[::-1]), jnp.minimum(x, x[::-1]), jnp.clip(x, 0.0, 1.0)),
    "sums": lambda x: (x.sum(), jnp.cumsum(x), x.reshape(4, -1).prod(0), jnp.nansum(x)),
    "rounding": lambda x: (jnp.round(x), jnp.floor(x), jnp.sign(x), lax.nextafter(x, x[::-1]), jnp.signbit(x), lax.reduce_precision(x, 5, 3)),
    "conversions": lambda x: (x.astype(jnp.int32), x.astype(jnp.uint8), x.astype(jnp.float16), x.astype(bool), x.view(jnp.int32)),
    "integers": lambda x: ((i := x.view(jnp.int32)) // 7, i % -3, i << 3, i >> 40, lax.population_count(i), lax.clz(i), i * i, jnp.abs(i)),
    "shapes": lambda x: (jnp.roll(x, 3), jnp.pad(x, 2), jnp.stack([x, x * 2]), x[::-2], x[jnp.array([5, 1, -1])], jnp.tile(x, 2), jnp.repeat(x, 2)),
    "complex": lambda x: (jnp.abs(x + 1j), jnp.conj(x * 1j), jnp.real(x + 1j)),
    "special functions": lambda x: (lax.erf(x), lax.lgamma(x), lax.digamma(x), lax.erf_inv(x), jnp.sinh(x), lax.expm1(x), jnp.arctan2(x, x[::-1])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_computes_the_same_at_special_points(name):
    function = PROGRAMS[name]
    full = jax.jit(lambda x: function(x), compiler_options={"xla_cpu_parallel_codegen_split_count": 32})  # XLA's own value
    for x in (SPECIAL, SPECIAL[4:], SPECIAL[10:14]):
        for a, b in zip(jax.tree.leaves(compiled(function, x)(x)), jax.tree.leaves(full(x)), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            a, b = np.asarray(a), np.asarray(b)
            if a.dtype.kind in "biu":
                np.testing.assert_array_equal(a, b)
            else:
                a, b = [y if y.dtype.kind == "c" else np.asarray(y, np.float32) for y in (a, b)]
                np.testing.assert_allclose(a, b, rtol=1e-6)
                np.testing.assert_array_equal(np.signbit(a.real) & ~np.isnan(a), np.signbit(b.real) & ~np.isnan(b))


@pytest.mark.parametrize("function", [lambda x, y: x.astype(jnp.bfloat16), lambda x, y: jnp.maximum(x.astype(jnp.bfloat16), y), lambda x, y: jnp.minimum(y, -y),
                                      lambda x, y: jnp.clip(y, -y, y), lambda x, y: (x + 1).astype(jnp.bfloat16)])
def test_subnormal_numbers_are_rounded_to_bfloat16_in_kernels(function):
    """In functions they would be 0 on processors that round by themselves."""
    x = np.array([1e-40, 9.3e-41, 5e-39, 1.1e-38, 1.0], np.float32)
    y = x[::-1].astype(jnp.bfloat16)
    full = jax.jit(function, compiler_options={"xla_cpu_parallel_codegen_split_count": 32})  # XLA's own value
    assert not is_one(function, x, y) and np.array_equal(jax.jit(function)(x, y), full(x, y))


def test_random_numbers_have_the_same_bits():
    draw = lambda key: (jax.random.bits(key, (40,)), jax.random.normal(key, (40,)))
    full = jax.jit(lambda key: draw(key), compiler_options={"xla_cpu_parallel_codegen_split_count": 32})
    jax.tree.map(np.testing.assert_array_equal, compiled(draw, KEY)(KEY), full(KEY))


UNREAD = {  # by the time that XLA emits code; where it finds no use of a parameter of a function, it ends the process
    "one of two": (lambda x, y: jnp.concatenate([x[1:] - x[:0], y + 1.0]), [[1.0], [3.0]], [4.0]),
    "all": (lambda i: i * 0, np.arange(3), [0, 0, 0]),
    "all, and there are several": (lambda i, j: (i * 0, (j & 0) + i * 0), np.arange(6).reshape(2, 3), [[0] * 3] * 2),
    "no inputs": (lambda: jnp.arange(3) * 2, [], [0, 2, 4]),
    "an input as a result": (lambda x, y: (x, y + 1.0, y), [[1.0], [3.0]], [[1.0], [4.0], [3.0]]),
    "one result twice": (lambda x: (x + 1.0, 1.0 + x), [[1.0]], [[2.0], [2.0]]),
    "a large constant": (lambda x: (x + np.arange(300, dtype=np.float32))[:2], [5.0], [5.0, 6.0]),
}


@pytest.mark.parametrize("function, args, all_read", [
    (lambda x: jnp.exp(x * 2) + 1, [1.0], True), (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a, (0,)), [np.ones(3, np.float32)], False),
    (lambda x, y: x.sum() + y.max(), [np.ones(3, np.float32)] * 2, True), (lambda x: (x > 0).any(), [np.ones(3, np.float32)], False),
    (lambda x, y: x - y, [1.0, 2.0], True), (lambda x, y: (x, y * 0.0, y - y), [1.0, 2.0], True),
    (lambda i: i * 0, [1], False), (lambda x, i: x + i, [1.0, 2], False), (lambda x, y: jnp.where(x > 0, y, y), [1.0, 2.0], False),
    (lambda x, y: lax.integer_pow(x, 0) + y, [1.0, 2.0], False), (lambda x: x[:0] + 1.0, [np.ones(3, np.float32)], False),
    (lambda x, y: x + lax.pow(y, 0), [1.0, 2.0], False), (lambda x: x + np.ones(300, np.float32), [1.0], True),
    (lambda x, y: jax.jit(lambda x, y: x)(x, y) + 1.0, [1.0, 2.0], False),
])
def test_which_inputs_are_certainly_read(function, args, all_read):
    module = jax.jit(function, keep_unused=True).lower(*[np.float32(x) if isinstance(x, float) else x for x in args])._module
    assert one_function.reads_all(module._jaxpr) is all_read and ("tuple" not in module.as_function(module.text())) is all_read


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arithmetic_of_floats_is_never_left_out(dtype):
    """Else the process would end here."""
    with jax.enable_x64(True):
        x = jnp.asarray([1.0, np.nan, np.inf], dtype)
        for function in (lambda x: x * 0, lambda x: x - x, lambda x: 0 / x, lambda x: x / x, lambda x: x * jnp.inf, lambda x: (x * 0) * (x * 0) + 1,
                         lambda x: lax.integer_pow(x, 2) * 0 - lax.integer_pow(x, -1) * 0, lambda x: jnp.abs(x) * 0, lambda x: x + x.sum() * 0 + x.max() * 0 + x.prod() * 0, lambda x: -(x - x) + (x - x)):
            module = jax.jit(lambda x: function(x)).lower(x)._module
            assert one_function.reads_all(module._jaxpr)
            assert np.isnan(np.asarray(compiled(function, x)(x)[1], np.float32))


@pytest.mark.parametrize("name", UNREAD)
def test_inputs_may_be_unread_and_passed_through(name):
    function, args, wanted = UNREAD[name]
    args = [np.asarray(x, np.float32 if isinstance(x, (float, list)) else np.int32) for x in args] if name != "all" else [np.asarray(args)]
    out = compiled(function, *args)(*args)
    np.testing.assert_array_equal(np.stack(out) if isinstance(out, tuple) else out, wanted)


def test_donated_buffers_are_used():
    program = compiled(lambda x, y: (x * 2, y + x), SMALL, SMALL, donate_argnums=(0,))
    assert program.memory_analysis().alias_size_in_bytes == SMALL.nbytes
    x = jnp.asarray(SMALL)
    a, b = program(x, SMALL)
    assert x.is_deleted()
    np.testing.assert_array_equal(a, SMALL * 2)
    np.testing.assert_array_equal(b, SMALL + SMALL)


def test_what_the_compiler_has_as_kernels_only_is_compiled_so(monkeypatch):
    monkeypatch.setattr(one_function, "_fits", lambda jaxpr: True)
    before = xla_compile.counts["compiled"]
    x = jnp.zeros(8).at[jnp.asarray(SMALL * 7).astype(int)].add(SMALL)
    wanted = np.zeros(8)
    np.add.at(wanted, (SMALL * 7).astype(int), SMALL)
    np.testing.assert_allclose(jax.jit(lambda s: jnp.zeros(8).at[(s * 7).astype(int)].add(s))(SMALL), wanted, rtol=1e-5)
    np.testing.assert_allclose(x, wanted, rtol=1e-5)
    assert xla_compile.counts["compiled"] > before + 1


def test_the_text_that_users_see_stays():
    lowered = jax.jit(jnp.sin).lower(SMALL)
    lowered.compile()
    assert "main.whole" not in lowered.as_text() and "main.whole" not in lowered.as_text(debug_info=True)
    program = compiled(lambda x: jnp.sin(x) * 2, SMALL)
    assert "small_call" not in program.as_text() and " call(" not in program.as_text() and "fusion(" in program.as_text()
    assert "test_one_function.py" in program.as_text()
    assert tiered_compilation.is_one_function is compiler_options.is_one_function
