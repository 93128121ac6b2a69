"""From a jaxpr to an executable: lower, then compile."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jax_core.interfaces import LowerSpec
from jax_core.references.discharge import pure
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.traces.collector import RELAXED

from ..arrays import own_layouts
from ..compiling import compile
from ..placement.sharding import Sharding
from ..platforms import client
from .executable import Executable

if TYPE_CHECKING:
    from ..lowering.module import Module


_LOWERABLE = ("cpu", "cuda", "rocm", "tpu")


def lower(closed: ClosedJaxpr, spec: LowerSpec, in_shardings: tuple | None = None,
          out_shardings: tuple | None = None, platform: str | None = None, everywhere: object = None, layouts: object = None) -> Any:
    """The program as a StableHLO module.

    Args:
      closed: the program; mutable references that it makes for itself are removed first.
      spec: how it is to be lowered.
      in_shardings, out_shardings: placements of flat inputs and results, for runs on several devices.
      platform: default the one that ``spec`` names, else the default one.
      everywhere: a placement on all devices, where none of the others tells how many there are.
      layouts: of inputs and results (`own_layouts.Layouts`), default those that ``spec`` asks for.
    """
    closed = pure(closed)
    spec, asked = own_layouts.apart(spec)
    with RELAXED:
        return _lowering().lower_module(closed, spec, in_shardings=in_shardings, out_shardings=out_shardings,
                                        platform=platform or _platform(spec), everywhere=everywhere,
                                        layouts=asked if layouts is None else layouts)


def executable(module: Module, spec: LowerSpec) -> Executable:
    """The executable of a lowered module. XLA runs at the first call, when the placement is known."""
    if _lowering().wants_plan(spec, module.platform) != module.facts.planning:  # an option given after lowering
        module = lower(module.closed, spec, platform=module.platform)
    items = tuple(item for item in compile.option_items(spec.compiler_options) if item[0] != _lowering().PLANNER_OPTION)

    def again(in_shardings: tuple | None, out_shardings: tuple | None, platform: str, everywhere=None, layouts=None):
        return lower(module.closed, spec, in_shardings, out_shardings, platform, everywhere, layouts)

    return Executable(module, spec, again, items)


def _platform(spec: LowerSpec) -> str:
    """The platform that a program is asked for, as lowering rules name it."""
    if spec.platform in _LOWERABLE:
        return spec.platform  # lowering needs no device: a program can be written for a machine without being on it
    if spec.platform is None:
        told = [s for s in (*(spec.in_shardings or ()), *(spec.out_shardings or ()), spec.device)
                if isinstance(s, Sharding) and getattr(s, "_is_concrete", True)]
        devices = [spec.device] if spec.device is not None and not told else [d for s in told[:1] for d in s._device_assignment[:1]]
        if devices:
            return client.platform_of(devices[0].client)
    return client.platform_of(client.get_client(spec.platform))


def _lowering() -> Any:
    from ..lowering import module  # start-up: a process that only holds arrays does not need it

    return module
