"""Every documented name is served, or is a gap that says so and stands in docs/gaps.md."""
import importlib
import pathlib

import pytest

from jax import _gaps

GAPS = [(module, name) for module, names in _gaps.table().items() for name in names]
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "gaps.md"


@pytest.mark.parametrize("module", sorted(_gaps.table()))
def test_gaps_raise_not_implemented_error_when_used(module):
    for name in _gaps.table()[module]:
        stand_in = getattr(importlib.import_module(module), name)
        with pytest.raises(NotImplementedError, match=f"{module}.{name} is not implemented"):
            stand_in()
        assert not isinstance(object(), stand_in)


@pytest.mark.skipif(not PAGE.exists(), reason="the docs are not part of an installed package")
def test_the_page_of_gaps_is_true():
    text = PAGE.read_text()
    missing = [f"{module}.{name}" for module, name in GAPS if f"`{name}`" not in text or f"## {module}\n" not in text]
    assert not missing, "write the page anew: python docs/make_gaps.py"
