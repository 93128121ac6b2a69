"""jax.debug: print, log, callback under every transformation, the debugger, pictures of shardings."""
import bdb
import collections
import io
import logging
import sys

import numpy as np
import pytest

from jax_callbacks import debug, debugger, io_callback
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad, jvp, linearize, vjp
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.api import block_until_ready, effects_barrier


def printed(capsys, f, *args):
    block_until_ready(f(*args))
    effects_barrier()
    return capsys.readouterr().out.splitlines()


def noisy(x):
    debug.print("x = {x}", x=x)
    return jnp.sin(x)


TRANSFORMS = {
    "eager": (lambda f: f, 1), "jit": (jit, 1), "grad": (grad, 1), "jit grad": (lambda f: jit(grad(f)), 1),
    "grad jit": (lambda f: grad(jit(f)), 1), "jvp": (lambda f: lambda x: jvp(f, (x,), (x,)), 1),
    "vjp": (lambda f: lambda x: vjp(f, x)[1](x), 1), "checkpoint": (checkpoint, 1),
    "linearize": (lambda f: lambda x: linearize(f, x)[1](x), 1),
    "grad of checkpoint": (lambda f: grad(checkpoint(f)), 2),
    "scan": (lambda f: lambda x: lax.scan(lambda c, _: (f(c) * 0 + c, None), x, None, length=3)[0], 3),
    "while": (lambda f: lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1]) * 0 + c[1]), (0, x)), 2),
    "cond": (lambda f: jit(lambda x: lax.cond(x > 0, f, lambda x: x, x)), 1),
    "grad of scan": (lambda f: grad(lambda x: lax.scan(lambda c, _: (f(c) * 0 + c, None), x, None, length=3)[0]), 3),
}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_print_under(capsys, name, ordered):
    transform, times = TRANSFORMS[name]

    def f(x):
        debug.print("x = {x}", x=x, ordered=ordered)
        return jnp.sin(x)
    assert printed(capsys, transform(f), 3.0) == ["x = 3.0"] * times


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("mode", [lambda f: f, jit])
def test_vmap_prints_each_element(capsys, mode, ordered):
    f = mode(vmap(lambda x: debug.print("{} {}", x, 3, ordered=ordered)))
    assert printed(capsys, f, jnp.arange(3.0)) == ["0.0 3", "1.0 3", "2.0 3"]


def test_vmap_passes_what_is_not_mapped_as_it_is(capsys):
    f = vmap(lambda x, y: debug.callback(lambda x, y: print(x, y), x, y), in_axes=(0, None))
    assert printed(capsys, f, jnp.arange(2), jnp.arange(2)) == ["0 [0 1]", "1 [0 1]"]


def test_custom_derivatives(capsys):
    @custom_vjp
    def f(x):
        debug.print("primal {}", x)
        return x * 2

    def forward(x):
        debug.print("forward {}", x)
        return x * 2, None

    def backward(_, g):
        debug.print("backward {}", g)
        return (g * 2,)
    f.defvjp(forward, backward)
    assert printed(capsys, f, 3.0) == ["primal 3.0"]
    assert printed(capsys, grad(f), 3.0) == ["forward 3.0", "backward 1.0"]
    assert printed(capsys, jit(grad(f)), 3.0) == ["forward 3.0", "backward 1.0"]


def test_formats(capsys):
    Pair = collections.namedtuple("Pair", "a b")
    x = jnp.arange(2.0)

    @jit
    def f(x):
        debug.print("{} {y:.2f} {z!r} {t}", x, y=x[1] / 3, z=x, t={"k": [x, "s", None]})
        debug.print("plain {{}} text")
        debug.print("{} {}", jnp.ones(2, jnp.bfloat16), 1 + 2j)
        debug.print("{0.shape} {p.b}", x, p=Pair(x, 7), skip_format_check=True)
    array = "Array([0., 1.], dtype=float32)"
    assert printed(capsys, f, x) == [f"[0. 1.] 0.33 {array} {{'k': [{array}, 's', None]}}", "plain {{}} text",
                                     "[1 1] (1+2j)", "(2,) 7"]


def test_print_options_are_those_of_the_call(capsys):
    with np.printoptions(precision=2):
        f = jit(lambda x: debug.print("{}", x))
        assert printed(capsys, f, jnp.arange(2.0) / 3) == ["[0.   0.33]"]
    assert printed(capsys, f, jnp.arange(2.0) / 3) == ["[0.   0.33]"]


