"""Primitives whose rules are those of a function: a name for an operation that is composed of others.

Such an operation stays recognisable in programs until it is lowered, differentiated or batched, when it is written out.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Mapping, Sequence

from jax_core.representation import dtypes
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.structural import instantiate
from jax_core.transformations import batching
from jax_core.transformations.autodiff import linear_transpose
from jax_core.transformations.forward import jvp_flat

if TYPE_CHECKING:
    from jax_core.interfaces import Builder
    from jax_core.representation.typing import PyTree
    from jax_core.transformations.batching import AxisData


def named(name: str, fun: Callable[..., PyTree], multiple_results: bool = False) -> Primitive:
    """A primitive called ``name`` that computes ``fun(*arrays, **params)``; all of its rules are those of ``fun``.

    It keeps an operation recognisable in a program until the program is lowered, differentiated or batched.
    """
    def flat(params: Mapping[str, object]):
        return lambda *xs: list(fun(*xs, **params)) if multiple_results else [fun(*xs, **params)]

    def out_type(*avals, **params):
        found = trace_to_closed(flat(params), avals)[0].out_avals
        return found if multiple_results else found[0]

    def jvp(primals, tangents, **params):
        outs, pushed = jvp_flat(flat(params), primals, tangents)
        pushed = [Zero.of(x) if getattr(t, "dtype", None) == dtypes.float0 else t for x, t in zip(outs, pushed)]
        return (outs, pushed) if multiple_results else (outs[0], pushed[0])

    def batch(axis: AxisData, args, dims: Sequence[int | None], **params):
        run, out_dims = batching.batch_fun(flat(params), axis, dims)
        outs = run(*args)
        return (outs, out_dims()) if multiple_results else (outs[0], out_dims()[0])

    def lower(b: Builder, *operands, **params):
        outs = b.fun(flat(params), *operands)
        return outs if multiple_results else outs[0]

    def transpose(ct, *args, **params):
        where = [i for i, x in enumerate(args) if is_linear(x)]

        def of_linear(*given):
            values = dict(zip(where, given))
            return tuple(flat(params)(*[values.get(i, x) for i, x in enumerate(args)]))
        cts = tuple(instantiate(c) for c in (ct if multiple_results else [ct]))
        found = dict(zip(where, linear_transpose(of_linear, *[args[i] for i in where])(cts)))
        return [found.get(i) for i in range(len(args))]

    return Primitive(name, multiple_results=multiple_results, out_type=out_type, jvp=jvp, batch=batch, lower=lower,
                     transpose=transpose)
