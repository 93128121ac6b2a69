"""What optax, flax and equinox rely on: when functions are traced, what rules get, placements of programs without arguments."""
import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.extend.core.primitives
import jax.numpy as jnp
from jax import lax


def traced(calls, fun):
    """``fun``, which notes in ``calls`` that Python ran it."""
    def noting(*args):
        calls.append(fun)
        return fun(*args)
    return noting


@pytest.mark.parametrize("run, twice", [
    (lambda f: lax.scan(f, 0.0, jnp.arange(3.0))[0], lambda c, x: (c + 1, x)),
    (lambda f: lax.while_loop(lambda c: c < 3, f, 0.0), lambda c: c + 1),
    (lambda f: lax.cond(jnp.array(True), f, f, 2.0), lambda c: c + 1)], ids=["scan", "while_loop", "cond"])
def test_bodies_are_traced_once(run, twice):
    calls = []
    body = traced(calls, twice)
    assert float(run(body)) == float(run(body)) == 3
    assert len(calls) == 1
    jax.clear_caches()
    run(body)
    assert len(calls) == 2


def test_a_body_that_closes_over_tracers_is_traced_for_each_transformation():
    calls, kept = [], []

    @jax.jit
    def program(y):
        kept[:] = kept or [traced(calls, lambda c, x: (c + y, x))]
        return sum(lax.scan(kept[0], 0.0, jnp.arange(3.0))[0] for _ in range(2))
    assert float(program(1.0)) == 6 and len(calls) == 1


@pytest.mark.parametrize("index", [True, jnp.array([True, False])], ids=["one", "batch"])
def test_what_all_branches_hand_on_is_no_result(index):
    def choose(p, x, y):
        return lax.cond(p, lambda x, y: (x, y + 1), lambda x, y: (x, y), x, y)
    assert len(jax.make_jaxpr(choose)(True, 1.0, 2.0).eqns[-1].outvars) == 1
    if index is True:
        assert [float(v) for v in choose(index, jnp.float32(1), jnp.float32(2))] == [1, 3]
    else:  # the first result does not depend on the mapped argument
        x, y = jax.vmap(choose, in_axes=(0, None, None), out_axes=(None, 0))(index, jnp.float32(1), jnp.float32(2))
        assert float(x) == 1 and y.tolist() == [3, 2]


def test_an_axis_that_out_axes_does_not_ask_for_is_named():
    with pytest.raises(ValueError, match=r"result\['b'\].*got axis spec None but output was batched on axis 0"):
        jax.vmap(lambda x: {"a": 1, "b": x}, out_axes=None)(jnp.ones(2))


def test_batches_of_length_zero():
    shifted = jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 0), (1, 4)))
    assert shifted(jnp.zeros((0, 2, 4)), jnp.zeros(0, int)).shape == (0, 1, 4)


def test_checkpointed_functions_get_tracers():
    seen = []
    run = jax.checkpoint(lambda x, flag: seen.append((x, flag)) or x, static_argnums=(1,))
    assert float(run(2.0, True)) == 2
    (x, flag), = seen
    assert isinstance(x, jax.core.Tracer) and flag is True


def custom(bwd):
    f = jax.custom_vjp(lambda tree, y: tree["a"] * y)
    f.defvjp(lambda tree, y: (f(tree, y), None), bwd)
    return f


def test_a_cotangent_may_stand_for_a_subtree():
    f = custom(lambda res, g: (g, None))
    assert float(jax.grad(f)({"a": jnp.float32(2)}, 3.0)["a"]) == 1


def test_cotangents_in_another_dtype_are_taken():
    f = custom(lambda res, g: ({"a": g.astype(jnp.bfloat16)}, None))
    assert jax.grad(f)({"a": jnp.float32(2)}, 3.0)["a"].dtype == jnp.bfloat16
    g = custom(lambda res, g: ({"a": jnp.ones(2)}, None))
    with pytest.raises(ValueError, match="cotangent of type"):
        jax.grad(g)({"a": jnp.float32(2)}, 3.0)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.checkpoint], ids=["plain", "checkpoint"])
