"""jit: trace once for each combination of argument types, compile, and let the backend's dispatcher repeat the call.

Layers of caching, from the outside in:

1. the backend's dispatcher (C++): argument types and static values seen before, no Python at all;
2. traced programs, by function, argument structure and types, static values, and configuration;
3. what is derived from a program (derivative, batched form, executable) lives in the program (`ClosedJaxpr.memo`);
4. compiled modules by their text, in the backend.

Inside another transformation, a jitted function is one equation, `jit`, that holds its program.
"""
from __future__ import annotations

import functools
import inspect
import weakref
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from .. import backends, extension_points
from ..configuration import context, flags
from ..references.discharge import check_aliases, pure
from ..representation import high, source, tree
from ..representation.arguments import check_callable
from ..representation.array import Array
from ..representation.dtypes import ExtendedDType
from ..representation.jaxpr import Jaxpr, subjaxprs
from ..representation.placements import is_placement
from ..representation.source import describe_function, name_of
from ..representation.tracebacks import boundary, shorten
from ..representation.typing import Placement, PyTree
from ..traces import nans
from ..traces.trace import EVAL, Tracer, escaped
from . import stages
from .call import Call, TracedProgram, can_be_key, compile_program, fast_call, forget, not_hashable, spec_for
from .jit_primitive import jit_p, jit_params
from .options import UNSPECIFIED, Inline, JitOptions


