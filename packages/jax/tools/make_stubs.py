"""Write the stubs (`.pyi`) of the public modules, which type checkers and editors read in place of the lazy namespaces.

    python packages/jax/tools/make_stubs.py            # writes them beside the modules
    python packages/jax/tools/make_stubs.py --check    # says which are not up to date

A public module is a table of names; what stands behind them is asked at run time: signatures with their annotations, classes
with their members, the types of values. Types that follow those of arguments (what `jax.jit` makes of a function), which no
annotation of the implementation says, stand in `generic.pyi`, by module, and replace what was found. Gaps are left out, so that
their use is an error. With them go the stubs that our own packages are checked with (`inner_stubs.py`).
"""
from __future__ import annotations

import abc
import ast
import builtins
import collections.abc
import enum
import functools
import importlib
import importlib.util
import inspect
import keyword
import math
import pathlib
import pkgutil
import re
import sys
import types
import typing
import warnings
from typing import Any, Callable, Iterator

import numpy as np
from inner_stubs import inner_stubs

import jax
import jax_core.representation.typing
from jax._gaps import table as gaps
from jax._lazy import deprecated_in

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent / "src"
WIDTH = 130
HEADER = '"""Types of `{}`. Written by packages/jax/tools/make_stubs.py."""\n'
BY_VALUE = {"jax.config"}  # modules that are objects: their names stand in their parent's stub
NOT_IN_EVERY_JAXLIB = frozenset({"create_hlo_output_callback", "is_c_api"})
"""Members of jaxlib's client that some of the supported versions lack; its ``__getattr__`` stands for them."""
OURS = ("jax", "jaxlib", "jax_core", "jax_numpy_api", "jax_random", "jax_callbacks", "jax_xla_backend")
OPTIONAL = ("tensorstore",)
"""Packages that need not be installed; modules pass on what they have, and no stub has it."""
FIRST = ("jax", "jax.typing", "jax.sharding", "jax.stages", "jax.errors", "jax.export", "jax.tree_util", "jax.numpy", "jax.extend.core")
LAST = ("jax.core", "jax.interpreters", "jax.experimental", "jax.ad", "jax.example_libraries", "jax.lib")
OPERATORS = {f"__{r}{n}__" for n in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split() for r in ("", "r")} | {
    f"__{n}__" for n in "eq ne lt le gt ge neg pos abs invert round".split()}
SPECIAL = {"__init__", "__call__", "__getitem__", "__iter__", "__len__", "__contains__", "__enter__", "__exit__", "__getattr__",
           "__hash__", "__get__"} | OPERATORS
STANDS_FOR = {  # names of the implementation's protocols and helpers, and what a caller knows them as
    "ShardingLike": "jax.sharding:Sharding", "SpecLike": "jax.sharding:PartitionSpec", "DeviceLike": "jax:Device",
    "ArrayImpl": "jax:Array", "SupportsDType": "jax.typing:SupportsDType", "Override": "jax:_Block", "ContextDecorator": "contextlib:ContextDecorator",
    "ArrayLike": "jax.typing:ArrayLike", "DTypeLike": "jax.typing:DTypeLike", "PyTreeDef": "jax.tree_util:PyTreeDef",
    "PyTree": "typing:Any", "Never": "typing:NoReturn",
}


def module_names() -> list[str]:
    """The public modules, those whose names others refer to first."""
    found = ["jax", *(m.name for m in pkgutil.walk_packages(jax.__path__, "jax.") if "._" not in m.name and m.name not in BY_VALUE)]

    def rank(name: str) -> tuple:
        return (FIRST.index(name) if name in FIRST else 50, name.startswith(LAST), name.count("."), name)
    return sorted(found, key=rank)


def public_values(module: types.ModuleType) -> dict[str, Any]:
    """The public names of ``module`` that are written: the same ones whether or not optional packages are installed."""
    missing = set(gaps().get(module.__name__, ()))
    names = sorted({*dir(module), *deprecated_in(module.__name__)})
    found = {n: getattr(module, n) for n in names if not n.startswith("_") and n not in missing and not keyword.iskeyword(n)}
    return {n: value for n, value in found.items() if not str(getattr(value, "__module__", "")).startswith(OPTIONAL)}


