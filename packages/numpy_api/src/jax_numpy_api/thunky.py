"""jax.experimental.thunky: programs as lists of steps on buffers, which are mutable references.

`jit` compiles a function that takes buffers and returns nothing. Each step (`copy`, `memset`, `call_jax`, `all_reduce`, ...) reads some
buffers and overwrites others, in the order in which they are written. The public jax makes a thunk of XLA's GPU runtime of each step, and
runs on that alone. Here a step is an operation on references, so that such a program runs on every platform, and XLA may fuse its steps.

>>> from jax.experimental import thunky
>>> @thunky.jit
... def twice(x, out):
...     out[...] = thunky.call_jax(jnp.add, x[...], x[...])
>>> out = jax.new_ref(jnp.zeros(3))
>>> twice(jnp.arange(3.), out)
>>> out[...]
Array([0., 2., 4.], dtype=float32)
"""
from __future__ import annotations

import contextvars
import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, cast

import numpy as np

from jax_core.programs.jit import jit as core_jit
from jax_core.references.api import Ref, RefView, empty_ref, new_ref
from jax_core.references.primitives import is_ref
from jax_core.representation.arguments import check_callable
from jax_core.representation.aval import ShapeDtypeStruct, described_value
from jax_core.representation.effects import AccumEffect, WriteEffect
from jax_core.representation.source import name_of
from jax_core.representation.typing import ArrayLike

from . import ffi, lax, numpy as jnp

if TYPE_CHECKING:
    from jax_core.representation.typing import AxisName, PyTree
    from jax_numpy_api.lax.parallel import Groups

__all__ = ["all_gather", "all_reduce", "all_to_all", "async_done", "async_start", "call_jax", "collective_group", "collective_permute",
           "cond", "copy", "custom_call", "jit", "memset", "memzero", "ptx_kernel", "reduce_scatter", "switch", "while_loop"]

Buffer = Ref | RefView  # a reference, or a view of a part of one
Buffers = Buffer | Sequence[Buffer]

_in_group: contextvars.ContextVar[bool] = contextvars.ContextVar("thunky_in_group", default=False)  # inside `collective_group`


# -- programs ------------------------------------------------------------------------------------------------------------

def jit(fn: Callable[..., object] | None = None, *, scratch_shapes: PyTree = ()) -> Any:
    """``fn`` as a compiled program of steps on buffers.

    Args:
      fn: function of buffers; what it returns is ignored. Without it, a decorator is returned.
      scratch_shapes: types (`jax.ShapeDtypeStruct`) of buffers that live as long as the program: one or a sequence of them, given to
        ``fn`` after its arguments, or a dict, given by keyword. They start as zeros here; do not rely on it.

    Returns:
      a function of references, which ``fn`` may change, and of arrays, which it only reads.

    Raises:
      TypeError: an argument is neither a reference nor an array, or an array that ``fn`` changes.

    >>> from jax.experimental import thunky
    >>> @thunky.jit(scratch_shapes={"spare": jax.ShapeDtypeStruct((2,), jnp.float32)})
    ... def exchange(a, b, spare):
    ...     thunky.copy(a, spare)
    ...     thunky.copy(b, a)
    ...     thunky.copy(spare, b)
    >>> a, b = jax.new_ref(jnp.zeros(2)), jax.new_ref(jnp.ones(2))
    >>> exchange(a, b)
    >>> a[...], b[...]
    (Array([1., 1.], dtype=float32), Array([0., 0.], dtype=float32))
    """
    if fn is None:
        return functools.partial(jit, scratch_shapes=scratch_shapes)
    check_callable("thunky.jit", fn)
    fun: Callable[..., object] = fn
    in_order, named = _scratch(scratch_shapes)

    @functools.wraps(fun)
    def steps(places: tuple[int, ...], refs: list) -> None:
        fun(*[refs[i] for i in places], *map(empty_ref, in_order), **{name: empty_ref(ty) for name, ty in named.items()})

    compiled = core_jit(steps, static_argnums=0)

    @functools.wraps(fun)
    def call(*args: Buffer | ArrayLike) -> None:
        refs: list = []
        arrays: dict[int, int] = {}  # which argument a reference was made for
        places = []
        for i, x in enumerate(args):
            if not _is_buffer(x):
                arrays[len(refs)] = i
                x = new_ref(cast(ArrayLike, x))
            same = [k for k, ref in enumerate(refs) if ref is x]
            places.append(same[0] if same else len(refs))
            if not same:
                refs.append(x)
        if arrays:
            _check_only_read(fun, compiled.trace(tuple(places), refs).jaxpr, arrays, args)
        compiled(tuple(places), refs)
    return call


