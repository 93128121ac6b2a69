"""Types of `jax.interpreters.xla`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import Primitive
from typing import Any
from jax.extend.backend import Backend as Backend

def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Run one primitive now."""
canonicalize_dtype_handlers: dict
pytype_aval_mappings: dict