def hand_written() -> dict[str, dict[str, str]]:
    """`generic.pyi`: for each module, named in a comment ``# == module``, its statements by the name that they define."""
    found: dict[str, dict[str, str]] = {}
    for section in re.split(r"^# == ", (TOOLS / "generic.pyi").read_text(), flags=re.MULTILINE)[1:]:
        name, text = section.split("\n", 1)
        lines, statements = text.splitlines(), found.setdefault(name.strip(), {})
        for node in ast.parse(text).body:
            key = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ast.unparse(node).split("=")[0].split(":")[0].strip()
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            statements[key] = statements.get(key, "") + "\n".join(lines[first - 1:node.end_lineno]) + "\n"
    return found


class Library:
    """All public modules, and for each class where it is defined as far as stubs are concerned."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        self.home: dict[int, tuple[str, str]] = {}
        self.by_name: dict[str, type] = {}
        self.generic = hand_written()
        self.others: dict[str, str] = {}  # public modules that are jaxlib's own
        for name in module_names():
            module = importlib.import_module(name)
            if name.startswith("jax.extend.mlir.") and not hasattr(module, "__path__"):
                self.others[name] = name.replace("jax.extend", "jaxlib")
            values = self.values[name] = {} if name in self.others else public_values(module)
            for public, value in values.items():
                if isinstance(value, type) and defined_by_us(value) and id(value) not in self.home and not is_scalar(value):
                    self.home[id(value)] = (name, public)
                    self.by_name.setdefault(public, value)

    def stub(self, module: str) -> str:
        if module in self.others:
            return f"{HEADER.format(module)}from {self.others[module]} import *\n"
        return Stub(self, module).text()


def flags() -> str:
    """A member of `_Config` for each flag. Texts may stand for members of an enum, and nothing for a text."""
    kinds = {name: kind for name, (kind, *_) in sorted(jax.config.meta.items())}
    optional = {name: " | None" if value is None else "" for name, value in jax.config.values.items()}
    return "".join(f"    {name}: {kinds[name].__name__ + optional[name] if kinds[name] in (bool, int, float) else 'Any'}\n" for name in kinds
                   if name in optional)


def defined_by_us(cls: type) -> bool:
    """Whether ``cls`` gets a class in the stubs; what comes from Python and NumPy is imported from there."""
    return cls.__module__.split(".")[0] in OURS and not cls.__module__.startswith("jaxlib.mlir")


def is_scalar(cls: type) -> bool:
    """Whether ``cls`` is such as `jnp.float32`, which makes arrays and is taken for a dtype."""
    return type(cls).__name__ == "_ScalarMeta"


@functools.cache
def for_type_checkers(path: str) -> dict[str, str]:
    """The names that the file imports under ``TYPE_CHECKING``, each with its module as the import spells it."""
    if not path.endswith(".py"):
        return {}
    blocks = [n for n in ast.parse(pathlib.Path(path).read_text()).body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    return {alias.name: "." * node.level + (node.module or "") for block in blocks for node in block.body
            if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname is None}


class Stub:
    """The stub of one module, with the imports that its text turns out to need."""

    def __init__(self, library: Library, module: str) -> None:
        self.library, self.module = library, module
        self.names = library.values[module]
        self.generic = dict(library.generic.get(module, {}))
        if "_Config" in self.generic:
            self.generic["_Config"] += flags()
        self.imports: dict[str, set[str]] = {}
        self.plain_imports: set[str] = set()

    def text(self) -> str:
        body = [self.statement(name, value) for name, value in self.names.items() if name not in self.generic or isinstance(value, type)]
        body += [self.annotated(text) for name, text in self.generic.items() if not isinstance(self.names.get(name), type)]
        if self.module in ("jax", "jax.version"):
            body.append("__version__: str\n__version_info__: tuple[int, int, int]\n")
        imports = [f"import {m}" for m in sorted(self.plain_imports)]
        imports += [f"from {m} import {', '.join(sorted(names))}" for m, names in sorted(self.imports.items())]
        if any(text.startswith("add: ufunc") for text in body):
            self.plain_imports.add("numpy")
        modules = [text for text in body if text.startswith("from ")]
        others = [text for text in body if text and not text.startswith("from ")]
        return HEADER.format(self.module) + "\n".join(imports) + "\n" + "".join(modules) + "\n" + "".join(others)

    # -- names of other modules ----------------------------------------------------------------------------------------

    def imported(self, module: str, name: str) -> str:
        """``name`` of ``module``, as this stub writes it."""
        if module == self.module:
            return name
        if module == "builtins":
            if name not in self.names:
                return name
            self.plain_imports.add("builtins")
            return f"builtins.{name}"
        if name in self.names and not self.same(name, module):
            self.imports.setdefault(module, set()).add(f"{name} as _{name}")
            return f"_{name}"
        self.imports.setdefault(module, set()).add(name)
        return name

    def same(self, name: str, module: str) -> bool:
        value = self.names[name]
        return isinstance(value, type) and self.library.home.get(id(value)) == (module, name)

    def annotated(self, text: str) -> str:
        """Hand-written ``text``, whose free names are imported from where they are public."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id) and node.id not in self.names and node.id not in self.generic:
                if hasattr(typing, node.id):
                    self.imports.setdefault("typing", set()).add(node.id)
                elif node.id in STANDS_FOR:
                    self.imported(*STANDS_FOR[node.id].split(":"))
                elif node.id in self.library.by_name:
                    self.imported(*self.library.home[id(self.library.by_name[node.id])])
                elif node.id == "np":
                    self.plain_imports.add("numpy as np")
        return text

    # -- types ---------------------------------------------------------------------------------------------------------

    def type_of(self, value: Any) -> str:
        """The type of a value, by the nearest public class."""
        if value is None:
            return "None"
        for cls in type(value).__mro__:
            if id(cls) in self.library.home or (not defined_by_us(cls) and cls is not object):
                return self.render(cls)
        return self.render(Any)

    def render(self, kind: Any) -> str:
        """A type, from the object that stands for it at run time."""
        if kind is None or kind is type(None):
            return "None"
        if kind is Any or kind is inspect.Parameter.empty or isinstance(kind, typing.TypeVar):
            return self.imported("typing", "Any")
        if kind is Ellipsis:
            return "..."
        if isinstance(kind, (str, typing.ForwardRef)):
            return self.annotation(getattr(kind, "__forward_arg__", kind), {})
        if kind is types.EllipsisType:
            return self.imported("types", "EllipsisType")
        for name in ("ArrayLike", "DTypeLike"):
            if kind == getattr(jax_core.representation.typing, name):
                return self.imported("jax.typing", name)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.render(a) for a in arguments))
        if origin is typing.Literal:
            return f"{self.imported('typing', 'Literal')}[{', '.join(map(repr, arguments))}]"
        if origin is collections.abc.Callable:
            takes, gives = (*arguments, Any)[:2] if arguments else (..., Any)
            takes = "..." if takes is ... else f"[{', '.join(self.render(a) for a in takes)}]"
            return f"{self.imported('typing', 'Callable')}[{takes}, {self.render(gives)}]"
        if origin is not None and arguments:
            return f"{self.render(origin)}[{', '.join(self.render(a) for a in arguments)}]"
        if isinstance(kind, type):
            return self.class_name(kind)
        return self.imported("typing", "Any")

    def class_name(self, cls: type) -> str:
        name = cls.__name__
        if name in STANDS_FOR and id(cls) not in self.library.home:
            module, _, known = STANDS_FOR[name].partition(":")
            bare, bracket, rest = known.partition("[")
            if rest:
                self.imported("typing", "Any")
            return self.imported(module, bare) + bracket + rest
        if id(cls) in self.library.home:
            return self.imported(*self.library.home[id(cls)])
        if cls.__module__ == "numpy":
            self.plain_imports.add("numpy as np")
            return f"np.{name}"
        if cls.__module__ == "builtins" and hasattr(builtins, name):
            return self.imported("builtins", name)
        if cls.__module__ == "collections.abc" and hasattr(typing, name):
            return self.imported("typing", name)
        return self.imported("typing", "Any")

    def annotation(self, text: Any, namespace: dict[str, Any]) -> str:
        """An annotation, written in a module whose names are ``namespace``."""
        if not isinstance(text, str):
            return self.render(text)
        stub = self

        class Rendered(ast.NodeTransformer):
            def visit_Name(self, node):
                return ast.parse(stub.known(node.id, namespace), mode="eval").body

            def visit_Attribute(self, node):
                root = ast.unparse(node)
                try:
                    value = eval(root, {"builtins": builtins, **namespace})  # an annotation of our own
                except (NameError, AttributeError):
                    return ast.parse(stub.imported("typing", "Any"), mode="eval").body
                return ast.parse(stub.render(value), mode="eval").body

            def visit_Subscript(self, node):
                name = getattr(node.value, "id", "")
                if name == "Literal":
                    stub.imported("typing", "Literal")
                    return node
                if name not in stub.library.by_name and hasattr(typing, name):
                    inside = self.visit(node.slice)
                    if name == "Callable" and isinstance(inside, ast.Tuple) and not isinstance(inside.elts[0], (ast.List, ast.Constant)):
                        inside.elts[0] = ast.Constant(...)  # a ParamSpec
                    return ast.Subscript(ast.Name(stub.imported("typing", name)), inside)
                return self.generic_visit(node)

            def visit_Constant(self, node):
                return ast.parse(stub.annotation(node.value, namespace), mode="eval").body if isinstance(node.value, str) else node

        rendered = ast.unparse(Rendered().visit(ast.parse(text, mode="eval")))
        any_of = {p.strip() for p in rendered.split(" | ")} if "[" not in rendered else set()
        rendered = rendered.replace("| None | None", "| None")
        return "Any" if "Any" in any_of else re.sub(r"\bAny\[[^\[\]]*\]", "Any", rendered)

    def known(self, name: str, namespace: dict[str, Any]) -> str:
        if name in STANDS_FOR:
            return self.class_name(type(name, (), {"__module__": ""}))
        if name in namespace:
            return self.render(namespace[name])
        if name in self.library.by_name:
            return self.class_name(self.library.by_name[name])
        module = for_type_checkers(namespace.get("__file__", "")).get(name)
        if module is not None and importlib.util.find_spec(module, namespace["__package__"]):  # some are stubs alone
            return self.render(getattr(importlib.import_module(module, namespace["__package__"]), name, Any))
        if hasattr(typing, name):
            return self.render(getattr(typing, name)) if name != "Callable" else self.imported("typing", "Callable")
        if hasattr(builtins, name):
            return self.imported("builtins", name)
        return self.imported("typing", "Any")

    # -- statements ----------------------------------------------------------------------------------------------------

    def statement(self, name: str, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            parent, _, own = value.__name__.rpartition(".")
            return f"from {parent} import {own} as {name}\n" if own == name and value.__name__.startswith("jax.") else (
                f"{name}: {self.imported('typing', 'Any')}\n")
        if isinstance(value, type):
            return self.class_statement(name, value)
        if isinstance(value, typing.TypeVar):
            return f"{name} = {self.imported('typing', 'TypeVar')}({name!r})\n"
        if typing.get_origin(value) is not None:
            return f"{name}: {self.imported('typing', 'TypeAlias')} = {self.render(value)}\n"
        if callable(value) and not isinstance(value, np.dtype) and id(type(value)) not in self.library.home or isinstance(
                value, (types.FunctionType, jax.custom_jvp)):
            return self.function(name, value)
        return f"{name}: {self.type_of(value)}\n"

    def class_statement(self, name: str, cls: type) -> str:
        if is_scalar(cls):
            return f"{name}: _ScalarType\n"
        if name in self.generic and not defined_by_us(cls):
            return self.annotated(self.generic[name])
        if not defined_by_us(cls):
            package = cls.__module__.split(".")[0]
            for home in (cls.__module__, package):  # the public one of numpy.exceptions, of ml_dtypes._finfo
                if package in ("numpy", "typing", "enum", "ml_dtypes") and "._" not in home and getattr(
                        sys.modules[home], name, None) is cls:
                    return f"from {home} import {name} as {name}\n"
            return f"{name} = {self.class_name(cls)}\n" if cls.__name__ != name else f"{name}: {self.imported('typing', 'TypeAlias')} = {self.render(cls)}\n"
        home = self.library.home[id(cls)]
        if home != (self.module, name):
            if home[0] == self.module or home[1] != name:
                return f"{name} = {self.imported(*home)}\n"
            return f"from {home[0]} import {name} as {name}\n"
        if name in self.generic and "..." in self.generic[name].splitlines()[0]:
            return self.annotated(self.generic[name])
        return self.class_body(name, cls)

    def class_body(self, name: str, cls: type) -> str:
        written = self.annotated(self.generic.get(name, ""))
        head = written.splitlines()[0] if written else f"class {name}{self.bases(cls)}:"
        lines = [f'    """{summary(cls)}"""'] if summary(cls) else []
        lines += written.splitlines()[1:]
        present = set(re.findall(r"^    (?:def )?(\w+)\b", written, flags=re.MULTILINE))
        if issubclass(cls, enum.Enum):
            lines += [f"    {member} = ..." for member in cls.__members__ if member not in present]
            present |= set(cls.__members__)
        annotations = {k: v for c in reversed(self.own(cls)) for k, v in vars(c).get("__annotations__", {}).items()}
        if issubclass(cls, tuple):  # fields of `collections.namedtuple` have no types; ours are arrays
            annotations = {**dict.fromkeys(getattr(cls, "_fields", ()), "Array"), **annotations}
        for field, kind in annotations.items():
            if not field.startswith("_") and field not in present and not isinstance(getattr(cls, field, None), property):
                default = " = ..." if field in getattr(cls, "_field_defaults", ()) else ""
                lines.append(f"    {field}: {self.annotation(kind, vars(sys.modules[cls.__module__]))}{default}")
                present.add(field)
        for member, value in sorted(self.members(cls).items()):
            if member not in present:
                present.add(member)
                lines += self.member(cls, member, value)
        for attribute in sorted(set(attributes_set(cls)) - present):
            lines.append(f"    {attribute}: {self.imported('typing', 'Any')}")
        return "\n".join([head, *(lines or ["    ..."])]) + "\n"

    def own(self, cls: type) -> list[type]:
        """``cls``, and those of its bases that no stub shows."""
        return [c for c in cls.__mro__ if c is cls or (defined_by_us(c) and id(c) not in self.library.home)]

    def bases(self, cls: type) -> str:
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return f"({self.imported('typing', 'NamedTuple')})"
        shown = [c for c in cls.__mro__[1:] if c is not object and (
            id(c) in self.library.home or issubclass(c, (BaseException, enum.Enum, tuple, dict, str, int)) and not defined_by_us(c))
            and c is not enum.ReprEnum]
        found = [self.class_name(c) for i, c in enumerate(shown) if not any(issubclass(earlier, c) for earlier in shown[:i])]
        if not shown and isinstance(cls, abc.ABCMeta) and any(getattr(v, "__isabstractmethod__", False) for v in vars(cls).values()):
            found = [self.imported("abc", "ABC")]
        if issubclass(cls, enum.Enum):
            found = [self.imported("enum", "IntEnum" if issubclass(cls, int) else "Enum")]
        return f"({', '.join(found)})" if found and found != ["Any"] else ""

    def members(self, cls: type) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for c in self.own(cls):
            for member, value in vars(c).items():
                public = not member.startswith("_") or member in SPECIAL and (member == "__call__" or not issubclass(cls, enum.Enum))
                inherited = member == "__init__" and (issubclass(cls, tuple) or issubclass(cls, BaseException) and not inspect.isfunction(value))
                if public and not inherited and member not in NOT_IN_EVERY_JAXLIB and not keyword.iskeyword(member):
                    found.setdefault(member, value)
        made = vars(cls).get("__new__")
        if isinstance(made, staticmethod) and "__init__" not in found and not issubclass(cls, (tuple, enum.Enum)):
            found["__new__"] = made.__func__
        shown_by_base = {n for c in cls.__mro__[1:] if id(c) in self.library.home
                         for n in (*dir(c), *getattr(c, "__annotations__", ()))} - SPECIAL - takes_else(cls)
        found = {n: v for n, v in found.items() if n not in shown_by_base}
        if cls is not jax.Array:  # `object` has them for everybody
            found = {n: v for n, v in found.items() if n not in ("__eq__", "__ne__", "__hash__")}
        return found

    def member(self, cls: type, name: str, value: Any) -> list[str]:
        if name == "__hash__":
            return ["    __hash__: None  # type: ignore[assignment]"] if value is None else []
        namespace = vars(sys.modules[cls.__module__])
        if name == "__new__":
            return ["    " + line for line in self.definition(name, value, ["cls"], ["cls"])]
        if isinstance(value, property) or type(value).__name__ in ("getset_descriptor", "member_descriptor", "cached_property", "nb_property"):
            getter = getattr(value, "fget", None) or getattr(value, "func", None)
            kind = getattr(getter, "__annotations__", {}).get("return", Any)
            return ["    @property", f"    def {name}(self) -> {self.annotation(kind, getattr(getter, '__globals__', namespace))}: ..."]
        if isinstance(value, (staticmethod, classmethod)):
            kind = type(value).__name__
            first = [] if kind == "staticmethod" else ["cls"]
            return [f"    @{self.imported('builtins', kind)}", *("    " + line for line in self.definition(name, value.__func__, first, first))]
        if isinstance(value, type) and cls.__module__.startswith("jaxlib"):  # helpers of its C++, which change with its version
            return []
        if callable(value) and not isinstance(value, type):
            of_object = name in ("__eq__", "__ne__") or (issubclass(cls, tuple) and name in SPECIAL)
            ignore = "  # type: ignore[override]" if of_object else ""
            lines = self.definition(name, value, ["self"], ["self"])
            if getattr(value, "__isabstractmethod__", False):
                lines = [f"@{self.imported('abc', 'abstractmethod')}", *lines]
            return [*("    " + line for line in lines[:-1]), "    " + lines[-1] + ignore]
        return [f"    {name}: {self.type_of(value)}"]

    def function(self, name: str, value: Callable) -> str:
        return "\n".join(self.definition(name, value, [], [])) + "\n"

    def definition(self, name: str, value: Callable, bound: list[str], skip: list[str]) -> list[str]:
        """``def name(...)`` of a function, or of a method whose first parameter is ``bound``."""
        any_type = self.imported("typing", "Any")
        inner = inspect.unwrap(value)
        inner = getattr(inner, "__func__", inner)
        namespace = getattr(inner, "__globals__", None) or vars(sys.modules.get(getattr(inner, "__module__", None) or "", types))
        doc = summary(value)
        end = [f'    """{doc}"""'] if doc and not bound else []
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):
            text = f"def {name}({', '.join([*bound, f'*args: {any_type}', f'**kwargs: {any_type}'])}) -> {any_type}:"
            text = text.replace(f"-> {any_type}:", f"-> {self.returned(name, value, inspect.Signature(), {}, False)}:")
            return [text, *end] if end else [text + " ..."]
        parameters = list(signature.parameters.values())
        if bound:
            parameters = parameters[1:] if parameters and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL else parameters
        operator = bool(bound) and name in OPERATORS and getattr(value, "__module__", "").endswith("array_methods")
        parts, star, optional = list(bound), False, False
        for i, p in enumerate(parameters):
            if p.kind is p.KEYWORD_ONLY and not star:
                parts, star = [*parts, "*"], True
            star = star or p.kind is p.VAR_POSITIONAL
            sign = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            kind = self.annotation(p.annotation, namespace)
            if operator and kind == any_type:
                kind = self.imported("jax.typing", "ArrayLike")
            optional = optional and p.kind is not p.KEYWORD_ONLY or p.default is not p.empty
            default = f" = {shown(p.default)}" if p.default is not p.empty else ""
            if p.default is None and not any(word in kind for word in ("None", "Any")):
                kind += " | None"
            parts.append(f"{sign}{p.name}: {kind}{default}")
            if p.kind is p.POSITIONAL_ONLY and (i + 1 == len(parameters) or parameters[i + 1].kind is not p.POSITIONAL_ONLY):
                parts.append("/")
        kind = "async def" if inspect.iscoroutinefunction(inner) else "def"
        text = f"{kind} {name}({', '.join(parts)}) -> {self.returned(name, value, signature, namespace, operator)}:"
        return [text, *end] if end else [text + " ..."]

    def returned(self, name: str, value: Callable, signature: inspect.Signature, namespace: dict, operator: bool) -> str:
        if name in ("__init__", "__new__"):
            return "None" if name == "__init__" else self.imported("typing", "Self")
        kind = signature.return_annotation
        if kind is signature.empty:
            return self.imported("jax", "Array") if operator else self.imported("typing", "Any")
        text = self.annotation(kind, namespace)
        if getattr(value, "__code__", None) is not None and value.__code__.co_filename.endswith("contextlib.py"):
            inside = text.partition("[")[2][:-1].split(",")[0] or "None"
            return self.imported("jax", "_Block") if inside == "None" else f"{self.imported('contextlib', 'AbstractContextManager')}[{inside}]"
        arrays = self.module.startswith(("jax.numpy", "jax.lax", "jax.scipy"))
        if text in ("tuple", "builtins.tuple") and arrays:
            return f"{text}[{self.imported('jax', 'Array')}, ...]"
        if text in ("list", "list[Any]") and arrays:
            return f"list[{self.imported('jax', 'Array')}]"
        if " | " in text and "tuple[" in text:  # which of them depends on an argument's value
            return self.imported("typing", "Any")
        return text


