"""Jaxprs with symbolic dimensions, put together from those of samples.

The jaxprs are walked side by side. Where integers differ (lengths in types, numbers among parameters) an expression takes their place that
agrees with all of them (`families.Family`). A number that is an operand becomes a result of `dim_as_value`. All else must be alike.

Left aside: rules of primitives that compute with expressions, which each rule would have to be ready for.
"""
from __future__ import annotations

import copy
import functools
import math
import types
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from ..representation.aval import AbstractRef, AbstractValue, ShapedArray, get_aval
from ..representation.errors import InconclusiveDimensionOperation
from ..representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..representation.source import name_of
from ..traces.staging import trace_to_jaxpr
from ..traces.structural import convert_element_type_p
from ..traces.trace import Trace, Tracer
from . import solving, symbols
from .families import Family
from .length_values import dim_as_value_p, dtype_of_lengths
from .symbolic_shapes import SymbolicArray, array_type, evaluate_shape
from .templates import values_text


def _number_of(kind: str, dtype: np.dtype, weak_type: bool) -> Callable[[Any], Any]:
    """What makes a number as `Family.fit_text` says of a length."""
    def make(length):
        x = convert_element_type_p.bind(length, new_dtype=dtype, weak_type=weak_type)
        if kind in ("f32", "f64"):
            x = 1 / x
        elif kind.startswith("float/"):
            x = x / int(kind[6:])
        return [x]
    return make


# -- programs ------------------------------------------------------------------------------------------------------------------

