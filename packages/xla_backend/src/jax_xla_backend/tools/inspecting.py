"""What stages show of a lowered program: its text with placements, HLO, objects of the MLIR bindings, and costs."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jax_core.interfaces import LowerSpec
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, Var

from ..arrays.put import as_sharding
from ..compiling import parsing
from ..jaxlib_compat import _hlo, _jax
from ..lowering.facts import Work
from ..placement.layout import Format
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import Sharding
from ..planning.planner import Plans, plan
from ..platforms import client
from ..running import stages

if TYPE_CHECKING:
    from ..lowering.module import Module


def placed_module(module: Module, closed: ClosedJaxpr, spec: LowerSpec) -> Any:
    """``module``, or where it will run on several devices, the module for these.

    ``spec`` says so, or the program itself, or the mesh in use when it was lowered.
    """
    placed = module_as_told(module, closed, spec)
    if placed is not module:
        return placed
    several = [s for s in (*module.facts.constraints, *module.facts.typed, module.in_use) if s is not None and s.num_devices > 1]
    if not several:
        return module
    everywhere = several[0].update(spec=PartitionSpec())
    outs = tuple(a.placement if a.placement is not None and not a.placement.mesh.auto_axes else None for a in closed.out_avals)
    return stages.lower(closed, spec, None, outs if any(outs) else None, module.platform, everywhere)


def module_as_told(module: Module, closed: ClosedJaxpr, spec: LowerSpec) -> Any:
    """``module``, or where ``spec`` places arguments or results on several devices, the module with these placements."""
    told = [*(spec.in_shardings or ()), *(spec.out_shardings or ())]
    if not any(isinstance(s, Sharding) and s.num_devices > 1 for s in map(_sharding, told)):
        return module
    ins = tuple(map(_sharding, spec.in_shardings)) if spec.in_shardings is not None else (None,) * len(closed.in_avals)
    outs = tuple(map(_sharding, spec.out_shardings)) if spec.out_shardings is not None else None
    return stages.lower(closed, spec, ins, outs)


def _sharding(x: Any) -> Any:
    if isinstance(x, Format):
        return x.sharding
    return x if x is None or isinstance(x, Sharding) else as_sharding(x)


def _computation(module: Any) -> Any:
    """``module`` in HLO, whose instructions are called by the program's operations and arguments: XLA takes names from locations."""
    return _jax.mlir.mlir_module_to_xla_computation(module.text(debug_info=True), use_tuple_args=False, return_tuple=False)


def hlo_text(module: object, debug_info: bool) -> str:
    """The program in HLO, before optimisation; with ``debug_info`` also the places of its operations."""
    if not debug_info:
        return _computation(module).as_hlo_text()
    options = _hlo.HloPrintOptions()
    options.print_metadata = True
    return _computation(module).get_hlo_module().to_string(options)


def compiler_ir(module: Module, dialect: str | None) -> Any:
    """The parsed module (``"stablehlo"``, the default), or the `XlaComputation` (``"hlo"``); None for other dialects."""
    if dialect == "hlo":
        return _computation(module)
    return parsing.parse(module.text(named=True)) if dialect in (None, "stablehlo") else None


def cost_analysis(module: object) -> Any:
    """XLA's estimate of operations and bytes before compilation, or None where it has none."""
    for platform in (None, "cpu"):  # the libraries for GPUs and TPUs have no estimate
        try:
            return _jax.hlo_module_cost_analysis(client.get_client(platform), _computation(module).as_hlo_module())
        except (RuntimeError, NotImplementedError, AttributeError):
            continue
    return None


def written_values(jaxpr: Jaxpr) -> dict[Var, str]:
    """What the fusion planner cuts at when it plans for the CPU."""
    work = Work(jaxpr, donates=False)
    cuts = plan(jaxpr, Plans(work.walks_paths), work.least_cut).cuts
    return {v: cuts[id(v)] for eqn in jaxpr.eqns for v in eqn.outvars if id(v) in cuts}


__all__ = ["compiler_ir", "cost_analysis", "hlo_text", "module_as_told", "placed_module", "written_values"]
