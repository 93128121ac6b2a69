"""From a jaxpr to an executable: lower, then compile."""
from __future__ import annotations

from typing import Any

from jax_core.traces.collector import RELAXED
from jax_core.interfaces import LowerSpec
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.references.discharge import pure

from ..platforms import client
from ..compiling import compile
from .executable import Executable


_LOWERABLE = ("cpu", "cuda", "rocm", "tpu")


def lower(closed: ClosedJaxpr, spec: LowerSpec, in_shardings: tuple | None = None,
          out_shardings: tuple | None = None, platform: str | None = None) -> Any:
    """The program as a StableHLO module.

    Args:
      closed: the program; mutable references that it makes for itself are removed first.
      spec: how it is to be lowered.
      in_shardings, out_shardings: placements of flat inputs and results, for runs on several devices.
      platform: default the one that ``spec`` names, else the default one.
    """
    closed = pure(closed)
    if platform is None:
        if spec.platform is None and spec.device is not None:
            platform = spec.device.platform
        elif spec.platform in _LOWERABLE:
            platform = spec.platform  # lowering needs no device: a program can be written for a machine without being on it
        else:
            platform = client.get_client(spec.platform).platform
    with RELAXED:
        return _lowering().lower_module(closed, spec, in_shardings=in_shardings, out_shardings=out_shardings,
                                        platform=_kind(platform))


def executable(module: Any, spec: LowerSpec) -> Executable:
    """The executable of a lowered module. XLA runs at the first call, when the placement is known."""
    if _lowering().wants_plan(spec, module.platform) != module.facts.planning:  # an option given after lowering
        module = lower(module.closed, spec, platform=module.platform)
    items = tuple(item for item in compile.option_items(spec.compiler_options) if item[0] != _lowering().PLANNER_OPTION)

    def again(in_shardings, out_shardings, platform):
        return lower(module.closed, spec, in_shardings, out_shardings, platform)

    return Executable(module, spec, again, items)


def _kind(platform: str) -> str:
    """A device's platform as lowering rules name it."""
    if platform == "gpu":
        return client.platform_of(client.get_client("gpu"))
    return platform


def _lowering() -> Any:
    from ..lowering import module  # start-up: a process that only holds arrays does not need it

    return module
