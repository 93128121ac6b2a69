"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "stop_gradient_p": "jax_core.public.extend_core:stop_gradient_p",
    "p2tz": "jax_core.public.interpreters_ad:p2tz",
    "Zero": "jax_core.representation.primitive:Zero",
    "zeros_like_aval": "jax_core.traces.structural:zeros",
})
