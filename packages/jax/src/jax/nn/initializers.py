"""jax.nn.initializers: implemented in `jax_random.initializers`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.initializers", """
    Initializer constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal
    kaiming_uniform lecun_normal lecun_uniform normal ones orthogonal truncated_normal uniform variance_scaling
    xavier_normal xavier_uniform zeros""")
