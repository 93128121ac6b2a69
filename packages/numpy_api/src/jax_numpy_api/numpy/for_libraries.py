"""How libraries that write functions of arrays of their own (orthax, torchax, dynamiqs, quaxed) promote arguments and read shapes.

They import these from ``jax._src``. Our own functions use `promotion`, which leaves numbers as they are; here every result is an array.
"""
from __future__ import annotations

from typing import Any, Callable, Collection, Sequence

import numpy as np

from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, PyTree

from .. import lax
from . import einsums, promotion, vectorizing
from .linalg.systems import solve_by_lu
from .promotion import as_array, broadcast_to, canonical_axis as canonicalize_axis, check_arraylike


def _arrays(fun: Callable, *args: Any) -> list[Array]:
    return [as_array(x) for x in fun(*args)]


def promote_dtypes(*args: ArrayLike) -> list[Array]:
    """Arrays of the dtype that all arguments promote to.

    >>> from jax._src.numpy import util
    >>> util.promote_dtypes(np.float32(1.5), jnp.arange(2))
    [Array(1.5, dtype=float32), Array([0., 1.], dtype=float32)]
    """
    return _arrays(promotion.promote_dtypes, *args) if args else []


def promote_dtypes_inexact(*args: ArrayLike) -> list[Array]:
    """As `promote_dtypes`, to a floating-point or complex dtype.

    >>> from jax._src.numpy import util
    >>> util.promote_dtypes_inexact(jnp.arange(2))
    [Array([0., 1.], dtype=float32)]
    """
    return _arrays(promotion.promote_dtypes_inexact, *args)


def promote_dtypes_complex(*args: ArrayLike) -> list[Array]:
    """As `promote_dtypes`, to a complex dtype.

    >>> from jax._src.numpy import util
    >>> util.promote_dtypes_complex(jnp.arange(2))
    [Array([0.+0.j, 1.+0.j], dtype=complex64)]
    """
    return _arrays(promotion.promote_dtypes_complex, *args)


def promote_dtypes_numeric(*args: ArrayLike) -> list[Array]:
    """As `promote_dtypes`, where booleans become integers.

    >>> from jax._src.numpy import util
    >>> util.promote_dtypes_numeric(jnp.array([True]))
    [Array([1], dtype=int32)]
    """
    return _arrays(promotion.promote_dtypes_numeric, *args)


def promote_shapes(fun_name: str, *args: ArrayLike) -> list[Array]:
    """Arrays of the same number of axes, if any has axes and they differ in that; leading axes of length 1 are added.

    Raises:
      ValueError: the shapes do not broadcast. TypeError: under ``jax_numpy_rank_promotion="raise"``, numbers of axes differ.

    >>> from jax._src.numpy import util
    >>> [x.shape for x in util.promote_shapes("f", jnp.ones((2, 3)), jnp.ones(3))]
    [(2, 3), (1, 3)]
    """
    arrays = [as_array(x) for x in args]
    shapes = [x.shape for x in arrays]
    ranks = {len(shape) for shape in shapes}
    if len(ranks - {0}) < 2:
        return arrays
    promotion.check_rank_promotion(fun_name, shapes)
    promotion.broadcast_shape(fun_name, *shapes)
    return [lax.broadcast_to_rank(x, max(ranks)) for x in arrays]


def promote_args(fun_name: str, *args: ArrayLike) -> list[Array]:
    """``args`` converted to the dtype that all of them promote to, each with as many axes as the one that has most.

    Raises:
      TypeError: something else is among them; ``fun_name`` is who asks, in the message.

    >>> from jax._src.numpy import util
    >>> [x.dtype.name for x in util.promote_args("f", jnp.arange(2), 0.5)]
    ['float32', 'float32']
    """
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promotion._promoted(promote_dtypes, fun_name, args))


def promote_args_inexact(fun_name: str, *args: ArrayLike) -> list[Array]:
    """As `promote_args`, to a floating-point or complex dtype.

    >>> from jax._src.numpy import util
    >>> util.promote_args_inexact("f", jnp.arange(2))
    [Array([0., 1.], dtype=float32)]
    """
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promotion._promoted(promotion.promote_dtypes_inexact, fun_name, args))


def promote_args_numeric(fun_name: str, *args: ArrayLike) -> list[Array]:
    """As `promote_args`, where booleans become integers.

    >>> from jax._src.numpy import util
    >>> util.promote_args_numeric("f", jnp.array([True]), 2)
    [Array([1], dtype=int32, weak_type=True), Array(2, dtype=int32, weak_type=True)]
    """
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promotion._promoted(promotion.promote_dtypes_numeric, fun_name, args))


