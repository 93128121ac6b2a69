"""Sharding rules: which dimensions of operands and results belong together.

A rule gives every dimension a *factor*: dimensions with the same factor are split alike. ``"i k, k j -> i j"`` is that of a
matrix product, ``"(i j) k -> i j k"`` that of a reshape whose first dimension is two factors, and a leading ``...`` stands
for any number of dimensions, equally many wherever it appears.

Source: Shardy dialect, `sdy.op_sharding_rule`.
"""
from __future__ import annotations

import itertools
import re
from types import MappingProxyType
from typing import Any, Iterable, Iterator, Mapping, Sequence

BATCHING = "…"
"""Any number of leading dimensions."""

_name = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_token = re.compile(r"\s*(\.\.\.\d*|…\d*|[A-Za-z][A-Za-z0-9_]*|\d+|[(),]|->|.)")


class CompoundFactor(tuple):
    """A dimension that is several factors, the major one first.

    Raises:
      ValueError: fewer than two factors, or one that is no name.
    """

    def __new__(cls, *factors: str):
        if len(factors) < 2:
            raise ValueError(f"CompoundFactor: a compound factor has two factors at least, got {factors}")
        for factor in factors:
            _check_name("CompoundFactor", factor)
        return super().__new__(cls, factors)


class ArrayMapping(tuple):
    """The factors of the dimensions of one array: names and `CompoundFactor`\\ s, the first one possibly `BATCHING`.

    Raises:
      ValueError: a factor is neither, or `BATCHING` is not the first.
    """

    def __new__(cls, *dim_mappings: Any):
        for i, factor in enumerate(dim_mappings):
            if isinstance(factor, CompoundFactor):
                continue
            if isinstance(factor, str) and factor.startswith(BATCHING):
                if i:
                    raise ValueError("ArrayMapping: Ellipsis can only be used at the beginning of a dimension; got "
                                     f"{dim_mappings}")
                continue
            _check_name("ArrayMapping", factor)
        return super().__new__(cls, dim_mappings)


def _check_name(where: str, factor: Any) -> None:
    if not isinstance(factor, str) or not _name.match(factor):
        raise ValueError(f"{where}: factor names have to start with a letter and hold letters, digits and underscores; got "
                         f"{factor!r}")


def _factors(mappings: Iterable[ArrayMapping]) -> Iterator[str]:
    for mapping in mappings:
        for factor in mapping:
            yield from factor if isinstance(factor, CompoundFactor) else (factor,)


