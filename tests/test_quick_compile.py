"""Programs over small arrays are compiled with quicker options: which those are, and that they compute the same."""
import functools

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_core.configuration import flags
from jax_numpy_api.lax.elementary_cpu import lanes
from jax_xla_backend.compiling import compile as xla_compile, compiler_options
from jax_xla_backend.compiling.compiler_options import (
    EXTRA_OPTIONS,
    NO_UNROLLING,
    NOT_OPTIMISED,
    QUICK_OPTIONS,
    WIDE_OPTION,
    joined,
    options_for,
)
from jax_xla_backend.planning.small_programs import ELEMENTS, FEW_ELEMENTS

PLAIN = ((EXTRA_OPTIONS, NO_UNROLLING),)
FEW, MORE = np.linspace(0.1, 1, FEW_ELEMENTS, dtype=np.float32), np.linspace(0.1, 1, FEW_ELEMENTS + 1, dtype=np.float32)
SMALL, BIG = np.linspace(0.1, 1, ELEMENTS, dtype=np.float32), np.linspace(0.1, 1, ELEMENTS + 1, dtype=np.float32)



@pytest.fixture(autouse=True)
def processor_without_wide_vectors(monkeypatch):
    monkeypatch.setattr(compiler_options, "wide_vectors_are_fast", lambda: False)


def chain(function, length):
    return lambda x: functools.reduce(lambda x, _: function(x), range(length), x)


def lowered(function, *args):
    return jax.jit(function).lower(*args)._module


def chosen(function, *args, items=()):
    return options_for(lowered(function, *args), "cpu", items)


def half_more(x, y):
    return x + y * 0.5


@pytest.mark.parametrize("function, args, small", [
    (jnp.sin, (SMALL,), True),
    (jnp.sin, (BIG,), False),
    (jnp.tan, (SMALL,), False),                                          # less exact
    (jnp.sum, (BIG,), False),                                            # reads much, writes little
    (lambda x: jnp.broadcast_to(x, (2, ELEMENTS)), (SMALL,), False),     # the other way round
    (lambda: jnp.ones(3), (), True),
    (jax.grad(lambda x: jnp.sum(jax.nn.softmax(x) ** 2)), (SMALL,), True),
    (lambda x: jax.jit(jnp.outer)(x, x).sum(), (SMALL,), False),         # inside a call
    (lambda x: lax.cond(x[0] > 0, lambda x: jnp.outer(x, x).sum(), jnp.sum, x), (SMALL,), False),
    (lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x), (SMALL,), True),
    (lambda key: jax.random.normal(key, (8,)), (jax.random.key(0),), True),
    (lambda x: lax.reduce(x, np.float32(0), half_more, (0,)), (SMALL,), True),
    (lambda x: lax.reduce(x, np.float32(0), half_more, (0,)), (BIG,), False),              # runs its program for each element
    (lambda x: lax.reduce_window(x, np.float32(0), half_more, (2,), (1,), "SAME"), (BIG,), False),
    (lambda x: x.at[:].apply(jnp.sin), (BIG,), False),
])
def test_which_programs_are_small(function, args, small):
    assert lowered(function, *args).facts.work.small is small
    options = chosen(function, *args)
    assert (set(QUICK_OPTIONS[1:]) <= set(options)) is (small or lowered(function, *args).facts.work.only_reads_inputs)


@pytest.mark.parametrize("function, args, few", [
    (jnp.sin, (FEW,), True),
    (jnp.sin, (MORE,), False),
    (jax.grad(lambda x: jnp.sum(jax.nn.softmax(x) ** 2)), (FEW,), True),
    (lambda x: jax.jit(jnp.outer)(x, x).sum(), (FEW,), False),           # inside a call
    (chain(lax.tanh, 6), (FEW,), True),
    (chain(lax.tanh, 7), (FEW,), False),                                 # long, over several numbers
    (chain(jax.jit(lax.tanh), 7), (FEW,), False),                        # of calls of one program
    (chain(lax.tanh, 100), (FEW[0],), True),
    (chain(lambda x: x * x + 1, 31), (FEW,), True), (chain(lambda x: x * x + 1, 32), (FEW,), False),
    (chain(jnp.cumsum, 6), (FEW,), True), (chain(jnp.cumsum, 7), (FEW,), False),                     # windows
    (chain(lambda x: jnp.concatenate([x[9:], x[:9]]), 2), (FEW,), True),
    (lambda x: lax.cond(x[0] > 0, jnp.sum, jnp.prod, x), (FEW,), True),
    (lambda x: lax.cond(x[0] > 0, lambda x: lax.fori_loop(0, 9, lambda i, x: x * 2, x), lambda x: x, x), (FEW,), False),
    (lambda x: lax.while_loop(lambda x: x < 9, lambda x: x * 2, x), (np.float32(1),), False),
    (jnp.tan, (FEW,), False),                                            # compiled in full
    (lambda key: jax.random.normal(key, (8,)), (jax.random.key(0),), False),
    (lambda x: lax.zeta(x + 1, x), (FEW,), False),                       # a long series
    (lambda x: lax.reduce(x, np.float32(0), half_more, (0,)), (FEW,), True),
    (lambda x: lax.reduce(x, np.float32(0), half_more, (0,)), (BIG,), False),
    (lambda x: [x + i for i in range(16)], (FEW,), True),
    (lambda x: [x + i for i in range(17)], (FEW,), False),               # many equal kernels
])
def test_short_code_for_a_few_elements_without_loops_is_not_optimised(function, args, few):
    options = set(chosen(function, *args))
    assert (set(NOT_OPTIMISED) <= options) is few and (not few or set(QUICK_OPTIONS[1:]) <= options)


