"""The programs on the pages of the site run, and show what they may show; what shows them and what generates pages does its work."""
import importlib.util
import pathlib
import shutil
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"docs_site_{name}", DOCS / "site" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks = _load("blocks")
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if "generated" not in p.parts and blocks.blocks_of(p.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_programs_of_a_page_run(page, tmp_path):
    for needed in ("matplotlib", "sklearn"):
        if needed in page.read_text():
            pytest.importorskip(needed)
    if "g++" in page.read_text() and shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    blocks.run_page(page, tmp_path)


def _page(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text, shown", [
    ("1 + 1\nNone\n'a'", "2\n'a'\n"),
    ("x = 3\nprint(x)\nx", "3\n3\n"),
    ("import warnings\nwarnings.warn('careful')", "page.py:2: UserWarning: careful\n  warnings.warn('careful')\n"),
], ids=["values", "printed", "warnings"])
def test_what_a_block_shows(tmp_path, text, shown):
    assert [r.text for r in blocks.run_page(_page(tmp_path, f"```python\n{text}\n```\n"), tmp_path)] == [shown]


def test_words_behind_python(tmp_path):
    page = _page(tmp_path, """\
```python hidden
x = 1
```
```python quiet
x
```
```python raises
x + 'a'
```
```python not-run
undefined
```
""")
    results = blocks.run_page(page, tmp_path)
    assert [r.text for r in results] == ["", "", "TypeError: unsupported operand type(s) for +: 'int' and 'str'\n", ""]
    text = blocks.with_outputs(page.read_text(), results, "pictures")
    assert "x = 1" not in text and "undefined" in text and text.count(":class: shown") == 1


@pytest.mark.parametrize("text, message", [
    ("```python\n1 / 0\n```\n", "page.md, line 1: ZeroDivisionError"),
    ("\n```python raises\n1\n```\n", "page.md, line 2: the block raises nothing"),
    ("```python\nobject()\n```\n", "differs from run to run"),
    ("```python\nimport os; os._exit(3)\n```\n", "page.md: "),
    ("```python runs\n1\n```\n", "runs"),
], ids=["raises", "raises nothing", "an address", "dies", "an unknown word"])
def test_what_is_wrong_with_a_page(tmp_path, text, message):
    with pytest.raises(blocks.BadBlock, match=message):
        blocks.run_page(_page(tmp_path, text), tmp_path)


def test_a_figure_is_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    page = _page(tmp_path, "```python quiet\nfrom matplotlib import pyplot as plt\nplt.plot([1, 2])\n```\n")
    (result,) = blocks.run_page(page, tmp_path)
    (picture,) = result.pictures
    first = (tmp_path / picture).read_text()
    blocks.run_page(page, tmp_path)
    assert (tmp_path / picture).read_text() == first
    assert f"(pictures/{picture})" in blocks.with_outputs(page.read_text(), [result], "pictures")


DOCSTRING = """Sum *of* `x` over ``axis``, see `sin`, `numpy.sin` and x_.

Args:
  x: an array
    of numbers.
  axis: which axis | all.

Raises:
  TypeError: no array.

- one
- two

>>> sum([1])
1
"""


def test_docstrings_become_rst():
    docstrings = _load("docstrings")
    text = docstrings.to_rst(DOCSTRING, {"jax.numpy.sin"}, "jax.numpy")
    assert text.startswith("Sum \\*of\\* ``x`` over ``axis``, see :py:obj:`sin <jax.numpy.sin>`, ``numpy.sin`` and x\\_.")
    assert "   ``axis``\n      which axis \\| all." in text and "   ``TypeError``\n      no array." in text
    assert "- one\n" in text and ".. code-block:: pycon\n\n   >>> sum([1])\n   1" in text