def test_cotangents_that_nothing_computed_are_arrays(wrap):
    seen = []
    f = jax.custom_vjp(lambda x: (x, x))
    f.defvjp(lambda x: ((x, x), None), lambda res, g: seen.append(g) or (g[0],))
    jax.grad(wrap(lambda x: f(x)[0]))(1.0)
    assert all(isinstance(x, jax.Array) for x in seen[0])


def test_keys_are_close_where_they_are_equal():
    keys = jax.random.split(jax.random.key(0), 3)
    assert jnp.isclose(keys, keys[0]).tolist() == [True, False, False] and not jnp.allclose(keys[0], keys[1])


@pytest.mark.parametrize("labels", ["1a,a2->12", "_a,a?->_?", "...1a,a2->...12"])
def test_labels_of_einsum_are_any_characters(labels):
    assert jnp.einsum(labels, jnp.ones((2, 3)), jnp.ones((3, 4))).tolist() == [[3] * 4] * 2


@pytest.mark.parametrize("element, dtype", [(None, "float8_e5m2"), (jnp.float32, "float32")])
def test_products_of_different_floats_of_8_bits(element, dtype):
    a, b = jnp.ones((2, 3), jnp.float8_e5m2), jnp.ones((3, 4), jnp.float8_e4m3fn)
    out = lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=element)
    assert out.dtype == dtype and out.astype(float).tolist() == [[3] * 4] * 2


NUMBERS = (((1,), (0,)), ((), ()))


