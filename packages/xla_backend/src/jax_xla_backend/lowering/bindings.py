"""Lowering rules of users' own that build operations with jaxlib's MLIR bindings.

Lowering writes text. So a rule of this kind builds the body of a function in a module of its own, and that module's text is
written into the program (`nested_modules`). What such a rule asks of us (`lower_fun`, a host callback, a program) is written into
the program by the `Builder` as a function, which the rule's module declares and calls by its name.
"""
from __future__ import annotations

import dataclasses
import io
import itertools
import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypeAlias, cast

import numpy as np

from jax_core.public.interpreters_mlir import RuleContext
from jax_core.representation.aval import AbstractValue, ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr

from ..jaxlib_compat import bindings, dialect_registry, mlir_context
from .axis_contexts import ShapePolyLoweringState, axis_context
from .outside_calls import attribute_text
from .types import dense_text, element_text, type_text
from .values import Value, new_value

if TYPE_CHECKING:
    from jax_core.representation.effects import Effect
    from jax_core.representation.primitive import Primitive
    from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, PyTree

    from .builder import Builder

ir = bindings("ir")
IrContext: TypeAlias = Any  # of the bindings, whose classes are known when they are loaded
IrModule: TypeAlias = Any
IrValue: TypeAlias = Any


def make_ir_context() -> Any:
    """A context of the bindings with the dialects that programs may hold.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.token_type())
    !stablehlo.token
    """
    context = mlir_context()
    context.load_all_available_dialects()
    return context


@dataclasses.dataclass(frozen=True)
class LoweringParameters:
    """How programs are to be lowered; here always in the same way."""

    override_lowering_rules: object = None
    global_constant_computation: bool = False
    for_export: bool = False
    export_ignore_forward_compatibility: bool = False
    hoist_constants_as_args: bool = False


class ModuleContext:
    """The module that a rule writes into.

    Attributes:
      context, module, ip, symbol_table: of the bindings.
      platforms: what the program is lowered for.
      keepalives: what must live as long as the program.
      axis_context: for which devices, see `axis_contexts`.
    """

    def __init__(self, builder: Builder, context: IrContext, module: IrModule):
        self._builder = builder
        self.context, self.module = context, module
        self.ip, self.symbol_table = ir.InsertionPoint(module.body), ir.SymbolTable(module.operation)
        self.platforms = (builder.platform,)
        self.keepalives, self.host_callbacks = builder.module.keep_alive, builder.module.callbacks
        self.lowering_parameters = LoweringParameters()
        self.channel_iterator = itertools.count(1)
        self.declared: set[str] = set()
        self.axis_context = axis_context(builder)
        self.shape_poly_state = ShapePolyLoweringState((), self.platforms)
        self.backend = None

    def add_keepalive(self, keepalive: object) -> None:
        """Keep an object for as long as the program."""
        self.keepalives.append(keepalive)

    def add_host_callback(self, callback: Callable[..., object]) -> None:
        """The same for a function that the program calls."""
        self.keepalives.append(callback)

    def new_channel(self) -> int:
        """A number that no other message has."""
        return next(self.channel_iterator)

    def get_backend(self, optional: bool = False) -> Any:
        """The client; None, as a program may be lowered for another platform than that of this process."""
        return self.backend


@dataclasses.dataclass
class LoweringRuleContext(RuleContext):
    """What a rule is told of the equation that it lowers.

    Attributes:
      module_context: the module that it writes into.
      avals_in, avals_out: types of operands and results.
      platforms: what the rule is for; None for all.
    """

    module_context: ModuleContext
    name_stack: object = None
    traceback: object = None
    primitive: Primitive | None = None
    avals_in: Sequence[AbstractValue] = ()
    avals_out: Sequence[AbstractValue] = ()
    tokens_in: TokenSet | None = None
    tokens_out: TokenSet | None = None
    const_lowering: dict = dataclasses.field(default_factory=dict)
    axis_size_env: object = None
    dim_var_values: Sequence[Any] = ()
    jaxpr_eqn_ctx: object = None
    platforms: Sequence[str] | None = None

    def replace(self, **fields: Any) -> "LoweringRuleContext":
        """A copy with some fields replaced."""
        return dataclasses.replace(self, **fields)

    def set_tokens_out(self, tokens_out: TokenSet) -> None:
        """Tokens of ordered effects; primitives of users' own have none here."""
        self.tokens_out = tokens_out

    def is_forward_compat(self) -> bool:
        """Whether the program is for older versions too."""
        return False

    def run_on_builder(self, write: Callable[..., object], values: Sequence[object], params: dict) -> list:
        """What ``write(builder, *values, **params)`` makes, as a call of a function of the program."""
        return _outside(self.module_context, lambda b, *xs: write(b, *xs, **params), values, self.avals_in, self.avals_out)