def takes_else(cls: type) -> set[str]:
    """Methods that ``cls`` defines with other parameters than the class that it has them from, whose calls they all take."""
    found = set()
    for name, own in vars(cls).items():
        inherited = next((vars(c)[name] for c in cls.__mro__[1:] if name in vars(c)), None)
        if inspect.isfunction(own) and inspect.isfunction(inherited):
            ours, theirs = (dict(inspect.signature(f).parameters) for f in (own, inherited))
            if list(ours) != list(theirs) and {p.kind for p in theirs.values()} <= {p.kind for p in ours.values()}:
                found.add(name)
    return found


def summary(value: Any) -> str:
    """The first sentence or line of a docstring."""
    doc = vars(value).get("__doc__") if isinstance(value, type) else getattr(value, "__doc__", None)
    if not isinstance(doc, str) or not doc.strip() or "__new__" in doc[:40]:
        return ""
    line = inspect.cleandoc(doc).split("\n\n")[0].replace("\n", " ")
    return line.replace("\\", "\\\\").replace('"""', "'''").removesuffix('"') + (" " if line.endswith('"') else "")


def shown(default: Any) -> str:
    if default is None or isinstance(default, (bool, str)) or type(default) is int:
        return repr(default)
    return repr(default) if type(default) is float and math.isfinite(default) else "..."


