"""Programs in pages: the Python blocks of a page run in order, as one program, and each gives what it shows.

A block is a fence ```` ```python ````. What it shows is what it prints, and the value of every expression that stands by itself on a
line, as at Python's prompt; figures of matplotlib too, and values that are pictures (`_repr_svg_`, as in notebooks). Words behind `python` say what is special:

* `raises`: the block ends with an error, which is shown. A block that ends with one otherwise is a mistake of the page;
* `quiet`: only what it prints and draws is shown;
* `hidden`: it runs, and of it the page has only the figures that it draws;
* `needs-g++`: without a C++ compiler, it and all blocks below it are only shown;
* `not-run`: it is shown only: a fragment, or what needs a machine of another kind.

Nothing here needs Sphinx: `python docs/site/blocks.py PAGE` prints what the blocks of a page show.
"""
from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import json
import linecache
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from typing import Any

_FENCE = re.compile(r"^(?P<fence>`{3,})python(?P<words>[^\n]*)\n(?P<code>.*?)^(?P=fence)[ ]*$", re.M | re.S)
_WORDS = {"raises", "quiet", "hidden", "needs-g++", "not-run"}
_NOT_REPEATABLE = re.compile(r"0x[0-9a-f]{6,}|id=\d{6,}|/[\w.-]+/[\w./-]+\.py|/tmp/|site-packages")
_LIMIT = 600  # seconds for a page: it hangs
_ENVIRONMENT = {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg", "TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "100", "NO_COLOR": "1",
                "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "default"}


class BadBlock(Exception):
    """A block of a page does not do what the page says."""


@dataclasses.dataclass
class Block:
    """One block of a page: where it stands in the text (``start`` to ``end``), and what its words say."""

    code: str
    words: frozenset[str]
    start: int
    end: int


@dataclasses.dataclass
class Shown:
    """What a block gave: ``text``, and the names of the pictures that it drew."""

    text: str
    pictures: list[str]


def blocks_of(page: str) -> list[Block]:
    """The Python blocks of the text of a page.

    Raises:
      BadBlock: a word behind `python` is none of ours.
    """
    found = []
    for match in _FENCE.finditer(page):
        words = frozenset(match["words"].split())
        if words - _WORDS:
            raise BadBlock(f"a block has the words {sorted(words - _WORDS)}; there are {sorted(_WORDS)}")
        found.append(Block(match["code"], words, match.start(), match.end()))
    return found


def _parts(tree: ast.Module) -> list[tuple[ast.AST, bool]]:
    """The statements of a block, each with whether its value is shown."""
    return [(ast.Expression(node.value), True) if isinstance(node, ast.Expr) else (ast.Module([node], []), False) for node in tree.body]


def _pictures(folder: str, stem: str, drawn: list[str]) -> list[str]:
    """Save the pictures ``drawn`` (SVG) and the figures that are open, and close these."""
    names = []
    for svg in drawn:
        names.append(f"{stem}-{len(names)}.svg")
        pathlib.Path(folder, names[-1]).write_text(svg)
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return names
    plt.rcParams["svg.hashsalt"] = "docs"  # so that the same figure is the same file
    for number in plt.get_fignums():
        names.append(f"{stem}-{len(names)}.svg")
        plt.figure(number).savefig(os.path.join(folder, names[-1]), metadata={"Date": None}, bbox_inches="tight")
    plt.close("all")
    return names


def _wait_for_effects() -> None:
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.effects_barrier()


def _run_block(code: str, names: dict[str, Any], file: str, quiet: bool, drawn: list[str]) -> None:
    """Run a block; what its values draw goes to ``drawn``."""
    for part, shown in _parts(ast.parse(code, file)):
        value = eval(compile(part, file, "eval" if shown else "exec"), names)
        if shown and hasattr(value, "_repr_svg_"):
            drawn.append(value._repr_svg_())
        elif shown and value is not None and not quiet:
            print(repr(value))
    _wait_for_effects()


def _error_line(error: BaseException) -> str:
    """Class, message and notes, without the note that tells how to see more frames."""
    tracebacks = sys.modules.get("jax_core.representation.tracebacks")
    error.__notes__ = [note for note in getattr(error, "__notes__", ()) if tracebacks is None or note != tracebacks.NOTE]
    return "".join(traceback.format_exception_only(error)).rstrip() + "\n"


def run_here(path: pathlib.Path, pictures: str) -> list[Shown]:
    """Run the blocks of the page at ``path`` in this process; pictures go to the folder ``pictures``.

    Raises:
      BadBlock: a block raises unasked, does not raise what it should, or shows what differs from run to run.
    """
    text = path.read_text()
    blocks = blocks_of(text)
    file = path.stem.replace("-", "_") + ".py"
    program = ""
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(path), "__builtins__": __builtins__}
    results: list[Shown] = []
    for number, block in enumerate(blocks):
        if "needs-g++" in block.words and shutil.which("g++") is None:
            return results + [Shown("", [])] * (len(blocks) - number)
        if "not-run" in block.words:
            results.append(Shown("", []))
            continue
        place = f"{path.name}, line {text.count(chr(10), 0, block.start) + 1}"
        above = "\n" * program.count("\n")
        program += block.code
        linecache.cache[file] = (len(program), None, program.splitlines(True), file)
        output, raised, drawn = io.StringIO(), None, list[str]()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                _run_block(above + block.code, names, file, "quiet" in block.words, drawn)
            except Exception as error:
                raised = error
                print(_error_line(error), end="")
        if raised is not None and "raises" not in block.words:
            raise BadBlock(f"{place}: {output.getvalue()}") from raised
        if raised is None and "raises" in block.words:
            raise BadBlock(f"{place}: the block raises nothing")
        shown = output.getvalue()
        if "hidden" not in block.words and (odd := _NOT_REPEATABLE.search(shown)):
            raise BadBlock(f"{place}: {odd[0]!r} differs from run to run, in: {shown}")
        results.append(Shown(shown, _pictures(pictures, f"{path.parent.name}-{path.stem}-{number}", drawn)))
    return results


