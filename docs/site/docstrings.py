"""Docstrings as reStructuredText.

Our docstrings are plain text: paragraphs, lists, sections such as ``Args:`` whose text is indented, examples that begin with ``>>>``,
code between backticks. Everything else is taken literally, so that no docstring can break the page.
"""
from __future__ import annotations

import re

_SECTION = re.compile(r"^([A-Z][A-Za-z ]{2,24}):$")
_ITEM = re.compile(r"^([-*]|\d+\.) +")
_CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
_FOREIGN = re.compile(r"\b(C?HLO|StableHLO|LAPACK|BLAS)\b[^.;]*$")  # what follows are operations of these, not functions of ours
_ARGUMENTS = ("Args", "Arguments", "Attributes", "Raises", "Keyword Args")


def to_rst(doc: str, known: set[str], module: str) -> str:
    """The docstring ``doc`` of something in ``module``; names between backticks that are among ``known`` become links."""
    return "\n".join(_Writer(known, module).blocks(doc.expandtabs(4).splitlines()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: list[str]) -> list[str]:
    least = min((_indent(line) for line in lines if line.strip()), default=0)
    return [line[least:] for line in lines]


class _Writer:
    def __init__(self, known: set[str], module: str):
        self.known, self.module = known, module

    def inline(self, text: str) -> str:
        """``text`` in one line, with what RST would take for markup escaped, and code as code."""
        text = " ".join(text.split())
        pieces = _CODE.split(text)
        foreign = [_FOREIGN.search("".join(pieces[:i])) is not None for i in range(len(pieces))]
        for i, piece in enumerate(pieces):
            if i % 2 == 0:
                pieces[i] = re.sub(r"([\\*`|_])", r"\\\1", piece)
                continue
            code = piece.strip("`").strip()
            candidates = (code, f"jax.{code}") if code.startswith(("lax.", "random.")) else (code,) if "." in code else (
                f"{self.module}.{code}", f"jax.{code}")  # `numpy.sin` is NumPy's
            link = None if foreign[i] else next((n for n in candidates if n in self.known), None)
            before, after = pieces[i - 1][-1:], pieces[i + 1][:1]
            pieces[i] = ("\\ " if before.isalnum() else "") + (f":py:obj:`{code} <{link}>`" if link else f"``{code}``") \
                + ("\\ " if after.isalnum() or after == "\\" else "")
        text = re.sub("::$", ":", "".join(pieces))
        return "\\" + text if re.match(r"\.\.|[-+=~^#:>]|\w+[.)] ", text) and not text.startswith(":py:obj:") else text

    def blocks(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
                continue
            end = at + 1
            if (section := _SECTION.match(line)) and end < len(lines) and (_indent(lines[end]) or not lines[end].strip()):
                while end < len(lines) and (not lines[end].strip() or _indent(lines[end])):
                    end += 1
                body = _dedented(lines[at + 1:end])
                out += [f"**{section[1]}**", ""]
                inner = self.arguments(body) if section[1] in _ARGUMENTS else self.blocks(body)
                out += ["   " + text if text else "" for text in inner] + [""]
            elif _indent(line) or line.startswith(("|", ">>>", "```", "===")):
                literal = line.startswith("```")
                while end < len(lines) and (lines[end].strip() or (_indent(line) and end + 1 < len(lines) and _indent(lines[end + 1]))):
                    if literal and lines[end].startswith("```"):
                        end += 1
                        break
                    end += 1
                body = _dedented([text for text in lines[at:end] if not text.startswith("```")])
                language = "pycon" if body and body[0].startswith(">>>") else "text"
                out += [f".. code-block:: {language}", "", *("   " + text if text else "" for text in body), ""]
            else:
                item = _ITEM.match(line)
                while end < len(lines) and lines[end].strip() and not _ITEM.match(lines[end]) and not lines[end].startswith(">>>") and (
                        item is None or _indent(lines[end])):
                    end += 1
                text = " ".join(lines[at:end])
                if item is None:
                    out += [self.inline(text), ""]
                else:
                    out += ["- " + self.inline(text[item.end():]), ""]
            at = end
        return out

    def arguments(self, lines: list[str]) -> list[str]:
        """Lines ``name: text``, each with the lines indented below it, as a list of definitions."""
        out: list[str] = []
        at = 0
        while at < len(lines):
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or _indent(lines[end])):
                end += 1
            name, colon, text = lines[at].partition(":")
            if not lines[at].strip():
                pass
            elif colon and len(name) < 60:
                out += [f"``{name.strip().strip('`')}``", *("   " + t if t else "" for t in self.blocks([text.strip(), *_dedented(lines[at + 1:end])]))]
            else:
                out += self.blocks(_dedented(lines[at:end]))
            at = end
        return out
