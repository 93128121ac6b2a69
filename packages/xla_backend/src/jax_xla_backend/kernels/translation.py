"""A kernel's body as text in the dialects `arith`, `math` and `scf`, which the compilers of kernels share.

`Translation` walks over the StableHLO operations of a function. A tensor of rank 0 becomes a scalar, any other one a ``vector`` or
``tensor`` of the compiler, so that an elementwise operation is one operation in either case. What depends on the compiler
(broadcasts, reductions, products, memory) its subclasses say.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.interfaces import LowerSpec
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.transformations.manual import AxisEnv

from ..jaxlib_compat import bindings, kernel_dialect, mlir_context
from ..lowering.module import lower_module
from ..lowering.outside_calls import quoted

if TYPE_CHECKING:
    from ..jaxlib_compat import Operation

ir = bindings("ir")


def kernel_context(compiler: str) -> Any:
    """A context of the bindings for modules of ``compiler``, ``"mosaic"`` or ``"triton"``; what a module holds is loaded when it is read."""
    context = mlir_context()
    context.enable_multithreading(False)  # the modules are small
    kernel_dialect(compiler).register_dialect(context)
    return context


def parsed(closed: ClosedJaxpr, compiler: str, env: AxisEnv | None = None) -> Any:
    """The StableHLO module of a kernel's body, read with the bindings.

    Args:
      compiler: ``"mosaic"`` or ``"triton"``.
      env: the manual region that the kernel is called in.
    """
    text = lower_module(closed, LowerSpec(name="kernel", keep_unused=True), platform=compiler, axis_env=env).text()
    with kernel_context(compiler), ir.Location.unknown():
        return ir.Module.parse(text)


class Type:
    """Shape and element of a tensor; ``element`` has no sign, which ``unsigned`` tells."""

    __slots__ = ("shape", "element", "unsigned")

    def __init__(self, shape: Sequence[int], element: str, unsigned: bool = False):
        self.shape, self.element, self.unsigned = tuple(shape), element, unsigned

    @staticmethod
    def of(value: Any) -> Type:
        """That of a value of the bindings."""
        kind = ir.RankedTensorType(value.type)
        element = str(kind.element_type)
        return Type(kind.shape, element.removeprefix("u"), element.startswith("ui"))

    @property
    def is_float(self) -> bool:
        return self.element.startswith(("f", "bf"))

    @property
    def bits(self) -> int:
        found = re.search(r"\d+", self.element)
        return int(found.group()) if found else 0

    def reshaped(self, shape: Sequence[int]) -> Type:
        return Type(shape, self.element, self.unsigned)

    def of_element(self, element: str) -> Type:
        return Type(self.shape, element)


BINARY = {  # floats, signed integers, unsigned integers, booleans
    "add": ("arith.addf", "arith.addi", "arith.addi", "arith.ori"), "subtract": ("arith.subf", "arith.subi", "arith.subi", "arith.xori"),
    "multiply": ("arith.mulf", "arith.muli", "arith.muli", "arith.andi"), "divide": ("arith.divf", "arith.divsi", "arith.divui", None),
    "remainder": ("arith.remf", "arith.remsi", "arith.remui", None),
    "maximum": ("arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"),
    "minimum": ("arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"),
    "and": (None, "arith.andi", "arith.andi", "arith.andi"), "or": (None, "arith.ori", "arith.ori", "arith.ori"),
    "xor": (None, "arith.xori", "arith.xori", "arith.xori"), "shift_left": (None, "arith.shli", "arith.shli", None),
    "shift_right_arithmetic": (None, "arith.shrsi", "arith.shrsi", None), "shift_right_logical": (None, "arith.shrui", "arith.shrui", None),
    "power": ("math.powf", None, None, None), "atan2": ("math.atan2", None, None, None),
    "next_after": ("math.nextafter", None, None, None)}
_UNARY = {"exponential": "math.exp", "log": "math.log", "log_plus_one": "math.log1p", "tanh": "math.tanh", "rsqrt": "math.rsqrt",
          "sqrt": "math.sqrt", "sine": "math.sin", "cosine": "math.cos", "tan": "math.tan", "floor": "math.floor", "ceil": "math.ceil",
          "round_nearest_even": "math.roundeven", "round_nearest_afz": "math.round", "exponential_minus_one": "math.expm1",
          "erf": "math.erf", "cbrt": "math.cbrt",
          "popcnt": "math.ctpop", "count_leading_zeros": "math.ctlz",
          "erfc": "math.erfc", "erf_inv": "math.erf_inv", "lgamma": "math.lgamma", "asin": "math.asin", "acos": "math.acos", "atan": "math.atan",
          "sinh": "math.sinh", "cosh": "math.cosh", "asinh": "math.asinh", "acosh": "math.acosh", "atanh": "math.atanh"}
_FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}
"""Bits of the exponent and of the mantissa."""
_INFINITIES = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}
_FLOAT_COMPARISONS = {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"}
_INTEGER_COMPARISONS = {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"}


class Translation:
    """Writes the body of one function.

    Attributes:
      name: of the kernel, for messages.
      lines: the text so far.
      values: names by values of the bindings.
    """

    compiler = ""
    shaped = ""
    """What the compiler calls a type with a shape: ``vector`` or ``tensor``."""
    flags = "i32"
    """Elements that truth values are reduced as."""

    def __init__(self, name: str, module: Any):
        self.name, self.module = name, module
        self.functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations}
        self.lines: list[str] = []
        self.values: dict[Any, str] = {}
        self.references: dict[Any, Any] = {}
        self.count = 0

    # -- writing ---------------------------------------------------------------------------------------------------------

    def refuse(self, what: str) -> Exception:
        return NotImplementedError(f"pallas_call {self.name}: {self.compiler} has no {what} in kernels here; write it in other operations, or pass "
                                   "interpret=True.")

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def text_of(self, kind: Type) -> str:
        """A type's text."""
        return f"{self.shaped}<{''.join(f'{n}x' for n in kind.shape)}{kind.element}>" if kind.shape else kind.element

    def write(self, text: str) -> str:
        """An operation with one result; its name."""
        name = self.new()
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: object, kind: Type) -> str:
        """A constant of which all elements are ``value``, given as text or as a number."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{value:.9e}" if kind.is_float else str(int(value))
        value = str(value).lower() if isinstance(value, bool) else value
        if not kind.shape:
            return self.write(f"arith.constant {value}" + ("" if kind.element == "i1" else f" : {kind.element}"))
        return self.write(f"arith.constant dense<{value}> : {self.text_of(kind)}")

    def op(self, name: str, kind: Type, *operands: str) -> str:
        """An elementwise operation whose operands and result have the type ``kind``."""
        return self.write(f"{name} {', '.join(operands)} : {self.text_of(kind)}")

    # -- what a compiler has of its own --------------------------------------------------------------------------------------

    def broadcast(self, x: str, have: Type, want: Type, dims: Sequence[int]) -> str:
        """``x`` in the shape of ``want``, of which its axes are ``dims``; a scalar has none."""
        raise NotImplementedError

    def reshape(self, x: str, have: Type, shape: tuple) -> str:
        """``x``, which is no scalar, in another shape."""
        raise NotImplementedError

    def reduce(self, name: str, x: str, have: Type, start: str, axes: tuple) -> str:
        """``x`` with some axes combined by the operation ``name``, beginning with ``start``."""
        raise NotImplementedError

    # -- walking ---------------------------------------------------------------------------------------------------------

    def block(self, block: Any) -> list[Any]:
        """Write the operations of a block; the operands of its terminator."""
        operations = list(block.operations)
        for op in operations[:-1]:
            self.operation(op.operation)
        return list(operations[-1].operands)

    def operation(self, op: Operation) -> None:
        """Write one operation."""
        dialect, _, name = op.name.partition(".")
        method = getattr(self, "_" + name, None) if dialect in ("stablehlo", "chlo", "func") else None
        if method is not None:
            found = method(op)
        elif name in BINARY:
            found = self._binary(name, op)
        elif name in _UNARY:
            found = self.unary(_UNARY[name], Type.of(op.results[0]), self.values[op.operands[0]])
        else:
            raise self.refuse(op.name)
        names = found if isinstance(found, list) else [found]
        self.values.update(zip(op.results, names))

    def unary(self, name: str, kind: Type, x: str) -> str:
        """An elementwise function of floats."""
        return self.op(name, kind, x)

    def _binary(self, name, op):
        kind = Type.of(op.operands[0])
        place = 3 if kind.element == "i1" else 0 if kind.is_float else 2 if kind.unsigned else 1
        chosen = BINARY[name][place]
        if chosen is None:
            raise self.refuse(f"{op.name} of {kind.element}")
        return self.op(chosen, kind, *(self.values[x] for x in op.operands))

    def inside(self, write: Callable[[], str]) -> list[str]:
        """The lines that ``write`` writes, and last the one that it returns."""
        outer, self.lines = self.lines, []
        try:
            last = write()
            return [*self.lines, last]
        finally:
            self.lines = outer

    # -- operations that are alike for all compilers -----------------------------------------------------------------------

    def _constant(self, op):
        attribute, kind = op.attributes["value"], Type.of(op.results[0])
        text = re.fullmatch(r"dense<(.*)> : tensor<.*>", str(attribute), re.DOTALL)
        if text is None:
            raise self.refuse("constant of many elements")
        return self.constant(text.group(1), kind)

    def _square(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        return self.op("arith.mulf", kind, x, x)

    def _reduce_precision(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        bits = tuple(ir.IntegerAttr(op.attributes[name]).value for name in ("exponent_bits", "mantissa_bits"))
        own = _FORMATS.get(kind.element)
        if own is not None and bits[0] >= own[0] and bits[1] >= own[1]:
            return x
        for element, found in _FORMATS.items():
            if found == bits:
                narrow = kind.of_element(element)
                return self.converted(self.converted(x, kind, narrow), narrow, kind)
        raise self.refuse(f"reduce_precision to {bits[0]} and {bits[1]} bits")

    def _negate(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        return self.op("arith.negf", kind, x) if kind.is_float else self.op("arith.subi", kind, self.constant(0, kind), x)

    def _not(self, op):
        kind = Type.of(op.results[0])
        ones = self.constant(True if kind.element == "i1" else -1, kind)
        return self.op("arith.xori", kind, self.values[op.operands[0]], ones)

    def _abs(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        if kind.is_float:
            return self.op("math.absf", kind, x)
        return self.op("arith.maxsi", kind, x, self.op("arith.subi", kind, self.constant(0, kind), x))

    def _sign(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        zero, one, minus = (self.constant(v, kind) for v in (0, 1, -1))
        positive, negative = self.compared("GT", kind, x, zero), self.compared("LT", kind, x, zero)
        return self.selected(kind, positive, one, self.selected(kind, negative, minus, x if kind.is_float else zero))

    def _logistic(self, op):
        kind, x = Type.of(op.results[0]), self.values[op.operands[0]]
        one = self.constant(1, kind)
        return self.op("arith.divf", kind, one, self.op("arith.addf", kind, one, self.unary("math.exp", kind, self.op("arith.negf", kind, x))))

    def _clamp(self, op):
        kind = Type.of(op.results[0])
        low, x, high = (self.spread(self.values[v], Type.of(v), kind) for v in op.operands)
        most, least = ("arith.maximumf", "arith.minimumf") if kind.is_float else ("arith.maxsi", "arith.minsi")
        return self.op(least, kind, self.op(most, kind, low, x), high)

    def spread(self, name: str, have: Type, want: Type) -> str:
        """A scalar as a value of many elements."""
        return name if have.shape == want.shape else self.broadcast(name, have, want, ())

    def compared(self, how: str, kind: Type, x: str, y: str) -> str:
        if kind.is_float:
            return self.op(f"arith.cmpf {_FLOAT_COMPARISONS[how]},", kind, x, y)
        if kind.element == "i1" and how in ("EQ", "NE"):
            differ = self.op("arith.xori", kind, x, y)
            return differ if how == "NE" else self.op("arith.xori", kind, differ, self.constant(True, kind))
        word = _INTEGER_COMPARISONS[how]
        return self.op(f"arith.cmpi {word.replace('s', 'u', 1) if kind.unsigned and word[0] == 's' else word},", kind, x, y)

    def _compare(self, op):
        how = re.search(r"comparison_direction (\w+)", str(op.attributes["comparison_direction"])).group(1)
        return self.compared(how, Type.of(op.operands[0]), *(self.values[x] for x in op.operands))

    def selected(self, kind: Type, condition: str, x: str, y: str) -> str:
        flags = self.text_of(kind.of_element("i1"))
        return self.write(f"arith.select {condition}, {x}, {y} : {flags + ', ' if kind.shape else ''}{self.text_of(kind)}")

    def _is_finite(self, op):
        kind, x = Type.of(op.operands[0]), self.values[op.operands[0]]
        if kind.element not in _INFINITIES:
            raise self.refuse(f"is_finite of {kind.element}")
        return self.compared("LT", kind, self.op("math.absf", kind, x), self.constant(_INFINITIES[kind.element], kind))

    def _select(self, op):
        kind = Type.of(op.results[0])
        condition, x, y = op.operands
        flag = self.spread(self.values[condition], Type.of(condition), kind.of_element("i1"))
        return self.selected(kind, flag, self.values[x], self.values[y])

    def _convert(self, op):
        return self.converted(self.values[op.operands[0]], Type.of(op.operands[0]), Type.of(op.results[0]))

    def converted(self, x: str, have: Type, want: Type) -> str:
        """``x`` with other elements."""
        if have.element == want.element:
            return x
        if want.element == "i1":
            return self.compared("NE", have, x, self.constant(0, have))
        unsigned = have.unsigned or have.element == "i1"
        if have.is_float and want.is_float:
            if have.bits == want.bits:  # between float16 and bfloat16
                single = have.of_element("f32")
                return self.converted(self.converted(x, have, single), single, want)
            name = "arith.extf" if have.bits < want.bits else "arith.truncf"
        elif have.is_float:
            name = "arith.fptoui" if want.unsigned else "arith.fptosi"
        elif want.is_float:
            name = "arith.uitofp" if unsigned else "arith.sitofp"
        elif have.bits == want.bits:
            return x
        else:
            name = ("arith.extui" if unsigned else "arith.extsi") if have.bits < want.bits else "arith.trunci"
        return self.write(f"{name} {x} : {self.text_of(have)} to {self.text_of(want)}")

    def _bitcast_convert(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        if have.shape != want.shape:
            raise self.refuse("change of width of bits")
        return self.bits(self.values[op.operands[0]], have, want)

    def bits(self, x: str, have: Type, want: Type) -> str:
        return self.write(f"arith.bitcast {x} : {self.text_of(have)} to {self.text_of(want)}")

    def _broadcast_in_dim(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        x = self.values[op.operands[0]]
        if have.shape == want.shape:
            return x
        return self.broadcast(x, have, want, tuple(op.attributes["broadcast_dimensions"]))

    def _reshape(self, op):
        have, want = Type.of(op.operands[0]), Type.of(op.results[0])
        before = _maker(op.operands[0])
        if before is not None and before.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim") and Type.of(before.operands[0]).shape == want.shape:
            return self.values[before.operands[0]]  # there and back
        return self.reshaped(self.values[op.operands[0]], have, want.shape)

    def reshaped(self, x: str, have: Type, shape: Sequence[int]) -> str:
        """``x`` in another shape."""
        if have.shape == tuple(shape):
            return x
        if not have.shape:
            return self.broadcast(x, have, have.reshaped(shape), ())
        return self.reshape(x, have, tuple(shape))

    def _reduce(self, op):
        if len(op.results) != 1:
            raise self.refuse("reduction of several operands")
        body = [inner.operation.name for inner in op.regions[0].blocks[0].operations]
        name = body[0].partition(".")[2]
        if len(body) != 2 or name not in ("add", "maximum", "minimum", "and", "or", "multiply"):
            raise self.refuse(f"reduction by {body[:-1]}")
        x, start = op.operands
        kind, axes = Type.of(x), tuple(op.attributes["dimensions"])
        if kind.element != "i1":
            return self.reduce(name, self.values[x], kind, self.values[start], axes)
        wide = kind.of_element(self.flags)  # any and all, as the largest and smallest of ones and zeros
        word = {"stablehlo.or": "maximum", "stablehlo.and": "minimum"}.get(body[0], name)
        found = self.reduce(word, self.converted(self.values[x], kind, wide), wide,
                            self.converted(self.values[start], kind.reshaped(()), wide.reshaped(())), axes)
        want = Type.of(op.results[0])
        return self.compared("GT", want.of_element(self.flags), found, self.constant(0, want.of_element(self.flags)))

    def _optimization_barrier(self, op):
        return [self.values[x] for x in op.operands]

    def _get_tuple_element(self, op):
        raise self.refuse("tuples")

    def running(self, op: Any) -> tuple[str, int, bool]:
        """Of a window reduction that is a running one: the operation, the axis, and whether it runs from the end."""
        kind, windows = Type.of(op.operands[0]), list(op.attributes["window_dimensions"])
        edges = [list(map(int, pair)) for pair in np.asarray(ir.DenseIntElementsAttr(op.attributes["padding"]))] if "padding" in op.attributes else []
        axis = next((k for k, n in enumerate(windows) if n != 1), 0)
        forward, backward = ([pair if k == axis else [0, 0] for k in range(len(windows))] for pair in ([kind.shape[axis] - 1, 0], [0, kind.shape[axis] - 1]))
        body = [inner.operation.name.partition(".")[2] for inner in op.regions[0].blocks[0].operations]
        if windows != [n if k == axis else 1 for k, n in enumerate(kind.shape)] or edges not in (forward, backward) or len(body) != 2:
            raise self.refuse("stablehlo.reduce_window that is no running sum, product or extreme")
        return body[0], axis, edges == backward

    # -- functions and control flow ----------------------------------------------------------------------------------------

    def function(self, symbol: str, arguments: Sequence[str | None]) -> list[str]:
        """Write the body of a function of the module; the names of its results. Arguments that are None are references, known already."""
        block = self.functions[symbol].regions[0].blocks[0]
        self.values.update((v, name) for v, name in zip(block.arguments, arguments) if name is not None)
        return [self.values[v] for v in self.block(block)]

    def _call(self, op):
        block = self.functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value].regions[0].blocks[0]
        for v, x in zip(block.arguments, op.operands):
            self.bind(v, x)
        return [self.values.get(v, "") for v in self.block(block)]

    def bind(self, v: object, x: object) -> None:
        """``v`` stands for ``x``, a value or a reference."""
        if x in self.references:
            self.references[v] = self.references[x]
        else:
            self.values[v] = self.values[x]

    def _case(self, op):
        index, kinds = self.values[op.operands[0]], [Type.of(v) for v in op.results]
        return self._branches(index, [r.blocks[0] for r in op.regions], kinds)

    def _branches(self, index, blocks, kinds, first=0):
        if len(blocks) == 1:
            return [self.values[v] for v in self.block(blocks[0])]
        scalar = Type((), "i32")
        is_first = self.compared("EQ", scalar, index, self.constant(first, scalar))
        return self._chosen(is_first, lambda: [self.values[v] for v in self.block(blocks[0])],
                            lambda: self._branches(index, blocks[1:], kinds, first + 1), kinds)

    def _if(self, op):
        blocks = [r.blocks[0] for r in op.regions]
        return self._chosen(self.values[op.operands[0]], lambda: [self.values[v] for v in self.block(blocks[0])],
                            lambda: [self.values[v] for v in self.block(blocks[1])], [Type.of(v) for v in op.results])

    def _chosen(self, condition: str, then: Callable, otherwise: Callable, kinds: Sequence[Type]) -> list[str]:
        types = ", ".join(map(self.text_of, kinds))
        branches = [self.inside(lambda: self.yielded(branch(), types)) for branch in (then, otherwise)]
        head = f"scf.if {condition}"
        return self.several(head, f"-> ({types}) " if kinds else "", branches, len(kinds))

    def yielded(self, names: Sequence[str], types: str) -> str:
        return f"scf.yield {', '.join(names)} : {types}" if names else "scf.yield"

    def several(self, head: str, types: str, branches: Sequence[Sequence[str]], count: int) -> list[str]:
        """Write an operation with regions; the names of its results."""
        name = self.new()
        self.lines.append(f"{name + (f':{count}' if count > 1 else '') + ' = ' if count else ''}{head} {types}{{")
        for k, lines in enumerate(branches):
            self.lines += [*([] if k == 0 else ["} else {"]), *lines]
        self.lines.append("}")
        return [name] if count == 1 else [f"{name}#{k}" for k in range(count)]

    def _while(self, op):
        condition, body = (r.blocks[0] for r in op.regions)
        counted = _counted(condition, body)
        if counted is not None:
            return self._for(op, body, *counted)
        kinds = [Type.of(v) for v in op.operands]
        types = ", ".join(map(self.text_of, kinds))
        start = [self.values[x] for x in op.operands]
        first, second = [self.new() for _ in kinds], [self.new() for _ in kinds]
        self.values.update(zip(condition.arguments, first))
        self.values.update(zip(body.arguments, second))

        def check():
            flag = self.values[self.block(condition)[0]]
            return f"scf.condition({flag}) {', '.join(first)} : {types}"
        before = self.inside(check)
        after = self.inside(lambda: self.yielded([self.values[v] for v in self.block(body)], types))
        pairs = ", ".join(f"{a} = {x}" for a, x in zip(first, start))
        name = self.new()
        self.lines += [f"{name}:{len(kinds)} = scf.while ({pairs}) : ({types}) -> ({types}) {{", *before, "} do {",
                       f"^bb0({', '.join(f'{a}: {self.text_of(k)}' for a, k in zip(second, kinds))}):", *after, "}"]
        return [name] if len(kinds) == 1 else [f"{name}#{k}" for k in range(len(kinds))]

    def _for(self, op, body, number, bound):
        """A loop that counts by one."""
        if bound not in self.values:  # a constant in the region of the condition
            self.operation(_maker(bound))
        others = [k for k in range(len(op.operands)) if k != number]
        kinds = [Type.of(op.operands[k]) for k in others]
        scalar = Type.of(op.operands[number])
        index, carried = self.new(), [self.new() for _ in others]
        self.values[body.arguments[number]] = index
        self.values.update((body.arguments[k], name) for k, name in zip(others, carried))
        start, end, one = self.values[op.operands[number]], self.values[bound], self.constant(1, scalar)
        types = ", ".join(map(self.text_of, kinds))

        def step():
            outs = self.block(body)
            return self.yielded([self.values[outs[k]] for k in others], types)
        lines = self.inside(step)
        pairs = ", ".join(f"{a} = {self.values[op.operands[k]]}" for a, k in zip(carried, others))
        head = f"scf.for {index} = {start} to {end} step {one}" + (f" iter_args({pairs})" if others else "")
        found = self.several(head, (f"-> ({types}) " if others else "") + f": {scalar.element} ", [lines], len(others))
        found.insert(number, self.op("arith.maxsi", scalar, start, end))
        return found

    # -- memory ------------------------------------------------------------------------------------------------------------

    def _custom_call(self, op):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        kind, _, name = target.partition(".")
        if kind != "kernel":
            raise self.refuse(f"call of {target}")
        config = ir.StringAttr(op.attributes["backend_config"]).value.split("|")
        method = getattr(self, "memory_" + name, None)
        if method is None:
            raise self.refuse(f"{name} of references")
        found = method(op, *config)
        return [] if found is None else found

    # what is written of memory; the compiler's own part is how it is read and written, and what `references` knows of it

    def _load(self, memory: Any, config: str, operands: Sequence[Any], want: Type) -> str:
        """The part of a memory that ``config`` and the operands choose."""
        raise NotImplementedError

    def _store(self, memory: Any, config: str, operands: Sequence[Any], value: str, have: Type) -> None:
        """Write ``value`` there."""
        raise NotImplementedError

    def memory_get(self, op: Operation, config: str):
        ref, *operands = op.operands
        return self._load(self.references[ref], config, operands, Type.of(op.results[0]))

    def memory_swap(self, op: Operation, config: str):
        ref, value, *operands = op.operands
        memory, kind = self.references[ref], Type.of(op.results[0])
        before = self._load(memory, config, operands, kind) if list(op.results[0].uses) else ""
        self._store(memory, config, operands, self.values[value], kind)
        return before

    def memory_addupdate(self, op: Operation, config: str):
        ref, value, *operands = op.operands
        kind = Type.of(value)
        old = self._load(self.references[ref], config, operands, kind)
        new = self.op("arith.addf" if kind.is_float else "arith.addi", kind, old, self.values[value])
        self._store(self.references[ref], config, operands, new, kind)

    def memory_free_ref(self, op: Operation, config: str = ""):
        """Nothing: memory is freed at the end."""

    def memory_multiple_of(self, op: Operation, values):
        return self.values[op.operands[0]]

    memory_max_contiguous = memory_multiple_of


def _counted(condition: Any, body: Any) -> tuple[int, Any] | None:
    """For the regions of a loop that counts by one up to a bound: which value of the carry counts, and the bound."""
    operations = [op.operation for op in condition.operations]
    last = operations[-2] if len(operations) > 1 else None
    if last is None or last.name != "stablehlo.compare" or "LT" not in str(last.attributes["comparison_direction"]):
        return None
    if any(op.name != "stablehlo.constant" for op in operations[:-2]):
        return None
    x, bound = last.operands
    numbers = [k for k, a in enumerate(condition.arguments) if a == x]
    if not numbers or any(a == bound for a in condition.arguments):
        return None
    number = numbers[0]
    following = _maker(list(list(body.operations)[-1].operands)[number])
    if following is None or following.name != "stablehlo.add" or following.operands[0] != body.arguments[number]:
        return None
    one = _maker(following.operands[1])
    if one is None or one.name != "stablehlo.constant" or "dense<1>" not in str(one.attributes["value"]):
        return None
    return number, bound


def _maker(value: Any) -> Any:
    """The operation whose result ``value`` is; None for an argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else getattr(owner, "operation", owner)


def dot_numbers(op: Operation) -> dict[str, list[int]]:
    """The axes of a product, by the names of StableHLO."""
    numbers = bindings("dialects.stablehlo").DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return {name: list(getattr(numbers, name)) for name in (
        "lhs_contracting_dimensions", "rhs_contracting_dimensions", "lhs_batching_dimensions", "rhs_batching_dimensions")}


def printed(code: str) -> str:
    """The text of a `pl.debug_print` as an attribute; it comes in hexadecimal digits, as it may have any characters."""
    return quoted(bytes.fromhex(code).decode())
