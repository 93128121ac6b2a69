"""Sphinx: pages whose programs run when the site is built, and pages that are generated."""
from __future__ import annotations

import concurrent.futures
import os
import pathlib
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

import blocks
import generate

_log = logging.getLogger(__name__)
PICTURES = "generated/pictures"  # below the source folder


def _generate(app: Sphinx) -> None:
    source = pathlib.Path(app.srcdir)
    written = generate.write_all(source.parent, source / "generated")
    _log.info("generated %d pages", written)
    (source / PICTURES).mkdir(parents=True, exist_ok=True)


def _run(app: Sphinx, env: Any, names: Any) -> None:
    """Run the programs of all pages, as many at a time as there are cores."""
    source = pathlib.Path(app.srcdir)
    pages = {name: env.doc2path(name) for name in env.found_docs}
    pages = {name: pathlib.Path(path) for name, path in pages.items() if str(path).endswith(".md")}
    pages = {name: path for name, path in pages.items() if blocks.blocks_of(path.read_text())}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {name: pool.submit(blocks.run_page, path, source / PICTURES) for name, path in sorted(pages.items())}
    app.shown = {}
    wrong = []
    for name, run in runs.items():
        try:
            app.shown[name] = run.result()
        except blocks.BadBlock as error:
            wrong.append(str(error))
    if wrong:
        raise ExtensionError("\n\n".join(wrong))
    count = sum("not-run" not in b.words for name in pages for b in blocks.blocks_of(pages[name].read_text()))
    _log.info("ran %d blocks on %d pages", count, len(pages))


def _show(app: Sphinx, name: str, text: list[str]) -> None:
    if name in app.shown:
        up = "../" * name.count("/")
        text[0] = blocks.with_outputs(text[0], app.shown[name], up + PICTURES)


_TYPES = {"Array": "jax.Array", "jax.Array": "jax.Array"}  # names in annotations that become links


def _plain_annotations(app: Sphinx, doctree: nodes.document) -> None:
    """Names in the annotations of signatures are plain text, but for a few: most are aliases without an entry of their own."""
    for signature in list(doctree.findall(addnodes.desc_signature)):
        for reference in list(signature.findall(addnodes.pending_xref)):
            target = _TYPES.get(reference["reftarget"])
            if target is None:
                reference.replace_self(reference.children)
            else:
                reference["reftarget"] = target
                reference.attributes.pop("refspecific", None)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", _generate)
    app.connect("env-before-read-docs", _run)
    app.connect("source-read", _show)
    app.connect("doctree-read", _plain_annotations)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