MATRIX = np.linspace(0.1, 1, 96 * 96, dtype=np.float32).reshape(96, 96)


def polynomial(x, degree):
    y = x
    for i in range(degree):
        y = y * x + (i + 1.0)
    return y


PASSES = [
    lambda x: polynomial(x, 16),
    jnp.sin, jax.nn.gelu, lambda x: jnp.where(x > 0.5, x, -x).T, lambda x: x[3:, ::2] * 2, lambda x: jnp.concatenate([x, x]),
    lambda x: jnp.clip(x * 3, 0, 1).astype(jnp.bfloat16), lambda x: jnp.var(x, 1),
    lambda x: (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-5), lambda x: jax.random.uniform(jax.random.key(0), x.shape) + x,
    lambda x: (x > 0.5).any(1), lambda x: jnp.arange(5000) * x[0, 0],
]
NO_PASSES = [
    lambda x: x @ x, jax.nn.softmax, jnp.tan, lambda x: jnp.roll(x, 1), jnp.cumsum, jnp.sort, lambda x: x.argmax(1),
    lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2, x), lambda x: x.at[jnp.arange(5)].add(x[:5]),
    jax.grad(lambda x: jax.nn.gelu(x).sum()), lambda x: jnp.sin(y := x * 2) * y + jnp.cos(y), lambda x: polynomial(x, 17),
    lambda x: [x + i for i in range(3)], lambda x: sum([(x * i).mean(i % 2, keepdims=True) for i in range(4)]) + x,
]


@pytest.mark.only_cpu
@pytest.mark.parametrize("function", PASSES)
def test_passes_over_the_inputs_are_compiled_quickly_and_compute_the_same_bits(function):
    """As in full, with loops unrolled there or not as here."""
    unrolled = lowered(function, MATRIX).facts.work.unrolls
    assert set(chosen(function, MATRIX)) == set(QUICK_OPTIONS if unrolled else joined(QUICK_OPTIONS, NO_UNROLLING))
    quick = jax.jit(function)(MATRIX)
    full = jax.jit(lambda x: function(x), compiler_options={"xla_cpu_parallel_codegen_split_count": 32, **dict(() if unrolled else PLAIN)})(MATRIX)
    np.testing.assert_array_equal(np.asarray(quick, np.float32), np.asarray(full, np.float32))


@pytest.mark.parametrize("function", NO_PASSES)
def test_what_reads_computed_arrays_is_compiled_in_full(function):
    assert chosen(function, MATRIX) in ((), PLAIN)


def test_results_in_donated_buffers_are_compiled_in_full():
    module = jax.jit(jnp.sin, donate_argnums=0).lower(jnp.asarray(MATRIX))._module
    assert options_for(module, "cpu", ()) == PLAIN


