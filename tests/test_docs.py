"""The programs on the pages of the site run, and show what they may show; what shows them and what generates pages does its work."""
import importlib
import importlib.util
import pathlib
import pickle
import re
import shutil
import sys

import pytest

import jax

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"docs_site_{name}", DOCS / "site" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks, screenshots = _load("blocks"), _load("screenshots")
PAGES = [p for p in [ROOT / "README.md", *sorted(ROOT.glob("packages/*/README.md")), *sorted(DOCS.rglob("*.md"))]
         if "generated" not in p.parts and blocks.blocks_of(p.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_programs_of_a_page_run(page, tmp_path):
    for needed in ("matplotlib", "sklearn"):
        if needed in page.read_text():
            pytest.importorskip(needed)
    blocks.run_page(page, tmp_path)


@pytest.mark.only_cpu
def test_the_readme_shows_what_its_tour_prints(tmp_path):
    """The site shows outputs by itself; the README is read where nothing is run."""
    (shown,) = blocks.run_page(ROOT / "README.md", tmp_path)
    assert f"```text\n{shown.text.rstrip()}\n```" in (ROOT / "README.md").read_text()


@pytest.mark.skipif(len(jax.devices()) < 4, reason="the cells put an array on four devices")
def test_the_cells_of_the_photograph_run():
    """`python docs/site/screenshots.py` needs a browser; what it photographs does not."""
    assert screenshots.cells().count("class=out") == len(screenshots.CELLS)


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


@pytest.fixture(scope="module")
def generate():
    """The module of `docs/site`, whose modules import each other by their bare names."""
    sys.path.insert(0, str(DOCS / "site"))
    yield importlib.import_module("generate")
    sys.path.remove(str(DOCS / "site"))
    for name in ("blocks", "docstrings", "reference", "generate"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def site(generate, tmp_path_factory):
    """The pages of the site as they are before Sphinx reads them, those that are generated too."""
    folder = tmp_path_factory.mktemp("site")
    for page in (p for p in DOCS.rglob("*") if p.suffix in (".md", ".png", ".svg") and "generated" not in p.parts):
        target = folder / page.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    generate.write_all(ROOT, folder / "generated")
    return folder


def _prose(page):
    return re.sub(r"^(`{3,}).*?^\1[ ]*$", "", page.read_text(), flags=re.S | re.M)


def _anchors(page):
    """What links can name behind `#`: headings, as MyST writes them."""
    heads = re.findall(r"^#+ (.+)$", _prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head)).strip().lower().replace(" ", "-") for head in heads}


def _broken(page):
    """Links of a page that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(page)):
        path, _, anchor = target.partition("#")
        other = page.parent / path if path else page
        if "://" not in target and (not other.exists() or anchor and anchor not in _anchors(other)):
            yield f"{page.name}: {target}"


def test_links_lead_somewhere(site):
    """On every page, to pages and to headings; Sphinx checks them again when it builds the site."""
    pages = list(site.rglob("*.md"))
    assert len(pages) > 50 and [link for page in pages for link in _broken(page)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(
    str(p.relative_to(ROOT)) for p in ROOT.glob("packages/*/*.md"))])
def test_links_of_the_repository_lead_somewhere(name):
    assert list(_broken(ROOT / name)) == []


FOLDERS = ("docs", "packages", "tests", "examples", "benchmarks", ".ci")
MEANT_AS_PATTERNS = {"docs/PAGE.md", "/", ".pyi"}


@pytest.fixture(scope="module")
def paths():
    """Files and folders of the repository."""
    files = [*ROOT.glob("*"), *(p for folder in FOLDERS for p in (ROOT / folder).rglob("*"))]
    return ["/" + str(p.relative_to(ROOT)) for p in files if not {"__pycache__", "generated"} & set(p.parts)]


def _absent(text, paths):
    """Paths and modules between backticks that are not there; a path may leave out its beginning, and with `...` a part."""
    for words in re.findall(r"`([^`\n]+)`", re.sub(r"^(`{3,}).*?^\1[ ]*$", "", text, flags=re.S | re.M)):
        for word in words.split():
            word, folder = word.split(":")[0].removeprefix("./"), word.endswith("/")
            if re.fullmatch(r"jax_(core|numpy_api|random|callbacks|xla_backend)(\.[a-z_]+)+", word):
                module = word.replace(".", "/")
                names = [f"/{module}", f"/{module}.py", f"/{module.rpartition('/')[0]}", f"/{module.rpartition('/')[0]}.py"]  # or a name in one
                if not any(path.endswith(tuple(names)) for path in paths):
                    yield word
            elif re.fullmatch(r"[\w.\-/*]+", word) and (folder or word.endswith((".py", ".md", ".txt", ".json", ".toml", ".png", ".svg"))):
                pattern = re.escape("/" + word.rstrip("/")).replace(re.escape("..."), ".*").replace(re.escape("*"), "[^/]*") + "$"
                if word not in MEANT_AS_PATTERNS and not any(re.search(pattern, path) for path in paths):
                    yield word


@pytest.mark.parametrize("page", sorted(str(p.relative_to(ROOT)) for p in [*ROOT.glob("*.md"), *ROOT.glob("packages/*/*.md"), *(
    p for p in DOCS.rglob("*.md") if "generated" not in p.parts)]))
def test_files_and_modules_that_a_page_names_are_there(page, paths):
    assert list(_absent((ROOT / page).read_text(), paths)) == []


def test_sessions_that_pages_name_are_there():
    there = set(re.findall(r"^@nox.session.*\n(?:@.*\n)*def (\w+)", (ROOT / "noxfile.py").read_text(), flags=re.M))
    pages = [*ROOT.glob("*.md"), *ROOT.glob("packages/*/*.md"), *DOCS.rglob("*.md")]
    named = {(p.name, name) for p in pages for name in re.findall(r"(?:\./run|nox -s) ([a-z]\w*)", p.read_text())}
    assert len(named) > 10 and [n for n in named if n[1] not in there] == []


def test_benchmarks_that_pages_name_are_there():
    """`./run bench` looks for them in their folder, whose README lists all."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("packages/*/*.md"), *ROOT.glob("benchmarks/*.md"), *DOCS.rglob("*.md")]
    named = {name for p in pages for name in re.findall(r"\./run bench -- (\S+?)(?:[`\s)]|$)", p.read_text())}
    there = {p.name for p in (ROOT / "benchmarks").glob("*.py")}
    listed = re.findall(r"^\| `(\w+\.py)` \|", (ROOT / "benchmarks/README.md").read_text(), flags=re.M)
    assert named - {"planner"} and named <= {"planner"} | there and sorted(listed) == sorted(there)


def test_a_file_that_is_gone_is_seen(paths):
    text = "`docs/conf.py` `conf.py::x` `core/.../traces/` `jax_core.traces.trace` `jax_core.trace.x` `old.py` ```\n`b.py`\n```\n`traces/old/`"
    assert list(_absent(text, paths)) == ["jax_core.trace.x", "old.py", "b.py", "traces/old/"]


def test_a_broken_link_is_seen(tmp_path):
    page = _page(tmp_path, "# One & `two`\n[a](page.md#one--two) [b](page.md#three) [c](none.md) [d](#one--two)\n```\n[e](none)\n```\n")
    assert list(_broken(page)) == ["page.md: page.md#three", "page.md: none.md"]


def test_every_page_is_in_the_list_of_contents(site):
    lists = [block for path in ("index.md", "generated/packages/index.md")
             for block in re.findall(r"```{toctree}\n(.*?)```", (site / path).read_text(), re.S)]
    listed = {line.removesuffix(".md") for block in lists for line in block.split()}
    pages = {str(p.relative_to(site)).removesuffix(".md") for p in site.rglob("*.md")}
    assert {p for p in pages if p not in listed and p.removeprefix("generated/packages/") not in listed} == {"index"}


def test_generated_pages(generate, tmp_path):
    (tmp_path / "old.md").write_text("a page of yesterday")
    written = generate.write_all(ROOT, tmp_path)
    pages = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*.*")}
    assert len(pages) == written and "old.md" not in pages
    assert re.search(r"^\| `jax_enable_x64` <br> `JAX_ENABLE_X64` \| .* Default: `False` \| yes \|$", pages["flags.md"], re.M)
    assert "## jax.experimental.thunky" in pages["gaps.md"]
    assert ".. py:function:: jax.numpy.sin(x: ArrayLike, /) -> Array" in pages["api/jax.numpy.rst"]
    assert {"packages/core.md", "packages/jax.md", "contributing.md"} <= set(pages)
    assert "class Color(Enum)" not in "".join(pages.values())
    for name, text in pages.items():
        assert "](../../docs/" not in text and "](docs/" not in text, name


def test_operations_of_others_are_no_links():
    docstrings = _load("docstrings")
    text = docstrings.to_rst("Source: StableHLO `and`, `abs`; see `abs`.", {"jax.lax.abs"}, "jax.lax")
    assert text.strip() == "Source: StableHLO ``and``, ``abs``; see :py:obj:`abs <jax.lax.abs>`."


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
