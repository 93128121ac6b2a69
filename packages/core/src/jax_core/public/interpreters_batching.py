"""`jax.interpreters.batching`: setting batching rules for one's own primitives, and reading those of others."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..representation.arguments import takes
from ..representation.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from ..representation.marks import ELEMENTWISE
from ..representation.primitive import Primitive
from ..representation.typing import ArrayLike
from ..traces import structural
from ..traces.staging import trace_to_jaxpr
from ..traces.structural import matchaxis, moved
from ..transformations import batching
from ..transformations.batching import AxisData, BatchTrace, BatchTracer, batch_fun, elementwise, not_mapped, unmapped_aval
from ..transformations.vmappable import register_vmappable, unregister_vmappable
from .rules import RuleTable

if TYPE_CHECKING:
    from ..representation.typing import PyTree

moveaxis = moved


def _run(prim, axis, args, dims, params):
    if prim.batch is ELEMENTWISE:
        return elementwise(prim, args, dims, params)
    return prim.batch(axis, args, dims, **params)


def _guessed_axis(args, dims) -> AxisData:
    x, d = next((x, d) for x, d in zip(args, dims) if d is not None)
    return AxisData(None, x.shape[d])


primitive_batchers = RuleTable(
    "batch", lambda prim, _: lambda args, dims, /, **params: _run(prim, _guessed_axis(args, dims), args, dims, params),
    lambda rule: lambda axis, args, dims, /, **params: rule(tuple(args), tuple(dims), **params))
fancy_primitive_batchers = RuleTable(
    "batch", lambda prim, _: lambda axis, args, dims, /, **params: _run(prim, axis, args, dims, params),
    lambda rule: lambda axis, args, dims, /, **params: rule(axis, tuple(args), tuple(dims), **params))
axis_primitive_batchers = RuleTable(  # the oldest form: rule(axis_size, axis_name, kind of trace, args, dims)
    "batch", lambda prim, _: lambda size, name, kind, args, dims, /, **params: _run(prim, AxisData(name, size), args, dims, params),
    lambda rule: lambda axis, args, dims, /, **params: rule(axis.size, axis.name, BatchTrace, tuple(args), tuple(dims), **params))


@takes(prim=Primitive)
def defvectorized(prim: Primitive) -> None:
    """``prim`` is elementwise in its operands.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import batching
    >>> plus_p = Primitive("plus_of_batching_example")
    >>> _ = plus_p.def_impl(lambda x, y: x + y)
    >>> _ = plus_p.def_abstract_eval(lambda x, y: x)
    >>> batching.defbroadcasting(plus_p)
    >>> jax.vmap(plus_p.bind)(jnp.arange(3.), jnp.ones(3))
    Array([1., 2., 3.], dtype=float32)
    """
    prim.batch = lambda axis, args, dims, /, **params: elementwise(prim, args, dims, params)


defbroadcasting = defvectorized


@takes(prim=Primitive)
def defreducer(prim: Primitive, ident: object = None) -> None:
    """``prim`` reduces over its parameter ``axes``.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import batching
    >>> total_p = Primitive("total_of_batching_example")
    >>> _ = total_p.def_impl(lambda x, axes: jnp.sum(x, axes))
    >>> batching.defreducer(total_p)
    >>> jax.vmap(lambda x: total_p.bind(x, axes=(0,)))(jnp.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """
    def batch(axis: AxisData, args, dims: Sequence[int | None], /, *, axes, **params):
        (x,), (d,) = args, dims
        shifted = tuple(a + (a >= d) for a in axes)
        return prim.bind(x, axes=shifted, **params), d - sum(a < d for a in shifted)
    prim.batch = batch


def zero_if_mapped(x: object) -> int | None:
    """0 for a mapped value, else None.

    >>> from jax.interpreters import batching
    >>> batching.zero_if_mapped(2), batching.zero_if_mapped(None)
    (0, None)
    """
    return 0 if x is not None else None


def broadcast(x: ArrayLike, sz: int, axis: int = 0, mesh_axis: None = None) -> Any:
    """``x`` repeated along a new ``axis`` of length ``sz``; ``mesh_axis`` must be None.

    >>> from jax.interpreters import batching
    >>> batching.broadcast(jnp.arange(2), 3)
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    if mesh_axis is not None:
        raise NotImplementedError("interpreters.batching.broadcast: mesh_axis is not supported; use jax.vmap's spmd_axis_name")
    return structural.broadcast(x, sz, axis)


def bdim_at_front(x: ArrayLike, bdim: int | None, size: int, mesh_axis: None = None) -> Any:
    """``x`` with its mapped axis first; made by repetition if there is none. ``mesh_axis`` must be None.

    >>> from jax.interpreters import batching
    >>> batching.bdim_at_front(jnp.ones((2, 5)), 1, 5).shape, batching.bdim_at_front(jnp.ones(2), None, 5).shape
    ((5, 2), (5, 2))
    """
    if mesh_axis is not None:
        raise NotImplementedError("interpreters.batching.bdim_at_front: mesh_axis is not supported; use jax.vmap's spmd_axis_name")
    return structural.bdim_at_front(x, bdim, size)


def batch_subtrace(fun: Callable[..., PyTree], *args: Any) -> Any:
    raise NotImplementedError("batch_subtrace: use jax.vmap, or batching.batch_fun of jax_core")


@takes(closed_jaxpr=(Jaxpr, ClosedJaxpr))
def batch_jaxpr_axes(closed_jaxpr: ClosedJaxpr, axis_data: AxisData, in_axes: Sequence[int | None],
                     out_axes_dest: Sequence[int | None]) -> Any:
    """``closed_jaxpr`` on a batch with its mapped axes at ``in_axes`` and ``out_axes_dest``."""
    def run(*args):
        fun, dims = batch_fun(lambda *xs: eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *xs), axis_data, in_axes)
        outs = fun(*args)
        return [matchaxis(axis_data, x, d, want) for x, d, want in zip(outs, dims(), out_axes_dest)]
    avals = [a if d is None else unmapped_aval(a, axis_data.size, d) for a, d in zip(closed_jaxpr.in_avals, in_axes)]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals)
    return ClosedJaxpr(jaxpr, consts), out_axes_dest
