"""jax.interpreters.batching: implemented in `jax_core.public.interpreters_batching`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.interpreters_batching", """
    axis_primitive_batchers batch_jaxpr_axes batch_subtrace bdim_at_front broadcast defbroadcasting defreducer
    defvectorized fancy_primitive_batchers primitive_batchers register_vmappable unregister_vmappable
    zero_if_mapped""")