def _scratch(shapes: PyTree) -> tuple[list, dict]:
    if isinstance(shapes, Mapping):
        return [], dict(shapes)
    return (list(shapes), {}) if isinstance(shapes, (tuple, list)) else ([shapes], {})


def _is_buffer(x: object) -> bool:
    return isinstance(x, (Ref, RefView)) or is_ref(x)


def _check_only_read(fun: Callable[..., object], jaxpr: Any, arrays: Mapping[int, int], args: Sequence[object]) -> None:
    changed = {jaxpr.invars.index(e.ref) for e in jaxpr.effects if isinstance(e, (WriteEffect, AccumEffect)) and e.ref in jaxpr.invars}
    for k in sorted(changed & arrays.keys()):
        raise TypeError(f"thunky.jit: {name_of(fun)} changes argument {arrays[k]}, which is an array of type "
                        f"{described_value(args[arrays[k]])}; pass a reference to it, jax.new_ref(x), and read that afterwards")


def _buffers(name: str, *given: object, collective: bool = False) -> None:
    """Raise unless the operands of a step are references, and the step may stand where it does."""
    for x in given:
        if not _is_buffer(x):
            raise TypeError(f"thunky.{name}: its operands are buffers (references, as of jax.new_ref), got {described_value(x)}")
    if _in_group.get() and not collective:
        raise ValueError(f"thunky.{name}: it is no collective, and inside a collective_group there can be nothing else")


def _type(x: Buffer) -> str:
    return f"{np.dtype(x.dtype).name}[{','.join(map(str, x.shape))}]"


# -- steps of one device -------------------------------------------------------------------------------------------------

def memzero(buf: Buffer) -> None:
    """Overwrite ``buf`` by zeros.

    Raises:
      TypeError: ``buf`` is no reference.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.ones(2))
    >>> thunky.jit(thunky.memzero)(ref)
    >>> ref[...]
    Array([0., 0.], dtype=float32)
    """
    _buffers("memzero", buf)
    buf[...] = jnp.zeros(buf.shape, buf.dtype)


def memset(buf: Buffer, value: np.generic) -> None:
    """Fill ``buf`` with the 32 bits of ``value``.

    Args:
      buf: a reference to elements of 32 bits.
      value: a NumPy scalar of 32 bits; one of another dtype than ``buf`` keeps its bits, not its value.

    Raises:
      TypeError: ``value`` is no NumPy scalar. NotImplementedError: it, or an element of ``buf``, has not 32 bits.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.zeros(2))
    >>> thunky.jit(lambda buf: thunky.memset(buf, np.float32(1.5)))(ref)
    >>> ref[...]
    Array([1.5, 1.5], dtype=float32)
    """
    _buffers("memset", buf)
    if not isinstance(value, np.generic):
        raise TypeError(f"thunky.memset: value must be a NumPy scalar, such as np.float32(1), got {value!r} of type {type(value).__name__}")
    for what, dtype in (("value", value.dtype), ("buf", np.dtype(buf.dtype))):
        if dtype.itemsize != 4:
            raise NotImplementedError(f"thunky.memset: {what} has elements of dtype {dtype.name}, and 32 bits each are filled; write "
                                      "buf[...] = jnp.full_like(buf[...], value) instead")
    buf[...] = jnp.full(buf.shape, value.view(buf.dtype))


def copy(src: Buffer, dst: Buffer) -> None:
    """Copy the bytes of ``src`` to ``dst``, which may have another shape and dtype.

    Raises:
      TypeError: one is no reference. ValueError: they have not as many bytes.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.zeros((2, 2)))
    >>> thunky.jit(thunky.copy)(jnp.arange(4.), ref)
    >>> ref[...]
    Array([[0., 1.],
           [2., 3.]], dtype=float32)
    """
    _buffers("copy", src, dst)
    sizes = [math.prod(x.shape) * np.dtype(x.dtype).itemsize for x in (src, dst)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"thunky.copy: src of type {_type(src)} has {sizes[0]} bytes and dst of type {_type(dst)} has {sizes[1]}; they "
                         "must have as many")
    flat = src[...].reshape(-1)
    dst[...] = (flat if src.dtype == dst.dtype else flat.view(dst.dtype)).reshape(dst.shape)


