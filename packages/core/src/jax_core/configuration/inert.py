"""Flags that are accepted, so that programs which set them run, and have no effect here.

One that gains a meaning moves to `flags`, with its help text.
"""
from __future__ import annotations

import enum

from .engine import State, define, define_bool, define_enum, define_int


class RuntimeTracebackMode(enum.StrEnum):
    """How much of the Python traceback the runtime is given."""

    OFF = "off"
    ON = "on"
    FULL = "full"


_WITHOUT_EFFECT: dict[str, bool | int | float | str | None] = {
    "jax2tf_default_native_serialization": True,
    "jax_accurate_erf_inv": False,
    "jax_backend_target": "",
    "jax_bcoo_cusparse_lowering": False,
    "jax_check_proxy_envs": True,
    "jax_compilation_cache_check_contents": False,
    "jax_compilation_cache_expect_pgle": False,
    "jax_compiler_detailed_logging_min_ops": 10,
    "jax_cross_host_transfer_socket_address": "",
    "jax_cross_host_transport_addresses": "",
    "jax_debug_leaked_clients_on_clear_backends": False,
    "jax_disable_vmap_shmap_error": False,
    "jax_distributed_debug": False,
    "jax_distributed_verify_secure_credentials": False,
    "jax_embedded_constants_max_bytes": 32,
    "jax_enable_pgle": False,
    "jax_enable_preemption_service": True,
    "jax_enable_recoverability": False,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_experimental_unsafe_xla_runtime_errors": False,
    "jax_export_calling_convention_version": 10,
    "jax_export_deserialize_expired_versions": False,
    "jax_export_ignore_forward_compatibility": False,
    "jax_force_dcn_cross_host_transfers": False,
    "jax_memory_fitting_effort": 0.0,
    "jax_mock_gpu_topology": "",
    "jax_mosaic_allow_hlo": False,
    "jax_mosaic_unzip_debug_locations": True,
    "jax_mtls_ca_file": None,
    "jax_mtls_cert_file": None,
    "jax_mtls_key_file": None,
    "jax_mtls_peer_uri_prefix": None,
    "jax_pallas_auto_assign_collective_ids": "no",
    "jax_pallas_auto_assign_collective_ids_limit": 25,
    "jax_pallas_poison_buffers": False,
    "jax_pallas_use_mosaic_gpu": True,
    "jax_pallas_verbose_errors": False,
    "jax_pgle_aggregation_percentile": 90,
    "jax_pgle_profiling_runs": 3,
    "jax_ragged_dot_use_gpu_pallas_triton_lowering": False,
    "jax_ragged_dot_use_ragged_dot_instruction": True,
    "jax_raise_on_ppermute_sort_diff": True,
    "jax_refs_to_pins": False,
    "jax_remat3": False,
    "jax_remove_custom_partitioning_ptr_from_cache_key": False,
    "jax_scan3": False,
    "jax_serialization_version": 0,
    "jax_share_binary_between_hosts": False,
    "jax_share_binary_between_hosts_timeout_ms": 1_200_000,
    "jax_sort_devices_by_process_index": True,
    "jax_source_url_schema": None,
    "jax_threefry_gpu_kernel_lowering": False,
    "jax_traceback_in_locations_limit": 100,
    "jax_tracer_error_num_traceback_frames": 5,
    "jax_use_cpp_shard_args": False,
    "jax_use_direct_linearize": True,
    "jax_use_emit_pipeline_primitive": False,
    "jax_use_simplified_jaxpr_constants": False,
    "jax_xla_profile_version": 0,
    "mock_num_gpu_processes": 0,
}
for _name, _default in _WITHOUT_EFFECT.items():
    define(State(_name, type(_default) if _default is not None else str, _default,
                  "Accepted for compatibility; has no effect."))
jax2tf_associative_scan_reductions = define_bool("jax2tf_associative_scan_reductions", False,
                                                 "Accepted for compatibility; has no effect.")
define_int("jax_cross_host_transfer_timeout_seconds", None, "Accepted for compatibility; has no effect.")
define_int("jax_cross_host_transfer_transfer_size", None, "Accepted for compatibility; has no effect.")
define_bool("jax_use_hlo_logistic_lowering", None, "Accepted for compatibility; has no effect.")
define_enum("jax_send_traceback_to_runtime", RuntimeTracebackMode, "off",
            "Accepted for compatibility; has no effect.")
for _what in ("nan", "divide", "oob"):
    define_enum(f"jax_error_checking_behavior_{_what}", ("ignore", "raise"), "ignore", "Accepted for compatibility; has no effect.")
