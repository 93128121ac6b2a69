"""Exceptions in callbacks: they keep their type, come every time, and leave nothing broken behind."""
import gc
import itertools
import os
import pickle
import subprocess
import sys
import textwrap
import time
import traceback
import weakref

import numpy as np
import pytest

from jax_callbacks import CallbackTimeoutError, callback_timeout, debug, io_callback, pure_callback
from jax_core.programs.call import clear_caches
from jax_core.programs.jit import jit
from jax_core.representation import errors
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.api import block_until_ready, effects_barrier


class Failure(Exception):
    """An exception that cannot be made from a text."""

    def __init__(self, code, *, hint):
        super().__init__(f"failed with {code}")
        self.code, self.hint = code, hint


def fail(x):
    raise Failure(7, hint="look here")


def pure(x):
    return pure_callback(fail, x, x)


def ordered(x):
    return io_callback(fail, x, x, ordered=True)


def watched(x):
    debug.callback(fail, x)
    return x


def looped(f):
    return lambda x: lax.fori_loop(0, 3, lambda i, c: f(c), x)


CASES = {"pure": pure, "jit pure": jit(pure), "ordered": ordered, "jit ordered": jit(ordered), "jit debug": jit(watched),
         "unordered": jit(lambda x: io_callback(fail, x, x)), "in a loop": jit(looped(pure)),
         "ordered in a loop": jit(looped(ordered)), "eager loop": looped(ordered),
         "vmap": vmap(lambda x: pure_callback(fail, x, x)),
         "cond": jit(lambda x: lax.cond(x[0] < 9, ordered, lambda x: x, x)),
         "nested": jit(lambda x: pure_callback(jit(pure), x, x))}


@pytest.mark.parametrize("name", CASES)
def test_own_type_reaches_the_caller_each_time(name):
    for _ in range(3):
        with pytest.raises(Failure) as error:
            block_until_ready(CASES[name](jnp.arange(3.0)))
            effects_barrier()
        assert error.value.code == 7 and error.value.hint == "look here" and str(error.value) == "failed with 7"
        assert isinstance(error.value, errors.JaxRuntimeError)


def test_traceback_shows_the_line_of_the_callback():
    with pytest.raises(Failure) as error:
        block_until_ready(CASES["jit pure"](jnp.arange(3.0)))
    text = "".join(traceback.format_exception(error.value))
    assert "in fail" in text and "raise Failure(7" in text and "test_errors.py" in text


@pytest.mark.parametrize("error", [
    ValueError("text"), KeyError("key"), OSError(2, "No such file", "name"), StopIteration(3), ZeroDivisionError(),
    UnicodeDecodeError("utf8", b"a", 0, 1, "bad"), AssertionError("no"), RuntimeError("r"), NotImplementedError("n")])
def test_builtin_exceptions(error):
    def host(x):
        raise error
    with pytest.raises(type(error)) as caught:
        block_until_ready(jit(lambda x: pure_callback(host, x, x))(1.0))
    assert caught.value.args == error.args and str(caught.value) == str(error)
    assert type(caught.value).__name__ == type(error).__name__
    restored = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(restored, type(error)) and restored.args == error.args


def test_other_calls_go_on_working():
    calls = []

    def host(x):
        calls.append(int(x))
        if x == 2:
            raise Failure(2, hint="")
        return x
    f = jit(lambda x: io_callback(host, x, x, ordered=True))
    for i in range(5):
        if i == 2:
            with pytest.raises(Failure):
                block_until_ready(f(i))
        else:
            assert f(i) == i
    effects_barrier()
    assert calls == [0, 1, 2, 3, 4]


def test_an_array_that_failed_fails_where_it_is_used():
    f = jit(pure)
    with pytest.raises(Failure):
        np.asarray(f(jnp.arange(3.0)) + 1)


class Held:
    """Something that a callback holds on to."""


def failing_calls():
    held = Held()

    def host(x, keep=held):
        raise ValueError("gone")
    f = jit(lambda x: pure_callback(host, x, x))
    for _ in range(3):
        with pytest.raises(ValueError):
            block_until_ready(f(1.0))
    return weakref.ref(held)


@pytest.mark.only_cpu
def test_errors_keep_nothing_alive():
    alive = failing_calls()
    clear_caches()
    for _ in range(2):  # what the first round frees can hold more
        gc.collect()
    assert alive() is None


def run(program, **kwargs):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"}, **kwargs)


@pytest.mark.parametrize("program", [
    "lambda x: pure_callback(slow, x, x)", "lambda x: io_callback(slow, x, x, ordered=True)",
    "lambda x: lax.fori_loop(0, 9, lambda i, c: pure_callback(slow, c, c), x)", "lambda x: (debug.callback(slow, x), x)[1]"])
def test_keyboard_interrupt_ends_the_computation(program):
    done = run(f"""
        import os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        from jax_callbacks import debug, io_callback, pure_callback
        from jax_core.programs.jit import jit
        from jax_numpy_api import lax, numpy as jnp
        def slow(x):
            if not sent.is_set():
                sent.set()
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            while not over.wait(0.02):  # it never ends by itself
                pass
            return x
        sent, over = threading.Event(), threading.Event()
        f = jit({program})
        try:
            f(jnp.ones(3)).block_until_ready()
        except KeyboardInterrupt as error:
            print(type(error).__name__)
        over.set()
        print(jit(lambda x: io_callback(lambda x: x, x, x, ordered=True))(1.0))
        """)
    assert done.stdout == "KeyboardInterrupt\n1.0\n", done.stderr


