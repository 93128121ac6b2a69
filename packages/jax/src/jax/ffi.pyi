"""Types of `jax.ffi`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import AbstractToken
from typing import Any, Callable, Mapping, Sequence

abstract_token: AbstractToken
def build_ffi_lowering_function(call_target_name: str, *, operand_layouts: Sequence[object] | None = None, result_layouts: Sequence[object] | None = None, backend_config: Mapping[str, Any] | str | None = None, skip_ffi_layout_processing: bool = False, **lowering_args: Any) -> Callable[..., list]:
    """``call(builder, *values, **attributes) -> list of values``, for lowering rules of one's own. See `ffi_lowering`."""
def ffi_call(target_name: str, result_shape_dtypes: Any, *, has_side_effect: bool = False, vmap_method: str | None = None, input_layouts: Sequence[Any] | None = None, output_layouts: Any = None, input_output_aliases: dict[int, int] | None = None, custom_call_api_version: int = 4, legacy_backend_config: str | None = None) -> Callable[..., Any]:
    """A function of arrays that calls the handler registered as ``target_name``."""
def ffi_lowering(call_target_name: str, *, operand_layouts: Sequence[object] | None = None, result_layouts: Sequence[object] | None = None, backend_config: Mapping[str, Any] | str | None = None, skip_ffi_layout_processing: bool = False, **lowering_args: Any) -> Callable[..., Any]:
    """A lowering rule (for `jax.interpreters.mlir.register_lowering`) that calls the handler ``call_target_name``."""
def include_dir() -> str:
    """The folder with the headers ``xla/ffi/api/ffi.h`` and ``c_api.h``, for ``-I``."""
def pycapsule(funcptr: Any) -> Any:
    """A capsule around a function of a library that was loaded with ctypes."""
def register_ffi_target(name: str, fn: Callable[..., Any], platform: str = 'cpu', api_version: int = 1, **kwargs: Any) -> None:
    """Make a handler known to XLA, for `ffi_call` by its name."""
def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Tell XLA that calls of ``name`` may be split along leading axes: each device then calls for its part."""
def register_ffi_type(name: str, type_registration: Mapping[str, object], platform: str = 'cpu') -> None:
    """Make a C++ type known to XLA, so that a handler can keep a state of that type between its stages."""
def register_ffi_type_id(name: str, obj: object, platform: str = 'cpu') -> None:
    """The older form of `register_ffi_type`, for jaxlib before 0.8."""