class SdyShardingRule:
    """A rule for an operation.

    Args:
      operand_mappings, result_mappings: an `ArrayMapping` for each operand and result.
      reduction_factors: factors that are summed over: results are partial where they are split.
      need_replication_factors: factors that must not be split.
      permutation_factors: factors along which devices exchange values where they are split.
      factor_sizes: the sizes of factors that are part of a compound one.

    Raises:
      ValueError: a factor that does not appear is named, one that is a whole dimension is given a size, one that is only
        part of dimensions is not, a factor has two roles, or factors are no tuple.
    """

    operand_mappings: tuple[ArrayMapping, ...] = ()
    result_mappings: tuple[ArrayMapping, ...] = ()
    reduction_factors: tuple[str, ...] = ()
    need_replication_factors: tuple[str, ...] = ()
    permutation_factors: tuple[str, ...] = ()
    factor_sizes: Mapping[str, int] = MappingProxyType({})

    def __init__(self, operand_mappings: Sequence[ArrayMapping], result_mappings: Sequence[ArrayMapping], *,
                 reduction_factors: Sequence[str] = (), need_replication_factors: Sequence[str] = (),
                 permutation_factors: Sequence[str] = (), **factor_sizes: int):
        self.operand_mappings, self.result_mappings = tuple(operand_mappings), tuple(result_mappings)
        for name, factors in (("reduction_factors", reduction_factors), ("need_replication_factors", need_replication_factors),
                              ("permutation_factors", permutation_factors)):
            if not isinstance(factors, (tuple, list)):
                raise ValueError(f"SdyShardingRule: {name} must be a tuple of factors, got {factors!r}; write ({factors!r},) for one")
        self.reduction_factors, self.permutation_factors = tuple(reduction_factors), tuple(permutation_factors)
        self.need_replication_factors, self.factor_sizes = tuple(need_replication_factors), dict(factor_sizes)
        mappings = self.operand_mappings + self.result_mappings
        self._check(set(_factors(mappings)),
                    {f for m in mappings for f in m if isinstance(f, str)})

    def _check(self, known: set, whole: set) -> None:
        roles = [*self.reduction_factors, *self.need_replication_factors, *self.permutation_factors]
        for factor in [*roles, *self.factor_sizes]:
            if factor not in known:
                raise ValueError(f"SdyShardingRule: factor {factor} is not used in the rule {self}")
        twice = [f for f in roles if roles.count(f) > 1]
        if twice:
            raise ValueError(f"SdyShardingRule: factor {twice[0]} can have one role only: reduction, need_replication or permutation")
        for factor in self.factor_sizes:
            if factor in whole:
                raise ValueError(f"SdyShardingRule: Factor {factor} represents a whole dimension; do not specify its size")
        for factor in known - whole:
            if factor not in self.factor_sizes:
                raise ValueError(f"SdyShardingRule: Factor {factor} is only used in compound factors; must specify its size")

    def _key(self):
        return (self.operand_mappings, self.result_mappings, self.reduction_factors, self.need_replication_factors,
                self.permutation_factors, tuple(sorted(self.factor_sizes.items())))

    def __eq__(self, other):
        return isinstance(other, SdyShardingRule) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, {self.factor_sizes})"

    def attribute(self, operands: Sequence[Sequence[int]], results: Sequence[Sequence[int]]) -> str:
        """The Shardy attribute, for operands and results of these shapes.

        Raises:
          ValueError: the rule does not fit the shapes.
        """
        return _Attribute(self, operands, results).text()


class _Attribute:
    """A rule fitted to shapes: every factor has a size, and a symbol of the dialect (``i``, ``j``, …, ``z``, ``z_1``, …)."""

    def __init__(self, rule: SdyShardingRule, operands, results):
        self.rule, self.sizes = rule, dict(rule.factor_sizes)
        self.batch: dict[int, Any] = {}
        self.symbols: dict[str, str] = {}
        self.order: list[str] = []
        sides = (("operand", rule.operand_mappings, operands), ("result", rule.result_mappings, results))
        for side, mappings, shapes in sides:
            if len(mappings) != len(shapes):
                raise ValueError(f"Sharding rule has {len(mappings)} {side}s, but the operation has {len(shapes)} {side}s")
        dims = [[(side, i, tuple(s), self._dimensions(side, i, m, tuple(s))) for i, (m, s) in enumerate(zip(mappings, shapes))]
                for side, mappings, shapes in sides]
        self.parts = [[self._fitted(*row) for row in rows] for rows in dims]

    def _dimensions(self, side, number, mapping, shape) -> list:
        """The factor of each dimension; sizes of those that are whole dimensions are noted."""
        dims: list[Any] = list(mapping)
        if dims and isinstance(dims[0], str) and dims[0].startswith(BATCHING):
            name = dims.pop(0)
            count = self.batch.setdefault(name, len(shape) - len(dims))
            dims = [f"{name}{k}" for k in range(count)] + dims
        if len(dims) != len(shape):
            raise ValueError(f"Sharding rule {number}th {side} has rank {len(dims)}, but the operation {number}th {side} has rank "
                             f"{len(shape)}")
        for factor, n in zip(dims, shape):
            if not isinstance(factor, CompoundFactor):
                self.sizes.setdefault(factor, n)
        return dims

    def _fitted(self, side, number, shape, dims) -> list[list[str]]:
        """The factors of each dimension, whose sizes multiply to its length."""
        found = []
        for factor, n in zip(dims, shape):
            names = list(factor) if isinstance(factor, CompoundFactor) else [factor]
            product = 1
            for name in names:
                product *= self.sizes[name]
                self._symbol(name)
            if product != n:
                raise ValueError(f"Sharding rule: the {number}th {side} of shape {shape} has a dimension of length {n} with the factors "
                                 f"{names}, whose sizes {[self.sizes[x] for x in names]} multiply to {product}")
            found.append(names)
        return found

    def _symbol(self, name) -> None:
        if name not in self.symbols:
            i = len(self.order)
            self.order.append(name)
            self.symbols[name] = chr(ord("i") + i) if i < 18 else f"z_{i - 17}"

    def text(self) -> str:
        """``#sdy.op_sharding_rule<...>``."""
        side = lambda parts: ", ".join("[" + ", ".join("".join(self.symbols[n] for n in names) for names in dims) + "]" for dims in parts)
        sizes = ", ".join(f"{self.symbols[n]}={self.sizes[n]}" for n in self.order)
        roles = "".join(f" {word}={{{', '.join(sorted((self.symbols[f] for f in factors), key=list(self.symbols.values()).index))}}}"
                        for word, factors in (("reduction", self.rule.reduction_factors),
                                              ("need_replication", self.rule.need_replication_factors),
                                              ("permutation", self.rule.permutation_factors)) if factors)
        return f"#sdy.op_sharding_rule<({side(self.parts[0])})->({side(self.parts[1])}) {{{sizes}}}{roles}, custom>"


