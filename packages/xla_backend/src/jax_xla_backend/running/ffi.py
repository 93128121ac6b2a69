"""Registration of compiled handlers for calls from programs, and what is needed to compile them.

A handler arrives as a capsule: a C++ extension made with the headers in `include_dir` returns one, and `pycapsule` wraps a
function of a library loaded with ctypes. Handlers for GPUs are passed on by the plugins of their platforms.
"""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping

from ..jaxlib_compat import VERSION, _jax, xla_client
from ..lowering import call_handlers

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

Buffer = _jax.ffi.Buffer
ExecutionContext = _jax.ffi.ExecutionContext
ExecutionStage = _jax.ffi.ExecutionStage
_GPU = {"cuda": "CUDA", "rocm": "ROCM", "gpu": "gpu"}


def register_ffi_target(name: str, fn: Callable[..., PyTree], platform: str = "cpu", api_version: int = 1,
                        **kwargs: Any) -> None:
    """Make a handler known to XLA, for `ffi_call` by its name.

    Args:
      name: unique on the platform.
      fn: a capsule; or a mapping with capsules for the stages ``"instantiate"``, ``"prepare"``, ``"initialize"`` and ``"execute"``.
      platform: ``"cpu"``, ``"gpu"``, ``"cuda"``, ``"rocm"`` or a plugin's.
      api_version: 1 for handlers of the typed interface, 0 for the older one.
      kwargs: ``traits``, the sum of XLA's flags for the handler.

    Raises:
      jax.errors.JaxRuntimeError: the name is taken, or ``fn`` is no handler. TypeError: the name is no string.

    >>> import ctypes
    >>> library = ctypes.cdll.LoadLibrary("./libdouble.so")  # doctest: +SKIP
    >>> jax.ffi.register_ffi_target("my_double", jax.ffi.pycapsule(library.Double), platform="cpu")  # doctest: +SKIP
    """
    traits = kwargs.pop("traits", 0)
    if kwargs:
        raise TypeError(f"register_ffi_target: unknown arguments {sorted(kwargs)}")
    if not isinstance(name, str):
        raise TypeError(f"register_ffi_target: name must be a string, got {name!r} of type {type(name).__name__}")
    if platform == "cpu":
        _jax.register_custom_call_target(name, fn, "Host", api_version, int(traits))
        return
    xla_client().register_custom_call_target(name, fn, platform=_GPU.get(platform, platform), api_version=api_version,
                                           traits=xla_client().CustomCallTargetTraits(traits))


def register_ffi_type(name: str, type_registration: Mapping[str, object], platform: str = "cpu") -> None:
    """Make a C++ type known to XLA, so that a handler can keep a state of that type between its stages.

    Args:
      type_registration: ``{"type_id": capsule}``, with ``"type_info"`` where XLA must know how to destroy such a state.

    >>> jax.ffi.register_ffi_type("my_state", {"type_id": jax.ffi.pycapsule(library.StateTypeId())})  # doctest: +SKIP
    """
    if platform == "cpu":
        _jax.register_custom_type(name, dict(type_registration))
        return
    xla_client().register_custom_type(name, dict(type_registration), platform=_GPU.get(platform, platform))


def register_ffi_type_id(name: str, obj: object, platform: str = "cpu") -> None:
    """The older form of `register_ffi_type`, for jaxlib before 0.8.

    Raises:
      ValueError: always, as the supported jaxlibs want the whole registration.
    """
    raise ValueError(f"register_ffi_type_id is not supported by jaxlib {'.'.join(map(str, VERSION))}; call "
                     "register_ffi_type(name, {'type_id': ..., 'type_info': ...}) instead")


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Tell XLA that calls of ``name`` may be split along leading axes: each device then calls for its part.

    >>> jax.ffi.register_ffi_target_as_batch_partitionable("my_double")
    """
    call_handlers.split_by_batch(name)


def pycapsule(funcptr: Any) -> Any:
    """A capsule around a function of a library that was loaded with ctypes.

    >>> import ctypes
    >>> library = ctypes.cdll.LoadLibrary("./libdouble.so")  # doctest: +SKIP
    >>> jax.ffi.register_ffi_target("my_double", jax.ffi.pycapsule(library.Double))  # doctest: +SKIP
    """
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(ctypes.cast(funcptr, ctypes.c_void_p), None, None)


def include_dir() -> str:
    """The folder with the headers ``xla/ffi/api/ffi.h`` and ``c_api.h``, for ``-I``.

    >>> import pathlib
    >>> pathlib.Path(jax.ffi.include_dir(), "xla", "ffi", "api", "ffi.h").exists()
    True
    """
    return os.path.join(os.path.dirname(os.path.abspath(_jax.__file__)), "include")
