"""A public function is pickled by its name, and comes back as the same object: processes and stored configurations pass functions on."""
from __future__ import annotations

import importlib
import pickle
import types
import warnings

import pytest

from test_public_names import MODULES

LEFT_OUT = ("jax.experimental.pallas", "jax.extend.mlir", "jax.interpreters.mlir")  # other names for what needs a device or is only refused


def functions(module: str) -> dict[str, types.FunctionType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        namespace = importlib.import_module(module)
        found = {name: getattr(namespace, name) for name in dir(namespace) if not name.startswith("_")}
    return {name: value for name, value in found.items() if type(value) is types.FunctionType and hasattr(value, "__code__")}


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith(LEFT_OUT)])
def test_functions_come_back(module):
    wrong = []
    for name, function in functions(module).items():
        try:
            if pickle.loads(pickle.dumps(function)) is not function:
                wrong.append(name)
        except Exception as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []
