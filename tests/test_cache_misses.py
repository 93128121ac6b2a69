"""`jax_explain_cache_misses` says why a function was traced, `jax_log_compiles` what is traced and compiled."""
import functools
import logging
import sys
import types

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax_core.programs import monitoring


@pytest.fixture
def said(caplog):
    """``said(call)``: what is logged by the call."""
    def messages(call):
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="jax"), jax.explain_cache_misses(True):
            call()
        return [r.getMessage() for r in caplog.records if r.name.startswith("jax")]
    return messages


def fresh():
    @functools.partial(jax.jit, static_argnames="times")
    def double(x, shift=0.0, *, times=2, **more):
        return jax.tree.map(lambda leaf: leaf * times + shift, x)
    return double


def precisely(f, x):
    with jax.default_matmul_precision("bfloat16"):
        return f(x)


F3, F4 = np.ones(3, np.float32), np.ones(4, np.float32)

CASES = {
    "shape": (lambda f: f(F3), lambda f: f(F4), ["the shape of argument x: now f32[4], before f32[3]"]),
    "dtype": (lambda f: f(F3), lambda f: f(np.ones(3, np.int32)), ["the dtype of argument x: now i32[3], before f32[3]"]),
    "both": (lambda f: f(F3), lambda f: f(np.ones(4, np.int32)), ["the shape and dtype of argument x: now i32[4], before f32[3]"]),
    "weak type": (lambda f: f(np.float32(1)), lambda f: f(1.0),
                  ["the weak type of argument x: now f32[] (weak type), before f32[]"]),
    "a leaf": (lambda f: f({"w": [F3, F3]}), lambda f: f({"w": [F3, F4]}),
               ["the shape of argument x['w'][1]: now f32[4], before f32[3]"]),
    "by keyword": (lambda f: f(F3, shift=F3), lambda f: f(F3, shift=np.float32(1)),
                   ["the shape of argument shift: now f32[], before f32[3]"]),
    "static": (lambda f: f(F3, times=2), lambda f: f(F3, times=3), ["static argument 'times': now 3, before 2"]),
    "another argument": (lambda f: f(F3), lambda f: f(F3, extra=F3), ["the structure of the arguments: more['extra'] is new"]),
    "a key of a dict": (lambda f: f({"a": F3, "b": F3}), lambda f: f({"a": F3}),
                        ["the structure of the arguments: x['b'] is gone"]),
    "another container": (lambda f: f((F3,)), lambda f: f([F3]), ["the structure of the arguments: now PyTreeDef"]),
    "configuration": (lambda f: f(F3), lambda f: precisely(f, F3),
                      ["the configuration: jax_default_matmul_precision is now 'bfloat16', before "]),
    "two things": (lambda f: f(F3, F3), lambda f: f(F4, F4), ["argument x: now f32[4]", "argument shift: now f32[4]"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_changed_is_named(said, case):
    first, second, texts = CASES[case]
    f = fresh()
    first(f)
    message, = said(lambda: second(f))
    assert "jit traces fresh.<locals>.double at" in message or "jit traces double at" in message
    assert f"called at {__file__}" in message
    lines = message.split("\n  ")[1:]
    assert len(lines) == len(texts)
    for line, text in zip(lines, texts):
        assert text in line


def test_the_nearest_program_is_compared(said):
    f = fresh()
    f(F3), f({"a": F3}), f((F3, F4), times=5)
    message, = said(lambda: f((F4, F4), times=5))
    assert message.split("\n  ")[1:] == ["the shape of argument x[0]: now f32[4], before f32[3]"]


def test_a_new_function_and_one_defined_again(said):
    def call():
        jax.jit(lambda x: x + 1)(F3)
    first, = said(call)
    assert first.endswith("it was not traced before.")
    second, = said(call)
    assert "new function object, but one defined on the same line was traced before" in second


def test_nothing_is_said_of_hits_nor_without_the_flag(said, caplog):
    f = fresh()
    f(F3)
    assert said(lambda: f(F3)) == []
    assert said(lambda: jax.explain_cache_misses(False)(f)(F4)) == []


def test_functions_of_jax_itself_are_not_explained(said):
    assert said(lambda: jnp.linalg.norm(np.ones((5, 7), np.float32))) == []


def test_compiles_are_logged(caplog):
    def scale(x):
        return x * 17.25
    with caplog.at_level(logging.WARNING, logger="jax"), jax.log_compiles():
        jax.jit(scale)(F3)
        texts = [r.getMessage() for r in caplog.records]
        assert [t.split(" in ")[0] for t in texts] == [
            "Finished tracing scale", "Finished jaxpr to MLIR module conversion jit(scale)",
            "Compiling jit(scale) with global shapes and types [f32[3]].", "Finished XLA compilation of jit(scale)"]
        caplog.clear()
        jax.jit(scale)(F3)
        assert not caplog.records


def test_listeners_hear_of_traces_and_compiles():
    seen = []
    listen = lambda event, seconds, **kw: seen.append((event.rsplit("/")[-1], kw["fun_name"]))
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        def scale(x):
            return x * 18.25
        jax.jit(scale)(F3)
    finally:
        monitoring.unregister_event_duration_listener(listen)
    assert seen == [("jaxpr_trace_duration", "scale"), ("jaxpr_to_mlir_module_duration", "jit(scale)"),
                    ("backend_compile_duration", "jit(scale)")]


def test_logging_that_another_thread_is_loading(monkeypatch):
    """A module stands in `sys.modules` before what it defines is there."""
    monkeypatch.setitem(sys.modules, "logging", types.ModuleType("logging"))
    assert monitoring.log_level() is None
