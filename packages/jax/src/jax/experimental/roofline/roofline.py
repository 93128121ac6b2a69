"""jax.experimental.roofline.roofline: implemented in `jax_xla_backend.tools.roofline`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.tools.roofline", """
    RooflineResult RooflineRuleContext RooflineShape ShapeDtypeStructTree Specs ValidRooflineDtype
    register_roofline register_standard_roofline roofline roofline_and_grad""")