def call_jax(fn: Callable[..., PyTree], *args: PyTree) -> Any:
    """``fn(*args)``: any function of arrays, or of references, as a step.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.float32(2))
    >>> @thunky.jit
    ... def square(x):
    ...     x[...] = thunky.call_jax(jnp.square, x[...])
    >>> square(ref)
    >>> ref[...]
    Array(4., dtype=float32)
    """
    check_callable("thunky.call_jax", fn)
    _buffers("call_jax")
    return core_jit(fn)(*args)


def custom_call(target_name: str, operands: Sequence[Buffer], results: Sequence[Buffer],
                backend_config: Mapping[str, object] | None = None) -> None:
    """Call a foreign function, registered by `jax.ffi.register_ffi_target`, which reads ``operands`` and fills ``results``.

    Args:
      target_name: its registered name.
      operands, results: references.
      backend_config: attributes of the call, by name.

    Raises:
      TypeError: an operand or result is no reference.

    >>> from jax.experimental import thunky
    >>> thunky.custom_call("my_function", [jnp.ones(3)], [])
    Traceback (most recent call last):
    ...
    TypeError: thunky.custom_call: its operands are buffers (references, as of jax.new_ref), got float32[3]
    """
    _buffers("custom_call", *operands, *results)
    types = [ShapeDtypeStruct(x.shape, x.dtype) for x in results]
    outs = ffi.ffi_call(target_name, types, has_side_effect=not results)(*[x[...] for x in operands], **(backend_config or {}))
    for ref, value in zip(results, outs):
        ref[...] = value


def ptx_kernel(*buffers: Buffer, written: Sequence[bool], kernel_name: str, ptx: str, grid_dim: tuple[int, int, int] = (1, 1, 1),
               block_dim: tuple[int, int, int] = (1, 1, 1), shmem_bytes: int = 0) -> None:
    """Refused: there is no launch of PTX text here. Use `jax.experimental.pallas`, or a `custom_call` of a function that launches it.

    Raises:
      NotImplementedError: always.

    >>> from jax.experimental import thunky
    >>> thunky.ptx_kernel(written=[], kernel_name="add", ptx="")
    Traceback (most recent call last):
    ...
    NotImplementedError: thunky.ptx_kernel: kernel 'add' cannot be launched; write it with jax.experimental.pallas
    """
    raise NotImplementedError(f"thunky.ptx_kernel: kernel {kernel_name!r} cannot be launched; write it with jax.experimental.pallas")


# -- steps made of steps -------------------------------------------------------------------------------------------------

def _choice(name: str, buf: Buffer) -> Any:
    _buffers(name, buf)
    if buf.shape != () or buf.dtype not in (np.bool_, np.int32):
        raise ValueError(f"thunky.{name}: the buffer that decides must be of type bool[] or int32[], got {_type(buf)}")
    return buf[...]


def cond(pred_buf: Buffer, true_fn: Callable[[], None], false_fn: Callable[[], None]) -> None:
    """The steps of ``true_fn`` where ``pred_buf`` holds True, those of ``false_fn`` else.

    Args:
      pred_buf: a reference to one bool or int32.
      true_fn, false_fn: functions without arguments, which make steps.

    Raises:
      ValueError: ``pred_buf`` has another type.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.ones(2))
    >>> thunky.jit(lambda flag, buf: thunky.cond(flag, lambda: thunky.memzero(buf), lambda: None))(jnp.array(True), ref)
    >>> ref[...]
    Array([0., 0.], dtype=float32)
    """
    lax.cond(_choice("cond", pred_buf) != 0, _alone(true_fn), _alone(false_fn))


def switch(index_buf: Buffer, branches: Sequence[Callable[[], None]]) -> None:
    """The steps of ``branches[i]``, where ``index_buf`` holds ``i``; the last branch for numbers outside of their range.

    Args:
      index_buf: a reference to one int32 or bool.
      branches: functions without arguments, which make steps.

    Raises:
      ValueError: ``index_buf`` has another type, or there is no branch.

    Source: the `case` operation of StableHLO, whose default is the last branch.

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.ones(2))
    >>> thunky.jit(lambda i, buf: thunky.switch(i, [lambda: None, lambda: thunky.memzero(buf)]))(jnp.int32(1), ref)
    >>> ref[...]
    Array([0., 0.], dtype=float32)
    """
    index = _choice("switch", index_buf).astype(jnp.int32)
    lax.switch(jnp.where(index < 0, len(branches) - 1, index), [_alone(f) for f in branches])


