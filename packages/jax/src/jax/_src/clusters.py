"""jax._src.clusters: launchers of clusters as classes, implemented in `jax_xla_backend.platforms.cluster_classes`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.platforms.cluster_classes")

__path__: list[str] = []  # its parts are modules too, see `jax._internal_modules`
