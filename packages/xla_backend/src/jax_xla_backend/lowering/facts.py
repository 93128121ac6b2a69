"""What lowering learns about a program, for whoever compiles and runs the text."""
from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Sequence

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr
from jax_core.representation.traits import Kind

from ..arrays.own_layouts import Layouts
from ..planning import known_nans, one_function, paths, unrolling, wide_vectors
from ..planning.loops import USUAL
from ..planning.planner import SMALL, TINY
from ..planning.repeated_work import repeats_work
from ..planning.small_programs import FEW_ELEMENTS, FEW_EQUAL, SERIES, draws, is_small, loses_much, only_reads_inputs, programs


class Work:
    """What a program does, as far as the choice of compiler options asks. Each answer is worked out once, when it is asked for.

    Args:
      jaxpr: the program.
      donates: whether a result may take the memory of an input.
      consts: constants in its text, pairs of a variable and its value.
    """

    def __init__(self, jaxpr: Jaxpr, donates: bool, consts: Sequence[tuple[Any, Any]] = ()):
        self._jaxpr, self._donates, self._consts = jaxpr, donates, consts

    @functools.cached_property
    def _programs(self) -> Sequence[Jaxpr]:
        """It and all inside it."""
        return list(programs(self._jaxpr))

    @functools.cached_property
    def small(self) -> bool:
        """Whether all its arrays are small (`is_small`)."""
        return self.tiny or is_small(self._jaxpr)

    @functools.cached_property
    def tiny(self) -> bool:
        """Whether its code is not worth optimising: all its arrays have a few elements, it is short, and it has neither loops nor long series.

        Nor random numbers, as those of a key should have the same bits however many are drawn.
        """
        return is_small(self._jaxpr, FEW_ELEMENTS, FEW_EQUAL) and not self.has_loops and not loses_much(self._jaxpr) and not any(
            [eqn.primitive.traits.cost >= SERIES or draws(eqn) for program in self._programs for eqn in program.eqns])

    @functools.cached_property
    def only_reads_inputs(self) -> bool:
        """Whether all kernels are passes over the inputs, and overwrite none (`small_programs.only_reads_inputs`)."""
        return not self._donates and only_reads_inputs(self._jaxpr)

    @functools.cached_property
    def one_function(self) -> bool:
        """Whether it is to be one function of the compiler's (`one_function`)."""
        return not (self.walks_paths or self.repeats_work) and (
            one_function.fits_small(self._jaxpr) or self.only_reads_inputs and one_function.fits_passes(self._jaxpr))

    @functools.cached_property
    def has_loops(self) -> bool:
        """Whether there is a loop in it, at any depth."""
        return any([eqn.primitive.traits.kind is Kind.LOOP for program in self._programs for eqn in program.eqns])

    @functools.cached_property
    def unrolls(self) -> bool:
        """Whether unrolled code is faster, or alone right (`unrolling`)."""
        if unrolling.keeps_order(self._jaxpr):
            return True
        if self.small:
            return unrolling.steps_gain(self._jaxpr)
        return unrolling.gains(self._jaxpr) or unrolling.has_short_steps(self._jaxpr) or unrolling.searches_in_steps(self._jaxpr)

    @functools.cached_property
    def wants_wide_vectors(self) -> bool:
        """Whether vectors of 512 bits are faster (`wide_vectors`)."""
        return wide_vectors.gains(self._jaxpr)

    @property
    def wants_flat_results(self) -> bool:
        """Whether results may be written as vectors (`flat_results`): behind a barrier, which keeps them from the memory of inputs."""
        return self.unrolls and not self._donates and self.may_have_barriers

    @property
    def may_have_barriers(self) -> bool:
        """Whether a barrier loses nothing: it keeps programs from the quick way to compile, and from being compiled without fusion."""
        return not (self.small or self.only_reads_inputs or self.repeats_work or self.one_function)

    @functools.cached_property
    def repeats_work(self) -> bool:
        """Whether it is small and XLA's fusion would compute its values many times over (`repeats_work`)."""
        return repeats_work(self._jaxpr)

    @functools.cached_property
    def walks_paths(self) -> bool:
        """Whether LLVM would walk so many paths through it that it must be cut, in loops too (`paths`)."""
        return paths.has_many(self._programs)

    @functools.cached_property
    def holds_bfloat16(self) -> bool:
        """Whether a value in it is of bfloat16."""
        return any([getattr(v.aval, "dtype", None) == dtypes.bfloat16 for program in self._programs
                    for v in (*program.invars, *(v for eqn in program.eqns for v in eqn.outvars))])

    @functools.cached_property
    def meets_nan(self) -> bool:
        """Whether it computes with NaN for certain (`known_nans`)."""
        return known_nans.meets_nan(self._jaxpr, self._consts)

    @functools.cached_property
    def least_cut(self) -> int:
        """Bytes of the smallest values that the planner may cut outside of loops. Barriers would keep small programs from the quick
        way to compile, and from being compiled without fusion; those that would hardly end to compile get them all the same."""
        return SMALL if (self.small or self.repeats_work) and not self.walks_paths else TINY


class Facts(NamedTuple):
    """What is to be known about a module beside its text.

    ``main`` takes a dummy for the token of each ordered effect, then ``consts``, then the kept inputs; it returns the dummies
    and the results.

    Attributes:
      flat_in_avals: types of all flat inputs.
      kept: indices of the flat inputs that ``main`` takes.
      in_avals, out_avals: types of the kept inputs and of the results, as ``main`` has them: keys as their words.
      consts: arrays that ``main`` takes before the inputs.
      converted_in, converted_out: pairs (flat index, converter) of the inputs and results that the caller has in another form:
        keys (the converter is their dtype) and float0.
      donated: indices of flat inputs whose buffers ``main`` may overwrite.
      ordered_effects: those that ``main`` takes a token for and returns one; unordered_effects: of the program.
      host_callbacks: Python functions that the program calls by their index here.
      host_transfers: `HostTransfer` of each callback on platforms that call the host by messages (TPU).
      constraints: placements on several devices that the program asks for its values.
      typed: placements of its types, on some devices with such a mesh.
      keep_alive: objects to be kept as long as the executable.
      inspections: functions to be called with the placement of everything, where that is one device.
      wants: what in the program can only run on several devices, and on how many; or None.
      planning: whether the fusion planner was asked.
      barriers: how many barriers it placed.
      loop_limit: of the loops that XLA is to make one function of, as `loops.loop_limit` says.
      work: what the program does; None where only the text is known.
      layouts: of the flat inputs and the results (`own_layouts.Layouts`); None where all are as usual.
      misfit: why the program cannot be compiled as it is placed, or None.
      arg_names: of all flat inputs, for messages, as far as known.
    """

    flat_in_avals: Sequence[Any]
    kept: tuple[int, ...]
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    consts: Sequence[Any] = ()
    converted_in: Sequence[tuple[int, Any]] = ()
    converted_out: Sequence[tuple[int, Any]] = ()
    donated: tuple[int, ...] = ()
    ordered_effects: Sequence[Any] = ()
    unordered_effects: Sequence[Any] = ()
    host_callbacks: Sequence[Callable] = ()
    host_transfers: Sequence[Any] = ()
    constraints: Sequence[Any] = ()
    typed: Sequence[Any] = ()
    keep_alive: Sequence[Any] = ()
    inspections: Sequence[Callable[[Any], None]] = ()
    wants: tuple[str, int] | None = None
    planning: bool = False
    barriers: int = 0
    loop_limit: int = USUAL
    work: Work | None = None
    layouts: Layouts | None = None
    misfit: str | None = None
    arg_names: Sequence[str] = ()
