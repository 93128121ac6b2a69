"""Configuration: named flags with a process-wide value and per-thread overrides.

A flag is a `State`. It takes its first value from the environment variable of the
same name in capitals (`JAX_ENABLE_X64=1`), is set for the process by
`config.update("jax_enable_x64", True)`, and for a thread and a block of code by
`with enable_x64(True): ...`. Reading is `enable_x64.value`, or for users
`jax.config.jax_enable_x64`.

Two services for the rest of the system:

- `trace_key()` is one small hashable object standing for every flag that changes what
  tracing produces. Caches of traced or compiled functions include it in their keys.
  It is interned, so that comparing and hashing it costs one pointer operation.
- `on_change(name, callback)` tells another component (the C++ dispatcher) of changes.

This module is the engine; the flags themselves are in `flags`, those without effect in `inert`.
"""

from __future__ import annotations

import enum
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator
from typing import Any

from ..extension_points import tracing_flag

_MISSING: Any = object()
_lock = threading.Lock()
_version = 0  # counts process-wide changes of flags; a thread's cached trace key carries the count it was made at
_overrides_in_force = 0  # of all threads; while there are none, reading a flag need not look at the thread
_global_key: TraceKey | None = None  # the trace key of threads without overrides; None: to be made


class _ThreadState(threading.local):
    """What one thread has overridden, and its cached trace key."""

    def __init__(self) -> None:
        self.overrides: dict[State, Any] = {}
        self.key: TraceKey | None = None
        self.version = -1


_thread = _ThreadState()


