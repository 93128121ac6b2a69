"""Looking at programs without running them: `make_jaxpr` and `eval_shape`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from .. import extension_points
from ..configuration import context
from ..representation import tree
from ..representation.arguments import check_callable
from ..representation.errors import UnexpectedTracerError
from ..representation.jaxpr import Jaxpr
from ..representation.tracebacks import api_boundary, boundary
from ..representation.typing import AxisName
from ..traces.staging import TypesTrace
from ..transformations.batching import AxisData
from .call import Call, TracedProgram
from .operands import as_given
from .options import JitOptions
from .stages import out_struct, out_structs, with_types

if TYPE_CHECKING:
    from ..representation.typing import PyTree


def _plain_options(fun, static_argnums=None) -> JitOptions:
    return JitOptions(fun, static_argnums, None, None, None, None, None, True, None, None, False, None)


def make_jaxpr(fun: Callable[..., PyTree], static_argnums: int | Iterable[int] = (),
               axis_env: Sequence[tuple[AxisName, int]] | None = None, return_shape: bool = False,
               abstracted_axes: None = None) -> Callable:
    """A function that returns the jaxpr of ``fun`` for its arguments' types.

    Elementwise operations have the operands that they were given, also such as differ where one has length 1.

    Args:
      static_argnums: positions of arguments that are part of the program. The others may be arrays, numbers or anything
        with ``shape`` and ``dtype``, also with symbolic dimensions (`jax.export.symbolic_shape`).
      axis_env: pairs (name, size) of named axes in scope.
      return_shape: return a pair of the jaxpr and a pytree of `ShapeDtypeStruct`.

    Raises:
      TypeError: ``fun`` cannot be called.
      NotImplementedError: ``abstracted_axes`` is given.
      InconclusiveDimensionOperation: shapes are symbolic, and the program depends on them in more than lengths and numbers.

    >>> jax.make_jaxpr(lambda x, y: x * y + 1.)(1., 2.)
    { lambda ; a:f32[] b:f32[]. let
        c:f32[] = mul a b
        d:f32[] = add c 1.0:f32[]
      in (d,) }
    """
    check_callable("make_jaxpr", fun)
    if abstracted_axes is not None:
        raise NotImplementedError("make_jaxpr: abstracted_axes (dynamic shapes) is not supported")
    options = _plain_options(fun, static_argnums)
    nums, name = options.static_argnums, f"make_jaxpr({getattr(fun, '__name__', repr(fun))})"

    def of_known(*args, **kwargs):
        call = Call(fun, options, *with_types(args, kwargs, nums))
        with context.with_axes(*(AxisData(n, size) for n, size in axis_env or ())):
            program = call.trace()
        closed = program.closed
        shown = as_given(closed.jaxpr)
        return closed if shown is closed.jaxpr else closed.replace(jaxpr=shown), program.out_tree

    @boundary(fun)
    def wrapped(*args, **kwargs):
        symbolic = extension_points.symbolic_shapes.value
        if symbolic is not None and symbolic.in_arguments(tree.leaves((args, kwargs))):
            closed, out_tree = symbolic.program(name, args, kwargs, of_known)
        else:
            closed, out_tree = of_known(*args, **kwargs)
        return (closed, tree.unflatten(out_tree, map(out_struct, closed.out_avals))) if return_shape else closed
    wrapped.__name__ = name
    return wrapped


@api_boundary
def eval_shape(fun: Callable[..., PyTree], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of ``fun(*args, **kwargs)`` as a pytree of `ShapeDtypeStruct`, without computing anything.

    Arguments may be arrays, numbers or anything with ``shape`` and ``dtype``, also with symbolic dimensions (`jax.export.symbolic_shape`).

    Raises:
      TypeError: ``fun`` cannot be called. ValueError: the length of a result's axis is no polynomial in the symbolic dimensions.

    >>> jax.eval_shape(jnp.dot, jax.ShapeDtypeStruct((2, 3), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.float32))
    ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    check_callable("eval_shape", fun)
    symbolic = extension_points.symbolic_shapes.value
    if symbolic is not None and symbolic.in_arguments(tree.leaves((args, kwargs))):
        return symbolic.eval_shape(fun, args, kwargs)
    call = Call(fun, _plain_options(fun), *with_types(args, kwargs))
    try:
        hash(fun)
    except TypeError:
        write: Callable[[], TracedProgram] = call.trace
    else:
        write = call.program
    try:
        program = write()
    except UnexpectedTracerError:  # libraries (qwix) ask for the shape of what leaked out of another eval_shape
        program = call.trace(TypesTrace)
    return tree.unflatten(program.out_tree, out_structs(program.closed.out_avals, _asked(program.closed.jaxpr)))


def _asked(jaxpr: Jaxpr) -> Any:
    """The placements that a program which is one call of a jitted function asks for its results."""
    eqn = jaxpr.eqns[0] if len(jaxpr.eqns) == 1 else None
    return eqn.params.get("out_shardings") if eqn is not None and list(eqn.outvars) == list(jaxpr.outvars) else None
