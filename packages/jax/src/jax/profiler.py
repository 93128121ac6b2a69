"""jax.profiler: implemented in `jax_xla_backend.tools.profiler`."""
from jax._lazy import table as _table

_names = ("ProfileData", "ProfileEvent", "ProfileLine", "ProfileOptions", "ProfilePlane", "ProfileSession", "StepTraceAnnotation",
          "TraceAnnotation", "annotate_function", "device_memory_profile", "export_profile_data", "register_subprocess",
          "save_device_memory_profile", "start_server", "start_trace", "stop_server", "stop_trace", "trace")
__getattr__, __dir__, __all__ = _table(__name__, {n: f"jax_xla_backend.tools.profiler:{n}" for n in _names})