@pytest.mark.parametrize("left, right, out", [
    ("int8", "float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "bool", "float8_e5m2"), ("float8_e4m3fn", "float8_e5m2", "float8_e5m2"),
    ("float4_e2m1fn", "float8_e4m3fn", "float8_e4m3fn"), ("float4_e2m1fn", "bfloat16", "bfloat16"), ("int32", "float8_e4m3fn", "float8_e4m3fn")])
def test_narrow_floats_are_not_cut_to_integers(left, right, out):
    x, y = jnp.array([[1, 1]]).astype(left), jnp.array([[1], [0.5 if right != "bool" else 1]]).astype(right)
    found = lax.dot_general(x, y, NUMBERS)
    assert found.dtype == out and float(found[0, 0]) == (2 if right == "bool" else 1.5)
    assert lax.dot_general(x, y, NUMBERS, preferred_element_type=jnp.bfloat16).astype(float).tolist() == found.astype(float).tolist()


def test_of_narrow_floats_that_reach_alike_neither_is_taken():
    with pytest.raises(TypeError, match="preferred_element_type"):
        lax.dot_general(jnp.ones((1, 1), jnp.float8_e5m2), jnp.ones((1, 1), jnp.float8_e5m2fnuz), NUMBERS)


@pytest.mark.parametrize("product", [jnp.matmul, jnp.dot, lambda x, y, **how: jnp.einsum("ij,jk", x, y, **how), jnp.inner, lambda *xs, **how: jnp.tensordot(*xs, 1, **how)],
                         ids=["matmul", "dot", "einsum", "inner", "tensordot"])
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_integers_beside_halves_keep_the_digits_that_the_result_has(product, half):
    x, y = jnp.array([[70001]]), jnp.ones((1, 1), half)
    assert [float(product(*xs, preferred_element_type=jnp.float32)[0, 0]) for xs in [(x, y), (y, x)]] == [70001] * 2


def test_a_product_of_a_users_own_is_told_what_it_gives():
    seen = []

    def product(x, y, numbers, precision, preferred_element_type):
        seen.append(preferred_element_type)
        return lax.dot_general(x, y, numbers, precision, preferred_element_type)
    jnp.einsum("ij,jk->ik", jnp.ones((2, 3), jnp.bfloat16), jnp.ones((3, 2)), _dot_general=product)
    assert seen == [jnp.float32]


@pytest.mark.parametrize("labels, shapes, left", [
    ("ij,jk->ik", [(2, 3), (3, 4)], ((2, 3), (1,), ())), ("ij,jk->ki", [(2, 3), (3, 4)], ((3, 4), (0,), ())),
    ("bij,bjk->ibk", [(2, 3, 4), (2, 4, 5)], ((2, 4, 5), (1,), (0,))), ("bhqk,bkhd->bqhd", [(2, 5, 4, 6), (2, 6, 5, 8)], ((2, 6, 5, 8), (1,), (0, 2))),
    ("btnh,nhd->btd", [(2, 3, 5, 6), (5, 6, 4)], ((2, 3, 5, 6), (3, 2), ())), ("ab,ab->ba", [(2, 3), (2, 3)], ((2, 3), (), (1, 0)))])
def test_which_operand_a_product_of_a_users_own_gets_first(labels, shapes, left):
    """Where weights are quantised in another way than activations, the numbers depend on it (qwix, aqt)."""
    seen = []

    def product(x, y, numbers, precision, preferred_element_type):
        seen.append((x.shape, numbers[0][0], numbers[1][0]))
        return lax.dot_general(x, y, numbers, precision, preferred_element_type)
    operands = [np.arange(float(np.prod(s)), dtype=np.float32).reshape(s) for s in shapes]
    np.testing.assert_allclose(jnp.einsum(labels, *operands, _dot_general=product), np.einsum(labels, *operands))
    assert seen == [left]


def test_attention_without_groups_multiplies_without_an_axis_for_them():
    x = jnp.ones((2, 5, 4, 8))
    dots = [e for e in jax.make_jaxpr(jax.nn.dot_product_attention)(x, x, x).eqns if e.primitive is jax.extend.core.primitives.dot_general_p]
    assert [v.aval.ndim for e in dots for v in e.invars] == [4] * 4


def test_the_trace_at_work_by_its_internal_name():
    from jax._src import core
    outside = core.trace_ctx.trace
    assert jax.jit(lambda x: core.trace_ctx.trace is x._trace)(1.0) and core.trace_ctx.trace is outside


def test_a_value_is_followed_back_to_what_it_was_made_of():
    """qwix finds out so which parameter a kernel is."""
    c, seen = jnp.ones((2, 3)), []

    @jax.jit
    def program(x):
        y = x.reshape(3, 2)
        seen.append([x.parent is None, y.parent.primitive.name, y.parent.in_tracers[0] is x, (y * 2).parent.in_tracers[0] is y,
                     len((y * 2).parent.in_tracers), (x + c).parent.in_tracers[1].get_const() is c, x.get_const()])
        jax.jit(lambda z: seen.append((z + x).parent.in_tracers[1].get_const() is x))(c)
        return (x + 1) * 2  # the sum is in nobody's hands when it is asked for
    program(c)
    assert seen == [[True, "reshape", True, True, 2, True, None], True]
    jax.jit(lambda x: seen.append(jnp.exp(x + 1).parent.in_tracers[0].parent.in_tracers[0] is x))(c)
    assert seen[-1]


@pytest.mark.parametrize("name, flag", [("jax_export_calling_convention_version",) * 2, ("enable_x64", "jax_enable_x64"),
                                        ("traceback_in_locations_limit", "jax_traceback_in_locations_limit")])
def test_flags_by_their_internal_names(name, flag):
    from jax._src import config
    assert getattr(config, name).value == getattr(jax.config, flag)
    with pytest.raises(AttributeError, match="no_such_flag"):
        config.no_such_flag


@pytest.mark.parametrize("nothing", [None, {"a": None}], ids=["whole", "leaf"])
def test_none_stands_for_zeros_that_rules_before_it_get(nothing):
    """flax' rules return new statistics as cotangents whatever they are given."""
    kept = jax.custom_vjp(lambda x: x)
    kept.defvjp(lambda x: (x, None), lambda _, ct: (ct + 7,))
    stopped = jax.custom_vjp(lambda tree: tree["a"])
    stopped.defvjp(lambda tree: (tree["a"], None), lambda _, ct: (nothing,))
    slope = jax.grad(lambda x: stopped({"a": kept(x)}))
    assert float(slope(1.0)) == float(jax.jit(slope)(1.0)) == 7


def test_rules_that_give_no_tangent_are_mapped():
    """equinox maps the rules of its primitives over a batch."""
    zero = jax.interpreters.ad.Zero(jax.core.ShapedArray((2,), jnp.float32))
    value, tangent = jax.vmap(lambda x: (x, zero))(jnp.ones(3))
    assert value.shape == (3,) and tangent.aval.shape == (3, 2)


def test_errors_of_prefixes():
    from jax._src.tree_util import prefix_errors
    error, = prefix_errors({"x": 1, "y": [2]}, {"x": 1, "y": 2})
    assert isinstance(error("in_axes"), ValueError) and "in_axes['y']" in str(error("in_axes"))


def test_places_where_trees_differ():
    """openpi says so of parameters and of what a checkpoint has."""
    from jax._src.tree_util import equality_errors
    found = equality_errors({"w": [1, 2], "b": (3,), "s": None}, {"w": [1, (2,)], "b": (3, 4), "s": None})
    (one, *_, lengths), (two, *sides, why) = found
    assert [jax.tree_util.keystr(path) for path in (one, two)] == ["['b']", "['w'][1]"]
    assert "length" in lengths and sides == ["a leaf: int", "a tuple of length 1"] and "leaf" in why
    assert not list(equality_errors({"w": [1]}, {"w": (1,)}, is_leaf=lambda x: isinstance(x, (list, tuple))))
    (path, one, two, _), = equality_errors({"w": 1}, {"v": 1})
    assert path == () and "'w'" in one and "'v'" in two


def test_a_format_constrains_placement_and_layout():
    from jax.experimental.layout import Format, Layout
    where = Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    text = jax.jit(lambda x: lax.with_sharding_constraint(x, where) + 1).lower(jnp.ones((2, 3))).as_text()
    assert "LayoutConstraint" in text


FOUR_DEVICES = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
made = jax.jit(lambda: jax.lax.with_sharding_constraint(jnp.ones((8, 2)), NamedSharding(mesh, P("a", "b"))))()
assert made.sharding == NamedSharding(mesh, P("a", "b")), made.sharding
spread = jax.device_put(jnp.zeros((4, 8)), NamedSharding(mesh, P(None, "a")))
assert (spread @ made).tolist() == [[0, 0]] * 4
from jax_xla_backend.placement.sharding import GSPMDSharding
for spec in P(("b", "a")), P("a", "b"), P("b"), P():  # as the compiler writes them
    named = NamedSharding(mesh, spec)
    x = jax.device_put(jnp.arange(16.0).reshape(8, 2), GSPMDSharding(named._internal_device_list, named._to_xla_hlo_sharding(2)))
    assert np.array_equal(jax.jit(lambda x, y: x + y)(x, made), np.arange(16.0).reshape(8, 2) + 1), spec
explicit = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Explicit,) * 2)
with jax.set_mesh(explicit):
    assert jax.random.bernoulli(jax.random.key(0), 0.5, (8,), out_sharding=NamedSharding(explicit.abstract_mesh, P("a"))).sharding.spec == P("a")
