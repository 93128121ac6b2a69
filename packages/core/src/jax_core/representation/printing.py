"""The printed form of jaxprs that users of JAX know: ``{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }``."""
from __future__ import annotations

import collections
import html as markup
import itertools
import re
import string
import sys
from typing import Any, Sequence

from ..configuration import flags
from .jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, jaxprs_in_params, literal_text
from .source import SourceInfo

_INDENT = "  "
_WIDTH = 80


_LARGE = 10  # programs of more equations than this are printed apart, under a name


def _letters(n: int) -> str:
    """The ``n``-th name: a number with letters for digits."""
    return (_letters(n // 26) if n >= 26 else "") + string.ascii_lowercase[n % 26]


class _Names:
    """Letters for variables, a to z, then ba, bb, ... in order of appearance; and names of programs that are printed apart.

    Args:
      jaxpr: the whole program. Those that several of its calls share, and large ones, stand before it with the names of their functions.
    """

    def __init__(self, jaxpr: Jaxpr | None = None):
        self._names: dict[Any, str] = {}
        self.read: set = set()
        self.apart: dict[int, tuple[str, Jaxpr]] = {}
        if jaxpr is not None:
            self._find_shared(jaxpr)
            read = {v for atoms in (jaxpr.outvars, *(eqn.invars for eqn in jaxpr.eqns)) for v in atoms if type(v) is not Literal}
            self._names.update((v, "_") for eqn in jaxpr.eqns for v in eqn.outvars if v not in read)  # what nobody reads has no name
        taken = {name for name, _ in self.apart.values()}
        self._fresh = (name for name in map(_letters, itertools.count()) if name not in taken)

    def _find_shared(self, jaxpr: Jaxpr) -> None:
        counts: collections.Counter[int] = collections.Counter()
        called: dict[int, tuple[str, Jaxpr]] = {}
        level = [jaxpr]
        while level:  # breadth first: those that others call come after them
            inner = []
            for eqn in (e for program in level for e in program.eqns):
                call = _called(eqn)
                for program in (call,) if call is not None else jaxprs_in_params(eqn.params):
                    counts[id(program)] += 1
                    if id(program) not in called:
                        called[id(program)] = eqn.params["name"] if call is not None else "", program
                        inner.append(program)
            level = inner
        taken: set[str] = set()
        for key, (name, program) in called.items():
            if name and (counts[key] > 1 or len(program.eqns) > _LARGE):
                name = plain = name.strip("<>")
                for n in itertools.count(1):
                    if name not in taken:
                        break
                    name = f"{plain}{n}"
                taken.add(name)
                self.apart[key] = name, program

    def pass_on(self, inner: Sequence[object], outer: Sequence[object]) -> None:
        """Variables of a call's program get the names that they have outside, each once."""
        used = set()
        for v, x in zip(inner, outer):
            if type(v) in (Literal, DropVar) or v in self._names or type(x) in (Literal, DropVar) or x in used:
                continue
            self._names[v] = self(x)
            used.add(x)

    def __call__(self, v) -> str:
        if type(v) is Literal:
            return f"{literal_text(v.val)}:{v.aval.str_short(short_dtypes=True)}"
        if type(v) is DropVar:
            return "_"
        name = self._names.get(v)
        if name is None:
            name = self._names[v] = next(self._fresh)
        return name

    def note_reads(self, jaxpr: Jaxpr) -> None:
        """Remember which variables are read, where the program overwrites references (see `_reference_equation`)."""
        if any(eqn.primitive.arrow for eqn in jaxpr.eqns):
            self.read.update(v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal)
            self.read.update(v for v in jaxpr.outvars if type(v) is not Literal)

    def binder(self, v, settings) -> str:
        if not settings.shapes:
            return self(v)
        return f"{self(v)}{settings.colored(_TYPE, ':' + v.aval.str_short(short_dtypes=True))}"


_KEYWORD, _TYPE = "34;1", "35"  # colours, as terminals name them
_COMMENT = "\0"  # stands between a line and its comment until comments are put below each other
_FOLD, _UNFOLD = "\2", "\3"  # around a program inside another one, for HTML
_escape = re.compile("\x1b\\[[0-9;]*m|[\2\3]")


class _Settings:
    """How programs are printed; see `program`."""

    __slots__ = ("source_info", "shapes", "all_params", "name_stack", "effects", "color", "folds", "places")

    def __init__(self, source_info=False, print_shapes=True, custom_pp_eqn_rules=True, name_stack=False,
                 print_effects=False, use_color=False, folds=False, places=None):
        self.source_info, self.shapes, self.all_params = source_info, print_shapes, not custom_pp_eqn_rules
        self.name_stack, self.effects, self.color, self.folds = name_stack, print_effects, use_color, folds
        self.places: Any = places  # if a list, comments are numbers of its elements

    def colored(self, color: str, text: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self.color else text

    def comment(self, info) -> str:
        if self.places is not None:
            self.places.append(info)
            return f"{_COMMENT}{len(self.places) - 1}"
        parts = []
        if self.name_stack:
            parts.append(f"[{info.name_stack}]")
        if self.source_info:
            parts.append(info.place)
        return f"{_COMMENT}{' '.join(parts)}" if parts else ""


_PLAIN = _Settings()


def program(jaxpr: Jaxpr, *, source_info: bool = False, print_shapes: bool = True, custom_pp_eqn_rules: bool = True,
            name_stack: bool = False, print_effects: bool = False, use_color: bool | None = None, **_unused) -> str:
    """The printed form of ``jaxpr``.

    Args:
      source_info: beside each equation, file, line, column and function where it was written.
      print_shapes: show types of variables.
      custom_pp_eqn_rules: leave out parameters that have their usual values; False shows all.
      name_stack: beside each equation, its named scopes.
      print_effects: show the effects of programs.
      use_color: keywords and types in colours of a terminal; by default on a terminal, if `jax_pprint_use_color`.
    """
    if use_color is None:
        use_color = flags.pprint_use_color.value and on_terminal()
    settings = _Settings(source_info, print_shapes, custom_pp_eqn_rules, name_stack, print_effects, use_color)
    return _aligned(_whole(jaxpr, settings))


def on_terminal() -> bool:
    """Whether what is printed is shown in colours: ``sys.stdout`` is None where a process has none, and may be any object that writes."""
    return getattr(sys.stdout, "isatty", bool)()


def plain(jaxpr: Jaxpr) -> str:
    """The printed form as ``str`` gives it."""
    return _whole(jaxpr, _PLAIN)


def with_places(jaxpr: Jaxpr) -> tuple[str, list[SourceInfo | None]]:
    """The printed form, and for each of its lines the place where the innermost equation that it is part of was written, if any."""
    settings = _Settings(places=[])
    lines: list[str] = []
    places: list[SourceInfo | None] = []
    around: list[tuple[int, SourceInfo]] = []  # equations that have not ended, with where their lines begin
    for text in _whole(jaxpr, settings).split("\n"):
        line, numbers = _uncommented(text)
        column = len(line) - len(line.lstrip())
        while around and around[-1][0] >= column + bool(not numbers):
            around.pop()
        if numbers:
            around.append((column, settings.places[int(numbers[0])]))
        lines.append(line)
        places.append(around[-1][1] if around else None)
    return "\n".join(lines), places


_STYLE = {_KEYWORD: "color:#3465a4;font-weight:bold", _TYPE: "color:#8f4fa8", "comment": "color:#888"}


def as_html(jaxpr: Jaxpr) -> str:
    """The printed form for a notebook: types in colour, the place of each equation beside it, programs inside it fold away."""
    settings = _Settings(source_info=True, use_color=True, folds=True)
    text = markup.escape(_aligned(_whole(jaxpr, settings)), quote=False)
    text = re.sub("( # [^\n\2\3]*)(?=\n|$)", rf'<span style="{_STYLE["comment"]}">\1</span>', text)
    text = re.sub("\x1b\\[([1-9][0-9;]*)m", lambda found: f'<span style="{_STYLE[found[1]]}">', text).replace("\x1b[0m", "</span>")
    text = re.sub(f"{_FOLD}([^\n{_UNFOLD}]*)", r'<details open="" style="display:inline"><summary style="display:inline;cursor:pointer">\1</summary>', text)
    return f'<pre style="line-height:1.3">{text.replace(_UNFOLD, "</details>")}</pre>'


def equation(eqn: JaxprEqn) -> str:
    """The printed form of one equation."""
    return _equation(eqn, _Names(), _PLAIN, 0)


def _width(text: str) -> int:
    return len(_escape.sub("", text))


def _aligned(text: str) -> str:
    """Comments below each other, behind the longest line that has one."""
    if _COMMENT not in text:
        return text
    rows = [(code, " ".join(comments)) for code, comments in map(_uncommented, text.split("\n"))]
    column = max(_width(code) for code, comment in rows if comment)
    return "\n".join(f"{code}{' ' * (column - _width(code))} # {comment}" if comment else code for code, comment in rows)


def _uncommented(line: str) -> tuple[str, list[str]]:
    """A line without its comments, and these."""
    code, *pieces = [piece.split("\1") for piece in line.split(_COMMENT)]  # a comment reaches up to the next mark
    return code[0] + "".join(rest for _, *more in pieces for rest in more), [comment for comment, *_ in pieces]


def _whole(jaxpr, settings) -> str:
    """The program, behind those that it shares: ``let f = { ... } in``."""
    names = _Names(jaxpr)
    word = lambda text: settings.colored(_KEYWORD, text)
    shared = [f"{word('let')} {name} = {_program(inner, names, settings, 0, len(f'let {name} = '))} {word('in')}\n"
              for name, inner in names.apart.values()]
    return "".join(shared) + _program(jaxpr, names, settings)


def _called(eqn) -> Jaxpr | None:
    """The program that an equation of `jit` calls."""
    return eqn.params["jaxpr"].jaxpr if "donated_invars" in eqn.params and type(eqn.params.get("jaxpr")) is ClosedJaxpr else None


def _program(jaxpr, names, settings, indent=0, before=0) -> str:
    """The program, in one line where that has room behind ``before`` letters of a line that begins at ``indent``."""
    consts = " ".join(names.binder(v, settings) for v in jaxpr.constvars)
    inputs = " ".join(names.binder(v, settings) for v in jaxpr.invars)
    head = f"{{ {settings.colored(_KEYWORD, 'lambda')} {consts}; {inputs}. {settings.colored(_KEYWORD, 'let')}"
    names.note_reads(jaxpr)
    lines = [_equation(eqn, names, settings, indent + 2 * len(_INDENT)) for eqn in jaxpr.eqns]
    outputs = f"({', '.join(map(names, jaxpr.outvars))}{',' if len(jaxpr.outvars) == 1 else ''})"
    tail = f"{settings.colored(_KEYWORD, 'in')} {outputs}"
    if settings.effects:
        tail += f" : {{ {', '.join(sorted(map(str, jaxpr.effects)))} }}"
    flat = f"{head} {'; '.join(lines)} {tail} }}"
    if indent + before + _width(flat.split(_COMMENT)[0]) <= _WIDTH and "\n" not in flat and (len(lines) <= 1 or _COMMENT not in flat):
        return flat
    body = "\n".join(_INDENT * 2 + line.replace("\n", "\n" + _INDENT * 2) for line in lines)
    return f"{head}\n{body}\n{_INDENT}{tail} }}"


def _equation(eqn, names, settings, column) -> str:
    comment = settings.comment(eqn.source_info)
    if eqn.primitive.arrow:
        return _with_comment(_reference_equation(eqn, names, settings), comment)
    call = _called(eqn)
    if call is not None and id(call) not in names.apart:
        names.pass_on(call.invars, eqn.invars)
        names.pass_on(call.outvars, eqn.outvars)
    inputs = " ".join(names(v) for v in eqn.invars)
    outputs = " ".join("_" if type(v) is DropVar else names.binder(v, settings) for v in eqn.outvars)
    text = f"{outputs}{' = ' if outputs else ''}"
    printed_as = eqn.primitive.traits.printed_as
    if printed_as is not None and not settings.all_params:
        return _with_comment(f"{text}{eqn.params[printed_as]} {inputs}".strip(), comment)
    text += eqn.primitive.name
    params = _params(eqn, names, settings, column, column + _width(text) + len(inputs))
    return _with_comment(f"{text}{params} {inputs}".strip(), comment)


def _with_comment(text: str, comment: str) -> str:
    """The comment at the end of the first line."""
    if not comment:
        return text
    first, newline, rest = text.partition("\n")
    return f"{first}{comment}\1{newline}{rest}"


def _reference_equation(eqn, names, settings) -> str:
    """``b <- a[i]``, ``a[i] <- b`` (``c, a[i] <- a[i], b`` where the value before is used), ``a[i] += b``."""
    ref, *rest = eqn.invars
    value = None if eqn.primitive.arrow == "read" else rest.pop(0)
    operands = [str(v.val) if type(v) is Literal else names(v) for v in rest]
    part = names(ref) + eqn.params["index"].text(operands, ref.aval.shape)
    if value is None:
        return f"{names.binder(eqn.outvars[0], settings)} <- {part}"
    if not eqn.outvars:
        return f"{part} += {names(value)}"
    before, = eqn.outvars
    if before not in names.read:
        return f"{part} <- {names(value)}"
    return f"{names.binder(before, settings)}, {part} <- {part}, {names(value)}"


def _is_hidden(where: Any, value: Any) -> bool:
    return where is ... or where is value or (where(value) if callable(where) else where == value)


def _params(eqn, names, settings, column, taken) -> str:
    """Parameters in brackets; in one line where ``taken``, the rest of the line, leaves room."""
    hidden: Any = {} if settings.all_params else eqn.primitive.traits.hidden
    shown, labels = eqn.primitive.traits.shown, eqn.primitive.traits.labels
    items = []
    for key in sorted(eqn.params, key=lambda k: (k != "name", k)):
        if key in hidden and _is_hidden(hidden[key], eqn.params[key]):
            continue
        value, label = eqn.params[key], labels.get(key, key)
        text = _shown(shown[key], value) if key in shown else _value(value, names, settings, column + len(_INDENT), len(label) + 1)
        items.append(f"{label}={text}")
    if not items:
        return ""
    flat = f"[{' '.join(items)}]"
    if taken + _width(flat) < _WIDTH and "\n" not in flat:
        return flat
    inner = "\n".join(_INDENT + item.replace("\n", "\n" + _INDENT) for item in items)
    return f"[\n{inner}\n]"


def _shown(how, value) -> str:
    try:
        return how(value)
    except Exception:  # what is no such parameter is printed too, in the message that says so
        return str(value)


def _value(value, names, settings, indent, before) -> str:
    if isinstance(value, ClosedJaxpr):
        value = value.jaxpr
    if isinstance(value, Jaxpr):
        if id(value) in names.apart:
            return names.apart[id(value)][0]
        text = _program(value, names, settings, indent, before)
        return f"{_FOLD}{text}{_UNFOLD}" if settings.folds and "\n" in text else text
    if isinstance(value, (tuple, list)) and any(isinstance(v, (ClosedJaxpr, Jaxpr)) for v in value):
        inner = "\n".join(_INDENT + _value(v, names, settings, indent + len(_INDENT), 0).replace("\n", "\n" + _INDENT) for v in value)
        return f"(\n{inner}\n)"
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return value.__name__
    return str(value)
