"""Kernels for NVIDIA's GPUs: a module of the Triton dialect, in the custom call ``__gpu$xla.gpu.triton``.

The kernel's function takes a pointer for each operand and result, and asks for the indices of its step. Reading a part of a
reference is a load from as many pointers as the part has elements, under a mask where a block may run over the end of its
array. Steps run side by side: nothing is kept from one to the next, so there is no scratch memory.

Source: jaxlib's bindings of the dialect; the interface of ``__gpu$xla.gpu.triton`` (names of attributes).
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.representation.aval import AbstractRef
from jax_core.representation.jaxpr import ClosedJaxpr

from ..lowering.outside_calls import quoted
from ..lowering.types import element_text
from .translation import Translation, Type, dot_numbers, ir, kernel_context, parsed, printed

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

    from ..jaxlib_compat import Operation

_DIRECT = {"math.exp", "math.log", "math.sqrt", "math.rsqrt", "math.sin", "math.cos", "math.floor", "math.ceil", "math.absf", "math.erf"}
_LIBRARY = {"math.tanh": "tanh", "math.powf": "pow", "math.log1p": "log1p", "math.expm1": "expm1", "math.atan2": "atan2", "math.tan": "tan",
            "math.cbrt": "cbrt", "math.roundeven": "rint", "math.round": "round", "math.nextafter": "nextafter", "math.erfc": "erfc", "math.erf_inv": "erfinv",
            "math.lgamma": "lgamma", "math.asin": "asin", "math.acos": "acos", "math.atan": "atan", "math.sinh": "sinh", "math.cosh": "cosh",
            "math.asinh": "asinh", "math.acosh": "acosh", "math.atanh": "atanh"}
_BITS = {"math.ctpop": "popc", "math.ctlz": "clz"}
_REDUCTIONS = {"add": ("arith.addf", "arith.addi", "arith.addi"), "multiply": ("arith.mulf", "arith.muli", "arith.muli"),
               "maximum": ("arith.maximumf", "arith.maxsi", "arith.maxui"), "minimum": ("arith.minimumf", "arith.minsi", "arith.minui"),
               "and": (None, "arith.andi", "arith.andi"), "or": (None, "arith.ori", "arith.ori")}
_ATOMICS = {"add": ("fadd", "add", "add"), "max": (None, "max", "umax"), "min": (None, "min", "umin"), "xchg": ("exch", "exch", "exch"),
            "and": (None, "and", "and"), "or": (None, "or", "or"), "xor": (None, "xor", "xor")}
_SMALLEST_PRODUCT = 16


class Memory:
    """A reference: a pointer to an array, and where in it the block is.

    Attributes:
      shape: of the array. ``starts``: names of the block's first element along each axis. ``sizes``: lengths of the block.
      seen: which axes the kernel sees. ``whole``: along which the block never runs over the end.
    """

    __slots__ = ("pointer", "element", "shape", "starts", "sizes", "seen", "whole")

    def __init__(self, pointer: str, element: str, shape: Sequence[int], starts: Sequence[str], sizes: Sequence[int], seen: Sequence[bool],
                 whole: Sequence[bool]):
        self.pointer, self.element, self.shape, self.starts, self.sizes = pointer, element, tuple(shape), starts, tuple(sizes)
        self.seen, self.whole = seen, whole

    @property
    def stored(self) -> str:
        """The type of an element in memory."""
        return "i8" if self.element == "i1" else self.element


class TritonTranslation(Translation):
    """Writes a function for Triton."""

    compiler, shaped = "Triton", "tensor"

    def text_of(self, kind: Type) -> str:
        size = math.prod(kind.shape)
        if size & (size - 1) or not size:
            raise ValueError(f"pallas_call {self.name}: a value of shape {kind.shape} has {size} elements; on GPUs kernels work on blocks whose sides "
                             "are powers of two. Choose such blocks (they may run over the end of an array).")
        return super().text_of(kind)

    def unary(self, name: str, kind: Type, x: str) -> str:
        return self._function(name, kind, x)

    def op(self, name: str, kind: Type, *operands: str) -> str:
        if name.startswith("math."):
            return self._function(name, kind, *operands)
        if kind.is_float and (kind.bits == 8 or kind.bits == 16 and name in ("arith.divf", "arith.remf")):  # LLVM ends the process otherwise
            return self._in_single(name, kind, operands)
        return super().op(name, kind, *operands)

    def _in_single(self, name, kind, operands):
        single = kind.of_element("f32")
        return self.converted(self.op(name, single, *(self.converted(x, kind, single) for x in operands)), single, kind)

    def _function(self, name, kind, *operands):
        if kind.is_float and kind.bits < 32 and name != "math.absf":
            return self._in_single(name, kind, operands)
        if name in _DIRECT:
            return super().op(name, kind, *operands)
        if name in _BITS and kind.element == "i32":
            return self._library(_BITS[name], kind, *operands)
        if name not in _LIBRARY:
            raise self.refuse(name)
        return self._library(_LIBRARY[name] + ("f" if kind.bits == 32 else ""), kind, *operands)

    def _library(self, name, kind, *operands):
        text = self.text_of(kind)
        return self.write(f'tt.extern_elementwise {", ".join(operands)} {{libname = "", libpath = "", pure = true, symbol = '
                          f'"__nv_{name}"}} : ({", ".join([text] * len(operands))}) -> {text}')

    def converted(self, x: str, have: Type, want: Type) -> str:
        if not (have.is_float and want.is_float and min(have.bits, want.bits) == 8 and have.element != want.element):
            return super().converted(x, have, want)
        if have.bits == want.bits:
            single = have.of_element("f32")
            return self.converted(self.converted(x, have, single), single, want)
        rounding = ", rounding = rtne" if want.bits == 8 else ""
        return self.write(f"tt.fp_to_fp {x}{rounding} : {self.text_of(have)} -> {self.text_of(want)}")

    def bits(self, x: str, have: Type, want: Type) -> str:
        return self.write(f"tt.bitcast {x} : {self.text_of(have)} -> {self.text_of(want)}")

    # -- shapes ------------------------------------------------------------------------------------------------------------

    def broadcast(self, x: str, have: Type, want: Type, dims: Sequence[int]) -> str:
        if not have.shape:
            return self.write(f"tt.splat {x} : {self.text_of(have)} -> {self.text_of(want)}")
        shape = [1] * len(want.shape)
        for d, n in zip(dims, have.shape):
            shape[d] = n
        for axis in range(len(shape)):
            if axis not in dims:
                grown = have.reshaped((*have.shape[:axis], 1, *have.shape[axis:]))
                x, have = self.write(f"tt.expand_dims {x} {{axis = {axis} : i32}} : {self.text_of(have)} -> {self.text_of(grown)}"), grown
        if have.shape == want.shape:
            return x
        return self.write(f"tt.broadcast {x} : {self.text_of(have)} -> {self.text_of(want)}")

    def reshape(self, x: str, have: Type, shape: tuple) -> str:
        if not shape:
            one = have.reshaped((1,))
            return self.write(f"tt.unsplat {self.reshaped(x, have, (1,))} : {self.text_of(one)}")
        long = [k for k, n in enumerate(shape) if n != 1]
        if have.shape == tuple(shape[k] for k in long) and len(shape) > len(have.shape):
            return self.broadcast(x, have, have.reshaped(shape), long)
        return self.write(f"tt.reshape {x} : {self.text_of(have)} -> {self.text_of(have.reshaped(shape))}")

    def _transpose(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        return self.turned(self.values[op.operands[0]], have, want, list(op.attributes["permutation"]))

    def turned(self, x: str, have: Type, want: Type, order: Sequence[int]) -> str:
        return self.write(f"tt.trans {x} {{order = array<i32: {', '.join(map(str, order))}>}} : {self.text_of(have)} -> {self.text_of(want)}")

    def _iota(self, op):
        kind = Type.of(op.results[0])
        axis = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        number = kind.of_element("i32")
        return self.converted(self.count_along(axis, kind.shape), number, kind)

    def count_along(self, axis: int, shape: Sequence[int]) -> str:
        """Integers of ``shape`` that count along one axis."""
        line, whole = Type((shape[axis],), "i32"), Type(shape, "i32")
        name = self.write(f"tt.make_range {{end = {shape[axis]} : i32, start = 0 : i32}} : {self.text_of(line)}")
        return self.broadcast(name, line, whole, (axis,)) if len(shape) > 1 else name

    def reduce(self, name: str, x: str, have: Type, start: str, axes: tuple) -> str:
        place = 0 if have.is_float else 2 if have.unsigned else 1
        combine = _REDUCTIONS.get(name, (None,) * 3)[place]
        if combine is None or have.element == "i1":
            raise self.refuse(f"reduction by {name} of {have.element}")
        for axis in sorted(axes, reverse=True):
            left = have.reshaped((*have.shape[:axis], *have.shape[axis + 1:]))
            a, b, c, found = self.new(), self.new(), self.new(), self.new()
            self.lines += [f'{found} = "tt.reduce"({x}) <{{axis = {axis} : i32}}> ({{', f"^bb0({a}: {have.element}, {b}: {have.element}):",
                           f"{c} = {combine} {a}, {b} : {have.element}", f"tt.reduce.return {c} : {have.element}",
                           f"}}) : ({self.text_of(have)}) -> {self.text_of(left)}"]
            x, have = found, left
        return self.op(combine, have, x, self.spread(start, have.reshaped(()), have))

    def _reduce_window(self, op):
        """Running reductions: windows that begin, or end, with the axis."""
        name, axis, back = self.running(op)
        x, kind = self.values[op.operands[0]], Type.of(op.operands[0])
        combine = _REDUCTIONS.get(name, (None,) * 3)[0 if kind.is_float else 2 if kind.unsigned else 1]
        if combine is None:
            raise self.refuse(f"running {name} of {kind.element}")
        a, b, c, found = self.new(), self.new(), self.new(), self.new()
        self.lines += [f'{found} = "tt.scan"({x}) <{{axis = {axis} : i32, reverse = {str(back).lower()}}}> ({{',
                       f"^bb0({a}: {kind.element}, {b}: {kind.element}):", f"{c} = {combine} {a}, {b} : {kind.element}",
                       f"tt.scan.return {c} : {kind.element}", f"}}) : ({self.text_of(kind)}) -> {self.text_of(kind)}"]
        return found

    def memory_take_along(self, op: Operation, axis: int):
        x, places = op.operands
        return self.write(f"tt.gather {self.values[x]}[{self.values[places]}] {{axis = {axis} : i32}} : ({self.text_of(Type.of(x))}, "
                          f"{self.text_of(Type.of(places))}) -> {self.text_of(Type.of(op.results[0]))}")

    def _slice(self, op):
        """A half along one axis, or a half of a half and so on."""
        x, kind, want = self.values[op.operands[0]], Type.of(op.operands[0]), Type.of(op.results[0])
        first, strides = list(op.attributes["start_indices"]), list(op.attributes["strides"])
        axes = [k for k, (m, n) in enumerate(zip(kind.shape, want.shape)) if m != n]
        if len(axes) != 1 or any(s != 1 for s in strides):
            raise self.refuse("stablehlo.slice but for a half along one axis")
        axis, = axes
        start, size = first[axis], want.shape[axis]
        while kind.shape[axis] > size:
            half = kind.shape[axis] // 2
            which = start // half
            if size > half or kind.shape[axis] % 2 or start % half + size > half:
                raise self.refuse("stablehlo.slice but for a half along one axis")
            pair = kind.reshaped((*kind.shape[:axis], 2, half, *kind.shape[axis + 1:]))
            order = [k for k in range(len(pair.shape)) if k != axis] + [axis]
            last, kept = pair.reshaped([pair.shape[k] for k in order]), kind.reshaped((*kind.shape[:axis], half, *kind.shape[axis + 1:]))
            apart = self.turned(self.reshaped(x, kind, pair.shape), pair, last, order)
            name = self.new()
            self.lines.append(f"{name}:2 = tt.split {apart} : {self.text_of(last)} -> {self.text_of(kept)}")
            x, kind, start = f"{name}#{which}", kept, start % half
        return x

    def _concatenate(self, op):
        """Two, four, ... arrays of one shape: pairs are joined along a new last axis, which then goes in front of the one that they lie along."""
        axis, kind = ir.IntegerAttr(op.attributes["dimension"]).value, Type.of(op.operands[0])
        pieces = [self.values[x] for x in op.operands]
        if len(pieces) & (len(pieces) - 1) or any(Type.of(x).shape != kind.shape for x in op.operands):
            raise self.refuse("stablehlo.concatenate but of two, four, ... arrays of one shape")
        while len(pieces) > 1:
            pair = kind.reshaped((*kind.shape, 2))
            order = [*range(axis), len(kind.shape), *range(axis, len(kind.shape))]
            turned, longer = pair.reshaped([pair.shape[k] for k in order]), kind.reshaped((*kind.shape[:axis], 2 * kind.shape[axis], *kind.shape[axis + 1:]))
            joined = [self.write(f"tt.join {a}, {b} : {self.text_of(kind)} -> {self.text_of(pair)}") for a, b in zip(pieces[::2], pieces[1::2])]
            pieces = [self.reshaped(self.turned(x, pair, turned, order), turned, longer.shape) for x in joined]
            kind = longer
        return pieces[0]

    def _dot_general(self, op):
        a, b, want = Type.of(op.operands[0]), Type.of(op.operands[1]), Type.of(op.results[0])
        numbers = dot_numbers(op)
        if len(a.shape) != 2 or len(b.shape) != 2 or len(numbers["lhs_contracting_dimensions"]) != 1:
            raise self.refuse("product of other arrays than two matrices")
        x, y = (self.values[v] for v in op.operands)
        if numbers["lhs_contracting_dimensions"] == [0]:
            turned = a.reshaped(a.shape[::-1])
            x, a = self.turned(x, a, turned, (1, 0)), turned
        if numbers["rhs_contracting_dimensions"] == [1]:
            turned = b.reshaped(b.shape[::-1])
            y, b = self.turned(y, b, turned, (1, 0)), turned
        if min(*a.shape, *b.shape) < _SMALLEST_PRODUCT:
            raise ValueError(f"pallas_call {self.name}: a product of blocks of shapes {a.shape} and {b.shape}; on GPUs each side of a factor has at least "
                             f"{_SMALLEST_PRODUCT} elements.")
        exact = "precision_config" in op.attributes and "HIGHEST" in str(op.attributes["precision_config"])
        wide = want.of_element(("f64" if want.element == "f64" else "f32") if want.is_float else "i32")
        found = self.write(f"tt.dot {x}, {y}, {self.constant(0, wide)}, inputPrecision = {'ieee' if exact else 'tf32'} : {self.text_of(a)} * "
                           f"{self.text_of(b)} -> {self.text_of(wide)}")
        return self.converted(found, wide, want)

    # -- memory --------------------------------------------------------------------------------------------------------------

    def _long(self, x: str) -> str:
        return self.write(f"arith.extsi {x} : i32 to i64")

    def _pointers(self, memory: Memory, config: str, operands: Sequence[Any], shape: tuple) -> tuple[str, str | None]:
        """Pointers to the elements of a part, and the mask of those that are in bounds; None where all are."""
        entries = config.split(",") if config else [f"0+{n}*1" for n, s in zip(memory.sizes, memory.seen) if s]
        given, moving = iter(entries), iter(operands)
        strides = [math.prod(memory.shape[k + 1:]) for k in range(len(memory.shape))]
        number, whole = Type((), "i32"), Type(shape, "i32")
        offset, spread, mask, axis = self.write("arith.constant 0 : i64"), None, None, 0
        arrays = any(e == "?" for e in entries) and shape != ()
        for k, (start, stride) in enumerate(zip(memory.starts, strides)):
            entry = next(given) if memory.seen[k] else "0"
            first, _, rest = entry.partition("+")
            along = None
            if first == "?":
                x = next(moving)
                kind = Type.of(x)
                name = self.converted(self.values[x], kind, kind.of_element("i32"))
                if kind.shape:
                    along = name if kind.shape == shape else self.broadcast(name, kind.of_element("i32"), whole, range(len(kind.shape)))
                else:
                    start = self.op("arith.addi", number, start, name)
            elif first != "0":
                start = self.op("arith.addi", number, start, self.constant(int(first), number))
            if rest:
                if arrays and any(Type.of(v).shape for v in operands):
                    raise self.refuse("array of indices beside a slice")
                size, _, step = rest.partition("*")
                along = self.count_along(axis, shape)
                if step != "1":
                    along = self.op("arith.muli", whole, along, self.constant(int(step), whole))
                axis += 1
            offset = self._moved(offset, start, stride)
            if along is None:
                continue
            if not memory.whole[k]:
                here = self.op("arith.addi", whole, along, self.broadcast(start, number, whole, ()) if shape else start)
                inside = self.compared("LT", whole, here, self.constant(memory.shape[k], whole))
                mask = inside if mask is None else self.op("arith.andi", whole.of_element("i1"), mask, inside)
            step = along if stride == 1 else self.op("arith.muli", whole, along, self.constant(stride, whole))
            spread = step if spread is None else self.op("arith.addi", whole, spread, step)
        one = f"!tt.ptr<{memory.stored}>"
        base = self.write(f"tt.addptr {memory.pointer}, {offset} : {one}, i64")
        if not shape:
            return base, None
        text = f"tensor<{''.join(f'{n}x' for n in shape)}{one}>"
        many = self.write(f"tt.splat {base} : {one} -> {text}")
        return many if spread is None else self.write(f"tt.addptr {many}, {spread} : {text}, {self.text_of(whole)}"), mask

    def _moved(self, offset: str, start: str, stride: int) -> str:
        long = Type((), "i64")
        step = self._long(start)
        return self.op("arith.addi", long, offset, step if stride == 1 else self.op("arith.muli", long, step, self.constant(stride, long)))

    def _pointer_text(self, memory: Memory, shape: tuple) -> str:
        one = f"!tt.ptr<{memory.stored}>"
        return f"tensor<{''.join(f'{n}x' for n in shape)}{one}>" if shape else one

    def _both(self, kind: Type, a: str | None, b: str | None) -> str | None:
        if a is None or b is None:
            return a or b
        return self.op("arith.andi", kind.of_element("i1"), a, b)

    def _load(self, memory: Memory, config: str, operands: Sequence[Any], want: Type, mask: str | None = None,
              other: str | None = None) -> str:
        pointers, inside = self._pointers(memory, config, operands, want.shape)
        both, stored = self._both(want, mask, inside), want.of_element(memory.stored)
        text = f"tt.load {pointers}"
        if both is not None:
            fill = self.constant(0, stored) if other is None else self.converted(other, want, stored)
            text += f", {both}, {fill}"
        found = self.write(f"{text} : {self._pointer_text(memory, want.shape)}")
        return self.converted(found, stored, want)

    def _store(self, memory: Memory, config: str, operands: Sequence[Any], value: str, have: Type, mask: str | None = None) -> None:
        pointers, inside = self._pointers(memory, config, operands, have.shape)
        both = self._both(have, mask, inside)
        stored = self.converted(value, have, have.of_element(memory.stored))
        self.lines.append(f"tt.store {pointers}, {stored}{'' if both is None else ', ' + both} : {self._pointer_text(memory, have.shape)}")

    def memory_masked_load(self, op: Operation, config: str):
        ref, mask, other, *operands = op.operands
        return self._load(self.references[ref], config, operands, Type.of(op.results[0]), self.values[mask], self.values[other])

    def memory_masked_swap(self, op: Operation, config: str):
        ref, value, mask, *operands = op.operands
        memory, kind = self.references[ref], Type.of(value)
        before = self._load(memory, config, operands, kind, self.values[mask]) if list(op.results[0].uses) else ""
        self._store(memory, config, operands, self.values[value], kind, self.values[mask])
        return before

    def memory_atomic_rmw(self, op: Operation, config: str, how):
        ref, value, mask, *operands = op.operands
        memory, kind = self.references[ref], Type.of(value)
        word = _ATOMICS[how][0 if kind.is_float else 2 if kind.unsigned else 1]
        if word is None or kind.element == "i1":
            raise self.refuse(f"atomic_{how} of {kind.element}")
        pointers, inside = self._pointers(memory, config, operands, kind.shape)
        both = self._both(kind, self.values[mask], inside)
        text = self.text_of(kind)
        return self.write(f"tt.atomic_rmw {word}, acq_rel, gpu, {pointers}, {self.values[value]}, {both} : "
                          f"({self._pointer_text(memory, kind.shape)}, {text}, {self.text_of(kind.of_element('i1'))}) -> {text}")

    def memory_atomic_cas(self, op: Operation, _=""):
        ref, compared, value = op.operands
        kind = Type.of(value)
        if kind.bits not in (16, 32, 64):
            raise self.refuse(f"atomic_cas of {kind.element}")
        pointer, _ = self._pointers(self.references[ref], "", (), ())
        text = self.text_of(kind)
        return self.write(f"tt.atomic_cas acq_rel, gpu, {pointer}, {self.values[compared]}, {self.values[value]} : "
                          f"({self._pointer_text(self.references[ref], ())}, {text}, {text}) -> {text}")

    def memory_elementwise_inline_asm(self, op: Operation, asm: str, constraints: str, pack: str) -> list[str]:
        kinds, wanted = ([Type.of(x) for x in xs] for xs in (op.operands, op.results))
        name, n = self.new(), len(wanted)
        arguments, types, results = (", ".join(texts) for texts in ([self.values[x] for x in op.operands], map(self.text_of, kinds), map(self.text_of, wanted)))
        self.lines.append(f"{name}{f':{n}' if n > 1 else ''} = tt.elementwise_inline_asm {printed(asm)} {{constraints = {printed(constraints)}, "
                          f"packed_element = {pack} : i32, pure = true}} {arguments}{' : ' + types if kinds else ''} -> {results}")
        return [name] if n == 1 else [f"{name}#{k}" for k in range(n)]

    def memory_print(self, op: Operation, text):
        kinds = [Type.of(x) for x in op.operands]
        signs = ", ".join(str(int(not k.unsigned)) for k in kinds)
        self.lines.append(f'"tt.print"({", ".join(self.values[x] for x in op.operands)}) <{{prefix = {printed(text)}, hex = false, '
                          f'isSigned = array<i32{": " + signs if signs else ""}>}}> : ({", ".join(map(self.text_of, kinds))}) -> ()')

    def memory_assert(self, op: Operation, text):
        self.lines.append(f"tt.assert {self.values[op.operands[0]]}, {printed(text)} : i1")

    def memory_delay(self, op: Operation, _=""):
        """Nothing: there are no copies that could race."""

    def memory_new_ref(self, op: Operation, *_):
        raise self.refuse("memory of a kernel's own (run_scoped)")

    memory_empty_ref = memory_new_ref


# -- the module ------------------------------------------------------------------------------------------------------------

def _indices(write: TritonTranslation, grid: Sequence[int]) -> tuple[list[str], list[int]]:
    """Names of the step's indices, and the sizes of the three axes that a GPU has; axes in front of the last two share the first."""
    last = list(grid[max(len(grid) - 2, 0):]) if len(grid) > 3 else list(grid)
    shared = list(grid[:len(grid) - 2]) if len(grid) > 3 else []
    sizes = ([math.prod(shared)] if shared else []) + last
    axes = [write.write(f"tt.get_program_id {'xyz'[k]} : i32") for k in range(len(sizes))]
    if not shared:
        return axes, [*sizes, 1, 1, 1][:3]
    number, scalar, found = axes[0], Type((), "i32"), []
    for n in reversed(shared):
        size = write.constant(n, scalar)
        found.append(write.op("arith.remsi", scalar, number, size))
        number = write.op("arith.divsi", scalar, number, size)
    return found[::-1] + axes[1:], [*sizes, 1, 1, 1][:3]


