"""The few primitives that the transformations themselves need: sums of cotangents, broadcasts, transposes, casts.

Everything else that computes is declared in numpy_api; it takes these from here.

Source: StableHLO specification, `add`, `broadcast_in_dim`, `transpose`, `reduce`, `convert`, `optimization_barrier`.
"""
from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np

from .. import backends, extension_points
from ..compat.extended_dtypes import ruled
from ..configuration import context, flags
from ..interfaces import Odd
from ..representation import dtypes, high, partial_sums, splits
from ..representation.aval import ShapedArray, abstract_token, get_aval
from ..representation.jaxpr import NEED_X64, Literal
from ..representation.marks import ELEMENTWISE, LINEAR, ZERO
from ..representation.placements import is_format, is_on_mesh, is_spec
from ..representation.primitive import Linear, Primitive, Zero
from ..representation.traits import ARITHMETIC, Inner, Keys, Kind, Reach, Traits
from ..representation.typing import ArrayLike
from . import short_reductions, windowed_sums
from .staging import DynamicJaxprTrace

if TYPE_CHECKING:
    from ..representation.array import Array
    from ..representation.aval import AbstractValue
    from ..representation.typing import MeshSharding, Placement
    from ..transformations.batching import AxisData

# -- add_any: the sum of two values of one type (cotangents) ---------------------------------------------------------

def _add_any_batch(axis, args, dims):
    dim = next(d for d in dims if d is not None)
    return add_any_p.bind(*(matchaxis(axis, x, d, dim) for x, d in zip(args, dims))), dim


add_any_p = Primitive(
    "add_any",
    out_type=lambda x, y: x,
    jvp=LINEAR,
    transpose=lambda ct, x, y: (ct, ct),
    batch=_add_any_batch,
    lower=lambda b, x, y: x if x.aval is abstract_token else b.emit(f"stablehlo.add {x}, {y}", x, y, out=b.out_avals[0]),
    reference=np.add,
    traits=Traits(Kind.ELEMENTWISE, ARITHMETIC),
)


def add(x: ArrayLike, y: ArrayLike) -> Any:
    """Sum of two tangents or cotangents, either of which may be a `Zero`.

    >>> from jax.interpreters import ad
    >>> ad.add_jaxvals(jnp.ones(2), ad.Zero(jax.typeof(jnp.ones(2))))
    Array([1., 1.], dtype=float32)
    """
    if isinstance(x, Zero):
        return y
    if isinstance(y, Zero):
        return x
    if high.classes and (aval := get_aval(x)).is_high:
        return aval.vspace_add(x, y)
    if ruled and isinstance(dtype := getattr(x, "dtype", None), dtypes.ExtendedDType):
        return dtype.add(x, y)
    return add_any_p.bind(x, y)


# -- broadcast_in_dim ------------------------------------------------------------------------------------------------

class Implied(tuple):
    """The ``broadcast_dimensions`` of a broadcast that nobody wrote: an elementwise operation met operands of several shapes.

    `make_jaxpr` gives such an operation its operands as they were (`programs.operands`).
    """

    __slots__ = ()


def check_axes(name: str, axes: Sequence[int], rank: int, of: str, aval: AbstractValue, increasing: bool = True) -> None:
    """Raises TypeError unless ``axes`` are some of the ``rank`` axes of ``of``, each once, and in order if ``increasing``.

    Args:
      of, aval: what has the axes, in words, and its type or shape.
    """
    if not axes or 0 <= min(axes) and max(axes) < rank and len(set(axes)) == len(axes) and (
            not increasing or list(axes) == sorted(axes)):
        return
    for i, d in enumerate(axes):
        if not 0 <= d < rank:
            shown = aval.str_short() if isinstance(aval, ShapedArray) else aval
            raise TypeError(f"{name}={tuple(axes)} names axis {d}, but {of} {shown} has {rank} axes, counted from 0.")
        if d in axes[:i]:
            raise TypeError(f"{name}={tuple(axes)} names axis {d} twice; name each axis once.")
    raise TypeError(f"{name}={tuple(axes)} must be in increasing order.")


