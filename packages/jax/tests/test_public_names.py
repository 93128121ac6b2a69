"""What `dir` shows of a public module is its names, all of which are there, and nothing that the implementation merely imports."""
from __future__ import annotations

import importlib
import pkgutil
import sys
import types
import warnings

import pytest

import jax
import jax.experimental.pjit
import jax.numpy as jnp
from jax._lazy import _resolved as resolved, deprecated_in
from jax_numpy_api import lax as jax_lax

MODULES = ["jax", *(m.name for m in pkgutil.walk_packages(jax.__path__, "jax.") if "._" not in m.name and m.name != "jax.config")]
OF_JAXLIB = ("jax.experimental.mosaic.dialects.", "jax.extend.ifrt_programs.", "jax.extend.mlir.", "jax.interpreters.mlir.ir")  # jaxlib's own, served as they are


@pytest.mark.parametrize("name", MODULES)
def test_all_that_is_listed_is_there(name):
    """Each name of `dir` can be got, and modules among them are public ones."""
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for public in dir(module):
            value = getattr(module, public)
            if isinstance(value, types.ModuleType) and not f"{name}.{public}".startswith(OF_JAXLIB) and not public.startswith("_"):
                assert value.__name__.split(".")[0] == "jax", f"{name}.{public} is {value.__name__}"
    assert name.startswith(OF_JAXLIB) or "annotations" not in dir(module) and "Any" not in dir(module)


def test_a_deprecated_name_warns_where_it_is_used():
    """At each use, in the user's line; who only looks around, or imports all names, does not meet it."""
    deprecated = [(where, module, name) for where in MODULES for module in [importlib.import_module(where)] for name in deprecated_in(where)]
    assert len(deprecated) >= 14
    for where, module, name in deprecated:
        for use in (lambda: getattr(module, name), lambda: getattr(module, name), lambda: exec(f"\nfrom {where} import {name}", {})):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                use()
            warned, = seen
            assert warned.category is DeprecationWarning
            assert (warned.filename, warned.lineno) in ((__file__, use.__code__.co_firstlineno), ("<string>", 2))
            assert str(warned.message).startswith(f"{where}.{name} is there for older programs only: use ")
        assert name not in dir(module) and name not in vars(module) and name not in getattr(module, "__all__", ())


def test_internal_names_of_deprecated_ones_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolved("jax.lax:pvary") is jax_lax.pvary
        from jax._src.pjit import pjit
    with pytest.deprecated_call():
        assert jax.experimental.pjit.pjit is pjit


@pytest.mark.parametrize("module", [jax.tree, jnp.linalg, jax.dtypes, jax.scipy.stats.norm, jax.experimental.checkify], ids=lambda m: m.__name__)
def test_imports_of_the_implementation_are_not_served(module):
    """A typo that happens to be the name of an import is an error too."""
    for name in ("functools", "math", "np", "annotations"):
        with pytest.raises(AttributeError, match=rf"{module.__name__}.* has no attribute '{name}'"):
            getattr(module, name)


def test_tree_has_its_fourteen_names():
    """Those that are meant."""
    assert [n for n in dir(jax.tree) if not n.startswith("_")] == sorted(jax.tree.__all__) and len(jax.tree.__all__) == 14


def test_submodules_are_listed_before_they_are_imported():
    """Completion in an interactive session finds them."""
    assert {"shard_map", "sparse", "pjit", "io_callback"} <= set(dir(jax.experimental))


def test_whatever_stands_among_the_modules_has_a_name():
    """Tools that walk `sys.modules` ask each for it, also the object of settings."""
    importlib.import_module("jax.config")
    assert {m.__name__ for name, m in sys.modules.items() if name.partition(".")[0] == "jax"} >= {"jax", "jax.config"}
    assert type(jax.config).__name__ == "Config"
