"""jax._src.lax.control_flow: `jax.lax`, and the primitives of its loops and branches, which interpreters of programs (oryx) give rules."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.lax", cond_p="jax.extend.core.primitives:cond_p",
                               scan_p="jax.extend.core.primitives:scan_p", while_p="jax.extend.core.primitives:while_p",
                               platform_index_p="jax_numpy_api.lax.control_flow.platforms:platform_index_p")
__path__: list[str] = []  # its parts are modules too, see `jax._internal_modules`
