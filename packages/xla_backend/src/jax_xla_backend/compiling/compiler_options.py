"""Compiler options that are chosen for a program by what is in it."""
from __future__ import annotations

import functools
import itertools
import os
import re
from typing import TYPE_CHECKING, Any

from jax_core.configuration import flags

from ..jaxlib_compat import (
    BARRIER_OPTIONS,
    COMPILER_ERRS,
    LIBRARY_FAILS_AT_MANY_AXES,
    SMALL_PROGRAMS_ARE_FUNCTIONS,
    keeps_barriers,
)
from ..planning.loops import LOW, USUAL

if TYPE_CHECKING:
    from ..lowering.module import Module

EXTRA_OPTIONS = "xla_backend_extra_options"

# Without the emitters that go through MLIR and set up a context of their own for each kernel. jaxlib from 0.12 on has no others.
_QUICK = "xla_cpu_disable_new_fusion_emitters"
_FEW_PARTS = ("xla_cpu_parallel_codegen_split_count", 2)
QUICK_OPTIONS: tuple[tuple[str, Any], ...] = ((EXTRA_OPTIONS, _QUICK), _FEW_PARTS)

NO_UNROLLING = "xla_cpu_disable_loop_unrolling"

NO_SLP = "xla_cpu_disable_slp_vectorizer"
LEVEL = "xla_backend_optimization_level"
NOT_OPTIMISED: tuple[tuple[str, Any], ...] = ((LEVEL, 0),)

LOOP_OPTION = "xla_cpu_small_while_loop_byte_threshold"

WIDE_OPTION = "xla_cpu_prefer_vector_width"

# XLA aborts at a barrier in a function, and at some branches (it finds their buffers not); a loop is a function already, if it can be one.
# And there it leaves it to LLVM to round to bfloat16, that is to an instruction of processors that know the type, which makes 0 of subnormal numbers.
_only_in_kernels = re.compile(r"custom_call|optimization_barrier|stablehlo\.(?:case|if|while)\b|"
                              r"stablehlo\.(?:convert|maximum|minimum|clamp)\b.*bf16>$", re.MULTILINE)

UNFUSED_OPTIONS: tuple[tuple[str, Any], ...] = (("xla_disable_hlo_passes", "fusion"),)


WITHOUT_LIBRARY: tuple[tuple[str, Any], ...] = (("xla_cpu_experimental_ynn_fusion_type", ""),)

# What LLVM loses an address of, so that the process ends, where those other emitters write it: numbers and truth values that are read from one place
# on, among padding. A slice that is put into constants becomes a pad, once it is known where it goes.
_reads_flags = re.compile(r"stablehlo\.dynamic_slice\b.*xi1>$", re.MULTILINE)
_pads = re.compile(r"stablehlo\.pad\b")
_constant = re.compile(r"(%\w+) = stablehlo\.constant\b")
_repeated = re.compile(r"(%\w+) = stablehlo\.broadcast_in_dim (%\w+),")
_written_into = re.compile(r"stablehlo\.dynamic_update_slice (%\w+),")

_has_many_axes = re.compile(r"tensor<(?:[\d?]+x){7}")


def options_for(module: Module, platform: str, items: tuple) -> tuple:
    """Compiler options for a lowered module, as items.

    * Small programs and passes over inputs on CPU (see `planning.small_programs`) are compiled the quick way, unless the caller has
      options of his own, as their runs take no longer for it. ``jax_quick_compile`` switches that. Where arrays have a few elements
      only, LLVM does not optimise the code.
    * Small programs whose values fusion would compute many times over (see `planning.repeated_work`) are compiled without it.
    * Loops inside kernels are not unrolled where that makes them no faster (see `planning.unrolling`).
    * Programs that compute much for each element get vectors of 512 bits where the processor has good ones (see `planning.wide_vectors`).
    * Loops become one function each where that pays (see `planning.loops`).
    * The fusion planner's barriers are made to last where those of others are in no loop (see `BARRIER_OPTIONS`).
    * With ``jax_disable_most_optimizations`` programs get what compiles in the least time, on the CPU, and nothing of the above.
    * Programs over arrays of many axes do without the library that fails at them (see `jaxlib_compat.LIBRARY_FAILS_AT_MANY_AXES`).

    Args:
      items: options of the caller.
    """
    chosen = _options_by_cost(module, platform, items)
    if LIBRARY_FAILS_AT_MANY_AXES and platform == "cpu" and _has_many_axes.search(module.text()):
        return tuple((dict(chosen) | dict(WITHOUT_LIBRARY)).items())
    return chosen


