"""Lowering: from jaxprs to StableHLO text. `lower_module` is what the runtime calls.

``module``     the module: inputs, constants, donation, effects, functions, locations
``builder``    the builder that lowering rules write with
``templates``  what a rule wrote, kept for the next equation of its kind
``types``      types and constants as text
``extended``   arrays of extended dtypes (keys)
``calls``      custom calls and host callbacks
``planner``    the fusion planner: which values are written to memory once
"""
from .builder import Builder
from .module import PLANNER_OPTION, Module, lower_module, wants_plan
from .types import physical_aval, type_text
from .values import Value

__all__ = ["Builder", "Module", "PLANNER_OPTION", "Value", "lower_module", "physical_aval", "type_text", "wants_plan"]
