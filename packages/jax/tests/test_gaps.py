"""Every documented name is served, or is a gap that says so."""
import importlib
import json
import pathlib
import re
import sys
import types

import pytest

import jax
from jax import _gaps, _lazy
from jax._instead import INSTEAD


def test_the_list_has_a_name_a_line_in_order():
    """So that two changes of it meet only where they concern the same names."""
    listed = {module: sorted(names) for module, names in sorted(_gaps.table().items())}
    assert pathlib.Path(_gaps.__file__).with_name("_gaps.json").read_text() == json.dumps(listed, indent=1) + "\n"


@pytest.mark.parametrize("module", sorted(_gaps.table()))
def test_gaps_raise_not_implemented_error_when_used(module):
    for name in _gaps.table()[module]:
        stand_in = getattr(importlib.import_module(module), name)
        with pytest.raises(NotImplementedError, match=f"{module}.{name} is not implemented"):
            stand_in()
        assert not isinstance(object(), stand_in)


def test_a_member_of_a_gap_is_one():
    """tokamax has layouts as defaults of functions; it loads, and its kernels say what is missing when they are called."""
    from jax.experimental.mosaic import gpu
    from jax.experimental.pallas import mosaic_gpu
    for made, name in (lambda: mosaic_gpu.Layout.WGMMA(), "Layout.WGMMA"), (lambda: mosaic_gpu.Layout.TCGEN05.reduce(1), "Layout.TCGEN05.reduce"), (
            lambda: gpu.profiler.Cupti(), "Cupti"):
        with pytest.raises(NotImplementedError, match=rf"{name} is not implemented") as raised:
            made()
        assert isinstance(raised.value, ImportError)
    assert not hasattr(mosaic_gpu.Layout, "__array__") and mosaic_gpu.Layout[int, ...] is mosaic_gpu.Layout


@pytest.fixture
def lazy_module(tmp_path, monkeypatch):
    """A public module whose documented name `gone` has no implementation, beside implementing modules that fail to load."""
    package = tmp_path / "lazy_implementation"
    package.mkdir()
    (package / "__init__.py").write_text("""
import importlib

def __getattr__(name):
    if name == "deferred":
        return importlib.import_module("lazy_implementation.broken")
    raise AttributeError(name)

def __dir__():
    return ["deferred"]
""")
    (package / "broken.py").write_text("import math\nmath.no_such_function\n")
    (package / "explicit.py").write_text("raise AttributeError('the table of rows is empty')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(_gaps, "table", lambda: {"lazy_public": ["gone", "loads", "raises", "deferred"]})
    monkeypatch.setitem(sys.modules, "lazy_public", types.ModuleType("lazy_public"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "lazy_implementation"]:
        del sys.modules[name]


def test_an_error_inside_an_implementing_module_is_not_taken_for_a_gap(lazy_module):
    served, names, _ = _lazy.table("lazy_public", {
        "loads": "lazy_implementation.broken:function", "raises": "lazy_implementation.explicit:function"})
    fetch, _ = _gaps.missing("lazy_public", served, names)
    with pytest.raises(AttributeError, match="no_such_function"):
        fetch("loads")
    with pytest.raises(AttributeError, match="the table of rows is empty"):
        fetch("raises")
    with pytest.raises(NotImplementedError):
        fetch("gone")()


def test_an_error_inside_a_mirrored_module_is_not_taken_for_a_gap(lazy_module):
    fetch, _ = _gaps.missing("lazy_public", *_lazy.mirror("lazy_public", "lazy_implementation"))
    with pytest.raises(AttributeError, match="no_such_function"):
        fetch("deferred")
    with pytest.raises(NotImplementedError):
        fetch("gone")()
    with pytest.raises(AttributeError, match="module 'lazy_public' has no attribute 'unheard_of'"):
        fetch("unheard_of")


def test_an_error_while_a_mirrored_module_loads_is_not_taken_for_a_gap(lazy_module):
    fetch, _ = _gaps.missing("lazy_public", *_lazy.mirror("lazy_public", "lazy_implementation.broken"))
    with pytest.raises(AttributeError, match="no_such_function"):
        fetch("gone")


def test_what_to_use_instead_exists():
    """Names that `jax` has not say what to use; those that they name are there."""
    def found(name: str) -> bool:
        value = jax
        for part in name.split(".")[1:]:
            value = getattr(value, part)
        return True

    assert len(INSTEAD) > 60
    for name, instead in INSTEAD.items():
        with pytest.raises((AttributeError, ImportError), match=re.escape(instead)):
            getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        assert all(found(known) for known in re.findall(r"jax(?:\.\w+)+", instead)), instead
