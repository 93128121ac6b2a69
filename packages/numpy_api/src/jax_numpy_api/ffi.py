"""Calls of compiled functions from programs: XLA's foreign function interface.

A handler is compiled C++ that XLA calls with pointers to buffers. It is registered with the backend under a name
(`register_ffi_target`); `ffi_call` is a function of arrays that calls it, under `jit` as well as eagerly.

Source: XLA, "Foreign Function Interface"; StableHLO specification, `custom_call`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.public.interpreters_mlir import BuilderRule
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray, abstract_token, get_aval
from jax_core.representation.effects import UsualEffect
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import PyTree
from jax_core.traces.structural import broadcast_in_dim, moved

from .lax.control_flow.scan import scan

if TYPE_CHECKING:
    from jax_core.interfaces import Builder
    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.typing import ArrayLike
    from jax_core.transformations.batching import AxisData

VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized", None)


class FfiEffect(UsualEffect):
    """The call does something besides computing its results."""

    def __repr__(self):
        return "FfiEffect"


_EFFECTS = frozenset({FfiEffect()})


class _Frozen:
    """A parameter with contents that cannot be hashed: an array, or a mapping."""

    __slots__ = ("value", "key")

    def __init__(self, value: Any, key: Any):
        self.value, self.key = value, key

    def __eq__(self, other):
        return isinstance(other, _Frozen) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return repr(self.value)


def _freeze(target: str, name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _Frozen(dict(value), tuple((k, _freeze(target, f"{name}.{k}", v)) for k, v in value.items()))
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        raise OverflowError(f"ffi_call of {target!r}: {name}={value} does not fit 64 bits, which attributes that are Python integers have")
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (bool, int, float, np.bool_, np.number, np.dtype)):
        return _Frozen(value, (type(value), repr(value)))  # 1, True, 1.0 and np.int8(1) are equal, and not the same attribute
    if isinstance(value, list):
        raise TypeError(f"ffi_call of {target!r}: {name}={value!r} is a list, which can change after the call; give an array of NumPy or a tuple")
    if isinstance(value, tuple):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 1:
        return _Frozen(value, (value.shape, value.dtype.str, value.tobytes()))
    raise TypeError(f"ffi_call of {target!r}: no attribute handler defined for {name}={value!r} of type "
                    f"{type(value).__name__}; attributes are truth values, numbers, strings, bytes, one-dimensional arrays and "
                    "mappings of these, and dtypes. Pass arrays as operands.")


def _thaw(value: Any) -> Any:
    value = value.value if isinstance(value, _Frozen) else value
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _order(where: str, layout: Any, ndim: int) -> tuple[int, ...]:
    """A layout as the axes from the slowest to the fastest varying."""
    if layout is None:
        return tuple(range(ndim))
    order = tuple(getattr(layout, "major_to_minor", layout))
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"{where}: layout {order} is not a permutation of the {ndim} axes of the array")
    return order


def _ndim(aval: Any) -> int:
    return 0 if aval is abstract_token else len(aval.shape)


def _minor_to_major(orders: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [order[::-1] for order in orders]


# -- the primitive -----------------------------------------------------------------------------------------------------------

def _ffi_lower(b, *xs, target_name, has_side_effect, input_layouts, output_layouts, input_output_aliases,
               custom_call_api_version, legacy_backend_config, attributes, **_):
    config = {k: _thaw(v) for k, v in attributes} if custom_call_api_version >= 4 else legacy_backend_config or ""
    return b.custom_call(
        target_name, *xs, out=list(b.out_avals), backend_config=config, api_version=custom_call_api_version,
        has_side_effect=has_side_effect, operand_layouts=_minor_to_major(input_layouts),
        result_layouts=_minor_to_major(output_layouts), output_operand_aliases=dict(input_output_aliases))


def _ffi_transpose(cts, *args, target_name, **params):
    raise ValueError(f"The FFI call to `{target_name}` has no transpose, as nothing says that it is linear. Give the function around it a rule "
                     "with `jax.custom_vjp` or `jax.custom_derivatives.linear_call`.")


def _ffi_jvp(primals, tangents, *, target_name, **params):
    raise ValueError(f"The FFI call to `{target_name}` cannot be differentiated. Give the function around it a derivative with "
                     "`jax.custom_jvp` or `jax.custom_vjp`.")


def vmap_by_method(what: str, method: str | None, axis: AxisData, args: Sequence[ArrayLike], dims: Sequence[int | None],
                   call: Callable[[Sequence[Any], list[bool] | None], list]) -> tuple[list, list]:
    """The batching rule of calls that know nothing of batches, see `ffi_call`.

    Args:
      what: the call, for messages.
      call: ``call(operands, batched)`` makes it: with None for one element; else with a leading axis on all results, and on the
        operands that are flagged.
    """
    if method is None:
        raise NotImplementedError(
            f"vmap of {what}: vmap is only supported when it is given a vmap_method, one of 'sequential', 'sequential_unrolled', "
            "'expand_dims', 'broadcast_all' and 'legacy_vectorized'. Got vmap_method=None.")
    args = [moved(x, d, 0) for x, d in zip(args, dims)]
    mapped = [d is not None for d in dims]
    if method in ("sequential", "sequential_unrolled"):
        def one(_: object, rows):
            rows = iter(rows)
            return None, call([next(rows) if m else x for x, m in zip(args, mapped)], None)
        unroll = axis.size if method == "sequential_unrolled" else 1
        _, outs = scan(one, None, [x for x, m in zip(args, mapped) if m], length=axis.size, unroll=unroll)
        return outs, [0] * len(outs)
    if method != "legacy_vectorized":
        size = 1 if method == "expand_dims" else axis.size
        args = [x if m else broadcast_in_dim(x, (size, *np.shape(x)), range(1, 1 + np.ndim(x))) for x, m in zip(args, mapped)]
        mapped = [True] * len(args)
    outs = call(args, mapped)
    return outs, [0] * len(outs)


def batched_avals(axis: AxisData, avals: Sequence[ShapedArray]) -> tuple[ShapedArray, ...]:
    """The types with a leading axis."""
    return tuple(ShapedArray((axis.size, *a.shape), a.dtype) for a in avals)


def _ffi_batch(axis, args, dims, *, target_name, vmap_method, input_layouts, output_layouts, result_avals, **params):
    batched_order = lambda order: (0, *(i + 1 for i in order))

    def call(operands, batched: Sequence[bool]):
        ins, outs, avals = input_layouts, output_layouts, result_avals
        if batched is not None:
            ins = tuple(batched_order(o) if m else o for o, m in zip(ins, batched))
            outs, avals = tuple(map(batched_order, outs)), batched_avals(axis, avals)
        return ffi_call_p.bind(*operands, target_name=target_name, vmap_method=vmap_method, input_layouts=ins, output_layouts=outs,
                               result_avals=avals, **params)
    return vmap_by_method(f"the FFI call to `{target_name}`", vmap_method, axis, args, dims, call)


ffi_call_p = Primitive(
    "ffi_call", multiple_results=True, out_type=lambda *avals, result_avals, **_: result_avals,
    effects=lambda *avals, has_side_effect, **_: _EFFECTS if has_side_effect else frozenset(),
    jvp=_ffi_jvp, transpose=_ffi_transpose, batch=_ffi_batch, lower=_ffi_lower,
    traits=Traits(Kind.LIBRARY))


# -- public functions ----------------------------------------------------------------------------------------------------------

def _check_target(function: str, name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{function}: a handler is named by a string, got {name!r} of type {type(name).__name__}")


def ffi_call(target_name: str, result_shape_dtypes: PyTree, *, has_side_effect: bool = False,
             vmap_method: str | None = None, input_layouts: Sequence[Any] | None = None, output_layouts: Any = None,
             input_output_aliases: dict[int, int] | None = None, custom_call_api_version: int = 4,
             legacy_backend_config: str | None = None) -> Callable[..., Any]:
    """A function of arrays that calls the handler registered as ``target_name``.

    Args:
      result_shape_dtypes: the result's type, as anything with a ``shape`` and a ``dtype``; a sequence where there are many.
      has_side_effect: the call happens even if nobody reads its results.
      vmap_method: what `vmap` does: ``"sequential"`` calls once for each element, in a loop, and ``"sequential_unrolled"``
        without one; the others call once, with a leading axis on all operands and results: ``"broadcast_all"`` repeats operands
        that are not mapped, ``"expand_dims"`` gives them an axis of length 1, ``"legacy_vectorized"`` leaves them as they are.
        None: an error.
      input_layouts, output_layouts: for each array its axes from the slowest to the fastest varying (or a `Layout`); None
        for row-major.
      input_output_aliases: for an operand's number, that of the result which takes its buffer.
      custom_call_api_version: 4 for handlers of the typed interface; older ones get no attributes.
      legacy_backend_config: a string for handlers of older versions.

    Returns:
      ``call(*arrays, **attributes)``: one array, or a tuple or list of arrays. Attributes are fixed when the call is compiled: truth
      values, numbers, strings, bytes, one-dimensional NumPy arrays and mappings of these. NumPy scalars say their width
      (``np.int32(3)``); Python's have 64 bits.

    Raises:
      ValueError: the options do not fit each other or the operands.
      TypeError: an attribute has no form that handlers could read. OverflowError: or is an integer that 64 bits cannot hold.

    The program is made, whether or not the handler is registered in this process:

    >>> call = jax.ffi.ffi_call("my_double", jax.ShapeDtypeStruct((3,), jnp.float32))
    >>> jax.eval_shape(lambda x: call(x, factor=2.), jnp.ones(3))
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    _check_target("ffi_call", target_name)
    if vmap_method not in VMAP_METHODS:
        raise ValueError(f"ffi_call: vmap_method={vmap_method!r} is unknown; give one of {', '.join(map(repr, VMAP_METHODS))}")
    many = isinstance(result_shape_dtypes, Sequence)
    result_avals = tuple(_result_aval(i, r) for i, r in enumerate(result_shape_dtypes if many else (result_shape_dtypes,)))
    if many and output_layouts is not None and len(output_layouts) != len(result_avals):
        raise ValueError(f"ffi_call of {target_name!r}: the number of results ({len(result_avals)}) must equal the number of "
                         f"output layouts ({len(output_layouts)}).")
    given = [None] * len(result_avals) if output_layouts is None else output_layouts if many else [output_layouts]
    out_orders = tuple(_order(f"ffi_call of {target_name!r}, output {i}", layout, _ndim(a))
                       for i, (layout, a) in enumerate(zip(given, result_avals)))

    def call(*args: Any, **attributes: Any) -> Any:
        in_avals = [get_aval(x) for x in args]
        if input_layouts is not None and len(input_layouts) != len(args):
            raise ValueError(f"ffi_call of {target_name!r}: the number of input arguments ({len(args)}) must equal the number of "
                             f"input layouts ({len(input_layouts)}).")
        in_orders = tuple(_order(f"ffi_call of {target_name!r}, input {i}", layout, _ndim(a)) for i, (layout, a) in enumerate(
            zip([None] * len(args) if input_layouts is None else input_layouts, in_avals)))
        if legacy_backend_config is not None and custom_call_api_version >= 4:
            raise ValueError(f"ffi_call of {target_name!r}: legacy_backend_config is for handlers of older versions, and "
                             f"custom_call_api_version={custom_call_api_version}; give a version below 4, or pass keyword arguments of the "
                             "call, which a handler of the typed interface reads as attributes")
        if attributes and custom_call_api_version < 4:
            raise ValueError(f"ffi_call of {target_name!r}: attributes {sorted(attributes)} need custom_call_api_version=4 or more, "
                             f"got {custom_call_api_version}; older handlers take a string, legacy_backend_config")
        outs = ffi_call_p.bind(
            *args, result_avals=result_avals, vmap_method=vmap_method, target_name=target_name, has_side_effect=has_side_effect,
            input_layouts=in_orders, output_layouts=out_orders,
            input_output_aliases=check_aliases(f"ffi_call of {target_name!r}", input_output_aliases, in_avals, result_avals),
            custom_call_api_version=custom_call_api_version, legacy_backend_config=legacy_backend_config,
            attributes=tuple((k, _freeze(target_name, k, v)) for k, v in sorted(attributes.items())))
        return (list(outs) if isinstance(result_shape_dtypes, list) else tuple(outs)) if many else outs[0]
    return call


