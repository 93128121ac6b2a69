"""jax.interpreters.ad: implemented in `jax_core.public.interpreters_ad`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.interpreters_ad", """
    JVPTrace JVPTracer UndefinedPrimal Zero add_jaxvals add_jaxvals_p add_tangents backward_pass defbilinear
    defjvp defjvp2 deflinear deflinear2 get_primitive_transpose instantiate_zeros is_undefined_primal jvp
    jvp_jaxpr linearize primitive_jvps primitive_transposes zeros_like_aval""")