class State:
    """One flag.

    Attributes:
      name: full name, as `"jax_enable_x64"`.
      kind: `bool`, `int`, `float`, `str`, or `object` for a value nothing is known about.
      default: value before the environment and `update`.
      optional: whether `None` is a value.
      choices: the allowed strings, or `None` when any value of `kind` will do.
      affects_tracing: whether the value is part of `trace_key()`.
      help: one line on what the flag does.

    >>> with jax.enable_x64(True):
    ...     jax.enable_x64.value
    True
    """

    __slots__ = ("name", "kind", "default", "optional", "choices", "affects_tracing", "help",
                 "global_value", "_enum", "_callbacks", "_objections")

    def __init__(self, name: str, kind: type, default: Any, help: str, *, optional: bool = False,
                 choices: Sequence[str] | type[enum.StrEnum] | None = None, affects_tracing: bool = False):
        self.name = name
        self.kind = kind
        self.help = help
        self.optional = optional or default is None
        self._enum = choices if isinstance(choices, type) else None
        self.choices = None if choices is None else tuple(str(c) for c in choices)
        self.affects_tracing = affects_tracing
        self._callbacks: list[Callable[[Any, bool], None]] = []
        self._objections: list[Callable[[], None]] = []
        self.default = self.check(default)
        text = os.environ.get(name.upper())
        self.global_value = self.default if text is None else self.parse(text, f"environment variable {name.upper()}")

    @property
    def value(self) -> Any:
        """The value in this thread: its innermost override, else the process-wide value."""
        if _overrides_in_force:
            return _thread.overrides.get(self, self.global_value)
        return self.global_value

    def __bool__(self) -> bool:
        raise TypeError(f"the flag {self.name} was used as a truth value; read `.value` of it.")

    def __repr__(self) -> str:
        return f"State({self.name}={self.value!r})"

    def check(self, value: object) -> Any:
        """Return `value` in the form it is stored in.

        What is no string says by its truth whether a flag of yes and no holds.

        Raises:
          ValueError: the flag cannot have this value.
          TypeError: programs are told apart by the value, and it cannot be hashed; or it is no string where an enumeration wants one.
        """
        if value is None and self.optional:
            return None
        if self.choices is not None:
            if isinstance(value, str) and str(value) in self.choices:
                return self._enum(value) if self._enum else str(value)
            if self._enum and not isinstance(value, str):
                raise TypeError(f"config flag {self.name} must be {self._wanted()}, got {value!r}.")
        elif self.kind is object:
            if self.affects_tracing and type(value).__hash__ is None:
                raise TypeError(f"{self.name}: programs are told apart by this value, so it must be hashable; got {value!r}")
            return value
        elif self.kind is bool:
            if type(value) is bool:
                return value
            return self.parse(value, "value") if isinstance(value, str) else bool(value)
        elif self.kind is float and isinstance(value, (int, float)):
            return float(value)
        elif isinstance(value, self.kind) and not isinstance(value, bool):
            return value
        raise ValueError(f"config flag {self.name} must be {self._wanted()}, got {value!r}.")

    def parse(self, text: str, source: str) -> Any:
        """The value that `text`, from the environment or the command line, stands for.

        Raises:
          ValueError: it stands for none; the message names `source`.
        """
        try:
            if self.kind is bool:
                return _TRUTH[text.strip().lower()]
            return self.check(self.kind(text) if self.kind in (int, float) else text)
        except (ValueError, KeyError):
            raise ValueError(f"{source}={text!r}: config flag {self.name} must be {self._wanted()}.") from None

    def _wanted(self) -> str:
        wanted = f"one of {list(self.choices)}" if self.choices else f"of type {self.kind.__name__}"
        return f"None or {wanted}" if self.optional else wanted

    def get_global(self) -> Any:
        """The process-wide value, whatever this thread overrides it with."""
        return self.global_value

    def set_global(self, value: object) -> None:
        """Set the process-wide value. Overrides of threads stay in force."""
        value = self.check(value)
        if self._objections and value != self.global_value:
            for objection in self._objections:
                objection()
        with _lock:
            self.global_value = value
            _forget_keys()
        for callback in self._callbacks:
            callback(value, False)

    def __call__(self, new_val: object = _MISSING) -> Override:
        """Context manager (and decorator): this flag has the value `new_val` in this thread.

        For a boolean flag `new_val` may be left out and means `True`.
        """
        if new_val is _MISSING:
            if self.kind is not bool:
                raise TypeError(f"the context manager of config flag {self.name} needs the new value:"
                                f" with {self.name.removeprefix('jax_')}(value): ...")
            new_val = True
        if new_val is None and not self.optional and not self._enum:
            new_val = self.global_value
        return Override(self, self.check(new_val))

    def set_for_thread(self, value: object) -> None:
        """Set the value in this thread, until it is set again; None takes it back to the process-wide value."""
        self._set_override(_MISSING if value is None else value)

    def _set_override(self, value: Any) -> Any:
        """Install an override in this thread (`_MISSING`: remove it); return what it replaces."""
        global _overrides_in_force
        overrides = _thread.overrides
        previous = overrides.get(self, _MISSING)
        with _lock:
            _overrides_in_force += (value is not _MISSING) - (previous is not _MISSING)
        if value is _MISSING:
            overrides.pop(self, None)
        else:
            overrides[self] = value
        if self.affects_tracing:
            _thread.version = -1
        for callback in self._callbacks:
            callback(None if value is _MISSING else value, True)
        return previous


class _Docstrings:
    """The docstring of the class `State`, and of each flag its own."""

    def __init__(self, of_class: str | None):
        self.of_class = of_class

    def __get__(self, flag: State | None, owner: type) -> str | None:
        if flag is None:
            return self.of_class
        values = f" One of {', '.join(map(repr, flag.choices))}." if flag.choices else ""
        default = str(flag.default) if isinstance(flag.default, str) else flag.default  # of an enumeration, its text
        return (f"{flag.help}{values} Default: {default!r}.\n\n"
                f"Called with a value it is a context manager, and a decorator, under which the flag `{flag.name}` has that value in this thread. "
                f"`jax.config.update({flag.name!r}, value)` sets it for the process, the environment variable {flag.name.upper()} from the start."
                + (_EXAMPLE.format(flag.name.removeprefix("jax_"), flag.name, default) if isinstance(default, bool | int | float | str | None) else ""))


_EXAMPLE = """

>>> with jax.{0}({2!r}):
...     print(jax.config.{1})
{2}"""

State.__doc__ = _Docstrings(State.__doc__)  # type: ignore[assignment]  # `help(jax.enable_x64)` speaks of that flag

