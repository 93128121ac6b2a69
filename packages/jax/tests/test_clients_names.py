"""What equinox, flax and orbax ask of names, tables of rules and placements."""
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys
import traceback
from unittest import mock

import numpy as np
import pytest

import jax
import jax.extend.core
import jax.lib
import jax.numpy as jnp
from jax._internal import known
from jax._src.sharding_impls import UNSPECIFIED
from jax.experimental import colocated_python as cp
from jax.interpreters import ad, batching
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P
from jax_core.configuration import flags
from jax_xla_backend.platforms import clusters


class AnswersToAll:
    """Answers to every name with itself, as flax' Rngs do."""
    __name__ = property(lambda self: self)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, x):
        return x + 1


def test_an_object_that_answers_to_every_name_is_no_array():
    assert not isinstance(AnswersToAll(), jax.Array)


@pytest.mark.parametrize("kind, expected", [(jax.Array, True), (type(jnp.ones(2)), True), (np.ndarray, False), (jax.Ref, False)])
def test_a_stand_in_is_an_array_if_its_class_says_so(kind, expected):
    """As for Python's own classes; tests of libraries pass mocks of arrays (tunix)."""
    assert isinstance(mock.NonCallableMock(spec=kind), jax.Array) is expected


def test_a_callable_without_a_name_of_text_is_transformed():
    assert jax.vmap(AnswersToAll())(jnp.zeros(2)).tolist() == [1, 1]


def test_libraries_append_and_remove_excluded_paths():
    from jax._src import traceback_util
    from jax_core.representation.source import is_internal
    code = compile("0", "/a_library/module.py", "eval")
    assert not is_internal(code)
    traceback_util._exclude_paths.append("/a_library/")
    assert is_internal(code)
    traceback_util._exclude_paths.remove("/a_library/")
    assert not is_internal(code)
    with pytest.raises(ValueError, match="/a_library/"):
        traceback_util._exclude_paths.remove("/a_library/")


def names_by_library():
    """What ``tools/client_names.py`` found in sources of libraries: names by the first library that uses them."""
    found = {}
    for line in (pathlib.Path(__file__).parent / "data" / "client_names.txt").read_text().splitlines():
        name, first, *_ = line.split()
        found.setdefault(first, []).append(name)
    return found


def missing(names):
    """Those of ``names`` that are not there."""
    def has(name):
        try:
            pkgutil.resolve_name(name)
        except (AttributeError, ImportError, NotImplementedError) as error:
            return getattr(error, "name", "") == "tensorstore"  # an optional dependency, which is not installed here
        return True
    return [n for n in names if not has(n)]


@pytest.mark.parametrize("library", names_by_library())
def test_every_name_that_a_library_uses(library):
    assert missing(names_by_library()[library]) == []


def test_a_missing_name_is_seen():
    assert missing(["jax.numpy.sin", "jax._src.dtypes.NoSuchType", "jax.no_such_module.x", "jax.lax.sin.no_such_attribute"]) == [
        "jax._src.dtypes.NoSuchType", "jax.no_such_module.x", "jax.lax.sin.no_such_attribute"]


def test_what_scico_and_jaxns_import_of_placements():
    from jax._src.sharding_impls import UnspecifiedValue, canonicalize_sharding as canonical
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Explicit,))
    assert isinstance(UNSPECIFIED, UnspecifiedValue) and canonical(None, "f") is canonical(jax.typeof(jnp.ones(2)).sharding, "f") is None
    with jax.set_mesh(mesh):
        assert canonical(P("x"), "f") == canonical(NamedSharding(mesh, P("x")), "f") == NamedSharding(mesh.abstract_mesh, P("x"))
    for given, error in (P("x"), ValueError), (3, TypeError), (jnp.ones(2).sharding, TypeError):
        with pytest.raises(error, match="f: out_sharding"):
            canonical(given, "f")


def test_checks_of_placements_that_benchmarks_import():
    from jax._src.op_shardings import are_hlo_shardings_equal, is_hlo_sharding_replicated
    from jax._src.pjit import pjit_check_aval_sharding as check
    mesh, x = jax.sharding.AbstractMesh((2,), ("x",)), jax.typeof(jnp.ones((3, 2)))
    rows, columns, both = (NamedSharding(mesh, spec) for spec in (P("x"), P(None, "x"), P(None, None, "x")))
    assert check([columns, UNSPECIFIED, None], [x] * 3, ["a", "b", "c"], "arguments", False) is check([rows], [x], [""], "results", True) is None
    with pytest.raises(ValueError, match=r"arguments: b of type float32\[3,2\] cannot be placed.*partitioned 2 times"):
        check([columns, rows], [x] * 2, ["a", "b"], "arguments", False)
    with pytest.raises(ValueError, match="results: an array of type .* at least 3"):
        check([both], [x], [""], "results", True)
    a, b, whole = (s._to_xla_hlo_sharding(2) for s in (rows, columns, NamedSharding(mesh, P())))
    assert are_hlo_shardings_equal(a, a) and not are_hlo_shardings_equal(a, b)
    assert is_hlo_sharding_replicated(whole) and not is_hlo_sharding_replicated(a)


