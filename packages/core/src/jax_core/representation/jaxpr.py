"""Jaxprs: programs as data. A list of equations, each one primitive applied to variables and literals.

Jaxprs nested in the parameters of equations (those of `jit`, `scan`, `cond` ...) never hold array constants when this
system traces them: what they close over is passed as operands. So constants live at the top level only, and a nested
jaxpr can be compared, cached and moved by identity.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np

from .. import backends
from ..configuration import engine as _engine, flags
from . import dtypes
from .arguments import joint_shape
from .aval import AbstractValue, get_aval
from .effects import NO_EFFECTS, Effects, visible
from .errors import JaxprTypeError
from .primitive import abstract_eval
from .source import UNKNOWN, Metadata, SourceInfo, name_stack
from .traits import Kind
from .tree import keystr, tree_flatten_with_path

if TYPE_CHECKING:
    from types import ModuleType

    from .primitive import Primitive
    from .typing import PyTree


class Var:
    """A variable. Identity is its name; printing assigns letters."""

    __slots__ = ("aval",)
    count = 0

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    suffix = ""

    def __repr__(self):
        return f"Var(id={id(self)}):{self.aval.str_short(short_dtypes=True)}"


class DropVar(Var):
    """A result that nobody reads; printed as ``_``."""

    __slots__ = ()

    def __repr__(self):
        return "_"


class Literal:
    """A scalar constant in an equation."""

    __slots__ = ("val", "aval", "hash")

    def __init__(self, val: Any, aval: AbstractValue | None = None):
        self.val = val
        self.aval = get_aval(val) if aval is None else aval
        try:
            self.hash: int | None = hash(val)
        except TypeError:
            self.hash = None

    def __repr__(self):
        return f"{literal_text(self.val)}:{self.aval.str_short(short_dtypes=True)}"


Atom = (Var, Literal)

NEED_X64 = frozenset(map(np.dtype, ("int64", "uint64", "float64", "complex128")))
"""Dtypes that there are while x64 is on."""
NARROW = frozenset(map(np.dtype, ("int32", "float32", "complex64")))
"""What Python's numbers are while it is off."""


def literal_text(val: object) -> str:
    """A scalar as Python prints it; long values of unusual types are cut."""
    if isinstance(val, (np.ndarray, np.generic)) and val.shape == ():
        val = val.item() if val.dtype.kind in "biufc" else float(val) if dtypes.issubdtype(val.dtype, np.floating) else val
    return str(val)


class EqnContext:
    """The context of an equation: ``xla_metadata``, those in force where it was written (a dict), or None."""

    __slots__ = ("xla_metadata",)

    def __init__(self, place: SourceInfo = UNKNOWN):  # brainstate makes one for equations of its own
        pairs = [pair for name in place.scopes if type(name) is Metadata for pair in name.pairs]
        self.xla_metadata = dict(pairs) or None


def _printer() -> ModuleType:
    from . import printing  # start-up: loaded when somebody prints
    return printing


class JaxprEqn:
    """``outvars = primitive[params] invars``, its effects, and where it was written.

    >>> eqn = jax.make_jaxpr(lambda x: lax.integer_pow(x, 3))(1.).eqns[0]
    >>> eqn.primitive, eqn.params
    (integer_pow, {'y': 3})
    """

    __slots__ = ("invars", "outvars", "primitive", "params", "effects", "source_info", "given_ctx")

    def __init__(self, invars: Sequence[Any], outvars: Sequence[Any], primitive: Primitive, params: dict[str, Any],
                 effs: frozenset = NO_EFFECTS, source_info: SourceInfo = UNKNOWN, ctx: object | None = None):
        self.invars, self.outvars, self.primitive, self.params = invars, outvars, primitive, params
        self.effects, self.source_info, self.given_ctx = effs, source_info, ctx

    @property
    def ctx(self) -> Any:
        """What an interpreter put there; else the context in which the equation was written (`EqnContext`)."""
        return EqnContext(self.source_info) if self.given_ctx is None else self.given_ctx

    def replace(self, **fields: Any) -> "JaxprEqn":
        """A copy with some fields replaced."""
        old = {name: getattr(self, name) for name in self.__slots__}
        old["ctx"] = old.pop("given_ctx")
        old.update(fields)
        return JaxprEqn(effs=old.pop("effects"), **old)

    def __repr__(self):
        return _printer().equation(self)


