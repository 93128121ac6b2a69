"""Arrays that are not stored in the usual order of their device, and programs that ask for an order.

jaxlib's buffers know their layout: reading one gives its elements in the order of its axes, and the dispatcher tells signatures with
other layouts apart. A program reads its inputs as its text says (``mhlo.layout_mode``), which is the usual order where it says nothing,
so a program that gets such an array is lowered with the array's layout, as the reference does.

Nothing is asked of arrays until the first one may have a layout of its own (`expect`).

Source: XLA, ``xla/pjrt/layout_mode.h``: "default", "auto", or a layout.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from jax_core.interfaces import LowerSpec

from ..placement.layout import AutoLayout, Format, Layout
from .array import ArrayImpl

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike

_expected = False


class Layouts(NamedTuple):
    """What a program asks for its flat inputs and its results: a `Layout`, ``Layout.AUTO`` or None (usual) for each."""

    ins: tuple[Any, ...]
    outs: tuple[Any, ...]


def expect() -> None:
    """From now on there may be arrays with layouts of their own."""
    global _expected
    _expected = True


def expected() -> bool:
    """Whether there may be arrays with layouts of their own."""
    return _expected


@functools.lru_cache(maxsize=1024)
def _usual(dtype: Any, shape: tuple[int, ...], device: Any) -> Any:
    return device.client.get_default_layout(dtype, shape, device)


def alike(one: object, other: object) -> bool:
    """Whether two of jaxlib's layouts are the same but for the size of packed elements: programs say that they pack those smaller
    than a byte, arrays do not, and the runtime converts."""
    if one == other:
        return True
    unpacked = [Layout.from_pjrt_layout(layout).update(sub_byte_element_size_in_bits=0) for layout in (one, other)]
    return unpacked[0] == unpacked[1]


def own_layout(x: object) -> Layout | None:
    """How ``x`` is stored, None where that is as usual."""
    if not _expected or type(x) is not ArrayImpl or x.is_deleted():
        return None
    stored = x._pjrt_layout
    usual = _usual(x.dtype, x._sharding.shard_shape(x.shape), x._sharding._addressable_device_assignment[0])
    return None if stored is None or alike(stored, usual) else Layout.from_pjrt_layout(stored)


def own_format(x: Any) -> Format | None:
    """Placement and layout of an array that is not stored as usual; None for other values."""
    layout = own_layout(x)
    return None if layout is None else Format(layout, x._sharding)


def apart(spec: LowerSpec) -> tuple[LowerSpec, Layouts | None]:
    """``spec`` without formats, and the layouts that they ask for; None where they ask for none."""
    if not any(isinstance(p, Format) for p in (*(spec.in_shardings or ()), *(spec.out_shardings or ()))):
        return spec, None
    layouts = Layouts(*[() if told is None else tuple(p.layout if isinstance(p, Format) else None for p in told)
                        for told in (spec.in_shardings, spec.out_shardings)])
    plain = [None if told is None else tuple(p.sharding if isinstance(p, Format) else p for p in told)
             for told in (spec.in_shardings, spec.out_shardings)]
    ins, outs = [None if told is None or all([p is None for p in told]) else told for told in plain]
    return spec.replace(in_shardings=ins, out_shardings=outs), layouts if any([*layouts.ins, *layouts.outs]) else None


def for_call(asked: Layouts | None, kept: Sequence[int], args: Sequence[object], name: str) -> Layouts | None:
    """The layouts of a program for the arguments of a call: those asked for, else those that the arguments have.

    Args:
      kept: which of the arguments the program takes.

    Raises:
      ValueError: an argument that the user has placed is stored in another way than asked for.
    """
    if not _expected:
        return asked
    told = asked.ins if asked is not None and asked.ins else (None,) * len(args)
    ins = list(told)
    for i in kept:
        x, layout = args[i], told[i]
        if type(x) is not ArrayImpl:
            continue
        if layout is None:
            ins[i] = own_layout(x)
        elif x._committed and (layout is Layout.AUTO or not layout.describes(x._pjrt_layout)):
            _complain(name, i, x, layout, "; jit(f).lower(...).compile() chooses, and says so in input_formats" * (layout is Layout.AUTO))
    outs = asked.outs if asked is not None else ()
    return Layouts(tuple(ins), outs) if any(ins) or any(outs) else None


def check(args: Sequence[Any], stored: dict[int, Any], name: str) -> None:
    """Raise ValueError where an argument that the user has placed is not stored as a program compiled before wants it.

    Args:
      stored: jaxlib's layouts of the arguments that the program takes.
    """
    for i, layout in stored.items():
        if type(args[i]) is ArrayImpl and args[i]._committed and not alike(args[i]._pjrt_layout, layout):
            _complain(name, i, args[i], Layout.from_pjrt_layout(layout), "")


def _complain(name: str, i: int, x: ArrayImpl, layout: Any, more: str) -> None:
    raise ValueError(f"call of {name}: argument {i}, {x.aval.str_short()}, is to have the layout {layout}, but it is stored as "
                     f"{Layout.from_pjrt_layout(x._pjrt_layout)}; move it by jax.device_put with a Format, or ask for no layout{more}")


def mode(layout: Layout | AutoLayout, dtype: DTypeLike) -> str:
    """The layout as modules have it."""
    return "auto" if isinstance(layout, AutoLayout) else layout._to_xla_layout(dtype)


__all__ = ["Layouts", "apart", "check", "expect", "expected", "for_call", "mode", "own_format", "own_layout"]