def _within(outer: TritonTranslation, closed: ClosedJaxpr, ids: Sequence[str], memories: Sequence[Memory]) -> list[str]:
    """The results of a program of indices and references, written into ``outer``."""
    inner = TritonTranslation(outer.name, parsed(closed, "triton"))
    inner.lines, inner.count = outer.lines, outer.count
    for v, memory in zip(list(inner.functions["main"].regions[0].blocks[0].arguments)[len(ids):], memories):
        inner.references[v] = memory
    outs = inner.function("main", [*ids, *[None] * len(memories)])
    outer.count = inner.count
    return outs


def _block(write: TritonTranslation, pointer: str, operand: Any, ids: Sequence[str], scalars: Sequence[Memory]) -> Memory:
    starts, number = [], Type((), "i32")
    element = element_text(operand.aval.dtype).removeprefix("u")
    if any(hasattr(d, "padding") and any(d.padding) for d in operand.block):
        raise NotImplementedError(f"pallas_call {write.name}, {operand.name}: padding of pl.Element is not compiled for GPUs here; pad the array, "
                                  "or pass interpret=True.")
    for d, i in zip(operand.block, _within(write, operand.index_map, ids, scalars)):
        size = getattr(d, "block_size", 1)
        starts.append(i if size == 1 or hasattr(d, "padding") else write.op("arith.muli", number, i, write.constant(size, number)))
    whole = [n % size == 0 and not hasattr(d, "padding") for d, n, size in zip(operand.block, operand.aval.shape, operand.sizes)]
    return Memory(pointer, element, operand.aval.shape, starts, operand.sizes, [hasattr(d, "block_size") for d in operand.block], whole)


