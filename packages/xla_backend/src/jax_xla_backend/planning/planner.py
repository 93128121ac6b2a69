"""The fusion planner: which values are written to memory once, instead of being recomputed in every consumer.

XLA's CPU compiler makes one loop (a *kernel*) of an elementwise computation together with all that it reads, up to values
that are in memory already. A value that several kernels need is recomputed in each of them, with everything behind it.
In a chain ``x = f(x) + mean(x)`` each mean so recomputes the chain from its start: run time and compile time grow with
the square of its length.

The plan names values to cut at. `Builder.run` writes an ``optimization_barrier`` behind each, which XLA does not fuse
across; the reason stands in its location. A plan never changes what is computed, only where it is kept.

Terms, for one jaxpr:

* The *sinks* of a value are the kernels that need it: reductions, values that must be in memory (results, operands of
  matrix products and the like), and values further on that have several sinks themselves. Each large slice that a kernel
  takes counts, as a kernel computes a value again for each slice of it; small ones compute no more, but are code of their own each.
* The *cone* of a value is what a kernel that needs it has to compute: the equations behind it, up to values in memory.

XLA keeps some values by itself: results of a costly operation, and of operations on several arrays where a reduction or
memory is among the consumers. These are *kept*; they are cut only where a long cone is behind them.

One pass backward finds the sinks; one forward walks the cone of each value that has several, and cuts where it pays. Cones
are cut before they outgrow `MAX_KERNEL`, so the time is linear in the length of the program. Loop bodies and branches
are planned on their own, as what they read is in memory. Called programs are summarised (`Called`). `paths` adds cuts for LLVM's sake.
"""
from __future__ import annotations

import collections
import functools
from typing import Any, Iterable, NamedTuple

from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, program_of
from jax_core.representation.traits import MOVE, Kind
from jax_core.traces import reductions_in_pieces, short_reductions
from jax_core.traces.structural import broadcast_in_dim_p

from ..jaxlib_compat import LIBRARY_FAILS_AT_SUMS_OF_PRODUCTS
from .paths import Paths, cut_paths
from .sums import EACH

# Costs in ns; those of operations stand in their declarations (`traits`). benchmarks/planner/constants.py measures those of
# operations, bytes and kernels; docs/internals/fusion.md has its figures beside these. Of special functions, and where no unit is
# said, they are choices.
COSTLY = 0.5  # a loop of its own pays for what costs so much of random numbers
CHEAP = 0.2  # XLA does not compute again what costs more
READ = 0.08  # one byte
READ_ALONG = 0.02  # the same where a kernel reads it at the place where it writes: it mostly needs it there anyway
WRITE = 0.12
LAUNCH = 500.0  # one more kernel in a run
COMPILE_KERNEL = 6e6
COMPILE_EQUATION = 0.15e6  # one equation of a kernel
RUNS = 3_000  # how often a program runs for each time that it is compiled
KEPT = 16  # equations behind a kept value, and operations in front of slices, that are cut all the same, at least
MAX_KERNEL = 256  # equations; LLVM's time grows faster than the length of a kernel
SPELLED_OUT = 40  # operations of one that is lowered to many simple ones, at least (StableHLO of float32: log1p 79, sin 83, digamma 90, pow 151)
DRAWN = 170  # operations of a draw (StableHLO 152, in a kernel of XLA 174)
PIECED = 8, 1.0  # equations and cost for one element of a kernel that XLA writes for each piece of an array, at most
MAX_SLICED = 8  # sinks of a slice, from which on they are not told from those of what it is taken from
SMALL = 1 << 14  # bytes; smaller values are never cut in loops: those over less are one function in XLA, which has no barriers
TINY = 1 << 6  # bytes; smaller values are never cut
SHIFTED = 1 << 14  # elements of a sum that is cut off what it reads at shifted places, at least
LONG_ROW, FEW_ROWS = 1 << 17, 64  # bytes of a row of a product, and rows, with which the compiler's library fails
NESTED = 1 << 12  # elements of a short reduction that is cut off others, at least

