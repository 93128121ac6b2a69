"""The flags: what each one does, and its value where nobody set one.

A flag is readable as `flags.enable_x64.value`; users say `jax.config.jax_enable_x64`. All flags of the reference exist, so that
programs which set them run; those that mean nothing here are in `inert`. How flags work is in `engine`.
"""
from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .. import backends
from . import inert  # noqa: F401  (defines the flags that are stored, not obeyed)
from .engine import Config, Override, State, define, define_bool, define_enum, define_float, define_int, define_string, on_change

config = Config()
update = config.update
read = config.read


# --- types -----------------------------------------------------------------------------
class NumpyDtypePromotion(enum.StrEnum):
    """How dtypes of different kinds combine."""

    STANDARD = "standard"
    STRICT = "strict"


class ExplicitX64Mode(enum.StrEnum):
    """What happens when a 64-bit dtype is asked for while x64 is off."""

    WARN = "warn"
    ERROR = "error"
    ALLOW = "allow"


class LegacyPrngKeyState(enum.StrEnum):
    """What happens when raw `uint32` keys are used."""

    ALLOW = "allow"
    WARN = "warn"
    ERROR = "error"


enable_x64 = define_bool("jax_enable_x64", False, "Keep 64-bit dtypes; otherwise they become 32-bit.",
                         affects_tracing=True)
explicit_x64_dtypes = define_enum("jax_explicit_x64_dtypes", ExplicitX64Mode, "warn",
                                  "What an explicit 64-bit dtype does while x64 is off.", affects_tracing=True)
numpy_dtype_promotion = define_enum("jax_numpy_dtype_promotion", NumpyDtypePromotion, "standard",
                                    "Promotion of mixed dtypes: standard, or strict (an error).",
                                    affects_tracing=True)
numpy_rank_promotion = define_enum("jax_numpy_rank_promotion", ("allow", "warn", "raise"), "allow",
                                   "What broadcasting operands of different rank does.", affects_tracing=True)
