"""The public namespace: importing it is light, each name is served, nothing imports the reference."""
import importlib
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import jax

MODULES = [name for _, name, _ in pkgutil.walk_packages([str(pathlib.Path(jax.__file__).parent)], "jax.")]


def test_import_loads_no_backend_and_no_numpy_api():
    code = ("import sys; before = set(sys.modules); import jax; heavy = [m for m in ('jaxlib._jax', 'scipy', 'jax_numpy_api.numpy', "
            "'jax_random', 'inspect', 'pkgutil') if m in sys.modules and m not in before]; sys.exit(f'loaded: {heavy}' if heavy else 0)")
    subprocess.run([sys.executable, "-c", code], check=True)


NOT_NEEDED = {
    "jax.jit(lambda x: jnp.sin(x) + 1)(jnp.ones(3))": [
        "scipy", "numpy.ma", "jax_random", "importlib.metadata", "asyncio", "unittest", "jaxlib.mlir"],
    "jnp.ones(3)": ["json", "jax_numpy_api.lax.control_flow"],
    "jax.jit(lambda x: jax.lax.scan(lambda c, x: (c + x, c), 0.0, x)[0]).trace(jnp.ones(3))": [
        f"jax_numpy_api.lax.control_flow.{m}" for m in ("associative_scan", "cond", "map", "solves", "while_loop")],
}


@pytest.mark.parametrize("call", NOT_NEEDED)
def test_call_loads_nothing_that_it_does_not_need(call):
    code = (f"import sys, jax, jax.numpy as jnp; {call}; heavy = [m for m in {NOT_NEEDED[call]} if m in sys.modules]; "
            "sys.exit(f'loaded: {heavy}' if heavy else 0)")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("module", MODULES)
def test_module_imports(module):
    importlib.import_module(module)


def test_every_name_of_the_namespace_is_served():
    missing = []
    for name in jax.__all__:
        try:
            getattr(jax, name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert not missing


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        jax.no_such_name


def test_version():
    assert jax.__version_info__ >= (0, 12, 0)
    assert jax.__version__ == ".".join(map(str, jax.__version_info__))


@pytest.mark.parametrize("module", ["jax.numpy", "jax.lax", "jax.scipy.special", "jax.nn", "jax"])
def test_the_dictionary_of_a_module_has_all_names(module):
    """In a process of its own, where nobody has asked for a name: scico wraps what ``vars(jax.numpy)`` holds, and found nothing."""
    run = subprocess.run([sys.executable, "-c", f"import importlib; m = importlib.import_module({module!r}); names = vars(m); "
                          "print(sorted(n for n in dir(m) if n not in names), repr(m)[:8], m.__dict__ is names, getattr(m, '__name__'))"],
                         capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["[]", "<module", "True", module]