_REDUCTIONS = (Kind.REDUCTION, Kind.SEARCH)
_MAKERS = (*_REDUCTIONS, Kind.PRODUCT, Kind.CONVOLUTION, Kind.SORT, Kind.LIBRARY, Kind.HOST, Kind.LOOP, Kind.BRANCH)
_IN_MEMORY = 0, 8 * READ  # equations and cost for one element of a value in memory, at most


@functools.lru_cache(4096)
def _worth_a_kernel(aval: Any, least: int) -> bool:
    """Whether values of this type may be cut."""
    return isinstance(aval, ShapedArray) and hasattr(aval.dtype, "itemsize") and aval.size * aval.dtype.itemsize >= least


class Called(NamedTuple):
    """What a caller must know of a program that it calls.

    Attributes:
      sinks: for each input, how many kernels inside need it.
      reaches: for each input, numbers of the results whose cones it is in.
      forced: for each input, whether it must be in memory.
      cones: for each result, number of equations, cost for one element, and operations that they are lowered to, of what is not in memory.
      paths: those that LLVM may walk, where the module has too many.
    """

    sinks: list[int]
    reaches: list[set[int]]
    forced: list[bool]
    cones: list[tuple[int, float, int]]
    paths: Paths | None


class Plan:
    """The plan of one jaxpr.

    Attributes:
      cuts: for ``id(var)`` of each value to write to memory, the reason.
      stored: ``id(var)`` of operands of extrema that are in memory anyway.
    """

    __slots__ = ("cuts", "stored", "_jaxpr", "_plans", "_least", "_uses", "_cones", "_paths", "_called")

    def __init__(self, jaxpr: Jaxpr, plans: Plans, least: int):
        self._jaxpr = jaxpr  # also keeps it alive: plans are found by its identity
        self._plans, self._least = plans, least
        self._called: Called | None = None
        self._paths: Paths | None = None
        self._cones: _Cones | None = None
        big = plans.walks_paths or any([_worth_a_kernel(v.aval, least) for eqn in jaxpr.eqns for v in eqn.outvars])
        self.cuts: dict[int, str] = self._analyse().cuts if big else {}
        self.stored: set[int] = self._analyse().stored if big else set()

    def _analyse(self) -> _Cones:
        if self._cones is None:
            self._uses = _Uses(self._jaxpr, self._plans, self._least)
            self._cones = _Cones(self._jaxpr, self._uses, self._least)
            _cut_draws(self._jaxpr, self._cones.cuts)
            if self._plans.walks_paths:
                worth = functools.partial(_worth_a_kernel, least=1)  # the shortest arrays have them too
                self._paths = cut_paths(self._jaxpr, self._cones.cuts, self._paths_of_callee, worth)
        return self._cones

    def _paths_of_callee(self, eqn: JaxprEqn, from_inputs: bool) -> Paths | None:
        program = program_of(eqn)
        return None if program is None else plan(program.jaxpr, self._plans, self._least).called().paths

    def called(self) -> Called:
        """What callers must know."""
        if self._called is None:
            cones = self._analyse()
            self._called = _summary(self._jaxpr, self._uses, cones, self._paths)
        return self._called


class Plans:
    """Those of a module.

    Args:
      walks_paths: whether it has too many anywhere (`paths.has_many`).

    Attributes:
      known: by identity of the program and the size of the least values that may be cut.
    """

    __slots__ = ("known", "walks_paths")

    def __init__(self, walks_paths: bool):
        self.known: dict[tuple[int, int], Plan] = {}
        self.walks_paths = walks_paths


def plan(jaxpr: Jaxpr, plans: Plans, least: int) -> Plan:
    """The plan of ``jaxpr``.

    Args:
      plans: those of the module; this one is entered.
      least: bytes of the smallest values that may be cut.
    """
    key = id(jaxpr), least
    found = plans.known.get(key)
    if found is None:
        found = plans.known[key] = Plan(jaxpr, plans, least)
    return found