print("ok")
"""


def test_programs_without_arguments_on_four_devices():
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", FOUR_DEVICES], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=300)
    assert done.stdout.strip() == "ok", done.stderr[-2000:]


def test_zeros_of_a_tree():
    """optimistix asks for the zero tangents of all that it closes over at once."""
    zeros = jax.custom_derivatives.zero_from_primal
    assert jax.tree.map(jnp.shape, zeros({"a": jnp.ones(2), "b": 1.0})) == {"a": (2,), "b": ()}
    assert isinstance(zeros(jnp.float32(1)), jax.Array)  # no number of NumPy, which shifts a uint4 as an int8
    assert zeros((jnp.ones(2),), symbolic_zeros=True)[0].aval == jax.core.ShapedArray((2,), jnp.float32)


def test_unravelled_pieces_are_arrays():
    """diffrax compares what it makes of SciPy's vectors with its own by type too."""
    unravel = jax.flatten_util.ravel_pytree({"a": jnp.ones(2), "b": jnp.float32(1)})[1]
    pieces = unravel(np.arange(3.0))
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(pieces)) and pieces["a"].tolist() == [0, 1]


@pytest.mark.parametrize("transformed", [
    lambda f: jax.jit(f), lambda f: jax.grad(lambda x: f(x)[0]), lambda f: jax.vmap(f, axis_size=2, in_axes=None)], ids=["jit", "grad", "vmap"])
