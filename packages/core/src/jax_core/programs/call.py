"""One call of a jitted function: its program, traced or found, and the executable of that."""
from __future__ import annotations

import builtins
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import backends, extension_points
from ..configuration import context, engine, flags
from ..extension_points import caches_cleared
from ..interfaces import Executable, FastCall, LowerSpec, Run
from ..references.discharge import any_refs, pure
from ..representation import source, tree
from ..representation.arguments import LazyNames, LazyPaths, argument_name, put_static, wrong_result
from ..representation.aval import AbstractRef, get_aval, plain_values
from ..representation.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from ..representation.placements import is_on_mesh
from ..representation.primitive import clear_type_cache
from ..representation.source import called_by_user, describe_function, is_own, metadata_in_force, name_of
from ..traces import nans
from ..traces.staging import check_may_trace, constants_to_inputs, trace_to_jaxpr
from ..traces.trace import Tracer
from .monitoring import timed
from .options import JitOptions, asked_placements, placements_of_results

if TYPE_CHECKING:
    from ..representation.tree import PyTreeDef
    from ..traces.staging import DynamicJaxprTrace


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


_programs: "weakref.WeakKeyDictionary[Callable, dict]" = weakref.WeakKeyDictionary()

_PROGRAMS_PER_FUNCTION = 4096
_OF_THE_HOST = (bool, int, float, complex, np.generic, np.ndarray)
_NO_STATIC: tuple[tuple, tuple] = ((), ())


