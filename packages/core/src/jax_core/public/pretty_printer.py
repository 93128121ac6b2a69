"""`jax._src.pretty_printer`: documents that are laid out to fit a width, by which libraries (haliax, genjax, feedbax) show their own objects.

A group is written on one line if it fits there; otherwise its own breaks become line ends, and groups inside it are asked again.
Programs of this system are printed without documents.

Source: Wadler, "A prettier printer", 2003; Lindig, "Strictly pretty", 2000.
"""
from __future__ import annotations

import enum
from typing import Any, Iterator, Sequence


class Color(enum.IntEnum):
    """Colours of a terminal, by their numbers in ANSI escapes for text."""
    BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE = range(30, 38)
    RESET = 39


class Intensity(enum.IntEnum):
    """Weights of text on a terminal."""
    DIM, NORMAL, BRIGHT = 2, 22, 1


class Doc:
    """A document; ``a + b`` is one after the other."""

    __slots__ = ("kind", "value", "parts")

    def __init__(self, kind: str, value: Any = None, parts: tuple[Doc, ...] = ()):
        self.kind, self.value, self.parts = kind, value, parts

    def __add__(self, other: Doc) -> Doc:
        return concat([self, other])

    def __str__(self) -> str:
        return self.format()

    __repr__ = __str__

    def format(self, width: int = 80, *, use_color: bool | None = None, annotation_prefix: str = " # ", **_: object) -> str:
        """The text, in lines of at most ``width`` where that can be done.

        Args:
          width: in characters; text that has no break may be longer.
          use_color: write escapes for colours; by default not.
          annotation_prefix: stands between a line and the remarks that its texts have.

        >>> import jax._src.pretty_printer as pp
        >>> words = pp.join(pp.concat([pp.text(","), pp.brk()]), [pp.text(w) for w in ("alpha", "beta")])
        >>> doc = pp.group(pp.concat([pp.text("f("), pp.nest(2, pp.concat([pp.brk(""), words])), pp.brk(""), pp.text(")")]))
        >>> print(doc.format(width=20))
        f(alpha, beta)
        >>> print(doc.format(width=10))
        f(
          alpha,
          beta
        )
        """
        return "\n".join(_lines(self, width, bool(use_color), annotation_prefix))


def nil() -> Doc:
    """The empty document."""
    return Doc("concat")


def text(text: str, annotation: str | None = None, **_: object) -> Doc:
    """``text`` as it is; its ``annotation`` is written at the end of its line."""
    return Doc("text", (text, annotation))


def concat(children: Sequence[Doc]) -> Doc:
    """One document after the other."""
    return Doc("concat", parts=tuple(children))


def brk(text: str = " ") -> Doc:
    """A place where the line may end; elsewhere ``text``."""
    return Doc("break", text)


def group(doc: Doc) -> Doc:
    """``doc`` on one line, if it fits."""
    return Doc("group", parts=(doc,))


def nest(n: int, doc: Doc) -> Doc:
    """``doc``, whose lines after the first begin ``n`` further to the right."""
    return Doc("nest", n, (doc,))


def join(sep: Doc, docs: Sequence[Doc]) -> Doc:
    """The ``docs`` with ``sep`` between them."""
    return concat([d for i, doc in enumerate(docs) for d in ((sep, doc) if i else (doc,))])


def color(child: Doc, foreground: Color | None = None, background: Color | None = None, intensity: Intensity | None = None) -> Doc:
    """``child`` in these colours, where colours are written."""
    return Doc("color", (foreground, background, intensity), (child,))


def source_map(doc: Doc, source: object) -> Doc:
    """``doc``, which stands for ``source``."""
    return doc


def keyword(doc: Doc) -> Doc:
    """``doc`` as a word of the language."""
    return color(doc, foreground=Color.BLUE, intensity=Intensity.BRIGHT)


def type_annotation(doc: Doc) -> Doc:
    """``doc`` as a type."""
    return color(doc, foreground=Color.MAGENTA)


_PLAIN = (Color.RESET, Color.RESET, Intensity.NORMAL)


def _escape(before: tuple, after: tuple) -> str:
    numbers = [str(int(new) + (10 if i == 1 else 0)) for i, (old, new) in enumerate(zip(before, after)) if old != new]
    return f"\x1b[{';'.join(numbers)}m" if numbers else ""


def _fits(doc: Doc, room: int) -> bool:
    """Whether ``doc`` has at most ``room`` characters on one line."""
    todo = [doc]
    while todo and room >= 0:
        doc = todo.pop()
        if doc.kind == "text":
            room -= len(doc.value[0])
        elif doc.kind == "break":
            room -= len(doc.value)
        else:
            todo.extend(reversed(doc.parts))
    return room >= 0


def _written(doc: Doc, width: int, use_color: bool) -> list[tuple[str, int, list[str]]]:
    """Lines of ``doc``: text with escapes, its length without them, remarks."""
    lines: list[tuple[str, int, list[str]]] = []
    line, used, remarks, now = "", 0, list[str](), _PLAIN
    todo: list[tuple[int, bool, tuple, Doc]] = [(0, False, _PLAIN, doc)]
    while todo:
        indent, flat, style, doc = todo.pop()
        if doc.kind == "text" or doc.kind == "break" and flat:
            written, remark = doc.value if doc.kind == "text" else (doc.value, None)
            if use_color and written:
                line, now = line + _escape(now, style), style
            line, used = line + written, used + len(written)
            if remark is not None:
                remarks.append(remark)
        elif doc.kind == "break":
            lines.append((line, used, remarks))
            line, used, remarks = " " * indent, indent, []
        elif doc.kind == "group":
            todo.append((indent, flat or _fits(doc.parts[0], width - used), style, doc.parts[0]))
        elif doc.kind == "nest":
            todo.append((indent + doc.value, flat, style, doc.parts[0]))
        elif doc.kind == "color":
            inner = tuple(old if new is None else new for old, new in zip(style, doc.value))
            todo.append((indent, flat, inner, doc.parts[0]))
        else:
            todo.extend((indent, flat, style, d) for d in reversed(doc.parts))
    return [*lines, (line + _escape(now, _PLAIN), used, remarks)]


def _lines(doc: Doc, width: int, use_color: bool, prefix: str) -> Iterator[str]:
    """Lines of ``doc``, with the remarks of all of them in one column."""
    written = _written(doc, width, use_color)
    column = max((used for _, used, remarks in written if remarks), default=0)
    for line, used, remarks in written:
        yield line + " " * (column - used) + prefix + remarks[0] if remarks else line
        for remark in remarks[1:]:
            yield " " * column + prefix + remark
