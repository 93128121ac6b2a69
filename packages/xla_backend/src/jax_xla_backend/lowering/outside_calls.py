"""Calls out of the program: custom calls and host callbacks.

A host callback on CPU and GPU is one custom call into jaxlib's FFI handler, which passes read-only NumPy views of the
operands (None for a token) to the Python function of the given index, and takes back NumPy arrays (anything for a
token). On TPU operands and results are messages: each has a channel, and the runtime connects the channels with the
function. What a function gets and returns is the same on all platforms.

Source: StableHLO specification, `custom_call`, `send`, `recv`; XLA FFI.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.representation.aval import AbstractValue, abstract_token

from ..arrays import callback_buffers
from ..jaxlib_compat import _jax
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, from_hlo
from .types import element_text, physical_aval
from .values import Value

if TYPE_CHECKING:
    from jax_core.representation.typing import ShardingLike

    from .builder import Builder

_CALLBACK_TARGETS = {"cpu": "xla_ffi_python_cpu_callback", "cuda": "xla_ffi_python_gpu_callback",
                     "rocm": "xla_ffi_python_gpu_callback"}
_plain = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII)
_not_plain = re.compile(r"[^\w$.]", re.ASCII)
STRING = r'"(?:[^"\\]|\\.)*"'
"""A string in the text of a module, as a regular expression (`quoted`)."""
_WHOLE_BYTES = {**{f"{kind}{bits}": np.dtype(f"{kind}8") for kind in ("int", "uint") for bits in (1, 2, 4)}, "float4_e2m1fn": np.dtype(np.float32)}
"""By the name of a dtype of which several elements share a byte in an accelerator's memory: one that holds its values."""


def symbol(name: str) -> str:
    """``name`` as a symbol, quoted where it must be."""
    return name if _plain.match(name) else quoted(name)


def plain_symbol(name: str) -> str:
    """A symbol much like ``name``, which may be that of any Python function, that needs no quotes."""
    found = _not_plain.sub("_", name.replace(">", ""))
    return found if _plain.match(found) else f"_{found}"


def quoted(text: str) -> str:
    """``text`` as an MLIR string."""
    return '"' + "".join([c if " " <= c < "\x7f" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode(errors="backslashreplace"))
                          for c in text]) + '"'


