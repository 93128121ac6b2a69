"""Files of the programs that are compiled, in the directory of `jax_dump_ir_to`; `jax_dump_ir_modes` says in which forms.

They are numbered in the order in which programs are compiled in this process.
"""
from __future__ import annotations

import itertools
import os
import re
from typing import TYPE_CHECKING

from ..configuration import flags

if TYPE_CHECKING:
    from ..interfaces import LoweredModule, LowerSpec
    from ..representation.jaxpr import ClosedJaxpr

_numbers = itertools.count()


def dump(closed: ClosedJaxpr, module: LoweredModule, spec: LowerSpec) -> None:
    """Write the program as ``jax_ir0000_jit_f_compile.mlir`` and, if asked for, ``jax_000000_f.jaxpr.txt``."""
    folder = flags.dump_ir_to.value
    if folder == "sponge":  # where the test runners of Bazel want what a test leaves
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", "")
        if not folder:
            raise ValueError("jax_dump_ir_to='sponge' needs the environment variable TEST_UNDECLARED_OUTPUTS_DIR")
    modes = [mode.strip() for mode in flags.dump_ir_modes.value.split(",")]
    number, name = next(_numbers), re.sub(r"[^\w.-]", "_", spec.name)
    os.makedirs(folder, exist_ok=True)
    if "stablehlo" in modes:
        _write(folder, f"jax_ir{number:04d}_{module.name}_compile.mlir", module.text(debug_info=flags.include_debug_info_in_dumps.value))
    if "jaxpr" in modes:
        _write(folder, f"jax_{number:06d}_{name}.jaxpr.txt", str(closed))


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
