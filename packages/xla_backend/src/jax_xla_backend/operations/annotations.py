"""What a program tells XLA about its parts: metadata, the processor that runs them, the order of their operations.

Metadata are attributes of a call; XLA hands them on to the operations when it inlines the call. A value's metadata go to the
operation that computes it.

Source: XLA, ``frontend_attributes``, ``_xla_compute_type``, ``_xla_buffer_placement``; StableHLO, `optimization_barrier`.
"""
from __future__ import annotations

import functools
import inspect
import json
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from jax_core.representation import tree
from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.jaxpr import ClosedJaxpr, Literal
from jax_core.representation.marks import ELEMENTWISE, LINEAR
from jax_core.representation.memory import Space
from jax_core.representation.primitive import Primitive
from jax_core.representation.source import name_stack, under_names
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import PyTree
from jax_core.traces.structural import optimization_barrier_p
from jax_core.transformations.program_call import bind_function, program_call

from ..lowering import metadata

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef

def _text(function: str, name: str, value: Any) -> str:
    """A value of metadata as XLA gets it.

    Raises:
      TypeError: it is neither a string, a bool nor a number.
      ValueError: the name is empty.
    """
    if not name:
        raise ValueError(f"{function}: a name of metadata is empty, that of the value {value!r}; XLA's attributes have names")
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"{function}: metadata values must be str, bool, int or float; that of {name} is {value!r} of type "
                        f"{type(value).__name__}")
    return str(value)


def _call(b: Any, name: str, closed: ClosedJaxpr, xs: Sequence[Any], pairs: Sequence[tuple[str, str]]) -> list:
    """A call of the program with these attributes."""
    before = len(b.lines)
    outs = b.call(name, closed, *xs)
    for i in range(before, len(b.lines)):
        if "func.call @" in b.lines[i]:
            b.lines[i] = metadata.with_attributes(b.lines[i], pairs)
    return outs


# -- metadata --------------------------------------------------------------------------------------------------------

def _metadata_derived(params, closed, tangent, *_):
    if not tangent or params["ad_metadata"] == "same":
        return params
    return {**params, "xla_metadata": params["ad_metadata"]}


xla_metadata_call_p = program_call(
    "xla_metadata_call", lambda b, *xs, jaxpr, xla_metadata, **_: _call(b, "xla_metadata_call", jaxpr, xs, xla_metadata),
    _metadata_derived)


def _value_lower(b, x, *, xla_metadata_kvs):
    pairs = [(k, _text("set_xla_metadata", k, v)) for k, v in xla_metadata_kvs]
    start = f"    {x} = "
    for i in range(len(b.lines) - 1, -1, -1):
        written = b.lines[i].splitlines(keepends=True)  # of one equation it may be a text of several lines
        if written and written[-1].startswith(start):
            b.lines[i] = "".join([*written[:-1], metadata.with_attributes(written[-1], pairs)])
            break
    return x


xla_metadata_value_p: Primitive = Primitive(
    "xla_metadata_value", cacheable=False, out_type=lambda x, **_: x, jvp=LINEAR, batch=ELEMENTWISE, lower=_value_lower,
    transpose=lambda ct, x, **params: xla_metadata_value_p.bind(ct, **params), impl=lambda x, **_: x,
    traits=Traits(Kind.IDENTITY))