def _broadcast_type(x, *, shape, broadcast_dimensions, sharding=None):
    dims = broadcast_dimensions
    if len(dims) != x.ndim:
        raise TypeError(f"broadcast_in_dim: operand {x.str_short()} has {x.ndim} axes, broadcast_dimensions={dims} "
                        f"names {len(dims)}; give one output axis for each operand axis.")
    if x.ndim > len(shape):
        raise TypeError(f"broadcast_in_dim: operand {x.str_short()} has {x.ndim} axes, and the target shape {tuple(shape)} has only "
                        f"{len(shape)}; axes are added, none taken away.")
    check_axes("broadcast_in_dim: broadcast_dimensions", dims, len(shape), "the target shape", tuple(shape))
    for n, d in zip(x.shape, dims):
        if n != 1 and n != shape[d]:
            raise TypeError(f"broadcast_in_dim: operand of shape {x.shape} does not broadcast to {tuple(shape)} with "
                            f"broadcast_dimensions={dims}: axis of length {n} meets {shape[d]}; lengths must be equal, or 1.")
    return ShapedArray(shape, x.dtype, x.weak_type, sharding=sharding)


def _broadcast_reference(x, *, shape, broadcast_dimensions, sharding=None):
    x = np.asarray(x)
    aligned = [1] * len(shape)
    for n, d in zip(x.shape, broadcast_dimensions):
        aligned[d] = n
    return np.broadcast_to(x.reshape(aligned), shape)


def _broadcast_transpose(ct, x, *, shape, broadcast_dimensions, sharding=None):
    """Sum over the new axes and over those stretched from length 1."""
    dims, n_in = broadcast_dimensions, x.aval.shape
    stretched = [d for n, d in zip(n_in, dims) if n == 1 and shape[d] != 1]
    summed = tuple(d for d in range(len(shape)) if d not in dims or d in stretched)
    out = reduce_sum(ct, summed)
    if stretched:
        kept = [i for i, d in enumerate(dims) if d not in stretched]
        out = broadcast_in_dim(out, n_in, kept)
    return out


def _broadcast_batch(axis, args, dims, *, shape, broadcast_dimensions, sharding=None):
    (x,), (d,) = args, dims
    x = moved(x, d, 0)
    inner = type(broadcast_dimensions)((0, *(i + 1 for i in broadcast_dimensions)))
    shape, sharding = (np.shape(x)[0], *shape), batched_placement(axis, sharding, 0)
    if type(inner) is Implied:
        return implied_broadcast(x, shape, inner, sharding), 0
    return broadcast_in_dim(x, shape, inner, out_sharding=sharding), 0


def batched_placement(axis: AxisData, sharding: MeshSharding | None, dim: int) -> Any:
    """The placement ``sharding`` of each of the mapped values, for all of them: with the mapped axis at ``dim``."""
    return splits.with_axis(sharding, dim, axis.spmd_name if axis.spmd_name is not None else axis.explicit_mesh_axis)


def _broadcast_splits(prim, avals, outs, params):
    """Axes that keep their length stay split."""
    result = [None] * len(outs[0].shape)
    for n, entry, d in zip(avals[0].shape, splits.entries(avals[0]), params["broadcast_dimensions"]):
        if n == outs[0].shape[d]:
            result[d] = entry
    return [tuple(result)]