@pytest.mark.parametrize("function, gains", [
    (lambda x: x @ x + 1, False), (jax.nn.softmax, False), (lambda x: jnp.tanh(x @ x).sum(0), False),
    (lambda x: jnp.pad(x @ x, 1), True), (lambda x: jnp.pad(x @ x, ((1, 1), (0, 0))), False),
    (lambda x: jnp.concatenate([x @ x, x]), False), (lambda x: (x @ x).T + 1, False), (lambda x: (x @ x).reshape(-1, 8).T + 1, True),
    (lambda x: jnp.roll(x @ x, 1, 1), False), (lambda x: jnp.split(x @ x, 2, 1), False), (lambda x: jnp.sort(x @ x), False),
    (lambda x: (x @ x).at[1:, 1:].set(x[:-1, :-1]), False), (lambda x: (x @ x).at[np.array([1, 5])].add(x[:2]), False),
    (lambda x: lax.conv(x.reshape(1, 8, 8, 144), x[:9, :8].reshape(1, 8, 3, 3), (1, 1), "SAME") @ x.reshape(144, 64), False),
    (lambda x: (x @ x > 0).sum(0), True), (lambda x: (x @ x > 0).sum(1), False), (lambda x: (x @ x > 0).any(0), True),
    (lambda x: (x @ x)[:, :84].reshape(-1, 21).argmax(1), True), (lambda x: (x @ x)[:, :88].reshape(-1, 22).argmax(1), False),
    (jnp.linalg.cholesky, True), (lambda x: jax.scipy.linalg.solve_triangular(x, x[0]), True), (lambda x: jnp.linalg.inv(x[:32, :32]), False),
    (lambda x: (x @ x).reshape(-1, 16).argmax(1), True), (lambda x: (x @ x).reshape(18, -1).argmin(0), True), (lambda x: (x @ x).argmax(1), False),
    (lambda x: (x @ x).reshape(-1, 32).max(1), False), (lambda x: (x @ x).reshape(8, -1).min(0), True), (lambda x: (x @ x).reshape(-1, 64).max(1), False),
    (lambda x: (x @ x).reshape(-1, 32).sum(1), False), (lambda x: (x @ x).reshape(2, 4, -1).max((0, 1)), True),
    (lambda x: (x[:, None] + x @ x).reshape(32, -1).max(0), True), (lambda x: (x[:, None] + x @ x).reshape(64, -1).max(0), False),
    (lambda x: (x @ x).reshape(-1, 8) * 2, True), (lambda x: (x @ x).reshape(-1, 16) * 2, False), (jnp.cumsum, True),
    (lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.pad(c, 1)[1:-1, :-2] @ c, x), True),
    (lambda x: lax.reduce_window(x, np.float32(0), half_more, (2, 2), (1, 1), "SAME"), True),
    (lambda x: lax.reduce((x, x), (np.float32(0), np.float32(0)), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (0,)), True),
    (lambda x: lax.reduce(x @ x, np.float32(0), half_more, (1,)), True),
    (lambda x: x @ x + jnp.pad(x[0], 1)[:96], False),                    # a small one
    (lambda x: lax.fori_loop(0, 3, lambda i, c: c * c + 1, x[0, :16]), True),                        # steps of short vectors
    (lambda x: lax.fori_loop(0, 3, lambda i, c: c * c + 1, x[0, :17]), False),
    (lambda x: jax.random.gamma(jax.random.key(0), x), True),
])
def test_loops_are_unrolled_where_kernels_have_short_ones(function, gains):
    module = lowered(function, MATRIX)
    assert module.facts.work.unrolls is gains and (NO_UNROLLING in dict(options_for(module, "cpu", ())).get(EXTRA_OPTIONS, "")) is not gains


def test_loops_may_read_and_stack_large_arrays():
    module = lowered(lambda xs: lax.scan(lambda c, x: (c + jnp.tanh(x), c * 2), jnp.float32(0), xs), BIG)
    assert module.facts.work.small


def repeated(times):
    def function(x):
        for _ in range(times):
            x = jnp.tanh(x) + x.sum()
        return x
    return function


def test_programs_of_many_equal_kernels_are_compiled_in_full():
    """XLA compiles equal kernels once there."""
    assert lowered(repeated(2), SMALL).facts.work.small and not lowered(repeated(10), SMALL).facts.work.small
    assert QUICK_OPTIONS[1] not in chosen(repeated(20), SMALL)
    pair = lambda x: x * 2
    assert not lowered(lambda *xs: [pair(x) for x in xs], *[SMALL] * 10).facts.work.small
    assert lowered(lambda x: [x * 2, x[:5], x[:6], x.sum()], SMALL).facts.work.small


def test_options_of_the_caller_and_the_switch_stand():
    mine = (("xla_cpu_enable_fast_math", False),)
    assert chosen(jnp.sin, SMALL, items=mine) == mine
    assert options_for(lowered(jnp.sin, SMALL), "cuda", ()) == ()
    try:
        jax.config.update("jax_quick_compile", False)
        assert chosen(jnp.sin, SMALL) == ()
    finally:
        jax.config.update("jax_quick_compile", True)


@pytest.mark.parametrize("function", [jnp.sin, lambda x: lax.fori_loop(0, 9, lambda _, x: jnp.tanh(x) + 1, x)])
def test_who_wants_no_optimisation_gets_the_quickest_code(function):
    """As many programs of this suite do (`any_code` in conftest.py)."""
    with flags.disable_most_optimizations(True):
        options = dict(chosen(function, BIG))
        np.testing.assert_allclose(jax.jit(lambda x: function(x))(BIG), function(BIG), rtol=1e-6)
        on_gpu = options_for(lowered(function, BIG), "cuda", ())
    assert options.items() >= dict(NOT_OPTIMISED).items() and options[EXTRA_OPTIONS].startswith(dict(QUICK_OPTIONS)[EXTRA_OPTIONS])
    assert dict(NOT_OPTIMISED).items() - dict(chosen(function, BIG)).items()
    assert on_gpu == options_for(lowered(function, BIG), "cuda", ())


