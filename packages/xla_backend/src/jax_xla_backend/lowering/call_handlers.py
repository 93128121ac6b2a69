"""Handlers of custom calls that come with jaxlib and its GPU plugins, registered when a program first calls one.

Rules name targets such as ``lapack_spotrf_ffi`` or ``cusolver_potrf_ffi`` and know nothing of jaxlib. The builder asks
here before it writes such a call. LAPACK itself is SciPy's, which jaxlib looks up when told to, so programs without
linear algebra never load it.

Source: XLA FFI; jaxlib `lapack`, `gpu_solver`, `gpu_linalg`, `gpu_sparse`, `gpu_prng`.
"""
from __future__ import annotations

import functools
from typing import Callable

from ..jaxlib_compat import _jax, kernels, xla_client
from ..platforms import plugins

_CPU = {"lapack_": "lapack", "tridiagonal_solve_perturbed": "lapack", "cpu_csr": "cpu_sparse", "cpu_threefry2x32": "cpu_prng"}
_GPU = {"cusolver_": "gpu_solver", "hipsolver_": "gpu_solver", "cuhybrid_": "gpu_solver", "hiphybrid_": "gpu_solver",
        "cusparse_": "gpu_sparse", "hipsparse_": "gpu_sparse", "cu_": "gpu_linalg", "hip_": "gpu_linalg",
        "cu_threefry": "gpu_prng", "hip_threefry": "gpu_prng"}


def register(target: str, platform: str) -> None:
    """Make sure that the handler of ``target`` is known to XLA; does nothing for targets that are not jaxlib's."""
    for prefix, module in (_CPU if platform == "cpu" else _GPU).items():
        if target.startswith(prefix):
            _register_module(module, platform)
            if "hybrid_" in target:
                _start_hybrids(module)


@functools.cache
def _start_hybrids(module_name: str) -> None:
    """Calls that a GPU's library lacks run SciPy's LAPACK on the host: SciPy is imported by the first of them, and by no other call."""
    module = kernels(module_name)
    if module is not None:
        _initialize(module.initialize_hybrid_kernels)


@functools.cache
def _register_module(module_name: str, platform: str) -> None:
    module = kernels(module_name)
    if module is None:
        return  # XLA will name the missing target
    if module_name == "lapack":
        _initialize(module._lapack.initialize)
    for name_of_platform, entries in module.registrations().items():
        if name_of_platform.lower() != platform:
            continue
        for name, handler, api_version in entries:
            if platform == "cpu":
                _jax.register_custom_call_target(name, handler, "Host", api_version, xla_client().CustomCallTargetTraits(0))
            else:
                xla_client().register_custom_call_target(name, handler, platform=name_of_platform, api_version=api_version)
    if hasattr(module, "batch_partitionable_targets"):
        for name in module.batch_partitionable_targets():
            split_by_batch(name)


def split_by_batch(target: str) -> None:
    """Tell XLA, and those of plugins, that calls of ``target`` may be split over devices along leading axes."""
    _jax.register_custom_call_as_batch_partitionable(target)
    plugins.tell_each(functools.partial(_jax.register_custom_call_as_batch_partitionable, target))


def _initialize(start: Callable[[], None]) -> None:
    try:
        start()
    except ImportError as error:
        raise ImportError("this function of linear algebra calls LAPACK through SciPy; install scipy") from error
