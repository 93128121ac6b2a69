"""One module for a family of shapes: the text of the module with expressions in the places of numbers.

A program with symbolic dimensions is traced and lowered as it is, for several values of the variables. The texts may
differ in numbers only; each number that differs is a polynomial in the variables (or the reciprocal of one, or what a
stride makes of one variable), which the first samples determine and the others confirm. So every operation works in such a
program, and a call compiles the very module that `jit` would compile for its shapes.

What this cannot see: a program that takes another form only for values that no sample has. Where the form differs
between samples, export raises. Inside the function, lengths are plain integers.

Left aside: StableHLO with unknown dimensions, which needs a second form of every lowering rule, and gives the
compiler less to know.
"""
from __future__ import annotations

import functools
import itertools
import json
import math
import random
import re
from fractions import Fraction
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from .. import extension_points
from ..programs import tracing
from ..representation import tree
from ..representation.aval import ShapedArray, ShapeDtypeStruct
from ..representation.errors import InconclusiveDimensionOperation
from ..representation.source import name_of
from ..representation.typing import PyTree
from . import solving, symbolic_shapes, symbols
from .exported import Exported

_number = re.compile(r"((?:(?<![\w.%@#])|(?<=\dx))\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)")
_CONFIRMATIONS = 6
_DIVISORS = (2, 3, 4)
_FRACTIONS = (1, 2, 4)


class Template:
    """A module's text in pieces: strings, and expressions to be filled in.

    An expression is ``(kind, value)``: ``"int"`` a dimension; ``"float"`` a dimension written as a float, ``"float/k"`` the k-th
    part of one; ``"f32"`` and ``"f64"`` the reciprocal of one, in that precision.
    """

    def __init__(self, pieces: Sequence[Any]):
        self.pieces = tuple(pieces)

    def fill(self, values: Mapping[str, int]) -> str:
        """The module for these values of the variables."""
        return "".join([p if isinstance(p, str) else _written(p[0], symbols.evaluate(p[1], values)) for p in self.pieces])

    def __str__(self):
        return "".join([p if isinstance(p, str) else f"<{p[1]}>" if p[0] == "int" else f"<({p[1]}){p[0][5:]}>" if p[0].startswith("float")
                        else f"<1/({p[1]})>" for p in self.pieces])

    def to_json(self) -> str:
        return json.dumps([p if isinstance(p, str) else [p[0], str(p[1])] for p in self.pieces])

    @staticmethod
    def from_json(text: str, scope: symbols.SymbolicScope) -> "Template":
        return Template([p if isinstance(p, str) else (p[0], symbols.parse_dimension(p[1], scope)) for p in json.loads(text)])


def _written(kind: str, value: int) -> str:
    if kind == "int":
        return str(value)
    return repr(value / int(kind[6:] or 1)) if kind.startswith("float") else repr(_reciprocal(kind, value))


def _reciprocal(kind: str, value: int) -> float:
    return float(np.float32(1) / np.float32(value)) if kind == "f32" else 1 / value


# -- finding expressions -------------------------------------------------------------------------------------------------------

