"""What kernels are written with besides references: conditions, loops, memory of their own, hints and sizes."""
from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar

import numpy as np

from jax_core.references.api import freeze, new_ref_p
from jax_core.references.primitives import strong
from jax_core.representation import tree
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import UsualEffect
from jax_core.representation.marks import ELEMENTWISE, ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, PyTree

from .. import numpy as jnp
from ..lax.control_flow.cond import cond
from ..lax.control_flow.while_loop import fori_loop
from ..lax.create import full
from .mode import interpretation
from .spaces import MAIN_MEMORY, SemaphoreType, ref_type
from .specs import InterpretParams
from .uninitialized import uninitialized

if TYPE_CHECKING:
    from jax_core.representation.typing import Placement

T = TypeVar("T")


def when(condition: ArrayLike, /) -> Callable[[Callable[[], None]], None]:
    """Decorator: run a function of no arguments if ``condition`` is true. What it does is change references.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(out):
    ...     @pl.when(pl.program_id(0) == 0)
    ...     def _():
    ...         out[...] = jnp.zeros(2)
    ...     out[...] += 1
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32), grid=3, interpret=True)()
    Array([3., 3.], dtype=float32)
    """
    def decorate(function: Callable[[], Any]) -> None:
        if isinstance(condition, (bool, np.bool_)):
            if condition:
                function()
        else:
            cond(condition, lambda: _nothing(function()), lambda: None)
    return decorate


def _nothing(result: Any) -> None:
    """What the function of `when` returns is dropped: nothing but references leaves it."""


def loop(lower: ArrayLike, upper: ArrayLike, *, init_carry: PyTree = None, step: ArrayLike = 1,
         unroll: int | bool | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: run a function of the index, or of index and carry, for the indices from ``lower`` to ``upper`` exclusive.

    Args:
      init_carry: the first carry; the function gets it as its second argument and returns the next one. None: no carry.
      step: between indices, a positive integer.
      unroll: as in `lax.fori_loop`.

    Returns:
      a decorator that returns the last carry.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x, out):
    ...     @pl.loop(0, 3, init_carry=x[...])
    ...     def total(i, carry):
    ...         return carry * 2
    ...     out[...] = total
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32), interpret=True)(jnp.ones(2))
    Array([8., 8.], dtype=float32)
    """
    def decorate(body: Callable[..., Any]) -> Any:
        count = cdiv(upper - lower, step)  # type: ignore[operator]  # numbers and arrays
        index = (lambda i: i + lower) if isinstance(step, int) and step == 1 else (lambda i: i * step + lower)
        if init_carry is None:
            return fori_loop(0, count, lambda i, _: _nothing(body(index(i))), None, unroll=unroll)
        return fori_loop(0, count, lambda i, carry: body(index(i), carry), init_carry, unroll=unroll)
    return decorate


def run_scoped(f: Callable[..., T], *types: Any, collective_axes: object = (), **kw_types: Any) -> T:
    """``f`` on references to memory that exists while it runs.

    Args:
      f: gets a reference for each of ``types`` and ``kw_types``; may return arrays.
      types, kw_types: memory spaces called with a shape and a dtype (``pltpu.VMEM((8, 128), jnp.float32)``), kinds of
        semaphores, or pytrees of these. What the memory holds at first is not specified.

    Raises:
      ValueError: ``f`` returns one of these references.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     def with_room(room):
    ...         room[...] = x_ref[...] * 2
    ...         o_ref[...] = room[...] + 1
    ...     pl.run_scoped(with_room, pltpu.VMEM((3,), jnp.float32))
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([1., 3., 5.], dtype=float32)
    """
    made = tree.tree_map(lambda what: allocate("run_scoped", what), (types, kw_types), is_leaf=lambda x: hasattr(x, "get_ref_aval"))
    result = f(*made[0], **made[1])
    own = {id(ref) for ref in tree.leaves(made)}
    if any(id(x) in own for x in tree.leaves(result)):
        raise ValueError("run_scoped: the function returned a reference to memory that it was given, which ends with it; return what it "
                         "holds, ref[...].")
    return result


def with_scoped(*types: Any, collective_axes: object = (), **kw_types: Any) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Decorator: the function gets references to memory that exists while it runs, after the arguments of its call (see `run_scoped`).

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     @pl.with_scoped(pltpu.VMEM((3,), jnp.float32))
    ...     def times(n, room):
    ...         room[...] = x_ref[...] * n
    ...         o_ref[...] = room[...]
    ...     times(2)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    def decorate(f: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(f)
        def scoped(*args: Any, **kwargs: Any) -> T:
            return run_scoped(functools.partial(f, *args, **kwargs), *types, collective_axes=collective_axes, **kw_types)
        return scoped
    return decorate


def allocate(name: str, what: object) -> Any:
    """A reference to new memory, for the function ``name``."""
    ref = ref_type(name, what)
    asked = interpretation.value
    if isinstance(asked, InterpretParams) and ref.memory_space in MAIN_MEMORY and not asked.allow_hbm_allocation_in_run_scoped:
        raise ValueError(f"{name}: {what!r} asks for main memory, which a TPU has none of to give away inside a kernel; use pltpu.VMEM, or an operand. "
                         "InterpretParams(allow_hbm_allocation_in_run_scoped=True) lets the interpreter give it.")
    first = uninitialized(ref.shape, ref.dtype, "zero" if isinstance(ref.memory_space, SemaphoreType) else None)
    return new_ref_p.bind(strong(first), memory_space=ref.memory_space, kind=None, pin=False)


def run_state(f: Callable[..., None]) -> Callable[[PyTree], PyTree]:
    """A function of arrays that gives references with these contents to ``f`` and returns what they hold afterwards.

    >>> from jax.experimental import pallas as pl
    >>> def more(ref):
    ...     ref[...] += 1
    >>> pl.run_state(more)(jnp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    def call(values: PyTree) -> PyTree:
        refs = tree.tree_map(lambda x: new_ref_p.bind(strong(x), memory_space=None, kind=None, pin=False), values)
        f(refs)
        return tree.tree_map(freeze, refs)
    return call


def empty(shape: Sequence[int], dtype: DTypeLike, *, out_sharding: Placement | None = None) -> Array:
    """An array whose elements are not specified (they are zeros).

    >>> from jax.experimental import pallas as pl
    >>> pl.empty((2,), jnp.float32).shape
    (2,)
    """
    return full(tuple(shape), 0, dtype, sharding=out_sharding)


def empty_like(x: PyTree) -> PyTree:
    """For each array, or type of one, in ``x`` an array of its shape and dtype whose elements are not specified.

    >>> from jax.experimental import pallas as pl
    >>> pl.empty_like({"a": jnp.ones(3)})["a"].shape
    (3,)
    """
    return tree.tree_map(lambda leaf: empty(leaf.shape, leaf.dtype), x, is_leaf=lambda leaf: hasattr(leaf, "shape"))


def broadcast_to(a: ArrayLike, shape: Sequence[int]) -> Any:
    """``a`` repeated along new axes in front and along those of length one, as in `numpy.broadcast_to`.

    >>> from jax.experimental import pallas as pl
    >>> pl.broadcast_to(jnp.arange(3), (2, 3))
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    return jnp.broadcast_to(a, tuple(shape))


class _Delay(UsualEffect):
    """A wait, which nothing may drop."""

    __slots__ = ()
    of_lanes = False


def _delay_in_kernel(b, nanos):
    return b.emit(f"stablehlo.custom_call @kernel.delay({nanos})", nanos, out=[], attrs='{has_side_effect = true, backend_config = ""}')


delay_p: Primitive = Primitive(
    "delay", multiple_results=True, out_type=lambda nanos: (), effects=lambda nanos: frozenset({_Delay()}), jvp=ZERO,
    batch=lambda axis, args, dims: (delay_p.bind(np.int32(0)), []), lower=lambda b, nanos: [], impl=lambda nanos: [], in_kernel=_delay_in_kernel)


def delay(nanos: ArrayLike) -> None:
    """Wait for some nanoseconds, in kernels for TPUs: races show then. Elsewhere nothing.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref):
    ...     pl.delay(100)
    ...     o_ref[...] = x_ref[...]
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    delay_p.bind(np.int32(nanos) if isinstance(nanos, (int, np.integer)) else nanos)