def check_out_sharding(name: str, out_sharding: object) -> None:
    """Raise unless it can be the ``out_sharding`` of an operation.

    Raises:
      TypeError: it is neither None nor a sharding on a mesh, a `PartitionSpec`, a format or a kind of memory.
      ValueError: it is in a memory where nothing is computed, on another mesh than that in context, or names an axis that is not
        ``Explicit``.
    """
    if out_sharding is None:
        return
    here = backends.get().placements.on_no_mesh(0).mesh
    if is_spec(out_sharding):
        _check_explicit(name, out_sharding, here, out_sharding)
        return
    if not (is_on_mesh(out_sharding) or is_format(out_sharding) or isinstance(out_sharding, enum.Enum)):
        raise TypeError(f"{name}: out_sharding={out_sharding!r} is of type {type(out_sharding).__name__}; give a PartitionSpec, or a sharding "
                        "on a mesh")
    if getattr(out_sharding, "memory_kind", None) not in (None, "device", "unpinned_host"):
        raise ValueError(f"{name}: out_sharding={out_sharding!r} names a kind of memory, where no operation computes; leave memory_kind out, "
                         "and move the result there by jax.device_put")
    if is_on_mesh(out_sharding):
        if not here.empty and out_sharding.mesh.abstract_mesh != here:
            raise ValueError(f"{name}: out_sharding={out_sharding!r} is on another mesh than the one in context, {here!r}; give a PartitionSpec, or "
                             "set that mesh by jax.set_mesh")
        _check_explicit(name, out_sharding.spec, out_sharding.mesh, out_sharding)


def _check_explicit(name, spec, mesh, out_sharding):
    if type(spec).UNCONSTRAINED in spec.partitions:
        raise ValueError(f"{name}: out_sharding={out_sharding!r} leaves an axis to the compiler (UNCONSTRAINED), so no type says it; name mesh axes, or "
                         "None, or use jax.lax.with_sharding_constraint")
    kinds = dict(zip(mesh.axis_names, mesh.axis_types))
    for axis in (*spec.axis_names(), *spec.unreduced, *spec.reduced):
        if axis in kinds and axis not in mesh.explicit_axes:
            raise ValueError(f"{name}: out_sharding={out_sharding!r} names the mesh axis {axis!r}, which is {kinds[axis]}; it can name Explicit axes "
                             "only. Of the others the compiler decides, as jax.lax.with_sharding_constraint tells it.")


def as_placement(where: Placement | None) -> Any:
    """A placement that a parameter can hold: a `PartitionSpec` is one on the mesh in context."""
    return where if where is None or is_on_mesh(where) else backends.get().placements.as_sharding(where)


def resolved(out_sharding: Placement | None) -> Any:
    """The argument ``out_sharding`` of an operation as such a placement. Raises as `check_out_sharding`."""
    check_out_sharding("out_sharding", out_sharding)
    return as_placement(out_sharding)


broadcast_in_dim_p = Primitive(
    "broadcast_in_dim",
    out_type=_broadcast_type,
    jvp=LINEAR,
    transpose=_broadcast_transpose,
    batch=_broadcast_batch,
    lower=lambda b, x, *, broadcast_dimensions, **_: b.broadcast(x, b.out_avals[0].shape, broadcast_dimensions),
    reference=_broadcast_reference,
    exact=True,
    splits=_broadcast_splits,
    traits=Traits(Kind.MOVE, in_sums=True, hidden={"shape": ..., "broadcast_dimensions": (), "sharding": None}),  # the result's type says the shape
)


def broadcast_in_dim(x: ArrayLike, shape: Sequence[int], broadcast_dimensions: Sequence[int], *,
                     out_sharding: Placement | None = None) -> Any:
    """``x`` repeated along new axes: operand axis ``i`` becomes axis ``broadcast_dimensions[i]`` of ``shape``.

    Raises:
      TypeError: the dimensions do not fit. Source: StableHLO `broadcast_in_dim`.
    """
    shape, dims = tuple(shape), tuple(broadcast_dimensions)
    if np.shape(x) == shape and out_sharding is None and dims == tuple(range(len(shape))) and not np.isscalar(x):
        return x
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims, sharding=as_placement(out_sharding))


def implied_broadcast(x: ArrayLike, shape: tuple[int, ...], dims: Iterable[int], sharding: Any = None) -> Any:
    """`broadcast_in_dim` of an operand of an elementwise operation, which is no operation of its own in what `make_jaxpr` shows."""
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=Implied(dims), sharding=sharding)