def attributes_set(cls: type) -> Iterator[str]:
    """Public attributes that a class written in Python assigns to ``self``."""
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return
    yield from re.findall(r"\bself\.([a-z]\w*)(?:: [^=\n]+)? = ", source)


def path_of(module: str) -> pathlib.Path:
    base = ROOT / module.replace(".", "/")
    return base / "__init__.pyi" if base.is_dir() else base.with_suffix(".pyi")


def stubs() -> dict[pathlib.Path, str]:
    """The text of every stub."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = Library()
        texts = {path_of(name): library.stub(name) for name in library.values}
    return {**texts, **inner_stubs(texts[path_of("jax")])}


def main() -> int:
    texts = stubs()
    stale = [(path, text) for path, text in texts.items() if not path.exists() or path.read_text() != text]
    left = [path for path in (ROOT / "jax").rglob("*.pyi") if path not in texts]
    for path, text in stale:
        print(("out of date: " if "--check" in sys.argv else "wrote ") + str(path.relative_to(ROOT.parents[1])))
        if "--check" not in sys.argv:
            path.write_text(text)
    for path in left:  # of modules that are gone, or are folders now
        print(("of no module: " if "--check" in sys.argv else "removed ") + str(path.relative_to(ROOT.parents[1])))
        if "--check" not in sys.argv:
            path.unlink()
    return int(bool(stale or left) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
