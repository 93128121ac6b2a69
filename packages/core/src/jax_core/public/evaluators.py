"""What programs that evaluate jaxprs themselves look up: axes in scope, the current trace, and when a value is used for the last time.

Vertex elimination (graphax), bounds (immrax), sparsity detection and their like import these from ``jax._src.core``.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Hashable, Iterable

from ..configuration import context
from ..export.symbols import is_symbolic_dim
from ..representation.aval import ShapedArray, typeof
from ..traces.trace import EvalTrace, trace_state_clean

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue
    from ..representation.effects import Effect
    from ..representation.jaxpr import Jaxpr, JaxprEqn, Var
    from ..traces.trace import Trace


class AxisEnv:
    """The mapped axes in scope: names and lengths, innermost last.

    >>> from jax._src import core
    >>> jax.vmap(lambda x: x * core.get_axis_env().axis_size("i"), axis_name="i")(jnp.ones(3))
    Array([3., 3., 3.], dtype=float32)
    """

    __slots__ = ("axis_sizes",)

    def __init__(self, axis_sizes: dict[Hashable, int]):
        self.axis_sizes = axis_sizes

    def axis_names(self) -> tuple[Hashable, ...]:
        """All names."""
        return tuple(self.axis_sizes)

    def axis_exists(self, axis_name: Hashable) -> bool:
        """Whether an axis of this name is mapped."""
        return axis_name in self.axis_sizes

    def axis_size(self, axis_name: Hashable) -> int:
        """Its length.

        Raises:
          NameError: no such axis is in scope.
        """
        if axis_name not in self.axis_sizes:
            raise NameError(f"axis_size: no mapped axis {axis_name!r} is in scope; there are {list(self.axis_sizes)}")
        return self.axis_sizes[axis_name]


def get_axis_env() -> AxisEnv:
    """The mapped axes in scope.

    >>> from jax._src import core
    >>> core.get_axis_env().axis_exists("i")
    False
    """
    return AxisEnv({name: axis.size for name, axis in context.state.axes})


def axis_frame(axis_name: Hashable) -> int:
    """Length of the mapped axis ``axis_name``.

    Raises:
      NameError: no such axis is in scope.

    >>> from jax._src import core
    >>> jax.vmap(lambda x: x + core.axis_frame("i"), axis_name="i")(jnp.zeros(2))
    Array([2., 2.], dtype=float32)
    """
    return get_axis_env().axis_size(axis_name)


class TracingContext:
    """Which trace operations go to in this thread, and which axes are mapped."""

    __slots__ = ()
    axis_env = property(lambda self: get_axis_env(), doc="The mapped axes in scope.")

    @property
    def trace(self) -> Trace:
        """The current trace."""
        return context.state.trace

    def set_trace(self, trace: Trace) -> None:
        """From now on operations go to ``trace``."""
        context.set_trace(trace)

    def is_empty(self) -> bool:
        """Whether operations are evaluated at once."""
        return isinstance(context.state.trace, EvalTrace)

    def is_top_level(self) -> bool:
        """Whether no transformation is in force, and no axis is mapped."""
        return trace_state_clean() and not context.state.axes


trace_ctx = TracingContext()


def last_used(jaxpr: Jaxpr) -> dict[Var, JaxprEqn | None]:
    """By variable the last equation that reads it; None for results of the program.

    >>> from jax._src import core
    >>> jaxpr = jax.make_jaxpr(lambda x: jnp.cos(jnp.sin(x)))(1.).jaxpr
    >>> [str(e and e.primitive) for e in core.last_used(jaxpr).values()]
    ['sin', 'cos', 'None']
    """
    last: dict[Var, JaxprEqn | None] = {}
    for eqn in jaxpr.eqns:
        last.update((v, eqn) for v in eqn.invars if not hasattr(v, "val"))
    last.update((v, None) for v in jaxpr.outvars if not hasattr(v, "val"))
    return last


def clean_up_dead_vars(eqn: JaxprEqn, env: dict[Var, Any], last_used: dict[Var, JaxprEqn | None]) -> None:
    """Drop from ``env`` the operands that no equation after ``eqn`` reads, so that their memory is free.

    Raises:
      KeyError: such an operand is not in ``env``.

    >>> from jax._src import core
    >>> jaxpr = jax.make_jaxpr(lambda x: jnp.cos(jnp.sin(x)))(1.).jaxpr
    >>> env = {jaxpr.invars[0]: 1.}
    >>> core.clean_up_dead_vars(jaxpr.eqns[0], env, core.last_used(jaxpr))
    >>> env
    {}
    """
    for v in {v for v in eqn.invars if not hasattr(v, "val")}:
        if last_used.get(v) is eqn:
            del env[v]


def typecheck(aval: AbstractValue, x: Any) -> bool:
    """Whether ``x`` is a value of the type ``aval``.

    >>> from jax._src import core
    >>> core.typecheck(jax.typeof(jnp.ones(2)), np.ones(2, np.float32)), core.typecheck(jax.typeof(jnp.ones(2)), jnp.ones(3))
    (True, False)
    """
    found = typeof(x)
    if not (isinstance(found, ShapedArray) and isinstance(aval, ShapedArray)):
        return found == aval
    return found.shape == aval.shape and found.dtype == aval.dtype


def join_effects(*effects: Iterable[Effect]) -> frozenset[Effect]:
    """All effects that are in one of the sets ``effects``.

    >>> from jax._src import core
    >>> core.join_effects(set(), set())
    frozenset()
    """
    return frozenset().union(*effects)


def is_empty_shape(s: tuple) -> bool:
    """Whether an array of the shape ``s`` has no elements.

    >>> from jax._src import core
    >>> core.is_empty_shape((3, 0)), core.is_empty_shape(())
    (True, False)
    """
    return any(is_constant_dim(d) and d == 0 for d in s)


def unsafe_get_current_trace() -> Trace:
    """The trace to which operations go.

    >>> from jax._src import core
    >>> core.unsafe_get_current_trace() is core.trace_ctx.trace
    True
    """
    return context.state.trace


def get_referent(x: object) -> Any:
    """What ``x`` stands for: itself, as a reference has one tracer in each trace.

    >>> from jax._src import core
    >>> core.get_referent(3)
    3
    """
    return x


def is_constant_dim(d: object) -> bool:
    """Whether the length ``d`` is a number, and no symbol of `jax.export`.

    >>> from jax._src import core
    >>> core.is_constant_dim(3), core.is_constant_dim(jax.export.symbolic_shape("n")[0])
    (True, False)
    """
    return hasattr(d, "__index__") and not is_symbolic_dim(d)


def is_constant_shape(s: tuple) -> bool:
    """Whether all lengths of the shape ``s`` are numbers.

    >>> from jax._src import core
    >>> core.is_constant_shape((3, 4))
    True
    """
    return all(map(is_constant_dim, s))


def definitely_equal(x: object, y: object) -> bool:
    """Whether two lengths are equal for all values of their symbols.

    >>> from jax._src import core
    >>> n, = jax.export.symbolic_shape("n")
    >>> core.definitely_equal(n + 1, 1 + n), core.definitely_equal(n, 2)
    (True, False)
    """
    if x is y:
        return True
    try:
        return bool(x == y)
    except ValueError:  # depends on the symbols
        return False


def definitely_equal_shape(s1: tuple, s2: tuple) -> bool:
    """Whether two shapes are equal for all values of their symbols.

    >>> from jax._src import core
    >>> core.definitely_equal_shape((2, 3), (2, 3))
    True
    """
    return len(s1) == len(s2) and all(map(definitely_equal, s1, s2))
