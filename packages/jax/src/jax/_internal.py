"""Internal names of the public jax, and which of ours has their meaning.

Editors complete an import with the module that defines a name, so programs are full of ``from jax._src.nn.functions import gelu``.
`_internal.json` (written by ``tools/internal_names.py``) lists the internal names that are public ones too. What is internal there and is used
nonetheless stands in the module's file in `jax/_src`, or in `ELSEWHERE` if it has no such table. What the files lack is looked up here;
`_internal_modules` makes the modules that have no file.
"""
from __future__ import annotations

import functools
import os
from typing import Mapping

ELSEWHERE: Mapping[str, Mapping[str, str]] = {  # by module, and by the module of ours that has them
    "callback": {"jax_callbacks.effects": "IOEffect OrderedIOEffect", "jax_callbacks.api": "io_callback_p pure_callback_p"},
    "clusters.cluster": {"jax_xla_backend.platforms.cluster_classes": "ClusterEnv"},
    "compute_on": {"jax_xla_backend.operations.annotations": "compute_on_p"},
    "custom_batching": {"jax_core.transformations.custom_vmap": "custom_vmap_p=custom_vmap_call_p"},
    "custom_derivatives": {"jax_core.transformations.custom_vjp": "linear_call_p"},
    "debugging": {"jax_callbacks.debug": "debug_callback_p debug_print_p", "jax_callbacks.visualize": "inspect_sharding_p"},
    "export._export": {"jax_core.export.exported": "call_exported_p maximum_supported_calling_convention_version "
                       "minimum_supported_calling_convention_version"},
    "export.shape_poly": {"jax_core.export.symbols": "_DimExpr=DimExpr", "jax_core.representation.errors": "InconclusiveDimensionOperation",
                          "jax_core.export.length_values": "dim_as_value_p"},
    "ffi": {"jax_numpy_api.ffi": "FfiEffect ffi_call_p"},
    "lax.control_flow.conditionals": {"jax_numpy_api.lax.control_flow.platforms": "platform_index_p"},
    "lax.linalg": {"jax_numpy_api.lax.linalg.qr": "geqp3 geqp3_p geqrf geqrf_p", "jax_numpy_api.lax.linalg.common": "symmetrize",
                   "jax_numpy_api.numpy.for_libraries": "lu_solve"},
    "lax.parallel": {"jax_numpy_api.lax.exchange": "all_gather_invariant_p reduce_scatter_p",
                     "jax_core.transformations.manual": "psum_invariant_p"},
    "linear_util": {"jax_core.compat.linear_util": "EqualStore Store wrap_init"},
    "monitoring": {"jax_core.public.listeners": "get_event_duration_listeners get_event_listeners get_event_time_span_listeners "
                   "get_scalar_listeners"},
    "named_sharding": {"jax_xla_backend.placement.sharding": "DuplicateSpecError _unpickle_named_sharding=_unpickled",
                       "jax_core.programs.options": "UNSPECIFIED UnspecifiedValue=Unspecified"},
    "numpy.array_methods": {"jax_numpy_api.numpy.indexing": "_IndexUpdateHelper _IndexUpdateRef"},
    "numpy.index_tricks": {"jax_numpy_api.numpy.index_tricks": "CClass RClass"},
    "numpy.linalg": {"jax_numpy_api.numpy.linalg.decompositions": "EigResult EighResult QRResult SVDResult",
                     "jax_numpy_api.numpy.linalg.determinants": "SlogdetResult"},
    "pretty_printer": {"jax_core.public.pretty_printer": "Color Doc Intensity brk color concat group join keyword nest nil source_map text "
                       "type_annotation"},
    "random.core": {"jax_random.impls": "PRNGSpec"},
    "random.prng": {"jax_random.keys": "KeyTy=KeyType", "jax_random.primitives": "random_unwrap_p random_wrap_p"},
    "scipy.stats._core": {"jax_numpy_api.scipy.stats.statistics": "ModeResult"},
    "numpy.reductions": {"typing": "Axis=Any"},
    "numpy.setops": {"jax_numpy_api.numpy.setops": "_UniqueAllResult=_UniqueAll _UniqueCountsResult=_UniqueCounts "
                     "_UniqueInverseResult=_UniqueInverse"},
    "numpy.vectorize": {"jax_numpy_api.numpy.vectorizing": "_parse_gufunc_signature=_parsed",
                        "jax_numpy_api.numpy.for_libraries": "_apply_excluded=apply_excluded _check_output_dims=check_output_dims "
                        "_parse_input_dimensions=parse_input_dimensions"},
    "shard_map": {"jax_xla_backend.operations.shard_map.program": "shard_map_p"},
    "state.primitives": {"jax_core.references.primitives": "addupdate_p"},
    "state.discharge": {"jax_core.references.primitives": "addupdate_p"},
    "test_util": {"jax_numpy_api.test_util": "check_grads check_jvp check_vjp",
                  "jax_numpy_api.test_case": "JaxTestCase JaxTestLoader device_under_test ignore_warning is_cuda_compute_capability_at_least "
                  "is_device_tpu is_device_tpu_at_least test_device_matches with_config",
                  "jax_core.public.listeners": "count_pjit_cpp_cache_miss=count_unseen_calls"},
    "xla_metadata": {"jax_xla_backend.operations.annotations": "xla_metadata_call_p xla_metadata_value_p"},
}


@functools.cache
def known() -> dict[str, dict[str, str]]:
    """By module of `jax._src` and by name, where ours is."""
    import json  # start-up: only for a name that no file of jax/_src has
    with open(os.path.join(os.path.dirname(__file__), "_internal.json"), encoding="utf-8") as file:
        modules: dict[str, Mapping[str, str]] = json.load(file)
    found: dict[str, dict[str, str]] = {}
    for where, homes in (*modules.items(), *((f"jax._src.{module}", homes) for module, homes in ELSEWHERE.items())):
        names = found.setdefault(where, {})
        for home, listed in homes.items():
            for name, _, ours in (entry.partition("=") for entry in listed.split()):
                names[name] = f"{home}:{ours or name}"
    for where in list(found):  # packages that hold no name themselves
        for end in range(where.count("."), 1, -1):
            found.setdefault(".".join(where.split(".")[:end]), {})
    return found


def home(module: str, name: str) -> str | None:
    """Where the internal ``module.name`` is, ``"implementing.module:attribute"`` or a module; None if there is none."""
    return f"{module}.{name}" if f"{module}.{name}" in known() else known().get(module, {}).get(name)