class _Slice(NamedTuple):
    """A sink by way of a slice.

    Attributes:
      equation: number of the slice.
      sink: what needs it.
    """

    equation: int
    sink: Any


class _Uses:
    """Backward: who needs each value.

    A set of sinks is shared between values until one of them needs more; that one then owns a copy, which grows in place.
    So a value with many consumers takes time for each consumer once.

    Attributes:
      sinks: for each variable, the kernels that need it.
      forced: variables that must be in memory.
      counts: for each equation, how many sinks its results have; 0 if it is not fused.
      called: for the number of each call, the summary of the program.
      kept: variables that XLA keeps in memory by itself.
      sliced: for variables, how many small slices are taken of them.
    """

    __slots__ = ("sinks", "forced", "counts", "called", "kept", "sliced", "_base", "_reduced", "_broadcast", "_owned")

    def __init__(self, jaxpr: Jaxpr, plans: Plans, least: int):
        self.sinks: dict[Any, set] = {}
        self.forced: set = set()
        self.counts = [0] * len(jaxpr.eqns)
        self.called: dict[int, Called] = {}
        self.kept: set = set()
        self.sliced: collections.Counter = collections.Counter()
        self._base: dict[Any, Any] = {}
        self._reduced: set = set()
        self._broadcast: set = set()
        self._owned: set = set()
        for eqn in jaxpr.eqns:
            if is_view(eqn):
                self._base[eqn.outvars[0]] = self._base.get(eqn.invars[0], eqn.invars[0])
            elif eqn.primitive is broadcast_in_dim_p:
                self._broadcast.add(eqn.outvars[0])
        for v in jaxpr.outvars:
            self._force(v)
        for i in range(len(jaxpr.eqns) - 1, -1, -1):
            eqn = jaxpr.eqns[i]
            traits = eqn.primitive.traits
            if traits.fused:
                sinks = self._of_results(eqn)
                count = self.counts[i] = len(sinks)
                if count > 1 and traits.cost > MOVE:
                    sinks = {i}
                    if traits.cost > CHEAP and not traits.spelled_out or self._is_kept(eqn):
                        self.kept.add(eqn.outvars[0])
                elif count and traits.part is not None:
                    if not _is_large(eqn):
                        self.sliced[self._base.get(eqn.invars[0], eqn.invars[0])] += 1
                    elif count < MAX_SLICED:
                        sinks = {_Slice(i, sink) for sink in sinks}
            elif traits.kind in _REDUCTIONS:
                sinks = {i}
                self._reduced.update(x for x in eqn.invars if type(x) is not Literal)
            else:
                self._enter_kernel(i, eqn, plans, least)
                continue
            if sinks:
                for x in eqn.invars:
                    if type(x) is not Literal:
                        self._need(x, sinks)

    def _enter_kernel(self, i: int, eqn: JaxprEqn, plans: Plans, least: int) -> None:
        """The operands of an equation that is not fused are in memory, but for those of a call, which its program tells."""
        program = program_of(eqn) if eqn.primitive.traits.kind is Kind.CALL else None
        if program is not None:
            self._call(i, eqn, plan(program.jaxpr, plans, least).called())
        else:
            for x in eqn.invars:
                self._force(x)

    def base(self, v: Any) -> Any:
        """The value that ``v`` is a view of, or itself."""
        return self._base.get(v, v)

    def _is_kept(self, eqn: JaxprEqn) -> bool:
        v = eqn.outvars[0]
        if v not in self.forced and v not in self._reduced:
            return False
        arrays = {x for x in eqn.invars if type(x) is not Literal and x not in self._broadcast and x.aval.shape == v.aval.shape}
        return len(arrays) > 1

    def _of_results(self, eqn: JaxprEqn) -> set:
        found = self.sinks.get(eqn.outvars[0]) or set()
        for v in eqn.outvars[1:]:
            found = found | self.sinks.get(v, set())
        return found

    def _need(self, v: Any, sinks: set) -> None:
        have = self.sinks.get(v)
        if have is None:
            self.sinks[v] = sinks
        elif v in self._owned:
            have |= sinks
        elif sinks is not have and not sinks <= have:
            self.sinks[v] = have | sinks
            self._owned.add(v)

    def _force(self, v: Any) -> None:
        if type(v) is not Literal:
            v = self._base.get(v, v)
            self.forced.add(v)
            self._need(v, {v})

    def _call(self, i: int, eqn: JaxprEqn, called: Called) -> None:
        self.called[i] = called
        for k, x in enumerate(eqn.invars):
            if type(x) is Literal:
                continue
            if called.forced[k]:
                self._force(x)
            sinks: set = {(i, k, n) for n in range(called.sinks[k])}
            for result in called.reaches[k]:
                found = self.sinks.get(eqn.outvars[result], set())
                sinks |= {(i, result)} if len(found) > 1 else found
            self._need(x, sinks)


