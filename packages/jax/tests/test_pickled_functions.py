"""A public function is pickled by its name, and comes back as the same object: processes and stored configurations pass functions on."""
from __future__ import annotations

import importlib
import inspect
import pickle
import types
import warnings

import pytest

import jax
import jax.export
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


def test_their_home_is_the_public_module():
    """A pickle, `help` and messages name the module that users know, the shortest of those that show a function."""
    import jax.experimental.sparse.bcoo
    import jax.nn
    import jax.numpy as jnp
    homes = {"jax": [jax.jit, jax.grad, jax.device_put], "jax.numpy": [jnp.arange, jnp.sin, jnp.max], "jax.lax": [jax.lax.scan, jax.lax.sin],
             "jax.nn": [jax.nn.softmax, jax.nn.relu], "jax.random": [jax.random.normal], "jax.tree_util": [jax.tree_util.tree_map],
             "jax.numpy.linalg": [jnp.linalg.inv], "jax.nn.initializers": [jax.nn.initializers.zeros],
             "jax.experimental.sparse": [jax.experimental.sparse.bcoo.bcoo_todense, jax.experimental.sparse.bcoo_todense]}
    for module, shown in homes.items():
        assert [f.__module__ for f in shown] == [module] * len(shown)
        assert all("def " in inspect.getsource(f) for f in shown)


@pytest.mark.parametrize("name", ["nn.relu", "nn.silu", "nn.gelu", "numpy.add", "numpy.maximum", "nn.relu6"])
def test_functions_that_are_objects_come_back(name):
    module, _, name = f"jax.{name}".rpartition(".")
    function = getattr(importlib.import_module(module), name)
    assert pickle.loads(pickle.dumps(function)) is function


def test_symbolic_dimensions_are_pickled():
    a, b = jax.export.symbolic_shape("a, 2*b + 1", constraints=["a >= 2"])
    first, second = pickle.loads(pickle.dumps((a, b)))
    assert str(first + second) == str(a + b) and first >= 2
