"""The public functions say what they take: `Any` stands in at most one parameter in twenty, in every package.

Counted are the named parameters of the functions that a public module of `jax` shows, and of the methods of the classes that
it shows; what a function passes on (``*args``, ``**kwargs``) is the caller's. A parameter without an annotation counts as `Any`.
"""
from __future__ import annotations

import collections
import importlib
import inspect
import pkgutil
import typing
import warnings
from typing import Any, Callable, Iterator

import pytest

import jax
import jax.typing

SHARE = 0.05
PACKAGES = ("jax", "jax_callbacks", "jax_core", "jax_numpy_api", "jax_random", "jax_xla_backend")
PASSED_ON = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def public_values() -> Iterator[tuple[str, Any]]:
    """Each public name with its value."""
    for module in ["jax", *(m.name for m in pkgutil.walk_packages(jax.__path__, "jax.") if "._" not in m.name)]:
        namespace = importlib.import_module(module)
        for name in dir(namespace):
            if not name.startswith("_"):
                yield f"{module}.{name}", getattr(namespace, name)


def functions(value: Any) -> Iterator[tuple[Callable, int]]:
    """The function, or a class's own public methods, each with the number of parameters to leave out (``self``)."""
    if not inspect.isclass(value):
        if callable(value):
            yield value, 0
        return
    for name, member in vars(value).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and (not name.startswith("_") or name in ("__init__", "__call__")):
            yield function, not isinstance(member, staticmethod)


def is_typed(annotation: Any) -> bool:
    return annotation is not inspect.Parameter.empty and annotation not in ("Any", Any)


def untyped_parameters() -> dict[str, list[tuple[str, bool]]]:
    """For each package the parameters of its public functions, and whether they are typed."""
    found, seen = collections.defaultdict(list), set()
    for public, value in public_values():
        for function, skip in functions(value):
            inner = inspect.unwrap(function)
            written = getattr(inner, "__globals__", {}).get("__name__") or getattr(inner, "__module__", None) or ""  # a public function names its public home
            package = written.split(".")[0]
            if package not in PACKAGES or id(inner) in seen:
                continue
            seen.add(id(inner))
            try:
                parameters = list(inspect.signature(function).parameters.values())[skip:]
            except (TypeError, ValueError):  # a class of C++, or one without a signature
                continue
            found[package] += [(f"{public}: {getattr(inner, '__qualname__', '')}({p.name})", is_typed(p.annotation))
                               for p in parameters if p.kind not in PASSED_ON]
    return found


@pytest.fixture(scope="module")
def parameters() -> dict[str, list[tuple[str, bool]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return untyped_parameters()


@pytest.mark.parametrize("package", PACKAGES)
def test_any_is_rare(package, parameters):
    """At most one parameter in twenty."""
    every = parameters[package]
    bare = [name for name, typed in every if not typed]
    assert every and len(bare) <= SHARE * len(every), f"{len(bare)} of {len(every)}:\n" + "\n".join(bare)


def test_a_bare_parameter_is_counted():
    """Of a function and of a method; not what is passed on."""
    class Sample:
        def method(self, x, y: int, *args, **kwargs): ...

        @staticmethod
        def static(x: Any): ...
    found = [(p.name, is_typed(p.annotation)) for f, skip in functions(Sample)
             for p in list(inspect.signature(f).parameters.values())[skip:] if p.kind not in PASSED_ON]
    assert found == [("x", False), ("y", True), ("x", False)]


@pytest.mark.parametrize("function", [jax.numpy.sin, jax.numpy.add.reduce, jax.lax.sin, jax.numpy.sum, jax.scipy.stats.norm.pdf,
                                      jax.random.normal, jax.numpy.zeros], ids=lambda f: f.__name__)
def test_made_functions_have_signatures(function):
    """Rows of tables make functions as those written out."""
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind not in PASSED_ON]
    assert all(is_typed(p.annotation) for p in named) and is_typed(signature.return_annotation)


def test_annotations_can_be_evaluated():
    """Aliases are names of the module that uses them, for tools that evaluate annotations."""
    hints = typing.get_type_hints(jax.numpy.zeros)
    assert hints["return"] is jax.Array and hints["shape"] == typing.Sequence[int] | int
