"""The programs on the pages of the site run, and show what they may show; what shows them and what generates pages does its work."""
import importlib
import importlib.util
import pathlib
import pickle
import re
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


def test_without_a_compiler_the_rest_of_a_page_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    page = _page(tmp_path, "```python\n1\n```\n```python needs-g++\n2\n```\n```python\n3\n```\n")
    assert [r.text for r in blocks.run_page(page, tmp_path)] == ["1\n", "", ""]


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


def test_links_lead_to_files():
    """Sphinx checks anchors, too; what is below `generated` is there when it runs."""
    broken = []
    for page in [DOCS.parent / "README.md", *(p for p in DOCS.rglob("*.md") if "generated" not in p.parts)]:
        for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
            if "://" not in target and "generated/" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken


def test_every_error_is_in_the_index():
    jax = pytest.importorskip("jax")
    page = (DOCS / "errors.md").read_text()
    classes = [n for n in dir(jax.errors) if isinstance(getattr(jax.errors, n), type)]
    assert len(classes) > 10 and not [n for n in classes if f"\n## {n}\n" not in page]


def test_an_error_leads_to_its_section():
    """One of a class derived elsewhere to that of the class that it is derived from; one that was copied only once."""
    jax = pytest.importorskip("jax")

    class Own(jax.errors.TypePromotionError):
        pass

    with pytest.raises(jax.errors.TracerArrayConversionError) as raised:
        jax.jit(lambda x: memoryview(x.__array__()))(1.0)
    assert "See docs/errors.md#tracerarrayconversionerror." in raised.value.__notes__
    assert Own("x").__notes__ == ["See docs/errors.md#typepromotionerror."]
    copied = pickle.loads(pickle.dumps(jax.errors.KeyReuseError("again")))
    assert str(copied) == "again" and copied.__notes__ == ["See docs/errors.md#keyreuseerror."]


@pytest.fixture
def generate(monkeypatch):
    names = ("blocks", "docstrings", "reference", "generate")
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    yield importlib.import_module("generate")
    for name in names:
        sys.modules.pop(name, None)


def test_generated_pages(generate, tmp_path):
    (tmp_path / "old.md").write_text("a page of yesterday")
    written = generate.write_all(DOCS.parent, tmp_path)
    pages = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*.*")}
    assert len(pages) == written and "old.md" not in pages
    assert re.search(r"^\| `jax_enable_x64` <br> `JAX_ENABLE_X64` \| .* Default: `False` \| yes \|$", pages["flags.md"], re.M)
    assert "## jax.experimental.thunky" in pages["gaps.md"]
    assert ".. py:function:: jax.numpy.sin(x: ArrayLike, /) -> Array" in pages["api/jax.numpy.rst"]
    assert {"packages/core.md", "packages/jax.md", "contributing.md"} <= set(pages)
    assert "class Color(Enum)" not in "".join(pages.values())
    for name, text in pages.items():
        assert "](../../docs/" not in text and "](docs/" not in text, name


DOCSTRING = """Sum *of* `x` over ``axis``, see `sin`, `numpy.sin` and x_.

Args:
  x: an array
    of numbers.
  axis: which axis | all.

Raises:
  TypeError: no array.

- one
- two::

>>> sum([1])
1
"""


def test_docstrings_become_rst():
    docstrings = _load("docstrings")
    text = docstrings.to_rst(DOCSTRING, {"jax.numpy.sin"}, "jax.numpy")
    assert text.startswith("Sum \\*of\\* ``x`` over ``axis``, see :py:obj:`sin <jax.numpy.sin>`, ``numpy.sin`` and x\\_.")
    assert "   ``axis``\n      which axis \\| all." in text and "   ``TypeError``\n      no array." in text
    assert "- one\n" in text and "- two:\n" in text and ".. code-block:: pycon\n\n   >>> sum([1])\n   1" in text
