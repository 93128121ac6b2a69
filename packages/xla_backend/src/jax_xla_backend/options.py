"""Compiler options that are chosen for a program by what is in it."""
from __future__ import annotations

from typing import Any

from jax_core import config

from .jaxlib_compat import BARRIER_OPTIONS

# Without the emitters that go through MLIR and set up a context of their own for each kernel, and without unrolled loops.
# jaxlib from 0.12 on has no other emitters.
SMALL_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("xla_backend_extra_options", "xla_cpu_disable_new_fusion_emitters,xla_cpu_disable_loop_unrolling"),
    ("xla_cpu_parallel_codegen_split_count", 2))

UNFUSED_OPTIONS: tuple[tuple[str, Any], ...] = (("xla_disable_hlo_passes", "fusion"),)


def options_for(module: Any, platform: str, items: tuple) -> tuple:
    """Compiler options for a lowered module, as items.

    * Small programs on CPU (see `lowering.small`) are compiled the quick way, unless the caller has options of his own,
      as their runs take no longer for it. ``jax_quick_compile`` switches that.
    * Small programs whose values fusion would compute many times over (see `lowering.repeats`) are compiled without it.
    * The fusion planner's barriers are made to last in programs that have no others (see `BARRIER_OPTIONS`).

    Args:
      items: options of the caller.
    """
    barriers = getattr(module, "barriers", 0)
    if barriers:
        alone = barriers == module.text().count("stablehlo.optimization_barrier")
        return items + BARRIER_OPTIONS if alone else items
    if platform != "cpu" or items or config.disable_most_optimizations.value:
        return items
    unfused = UNFUSED_OPTIONS if getattr(module, "repeats_work", False) else ()
    return unfused + (SMALL_OPTIONS if config.quick_compile.value and getattr(module, "small", False) else ())