class Call:
    """One call of a jitted function, taken apart: flat dynamic arguments, and all that the program depends on."""

    __slots__ = ("fun", "options", "static", "flat", "in_tree", "avals", "args_count")

    def __init__(self, fun: Callable[..., Any], options: JitOptions, args: tuple, kwargs: dict):
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
            self.static = _NO_STATIC
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
            except OverflowError as error:
                raise OverflowError(f"argument {argument_name(self.fun, path, self.static)} of {describe_function(self.fun)}: "
                                    f"{error}") from None
            except TypeError as error:
                where = argument_name(self.fun, path, self.static)
                kind = type(x)
                known = extension_points.symbolic_shapes.value
                if known is not None and known.in_arguments([x]):
                    raise TypeError(f"{where} of {describe_function(self.fun)}: the shape {x.shape} is symbolic, which jax.export, "
                                    "jax.eval_shape, jax.make_jaxpr and the methods trace and lower of jitted functions take; programs run for lengths "
                                    "that are known") from None
                remedy = "make other arguments static with static_argnums or static_argnames" + (
                    "." if issubclass(kind, np.generic) or hasattr(kind, "__next__")
                    or getattr(kind, "__module__", None) == "builtins" and kind.__name__ in vars(builtins) else
                    "; a function inside of an argument is split off before the call, and closed over." if callable(x) else
                    f", or make {kind.__name__} a pytree, as by jax.tree_util.register_dataclass.")
                raise TypeError(
                    f"Error interpreting argument to {called_by_user(self.fun)} as an abstract array. The "
                    f"problematic value is of type {kind} and was passed to the function at path {where}.\n"
                    + ("It takes arrays and numbers." if is_own(self.fun) else
                       f"jit takes arrays, numbers, and pytrees of them; {remedy}")) from error

    def key(self):
        """What a program is kept under; with the types of static values, as 1 and 1.0 are equal and make different programs."""
        count: Any = self.args_count
        if self.static != _NO_STATIC:
            count = (count, *[type(value) for kind in self.static for _, value in kind])
        return self.in_tree, self.avals, self.static, count

    def program(self) -> TracedProgram:
        """The traced program, from the cache if it was traced before."""
        try:
            cache = _programs.get(self.fun)
            if cache is None:
                cache = _programs[self.fun] = {}
        except TypeError:  # a callable without hash or weak references
            return self.trace()
        on = self._arguments_on()
        where = None if on is None else on.mesh.abstract_mesh
        key = (*self.key(), engine.trace_key(), where, *(axis.key() for _, axis in context.state.axes), *metadata_in_force())
        found = cache.get(key)
        if found is not None and found.usable():
            return found
        if flags.explain_cache_misses.value:
            from . import explain  # start-up: loaded only when asked for
            explain.program_miss(self.fun, key, list(cache), lambda k: LazyNames(self.fun, k[0], k[2]))
        with context.ArgumentsOn(on):
            found = self.trace()
        if len(cache) >= _PROGRAMS_PER_FUNCTION:
            cache.clear()
        cache[key] = found
        return found

    def _arguments_on(self) -> Any:
        """The placement of the first argument on a mesh, where no mesh is in use: inside the program, types name that mesh."""
        here = flags.mesh_in_context.value
        if here is not None and here[1] is not None and not here[1].empty:
            return None
        for x in self.flat:
            if isinstance(x, Tracer):
                return context.state.arguments_on
            where = getattr(x, "sharding", None)
            if is_on_mesh(where) and not where.mesh.empty and not where.mesh.explicit_axes:
                return where
        return None

    def trace(self, kind: type[DynamicJaxprTrace] | None = None) -> TracedProgram:
        """The program, written anew; ``kind`` of trace writes it, if given."""
        check_may_trace(self.fun, self.avals)
        self._check_mesh()
        fun, in_tree, static, count = self.fun, self.in_tree, self.static, self.args_count
        out_tree: list = []

        def flat_fun(*leaves):
            args, kwargs = tree.unflatten(in_tree, leaves)
            args, kwargs = put_static(args, kwargs, static, count)
            outs, structure = tree.flatten(fun(*args, **kwargs))
            out_tree[:] = [structure]
            return check_results(fun, structure, outs)
        debug = DebugInfo("jit", describe_function(fun), LazyNames(fun, in_tree, static), LazyPaths(out_tree))
        with timed("/jax/core/compile/jaxpr_trace_duration", "tracing", name_of(fun)):
            jaxpr, consts, _ = trace_to_jaxpr(flat_fun, self.avals, debug, None if kind is None else kind(debug))
        trace = weakref.ref(context.state.trace) if any(isinstance(x, Tracer) for x in consts) else None
        return TracedProgram(jaxpr, consts, out_tree[0], trace)

    def _check_mesh(self):
        """Arguments are typed for the mesh in context, if there is one."""
        here = flags.mesh_in_context.value
        if here is None or here[1] is None or here[1].empty:
            return
        for i, aval in enumerate(self.avals):
            if aval.placement is not None and aval.placement.mesh != here[1]:
                raise ValueError(f"{describe_function(self.fun)}: the mesh in context is {here[1]}, and argument {i} of type {aval.str_short()} is typed "
                                 f"for another, {aval.placement.mesh}; set that one by jax.set_mesh, or move the argument by jax.device_put.")

    def inline(self, program: TracedProgram) -> Any:
        """Write the equations of the call's program into the caller's; results that are numbers of the caller's become arrays."""
        outs = eval_jaxpr(program.closed.jaxpr, program.consts, *self.flat)
        return tree.unflatten(program.out_tree, [
            backends.get().from_host(np.asarray(x, aval.dtype), aval.weak_type) if isinstance(x, _OF_THE_HOST) else x
            for x, aval in zip(outs, program.closed.out_avals)])

    def donated(self) -> tuple[bool, ...]:
        options = self.options
        if not (options.donate_argnums or options.donate_argnames):
            return (False,) * len(self.flat)
        dropped = {i for i, _ in self.static[0]}
        positions = [i for i in range(self.args_count) if i not in dropped]
        donate = {i if i >= 0 else i + self.args_count for i in options.donate_argnums}
        args, kwargs = tree.skeleton(self.in_tree)
        found: list[bool] = []
        for i, arg in zip(positions, args):
            found += [i in donate] * len(tree.leaves(arg))
        for name in sorted(kwargs):
            found += [name in options.donate_argnames] * len(tree.leaves(kwargs[name]))
        return tuple(found)


def _warn_of_large(fun: Callable, consts: Sequence[Any]) -> None:
    """Warn if the arrays that ``fun`` closes over are as large as `jax_captured_constants_warn_bytes`; of tracers their program warns."""
    arrays = sorted((x for x in consts if not isinstance(x, Tracer) and hasattr(x, "nbytes")), key=lambda x: -x.nbytes)
    size = sum(x.nbytes for x in arrays)
    if arrays and size >= flags.captured_constants_warn_bytes.value:
        largest = ", ".join(get_aval(x).str_short() for x in arrays[:3])
        places = source.users_frames(flags.captured_constants_report_frames.value)
        where = f" Traced at {', called at '.join(places)}." if places else ""
        source.warn(f"{describe_function(fun)} closes over {size:,} bytes of arrays, the largest {largest}: they stay in memory "
                    "as long as the program is kept. Pass them as arguments, or raise jax_captured_constants_warn_bytes (-1: no warning)." + where)


