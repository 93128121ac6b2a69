"""Kernels for TPUs: a module of the Mosaic dialect, in the custom call ``tpu_custom_call``.

The kernel's function takes the indices of the step and references to its blocks, which the compiler moves in and out; index maps
are functions of the module. Vectors have the shapes of the kernel's arrays: the compiler lays them out.

Source: jaxlib's bindings of the dialect; the interface of ``tpu_custom_call`` (names of attributes, the encoded module).
"""
from __future__ import annotations

import base64
import io
import json
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from jax_core.representation.aval import AbstractRef, ShapedArray
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.transformations.manual import AxisEnv

from ..jaxlib_compat import bindings
from ..lowering.types import element_text
from .translation import BINARY, Translation, Type, dot_numbers, ir, kernel_context, parsed, printed

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

    from ..jaxlib_compat import Operation

_INTEGER = np.dtype(np.int32)
_SPACES = {"default": "vmem", "vmem": "vmem", "smem": "smem", "any": "any", "hbm": "hbm", "semaphore_mem": "semaphore_mem",
           "regular_semaphore": "semaphore_mem", "dma_semaphore": "semaphore_mem", "barrier_semaphore": "semaphore_mem"}
_SEMAPHORES = {"regular_semaphore": "!tpu.semaphore", "dma_semaphore": "!tpu.dma_semaphore", "barrier_semaphore": "!tpu.semaphore"}
"""By the name of the memory space, the type of the elements."""
_BARRIER = "%barrier"
_LACKING = {"math.cbrt", "math.erfc", "math.lgamma", "math.asin", "math.acos", "math.atan", "math.sinh", "math.cosh", "math.asinh", "math.acosh",
            "math.atanh"}
_ERF_INV = [  # M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2011: near zero, and near one
    (2.81022636e-08, -0.000200214257), (3.43273939e-07, 0.000100950558), (-3.5233877e-06, 0.00134934322), (-4.39150654e-06, -0.00367342844),
    (0.00021858087, 0.00573950773), (-0.00125372503, -0.0076224613), (-0.00417768164, 0.00943887047), (0.246640727, 1.00167406),
    (1.50140941, 2.83297682)]
_INFINITY = "0x7F800000"
_DYNAMIC = -(1 << 63)
"""A size that is not known, in the dialect."""
_REDUCTIONS = {"add": "add", "maximum": "maximumf", "minimum": "minimumf"}


class Memory:
    """A reference: the name of a ``memref``, its type, and which of its axes the kernel sees."""

    __slots__ = ("name", "shape", "element", "space", "seen")

    def __init__(self, name: str, shape: Sequence[int], element: str, space: str, seen: Sequence[bool] | None = None):
        self.name, self.shape, self.element, self.space = name, tuple(shape), element, space
        self.seen = [True] * len(self.shape) if seen is None else list(seen)

    @property
    def stored(self) -> str:
        """The type of an element in memory: truth values are integers there."""
        return "i32" if self.element == "i1" else self.element

    @property
    def text(self) -> str:
        return f"memref<{''.join(f'{n}x' for n in self.shape)}{self.stored}, #tpu.memory_space<{self.space}>>"