def jit(fun: Any = UNSPECIFIED, /, *, in_shardings: PyTree = None, out_shardings: PyTree = None,
        static_argnums: int | Sequence[int] | None = None, static_argnames: str | Iterable[str] | None = None,
        donate_argnums: int | Sequence[int] | None = None, donate_argnames: str | Iterable[str] | None = None,
        keep_unused: bool = False, device: Placement | None = None, backend: str | None = None,
        inline: "bool | Inline" = False, compiler_options: dict[str, Any] | None = None) -> Any:
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

    >>> double = jax.jit(lambda x: 2 * x)
    >>> double(jnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    if fun is UNSPECIFIED:
        return functools.partial(
            jit, in_shardings=in_shardings, out_shardings=out_shardings, static_argnums=static_argnums,
            static_argnames=static_argnames, donate_argnums=donate_argnums, donate_argnames=donate_argnames,
            keep_unused=keep_unused, device=device, backend=backend, inline=inline, compiler_options=compiler_options)
    return _jitted(fun, in_shardings, out_shardings, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused,
                   device, backend, inline, compiler_options)


def _jitted(fun, in_shardings, out_shardings, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, device,
            backend, inline, compiler_options, in_block=False):
    check_callable("jit", fun)
    if isinstance(fun, (staticmethod, classmethod)):
        raise TypeError(f"jit: a {type(fun).__name__} object is no function yet; write @{type(fun).__name__} above @jax.jit, not below")
    if device is not None and not (is_placement(device) or hasattr(device, "device_kind")):
        raise TypeError(f"jit: device must be one of jax.devices() or a sharding, got {device!r} of type {type(device).__name__}; "
                        "backend takes the name of a platform")
    if device is not None and backend is not None:
        raise ValueError("jit: give device or backend, not both")
    if device is not None or backend is not None:
        source.warn("jit: device and backend are there for older programs only: put the arguments where the program is to run, with "
                    "jax.device_put, or give in_shardings", DeprecationWarning)
    if (device is not None or backend is not None) and any([s is not None and s is not UNSPECIFIED for s in (in_shardings, out_shardings)]):
        raise ValueError("jit: device and backend say where everything is, so in_shardings and out_shardings cannot be given with them")
    options = JitOptions(fun, static_argnums, static_argnames, donate_argnums, donate_argnames, in_shardings,
                         out_shardings, keep_unused, device, backend, inline, compiler_options, in_block)

    @functools.wraps(fun)
    def miss(*args, **kwargs):
        return _call_miss(fun, options, args, kwargs)

    wrapped = backends.get().dispatcher(fun, miss, options.static_argnums, options.static_argnames, name_of(fun),
                                        options.key(), donate_argnums=options.donate_argnums, donate_argnames=options.donate_argnames)
    if not hasattr(fun, "__name__"):  # a partial, an object that is called
        wrapped.__name__ = wrapped.__qualname__ = name_of(fun)
    _add_methods(wrapped, fun, options)
    made_from = (fun, in_shardings, out_shardings, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused,
                 device, backend, inline, compiler_options, in_block)
    wrapped.__reduce_ex__ = lambda protocol: (_jitted, made_from)  # picklers of functions (cloudpickle) jit the function anew where it arrives
    return wrapped


def pjit(fun: Callable[..., PyTree], in_shardings: PyTree = None, out_shardings: PyTree = UNSPECIFIED,
         static_argnums: int | Sequence[int] | None = None, static_argnames: str | Iterable[str] | None = None,
         donate_argnums: int | Sequence[int] | None = None, donate_argnames: str | Iterable[str] | None = None,
         keep_unused: bool = False, device: Placement | None = None, backend: str | None = None,
         inline: "bool | Inline" = False, compiler_options: dict[str, Any] | None = None) -> Any:
    """`jit` under its older name, which takes the placements also by position, and reads the mesh of a ``with mesh:`` block.

    Inside such a block the program runs on all devices of the mesh, and None among ``out_shardings`` asks for whole results on each.

    Raises:
      ValueError: in such a block, an argument is committed to other devices than those of the mesh.

    >>> from jax.experimental.pjit import pjit
    >>> pjit(lambda x: x * 2)(jnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    return _jitted(fun, in_shardings, out_shardings, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused,
                   device, backend, inline, compiler_options, in_block=True)


def _add_methods(wrapped, fun, options):
    def trace_known(*args, **kwargs):
        args, kwargs = stages.with_types(args, kwargs, options.static_argnums, options.static_argnames)
        return stages.trace_call(Call(fun, options, args, kwargs))

    @boundary(fun)
    def trace(*args, **kwargs):
        symbolic = extension_points.symbolic_shapes.value
        if symbolic is not None and symbolic.in_arguments(tree.leaves((args, kwargs))):
            return symbolic.trace(fun, trace_known, args, kwargs)  # not itself, which would be a cycle, as below
        return trace_known(*args, **kwargs)

    @boundary(fun)
    def lower(*args, _private_parameters=None, lowering_platforms=None, **kwargs):
        return trace(*args, **kwargs).lower(lowering_platforms=lowering_platforms)

    def eval_shape(*args, **kwargs):
        return trace(*args, **kwargs).out_info

    own = weakref.ref(wrapped)  # it holds its methods: a cycle would keep what ``fun`` closes over until the collector comes

    def clear_cache():
        forget(fun)
        alive = own()
        if alive is not None:
            alive._clear_cache()

    functools.update_wrapper(wrapped, fun)
    wrapped.trace, wrapped.lower, wrapped.eval_shape, wrapped.clear_cache = trace, lower, eval_shape, clear_cache
    wrapped.__wrapped__ = fun


def inlined(fun: Callable[..., PyTree] | None = None, *, static_argnums: int | Sequence[int] = (),
            static_argnames: str | Sequence[str] = (), lists: Sequence[str] = (), wide_numbers: bool = False,
            rather_plain: Callable[[tuple], bool] | None = None) -> Any:
    """For functions of the numpy-like packages: one compiled call when eager, plain Python inside any transformation.

    Static arguments as for `jit`: one that cannot be hashed is a ValueError, inside a transformation only if ``fun`` raises too, as
    hashing takes time. A transformation sees the primitives that ``fun`` binds, nothing nested.

    Args:
      lists: static arguments that may be lists or arrays, as of axes, and are made tuples.
      wide_numbers: Python ints that no integer argument of a program holds are taken too, by plain Python, where ``fun`` makes floats of them.
      rather_plain: ``rather_plain(args)`` says whether an eager call that is not compiled yet shall run as plain Python; asked
        until it says no for arguments of these types. Compiled calls never enter Python.
    """
    if fun is None:
        return functools.partial(inlined, static_argnums=static_argnums, static_argnames=static_argnames, lists=lists,
                                 wide_numbers=wide_numbers, rather_plain=rather_plain)
    nums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    compiled = None

    @functools.wraps(fun)
    def call(*args, **kwargs):
        nonlocal compiled
        try:
            if context.state.trace is not EVAL:
                return fun(*args, **kwargs)
            if compiled is None:
                if rather_plain is None:
                    compiled = jit(fun, inline=True, static_argnums=nums or None, static_argnames=static_argnames or None)
                else:
                    compiled = inlined_later(fun, rather_plain, nums, static_argnames)
            return compiled(*args, **kwargs)
        except Exception as error:
            if wide_numbers and isinstance(error, OverflowError) and context.state.trace is EVAL:
                return fun(*args, **kwargs)
            wrong = _unhashable(fun, nums, names, args, kwargs) if nums or names else ()
            meant = {name: key for name, value in wrong if can_be_key(key := _key_of(value, name in lists))}
            if meant:
                args, kwargs = _with_keys(fun, meant, args, kwargs)
                return call(*args, **kwargs)
            wrong = [x for x in wrong if x[0] not in lists or not isinstance(x[1], Tracer)]
            if not wrong:
                shorten(error)
                raise
        raise not_hashable(fun, *wrong[0])
    return call


def _unhashable(fun: Callable, nums: tuple, names: tuple, args: tuple, kwargs: dict) -> list[tuple[str, Any]]:
    """The static arguments that cannot be keys, and what they are called; none where ``fun`` cannot be called so."""
    try:
        given = inspect.signature(fun).bind(*args, **kwargs).arguments
    except TypeError:
        return []
    return [(name, x) for i, (name, x) in enumerate(given.items()) if (i in nums or name in names) and not can_be_key(x)]


def _with_keys(fun: Callable, keys: dict, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments, those named in ``keys`` replaced."""
    given = inspect.signature(fun).bind(*args, **kwargs)
    given.arguments.update(keys)
    return given.args, given.kwargs


def _key_of(x: Any, sequence: bool) -> Any:
    """What an argument that cannot be a key stands for: a number for an array without axes; tuples, if it may be a ``sequence``.
    Random keys, which have no `tolist`, stand for nothing."""
    if isinstance(x, Tracer):
        return x
    if isinstance(x, np.ndarray | Array) and hasattr(x, "tolist") and (sequence or not x.ndim):
        x = x.tolist()
    return tuple([_key_of(y, True) for y in x]) if sequence and isinstance(x, (list, dict)) else x


_MANY_TYPES = 1 << 12


def inlined_later(fun: Callable, rather_plain: Callable[[tuple], bool], static_argnums: tuple = (),
                  static_argnames: str | Sequence[str] = ()) -> Callable:
    """`jit` with ``inline``, for eager calls of functions that also run well as plain Python; see `inlined`."""
    options = JitOptions(fun, static_argnums or None, static_argnames or None, None, None, None, None, False, None, None, True, None)
    plain: set = set()

    def miss(*args, **kwargs):
        given = (*args, *kwargs.values()) if kwargs else args
        key = tuple(getattr(x, "aval", type(x)) for x in given)
        if rather_plain(given):
            if len(plain) < _MANY_TYPES:
                plain.add(key)
            return fun(*args, **kwargs), None
        result, fast = _call_miss(fun, options, args, kwargs)
        if key in plain or len(plain) >= _MANY_TYPES:  # the dispatcher remembers that there was nothing to repeat; the next call shall ask again
            plain.clear()
            call._clear_cache()
        return result, fast

    call = backends.get().dispatcher(fun, miss, options.static_argnums, options.static_argnames, name_of(fun), object())
    return call


# -- a call that the dispatcher has not seen ----------------------------------------------------------------------------

def _check_outermost(fun: Callable, options: JitOptions, trace: Any) -> None:
    """Raise ValueError where the call is part of a larger program, which is compiled with options of its own."""
    while trace.parent is not None:
        trace = trace.parent
    if trace is not EVAL:
        raise ValueError(f"jit: {describe_function(fun)} is called inside a function that is traced, and its compiler_options="
                         f"{dict(options.compiler_options)} hold for whole programs; give them to the outermost jit.")


def _runs_now(call: Call, program: TracedProgram, trace: Any) -> bool:
    """Whether nothing in the call is traced, as in an eager derivative: then it is run as one program, not equation by equation."""
    while trace.parent is not None:
        trace = trace.parent
    return trace is EVAL and not any([isinstance(x, Tracer) for x in (*call.flat, *program.consts)])


unseen = [0]  # how many calls at top level the dispatcher did not know; see `public.listeners.count_unseen_calls`


def _call_miss(fun: Callable, options: JitOptions, args: tuple, kwargs: dict):
    if flags.disable_jit.value:
        return fun(*args, **kwargs), None
    trace = context.state.trace
    call = Call(fun, options, args, kwargs)
    if options.compiler_options:
        _check_outermost(fun, options, trace)
    if trace is not EVAL:
        program = call.program()
        if options.inline is Inline.JAX_EARLY and not _runs_now(call, program, trace):
            return call.inline(program), None
        if flags.debug_key_reuse.value:
            _note_keys(call, program)
        if program.refs:
            check_aliases("jit", call.fun, call.in_tree, call.static, program.consts, call.flat)
        outs = jit_p.bind(*program.consts, *call.flat, **jit_params(
            program.hoisted, name_of(fun), (False,) * len(program.consts) + call.donated(), options, call))
        return tree.unflatten(program.out_tree, outs), None
    unseen[0] += 1
    for x in call.flat:
        if isinstance(x, Tracer):
            raise escaped(x)
    program = call.program()
    keys = _note_keys(call, program) if flags.debug_key_reuse.value else None
    if program.refs or high.holds_high(program.hoisted):
        return _run_bound(call, program), None
    spec = spec_for(call, program)
    executable = compile_program(program.closed, spec)
    run = executable.execute(call.flat)
    if nans.watching():
        nans.check_program(pure(program.closed), call.flat, run.results, name_of(fun), source.caller_of(fun))
    if keys is not None:
        keys.after_call(run.results, program.hoisted)
    return tree.unflatten(program.out_tree, run.results), None if keys is not None else fast_call(run, program.out_tree, len(call.flat))


def _run_bound(call: Call, program: TracedProgram) -> Any:
    """Run a program on mutable references, whose new values are stored, or on high-level types."""
    check_aliases("jit", call.fun, call.in_tree, call.static, program.consts, call.flat)
    donated = (False,) * len(program.consts) + call.donated()
    args = [*program.consts, *call.flat]
    outs = jit_p.bind(*args, **jit_params(program.hoisted, name_of(call.fun), donated, call.options, call))
    return tree.unflatten(program.out_tree, outs)


def _note_keys(call: Call, program: TracedProgram) -> ExtendedDType | None:
    """Let the dtype of keys, passed, closed over or made inside, check whether the program uses them up a second time; that dtype, if any."""
    found = program.hoisted.memo("dtype of keys", functools.partial(_extended_dtype, program.hoisted.jaxpr))
    if found is not None:
        found.before_call(name_of(call.fun), (*program.consts, *call.flat), program.hoisted)
    return found


def _extended_dtype(jaxpr: Jaxpr) -> ExtendedDType | None:
    """The first dtype in a program that NumPy does not know."""
    avals = [v.aval for v in (*jaxpr.invars, *(v for eqn in jaxpr.eqns for v in eqn.outvars))]
    known = (getattr(aval, "dtype", None) for aval in avals)
    found = next((dtype for dtype in known if isinstance(dtype, ExtendedDType)), None)
    inside = (_extended_dtype(inner) for inner in subjaxprs(jaxpr)) if found is None else ()
    return next((dtype for dtype in inside if dtype is not None), found)