def test_internal_modules_are_there_without_an_import_of_their_own():
    """orthax writes ``jax._src.numpy.util`` after ``import jax``, tokamax ``sys.modules["jax._src.lax.lax"]`` after a use of `jax.lax`."""
    folder = pathlib.Path(jax.__file__).parent / "_src"
    modules = [".".join(f.relative_to(folder).with_suffix("").parts) for f in folder.rglob("*.py")]
    names = [m.removesuffix(".__init__") for m in modules if m != "__init__" and not m.startswith("lib.mlir.")]
    program = f"import jax, operator, sys; jax.lax.add; sys.modules['jax._src.lax.lax']; [operator.attrgetter(n)(jax._src) for n in {names!r}]"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-500:]


def test_internal_names_are_the_public_ones():
    """Editors complete an import with the module that defines a name, ``from jax._src.nn.functions import softplus``."""
    names = [(module, name) for module, found in known().items() for name in found]
    values = [pkgutil.resolve_name(f"{module}:{name}") for module, name in names]
    assert len(values) > 3000 and not [n for n, value in zip(names, values) if type(value).__name__ == "_Gap"]
    assert pkgutil.resolve_name("jax._src.nn.functions:softplus") is jax.nn.softplus


def test_internal_modules_can_be_imported_in_every_form():
    import jax._src.lax.control_flow.loops as loops
    from jax._src.basearray import Array

    from jax._src import linear_util
    from jax._src.random.prng import random_bits_p  # noqa: F401  # beside names of a module with a file
    assert loops.while_loop is jax.lax.while_loop and linear_util.WrappedFun is jax.extend.linear_util.WrappedFun and Array is jax.Array
    for name in "jax._src.no_such", "jax._src.nn.no_such", "jax._src.nn.functions.relu":
        with pytest.raises(ModuleNotFoundError, match=name):
            importlib.import_module(name)
    for module in loops, linear_util, jax._src.random.prng, jax._src.monitoring:
        assert not hasattr(module, "no_such") and not hasattr(module, "__no_such__")


def test_what_evaluators_of_programs_look_up():
    """graphax, immrax and detectors of sparsity; axes, the current trace, and last uses."""
    from jax._src import core
    jaxpr = jax.make_jaxpr(lambda x, y: (jnp.sin(x) + y, y))(1., 2.)
    env, last = dict(zip(jaxpr.jaxpr.invars, (1., 2.))), core.last_used(jaxpr.jaxpr)
    left = []
    for eqn in jaxpr.jaxpr.eqns:
        env[eqn.outvars[0]] = 0.
        core.clean_up_dead_vars(eqn, env, last)
        left.append(len(env))
    assert left == [2, 2] and [last[v] is None for v in jaxpr.jaxpr.invars] == [False, True]
    seen = []
    note = lambda x: seen.append((core.trace_ctx.is_top_level(), dict(core.get_axis_env().axis_sizes), core.trace_ctx.trace is x._trace)) or x
    jax.vmap(note, axis_name="i")(jnp.ones(3))
    jax.jit(note)(1.)
    assert seen == [(False, {"i": 3}, True), (False, {}, True)] and core.trace_ctx.is_top_level() and core.trace_ctx.is_empty()
    with pytest.raises(NameError, match="'i'"):
        core.axis_frame("i")


def test_documents_fit_a_width():
    """haliax, genjax and feedbax show their objects by them; the public jax gives the same texts (and did for 400 random documents)."""
    from jax._src import pretty_printer as pp
    words = pp.join(pp.concat([pp.text(","), pp.brk()]), [pp.text(w) for w in ("alpha", "beta")])
    call = pp.group(pp.concat([pp.text("f("), pp.nest(2, pp.concat([pp.brk(""), words])), pp.brk(""), pp.text(")")]))
    assert call.format(width=14) == str(call) == "f(alpha, beta)" and call.format(width=13) == "f(\n  alpha,\n  beta\n)"
    inner = pp.group(pp.concat([pp.text("a"), pp.brk("--"), call]))
    assert inner.format(width=17) == "a--f(alpha, beta)" and inner.format(width=16) == "a\nf(alpha, beta)" and inner.format(width=5).count("\n") == 4
    red = pp.concat([pp.text("p"), pp.color(pp.text("q"), foreground=pp.Color.RED), pp.brk(), pp.text("r")])
    assert red.format(use_color=True) == "p\x1b[31mq\n\x1b[39mr" and red.format() == "pq\nr"
    assert pp.concat([pp.text("a", "x"), pp.text("bb", "y"), pp.brk(), pp.text("c", "z")]).format() == "abb # x\n    # y\nc   # z"


def test_numbers_of_the_dtype_of_another():
    from jax._src.lax.lax import _const
    assert [(type(x), getattr(x, "dtype", None)) for x in (_const(1.5, 3), _const(2, True), _const(jnp.asarray(1.), 3))] == [(float, None), (int, None), (float, None)]
    assert [(_const(x, 3) + x).dtype for x in (jnp.float16(1), jnp.ones(2, jnp.bfloat16), np.int8(1))] == [jnp.float16, jnp.bfloat16, jnp.int8]


