"""Modules as files of the public jax have them: one for all platforms, which takes the number of the platform first, and which may have
unknown dimensions; and what runs here, a module for one platform and for known shapes.
"""
from __future__ import annotations

from typing import Sequence

from jax_core.representation.aval import ShapedArray

from ..compiling import parsing
from ..jaxlib_compat import _jax
from ..lowering import nested_modules
from ..lowering.types import physical_aval, type_text

_NUMBER = 'tensor<i32> {jax.global_constant = "_platform_index"}'


class _Main:
    """The types of a module's public function, and what is said of its arguments and results."""

    def __init__(self, text: str):
        module = parsing.parse(text)  # must stay: its operations do not keep it
        found = [op for op in module.body.operations if "function_type" in op.attributes and op.attributes["sym_name"].value == "main"]
        attributes = found[0].attributes
        self.inputs, self.results = ([str(t) for t in types] for types in (found[0].type.inputs, found[0].type.results))
        self.of_inputs, self.of_results = (
            [str(a) if len(a) else "" for a in attributes[name]] if name in attributes else [""] * len(types)
            for name, types in (("arg_attrs", self.inputs), ("res_attrs", self.results)))


def refined(text: str, avals: Sequence[ShapedArray], platform: int | None) -> str:
    """The module for inputs of these types, on the platform of this number (None: it is for one platform).

    Raises:
      ValueError: the module's own conditions on shapes are not met.
    """
    main = _Main(text)
    known = [type_text(physical_aval(a)) for a in avals]
    names = [f"%in{i}" for i in range(len(known))]
    lines = [f"    %to{i} = stablehlo.convert {name} : ({have}) -> {want}" for i, (name, have, want) in enumerate(
        zip(names, known, main.inputs[0 if platform is None else 1:]))]
    operands = [f"%to{i}" for i in range(len(known))]
    if platform is not None:
        lines.append(f"    %platform = stablehlo.constant dense<{platform}> : tensor<i32>")
        operands.insert(0, "%platform")
    signature, results = ", ".join([f"{n}: {t}" for n, t in zip(names, known)]), ", ".join(main.results)
    lines.append(_call("%out", "in_public_format", operands, main.inputs, main.results))
    lines.append(_return("%out", main.results, "return"))
    head, _, rest = text.replace("func.func public @main(", "func.func private @in_public_format(", 1).partition("\n")
    whole = "\n".join([head, f"  func.func public @main({signature}) -> ({results}) {{", *lines, "  }", rest])
    try:
        done = _jax.mlir.refine_polymorphic_shapes(whole.encode(), True, True, "sdy." in whole)
    except Exception as error:  # whatever jaxlib makes of what a shape assertion says
        raise ValueError(f"Exported.call: the program does not take these shapes: {error}") from None
    return str(parsing.parse(done))


def for_all_platforms(texts: Sequence[str]) -> str:
    """One module that chooses between these, for the platforms in their order, while it runs."""
    main = _Main(texts[0])
    head = texts[0].partition("\n")[0]
    meshes, functions = {}, []
    distinct = list(dict.fromkeys(texts))
    for k, text in enumerate(distinct):
        own_meshes, body = nested_modules.with_names(text, f"on{k}_")
        meshes.update(dict.fromkeys(own_meshes))
        functions.append(body)
    names = [f"%in{i}" for i in range(len(main.inputs))]
    ins = ", ".join([f"%platform: {_NUMBER}", *[f"{n}: {t} {a}" for n, t, a in zip(names, main.inputs, main.of_inputs)]])
    outs = ", ".join([f"{t} {a}" for t, a in zip(main.results, main.of_results)])
    branches = ", ".join(["{\n" + _call("%r", f"on{distinct.index(text)}_main", names, main.inputs, main.results) + "\n"
                          + _return("%r", main.results, "stablehlo.return") + "\n    }" for text in texts])
    many = f":{len(main.results)}" if len(main.results) != 1 else ""
    choice = f'    {f"%out{many} = " if main.results else ""}"stablehlo.case"(%platform) ({branches}) : (tensor<i32>) -> ({", ".join(main.results)})'
    head = head.replace("attributes {", "attributes {jax.uses_shape_polymorphism = true, ", 1)
    return "\n".join([head, *meshes, f"  func.func public @main({ins}) -> ({outs}) {{", choice, _return("%out", main.results, "return"), "  }",
                      *functions, "}", ""])


def _each(value: str, types: Sequence[str]) -> str:
    return value if len(types) == 1 else ", ".join([f"{value}#{i}" for i in range(len(types))])


def _call(out: str, name: str, operands: Sequence[str], inputs: Sequence[str], results: Sequence[str]) -> str:
    given = f"{out}{f':{len(results)}' if len(results) > 1 else ''} = " if results else ""
    return f"    {given}func.call @{name}({', '.join(operands)}) : ({', '.join(inputs)}) -> ({', '.join(results)})"


def _return(value: str, types: Sequence[str], operation: str) -> str:
    return f"    {operation} {_each(value, types)} : {', '.join(types)}" if types else f"    {operation}"


__all__ = ["for_all_platforms", "refined"]