def run_page(path: pathlib.Path, pictures: pathlib.Path) -> list[Shown]:
    """Run a page in a process of its own, in an empty folder, and return what its blocks show, one for each block.

    Raises:
      BadBlock: see `run_here`; or the process died or took too long.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join(str(pathlib.Path(p).resolve()) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)
        environment = {**os.environ, **_ENVIRONMENT, "PYTHONPATH": paths}
        try:
            done = subprocess.run([sys.executable, __file__, path.resolve(), pictures.resolve()], capture_output=True, text=True,
                                  cwd=folder, env=environment, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            raise BadBlock(f"{path.name}: takes more than {_LIMIT} s") from None
    if done.returncode:
        raise BadBlock(f"{path.name}: {done.stderr.strip()}")
    return [Shown(**s) for s in json.loads(done.stdout)]


def with_outputs(page: str, results: list[Shown], pictures: str) -> str:
    """The text of a page with what its blocks show below them; ``pictures`` is the folder of the pictures as the page sees it."""
    pieces, end = [], 0
    for block, shown in zip(blocks_of(page), results, strict=True):
        pieces.append(page[end:block.start])
        end = block.end
        if "hidden" not in block.words:
            pieces.append(f"````{{code-block}} python\n{block.code}````\n")
            if shown.text:
                pieces.append(f"\n````{{code-block}} text\n:class: shown\n\n{shown.text.rstrip()}\n````\n")
        pieces += [f"\n![Figure]({pictures}/{name})\n" for name in shown.pictures]
    return "".join([*pieces, page[end:]])


def main() -> None:
    page = pathlib.Path(sys.argv[1])
    try:
        if len(sys.argv) > 2:  # the process that `run_page` starts
            print(json.dumps([dataclasses.asdict(s) for s in run_here(page, sys.argv[2])]))
            return
        with tempfile.TemporaryDirectory() as folder:
            results = run_page(page, pathlib.Path(folder))
    except BadBlock as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        sys.exit(str(error))
    for block, shown in zip(blocks_of(page.read_text()), results):
        print("\n".join(">>> " + line for line in block.code.splitlines()), shown.text, *shown.pictures, sep="\n")


if __name__ == "__main__":
    main()