class SymbolicJaxpr(Jaxpr):
    """A program whose types and parameters hold symbolic dimensions. Evaluated, it is that for the lengths of the arguments."""

    __slots__ = ()

    def replace(self, **fields: Any) -> SymbolicJaxpr:
        return SymbolicJaxpr(**{**{n: getattr(self, n) for n in ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")}, **fields})

    def for_arguments(self, args: Sequence[object]) -> Jaxpr:
        """The program for the lengths of these arguments.

        Raises:
          ValueError: they do not fit the types of the program's arguments.
        """
        if len(args) != len(self.invars):
            return self  # the caller says how many there are
        names = [str(n) for n in self.debug_info.arg_names or ()]
        known = names if len(names) == len(self.invars) else None
        values = solving.solve(self.in_avals, [get_aval(x) for x in args], known)  # type: ignore[arg-type, misc]  # tokens have shapes, too
        kept: dict = self._cache if self._cache is not None else {}
        self._cache = kept
        key = tuple(sorted(values.items()))
        if key not in kept:
            kept[key] = at(self, values)
        return kept[key]


def at(x: Any, values: Mapping[str, int]) -> Any:
    """A program, a type or a parameter for these lengths."""
    if isinstance(x, symbols.DimExpr):
        if not symbols.variables(x) <= set(values):
            raise ValueError(f"the program holds the symbolic dimension '{x}', which the shapes of its arguments do not say; evaluate the program "
                             "that holds it, or pass arguments that do")
        return symbols.evaluate(x, values)
    if isinstance(x, SymbolicArray):
        return x.update(evaluate_shape(x.shape, values))
    if isinstance(x, AbstractRef):
        return x.update(at(x.inner_aval, values))
    if isinstance(x, ClosedJaxpr):
        return ClosedJaxpr(at(x.jaxpr, values), x.consts) if isinstance(x.jaxpr, SymbolicJaxpr) else x
    if isinstance(x, SymbolicJaxpr):
        return _program_at(x, values)
    if type(x) in (tuple, list) or isinstance(x, tuple) and hasattr(x, "_fields"):
        found = [at(y, values) for y in x]
        return x if all(a is b for a, b in zip(x, found)) else _rebuilt(x, found)
    if type(x) is dict:
        return {k: at(v, values) for k, v in x.items()}
    if isinstance(x, functools.partial):
        return _with_parts(x, at([x.func, x.args, x.keywords], values))
    if isinstance(x, types.FunctionType) and _MARK in x.__dict__:
        return _closing_over(x, [at(c, values) for c in _contents(x)], ())
    if isinstance(x, _ForLengths | _Object):
        return x.at(values)
    return x


class _Object:
    """In the place of an object with these attributes, for all lengths."""

    def __init__(self, first: object, attributes: Mapping[str, Any]):
        self.first, self.attributes = first, attributes

    def at(self, values: Mapping[str, int]) -> Any:
        """The object for these lengths."""
        found = copy.copy(self.first)
        for name, x in self.attributes.items():
            object.__setattr__(found, name, at(x, values))
        return found

    def __repr__(self):
        return repr(self.first)


class _ForLengths:
    """In the place of a parameter that holds the types of its equation's results (`returning` makes one for others), for all lengths."""

    def __init__(self, first: Any, out_avals: Sequence[Any]):
        self.first, self.out_avals = first, out_avals

    def at(self, values: Mapping[str, int]) -> Any:
        """The parameter for these lengths."""
        return self.first.returning(at(self.out_avals, values))

    def __repr__(self):
        return repr(self.first)


_MARK = "_holds_symbolic_dimensions"


def _contents(function: types.FunctionType) -> list:
    """What a function closes over; None where nothing has been put yet."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # the cell is empty
            found.append(None)
    return found


def _closing_over(function: types.FunctionType, contents: Sequence[Any], marks: Sequence[str]) -> types.FunctionType:
    """The same function with other contents of its closure."""
    new = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(map(types.CellType, contents)))
    new.__kwdefaults__, new.__qualname__ = function.__kwdefaults__, function.__qualname__
    new.__dict__.update({k: v for k, v in function.__dict__.items() if k != _MARK}, **dict.fromkeys(marks, True))
    return new


def _refusing(function: types.FunctionType, message: str) -> Callable:
    def refuse(*args, **kwargs):
        raise NotImplementedError(message)
    refuse.__name__ = refuse.__qualname__ = function.__name__
    return refuse


def _with_parts(x: functools.partial, parts: Sequence[Any]) -> functools.partial:
    fun, args, keywords = parts
    return functools.partial(fun, *args, **keywords)


def _rebuilt(like: tuple | list, items: list) -> Any:
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def _program_at(jaxpr: SymbolicJaxpr, values: Mapping[str, int]) -> Jaxpr:
    env: dict = {}

    def bound(vs: Sequence[Var]) -> list:
        env.update((v, type(v)(at(v.aval, values))) for v in vs)
        return [env[v] for v in vs]

    def read(xs: Sequence[Any]) -> list:
        return [x if type(x) is Literal else env[x] for x in xs]
    consts, ins = bound(jaxpr.constvars), bound(jaxpr.invars)
    eqns = [JaxprEqn(read(e.invars), bound(e.outvars), e.primitive, {k: at(v, values) for k, v in e.params.items()}, e.effects, e.source_info,
                     e.given_ctx) for e in jaxpr.eqns]
    return Jaxpr(consts, ins, read(jaxpr.outvars), eqns, jaxpr.effects, jaxpr.debug_info)


# -- putting together ----------------------------------------------------------------------------------------------------------

class Merger:
    """Makes one of the programs, types or parameters of samples.

    Args:
      what: for messages.
      family: the samples.
    """

    def __init__(self, what: str, family: Family):
        self.what, self.family = what, family
        self._made: dict[tuple[int, ...], Any] = {}  # by the identities of what it is made of, which the samples hold
        self._open: set[tuple[int, ...]] = set()
        self._circular: set[tuple[int, ...]] = set()
        self._place = "its arguments"

    def unlike(self, a: object, b: object, i: int) -> InconclusiveDimensionOperation:
        """The error that says that sample 0 has ``a`` where sample ``i`` has ``b``."""
        samples = self.family.samples
        return InconclusiveDimensionOperation(
            f"{self.what}: the program depends on the symbolic dimensions {', '.join(self.family.names)} in more than numbers; in {self._place} "
            f"it has {_short(a)} for {values_text(samples[0])}, and {_short(b)} for {values_text(samples[i])}. Make it take the same form for all "
            "lengths, say with constraints or with the shapes ('2*n') which lengths there are, or trace it for each shape.")

    def _same(self, xs: Sequence[Any], equal: Callable[[Any, Any], Any]) -> Any:
        for i, x in enumerate(xs):
            if x is not xs[0] and not equal(xs[0], x):
                raise self.unlike(xs[0], x, i)
        return xs[0]

    def dimension(self, xs: Sequence[int]) -> Any:
        """The integer or the expression that has these values at the samples."""
        found = self.family.fits([int(x) for x in xs])
        if found is None:
            raise InconclusiveDimensionOperation(
                f"{self.what}: an integer in {self._place} depends on the symbolic dimensions {', '.join(self.family.names)} in a way that is no known "
                f"expression: it is {', '.join(map(str, xs[:4]))} for {'; '.join(map(values_text, self.family.samples[:4]))}. Compute it from arrays, "
                "or say with constraints or with the shapes ('2*n') which lengths there are.")
        return found

    def aval(self, xs: Sequence[AbstractValue]) -> Any:
        """The type that is these at the samples."""
        first: Any = xs[0]
        if all(x is first for x in xs):
            return first
        if isinstance(first, AbstractRef) and all(isinstance(x, AbstractRef) for x in xs):
            return first.update(self.aval([x.inner_aval for x in xs]))  # type: ignore[attr-defined]
        if not all(type(x) is ShapedArray for x in xs):
            return self._same(xs, lambda a, b: a == b)
        kinds = [x.update(shape=(0,) * len(x.shape)) for x in xs]  # all but the lengths
        for i, kind in enumerate(kinds):
            if kind != kinds[0]:
                raise self.unlike(first, xs[i], i)
        found = array_type([self.dimension(column) for column in zip(*[x.shape for x in xs])], first.dtype, first.weak_type)
        return first if found == first or not isinstance(found, SymbolicArray) else found

    def value(self, xs: Sequence) -> Any:
        """The parameter that is these at the samples."""
        first = xs[0]
        if all(x is first for x in xs):
            return first
        if isinstance(first, (Jaxpr, ClosedJaxpr)):
            self._same(xs, lambda a, b: type(a) is type(b))
            return self.program(xs)
        if isinstance(first, (int, np.integer)) and not isinstance(first, bool):
            self._same(xs, lambda a, b: isinstance(b, (int, np.integer)))
            return first if all(x == first for x in xs) else self.dimension(xs)
        self._same(xs, lambda a, b: type(a) is type(b))
        if isinstance(first, _OF_TRACES):
            raise self.unlike(first, xs[1], 1)
        if isinstance(first, ShapedArray | AbstractRef):
            return self.aval(xs)
        if isinstance(first, tuple | list):
            self._same(xs, lambda a, b: len(a) == len(b))
            return self._whole(first, [self.value(column) for column in zip(*xs)], lambda items: _rebuilt(first, items))
        if isinstance(first, dict):
            self._same(xs, lambda a, b: a.keys() == b.keys())
            return self._whole(first.values(), [self.value([x[k] for x in xs]) for k in first], lambda items: dict(zip(first, items)), first)
        if isinstance(first, types.FunctionType):
            return self._function(xs)
        if isinstance(first, functools.partial):
            parts = [[x.func, x.args, x.keywords] for x in xs]
            return self._whole(parts[0], [self.value(column) for column in zip(*parts)], lambda items: _with_parts(first, items), first)
        if hasattr(first, "returning"):
            self._same(xs, lambda a, b: len(a.out_avals) == len(b.out_avals) and _alike(a.function, b.function))
            return self._whole(first.out_avals, [self.aval(column) for column in zip(*[x.out_avals for x in xs])], lambda avals: _ForLengths(first, avals),
                               first)
        attributes = [_attributes(x) for x in xs]
        if not attributes[0] or isinstance(first, np.ndarray | np.generic) or hasattr(first, "aval") or all(_alike(first, x) for x in xs):
            return self._same(xs, _alike)
        self._same(xs, lambda a, b: _attributes(a).keys() == _attributes(b).keys())
        return self._once(xs, lambda: self._whole(attributes[0].values(), [self.value([x[k] for x in attributes]) for k in attributes[0]],
                                                  lambda found: _Object(first, dict(zip(attributes[0], found))), first))

    def _whole(self, parts: Iterable[object], found: list, make: Callable[[list], Any], first: object = None) -> Any:
        """What ``make`` makes of the parts that were found; the first one, where they are its own."""
        return (parts if first is None else first) if all(a is b for a, b in zip(parts, found)) else make(found)

    def _function(self, xs: Sequence[Any]) -> Any:
        """The function that is these at the samples: such as hold rules of derivatives close over types."""
        first = xs[0]
        self._same(xs, lambda a, b: a.__code__ is b.__code__ and _alike(a.__defaults__, b.__defaults__) and _alike(a.__kwdefaults__, b.__kwdefaults__))
        contents = [_contents(x) for x in xs]
        try:
            return self._once(xs, lambda: self._whole(contents[0], [self.value(column) for column in zip(*contents)],
                                                      lambda found: _closing_over(first, found, (_MARK,)), first))
        except InconclusiveDimensionOperation as error:  # evaluation needs the rule for derivatives only, so it may hold what no program says
            return _refusing(first, f"{self.what}: the rule {name_of(first)} is kept for none of the lengths, as what it closes over depends on "
                             f"them ({error}); take the derivative before the program is traced")

    def _once(self, xs: Sequence[Any], make: Callable[[], Any]) -> Any:
        """What is made of these, once."""
        key = tuple(map(id, xs))
        if key in self._open:  # it holds itself, so what is made of it can be nothing but the first one
            self._circular.add(key)
            return xs[0]
        if key not in self._made:
            self._open.add(key)
            try:
                self._made[key] = make()
            finally:
                self._open.discard(key)
            if key in self._circular and self._made[key] is not xs[0]:
                raise self.unlike(xs[0], xs[1], 1)
        return self._made[key]

    def program(self, xs: Sequence[Jaxpr] | Sequence[ClosedJaxpr]) -> Any:
        """The program that is these at the samples; the first one, if it is so at all."""
        def make():
            place = self._place
            if isinstance(xs[0], ClosedJaxpr):
                found: Any = _Writer(self, [x.jaxpr for x in xs], [x.consts for x in xs]).closed(xs[0])
            else:
                found = _Writer(self, xs, [()] * len(xs)).jaxpr()
            self._place = place
            return found
        return self._once(xs, make)


_DEEPEST = 8
_OF_TRACES = (Tracer, Trace, Var)


def _alike(a: Any, b: Any, depth: int = 0) -> bool:
    """Whether both mean the same: equal values, functions of the same code that close over such, and objects with such attributes."""
    if a is b or depth > _DEEPEST:
        return a is b
    if type(a) is not type(b) or isinstance(a, _OF_TRACES):
        return False
    if type(a) is object:  # a mark, made anew for each sample
        return True
    if isinstance(a, types.FunctionType):
        return a.__code__ is b.__code__ and all(_alike(x, y, depth + 1) for x, y in (
            (a.__defaults__, b.__defaults__), (a.__kwdefaults__, b.__kwdefaults__), (_contents(a), _contents(b))))
    if isinstance(a, types.MethodType):
        return a.__func__ is b.__func__ and _alike(a.__self__, b.__self__, depth + 1)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_alike(x, y, depth + 1) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[k], b[k], depth + 1) for k in a)
    if isinstance(a, np.ndarray | np.generic) or hasattr(a, "aval"):
        return _equal_arrays(a, b)
    if a == b:
        return True
    mine, other = _attributes(a), _attributes(b)
    return bool(mine) and mine.keys() == other.keys() and all(_alike(mine[k], other[k], depth + 1) for k in mine)


def _attributes(x: Any) -> dict[str, Any]:
    found = dict(getattr(x, "__dict__", ()))
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        found.update((n, getattr(x, n)) for n in ((slots,) if isinstance(slots, str) else slots) if n != "__weakref__" and hasattr(x, n))
    return found


def _short(x: object) -> str:
    text = " ".join(str(x).split())
    return text if len(text) < 100 else text[:97] + "..."


class _Writer:
    """Writes the program that is ``xs`` at the samples, with constants."""

    def __init__(self, merger: Merger, xs: Sequence[Jaxpr], consts: Sequence[Sequence[Any]]):
        self.merger, self.xs, self.consts = merger, xs, consts
        self.envs: list[dict] = [{} for _ in xs]
        self.eqns: list[JaxprEqn] = []
        self.varied = False
        self._numbers: dict[tuple, Any] = {}

    def jaxpr(self) -> Jaxpr:
        """The program; its constants are alike."""
        found, _ = self._write()
        return found

    def closed(self, first: ClosedJaxpr) -> ClosedJaxpr:
        """The program with its constants."""
        found, consts = self._write()
        return first if found is first.jaxpr else ClosedJaxpr(found, consts)

    def _write(self) -> tuple[Jaxpr, list]:
        merger, first = self.merger, self.xs[0]
        for part in ("constvars", "invars", "outvars"):
            merger._same([getattr(x, part) for x in self.xs], lambda a, b: len(a) == len(b))
        consts, constvars = [], []
        for i, vs in enumerate(zip(*[x.constvars for x in self.xs])):
            values = [c[i] for c in self.consts] if self.consts[0] else [None]
            merger._place = "an array that it closes over"
            if len({id(c) for c in values}) == 1 or all(_equal_arrays(values[0], c) for c in values):
                consts += values[:1] if self.consts[0] else []
                constvars += self._bound([vs])
            else:
                self._let(vs, self._number(values, vs[0].aval))
        invars = self._bound(zip(*[x.invars for x in self.xs]))
        for place, eqns in enumerate(zip(*[x.eqns for x in self.xs])):
            merger._place = f"equation {place + 1}, {eqns[0].primitive},"
            merger._same([e.primitive for e in eqns], lambda a, b: a is b)
            self._equation(eqns)
        merger._same([x.eqns for x in self.xs], lambda a, b: len(a) == len(b))
        merger._place = "its results"
        outvars = [self._read(xs) for xs in zip(*[x.outvars for x in self.xs])]
        if not self.varied:
            return first, list(self.consts[0])
        return SymbolicJaxpr(constvars, invars, outvars, self.eqns, first.effects, first.debug_info), consts

    def _bound(self, columns: Iterable[Sequence[Var]]) -> list:
        return [self._let(vs, type(vs[0])(self._noted(vs[0].aval, self.merger.aval([v.aval for v in vs])))) for vs in columns]

    def _let(self, vs: Sequence[Var], new: Var) -> Var:
        for env, v in zip(self.envs, vs):
            env[v] = new
        return new

    def _noted(self, old: object, new: object) -> Any:
        self.varied = self.varied or new is not old
        return new

    def _equation(self, eqns: Sequence[JaxprEqn]) -> None:
        first, merger = eqns[0], self.merger
        for part in ("invars", "outvars"):
            merger._same([getattr(e, part) for e in eqns], lambda a, b: len(a) == len(b))
        merger._same([e.params.keys() for e in eqns], lambda a, b: a == b)
        invars = [self._read(xs) for xs in zip(*[e.invars for e in eqns])]
        params = {k: self._noted(v, merger.value([e.params[k] for e in eqns])) for k, v in first.params.items()}
        outvars = self._bound(zip(*[e.outvars for e in eqns]))
        self.eqns.append(JaxprEqn(invars, outvars, first.primitive, params, first.effects, first.source_info, first.given_ctx))

    def _read(self, xs: Sequence[Any]) -> Any:
        if all(type(x) is Literal for x in xs):
            merger, first = self.merger, xs[0]
            merger._same([x.aval for x in xs], lambda a, b: a == b)
            if all(x.val is first.val or _equal_arrays(x.val, first.val) for x in xs):
                return first
            return self._number([x.val for x in xs], first.aval)
        found = [x if type(x) is Literal else env[x] for env, x in zip(self.envs, xs)]
        return self.merger._same(found, lambda a, b: False)

    def _number(self, values: Sequence[Any], aval: AbstractValue) -> Var:
        """The number that has these values at the samples, computed in the program."""
        merger = self.merger
        if any(np.ndim(v) or np.asarray(v).dtype.kind not in "iuf" for v in values):
            i = next(i for i, v in enumerate(values) if not _equal_arrays(v, values[0]))
            raise merger.unlike(values[0], values[i], i)
        numbers = [np.asarray(v).item() for v in values]
        if not all(map(math.isfinite, numbers)):
            raise merger.unlike(values[0], next(v for v in values if not _equal_arrays(v, values[0])), 1)
        if all(float(x).is_integer() for x in numbers):
            kind, dim = "int", merger.dimension([int(x) for x in numbers])
        else:
            found = merger.family.fit_text([repr(float(x)) for x in numbers])
            if found is None:
                raise merger.unlike(values[0], values[1], 1)
            kind, dim = found
        key = kind, dim, aval
        if key not in self._numbers:
            self._numbers[key] = self._computed(kind, dim, aval)
        self.varied = True
        return self._numbers[key]

    def _computed(self, kind: str, dim: object, aval: AbstractValue) -> Var:
        length = Var(ShapedArray((), dtype_of_lengths(), weak_type=True))
        self.eqns.append(JaxprEqn([], [length], dim_as_value_p, {"dim": dim}))
        if kind == "int" and aval == length.aval:
            return length
        rest, consts, _ = trace_to_jaxpr(_number_of(kind, aval.dtype, aval.weak_type), [length.aval])
        env = {rest.invars[0]: length}
        self.eqns += [e.replace(invars=[env.get(x, x) for x in e.invars]) for e in rest.eqns]
        assert not consts
        out = rest.outvars[0]
        return env.get(out, out)


def _equal_arrays(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if np.shape(a) != np.shape(b) or getattr(a, "dtype", type(a)) != getattr(b, "dtype", type(b)):
        return False
    try:
        return bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc"))
    except TypeError:  # keys and other extended dtypes
        return bool((a == b).all())


def of_samples(what: str, family: Family, programs: Sequence[ClosedJaxpr]) -> ClosedJaxpr:
    """The program that is these at the samples.

    Raises:
      InconclusiveDimensionOperation: they differ in more than numbers, or numbers are no expressions.
    """
    return Merger(what, family).program(programs)

