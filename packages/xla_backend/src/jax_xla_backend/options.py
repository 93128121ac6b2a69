"""Compiler options that are chosen for a program by what is in it."""
from __future__ import annotations

from typing import Any

from jax_core import config

from .jaxlib_compat import BARRIER_OPTIONS
from .lowering.loops import LOW, USUAL

EXTRA_OPTIONS = "xla_backend_extra_options"

# Without the emitters that go through MLIR and set up a context of their own for each kernel, and without unrolled loops.
# jaxlib from 0.12 on has no other emitters.
SMALL_OPTIONS: tuple[tuple[str, Any], ...] = (
    (EXTRA_OPTIONS, "xla_cpu_disable_new_fusion_emitters,xla_cpu_disable_loop_unrolling"),
    ("xla_cpu_parallel_codegen_split_count", 2))
UNROLLED_OPTIONS = ((EXTRA_OPTIONS, "xla_cpu_disable_new_fusion_emitters"), SMALL_OPTIONS[1])

LOOP_OPTION = "xla_cpu_small_while_loop_byte_threshold"

UNFUSED_OPTIONS: tuple[tuple[str, Any], ...] = (("xla_disable_hlo_passes", "fusion"),)


def options_for(module: Any, platform: str, items: tuple) -> tuple:
    """Compiler options for a lowered module, as items.

    * Small programs and passes over inputs on CPU (see `lowering.small`) are compiled the quick way, unless the caller has
      options of his own, as their runs take no longer for it. ``jax_quick_compile`` switches that.
    * Small programs whose values fusion would compute many times over (see `lowering.repeats`) are compiled without it.
    * Loops become one function each where that pays (see `lowering.loops`).
    * The fusion planner's barriers are made to last in programs that have no others (see `BARRIER_OPTIONS`).

    Args:
      items: options of the caller.
    """
    chosen: tuple = ()
    limit = getattr(module, "loop_limit", USUAL)
    barriers = getattr(module, "barriers", 0)
    if barriers:
        alone = barriers == module.text().count("stablehlo.optimization_barrier")
        chosen = BARRIER_OPTIONS if alone else ()
    elif platform == "cpu" and not items and not config.disable_most_optimizations.value:
        chosen = UNFUSED_OPTIONS if getattr(module, "repeats_work", False) else ()
        if config.quick_compile.value and limit != LOW and hasattr(module, "small"):
            if module.small:
                chosen += UNROLLED_OPTIONS if module.unrolls else SMALL_OPTIONS
            elif module.only_reads_inputs:
                chosen += UNROLLED_OPTIONS
    return items + chosen if limit == USUAL else _joined(items + chosen, f"{LOOP_OPTION}={limit}")


def _joined(items: tuple, extra: str) -> tuple:
    """``items`` with one more of the options that share a name."""
    given = dict(items)
    given[EXTRA_OPTIONS] = ",".join(filter(None, [extra, given.get(EXTRA_OPTIONS)]))
    return tuple(given.items())