class MosaicTranslation(Translation):
    """Writes functions for Mosaic."""

    compiler, shaped, flags = "Mosaic", "vector", "f32"

    def op(self, name: str, kind: Type, *operands: str) -> str:
        if name in _LACKING:
            raise self.refuse(name.removeprefix("math."))
        return super().op(name, kind, *operands)

    def unary(self, name: str, kind: Type, x: str) -> str:
        if name != "math.expm1":
            return self.op(name, kind, x)
        half = self.op("math.tanh", kind, self.op("arith.mulf", kind, x, self.constant(0.5, kind)))  # exp(x) - 1 = tanh(x/2) (exp(x) + 1)
        return self.op("arith.mulf", kind, half, self.op("arith.addf", kind, self.op("math.exp", kind, x), self.constant(1, kind)))

    def _erf_inv(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        single = kind.of_element("f32")
        x = self.converted(x, kind, single)
        one = self.constant(1, single)
        product = self.op("arith.mulf", single, self.op("arith.subf", single, one, x), self.op("arith.addf", single, one, x))
        w = self.op("arith.negf", single, self.op("math.log", single, product))
        near = self.compared("LT", single, w, self.constant(5, single))
        far = self.op("arith.subf", single, self.op("math.sqrt", single, w), self.constant(3, single))
        w = self.selected(single, near, self.op("arith.subf", single, w, self.constant(2.5, single)), far)
        found = None
        for pair in _ERF_INV:
            factor = self.selected(single, near, *(self.constant(c, single) for c in pair))
            found = factor if found is None else self.op("arith.addf", single, factor, self.op("arith.mulf", single, found, w))
        end = self.compared("EQ", single, self.op("math.absf", single, x), one)
        found = self.op("arith.mulf", single, self.selected(single, end, self.constant(_INFINITY, single), found), x)
        return self.converted(found, single, kind)

    def compared(self, how: str, kind: Type, x: str, y: str) -> str:
        if how != "NE" or not kind.is_float:
            return super().compared(how, kind, x, y)
        truth = kind.of_element("i1")
        return self.op("arith.xori", truth, super().compared("EQ", kind, x, y), self.constant(True, truth))

    def broadcast(self, x: str, have: Type, want: Type, dims: Sequence[int]) -> str:
        if have.shape:
            shape = [1] * len(want.shape)
            for d, n in zip(dims, have.shape):
                shape[d] = n
            x, have = self.reshaped(x, have, shape), have.reshaped(shape)
            if tuple(shape) == want.shape:
                return x
        if have.element == "i1" and have.shape:  # masks are spread as integers
            wide = self.broadcast(self.converted(x, have, have.of_element("i32")), have.of_element("i32"), want.of_element("i32"),
                                  range(len(want.shape)))
            return self.converted(wide, want.of_element("i32"), want)
        return self.write(f"vector.broadcast {x} : {self.text_of(have)} to {self.text_of(want)}")

    def reshape(self, x: str, have: Type, shape: tuple) -> str:
        if not shape:
            ones = have.reshaped((1,) * max(len(have.shape), 2))
            x = self.reshaped(x, have, ones.shape)
            return self.write(f"vector.extract {x}[{', '.join('0' for _ in ones.shape)}] : {have.element} from {self.text_of(ones)}")
        return self.write(f"vector.shape_cast {x} : {self.text_of(have)} to {self.text_of(have.reshaped(shape))}")

    def _transpose(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        order = list(op.attributes["permutation"])
        return self.write(f"tpu.transpose {self.values[op.operands[0]]}, {order} : {self.text_of(have)} -> {self.text_of(want)}")

    def _iota(self, op):
        kind = Type.of(op.results[0])
        axis = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        shape = kind.shape if len(kind.shape) > 1 else (1, *kind.shape)
        number = Type(shape, "i32")
        found = self.write(f"tpu.iota {{dimensions = array<i32: {axis + len(shape) - len(kind.shape)}>}} : {self.text_of(number)}")
        return self.converted(self.reshaped(found, number, kind.shape), number.reshaped(kind.shape), kind)

    def _concatenate(self, op):
        axis, kind = ir.IntegerAttr(op.attributes["dimension"]).value, Type.of(op.results[0])
        types = ", ".join(self.text_of(Type.of(x)) for x in op.operands)
        return self.write(f"tpu.concatenate {', '.join(self.values[x] for x in op.operands)} in {axis} : {types} -> {self.text_of(kind)}")

    def _pad(self, op):
        x, fill = op.operands
        have, name = Type.of(x), self.values[x]
        low, high, inside = (list(op.attributes[k]) for k in ("edge_padding_low", "edge_padding_high", "interior_padding"))
        if any(inside) or min([*low, *high], default=0) < 0:
            raise self.refuse("padding inside or below zero")
        for axis, sides in enumerate(zip(low, high)):
            pieces = [(name, have)]
            for n, place in zip(sides, (0, len(pieces) + 1)):
                if n:
                    edge = have.reshaped((*have.shape[:axis], n, *have.shape[axis + 1:]))
                    pieces.insert(place, (self.spread(self.values[fill], have.reshaped(()), edge), edge))
            if len(pieces) > 1:
                have = have.reshaped((*have.shape[:axis], sum(k.shape[axis] for _, k in pieces), *have.shape[axis + 1:]))
                types = ", ".join(self.text_of(k) for _, k in pieces)
                name = self.write(f"tpu.concatenate {', '.join(v for v, _ in pieces)} in {axis} : {types} -> {self.text_of(have)}")
        return name

    def _slice(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        start, strides = list(op.attributes["start_indices"]), list(op.attributes["strides"])
        if any(s != 1 for s in strides):
            raise self.refuse("slice with a stride")
        return self.cut(self.values[op.operands[0]], have, start, want)

    def cut(self, x: str, have: Type, start: Sequence[int], want: Type) -> str:
        """The part of ``x`` from ``start`` on."""
        return self.write(f'"vector.extract_strided_slice"({x}) {{offsets = {list(start)}, sizes = {list(want.shape)}, '
                          f"strides = {[1] * len(want.shape)}}} : ({self.text_of(have)}) -> {self.text_of(want)}")

    def memory_take_along(self, op: Operation, axis: int):
        x, places = op.operands
        have, index, want = Type.of(x), Type.of(places), Type.of(op.results[0])
        if have.bits != 32:
            raise self.refuse(f"taking along an axis of elements of {have.bits} bits")
        name, number, axis = self.values[x], self.values[places], int(axis)
        found = want
        if len(have.shape) == 1:
            name, number = self.reshaped(name, have, (1, *have.shape)), self.reshaped(number, index, (1, *index.shape))
            have, index, found, axis = have.reshaped((1, *have.shape)), index.reshaped((1, *index.shape)), want.reshaped((1, *want.shape)), 1
        taken = self.write(f"tpu.dynamic_gather {name}[{number}] in [{axis}] : {self.text_of(have)}, {self.text_of(index)} -> {self.text_of(found)}")
        return self.reshaped(taken, found, want.shape)

    def _next_after(self, op):
        kind, (x, y) = Type.of(op.results[0]), [self.values[v] for v in op.operands]
        if kind.element != "f32":
            raise self.refuse(f"nextafter of {kind.element}")
        bits, flag = kind.of_element("i32"), kind.of_element("i1")
        number, zero = self.bits(x, kind, bits), self.constant(0, kind)
        up, positive = self.compared("LT", kind, x, y), self.compared("GT", kind, x, zero)
        away = self.op("arith.xori", flag, self.op("arith.xori", flag, up, positive), self.constant(True, flag))
        moved = self.op("arith.addi", bits, number, self.selected(bits, away, self.constant(1, bits), self.constant(-1, bits)))
        sign = self.op("arith.andi", bits, self.bits(y, kind, bits), self.constant(-(1 << 31), bits))
        least = self.op("arith.ori", bits, sign, self.constant(1, bits))
        found = self.bits(self.selected(bits, self.compared("EQ", kind, x, zero), least, moved), bits, kind)
        found = self.selected(kind, self.compared("EQ", kind, x, y), y, found)
        both = self.op("arith.addf", kind, x, y)
        return self.selected(kind, self.compared("NE", kind, both, both), both, found)  # inf - inf has no next after, and neither has NaN

    def _reduce_window(self, op):
        """Running reductions: each step combines with what stands twice as far away as in the step before."""
        name, axis, back = self.running(op)
        x, kind = self.values[op.operands[0]], Type.of(op.operands[0])
        word = BINARY[name][0 if kind.is_float else 1]
        if word is None or not kind.is_float and kind.element != "i32":
            raise self.refuse(f"running {name} of {kind.element}")
        far, length = 1, kind.shape[axis]
        while far < length:
            edge, rest = (kind.reshaped((*kind.shape[:axis], n, *kind.shape[axis + 1:])) for n in (far, length - far))
            fill = self.spread(self.values[op.operands[1]], kind.reshaped(()), edge)
            kept = self.cut(x, kind, [far * back if k == axis else 0 for k in range(len(kind.shape))], rest)
            pieces = [(kept, rest), (fill, edge)] if back else [(fill, edge), (kept, rest)]
            types = ", ".join(self.text_of(k) for _, k in pieces)
            moved = self.write(f"tpu.concatenate {', '.join(v for v, _ in pieces)} in {axis} : {types} -> {self.text_of(kind)}")
            x, far = self.op(word, kind, x, moved), 2 * far
        return x

    def reduce(self, name: str, x: str, have: Type, start: str, axes: tuple) -> str:
        if not have.is_float and have.element != "i32":
            raise self.refuse(f"reduction of {have.element}")
        word = _REDUCTIONS.get(name)
        if word is None:
            raise self.refuse(f"reduction by {name}")
        if not have.is_float:
            word = {"maximumf": "maxsi", "minimumf": "minsi"}.get(word, word)
        left = [n for k, n in enumerate(have.shape) if k not in axes]
        if not left:  # to a scalar, by way of a vector of one element
            grown = have.reshaped((1, *have.shape))
            found = self.reduce(name, self.reshaped(x, have, grown.shape), grown, start, tuple(range(1, len(grown.shape))))
            return self.reshaped(self.reshaped(found, have.reshaped((1,)), (1,) * len(grown.shape)), have.reshaped((1,) * len(grown.shape)), ())
        want = have.reshaped(left)
        zero = self.broadcast(start, have.reshaped(()), want, ())
        return self.write(f"vector.multi_reduction <{word}>, {x}, {zero} {list(axes)} : {self.text_of(have)} to {self.text_of(want)}")

    def _dot_general(self, op):
        a, b = (Type.of(x) for x in op.operands)
        want = Type.of(op.results[0])
        numbers = dot_numbers(op)
        x, y = (self.values[v] for v in op.operands)
        if len(numbers["lhs_contracting_dimensions"]) != 1:
            raise self.refuse("product over several axes")
        if 1 in (len(a.shape), len(b.shape)):  # a vector is a matrix of one row
            if len(a.shape) == 1:
                x, a = self.reshaped(x, a, (1, *a.shape)), a.reshaped((1, *a.shape))
                numbers["lhs_contracting_dimensions"] = [1]
            if len(b.shape) == 1:
                y, b = self.reshaped(y, b, (1, *b.shape)), b.reshaped((1, *b.shape))
                numbers["rhs_contracting_dimensions"] = [1]
        if len(a.shape) != len(b.shape):
            raise self.refuse(f"product of arrays of {len(a.shape)} and {len(b.shape)} axes")
        free_a = [k for k in range(len(a.shape)) if k not in (*numbers["lhs_contracting_dimensions"], *numbers["lhs_batching_dimensions"])]
        free_b = [k for k in range(len(b.shape)) if k not in (*numbers["rhs_contracting_dimensions"], *numbers["rhs_batching_dimensions"])]
        order = [v for k in numbers["lhs_batching_dimensions"] for v in (0, k)]
        order += [v for k in free_a for v in (0, k)] + [v for k in free_b for v in (1, k)]
        precision = {p for p in ("HIGHEST", "HIGH") if "precision_config" in op.attributes and p in str(op.attributes["precision_config"])}
        extra = ", precision = #tpu.contract_precision<fp32>" if precision and a.element == "f32" else ""
        batch = [a.shape[k] for k in numbers["lhs_batching_dimensions"]]
        wide = Type([*batch, *(a.shape[k] for k in free_a), *(b.shape[k] for k in free_b)], "f32" if want.is_float else "i32")
        found = self.write(
            f"tpu.matmul {x}, {y}, {self.constant(0, wide)} {{dimension_numbers = "
            f"#tpu.dot_dimension_numbers<{numbers['lhs_contracting_dimensions']}, {numbers['rhs_contracting_dimensions']}, {free_a}, "
            f"{free_b}, {order}, {numbers['lhs_batching_dimensions']}, {numbers['rhs_batching_dimensions']}>{extra}, transpose_lhs_hint = false}} : "
            f"{self.text_of(a)}, {self.text_of(b)}, {self.text_of(wide)} -> {self.text_of(wide)}")
        return self.converted(self.reshaped(found, wide, want.shape), wide.reshaped(want.shape), want)

    # -- memory --------------------------------------------------------------------------------------------------------------

    def memory_multiple_of(self, op: Operation, values):
        kind = Type.of(op.operands[0])
        if kind.shape:
            return self.values[op.operands[0]]
        return self.write(f"tpu.assume_multiple {self.values[op.operands[0]]}, {values.split(',')[0]} : {kind.element}")

    def _part(self, memory: Memory, config: str, operands: Iterator[Any], stride: bool = False) -> tuple[list, list[int], list[int]]:
        """The first element (a number, or a name of an i32) along each axis of the memory, lengths and strides of the part.

        The starts that are operands are taken from ``operands``.
        """
        entries = config.split(",") if config else [f"0+{n}*1" for n, s in zip(memory.shape, memory.seen) if s]
        starts: list[Any] = []
        sizes, strides, given = [], [], iter(entries)
        for seen in memory.seen:
            entry = next(given) if seen else "0"
            start, _, rest = entry.partition("+")
            size, _, step = rest.partition("*")
            if start == "?":
                x = next(operands)
                kind = Type.of(x)
                if kind.shape:
                    raise self.refuse("array of indices")
                starts.append(self.converted(self.values[x], kind, kind.of_element("i32")))
            else:
                starts.append(int(start))
            sizes.append(int(size or 1))
            strides.append(int(step or 1))
        return starts, sizes, strides

    def _index(self, start: Any) -> str:
        return self.write(f"arith.constant {start} : index" if isinstance(start, int) else f"arith.index_cast {start} : i32 to index")

    def _place(self, memory: Memory, config: str, operands: Sequence[Any]) -> tuple[str, list[int], list[int]]:
        """The memory with the first element of a part, as text, and the lengths and strides of the part."""
        if memory.space in ("any", "hbm"):
            raise self.refuse("reading and storing in memory that is not cut into blocks: give its operand a BlockSpec with a block, or copy parts of it "
                              "to vector memory with pltpu.make_async_copy. That")
        starts, sizes, strides = self._part(memory, config, iter(operands))
        return f"{memory.name}[{', '.join(map(self._index, starts))}]", sizes, strides

    def _load(self, memory: Memory, config: str, operands: Sequence[Any], want: Type) -> str:
        place, sizes, strides = self._place(memory, config, operands)
        if memory.space == "smem":
            if want.shape:
                raise self.refuse("reading of many elements of scalar memory")
            found = self.write(f"memref.load {place} : {memory.text}")
            return self.converted(found, want.of_element(memory.stored), want)
        part = Type(sizes, memory.stored)
        if any(s != 1 for s in strides):
            found = self.write(f"tpu.strided_load {place} {{strides = array<i32: {', '.join(map(str, strides))}>}} : {memory.text}, {self.text_of(part)}")
        else:
            found = self.write(f"vector.load {place} : {memory.text}, {self.text_of(part)}")
        return self.converted(self.reshaped(found, part, want.shape), want.of_element(memory.stored), want)

    def _store(self, memory: Memory, config: str, operands: Sequence[Any], value: str, have: Type, mask: str | None = None) -> None:
        place, sizes, strides = self._place(memory, config, operands)
        if memory.space == "smem":
            if have.shape:
                raise self.refuse("storing of many elements in scalar memory")
            value = self.converted(value, have, have.of_element(memory.stored))
            self.lines.append(f"memref.store {value}, {place} : {memory.text}")
            return
        part, stored = Type(sizes, memory.stored), have.of_element(memory.stored)
        value = self.reshaped(self.converted(value, have, stored), stored, part.shape)
        if any(s != 1 for s in strides):
            if mask is not None:
                raise self.refuse("masked store with a stride")
            self.lines.append(f"tpu.strided_store {place}, {value} {{strides = array<i32: {', '.join(map(str, strides))}>}} : {memory.text}, "
                              f"{self.text_of(part)}")
            return
        if mask is not None:
            mask = self.reshaped(mask, have.of_element("i1"), part.shape)
        flags = "" if mask is None else f" masked {mask}"
        self.lines.append(f"tpu.vector_store {place}, {value}{flags} {{strides = array<i32>}} : {memory.text}, "
                          f"{self.text_of(part)}, {'' if mask is None else self.text_of(part.of_element('i1'))}")

    def memory_masked_load(self, op: Operation, config: str):
        ref, mask, other, *operands = op.operands
        kind = Type.of(op.results[0])
        return self.selected(kind, self.values[mask], self._load(self.references[ref], config, operands, kind), self.values[other])

    def memory_masked_swap(self, op: Operation, config: str):
        ref, value, mask, *operands = op.operands
        memory, kind = self.references[ref], Type.of(value)
        before = self._load(memory, config, operands, kind) if list(op.results[0].uses) else ""
        self._store(memory, config, operands, self.values[value], kind, self.values[mask])
        return before

    def memory_new_ref(self, op: Operation, *config):
        kind, space = Type.of(op.results[0]), config[1] if len(config) > 1 else "default"
        memory = Memory("", kind.shape, _SEMAPHORES.get(space, kind.element), _SPACES.get(space, "vmem"))
        memory.name = self.write(f"tpu.sem_alloc : {memory.text}" if space in _SEMAPHORES else f"memref.alloca() : {memory.text}")
        self.references[op.results[0]] = memory
        return memory.name

    def memory_freeze(self, op: Operation, *_):
        return self._load(self.references[op.operands[0]], "", [], Type.of(op.results[0]))

    def memory_print(self, op: Operation, text):
        operands = list(op.operands)
        if any(Type.of(x).shape for x in operands):
            if len(operands) > 1:
                raise self.refuse("debug_print of several values of which one is an array")
            return self._print_array(operands[0], text)
        self.lines.append(f'"tpu.log"({", ".join(self.values[x] for x in operands)}) <{{tag = {printed(text)}, formatted = false}}> : '
                          f"({', '.join(self.text_of(Type.of(x)) for x in operands)}) -> ()")

    def _print_array(self, x: Any, text: str) -> None:
        kind = Type.of(x)
        room = Memory("", kind.shape, kind.element, "vmem")

        def copied():
            room.name = self.write(f"memref.alloca() : {room.text}")
            self._store(room, "", [], self.values[x], kind)
            self.lines.append(f"tpu.log_buffer {printed(text)} {{shape = array<i64: {', '.join(map(str, kind.shape))}>}} : {room.name} : {room.text}")
            return "tpu.yield"
        self.lines += ['"tpu.region"() ({', *self.inside(copied), "}) : () -> ()"]

    def memory_assert(self, op: Operation, text):
        self.lines.append(f"cf.assert {self.values[op.operands[0]]}, {printed(text)}")

    def memory_trace_value(self, op: Operation, text):
        (x,) = op.operands
        self.lines.append(f"tpu.trace_value {self.values[x]}, {printed(text)} : {self.text_of(Type.of(x))}")

    def memory_bitcast_rows(self, op: Operation, _=""):
        (x,), (result,) = op.operands, op.results
        return self.write(f'"tpu.bitcast"({self.values[x]}) : ({self.text_of(Type.of(x))}) -> {self.text_of(Type.of(result))}')

    def memory_delay(self, op: Operation, _=""):
        self.lines.append(f'"tpu.delay"({self.values[op.operands[0]]}) : (i32) -> ()')

    # the generator is the core's; the reference to a state is there for the interpreter

    def memory_prng_seed(self, op: Operation, *_):
        seeds = [self.values[x] for x in list(op.operands)[1:]]
        self.lines.append(f'"tpu.prng_set_seed_32"({", ".join(seeds)}) : ({", ".join(["i32"] * len(seeds))}) -> ()')

    def memory_prng_random_bits(self, op: Operation, *_):
        return self.write(f'"tpu.prng_random_bits"() : () -> {self.text_of(Type.of(op.results[0]))}')

    # -- copies and semaphores -------------------------------------------------------------------------------------------------

    def _window(self, memory: Memory, config: str, operands: Iterator[Any], to_the_end: bool = False) -> Memory:
        """A part of a memory, as one of its own; ``to_the_end``: with the rest of its last tile."""
        starts, sizes, strides = self._part(memory, config, operands)
        if to_the_end:
            bits = int("".join(filter(str.isdigit, memory.stored)) or 32)
            tiles = {len(sizes) - 2: 8 * 32 // min(bits, 32), len(sizes) - 1: 128}
            sizes = [-(-n // tiles.get(k, 1)) * tiles.get(k, 1) for k, n in enumerate(sizes)]
        if any(s != 1 for s in strides):
            raise self.refuse("copy with a stride")
        entries = iter(config.split(",")) if config else iter(["+"] * sum(memory.seen))
        kept = [s and "+" in next(entries) for s in memory.seen]
        part = Memory(memory.name, sizes, memory.element, memory.space)
        if list(memory.shape) != sizes:
            scalar = Type((), "i32")
            names = [self.constant(s, scalar) if isinstance(s, int) else s for s in starts]
            part.name = self.write(f"tpu.memref_slice {memory.name}[{', '.join(names)}] : {memory.text} -> {part.text}")
        if all(kept):
            return part
        squeezed = Memory("", [n for n, k in zip(sizes, kept) if k], memory.element, memory.space)
        squeezed.name = self.write(f"tpu.memref_squeeze {part.name} : {part.text} -> {squeezed.text}")
        return squeezed

    def _copied(self, op, configs, to_the_end=False):
        """Source, destination, semaphore and the source's semaphore, those that are not there None."""
        count = sum(c != "-" for c in configs)
        refs, operands = iter(list(op.operands)[:count]), iter(list(op.operands)[count:])
        return [None if c == "-" else self._window(self.references[next(refs)], c, operands, to_the_end and k < 2) for k, c in enumerate(configs)]

    def memory_dma_start(self, op: Operation, *config):
        source, destination, semaphore, other = self._copied(op, config[:4], config[6] == "1")
        if config[4] != "0" or other is not None or semaphore is None:
            raise self.refuse("copy that adds, that has a semaphore for its source, or that has none for its end")
        self.lines.append(
            f'"tpu.enqueue_dma"({source.name}, {destination.name}, {semaphore.name}) <{{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0, 0>, '
            f"priority = {config[5]} : i32}}> : ({source.text}, {destination.text}, {semaphore.text}) -> ()")

    def memory_dma_wait(self, op: Operation, *config):
        source, destination, semaphore, _ = self._copied(op, config[:4], config[6] == "1")
        self.lines.append(f'"tpu.wait_dma2"({semaphore.name}, {source.name}, {destination.name}) <{{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}> : '
                          f"({semaphore.text}, {source.text}, {destination.text}) -> ()")

    def memory_dma_send(self, op: Operation, *config):
        source, destination, semaphore, other = self._copied(op, config[:4])
        device = self.values[list(op.operands)[-2]]
        self.lines.append(
            f'"tpu.enqueue_dma"({source.name}, {other.name}, {destination.name}, {semaphore.name}, {device}) <{{operandSegmentSizes = '
            f"array<i32: 1, 1, 1, 1, 1, 0, 0>, priority = 0 : i32}}> : ({source.text}, {other.text}, {destination.text}, {semaphore.text}, i32) -> ()")

    def _partition_id(self, op):
        return self.write('"tpu.device_id"() : () -> i32')

    _replica_id = _partition_id

    def _semaphore(self, op, config, first):
        return self._window(self.references[op.operands[0]], config, iter(list(op.operands)[first:]))

    def memory_sem_signal(self, op: Operation, config: str):
        semaphore = self._semaphore(op, config, 2)
        self.lines.append(f'"tpu.sem_signal"({semaphore.name}, {self.values[op.operands[1]]}) <{{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}}> : '
                          f"({semaphore.text}, i32) -> ()")

    def memory_sem_signal_there(self, op: Operation, config: str):
        semaphore, (amount, device) = self._semaphore(op, config, 4), list(op.operands)[1:3]
        self.lines.append(
            f'"tpu.sem_signal"({semaphore.name}, {self.values[amount]}, {self.values[device]}) <{{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}> : '
            f"({semaphore.text}, i32, i32) -> ()")

    def memory_sem_wait(self, op: Operation, config: str):
        semaphore = self._semaphore(op, config, 2)
        self.lines.append(f'"tpu.sem_wait"({semaphore.name}, {self.values[op.operands[1]]}) : ({semaphore.text}, i32) -> ()')

    def memory_sem_read(self, op: Operation, config: str):
        semaphore = self._semaphore(op, config, 1)
        return self.write(f'"tpu.sem_read"({semaphore.name}) : ({semaphore.text}) -> i32')


# -- the module ------------------------------------------------------------------------------------------------------------

def _memory(program: Any, name: str, operand: Any) -> Memory:
    """The block of an operand as the kernel's function takes it: with the axes that the kernel does not see."""
    _check_sides(program.options.name, operand)
    return Memory(name, operand.sizes, element_text(operand.aval.dtype).replace("u", ""), _SPACES[str(operand.memory_space)],
                  [hasattr(d, "block_size") for d in operand.block])


def _check_dtypes(program: Any) -> None:
    """Raise NotImplementedError for references with elements that kernels for TPUs do not have."""
    refs = [*program.scalars, *(o.ref for o in (*program.inputs, *program.outputs)), *program.scratch]
    for dtype in {r.dtype for r in refs if r.dtype.kind == "c" or r.dtype.itemsize > 4}:
        raise NotImplementedError(f"pallas_call {program.options.name}: kernels for TPUs have no {dtype.name}; "
                                  "convert to 32 bits, and give the real and imaginary "
                                  "parts of complex numbers apart, or pass interpret=True.")


def _check_sides(name: str, operand: Any) -> None:
    """Raise ValueError for blocks that do not consist of whole tiles of a TPU's vector memory."""
    if str(operand.memory_space) not in ("default", "vmem"):
        return
    what = f"pallas_call {name}, {operand.name}: blocks of shape {operand.sizes} of {operand.aval.str_short()}"
    if not operand.sizes:
        raise ValueError(f"{what}; on TPUs a scalar is in scalar memory: give it BlockSpec(memory_space=pltpu.SMEM).")
    if len(operand.sizes) == 1:
        tile = 128 * max(1, 4 // operand.aval.dtype.itemsize)
        if operand.sizes[0] % tile and operand.sizes[0] != operand.aval.shape[0]:
            raise ValueError(f"{what}; on TPUs the length of a block of {operand.aval.dtype.name} with one axis is a multiple of {tile}, or that of the array.")
        return
    for axis, tile in ((-2, 8), (-1, 128)):
        if operand.sizes[axis] % tile and operand.sizes[axis] != operand.aval.shape[axis]:
            raise ValueError(f"{what}; on TPUs the last two "
                             f"sides of a block are multiples of 8 and 128, or those of the array. Side {axis} is {operand.sizes[axis]}.")


def _whole(name: str, ref: AbstractRef, space: str | None = None) -> Memory:
    own = str(ref.memory_space)
    return Memory(name, ref.shape, _SEMAPHORES.get(own) or element_text(ref.dtype).replace("u", ""), space or _SPACES[own])


def _window_text(name: str, operand: Any, block: Memory) -> tuple[str, list[int]]:
    """How the blocks of an operand are found by the function ``name``, and what its results are multiplied by before."""
    text = f"transform_indices = @{name}, window_bounds = array<i64: {', '.join(map(str, block.shape))}>"
    if not any(hasattr(d, "padding") for d in operand.block):
        return f"{{{text}}}", []
    before, after = zip(*(getattr(d, "padding", (0, 0)) for d in operand.block))  # all axes count elements then
    factors = [1 if hasattr(d, "padding") else n for d, n in zip(operand.block, block.shape)]
    return f"{{{text}, window_kind = #tpu.element_window<{list(before)}, {list(after)}>}}", factors


def _function(name: str, closed: ClosedJaxpr, memories: Sequence[Memory], ids: int, kernel: str, results: int, attributes: str = "",
              factors: Sequence[int] = (), sizes: Sequence[int] = (), env: AxisEnv | None = None) -> str:
    """The text of one function of indices, then references. Results are multiplied by ``factors``.

    ``sizes``: axes of the grid whose sizes the program takes between the two, and the compiler knows.
    """
    translation = MosaicTranslation(kernel, parsed(closed, "mosaic", env))
    block = translation.functions["main"].regions[0].blocks[0]
    names = [f"%i{k}" for k in range(ids)]
    for v, memory in zip(list(block.arguments)[ids + len(sizes):], memories):
        translation.references[v] = memory
    for memory in memories:
        if memory.name == _BARRIER:
            translation.lines.append(f"{memory.name} = tpu.sem_barrier : {memory.text}")
    known = [translation.write(f'"tpu.iteration_bound"() <{{dim = {axis} : i32}}> : () -> i32') for axis in sizes]
    outs = translation.function("main", [*names, *known, *[None] * len(memories)])
    scalar = Type((), "i32")
    outs = [translation.op("arith.muli", scalar, x, translation.constant(n, scalar)) if n != 1 else x
            for x, n in zip(outs, factors)] or outs
    arguments = [f"{n}: i32" for n in names] + [f"{m.name}: {m.text}" for m in memories if m.name != _BARRIER]
    types = ", ".join(["i32"] * results)
    body = "\n".join([*translation.lines, f"func.return {', '.join(outs[:results])} : {types}" if results else "func.return"])
    return f"func.func @{name}({', '.join(arguments)}) {f'-> ({types}) ' if results else ''}{attributes}{{\n{body}\n}}\n"


def _is_barrier(ref: AbstractRef) -> bool:
    """Whether this is the semaphore that the compiler has for all devices, and no scratch memory."""
    return str(ref.memory_space) == "barrier_semaphore"


def module_text(program: Any, env: AxisEnv | None = None) -> str:
    """The Mosaic module of a program, which is called in the manual region ``env``."""
    _check_dtypes(program)
    rank, name = len(program.grid), "kernel"
    scalars = [_whole(f"%s{k}", r, "smem") for k, r in enumerate(program.scalars)]
    blocks = [_memory(program, f"%b{k}", o) for k, o in enumerate([*program.inputs, *program.outputs])]
    scratch = [_whole(_BARRIER if _is_barrier(r) else f"%t{k}", r) for k, r in enumerate(program.scratch)]
    semantics = getattr(program.options.compiler_params, "dimension_semantics", None) or ["arbitrary"] * rank
    words = [str(getattr(s, "value", s)) for s in semantics]
    words = ["arbitrary"] * (rank - len(words)) + words  # axes that vmap added stand in front
    attributes = [f"dimension_semantics = [{', '.join(f'#tpu.dimension_semantics<{w}>' for w in words)}]",
                  f"scalar_prefetch = {len(scalars)} : i64", f"scratch_operands = {sum(m.name != _BARRIER for m in scratch)} : i64",
                   "tpu.core_type = #tpu.core_type<tc>"]
    maps = ""
    if rank:
        windows = []
        for k, (o, block) in enumerate(zip([*program.inputs, *program.outputs], blocks)):
            if block.space in ("any", "hbm"):  # not cut: the kernel copies parts of it
                windows.append("{}")
                continue
            text, factors = _window_text(f"transform_{k}", o, block)
            maps += _function(f"transform_{k}", o.index_map, scalars, rank, program.options.name, len(o.block), factors=factors)
            windows.append(text)
        bounds = ", ".join(str(_DYNAMIC if n is None else n) for n in program.grid)
        attributes += [f"iteration_bounds = array<i64: {bounds}>", f"window_params = [{', '.join(windows)}]"]
    kernel = _function(name, program.kernel, [*scalars, *blocks, *scratch], rank, program.options.name, 0,
                       f"attributes {{{', '.join(attributes)}}} ", sizes=[k for k, n in enumerate(program.grid) if n is None], env=env)
    return f"module @{name} {{\n{kernel}{maps}}}\n"


def encoded(text: str) -> bytes:
    """The module in the stable form that every version of the compiler reads."""
    context = kernel_context("mosaic")
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        module.operation.verify()
        manager = bindings("passmanager").PassManager
        manager.parse("builtin.module(canonicalize,cse)").run(module.operation)
        manager.parse("builtin.module(mosaic-serde{serialize=true})").run(module.operation)
        out = io.BytesIO()
        module.operation.write_bytecode(file=out)
        return out.getvalue()


def _communication(b: Any, program: Any) -> dict[str, Any]:
    """What the custom call says of a kernel that sends to other devices."""
    number = getattr(program.options.compiler_params, "collective_id", None)
    if number is None and any(map(_is_barrier, program.scratch)):
        raise ValueError(f"pallas_call {program.options.name}: a kernel that uses get_barrier_semaphore has a number of its own among those that run at "
                         "the same time: give compiler_params=pltpu.CompilerParams(collective_id=0).")
    if not any(type(e) is NamedAxisEffect for e in program.kernel.effects):
        return {}
    if b.axis_env is not None and b.axis_env.inner is not None:
        raise NotImplementedError(f"pallas_call {program.options.name}: a kernel that asks for its device in a region that is manual over some of the axes "
                                  "of the mesh only; name all of them in shard_map's axis_names.")
    return {"has_communication": True, **({} if number is None else {"collective_id": number})}


def emit(b: Builder, program: Any, operands: Sequence[Value]) -> list:
    """The call of the program on operands; its results."""
    config: dict[str, Any] = {"custom_call_config": {
        "body": base64.b64encode(encoded(module_text(program, b.axis_env))).decode(), "serialization_format": 1, "needs_layout_passes": True}}
    config["custom_call_config"].update(_communication(b, program))
    cost = program.options.cost_estimate
    if cost is not None:
        config["custom_call_config"]["cost_estimate"] = json.loads(cost.to_json())
    limit = getattr(program.options.compiler_params, "vmem_limit_bytes", None)
    if limit is not None:
        config["scoped_memory_configs"] = [{"memory_space": 1, "offset": 0, "size": limit}]
    order = lambda x: tuple(range(len(x.shape)))[::-1]
    first = program.dynamic + len(program.scalars)
    avals: list[ShapedArray] = program.out_avals
    operands = [b.convert(x, _INTEGER) if x.aval.dtype == np.bool_ else x for x in operands]
    outs = b.custom_call(
        "tpu_custom_call", *operands, out=[a.update(dtype=_INTEGER) if a.dtype == np.bool_ else a for a in avals],
        backend_config=json.dumps(config), api_version=1,
        operand_layouts=[order(x.aval) for x in operands], result_layouts=[order(a) for a in avals],
        output_operand_aliases={first + i: o for i, o in program.aliases},
        has_side_effect=bool(getattr(program.options.compiler_params, "has_side_effects", False)))
    return [b.convert(x, a.dtype) if a.dtype == np.bool_ else x for x, a in zip(outs, avals)]
