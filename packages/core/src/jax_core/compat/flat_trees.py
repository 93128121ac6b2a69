"""Flat values in groups, for interpreters (quax) that read and write what a loop carries by `jax._src.flattree`.

Our loops count their operands (``num_consts``, ``num_carry``); the public ones name the groups of operands and results. A trace of a
library gets both, and may bind the loop with either.
"""
from __future__ import annotations

from typing import Any, Iterable, Sequence


class FlatTree:
    """Values, and how they are grouped.

    Args:
      vals: all values, in order.
      groups: the trees that they make, or None for plain values.
    """

    __slots__ = ("vals", "groups")

    def __init__(self, vals: Iterable[Any], groups: "tuple[FlatTree, ...] | None" = None):
        self.vals, self.groups = tuple(vals), groups

    def update(self, vals: Iterable[Any]) -> "FlatTree":
        """The same groups with other values.

        Raises:
          ValueError: it is another number of values.
        """
        vals = tuple(vals)
        if len(vals) != len(self.vals):
            raise ValueError(f"FlatTree.update: {len(vals)} values for a tree of {len(self.vals)}")
        if self.groups is None:
            return FlatTree(vals)
        rest = iter(vals)
        return FTTuple(*[group.update([next(rest) for _ in group.vals]) for group in self.groups])

    def unpack(self) -> "tuple[FlatTree, ...]":
        """The groups.

        Raises:
          ValueError: the values are in no groups.
        """
        if self.groups is None:
            raise ValueError("FlatTree.unpack: these are plain values, in no groups")
        return self.groups

    def __len__(self) -> int:
        return len(self.vals)

    def __iter__(self) -> Any:
        return iter(self.vals)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FlatTree) and (self.vals, self.groups) == (other.vals, other.groups)

    def __hash__(self) -> int:
        return hash((self.vals, self.groups))

    def __repr__(self) -> str:
        return repr(self.vals if self.groups is None else self.groups)


class FTTuple(FlatTree):
    """A tree of which ``trees`` are the groups."""

    __slots__ = ()

    def __init__(self, *trees: FlatTree):
        super().__init__([x for tree in trees for x in tree.vals], trees)


def pack(trees: Iterable[FlatTree]) -> FTTuple:
    """A tree of which ``trees`` are the groups.

    >>> from jax._src import flattree
    >>> loop = flattree.pack((flattree.nones(1), flattree.nones(2)))
    >>> loop.update("abc").unpack()
    (('a',), ('b', 'c'))
    """
    return FTTuple(*trees)


def nones(n: int) -> FlatTree:
    """``n`` values that are None, for a tree of which only the groups count.

    >>> from jax._src import flattree
    >>> len(flattree.nones(3))
    3
    """
    return FlatTree((None,) * n)


class ScanHabits:
    """For the primitive of `scan`: its parameters in both forms."""

    def as_theirs(self, params: dict) -> dict:
        """With ``ft_in``, groups of operands (constants, carry, rows), and ``ft_out``, groups of results (carry, rows)."""
        jaxpr, c, n = params["jaxpr"], params["num_consts"], params["num_carry"]
        return {**params, "ft_in": pack(map(nones, (c, n, len(jaxpr.in_avals) - c - n))),
                "ft_out": pack(map(nones, (n, len(jaxpr.out_avals) - n)))}

    def as_ours(self, args: Sequence[object], params: dict) -> dict:
        """Without them; they are right where they are there."""
        if "ft_in" not in params:
            return params
        params = dict(params)
        consts, carry, _ = params.pop("ft_in").unpack()
        del params["ft_out"]
        linear = params.get("linear", ())
        return {**params, "num_consts": len(consts), "num_carry": len(carry), "_split_transpose": params.get("_split_transpose", False),
                "linear": linear if len(linear) == len(args) else (False,) * len(args)}

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive; see `Primitive.bind`."""
        return super().bind(*args, **(self.as_ours(args, params) if "ft_in" in params else params))  # type: ignore[misc]  # of Primitive