def test_lists_as_interpreters_change_them():
    from jax._src import util
    assert util.subvals([1, 2, 3], [(0, 5), (-1, 6)]) == (5, 2, 6) and util.tuple_insert((1, 2), 2, 3) == (1, 2, 3)
    for wrong, error in (lambda: util.tuple_insert((1, 2), 3, 0), IndexError), (lambda: util.tuple_delete((1, 2), 2), IndexError), (
            lambda: util.tuple_update((1, 2), -1, 0), IndexError), (lambda: util.unflatten([1, 2], [1]), ValueError), (
            lambda: util.foreach(print, [1], [1, 2]), ValueError):
        with pytest.raises(error):
            wrong()


def test_results_are_remembered_as_long_as_their_argument():
    from jax._src import util
    calls = []
    cached = util.weakref_lru_cache(lambda key, *args, **named: calls.append(args) or len(calls), maxsize=2)
    a, b = AnswersToAll(), AnswersToAll()
    assert [cached(a, 1), cached(a, 1), cached(b, 1), cached(a, 1), cached(a, 2), cached(b, 1), cached(b, 1, n=3)] == [1, 1, 2, 1, 3, 4, 5]
    with jax.enable_x64(True):
        assert cached(b, 1, n=3) == 6
    assert cached.cache_info() == (2, 6, 2, 2)
    del b
    assert cached.cache_info().currsize == 0
    with pytest.raises(TypeError):
        cached(3)


def test_solutions_by_given_factors():
    from jax._src.lax.linalg import lu_solve
    a, b = np.random.RandomState(0).randn(2, 3, 3).astype("f") + 1j, np.ones((2, 3, 2), "f")
    lu, _, order = jax.lax.linalg.lu(a.astype("F"))
    for trans, matrix in enumerate((a, a.swapaxes(1, 2), a.conj().swapaxes(1, 2))):
        np.testing.assert_allclose(lu_solve(lu, order, b, trans), np.linalg.solve(matrix, b), rtol=1e-4)
        np.testing.assert_allclose(lu_solve(lu[0], order[0], b[0, :, 0], trans), np.linalg.solve(matrix[0], b[0, :, 0]), rtol=1e-4)
    for wrong in (lu, order, b, 3), (lu, order, b[:, :2]), (lu, order[:, :2], b):
        with pytest.raises(ValueError, match="lu_solve"):
            lu_solve(*wrong)


def test_what_orthax_torchax_and_dynamiqs_promote_and_read():
    """Results are arrays, also of numbers, and shapes get axes of length 1 only; the public jax gives the same."""
    from jax._src import core, util as lists
    from jax._src.image.scale import ResizeMethod, _kernels
    from jax._src.numpy import util
    kinds = lambda xs: [(x.shape, x.dtype.name, x.weak_type) for x in xs]
    assert kinds(util.promote_dtypes_inexact(1, np.arange(2, dtype=np.int32))) == [((), "float32", False), ((2,), "float32", False)]
    assert kinds(util.promote_args("f", jnp.ones((2, 3)), jnp.ones(3, int), 1)) == [((2, 3), "float32", False), ((1, 3), "float32", False),
                                                                                   ((1, 1), "float32", False)]
    assert kinds(util.promote_args_numeric("f", True, False)) == [((), "int32", False)] * 2 and util.promote_args("f") == []
    for wrong, error in (lambda: util.promote_args("f", None), TypeError), (lambda: util.promote_shapes("f", jnp.ones((2, 4)), jnp.ones(3)), ValueError), (
            lambda: lists.canonicalize_axis(3, 3), ValueError), (lambda: core.canonicalize_shape((2.5,), "of x"), TypeError), (
            lambda: core.dimension_as_value(jax.export.symbolic_shape("n")[0]), NotImplementedError):
        with pytest.raises(error):
            wrong()
    assert lists.canonicalize_axis(-1, 3) == 2 and core.canonicalize_shape(-2) == (-2,) and core.dimension_as_value(3) == 3
    assert _kernels[ResizeMethod.LINEAR](jnp.array([0., 0.25, 2.])).tolist() == [1, 0.75, 0]


def test_what_converters_find_lengths_by():
    """jax2onnx: lengths in types, and the equations that make numbers of them."""
    from jax._src.export.shape_poly import _DimExpr, dim_as_value_p

    from jax._src import core
    n, = jax.export.symbolic_shape("n")
    program = jax.make_jaxpr(lambda x: x * core.dimension_as_value(n))(jax.ShapeDtypeStruct((n, 3), np.float32))
    assert program.eqns[0].primitive is dim_as_value_p and program.eqns[0].params == {"dim": n}
    assert isinstance(program.in_avals[0].shape[0], _DimExpr) and program.out_avals[0].shape == (n, 3)


def test_the_mesh_of_a_block():
    """haliax and many training programs ask for it."""
    from jax._src.mesh import ResourceEnv, get_concrete_mesh, thread_resources
    from jax.interpreters import pxla
    mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
    assert pxla.thread_resources is thread_resources and thread_resources.env.physical_mesh.empty
    with mesh:
        assert thread_resources.env.physical_mesh is mesh and thread_resources.env.shape == {"x": 1} and get_concrete_mesh().empty
    with jax.set_mesh(mesh):
        assert thread_resources.env.physical_mesh.empty and get_concrete_mesh() == mesh
    outside, thread_resources.env = thread_resources.env, ResourceEnv(physical_mesh=mesh)  # as axlearn begins and ends a block
    jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P("x")))(jnp.ones(2))  # which needs a mesh
    thread_resources.env = outside
    assert thread_resources.env.physical_mesh.empty