def test_calls_heed_that_no_optimisation_is_wanted():
    f = jax.jit(lambda x: jnp.tanh(x) * 3.25)
    f(BIG)
    with flags.disable_most_optimizations(True):
        before = xla_compile.counts["compiled"]
        f(BIG), f(BIG)
    f(BIG)
    assert xla_compile.counts["compiled"] == before + 1


def test_extra_options_reach_the_compiler():
    options = xla_compile.compile_options(jax.devices("cpu")[:1], joined(QUICK_OPTIONS, NO_UNROLLING)).SerializeAsString()
    assert b"xla_cpu_disable_new_fusion_emitters" in options and b"xla_cpu_disable_loop_unrolling" in options
    assert b"xla_cpu_disable_new_fusion_emitters" not in xla_compile.compile_options(jax.devices("cpu")[:1]).SerializeAsString()


square = lambda x: x[:256].reshape(16, 16) if x.size >= 256 else x[:25].reshape(5, 5)
PROGRAMS = {
    "elementwise": lambda x: jnp.where(x > 0.5, jnp.exp(jnp.sin(x)) / (1 + x), jnp.log1p(x) ** 1.5),
    "softmax": lambda x: jax.nn.softmax(x.reshape(4, -1), axis=0),
    "gradient": jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2 / (1 + x))),
    "sums": lambda x: (x.sum(), x.reshape(2, -1).max(0), jnp.cumsum(x), jnp.argmax(x), x.var()),
    "matrices": lambda x: jnp.linalg.solve(square(x) + jnp.eye(len(square(x))), square(x)[0]) @ square(x),
    "loop": lambda x: lax.fori_loop(0, 20, lambda i, x: jnp.tanh(jnp.roll(x, 1)) + 0.1 * i, x),
    "scatter": lambda x: jnp.zeros(8).at[(x * 7).astype(int)].add(x),
    "sort": lambda x: jnp.sort(-x) + jnp.argsort(x),
    "bfloat16": lambda x: (x.astype(jnp.bfloat16) * 3 + 1).astype(jnp.float32),
    "integers": lambda x: (x * 100).astype(jnp.int8) // 3 % 7,
    "complex": lambda x: jnp.exp(1j * x) * jnp.fft.fft(x),
    "random": lambda x: jax.random.normal(jax.random.key(7), (16,)),
}


@pytest.mark.parametrize("x", [FEW, SMALL], ids=len)
@pytest.mark.parametrize("name", PROGRAMS)
def test_quick_and_full_agree(name, x):
    traced = jax.jit(PROGRAMS[name]).lower(x)
    quick = traced.compile()
    full = traced.compile(compiler_options={"xla_cpu_parallel_codegen_split_count": 32})  # XLA's own value
    for a, b in zip(jax.tree.leaves(quick(x)), jax.tree.leaves(full(x)), strict=True):
        if jnp.issubdtype(a.dtype, jnp.integer):
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=3e-5, atol=1e-6)


@pytest.mark.parametrize("function, wide", [
    (jnp.exp, True), (lambda x: jax.random.bits(jax.random.key(0), x.shape), True), (lambda x: lax.map(jnp.log1p, x), False),
    (lambda x: jax.random.gamma(jax.random.key(0), 2.0, x.shape), True), (lambda x: jax.random.split(jax.random.key(0), x.size), True),
    (lambda x: lax.scan(lambda c, _: (jnp.exp(c), None), x, None, 3)[0], True), (lambda x: x + x, False), (jnp.sqrt, False), (jnp.max, False),
    (lambda x: jnp.linalg.qr(jnp.exp(x)), False), (lambda x: (jnp.linalg.qr(x), jnp.exp(jnp.broadcast_to(x, (8, *x.shape)))), True),
    (lambda x: (jnp.linalg.qr(x[:9, :9]), jnp.exp(x)), True),            # for a small one
])
def test_wide_vectors_for_programs_that_compute_much(monkeypatch, function, wide):
    monkeypatch.setattr(compiler_options, "wide_vectors_are_fast", lambda: True)
    assert ((WIDE_OPTION, 512) in chosen(function, MATRIX)) is wide
    assert (WIDE_OPTION, 512) not in chosen(function, MATRIX[:2])
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    assert (WIDE_OPTION, 512) not in chosen(function, MATRIX)


def test_both_packages_mean_the_same_by_few_elements():
    """Formulas that count on optimised code are left to larger arrays; the two do not see each other."""
    assert lanes.FEW == FEW_ELEMENTS
