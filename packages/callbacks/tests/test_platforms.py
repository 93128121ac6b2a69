"""The modules that programs with callbacks become on each platform."""
import numpy as np
import pytest

from jax_callbacks import debug, io_callback, pure_callback
from jax_core.interfaces import LowerSpec
from jax_core.programs.tracing import make_jaxpr
from jax_numpy_api import numpy as jnp

lowering = pytest.importorskip("jax_xla_backend.lowering.module")


def program(x):
    y = pure_callback(lambda a: a, x, x)
    z = io_callback(lambda a: a, x, y, ordered=True)
    debug.print("{}", z)
    return z


def module(platform, f=program, n=3):
    closed = make_jaxpr(f)(jnp.ones(n))
    return lowering.lower_module(closed, LowerSpec("main"), platform=platform)


def test_cpu():
    m = module("cpu")
    text = m.text()
    assert text.count("@xla_ffi_python_cpu_callback") == 3 and len(m.facts.host_callbacks) == 3
    assert text.count("has_side_effect = true") == 2


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
def test_gpu_calls_the_handler_of_the_plugin(platform):
    m = module(platform)
    assert m.text().count("@xla_ffi_python_gpu_callback") == 3 and len(m.facts.host_callbacks) == 3
    assert "!stablehlo.token" in m.text()


@pytest.mark.parametrize("platform, barriers", [("cpu", 0), ("cuda", 3), ("rocm", 3), ("tpu", 0)])
def test_slices_are_kept_apart_from_calls_with_tokens_on_gpu(platform, barriers):
    """XLA's GPU compiler ends the process where it joins them: in and out of the ordered call, and into the print; the pure one may be joined."""
    def sliced(x):
        z = io_callback(lambda a: a, x[0], pure_callback(lambda a: a, x[0], x[1]), ordered=True)
        debug.print("{}", x[2])
        return z
    assert module(platform, sliced, (3, 2)).text().count("stablehlo.optimization_barrier") == barriers


@pytest.mark.parametrize("platform, kind", [("cpu", "i4"), ("cuda", "i8"), ("rocm", "i8")])
def test_narrow_numbers_reach_callbacks_in_whole_bytes(platform, kind):
    """Accelerators pack two into a byte, which no handler of callbacks unpacks."""
    seen = []
    m = module(platform, lambda x: pure_callback(lambda a: (seen.append(a.dtype), a)[1], x.astype(jnp.int4), x.astype(jnp.int4)))
    assert f"(tensor<3x{kind}>) -> tensor<3x{kind}>" in m.text()
    given = np.array([1, -8, 7], np.int8 if kind == "i8" else jnp.int4)
    (result,) = m.facts.host_callbacks[0](given)
    assert result.dtype == given.dtype and list(result) == [1, -8, 7] and seen == [jnp.int4]


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm"])
def test_arrays_reach_callbacks_by_rows(platform):
    """Left to itself the compiler for GPUs gives a call the layout of a program's argument, and the callback other elements than meant."""
    text = module(platform, n=(2, 3)).text()
    assert text.count("operand_layouts = [dense<[1, 0]> : tensor<2xindex>]") == text.count("result_layouts = [dense<[1, 0]> : tensor<2xindex>]") == 1
    assert text.count("tensor<0xindex>, dense<[1, 0]> : tensor<2xindex>]") >= 2  # behind a token


def test_a_failure_may_be_waited_for_twice_but_on_cpu():
    """Accelerators report it at the first wait, and again at any other; what the CPU raised once is let go."""
    from jax_callbacks import errors

    def fails(x):
        raise KeyError("gone")
    for platform, there in (("cpu", [True, False]), ("cuda", [True, True])):
        function = module(platform, lambda x: pure_callback(fails, x, x)).facts.host_callbacks[0]
        with pytest.raises(errors.CallbackFailed) as info:
            function(np.ones(3, np.float32))
        assert [isinstance(errors._kept_exception([f"INTERNAL: {info.value}"]), KeyError) for _ in range(2)] == there


def test_tpu_sends_and_receives():
    text = module("tpu").text()
    assert text.count('"stablehlo.send"') == 3 and text.count('"stablehlo.recv"') == 2
    assert "is_host_transfer = true" in text and "custom_call" not in text


def test_large_operands_go_through_buffers():
    m = module("cpu", lambda x: pure_callback(lambda a: a, x, x), 1 << 20)
    assert "@xla_buffer_python_cpu_callback" in m.text()


def test_unused_pure_callbacks_are_not_in_the_module():
    m = module("cpu", lambda x: (pure_callback(lambda a: a, x, x), x)[1])
    assert "custom_call" not in m.text() and not m.facts.host_callbacks


@pytest.mark.parametrize("platform, call", [("cpu", "@xla_ffi_python_cpu_callback"), ("cuda", "@xla_ffi_python_gpu_callback"),
                                            ("tpu", '"stablehlo.send"')])
def test_progress_bars_report_outside_of_the_loop_over_steps(platform, call):
    from jax_callbacks import progress_bar
    from jax_numpy_api import lax

    body = progress_bar(lambda i, c: jnp.sin(c))
    text = module(platform, lambda x: lax.fori_loop(0, 100, body, x)).text()
    assert text.count("stablehlo.while") == 2
    assert text.count(call) == 2  # a report before each run of steps, and the end
