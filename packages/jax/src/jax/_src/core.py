"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "ShapedArray": "jax_core.representation.aval:ShapedArray",
    "physical_aval": "jax_xla_backend.lowering.types:physical_aval",
    "AbstractValue": "jax_core.representation.aval:AbstractValue",
    "ShardingTypeError": "jax_core.representation.errors:ShardingTypeError",
    "Tracer": "jax_core.traces.trace:Tracer",
    "trace_state_clean": "jax_core.traces.trace:trace_state_clean",
    "Primitive": "jax_core.public.extend_core:Primitive",
    "Jaxpr": "jax_core.representation.jaxpr:Jaxpr",
    "ClosedJaxpr": "jax_core.representation.jaxpr:ClosedJaxpr",
    "Literal": "jax_core.representation.jaxpr:Literal",
    "Var": "jax_core.representation.jaxpr:Var",
    "get_aval": "jax_core.representation.aval:get_aval",
    "typeof": "jax_core.representation.aval:typeof",
    "eval_jaxpr": "jax_core.representation.jaxpr:eval_jaxpr",
    "get_opaque_trace_state": "jax_core.public.extend_core:get_opaque_trace_state",
    "find_top_trace": "jax_core.public.extend_core:find_top_trace",
    "DropVar": "jax_core.representation.jaxpr:DropVar",
    "Trace": "jax_core.traces.trace:Trace",
    "TraceTag": "jax_core.public.extend_core:TraceTag",
    "full_lower": "jax_core.compat.traces:full_lower",
    "jaxpr_as_fun": "jax_core.representation.jaxpr:jaxpr_as_fun",
    "set_current_trace": "jax_core.public.extend_core:set_current_trace",
    "take_current_trace": "jax_core.public.extend_core:take_current_trace",
})
