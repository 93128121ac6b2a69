"""Types of `jax.experimental.roofline.roofline`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax.sharding import AbstractMesh, Mesh
from typing import Any, Callable
from jax.experimental.roofline import RooflineResult as RooflineResult
from jax.experimental.roofline import RooflineRuleContext as RooflineRuleContext
from jax.experimental.roofline import RooflineShape as RooflineShape

ShapeDtypeStructTree = Any
Specs = Any
ValidRooflineDtype = np.dtype
def register_roofline(prim: Any) -> Callable[..., Any]:
    """A decorator: the function ``rule(ctx, *operands, **params) -> RooflineResult`` says what ``prim`` costs."""
def register_standard_roofline(prim: Any) -> None:
    """``prim`` costs nothing, as reshaping does."""
def roofline(f: Callable[..., Any], mesh: Mesh | AbstractMesh | None = None, in_specs: Any = None, out_specs: Any = None, *, pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False, vjp: bool = False, print_jaxpr: bool = False) -> Callable[..., Any]:
    """``f`` as a function that returns the types of its results and what they cost."""
def roofline_and_grad(f: Callable[..., Any], mesh: object, in_specs: Any, out_specs: Any, *, pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False, print_jaxpr: bool = False) -> Callable[..., Any]:
    """`roofline` of ``f`` and of its pullback."""
