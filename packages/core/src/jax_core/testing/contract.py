"""What every backend must keep, as functions to be called from its tests (pytest finds those named ``test_*``).

``from jax_core.testing.contract import *`` in a test module runs them against the backend that is installed. There is a
section for each protocol of `jax_core.interfaces`. What a backend declares absent is asked for once: the error must say so.
"""
from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np
import pytest

from .. import backends, interfaces
from ..configuration import flags
from ..export.exporting import export
from ..interfaces import Absent, LowerSpec, is_absent
from ..programs import call, jit, tracing
from ..representation import tree
from ..representation.array import Array
from ..representation.aval import ShapedArray, get_aval
from ..representation.errors import UnexpectedTracerError
from ..traces import structural

PARTS = {"placements": interfaces.Placements, "inspection": interfaces.Inspection, "exporting": interfaces.Exporting}


def _x():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def _twice():
    return tracing.make_jaxpr(lambda x: structural.add(x, x))(_x())


def _traced():
    return jit.jit(lambda x: structural.add(x, x)).trace(_x())


def members(protocol: Any) -> set[str]:
    """The names that a protocol declares, its bases' too."""
    return {name for base in protocol.__mro__ if getattr(base, "_is_protocol", False) for name in
            {**vars(base), **inspect.get_annotations(base)} if not name.startswith("_")}


def has(holder: object, name: str) -> bool:
    """Whether the member is there. One that is declared absent must say so, with who lacks it, when it is read."""
    if not is_absent(holder, name):
        return True
    declared: Absent = getattr(type(holder), name)
    with pytest.raises(NotImplementedError, match=f"^{declared.backend} has no ") as caught:
        getattr(holder, name)
    assert declared.what in str(caught.value)
    return False


def _check_members(holder: Any, protocol: Any) -> None:
    for name in sorted(members(protocol)):
        if has(holder, name):
            member, declared = getattr(holder, name), inspect.getattr_static(protocol, name, None)
            if inspect.isfunction(declared):
                wanted = list(inspect.signature(declared).parameters)[1:]
                assert list(inspect.signature(member).parameters)[:len(wanted)] == wanted, name


# -- Backend -----------------------------------------------------------------------------------------------------------

def test_backend_has_every_member_or_declares_it_absent():
    backend = backends.get()
    _check_members(backend, interfaces.Backend)
    for name, protocol in PARTS.items():
        if has(backend, name):
            _check_members(getattr(backend, name), protocol)


# -- Runtime -----------------------------------------------------------------------------------------------------------

def test_there_are_devices_of_the_default_platform():
    backend = backends.get()
    assert backend.devices()
    assert backend.default_platform() in ("cpu", "cuda", "rocm", "tpu")
    assert backend.knows_platform(backend.default_platform()) and not backend.knows_platform("no such platform")


def test_evaluate_runs_one_primitive():
    backend = backends.get()
    x = backend.put(_x())
    out = backend.evaluate(structural.transpose_p, [x], dict(permutation=(1, 0)))
    assert isinstance(out, backend.array_type)
    np.testing.assert_array_equal(np.asarray(out), _x().T)


def _counted():
    traces = []

    def f(x):
        traces.append(x)
        return structural.add(x, x)
    return jit.jit(f), traces


def test_dispatcher_repeats_calls():
    g, traces = _counted()
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(g(_x())), 2 * _x())
    assert len(traces) == 1


def test_dispatcher_sees_new_types():
    g, traces = _counted()
    g(_x())
    assert g(_x()[0]).shape == (3,)
    assert len(traces) == 2


def test_dispatcher_forgets():
    g, traces = _counted()
    g(_x())
    g.clear_cache()
    g(_x())
    assert len(traces) == 2


def test_dispatcher_tells_static_values_apart():
    def f(x, axes, *, twice):
        return structural.transpose(structural.add(x, x) if twice else x, axes)
    g = jit.jit(f, static_argnums=1, static_argnames="twice")
    for axes, twice in [((1, 0), True), ((0, 1), True), ((1, 0), False), ((1, 0), True)]:
        np.testing.assert_array_equal(np.asarray(g(_x(), axes, twice=twice)), (1 + twice) * _x().transpose(axes))


def test_dispatcher_tells_structures_apart():
    g = jit.jit(lambda *args, **kwargs: (args, kwargs))
    for args, kwargs in [((_x(),), {}), ((), {"x": _x()}), ((), {"y": _x()}), (((_x(),),), {}), ((None, _x()), {}), ((_x(),), {})]:
        assert tree.tree_structure(g(*args, **kwargs)) == tree.tree_structure((args, kwargs))


def test_dispatcher_sees_settings():
    g, traces = _counted()
    double = np.asarray(_x(), np.float64)
    with flags.enable_x64(False):
        assert get_aval(g(double)).dtype == np.float32
    with flags.enable_x64(True):
        assert get_aval(g(double)).dtype == np.float64
    assert len(traces) == 2
    with flags.default_matmul_precision("bfloat16"):
        g(_x())
        g(_x())
    assert len(traces) == 3