def canonicalize_shape(shape: object, context: str = "") -> tuple[int, ...]:
    """A shape as a tuple of integers, which may be negative.

    Args:
      shape: an integer or a sequence of them, all known.
      context: what the shape is for; a note on the error.

    Raises:
      TypeError: ``shape`` is something else.

    >>> from jax._src import core
    >>> core.canonicalize_shape(3), core.canonicalize_shape([3, np.int64(2)])
    ((3,), (3, 2))
    """
    try:
        return promotion._parse_shape("canonicalize_shape", shape)
    except TypeError as error:
        if context:
            error.add_note(context)
        raise


def dimension_as_value(length: Any) -> Any:
    """The length of an axis as something to compute with: a number as it is, a symbolic length as an array of the program that is traced.

    Raises:
      NotImplementedError: it is symbolic, and no program is traced.

    >>> from jax._src import core
    >>> core.dimension_as_value(3)
    3
    """
    return length.dimension_as_value() if hasattr(length, "dimension_as_value") else length if hasattr(length, "__index__") else as_array(length)


def constant_as(example: ArrayLike, val: bool | complex) -> ArrayLike:
    """The number ``val`` in the dtype of ``example``; if that is a Python number, or of weak type, as one of its kind.

    >>> from jax._src.lax.lax import _const
    >>> jnp.ones(2, jnp.float16) * _const(jnp.float16(1), 3)
    Array([3., 3.], dtype=float16)
    >>> _const(1.5, 3)
    3.0
    """
    if isinstance(example, (bool, int, float, complex)):
        return type(example)(val)  # type: ignore[arg-type]
    dtype = lax.dtype(example)
    return type(np.zeros((), dtype).item())(val) if getattr(example, "weak_type", False) else lax.full((), val, dtype)


