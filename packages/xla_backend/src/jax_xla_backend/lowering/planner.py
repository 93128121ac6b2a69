"""Where the planning pass goes: which values are to be written to memory instead of being recomputed in every consumer.

`Builder.run` asks once for each jaxpr, and writes an ``optimization_barrier`` right behind the definition of each value
that the plan names, with the reason as its location.
"""
from __future__ import annotations

from jax_core.jaxpr import Jaxpr


def plan(jaxpr: Jaxpr, platform: str) -> dict[int, str]:
    """For ``id(var)`` of each value to materialise, the reason. Nothing, until the cost model is here."""
    return {}
