"""jax.extend.source_info_util: implemented in `jax_core.public.source_info_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.source_info_util", """
    NameStack SourceInfo current current_name_stack extend_name_stack new_name_stack new_source_info
    register_exclusion reset_name_stack set_name_stack summarize transform_name_stack user_context""")