@pytest.mark.parametrize("call, error, message", [
    (lambda x: debug.print("a {}"), IndexError, "tuple index out of range"),
    (lambda x: debug.print("a {}", x, x), ValueError, "fmt has no place for the positional arguments"),
    (lambda x: debug.print("a {y}", y=x, z=x), ValueError,
     r"fmt has no place for the keyword arguments \['z'\]"),
    (lambda x: debug.print("a {y}", z=x), KeyError, "y"),
    (lambda x: debug.print(None, x), TypeError, "two-call form"),
    (lambda x: debug.callback(None, x), TypeError, "two-call form"),
    (lambda x: debug.callback(3, x), TypeError,
     "jax.debug.callback: callback must be callable, got 3 of type int")])
def test_mistakes_are_found_while_tracing(call, error, message):
    with pytest.raises(error, match=message):
        make_jaxpr(call)(jnp.arange(3.0))


def test_bad_format_specification_fails_at_run_time():
    with pytest.raises(TypeError, match="unsupported format string"):
        jit(lambda x: debug.print("{:.3f}", x))(jnp.arange(2.0))
        effects_barrier()


def test_two_call_form(capsys):
    def f(x):
        debug.print(ordered=True)("hi {}", x)
        debug.callback(ordered=True)(lambda x: print("ho", x), x)
    assert printed(capsys, jit(f), 1) == ["hi 1", "ho 1"]


def test_objects_that_are_not_arrays_are_passed_as_they_are(capsys):
    f = jit(lambda x: debug.callback(lambda *a, **k: print(a, k), "s", None, k=object))
    assert printed(capsys, f, 1) == ["('s', None) {'k': <class 'object'>}"]


def test_log(caplog):
    with caplog.at_level(logging.INFO, "jax.debug"):
        jit(lambda x: debug.log("value {}", x))(3)
    (record,) = caplog.records
    assert record.getMessage() == "value 3" and record.levelname == "INFO" and record.filename == "test_debug.py"


def test_effects_of_jaxprs():
    jaxpr = make_jaxpr(lambda x: (debug.print("{}", x), debug.print("{}", x, ordered=True)))(1.0)
    assert jaxpr.effects == {debug.DebugEffect(), debug.OrderedDebugEffect()}


# -- order -----------------------------------------------------------------------------------------------------------

def test_order_through_control_flow_and_nested_jit():
    seen = []

    def note(i, *more):
        io_callback(lambda *a: seen.append(tuple(map(int, a))), None, i, *more, ordered=True)

    @jit
    def f(x):
        note(0)
        jit(lambda x: note(1, x))(x)
        lax.fori_loop(0, 3, lambda i, c: (note(2, i), c)[1], 0)
        lax.while_loop(lambda c: (note(3, c), c < 2)[1], lambda c: (note(4, c), c + 1)[1], 0)
        lax.cond(x > 0, lambda: note(5), lambda: note(6))
        lax.switch(x, [lambda: note(7), lambda: note(8)])
        lax.scan(lambda c, a: (note(9, a), (c, a))[1], 0, jnp.arange(2))
        note(10)
    for _ in range(3):
        seen.clear()
        f(1)
        effects_barrier()
        assert seen == [(0,), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (4, 0), (3, 1), (4, 1), (3, 2), (5,), (8,), (9, 0),
                        (9, 1), (10,)]


def test_order_of_consecutive_programs():
    seen = []
    f = jit(lambda i: io_callback(lambda i: seen.append(int(i)), None, i, ordered=True))
    g = jit(lambda i: (debug.callback(lambda i: seen.append(-int(i)), i, ordered=True), jnp.ones((300, 300)) @ jnp.ones((300, 300)))[1])
    for i in range(1, 20):
        f(i)
        g(i)
    effects_barrier()
    assert seen == [s * i for i in range(1, 20) for s in (1, -1)]


def test_io_callbacks_are_never_elided():
    seen = []
    f = jit(lambda x: (io_callback(lambda x: seen.append(1) or x, x, x), x)[1])
    f(1.0)
    vmap(f)(jnp.arange(3.0))
    jit(grad(lambda x: (io_callback(lambda: seen.append(1), None), x)[1]))(1.0)
    effects_barrier()
    assert len(seen) == 5


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("mode", [lambda f: f, jit])
def test_checkpoint_does_not_repeat_io_callbacks(mode, ordered):
    seen = []

    @checkpoint
    def f(x):
        y = io_callback(lambda a: seen.append(1) or a, x, jnp.float32(2), ordered=ordered)
        return jnp.sin(jnp.sin(x * y))
    x = jnp.float32(0.3)
    expected = np.cos(np.sin(0.6)) * np.cos(0.6) * 2
    np.testing.assert_allclose(mode(grad(f))(x), expected, rtol=1e-6)
    effects_barrier()
    assert len(seen) == 1


