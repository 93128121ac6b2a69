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

All flags of the reference exist, so that programs which set them run. Those that mean
nothing here are listed by themselves at the end and are stored, not obeyed.
"""

from __future__ import annotations

import enum
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator, ExitStack, contextmanager
from typing import Any

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
    """

    __slots__ = ("name", "kind", "default", "optional", "choices", "affects_tracing", "help",
                 "global_value", "_enum", "_callbacks")

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

    def check(self, value: Any) -> Any:
        """Return `value` in the form it is stored in.

        Raises:
          ValueError: the flag cannot have this value.
        """
        if value is None and self.optional:
            return None
        if self.choices is not None:
            if isinstance(value, str) and str(value) in self.choices:
                return self._enum(value) if self._enum else str(value)
        elif self.kind is object:
            return value
        elif self.kind is bool:
            if type(value) is bool:
                return value
            if isinstance(value, str):
                return self.parse(value, "value")
            if isinstance(value, int) or type(value).__name__ in ("bool", "bool_"):  # numpy's, without importing it
                return bool(value)
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

    def set_global(self, value: Any) -> None:
        """Set the process-wide value. Overrides of threads stay in force."""
        value = self.check(value)
        with _lock:
            self.global_value = value
            _forget_keys()
        for callback in self._callbacks:
            callback(value, False)

    def __call__(self, new_val: Any = _MISSING) -> Override:
        """Context manager (and decorator): this flag has the value `new_val` in this thread.

        For a boolean flag `new_val` may be left out and means `True`.
        """
        if new_val is _MISSING:
            if self.kind is not bool:
                raise TypeError(f"the context manager of config flag {self.name} needs the new value:"
                                f" with {self.name.removeprefix('jax_')}(value): ...")
            new_val = True
        if new_val is None and not self.optional:
            new_val = self.global_value
        return Override(self, self.check(new_val))

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
            thread.key = _interned_key([state.value for state in _tracing_states])
            thread.version = version
        return thread.key  # type: ignore[return-value]
    with _lock:
        key = _global_key
        if key is None:
            key = _global_key = _interned_key([state.global_value for state in _tracing_states])
        return key


def _interned_key(values: list[Any]) -> TraceKey:
    return _keys.setdefault(tuple(values), TraceKey(tuple(values)))


def _forget_keys() -> None:
    """Have all trace keys made anew, after a process-wide change."""
    global _version, _global_key
    _version += 1
    _global_key = None


def on_change(name: str, callback: Callable[[Any, bool], None]) -> None:
    """Have `callback(value, thread_local)` called now and whenever the flag changes.

    Args:
      name: of the flag.
      callback: called at once with the process-wide value and `False`, and with this thread's
        override and `True` if one is in force; then after each
        `update` likewise; and with `thread_local=True`, in the thread concerned, when a
        context manager sets an override, or ends (then with the enclosing override, or
        `None` if there is none).
    """
    state = _state(name)
    state._callbacks.append(callback)
    callback(state.global_value, False)
    if _overrides_in_force and state in _thread.overrides:  # registered inside a context manager
        callback(_thread.overrides[state], True)