def full(aval: ShapedArray, value: ArrayLike) -> Any:
    """An array of type ``aval`` filled with ``value``."""
    scalar = np.asarray(value, aval.dtype)[()]
    if not flags.enable_x64.value and aval.dtype in NEED_X64:  # of a part of the program where it was on
        with flags.enable_x64(True):
            return broadcast_in_dim_p.bind(scalar.item() if aval.weak_type else scalar, shape=aval.shape, broadcast_dimensions=(),
                                           sharding=aval.placement)
    if aval.weak_type and get_aval(scalar.item()).dtype == aval.dtype:
        scalar = scalar.item()
    if aval.shape == () and isinstance(scalar, np.generic) and not partial_sums.of(aval).unreduced:
        return scalar
    if aval.shape == () and not isinstance(scalar, np.generic):
        trace = context.state.trace
        while trace.parent is not None:
            trace = trace.parent
        if isinstance(trace, DynamicJaxprTrace):
            return trace.known(Literal(scalar, aval))  # a number stands in a program as it is
    return broadcast_in_dim_p.bind(scalar, shape=aval.shape, broadcast_dimensions=(), sharding=aval.placement)


def zeros(aval: Any) -> Any:
    """Zeros of type ``aval``; for float0 a NumPy array, as it has no contents.

    >>> from jax.interpreters import ad
    >>> ad.zeros_like_aval(jax.typeof(jnp.ones(2)))
    Array([0., 0.], dtype=float32)
    """
    if aval is abstract_token:
        return aval
    if aval.is_high:
        return aval.vspace_zero()
    if aval.dtype == dtypes.float0:
        return np.zeros(aval.shape, dtypes.float0)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return aval.dtype.zeros(aval.shape)
    return full(aval, 0) if aval.sums is partial_sums.NOTHING else zeros_of_sums_p.bind(full(aval, 0), sums=aval.sums)


extension_points.zeros.fill(zeros)


def instantiate(tangent: object) -> Any:
    """``tangent`` itself, or an array of zeros for a `Zero`.

    >>> from jax.experimental import hijax
    >>> hijax.instantiate_zeros(hijax.Zero(jax.typeof(jnp.ones(2))))
    Array([0., 0.], dtype=float32)
    """
    return zeros(tangent.aval) if isinstance(tangent, Zero) else tangent


# -- transpose -------------------------------------------------------------------------------------------------------

def _transpose_type(x, *, permutation):
    if sorted(permutation) != list(range(x.ndim)):
        raise TypeError(f"transpose: permutation={permutation} is not a permutation of the {x.ndim} axes of "
                        f"{x.str_short()}.")
    return ShapedArray([x.shape[i] for i in permutation], x.dtype, x.weak_type)


def _transpose_batch(axis, args, dims, *, permutation):
    (x,), (d,) = args, dims
    rest = [i for i in range(np.ndim(x)) if i != d]
    if min(permutation, default=0) < 0:
        _transpose_type(get_aval(x).update(shape=[np.shape(x)[i] for i in rest]), permutation=permutation)
    return transpose(x, (d, *(rest[i] for i in permutation))), 0


transpose_p = Primitive(
    "transpose",
    out_type=_transpose_type,
    jvp=LINEAR,
    transpose=lambda ct, x, *, permutation: transpose(ct, tuple(np.argsort(permutation).tolist())),
    batch=_transpose_batch,
    lower=lambda b, x, *, permutation: b.emit(
        f"stablehlo.transpose {x}, dims = {list(permutation)}", x, out=b.out_avals[0]),
    reference=lambda x, *, permutation: np.transpose(x, permutation),
    exact=True,
    traits=Traits(Kind.VIEW, inner=Inner.PIECES, fast_on_host=lambda *, permutation: permutation[-1:] == (len(permutation) - 1,)),
    splits=lambda prim, avals, outs, params: [tuple(splits.entries(avals[0])[i] for i in params["permutation"])],
)


def transpose(x: ArrayLike, permutation: Sequence[int]) -> Any:
    """``x`` with its axes in the order ``permutation``. Source: StableHLO `transpose`."""
    permutation = tuple(permutation)
    if permutation == tuple(range(len(permutation))) and len(permutation) == np.ndim(x):
        return x
    return transpose_p.bind(x, permutation=permutation)


