"""jit: trace once for each combination of argument types, compile, and let the backend's dispatcher repeat the call.

Layers of caching, from the outside in:

1. the backend's dispatcher (C++): argument types and static values seen before, no Python at all;
2. traced programs, by function, argument structure and types, static values, and configuration;
3. what is derived from a program (derivative, batched form, executable) lives in the program (`ClosedJaxpr.memo`);
4. compiled modules by their text, in the backend.

Inside another transformation, a jitted function is one equation, `jit`, that holds its program.
"""
from __future__ import annotations

import enum
import functools
import inspect
import weakref
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from .. import backends
from ..configuration import engine, flags, context
from ..traces import nans
from ..representation import source, tree
from ..representation.aval import AbstractRef, get_aval, is_open, plain_values
from ..transformations.batching import batch_jaxpr
from ..traces.structural import moved
from ..transformations.custom_jvp import signature_of
from ..representation.dtypes import ExtendedDType
from ..interfaces import FastCall, LowerSpec
from ..representation.jaxpr import ClosedJaxpr, DebugInfo
from .monitoring import timed
from ..transformations.program_call import program_call
from ..references.discharge import aliased, any_refs, discharged, pure
from ..references.primitives import cell_of
from ..representation.source import describe_function, name_of
from ..traces.staging import constants_to_inputs, trace_to_jaxpr
from ..traces.trace import EVAL, Tracer, escaped
from ..representation.tracebacks import boundary, shorten


class TracedProgram:
    """What tracing a function for some argument types gave."""

    __slots__ = ("closed", "hoisted", "consts", "out_tree", "trace", "refs", "__weakref__")

    def __init__(self, jaxpr, consts, out_tree, trace):
        self.consts, self.out_tree = consts, out_tree
        self.closed = ClosedJaxpr(jaxpr, consts)
        self.hoisted = self.closed if not consts else ClosedJaxpr(constants_to_inputs(jaxpr), ())
        self.refs = any_refs(self.hoisted.in_avals)  # whether it works on references made outside of it
        self.trace = trace  # weak reference to the trace whose tracers are among the constants, or None

    def usable(self) -> bool:
        return self.trace is None or self.trace() is context.state.trace


class Inline(enum.Enum):
    """Where the program of a nested jitted function is written out; value of the argument ``inline`` of `jit`.

    ``JAX_EARLY`` writes its equations into the caller's program. With the others it stays one `jit` equation, and XLA
    decides.
    """

    AUTO = "auto"
    JAX_EARLY, JAX_LATE = "jax_early", "jax_late"
    XLA_EARLY, XLA_LATE = "xla_early", "xla_late"


def _written_out(inline: Any) -> bool:
    if isinstance(inline, Inline):
        return inline is Inline.JAX_EARLY
    if not isinstance(inline, (bool, np.bool_)):
        raise ValueError(f"jit: inline must be a bool or a member of jax.Inline, got {inline!r}")
    return bool(inline)


class JitOptions:
    """The arguments of `jit`, resolved against the function's signature."""

    __slots__ = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "in_shardings",
                 "out_shardings", "keep_unused", "device", "backend", "inline", "compiler_options")

    def __init__(self, fun, static_argnums, static_argnames, donate_argnums, donate_argnames, in_shardings,
                 out_shardings, keep_unused, device, backend, inline, compiler_options):
        signature = signature_of(fun)
        self.static_argnums, self.static_argnames = resolve_argnums(
            fun, signature, static_argnums, static_argnames, "static")
        self.donate_argnums, self.donate_argnames = resolve_argnums(
            fun, signature, donate_argnums, donate_argnames, "donate")
        both = set(self.static_argnums) & set(self.donate_argnums)
        if both or set(self.static_argnames) & set(self.donate_argnames):
            raise ValueError(f"jit: arguments {sorted(both)} of {describe_function(fun)} are both static and donated; "
                             "a static argument has no buffer to donate")
        self.in_shardings, self.out_shardings = in_shardings, out_shardings
        self.keep_unused, self.device, self.backend = keep_unused, device, backend
        self.inline = _written_out(inline)
        self.compiler_options = tuple(sorted(compiler_options.items())) if compiler_options else ()


    def key(self) -> tuple | None:
        """Two wrappers of one function with equal keys do the same; None where placements make that hard to tell."""
        if self.in_shardings is not None or self.out_shardings is not None or self.device is not None:
            return None
        return (self.static_argnums, self.static_argnames, self.donate_argnums, self.donate_argnames, self.keep_unused,
                self.backend, self.inline, self.compiler_options)