def is_view(eqn: JaxprEqn) -> bool:
    """Whether its result has the elements of its operand in their order."""
    if not eqn.invars or type(eqn.invars[0]) is Literal:
        return False
    adds_axes = eqn.primitive is broadcast_in_dim_p and eqn.invars[0].aval.size == eqn.outvars[0].aval.size
    return eqn.primitive.traits.kind is Kind.VIEW or adds_axes


def _is_large(eqn: JaxprEqn) -> bool:
    """Whether a slice is at least half of what it is taken from."""
    return 2 * eqn.outvars[0].aval.size >= eqn.invars[0].aval.size


class _Part(NamedTuple):
    """What computes a fused value.

    Attributes:
      number: tells parts apart.
      equations: how many.
      cost: ns for one element.
      code: operations that they are lowered to.
      reads: what they read.
      in_place: whether they read arrays only at the place that they write.
      shifts: whether it is a large slice.
    """

    number: Any
    equations: int
    cost: float
    code: int
    reads: Iterable[Any]
    in_place: bool
    shifts: bool = False


class _Cones:
    """Forward: the cones, cut where it pays.

    Attributes:
      cuts: for ``id(var)`` of each value to write to memory, the reason.
      stored: ``id(var)`` of operands of extrema that are in memory anyway.
    """

    __slots__ = ("cuts", "stored", "_made", "_least", "_parts", "_bounds", "_drawn", "_short")

    def __init__(self, jaxpr: Jaxpr, uses: _Uses, least: int):
        self.cuts: dict[int, str] = {}
        self.stored: set[int] = set()
        self._made: set = set()  # by kernels and calls that write them to memory
        self._least = least
        self._parts: dict[Any, _Part] = {}
        self._drawn: set = set()
        self._short: set = set()  # results of reductions along few elements, which are loops in the kernels that read them
        self._bounds: dict[Any, tuple[int, float]] = {}  # of the equations and the cost of a cone, counted as a tree
        for i, (eqn, count) in enumerate(zip(jaxpr.eqns, uses.counts)):
            if count:
                traits = eqn.primitive.traits
                if traits.kind is Kind.ELEMENTWISE or eqn.primitive is broadcast_in_dim_p:
                    self._cut_what_is_stretched(eqn, uses)
                in_place = traits.cost > MOVE or traits.keeps_places or all([x.aval.size == 1 for x in eqn.invars])
                shifts = traits.part is not None and _is_large(eqn)
                for v in eqn.outvars:
                    code = SPELLED_OUT if traits.spelled_out else 1
                    self._enter(v, _Part(i, 1, traits.cost, code, eqn.invars, in_place, shifts), count if traits.cost > MOVE else 1, uses)
            elif i in uses.called:
                self._enter_call(i, eqn, uses)
            elif eqn.primitive.traits.kind is Kind.DRAW:
                self._enter_draw(eqn.outvars[0], uses)
            elif eqn.primitive.traits.kind in _MAKERS:
                self._made.update(eqn.outvars)
                if LIBRARY_FAILS_AT_SUMS_OF_PRODUCTS and eqn.primitive.traits.kind is Kind.PRODUCT:
                    self._enter_product(eqn)
                if eqn.primitive.traits.kind is Kind.REDUCTION:
                    (self._enter_extremum if eqn.primitive.traits.compares else self._enter_sum)(eqn, uses)
                if eqn.primitive.traits.kind in _REDUCTIONS:
                    self._enter_short(eqn)

    def _cut_what_is_stretched(self, eqn: JaxprEqn, uses: _Uses) -> None:
        """Cut at operands with a long formula that are stretched, as it would be computed for each element of the result."""
        size = eqn.outvars[0].aval.size
        for x in eqn.invars:
            if type(x) is Literal or (x := uses.base(x)) not in self._parts or 2 * x.aval.size > size:
                continue
            _, cost, code, _ = self.walk(x)
            if code >= SPELLED_OUT and (size - x.aval.size) * cost > (WRITE + READ) * x.aval.nbytes + LAUNCH + COMPILE_KERNEL / RUNS:
                self.cuts[id(x)] = f"{size // x.aval.size} elements would each compute {code} operations of it"
                del self._parts[x], self._bounds[x]

    def _enter_product(self, eqn: JaxprEqn) -> None:
        """Cut behind a product with long rows, and few of them, which the compiler's library would add up wrongly."""
        out = eqn.outvars[0].aval
        longest = max(out.shape, default=0)
        if longest * out.dtype.itemsize > LONG_ROW and out.size <= FEW_ROWS * longest:
            self.cuts[id(eqn.outvars[0])] = "sums of products with long rows"

    def _enter_extremum(self, eqn: JaxprEqn, uses: _Uses) -> None:
        """Cut in front of an extremum in pieces that would have much code for each."""
        x = eqn.invars[0]
        if type(x) is Literal:
            return
        if x in self._parts and (pieces := reductions_in_pieces.pieces(x.aval, eqn.params["axes"])):
            equations, cost, *_ = self.walk(x)
            if equations > PIECED[0] or cost > PIECED[1]:
                self.cuts[id(x)] = f"{pieces} pieces would each be code of {equations} equations"
                del self._parts[x], self._bounds[x]
        if self._is_stored(x, uses):
            self.stored.add(id(x))

    def _enter_short(self, eqn: JaxprEqn) -> None:
        """Cut in front of a reduction along few elements that would reduce others for each: such a loop in a loop has no vectors
        (`nearest` and `mixture` of `benchmarks/programs/short_axes.py`). What is reduced to fewer, as the maximum in softmax, pays for no array."""
        x, traits = eqn.invars[0], eqn.primitive.traits
        size = x.aval.size
        extremum = traits.kind is Kind.REDUCTION and traits.compares
        compares = extremum or traits.kind is Kind.SEARCH
        few = short_reductions.compared(x.aval) if extremum else short_reductions.COMPARED if compares else short_reductions.ROW
        if size > few * eqn.outvars[0].aval.size or not compares and x.aval.ndim - 1 not in eqn.params.get("axes", ()):
            return  # none, or the library's
        if self._short and size >= NESTED and not extremum and type(x) is not Literal:
            nested = [v for v in self.walk(x)[3] if v in self._short and v.aval.size >= size]
            self.cuts.update((id(v), "another reduction along few elements would compute it for each") for v in nested)
        self._short.update(eqn.outvars)

    def _enter_sum(self, eqn: JaxprEqn, uses: _Uses) -> None:
        """Cut in front of a sum of what is read at shifted places, which the compiler leaves to no library and adds without vectors
        (`benchmarks/programs/shifted_sums.py`)."""
        x = eqn.invars[0]
        if type(x) is Literal or x not in self._parts or x.aval.size < SHIFTED or x.aval.dtype.kind != "f":
            return
        if x.aval.size >= EACH * eqn.outvars[0].aval.size and self._is_shifted(x, uses):
            self.cuts[id(x)] = "a sum of what is read at shifted places"
            del self._parts[x], self._bounds[x]

    def _is_shifted(self, v: Any, uses: _Uses) -> bool:
        """Whether the cone of ``v`` reads at shifted places, and nobody else needs any of it."""
        found, seen, stack = False, {v}, [v]
        while stack:
            x = stack.pop()
            part = self._parts[x]
            if len({s.sink if type(s) is _Slice else s for s in uses.sinks.get(x, ())}) > 1:
                return False
            found |= part.shifts
            for y in part.reads:
                if type(y) is not Literal and y in self._parts and y not in seen:
                    seen.add(y)
                    stack.append(y)
        return found

    def _is_stored(self, v: Any, uses: _Uses) -> bool:
        """Whether ``v``, or what it is a view of, is in memory whoever reads it."""
        v = uses.base(v)
        return v in uses.forced or v in uses.kept or id(v) in self.cuts or v in self._made

    def _enter_call(self, i: int, eqn: JaxprEqn, uses: _Uses) -> None:
        called = uses.called[i]
        reads: list[list] = [[] for _ in eqn.outvars]
        for x, reach in zip(eqn.invars, called.reaches):
            for k in reach:
                reads[k].append(x)
        for k, (v, (equations, cost, code)) in enumerate(zip(eqn.outvars, called.cones)):
            if equations:
                self._enter(v, _Part((i, k), equations, cost, code, reads[k], False), len(uses.sinks.get(v, ())), uses)
            elif code:
                self._enter_draw(v, uses)

    def _enter_draw(self, v: Any, uses: _Uses) -> None:
        self._drawn.add(v)
        if _worth_a_kernel(v.aval, self._least):
            self._cut_in_front_of_slices(v, uses)

    def _enter(self, v: Any, part: _Part, count: int, uses: _Uses) -> None:
        """Cut at ``v``, which ``part`` computes and ``count`` kernels need, or let it be part of their cones."""
        aval = v.aval
        if not _worth_a_kernel(aval, self._least):
            return
        equations, cost = part.equations, part.cost
        bounds = self._bounds
        for x in part.reads:
            if type(x) is not Literal:
                bound = bounds.get(x, _IN_MEMORY)
                equations += bound[0]
                cost += bound[1]
        self._parts[v] = part
        kept = v in uses.kept
        forced = kept or v in uses.forced
        several = count > 1 and _gain(aval, equations, cost, count, forced) > 0
        if several or equations > MAX_KERNEL:
            equations, cost, *_ = self.walk(v)
            several = several and _gain(aval, equations, cost, count, forced) > 0
            if several and (not kept or equations > KEPT):
                sliced = any([type(sink) is _Slice for sink in uses.sinks.get(v, ())])
                readers = "kernels or slices" if sliced else "kernels"
                self.cuts[id(v)] = f"{count} {readers} need it and would each compute {equations} equations"
            elif equations > MAX_KERNEL:
                self.cuts[id(v)] = f"bounds a kernel of {equations} equations"
        if not kept and id(v) not in self.cuts:
            self._cut_in_front_of_slices(v, uses)
        if kept or id(v) in self.cuts:
            del self._parts[v]
        else:
            bounds[v] = equations, cost

    def _cut_in_front_of_slices(self, v: Any, uses: _Uses) -> None:
        """Cut at ``v`` where its small slices, which XLA writes one by one, would have much code."""
        slices = uses.sliced.get(v, 0)
        if slices < 2:
            return
        aval, (_, _, code, _) = v.aval, self.walk(v)
        if code <= KEPT:
            return
        keeping = 0.0 if v in uses.forced else RUNS * ((WRITE + READ) * aval.dtype.itemsize * aval.size + LAUNCH) + COMPILE_KERNEL
        if (slices - 1) * code * COMPILE_EQUATION > keeping:
            self.cuts[id(v)] = f"{slices} slices of it would each be code of {code} operations"
            self._drawn.discard(v)

    def walk(self, v: Any) -> tuple[int, float, int, set]:
        """Of the cone of ``v``: number of equations, cost for one element, operations that it is lowered to, with those of the draws that it
        reads, which XLA computes in it too, and the variables in memory that it reads."""
        parts = self._parts
        if v not in parts:
            return 0, 0.0, DRAWN if v in self._drawn else 0, {v}
        seen, leaves, stack = set(), set(), [v]
        equations, cost, code, in_place = 0, 0.0, 0, True
        while stack and equations <= 2 * MAX_KERNEL:
            part = parts[stack.pop()]
            if part.number in seen:
                continue
            seen.add(part.number)
            equations += part.equations
            cost += part.cost
            code += part.code
            in_place &= part.in_place
            for x in part.reads:
                if type(x) is not Literal:
                    if x in parts:
                        stack.append(x)
                    else:
                        leaves.add(x)
        size, price = v.aval.size, READ_ALONG if in_place else READ
        for x in leaves:
            if isinstance(x.aval, ShapedArray) and x.aval.shape and hasattr(x.aval.dtype, "itemsize"):
                cost += price * x.aval.dtype.itemsize * min(1.0, x.aval.size / size)
        return equations, cost, code + DRAWN * len(self._drawn & leaves), leaves