# -- reduce_sum ------------------------------------------------------------------------------------------------------

def reduced_shape(name: str, x: ShapedArray, axes: Sequence[int]) -> tuple[int, ...]:
    """Shape of ``x`` without ``axes``; raises ValueError on bad axes."""
    if len(set(axes)) != len(axes) or any(not 0 <= a < x.ndim for a in axes):
        raise ValueError(f"{name}: axes={tuple(axes)} must be distinct and lie in [0, {x.ndim}) for operand "
                         f"{x.str_short()}.")
    return tuple(n for i, n in enumerate(x.shape) if i not in axes)


def _sum_transpose(ct, x, *, axes, out_sharding=None):
    kept = tuple(i for i in range(x.aval.ndim) if i not in axes)
    return broadcast_in_dim(ct, x.aval.shape, kept, out_sharding=splits.cotangent_placement(x.aval))


def reduction_batch(bind: Callable):
    """The batching rule of a reduction over ``axes``: the mapped axis stays, the others move up behind it."""
    def batch(axis: AxisData, args: Sequence[Array], dims: Sequence[int], *, axes: tuple[int, ...], **params):
        (x,), (d,) = args, dims
        shifted = tuple(a + (a >= d) for a in axes)
        return bind(x, axes=shifted, **params), d - sum(a < d for a in shifted)
    return batch


def _sum_lower(b, x, *, axes, out_sharding=None):
    zero = b.scalar(0, x.aval.dtype)
    if b.odd is not Odd.SUM_OF_EQUAL:
        if short_reductions.suits(b, x, axes, rows=True):
            return short_reductions.emit(b, x, zero, axes, short_reductions.add)
        windowed = windowed_sums.emit(b, x, zero, axes)
        if windowed is not None:
            return windowed
    return b.emit(f"stablehlo.reduce({x} init: {zero}) applies stablehlo.add across dimensions = {list(axes)}", x, zero, out=b.out_avals[0])


reduce_sum_p: Primitive = Primitive(
    "reduce_sum",
    out_type=lambda x, *, axes, out_sharding=None: ShapedArray(reduced_shape("reduce_sum", x, axes), x.dtype, x.weak_type),
    jvp=LINEAR,
    transpose=_sum_transpose,
    batch=reduction_batch(lambda x, **params: reduce_sum_p.bind(x, **params)),
    lower=_sum_lower,
    reference=lambda x, *, axes, out_sharding=None: np.sum(x, axes, dtype=np.asarray(x).dtype),
    traits=Traits(Kind.REDUCTION),
)


def reduce_sum(x: object, axes: Sequence[int]) -> Any:
    """Sum of ``x`` over ``axes``, in the dtype of ``x``."""
    return reduce_sum_p.bind(x, axes=tuple(axes), out_sharding=None) if axes else x


# -- convert_element_type --------------------------------------------------------------------------------------------

def _convert_type(x, *, new_dtype, weak_type, sharding=None):
    if x.dtype != new_dtype and not _convertible(x.dtype, new_dtype):
        raise ValueError(f"lax.convert_element_type: {x.str_short()} cannot be converted to {new_dtype}; random keys are "
                         "converted with jax.random.key_data and jax.random.wrap_key_data.")
    return ShapedArray(x.shape, new_dtype, weak_type)


def _convertible(old, new):
    """Whether arrays of one dtype can become arrays of another one."""
    if isinstance(old, dtypes.ExtendedDType):
        return old.converts_to(new)
    return new.converts_from(old) if isinstance(new, dtypes.ExtendedDType) else old != dtypes.float0


def _convert_jvp(primals, tangents, *, new_dtype, weak_type, sharding=None):
    (x,), (t,) = primals, tangents
    out = convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak_type, sharding=sharding)
    if isinstance(t, Zero) or get_aval(out).to_tangent_aval().dtype == dtypes.float0:
        return out, Zero.of(out)
    return out, convert_element_type_p.bind(t, new_dtype=new_dtype, weak_type=weak_type, sharding=sharding)