def lu_solve(lu: ArrayLike, permutation: ArrayLike, b: ArrayLike, trans: int = 0) -> Array:
    """Solution of ``a @ x == b`` by the factors ``lu`` and the ``permutation`` of rows that `jax.lax.linalg.lu` gives for ``a``.

    Args:
      lu: both factors in one matrix, ``(..., n, n)``.
      permutation: ``(..., n)``.
      b: a vector ``(n,)``, or matrices ``(..., n, k)``.
      trans: 1 solves with the transpose of ``a``, 2 with its conjugate transpose.

    Raises:
      ValueError: ``trans`` is another number, or the shapes do not fit.

    >>> from jax._src.lax.linalg import lu_solve
    >>> lu, _, permutation = jax.lax.linalg.lu(jnp.array([[0., 2.], [1., 0.]]))
    >>> lu_solve(lu, permutation, jnp.array([2., 3.]))
    Array([3., 1.], dtype=float32)
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, got {trans!r}")
    factors, right = promote_dtypes_inexact(lu, b)
    order = as_array(permutation)
    if (factors.ndim < 2 or factors.shape[-1] != factors.shape[-2] or order.shape != factors.shape[:-1] or right.ndim < 1
            or (right.shape[-2] if right.ndim > 1 else right.shape[0]) != factors.shape[-1]):
        raise ValueError(f"lu_solve: lu of shape {factors.shape}, permutation of shape {order.shape} and b of shape {right.shape} do not fit")
    if right.ndim == 1:
        return lax.squeeze(lu_solve(factors, order, lax.expand_dims(right, (1,)), trans), (factors.ndim - 1,))
    if right.shape[:-2] != factors.shape[:-2]:
        lead = joint_shape(factors.shape[:-2], right.shape[:-2])
        factors, order, right = (broadcast_to(x, (*lead, *x.shape[x.ndim - k:])) for x, k in ((factors, 2), (order, 1), (right, 2)))
    return solve_by_lu(factors, order, right, trans)


def apply_excluded(func: Callable[..., PyTree], excluded: Collection[int | str], args: Sequence[object],
                   kwargs: dict[str, object]) -> tuple[Callable[..., PyTree], Sequence[object], dict[str, object]]:
    """``func`` with the arguments at some positions and of some names filled in, and the arguments that are left.

    >>> from jax._src.numpy import vectorize
    >>> f, args, kwargs = vectorize._apply_excluded(lambda x, y, scale: scale * (x - y), {0, "scale"}, (7, 2), {"scale": 3})
    >>> f(*args, **kwargs), args, kwargs
    (15, [2], {})
    """
    return vectorizing.filled_in(func, excluded, args, kwargs)


def parse_input_dimensions(args: Sequence[Array], input_core_dims: Sequence[tuple[str, ...]],
                           error_context: str = "") -> tuple[tuple[int, ...], dict[str, int]]:
    """The shape that the axes before the core axes of all arguments broadcast to, and the length of each core axis by its name.

    Raises:
      TypeError: another number of arguments than of ``input_core_dims``. ValueError: too few axes, or lengths that differ.

    >>> from jax._src.numpy import vectorize
    >>> vectorize._parse_input_dimensions((jnp.ones((5, 2, 3)), jnp.ones((1, 3))), [("n", "m"), ("m",)])
    ((5,), {'n': 2, 'm': 3})
    """
    if len(args) != len(input_core_dims):
        raise TypeError(f"wrong number of positional arguments: expected {len(input_core_dims)}, got {len(args)} {error_context}")
    sizes = vectorizing._core_sizes(list(args), list(input_core_dims), error_context)
    return vectorizing.mapped_shape([a.shape[:a.ndim - len(core)] for a, core in zip(args, input_core_dims)], error_context), sizes


def check_output_dims(func: Callable[..., PyTree], dim_sizes: dict[str, int], expected_output_core_dims: list[tuple[str, ...]],
                      error_context: str = "") -> Callable[..., PyTree]:
    """``func``, whose results must have axes of these names.

    Raises:
      TypeError, ValueError: as it is called, for another number of results or axes, or lengths that differ.

    >>> from jax._src.numpy import vectorize
    >>> vectorize._check_output_dims(jnp.sin, {"n": 2}, [("n",)])(jnp.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    return vectorizing._checked(func, expected_output_core_dims, dim_sizes, error_context)


def make_iota(axis_size: int) -> Array:
    """The numbers of the elements of a mapped axis, as int32.

    >>> from jax._src.interpreters.batching import make_iota
    >>> make_iota(3)
    Array([0, 1, 2], dtype=int32)
    """
    return lax.iota(np.int32, axis_size)


__all__ = ["canonicalize_axis", "canonicalize_shape", "check_arraylike", "constant_as", "dimension_as_value", "lu_solve",
           "promote_args", "promote_args_inexact",
           "promote_args_numeric", "promote_dtypes", "promote_dtypes_complex", "promote_dtypes_inexact", "promote_dtypes_numeric",
           "promote_shapes"]


# -- einsum in two halves, for a product of the library's own (haliax, aqt) ----------------------------------------------

def einsum_steps(*operands: Any, **options: Any) -> tuple[list, list]:
    """Operands and steps for `einsum_by_steps`, as ``opt_einsum.contract_path(..., einsum_call=True)`` gives them; lengths may be symbolic.

    >>> from jax._src.numpy import einsum
    >>> [step[:3] for step in einsum._default_poly_einsum_handler("ij,jk->ik", jnp.ones((2, 3)), jnp.ones((3, 4)))[1]]
    [((1, 0), frozenset({'j'}), 'jk,ij->ik')]
    """
    import opt_einsum  # start-up: loaded when a path is asked for
    labels, arrays = einsums._parsed(operands[0], operands[1:])
    known: dict = {}  # a symbolic length: a number in its place, as only the order of lengths matters for a path
    shapes = [tuple(n if isinstance(n, int) else known.setdefault(n, 64 + len(known)) for n in np.shape(x)) for x in arrays]
    return arrays, opt_einsum.contract_path(labels, *shapes, shapes=True, **{**options, "einsum_call": True})[1]


def einsum_by_steps(operands: Sequence[ArrayLike], contractions: Sequence[tuple], precision: Any, preferred_element_type: Any,
                    _dot_general: Callable = lax.dot_general, out_sharding: Any = None) -> Array:
    """`jax.numpy.einsum` after its steps are known: (positions of operands, labels summed over, ``"ab,bc->ac"``), as opt_einsum has them.

    >>> from jax._src.numpy import einsum
    >>> einsum._einsum([jnp.arange(3), jnp.arange(3)], [((1, 0), frozenset("i"), "i,i->")], None, None)
    Array(5, dtype=int32)
    """
    steps = []
    for positions, _, text in contractions:
        if len(positions) > 2:
            raise NotImplementedError(f"einsum: step {text!r} takes {len(positions)} operands; choose a path in pairs, as optimize='optimal' finds")
        labels, _, out = text.partition("->")
        at = sorted(zip(positions, labels.split(",")))  # ours take operands from left to right
        steps.append((tuple(i for i, _ in at), tuple(name for _, name in at), out))
    preferred = None if preferred_element_type is None else np.dtype(preferred_element_type)
    product = None if _dot_general is lax.dot_general else _dot_general
    return einsums._contract(operands, steps, precision, preferred, product, out_sharding)