# -- the debugger ----------------------------------------------------------------------------------------------------

def session(commands, f, *args):
    output = io.StringIO()
    f(io.StringIO("\n".join(commands) + "\n"), output)(*args)
    return output.getvalue()


def stopping(stdin, stdout):
    def inner(y):
        label = "static"
        debugger.breakpoint(stdin=stdin, stdout=stdout)
        return y + len(label)

    @jit
    def f(x):
        return inner(x * 2)
    return f


def test_breakpoint_shows_values_and_frames():
    out = session(["p y", "label", "y + 1", "nothing", "u", "p x", "d", "bt", "l", "locals", "c"], stopping, 3.0)
    for expected in ("Array(6., dtype=float32)", "'static'", "7.", "*** NameError", "Array(3., dtype=float32)", "in", "inner()",
                     "-> "):
        assert expected in out
    assert "test_debug.py" in out and "jax_core" not in out


def test_quitting_the_debugger_ends_the_program():
    with pytest.raises(bdb.BdbQuit):
        session(["q"], stopping, 3.0)
        effects_barrier()  # a GPU reports it no sooner


def test_end_of_input_continues():
    assert "inner()" in session([], stopping, 3.0)


# -- pictures --------------------------------------------------------------------------------------------------------

@pytest.mark.only_cpu
def test_visualize_sharding(capsys):
    debug.visualize_array_sharding(jnp.ones(8), use_color=False)
    assert capsys.readouterr().out == "┌───────┐\n│ CPU 0 │\n└───────┘\n"
    debug.visualize_array_sharding(jnp.ones((8, 8)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "┌" + "─" * (len(lines[0]) - 2) + "┐" and "CPU 0" in lines[len(lines) // 2]
    with pytest.raises(ValueError, match="`visualize_sharding` only works for shapes with 1 and 2 dimensions."):
        debug.visualize_array_sharding(jnp.ones(()))


def test_inspect_array_sharding():
    seen = []
    x = jnp.ones(3)
    debug.inspect_array_sharding(x, callback=seen.append)
    jit(lambda x: (debug.inspect_array_sharding(x, callback=seen.append), x)[1])(x)
    effects_barrier()
    assert [s.device_set for s in seen] == [x.sharding.device_set] * 2


@pytest.mark.parametrize("call", [
    lambda x: debug.print("{}", x), lambda x: debug.print("{}", x, ordered=True), lambda x: debug.callback(print, x),
    lambda x: io_callback(print, None, x)])
def test_of_nested_vmaps_the_outer_index_runs_fastest(capsys, call):
    rows = jnp.arange(6).reshape(3, 2)
    assert printed(capsys, vmap(vmap(call)), rows) == ["0", "2", "4", "1", "3", "5"]
    assert printed(capsys, vmap(vmap(call), in_axes=1), rows) == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("wrap", ["eager", "jit", "grad", "vjp", "grad of checkpoint"])
def test_callbacks_get_values_of_the_dtype_that_programs_have(wrap):
    """A Python number under a derivative is one still; NumPy's 64 bits are 32 where the flag says so."""
    seen, transform = set(), TRANSFORMS[wrap][0]

    def f(x):
        debug.callback(lambda *xs: seen.add(tuple(str(x.dtype) for x in xs)), x, np.arange(2), 1j, True)
        return x * 2.0
    transform(f)(1.5)
    effects_barrier()
    assert seen == {("float32", "int32", "complex64", "bool")}


class OnlyWrites:
    """What programs put in place of ``sys.stdout``."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


@pytest.mark.parametrize("out", [None, OnlyWrites()], ids=["none", "an object that writes"])
def test_processes_without_a_standard_output(monkeypatch, out):
    """As those of `pythonw`, and daemons: nothing is printed then."""
    x = jnp.ones(2)
    monkeypatch.setattr(sys, "stdout", out)
    debug.print("value {}", x[0])
    debug.visualize_array_sharding(x)
    str(make_jaxpr(jnp.sin)(x).pretty_print())
    assert out is None or out.text.startswith("value 1.0\n") and "CPU 0" in out.text