def resolve_argnums(fun: Callable, signature, argnums, argnames, kind: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names that mean the same arguments, each worked out from the other where the signature tells.

    Raises:
      ValueError: a position or name that the function does not have.
      TypeError: not integers, not strings.
    """
    given_nums, given_names = argnums is not None, argnames is not None
    nums = _as_tuple(argnums, int, f"jit: {kind}_argnums")
    names = _as_tuple(argnames, str, f"jit: {kind}_argnames")
    if signature is None:
        return nums, names
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind == kinds.VAR_POSITIONAL for p in parameters)
    keywords = any(p.kind == kinds.VAR_KEYWORD for p in parameters)
    if not variadic:
        bad = [i for i in nums if not -len(positional) <= i < len(positional)]
        if bad:
            raise ValueError(f"jit: {kind}_argnums={nums} has {bad}, but {describe_function(fun)} takes "
                             f"{len(positional)} positional arguments")
        nums = tuple(sorted({i % len(positional) for i in nums})) if positional else nums
    known = {p.name for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}
    unknown = [a for a in names if a not in known]
    if unknown and not keywords:
        raise ValueError(f"jit: {kind}_argnames has {unknown}, which are not parameters of {describe_function(fun)}")
    if given_nums and not given_names:
        names = tuple(positional[i].name for i in nums
                      if 0 <= i < len(positional) and positional[i].kind == kinds.POSITIONAL_OR_KEYWORD)
    elif given_names and not given_nums:
        nums = tuple(i for i, p in enumerate(positional) if p.name in names)
    return nums, names


def _as_tuple(value, kind, what):
    if value is None:
        return ()
    if kind is str and isinstance(value, str):
        return (value,)
    if kind is int and hasattr(value, "__index__"):
        return (value.__index__(),)
    try:
        items = tuple(v.__index__() if kind is int else v for v in value)
    except (TypeError, AttributeError):
        items = None
    if items is None or not all(isinstance(v, kind) for v in items):
        raise TypeError(f"{what} must be {'an int or ints' if kind is int else 'a str or strs'}, got {value!r}")
    return items


# -- tracing -----------------------------------------------------------------------------------------------------------

_programs: "weakref.WeakKeyDictionary[Callable, dict]" = weakref.WeakKeyDictionary()
_PROGRAMS_PER_FUNCTION = 4096


class Call:
    """One call of a jitted function, taken apart: flat dynamic arguments, and all that the program depends on."""

    __slots__ = ("fun", "options", "static", "flat", "in_tree", "avals", "args_count")

    def __init__(self, fun: Callable, options: JitOptions, args: tuple, kwargs: dict):
        self.fun, self.options, self.args_count = fun, options, len(args)
        nums, names = options.static_argnums, options.static_argnames
        if nums or names and kwargs:
            nums = tuple(i if i >= 0 else i + len(args) for i in nums)
            self.static = (tuple((i, args[i]) for i in nums if i < len(args)),
                           tuple(sorted((k, v) for k, v in kwargs.items() if k in names)) if kwargs else ())
            _check_hashable(fun, self.static)
            args = tuple(x for i, x in enumerate(args) if i not in nums)
            kwargs = {k: v for k, v in kwargs.items() if k not in names}
        else:
            self.static = ((), ())
        flat, self.in_tree = tree.flatten((args, kwargs))
        self.flat = plain_values(flat)
        try:
            self.avals = tuple(map(get_aval, self.flat))
        except (TypeError, OverflowError):
            self._explain_bad_argument()
            raise

    def _explain_bad_argument(self):
        for path, x in tree.flatten_with_path(tree.unflatten(self.in_tree, self.flat))[0]:
            try:
                get_aval(x)
            except TypeError as error:
                where = _argument_name(self.fun, path, self.static)
                raise TypeError(
                    f"Error interpreting argument to {describe_function(self.fun)} as an abstract array. The "
                    f"problematic value is of type {type(x)} and was passed to the function at path {where}.\n"
                    "jit takes arrays, numbers, and pytrees of them; make other arguments static with "
                    "static_argnums or static_argnames.") from error

    def key(self):
        return self.in_tree, self.avals, self.static, self.args_count

    def program(self) -> TracedProgram:
        """The traced program, from the cache if it was traced before."""
        try:
            cache = _programs.get(self.fun)
            if cache is None:
                cache = _programs[self.fun] = {}
        except TypeError:  # a callable without hash or weak references
            return self.trace()
        key = (*self.key(), engine.trace_key(), *(axis.key() for _, axis in context.state.axes))
        found = cache.get(key)
        if found is not None and found.usable():
            return found
        if flags.explain_cache_misses.value:
            from . import explain  # loaded only when asked for
            explain.program_miss(self.fun, key, list(cache), lambda k: LazyNames(self.fun, k[0], k[2]))
        found = self.trace()
        if len(cache) >= _PROGRAMS_PER_FUNCTION:
            cache.clear()
        cache[key] = found
        return found

    def trace(self) -> TracedProgram:
        fun, in_tree, static, count = self.fun, self.in_tree, self.static, self.args_count
        out_tree: list = []

        def flat_fun(*leaves):
            args, kwargs = tree.unflatten(in_tree, leaves)
            args, kwargs = put_static(args, kwargs, static, count)
            outs, structure = tree.flatten(fun(*args, **kwargs))
            out_tree[:] = [structure]
            return check_results(fun, structure, outs)
        debug = DebugInfo("jit", describe_function(fun), LazyNames(fun, in_tree, static), _LazyPaths(out_tree))
        with timed("/jax/core/compile/jaxpr_trace_duration", "tracing", name_of(fun)):
            jaxpr, consts, _ = trace_to_jaxpr(flat_fun, self.avals, debug)
        trace = weakref.ref(context.state.trace) if any(isinstance(x, Tracer) for x in consts) else None
        return TracedProgram(jaxpr, consts, out_tree[0], trace)

    def donated(self) -> tuple[bool, ...]:
        options = self.options
        if not (options.donate_argnums or options.donate_argnames):
            return (False,) * len(self.flat)
        dropped = {i for i, _ in self.static[0]}
        positions = [i for i in range(self.args_count) if i not in dropped]
        donate = {i if i >= 0 else i + self.args_count for i in options.donate_argnums}
        args, kwargs = tree.unflatten(self.in_tree, [None] * 0 or list(range(len(self.flat))))
        flags: list[bool] = []
        for i, arg in zip(positions, args):
            flags += [i in donate] * len(tree.leaves(arg))
        for name in sorted(kwargs):
            flags += [name in options.donate_argnames] * len(tree.leaves(kwargs[name]))
        return tuple(flags)


class LazyNames:
    """Names of flat arguments, worked out only for messages. Programs outlive their functions, so the reference is weak."""

    def __init__(self, fun, in_tree, static):
        self.in_tree, self.static = in_tree, static
        try:
            self.fun = weakref.ref(fun)
        except TypeError:
            self.fun = lambda: fun

    def _names(self):
        args = tree.unflatten(self.in_tree, range(self.in_tree.num_leaves))
        return [_argument_name(self.fun(), path, self.static) for path, _ in tree.flatten_with_path(args)[0]]

    def __len__(self):
        return self.in_tree.num_leaves

    def __getitem__(self, i):
        return self._names()[i]

    def __iter__(self):
        return iter(self._names())


class _LazyPaths:
    """Paths of the flat results, ``result['loss']``, worked out only for messages.

    Args:
      structure: a list that will hold the structure of the result.
    """

    def __init__(self, structure: list):
        self.structure = structure

    def __len__(self):
        return self.structure[0].num_leaves

    def __getitem__(self, i):
        leaves, _ = tree.flatten_with_path(tree.unflatten(self.structure[0], range(len(self))))
        return f"result{tree.keystr(leaves[i][0])}"


def _argument_name(fun, path, static) -> str:
    signature = None if fun is None else signature_of(fun)
    group, rest = path[0].idx, path[1:]
    if not rest:
        return ""
    if group == 1:
        return f"{rest[0].key}{tree.keystr(rest[1:])}"
    taken = {i for i, _ in static[0]}
    position = [i for i in range(len(taken) + rest[0].idx + 1) if i not in taken][rest[0].idx]
    names = list(signature.parameters) if signature else []
    name = names[position] if position < len(names) else f"args[{position}]"
    return f"{name}{tree.keystr(rest[1:])}"


def put_static(args, kwargs, static, count):
    """Put the static arguments back in their places."""
    nums, names = static
    if nums:
        given, fixed = iter(args), dict(nums)
        args = [fixed[i] if i in fixed else next(given) for i in range(count)]
    if names:
        kwargs = {**kwargs, **dict(names)}
    return args, kwargs


def _check_hashable(fun, static):
    for kind in static:
        for where, value in kind:
            try:
                hash(value)
            except TypeError as error:
                raise ValueError(
                    f"Non-hashable static arguments are used in a jit function: argument {where!r} of "
                    f"{describe_function(fun)} is static, but its value of type {type(value)} is not hashable "
                    f"({error}). Static arguments are part of a cache key: pass something immutable such as a "
                    "tuple, or make the argument dynamic.") from error


def check_results(fun: Callable, structure, outs: Sequence[Any]) -> Sequence[Any]:
    """Raise TypeError if a result of ``fun`` is not an array."""
    for i, x in enumerate(outs):
        try:
            if type(get_aval(x)) is AbstractRef:
                raise ValueError(_returned_ref(fun, structure, outs, i))
        except TypeError as error:
            path = tree.flatten_with_path(tree.unflatten(structure, outs))[0][i][0]
            raise TypeError(f"function {describe_function(fun)} returned a value of type {type(x)} at output path "
                            f"{tree.keystr(path) or '(the output)'}, which is not a valid JAX type") from error
    return outs


def _returned_ref(fun, structure, outs, i) -> str:
    path = tree.keystr(tree.flatten_with_path(tree.unflatten(structure, outs))[0][i][0])
    return (f"function {describe_function(fun)} returned a mutable reference of type {get_aval(outs[i])}"
            f"{f' at output path {path}' if path else ''}, but references cannot be returned from a traced function; return its "
            "contents, ref[...], or make the reference outside and pass it in.")


# -- running -----------------------------------------------------------------------------------------------------------

def compile_program(closed: ClosedJaxpr, spec: LowerSpec) -> Any:
    """The executable for ``closed``, compiled once."""
    def make():
        backend = backends.get()
        with timed("/jax/core/compile/jaxpr_to_mlir_module_duration", "jaxpr to MLIR module conversion", f"jit({spec.name})"):
            module = backend.lower(pure(closed), spec)
        return backend.compile(module, spec)
    return closed.memo(("executable", spec), make)


def fast_call(executable: Any, closed: ClosedJaxpr, out_tree: Any) -> FastCall | None:
    """The record for the dispatcher, or None where each call needs Python."""
    if getattr(executable, "needs_python", False) or nans.watching():
        return None
    return FastCall(executable, out_tree, closed.in_avals, closed.out_avals, executable.kept, executable.consts)


def _call_miss(fun: Callable, options: JitOptions, args: tuple, kwargs: dict):
    if flags.disable_jit.value:
        return fun(*args, **kwargs), None
    trace = context.state.trace
    if options.inline and trace is not EVAL:
        return fun(*args, **kwargs), None
    call = Call(fun, options, args, kwargs)
    if flags.debug_key_reuse.value:
        _note_keys(call)
    if trace is not EVAL:
        program = call.program()
        if program.refs:
            _check_aliases(call, program)
        outs = jit_p.bind(*program.consts, *call.flat, **jit_params(
            program.hoisted, name_of(fun), (False,) * len(program.consts) + call.donated(), options, call))
        return tree.unflatten(program.out_tree, outs), None
    for x in call.flat:
        if isinstance(x, Tracer):
            raise escaped(x)
    program = call.program()
    if program.refs:
        return _run_on_refs(call, program), None
    spec = spec_for(call, program)
    executable = compile_program(program.closed, spec)
    outs = executable.execute(call.flat)
    if nans.watching():
        nans.check_program(pure(program.closed), call.flat, outs, name_of(fun), source.caller_of(fun))
    return tree.unflatten(program.out_tree, outs), fast_call(executable, program.closed, program.out_tree)


def _run_on_refs(call: Call, program: TracedProgram) -> Any:
    """Run a program that takes or closes over mutable references, and store their new values."""
    _check_aliases(call, program)
    donated = (False,) * len(program.consts) + call.donated()
    args = [*program.consts, *call.flat]
    outs = jit_p.bind(*args, **jit_params(program.hoisted, name_of(call.fun), donated, call.options, call))
    return tree.unflatten(program.out_tree, outs)


def _check_aliases(call: Call, program: TracedProgram) -> None:
    """Raise ValueError if a function gets one reference twice."""
    same = aliased([*program.consts, *call.flat])
    if same is None:
        return
    names, n = LazyNames(call.fun, call.in_tree, call.static), len(program.consts)
    first, second = (f"argument {names[i - n]}" if i >= n else "a value that the function closes over" for i in same)
    raise ValueError(f"jit: {describe_function(call.fun)} got the same mutable reference of type "
                     f"{get_aval([*program.consts, *call.flat][same[0]])} twice, as {first} and {second}; what it returns would "
                     "depend on the order of reads and writes. Pass each reference once.")


def _note_keys(call: Call) -> None:
    """Let the dtype of keys among the arguments check whether the program uses them up a second time."""
    for aval in call.avals:
        if isinstance(aval.dtype, ExtendedDType):
            aval.dtype.before_call(name_of(call.fun), call.flat, call.program().closed)
            return


def spec_for(call: Call, program: TracedProgram) -> LowerSpec:
    """How the call is to be lowered."""
    options = call.options
    donated = (False,) * len(call.flat) if nans.watching() else call.donated()  # the check reads the arguments again
    return LowerSpec(
        name_of(call.fun), donated, options.keep_unused,
        flat_placements(options.in_shardings, call.in_tree, len(call.flat), "in_shardings", call.fun),
        flat_placements(options.out_shardings, program.out_tree, program.out_tree.num_leaves, "out_shardings", call.fun),
        options.backend, options.device, options.compiler_options)


def flat_placements(shardings, structure, count, name, fun) -> tuple | None:
    """``shardings`` (None, one for all, or a pytree prefix) for each leaf; None where nothing is specified."""
    if shardings is None:
        return None
    whole = tree.unflatten(structure, range(count))
    if name != "in_shardings":
        flat = tree.broadcast_prefix(shardings, whole, is_leaf=lambda x: x is None)
    elif isinstance(shardings, (tuple, list)):  # of positional arguments; those by name have none
        flat = tree.broadcast_prefix(tuple(shardings), whole[0], is_leaf=lambda x: x is None)
        flat += [None] * (count - len(flat))
    else:
        flat = [shardings] * count
    return tuple(None if is_open(p) else p for p in flat)


def jit_params(closed: ClosedJaxpr, name: str, donated: tuple, options: JitOptions | None = None,
               call: Call | None = None) -> dict:
    """Parameters of a `jit` equation."""
    placed = options is not None and (options.in_shardings is not None or options.out_shardings is not None)
    return dict(jaxpr=closed, name=name, donated_invars=donated,
                in_shardings=_nested_placements(options, call, closed, True) if placed else None,
                out_shardings=_nested_placements(options, call, closed, False) if placed else None,
                in_layouts=None, out_layouts=None, ctx_mesh=None,
                keep_unused=options is not None and options.keep_unused, inline=False,
                compiler_options_kvs=options.compiler_options if options is not None else ())


def _nested_placements(options, call, closed, inputs):
    if inputs:
        flat = flat_placements(options.in_shardings, call.in_tree, len(call.flat), "in_shardings", call.fun)
        return None if flat is None else (None,) * (len(closed.in_avals) - len(flat)) + flat
    program = call.program()
    return flat_placements(options.out_shardings, program.out_tree, len(closed.out_avals), "out_shardings", call.fun)


# -- the public function -----------------------------------------------------------------------------------------------

def jit(fun: Callable | None = None, /, *, in_shardings: Any = None, out_shardings: Any = None,
        static_argnums: int | Sequence[int] | None = None, static_argnames: str | Iterable[str] | None = None,
        donate_argnums: int | Sequence[int] | None = None, donate_argnames: str | Iterable[str] | None = None,
        keep_unused: bool = False, device: Any = None, backend: str | None = None, inline: "bool | Inline" = False,
        compiler_options: dict[str, Any] | None = None) -> Any:
    """``fun`` compiled by XLA: traced at the first call for each combination of argument types, then run as one program.

    Args:
      fun: pure function of pytrees of arrays. Without it, a decorator is returned.
      in_shardings, out_shardings: placements, as pytree prefixes of arguments and results.
      static_argnums, static_argnames: arguments that are part of the program; they must be hashable.
      donate_argnums, donate_argnames: arguments whose memory may be used for results; they are deleted by the call.
      keep_unused: keep arguments that the program does not read.
      device, backend: where to run.
      inline: inside another trace, write the equations of ``fun`` there instead of one `jit` equation; or an `Inline`.
      compiler_options: options for this program's compilation.

    Returns:
      a callable with the attributes ``trace``, ``lower``, ``eval_shape`` and ``clear_cache``.

    Raises:
      TypeError: ``fun`` is not callable. ValueError: unknown argument names or numbers.
    """
    if fun is None:
        return functools.partial(
            jit, in_shardings=in_shardings, out_shardings=out_shardings, static_argnums=static_argnums,
            static_argnames=static_argnames, donate_argnums=donate_argnums, donate_argnames=donate_argnames,
            keep_unused=keep_unused, device=device, backend=backend, inline=inline, compiler_options=compiler_options)
    if not callable(fun):
        raise TypeError(f"jit: expected a callable, got {fun!r} of type {type(fun).__name__}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"jit: {describe_function(fun)} is a generator function; return a list or use lax.scan")
    if device is not None and backend is not None:
        raise ValueError("jit: give device or backend, not both")
    options = JitOptions(fun, static_argnums, static_argnames, donate_argnums, donate_argnames, in_shardings,
                         out_shardings, keep_unused, device, backend, inline, compiler_options)

    @functools.wraps(fun)
    def miss(*args, **kwargs):
        return _call_miss(fun, options, args, kwargs)

    wrapped = backends.get().dispatcher(fun, miss, options.static_argnums, options.static_argnames, name_of(fun),
                                        options.key(), donate_argnums=options.donate_argnums, donate_argnames=options.donate_argnames)
    return _add_methods(wrapped, fun, options)


def _add_methods(wrapped, fun, options):
    from . import stages  # stages describes calls of this module

    @boundary(fun)
    def trace(*args, **kwargs):
        return stages.trace_call(Call(fun, options, args, kwargs))

    @boundary(fun)
    def lower(*args, _private_parameters=None, lowering_platforms=None, **kwargs):
        return trace(*args, **kwargs).lower(lowering_platforms=lowering_platforms)

    def eval_shape(*args, **kwargs):
        return trace(*args, **kwargs).out_info

    own = weakref.ref(wrapped)  # it holds its methods: a cycle would keep what ``fun`` closes over until the collector comes

    def clear_cache():
        _programs.pop(fun, None)
        clear = getattr(own(), "_clear_cache", None)
        if clear is not None:
            clear()

    functools.update_wrapper(wrapped, fun, updated=())
    wrapped.trace, wrapped.lower, wrapped.eval_shape, wrapped.clear_cache = trace, lower, eval_shape, clear_cache
    wrapped.__wrapped__ = fun
    return wrapped


def inlined(fun: Callable | None = None, *, static_argnums: int | Sequence[int] = (),
            static_argnames: str | Sequence[str] = ()) -> Any:
    """For functions of the numpy-like packages: one compiled call when eager, plain Python inside any transformation.

    Static arguments as for `jit`. A transformation sees the primitives that ``fun`` binds, nothing nested.
    """
    if fun is None:
        return functools.partial(inlined, static_argnums=static_argnums, static_argnames=static_argnames)
    nums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    compiled = None

    @functools.wraps(fun)
    def call(*args, **kwargs):
        nonlocal compiled
        try:
            if context.state.trace is not EVAL:
                return fun(*args, **kwargs)
            if compiled is None:
                compiled = jit(fun, inline=True, static_argnums=nums or None, static_argnames=static_argnames or None)
            return compiled(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise
    return call


_MANY_TYPES = 1 << 12


def inlined_later(fun: Callable, static_argnums: Sequence[int], rather_plain: Callable[[tuple], bool]) -> Callable:
    """`jit` with ``inline``, for eager calls of functions that also run well as plain Python.

    Args:
      fun: takes positional arguments.
      static_argnums: as for `jit`.
      rather_plain: ``rather_plain(args)`` says whether a call that is not compiled yet shall run as plain Python; asked
        until it says no for arguments of these types. Compiled calls never enter Python.
    """
    options = JitOptions(fun, tuple(static_argnums) or None, None, None, None, None, None, False, None, None, True, None)
    plain: set = set()

    def miss(*args, **kwargs):
        key = tuple(getattr(x, "aval", type(x)) for x in args)
        if not kwargs and rather_plain(args):
            if len(plain) < _MANY_TYPES:
                plain.add(key)
            return fun(*args), None
        result, fast = _call_miss(fun, options, args, kwargs)
        if key in plain or len(plain) >= _MANY_TYPES:  # the dispatcher remembers that there was nothing to repeat; the next call shall ask again
            plain.clear()
            call._clear_cache()
        return result, fast

    call = backends.get().dispatcher(fun, miss, options.static_argnums, options.static_argnames, name_of(fun), object())
    return call


_clear_also: list[Callable[[], None]] = []


def on_clear_caches(clear: Callable[[], None]) -> None:
    """Call ``clear`` whenever all caches are cleared, for packages that keep programs of their own."""
    _clear_also.append(clear)


def clear_caches() -> None:
    """Forget all traced programs and executables."""
    from ..representation.primitive import clear_type_cache
    _programs.clear()
    for clear_own in _clear_also:
        clear_own()
    clear_type_cache()
    backend = backends.loaded()
    clear = getattr(backend, "clear_caches", None)
    if clear is not None:
        clear()


# -- the primitive -----------------------------------------------------------------------------------------------------

def _jit_params(params: dict, closed: ClosedJaxpr, tangent: bool, inputs: Any, outputs: Any) -> dict:
    """Parameters for a program derived from that of ``params``: placements and donation stay with operands and results."""
    donated = (False,) * len(closed.in_avals) if inputs is None else _chosen(params["donated_invars"], inputs, False, closed.in_avals)
    return {**params, "donated_invars": donated, "in_shardings": _placements(params["in_shardings"], inputs, closed.in_avals),
            "out_shardings": _placements(params["out_shardings"], outputs, closed.out_avals)}


def _placements(placements, flags, avals):
    return None if placements is None or flags is None else _chosen(placements, flags, None, avals)


def _chosen(values, flags, other, avals):
    """Those of ``values`` whose flag is set, and ``other`` for whatever is new behind them."""
    kept = tuple(v for v, f in zip(values, flags) if f)
    return (*kept, *[other] * (len(avals) - len(kept)))


def _jit_impl(*args, **params):
    closed = params["jaxpr"]
    key = ("callable", params["name"], params["donated_invars"], params["in_shardings"], params["out_shardings"],
           params["compiler_options_kvs"])
    call = closed.memo(key, lambda: _program_callable(closed, params))
    return call(*args)


def _program_callable(closed, params):
    if any_refs(closed.in_avals):
        return _callable_on_refs(closed, params)
    spec = LowerSpec(params["name"], params["donated_invars"], params["keep_unused"], params["in_shardings"],
                     params["out_shardings"], None, None, params["compiler_options_kvs"])
    out_tree = tree.structure([0] * len(closed.out_avals))
    program = weakref.ref(closed)  # the callable is kept by the program, so it must not keep the program

    def miss(*args):
        for x in args:
            if isinstance(x, Tracer):
                raise escaped(x)
        alive = program()
        executable = compile_program(alive, spec)
        outs = executable.execute(list(args))
        if nans.watching():
            nans.check_program(pure(alive), args, outs, params["name"])
        return outs, fast_call(executable, alive, out_tree)
    return backends.get().dispatcher(miss, miss, (), (), params["name"])


def _callable_on_refs(closed, params):
    """Runs a program on references made outside of transformations: the memory of those that it changes is used again."""
    refs = [type(a) is AbstractRef for a in closed.in_avals]
    changed, written = discharged(closed, refs)
    inner = _jit_params({**params, "jaxpr": changed}, changed, False, [True] * len(refs), [True] * len(closed.out_avals))
    donated = tuple(d and not r or i in written for i, (d, r) in enumerate(zip(inner["donated_invars"], refs)))
    donating, count = {**inner, "donated_invars": donated}, len(closed.out_avals)

    def call(*args):  # it is kept by the program, so it must not keep the program
        values = [cell_of(jit_p.name, x) if r else x for x, r in zip(args, refs)]
        cells = [values[i] for i in written]
        again = nans.watching()  # whether the arguments are read again after the call
        for i, r in enumerate(refs):
            if r:
                values[i] = values[i].take() if i in written and not again else values[i].value
        outs = _jit_impl(*values, **(inner if again else donating))
        for cell, value in zip(cells, outs[count:]):
            cell.give(value)
        return outs[:count]
    return call


def _jit_lower(b, *xs, jaxpr, name, in_shardings, out_shardings, **_):
    """A call; the placements asked for hold inside an outer program too."""
    return _placed(b, b.call(name, jaxpr, *_placed(b, xs, in_shardings)), out_shardings)


def _placed(b, xs, placements):
    if placements is None:
        return xs
    return [b.sharding_constraint(x, p) if hasattr(p, "num_devices") else x for x, p in zip(xs, placements)]


def _jit_batch(axis, args, dims, **params):
    """What was donated still is; placements are of arrays with other axes."""
    closed, out = batch_jaxpr(params["jaxpr"], axis, [d is not None for d in dims])
    outs = jit_p.bind(*[moved(x, d, 0) for x, d in zip(args, dims)],
                      **{**params, "jaxpr": closed, "in_shardings": None, "out_shardings": None})
    return outs, [0 if b else None for b in out]


jit_p = program_call("jit", _jit_lower, _jit_params, impl=_jit_impl, batch=_jit_batch, takes_refs=True)
