"""Lowering: from jaxprs to StableHLO text. `lower_module` is what the runtime calls.

``module``     the module: inputs, constants, donation, effects, functions, locations
``builder``    the builder that lowering rules write with
``templates``  what a rule wrote, kept for the next equation of its kind
``types``      types and constants as text
``extended``   arrays of extended dtypes (keys)
``calls``      custom calls and host callbacks
``planner``    which values are to be materialised
"""
from .builder import Builder
from .module import Module, lower_module
from .types import physical_aval, type_text
from .values import Value

__all__ = ["Builder", "Module", "Value", "lower_module", "physical_aval", "type_text"]
