"""custom_partitioning: on one device and on eight the result is that of the function; the rules see what they should."""
import functools

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.lowering.sharding_rules import (
    BATCHING,
    ArrayMapping,
    CompoundFactor,
    SdyShardingRule,
    parse_rule,
)
from jax_xla_backend.operations.custom_partitioning.api import custom_partitioning
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
several = pytest.mark.skipif(len(devices()) < 8, reason="needs eight devices")


def grid():
    return Mesh(np.array(devices()[:8]).reshape(4, 2), ("x", "y"))


def placed(x, *spec):
    return device_put(x, NamedSharding(grid(), P(*spec)))


A = np.arange(32, dtype=np.float32).reshape(8, 4)
B = np.arange(12, dtype=np.float32).reshape(4, 3)


def elementwise():
    @custom_partitioning
    def f(x):
        return jnp.sin(x) * 2
    seen = []

    def partition(mesh, args, result):
        seen.append((args, result))
        return mesh, lambda x: jnp.sin(x) * 2, result.sharding, (args[0].sharding,)
    f.def_partition(partition, sharding_rule="i j -> i j")
    return f, seen


def test_on_one_device_it_is_the_function():
    f, seen = elementwise()
    np.testing.assert_allclose(f(A), 2 * np.sin(A), rtol=1e-6)
    np.testing.assert_allclose(jit(f)(A), 2 * np.sin(A), rtol=1e-6)
    assert f.__name__ == "f" and not seen


@several
@pytest.mark.parametrize("shardy", [True, False])
def test_elementwise(shardy):
    f, seen = elementwise()
    f.def_partition(f.partition, lambda mesh, args, result: args[0].sharding, lambda mesh, user: user.sharding,
                    sharding_rule="i j -> i j")
    with flags.use_shardy_partitioner(shardy):
        out = jit(lambda x: f(x) + 0)(placed(A, "x", "y"))
    np.testing.assert_allclose(out, 2 * np.sin(A), rtol=1e-6)
    assert out.sharding.is_equivalent_to(NamedSharding(grid(), P("x", "y")), 2)
    (arg,), result = seen[0]
    assert arg.shape == result.shape == (8, 4) and arg.sharding.spec == P("x", "y") and result.dtype == np.float32


@several
def test_matrix_product_with_a_collective():
    @custom_partitioning
    def product(a, b):
        return a @ b

    @functools.partial(product.def_partition, sharding_rule="i k, k j -> i j", reduction_factors=("k",))
    def partition(mesh, args, result):
        places = NamedSharding(mesh, P("x", "y")), NamedSharding(mesh, P("y", None))
        return mesh, lambda a, b: lax.psum(a @ b, "y"), NamedSharding(mesh, P("x", None)), places
    np.testing.assert_array_equal(jit(product)(placed(A, "x", "y"), B), A @ B)
    np.testing.assert_array_equal(product(placed(A, None, "x"), placed(B, "x")), A @ B)


@several
def test_trees_static_arguments_and_positions():
    @functools.partial(custom_partitioning, static_argnums=(1,))
    def f(tree, n, shift=1.0):
        return {"sum": tree[0] + tree[1] * n + shift, "first": tree[0]}

    def partition(n, mesh, args, results):
        spec = NamedSharding(mesh, P("x"))

        def on_parts(tree, shift):
            return {"sum": tree[0] + tree[1] * n + shift + 0 * lax.axis_index("x").astype(A.dtype), "first": tree[0]}
        return mesh, on_parts, {"sum": spec, "first": spec}, ((spec, spec), NamedSharding(mesh, P()))
    f.def_partition(partition, sharding_rule="... j, ... j, -> ... j, ... j")
    out = jit(lambda a, b: f((a, b), 3, shift=2.0))(placed(A, "x"), placed(A, None, "y"))
    np.testing.assert_array_equal(out["first"], A)
    np.testing.assert_array_equal(out["sum"], 4 * A + 2)


