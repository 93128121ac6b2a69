"""jax._src.mesh: names in pickles, implemented in `jax_xla_backend.placement.mesh`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.placement.mesh", "AbstractDevice AbstractMesh AxisType Mesh")
