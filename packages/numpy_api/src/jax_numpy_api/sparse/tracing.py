"""Tracers that stand for sparse arrays: `sparsify` with ``use_tracer``, which runs a function once, on values.

Dense results are plain arrays, so Python's control flow can depend on them. What a tracer stands for is kept by reference
in an environment, as rules of other libraries expect it (`values`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core.compat import linear_util
from jax_core.configuration import context
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import PyTree
from jax_core.traces.trace import Trace, Tracer, current

from .rules import apply, is_sparse
from .values import SparsifyEnv, SparsifyValue, arrays_to_spvalues, spvalues_to_arrays

if TYPE_CHECKING:
    from jax_core.transformations.custom_jvp import CustomJvpCall
    from jax_core.transformations.custom_vjp import CustomVjpCall


class SparseTracer(Tracer):
    """Stands for the sparse array ``spvalue`` of its trace's environment; looks dense."""
    __module__ = "jax.experimental.sparse.transform"  # see `Tracer`

    __slots__ = ("_spvalue",)

    def __init__(self, trace: "SparseTrace", *, spvalue: SparsifyValue):
        self._trace, self._spvalue = trace, spvalue

    @property
    def spenv(self) -> SparsifyEnv:
        """Where the buffers are."""
        return self._trace.spenv  # type: ignore[attr-defined]  # a SparseTrace

    @property
    def aval(self):
        return ShapedArray(self._spvalue.shape, self.spenv.data(self._spvalue).dtype)


class SparseTrace(Trace):
    """Applies primitives to sparse arrays by `rules`; what has no sparse operand is its parent's.

    Args:
      parent_trace: computes with the buffers.
      tag: any object; kept.
      spenv: where the buffers are.
    """

    __slots__ = ("tag", "spenv")

    def __init__(self, parent_trace: Trace, tag: object, spenv: SparsifyEnv):
        super().__init__(parent_trace)
        self.tag, self.spenv = tag, spenv

    @property
    def parent_trace(self) -> Trace:
        """The trace below."""
        return self.parent

    def to_sparse_tracer(self, x: object) -> Any:
        """``x`` as a tracer if it is a sparse array or a value of the environment; anything else as it is."""
        if is_sparse(x):
            x = arrays_to_spvalues(self.spenv, x)
        return SparseTracer(self, spvalue=x) if isinstance(x, SparsifyValue) else x

    def array_of(self, x: object) -> Any:
        """What a tracer of this trace stands for; anything else as it is."""
        return spvalues_to_arrays(self.spenv, x._spvalue) if isinstance(x, SparseTracer) and x._trace is self else x

    def process(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        operands = [self.array_of(x) for x in args]
        if not any(map(is_sparse, operands)):
            return self.parent.process(prim, operands, params)
        with context.Use(self.parent):
            outs = apply(prim, operands, params)
        return [self.to_sparse_tracer(x) for x in outs] if prim.multiple_results else self.to_sparse_tracer(outs)

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        if any(map(self.holds, args)):
            return call.fun(*args)  # rules of derivatives are for dense arrays
        return self.parent.process_custom_jvp(call, args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        if any(map(self.holds, args)):
            return call.fun(*args)
        return self.parent.process_custom_vjp(call, args)


def traced(f: Callable[..., PyTree], args: PyTree, params: dict) -> Any:
    """``f(*args, **params)`` with tracers in place of the sparse arrays in ``args``; its result with arrays again."""
    trace = SparseTrace(current(), object(), SparsifyEnv())
    with context.Use(trace):
        out = f(*tree.map(trace.to_sparse_tracer, args, is_leaf=is_sparse), **params)
    return tree.map(trace.array_of, out)


@linear_util.transformation_with_aux2
def sparsify_subtrace(f: Callable, store: Any, tag: object, spenv: SparsifyEnv, spvalues: Sequence[SparsifyValue],
                      *bufs: Any) -> list:
    """A flat function of the buffers ``bufs`` of ``spvalues``: all buffers at its end. The results, as values among these, go
    to the store."""
    spenv.replace(bufs)
    trace = SparseTrace(current(), tag, spenv)
    with context.Use(trace):
        outs = f(*[SparseTracer(trace, spvalue=v) if v.is_sparse() else spenv.data(v) for v in spvalues])
    store.store([arrays_to_spvalues(spenv, trace.array_of(x)) for x in outs])
    return spenv.replace(())


def sparsify_fun(wrapped_fun: linear_util.WrappedFun, args: Sequence[object]) -> list:
    """The results of a flat wrapped function on a list of dense and sparse arrays."""
    return list(traced(lambda *xs: list(wrapped_fun.call_wrapped(*xs)), tuple(args), {}))