@several
def test_rule_as_function_and_compound_factors():
    @custom_partitioning
    def split(x):
        return x.reshape(8, 2, 2)
    rows = lambda mesh: NamedSharding(mesh, P("x"))
    partition = lambda mesh, args, result: (mesh, lambda x: x.reshape(x.shape[0], 2, 2), rows(mesh), (rows(mesh),))
    for rule in ("i (j k) -> i j k", lambda mesh, args, results: "i (j k) -> i j k",
                 SdyShardingRule((ArrayMapping(BATCHING, CompoundFactor("j", "k")),), (ArrayMapping(BATCHING, "j", "k"),))):
        split.def_partition(partition, sharding_rule=rule)
        np.testing.assert_array_equal(jit(split)(placed(A, "x")), A.reshape(8, 2, 2))


def test_rules_as_attributes():
    text = parse_rule("i k, k j -> i j", reduction_factors=("k",)).attribute([(8, 4), (4, 3)], [(8, 3)])
    assert text == "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=4, k=3} reduction={j}, custom>"
    rule = parse_rule("... (a b) -> ... a", b=3, need_replication_factors=("b",))
    assert rule.attribute([(5, 7, 6)], [(5, 7, 2)]) == (
        "#sdy.op_sharding_rule<([i, j, kl])->([i, j, k]) {i=5, j=7, k=2, l=3} need_replication={l}, custom>")


@pytest.mark.parametrize("rule, text", [
    ("i j", "There is no -> in rule"), ("i -> j -> k", "there must be one ->"), ("(i) -> i", "at least two factors"),
    ("(i j -> i", "not closed"), ("i ; j -> i", "unexpected ';'"), ("i ... -> i", "Ellipsis can only be used at the beginning"),
    ("(i j) -> i", "Factor j is only used in compound factors; must specify its size"),
])
def test_texts_that_are_no_rules(rule, text):
    with pytest.raises(ValueError, match=text):
        parse_rule(rule)


@pytest.mark.parametrize("settings, text", [
    (dict(reduction_factors=("q",)), "factor q is not used"), (dict(i=3), "Factor i represents a whole dimension"),
    (dict(reduction_factors=("i",), permutation_factors=("i",)), "factor i can have one role only"),
    (dict(need_replication_factors="i"), r"need_replication_factors must be a tuple of factors, got 'i'; write \('i',\)"),
])
def test_settings_that_do_not_fit(settings, text):
    with pytest.raises(ValueError, match=text):
        parse_rule("i -> i", **settings)


@several
def test_rules_that_do_not_fit_the_shapes():
    f, _ = elementwise()
    for rule, text in (("i j -> i j k", "0th result has rank 3, but the operation 0th result has rank 2"),
                       ("i j, k -> i j", "has 2 operands, but the operation has 1 operands"),
                       (lambda *_: None, "returned None of type NoneType"),
                       ("i i -> i i", r"dimension of length 4 with the factors \['i'\], whose sizes \[8\] multiply to 8")):
        f.def_partition(f.partition, sharding_rule=rule)
        with pytest.raises(ValueError, match=text):
            jit(lambda x: f(x))(placed(A, "x"))
    f.def_partition(f.partition, lambda mesh, args, result: result.sharding)
    with pytest.raises(NotImplementedError, match="has no sharding_rule; Shardy is used"):
        jit(lambda x: f(x))(placed(A, "x"))


def test_refusals():
    f, _ = elementwise()
    with pytest.raises(NotImplementedError, match="has no derivative rule; give the function one with jax.custom_vjp"):
        grad(lambda x: f(x).sum())(A)
    with pytest.raises(NotImplementedError, match="has no batching rule"):
        vmap(f)(A[None])
    with pytest.raises(AttributeError, match="has no rules; set them with g.def_partition"):
        _without_rules()(A)
    with pytest.raises(TypeError, match="sharding_rule must be a str"):
        f.def_partition(f.partition, sharding_rule=3)
    with pytest.raises(ValueError, match="belong to a sharding_rule that is a text"):
        f.def_partition(f.partition, reduction_factors=("i",))
    with pytest.raises(ValueError, match="two factors at least"):
        CompoundFactor("i")
    with pytest.raises(ValueError, match="start with a letter"):
        ArrayMapping("1")


def _without_rules():
    @custom_partitioning
    def g(x):
        return x
    return g
