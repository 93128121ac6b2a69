"""Every public name exists, and is called as the API facts in `data/api_numpy.json` say (names, kinds and defaults of
parameters, as measured on the public release; `[kind, signature]` for each name)."""
from __future__ import annotations

import ast
import importlib
import inspect
import json
import pathlib
import warnings

import pytest

FACTS = json.loads((pathlib.Path(__file__).parent / "data" / "api_numpy.json").read_text())
MODULES = {"jax.numpy": "jax_numpy_api.numpy", "jax.numpy.linalg": "jax_numpy_api.numpy.linalg",
           "jax.numpy.fft": "jax_numpy_api.numpy.fft"}
CASES = [(module, name) for module in MODULES for name in FACTS[module]]


def parameters(text: str) -> list[tuple[str, str, bool]]:
    """(name, kind, has a default) of each parameter of a signature written as text."""
    a = ast.parse(f"def f{text}: ...").body[0].args
    positional = [*a.posonlyargs, *a.args]
    defaults = len(positional) - len(a.defaults)
    out = [(p.arg, "positional" if i < len(a.posonlyargs) else "either", i >= defaults) for i, p in enumerate(positional)]
    out += [(a.vararg.arg, "*", True)] if a.vararg else []
    out += [(p.arg, "keyword", d is not None) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return out + ([(a.kwarg.arg, "**", True)] if a.kwarg else [])


KINDS = {inspect.Parameter.POSITIONAL_ONLY: "positional", inspect.Parameter.POSITIONAL_OR_KEYWORD: "either",
         inspect.Parameter.KEYWORD_ONLY: "keyword", inspect.Parameter.VAR_POSITIONAL: "*",
         inspect.Parameter.VAR_KEYWORD: "**"}


def own_parameters(fun) -> list[tuple[str, str, bool]]:
    return [(p.name, KINDS[p.kind], p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
            for p in inspect.signature(fun).parameters.values()]


def simple_defaults(text: str) -> dict[str, object]:
    """Defaults that are plain literals, by parameter."""
    a = ast.parse(f"def f{text}: ...").body[0].args
    positional = [*a.posonlyargs, *a.args]
    pairs = [*zip(positional[len(positional) - len(a.defaults):], a.defaults), *zip(a.kwonlyargs, a.kw_defaults)]
    out = {}
    for p, value in pairs:
        try:
            out[p.arg] = ast.literal_eval(value)
        except (ValueError, TypeError):
            pass
    return {k: v for k, v in out.items() if v is not ...}


@pytest.mark.parametrize("module,name", CASES, ids=lambda x: x)
def test_name_and_signature(module, name):
    kind, signature = FACTS[module][name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        value = getattr(importlib.import_module(MODULES[module]), name)
    if kind in ("function", "ufunc"):
        assert callable(value)
    if kind != "function" or signature is None:
        return
    assert own_parameters(value) == parameters(signature)
    own = inspect.signature(value).parameters
    for parameter, default in simple_defaults(signature).items():
        assert own[parameter].default == default, parameter


@pytest.mark.parametrize("name", [n for n in FACTS["Array"]["methods"] if n not in ("addressable_data",
                                                                                   "copy_to_host_async")])
def test_array_method(name):
    from jax_numpy_api.numpy import array_methods
    fun = array_methods.table()[name]
    assert own_parameters(fun)[1:] == parameters(FACTS["Array"]["methods"][name])


def test_update_methods():
    from jax_numpy_api.numpy.indexing import _IndexUpdateRef
    for name, signature in FACTS["Array"]["at"].items():
        assert own_parameters(getattr(_IndexUpdateRef, name))[1:] == parameters(signature), name


@pytest.mark.parametrize("module,name", [c for c in CASES if FACTS[c[0]][c[1]][0] in ("function", "ufunc")], ids=lambda x: x)
def test_documented(module, name):
    value = getattr(importlib.import_module(MODULES[module]), name)
    assert value.__doc__ and value.__doc__.strip()