def _result_aval(i: int, result: Any) -> Any:
    if result is abstract_token:
        return result
    if not (hasattr(result, "shape") and hasattr(result, "dtype")):
        raise ValueError(f"ffi_call: result_shape_dtypes must hold jax.ShapeDtypeStructs, arrays or the like, got {result!r} at "
                         f"position {i}")
    dtype = result.dtype  # of 64 bits without x64, too: the handler says what it writes
    return ShapedArray(tuple(result.shape), dtype if isinstance(dtype, np.dtype) else dtypes.canonicalize_dtype(dtype))


def check_aliases(what: str, aliases: Mapping[int, int] | None, in_avals: Sequence[AbstractValue],
                  out_avals: Sequence[AbstractValue]) -> tuple:
    """The aliases as pairs; raises ValueError where they do not fit the types."""
    for i, j in (aliases or {}).items():
        where = f"{what}: input_output_aliases contains the mapping '{i}:{j}' with"
        if not 0 <= i < len(in_avals):
            raise ValueError(f"{where} input index {i} outside the range [0, {len(in_avals)}).")
        if not 0 <= j < len(out_avals):
            raise ValueError(f"{where} output index {j} outside the range [0, {len(out_avals)}).")
        a, b = in_avals[i], out_avals[j]
        if a.shape != b.shape or a.dtype != b.dtype:
            raise ValueError(f"{where} an input of type {a.str_short()} and an output of type {b.str_short()}; they must be equal.")
    return tuple((aliases or {}).items())


