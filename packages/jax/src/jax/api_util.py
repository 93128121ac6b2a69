"""jax.api_util: implemented in `jax_core.public.api_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.api_util", """
    argnums_partial debug_info donation_vector flatten_axes flatten_fun flatten_fun_nokwargs rebase_donate_argnums
    safe_map shaped_abstractify""")