def batch_rule(operands: Sequence[Sequence[int]], results: Sequence[Sequence[int]], batch_rank: int) -> str:
    """The Shardy attribute that says that the first ``batch_rank`` axes of arrays of these shapes go together, and no others."""
    own = itertools.count()
    sides = [[ArrayMapping(*[f"b{i}" for i in range(batch_rank)], *[f"x{next(own)}" for _ in shape[batch_rank:]]) for shape in shapes]
             for shapes in (operands, results)]
    return SdyShardingRule(*map(tuple, sides)).attribute(operands, results)


def parse_rule(text: str, **settings: Any) -> SdyShardingRule:
    """A rule written as text, ``"i k, k j -> i j"``; ``settings`` as for `SdyShardingRule`.

    Raises:
      ValueError: the text is not a rule.
    """
    if text.count("->") != 1:
        raise ValueError(f"sharding_rule: There is no -> in rule: {text!r}" if "->" not in text else
                         f"sharding_rule: there must be one -> in rule: {text!r}")
    return SdyShardingRule(*map(_parse_side, text.split("->")), **settings)


def _parse_side(text: str) -> tuple[ArrayMapping, ...]:
    arrays: list[list] = [[]]
    compound: list[str] | None = None
    for token in _token.findall(text.rstrip()):
        if token == "(" and compound is None:
            compound = []
        elif token == ")" and compound is not None:
            if len(compound) == 1:
                raise ValueError(f"sharding_rule: Brackets should contain at least two factors, in {text!r}")
            arrays[-1].append(CompoundFactor(*compound))
            compound = None
        elif token == "," and compound is None:
            arrays.append([])
        elif token[0] in ".…" and compound is None and (token.startswith("...") or token[0] == "…"):
            arrays[-1].append(BATCHING + token.lstrip(".…"))
        elif _name.match(token):
            (arrays[-1] if compound is None else compound).append(token)
        else:
            raise ValueError(f"sharding_rule: unexpected {token!r} in {text!r}")
    if compound is not None:
        raise ValueError(f"sharding_rule: a bracket is not closed in {text!r}")
    if arrays == [[]] and not text.strip():
        return ()
    return tuple(ArrayMapping(*a) for a in arrays)