def ffi_lowering(call_target_name: str, *, operand_layouts: Sequence[object] | None = None,
                 result_layouts: Sequence[object] | None = None, backend_config: Mapping[str, Any] | str | None = None,
                 skip_ffi_layout_processing: bool = False, **lowering_args: Any) -> Callable[..., Any]:
    """A lowering rule (for `jax.interpreters.mlir.register_lowering`) that calls the handler ``call_target_name``.

    The primitive's parameters become attributes of the call, together with ``backend_config``.

    Args:
      operand_layouts, result_layouts: as ``input_layouts`` of `ffi_call`; with ``skip_ffi_layout_processing`` from the fastest to
        the slowest varying axis, as XLA has them.
      lowering_args: ``api_version``, ``has_side_effect``, ``operand_output_aliases``, ``result_types``; ``extra_attributes``: further attributes of
        the operation, names to attributes of the MLIR bindings or their text.

    Raises:
      TypeError: the target's name is no string.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import mlir
    >>> double_p = Primitive("double_of_ffi_example")
    >>> _ = double_p.def_abstract_eval(lambda x: x)
    >>> _ = mlir.register_lowering(double_p, jax.ffi.ffi_lowering("my_double"))
    >>> "@my_double" in jax.jit(double_p.bind).lower(1.).as_text()
    True
    """
    _check_target("ffi_lowering", call_target_name)
    call = build_ffi_lowering_function(
        call_target_name, operand_layouts=operand_layouts, result_layouts=result_layouts, backend_config=backend_config,
        skip_ffi_layout_processing=skip_ffi_layout_processing, **lowering_args)

    def rule(b: Builder, *values: Any, **params: Any) -> Any:
        outs = call(b, *values, **params)
        return outs if len(outs) != 1 else outs[0]
    return BuilderRule(rule)