def test_the_arguments_of_an_inlined_function_are_arrays(transformed):
    """blackjax asks numbers that its caller gave for their dtype, and its callers ask numbers that come back."""
    seen = []

    @functools.partial(jax.jit, inline=True)
    def product(a, b):
        seen.extend([(x.dtype, x.weak_type) for x in (a, b)])
        return a * b, a, b

    def f(x):
        results = product(2.0, x)
        seen.extend((r.dtype, r.weak_type) for r in results)
        return results[0].sum(), results[1]
    transformed(f)(jnp.float32(3))
    f32 = jnp.dtype("float32")
    assert seen == [(f32, True), (f32, False), (f32, False), (f32, True), (f32, False)]


def test_an_inlined_function_leaves_numbers_in_the_program():
    program = jax.make_jaxpr(lambda x: jax.jit(lambda a, b: a * b, inline=True)(2.0, x))(1.0)
    assert [str(e.primitive) for e in program.eqns] == ["mul"] and not program.consts


def test_a_number_is_converted_without_a_word_on_its_placement():
    """optax' L-BFGS in a `while_loop`: the body is traced anew for a stronger carry, and its conversions leave ``sharding`` out."""
    convert = jax.extend.core.primitives.convert_element_type_p
    program = jax.make_jaxpr(lambda: convert.bind(1, new_dtype=np.dtype("float32"), weak_type=False))()
    assert not program.eqns and program.out_avals[0].dtype == np.float32


@pytest.mark.parametrize("fun, names", [
    (lambda x: x.sum(0), {"axes", "out_sharding"}), (lambda x: x.max(0), {"axes", "out_sharding"}), (lambda x: x.min(0), {"axes", "out_sharding"}),
    (lambda x: jax.vjp(lambda y: jnp.broadcast_to(y, (2, 3)), x[0])[1](x), {"axes", "out_sharding"}), (lambda x: x.prod(0), {"axes"}),
    (lambda x: (x > 0).all(0), {"axes"}), (lambda x: (x > 0).any(0), {"axes"}), (lambda x: lax.reduce(x > 0, False, lax.bitwise_xor, (0,)), {"axes"}),
    (lambda x: jax.vmap(lambda x: x.prod())(x), {"axes"}), (lambda x: lax.reduce(x, 0.0, lambda a, b: a + 2 * b, (0,)), {"computation", "jaxpr", "dimensions"})])
def test_reductions_have_the_parameters_that_rules_of_others_take(fun, names):
    """quax calls a rule with the parameters of the equation by keyword."""
    reductions = [e for e in jax.make_jaxpr(fun)(jnp.ones((2, 3))).eqns if e.primitive.name.startswith("reduce")]
    assert reductions and all(set(e.params) == names for e in reductions)


def test_classes_that_annotations_subscribe():
    """The stubs say so; a library's tracers name their trace."""
    assert jax.custom_vjp[[jax.Array], jax.Array].__origin__ is jax.custom_vjp and jax.custom_jvp[int].__origin__ is jax.custom_jvp
    made = jax.custom_vjp[[float], float](lambda x: x)
    made.defvjp(lambda x: (x, None), lambda _, ct: (5 * ct,))
    assert isinstance(made, jax.custom_vjp) and float(jax.grad(made)(1.0)) == 5

    class OwnTracer(jax.core.Tracer["OwnTrace"]):
        pass
    assert issubclass(OwnTracer, jax.core.Tracer)


STRETCHING = ["add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2", "nextafter", "eq", "lt", "complex", "igamma", "zeta"]