# -- sizes and hints -----------------------------------------------------------------------------------------------------

def cdiv(a: Any, b: Any) -> Any:
    """``a / b`` rounded up, for positive integers.

    >>> from jax.experimental import pallas as pl
    >>> pl.cdiv(7, 2)
    4
    """
    return (a + (b - 1)) // b


def align_to(a: Any, alignment: Any) -> Any:
    """The first multiple of ``alignment`` that is not below ``a``.

    >>> from jax.experimental import pallas as pl
    >>> pl.align_to(5, 8), pl.align_to(16, 8)
    (8, 16)
    """
    return cdiv(a, alignment) * alignment


def next_power_of_2(x: int) -> int:
    """The first power of two that is not below ``x``.

    Raises:
      ValueError: ``x`` is negative.

    >>> from jax.experimental import pallas as pl
    >>> pl.next_power_of_2(5), pl.next_power_of_2(8)
    (8, 8)
    """
    if x < 0:
        raise ValueError(f"next_power_of_2: {x} is negative; give a size.")
    return 1 if x == 0 else 1 << (x - 1).bit_length()


def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """How many elements apart neighbours along each axis are, in an array of ``shape`` without gaps.

    >>> from jax.experimental import pallas as pl
    >>> pl.strides_from_shape((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for n in reversed(tuple(shape)):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _hint_in_kernel(name, b, x, *, values):
    return b.emit(f"stablehlo.custom_call @kernel.{name}({x})", x, out=x.aval, attrs=f'{{backend_config = "{",".join(map(str, values))}"}}')


def _hint(name: str) -> Primitive:
    return Primitive(name, out_type=lambda x, *, values: x, jvp=ZERO, batch=ELEMENTWISE, lower=lambda b, x, *, values: x,
                     in_kernel=functools.partial(_hint_in_kernel, name),
                     reference=lambda x, *, values: x, exact=True, traits=Traits(Kind.IDENTITY))


multiple_of_p = _hint("multiple_of")
max_contiguous_p = _hint("max_contiguous")


def _hinted(prim: Primitive, x: Any, values: Any) -> Any:
    values = tuple(map(operator.index, values)) if isinstance(values, (tuple, list)) else (operator.index(values),)
    aval = get_aval(x)
    if not np.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"{prim.name} is said of integers, got {aval.str_short()}.")
    return prim.bind(x, values=values)


def multiple_of(x: ArrayLike, values: Sequence[int] | int) -> Any:
    """``x``, with the promise to the compiler that it is a multiple of ``values`` (along each axis).

    >>> from jax.experimental import pallas as pl
    >>> pl.multiple_of(16, 8)
    Array(16, dtype=int32, weak_type=True)
    """
    return _hinted(multiple_of_p, x, values)


def max_contiguous(x: ArrayLike, values: Sequence[int] | int) -> Any:
    """``x``, with the promise to the compiler that so many neighbours in it count upwards (along each axis).

    >>> from jax.experimental import pallas as pl
    >>> pl.max_contiguous(jnp.arange(4), 4)
    Array([0, 1, 2, 3], dtype=int32)
    """
    return _hinted(max_contiguous_p, x, values)