@pytest.mark.parametrize("program", ["pure_callback(lambda x: x, c, c)", "io_callback(lambda x: x, c, c, ordered=True)",
                                     "(io_callback(lambda: None, None), c)[1]"])
def test_keyboard_interrupt_between_short_callbacks(program):
    """It mostly strikes outside of the user's functions then, at any instruction of those around them."""
    done = run(f"""
        import os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from jax_callbacks import io_callback, pure_callback
        from jax_core.programs.jit import jit
        from jax_numpy_api import lax, numpy as jnp
        f = jit(lambda n: lax.while_loop(lambda c: c < n, lambda c: {program} + 1, 0))
        f(1)
        for i in range(20):
            try:
                threading.Timer(0.02 + 0.0013 * i, os.kill, (os.getpid(), signal.SIGINT)).start()
                f(1_000_000_000)
            except BaseException as error:
                print(type(error).__name__)
        """)
    assert done.stdout == "KeyboardInterrupt\n" * 20, done.stderr


def test_timeout():
    def slow(x):
        for _ in itertools.repeat(None):  # it never ends by itself
            time.sleep(0.01)
    f = jit(lambda x: pure_callback(slow, x, x))
    with callback_timeout(0.2), pytest.raises(CallbackTimeoutError, match="took longer than 0.2 s") as error:
        block_until_ready(f(1.0))
    assert "in slow" in str(error.value)
    with callback_timeout(600):
        assert jit(lambda x: pure_callback(lambda x: x, x, x))(1.0) == 1.0
    with pytest.raises(ValueError, match="seconds must be positive"):
        with callback_timeout(0):
            pass


def test_a_debugger_works_after_a_time_out():
    """An interruption that is left over hangs Python 3.11 at the first function that is traced."""
    code = """
import sys, threading
import numpy as np
from jax_callbacks import CallbackTimeoutError, callback_timeout, io_callback
def slow(x):
    while True:
        threading.Event().wait(0.01)
try:
    with callback_timeout(0.1):
        io_callback(slow, np.float32(0), np.float32(0))
except CallbackTimeoutError:
    print("over")
def traced():
    return "traced"
sys.settrace(lambda *event: None)
print(traced())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.stdout.split() == ["over", "traced"], done.stderr


def test_errors_of_the_runtime_itself_are_unchanged():
    error = errors.JaxRuntimeError("INTERNAL: something else")
    assert type(error) is errors.JaxRuntimeError and "something else" in str(error)


class _Private(RuntimeError):
    pass


def test_text_names_private_classes():
    """Equinox looks for the name of its own exception class in the text."""
    def host(x):
        raise _Private("message")
    with pytest.raises(errors.JaxRuntimeError) as error:
        block_until_ready(jit(lambda x: pure_callback(host, x, x))(1.0))
    assert str(error.value) == "_Private: message"


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Base(BaseException):
    pass


ODD = {
    "text that is not UTF-8": lambda: ValueError("\ud800"),
    "a zero": lambda: ValueError("a\0b"),
    "text of a megabyte": lambda: ValueError("x" * 1_000_000),
    "the runtime's own words": lambda: ValueError("%s {0} exception 1 of a jax callback"),
    "no text": Unprintable,
    "a group": lambda: ExceptionGroup("outer", [ValueError(1), ExceptionGroup("inner", [TypeError(2)])]),
    "a group with Ctrl-C": lambda: BaseExceptionGroup("outer", [KeyboardInterrupt(), ValueError(1)]),
    "end of a generator": lambda: StopIteration(3),
    "arguments": lambda: UnicodeDecodeError("utf8", b"\xff", 0, 1, "bad"),
    "out of memory": MemoryError,
    "the runtime's class": lambda: errors.JaxRuntimeError("mine"),
    "Ctrl-C": KeyboardInterrupt,
    "exit": lambda: SystemExit(3),
    "not an Exception": Base,
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("wrap", [lambda f: f, jit, lambda f: jit(vmap(f)), lambda f: jit(looped(f))], ids=["eager", "jit", "vmap", "loop"])
@pytest.mark.parametrize("call", [lambda f, x: pure_callback(f, x, x), lambda f, x: io_callback(f, x, x),
                                  lambda f, x: (debug.callback(f, x), x)[1]], ids=["pure", "io", "debug"])
def test_odd_exceptions_arrive_whole(name, wrap, call, caplog):
    given = ODD[name]()

    def fails(x):
        raise given
    with pytest.raises(type(given)) as info:
        block_until_ready(wrap(lambda x: call(fails, x))(np.ones(3, np.float32)))
        effects_barrier()
    assert info.value is given or info.value.__cause__ is given and info.value.args == given.args
    caplog.text.encode()  # what is logged can be written to a file
    assert jit(lambda x: pure_callback(lambda a: a, x, x))(1.0) == 1.0


@pytest.mark.parametrize("kind, call", [("pure_callback", lambda f, x: pure_callback(f, x, x)), ("io_callback", lambda f, x: io_callback(f, x, x))])
def test_a_failure_is_logged_under_one_message_with_its_traceback(kind, call, caplog):
    def fails(x):
        raise ValueError("no such thing")
    with pytest.raises(ValueError, match="no such thing"):
        block_until_ready(jit(lambda x: call(fails, x))(np.ones(3, np.float32)))
        effects_barrier()
    (record,) = [r for r in caplog.records if r.name == "jax._src.callback"]
    assert record.getMessage() == f"jax.{kind} failed" and record.exc_info is None
    assert "in fails" in caplog.text and "ValueError: no such thing" in caplog.text
