"""jax.stages: implemented in `jax_core.programs.stages`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_core.programs.stages", "ArgInfo Compiled CompilerOptions Lowered Traced Wrapped")
__getattr__, __dir__ = _missing(__name__, _served, _names)
