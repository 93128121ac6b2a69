"""Internal names of the public jax: which of ours has their meaning, and the modules that hold them.

Editors complete an import with the module that defines a name, so programs are full of ``from jax._src.nn.functions import gelu``.
`_internal.json` (written by ``tools/internal_names.py``) lists the internal names that are public ones too. `ELSEWHERE` lists what is
internal there, is used nonetheless, and is the same thing here. The modules in `jax/_src` come first; what they lack is looked up here,
and modules that are not there at all are made when somebody imports them.
"""
from __future__ import annotations

import functools
import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Mapping

from jax._lazy import absent, internal_names, table

ELSEWHERE: Mapping[str, Mapping[str, str]] = {  # by module, and by the module of ours that has them
    "callback": {"jax_callbacks.effects": "IOEffect OrderedIOEffect", "jax_callbacks.api": "io_callback_p pure_callback_p"},
    "clusters.cluster": {"jax_xla_backend.platforms.cluster_classes": "ClusterEnv"},
    "compute_on": {"jax_xla_backend.operations.annotations": "compute_on_p"},
    "core": {
        "jax_core.public.evaluators": """AxisEnv axis_frame clean_up_dead_vars definitely_equal definitely_equal_shape get_axis_env
            get_referent is_constant_dim is_constant_shape is_empty_shape join_effects last_used trace_ctx typecheck unsafe_get_current_trace""",
        "typing": "AxisSize=Any InputType=Any OutputType=Any Value=Any AxisName=Hashable",
        "jax_core.export.symbols": "is_symbolic_dim",
        "jax_core.references.api": "empty_ref_p",
        "jax_core.references.primitives": "free_ref_p freeze_p",
        "jax_core.representation.effects": "NamedAxisEffect",
        "jax_core.traces.trace": "EvalTrace is_concrete to_concrete_value"},
    "custom_batching": {"jax_core.transformations.custom_vmap": "custom_vmap_p=custom_vmap_call_p"},
    "custom_derivatives": {"jax_core.transformations.custom_vjp": "linear_call_p"},
    "debugging": {"jax_callbacks.debug": "debug_callback_p debug_print_p", "jax_callbacks.visualize": "inspect_sharding_p"},
    "export._export": {"jax_core.export.exported": "call_exported_p maximum_supported_calling_convention_version "
                       "minimum_supported_calling_convention_version"},
    "export.shape_poly": {"jax_core.export.symbols": "_DimExpr=DimExpr", "jax_core.representation.errors": "InconclusiveDimensionOperation"},
    "ffi": {"jax_numpy_api.ffi": "FfiEffect ffi_call_p"},
    "interpreters.ad": {"jax_core.representation.errors": "CustomVJPException", "jax_core.transformations.reverse": "LinearizeTrace"},
    "interpreters.batching": {"jax_core.transformations.batching": "BatchTrace BatchTracer", "jax_core.transformations.vmappable": "is_vmappable"},
    "interpreters.mlir": {"jax._src.lib.mlir": "ir", "jax._src.lib.mlir.dialects": "func_dialect=func hlo"},
    "interpreters.partial_eval": {"jax_core.traces.staging": "DynamicJaxprTrace"},
    "lax.control_flow": {"jax_numpy_api.lax.control_flow.platforms": "platform_index_p"},
    "lax.control_flow.conditionals": {"jax_numpy_api.lax.control_flow.platforms": "platform_index_p"},
    "dispatch": {"jax_core.public.listeners": "BACKEND_COMPILE_EVENT JAXPR_TO_MLIR_MODULE_EVENT JAXPR_TRACE_EVENT"},
    "dtypes": {"typing": "JAXType=Any", "jax.numpy": "float_"},
    "effects": {"jax_core.representation.effects": "no_effects=NO_EFFECTS"},
    "lax.lax": {"jax_numpy_api.numpy.for_libraries": "_const=constant_as", "jax_numpy_api.lax.composite": "composite_p",
                "jax_numpy_api.lax.create": "empty_p"},
    "lax.linalg": {"jax_numpy_api.lax.linalg.qr": "geqp3 geqp3_p geqrf geqrf_p", "jax_numpy_api.lax.linalg.common": "symmetrize",
                   "jax_numpy_api.numpy.for_libraries": "lu_solve"},
    "lax.parallel": {"jax_numpy_api.lax.exchange": "all_gather_invariant_p reduce_scatter_p",
                     "jax_core.transformations.manual": "psum_invariant_p"},
    "linear_util": {"jax_core.compat.linear_util": "EqualStore Store wrap_init"},
    "mesh": {"typing": "MeshAxisName=Any"},
    "monitoring": {"jax_core.public.listeners": "get_event_duration_listeners get_event_listeners get_event_time_span_listeners "
                   "get_scalar_listeners"},
    "named_sharding": {"jax_xla_backend.placement.sharding": "DuplicateSpecError",
                       "jax_core.programs.options": "UNSPECIFIED UnspecifiedValue=Unspecified"},
    "numpy.linalg": {"jax_numpy_api.numpy.linalg.decompositions": "EigResult EighResult QRResult SVDResult",
                     "jax_numpy_api.numpy.linalg.determinants": "SlogdetResult"},
    "pjit": {"jax_xla_backend.operations.layout_constraint": "layout_constraint_p", "jax_core.traces.structural": "reshard_p"},
    "pretty_printer": {"jax_core.public.pretty_printer": "Color Doc Intensity brk color concat group join keyword nest nil source_map text "
                       "type_annotation"},
    "random.core": {"jax_random.impls": "PRNGSpec"},
    "random.prng": {"jax_random.impls": "PRNGImpl", "jax_random.keys": "KeyTy=KeyType PRNGKeyArray",
                    "jax_random.primitives": "random_unwrap_p random_wrap_p"},
    "scipy.stats._core": {"jax_numpy_api.scipy.stats.statistics": "ModeResult"},
    "numpy.reductions": {"typing": "Axis=Any"},
    "shard_map": {"jax_xla_backend.operations.shard_map.program": "shard_map_p"},
    "sharding": {"jax_xla_backend.placement.sharding": "IndivisibleError"},
    "state.primitives": {"jax_core.references.primitives": "addupdate_p"},
    "state.discharge": {"jax_core.references.primitives": "addupdate_p"},
    "state.types": {"jax_core.representation.effects": "AccumEffect ReadEffect RefEffect WriteEffect"},
    "test_util": {"jax_numpy_api.test_util": "check_grads check_jvp check_vjp",
                  "jax_core.public.listeners": "count_pjit_cpp_cache_miss=count_unseen_calls"},
    "util": {"jax_core.public.lists": "HashableFunction HashablePartial concatenate flatten=concatenate merge_lists partition_list unzip3",
             "functools": "partial", "jax.numpy": "moveaxis", "jax_core.public.remembered": "weakref_lru_cache"},
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


def fetch(module: str, name: str) -> Any:
    """The internal ``module.name``, which may be a module itself.

    Raises:
      AttributeError: there is none.
    """
    if f"{module}.{name}" in known():
        return importlib.import_module(f"{module}.{name}")
    target = known().get(module, {}).get(name)
    if target is None:
        raise absent(module, name)
    where, _, attribute = target.partition(":")
    return getattr(importlib.import_module(where), attribute)


def beside(module: str) -> Callable[[str], Any]:
    """``__getattr__`` of an internal ``module`` with names of its own."""
    def get(name: str) -> Any:
        if name.startswith("__"):
            raise absent(module, name)
        return fetch(module, name)
    return get


class Finder:
    """Makes the modules under ``jax._src`` that have no file here, for `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How ``name`` is made; None for all that is not known here."""
        return ModuleSpec(name, Finder, is_package=True) if name.startswith("jax._src.") and name in known() else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """The usual kind of module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Its names are found when they are asked for."""
        module.__doc__ = f"{module.__name__}: public names, where the public jax defines them."
        module.__getattr__, module.__dir__, module.__all__ = table(module.__name__, known()[module.__name__])  # type: ignore[attr-defined, method-assign]


def install() -> None:
    """From now on such modules can be imported."""
    internal_names.append(fetch)
    sys.modules.pop("jax._src.sharding_impls", None)
    importlib.import_module("jax._src.sharding_impls")  # a backend shows its own there if nobody does; this one shows more
    sys.meta_path.append(Finder)  # type: ignore[arg-type]