def new_jaxpr_eqn(invars: Sequence[object], outvars: Sequence[object], primitive: Primitive, params: dict[str, Any],
                  effects: frozenset = NO_EFFECTS, source_info: SourceInfo | None = None,
                  ctx: object | None = None) -> JaxprEqn:
    """An equation, for interpreters that write jaxprs by hand.

    >>> from jax.extend import core
    >>> program = jax.make_jaxpr(jnp.sin)(1.)
    >>> old = program.eqns[0]
    >>> core.new_jaxpr_eqn(old.invars, old.outvars, lax.cos_p, old.params).primitive
    cos
    """
    return JaxprEqn(list(invars), list(outvars), primitive, params, effects, source_info or UNKNOWN, ctx)


class DebugInfo:
    """Names for messages: the traced function, the transformation, and paths of arguments and results."""

    __slots__ = ("traced_for", "func_src_info", "arg_names", "result_paths")

    def __init__(self, traced_for: str = "", func_src_info: str = "", arg_names: Any = (),
                 result_paths: Any = None):
        self.traced_for, self.func_src_info = traced_for, func_src_info
        self.arg_names, self.result_paths = arg_names, result_paths

    @property
    def func_name(self) -> str:
        return self.func_src_info.split(" at ")[0]

    @property
    def func_filename(self) -> str | None:
        """The file of the traced function, if known."""
        return self._place()[0]

    @property
    def func_lineno(self) -> int | None:
        """The line where the traced function begins, if known."""
        return self._place()[1]

    def _place(self) -> tuple[str | None, int | None]:
        _, _, place = self.func_src_info.partition(" at ")
        file, colon, line = place.rpartition(":")
        return (file, int(line)) if colon and line.isdigit() else (None, None)

    def _replace(self, **fields) -> "DebugInfo":
        return DebugInfo(**{**{name: getattr(self, name) for name in self.__slots__}, **fields})

    def replace_func_name(self, name: str) -> "DebugInfo":
        """The same for a function called ``name``, at the same place."""
        _, at, place = self.func_src_info.partition(" at ")
        return self._replace(func_src_info=f"{name}{at}{place}")

    def with_unknown_names(self) -> "DebugInfo":
        """The same without names of arguments and results."""
        return self._replace(arg_names=None, result_paths=None)

    def set_result_paths(self, ans: PyTree) -> "DebugInfo":
        """The same with the paths of the leaves of ``ans``, which the function returned."""
        return self._replace(result_paths=tuple(f"result{keystr(path)}" for path, _ in tree_flatten_with_path(ans)[0]))

    def resolve_result_paths(self) -> "DebugInfo":
        """The same with the paths worked out, which is put off until somebody asks."""
        return self if self.result_paths is None else self._replace(result_paths=tuple(self.result_paths))

    def safe_arg_names(self, expected_count: int) -> tuple[str, ...]:
        """The names of the arguments; empty names where they are not known. Raises as `assert_arg_names`."""
        self.assert_arg_names(expected_count)
        return ("",) * expected_count if self.arg_names is None else tuple(self.arg_names)

    def safe_result_paths(self, expected_count: int) -> tuple[str, ...]:
        """The paths of the results; empty ones where they are not known. Raises as `assert_result_paths`."""
        self.assert_result_paths(expected_count)
        return ("",) * expected_count if self.result_paths is None else tuple(self.result_paths)

    def assert_arg_names(self, expected_count: int) -> None:
        """Raises AssertionError if the names are known and are not ``expected_count``."""
        _check_count("arg_names", self.arg_names, expected_count)

    def assert_result_paths(self, expected_count: int) -> None:
        """Raises AssertionError if the paths are known and are not ``expected_count``."""
        _check_count("result_paths", self.result_paths, expected_count)

    def filter_arg_names(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The names of those arguments that ``keep`` marks."""
        return None if self.arg_names is None else tuple(n for n, k in zip(self.arg_names, keep, strict=True) if k)

    def filter_result_paths(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The paths of those results that ``keep`` marks."""
        return None if self.result_paths is None else tuple(p for p, k in zip(self.result_paths, keep, strict=True) if k)


def _check_count(what: str, names: Any, expected: int) -> None:
    if names is not None and len(tuple(names)) != expected:
        raise AssertionError(f"DebugInfo: {what}={tuple(names)} are {len(tuple(names))}, not {expected}")


class Jaxpr:
    """A program: constants and inputs, equations in order, results.

    Args:
      constvars: variables for the constants (values are in the `ClosedJaxpr`).
      invars: variables for the arguments.
      outvars: variables or literals.
      eqns: equations; each reads only variables bound before it.
      effects: union of the equations' effects.
      debug_info: names for messages.

    >>> jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(1.).jaxpr
    >>> [eqn.primitive.name for eqn in jaxpr.eqns]
    ['sin', 'mul']
    """

    __slots__ = ("constvars", "invars", "outvars", "eqns", "effects", "debug_info", "_said_high", "_cache", "__weakref__")

    def __init__(self, constvars: Sequence[Var], invars: Sequence[Var] = (), outvars: Sequence[Any] = (),
                 eqns: Sequence[JaxprEqn] = (), effects: Effects = NO_EFFECTS, debug_info: DebugInfo | None = None,
                 is_high: bool = False):
        self.constvars, self.invars, self.outvars = list(constvars), list(invars), list(outvars)
        self.eqns = list(eqns)
        self.effects = visible(effects, (*self.constvars, *self.invars)) if effects else NO_EFFECTS
        self.debug_info = debug_info or DebugInfo()
        self._said_high = is_high
        self._cache: dict | None = None

    @property
    def in_avals(self) -> list[AbstractValue]:
        """Types of the arguments."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[AbstractValue]:
        """Types of the results."""
        return [v.aval for v in self.outvars]

    @property
    def is_high(self) -> bool:
        """Whether a value has a type of a user's own, which stands for several arrays, or a primitive works on such types."""
        variables = (*self.constvars, *self.invars, *[v for e in self.eqns for v in e.outvars])
        return self._said_high or any(v.aval.is_high for v in variables) or any(
            e.primitive.traits.high or any(inner.is_high for inner in jaxprs_in_params(e.params)) for e in self.eqns)

    # What interpreters ask of a program whether or not it carries its constants.
    jaxpr = property(lambda self: self, doc="The program itself.")
    consts = property(lambda self: [], doc="None: the values are in the `ClosedJaxpr`.")
    literals = property(lambda self: [], doc="None, as ``consts``.")
    num_consts = property(lambda self: len(self.constvars), doc="How many constants there are.")
    all_invars = property(lambda self: [*self.constvars, *self.invars], doc="Variables of the constants, then of the arguments.")

    def with_consts(self, consts: Sequence[object]) -> "ClosedJaxpr":
        """This program with values for its ``constvars``."""
        return ClosedJaxpr(self, consts)

    def for_arguments(self, args: Sequence[object]) -> "Jaxpr":
        """The program that these arguments run: this one, where its types say all lengths."""
        return self

    def map_jaxpr(self, f: Callable[..., PyTree]) -> Any:
        """``f`` of this program."""
        return f(self)

    def replace(self, **fields: Any) -> "Jaxpr":
        """A copy with some of ``constvars, invars, outvars, eqns, effects, debug_info`` replaced."""
        old = {n: getattr(self, n) for n in ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")}
        return Jaxpr(**{**old, **fields})

    def pretty_print(self, **settings: Any) -> str:
        """The printed form; for the settings see `printing.program`."""
        return _printer().program(self, **settings)

    def __str__(self):
        return _printer().plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _printer().as_html(self)


class ClosedJaxpr:
    """A jaxpr with the values of its constants.

    >>> closed = jax.make_jaxpr(lambda x: x + np.arange(2.))(1.)
    >>> closed.in_avals, closed.out_avals
    ([ShapedArray(float32[], weak_type=True)], [ShapedArray(float32[2])])
    """

    __slots__ = ("jaxpr", "consts", "_cache", "__weakref__")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()):
        if len(jaxpr.constvars) != len(consts):
            raise ValueError(f"ClosedJaxpr: {len(consts)} constants given for {len(jaxpr.constvars)} constvars")
        self.jaxpr, self.consts = jaxpr, list(consts)
        self._cache: dict | None = None

    in_avals = property(lambda self: self.jaxpr.in_avals, doc="Types of the arguments.")
    out_avals = property(lambda self: self.jaxpr.out_avals, doc="Types of the results.")
    eqns = property(lambda self: self.jaxpr.eqns, doc="The equations, in order.")
    effects = property(lambda self: self.jaxpr.effects, doc="Union of the equations' effects.")
    literals = property(lambda self: self.consts, doc="The values of the constants.")
    constvars = property(lambda self: self.jaxpr.constvars, doc="Variables of the constants.")
    invars = property(lambda self: self.jaxpr.invars, doc="Variables of the arguments.")
    outvars = property(lambda self: self.jaxpr.outvars, doc="Variables or literals that are the results.")
    all_invars = property(lambda self: self.jaxpr.all_invars, doc="Variables of the constants, then of the arguments.")
    num_consts = property(lambda self: len(self.consts), doc="How many constants there are.")
    debug_info = property(lambda self: self.jaxpr.debug_info, doc="Names for messages.")
    is_high = property(lambda self: self.jaxpr.is_high, doc="Whether a value has a type of a user's own, which stands for several arrays.")

    def with_consts(self, consts: Sequence[object]) -> "ClosedJaxpr":
        """The same program with other constants."""
        return ClosedJaxpr(self.jaxpr, consts)

    def replace(self, *, jaxpr: Jaxpr | None = None, consts: Sequence[object] | None = None) -> "ClosedJaxpr":
        """A copy with another program or other constants."""
        return ClosedJaxpr(self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)

    def map_jaxpr(self, f: Callable[..., PyTree]) -> "ClosedJaxpr":
        """``f`` of the program, with the same constants."""
        return ClosedJaxpr(f(self.jaxpr), self.consts)

    def pretty_print(self, **settings: Any) -> str:
        """The printed form; for the settings see `Jaxpr.pretty_print`."""
        return self.jaxpr.pretty_print(**settings)

    def memo(self, key: Hashable, make: Callable[..., object]) -> Any:
        """``make()``, computed once for each ``key`` and kept as long as this jaxpr lives.

        Everything derived from a jaxpr (its derivative, its batched form, its executable) is kept here, so that it
        goes when the jaxpr goes.
        """
        cache: Any = self._cache
        if cache is None:
            cache = self._cache = {}
        key = (key, _engine.trace_key())
        found = cache.get(key, cache)
        if found is cache:
            found = cache[key] = make()
        return found

    def memos(self, kind: str) -> list:
        """What `memo` keeps under keys that begin with ``kind``."""
        return [found for (key, _), found in list((self._cache or {}).items()) if isinstance(key, tuple) and key[0] == kind]

    def __str__(self):
        return str(self.jaxpr)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.jaxpr._repr_html_()


def _no_programs(params: Mapping[str, Any]) -> str:
    """Which parameter should hold programs and does not, in words; empty where all do."""
    for name in params.keys() & {"jaxpr", "call_jaxpr", "body_jaxpr", "cond_jaxpr", "branches"}:
        value = params[name]
        if not value or not all([isinstance(p, (Jaxpr, ClosedJaxpr)) for p in (value if isinstance(value, tuple) else (value,))]):
            return f"{name} must be {'a tuple of programs' if name == 'branches' else 'a program'}, got {value!r} of type {type(value).__name__}"
    return ""


def _program(name: str, jaxpr: Any) -> Any:
    if isinstance(jaxpr, (Jaxpr, ClosedJaxpr)):
        return jaxpr
    raise TypeError(f"{name}: a jaxpr is needed, as jax.make_jaxpr(f)(*args) gives it; got {jaxpr!r} of type {type(jaxpr).__name__}")


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Any:
    """The program as a function of flat arguments that returns a list; with ``args``, its results.

    >>> jax.core.jaxpr_as_fun(jax.make_jaxpr(lambda x, y: x + y)(1., 2.))(3., 4.)
    [Array(7., dtype=float32, weak_type=True)]
    """
    closed = close(_program("jaxpr_as_fun", closed_jaxpr))
    run = lambda *given: eval_jaxpr(closed.jaxpr, closed.consts, *given)
    return run(*args) if args else run


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[object], *args: Any, propagate_source_info: bool = True) -> list:
    """Run ``jaxpr`` on ``args``, binding each equation under the current transformation.

    With ``propagate_source_info`` what is bound counts as written where the equation was (`source.attributed_to`), so
    that programs derived from ``jaxpr`` still name the user's lines.

    Raises:
      TypeError: the number of arguments or of constants is wrong.

    >>> program = jax.make_jaxpr(lambda x, y: (x + y, x * y))(1., 2.)
    >>> jax.tree.map(float, jax.core.eval_jaxpr(program.jaxpr, program.consts, 3., 4.))
    [7.0, 12.0]
    """
    if type(jaxpr) is not Jaxpr:
        jaxpr = _program("eval_jaxpr", jaxpr).jaxpr.for_arguments(args)
    if len(args) != len(jaxpr.invars):
        raise TypeError(f"eval_jaxpr: the jaxpr takes {len(jaxpr.invars)} arguments, got {len(args)}")
    consts = tuple(consts)
    if len(consts) != len(jaxpr.constvars):
        raise TypeError(f"eval_jaxpr: the jaxpr has {len(jaxpr.constvars)} constants, got {len(consts)}")
    env: dict = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    place, outer = name_stack, name_stack.place
    try:
        for eqn in jaxpr.eqns:
            info = eqn.source_info
            if propagate_source_info and info.code is not None:
                place.place = info
            values = [x.val if type(x) is Literal else env[x] for x in eqn.invars]
            out = bind(eqn, values)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out))
            else:
                env[eqn.outvars[0]] = out
    finally:
        place.place = outer
    return [result_of(x) if type(x) is Literal else env[x] for x in jaxpr.outvars]


