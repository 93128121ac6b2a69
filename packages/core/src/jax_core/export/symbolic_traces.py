"""`make_jaxpr`, and `trace` and `lower` of jitted functions, for arguments with symbolic shapes."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

from .. import extension_points
from ..interfaces import LowerSpec
from ..programs import stages
from ..representation import tree
from ..representation.errors import InconclusiveDimensionOperation, JaxprTypeError
from ..representation.jaxpr import ClosedJaxpr, check_jaxpr, eval_jaxpr
from ..representation.source import name_of
from ..traces.collector import RELAXED
from ..traces.lengths import Trail
from . import decisions, forms, symbolic_jaxprs, symbols
from .exported import Exported
from .exporting import exported_for
from .families import Values
from .symbolic_programs import Arguments, eval_shape, for_each

_HINTS = 12


class _Sample(NamedTuple):
    values: Values
    trail: Trail
    program: ClosedJaxpr
    found: Any


def program(what: str, args: tuple, kwargs: dict, run: Callable[..., tuple[ClosedJaxpr, object]]) -> tuple[ClosedJaxpr, Any]:
    """The program for arguments with symbolic shapes.

    Args:
      what: for messages.
      run: ``run(*args, **kwargs)`` gives the program for known shapes, and anything else.

    Returns:
      the program, and what else ``run`` gave for one of the samples.

    Raises:
      InconclusiveDimensionOperation: the programs for different lengths differ in more than numbers that are expressions in the lengths.
    """
    arguments = Arguments(args, kwargs)

    def seen(values: Values, *a: Any, **k: Any) -> Any:
        with Trail(values) as trail:
            closed, found = run(*a, **k)
        return _Sample(values, trail, closed, found)

    def sample(values: Values) -> Any:
        a, k = arguments.at(values)
        return seen(values, *a, **k)
    with RELAXED:  # for all samples at once: a pass of the collector after each would find nothing to free
        return _of_samples(what, arguments, seen, sample)


def _of_samples(what: str, arguments: Arguments, seen: Callable, sample: Callable[[Values], Any]) -> tuple[ClosedJaxpr, Any]:
    few: list[Any] = for_each(what, arguments.lengths.few(), arguments, seen)
    finder = forms.Finder(what, arguments.lengths, sample, few)
    found_straight: tuple[list[Any], decisions.Path] = decisions.straight(finder, few)
    samples, path = found_straight
    found = samples[0].found
    if arguments.lengths.few().complete:
        return _together(finder, samples, path), found
    start = samples[0].values

    def others(values: list[Values]) -> list[Any]:
        return [s for v in values if decisions.on(path, v) and (s := finder.at(v))]
    long = others(arguments.lengths.long(start))
    if any(s.trail.made_plain for s in samples):  # it may decide unseen: there must be no other way
        hints = sorted(set().union(*[s.trail.constants for s in samples]))[:_HINTS]
        samples = [*samples, *long, *others(arguments.lengths.about(hints, start))]
    more = [*others(arguments.lengths.short(start)), *long]
    closed: Any = None
    for known in (samples, [*samples, *more]):  # the shortest lengths and long ones are so often an exception
        try:
            closed = _together(finder, known, path)
        except InconclusiveDimensionOperation as error:
            failed = error
            continue
        if all(_holds(closed, s) for s in more):
            break
    if closed is None:
        raise failed
    return closed, found


def _holds(closed: ClosedJaxpr, sample: _Sample) -> bool:
    """Whether the program is one for the lengths of the sample too, with the same types."""
    found = symbolic_jaxprs.at(closed, sample.values)
    try:
        check_jaxpr(found.jaxpr)
    except JaxprTypeError:
        return False
    return found.out_avals == sample.program.out_avals


def _together(finder: forms.Finder, samples: Sequence[Any], path: decisions.Path) -> ClosedJaxpr:
    return symbolic_jaxprs.of_samples(finder.name, finder.family(samples, path), [s.program for s in samples])


def trace(fun: Callable, known: Callable[..., stages.Traced], args: tuple, kwargs: dict) -> stages.Traced:
    """The stage of a jitted ``fun`` for arguments with symbolic shapes; ``known`` is its method `trace`."""
    def run(*a, **k):
        traced = known(*a, **k)
        return traced.jaxpr, traced
    closed, first = program(f"trace of {name_of(fun)}", args, kwargs, run)
    return SymbolicTraced(closed, first, known, args, kwargs)


class SymbolicTraced(stages.Traced):
    """A function traced for symbolic shapes."""

    def __init__(self, closed: ClosedJaxpr, first: stages.Traced, known: Callable[..., stages.Traced], args: tuple, kwargs: dict):
        super().__init__(closed, first.in_tree, first.out_tree, first._donated, first.fun_name, first._spec, first._static)
        self._known, self._args, self._kwargs = known, args, kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program for the lengths of the arguments; also inside transformations."""
        flat, in_tree = tree.flatten((args, kwargs))
        if in_tree != self.in_tree:
            raise TypeError(f"{self.fun_name}: the arguments form {in_tree}, but it was traced for {self.in_tree}; nest them as then")
        return tree.unflatten(self.out_tree, eval_jaxpr(self._closed.jaxpr, self._closed.consts, *flat))

    def _lower(self, spec: LowerSpec) -> SymbolicLowered:
        return SymbolicLowered(self, spec, exported_for(self.fun_name, self._known, self._args, self._kwargs, spec.platform))


class SymbolicLowered(stages.Lowered):
    """A program with symbolic shapes, lowered: its text for all lengths, as `Exported.mlir_module` gives it."""

    def __init__(self, traced: SymbolicTraced, spec: LowerSpec, exported: Exported):
        super().__init__(traced, None, spec)  # type: ignore[arg-type]  # there is no module for one shape
        self._exported = exported

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The module's text, with expressions in the places of lengths."""
        stages.check_dialect("as_text", dialect)
        if dialect == "hlo":
            raise self._no_shape("as_text('hlo')")
        return self._exported.mlir_module()

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Raises ValueError: the compiler knows no expressions."""
        raise self._no_shape("compiler_ir")

    def cost_analysis(self) -> Any:
        """Raises ValueError: costs depend on the lengths."""
        raise self._no_shape("cost_analysis")

    def compile(self, compiler_options: dict | None = None, *, device_assignment: object = None) -> Any:
        """Raises ValueError: programs are compiled for lengths that are known."""
        raise self._no_shape("compile")

    def _no_shape(self, name: str) -> ValueError:
        types = ", ".join([a.str_short() for a in self._closed.in_avals])
        return ValueError(f"Lowered.{name}: {self._traced.fun_name} was lowered for the symbolic shapes {types}, and programs are compiled for shapes "
                          "that are known; lower it for these, or use jax.export.export, whose result is compiled when it is called")


extension_points.symbolic_shapes.fill(extension_points.SymbolicShapes(symbols.is_symbolic_dim, eval_shape, trace, program))