class Family:
    """The variables, the values they are sampled at, and the polynomials that samples can determine."""

    def __init__(self, names: Sequence[str], scope: symbols.SymbolicScope, admits: Callable[[dict], bool]):
        self.names, self.scope, self.admits = list(names), scope, admits
        atoms = [symbols.variable(n, scope) for n in names]
        degree = 3 if len(atoms) <= 2 else 2
        self.basis: list[Any] = [1]
        for d in range(1, degree + 1):
            self.basis += [functools.reduce(lambda a, b: a * b, c) for c in itertools.combinations_with_replacement(atoms, d)]
        self.samples = self._sample(admits, len(self.basis) + _CONFIRMATIONS)
        del self.basis[len(self.samples):]  # where these are all the values there are, nothing is left to confirm
        self.rows = [[symbols.evaluate(b, s) for b in self.basis] for s in self.samples]

    def _sample(self, admits, count) -> list[dict]:
        """Values that the constraints allow, no two variables alike, the same in every process; the smallest first."""
        rng = random.Random(0)
        bounds = [symbols.symbolic_dim_bounds(symbols.variable(n, self.scope)) for n in self.names]
        found: list[dict] = []
        for attempt in range(4000):
            top = 14 + attempt // 200  # lowering may change its ways at larger round numbers
            values = {n: rng.randint(int(max(low, 2)), int(min(high, max(low, 2) + top))) if high >= 2 else int(low)
                      for n, (low, high) in zip(self.names, bounds)}
            if values not in found and (len(set(values.values())) == len(values) or attempt > 1000) and admits(values):
                found.append(values)
                if len(found) == count:
                    return found
        if math.prod(high - low + 1 for low, high in bounds) <= 4000:
            every = [dict(zip(self.names, v)) for v in itertools.product(*[range(int(low), int(high) + 1) for low, high in bounds])]
            found = [values for values in every if admits(values)]
            if found:
                return found  # few, but all
        raise ValueError(f"export: the constraints {', '.join(self.scope.constraints_str)} leave only {len(found)} of the {count} "
                         f"combinations of values for {', '.join(self.names)} that are tried to find how the program depends on them; "
                         "export it for each shape instead")

    @functools.lru_cache(maxsize=None)
    def fit(self, values: tuple) -> Any:
        """The polynomial with these values at the samples, or None."""
        if len(set(values)) == 1 and values[0].denominator == 1:
            return int(values[0])
        found = self._fit_basis(self.basis, self.rows, values)
        if found is not None or any(v.denominator != 1 for v in values):
            return found
        for name in self.names:
            quotients = [self._quotient(name, k, c) for k in _DIVISORS for c in range(k)]
            fits = [self._fit_basis(basis[:1] + basis[first:], [row[:1] + row[first:] for row in rows], values)
                    for first in (1, 2) for basis, rows in quotients]  # without the variable, where constraints make it a multiple of one
            fits = [x for x in fits if x is not None]
            if fits:
                return fits[0] if self._agree(fits, name) else None
        return None

    def _agree(self, fits: list, name: str) -> bool:
        """Whether the expressions, which are equal at the samples, are so at other lengths too."""
        others = [values for n in range(1, 100) if self.admits(values := {**self.samples[0], name: n})]
        return all(len({symbols.evaluate(x, values) for x in fits}) == 1 for values in others)

    @functools.lru_cache(maxsize=None)
    def _quotient(self, name: str, k: int, c: int) -> tuple[list, list]:
        """What strides make of lengths: 1, the variable, and its quotient, rounded down after ``c`` was added."""
        v = symbols.variable(name, self.scope)
        basis = [1, v, (v + c) // k]
        return basis, [[symbols.evaluate(b, s) for b in basis] for s in self.samples]

    def _fit_basis(self, basis: Sequence[Any], rows: Sequence[Sequence[int]], values: tuple) -> Any:
        """The combination of ``basis`` with these values, with integer coefficients; None if there is none."""
        n = len(basis)
        for chosen in itertools.islice(itertools.combinations(range(len(rows)), n), 20):  # the first that determine it
            found = _solve_linear([rows[i] for i in chosen], [values[i] for i in chosen])
            if found is not None:
                break
        if found is None or any(c.denominator != 1 for c in found):
            return None
        total = sum((int(c) * b for c, b in zip(found, basis) if c), 0)
        return total if all(symbols.evaluate(total, s) == v for s, v in zip(self.samples, values)) else None

    def fit_text(self, texts: Sequence[str]) -> tuple[str, Any] | None:
        """How a number depends on the variables: the kind and the expression, see `Template`."""
        if all(t.isdigit() for t in texts):
            found = self.fit(tuple(Fraction(int(t)) for t in texts))
            return None if found is None else ("int", found)
        numbers = [float(t) for t in texts]
        for k in _FRACTIONS:
            if all((x * k).is_integer() and repr(x) == t for x, t in zip(numbers, texts)):
                found = self.fit(tuple(Fraction(int(x * k)) for x in numbers))
                return None if found is None else ("float" if k == 1 else f"float/{k}", found)
        found = self.fit(tuple(Fraction(round(1 / x)) for x in numbers)) if all(numbers) else None
        for kind in ("f32", "f64"):
            if found is not None and all(repr(_reciprocal(kind, symbols.evaluate(found, s))) == t for s, t in zip(self.samples, texts)):
                return kind, found
        return None


def _solve_linear(matrix: Sequence[Sequence[int]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """By elimination in exact arithmetic; None if the matrix is singular."""
    n = len(matrix)
    rows = [[Fraction(x) for x in row] + [Fraction(r)] for row, r in zip(matrix, right)]
    for i in range(n):
        pivot = next((k for k in range(i, n) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i])]
    return [row[n] for row in rows]


def _merge(name: str, family: Family, texts: Sequence[str]) -> Template:
    """The template of which the texts are the samples."""
    split = [_number.split(t) for t in texts]
    if len({tuple(s[::2]) for s in split}) != 1:
        a, b = next((a, b) for a in split for b in split if a[::2] != b[::2])
        at = next((i for i, (x, y) in enumerate(zip(a[::2], b[::2])) if x != y), min(len(a), len(b)) // 2 - 1)
        raise InconclusiveDimensionOperation(
            f"export of {name}: the program's operations, not only its numbers, depend on the symbolic dimensions "
            f"{', '.join(family.names)}; for two samples of them it continues with {a[::2][at][:80]!r} and "
            f"{b[::2][at][:80]!r}. Make it take the same form for all lengths; where only short axes "
            f"differ, keep them out with a constraint such as '{family.names[0]} >= 5'; or export it for each shape.")
    pieces: list[Any] = []
    for i, column in enumerate(zip(*split)):
        if i % 2 == 0 or len(set(column)) == 1:
            if pieces and isinstance(pieces[-1], str):
                pieces[-1] += column[0]
            else:
                pieces.append(column[0])
            continue
        found = family.fit_text(column)
        if found is None:
            raise ValueError(f"export of {name}: a number in the program depends on the symbolic dimensions {', '.join(family.names)} in a way "
                             f"that is no polynomial: it is {', '.join(column[:4])} for {', '.join(map(str, family.samples[:4]))}, after "
                             f"{split[0][i - 1][-80:]!r}. Compute it from arrays; where only short axes differ, "
                             f"keep them out with a constraint such as '{family.names[0]} >= 5'; or export the program for each shape.")
        pieces.append(found)
    return Template(pieces)


# -- export --------------------------------------------------------------------------------------------------------------------

def _sampled(args: tuple, kwargs: dict) -> tuple[list, Any, Family, list]:
    """Leaves and structure of the arguments, their family of shapes, and ``(args, kwargs)`` for each sample of it."""
    leaves, in_tree = tree.flatten((args, kwargs))
    leaves = [x if isinstance(x, ShapeDtypeStruct) or not hasattr(x, "shape") else ShapeDtypeStruct.like(x) for x in leaves]
    dims = [d for x in leaves for d in getattr(x, "shape", ()) if symbols.is_symbolic_dim(d)]
    scopes = {id(d.scope): d.scope for d in dims}
    if len(scopes) > 1:
        raise ValueError("export: Invalid mixing of symbolic scopes: the arguments' symbolic dimensions come from different scopes; make them "
                         "with one symbolic_args_specs, or pass scope=... to symbolic_shape")
    (scope,) = scopes.values()
    names = sorted(set().union(*map(symbols.variables, dims)))
    family = Family(names, scope, lambda values: _admitted(values, dims, scope))
    given = [[ShapeDtypeStruct(symbolic_shapes.evaluate_shape(x.shape, values), x.dtype) if isinstance(x, ShapeDtypeStruct) else x for x in leaves]
             for values in family.samples]
    return leaves, in_tree, family, [tree.unflatten(in_tree, xs) for xs in given]


def _for_each(what: str, family: Family, samples: list, run: Callable) -> list:
    """``run(*args, **kwargs)`` of all samples.

    Raises:
      InconclusiveDimensionOperation: some samples can be run and others cannot. What nearly all of them raise is raised as it is.
    """
    results: list = []
    failed: list[tuple[Exception, dict]] = []
    for values, (args, kwargs) in zip(family.samples, samples):
        try:
            results.append(run(*args, **kwargs))
        except Exception as error:
            error.add_note(f"{what}: this is for {_values_text(values)}, one of the samples that are tried for the symbolic dimensions.")
            failed.append((error, values))
    if not failed:
        return results
    first, values = failed[0]
    if len(failed) > 4 * len(results):  # a length that meets a constant one, which some sample has by chance
        raise first
    raise InconclusiveDimensionOperation(
        f"{what}: whether the program is possible depends on the symbolic dimensions {', '.join(family.names)}; for "
        f"{_values_text(values)} it raises {type(first).__name__}: {first}. Say with constraints or with the shapes ('2*n') "
        "which lengths there are.") from first


def _values_text(values: dict) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def eval_shape(fun: Callable, args: tuple, kwargs: dict) -> PyTree:
    """`jax.eval_shape` for arguments with symbolic shapes: the results of samples, with lengths that fit all of them."""
    _, _, family, samples = _sampled(args, kwargs)
    name = f"eval_shape of {name_of(fun)}"
    results = _for_each(name, family, samples, functools.partial(tracing.eval_shape, fun))
    return tree.map(lambda *structs: _struct(_symbolic_aval(name, family, structs)), *results)


extension_points.symbolic_shapes.fill((symbols.is_symbolic_dim, eval_shape))


def _struct(aval: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def export_template(fun_jit: Any, args: tuple, kwargs: dict, lowered: Callable, platforms: Sequence[str],
                    disabled_checks: Sequence[Any], vjp_of: Callable) -> Exported:
    """`export` for arguments with symbolic shapes."""
    leaves, in_tree, family, samples = _sampled(args, kwargs)
    names = family.names
    traces = _for_each(f"export of {name_of(fun_jit)}", family, samples, fun_jit.trace)
    first = traces[0]
    results = [lowered(t) for t in traces]
    if len({kept for _, kept in results}) != 1 or len({t.out_tree for t in traces}) != 1:
        raise ValueError(f"export of {first.fun_name}: which arguments the program reads, or the structure of its result, depends on the symbolic "
                         f"dimensions {', '.join(names)}")
    modules = {p: _merge(first.fun_name, family, [m[p] for m, _ in results]) for p in platforms}
    in_avals = [symbolic_shapes.array_type(x.shape if isinstance(x, ShapeDtypeStruct) else a.shape, a.dtype) for x, a in zip(leaves, first.jaxpr.in_avals)]
    out_avals = [_symbolic_aval(f"export of {first.fun_name}", family, avals) for avals in zip(*[t.jaxpr.out_avals for t in traces])]

    def flat(*xs: Any) -> list:
        a, k = tree.unflatten(in_tree, xs)
        return tree.leaves(fun_jit(*a, **k))
    return Exported(first.fun_name, first.in_tree, in_avals, first.out_tree, out_avals, platforms, disabled_checks, modules, results[0][1],
                    _get_vjp=vjp_of(flat))


def _admitted(values: dict, dims: Sequence[Any], scope: symbols.SymbolicScope) -> bool:
    """Whether the lengths are so possible, with those of the constraints that speak of them."""
    known = solving.with_equal(values, scope)
    return (all(symbols.evaluate(d, values) >= 1 for d in dims) and all(v >= 1 for v in known.values())
            and all(symbols.evaluate(x, known) >= 0 for x in scope.non_negative if symbols.variables(x) <= set(known))
            and all(symbols.evaluate(x, known) == 0 for x in scope.zero if symbols.variables(x) <= set(known)))


def _symbolic_aval(what: str, family: Family, avals: Sequence[Any]) -> ShapedArray:
    shape = []
    if len({(a.dtype, len(a.shape)) for a in avals}) != 1:
        raise ValueError(f"{what}: the dtype or the number of axes of a result depends on the symbolic dimensions")
    for lengths in zip(*[a.shape for a in avals]):
        found = family.fit(tuple(map(Fraction, lengths)))
        if found is None:
            raise ValueError(f"{what}: the length of a result's axis is no polynomial in {', '.join(family.names)}: it is "
                             f"{lengths[:4]} for {', '.join(map(str, family.samples[:4]))}")
        shape.append(found)
    found = symbolic_shapes.array_type(shape, avals[0].dtype)
    return found if isinstance(found, symbolic_shapes.SymbolicArray) else found.update(weak_type=avals[0].weak_type)
