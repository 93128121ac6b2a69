"""The examples in docstrings are run, one test for each public module, and every function that users call has one.

Numbers may differ in the last digits from one processor or release of XLA to the next: they are compared as numbers.
"""
from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import types
import warnings
from typing import Any, Iterator

import numpy as np
import pytest

import jax
import jax.numpy as jnp
import jax.scipy
from example_output import Numerically
from jax._lazy import deprecated_in
from test_public_names import MODULES

STEPS = set("""
    combine_kvstores estimate_read_memory_footprint jvp_from_lin register_hitype jet_fun jet_subtrace traceable ltg_batcher
    rnn_abstract_eval rnn_bwd_abstract_eval sparsify_fun sparsify_raw sparsify_subtrace register_backend_factory
    build_ffi_lowering_function batch_jaxpr_axes register_vmappable core_call_lowering emit_python_callback jaxpr_subcomp
    lower_jaxpr_to_fun lower_jaxpr_to_module merge_mlir_modules register_constant_handler shape_tensor
    unflatten_ir_values_like_types no_collectives register_ffi_type_id""".split())
"""Steps of other functions and rules that want a context, for which a page of preparation would be needed, and what is only refused.
This list only gets shorter."""
FOREIGN = ("jaxlib", "tensorstore", "contextlib")


ABOUT_THE_CPU = set("""visualize_array_sharding buffer_callback live_devices get_tpu_info get_gpu_info get_attached_topology backends register_lowering
platform_dependent hessenberg schur funm sqrtm solve_sylvester rsf2csf Exported""".split())
"""Where an example names the CPU or runs on it alone."""


def functions(module: str) -> Iterator[tuple[str, Any]]:
    """The public functions of ``module``, with the objects that are called as such."""
    namespace = importlib.import_module(module)
    for name in (*dir(namespace), *deprecated_in(module)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            value = getattr(namespace, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, (type, types.ModuleType)) and isinstance(
                getattr(value, "__doc__", None), str) and not type(value).__module__.startswith(("typing", "types")):
            yield name, value


def run(name: str, doc: str) -> list[str]:
    """What went wrong in the examples of ``doc``."""
    examples = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), {
        "jax": jax, "jnp": jnp, "jsp": jax.scipy, "np": np, "lax": jax.lax}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(checker=Numerically(), verbose=False).run(examples, out=said.append, clear_globs=False)
    return said


@functools.cache
def said_by(doc: str, name: str) -> str:
    """As `run`; once in a process, as some examples register what can be registered once."""
    return "".join(run(name, doc))


def classes() -> Iterator[tuple[str, type]]:
    """The public classes that are ours, each once."""
    found = {}
    for module in MODULES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            namespace = importlib.import_module(module)
            for name, value in ((n, getattr(namespace, n)) for n in dir(namespace)):
                if isinstance(value, type) and value.__module__.startswith("jax") and not name.startswith("_"):
                    found.setdefault(value, f"{module}.{name}")
    return ((name, value) for value, name in found.items())


@pytest.mark.parametrize("module", [m for m in MODULES if any(">>>" in v.__doc__ for _, v in functions(m))])
def test_examples(module):
    for name, value in functions(module):
        if ">>>" in value.__doc__ and (jax.default_backend() == "cpu" or name not in ABOUT_THE_CPU):
            said = said_by(value.__doc__, value.__name__ if hasattr(value, "__name__") else name)
            assert not said, f"{module}.{name}: {said}"


def test_examples_of_classes():
    ran = 0
    for name, value in classes():
        for part in [value, *vars(value).values()]:
            doc = getattr(part, "__doc__", None)
            if isinstance(doc, str) and ">>>" in doc and (jax.default_backend() == "cpu" or value.__name__ not in ABOUT_THE_CPU):
                said, ran = said_by(doc, name), ran + 1
                assert not said, f"{name}: {said}"
    assert ran > 20


def test_every_function_has_an_example():
    without = {f"{m}.{name}" for m in MODULES for name, value in functions(m)
               if ">>>" not in value.__doc__ and not str(value.__module__).startswith(FOREIGN)}
    assert {name.rpartition(".")[2] for name in without} == STEPS


def test_a_wrong_output_is_seen():
    """A digit, a shape, a dtype."""
    assert not run("right", ">>> jnp.sin(0.5)\nArray(0.47942555, dtype=float32, weak_type=True)")
    for wrong in ("Array(0.4795, dtype=float32, weak_type=True)", "Array([0.47942555], dtype=float32)", "Array(0.47942555, dtype=float64)"):
        assert run("wrong", f">>> jnp.sin(0.5)\n{wrong}")