def lower(b: Builder, prim: Primitive, rule: Callable[..., Any], values: Sequence[Value], params: dict) -> list[Value]:
    """The results of ``prim``, lowered by ``rule(context, *ir values, **params)``."""
    func = bindings("dialects.func")
    avals_in, avals_out = [x.aval for x in values], list(b.out_avals)
    context = make_ir_context()
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        types = [_type(a) for a in avals_in], [_type(a) for a in avals_out]
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", types)
        told = LoweringRuleContext(ModuleContext(b, context, module), primitive=prim, avals_in=avals_in, avals_out=avals_out,
                                   platforms=(b.platform,))
        with ir.InsertionPoint(main.add_entry_block()):
            outs = flatten_ir_values(rule(told, *main.arguments, **params))
            if [x.type for x in outs] != types[1]:
                raise TypeError(f"the lowering rule of {prim.name!r} returned values of the types {[str(x.type) for x in outs]}, but "
                                f"the primitive's results have the types {[str(t) for t in types[1]]}")
            func.ReturnOp(outs)
        module.operation.verify()
        text = module.operation.get_asm()
    for symbol in told.module_context.declared:
        text = re.sub(rf"^  func\.func private @{re.escape(symbol)}\([^{{\n]*\n", "", text, flags=re.MULTILINE)
    return b.call_module(prim.name, text, *values)


def _outside(context: ModuleContext, write: Callable, values: Sequence[Any], avals_in: Sequence[AbstractValue],
             avals_out: Sequence[AbstractValue]) -> list:
    """Have ``write(builder, *values)`` write a function of the program, and call it here."""
    func = bindings("dialects.func")
    outer = context._builder
    inner = type(outer)(outer.module)
    inner.out_avals = list(avals_out)
    operands = [new_value(f"%arg{i}", a) for i, a in enumerate(avals_in)]
    outs = write(inner, *operands)
    outs = list(outs) if isinstance(outs, (tuple, list)) else [outs]
    symbol = outer.module.enter("outside", operands, inner.lines, outs)
    types = [_type(a) for a in avals_in], [ir.Type.parse(x.type) for x in outs]
    if symbol not in context.declared:
        context.declared.add(symbol)
        with context.ip:
            func.FuncOp(symbol, types, visibility="private")
    return list(func.CallOp(types[1], ir.FlatSymbolRefAttr.get(symbol), list(flatten_ir_values(values))).results)


# -- types ---------------------------------------------------------------------------------------------------------------

def _type(aval: AbstractValue) -> Any:
    return ir.Type.parse(type_text(aval))


def aval_to_ir_type(ctx: ModuleContext | AbstractValue, aval: AbstractValue | None = None) -> Any:
    """The type of a value of type ``aval``. Older programs give it alone, without the module's context.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.aval_to_ir_type(jax.typeof(jnp.ones((2, 3)))))
    tensor<2x3xf32>
    """
    return _type(cast("AbstractValue", ctx) if aval is None else aval)


def aval_to_ir_types(ctx: ModuleContext | AbstractValue, aval: AbstractValue | None = None) -> tuple:
    """The types that represent a value; here always one.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(*mlir.aval_to_ir_types(jax.typeof(jnp.ones((2, 3)))))
    tensor<2x3xf32>
    """
    return (aval_to_ir_type(ctx, aval),)


def dtype_to_ir_type(dtype: DTypeLike) -> Any:
    """The type of an element.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.dtype_to_ir_type(np.dtype("float32")))
    f32
    """
    return ir.Type.parse(element_text(np.dtype(dtype)))


def token_type() -> Any:
    """The type of tokens.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.token_type())
    !stablehlo.token
    """
    return ir.Type.parse("!stablehlo.token")


