"""jax.experimental.roofline: what a program costs on an ideal machine, from its equations alone; nothing is run.

Counted are operations, bytes that travel to and from memory, the peak of live bytes, and bytes and hops between devices for
each mesh axis. "Unfused" numbers are those of all equations, each reading and writing memory; the others assume that
elementwise work is fused away, so that matrix products alone count.

A model of one's own for a primitive is added with `register_roofline`.

``result``       what is counted, and what a rule is told
``models``       operations and bytes of primitives, by what their traits say of them
``collectives``  bytes and hops between devices
``counting``     programs, and the public functions
"""
from .counting import (
    ShapeDtypeStructTree,
    Specs,
    ValidRooflineDtype,
    register_roofline,
    register_standard_roofline,
    roofline,
    roofline_and_grad,
)
from .result import RooflineResult, RooflineRuleContext, RooflineShape

__all__ = ["RooflineResult", "RooflineRuleContext", "RooflineShape", "ShapeDtypeStructTree", "Specs", "ValidRooflineDtype",
           "register_roofline", "register_standard_roofline", "roofline", "roofline_and_grad"]