def _convert_batch(axis, args, dims, **params):
    return convert_element_type_p.bind(args[0], **params), dims[0]


def _convert_stage(trace, args, params):
    """A number that becomes a float or complex number is the literal of its result; all else is an equation.

    Conversions to integers stay with the compiler, as what becomes of values out of range is for it to say.
    """
    x, new = args[0], params["new_dtype"]
    if type(x) in (bool, int, float, complex) or isinstance(x, np.generic):
        aval = get_aval(x)
        if (not isinstance(new, dtypes.ExtendedDType) and dtypes.issubdtype(new, np.inexact)
                and (new.kind == "c" or aval.dtype.kind != "c") and params.get("sharding") is None):
            value = np.asarray(x, aval.dtype).astype(new)[()]
            if params["weak_type"]:  # the literal is as weak where the program is run again
                value = value.item()
                if get_aval(value).dtype != new:
                    return trace.record(convert_element_type_p, args, params)
            return trace.known(Literal(value, ShapedArray((), new, params["weak_type"])))
    return trace.record(convert_element_type_p, args, params)


def _convert_reference(x, *, new_dtype, weak_type, sharding=None):
    x = np.asarray(x)
    if x.dtype.kind == "c" and np.dtype(new_dtype).kind != "c":
        x = x.real if np.dtype(new_dtype) != bool else x != 0
    if dtypes.issubdtype(x.dtype, np.floating) and dtypes.issubdtype(new_dtype, np.integer):
        return _nearest(x, new_dtype)
    return x.astype(new_dtype)


def _nearest(x, dtype):
    """Of floats the integers that are left after the point; out of range the nearest that fits, of NaN 0."""
    info, wide = dtypes.iinfo(dtype), np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0)
    low, high = wide < float(info.min), wide >= float(info.max)
    inside = np.where(low | high, 0, wide).astype(np.uint64 if info.min == 0 else np.int64)
    return np.where(low, info.min, np.where(high, info.max, inside)).astype(dtype)


_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def _convert_lower(b, x, *, new_dtype, weak_type, sharding=None):
    if isinstance(x.aval.dtype, dtypes.ExtendedDType):
        x = b.physical(x)
    if x.aval.dtype == new_dtype or isinstance(new_dtype, dtypes.ExtendedDType):  # these change no bits
        return x
    if new_dtype == bool:  # XLA's conversion to i1 keeps the lowest bit; the value's truth is wanted
        zero = b.full(0, x.aval)
        kind = "FLOAT" if dtypes.issubdtype(x.aval.dtype, np.inexact) else (
            "UNSIGNED" if dtypes.issubdtype(x.aval.dtype, np.unsignedinteger) else "SIGNED")
        return b.emit(f"stablehlo.compare NE, {x}, {zero}, {kind}", x, zero, out=b.out_avals[0])
    if dtypes.issubdtype(x.aval.dtype, np.complexfloating) and not dtypes.issubdtype(new_dtype, np.complexfloating):
        x = b.emit(f"stablehlo.real {x}", x, out=x.aval.update(dtype=np.finfo(x.aval.dtype).dtype))
        if x.aval.dtype == new_dtype:
            return x
    if b.platform == "cpu" and new_dtype in _BYTES and x.aval.dtype != bool:
        x = _to_words(b, x, dtypes.iinfo(new_dtype))
    return b.emit(f"stablehlo.convert {x}", x, out=b.out_avals[0])


def _to_words(b, x, info):
    """``x`` as words of two bytes, and its floats within the range of ``info``: XLA's library for the CPU, which does not take such words, rounds
    to the nearest byte."""
    words = b.convert(x, np.dtype(np.int16))
    if not dtypes.issubdtype(x.aval.dtype, np.integer):
        for op, end in (("maximum", info.min), ("minimum", info.max)):
            words = b.elementwise(f"stablehlo.{op}", words, b.full(end, words.aval), out=words.aval)
    return words