@pytest.mark.parametrize("name", STRETCHING)
def test_bind_stretches_axes_of_length_1(name):
    """Interpreters of users bind primitives with values that they have given an axis."""
    prim, row, column = getattr(jax.extend.core.primitives, f"{name}_p"), jnp.array([[1.5, 2.5]]), jnp.array([[2.0], [3.0]])
    want = prim.bind(jnp.tile(row, (2, 1)), jnp.tile(column, (1, 2)))
    np.testing.assert_array_equal(prim.bind(row, column), want)
    np.testing.assert_allclose(jax.jit(prim.bind)(row, column), want, rtol=1e-6)
    np.testing.assert_array_equal(jax.vmap(prim.bind, (0, None))(row[None], column)[0], want)
    assert prim.bind(row[:, :0], column).shape == (2, 0)
    if name in ("mul", "div", "pow"):
        slopes = jax.grad(lambda x, y: prim.bind(x, y).sum(), argnums=(0, 1))(row, column)
        assert [s.shape for s in slopes] == [row.shape, column.shape]


def test_bind_refuses_what_does_not_fit():
    add_p, select_n_p = jax.extend.core.primitives.add_p, jax.extend.core.primitives.select_n_p
    for x, y in [(jnp.ones((2, 3)), jnp.ones((2, 2))), (jnp.ones((2, 2)), jnp.ones(2)), (jnp.ones((1, 2)), jnp.ones((2, 1), int))]:
        with pytest.raises(TypeError, match=r"lax\.add"):
            add_p.bind(x, y)
    with pytest.raises(TypeError):
        select_n_p.bind(jnp.ones((1, 2), bool), jnp.ones((2, 1)), jnp.ones((2, 1)))


@pytest.mark.parametrize("several", [range(1), {0}, np.array([0])], ids=["range", "set", "array"])
def test_whatever_names_several_arguments_gives_a_tuple(several):
    """As tfp's tests of gradients write ``argnums=range(n)``."""
    square = lambda x: x ** 2
    forward, backward = jax.fwd_and_bwd(square, several)
    results = [jax.grad(square, several)(3.0), jax.value_and_grad(square, several)(3.0)[1], jax.jacfwd(square, several)(3.0),
               jax.jacrev(square, several)(3.0), jax.hessian(square, several)(3.0)[0], backward(forward(3.0)[1], 1.0)]
    assert [(type(x), len(x)) for x in results] == [(tuple, 1)] * 6
    assert jax.grad(square, np.int32(0))(3.0) == 6
    assert jax.jit(lambda n: jnp.zeros(n), static_argnums=several)(2).shape == (2,)


class OnlyArrays:
    """A node that gives back those of its parts that are arrays, as that of array_api_extra, by which SciPy compiles functions."""

    def __init__(self, parts):
        self.parts = parts


jax.tree_util.register_pytree_node(
    OnlyArrays, lambda node: ([x for x in node.parts if isinstance(x, jax.Array)], tuple(None if isinstance(x, jax.Array) else x for x in node.parts)),
    lambda parts, arrays: OnlyArrays([next(arrays) if x is None else x for arrays in [iter(arrays)] for x in parts]))


def test_nodes_that_lose_what_is_no_array_are_compiled():
    double = jax.jit(lambda node: [OnlyArrays([node.parts[0] * 2, "b", node.parts[2]])])
    given = OnlyArrays([jnp.ones(2), "a", jnp.zeros(3)])
    assert [getattr(x, "tolist", lambda x=x: x)() for x in double(given)[0].parts] == [[2, 2], "b", [0, 0, 0]]
    assert "result[0][1]" in double.lower(given).as_text()
    assert "node[1]" in double.lower(given).as_text(debug_info=True)