def _pairs(function: str, metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((k, _text(function, k, v)) for k, v in metadata.items())


def xla_metadata_call2(f: Callable[..., PyTree] | None = None, /, metadata: Mapping[str, object] | None = None, *,
                       ad_metadata: str | Mapping[str, Any] = "same") -> Callable:
    """``f`` as a call with metadata.

    Args:
      f: the function; without it, a decorator.
      metadata: names and values (strings, bools, numbers).
      ad_metadata: metadata of the parts that compute tangents and cotangents: ``"same"``, ``"drop"`` for none, or others.

    Raises:
      TypeError: an argument or a value is of another kind.

    >>> from jax.experimental.xla_metadata import xla_metadata_call2
    >>> jax.jit(xla_metadata_call2(lambda x: x * 2, {"note": "mine"}, ad_metadata="drop"))(3.)
    Array(6., dtype=float32, weak_type=True)
    """
    if isinstance(f, Mapping) and metadata is None:
        f, metadata = None, f
    if f is None:
        return functools.partial(_decorator, metadata, ad_metadata)
    if not callable(f):
        raise TypeError(f"xla_metadata_call: expected a callable, got {f!r} of type {type(f).__name__}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"xla_metadata_call: metadata must be a dict of names and values, got {metadata!r}")
    if ad_metadata not in ("same", "drop") and not isinstance(ad_metadata, Mapping):
        raise TypeError(f"xla_metadata_call: ad_metadata must be 'same', 'drop' or a dict of names and values, got {ad_metadata!r}")
    pairs = _pairs("xla_metadata_call", metadata or {})
    derivative: Any = ad_metadata
    if ad_metadata != "same":
        derivative = _pairs("xla_metadata_call", ad_metadata) if isinstance(ad_metadata, Mapping) else ()

    @functools.wraps(f)
    def called(*args, **kwargs):
        return bind_function(xla_metadata_call_p, f, args, kwargs, lambda closed, structure: dict(
            xla_metadata=pairs, ad_metadata=derivative))
    return called


def _decorator(metadata, ad_metadata, f):
    return xla_metadata_call2(f, metadata, ad_metadata=ad_metadata)


def xla_metadata_call(f: Callable[..., PyTree] | None = None, /, **meta: Any) -> Callable:
    """``f`` as a call with the metadata ``meta``; derivatives have them too. Without ``f``, a decorator.

    >>> from jax.experimental.xla_metadata import xla_metadata_call
    >>> jax.jit(xla_metadata_call(lambda x: x * 2, note="mine"))(3.)
    Array(6., dtype=float32, weak_type=True)
    """
    return xla_metadata_call2(f, meta)


def must_fuse_call(identifier: object) -> Callable:
    """A decorator: XLA shall make one fusion of all operations of the function (metadata ``MUST_FUSE``).

    >>> from jax.experimental import xla_metadata
    >>> @xla_metadata.must_fuse_call("one")
    ... def f(x):
    ...     return jnp.sin(x) * 2
    >>> jax.jit(f)(0.)
    Array(0., dtype=float32, weak_type=True)
    """
    return xla_metadata_call(MUST_FUSE=identifier)


def scheduling_group(name: str) -> Callable:
    """A decorator: XLA shall schedule the operations of the function as one group.

    >>> from jax.experimental.scheduling_groups import scheduling_group
    >>> @scheduling_group("first")
    ... def double(x):
    ...     return x * 2
    >>> jax.jit(double)(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    return xla_metadata_call(scheduling_group=name)


def set_xla_metadata(x: PyTree = None, **kwargs: Any) -> Any:
    """``x`` (a pytree of arrays), whose values are computed by operations with the metadata ``kwargs``.

    Without ``x``, a context manager and decorator: the operations that are traced inside have them; a value of None takes the name away.

    Raises:
      TypeError: a value of the metadata is neither a string, a bool nor a number.
      ValueError: a name is empty.

    >>> from jax.experimental.xla_metadata import set_xla_metadata
    >>> text = jax.jit(lambda x: set_xla_metadata(x * 2, note="mine")).lower(1.).as_text()
    >>> 'note = "mine"' in text
    True
    """
    pairs = tuple((k, None if v is None else _text("set_xla_metadata", k, v)) for k, v in kwargs.items())
    if x is None:
        return _MetadataBlock(pairs)
    return tree.tree_map(lambda leaf: xla_metadata_value_p.bind(leaf, xla_metadata_kvs=tuple(kwargs.items())), x)


class _MetadataBlock:
    """What is traced inside has metadata; also a decorator of functions, and of what `jit` returns."""

    def __init__(self, pairs: metadata.Pairs):
        self.pairs = pairs
        self.entered: list[Any] = []

    def __enter__(self) -> None:
        block = under_names((*name_stack.names, metadata.Metadata(self.pairs)))
        block.__enter__()
        self.entered.append(block)

    def __exit__(self, *exc: Any) -> None:
        self.entered.pop().__exit__()

    def __call__(self, fun: Callable) -> Callable:
        def inside(f: Callable[..., PyTree]):
            @functools.wraps(f)
            def call(*args, **kwargs):
                with _MetadataBlock(self.pairs):
                    return f(*args, **kwargs)
            return call
        wrapped: Any = inside(fun)
        for stage in ("lower", "trace", "eval_shape"):
            if hasattr(fun, stage):
                setattr(wrapped, stage, inside(getattr(fun, stage)))
        return wrapped


def fuse_limit() -> Any:
    """A context manager: XLA shall not fuse the operations that are traced inside with others (metadata ``FUSE_LIMIT``).

    >>> from jax.experimental import xla_metadata
    >>> def f(x):
    ...     with xla_metadata.fuse_limit():
    ...         return jnp.sin(x) * 2
    >>> jax.jit(f)(0.)
    Array(0., dtype=float32, weak_type=True)
    """
    return set_xla_metadata(FUSE_LIMIT=True)


# -- the processor ---------------------------------------------------------------------------------------------------

_COMPUTE_TYPES = {"device_host": "host", "device": "dense", "tpu_sparsecore": "sparse"}


def _spaces_of(name: str) -> dict[str, Callable]:
    """What the parameter ``name``, the kinds of memory of results, is for derived programs; any kind will do for what is new."""
    def for_results(params: dict, spaces: Sequence[Space]) -> dict:
        new = len(params["jaxpr"].out_avals) - len(spaces)
        return {**params, name: (*spaces, *[Space.Any] * new)[:len(params["jaxpr"].out_avals)]}

    def derived(params: dict, closed: ClosedJaxpr, tangent: bool, inputs: object, outputs: Sequence[bool] | None) -> dict:
        spaces = params[name]
        return for_results(params, spaces if outputs is None else [space for space, there in zip(spaces, outputs) if there])

    def said(params: dict, original: Mapping[str, Sequence[Space]], ins: object, outs: Sequence[tuple | None]) -> dict:
        return for_results(params, [Space.Any if role is None or role[0] == 0 else original[name][role[1]] for role in outs])
    return {"derived": derived, "said": said}


def _compute_lower(b, *xs, jaxpr, compute_type, out_memory_spaces, compiler_options_json):
    kind = _COMPUTE_TYPES.get(compute_type, compute_type)
    pairs = [] if kind == "dense" else [("_xla_compute_type", kind)]
    if compiler_options_json is not None:
        pairs.append(("_xla_compiler_options", compiler_options_json))
    return _moved(b, _call(b, "compute_on", jaxpr, xs, pairs), out_memory_spaces)


def _moved(b, outs, spaces):
    return [x if space is Space.Any else b.to_memory(x, out) for x, out, space in zip(outs, b.out_avals, spaces)]


def _in_spaces(avals, spaces):
    return [a if space is Space.Any else a.update(memory_space=space) for a, space in zip(avals, spaces)]


def _compute_types(*avals, jaxpr, out_memory_spaces, **_):
    return _in_spaces(jaxpr.out_avals, out_memory_spaces)


compute_on_p = program_call("compute_on", _compute_lower, **_spaces_of("out_memory_spaces"), out_type=_compute_types)


def compute_on(f: Callable[..., PyTree] | None = None, *, compute_type: str, out_memory_spaces: object,
               compiler_options: Mapping[str, object] | None = None) -> Callable:
    """``f``, run by another processor of the device (on the CPU platform there is one, which runs it).

    Args:
      f: the function; without it, a decorator.
      compute_type: ``"device_host"``, ``"device"`` or ``"tpu_sparsecore"``.
      out_memory_spaces: a `jax.memory.Space` for each result, as a pytree prefix of the results.
      compiler_options: options for compiling it.

    Raises:
      ValueError: ``compute_type`` is unknown.

    >>> from jax.experimental.compute_on import compute_on
    >>> double = compute_on(lambda x: x * 2, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    >>> jax.jit(double)(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    if compute_type not in _COMPUTE_TYPES and not str(compute_type).startswith("gpu_stream:"):
        raise ValueError(f"compute_on: invalid compute type {compute_type!r}; it must be one of "
                         f"{', '.join(map(repr, _COMPUTE_TYPES))}, or 'gpu_stream:<number>'.")
    if f is None:
        return lambda f: compute_on(f, compute_type=compute_type, out_memory_spaces=out_memory_spaces,
                                    compiler_options=compiler_options)
    options = None if compiler_options is None else json.dumps(dict(compiler_options), sort_keys=True)

    @functools.wraps(f)
    def placed(*args, **kwargs):
        def params(closed: ClosedJaxpr, structure: PyTreeDef):
            spaces = tree.broadcast_prefix(out_memory_spaces, tree.unflatten(structure, [0] * structure.num_leaves))
            return dict(compute_type=compute_type, out_memory_spaces=tuple(spaces), compiler_options_json=options)
        return bind_function(compute_on_p, f, args, kwargs, params)
    return placed


def fused(*, out_spaces: object) -> Callable:
    """A decorator: the function is one call, whose results go to the given kinds of memory; its arguments may lie in any.

    Args:
      out_spaces: a `jax.memory.Space` for each result, as a pytree prefix of the results.

    >>> from jax.experimental.fused import fused
    >>> @fused(out_spaces=jax.memory.Space.Device)
    ... def double(x):
    ...     return x * 2
    >>> jax.jit(double)(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    def decorate(f: Callable[..., PyTree]):
        @functools.wraps(f)
        def call(*args, **kwargs):
            def params(closed: ClosedJaxpr, structure: PyTreeDef):
                spaces = tree.broadcast_prefix(out_spaces, tree.unflatten(structure, [0] * structure.num_leaves))
                return dict(out_spaces=tuple(spaces))
            return bind_function(fused_p, f, args, kwargs, params, _on_device)
        return call
    return decorate


def _on_device(aval: AbstractValue) -> AbstractValue:
    """The type of the value in the memory where programs compute; ``aval`` itself if it lies there."""
    return aval.update(memory_space=Space.Device) if isinstance(aval, ShapedArray) and aval.memory_space is Space.Host else aval


def _fused_lower(b, *xs, jaxpr, out_spaces):
    xs = [x if (here := _on_device(x.aval)) is x.aval else b.to_memory(x, here) for x in xs]
    return _moved(b, _call(b, "fused", jaxpr, xs, [("inlineable", "false")]), out_spaces)


def _fused_types(*avals, jaxpr, out_spaces):
    return _in_spaces(jaxpr.out_avals, out_spaces)


fused_p = program_call("fused", _fused_lower, **_spaces_of("out_spaces"), out_type=_fused_types)


# -- the order -------------------------------------------------------------------------------------------------------

def _in_order(closed: ClosedJaxpr, strict_in: bool, strict_out: bool, excluded: Sequence[bool]) -> Callable:
    """The program with a barrier behind each operation, which the operands of the next one pass."""
    jaxpr = closed.jaxpr

    def run(*args):
        env = dict(zip(jaxpr.constvars, closed.consts))
        env.update(zip(jaxpr.invars, args))
        free = {v for v, e in zip(jaxpr.invars, excluded) if e}

        def together(variables):
            """Nothing of these is used before all of them are there."""
            ours = list(dict.fromkeys(v for v in variables if type(v) is not Literal and v not in free))
            if len(ours) > 1:
                env.update(zip(ours, optimization_barrier_p.bind(*[env[v] for v in ours])))
        if strict_in:
            together(jaxpr.invars)
        before: list = []
        for eqn in jaxpr.eqns:
            together([*before, *eqn.invars] if before else [])
            values = [x.val if type(x) is Literal else env[x] for x in eqn.invars]
            out = eqn.primitive.bind(*values, **eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
            before = list(eqn.outvars)
        if strict_out:
            together(jaxpr.outvars)
        return [x.val if type(x) is Literal else env[x] for x in jaxpr.outvars]
    return run


def _order_lower(b, *xs, jaxpr, enforce, strict_in, strict_out, exclude_mask):
    if not enforce:
        return b.jaxpr(jaxpr, *xs)
    return b.fun(_in_order(jaxpr, strict_in, strict_out, exclude_mask), *xs)


def _order_derived(params, closed, tangent, *_):
    return {**params, "exclude_mask": (False,) * len(closed.in_avals)}


program_order_p = program_call("program_order", _order_lower, _order_derived)


def program_order(f: Callable[..., PyTree] | None = None, *, enforce: bool, strict_in_out: bool = False,
                  exclude_argnames: Sequence[str] | None = None) -> Callable:
    """``f``, whose operations run in the order in which they were written.

    Args:
      f: the function; without it, a decorator.
      enforce: false leaves the order to the compiler.
      strict_in_out: nothing runs before all arguments are there, and no result is used before all are.
      exclude_argnames: arguments that take no part: what reads them only is ordered by its other operands.

    Raises:
      ValueError: ``f`` has no argument of such a name.

    >>> from jax.experimental.overlap import program_order
    >>> jax.jit(program_order(lambda x: (x + 1) * 2, enforce=True))(jnp.arange(3.))
    Array([2., 4., 6.], dtype=float32)
    """
    if f is None:
        return lambda f: program_order(f, enforce=enforce, strict_in_out=strict_in_out, exclude_argnames=exclude_argnames)
    names = tuple(exclude_argnames or ())
    signature = inspect.signature(f)
    unknown = [n for n in names if n not in signature.parameters]
    if unknown:
        raise ValueError(f"program_order: exclude_argnames has {unknown}, which are not parameters of {f.__name__}")

    @functools.wraps(f)
    def ordered(*args, **kwargs):
        bound = signature.bind(*args, **kwargs).arguments
        left_out = {id(x) for n in names if n in bound for x in tree.tree_leaves(bound[n])}
        flags = [id(x) in left_out for x in tree.tree_leaves((args, kwargs))]
        return bind_function(program_order_p, f, args, kwargs, lambda closed, structure: dict(
            enforce=bool(enforce), strict_in=strict_in_out, strict_out=strict_in_out,
            exclude_mask=(False,) * (len(closed.in_avals) - len(flags)) + tuple(flags)))
    return ordered


__all__ = ["compute_on", "compute_on_p", "fuse_limit", "fused", "fused_p", "must_fuse_call", "program_order", "program_order_p",
           "scheduling_group", "set_xla_metadata", "xla_metadata_call", "xla_metadata_call2", "xla_metadata_call_p",
           "xla_metadata_value_p"]