class Split:
    """Axis 0 over the pairs of devices of two processes, axis 1 over each pair: what a placement says to those who ask for its parts."""
    is_fully_addressable, num_devices = False, 4

    def __init__(self, processes):
        self.processes = processes

    def devices_indices_map(self, shape):
        half, quarter = shape[0] // 2, shape[1] // 2
        return {type("Device", (), {"process_index": p}): (slice(i // 2 * half, i // 2 * half + half), slice(i % 2 * quarter, i % 2 * quarter + quarter))
                for i, p in enumerate(self.processes)}


@pytest.mark.parametrize("processes, rows, columns, whole", [((0, 0, 1, 1), (0, 2), (0, 1), (6, 5)), ((1, 1, 0, 0), (1, 2), (0, 1), (6, 5)),
                                                             ((0, 1, 1, 0), (0, 1), (0, 1), (3, 5)), ((0, 0, 0, 1), None, None, None)])
def test_which_rows_a_process_holds(processes, rows, columns, whole):
    """axlearn and kauldron ask it; a part that another process holds in part has no number."""
    from jax._src.sharding_impls import get_process_index_and_count as held, local_to_global_shape
    if rows is None:
        with pytest.raises(ValueError, match="axis 0"):
            held(Split(processes), 0, 2)
        with pytest.raises(ValueError, match=r"\(3, 5\)"):
            local_to_global_shape(Split(processes), (3, 5))
    else:
        assert (held(Split(processes), 0, 2), held(Split(processes), 1, 2)) == (rows, columns)
        assert local_to_global_shape(Split(processes), (3, 5)) == whole


def test_launchers_as_classes(monkeypatch):
    """levanter derives its own from Slurm's; a class that is defined is asked after those that are known."""
    from jax._src.clusters import ClusterEnv, SlurmCluster
    detected = lambda method=None: ClusterEnv.auto_detect_unset_distributed_params(None, None, None, None, method, None)
    assert not SlurmCluster.is_env_present() and detected() == (None,) * 4
    for name, value in dict(SLURM_JOB_ID="7", SLURM_STEP_NODELIST="n[01-03]", SLURM_STEP_NUM_TASKS="3", SLURM_PROCID="1", SLURM_LOCALID="0").items():
        monkeypatch.setenv(name, value)
    assert SlurmCluster.is_env_present() and (SlurmCluster.get_process_count(), SlurmCluster.get_process_id(), SlurmCluster.get_local_process_id()) == (3, 1, 0)
    assert SlurmCluster.get_coordinator_address(None, "77") == "n01:77" and detected()[1:3] == (3, 1)
    monkeypatch.setattr(clusters, "_METHODS", dict(clusters._METHODS))
    monkeypatch.setattr(clusters, "_silent", list(clusters._silent))
    monkeypatch.setattr(ClusterEnv, "_cluster_types", list(ClusterEnv._cluster_types))

    class Mine(SlurmCluster):
        name = "mine"
        get_process_count = classmethod(lambda cls: 5)

    assert ClusterEnv._cluster_types[-1] is Mine and detected()[1:3] == (3, 1) and detected("mine")[1:3] == (5, 1)


def test_frames_that_are_left_out():
    from jax._src.traceback_util import filter_traceback
    try:
        with flags.traceback_filtering("off"):
            jax.jit(lambda x: 1 / 0)(1.)
    except ZeroDivisionError as error:
        names = lambda tb: [frame.f_code.co_name for frame, _ in traceback.walk_tb(tb)]
        assert len(names(error.__traceback__)) > 2 and names(filter_traceback(error.__traceback__)) == ["test_frames_that_are_left_out", "<lambda>"]
    assert filter_traceback(None) is None


def test_partial_functions_with_an_equality():
    """optree's functions that put a tree together are such."""
    from jax._src.util import HashableFunction, HashablePartial
    larger = lambda x, y: max(x, y)
    one, same, other = HashablePartial(larger, 1), HashablePartial(larger, 1), HashablePartial(larger, 2)
    assert one == same and hash(one) == hash(same) and one != other and one(3) == 3 and HashablePartial(larger, y=1)(x=0) == 1
    make = lambda by: HashableFunction(lambda x: by * x, closure=by)
    assert make(2) == make(2) != make(3) and hash(make(2)) == hash(make(2)) and make(2)(3) == 6


def test_kinds_of_effects_of_a_librarys_own():
    """oryx allows its own in loops."""
    from jax._src import effects

    class Logged(effects.Effect):
        pass
    allowed = effects.control_flow_allowed_effects
    assert not effects.custom_derivatives_allowed_effects.contains(Logged()) and not effects.remat_allowed_effects.contains(Logged())
    assert not allowed.contains(Logged())
    allowed.add_type(Logged)
    assert allowed.contains(Logged()) and effects.lowerable_effects.contains(Logged()) and not allowed.contains(3)
    with pytest.raises(TypeError, match="subclass of Effect"):
        allowed.add_type(int)


@pytest.mark.parametrize("module, names", [
    ("jax._src.core", "DropVar Trace TraceTag Tracer call_p closed_call_p full_lower jaxpr_as_fun set_current_trace take_current_trace"),  # quax, oryx
    ("jax._src.pjit", "jit_p pjit"),  # quax
    ("jax._src.tree_util", "default_registry tracing_registry"),  # oryx
    ("jax._src.lib", "jaxlib_extension_version"),  # grain
    ("jax._src.xla_bridge", "backends_are_initialized"),  # the guides of flax
    ("jax._src.hardware_utils", "num_available_amd_gpus"),  # AMD's plugin
    ("jax.example_libraries.stax", "gelu normal ones relu softmax zeros"),  # neural-tangents
    ("jax.extend.mlir", "deserialize_portable_artifact hlo_to_stablehlo refine_polymorphic_shapes serialize_portable_artifact"),  # tf2jax
])
def test_names_that_libraries_import(module, names):
    found = importlib.import_module(module)
    assert [n for n in names.split() if getattr(found, n, None) is None] == []


def test_full_lower_leaves_arrays_as_they_are():
    from jax._src.core import full_lower
    assert full_lower(3) == 3 and jax.vmap(full_lower)(jnp.arange(2)).tolist() == [0, 1]


def test_a_jitted_function_has_the_attributes_of_the_function():
    """haiku finds the function that it transformed by one."""
    def f(x):
        return x
    f.origin, f.lower = "here", "hidden by the method"
    assert jax.jit(f).origin == "here" and callable(jax.jit(f).lower)


def test_names():
    assert jax.lib.__version__.split(".")[0].isdigit() and jax._src is not None
    from jax._src import distributed
    assert distributed.global_state.client is None


@pytest.mark.parametrize("transform", [lambda f: jax.grad(jax.jit(f)), lambda f: jax.jit(jax.grad(jax.jit(f))), lambda f: jax.jacfwd(jax.jit(f))])
def test_the_error_of_a_custom_vjp_that_closes_over_a_differentiated_value(transform):
    def fun(y):
        scaled = jax.custom_vjp(lambda x: x * y)
        scaled.defvjp(lambda x: (x * y, None), lambda _, ct: (ct,))
        return scaled(2.0)
    from jax._src.interpreters.ad import CustomVJPException
    with pytest.raises(CustomVJPException, match="closes over a value that is being differentiated"):
        transform(fun)(1.0)


def test_traces_of_one_transformation_share_main():
    seen = []
    jax.jvp(lambda x: seen.append(x._trace.main is jax.extend.core.find_top_trace([x]).main) or x, (1.0,), (1.0,))
    assert seen == [True]


@pytest.mark.parametrize("table, arguments", [
    (batching.primitive_batchers, 2), (batching.fancy_primitive_batchers, 3), (batching.axis_primitive_batchers, 5)])
def test_batching_rules_of_each_form(table, arguments):
    prim, seen = jax.extend.core.Primitive("rule_of_a_form"), []
    prim.def_impl(lambda x: x)
    prim.def_abstract_eval(lambda x: x)

    def rule(*given):
        seen.append((len(given), given[0] if arguments == 5 else 3))
        return given[-2][0], given[-1][0]
    table[prim] = rule
    assert jax.vmap(prim.bind)(jnp.ones(3)).shape == (3,) and seen == [(arguments, 3)]


def test_tangents_stay_what_they_were_given_as():
    value, tangent = jax.jvp(lambda x: x, (2.0,), (3.0,))
    assert type(value) is type(tangent) is float
    assert isinstance(jax.jvp(lambda x: 1.0, (2.0,), (3.0,))[1], jax.Array)
    assert isinstance(jax.grad(lambda x: x)(2.0), jax.Array)


def test_constraints_on_abstract_meshes():
    mesh = Mesh(np.array(jax.devices()[:1]), ("x",), axis_types=(AxisType.Auto,))
    where = NamedSharding(mesh.abstract_mesh, P("x"))
    constrain = lambda x: jax.lax.with_sharding_constraint(x, where)
    placed = NamedSharding(mesh, P("x"))
    assert constrain(jax.device_put(jnp.ones(2), NamedSharding(mesh, P()))).sharding == placed
    with jax.set_mesh(mesh):
        assert constrain(jnp.ones(2)).sharding == placed
    assert jax.jit(constrain)(jnp.ones(2)).tolist() == [1, 1]
    wide = NamedSharding(AbstractMesh((2,), ("x",), axis_types=(AxisType.Auto,)), P("x"))
    with pytest.raises(TypeError, match="must lie on a mesh"):
        jax.lax.with_sharding_constraint(jnp.ones(2), wide)
    assert jax.jit(lambda x: jax.lax.with_sharding_constraint(x, wide))(jnp.ones(2)).tolist() == [1, 1]


def test_colocated_python():
    double = cp.colocated_python(lambda *xs: [x * 2 for x in xs])
    assert double(jnp.ones(2))[0].tolist() == [2, 2]
    with pytest.raises(ValueError, match="does not say where it runs"):
        double()
    assert double.specialize(devices=jax.devices())() == []
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    assert double.specialize(out_specs_fn=lambda x: [spec])(jnp.ones(2))[0].shape == (2,)
    with pytest.raises(ValueError, match="result"):
        double.specialize(out_specs_fn=lambda x: [spec])(jnp.ones(3))
    assert cp.colocated_cpu_devices(jax.devices("cpu")[:1]) == jax.devices("cpu")[:1]


def test_arrays_from_their_parts():
    """flax' dtypes make their arrays by the handler of ordinary ones."""
    from jax._src.interpreters import pxla
    x = jnp.arange(3.0)
    made, = pxla.global_avals_to_results_handler([x.aval], [x.sharding], True)([[x]])
    assert made.tolist() == x.tolist() and made.sharding == x.sharding and made.committed
    assert pxla.global_result_handlers[jax.core.ShapedArray](x.aval, x.sharding, False)([x]).committed is False


@pytest.mark.parametrize("nums, names, found", [
    (None, None, ((), ())), (0, None, ((0,), ("a",))), (None, ("b", "c"), ((1,), ("b", "c"))), (-1, None, ((-1,), ())), (0, "c", ((0,), ("c",)))])
def test_positions_and_names_of_arguments(nums, names, found):
    from jax._src.api_util import infer_argnums_and_argnames
    assert infer_argnums_and_argnames(inspect.signature(lambda a, b, *, c=1: a), nums, names) == found


def test_typed_numpy_arrays():
    from jax._src.literals import TypedNdArray
    x = TypedNdArray(np.ones(3, np.float32), jax.core.ShapedArray((3,), np.dtype("float32"), weak_type=True))
    # a function of its own, as jaxlib's dispatcher takes it for a NumPy array where it has seen one
    assert x.weak_type and jax.jit(lambda v: jnp.sin(v))(x).weak_type and type(x + 1) is np.ndarray and not x[:2].weak_type and not isinstance(x, jax.Array)
    assert repr(x) == "TypedNdArray([1., 1., 1.], dtype=float32)"
    with pytest.raises(TypeError, match=r"float32\[2\]"):
        TypedNdArray(np.ones(3), jax.core.ShapedArray((2,), np.dtype("float32")))


def test_devices_where_orbax_looks_for_them():
    from jax._src import xla_bridge
    from jax.experimental.colocated_python import serialization
    assert serialization.xb is xla_bridge and xla_bridge.local_devices() == jax.local_devices()
    assert list(serialization.xb.backends()) and xla_bridge.device_count() == jax.device_count()


def test_internal_modules_are_attributes():
    """jaxopt reads `jax._src.interpreters` after no more than `import jax`."""
    assert jax._src.interpreters.ad is not None and jax._src.public_test_util.check_close is not None


def test_bindings_of_jaxlib_as_teaching_material_imports_them():
    """`autodidax`, a JAX in one notebook, compiles its programs by these."""
    from jax._src.lib import jax_mlir_ext, mlir, xla_client
    from jax._src.lib.mlir import dialects, ir
    from jax._src.lib.mlir.dialects import func, hlo
    assert jax_mlir_ext.register_dialects and xla_client.PrimitiveType.F32 is not None
    assert mlir.ir is ir and hlo.AddOp and func.FuncOp and all(getattr(dialects, name) for name in dialects.__all__)


def test_names_that_the_tutorials_of_primitives_and_interpreters_import():
    from jax._src import api, util
    assert api.grad is jax.grad and all(getattr(api, name) for name in api.__all__)
    assert util.safe_map(abs, [-1]) == [1] and util.wraps(abs, "{fun}_of_{other}", other="x")(lambda x: x).__name__ == "abs_of_x"
    assert util.unzip2([]) == ((), ()) and util.concatenate([[1], (2,)]) == [1, 2]
    flags, values = [True, False, True], [1, 2, 3]
    assert util.merge_lists(flags, *util.partition_list(flags, values)) == values
    for call in (lambda: util.safe_zip([1], [1, 2]), lambda: util.split_list([1], [2]), lambda: util.merge_lists([True], [1], [])):
        with pytest.raises(ValueError, match="length|values"):
            call()


def test_a_mask_of_a_function():
    """maxtext and axlearn derive theirs from it; equal functions are equal masks, which kernels are cached by."""
    from jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask import Mask, _ComputableMask
    blocks = lambda q, k: q // 2 >= k // 2
    mask = _ComputableMask((4, 6), blocks)
    assert isinstance(mask, Mask) and mask[1:3, 0:3].tolist() == [[True, True, False], [True, True, True]] and mask.q_sequence.tolist() == [0, 1, 2, 3]
    assert mask == _ComputableMask((4, 6), blocks) != _ComputableMask((4, 6), lambda q, k: q >= k) and (mask & mask)[0:1, 0:3].tolist() == [[True, True, False]]
    with pytest.raises(ValueError, match="shard_count=4"):
        _ComputableMask((4, 4), blocks, 4)


@pytest.mark.parametrize("transform", [
    jax.eval_shape, lambda f, x: jax.jvp(f, (x,), (x,)), jax.linearize, lambda f, x: jax.vmap(f)(x), lambda f, x: jax.grad(f)(x[0]),
                                       lambda f, x: f(x), lambda f, x: f(jax.random.key(0)), lambda f, x: f(jax.new_ref(x))],
                         ids="jit jvp linearize vmap grad array key ref".split())
def test_the_class_of_a_value_names_jax(transform):
    """opt_einsum and autoray read the library of a value off its class' module, and call NumPy where they do not know it."""
    seen = []
    transform(lambda x: seen.append(type(x)) or x, jnp.ones(2))
    assert seen[0].__module__.split(".")[0] in ("jax", "jaxlib") and hasattr(importlib.import_module(seen[0].__module__), "__file__")


def test_a_uniform_number_between_bounds_of_one_element():
    """flashbax' prioritised buffers ask for it; the result has the shape of the bounds, where both have axes."""
    key, one = jax.random.key(0), jnp.ones(1)
    plain = jax.random.uniform(key, (), minval=0, maxval=2)
    for bounds, shape in ((0 * one, 2 * one), (1,)), ((0., 2 * one), ()), ((0 * one, 2 * one[None]), (1, 1)):
        drawn = jax.jit(lambda low, high: jax.random.uniform(key, (), minval=low, maxval=high))(*bounds)
        assert drawn.shape == shape and drawn.item() == plain.item()
    with pytest.raises(ValueError, match=r"\(3,\)"):
        jax.random.uniform(key, (), minval=jnp.zeros(3))


def test_parts_of_vectorize_that_quaxed_builds_its_own_from():
    from jax._src.numpy import vectorize
    got = lambda *args, **kwargs: (args, kwargs)
    for excluded, args, kwargs, left, named in [({1}, (1, 2, 3), {}, [1, 3], {}), ({"k"}, (1, 2), {"k": 3, "m": 4}, [1, 2], {"m": 4}),
                                                (set(), (1,), {"m": 4}, [1], {"m": 4}), ({0, "m"}, (1, 2), {"m": 4}, [2], {})]:
        fun, rest, names = vectorize._apply_excluded(got, excluded, args, kwargs)
        assert (list(rest), names) == (left, named) and fun(*rest, **names) == (args, kwargs)
    assert vectorize._parse_gufunc_signature("(n,m),(m)->(n),()") == ([("n", "m"), ("m",)], [("n",), ()])
    assert vectorize._parse_input_dimensions((jnp.ones((5, 2, 3)), jnp.ones((1, 3))), [("n", "m"), ("m",)]) == ((5,), {"n": 2, "m": 3})
    for args, core, error in [([jnp.ones(3)], [("n", "m")], ValueError), ([jnp.ones(3), jnp.ones(4)], [("n",)] * 2, ValueError),
                              ([jnp.ones(3)], [()] * 2, TypeError), ([jnp.ones(3), jnp.ones(4)], [()] * 2, ValueError)]:
        with pytest.raises(error, match="vectorize|ctx"):
            vectorize._parse_input_dimensions(args, core, "ctx")
    check = lambda fun, core: vectorize._check_output_dims(fun, {"n": 3}, core, "ctx")(jnp.ones(3))
    assert [x.shape for x in check(lambda x: (x, x[:2]), [("n",), ("k",)])] == [(3,), (2,)]
    for fun, error in [(lambda x: x[:2], ValueError), (jnp.sum, ValueError), (lambda x: (x, x), TypeError)]:
        with pytest.raises(error, match="ctx"):
            check(fun, [("n",)])


def test_classes_that_quaxed_and_unxt_derive_from():
    from jax._src.numpy.array_methods import _IndexUpdateHelper, _IndexUpdateRef
    from jax._src.numpy.index_tricks import CClass, RClass
    from jax._src.numpy.setops import _UniqueAllResult, _UniqueCountsResult, _UniqueInverseResult
    x = jnp.arange(3)
    for derived, given in [(type("C", (CClass,), {})(), jnp.c_), (type("R", (RClass,), {})(), jnp.r_)]:
        assert np.array_equal(derived[x, x], given[x, x])

    class Twice(_IndexUpdateRef):
        def set(self, values, **options):
            return super().set(2 * values, **options)
    At = type("At", (_IndexUpdateHelper,), {"__getitem__": lambda self, index: Twice(self.array, index)})
    assert At(x)[1].set(4).tolist() == [0, 8, 2] and isinstance(x.at, _IndexUpdateHelper) and isinstance(x.at[0], _IndexUpdateRef)
    assert repr(x.at).startswith("_IndexUpdateHelper(Array(") and repr(x.at[0]).startswith("_IndexUpdateRef(Array(")
    assert isinstance(jnp.unique_all(x), _UniqueAllResult) and isinstance(jnp.unique_counts(x), _UniqueCountsResult)
    assert isinstance(jnp.unique_inverse(x), _UniqueInverseResult)


def test_norm_and_det_keep_units():
    """unxt gives numbers units by rules of primitives: what a choice chooses from must have one unit, but for numbers of the program; so must what
    is compared, and barriers have no rule."""
    from jax.extend.core import Literal

    def degree(jaxpr, *inputs):
        known = dict(zip(jaxpr.invars, inputs))
        of = lambda x: known.get(x) if not isinstance(x, Literal) else None
        for eqn in jaxpr.eqns:
            ins, name = [of(x) for x in eqn.invars], eqn.primitive.name
            assert name not in ("reduce_precision", "optimization_barrier"), eqn
            if name in ("gt", "lt", "ge", "le"):
                assert ins == [None, None] or None not in ins, eqn
            if name == "select_n":
                assert len({d for d in ins[1:] if d is not None}) <= 1, eqn
            first = lambda among: next((d for d in among if d is not None), None)
            rules = {"square": lambda: 2 * ins[0], "sqrt": lambda: ins[0] / 2, "eq": lambda: None, "select_n": lambda: first(ins[1:]),
                     "mul": lambda: None if set(ins) == {None} else sum(d or 0 for d in ins), "is_finite": lambda: None,
                     "custom_jvp_call": lambda: degree(eqn.params["call_jaxpr"].jaxpr, *ins)}
            known[eqn.outvars[0]] = rules.get(name, lambda: None if set(ins) == {None} else first(ins))()
        return of(jaxpr.outvars[0])
    for options in [{}, {"axis": 1}, {"ord": "fro"}, {"ord": 1}, {"ord": np.inf}, {"axis": 0, "ord": 2, "keepdims": True}]:
        assert degree(jax.make_jaxpr(lambda x: jnp.linalg.norm(x, **options))(np.ones((2, 3), np.float32)).jaxpr, 1) == 1, options
    for n in (1, 2, 3):
        assert degree(jax.make_jaxpr(jnp.linalg.det)(np.ones((n, n), np.float32)).jaxpr, 1) == n


@pytest.mark.parametrize("solve", [jnp.linalg.inv, lambda a: jnp.linalg.solve(a, a)])
def test_operands_of_a_solve_stand_in_their_order(solve):
    """unxt has a rule by their kinds: the matrix for each product, factors and order for each solver, the right-hand side."""
    equation, = (e for e in jax.make_jaxpr(solve)(np.eye(3, dtype=np.float32)).eqns if e.primitive is jax.lax.linear_solve_p)
    assert "".join(x.aval.dtype.kind for x in equation.invars) == "fffifif"


def test_members_of_what_takes_a_dtype_can_be_asked_for_instances():
    """pydantic (tokamax) builds a check of each member of an annotation when a function is decorated."""
    from jax._src.typing import SupportsDType
    assert [isinstance(x, SupportsDType) for x in (np.zeros(1), jnp.zeros(1), jax.ShapeDtypeStruct((), jnp.float32), jnp.float32, 3)] == [True] * 4 + [False]


def test_slices_of_python_as_slices_of_references():
    from jax.experimental import pallas as pl
    found = [pl.Slice.from_slice(index, 10) for index in (slice(1, 5, 2), slice(None), slice(2, -1), slice(5, 2), slice(0, 20))]
    assert found == [pl.Slice(*x) for x in ((1, 2, 2), (0, 10), (2, 7), (5, 0), (0, 10))]
    with pytest.raises(ValueError, match="goes backwards"):
        pl.Slice.from_slice(slice(5, 1, -1), 10)


@pytest.mark.parametrize("rules", [ad.primitive_jvps, ad.primitive_transposes, batching.primitive_batchers, batching.fancy_primitive_batchers])
def test_a_rule_is_the_same_at_each_look_up(rules):
    assert rules[jax.lax.neg_p] is rules[jax.lax.neg_p]
    own = jax.extend.core.Primitive("own")
    for rule in (lambda *args, **params: None, lambda *args, **params: 0):
        rules[own] = rule
        assert rules[own] is rule


def test_elements_of_a_batch_as_brainstate_imports_them():
    from jax._src.interpreters.batching import BatchTracer, make_iota, moveaxis, to_elt

    class Ragged:
        """A library's own type: all its values in one array."""
        def __init__(self, values):
            self.values = values
    batching.register_vmappable(Ragged, str, int, lambda cont, size, x, spec: (cont(x.values, 0), size(), spec), None)
    seen = []

    def f(x):
        element = lambda value, spec: to_elt(x._trace, lambda: 2, value, spec)
        seen.append([element(np.ones((2, 3)), 0), element(jnp.ones((3, 2)), -1), element(4., None)])
        part, size, spec = element(Ragged(jnp.ones((2, 5))), "rows")
        assert (type(part), part.shape, size, spec) == (BatchTracer, (5,), 2, "rows")
        with pytest.raises(ValueError, match=r"to_elt: an array of shape \(2,\) has no axis 1"):
            element(jnp.ones(2), 1)
        return x + seen[0][0].sum() + seen[0][1].sum() + seen[0][2]
    try:
        assert jax.vmap(f)(jnp.arange(2.)).tolist() == [10., 11.]
    finally:
        batching.unregister_vmappable(Ragged)
    assert [(type(x) is BatchTracer, np.shape(x)) for x in seen[0]] == [(True, (3,)), (True, (3,)), (False, ())]
    with jax.enable_x64(True):
        assert (make_iota(3).dtype, make_iota(3).tolist(), moveaxis(np.ones((2, 3)), 0, 1).shape) == (np.int32, [0, 1, 2], (3, 2))


def test_zero_tangents_as_jax_finufft_imports_them():
    from jax._src.ad_util import Zero, p2tz
    zeros = [p2tz(x) for x in (jnp.ones(2), 1., jnp.arange(3))]
    assert [(type(z), str(z.aval)) for z in zeros] == [(Zero, "float32[2]"), (Zero, "~float32[]"), (Zero, "float0[3]")]


def test_tokens_are_forgotten_as_brainpy_asks():
    from jax._src.dispatch import runtime_tokens
    from jax.experimental import io_callback
    jax.jit(lambda: io_callback(lambda: None, None, ordered=True))()
    assert runtime_tokens.block_until_ready() is None
    jax.jit(lambda: io_callback(lambda: None, None, ordered=True))()
    assert runtime_tokens.clear() is None and not runtime_tokens._ordered