def _convert_transpose(ct, x, *, new_dtype, weak_type, sharding=None):
    return convert_element_type_p.bind(ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type, sharding=sharding)


def _convert_is_exact(x, *, new_dtype, weak_type, sharding=None):
    """Integers and booleans convert alike everywhere: they wrap, and round to even as floats."""
    return x.dtype.kind in "biu" and getattr(new_dtype, "kind", "V") in "biufc"


convert_element_type_p = Primitive(
    "convert_element_type",
    out_type=_convert_type, jvp=_convert_jvp, transpose=_convert_transpose, batch=_convert_batch,
    lower=_convert_lower, reference=_convert_reference, exact=_convert_is_exact, lowers_keys=True, stage=_convert_stage,
    traits=Traits(Kind.MOVE, keeps_places=True, in_sums=True, reach=Reach.AS_OPERANDS, hidden={"sharding": None}), splits=splits.as_first,
)

zeros_of_sums_p: Primitive = Primitive(  # of zeros all is true: they are addends of zero, and reduced
    "zeros_of_sums", cacheable=False, out_type=lambda x, *, sums: x.update(sums=sums), jvp=ZERO,
    batch=lambda axis, args, dims, *, sums: (zeros_of_sums_p.bind(*args, sums=sums), dims[0]), lower=lambda b, x, *, sums: x,
    own_type=True, traits=Traits(Kind.IDENTITY))

# -- copy and barrier ------------------------------------------------------------------------------------------------

copy_p = Primitive(
    "copy", out_type=lambda x: x, jvp=LINEAR, transpose=lambda ct, x: ct, batch=ELEMENTWISE,
    lower=lambda b, x: x, reference=np.array, exact=True,
    traits=Traits(Kind.MOVE, keeps_places=True, keys=Keys.PASSED), splits=splits.as_first,
)

# -- reshard ---------------------------------------------------------------------------------------------------------

def _reshard_type(x, *, dst_sharding):
    if hasattr(dst_sharding, "spec"):
        splits.check_fits("reshard", dst_sharding, x.shape)
    out, before = x.update(sharding=dst_sharding), partial_sums.of(x)
    after = partial_sums.of(out)
    if before.unreduced and after.unreduced and before.kind is not after.kind:
        raise ValueError(f"reshard: the unreduced_kind of the input, {before.kind}, must be that of the output, {after.kind}; reduce "
                         f"{x.str_short()} first.")
    if before.unreduced and not after.unreduced <= before.unreduced:
        raise ValueError(f"reshard: {x.str_short()} cannot become unreduced over {sorted(map(str, after.unreduced - before.unreduced))} while its sum over "
                         f"{sorted(map(str, before.unreduced))} is still to be made; reduce it first.")
    return out


def _type_says_all(aval, asked):
    """Whether the placement in a type, which is constrained wherever a value of it is lowered, is all that is asked."""
    return aval.placement is not None and set(asked.spec.axis_names()) == set(aval.placement.spec.axis_names())


reshard_p = Primitive(
    "reshard", out_type=_reshard_type, jvp=LINEAR,
    transpose=lambda ct, x, *, dst_sharding: reshard(ct, splits.cotangent_placement(x.aval)),
    batch=lambda axis, args, dims, *, dst_sharding: (reshard(args[0], batched_placement(axis, dst_sharding, dims[0])), dims[0]),
    lower=lambda b, x, *, dst_sharding: x if _type_says_all(b.out_avals[0], dst_sharding) else b.sharding_constraint(x, dst_sharding),
    reference=lambda x, *, dst_sharding: np.array(x),
    impl=lambda x, *, dst_sharding: backends.get().put(x, None, dst_sharding),
    traits=Traits(Kind.KERNEL, keys=Keys.PASSED),
    splits=splits.as_told, sums=partial_sums.of_target,
)


def reshard(x: object, placement: Placement | None) -> Any:
    """``x`` split as ``placement`` says; ``x`` itself for None."""
    return x if placement is None else reshard_p.bind(x, dst_sharding=placement)


