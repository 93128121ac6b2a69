"""What jaxlib's C++ dispatcher must know of our configuration and of the current trace.

The dispatcher repeats a call without asking Python if the types of the arguments and a few *configuration objects*
are as they were. We mirror into such objects: whether 64-bit types are enabled, whether jit is disabled, everything
else that changes what tracing produces (`jax_core.configuration.engine.trace_key`), the default device, and the current trace, so
that under any transformation the fast path does not apply.
"""
from __future__ import annotations

from typing import Any

from jax_core.configuration import engine
from jax_core.extension_points import trace_changed, tracing_flag
from jax_core.traces.trace import Tracer

from ..jaxlib_compat import Config, _jax, unset

_x64 = Config("jax_enable_x64", False, include_in_jit_key=True, include_in_trace_context=True)
_never_disabled = Config("jax_disable_jit_natively", False)  # jaxlib would call the function of an eager dispatcher too
_disable_jit = Config("jax_disable_jit", False, include_in_jit_key=True)
_post_hook = Config("jax_post_hook", None)
_key = Config("jax_trace_key", None, include_in_jit_key=True)
_device = Config("jax_default_device", None, include_in_jit_key=True)
_trace = Config("jax_trace", None, include_in_jit_key=True)


def _mirror(name: str, target: Any) -> None:
    """Keep ``target`` equal to the flag ``name``, its thread-local overrides included."""
    def changed(value: object, thread_local: bool) -> None:
        if not thread_local:
            target.set_global(value)
        else:
            target.set_local(unset if value is None else value)
    engine.on_change(name, changed)


def _trace_key_changed(value: object, thread_local: bool) -> None:
    if thread_local:
        _key.set_local(engine.trace_key())
    else:
        _key.set_global(engine.trace_key())


def _watch(state: engine.State) -> None:
    """One object stands for all flags that affect tracing; it is compared by identity."""
    engine.on_change(state, _trace_key_changed)


class _Running:
    """Stands for a trace in the dispatcher's key. Which trace it is does not matter there: nothing is ever kept
    under this key, as `jit` asks for no fast path while a trace is current."""

    __slots__ = ()


_running = _Running()
_set_trace = _trace.set_local


def _trace_changed(trace: Any) -> None:
    _set_trace(unset if trace is None else _running)


def install() -> None:
    """Tell jaxlib about these objects and keep them up to date. Called before anything is dispatched; again is no change, should
    Ctrl-C have come between."""
    _jax.jax_jit.set_enable_x64_state(_x64)
    _jax.jax_jit.set_disable_jit_state(_never_disabled)
    _jax.jax_jit.set_post_hook_state(_post_hook)
    _jax.set_tracer_class(Tracer)
    _jax.set_tracebacks_enabled(False)  # a traceback for every array made costs a fifth of a call
    _mirror("jax_enable_x64", _x64)
    _mirror("jax_disable_jit", _disable_jit)
    _mirror("jax_default_device", _device)
    tracing_flag.fill(_watch)
    trace_changed.fill(_trace_changed)