def _whole(pointer: str, ref: AbstractRef, zero: str) -> Memory:
    rank = len(ref.shape)
    return Memory(pointer, element_text(ref.dtype).removeprefix("u"), ref.shape, [zero] * rank, ref.shape, [True] * rank, [True] * rank)


def module_text(program: Any, name: str) -> tuple[str, list[int]]:
    """The Triton module of a program, and the sizes of its grid."""
    options = program.options
    if program.dynamic:
        raise NotImplementedError(f"pallas_call {options.name}: grids whose size is known at run time only are not compiled for GPUs here; "
                                  "give integers, or pass interpret=True.")
    if program.scratch:
        raise NotImplementedError(f"pallas_call {options.name}: on GPUs the steps of a grid run side by side, and there is no scratch memory that "
                                  "they keep; go over the blocks in a loop inside the kernel, or pass interpret=True.")
    if any(o.aval.dtype.kind == "c" for o in (*program.inputs, *program.outputs)):
        raise NotImplementedError(f"pallas_call {options.name}: kernels for GPUs have no complex numbers; give their real and imaginary parts apart, or pass "
                                  "interpret=True.")
    write = TritonTranslation(options.name, parsed(program.kernel, "triton"))
    pointers = [f"%p{k}" for k in range(len(program.scalars) + len(program.inputs) + len(program.outputs))]
    ids, sizes = _indices(write, program.grid)
    zero = write.constant(0, Type((), "i32"))
    scalars = [_whole(p, r, zero) for p, r in zip(pointers, program.scalars)]
    blocks = [_block(write, p, o, ids, scalars)
              for p, o in zip(pointers[len(scalars):], [*program.inputs, *program.outputs])]
    memories = [*scalars, *blocks]
    for v, memory in zip(list(write.functions["main"].regions[0].blocks[0].arguments)[len(ids):], memories):
        write.references[v] = memory
    write.function("main", [*ids, *[None] * len(memories)])
    arguments = ", ".join(f"{p}: !tt.ptr<{m.stored}> {{tt.divisibility = 16 : i32}}" for p, m in zip(pointers, memories))
    body = "\n".join(write.lines)
    return f"module @{name} {{\ntt.func public @{name}({arguments}) {{\n{body}\ntt.return\n}}\n}}\n", sizes


def checked(text: str) -> str:
    """The module as the bindings print it, after they have verified it."""
    with kernel_context("triton"), ir.Location.unknown():
        module = ir.Module.parse(text)
        module.operation.verify()
        return str(module)


def emit(b: Builder, program: Any, operands: Sequence[Value]) -> list:
    """The call of the program on operands; its results."""
    name, params = "kernel", program.options.compiler_params
    text, (x, y, z) = module_text(program, name)
    config = (f"{{debug = false, grid_x = {x} : i32, grid_y = {y} : i32, grid_z = {z} : i32, ir = {quoted(checked(text))}, name = {quoted(name)}, "
              f"num_stages = {getattr(params, 'num_stages', None) or 3} : i32, num_warps = {getattr(params, 'num_warps', None) or 4} : i32}}")
    order = lambda aval: tuple(range(len(aval.shape)))[::-1]
    first = len(program.scalars)
    return b.custom_call(
        "__gpu$xla.gpu.triton", *operands, out=program.out_avals, backend_config="", api_version=1, extra=f"mhlo.backend_config = {config}",
        operand_layouts=[order(v.aval) for v in operands], result_layouts=[order(a) for a in program.out_avals],
        output_operand_aliases={first + i: o for i, o in program.aliases})
