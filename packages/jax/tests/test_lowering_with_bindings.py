"""Lowering rules of users' own: on jaxlib's MLIR bindings, on functions of arrays, and one within the other."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import ad, batching, mlir

X = jnp.array([1.0, 2.0, 3.0])


def primitive(rule, multiple=False):
    prim = Primitive("own")
    prim.multiple_results = multiple
    prim.def_abstract_eval(lambda *avals, **_: list(avals) if multiple else avals[0])
    mlir.register_lowering(prim, rule)
    return prim


def _callback(ctx, x):
    outs, _, keepalive = mlir.emit_python_callback(ctx, lambda v: (np.asarray(v) * 10,), None, [x], ctx.avals_in, ctx.avals_out,
                                                   has_side_effect=False)
    ctx.module_context.add_keepalive(keepalive)
    return outs


def _program(ctx, x):
    closed = jax.make_jaxpr(lambda x: jnp.cos(x) + 1)(X)
    outs, _ = mlir.jaxpr_subcomp(ctx.module_context, closed.jaxpr, None, None, closed.consts, x)
    return outs


RULES = [
    ("operations", lambda ctx, x: stablehlo.AddOp(x, x).results, lambda x: 2 * x),
    ("one value", lambda ctx, x: stablehlo.negate(x), lambda x: -x),
    ("constant", lambda ctx, x: [stablehlo.add(x, mlir.ir_constant(np.asarray(X)))], lambda x: x + X),
    ("types", lambda ctx, x: [stablehlo.convert(mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0]), x)], lambda x: x),
    ("function", lambda ctx, x: mlir.lower_fun(jnp.sin, multiple_results=False)(ctx, stablehlo.negate(x)), lambda x: jnp.sin(-x)),
    ("callback", _callback, lambda x: 10 * x),
    ("program", _program, lambda x: jnp.cos(x) + 1),
]


@pytest.mark.parametrize("rule, wanted", [case[1:] for case in RULES], ids=[case[0] for case in RULES])
def test_rules_on_the_bindings(rule, wanted):
    own = primitive(rule).bind
    assert np.allclose(own(X), wanted(X))
    assert np.allclose(jax.jit(lambda x: own(own(x)))(X), wanted(wanted(X)), atol=1e-6)
    carried, _ = jax.jit(lambda x: jax.lax.scan(lambda c, _: (own(c), None), x, None, length=2))(X)
    assert np.allclose(carried, wanted(wanted(X)), atol=1e-6)


def test_several_results_and_parameters():
    own = primitive(lambda ctx, x, y, *, scale: [stablehlo.add(x, y), stablehlo.multiply(x, mlir.ir_constant(np.full(3, scale, "float32")))],
                    multiple=True)
    total, scaled = jax.jit(lambda x: own.bind(x, x, scale=3.0))(X)
    assert total.tolist() == [2, 4, 6] and scaled.tolist() == [3, 6, 9]


def test_a_rule_for_a_handler_is_called_with_what_a_rule_got():
    own = primitive(lambda ctx, x: jax.ffi.ffi_lowering("some_handler")(ctx, x, factor=np.float32(2)))
    text = jax.jit(own.bind).lower(X).as_text()
    assert "custom_call @some_handler" in text and "factor = 2.0" in text


@pytest.mark.parametrize("value, text", [
    (True, "true"), (5, "5 : i64"), (2.5, "2.500000e+00 : f64"), ("a", '"a"'), (np.int32(3), "3 : i32"), ([1, 2], "[1, 2]"),
    ({"a": 1}, "{a = 1 : i64}"), (np.arange(3), "dense<[0, 1, 2]> : tensor<3xi64>"), (np.dtype("float32"), "f32")])
def test_attributes(value, text):
    with mlir.make_ir_context(), ir.Location.unknown():
        assert str(mlir.ir_attribute(value)) == text


def test_results_of_other_types_are_refused():
    own = primitive(lambda ctx, x: stablehlo.convert(ir.Type.parse("tensor<3xi32>"), x))
    with pytest.raises(TypeError, match=r"tensor<3xi32>.*tensor<3xf32>"):
        jax.jit(own.bind)(X)


def test_rules_get_tuples():
    own, seen = primitive(lambda ctx, x: x), []
    own.def_impl(lambda x: x)
    batching.fancy_primitive_batchers[own] = lambda axis, args, dims: seen.append((args, dims)) or (args[0], dims[0])
    ad.primitive_jvps[own] = lambda primals, tangents: seen.append((primals, tangents)) or (primals[0], tangents[0])
    jax.vmap(own.bind)(X)
    jax.jvp(own.bind, (X,), (X,))
    assert [type(x) for pair in seen for x in pair] == [tuple] * 4


def test_functions_of_a_custom_rule_can_be_bound_again():
    double = jax.custom_jvp(lambda x: 2 * x)
    double.defjvp(lambda primals, tangents: (double(primals[0]), 3 * tangents[0]))
    eqn, = jax.make_jaxpr(double)(1.0).eqns
    params = eqn.primitive.get_bind_params(eqn.params)
    again = lambda x: eqn.primitive.bind(x, **params)[0]
    assert float(again(2.0)) == 4 and float(jax.grad(again)(2.0)) == 3 and float(jax.jit(jax.grad(again))(2.0)) == 3


def test_a_tangent_given_as_a_number_is_an_array_beside_one():
    assert isinstance(jax.jvp(lambda x: x + 1, (1.0,), (1.0,))[1], jax.Array)


def test_sets_of_tokens():
    with mlir.make_ir_context() as context, mlir.ir.Location.unknown(context):
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            made = mlir.TokenSet.create(["a", "b"])
    assert made.effects() == {"a", "b"} and len(made) == 2 and not len(mlir.TokenSet())
    assert str(made.get("a").type) == "!stablehlo.token"
    changed = made.update_tokens(mlir.TokenSet({"b": 1}))
    assert changed.items() == (("a", made.get("a")), ("b", 1)) and made.update_tokens(mlir.TokenSet()) is made
    assert changed.subset(["b"]).items() == (("b", 1),)
    with pytest.raises(KeyError):
        made.get("c")


def test_custom_calls_of_the_bindings():
    """Written into the program as told; the target is looked up when it is compiled."""
    own = primitive(lambda ctx, x: mlir.custom_call(
        "two", result_types=[x.type, x.type], operands=[x], backend_config={"n": mlir.ir_attribute(3)}, api_version=4, has_side_effect=True,
        operand_output_aliases={0: 1}, operand_layouts=[[0]], result_layouts=[[0], [0]]).results, multiple=True)
    own.def_abstract_eval(lambda x: [x, x])
    text = jax.jit(own.bind).lower(X).as_text()
    assert "@two(%arg0) {api_version = 4 : i32, backend_config = {n = 3 : i64}, has_side_effect = true" in text
    assert "output_tuple_indices = [1], operand_index = 0" in text and text.count("dense<0> : tensor<1xindex>") == 3


def test_a_rule_is_told_of_the_devices():
    seen = []

    def rule(ctx, x):
        seen.append((ctx.module_context.axis_context, ctx.module_context.shape_poly_state))
        return [x]
    own = primitive(rule).bind
    mesh = jax.sharding.Mesh(jax.devices()[:1], "i")
    jax.jit(own)(X)
    jax.jit(jax.shard_map(own, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"), check_vma=False))(X)
    outside, inside = seen[0][0], seen[-1][0]
    assert isinstance(outside, mlir.ShardingContext) and outside.num_devices == 1
    assert isinstance(inside, mlir.SPMDAxisContext) and inside.mesh.shape == {"i": 1} and inside.manual_axes == {"i"}
    assert not seen[0][1].uses_dim_vars and not seen[0][1].has_platform_index_argument