def while_loop(cond_buf: Buffer, cond_fn: Callable[[], None], body_fn: Callable[[], None]) -> None:
    """``cond_fn``, then as long as it left True in ``cond_buf``, ``body_fn`` and ``cond_fn`` again.

    Args:
      cond_buf: a reference to one bool or int32.
      cond_fn, body_fn: functions without arguments, which make steps.

    Raises:
      ValueError: ``cond_buf`` has another type.

    >>> from jax.experimental import thunky
    >>> @thunky.jit
    ... def count(n, go):
    ...     thunky.while_loop(go, lambda: go.swap(n[...] < 10), lambda: n.swap(n[...] + 3))
    >>> n = jax.new_ref(0)
    >>> count(n, jax.new_ref(True))
    >>> n[...]
    Array(12, dtype=int32)
    """
    _choice("while_loop", cond_buf)

    def go(_: tuple) -> Any:
        cond_fn()
        return cond_buf[...] != 0

    def step(state: tuple) -> tuple:
        body_fn()
        return state
    lax.while_loop(go, step, ())


def _alone(fn: Callable[[], object]) -> Callable[[], None]:
    """``fn`` for its steps alone."""
    def branch() -> None:
        fn()
    return branch


class _Token:
    """What `async_start` returns."""


def async_start(fn: Callable[[], None], *, stream_id: int = 0, stream_kind: str = "computation",
                is_communication: bool | None = None) -> Any:
    """The steps of ``fn``, which `async_done` waits for; XLA decides by itself what runs beside what.

    Args:
      fn: function without arguments, which makes steps.
      stream_id, stream_kind, is_communication: where it is to run; without effect here.

    Returns:
      a token for `async_done`.

    Raises:
      ValueError: ``stream_kind`` is neither "computation" nor "communication".

    >>> from jax.experimental import thunky
    >>> ref = jax.new_ref(jnp.ones(2))
    >>> thunky.jit(lambda buf: thunky.async_done(thunky.async_start(lambda: thunky.memzero(buf))))(ref)
    >>> ref[...]
    Array([0., 0.], dtype=float32)
    """
    if stream_kind not in ("computation", "communication"):
        raise ValueError(f"thunky.async_start: stream_kind must be 'computation' or 'communication', got {stream_kind!r}")
    _buffers("async_start")
    fn()
    return _Token()


def async_done(token: object) -> None:
    """Wait for the steps that the `async_start` started that returned ``token``.

    Raises:
      TypeError: ``token`` is of another kind.

    >>> from jax.experimental import thunky
    >>> thunky.async_done(3)
    Traceback (most recent call last):
    ...
    TypeError: thunky.async_done: token must be what thunky.async_start returned, got 3 of type int
    """
    if not isinstance(token, _Token):
        raise TypeError(f"thunky.async_done: token must be what thunky.async_start returned, got {token!r} of type {type(token).__name__}")
    _buffers("async_done")


# -- collectives, under shard_map ----------------------------------------------------------------------------------------

def collective_group(fn: Callable[[], None]) -> None:
    """The collectives of ``fn`` as one group; XLA joins those that can be.

    Raises:
      ValueError: ``fn`` makes a step that is no collective.

    >>> from jax.experimental import thunky
    >>> thunky.collective_group(lambda: thunky.memzero(jax.new_ref(1.0)))
    Traceback (most recent call last):
    ...
    ValueError: thunky.memzero: it is no collective, and inside a collective_group there can be nothing else
    """
    token = _in_group.set(True)
    try:
        fn()
    finally:
        _in_group.reset(token)


def _each(buffers: Buffers) -> Sequence[Buffer]:
    return buffers if isinstance(buffers, (tuple, list)) else [cast(Buffer, buffers)]


def _pairs(name: str, src: Buffers, dst: Buffers, size: Callable[[int], float]) -> Iterator[tuple[Any, Any]]:
    """The buffers of a collective, one or several pairs, checked: ``dst`` has ``size(n)`` elements where ``src`` has ``n``."""
    sources, targets = _each(src), _each(dst)
    if len(sources) != len(targets):
        raise ValueError(f"thunky.{name}: src and dst must be as many buffers, got {len(sources)} and {len(targets)}")
    _buffers(name, *sources, *targets, collective=True)
    for a, b in zip(sources, targets):
        if a.dtype != b.dtype or math.prod(b.shape) != size(math.prod(a.shape)):
            raise ValueError(f"thunky.{name}: from src of type {_type(a)} come {size(math.prod(a.shape)):g} elements of dtype "
                             f"{np.dtype(a.dtype).name}, and dst is of type {_type(b)}")
        yield a, b