def test_dispatcher_leaves_calls_to_the_current_trace():
    """A call that is known, but of a tracer, or inside a program that is being written."""
    g, _ = _counted()
    x = _x()
    g(x)
    for program in (tracing.make_jaxpr(g)(x), tracing.make_jaxpr(lambda: g(x))()):
        assert len(program.eqns) == 1
        np.testing.assert_array_equal(np.asarray(jit.jit(g)(x)), 2 * x)


def test_dispatcher_has_tracers_that_are_left_over_refused():
    g, _ = _counted()
    g(_x())
    tracers: list[Any] = []
    tracing.make_jaxpr(lambda x: tracers.append(x))(_x())
    with pytest.raises(UnexpectedTracerError):
        g(tracers[0])


def test_programs_pass_arguments_on():
    """Results that are arguments or constants, in another order, and arguments that nothing reads."""
    g = jit.jit(lambda x, y, z: (z, 2.0, x, z))
    for _ in range(2):
        results = g(_x(), np.float32(7), np.int32(3))
        for out, wanted in zip(results, (3, 2.0, _x(), 3)):
            np.testing.assert_array_equal(np.asarray(out), wanted)
    assert jit.jit(lambda x: None)(_x()) is None


def test_programs_run_after_caches_are_cleared():
    g, traces = _counted()
    g(_x())
    call.clear_caches()
    np.testing.assert_array_equal(np.asarray(g(_x())), 2 * _x())
    assert len(traces) == 2


# -- ConcreteArray -----------------------------------------------------------------------------------------------------

def test_arrays_have_what_shared_methods_build_on():
    backend = backends.get()
    x = backend.put(_x())
    _check_members(x, interfaces.ConcreteArray)
    assert isinstance(x, Array) and get_aval(x) == x.aval
    assert (x.shape, x.dtype, x.ndim, x.size, x.weak_type) == ((2, 3), np.float32, 2, 6, False)


def test_arrays_of_one_element_become_numbers():
    one = backends.get().put(np.int32(2))
    assert (bool(one), int(one), float(one), complex(one), "abc"[one]) == (True, 2, 2.0, 2 + 0j, "c")
    for convert in (bool, int, float, complex, operator.index):
        with pytest.raises(Exception) as caught:
            convert(backends.get().put(_x()))
        assert isinstance(caught.value, TypeError if convert is not bool else ValueError)


# -- Transfers ---------------------------------------------------------------------------------------------------------

