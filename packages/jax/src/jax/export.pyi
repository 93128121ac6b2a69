"""Types of `jax.export`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import ShapedArray
from jax.tree_util import PyTreeDef
from typing import Any, Callable, Sequence
from jax.errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation

class DisabledSafetyCheck:
    """Names a check that `export` and calls of the result leave out."""
    def __init__(self, _impl: str) -> None: ...
    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck: ...
    def is_custom_call(self) -> str | None: ...
    @classmethod
    def platform(cls) -> DisabledSafetyCheck: ...
class Exported:
    """An exported program. Made by `export` and `deserialize`."""
    fun_name: str
    in_tree: Any
    in_avals: tuple
    out_tree: Any
    out_avals: tuple
    nr_devices: int
    platforms: tuple[str, ...]
    disabled_safety_checks: tuple
    calling_convention_version: int
    module_kept_var_idx: tuple[int, ...]
    ordered_effects: tuple
    unordered_effects: tuple
    def __init__(self, fun_name: str, in_tree: PyTreeDef, in_avals: Sequence[ShapedArray], out_tree: PyTreeDef, out_avals: Sequence[ShapedArray], platforms: Sequence[str], disabled_safety_checks: Sequence[DisabledSafetyCheck], modules: dict, module_kept_var_idx: Sequence[int], calling_convention_version: int = 10, _get_vjp: Callable[[Exported], Exported] | None = None, nr_devices: int = 1, _in_placements: Sequence[dict | None] | None = None, _out_placements: Sequence[dict | None] | None = None, _calls_such: bool = False) -> None: ...
    def call(self, *args: Any, **kwargs: Any) -> Any: ...
    def has_vjp(self) -> bool: ...
    @property
    def in_shardings_hlo(self) -> tuple: ...
    def in_shardings_jax(self, mesh: object | None = None) -> tuple: ...
    def mlir_module(self, serialized: bool = True) -> str: ...
    @property
    def mlir_module_serialized(self) -> bytes: ...
    def module_for(self, platform: str, in_avals: Sequence[ShapedArray]) -> str: ...
    @property
    def out_shardings_hlo(self) -> tuple: ...
    def out_shardings_jax(self, mesh: object) -> tuple: ...
    def serialize(self, vjp_order: int = 0) -> bytearray: ...
    @property
    def symbolic(self) -> bool: ...
    @property
    def uses_global_constants(self) -> bool: ...
    def vjp(self) -> Exported: ...
class SymbolicScope:
    """Where the names of variables belong, with what is known of them."""
    def __init__(self, constraints_str: Sequence[str] = ...) -> None: ...
    constraints_str: Any
    made_at: Any
    non_negative: Any
    replaced: Any
    zero: Any
def default_export_platform() -> str:
    """The platform that `export` lowers for by default: the one that programs run on."""
def deserialize(blob: bytes | bytearray) -> Exported:
    """The program that `Exported.serialize` stored, here or, with the package `flatbuffers`, in the public jax."""
def export(fun_jit: Callable[..., Any], *, platforms: Sequence[str] | None = None, disabled_checks: Sequence[DisabledSafetyCheck] = ..., _override_lowering_rules: object | None = None) -> Callable[..., Exported]:
    """Lower a jitted function to programs that can be stored and called without it."""
def is_symbolic_dim(p: object) -> bool:
    """Whether ``p`` is a symbolic dimension."""
maximum_supported_calling_convention_version: int
minimum_supported_calling_convention_version: int
def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let structures with this named tuple be stored; see `register_pytree_node_serialization`."""
def register_pytree_node_serialization(nodetype: type, *, serialized_name: str, serialize_auxdata: Callable[[Any], bytes], deserialize_auxdata: Callable[[bytes], object], from_children: Callable[[Any, Sequence[Any]], Any] | None = None) -> type:
    """Let structures with nodes of this registered pytree type be stored."""
def symbolic_args_specs(args: Any, shapes_specs: Any, constraints: Sequence[str] = ..., scope: SymbolicScope | None = None) -> Any:
    """Descriptions with symbolic shapes for ``args``, a pytree of arrays or of descriptions."""
def symbolic_dim_bounds(dimension: Any) -> tuple[float, float]:
    """The least and the greatest value of a dimension; infinity where nothing is known."""
def symbolic_shape(shape_spec: str | None, *, constraints: Sequence[str] = ..., scope: SymbolicScope | None = None, like: Sequence[Any] | Any = None) -> tuple[Any, ...]:
    """A shape with symbolic dimensions."""
