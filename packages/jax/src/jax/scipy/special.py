"""jax.scipy.special: implemented in `jax_numpy_api.scipy.special`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.special", deprecated=dict.fromkeys(
    ("lpmn", "lpmn_values"), "jax.scipy.special.sph_harm_y, for what they are mostly used for"))