class TokenSet:
    """The tokens of ordered effects, one for each; it does not change."""

    def __init__(self, tokens: Mapping[Any, Any] | None = None):
        self._tokens = dict(tokens or {})

    @staticmethod
    def create(effects: Sequence[object]) -> "TokenSet":
        """New tokens for ``effects``, made where operations are being inserted."""
        hlo = bindings("dialects.stablehlo")
        return TokenSet({effect: hlo.create_token() for effect in effects})

    def __len__(self):
        return len(self._tokens)

    def get(self, effect: Effect) -> Any:
        """The token of ``effect``. Raises KeyError if there is none."""
        return self._tokens[effect]

    def items(self) -> tuple:
        """Pairs of effect and token, in order."""
        return tuple(self._tokens.items())

    def effects(self) -> set:
        """The effects that have a token."""
        return set(self._tokens)

    def subset(self, effects: Sequence[object]) -> "TokenSet":
        """The tokens of ``effects`` alone. Raises KeyError where one has none."""
        return TokenSet({effect: self._tokens[effect] for effect in effects})

    def update_tokens(self, tokens: "TokenSet") -> "TokenSet":
        """The same effects, those that ``tokens`` has with its tokens."""
        return TokenSet({effect: tokens._tokens.get(effect, token) for effect, token in self._tokens.items()}) if len(tokens) else self


def flatten_ir_types(xs: PyTree) -> list:
    """A nested sequence of types as a list.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     one, two = mlir.dtype_to_ir_type(np.dtype("float32")), mlir.dtype_to_ir_type(np.dtype("int32"))
    ...     print(*mlir.flatten_ir_types([one, [two, one]]))
    f32 i32 f32
    """
    return flatten_ir_values(xs)


def flatten_ir_values(xs: PyTree) -> list:
    """A nested sequence of values, or one value, as a list.

    >>> from jax.interpreters import mlir
    >>> from jaxlib.mlir import ir
    >>> with mlir.make_ir_context(), ir.Location.unknown():
    ...     module = ir.Module.create()
    ...     with ir.InsertionPoint(module.body):
    ...         x = mlir.ir_constant(np.float32(1.5))
    ...         print(len(mlir.flatten_ir_values([x, (x, x)])))
    3
    """
    if isinstance(xs, (ir.Value, ir.Type)):
        return [xs]
    return [x for part in xs for x in flatten_ir_values(part)]


def unflatten_ir_values_like_types(xs: Sequence[IrValue], ys: Sequence[object]) -> list:
    """The values ``xs`` in groups, as the types ``ys`` are."""
    rest = iter(xs)
    return [tuple(itertools.islice(rest, len(y))) if isinstance(y, (tuple, list)) else next(rest) for y in ys]


# -- constants and attributes ----------------------------------------------------------------------------------------------

_constant_handlers: dict[type, Callable[..., Any]] = {}


def register_constant_handler(type_: type, handler_fun: Callable[..., object]) -> None:
    """Say how `ir_constant` makes a constant of an object of a class: ``handler(value, aval)``."""
    _constant_handlers[type_] = handler_fun


def ir_constant(val: ArrayLike, *, const_lowering: Mapping | None = None, aval: AbstractValue | None = None) -> Any:
    """A constant, as a value.

    >>> from jax.interpreters import mlir
    >>> from jaxlib.mlir import ir
    >>> with mlir.make_ir_context(), ir.Location.unknown():
    ...     module = ir.Module.create()
    ...     with ir.InsertionPoint(module.body):
    ...         print(mlir.ir_constant(np.float32(1.5)).type)
    tensor<f32>
    """
    handler = next((_constant_handlers[t] for t in type(val).__mro__ if t in _constant_handlers), None)
    if handler is not None:
        return handler(val, aval)
    array = np.asarray(val, dtype=(get_aval(val) if aval is None else aval).dtype)
    kind = type_text(ShapedArray(array.shape, array.dtype))
    return bindings("dialects.stablehlo").constant(ir.Attribute.parse(f"dense<{dense_text(array)}> : {kind}"))


def ir_constants(val: ArrayLike, *, const_lowering: Mapping | None = None, aval: AbstractValue | None = None) -> list:
    """The values that represent a constant; here always one.

    >>> from jax.interpreters import mlir
    >>> from jaxlib.mlir import ir
    >>> with mlir.make_ir_context(), ir.Location.unknown():
    ...     module = ir.Module.create()
    ...     with ir.InsertionPoint(module.body):
    ...         print([x.type for x in mlir.ir_constants(np.float32(1.5))])
    [RankedTensorType(tensor<f32>)]
    """
    return [ir_constant(val, const_lowering=const_lowering, aval=aval)]


