"""The rules of the frame: which package may import which, where jaxlib may be imported, one home for each public name."""
import ast
import pathlib
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "packages"
FOLDERS = sorted(p.parent.name for p in PACKAGES.glob("*/pyproject.toml"))
ARROWS = {
    "core": set(),
    "numpy_api": {"core"},
    "xla_backend": {"core"},
    "random": {"numpy_api", "core"},
    "callbacks": {"numpy_api", "core"},
    "jax": {"core", "numpy_api", "random", "callbacks", "xla_backend"},
}
MAY_IMPORT_JAXLIB = {"packages/core/src/jax_core/representation/tree.py"}


def import_name(folder):
    return "jax" if folder == "jax" else f"jax_{folder}"


def sources(folder):
    return sorted((PACKAGES / folder / "src").rglob("*.py"))


def imported(path):
    """Top-level names of all absolute imports in a file, also those inside functions and those by `import_module`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]
        elif (isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
              and node.args and isinstance(node.args[0], ast.Constant) and not node.args[0].value.startswith(".")):
            yield node.args[0].value.split(".")[0]


def test_every_package_has_its_arrows_declared():
    assert set(FOLDERS) == set(ARROWS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_point_one_way(folder):
    names = {import_name(f): f for f in FOLDERS}
    wrong = [f"{path.relative_to(ROOT)} imports {name}" for path in sources(folder) for name in imported(path)
             if name in names and names[name] not in ARROWS[folder] | {folder}]
    assert not wrong


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f != "jax"])
def test_tests_of_a_package_do_without_the_meta_package(folder):
    """They run where it is not installed."""
    tests = sorted((PACKAGES / folder / "tests").rglob("test_*.py"))
    assert not [str(path.relative_to(ROOT)) for path in tests if "jax" in imported(path)]


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f != "xla_backend"])
def test_jaxlib_is_imported_in_its_two_places_only(folder):
    wrong = {str(path.relative_to(ROOT)) for path in sources(folder) if "jaxlib" in imported(path)}
    assert wrong <= MAY_IMPORT_JAXLIB


@pytest.mark.parametrize("folder", FOLDERS)
def test_dependencies_declared_are_the_arrows(folder):
    project = tomllib.loads((PACKAGES / folder / "pyproject.toml").read_text())["project"]
    names = {("jax" if f == "jax" else "jax-" + f.replace("_", "-")): f for f in FOLDERS}
    declared = {names[d.split(">")[0]] for d in project["dependencies"] if d.split(">")[0] in names}
    assert declared == ARROWS[folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_package_is_complete(folder):
    for name in ("README.md", "CHANGELOG.md", "pyproject.toml", f"src/{import_name(folder)}/py.typed"):
        assert (PACKAGES / folder / name).is_file(), f"{folder} lacks {name}"
    assert list((PACKAGES / folder / "tests").glob("test_*.py")), f"{folder} has no tests"


def test_files_have_one_subject_each():
    long = [f"{path.relative_to(ROOT)}: {n} lines" for folder in FOLDERS for path in sources(folder)
            if (n := len(path.read_text().splitlines())) > 1050]
    assert not long


def test_every_file_opens_with_its_subject():
    silent = [str(path.relative_to(ROOT)) for folder in FOLDERS for path in sources(folder)
              if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None]
    assert not silent