def bind(eqn: JaxprEqn, values: Sequence[object]) -> Any:
    """The equation's primitive bound to ``values``, as `as_written`."""
    return as_written(eqn, eqn.primitive.bind, *values, **eqn.params)


def as_written(eqn: JaxprEqn, fun: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """``fun(*args)`` with x64 such that the equation's numbers keep their types, though it may have been switched since it was written."""
    for x in eqn.invars:
        if type(x) is Literal and get_aval(x.val).dtype is not x.aval.dtype:
            wide = flags.enable_x64.value
            if x.aval.dtype in (NARROW if wide else NEED_X64):
                with flags.enable_x64(not wide):
                    return fun(*args, **kwargs)
    return fun(*args, **kwargs)


def result_of(x: Literal) -> Any:
    """The value of a literal that is a result, with the literal's type, though x64 may have been switched since it was written."""
    if get_aval(x.val).dtype is x.aval.dtype or x.aval.dtype not in (NARROW if flags.enable_x64.value else NEED_X64):
        return x.val
    with flags.enable_x64(True):
        return backends.get().from_host(np.asarray(x.val, x.aval.dtype), x.aval.weak_type)


def needs_x64(x: object) -> bool:
    """Whether ``x``, a value or a type, is of a part of a program where x64 was on, as the constants of its rules are as wide only then."""
    return getattr(x, "dtype", None) in NEED_X64 and not isinstance(x, (np.ndarray, np.generic))  # NumPy's are narrowed


def interpret(jaxpr: Jaxpr, consts: Sequence[object], args: Sequence[object], apply: Callable) -> list:
    """Run ``jaxpr`` with ``apply(eqn, values) -> list of results`` in place of `bind`."""
    env: dict = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    for eqn in jaxpr.eqns:
        env.update(zip(eqn.outvars, as_written(eqn, apply, eqn, [x.val if type(x) is Literal else env[x] for x in eqn.invars])))
    return [result_of(x) if type(x) is Literal else env[x] for x in jaxpr.outvars]


def interpret_nested(eqn: JaxprEqn, values: Sequence[object], run: Callable) -> list | None:
    """The results of an equation that holds programs, each run by ``run(closed, *args)``; None if it is to be bound."""
    rule = eqn.primitive.interpret
    return rule(run, *values, **eqn.params) if rule else None


def program_of(eqn: JaxprEqn) -> ClosedJaxpr | None:
    """The program that takes the operands of an equation, one for one: as they are, elements or parts of them; None if there is none."""
    name = eqn.primitive.program
    return None if name is None else eqn.params[name]


def makers(jaxpr: Jaxpr) -> dict[Var, JaxprEqn]:
    """The equation that makes each value."""
    return {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """The jaxprs in the parameters of the equations of ``jaxpr``, one level deep.

    >>> program = jax.make_jaxpr(lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0])(1.)
    >>> [len(inner.eqns) for inner in jax.core.subjaxprs(program.jaxpr)]
    [1]
    """
    for eqn in _program("subjaxprs", jaxpr).eqns:
        yield from jaxprs_in_params(eqn.params)


_NO_PROGRAMS = frozenset((bool, int, float, str, type(None)))


def jaxprs_in_params(params: dict) -> list[Jaxpr]:
    """The jaxprs among ``params``, also those in tuples and lists, open.

    >>> from jax.extend import core
    >>> program = jax.make_jaxpr(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.)
    >>> [len(core.jaxprs_in_params(eqn.params)) for eqn in program.eqns if eqn.primitive.name == "cond"]
    [2]
    """
    found = []
    try:
        values = params.values()
    except AttributeError:
        raise TypeError(f"jaxprs_in_params: params must be the dict of an equation's parameters, got {params!r} of type {type(params).__name__}") from None
    for value in values:
        if type(value) in _NO_PROGRAMS:
            continue
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if type(item) in _NO_PROGRAMS:
                continue
            if isinstance(item, ClosedJaxpr):
                found.append(item.jaxpr)
            elif isinstance(item, Jaxpr):
                found.append(item)
    return found


def close(jaxpr: Jaxpr | ClosedJaxpr) -> ClosedJaxpr:
    """``jaxpr`` without constants, closed.

    >>> from jax.interpreters import partial_eval as pe
    >>> jax.core.jaxpr_as_fun(pe.close_jaxpr(jax.make_jaxpr(jnp.negative)(1.).jaxpr))(2.)
    [Array(-2., dtype=float32, weak_type=True)]
    """
    return jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(_program("close_jaxpr", jaxpr), ())


def dce(jaxpr: Jaxpr, used_outputs: Sequence[bool], keep_inputs: bool = False) -> tuple[Jaxpr, list[bool]]:
    """Dead-code elimination: drop the unused outputs and every equation without effect that only they needed.

    A primitive may narrow its own equation through ``prim.dce(eqn, used) -> (eqn or None)`` (loops drop carries).

    Returns:
      the smaller jaxpr, and which inputs it still reads (with ``keep_inputs`` all stay in the signature).
    """
    live = {v for v, used in zip(jaxpr.outvars, used_outputs) if used}  # literals in it do no harm
    eqns: list[JaxprEqn] = []
    effects: Any = set()
    for eqn in reversed(jaxpr.eqns):
        if live.isdisjoint(eqn.outvars) and not eqn.effects:
            continue
        narrow = eqn.primitive.dce
        if narrow:
            used = [v in live for v in eqn.outvars]
            if not all(used):
                eqn = narrow(eqn, used)
                if eqn is None:
                    continue
        if eqn.effects:
            effects |= eqn.effects
        eqns.append(eqn)
        live.update(eqn.invars)
    eqns.reverse()
    used_inputs = [v in live for v in jaxpr.invars]
    invars = jaxpr.invars if keep_inputs else [v for v in jaxpr.invars if v in live]
    outvars = [v for v, used in zip(jaxpr.outvars, used_outputs) if used]
    small = Jaxpr(jaxpr.constvars, invars, outvars, eqns, effects, jaxpr.debug_info)
    return small, used_inputs


def with_narrow_loops(closed: ClosedJaxpr) -> ClosedJaxpr:
    """``closed`` without what its loops carry for nobody; with all of its inputs and results.

    `dce` of a program around it does not look into a call of which all results are used.
    """
    jaxpr = closed.jaxpr
    if not any([eqn.primitive.traits.kind is Kind.LOOP for eqn in jaxpr.eqns]):
        return closed

    def make():
        small, _ = dce(jaxpr, [True] * len(jaxpr.outvars), keep_inputs=True)
        same = len(small.eqns) == len(jaxpr.eqns) and all(a is b for a, b in zip(small.eqns, jaxpr.eqns))
        return closed if same else ClosedJaxpr(small, closed.consts)
    return closed.memo("narrow loops", make)


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Type-check a program: every variable bound once and before use, every equation's types right.

    Raises:
      JaxprTypeError: naming the equation at fault.

    >>> jax.core.check_jaxpr(jax.make_jaxpr(jnp.sin)(1.).jaxpr)  # says nothing: all is well
    """
    _program("check_jaxpr", jaxpr)
    bound = set()

    def bind(v):
        if v in bound and not isinstance(v, DropVar):
            raise JaxprTypeError(f"check_jaxpr: variable {v!r} is bound twice in\n{jaxpr}")
        bound.add(v)

    for v in (*jaxpr.constvars, *jaxpr.invars):
        bind(v)
    for eqn in jaxpr.eqns:
        for x in eqn.invars:
            if type(x) is not Literal and x not in bound:
                raise JaxprTypeError(f"check_jaxpr: {x!r} is read before it is bound, in equation\n  {eqn!r}\nof\n{jaxpr}")
        for inner in jaxprs_in_params(eqn.params):
            check_jaxpr(inner)
        try:
            types, effects = abstract_eval(eqn.primitive, _stretched(eqn), eqn.params)
        except Exception as error:
            why = _no_programs(eqn.params) or f"{type(error).__name__}: {error}"
            raise JaxprTypeError(f"check_jaxpr: {eqn.primitive} refuses its operands or parameters ({why}), in equation"
                                 f"\n  {eqn!r}") from error
        if len(types) != len(eqn.outvars):
            raise JaxprTypeError(f"check_jaxpr: {eqn.primitive} has {len(types)} results, {len(eqn.outvars)} bound, in"
                                 f"\n  {eqn!r}")
        for have, v in zip(types, eqn.outvars):
            if not types_compatible(have, v.aval):
                raise JaxprTypeError(f"check_jaxpr: result of type {have} bound to a variable of type {v.aval}, in equation"
                                     f"\n  {eqn!r}")
        for v in eqn.outvars:
            bind(v)
    for x in jaxpr.outvars:
        if type(x) is not Literal and x not in bound:
            raise JaxprTypeError(f"check_jaxpr: output {x!r} is never bound, in\n{jaxpr}")


def _stretched(eqn: JaxprEqn) -> tuple[AbstractValue, ...]:
    """The types of the operands; those of what `make_jaxpr` shows as it was given, as the equation's rules have them: of one shape."""
    avals = tuple([x.aval for x in eqn.invars])
    if not eqn.primitive.stretches or len(shapes := {a.shape for a in avals if a.shape}) < 2:
        return avals
    shape = joint_shape(*shapes)
    return tuple([a.update(shape=shape) if a.shape else a for a in avals])


def types_compatible(a: AbstractValue, b: AbstractValue) -> bool:
    """Same kind, shape and dtype; weak types and placements may differ."""
    return a is b or (type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype)