def shape_tensor(ctx: LoweringRuleContext, sizes: Sequence[int]) -> Any:
    """Lengths of axes as a value."""
    return ir_constant(np.asarray(sizes, np.int32))


def ir_attribute(val: object) -> Any:
    """A number, a text, a dtype, an array, or a sequence or mapping of these, as an attribute.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.ir_attribute({"axis": 1, "name": "x"}))
    {axis = 1 : i64, name = "x"}
    """
    if isinstance(val, ir.Attribute):
        return val
    if isinstance(val, np.dtype) or isinstance(val, type) and issubclass(val, np.generic):
        return ir.TypeAttr.get(dtype_to_ir_type(val))
    if isinstance(val, (tuple, list)):
        return ir.ArrayAttr.get([ir_attribute(x) for x in val])
    if isinstance(val, dict):
        return ir.DictAttr.get({k: ir_attribute(x) for k, x in val.items()})
    if isinstance(val, np.ndarray):
        return ir.Attribute.parse(f"dense<{dense_text(val)}> : {type_text(ShapedArray(val.shape, val.dtype))}")
    return ir.Attribute.parse(attribute_text(val))


def i32_attr(i: int) -> Any:
    """An integer of 32 bits as an attribute.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.i32_attr(7))
    7 : i32
    """
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> Any:
    """An integer of 64 bits as an attribute.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.i64_attr(7))
    7 : i64
    """
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def dense_int_elements(xs: Sequence[int]) -> Any:
    """Integers as an attribute with the type of a tensor.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.dense_int_elements([1, 2, 3]))
    dense<[1, 2, 3]> : tensor<3xi64>
    """
    return ir.DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def dense_int_array(xs: Sequence[int]) -> Any:
    """Integers as an attribute.

    >>> from jax.interpreters import mlir
    >>> with mlir.make_ir_context():
    ...     print(mlir.dense_int_array([1, 2, 3]))
    array<i64: 1, 2, 3>
    """
    return ir.DenseI64ArrayAttr.get(list(map(int, xs)))


# -- programs and calls ------------------------------------------------------------------------------------------------------

def emit_python_callback(ctx: LoweringRuleContext, callback: Callable[..., object], token: IrValue | None, operands: Sequence[object],
                         operand_avals: Sequence[AbstractValue], result_avals: Sequence[AbstractValue], *, has_side_effect: bool,
                         returns_token: bool = True, partitioned: bool = False, sharding: Placement | None = None) -> tuple:
    """A call of ``callback(*numpy arrays) -> sequence of numpy arrays`` on the host.

    Returns:
      the results, the token, and what must be kept alive.
    """
    outs = _outside(ctx.module_context, lambda b, *xs: b.host_callback(
        callback, xs, list(result_avals), has_side_effect=has_side_effect, partitioned=partitioned), operands, operand_avals, result_avals)
    return outs, token, callback


