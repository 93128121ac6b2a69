"""jax._src.xla_bridge: implemented in `jax_xla_backend.extend`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.extend", expand_platform_alias="jax_xla_backend.platforms.client:expand_platform_alias",
                               _backends="jax_xla_backend.platforms.client:_clients",
                               CUDA_VISIBLE_DEVICES="jax_core.configuration.flags:cuda_visible_devices",  # the vendors' packages read these three
                               _ROCM_VISIBLE_DEVICES="jax_core.configuration.flags:rocm_visible_devices",
                               _ONEAPI_VISIBLE_DEVICES="jax_core.configuration.flags:oneapi_visible_devices",
                               backends_are_initialized="jax_xla_backend.extend:backends_are_initialized",
                               default_backend="jax_xla_backend.api:default_backend",
                               device_count="jax_xla_backend.api:device_count",
                               devices="jax_xla_backend.api:devices",
                               local_device_count="jax_xla_backend.api:local_device_count",
                               local_devices="jax_xla_backend.api:local_devices",
                               process_count="jax_xla_backend.api:process_count",
                               process_index="jax_xla_backend.api:process_index")
