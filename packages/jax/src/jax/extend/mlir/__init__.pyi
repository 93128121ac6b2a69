"""Types of `jax.extend.mlir`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any
from jax.extend.mlir import dialects as dialects
from jax.extend.mlir import ir as ir
from jax.extend.mlir import passmanager as passmanager

def deserialize_portable_artifact(*args: Any, **kwargs: Any) -> Any:
    """deserialize_portable_artifact(mlir_module: bytes, context: typing.Any = None) -> typing.Any"""
def hlo_to_stablehlo(*args: Any, **kwargs: Any) -> Any:
    """hlo_to_stablehlo(computation: bytes) -> bytes"""
def refine_polymorphic_shapes(*args: Any, **kwargs: Any) -> Any:
    """refine_polymorphic_shapes(mlir_module: bytes, enable_shape_assertions: bool = True, validate_static_shapes: bool = True, enable_shardy: bool = False) -> bytes"""
def serialize_portable_artifact(*args: Any, **kwargs: Any) -> Any:
    """serialize_portable_artifact(mlir_module: typing.Any, target: str, use_mixed_serialization: bool = False) -> bytes"""