def test_put_keeps_contents_and_type():
    backend = backends.get()
    x = backend.put(_x())
    assert isinstance(x, backend.array_type)
    assert get_aval(x) == ShapedArray((2, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(x), _x())


def test_host_views_are_read_only():
    backend = backends.get()
    view = backend.host_view(backend.put(_x()))
    assert view is None or not view.flags.writeable


def test_from_host_keeps_contents():
    backend = backends.get()
    given = _x()
    x = backend.from_host(given, weak_type=True)
    given[:] = 7
    assert get_aval(x) == ShapedArray((2, 3), np.float32, True)
    np.testing.assert_array_equal(np.asarray(x), _x())


def test_from_host_narrows_while_x64_is_off():
    x = backends.get().from_host(np.array([0.5, 1.5]))
    assert get_aval(x).dtype == np.float32 and np.asarray(x).dtype == np.float32


def test_arrays_on_the_host_show_what_they_are_made_of():
    x = backends.get().on_host(_x())
    assert isinstance(x, backends.get().array_type) and get_aval(x) == ShapedArray((2, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(x), _x())


@pytest.mark.parametrize("copy", [True, None])
def test_from_dlpack_keeps_contents(copy):
    backend = backends.get()
    if not has(backend, "from_dlpack"):
        return
    given = _x()
    x = backend.from_dlpack(given, copy=copy)
    assert isinstance(x, backend.array_type)
    np.testing.assert_array_equal(np.asarray(x), given)
    if copy:
        given[:] = 7
        np.testing.assert_array_equal(np.asarray(x), _x())


def test_from_dlpack_refuses_a_copy_that_it_needs():
    backend = backends.get()
    if has(backend, "from_dlpack"):
        memory = np.zeros(128 + 16, np.uint8)
        start = (8 - memory.ctypes.data) % 64  # at no multiple of 64 bytes, so that no backend can take the memory as it is
        with pytest.raises(ValueError, match="copy=False"):
            backend.from_dlpack(memory[start:start + 16].view(np.float64), copy=False)


# -- LoweredModule, Executable, Run ------------------------------------------------------------------------------------

def test_lower_and_compile():
    backend = backends.get()
    spec = LowerSpec("twice")
    module = backend.lower(_twice(), spec)
    _check_members(module, interfaces.LoweredModule)
    assert "add" in module.text() and "add" in module.text(True) and "twice" in module.name
    executable = backend.compile(module, spec)
    [out] = executable.execute([_x()]).results
    np.testing.assert_array_equal(np.asarray(out), 2 * _x())
    with flags.no_execution(True), pytest.raises(RuntimeError, match="no_execution"):
        executable.execute([_x()])


def test_executable_shows_itself():
    backend = backends.get()
    executable = backend.compile(backend.lower(_twice(), LowerSpec("twice")), LowerSpec("twice"))
    executable.compile()
    _check_members(executable, interfaces.Executable)
    assert executable.as_text()
    for name in ("in_shardings", "out_shardings", "in_formats", "out_formats"):
        if has(executable, name):
            assert len(getattr(executable, name)) == 1, name


def test_stages_show_what_there_is():
    """Each either answers, or ends in the error of what is declared absent."""
    lowered = _traced().lower()
    compiled = lowered.compile()
    np.testing.assert_array_equal(np.asarray(compiled(_x())), 2 * _x())
    for look in (lowered.as_text, lambda: lowered.as_text("hlo"), lowered.compiler_ir, lowered.cost_analysis, compiled.as_text,
                 compiled.cost_analysis, compiled.memory_analysis, compiled.runtime_executable, lambda: compiled.input_shardings,
                 lambda: compiled.output_shardings, lambda: compiled.input_formats, lambda: compiled.output_formats):
        _answers_or_says_absent(look)


def _answers_or_says_absent(look: Any) -> None:
    try:
        look()
    except NotImplementedError as error:
        assert " has no " in str(error) and "choose a backend" in str(error)


# -- Inspection --------------------------------------------------------------------------------------------------------

def test_module_without_placements_is_shown_as_it_is():
    backend, spec = backends.get(), LowerSpec("twice")
    if has(backend, "inspection") and has(backend.inspection, "placed_module"):
        module = backend.lower(_twice(), spec)
        assert backend.inspection.placed_module(module, _twice(), spec) is module


def test_compiler_has_no_unheard_of_dialect():
    backend = backends.get()
    if has(backend, "inspection") and has(backend.inspection, "compiler_ir"):
        module = backend.lower(_twice(), LowerSpec("twice"))
        assert backend.inspection.compiler_ir(module, None) is not None
        assert backend.inspection.compiler_ir(module, "abacus") is None


def test_written_values_are_of_the_program():
    backend = backends.get()
    if has(backend, "inspection") and has(backend.inspection, "written_values"):
        jaxpr = _twice().jaxpr
        assert set(backend.inspection.written_values(jaxpr)) <= {v for eqn in jaxpr.eqns for v in eqn.outvars}


# -- Placements --------------------------------------------------------------------------------------------------------

def test_open_placement_has_an_entry_for_each_axis():
    backend = backends.get()
    _answers_or_says_absent(lambda: ShapedArray((2, 3), np.float32).sharding)
    if has(backend, "placements"):
        assert not backend.placements.is_spread(backend.placements.on_no_mesh(2))
        assert backend.placements.on_no_mesh(2) == backend.placements.on_no_mesh(2) != backend.placements.on_no_mesh(3)


def test_one_device_has_no_description():
    backend = backends.get()
    if has(backend, "placements"):
        known = backend.placements
        here = known.as_sharding(backend.devices()[0])
        assert known.describe(here) is known.describe(None) is None and not known.is_spread(here)
        assert known.on_mesh(None, None) is None and known.in_hlo(None, 2) is None
        assert known.format_of(here).sharding == here and known.format_of(None).layout is None


def test_descriptions_come_back():
    backend = backends.get()
    if has(backend, "placements"):
        description = {"axes": [["x", len(backend.devices())]], "spec": ["x", None]}
        sharding = backend.placements.on_devices(description)
        assert backend.placements.device_count(description) == len(backend.devices())
        assert backend.placements.describe(sharding) == (description if len(backend.devices()) > 1 else None)
        with pytest.raises(ValueError, match="devices"):
            backend.placements.on_devices({"axes": [["x", 1 << 20]], "spec": ["x"]})


# -- Exporting ---------------------------------------------------------------------------------------------------------

def test_exported_programs_are_called():
    backend = backends.get()
    fun = jit.jit(lambda x: structural.add(x, x))
    if has(backend, "exporting"):
        exported = export(fun)(_x())
        np.testing.assert_array_equal(np.asarray(jit.jit(exported.call)(_x())), 2 * _x())
    else:
        with pytest.raises(NotImplementedError, match=" has no "):
            export(fun)(_x())


def test_portable_artifacts_come_back():
    backend = backends.get()
    if has(backend, "exporting"):
        text, kept = backend.exporting.exported_module(_twice(), LowerSpec("twice"))
        again = backend.exporting.module_of_artifact(backend.exporting.portable_artifact(text))
        assert kept == (0,) and "add" in again and backend.exporting.custom_call_targets(again) == []
        assert backend.exporting.compiler_version() == backend.exporting.compiler_version()


__all__ = [name for name in dir() if name.startswith("test_")]