def attribute_text(value: object) -> str:
    """A Python or NumPy value as an MLIR attribute (FFI handlers read them by name and type)."""
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{symbol(k)} = {attribute_text(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return '"' + "".join([f"\\{byte:02X}" for byte in value]) + '"'
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, np.floating):  # of which NumPy's float64 is one of Python, too
        return f"{_float(value)} : f{8 * value.dtype.itemsize}"
    if isinstance(value, float):
        return f"{_float(np.float64(value))} : f64"
    if isinstance(value, np.integer):
        return f"{int(value)} : {value.dtype.name.replace('uint', 'ui').replace('int', 'i')}"
    if isinstance(value, np.dtype):
        return element_text(value)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        kind = "i1" if value.dtype == bool else value.dtype.name.replace("float", "f").replace("int", "i")
        items = [str(x).lower() if value.dtype == bool else _float(x) if value.dtype.kind == "f" else str(x) for x in value]
        return f"array<{kind}{': ' if items else ''}{', '.join(items)}>"
    if isinstance(value, (tuple, list)):
        if value and all(type(x) is int for x in value):
            return attribute_text(np.asarray(value, np.int64))
        return "[" + ", ".join([attribute_text(x) for x in value]) + "]"
    raise TypeError(f"custom_call: attribute {value!r} of type {type(value).__name__} has no MLIR form; use a bool, "
                    "number, string, one-dimensional array, sequence or mapping")


def _float(x: np.floating) -> str:
    if not np.isfinite(x):
        return f"0x{int(x.view(f'u{x.dtype.itemsize}')):0{2 * x.dtype.itemsize}X}"
    text = repr(float(x))
    return text if "." in text else text.replace("e", ".0e")


def attributes(backend_config: str | Mapping | None, api_version: int, has_side_effect: bool, operand_layouts: Any,
               result_layouts: Any, output_operand_aliases: Mapping[int, int] | None, extra: str, results: int) -> str:
    """The attribute dictionary of a custom call.

    Args:
      operand_layouts, result_layouts: for each array its axes from minor to major, or None for the usual order.
      output_operand_aliases: for an operand's number, that of the result which takes its buffer.
      extra: more attributes, as text.
      results: number of results.
    """
    items = [f"api_version = {api_version} : i32"]
    if backend_config is not None:
        items.append(f"backend_config = {attribute_text(backend_config)}")
    elif api_version == 4:
        items.append("backend_config = {}")
    if has_side_effect:
        items.append("has_side_effect = true")
    if operand_layouts is not None:
        items.append(f"operand_layouts = {_layouts(operand_layouts)}")
    if result_layouts is not None:
        items.append(f"result_layouts = {_layouts(result_layouts)}")
    if output_operand_aliases:
        items.append("output_operand_aliases = [" + ", ".join(
            [f"#stablehlo.output_operand_alias<output_tuple_indices = [{out if results > 1 else ''}], "
             f"operand_index = {operand}, operand_tuple_indices = []>"
             for operand, out in output_operand_aliases.items()]) + "]")
    if extra:
        items.append(extra)
    return "{" + ", ".join(items) + "}"


def _layouts(layouts: Sequence[Sequence[int]]) -> str:
    return "[" + ", ".join([f"dense<{list(order) if len(order) else ''}> : tensor<{len(order)}xindex>"
                            for order in layouts]) + "]"


class HostTransfer:
    """A callback by messages: the function, and the channels of its operands and of its results.

    Tokens have no channel; the function gets None for them, and its result for them is dropped.
    """

    __slots__ = ("function", "send_channels", "receive_channels")

    def __init__(self, function: Callable, send_channels: list[int], receive_channels: list[int]):
        self.function, self.send_channels, self.receive_channels = function, send_channels, receive_channels


def host_callback(b: Builder, function: Callable, operands: Sequence[Value], out: Sequence[AbstractValue],
                  has_side_effect: bool, name: str, partitioned: bool = False, device: object = None) -> list[Value]:
    """Emit a call of ``function(*arrays) -> sequence of arrays`` on the host.

    Args:
      partitioned: in a program on several devices each calls the function with its parts of the operands. Else the first
        device calls it, with whole arrays, or ``device``.

    Raises:
      NotImplementedError: the platform has no callbacks.
    """
    target = _CALLBACK_TARGETS.get(b.platform, "")
    if not target and b.platform != "tpu":
        raise NotImplementedError(f"host callback {name or function!r}: platform {b.platform} has no callbacks; they "
                                  f"exist on {', '.join([*_CALLBACK_TARGETS, 'tpu'])}")
    types = [x.aval for x in operands]
    if b.platform != "cpu" and any(_in_bytes(aval) is not aval for aval in (*types, *out)):
        whole = [x if (aval := _in_bytes(x.aval)) is x.aval else b.convert(x, aval.dtype) for x in operands]
        results = host_callback(b, _narrowed(function, types, out), whole, list(map(_in_bytes, out)), has_side_effect, name, partitioned, device)
        return [x if aval is x.aval or aval is abstract_token else b.convert(x, aval.dtype) for x, aval in zip(results, out)]
    together = b.module.shardings.devices > 1 and b.module.axis_env is None  # else each device calls for itself
    if partitioned and together and target:
        return _partitioned_callback(b, target, function, operands, out)
    if together and b.module.shardings.grid is not None:  # XLA would do the same, with a warning on stderr
        everywhere = NamedSharding(b.module.shardings.grid, PartitionSpec())
        operands = [x if x.aval is abstract_token else b.sharding_constraint(x, everywhere) for x in operands]
    if b.platform == "tpu":
        return _host_transfer(b, function, operands, out, name, together, device)
    with_tokens = abstract_token in [*types, *out]
    # XLA loses the placement of a call with tokens in a program on several devices, unless it knows the target
    if b.platform == "cpu" and not (together and with_tokens) and callback_buffers.worthwhile([*types, *out]):
        target, function = callback_buffers.TARGET, callback_buffers.on_buffers(function, types, out)
    apart = _kept_apart if b.platform != "cpu" and with_tokens else lambda b, values: values
    index = b.module.add_callback(function)
    return apart(b, b.custom_call(target, *apart(b, operands), out=list(out), backend_config={"index": np.uint64(index)},
                                  has_side_effect=has_side_effect, operand_layouts=_rows(types), result_layouts=_rows(out),
                                  extra=b.module.shardings.on_one_device(len(out), device) if together else ""))


def _rows(avals: Sequence[Any]) -> list[Sequence[int]]:
    """The layout that handlers of callbacks take every array to have, by rows. Where nothing is said the compiler may choose another."""
    return [() if aval is abstract_token else range(physical_aval(aval).ndim - 1, -1, -1) for aval in avals]


def _in_bytes(aval: Any) -> Any:
    """The type that stands for ``aval`` in a callback: itself, or one whose elements take whole bytes."""
    wide = None if aval is abstract_token else _WHOLE_BYTES.get(aval.dtype.name)
    return aval if wide is None else aval.update(dtype=wide)


def _narrowed(function: Callable, types: Sequence[Any], out: Sequence[Any]) -> Callable:
    """``function`` of arrays of ``types`` that returns arrays of ``out``, for the types that stand for them."""
    def call(*arrays):
        given = [x if _in_bytes(aval) is aval else x.astype(aval.dtype) for x, aval in zip(arrays, types)]
        return tuple([x if (wide := _in_bytes(aval)) is aval else np.asarray(x).astype(wide.dtype) for x, aval in zip(function(*given), out)])
    return call


def _kept_apart(b, values):
    """The arrays behind a barrier. XLA's GPU compiler joins a call with the slices that it reads or fills, and ends the process where tokens are among them."""
    return [x if x.aval is abstract_token else b.emit(f"stablehlo.optimization_barrier {x}", x, out=x.aval) for x in values]


def _partitioned_callback(b, target, function, operands, out):
    """XLA has a partitioner for this target; it wants layouts, and has no use for tokens."""
    arrays = [x for x in operands if x.aval is not abstract_token]
    results = [aval for aval in out if aval is not abstract_token]
    if results:
        raise NotImplementedError("host callback: a partitioned callback returns nothing")
    tokens = len(operands) - len(arrays)
    index = b.module.add_callback(lambda *xs: function(*[None] * tokens, *xs) and ())
    b.custom_call(target.replace("xla_ffi_", "xla_ffi_partitioned_"), *arrays, out=[], has_side_effect=True,
                  backend_config={"index": np.uint64(index)}, operand_layouts=_rows([x.aval for x in arrays]), result_layouts=[])
    return [x for x in operands if x.aval is abstract_token]


def buffer_callback(b: Builder, function: Callable, operands: Sequence[Value], out: Sequence[AbstractValue], has_side_effect: bool,
                    aliases: Mapping[int, int], command_buffer_compatible: bool) -> list[Value]:
    """Emit a call of ``function(context, *buffers of operands, *buffers of results)``.

    Raises:
      NotImplementedError: the platform has no such calls.
    """
    target = {"cpu": "xla_buffer_python_cpu_callback", "cuda": "xla_buffer_python_gpu_callback",
              "rocm": "xla_buffer_python_gpu_callback"}.get(b.platform)
    if target is None:
        raise NotImplementedError(f"buffer_callback: platform {b.platform} has no such calls; they exist on cpu, cuda and rocm")
    if command_buffer_compatible and b.platform != "cpu":
        target += "_cmd_buffer"
    index = b.module.add_callback(function)
    return b.custom_call(target, *operands, out=list(out), backend_config={"index": np.uint64(index)}, has_side_effect=has_side_effect,
                         operand_layouts=_rows([x.aval for x in operands]), result_layouts=_rows(out), output_operand_aliases=aliases)


def inspect_sharding(b: Builder, x: Value, callback: Callable[[ShardingLike], None]) -> None:
    """Call ``callback(sharding)`` with the placement that the compiler gives ``x``, when it compiles.

    XLA calls it while it partitions the program; for one device the executable does.
    """
    module, grid, ndim = b.module, b.module.shardings.grid, x.ndim
    if module.shardings.devices == 1 or grid is None:
        module.inspections.append(callback)
        return

    def seen(hlo):
        callback(from_hlo(hlo, _jax.DeviceList(tuple(grid.devices.flat)), grid, ndim))
    module.keep_alive.append(seen)
    b.custom_call("InspectSharding", x, out=x.aval, api_version=1, has_side_effect=True,
                  backend_config=_jax.encode_inspect_sharding_callback(seen))


_DEVICE_TO_HOST, _HOST_TO_DEVICE = 2, 3  # types of channels, StableHLO specification


def _host_transfer(b, function, operands, out, name, together, device):
    """Send the operands, then receive the results; a token orders the messages. In a program of all devices one does."""
    where = lambda results: ", " + b.module.shardings.on_one_device(results, device) if together else ""
    tokens = [x for x in operands if x.aval is abstract_token]
    sent = [x for x in operands if x.aval is not abstract_token]
    transfer = b.module.add_transfer(function, len(sent), sum(aval is not abstract_token for aval in out))
    token = tokens[0] if len(tokens) == 1 else b.emit(f"stablehlo.after_all {', '.join(tokens)}", *tokens,
                                                      out=abstract_token)
    for x, channel in zip(sent, transfer.send_channels):
        token = b.emit(f'"stablehlo.send"({x}, {token})', x, token, out=abstract_token,
                       attrs=_channel(channel, _DEVICE_TO_HOST, name, where(1)))
    channels, results = iter(transfer.receive_channels), []
    for aval in out:
        if aval is abstract_token:
            results.append(None)
            continue
        value, token = b.emit(f'"stablehlo.recv"({token})', token, out=[aval, abstract_token],
                              attrs=_channel(next(channels), _HOST_TO_DEVICE, name, where(2)))
        results.append(value)
    return [token if x is None else x for x in results]


def _channel(number: int, kind: int, name: str, extra: str) -> str:
    rendezvous = quoted(f"{name or 'callback'}_{number}")
    frontend = (f'{{_xla_host_transfer_handler_name = "xla_python_callback", '
                f"_xla_host_transfer_rendezvous = {rendezvous}}}")
    return (f"{{channel_handle = #stablehlo.channel_handle<handle = {number}, type = {kind}>, is_host_transfer = true, "
            f"mhlo.frontend_attributes = {frontend}{extra}}}")