def _state(name: str) -> State:
    try:
        return _states[name]
    except KeyError:
        import difflib  # only on the way to an error
        near = difflib.get_close_matches(name, _states, 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise AttributeError(f"Unrecognized config option: {name}{hint}") from None


class Config:
    """The flags as one object: `jax.config`. Each flag is readable as an attribute."""

    use_absl = False

    @property
    def config(self) -> "Config":
        """The object itself: ``from jax.config import config`` finds it where a module would be."""
        return self

    def update(self, name: str, val: Any) -> None:
        """Set a flag for the whole process.

        Raises:
          AttributeError: there is no flag of that name.
          ValueError: the flag cannot have that value.
        """
        _state(name).set_global(val)

    def read(self, name: str) -> Any:
        """The value of a flag in this thread."""
        return _state(name).value

    @property
    def values(self) -> dict[str, Any]:
        """Every flag's value in this thread."""
        return {name: state.value for name, state in _states.items()}

    @property
    def meta(self) -> dict[str, tuple[type, list[Any], dict[str, Any]]]:
        """Type, positional and keyword arguments that describe each flag to a command-line parser."""
        return {name: (state.kind, [], {"help": state.help}) for name, state in _states.items()}

    @property
    def x64_enabled(self) -> bool:
        """The older name of `jax_enable_x64`."""
        return enable_x64.value

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

    def add_option(self, name: str, holder: Any, opt_type: type, meta_args: list[Any],
                   meta_kwargs: dict[str, Any]) -> None:
        """Add a flag of one's own; `holder` is its default value, or an object with one as `.value`."""
        del meta_args
        _define(State(name, opt_type, getattr(holder, "value", holder), meta_kwargs.get("help", ""), optional=True))

    def parse_flags_with_absl(self) -> None:
        """Take `--jax_name=value`, `--jax_name` and `--nojax_name` from `sys.argv`, up to `--`.

        Where absl is installed its parser learns the flags too, so that `absl.app.run`
        accepts them, and values it is given later are taken over.

        Raises:
          ValueError: a flag cannot have the value given.
        """
        for state, value in _command_line_values(sys.argv[1:]):
            state.set_global(value)
        if not self.use_absl:
            self.config_with_absl()

    def config_with_absl(self) -> None:
        """Define the flags for absl's command-line parser; does nothing where absl is not installed."""
        try:
            from absl import app, flags  # optional, and slow to import
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


config = Config()
update = config.update
read = config.read


def _define(state: State) -> State:
    _states[state.name] = state
    if state.affects_tracing:
        _tracing_states.append(state)
        _forget_keys()
    return state


class UserContext:
    """Makes context managers that set a value which programs depend on; see `make_user_context`."""

    __slots__ = ("_state",)

    def __init__(self, state: State):
        self._state = state

    @property
    def value(self) -> Any:
        """The value in force in this thread."""
        return self._state.value

    def __call__(self, new_value: Any) -> Override:
        """``with context(value):`` sets the value for this thread and block of code."""
        return Override(self._state, new_value)

    def __repr__(self) -> str:
        return f"UserContext(value={self.value!r})"


_user_contexts = itertools.count()
_new_state_listeners: list[Callable[[State], None]] = []


def on_new_tracing_state(listener: Callable[[State], None]) -> None:
    """Call ``listener(state)`` for each flag that affects tracing and is defined from now on."""
    _new_state_listeners.append(listener)


def make_user_context(default_value: Any = None) -> UserContext:
    """A context whose value is part of the key of every traced program: under another value `jit` traces again.

    ``ctx = make_user_context(0)``, then ``with ctx(1): f(x)``; ``ctx.value`` is the value in force. Values are hashable.
    """
    state = _define(State(f"jax_user_context_{next(_user_contexts)}", object, default_value, "A user's context.",
                          optional=True, affects_tracing=True))
    for listener in _new_state_listeners:
        listener(state)
    return UserContext(state)


def define_bool(name: str, default: bool | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a boolean flag; a default of `None` makes `None` ("not decided") a value."""
    return _define(State(name, bool, default, help, affects_tracing=affects_tracing))


def define_int(name: str, default: int | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define an integer flag."""
    return _define(State(name, int, default, help, affects_tracing=affects_tracing))


def define_float(name: str, default: float | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a floating-point flag."""
    return _define(State(name, float, default, help, affects_tracing=affects_tracing))


def define_string(name: str, default: str | None, help: str, *, affects_tracing: bool = False) -> State:
    """Define a string flag."""
    return _define(State(name, str, default, help, affects_tracing=affects_tracing))


def define_enum(name: str, choices: Sequence[str] | type[enum.StrEnum], default: str | None, help: str, *,
                optional: bool = False, affects_tracing: bool = False) -> State:
    """Define a flag with a fixed set of strings as values, or the members of a `StrEnum`."""
    return _define(State(name, str, default, help, optional=optional, choices=choices,
                         affects_tracing=affects_tracing))


# --- types -----------------------------------------------------------------------------
class NumpyDtypePromotion(enum.StrEnum):
    """How dtypes of different kinds combine."""

    STANDARD = "standard"
    STRICT = "strict"


class ExplicitX64Mode(enum.StrEnum):
    """What happens when a 64-bit dtype is asked for while x64 is off."""

    WARN = "warn"
    ERROR = "error"
    ALLOW = "allow"


class LegacyPrngKeyState(enum.StrEnum):
    """What happens when raw `uint32` keys are used."""

    ALLOW = "allow"
    WARN = "warn"
    ERROR = "error"


class RuntimeTracebackMode(enum.StrEnum):
    """How much of the Python traceback the runtime is given."""

    OFF = "off"
    ON = "on"
    FULL = "full"


enable_x64 = define_bool("jax_enable_x64", False, "Keep 64-bit dtypes; otherwise they become 32-bit.",
                         affects_tracing=True)
explicit_x64_dtypes = define_enum("jax_explicit_x64_dtypes", ExplicitX64Mode, "warn",
                                  "What an explicit 64-bit dtype does while x64 is off.", affects_tracing=True)
numpy_dtype_promotion = define_enum("jax_numpy_dtype_promotion", NumpyDtypePromotion, "standard",
                                    "Promotion of mixed dtypes: standard, or strict (an error).",
                                    affects_tracing=True)
numpy_rank_promotion = define_enum("jax_numpy_rank_promotion", ("allow", "warn", "raise"), "allow",
                                   "What broadcasting operands of different rank does.", affects_tracing=True)
default_matmul_precision = define_enum(
    "jax_default_matmul_precision",
    ("default", "high", "highest", "bfloat16", "tensorfloat32", "float32", "ANY_F8_ANY_F8_F32",
     "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16",
     "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6",
     "BF16_BF16_F32_X9", "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
    None, "Precision of matrix products and convolutions that name none.", affects_tracing=True)

# --- random ----------------------------------------------------------------------------
default_prng_impl = define_enum(
    "jax_default_prng_impl", ("threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32"),
    "threefry2x32", "Generator of keys made without naming one.", affects_tracing=True)
# Off, unlike current releases of the reference: the specification's values are those of this layout.
threefry_partitionable = define_bool("jax_threefry_partitionable", False,
                                     "Give Threefry the layout whose values are those of current JAX releases.",
                                     affects_tracing=True)
enable_custom_prng = define_bool("jax_enable_custom_prng", False, "`jax.random.PRNGKey` makes typed keys.",
                                 affects_tracing=True)
legacy_prng_key = define_enum("jax_legacy_prng_key", LegacyPrngKeyState, "allow",
                              "What the use of raw uint32 keys does.", affects_tracing=True)
debug_key_reuse = define_bool("jax_debug_key_reuse", False, "Raise an error when a typed key is consumed twice.",
                              affects_tracing=True)
random_seed_offset = define_int("jax_random_seed_offset", 0, "Added to every seed.", affects_tracing=True)
high_dynamic_range_gumbel = define_bool("jax_high_dynamic_range_gumbel", False,
                                        "Gumbel samples reach further into the tails.", affects_tracing=True)

# --- debugging -------------------------------------------------------------------------
debug_nans = define_bool("jax_debug_nans", False, "Raise an error where a NaN is produced.", affects_tracing=True)
debug_infs = define_bool("jax_debug_infs", False, "Raise an error where an infinity is produced.",
                         affects_tracing=True)
disable_jit = define_bool("jax_disable_jit", False, "Run `jit` functions and control flow operation by operation.")
check_tracer_leaks = define_bool("jax_check_tracer_leaks", False,
                                 "Raise an error when a tracer outlives its transformation.")
enable_checks = define_bool("jax_enable_checks", False, "Type-check every jaxpr that a transformation makes.")
log_compiles = define_bool("jax_log_compiles", False, "Log each trace and each compilation.")
explain_cache_misses = define_bool("jax_explain_cache_misses", False, "Log why a function is traced again.")
no_tracing = define_bool("jax_no_tracing", False, "Raise an error when anything is traced for `jit`.")
no_execution = define_bool("jax_no_execution", False, "Raise an error when anything is executed.")
thread_guard = define_bool("jax_thread_guard", False,
                           "Raise an error when a second thread runs multi-process operations.")
traceback_filtering = define_enum(
    "jax_traceback_filtering", ("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"), "auto",
    "How frames of the library are kept out of tracebacks.")
log_checkpoint_residuals = define_bool("jax_log_checkpoint_residuals", False,
                                       "Log what each `jax.checkpoint` saves.")
logging_level = define_enum("jax_logging_level", ("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
                            "NOTSET", "Level of the library's loggers.", optional=True)
debug_log_modules = define_string("jax_debug_log_modules", "", "Comma-separated modules that log at DEBUG level.")
pprint_use_color = define_bool("jax_pprint_use_color", True, "Colour printed jaxprs on terminals.")
dump_ir_to = define_string("jax_dump_ir_to", "", "Directory to write each lowered module to.")
dump_ir_modes = define_string("jax_dump_ir_modes", "stablehlo", "What to write there: stablehlo, jaxpr.")
include_debug_info_in_dumps = define_bool("jax_include_debug_info_in_dumps", True,
                                          "Write source locations into dumped modules.")
include_full_tracebacks_in_locations = define_bool(
    "jax_include_full_tracebacks_in_locations", True, "Source locations carry the whole call stack.")
traceback_in_locations_limit = define_int("jax_traceback_in_locations_limit", 100,
                                          "Frames kept in a source location; -1 for all.")
tracer_error_num_traceback_frames = define_int("jax_tracer_error_num_traceback_frames", 5,
                                               "Frames shown of the line that made a leaked tracer.")
hlo_source_file_canonicalization_regex = define_string(
    "jax_hlo_source_file_canonicalization_regex", None, "Matches of this are cut from file names in locations.")
source_url_schema = define_string("jax_source_url_schema", None, "Scheme of links to source files.")
error_checking_nan = define_enum("jax_error_checking_behavior_nan", ("ignore", "raise"), "ignore",
                                 "What a NaN does under `jax.experimental` error checking.", affects_tracing=True)
error_checking_divide = define_enum("jax_error_checking_behavior_divide", ("ignore", "raise"), "ignore",
                                    "What a division by zero does there.", affects_tracing=True)
error_checking_oob = define_enum("jax_error_checking_behavior_oob", ("ignore", "raise"), "ignore",
                                 "What an index out of bounds does there.", affects_tracing=True)
check_static_indices = define_bool("jax_check_static_indices", False,
                                   "Raise an error for constant indices that are out of bounds.",
                                   affects_tracing=True)
mutable_array_checks = define_bool("jax_mutable_array_checks", True, "Raise an error for aliased refs.",
                                   affects_tracing=True)
array_garbage_collection_guard = define_enum(
    "jax_array_garbage_collection_guard", ("allow", "log", "fatal"), None,
    "What it means that an array is freed by the cycle collector.", optional=True)

# --- tracing and lowering ----------------------------------------------------------------
# ours: the planning pass that decides which values a fused loop nest materialises
fusion_planner = define_enum("jax_fusion_planner", ("on", "off"), "on",
                             "Plan which intermediate values are materialised.", affects_tracing=True)
# ours: see docs/compile-time.md
quick_compile = define_bool("jax_quick_compile", True, "Programs whose runs take no longer for it are compiled the quick way (CPU).")
tiered_compilation = define_bool("jax_tiered_compilation", False,
                                 "The first calls of a program run code that compiles fast, later ones the full code (CPU).")
softmax_custom_jvp = define_bool("jax_softmax_custom_jvp", False, "Differentiate softmax by its own rule.",
                                 affects_tracing=True)
use_direct_linearize = define_bool("jax_use_direct_linearize", True, "Linearize without a JVP first.",
                                   affects_tracing=True)
eager_constant_folding = define_bool("eager_constant_folding", False,
                                     "Operations of constants run while tracing.", affects_tracing=True)
allow_f16_reductions = define_bool("jax_allow_f16_reductions", True,
                                   "float16 reductions may stay in float16.", affects_tracing=True)
accurate_erf_inv = define_bool("jax_accurate_erf_inv", False, "Use the slower, more exact `erf_inv`.",
                               affects_tracing=True)
check_vma = define_bool("check_vma", False, "Check which mesh axes a value varies over.", affects_tracing=True)
auto_pcast = define_bool("jax_auto_pcast", True, "Insert casts between varying and invariant values.",
                         affects_tracing=True)
remove_size_one_mesh_axis_from_type = define_bool(
    "jax_remove_size_one_mesh_axis_from_type", False, "Leave mesh axes of size one out of types.",
    affects_tracing=True)
use_shardy_partitioner = define_bool("jax_use_shardy_partitioner", True, "Partition with Shardy.",
                                     affects_tracing=True)
compiler_enable_remat_pass = define_bool("jax_compiler_enable_remat_pass", True,
                                         "Let the compiler rematerialise values to save memory.")
optimization_level = define_enum("jax_optimization_level", ("UNKNOWN", "O0", "O1", "O2", "O3"), "UNKNOWN",
                                 "Optimisation level of the compiler; UNKNOWN leaves its own.")
memory_fitting_level = define_enum("jax_memory_fitting_level", ("UNKNOWN", "O0", "O1", "O2", "O3"), "O2",
                                   "Effort of the compiler to fit into memory.")
disable_most_optimizations = define_bool("jax_disable_most_optimizations", False,
                                         "Compile fast, run slowly; for tests.")
use_magma = define_enum("jax_use_magma", ("off", "on", "auto"), "auto",
                        "Whether `eig` on GPU may call MAGMA.", affects_tracing=True)
captured_constants_warn_bytes = define_int("jax_captured_constants_warn_bytes", 2_000_000_000,
                                           "Warn when constants captured by a program exceed this size; -1: never.")
captured_constants_report_frames = define_int("jax_captured_constants_report_frames", 0,
                                              "Frames shown for each captured constant.")
embedded_constants_max_bytes = define_int("jax_embedded_constants_max_bytes", 32,
                                          "Constants up to this size are written into the module.")

# --- devices, transfers, processes ---------------------------------------------------------
default_device = _define(State("jax_default_device", object, None, "Device (or platform name) of new arrays."))
platforms = define_string("jax_platforms", None, "Comma-separated platforms to start, in order of preference.")
platform_name = define_string("jax_platform_name", "", "Older form of jax_platforms: one platform.")
xla_backend = define_string("jax_xla_backend", "", "Older name of the runtime; ignored.")
backend_target = define_string("jax_backend_target", "", "Address of a remote backend.")
num_cpu_devices = define_int("jax_num_cpu_devices", -1, "Number of CPU devices to make; -1 asks XLA_FLAGS.")
cpu_enable_async_dispatch = define_bool("jax_cpu_enable_async_dispatch", True,
                                        "CPU computations may run after the call returns.")
cpu_collectives_implementation = define_enum("jax_cpu_collectives_implementation", ("gloo", "mpi", "megascale"),
                                             "gloo", "Collectives between CPU processes.", optional=True)
cpu_get_local_topology_timeout_minutes = define_int(
    "jax_cpu_get_local_topology_timeout_minutes", 2, "Wait for the devices of this process.")
cpu_get_global_topology_timeout_minutes = define_int(
    "jax_cpu_get_global_topology_timeout_minutes", 5, "Wait for the devices of the other processes.")
cuda_visible_devices = define_string("jax_cuda_visible_devices", "all", "CUDA devices to use, as 0,1.")
rocm_visible_devices = define_string("jax_rocm_visible_devices", "all", "ROCm devices to use.")
oneapi_visible_devices = define_string("jax_oneapi_visible_devices", "all", "oneAPI devices to use.")
pjrt_client_create_options = define_string("jax_pjrt_client_create_options", None,
                                           "Options of the PJRT client, as name:value;name:value.")
_GUARD_LEVELS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
transfer_guard_host_to_device = define_enum("jax_transfer_guard_host_to_device", _GUARD_LEVELS, None,
                                            "What a transfer from the host does.", optional=True)
transfer_guard_device_to_device = define_enum("jax_transfer_guard_device_to_device", _GUARD_LEVELS, None,
                                              "What a transfer between devices does.", optional=True)
transfer_guard_device_to_host = define_enum("jax_transfer_guard_device_to_host", _GUARD_LEVELS, None,
                                            "What a transfer to the host does.", optional=True)
transfer_guard_all = define_enum("jax_transfer_guard", _GUARD_LEVELS, None,
                                 "What any transfer does; sets the three flags of this kind.", optional=True)
_transfer_guards = (transfer_guard_host_to_device, transfer_guard_device_to_device, transfer_guard_device_to_host)


def _set_all_transfer_guards(value: Any, thread_local: bool) -> None:
    """`update("jax_transfer_guard", ...)` sets the three directions, as does its environment variable."""
    if not thread_local and value is not None:
        for state in _transfer_guards:
            state.set_global(value)


on_change("jax_transfer_guard", _set_all_transfer_guards)

# --- caches ----------------------------------------------------------------------------
enable_compilation_cache = define_bool("jax_enable_compilation_cache", True,
                                       "Keep compiled programs on disk for later processes.")
compilation_cache_dir = define_string("jax_compilation_cache_dir", None, "Directory of the compilation cache.")
compilation_cache_max_size = define_int("jax_compilation_cache_max_size", -1,
                                        "Bytes the cache may take, oldest leave first; -1: no limit.")
compilation_cache_include_metadata_in_key = define_bool(
    "jax_compilation_cache_include_metadata_in_key", False, "Source locations are part of the cache key.")
compilation_cache_check_contents = define_bool("jax_compilation_cache_check_contents", False,
                                               "Compile anyway and compare with the cached program.")
persistent_cache_min_compile_time_secs = define_float(
    "jax_persistent_cache_min_compile_time_secs", 0.0, "Programs that compile faster are not kept.")
persistent_cache_min_entry_size_bytes = define_int(
    "jax_persistent_cache_min_entry_size_bytes", 0, "Smaller programs are not kept.")
persistent_cache_enable_xla_caches = define_string(
    "jax_persistent_cache_enable_xla_caches", "xla_gpu_per_fusion_autotune_cache_dir",
    "XLA's own caches to keep in the same directory: all, none, or names.")
raise_persistent_cache_errors = define_bool("jax_raise_persistent_cache_errors", False,
                                            "Errors of the cache are raised, not warned of.")

# --- accepted, without effect ------------------------------------------------------------
# Programs set these; nothing here reads them. One that gains a meaning moves up, with its help text.
_WITHOUT_EFFECT: dict[str, bool | int | float | str | None] = {
    "jax2tf_default_native_serialization": True,
    "jax_bcoo_cusparse_lowering": False,
    "jax_check_proxy_envs": True,
    "jax_compilation_cache_expect_pgle": False,
    "jax_compiler_detailed_logging_min_ops": 10,
    "jax_cross_host_transfer_socket_address": "",
    "jax_cross_host_transport_addresses": "",
    "jax_custom_jvp3": False,
    "jax_custom_vjp3": False,
    "jax_debug_leaked_clients_on_clear_backends": False,
    "jax_disable_bwd_checks": False,
    "jax_disable_vmap_shmap_error": False,
    "jax_disallow_mesh_context_manager": False,
    "jax_distributed_debug": False,
    "jax_distributed_verify_secure_credentials": False,
    "jax_enable_pgle": False,
    "jax_enable_preemption_service": True,
    "jax_enable_recoverability": False,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_experimental_unsafe_xla_runtime_errors": False,
    "jax_export_calling_convention_version": 10,
    "jax_export_deserialize_expired_versions": False,
    "jax_export_ignore_forward_compatibility": False,
    "jax_force_dcn_cross_host_transfers": False,
    "jax_memory_fitting_effort": 0.0,
    "jax_mock_gpu_topology": "",
    "jax_mosaic_allow_hlo": False,
    "jax_mosaic_unzip_debug_locations": True,
    "jax_mtls_ca_file": None,
    "jax_mtls_cert_file": None,
    "jax_mtls_key_file": None,
    "jax_mtls_peer_uri_prefix": None,
    "jax_pallas_auto_assign_collective_ids": "no",
    "jax_pallas_auto_assign_collective_ids_limit": 25,
    "jax_pallas_enable_debug_checks": False,
    "jax_pallas_poison_buffers": False,
    "jax_pallas_use_mosaic_gpu": True,
    "jax_pallas_verbose_errors": False,
    "jax_pgle_aggregation_percentile": 90,
    "jax_pgle_profiling_runs": 3,
    "jax_ragged_dot_use_gpu_pallas_triton_lowering": False,
    "jax_ragged_dot_use_ragged_dot_instruction": True,
    "jax_raise_on_ppermute_sort_diff": True,
    "jax_refs_to_pins": False,
    "jax_remat3": False,
    "jax_remat_barrier_no_cotangents": False,
    "jax_remove_custom_partitioning_ptr_from_cache_key": False,
    "jax_scan3": False,
    "jax_serialization_version": 0,
    "jax_share_binary_between_hosts": False,
    "jax_share_binary_between_hosts_timeout_ms": 1_200_000,
    "jax_sort_devices_by_process_index": True,
    "jax_threefry_gpu_kernel_lowering": False,
    "jax_use_cpp_shard_args": False,
    "jax_use_emit_pipeline_primitive": False,
    "jax_use_rgv3": True,
    "jax_use_simplified_jaxpr_constants": False,
    "jax_xla_profile_version": 0,
    "mock_num_gpu_processes": 0,
}
for _name, _default in _WITHOUT_EFFECT.items():
    _define(State(_name, type(_default) if _default is not None else str, _default,
                  "Accepted for compatibility; has no effect."))
jax2tf_associative_scan_reductions = define_bool("jax2tf_associative_scan_reductions", False,
                                                 "Accepted for compatibility; has no effect.")
define_int("jax_cross_host_transfer_timeout_seconds", None, "Accepted for compatibility; has no effect.")
define_int("jax_cross_host_transfer_transfer_size", None, "Accepted for compatibility; has no effect.")
define_bool("jax_use_hlo_logistic_lowering", None, "Accepted for compatibility; has no effect.")
define_enum("jax_send_traceback_to_runtime", RuntimeTracebackMode, "off",
            "Accepted for compatibility; has no effect.")


# --- public functions that are not simply a flag -----------------------------------------
def checking_leaks() -> Override:
    """Context manager: a tracer that outlives its transformation is an error (`jax_check_tracer_leaks`)."""
    return check_tracer_leaks(True)


def disable_jit_context(disable: bool = True) -> Override:
    """Context manager `jax.disable_jit`: `jit` and control flow run operation by operation, in Python."""
    return disable_jit(disable)


@contextmanager
def transfer_guard(new_val: str) -> Iterator[None]:
    """Context manager: set what implicit transfers do, in all three directions.

    Args:
      new_val: "allow", "log", "disallow", "log_explicit" or "disallow_explicit".
    """
    with ExitStack() as stack:
        for state in (transfer_guard_all, *_transfer_guards):
            stack.enter_context(state(new_val))
        yield
