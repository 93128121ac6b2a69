"""jax._src.source_info_util: `jax.extend.source_info_util`, and where an equation was written, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.extend.source_info_util",
    Frame="jax_core.public.source_info_util:Frame",
    user_frame="jax_core.public.source_info_util:user_frame",
    user_frames="jax_core.public.source_info_util:user_frames")