@pytest.mark.parametrize("text, shapes", [("ij,jk->ik", [(2, 3), (3, 4)]), ("ca,bc,b->a", [(4, 2), (3, 4), (3,)]), ("ii->i", [(3, 3)])])
def test_einsum_in_halves_with_a_product_between(text, shapes):
    """haliax and aqt find the order of steps, then run them with a product of their own, under `jit`."""
    from jax._src.numpy import einsum
    arrays = [jnp.arange(float(np.prod(shape))).reshape(shape) for shape in shapes]
    operands, steps = einsum._default_poly_einsum_handler(text, *arrays, einsum_call=True, optimize="optimal")
    steps = tuple((positions, frozenset(summed), labels) for positions, summed, labels, *_ in steps)
    twice = lambda *args, **kwargs: 2 * lax.dot_general(*args, **kwargs)
    run = lambda *args: jax.jit(lambda xs: einsum._einsum(xs, steps, None, None, *args))(operands)
    expected = np.einsum(text, *arrays)
    assert np.array_equal(run(), expected) and np.array_equal(run(twice), expected * 2 ** (len(arrays) - 1))


def test_einsum_in_halves_takes_unknown_lengths_and_pairs_only():
    from jax._src.numpy import einsum
    n, = jax.export.symbolic_shape("n")

    def product(x, y):
        operands, steps = einsum._default_poly_einsum_handler("ij,jk,k->i", x, y, jnp.ones(4), optimize="optimal")
        return einsum._einsum(operands, [s[:3] for s in steps], None, None)
    assert jax.eval_shape(product, *(jax.ShapeDtypeStruct(shape, float) for shape in ((2, n), (n, 4)))).shape == (2,)
    with pytest.raises(NotImplementedError, match="'i,i,i->' takes 3 operands; choose a path in pairs"):
        einsum._einsum([jnp.ones(2)] * 3, [((2, 1, 0), frozenset("i"), "i,i,i->")], None, None)


@pytest.mark.parametrize("shardings", [lambda u, s: {"in_shardings": u}, lambda u, s: {"in_shardings": u, "out_shardings": u, "device": jax.devices()[0]},
                                       lambda u, s: {"in_shardings": (u, s), "out_shardings": (s, [u, s])},
                                       lambda u, s: {"in_shardings": [u, u], "out_shardings": (u, u)}])
def test_jit_takes_unspecified_for_no_placement(shardings):
    """brainstate passes it on as the default of its own jit."""
    from jax._src.sharding_impls import UNSPECIFIED
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    x, (y, z) = jax.jit(lambda x, y: (x, [y, x + y]), **shardings(UNSPECIFIED, here))(1., 2.)
    assert (x, y, z) == (1., 2., 3.) and {a.sharding for a in (x, y, z)} == {here}


def test_a_program_gets_inputs_while_it_is_written():
    """brainstate makes the states that a function reads inputs of its program."""
    from jax._src.core import trace_ctx
    from jax._src.source_info_util import current

    def f(x):
        state = trace_ctx.trace.new_arg(jax.typeof(jnp.ones(2)), source_info=current())
        return x * state
    program, out = jax.make_jaxpr(f, return_shape=True)(3.)
    assert (out.shape, [v.aval.shape for v in program.jaxpr.invars]) == ((2,), [(), (2,)])
    assert jax.core.jaxpr_as_fun(program)(3., jnp.array([1., 2.]))[0].tolist() == [3., 6.]


@pytest.mark.parametrize("x", [jax.core.ShapedArray((2,), jnp.float32, weak_type=True), jax.typeof(jax.random.key(0))])
def test_a_type_is_its_own_type_for_libraries(x):
    """brainstate asks for the types of a tree that holds arrays and types."""
    assert jax.api_util.shaped_abstractify(x) is x


def test_a_context_for_equations_that_a_library_writes():
    """brainstate's passes over programs make one without arguments."""
    from jax._src.core import JaxprEqnContext
    context = JaxprEqnContext()
    assert context.xla_metadata is None
    program = jax.make_jaxpr(lambda x: x + 1)(1.)
    program.jaxpr.eqns[0] = program.eqns[0].replace(ctx=context)
    assert program.eqns[0].ctx is context and jax.core.jaxpr_as_fun(program)(2.) == [3.]


def test_tracers_of_vmap_say_where_the_mapped_axis_is():
    """brainstate places the states that a function writes by it."""
    seen = []
    jax.vmap(lambda x, y: seen.append((x.batch_dim, y.batch_dim)), in_axes=(0, 1))(jnp.ones(2), jnp.ones((3, 2, 4)))
    assert seen == [(0, 1)]