def _check_hashable(fun, static):
    for kind in static:
        for where, value in kind:
            if not can_be_key(value):
                raise not_hashable(fun, where, value)


def _why_no_key(value: object) -> Exception | None:
    try:
        hash(value)
    except Exception as error:  # also what a class' own `__hash__` raises, as NumPy's of timedelta64
        return error
    return None


def can_be_key(value: object) -> bool:
    """Whether it can be hashed."""
    return _why_no_key(value) is None


def not_hashable(fun: Callable, where: object, value: object) -> ValueError:
    """What to raise where the static argument ``where`` of ``fun`` cannot be hashed."""
    return ValueError(f"Non-hashable static arguments are used in a jit function: argument {where!r} of "
                      f"{describe_function(fun)} is static, but its value of type {type(value)} is not hashable "
                      f"({_why_no_key(value)}). Static arguments are part of a cache key: pass something immutable such as a "
                      "tuple, or make the argument dynamic.")


def check_results(fun: Callable, structure: PyTreeDef, outs: Sequence[object]) -> Sequence[Any]:
    """Raise TypeError if a result of ``fun`` is not an array."""
    for i, x in enumerate(outs):
        try:
            if type(get_aval(x)) is AbstractRef:
                raise ValueError(_returned_ref(fun, structure, outs, i))
        except TypeError as error:
            raise wrong_result(fun, structure, outs, i) from error
    return outs


def _returned_ref(fun, structure, outs, i) -> str:
    path = tree.keystr(tree.flatten_with_path(tree.unflatten(structure, outs))[0][i][0])
    trace: Any = getattr(outs[i], "_trace", None)  # of a reference that the program made or was given
    debug = getattr(trace, "debug", None)
    made = trace.producer(outs[i]._var) if debug is not None else None
    return (f"function {describe_function(fun)}{f', traced for {debug.traced_for},' if debug and debug.traced_for else ''} returned a mutable "
            f"reference of type {get_aval(outs[i])}{f' at output path {path}' if path else ''}"
            f"{f', made at {made.source_info}' if made else ''}, but references cannot be returned from a traced function; return its "
            "contents, ref[...], or make the reference outside and pass it in.")


# -- running -----------------------------------------------------------------------------------------------------------

def compile_program(closed: ClosedJaxpr, spec: LowerSpec) -> Executable:
    """The executable for ``closed``, compiled once."""
    def make():
        backend = backends.get()
        with timed("/jax/core/compile/jaxpr_to_mlir_module_duration", "jaxpr to MLIR module conversion", f"jit({spec.name})"):
            module = backend.lower(pure(closed), spec)
        if flags.dump_ir_to.value:
            from .dumping import dump  # start-up: loaded only when asked for
            dump(closed, module, spec)
        return backend.compile(module, spec)
    return closed.memo(("executable", spec), make)


def fast_call(run: Run, out_tree: PyTreeDef, inputs: int) -> FastCall | None:
    """The record for the dispatcher, or None where each call needs Python."""
    return None if run.program is None or nans.watching() else FastCall(run.program, out_tree, inputs)


def spec_for(call: Call, program: TracedProgram) -> LowerSpec:
    """How the call is to be lowered."""
    if program.consts and flags.captured_constants_warn_bytes.value >= 0:
        _warn_of_large(call.fun, program.consts)
    options = call.options
    block = backends.get().placements.of_block() if options.in_block else None
    donated = (False,) * len(call.flat) if nans.watching() else call.donated()  # the check reads the arguments again
    return LowerSpec(
        name_of(call.fun), donated, options.keep_unused,
        asked_placements(options.in_shardings, call.in_tree, call.avals, "in_shardings", call.fun),
        placements_of_results(options, program.out_tree, program.closed.out_avals, call.fun, block),
        options.backend, options.device if options.device is not None else block, options.compiler_options)


# -- forgetting --------------------------------------------------------------------------------------------------------

def forget(fun: Callable) -> None:
    """Forget the traced programs of ``fun`` and what they were compiled to."""
    for program in (_programs.pop(fun, None) or {}).values():
        for executable in program.closed.memos("executable"):
            _release(executable)


def _release(executable: Executable) -> None:  # its own function, as the memos of a program have no type (tests/test_backend_members.py)
    executable.release()


def clear_caches() -> None:
    """Forget all traced programs and executables.

    >>> jax.clear_caches()
    """
    _programs.clear()
    caches_cleared.tell()
    clear_type_cache()
    backend = backends.loaded()
    if backend is not None:
        backend.clear_caches()