_TRUTH = {**dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
          **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False)}


class Override(ContextDecorator):
    """A flag's value for one thread and one block of code; may be entered again, also within itself."""

    __slots__ = ("_state", "_value", "_previous")

    def __init__(self, state: State, value: Any):
        self._state = state
        self._value = value
        self._previous: list[Any] = []

    def __enter__(self) -> None:
        self._previous.append(self._state._set_override(self._value))

    def __exit__(self, *exc_info: object) -> None:
        self._state._set_override(self._previous.pop())

    def _recreate_cm(self) -> Override:
        return Override(self._state, self._value)  # a decorated function may run in many threads at once


def overrides() -> tuple[Override, ...]:
    """What this thread has overridden, for a thread that works for it to enter."""
    return tuple(Override(state, value) for state, value in _thread.overrides.items()) if _overrides_in_force else ()


class TraceKey:
    """The values of all flags that affect tracing. Equal values give the same object."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]):
        self.values = values

    def differences(self, other: TraceKey) -> dict[str, tuple[Any, Any]]:
        """Flags that differ: name to (value here, value in `other`)."""
        return {state.name: (mine, theirs)
                for state, mine, theirs in zip(_tracing_states, self.values, other.values) if mine != theirs}

    def __repr__(self) -> str:
        return f"TraceKey({', '.join(f'{s.name}={v!r}' for s, v in zip(_tracing_states, self.values))})"


_states: dict[str, State] = {}
_tracing_states: list[State] = []
_keys: dict[tuple[Any, ...], TraceKey] = {}
_keys_under: dict[tuple, TraceKey] = {}  # by the count of process-wide changes, and what a thread sets


def trace_key() -> TraceKey:
    """The flags that affect tracing, as one object compared by identity; for cache keys."""
    key = _global_key
    return _thread_key() if key is None or _overrides_in_force else key


def _thread_key() -> TraceKey:
    """The trace key of this thread, which may have overrides."""
    global _global_key
    thread = _thread
    if thread.overrides:
        if thread.version != _version:
            version = _version
            thread.key = _key_under(version, thread.overrides)
            thread.version = version
        return thread.key  # type: ignore[return-value]
    with _lock:
        key = _global_key
        if key is None:
            key = _global_key = _interned_key([state.global_value for state in _tracing_states])
        return key


def _key_under(version: int, overrides: dict[State, Any]) -> TraceKey:
    """The trace key where these flags are set in a thread. It is kept, as blocks (`with mesh:`) are entered over and over, and there are many flags."""
    tracing = tuple([item for item in overrides.items() if item[0].affects_tracing])
    found = _keys_under.get((version, tracing))
    if found is None:
        found = _keys_under[version, tracing] = _interned_key([overrides.get(state, state.global_value) for state in _tracing_states])
    return found


def _interned_key(values: list[Any]) -> TraceKey:
    return _keys.setdefault(tuple(values), TraceKey(tuple(values)))


def _forget_keys() -> None:
    """Have all trace keys made anew, after a process-wide change."""
    global _version, _global_key
    _version += 1
    _global_key = None
    _keys_under.clear()


def on_change(name: str | State, callback: Callable[[Any, bool], None]) -> None:
    """Have `callback(value, thread_local)` called now and whenever the flag changes.

    Args:
      name: of the flag, or the flag.
      callback: called at once with the process-wide value and `False`, and with this thread's
        override and `True` if one is in force; then after each
        `update` likewise; and with `thread_local=True`, in the thread concerned, when a
        context manager sets an override, or ends (then with the enclosing override, or
        `None` if there is none).
    """
    state = name if isinstance(name, State) else _state(name)
    state._callbacks.append(callback)
    callback(state.global_value, False)
    if _overrides_in_force and state in _thread.overrides:  # registered inside a context manager
        callback(_thread.overrides[state], True)


def before_change(name: str, objection: Callable[[], None]) -> None:
    """Have ``objection()`` called before the process-wide value of the flag becomes another; it may raise."""
    _state(name)._objections.append(objection)


def find(name: str) -> State | None:
    """The flag of that name, if there is one."""
    return _states.get(name)


def _state(name: str) -> State:
    try:
        return _states[name]
    except KeyError:
        import difflib  # start-up: only on the way to an error
        near = difflib.get_close_matches(name, _states, 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise AttributeError(f"Unrecognized config option: {name}{hint}") from None


class Config:
    """The flags as one object: `jax.config`. Each flag is readable as an attribute."""

    __name__ = "jax.config"  # whoever walks `sys.modules` finds the object there, and asks
    use_absl = False

    @property
    def config(self) -> "Config":
        """The object itself: ``from jax.config import config`` finds it where a module would be."""
        return self

    def update(self, name: str, val: object) -> None:
        """Set a flag for the whole process.

        Raises:
          AttributeError: there is no flag of that name.
          ValueError: the flag cannot have that value.
        """
        _state(name).set_global(val)

    def read(self, name: str) -> Any:
        """The value of a flag in this thread."""
        return _state(name).value

    _read = read  # libraries read flags under this name

    @property
    def values(self) -> dict[str, Any]:
        """Every flag's value in this thread; contexts of users are no flags."""
        return {name: state.value for name, state in _states.items() if not name.startswith(_USER_CONTEXT)}

    @property
    def meta(self) -> dict[str, tuple[type, list[Any], dict[str, Any]]]:
        """Type, positional and keyword arguments that describe each flag to a command-line parser."""
        return {name: (state.kind, [], {"help": state.help}) for name, state in _states.items()}

    @property
    def x64_enabled(self) -> bool:
        """The older name of `jax_enable_x64`."""
        return _state("jax_enable_x64").value

    def __getattr__(self, name: str) -> Any:
        state = _states.get(name)
        if state is None:
            raise AttributeError(f"config has no flag {name!r}")
        return state.value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _states:
            raise AttributeError(f"set config flags with config.update({name!r}, {value!r}).")
        object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_states]

    def trace_key(self) -> TraceKey:
        """See the function of this name."""
        return trace_key()

    def on_change(self, name: str, callback: Callable[[Any, bool], None]) -> None:
        """See the function of this name."""
        on_change(name, callback)

    def add_option(self, name: str, holder: object, opt_type: type, meta_args: list[Any],
                   meta_kwargs: dict[str, Any]) -> None:
        """Add a flag of one's own; `holder` is its default value, or an object with one as `.value`."""
        del meta_args
        define(State(name, opt_type, getattr(holder, "value", holder), meta_kwargs.get("help", ""), optional=True))

    def parse_flags_with_absl(self) -> None:
        """Take `--jax_name=value`, `--jax_name` and `--nojax_name` from `sys.argv`, up to `--`.

        Where absl is installed its parser learns the flags too, so that `absl.app.run`
        accepts them, and values it is given later are taken over. Until then flags of others can be read, and have their defaults.

        Raises:
          ValueError: a flag cannot have the value given.
        """
        for state, value in _command_line_values(sys.argv[1:]):
            state.set_global(value)
        if not self.use_absl:
            self.config_with_absl()
        if self.use_absl:
            from absl import flags  # an optional dependency, and slow to import
            flags.FLAGS.mark_as_parsed()

    def config_with_absl(self) -> None:
        """Define the flags for absl's command-line parser; does nothing where absl is not installed."""
        try:
            from absl import app, flags  # an optional dependency, and slow to import
        except ImportError:
            return
        self.use_absl = True
        for state in _states.values():
            _define_absl_flag(flags, state)
        app.call_after_init(lambda: self.complete_absl_config(flags))

    def complete_absl_config(self, absl_flags: Any) -> None:
        """Take over the flags that absl found on the command line."""
        for name, state in _states.items():
            flag = absl_flags.FLAGS[name] if name in absl_flags.FLAGS else None
            if flag is not None and flag.present:
                state.set_global(flag.value)


