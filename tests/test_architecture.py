"""The rules of the frame: which package may import which, where jaxlib may be imported, one home for each public name."""
import ast
import functools
import graphlib
import pathlib
import re
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
MAY_IMPORT_JAXLIB = {
    "packages/core/src/jax_core/representation/tree_nodes.py",
    "packages/xla_backend/src/jax_xla_backend/jaxlib_compat.py",
    "packages/xla_backend/src/jax_xla_backend/tools/profiler.py",  # classes that users get as they are
}


def import_name(folder):
    return "jax" if folder == "jax" else f"jax_{folder}"


def sources(folder):
    return sorted((PACKAGES / folder / "src").rglob("*.py"))


@functools.cache
def imported(path):
    """Top-level names of all absolute imports in a file, also those inside functions and those by `import_module`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
        elif (isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
              and node.args and isinstance(node.args[0], ast.Constant) and not node.args[0].value.startswith(".")):
            found.add(node.args[0].value.split(".")[0])
    return found


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


@pytest.mark.parametrize("folder", FOLDERS)
def test_jaxlib_is_imported_in_its_places_only(folder):
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
    assert (PACKAGES / folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()  # its wheel takes it along


def test_files_have_one_subject_each():
    long = [f"{path.relative_to(ROOT)}: {n} lines" for folder in FOLDERS for path in sources(folder)
            if (n := len(path.read_text().splitlines())) > 800]
    assert not long


def test_every_file_opens_with_its_subject():
    silent = [str(path.relative_to(ROOT)) for folder in FOLDERS for path in sources(folder)
              if (text := path.read_text()).strip() and not ast.get_docstring(ast.parse(text))]
    assert not silent


# -- within a package --------------------------------------------------------------------------------------------------

LAYERS = {
    "core": ["versions", "extension_points", "backends", "configuration", "compat", "representation", "interfaces", "traces", "references",
             "transformations", "programs", "export", "public", "testing", "__init__"],
    "numpy_api": ["_lazy", "typing", "lax", "numpy", "nn", "scipy", "named", "flatten_util", "ops", "image", "custom_batching", "checkify",
                  "ffi", "ode", "rnn", "thunky", "jet", "sparse", "pallas", "kernels", "example_libraries", "test_util", "test_case",
                  "__init__"],
    "xla_backend": ["jaxlib_compat", "platforms", "placement", "arrays", "planning", "lowering", "kernels", "compiling", "running", "operations",
                    "checkpoints", "tools", "backend", "startup", "__init__", "api", "extend"],
}
"""Folders and modules of a package from the bottom to the top: each imports only those before it, inside functions too."""
CIRCLES = {
    # a program prints itself, and the printer, which takes programs apart, is loaded when somebody prints
    ("jax_core.representation.jaxpr", "jax_core.representation.printing"),
}
"""Imports that close a circle, and why."""


@functools.cache
def modules(folder):
    """Dotted names of the modules of a package, each with its file."""
    src = PACKAGES / folder / "src"
    return {".".join(p.relative_to(src).with_suffix("").parts).removesuffix(".__init__"): p for p in sources(folder)}


@functools.cache
def internal_imports(folder):
    """Tuples (module, module that it imports, whether inside a function, the import's line) of a package."""
    names, found = modules(folder), []
    for name, path in names.items():
        package = (name if path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
        lines = path.read_text().splitlines()

        def visit(node, inside):
            for child in ast.iter_child_nodes(node):
                targets = []
                if isinstance(child, ast.Import):
                    targets = [a.name for a in child.names]
                elif isinstance(child, ast.ImportFrom):
                    base = package[:len(package) - child.level + 1] if child.level else []
                    stem = ".".join([*base, *filter(None, [child.module])])
                    targets = [f"{stem}.{a.name}" if f"{stem}.{a.name}" in names else stem for a in child.names]
                elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
                    visit(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))
                found.extend((name, t, inside, lines[child.lineno - 1]) for t in targets)
        visit(ast.parse(path.read_text()), False)
    return found


@pytest.mark.parametrize("folder", LAYERS)
def test_layers_import_what_is_below_them(folder):
    names, order = modules(folder), LAYERS[folder]
    layer = lambda module: (module.split(".") + ["__init__"])[1]
    assert {layer(m) for m in names} == set(order)
    wrong = [f"{a} imports {b}" for a, b, *_ in internal_imports(folder) if b in names and order.index(layer(b)) > order.index(layer(a))]
    assert not wrong


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_import_each_other_in_no_circle(folder):
    below = {name: set() for name in modules(folder)}
    for a, b, *_ in internal_imports(folder):
        if b in below and (a, b) not in CIRCLES:
            below[a].add(b)
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_inside_functions_say_why(folder):
    """For start-up's time, or as the dependency is optional; an import that dodges a circle means code in the wrong file."""
    wrong = [f"{name}: {line.strip()}" for name, _, inside, line in internal_imports(folder)
             if inside and not re.search("  # (start-up: |an optional dependency)", line)]
    assert not wrong


def rooms(folder):
    """The folders of modules in a package, itself included."""
    return sorted({path.parent for path in sources(folder)})


def test_readme_of_random_lists_its_modules():
    table = re.search(r"## Where things are\n\n(.*?)\n\n", (PACKAGES / "random/README.md").read_text(), flags=re.S)[1]
    rows = [name for row in re.findall(r"(?m)^\|([^|]*)\|", table) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(rows) == sorted(name.rpartition(".")[2] for name in modules("random") if "." in name)


NAMESPACES = {"lax", "lax/linalg", "numpy", "scipy", "scipy/linalg", "scipy/signal", "scipy/sparse", "scipy/special", "scipy/stats", "sparse"}
"""Folders of numpy_api whose `__init__` is a table of public names by module."""


@pytest.mark.parametrize("room", [r for f in FOLDERS if f not in ("jax", "random") for r in rooms(f)],
                         ids=lambda room: str(room.relative_to(PACKAGES)).partition("src/")[2])
def test_docstrings_of_folders_list_what_is_in_them(room):
    """Each module once, and none that is not there; in a package's own folder the text may name a module."""
    there = {p.stem for p in room.glob("*.py") if p.name != "__init__.py"} | {p.parent.name for p in room.glob("*/__init__.py")}
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text()))
    rows = [name for row in re.findall(r"(?m)^(``\w+``(?:, ``\w+``)*)  |^\* (`\w+`(?:, `\w+`)*):", text) for name in re.findall(r"\w+", "".join(row))]
    assert len(rows) == len(set(rows)) and set(rows) <= there
    if str(room).partition("jax_numpy_api/")[2] not in NAMESPACES:
        assert there <= set(rows) | set(re.findall(r"`(\w+)`", text))


def test_functions_say_what_they_take():
    """Of the parameters of functions without an underscore, nested ones too: `Any`, and no annotation, each at one in twenty at most."""
    functions = [node for folder in FOLDERS for path in sources(folder) for node in ast.walk(ast.parse(path.read_text()))
                 if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    said = [a.annotation for f in functions for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs) if a.arg not in ("self", "cls")]
    unsaid = sum(a is None for a in said)
    anything = sum(a is not None and any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(a)) for a in said)
    assert unsaid <= 0.05 * len(said) and anything <= 0.05 * len(said)


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f != "jax"])
def test_every_module_is_listed(folder):
    """In the docstring or the table of names of its folder's `__init__.py`; so that a reader finds it."""
    unlisted = [f"{path.parent.name}/{path.stem}" for path in sources(folder)
                if path.stem != "__init__" and (home := path.parent / "__init__.py").exists()
                and not re.search(rf"\b{path.stem}\b", home.read_text())]
    assert not unlisted, "name it in the docstring of its folder's __init__.py"
