"""Types of `jax.interpreters.mlir`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device
from jax.core import AbstractValue
from jax.extend.core import ClosedJaxpr, Effect, Jaxpr
from jax.extend.lowering import LoweringRuleContext
from jax.sharding import AbstractMesh, Mesh, PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Mapping, Sequence, TypeAlias
from jax.extend.lowering import LoweringRuleContext as LoweringRuleContext
from jax.sharding import Mesh as Mesh

AxisContext: TypeAlias = ShardingContext | SPMDAxisContext
DEVICE_TO_DEVICE_TYPE: int
class LoweringParameters:
    """How programs are to be lowered; here always in the same way."""
    override_lowering_rules: object
    global_constant_computation: bool
    for_export: bool
    export_ignore_forward_compatibility: bool
    hoist_constants_as_args: bool
    def __init__(self, override_lowering_rules: object | None = None, global_constant_computation: bool = False, for_export: bool = False, export_ignore_forward_compatibility: bool = False, hoist_constants_as_args: bool = False) -> None: ...
class LoweringRule:
    """What `lower_fun` returns: a function of arrays that stands for the primitive when it is compiled."""
    def __call__(self, b: Any, /, *values: Any, **params: Any) -> Any: ...
    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None: ...
    multiple_results: Any
class ModuleContext:
    """The module that a rule writes into."""
    def __init__(self, builder: Any, context: Any, module: Any) -> None: ...
    def add_host_callback(self, callback: Callable[..., object]) -> None: ...
    def add_keepalive(self, keepalive: object) -> None: ...
    def get_backend(self, optional: bool = False) -> Any: ...
    def new_channel(self) -> int: ...
    axis_context: Any
    backend: Any
    channel_iterator: Any
    declared: Any
    host_callbacks: Any
    lowering_parameters: Any
    module: Any
    platforms: Any
    shape_poly_state: Any
    symbol_table: Any
RECV_FROM_HOST_TYPE: int
SEND_TO_HOST_TYPE: int
class SPMDAxisContext:
    """Inside a manual region, as of `jax.shard_map`: the mesh, and its axes that collectives may name."""
    mesh: Mesh | AbstractMesh
    manual_axes: frozenset[Any]
    def __init__(self, mesh: Mesh | AbstractMesh, manual_axes: frozenset[Any] = ...) -> None: ...
class ShapePolyLoweringState:
    """The symbolic lengths of the program: none, as programs are lowered for lengths that are known."""
    dim_vars: tuple[str, ...]
    lowering_platforms: Sequence[str] | None
    def __init__(self, dim_vars: tuple[str, ...], lowering_platforms: Sequence[str] | None) -> None: ...
    @property
    def has_platform_index_argument(self) -> Any: ...
    @property
    def uses_dim_vars(self) -> Any: ...
class ShardingContext:
    """Outside of manual regions: for how many devices the program is."""
    num_devices: int
    device_assignment: tuple | None
    abstract_mesh: AbstractMesh | None
    def __init__(self, num_devices: int, device_assignment: tuple | None = None, abstract_mesh: AbstractMesh | None = None) -> None: ...
Token = Any
class TokenSet:
    """The tokens of ordered effects, one for each; it does not change."""
    def __init__(self, tokens: Mapping[Any, Any] | None = None) -> None: ...
    def __len__(self) -> Any: ...
    @staticmethod
    def create(effects: Sequence[object]) -> TokenSet:
        """New tokens for ``effects``, made where operations are being inserted."""
    def effects(self) -> set: ...
    def get(self, effect: Effect) -> Any: ...
    def items(self) -> tuple: ...
    def subset(self, effects: Sequence[object]) -> TokenSet: ...
    def update_tokens(self, tokens: TokenSet) -> TokenSet: ...
Value: TypeAlias = Any
def aval_to_ir_type(ctx: ModuleContext | AbstractValue, aval: AbstractValue | None = None) -> Any:
    """The type of a value of type ``aval``. Older programs give it alone, without the module's context."""
def aval_to_ir_types(ctx: ModuleContext | AbstractValue, aval: AbstractValue | None = None) -> tuple:
    """The types that represent a value; here always one."""