def _members(axis_name: AxisName | Sequence[AxisName], groups: Groups) -> int:
    return len(groups[0]) if groups else lax.axis_size(axis_name)


def _product(x: Any, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups) -> Any:
    return lax.all_gather(x, axis_name, axis_index_groups=axis_index_groups).prod(0)


_REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {  # over a named axis, and along an axis of an array
    "sum": (lax.psum, jnp.sum), "min": (lax.pmin, jnp.min), "max": (lax.pmax, jnp.max), "prod": (_product, jnp.prod),
    "product": (_product, jnp.prod)}


def _reduction(name: str, kind: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    if kind not in _REDUCTIONS:
        raise ValueError(f"thunky.{name}: reduction must be one of {sorted(_REDUCTIONS)}, got {kind!r}")
    return _REDUCTIONS[kind]


def all_reduce(src: Buffers, dst: Buffers, axis_name: AxisName | Sequence[AxisName], *, reduction: str = "sum",
               axis_index_groups: Groups = None) -> None:
    """The sum (or another reduction) of ``src`` over a named axis, into ``dst``.

    Args:
      src, dst: references of one size and dtype, or sequences of them.
      axis_name: axis of the mesh, or several.
      reduction: "sum", "prod", "min" or "max".
      axis_index_groups: reduce within groups of positions.

    Raises:
      ValueError: sizes or dtypes differ, or an unknown reduction. NameError: an axis is not bound by `jax.shard_map`.

    Source: StableHLO `all_reduce`.

    >>> from jax.experimental import thunky
    >>> @jax.shard_map(mesh=jax.sharding.Mesh(jax.devices()[:1], "i"), in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def program(x):
    ...     out = jax.new_ref(jnp.zeros_like(x))
    ...     thunky.jit(lambda src, dst: thunky.all_reduce(src, dst, "i"))(x, out)
    ...     return out[...]
    >>> program(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    over, _ = _reduction("all_reduce", reduction)
    for a, b in _pairs("all_reduce", src, dst, lambda n: n):
        b[...] = over(a[...], axis_name, axis_index_groups=axis_index_groups).reshape(b.shape)


def all_gather(src: Buffers, dst: Buffers, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> None:
    """``src`` of every position along a named axis, one after the other, into ``dst``.

    Args:
      src, dst: references, ``dst`` with as many times the elements as there are positions; or sequences of them.
      axis_name, axis_index_groups: as for `all_reduce`.

    Raises:
      ValueError: sizes or dtypes do not fit. NameError: an axis is not bound by `jax.shard_map`.

    Source: StableHLO `all_gather`.

    >>> from jax.experimental import thunky
    >>> @jax.shard_map(mesh=jax.sharding.Mesh(jax.devices()[:1], "i"), in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def program(x):
    ...     out = jax.new_ref(jnp.zeros_like(x))
    ...     thunky.jit(lambda src, dst: thunky.all_gather(src, dst, "i"))(x, out)
    ...     return out[...]
    >>> program(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    count = _members(axis_name, axis_index_groups)
    for a, b in _pairs("all_gather", src, dst, lambda n: n * count):
        b[...] = lax.all_gather(a[...], axis_name, axis_index_groups=axis_index_groups).reshape(b.shape)


def reduce_scatter(src: Buffers, dst: Buffers, axis_name: AxisName | Sequence[AxisName], *, reduction: str = "sum",
                   axis_index_groups: Groups = None) -> None:
    """The sum (or another reduction) of ``src`` over a named axis, of which each position keeps its own part in ``dst``.

    Args:
      src, dst: references, ``src`` with as many times the elements as there are positions; or sequences of them.
      axis_name, reduction, axis_index_groups: as for `all_reduce`.

    Raises:
      ValueError: sizes or dtypes do not fit, or an unknown reduction. NameError: an axis is not bound by `jax.shard_map`.

    Source: StableHLO `reduce_scatter`.

    >>> from jax.experimental import thunky
    >>> @jax.shard_map(mesh=jax.sharding.Mesh(jax.devices()[:1], "i"), in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def program(x):
    ...     out = jax.new_ref(jnp.zeros_like(x))
    ...     thunky.jit(lambda src, dst: thunky.reduce_scatter(src, dst, "i"))(x, out)
    ...     return out[...]
    >>> program(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    (over, along), count = _reduction("reduce_scatter", reduction), _members(axis_name, axis_index_groups)
    for a, b in _pairs("reduce_scatter", src, dst, lambda n: n / count):
        rows = a[...].reshape(count, math.prod(a.shape) // count)
        if over is lax.psum:
            part = lax.psum_scatter(rows, axis_name, axis_index_groups=axis_index_groups)
        else:
            part = along(lax.all_to_all(rows, axis_name, 0, 0, axis_index_groups=axis_index_groups), axis=0)
        b[...] = part.reshape(b.shape)


def all_to_all(src: Buffers, dst: Buffers, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None,
               has_split_dimension: bool = True) -> None:
    """Part ``i`` of ``src`` goes to position ``i`` of a named axis, which puts it at the place of the sender's position in ``dst``.

    Args:
      src, dst: references of one size and dtype, whose elements are divided among the positions.
      axis_name, axis_index_groups: as for `all_reduce`.
      has_split_dimension: False if ``src`` and ``dst`` are sequences of references, one for each position, instead.

    Raises:
      ValueError: sizes or dtypes do not fit. NameError: an axis is not bound by `jax.shard_map`.

    Source: StableHLO `all_to_all`.

    >>> from jax.experimental import thunky
    >>> @jax.shard_map(mesh=jax.sharding.Mesh(jax.devices()[:1], "i"), in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def program(x):
    ...     out = jax.new_ref(jnp.zeros_like(x))
    ...     thunky.jit(lambda src, dst: thunky.all_to_all(src, dst, "i"))(x, out)
    ...     return out[...]
    >>> program(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    count = _members(axis_name, axis_index_groups)
    if not has_split_dimension:
        if not all(isinstance(x, (tuple, list)) and len(x) == count for x in (src, dst)):
            raise ValueError(f"thunky.all_to_all: with has_split_dimension=False src and dst must be sequences of {count} buffers, one for each "
                             "position")
        pairs = list(_pairs("all_to_all", src, dst, lambda n: n))
        parts = lax.all_to_all(jnp.stack([a[...].reshape(-1) for a, _ in pairs]), axis_name, 0, 0, axis_index_groups=axis_index_groups)
        for (_, b), part in zip(pairs, parts):
            b[...] = part.reshape(b.shape)
        return
    for a, b in _pairs("all_to_all", src, dst, lambda n: n):
        if math.prod(a.shape) % count:
            raise ValueError(f"thunky.all_to_all: the elements of src of type {_type(a)} cannot be divided among {count} positions")
        rows = a[...].reshape(count, math.prod(a.shape) // count)
        b[...] = lax.all_to_all(rows, axis_name, 0, 0, axis_index_groups=axis_index_groups).reshape(b.shape)


def collective_permute(src: Buffers, dst: Buffers, axis_name: AxisName | Sequence[AxisName],
                       source_target_pairs: Sequence[tuple[int, int]] = ((0, 1), (1, 0)), *, axis_index_groups: Groups = None) -> None:
    """Send ``src`` from position to position of a named axis; ``dst`` is zero where nothing arrives.

    Args:
      src, dst: references of one size and dtype, or sequences of them.
      axis_name: as for `all_reduce`.
      source_target_pairs: who sends to whom.
      axis_index_groups: must be None.

    Raises:
      ValueError: sizes or dtypes differ, or a position is named twice. NameError: an axis is not bound by `jax.shard_map`.
      NotImplementedError: ``axis_index_groups`` are given.

    Source: StableHLO `collective_permute`.

    >>> from jax.experimental import thunky
    >>> @jax.shard_map(mesh=jax.sharding.Mesh(jax.devices()[:1], "i"), in_specs=jax.P("i"), out_specs=jax.P("i"))
    ... def program(x):
    ...     out = jax.new_ref(jnp.zeros_like(x))
    ...     thunky.jit(lambda src, dst: thunky.collective_permute(src, dst, "i", [(0, 0)]))(x, out)
    ...     return out[...]
    >>> program(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    if axis_index_groups is not None:
        raise NotImplementedError("thunky.collective_permute: axis_index_groups are not supported; write out all of source_target_pairs")
    for a, b in _pairs("collective_permute", src, dst, lambda n: n):
        b[...] = lax.ppermute(a[...], axis_name, source_target_pairs).reshape(b.shape)