def build_ffi_lowering_function(call_target_name: str, *, operand_layouts: Sequence[object] | None = None,
                                result_layouts: Sequence[object] | None = None,
                                backend_config: Mapping[str, Any] | str | None = None,
                                skip_ffi_layout_processing: bool = False, **lowering_args: Any) -> Callable[..., list]:
    """``call(builder, *values, **attributes) -> list of values``, for lowering rules of one's own. See `ffi_lowering`."""
    api_version = lowering_args.pop("api_version", 4)
    side_effect = lowering_args.pop("has_side_effect", False)
    aliases = lowering_args.pop("operand_output_aliases", None)
    types = lowering_args.pop("result_types", None)
    extra = ", ".join(f"{name} = {value}" for name, value in (lowering_args.pop("extra_attributes", None) or {}).items())
    if lowering_args:
        raise TypeError(f"ffi_lowering of {call_target_name!r}: unknown arguments {sorted(lowering_args)}")

    def orders(layouts, avals):
        if layouts is None:
            layouts = [None] * len(avals)
        elif skip_ffi_layout_processing:
            return layouts
        return _minor_to_major([_order(f"ffi_lowering of {call_target_name!r}", layout, _ndim(a))
                                for layout, a in zip(layouts, avals, strict=True)])

    def call(b: Builder, *values: Any, **attributes: Any) -> list:
        out = list(b.out_avals if types is None else types)
        config: Any = backend_config
        if api_version >= 4:
            config = {**(config or {}), **{k: _thaw(_freeze(call_target_name, k, v)) for k, v in attributes.items()}}
        return b.custom_call(call_target_name, *values, out=out, backend_config=config, api_version=api_version,
                             has_side_effect=side_effect, operand_layouts=orders(operand_layouts, [x.aval for x in values]),
                             result_layouts=orders(result_layouts, out), output_operand_aliases=aliases, extra=extra)
    return BuilderRule(call)
