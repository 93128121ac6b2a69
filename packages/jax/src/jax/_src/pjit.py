"""jax._src.pjit: the primitive of `jit`, which interpreters of programs (quax) give a rule, and kinds of mesh axes (jaxns)."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "jit_p": "jax.extend.core.primitives:jit_p",
    "pjit": "jax_core.programs.jit:pjit",
    "JitWrapped": "jax_core.programs.stages:Wrapped",
    "UnspecifiedValue": "jax_core.programs.options:Unspecified",
    "mesh_lib": "jax._src.mesh",
    "auto_axes": "jax.sharding:auto_axes",
    "explicit_axes": "jax.sharding:explicit_axes",
    "layout_constraint_p": "jax_xla_backend.operations.layout_constraint:layout_constraint_p",
    "pjit_check_aval_sharding": "jax_xla_backend.placement.sharding_impls:pjit_check_aval_sharding",
    "reshard_p": "jax_core.traces.structural:reshard_p",
})
