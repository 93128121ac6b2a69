"""Pages that are generated when the site is built: the reference, the flags, the gaps, a page for each package."""
from __future__ import annotations

import json
import pathlib
import re
import tomllib

import reference


def write_all(root: pathlib.Path, folder: pathlib.Path) -> int:
    """Write the pages of the repository at ``root`` into ``folder``; how many there are."""
    pages = {"flags.md": flags(), "gaps.md": gaps(root), **packages(root), **project_pages(root), **reference.pages()}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:  # an unchanged page is not read again
            path.write_text(text)
    for path in folder.rglob("*"):
        if path.suffix in (".md", ".rst") and str(path.relative_to(folder)) not in pages:
            path.unlink()
    return len(pages)


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines) + "\n"


# --- flags -----------------------------------------------------------------------------
def flags() -> str:
    """Every flag: default, environment variable, what it does."""
    from jax_core.configuration import flags as catalogue
    from jax_core.configuration.engine import State

    states = {s.name: s for s in (getattr(catalogue, n) for n in sorted(vars(catalogue))) if isinstance(s, State)}
    rows = []
    for name, state in sorted(states.items()):
        effect = state.help + (" One of " + ", ".join(f"`{c}`" for c in state.choices) + "." if state.choices else "")
        default = state.default.value if hasattr(state.default, "value") else state.default
        rows.append([f"`{name}` <br> `{name.upper()}`", f"{effect} <br> Default: `{default!r}`", "yes" if state.affects_tracing else ""])
    ignored = sorted(set(catalogue.config.values) - set(states))
    return "\n".join([
        "# Flags", "",
        f"{len(states)} flags have an effect. This page is generated from their declarations.", "",
        "A flag is set in the program, `jax.config.update(name, value)`, before the first operation or at any later time; by its environment",
        "variable, which is read when jax is imported; or, for part of a program and this thread only, by the context manager of its name",
        "without `jax_`, where `jax` has one: `with jax.debug_nans(True): ...`. *Traced again* says that programs depend on the flag, so that a",
        "function is traced and compiled anew after a change.", "",
        _table(["flag, environment variable", "effect", "traced again"], rows),
        f"## Flags without effect\n\n{len(ignored)} more are accepted, so that programs which set them run, and change nothing: "
        + ", ".join(f"`{n}`" for n in ignored) + ".", ""])


# --- gaps ------------------------------------------------------------------------------
def gaps(root: pathlib.Path) -> str:
    """Documented names that are not implemented, by module."""
    table = json.loads((root / "packages/jax/src/jax/_gaps.json").read_text())
    lines = ["# Gaps", "",
             f"{sum(map(len, table.values()))} documented names of the public interface are not implemented. Each can be imported, and raises",
             "`NotImplementedError` when it is used. This page is generated from the table that makes them do so.", "",
             "What is implemented and behaves otherwise than the public jax on purpose is on [another page](../start/from-jax.md).", ""]
    for module, names in sorted(table.items()):
        lines += [f"## {module}", "", ", ".join(f"`{n}`" for n in names), ""]
    return "\n".join(lines)


# --- packages and the project's own files ------------------------------------------------
_FILES = {"README.md": "../readme.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}


def _links(text: str, here: pathlib.PurePosixPath, up: str) -> str:
    """Links of a file in the folder ``here`` of the repository, as a generated page needs them: to pages, else as plain code."""
    def other(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if "://" in target or target.startswith("#"):
            return match[0]
        path, hash_, anchor = target.partition("#")
        parts: list[str] = []
        for part in (here / path).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        where = "/".join(parts)
        if where == "docs/gaps.md":
            return f"[{words}]({up}generated/gaps.md)"
        if where.startswith("docs/"):
            return f"[{words}]({up}{where.removeprefix('docs/')}{hash_}{anchor})"
        if where in _FILES and _FILES[where] != "../readme.md":
            return f"[{words}]({up}generated/{_FILES[where]})"
        return f"{words} (`{where}`)"
    return re.sub(r"\[([^\]]*)\]\(([^)]*)\)", other, text)


def _no_programs(text: str) -> str:
    """Programs of a copied file are shown, not run: they run where the file's tests say."""
    return text.replace("```python\n", "```python not-run\n")


def packages(root: pathlib.Path) -> dict[str, str]:
    """A page for each package, and their index."""
    pages, rows = {}, []
    for path in sorted((root / "packages").glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text())["project"]
        name, folder = project["name"], path.parent.name
        module = name.replace("-", "_")
        here = pathlib.PurePosixPath("packages") / folder
        readme = _links((path.parent / "README.md").read_text(), here, "../../")
        readme = re.sub(r"^(#+ )", r"#\1", readme.partition("\n")[2], flags=re.M)
        changes = _links((path.parent / "CHANGELOG.md").read_text(), here, "../../")
        changes = re.sub(r"^(#+ )", r"#\1", changes.partition("\n")[2], flags=re.M)
        needs = "\n".join(f"- `{d}`" for d in project["dependencies"])
        extras = ", ".join(f"`{name}[{e}]`" for e in project.get("optional-dependencies", {}) if e != "test")
        pages[f"packages/{folder}.md"] = _no_programs("\n".join([
            f"# {name}", "", f"{project['description']} Version {project['version']}; imported as `{module}`.", "",
            "## What is in it", "", readme.strip(), "", "## What it needs", "", f"Python {project['requires-python']} and", "", needs, "",
            *([f"Extras: {extras}.", ""] if extras else []), "## Changes", "", changes.strip(), ""]))
        rows.append([f"[{name}]({folder}.md)", f"`{module}`", project["version"], project["description"]])
    toc = "\n".join(["```{toctree}", ":hidden:", "", *[n.removeprefix("packages/") for n in pages], "```"])
    pages["packages/index.md"] = "\n".join([
        "# Packages", "",
        "`jax` is put together from packages with versions of their own. A program imports `jax`; a library that needs only a part can depend",
        "on that part.", "", _table(["distribution", "imported as", "version", "what it is"], rows), "",
        "**Versions.** Numbers are major.minor.patch. While the major number is 0, a new minor number may change an interface between packages, and",
        "each package asks for one minor series of those that it imports (`>=0.1,<0.2`); a patch changes none. The version of `jax` is that",
        "of the newest release of the public jax whose interface it follows, as libraries compare it. What users notice is in the list of",
        "changes of each package.", "", toc, ""])
    return pages


def project_pages(root: pathlib.Path) -> dict[str, str]:
    """Files of the repository's root that are pages, too."""
    return {page: _no_programs(_links((root / name).read_text(), pathlib.PurePosixPath(""), "../"))
            for name, page in _FILES.items() if not page.startswith("..")}
