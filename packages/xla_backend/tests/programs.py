"""Programs for the tests: hand-written modules, so that neither tracing nor lowering is needed to test what runs them."""
from __future__ import annotations

import numpy as np

from jax_core.interfaces import FastCall, LowerSpec
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray
from jax_xla_backend import load
from jax_xla_backend.lowering.facts import Facts
from jax_xla_backend.running.executable import Executable

backend = load()
F4 = ShapedArray((4,), np.dtype(np.float32))


class Module:
    """A module as the lowering makes it."""

    def __init__(self, text, ins, outs, *, kept=None, consts=(), donated=(), ordered=(), unordered=(), callbacks=()):
        self._text, self.name, self.platform = text, "main", "cpu"
        self.facts = Facts(list(ins), tuple(range(len(ins))) if kept is None else kept, list(ins), list(outs), list(consts),
                           donated=donated, ordered_effects=list(ordered), unordered_effects=list(unordered), host_callbacks=list(callbacks))

    def text(self, debug_info=False):
        return self._text

    text_to_compile = text


def main(signature: str, body: str) -> str:
    return f"module @main {{ func.func public @main{signature} {{ {body} }} }}"


def executable(module: Module, **spec) -> Executable:
    return Executable(module, LowerSpec("main", **spec), lambda *_: module, ())


def jitted(module: Module, name: str = "f", **options):
    """A dispatched function of flat arguments with one result; ``f.misses`` counts calls that reached Python."""
    compiled = executable(module)

    def miss(*args):
        wrapper.misses += 1
        run = compiled.execute(args)
        return run.results[0], None if run.program is None else FastCall(run.program, tree.structure(0), len(args))
    call = backend.dispatcher(miss, miss, (), (), name, **options)

    def wrapper(*args):
        return call(*args)
    wrapper.misses = 0
    return wrapper


def doubled() -> Module:
    return Module(main("(%a: tensor<4xf32>) -> tensor<4xf32>",
                       "%0 = stablehlo.add %a, %a : tensor<4xf32> return %0 : tensor<4xf32>"), [F4], [F4])


def array(*values, dtype=np.float32):
    return backend.put(np.array(values or range(4), dtype))