def whole_along(x: Any, axes: Sequence[int]) -> Any:
    """``x`` with ``axes`` whole on each device; the others stay as they are split."""
    aval = get_aval(x)
    if aval.placement is None:
        return x
    return reshard(x, splits.with_entries(aval.placement, tuple(None if i in axes else e for i, e in enumerate(splits.entries(aval)))))


def as_cotangent(ct: object, aval: AbstractValue) -> Any:
    """The cotangent ``ct`` of a value of type ``aval``, split as that is."""
    if ct is None or isinstance(ct, Zero):
        return ct
    wanted = splits.cotangent_placement(aval)
    return ct if wanted == get_aval(ct).placement else reshard(ct, wanted)


def _barrier_jvp(primals, tangents):
    live = [i for i, t in enumerate(tangents) if not isinstance(t, Zero)]
    outs = optimization_barrier_p.bind(*primals)
    moved_tangents = optimization_barrier_p.bind(*(tangents[i] for i in live))
    result = [Zero.of(x) for x in outs]
    for i, t in zip(live, moved_tangents):
        result[i] = t
    return outs, result


optimization_barrier_p: Primitive = Primitive(
    "optimization_barrier", multiple_results=True,
    out_type=lambda *xs: xs,
    jvp=_barrier_jvp,
    transpose=lambda cts, *xs: [ct if type(x) is Linear else None for ct, x in zip(cts, xs)],
    batch=lambda axis, args, dims: (optimization_barrier_p.bind(*args), dims),
    lower=lambda b, *xs: b.barrier(xs),
    reference=lambda *xs: list(xs), exact=True,
    traits=Traits(Kind.KERNEL, keys=Keys.PASSED), splits=splits.as_told,
)


# -- helpers for batching rules ----------------------------------------------------------------------------------------

def moved(x: Any, source: int | None, target: int) -> Any:
    """``x`` with its mapped axis moved from ``source`` to ``target``."""
    if source is None or source == target:
        return x
    order = [i for i in range(np.ndim(x)) if i != source]
    order.insert(target if target >= 0 else target + np.ndim(x), source)
    return transpose(x, order)


def broadcast(x: Any, axis: Any, dim: int = 0) -> Any:
    """``x`` repeated along a new axis at ``dim``: the mapped one of `vmap` (an ``AxisData``), or one of a length that is given."""
    shape, size, placement = np.shape(x), axis, None
    if hasattr(axis, "explicit_mesh_axis"):
        size = axis.size
        if axis.explicit_mesh_axis is not None:
            placement = splits.with_mapped_axis(get_aval(x), dim, axis.explicit_mesh_axis)
    if isinstance(x, Zero):  # tangents that equinox maps rules over
        return Zero(x.aval.inc_rank(size, dim))
    if getattr(x, "dtype", None) == dtypes.float0:  # no contents
        return np.zeros((*shape[:dim], size, *shape[dim:]), dtypes.float0)
    return broadcast_in_dim(x, (*shape[:dim], size, *shape[dim:]),
                            tuple(i + (i >= dim) for i in range(len(shape))), out_sharding=placement)


def bdim_at_front(x: object, dim: int | None, axis: object) -> Any:
    """``x`` with its mapped axis first; made by repetition if there is none (see `broadcast`)."""
    return broadcast(x, axis) if dim is None else moved(x, dim, 0)


def matchaxis(axis: object, x: object, source: int | None, target: int | None) -> Any:
    """``x`` with its mapped axis at ``target``; raises ValueError if it has one and ``target`` is None."""
    if source == target:
        return x
    if source is None:
        assert target is not None  # as it differs from source
        return broadcast(x, axis, target)
    if target is None:
        raise ValueError("vmap has mapped output but out_axes is None")
    return moved(x, source, target)


def broadcast_to(x: ArrayLike, shape: tuple, dims: Sequence[int]) -> Any:
    """``x`` repeated to ``shape``; its axes become ``dims``."""
    return broadcast_in_dim(x, shape, tuple(dims))