default_matmul_precision = define_enum(
    "jax_default_matmul_precision",
    ("default", "high", "highest", "bfloat16", "tensorfloat32", "float32", "ANY_F8_ANY_F8_F32",
     "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16",
     "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6",
     "BF16_BF16_F32_X9", "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
    None, "Precision of matrix products and convolutions that name none.", affects_tracing=True)

# --- random ----------------------------------------------------------------------------
default_prng_impl = define_enum(
    "jax_default_prng_impl", ("threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32"),
    "threefry2x32", "Generator of keys made without naming one.", affects_tracing=True)
# Off, unlike current releases of the reference: the specification's values are those of this layout.
threefry_partitionable = define_bool("jax_threefry_partitionable", False,
                                     "Give Threefry the layout whose values are those of current JAX releases.",
                                     affects_tracing=True)
enable_custom_prng = define_bool("jax_enable_custom_prng", False, "`jax.random.PRNGKey` makes typed keys.",
                                 affects_tracing=True)
legacy_prng_key = define_enum("jax_legacy_prng_key", LegacyPrngKeyState, "allow",
                              "What the use of raw uint32 keys does.", affects_tracing=True)
debug_key_reuse = define_bool("jax_debug_key_reuse", False, "Raise an error when a typed key is consumed twice.",
                              affects_tracing=True)
random_seed_offset = define_int("jax_random_seed_offset", 0, "Added to every seed.", affects_tracing=True)
high_dynamic_range_gumbel = define_bool("jax_high_dynamic_range_gumbel", False,
                                        "Gumbel samples reach further into the tails.", affects_tracing=True)

# --- debugging -------------------------------------------------------------------------
debug_nans = define_bool("jax_debug_nans", False, "Raise an error where a NaN is produced.", affects_tracing=True)
debug_infs = define_bool("jax_debug_infs", False, "Raise an error where an infinity is produced.",
                         affects_tracing=True)
disable_jit = define_bool("jax_disable_jit", False, "Run `jit` functions and control flow operation by operation.")
disable_bwd_checks = define_bool("jax_disable_bwd_checks", False,
                                 "Let backward functions of custom_vjp return cotangents of other types than their arguments'.")
check_tracer_leaks = define_bool("jax_check_tracer_leaks", False,
                                 "Raise an error when a tracer outlives its transformation.")
enable_checks = define_bool("jax_enable_checks", False, "Type-check every jaxpr that a transformation makes.")
log_compiles = define_bool("jax_log_compiles", False, "Log each trace and each compilation.")
explain_cache_misses = define_bool("jax_explain_cache_misses", False, "Log why a function is traced again.")
no_tracing = define_bool("jax_no_tracing", False, "Raise RuntimeError when a function of the user's is traced.")
no_execution = define_bool("jax_no_execution", False, "Raise an error when a compiled function would run.",
                           affects_tracing=True)
thread_guard = define_bool("jax_thread_guard", False,
                           "Raise an error when a second thread runs multi-process operations.")
traceback_filtering = define_enum(
    "jax_traceback_filtering", ("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"), "auto",
    "How frames of the library are kept out of tracebacks.")
custom_jvp3 = define_bool("jax_custom_jvp3", False,
                          "Trace functions with a JVP rule of their own before anything else, also where they are called eagerly: their results "
                          "are arrays, and the rule's are checked against their types.", affects_tracing=True)
custom_vjp3 = define_bool("jax_custom_vjp3", False,
                          "Trace functions with a VJP rule of their own before anything else, also where they are called eagerly, and check the "
                          "outputs of the forward function against the types of theirs.", affects_tracing=True)
remat_barrier_no_cotangents = define_bool(
    "jax_remat_barrier_no_cotangents", False,
    "In the backward pass of `jax.checkpoint`, keep apart from the compiler what is computed anew from, and not the cotangents.", affects_tracing=True)
log_checkpoint_residuals = define_bool("jax_log_checkpoint_residuals", False,
                                       "Log what each `jax.checkpoint` saves.")
logging_level = define_enum("jax_logging_level", ("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
                            "NOTSET", "Level of the library's loggers.", optional=True)
debug_log_modules = define_string("jax_debug_log_modules", "", "Comma-separated loggers that log at DEBUG level, as jax or jax.compile.")


def _log_to_stderr(logger: str, level: str) -> None:
    import logging  # start-up: needed only where somebody wants to see something
    logging.getLogger(logger).setLevel(level)
    if not any(f"{logger}.".startswith(f"{outer}.") for outer in _logged):  # else an outer logger shows it too
        _logged.add(logger)
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("{levelname}:{asctime}:{name}:{lineno}: {message}", style="{"))
        logging.getLogger(logger).addHandler(handler)


_logged: set[str] = set()


def _set_level(value: str | None, thread_local: bool) -> None:
    if not thread_local and value not in (None, "NOTSET"):
        _log_to_stderr("jax", value)


def _debug_modules(value: str, thread_local: bool) -> None:
    if not thread_local and value:
        for name in value.split(","):
            _log_to_stderr(name.strip(), "DEBUG")


on_change("jax_logging_level", _set_level)
on_change("jax_debug_log_modules", _debug_modules)
pprint_use_color = define_bool("jax_pprint_use_color", True, "Colour printed jaxprs on terminals.")
dump_ir_to = define_string("jax_dump_ir_to", "", "Directory to write each lowered module to.")
dump_ir_modes = define_string("jax_dump_ir_modes", "stablehlo", "What to write there: stablehlo, jaxpr.")
include_debug_info_in_dumps = define_bool("jax_include_debug_info_in_dumps", True,
                                          "Write source locations into dumped modules.")
include_full_tracebacks_in_locations = define_bool(
    "jax_include_full_tracebacks_in_locations", True, "Source locations carry the whole call stack.")
hlo_source_file_canonicalization_regex = define_string(
    "jax_hlo_source_file_canonicalization_regex", None, "Matches of this are cut from file names in locations.")
check_static_indices = define_bool("jax_check_static_indices", False,
                                   "Raise an error for constant indices that are out of bounds.",
                                   affects_tracing=True)
mutable_array_checks = define_bool("jax_mutable_array_checks", True, "Raise an error for aliased refs.",
                                   affects_tracing=True)
array_garbage_collection_guard = define_enum(
    "jax_array_garbage_collection_guard", ("allow", "log", "fatal"), None,
    "What it means that an array is freed by the cycle collector.", optional=True)

# --- tracing and lowering ----------------------------------------------------------------
# ours: no name by which users could set it; for programs with symbolic shapes: a `traces.lengths.Trail`, as what one trace decides is not kept for another
one_form = define(State("of a family of shapes", object, None, "Programs must look alike for all lengths, but for numbers.", optional=True,
                        affects_tracing=True), named=False)
# ours: the planning pass that decides which values a fused loop nest materialises
fusion_planner = define_enum("jax_fusion_planner", ("on", "off"), "on",
                             "Plan which intermediate values are materialised.", affects_tracing=True)
# ours: see docs/internals/compile-time.md
quick_compile = define_bool("jax_quick_compile", True, "Programs whose runs take no longer for it are compiled the quick way (CPU).")
tiered_compilation = define_bool("jax_tiered_compilation", False,
                                 "The first calls of a program run code that compiles fast, later ones the full code (CPU).")
softmax_custom_jvp = define_bool("jax_softmax_custom_jvp", False, "Differentiate softmax by its own rule.",
                                 affects_tracing=True)
eager_constant_folding = define_bool("eager_constant_folding", False,
                                     "Operations of constants run while tracing.", affects_tracing=True)
allow_f16_reductions = define_bool("jax_allow_f16_reductions", True,
                                   "float16 reductions may stay in float16.", affects_tracing=True)
check_vma = define_bool("check_vma", False, "Check which mesh axes a value varies over.", affects_tracing=True)
auto_pcast = define_bool("jax_auto_pcast", True, "Insert casts between varying and invariant values.",
                         affects_tracing=True)
remove_size_one_mesh_axis_from_type = define_bool(
    "jax_remove_size_one_mesh_axis_from_type", False, "Leave mesh axes of size one out of types.",
    affects_tracing=True)
mesh_in_context = define(State("jax_mesh_in_context", object, None, "The mesh that `set_mesh` and its like set, and its abstract form.",
                               affects_tracing=True))
disallow_mesh_context_manager = define_bool("jax_disallow_mesh_context_manager", False, "Refuse `with mesh:`, where `set_mesh` is meant.")
use_shardy_partitioner = define_bool("jax_use_shardy_partitioner", True, "Partition with Shardy.",
                                     affects_tracing=True)
pallas_enable_debug_checks = define_bool("jax_pallas_enable_debug_checks", False, "Compile `pl.debug_check` into kernels for TPUs.", affects_tracing=True)
use_rgv3 = define_bool("jax_use_rgv3", True, "Write the groups of devices of a collective as axes of its mesh.", affects_tracing=True)
compiler_enable_remat_pass = define_bool("jax_compiler_enable_remat_pass", True,
                                         "Let the compiler rematerialise values to save memory.")
optimization_level = define_enum("jax_optimization_level", ("UNKNOWN", "O0", "O1", "O2", "O3"), "UNKNOWN",
                                 "Optimisation level of the compiler; UNKNOWN leaves its own.")
memory_fitting_level = define_enum("jax_memory_fitting_level", ("UNKNOWN", "O0", "O1", "O2", "O3"), "O2",
                                   "Effort of the compiler to fit into memory.")
disable_most_optimizations = define_bool("jax_disable_most_optimizations", False,
                                         "Compile fast, run slowly; for tests.", affects_tracing=True)
use_magma = define_enum("jax_use_magma", ("off", "on", "auto"), "auto",
                        "Whether `eig` on GPU may call MAGMA.", affects_tracing=True)
captured_constants_warn_bytes = define_int("jax_captured_constants_warn_bytes", 2_000_000_000,
                                           "Warn when constants captured by a program exceed this size; -1: never.")
captured_constants_report_frames = define_int("jax_captured_constants_report_frames", 0,
                                              "Frames shown for each captured constant.")

# --- devices, transfers, processes ---------------------------------------------------------


class _DeviceState(State):
    """A flag that holds a device, the name of a platform, or None.

    >>> with jax.default_device(jax.devices()[0]):
    ...     jnp.zeros(2)
    Array([0., 0.], dtype=float32)
    """

    def check(self, value):
        if value is None or hasattr(value, "device_kind") or isinstance(value, str) and backends.get().knows_platform(value):
            return value
        raise ValueError(f"config flag {self.name} must be a device, the name of a platform or None, got {value!r}.")

    def parse(self, text, source):
        return text  # who reads it says what is wrong: to ask the backend would load it while flags are defined


default_device = define(_DeviceState("jax_default_device", object, None, "Device (or platform name) of new arrays."))
platforms = define_string("jax_platforms", None, "Comma-separated platforms to start, in order of preference.")
platform_name = define_string("jax_platform_name", "", "Older form of jax_platforms: one platform.")
xla_backend = define_string("jax_xla_backend", "", "Older name of the runtime; ignored.")
num_cpu_devices = define_int("jax_num_cpu_devices", -1, "Number of CPU devices to make; -1 asks XLA_FLAGS.")
cpu_enable_async_dispatch = define_bool("jax_cpu_enable_async_dispatch", True,
                                        "CPU computations may run after the call returns.")
cpu_collectives_implementation = define_enum("jax_cpu_collectives_implementation", ("gloo", "mpi", "megascale"),
                                             "gloo", "Collectives between CPU processes.", optional=True)
cpu_get_local_topology_timeout_minutes = define_int(
    "jax_cpu_get_local_topology_timeout_minutes", 2, "Wait for the devices of this process.")
cpu_get_global_topology_timeout_minutes = define_int(
    "jax_cpu_get_global_topology_timeout_minutes", 5, "Wait for the devices of the other processes.")
cuda_visible_devices = define_string("jax_cuda_visible_devices", "all", "CUDA devices to use, as 0,1.")
rocm_visible_devices = define_string("jax_rocm_visible_devices", "all", "ROCm devices to use.")
oneapi_visible_devices = define_string("jax_oneapi_visible_devices", "all", "oneAPI devices to use.")
pjrt_client_create_options = define_string("jax_pjrt_client_create_options", None,
                                           "Options of the PJRT client, as name:value;name:value.")
_GUARD_LEVELS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
transfer_guard_host_to_device = define_enum("jax_transfer_guard_host_to_device", _GUARD_LEVELS, None,
                                            "What a transfer from the host does.", optional=True)
transfer_guard_device_to_device = define_enum("jax_transfer_guard_device_to_device", _GUARD_LEVELS, None,
                                              "What a transfer between devices does.", optional=True)
transfer_guard_device_to_host = define_enum("jax_transfer_guard_device_to_host", _GUARD_LEVELS, None,
                                            "What a transfer to the host does.", optional=True)
transfer_guard_all = define_enum("jax_transfer_guard", _GUARD_LEVELS, None,
                                 "What any transfer does; sets the three flags of this kind.", optional=True)
_transfer_guards = (transfer_guard_host_to_device, transfer_guard_device_to_device, transfer_guard_device_to_host)


def _set_all_transfer_guards(value: Any, thread_local: bool) -> None:
    """`update("jax_transfer_guard", ...)` sets the three directions, as does its environment variable."""
    if not thread_local and value is not None:
        for state in _transfer_guards:
            state.set_global(value)


on_change("jax_transfer_guard", _set_all_transfer_guards)

# --- caches ----------------------------------------------------------------------------
enable_compilation_cache = define_bool("jax_enable_compilation_cache", True,
                                       "Keep compiled programs on disk for later processes.")
compilation_cache_dir = define_string("jax_compilation_cache_dir", None, "Directory of the compilation cache.")
compilation_cache_max_size = define_int("jax_compilation_cache_max_size", -1,
                                        "Bytes the cache may take, what is unused for longest leaves first; -1: 2 GiB.")
compilation_cache_include_metadata_in_key = define_bool(
    "jax_compilation_cache_include_metadata_in_key", False, "Source locations are part of the cache key.")
persistent_cache_min_compile_time_secs = define_float(
    "jax_persistent_cache_min_compile_time_secs", 0.0, "Programs that compile faster are not kept.")
persistent_cache_min_entry_size_bytes = define_int(
    "jax_persistent_cache_min_entry_size_bytes", 0, "Smaller programs are not kept.")
persistent_cache_enable_xla_caches = define_string(
    "jax_persistent_cache_enable_xla_caches", "xla_gpu_per_fusion_autotune_cache_dir",
    "XLA's own caches to keep in the same directory: all, none, or names.")
raise_persistent_cache_errors = define_bool("jax_raise_persistent_cache_errors", False,
                                            "Errors of the cache are raised, not warned of.")


# --- files -----------------------------------------------------------------------------
write_public_formats = define_bool(
    "jax_write_public_formats", False,
    "Exported programs and structures of checkpoints are written as the public jax writes them (it needs the package flatbuffers).")

# --- public functions that are not simply a flag -----------------------------------------
def checking_leaks() -> Override:
    """Context manager: a tracer that outlives its transformation is an error (`jax_check_tracer_leaks`).

    >>> kept = []
    >>> with jax.checking_leaks():
    ...     try:
    ...         y = jax.jit(lambda x: kept.append(x) or x)(1.0)
    ...     except Exception as error:
    ...         print(str(error)[:12])
    Leaked trace
    """
    return check_tracer_leaks(True)


def disable_jit_context(disable: bool = True) -> Override:
    """Context manager `jax.disable_jit`: `jit` and control flow run operation by operation, in Python.

    Args:
      disable: False switches compilation on again inside.

    >>> @jax.jit
    ... def f(x):
    ...     print('x is', x)
    ...     return x + 1
    >>> with jax.disable_jit():
    ...     y = f(1)
    x is 1
    """
    return disable_jit(disable)


@contextmanager
def transfer_guard(new_val: str) -> Iterator[None]:
    """Context manager: set what implicit transfers do, in all three directions.

    Args:
      new_val: "allow", "log", "disallow", "log_explicit" or "disallow_explicit".

    >>> with jax.transfer_guard('disallow'):
    ...     try:
    ...         y = jnp.asarray(np.arange(3))
    ...     except jax.errors.JaxRuntimeError as error:
    ...         print(str(error)[:48])
    INVALID_ARGUMENT: Disallowed host-to-device tran
    """
    with ExitStack() as stack:
        for state in (transfer_guard_all, *_transfer_guards):
            stack.enter_context(state(new_val))
        yield
