"""The names of `jax.export`."""
from __future__ import annotations

from ..export import symbolic_traces
from ..export.container import register_namedtuple_serialization, register_pytree_node_serialization
from ..export.exported import (
                               DisabledSafetyCheck,
                               Exported,
                               maximum_supported_calling_convention_version,
                               minimum_supported_calling_convention_version,
)
from ..export.exporting import default_export_platform, export
from ..export.loading import deserialize
from ..export.symbolic_shapes import symbolic_args_specs, symbolic_shape
from ..export.symbols import InconclusiveDimensionOperation, SymbolicScope, is_symbolic_dim, symbolic_dim_bounds

__all__ = ["DisabledSafetyCheck", "Exported", "InconclusiveDimensionOperation", "SymbolicScope", "default_export_platform",
           "deserialize", "export", "is_symbolic_dim", "maximum_supported_calling_convention_version",
           "minimum_supported_calling_convention_version", "register_namedtuple_serialization",
           "register_pytree_node_serialization", "symbolic_args_specs", "symbolic_dim_bounds", "symbolic_shape"]
