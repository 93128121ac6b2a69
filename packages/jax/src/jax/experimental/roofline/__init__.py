"""jax.experimental.roofline: what programs cost on an ideal machine; implemented in `jax_xla_backend.tools.roofline`."""
from jax_xla_backend.tools.roofline import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
    roofline_and_grad,
)

from . import rooflines
from .roofline import roofline

__all__ = ["RooflineResult", "RooflineRuleContext", "RooflineShape", "register_roofline", "register_standard_roofline",
           "roofline", "roofline_and_grad", "rooflines"]