def _gain(aval: ShapedArray, equations: int, cost: float, count: int, forced: bool) -> float:
    """ns won over all runs and the compilation by a cut at a value that ``count`` kernels need."""
    size, width = aval.size, aval.dtype.itemsize
    run = (count - 1) * (cost - READ * width) * size
    compiled = (count - 1) * equations * COMPILE_EQUATION
    if not forced:
        run -= (WRITE + READ) * width * size + LAUNCH
        compiled -= COMPILE_KERNEL
    return RUNS * run + compiled


def _cut_draws(jaxpr: Jaxpr, cuts: dict[int, str]) -> None:
    """Cut where a costly function reads a random number: the two loops together run in 0.75 to 0.9 of the time of the one that has
    both, in which there are not enough registers. The number must be in memory as what becomes of it, as then it is overwritten:
    a second array of 2**24 numbers costs more than it saves. What others read too is cut there, or it would be drawn twice."""
    if not any([eqn.primitive.traits.kind is Kind.DRAW for eqn in jaxpr.eqns]):
        return
    readers = collections.Counter([x for eqn in jaxpr.eqns for x in eqn.invars if type(x) is not Literal])
    readers.update([x for x in jaxpr.outvars if type(x) is not Literal])
    drawn: dict[Any, Any] = {}  # of each number that is made of one draw alone, the first value on the way that has other readers too
    for eqn in jaxpr.eqns:
        traits = eqn.primitive.traits
        if traits.kind is Kind.DRAW:
            drawn.update(dict.fromkeys(eqn.outvars))
        elif drawn and traits.fused:
            arrays = [x for x in eqn.invars if type(x) is not Literal and x.aval.size > 1]
            if len(arrays) != 1 or arrays[0] not in drawn:  # where a draw meets other arrays, a loop of its own would read them again
                continue
            x, out = arrays[0], eqn.outvars[0]
            shared = drawn[x] or (x if readers[x] > 1 else None)
            if traits.cost < COSTLY:
                drawn[out] = shared
            elif _worth_a_kernel(x.aval, SMALL) and (shared or x).aval.dtype == out.aval.dtype:
                cuts.setdefault(id(shared or x), "a costly function reads what is drawn here")


def _summary(jaxpr: Jaxpr, uses: _Uses, cones: _Cones, paths: Paths | None) -> Called:
    """What callers must know."""
    results = [(0, 0.0, 0, set()) if type(v) is Literal else cones.walk(v) for v in jaxpr.outvars]
    outs = {v for v in jaxpr.outvars if type(v) is not Literal}
    reaches: dict[Any, set[int]] = {v: set() for v in jaxpr.invars}
    for k, (*_, leaves) in enumerate(results):
        for v in leaves:
            if v in reaches:
                reaches[v].add(k)
    return Called(sinks=[len(uses.sinks.get(v, outs) - outs) for v in jaxpr.invars],
                  reaches=[reaches[v] for v in jaxpr.invars],
                  forced=[v in uses.forced and v not in outs for v in jaxpr.invars],
                  cones=[(equations, cost, code) for equations, cost, code, _ in results], paths=paths)
