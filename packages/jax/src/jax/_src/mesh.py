"""jax._src.mesh: names in pickles, implemented in `jax_xla_backend.placement.mesh`, and what libraries ask for the meshes in use."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.placement.mesh", "AbstractDevice AbstractMesh AxisType Mesh get_abstract_mesh use_abstract_mesh",
                               get_concrete_mesh="jax_xla_backend.placement.mesh:get_mesh", empty_concrete_mesh="jax_xla_backend.placement.mesh:EMPTY_MESH",
                               empty_abstract_mesh="jax_xla_backend.placement.mesh:EMPTY_ABSTRACT_MESH",
                               ResourceEnv="jax_xla_backend.placement.block_environment:ResourceEnv",
                               thread_resources="jax_xla_backend.placement.block_environment:thread_resources",
                               MeshAxisName="typing:Any")