def _options_by_cost(module: Module, platform: str, items: tuple) -> tuple:
    """Those that make compiling or running faster."""
    if platform == "cpu" and not items and flags.disable_most_optimizations.value:
        return _quickest((), 0)
    limit = module.facts.loop_limit
    extra = "" if limit == USUAL else f"{LOOP_OPTION}={limit}"
    chosen: tuple = ()
    ours = module.facts.work if platform == "cpu" and not items else None
    barriers = module.facts.barriers
    if barriers:
        chosen = BARRIER_OPTIONS if keeps_barriers(module.text(), barriers) else ()
    elif ours:
        chosen = UNFUSED_OPTIONS if ours.repeats_work else ()
    if ours and flags.quick_compile.value:
        if not barriers and limit != LOW and (ours.small or ours.only_reads_inputs):
            chosen += (_FEW_PARTS,) if COMPILER_ERRS and _pads_beside_flags(module.text()) else QUICK_OPTIONS
            if ours.tiny:
                chosen += NOT_OPTIMISED
        if not ours.unrolls:
            extra = ",".join(filter(None, [extra, NO_UNROLLING]))
    if ours and ours.wants_wide_vectors and wide_vectors_are_fast() and WIDE_OPTION not in os.environ.get("XLA_FLAGS", ""):
        chosen += ((WIDE_OPTION, 512),)
    return joined(items + chosen, extra) if extra else items + chosen


def _pads_beside_flags(text: str) -> bool:
    """Whether truth values are sliced, and numbers are padded or written into constants."""
    if not _reads_flags.search(text):
        return False
    constants = set(_constant.findall(text))
    constants.update([name for name, source in _repeated.findall(text) if source in constants])
    return bool(_pads.search(text)) or not constants.isdisjoint(_written_into.findall(text))


def is_one_function(module: Module, platform: str, items: tuple) -> bool:
    """Whether the compiler is given `Module.as_function`: where nothing of the program must be known outside of a function (arguments as for `options_for`)."""
    facts = module.facts
    if not (SMALL_PROGRAMS_ARE_FUNCTIONS and platform == "cpu" and flags.quick_compile.value) or items or flags.disable_most_optimizations.value:
        return False
    plain = not (facts.ordered_effects or facts.unordered_effects or facts.host_callbacks or facts.keep_alive or
                 facts.inspections or facts.wants or facts.layouts or facts.constraints or facts.typed or not facts.out_avals)
    return plain and facts.loop_limit != LOW and facts.work is not None and facts.work.one_function and not _only_in_kernels.search(module.text())


@functools.cache
def wide_vectors_are_fast() -> bool:
    """Whether this processor has vectors of 512 bits and does not slow down for them, as those did that do not know bfloat16 yet."""
    try:
        with open("/proc/cpuinfo") as lines:
            return any(line.startswith("flags") and "avx512_bf16" in line for line in itertools.islice(lines, 40))
    except OSError:
        return False


def first_options(module: Module, items: tuple) -> tuple:
    """``items``, which are those of the full code, for the first of two tiers (see `tiered_compilation`).

    A program without loops is not optimised at all: one pass over its data is not long. A step of a loop may run any
    number of times before other code can take over, so there only what costs hardly any run time is left out. What is
    compiled the quick way anyway keeps its options.
    """
    if _QUICK in dict(items).get(EXTRA_OPTIONS, ""):
        return items
    return _quickest(items, 1 if module.facts.work is not None and module.facts.work.has_loops else 0)


def _quickest(items: tuple, level: int) -> tuple:
    """``items`` with what leaves out most of the compiler's work but for LLVM's at ``level``."""
    given = dict(items) | dict([_FEW_PARTS]) | {LEVEL: level}
    return joined(tuple(given.items()), ",".join([_QUICK, NO_SLP, *([] if level else [NO_UNROLLING])]))


def joined(items: tuple, extra: str) -> tuple:
    """``items`` with one more of the options that share a name."""
    given = dict(items)
    given[EXTRA_OPTIONS] = ",".join(filter(None, [extra, given.get(EXTRA_OPTIONS)]))
    return tuple(given.items())