def _command_line_values(arguments: Sequence[str]) -> Iterator[tuple[State, Any]]:
    """The flags given in `arguments`, with their values, up to the first `--`."""
    pending: State | None = None
    for argument in arguments:
        if argument == "--":
            return
        if pending is not None:
            yield pending, pending.parse(argument, f"--{pending.name}")
            pending = None
            continue
        if not argument.startswith("-"):
            continue
        name, has_value, text = argument.lstrip("-").partition("=")
        negated = _states.get(name.removeprefix("no"))
        if (state := _states.get(name)) is not None:
            if has_value:
                yield state, state.parse(text, f"--{name}")
            elif state.kind is bool:
                yield state, True
            else:
                pending = state
        elif negated is not None and negated.kind is bool:
            yield negated, False


def _define_absl_flag(flags: Any, state: State) -> None:
    if state.name in flags.FLAGS:
        return
    value = state.global_value
    if state.choices is not None:
        flags.DEFINE_enum(state.name, value, list(state.choices), state.help)
    else:
        define = {bool: flags.DEFINE_bool, int: flags.DEFINE_integer, float: flags.DEFINE_float,
                  str: flags.DEFINE_string}.get(state.kind)
        if define is not None:
            define(state.name, value, state.help)


def define(state: State, *, named: bool = True) -> State:
    """Enter a flag of any kind; one that is not ``named`` is for `Override` only, and users do not see it."""
    if named:
        _states[state.name] = state
    if state.affects_tracing:
        _tracing_states.append(state)
        _forget_keys()
        if tracing_flag.value is not None:
            tracing_flag.value(state)
    return state


