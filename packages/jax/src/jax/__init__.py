"""jax: composable transformations of array programs, compiled by XLA.

This package assembles the public namespace from its parts and holds nothing else: `jax_core` (tracing and
transformations), `jax_numpy_api` (lax, numpy, scipy, nn), `jax_random`, `jax_callbacks` and `jax_xla_backend`.

It is not the package of that name on the public index, and must not share an environment with it.
"""
from jax._gaps import missing as _missing
from jax._lazy import table as _table
from jax.version import __version__, __version_info__
from jax_core import backends as _backends, extension_points as _extension_points, versions as _versions

_versions.join("jax", __version__, core="0.1")
_backends.prefer("xla", "jax_xla_backend:load")


def _load_operators() -> None:
    import jax_numpy_api.numpy  # start-up: loaded with the first name, or the first array


_extension_points.array_methods.found_by(_load_operators)

_NAMES = {
    "ad": "jax.ad",
    "ad_checkpoint": "jax.ad_checkpoint",
    "api_util": "jax.api_util",
    "core": "jax.core",
    "custom_batching": "jax.custom_batching",
    "custom_derivatives": "jax.custom_derivatives",
    "debug": "jax.debug",
    "distributed": "jax.distributed",
    "dlpack": "jax.dlpack",
    "dtypes": "jax.dtypes",
    "errors": "jax.errors",
    "example_libraries": "jax.example_libraries",
    "experimental": "jax.experimental",
    "export": "jax.export",
    "extend": "jax.extend",
    "ffi": "jax.ffi",
    "flatten_util": "jax.flatten_util",
    "image": "jax.image",
    "interpreters": "jax.interpreters",
    "lax": "jax.lax",
    "lib": "jax.lib",
    "_src": "jax._src",
    "memory": "jax.memory",
    "monitoring": "jax.monitoring",
    "nn": "jax.nn",
    "numpy": "jax.numpy",
    "ops": "jax.ops",
    "profiler": "jax.profiler",
    "random": "jax.random",
    "ref": "jax.ref",
    "scipy": "jax.scipy",
    "sharding": "jax.sharding",
    "stages": "jax.stages",
    "test_util": "jax.test_util",
    "tree": "jax.tree",
    "tree_util": "jax.tree_util",
    "typing": "jax.typing",
    "version": "jax.version",
    "pure_callback": "jax_callbacks.api:pure_callback",
    "Array": "jax_core.representation.array:Array",
    "closure_convert": "jax_core.transformations.autodiff:closure_convert",
    "fwd_and_bwd": "jax_core.programs.fwd_and_bwd:fwd_and_bwd",
    "grad": "jax_core.transformations.autodiff:grad",
    "hessian": "jax_core.transformations.autodiff:hessian",
    "jacfwd": "jax_core.transformations.autodiff:jacfwd",
    "jacobian": "jax_core.transformations.autodiff:jacobian",
    "jacrev": "jax_core.transformations.autodiff:jacrev",
    "jvp": "jax_core.transformations.autodiff:jvp",
    "linear_transpose": "jax_core.transformations.autodiff:linear_transpose",
    "linearize": "jax_core.transformations.autodiff:linearize",
    "value_and_grad": "jax_core.transformations.autodiff:value_and_grad",
    "vjp": "jax_core.transformations.autodiff:vjp",
    "ShapeDtypeStruct": "jax_core.representation.aval:ShapeDtypeStruct",
    "typeof": "jax_core.representation.aval:typeof",
    "allow_f16_reductions": "jax_core.configuration.flags:allow_f16_reductions",
    "array_garbage_collection_guard": "jax_core.configuration.flags:array_garbage_collection_guard",
    "auto_pcast": "jax_core.configuration.flags:auto_pcast",
    "check_tracer_leaks": "jax_core.configuration.flags:check_tracer_leaks",
    "checking_leaks": "jax_core.configuration.flags:checking_leaks",
    "config": "jax_core.configuration.flags:config",
    "debug_infs": "jax_core.configuration.flags:debug_infs",
    "debug_key_reuse": "jax_core.configuration.flags:debug_key_reuse",
    "debug_nans": "jax_core.configuration.flags:debug_nans",
    "default_device": "jax_core.configuration.flags:default_device",
    "default_matmul_precision": "jax_core.configuration.flags:default_matmul_precision",
    "default_prng_impl": "jax_core.configuration.flags:default_prng_impl",
    "disable_jit": "jax_core.configuration.flags:disable_jit_context",
    "enable_checks": "jax_core.configuration.flags:enable_checks",
    "enable_custom_prng": "jax_core.configuration.flags:enable_custom_prng",
    "enable_x64": "jax_core.configuration.flags:enable_x64",
    "explain_cache_misses": "jax_core.configuration.flags:explain_cache_misses",
    "jax2tf_associative_scan_reductions": "jax_core.configuration.inert:jax2tf_associative_scan_reductions",
    "legacy_prng_key": "jax_core.configuration.flags:legacy_prng_key",
    "log_compiles": "jax_core.configuration.flags:log_compiles",
    "make_user_context": "jax_core.configuration.engine:make_user_context",
    "no_execution": "jax_core.configuration.flags:no_execution",
    "no_tracing": "jax_core.configuration.flags:no_tracing",
    "numpy_dtype_promotion": "jax_core.configuration.flags:numpy_dtype_promotion",
    "numpy_rank_promotion": "jax_core.configuration.flags:numpy_rank_promotion",
    "remove_size_one_mesh_axis_from_type": "jax_core.configuration.flags:remove_size_one_mesh_axis_from_type",
    "softmax_custom_jvp": "jax_core.configuration.flags:softmax_custom_jvp",
    "thread_guard": "jax_core.configuration.flags:thread_guard",
    "threefry_partitionable": "jax_core.configuration.flags:threefry_partitionable",
    "transfer_guard": "jax_core.configuration.flags:transfer_guard",
    "transfer_guard_device_to_device": "jax_core.configuration.flags:transfer_guard_device_to_device",
    "transfer_guard_device_to_host": "jax_core.configuration.flags:transfer_guard_device_to_host",
    "transfer_guard_host_to_device": "jax_core.configuration.flags:transfer_guard_host_to_device",
    "custom_jvp": "jax_core.transformations.custom_jvp:custom_jvp",
    "custom_gradient": "jax_core.transformations.custom_vjp:custom_gradient",
    "custom_vjp": "jax_core.transformations.custom_vjp:custom_vjp",
    "float0": "jax_core.representation.dtypes:float0",
    "clear_caches": "jax_core.programs.call:clear_caches",
    "Inline": "jax_core.programs.options:Inline",
    "jit": "jax_core.programs.jit:jit",
    "Ref": "jax_core.references.api:Ref",
    "ds": "jax_core.references.api:ds",
    "empty_ref": "jax_core.references.api:empty_ref",
    "free_ref": "jax_core.references.api:free_ref",
    "freeze": "jax_core.references.api:freeze",
    "new_ref": "jax_core.references.api:new_ref",
    "checkpoint": "jax_core.transformations.checkpoint:checkpoint",
    "checkpoint_policies": "jax_core.transformations.checkpoint:checkpoint_policies",
    "remat": "jax_core.transformations.checkpoint:remat",
    "named_call": "jax_core.representation.source:named_call",
    "named_scope": "jax_core.representation.source:named_scope",
    "ensure_compile_time_eval": "jax_core.traces.trace:ensure_compile_time_eval",
    "eval_shape": "jax_core.programs.tracing:eval_shape",
    "make_jaxpr": "jax_core.programs.tracing:make_jaxpr",
    "vmap": "jax_core.transformations.vmap:vmap",
    "Device": "jax_xla_backend.api:Device",
    "NamedSharding": "jax_xla_backend.api:NamedSharding",
    "P": "jax_xla_backend.api:P",
    "Shard": "jax_xla_backend.api:Shard",
    "block_until_ready": "jax_xla_backend.api:block_until_ready",
    "copy_to_host_async": "jax_xla_backend.api:copy_to_host_async",
    "default_backend": "jax_xla_backend.api:default_backend",
    "device_count": "jax_xla_backend.api:device_count",
    "device_get": "jax_xla_backend.api:device_get",
    "device_put": "jax_xla_backend.api:device_put",
    "devices": "jax_xla_backend.api:devices",
    "effects_barrier": "jax_xla_backend.api:effects_barrier",
    "get_abstract_mesh": "jax_xla_backend.api:get_abstract_mesh",
    "get_mesh": "jax_xla_backend.api:get_mesh",
    "host_count": "jax_xla_backend.api:host_count",
    "host_id": "jax_xla_backend.api:host_id",
    "host_ids": "jax_xla_backend.api:host_ids",
    "live_arrays": "jax_xla_backend.api:live_arrays",
    "local_device_count": "jax_xla_backend.api:local_device_count",
    "local_devices": "jax_xla_backend.api:local_devices",
    "make_array_from_callback": "jax_xla_backend.api:make_array_from_callback",
    "make_array_from_process_local_data": "jax_xla_backend.api:make_array_from_process_local_data",
    "make_array_from_single_device_arrays": "jax_xla_backend.api:make_array_from_single_device_arrays",
    "make_mesh": "jax_xla_backend.api:make_mesh",
    "CompilerEffortLevel": "jax_xla_backend.compiling.compile:CompilerEffortLevel",
    "pmap": "jax_xla_backend.operations.pmap:pmap",
    "print_environment_info": "jax_xla_backend.api:print_environment_info",
    "process_count": "jax_xla_backend.api:process_count",
    "process_index": "jax_xla_backend.api:process_index",
    "process_indices": "jax_xla_backend.api:process_indices",
    "reshard": "jax_xla_backend.api:reshard",
    "set_mesh": "jax_xla_backend.api:set_mesh",
    "shard_map": "jax_xla_backend.operations.shard_map.api:shard_map",
    "smap": "jax_xla_backend.operations.shard_map.api:smap",
    "use_abstract_mesh": "jax_xla_backend.api:use_abstract_mesh",
}
_fetch, __dir__, __all__ = _table(__name__, _NAMES)


def _served(name: str):
    """The public name ``name``. Functions and classes bring arrays and tracers with them, whose operators are loaded first."""
    if ":" in _NAMES.get(name, ""):
        _load_operators()
    return _fetch(name)


__getattr__, __dir__ = _missing(__name__, _served, __dir__)