def custom_call(call_target_name: str, *, result_types: Sequence[object], operands: Sequence[IrValue], backend_config: object = "",
                has_side_effect: bool = False, result_shapes: Sequence[IrValue] | None = None, called_computations: Sequence[str] = (),
                api_version: int = 2, operand_output_aliases: Mapping[int, int] | None = None,
                operand_layouts: Sequence[Sequence[int]] | None = None, result_layouts: Sequence[Sequence[int]] | None = None,
                extra_attributes: Mapping[str, Any] | None = None) -> Any:
    """A call of a function that the compiler finds by its name, at the place where a lowering rule stands.

    Args:
      call_target_name: the registered name.
      result_types: a type of the bindings for each result.
      operands: values of the bindings.
      backend_config: what the function is told: a text, or with ``api_version`` 4 attributes by name.
      has_side_effect: whether the call must stay even if nothing reads its results.
      result_shapes: for results of dynamic shape their shapes, as values.
      called_computations: symbols of functions that it calls.
      api_version: of the calling convention; 4 is the FFI's.
      operand_output_aliases: indices of operands whose memory the results with these indices take.
      operand_layouts, result_layouts: for each the order of its axes in memory, the fastest first.
      extra_attributes: further attributes of the operation.

    Returns: the operation; ``.results`` are its values.
    Source: StableHLO, `custom_call`.

    >>> from jax.interpreters import mlir
    >>> def rule(ctx, x):
    ...     return mlir.custom_call("halve", result_types=[x.type], operands=[x]).results
    >>> halve = jax.extend.core.Primitive("halve")
    >>> _ = halve.def_abstract_eval(lambda x: x)
    >>> _ = mlir.register_lowering(halve, rule)
    >>> "@halve" in jax.jit(halve.bind).lower(1.).as_text()
    True
    """
    stablehlo = bindings("dialects.stablehlo")

    def layouts(orders: Sequence[Sequence[int]]) -> list:
        return [ir.DenseIntElementsAttr.get(np.asarray(order, np.int64), type=ir.IndexType.get()) for order in orders]

    operands, shapes = list(operands), list(result_shapes or ())
    attributes = dict(
        call_target_name=ir.StringAttr.get(call_target_name), has_side_effect=ir.BoolAttr.get(has_side_effect), api_version=i32_attr(api_version),
        called_computations=ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name) for name in called_computations]),
        backend_config=ir.DictAttr.get(dict(backend_config)) if isinstance(backend_config, Mapping) else ir.StringAttr.get(backend_config),
        output_operand_aliases=ir.ArrayAttr.get([
            stablehlo.OutputOperandAlias.get([output] if len(result_types) > 1 else [], operand, [])
            for operand, output in (operand_output_aliases or {}).items()]), **(extra_attributes or {}))
    if shapes:
        attributes["indices_of_shape_operands"] = dense_int_elements(range(len(operands), len(operands) + len(shapes)))
    if operand_layouts is not None:
        attributes["operand_layouts"] = ir.ArrayAttr.get(layouts([*operand_layouts, *[(0,)] * len(shapes)]))
    if result_layouts is not None:
        attributes["result_layouts"] = ir.ArrayAttr.get(layouts(result_layouts))
    return stablehlo.CustomCallOp.build_generic(results=list(result_types), operands=[*operands, *shapes], attributes=attributes)


def jaxpr_subcomp(ctx: ModuleContext, jaxpr: Jaxpr, name_stack: object, tokens: TokenSet, consts_for_constvars: Sequence[object], *args: Any,
                  dim_var_values: Sequence[object] = (), const_lowering: Mapping | None = None, outer_traceback: object = None) -> tuple:
    """The equations of ``jaxpr`` on the values ``args``: the results, and the tokens."""
    program = Jaxpr([], [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    return _program(ctx, ClosedJaxpr(program, ()), [*consts_for_constvars, *args]), tokens


def core_call_lowering(ctx: LoweringRuleContext, *args: Any, name: str, backend: str | None = None,
                       inline_jax_late: bool = False, call_jaxpr: ClosedJaxpr, **params: Any) -> list:
    """A call of a program; ``name``, ``backend`` and ``inline_jax_late`` are accepted and change nothing, as calls are emitted in place."""
    return _program(ctx.module_context, call_jaxpr, args)


def _program(ctx, closed, values):
    return _outside(ctx, lambda b, *xs: b.jaxpr(closed, *xs), values, closed.in_avals, closed.out_avals)


def _operation(name: str, module: Any) -> Any:
    if hasattr(module, "operation"):
        return module.operation
    raise TypeError(f"{name}: a module is needed, as Lowered.compiler_ir() gives it, got {module!r} of type {type(module).__name__}")


def module_to_string(module: IrModule, enable_debug_info: bool | None = None) -> str:
    """A module as text.

    >>> from jax.interpreters import mlir
    >>> module = jax.jit(lambda x: x * 2).lower(1.).compiler_ir("stablehlo")
    >>> "stablehlo.multiply" in mlir.module_to_string(module)
    True
    """
    return _operation("module_to_string", module).get_asm(enable_debug_info=bool(enable_debug_info))


def module_to_bytecode(module: IrModule) -> bytes:
    """A module as bytes.

    >>> from jax.interpreters import mlir
    >>> module = jax.jit(lambda x: x * 2).lower(1.).compiler_ir("stablehlo")
    >>> mlir.module_to_bytecode(module)[:4]
    b'ML\\xefR'
    """
    out = io.BytesIO()
    _operation("module_to_bytecode", module).write_bytecode(file=out)
    return out.getvalue()


DEVICE_TO_DEVICE_TYPE, SEND_TO_HOST_TYPE, RECV_FROM_HOST_TYPE = 1, 2, 3  # types of channels, StableHLO specification
Token = ir.Value
JaxIrContext = ir.Context
upstream_dialects = dialect_registry()