def _tell_of_all(tell: Callable[[State], None]) -> None:
    for state in _tracing_states:
        tell(state)


tracing_flag.when_filled(_tell_of_all)


class UserContext:
    """Makes context managers that set a value which programs depend on; see `make_user_context`."""

    __slots__ = ("_state",)

    def __init__(self, state: State):
        self._state = state

    @property
    def value(self) -> Any:
        """The value in force in this thread."""
        return self._state.value

    def get_global(self) -> Any:
        """The process-wide value, whatever this thread overrides it with."""
        return self._state.get_global()

    def set_global(self, new_value: object) -> None:
        """Set the process-wide value. Overrides of threads stay in force."""
        self._state.set_global(new_value)

    def __call__(self, new_value: object) -> Override:
        """``with context(value):`` sets the value for this thread and block of code."""
        return self._state(new_value)

    def __repr__(self) -> str:
        return f"UserContext(value={self.value!r})"


_USER_CONTEXT = "jax_user_context_"
_user_contexts = itertools.count()


def make_user_context(default_value: object = None) -> UserContext:
    """A context whose value is part of the key of every traced program: under another value `jit` traces again.

    ``ctx = make_user_context(0)``, then ``with ctx(1): f(x)``; ``ctx.value`` is the value in force.

    Raises:
      TypeError: the value, or a later one, cannot be hashed.

    >>> scale = jax.make_user_context(1.0)
    >>> f = jax.jit(lambda x: x * scale.value)
    >>> y = f(2.0)
    >>> with scale(10.0):
    ...     z = f(2.0)
    >>> float(y), float(z)
    (2.0, 20.0)
    """
    state = define(State(f"{_USER_CONTEXT}{next(_user_contexts)}", object, default_value, "A user's context.",
                         optional=True, affects_tracing=True))
    return UserContext(state)


def define_bool(name: str, default: bool | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a boolean flag; a default of `None` makes `None` ("not decided") a value."""
    return define(State(name, bool, default, help, affects_tracing=affects_tracing))


def define_int(name: str, default: int | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define an integer flag."""
    return define(State(name, int, default, help, affects_tracing=affects_tracing))


def define_float(name: str, default: float | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a floating-point flag."""
    return define(State(name, float, default, help, affects_tracing=affects_tracing))


def define_string(name: str, default: str | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a string flag."""
    return define(State(name, str, default, help, affects_tracing=affects_tracing))


def define_enum(name: str, choices: Sequence[str] | type[enum.StrEnum], default: str | None, help: str, *,
                optional: bool = False, affects_tracing: bool = False) -> State:
    """Define a flag with a fixed set of strings as values, or the members of a `StrEnum`."""
    return define(State(name, str, default, help, optional=optional, choices=choices,
                         affects_tracing=affects_tracing))