def core_call_lowering(ctx: LoweringRuleContext, *args: Any, name: str, backend: str | None = None, inline_jax_late: bool = False, call_jaxpr: ClosedJaxpr, **params: Any) -> list:
    """A call of a program; ``name``, ``backend`` and ``inline_jax_late`` are accepted and change nothing, as calls are emitted in place."""
def custom_call(call_target_name: str, *, result_types: Sequence[object], operands: Sequence[Any], backend_config: object = '', has_side_effect: bool = False, result_shapes: Sequence[Any] | None = None, called_computations: Sequence[str] = ..., api_version: int = 2, operand_output_aliases: Mapping[int, int] | None = None, operand_layouts: Sequence[Sequence[int]] | None = None, result_layouts: Sequence[Sequence[int]] | None = None, extra_attributes: Mapping[str, Any] | None = None) -> Any:
    """A call of a function that the compiler finds by its name, at the place where a lowering rule stands."""
def dense_int_array(xs: Sequence[int]) -> Any:
    """Integers as an attribute."""
def dense_int_elements(xs: Sequence[int]) -> Any:
    """Integers as an attribute with the type of a tensor."""
def dtype_to_ir_type(dtype: DTypeLike) -> Any:
    """The type of an element."""
def emit_python_callback(ctx: LoweringRuleContext, callback: Callable[..., object], token: Any, operands: Sequence[object], operand_avals: Sequence[AbstractValue], result_avals: Sequence[AbstractValue], *, has_side_effect: bool, returns_token: bool = True, partitioned: bool = False, sharding: Sharding | PartitionSpec | Device | None = None) -> tuple:
    """A call of ``callback(*numpy arrays) -> sequence of numpy arrays`` on the host."""
def flatten_ir_types(xs: Any) -> list:
    """A nested sequence of types as a list."""
def flatten_ir_values(xs: Any) -> list:
    """A nested sequence of values, or one value, as a list."""
def i32_attr(i: int) -> Any:
    """An integer of 32 bits as an attribute."""
def i64_attr(i: int) -> Any:
    """An integer of 64 bits as an attribute."""
ir: Any
def ir_attribute(val: object) -> Any:
    """A number, a text, a dtype, an array, or a sequence or mapping of these, as an attribute."""
def ir_constant(val: ArrayLike, *, const_lowering: Any = None, aval: AbstractValue | None = None) -> Any:
    """A constant, as a value."""
def ir_constants(val: ArrayLike, *, const_lowering: Any = None, aval: AbstractValue | None = None) -> list:
    """The values that represent a constant; here always one."""
def jaxpr_subcomp(ctx: ModuleContext, jaxpr: Jaxpr, name_stack: object, tokens: TokenSet, consts_for_constvars: Sequence[object], *args: Any, dim_var_values: Sequence[object] = ..., const_lowering: Any = None, outer_traceback: object | None = None) -> tuple:
    """The equations of ``jaxpr`` on the values ``args``: the results, and the tokens."""
def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> LoweringRule:
    """A lowering rule that traces ``fun(*arrays, **params)``."""
def lower_jaxpr_to_fun(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def lower_jaxpr_to_module(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def make_ir_context() -> Any:
    """A context of the bindings with the dialects that programs may hold."""
def merge_mlir_modules(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def module_to_bytecode(module: Any) -> bytes:
    """A module as bytes."""
def module_to_string(module: Any, enable_debug_info: bool | None = None) -> str:
    """A module as text."""
def register_constant_handler(type_: type, handler_fun: Callable[..., object]) -> None:
    """Say how `ir_constant` makes a constant of an object of a class: ``handler(value, aval)``."""
def register_lowering(prim: Any, rule: Callable[..., Any], platform: str | None = None, inline: bool = True, cacheable: bool = True) -> Callable[..., Any]:
    """Set how ``prim`` is compiled, on all platforms or one."""
def shape_tensor(ctx: LoweringRuleContext, sizes: Sequence[int]) -> Any:
    """Lengths of axes as a value."""
def token_type() -> Any:
    """The type of tokens."""
def unflatten_ir_values_like_types(xs: Sequence[Any], ys: Sequence[object]) -> list:
    """The values ``xs`` in groups, as the types ``ys`` are."""
