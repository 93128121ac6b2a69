"""Exceptions: the classes JAX users catch, and what they say."""

import subprocess
import sys
import types

import pytest

from jax_core.representation import errors
from jax_core.representation.aval import refuse_masked


class Traced:
    """A stand-in for a tracer of `f`'s first argument."""

    def __repr__(self):
        return "Traced<ShapedArray(bool[], weak_type=True)>with<DynamicJaxprTrace(level=0/1)>"

    def _origin_message(self):
        return errors.origin_sentence("f at <ipython-input-27-99e60ecaa4cc>:1, transformed by jit.", [0])


class TracedLength(Traced):
    def __repr__(self):
        return "Traced<ShapedArray(int32[], weak_type=True)>with<DynamicJaxprTrace(level=0/1)>"


def test_the_text_of_a_failed_truth_value_is_that_of_the_specification():
    assert str(errors.TracerBoolConversionError(Traced())) == (
        "Abstract tracer value encountered where concrete value is expected:"
        " Traced<ShapedArray(bool[], weak_type=True)>with<DynamicJaxprTrace(level=0/1)>\n"
        "The problem arose with the `bool` function. \n"
        "While tracing the function f at <ipython-input-27-99e60ecaa4cc>:1, transformed by jit., this concrete value"
        " was not available in Python because it depends on the value of the arguments to f at"
        " <ipython-input-27-99e60ecaa4cc>:1, transformed by jit. at flattened positions [0], and the computation of"
        " these values is being staged out (that is, delayed rather than executed eagerly).\n"
        " (https://jax.readthedocs.io/en/latest/errors.html#jax.errors.ConcretizationTypeError)")


def test_the_text_of_a_traced_shape_is_that_of_the_specification():
    error = errors.shape_error((TracedLength(),))
    assert type(error) is TypeError
    assert str(error) == (
        "Shapes must be 1D sequences of concrete values of integer type, got"
        " (Traced<ShapedArray(int32[], weak_type=True)>with<DynamicJaxprTrace(level=0/1)>,).\n"
        "If using `jit`, try using `static_argnums` or applying `jit` to smaller subfunctions.")


def test_a_shape_without_tracers_is_not_blamed_on_jit():
    assert str(errors.shape_error((1.5,))) == (
        "a shape must be an int or a sequence of ints, got (1.5,)")


@pytest.mark.parametrize("cls, bases", [
    ("ConcretizationTypeError", "JAXTypeError TypeError"),
    ("TracerBoolConversionError", "ConcretizationTypeError TypeError"),
    ("TracerIntegerConversionError", "JAXTypeError TypeError"),
    ("TracerArrayConversionError", "JAXTypeError TypeError"),
    ("NonConcreteBooleanIndexError", "JAXIndexError IndexError"),
    ("UnexpectedTracerError", "JAXTypeError TypeError"),
    ("KeyReuseError", "JAXTypeError TypeError"),
    ("JaxprTypeError", "TypeError"),
    ("InconclusiveDimensionOperation", "Exception"),
    ("TypePromotionError", "ValueError"),
])
def test_classes_are_caught_by_the_names_users_write(cls, bases):
    for base in bases.split():
        expected = getattr(errors, base, None) or getattr(__builtins__, base, None) or __builtins__[base]
        assert issubclass(getattr(errors, cls), expected)


@pytest.mark.parametrize("cls", [
    errors.TracerIntegerConversionError, errors.TracerArrayConversionError, errors.NonConcreteBooleanIndexError])
def test_messages_name_the_value_its_origin_and_the_remedy(cls):
    what, origin, remedy = str(cls(TracedLength())).split("\n")
    assert repr(TracedLength()) in what
    assert origin.startswith("While tracing the function f at <ipython-input-27-99e60ecaa4cc>:1")
    assert "jnp" in remedy or "jax." in remedy


@pytest.mark.parametrize("cls", [
    errors.ConcretizationTypeError, errors.TracerBoolConversionError, errors.TracerIntegerConversionError,
    errors.TracerArrayConversionError, errors.NonConcreteBooleanIndexError, errors.UnexpectedTracerError,
    errors.KeyReuseError])
def test_a_finished_message_is_kept(cls):
    assert str(cls("all is said")) == "all is said"


def test_the_runtime_error_is_the_backends():
    """Without a backend the name does not exist, and the error says what to load; else asking for it loads the backend."""
    code = """
from jax_core import backends, extension_points; from jax_core.representation import errors
backends.prefer("nowhere", "nowhere:load")
backends.importlib.import_module = lambda name: (_ for _ in ()).throw(RuntimeError("install one"))
try:
    errors.JaxRuntimeError
except AttributeError as error:
    assert "install one" in str(error)
backends.importlib.import_module = lambda name: Module
class Module:
    load = lambda: extension_points.runtime_error.fill(Loaded)
class Loaded(RuntimeError): pass
assert errors.JaxRuntimeError is Loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_is_still_being_imported_is_no_obstacle(monkeypatch):
    """Another thread may be half-way through importing `numpy.ma`."""
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))
    refuse_masked(3)
