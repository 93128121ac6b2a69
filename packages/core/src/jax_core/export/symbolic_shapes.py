"""Shapes with symbolic dimensions: as texts, as types of arrays, as descriptions of arguments."""
from __future__ import annotations

from types import NoneType
from typing import Any, Mapping, Sequence

import numpy as np

from ..representation import dtypes, tree
from ..representation.aval import ShapedArray, ShapeDtypeStruct
from ..representation.memory import Space
from ..representation.partial_sums import NOTHING
from ..representation.typing import PyTree
from .symbols import DimExpr, SymbolicScope, evaluate, parse_dimension


def evaluate_shape(shape: Sequence[object], values: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate(d, values) for d in shape)


class SymbolicArray(ShapedArray):
    """The type of an array whose shape has symbolic dimensions: in programs for no lengths in particular, which no rule sees."""

    __slots__ = ()

    def __new__(cls, shape: Sequence[Any], dtype: Any, weak_type: bool = False):
        self = object.__new__(cls)
        self.shape, self.weak_type = tuple(shape), weak_type
        self.dtype = dtype if isinstance(dtype, dtypes.ExtendedDType) else np.dtype(dtype)
        self.placement, self.vma, self.sums, self.memory_space = None, frozenset(), NOTHING, Space.Device
        self._hash = hash((self.shape, self.dtype))
        return self

    def __eq__(self, other):
        return isinstance(other, SymbolicArray) and (self.shape, self.dtype, self.weak_type) == (other.shape, other.dtype, other.weak_type)

    __hash__ = ShapedArray.__hash__

    def __reduce__(self):
        raise TypeError(f"{self} cannot be pickled; use Exported.serialize")

    def to_tangent_aval(self) -> "SymbolicArray":
        return self if dtypes.issubdtype(self.dtype, np.inexact) else SymbolicArray(self.shape, dtypes.float0)

    def update(self, shape: Sequence[Any] | None = None, dtype: Any = None, weak_type: bool | None = None, **kwargs: Any) -> ShapedArray:
        """This type with some fields replaced; of the others there is nothing to say."""
        return array_type(self.shape if shape is None else shape, self.dtype if dtype is None else dtype,
                          self.weak_type if weak_type is None else weak_type)


def array_type(shape: Sequence[object], dtype: object, weak_type: bool = False) -> ShapedArray:
    """The type with this shape, symbolic or not."""
    shape = tuple(shape)
    return (SymbolicArray if any(isinstance(d, DimExpr) for d in shape) else ShapedArray)(shape, dtype, weak_type)


def _split_dimensions(text: str) -> list[str]:
    """At the commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    last = text[start:]
    return parts + [last] if last.strip() else parts


def symbolic_shape(shape_spec: str | None, *, constraints: Sequence[str] = (), scope: SymbolicScope | None = None,
                   like: Sequence[Any] | Any = None) -> tuple[Any, ...]:
    """A shape with symbolic dimensions.

    Args:
      shape_spec: dimensions with commas between them, ``"b, 2*b + 1, 3"``: names, integers, ``+ - * ^``, ``floordiv(a, b)``,
        ``mod(a, b)``, ``max(a, b)``, ``min(a, b)``; ``_`` is the dimension that ``like`` has in this place, ``...`` all that are
        left, and None all.
      constraints: what is known of the variables, see `SymbolicScope`.
      scope: where the names belong; shapes of different scopes cannot be mixed. By default a new one.
      like: a shape, or an array.

    Raises:
      ValueError: the specification cannot be read, or does not fit ``like``.

    >>> jax.export.symbolic_shape('n, 2*n + 1, 3')
    (n, 2*n + 1, 3)
    """
    if scope is not None and constraints:
        raise ValueError("symbolic_shape: cannot specify both a scope and constraints; give the constraints to the scope")
    scope = SymbolicScope(constraints) if scope is None else scope
    like = tuple(getattr(like, "shape", like)) if like is not None else None
    if not isinstance(shape_spec, (str, NoneType)):
        raise ValueError(f"symbolic_shape: shape_spec must be a string as 'b, 2*b', or None, got {shape_spec!r}")
    text = "..." if shape_spec is None else str(shape_spec).strip()
    if text.startswith("(") and text.endswith(")") and "(" not in text[1:-1]:
        text = text[1:-1]
    parts = [part.strip() for part in _split_dimensions(text)]
    if "..." in parts:
        if like is None:
            raise ValueError(f"syntax error in symbolic shape {shape_spec!r}: spec contains ... but no 'like' shape was given.")
        at = parts.index("...")
        parts[at:at + 1] = ["_"] * (len(like) - len(parts) + 1)
    if like is not None and len(parts) != len(like) and "_" in parts:
        raise ValueError(f"symbolic_shape: {shape_spec!r} has {len(parts)} dimensions, and like={like} has {len(like)}")
    if "_" in parts and like is None:
        raise ValueError(f"syntax error in symbolic shape {shape_spec!r}: spec contains '_' but no 'like' shape was given.")
    shape = tuple(like[i] if part == "_" else parse_dimension(part, scope) for i, part in enumerate(parts))  # type: ignore[index]
    for i, (d, known) in enumerate(zip(shape, like or ())):
        if isinstance(d, int) and isinstance(known, int) and d != known:
            raise ValueError(f"symbolic_shape: {shape_spec!r} has {d} for dimension {i}, and like={like} has {known}")
    return shape


def symbolic_args_specs(args: PyTree, shapes_specs: PyTree, constraints: Sequence[str] = (),
                        scope: SymbolicScope | None = None) -> Any:
    """Descriptions with symbolic shapes for ``args``, a pytree of arrays or of descriptions.

    Args:
      shapes_specs: a prefix of that pytree with a specification (see `symbolic_shape`) or None at each leaf.

    Raises:
      ValueError: the specifications do not fit the arguments.

    >>> jax.export.symbolic_args_specs((np.zeros((3, 2), np.float32),), 'n, _')[0].shape
    (n, 2)
    """
    if scope is not None and constraints:
        raise ValueError("symbolic_args_specs: cannot specify both a scope and constraints; give the constraints to the scope")
    scope = SymbolicScope(constraints) if scope is None else scope
    leaves, structure = tree.flatten(args)
    specs = tree.broadcast_prefix(shapes_specs, args, is_leaf=lambda x: x is None or isinstance(x, str))
    return tree.unflatten(structure, [_described(x, s, scope) for x, s in zip(leaves, specs)])


def _described(x: Any, spec: Any, scope: SymbolicScope) -> ShapeDtypeStruct:
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        x = ShapeDtypeStruct.like(x)
    return ShapeDtypeStruct(symbolic_shape(spec, scope=scope, like=x.shape), x.dtype)


def description(aval: ShapedArray) -> ShapeDtypeStruct:
    """The argument of a function that stands for any array of this type."""
    return ShapeDtypeStruct(aval.shape, aval.dtype)


def constraints_of(avals: Sequence[ShapedArray]) -> list[str]:
    """What is known of the variables in these types."""
    return next((list(d.scope.constraints_str) for a in avals for d in a.shape if isinstance(d, DimExpr)), [])
