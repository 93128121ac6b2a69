"""What `shard_map` refuses, and how it says so: leaves, specs, types that vary otherwise than they must."""
import functools

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.references.api import new_ref
from jax_core.representation.aval import get_aval
from jax_core.transformations.autodiff import grad
from jax_core.transformations.custom_vjp import custom_vjp
from jax_numpy_api import lax
from jax_xla_backend.operations.shard_map.api import old_shard_map, shard_map
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import DuplicateSpecError
from jax_xla_backend.platforms.client import devices
from parts_on_devices import grid, line, rows, several

ONE = line(1)
BAD = {
    "rank": (dict(in_specs=P("i", None), out_specs=P()), ValueError, r"in_specs entry P\('i', None\) has length 2, but args\[0\] of type "
             r"float32\[4\] has rank 1"),
    "axis": (dict(in_specs=P("z"), out_specs=P()), ValueError, r"in_specs refers to 'z', in P\('z',\), but must name axes that are manual: .*\{'i': 1\}"),
    "twice": (dict(in_specs=P(("i", "i")), out_specs=P()), DuplicateSpecError, "duplicate entries for 'i'"),
    "structure": (dict(in_specs=(P(), P()), out_specs=P()), ValueError, "must be a pytree prefix of the arguments"),
    "kind": (dict(in_specs="i", out_specs=P()), TypeError, "in_specs must be a pytree of jax.sharding.PartitionSpec instances"),
    "unconstrained": (dict(in_specs=P(P.UNCONSTRAINED), out_specs=P()), ValueError, "UNCONSTRAINED has no meaning"),
    "varies": (dict(in_specs=P("i"), out_specs=P()), ValueError, r"result of type float32\[4\]\{V:i\} varies over the mesh axes 'i', but its "
               r"out_specs entry P\(\) does not name them. Specs that leave axes out require replication.*check_vma=False"),
    "results": (dict(in_specs=P("i"), out_specs=(P(), P())), ValueError, "out_specs=.* must be a pytree prefix of the result"),
    "axis_names": (dict(in_specs=P("i"), out_specs=P(), axis_names={"q"}), ValueError, r"axis_names=\{'q'\} to be a subset of mesh.axis_names"),
    "axis_names are no set": (dict(in_specs=P("i"), out_specs=P(), axis_names=("i",)), TypeError, "axis_names must be a set or frozenset"),
    "sum that no type says": (dict(in_specs=P("i"), out_specs=P(unreduced={"i"})), ValueError, r"out_specs has .*no type says.*\['i'\] Explicit"),
    "mesh": (dict(in_specs=P("i"), out_specs=P(), mesh=3), TypeError, "mesh must be a jax.sharding.Mesh"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_say_which_leaf_and_which_spec(name):
    settings, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        shard_map(lambda a: a, **{"mesh": ONE, **settings})(np.ones(4, np.float32))


@several
def test_error_of_lengths():
    with pytest.raises(ValueError, match=r"args\[0\]\['w'\] of type float32\[6,2\] has the in_specs entry P\('i',\), which splits its axis 0 of "
                       r"length 6 over the mesh axes 'i' of size 4, but 6 is not divisible by 4. The mesh is \{'i': 4, 'j': 2\}"):
        shard_map(lambda a: a, mesh=grid(), in_specs=P("i"), out_specs=P("i"))({"w": np.ones((6, 2), np.float32)})


def test_other_errors():
    x = np.ones(4, np.float32)
    with pytest.raises(TypeError, match="expected a callable"):
        shard_map(3, mesh=ONE, in_specs=P(), out_specs=P())
    with pytest.raises(TypeError, match=r"args\[0\] is 'text' of type str"):
        shard_map(lambda a: a, mesh=ONE, in_specs=P(), out_specs=P())("text")
    with pytest.raises(ValueError, match="result is of type Ref.*cannot leave the region"):
        shard_map(new_ref, mesh=ONE, in_specs=P(), out_specs=P(), check_vma=False)(x)
    for nothing in (Mesh(np.empty((), object), ()), Mesh(np.empty(0, object), ("i",))):
        assert nothing.empty
        with pytest.raises(ValueError, match="requires a non-empty mesh"):
            shard_map(lambda a: a, mesh=nothing, in_specs=P(*nothing.axis_names), out_specs=P())(x)
    with pytest.raises(TypeError, match="`perm` passed to `jax.lax.ppermute` must be a list or tuple"):
        shard_map(lambda a: lax.ppermute(a, "i", zip([0], [0])), mesh=ONE, in_specs=P("i"), out_specs=P("i"))(x)
    with pytest.raises(TypeError, match="returned at result a value of type str"):
        shard_map(lambda a: "text", mesh=ONE, in_specs=P(), out_specs=P())(x)
    with pytest.raises(ValueError, match="result of type .* has rank 0.*an axis"):
        shard_map(lambda a: a.sum(), mesh=ONE, in_specs=P("i"), out_specs=P("i"))(x)
    with pytest.raises(NameError, match="unbound axis name: k"):
        shard_map(lambda a: lax.psum(a, "k"), mesh=ONE, in_specs=P(), out_specs=P())(x)
    with pytest.raises(ValueError, match="from=equal/varying"):
        shard_map(lambda a: lax.pcast(a, ("i", "j"), to="varying"), mesh=Mesh(np.array(devices()[:1]).reshape(1, 1), ("i", "j")), in_specs=P("i"),
                  out_specs=P(("i", "j")))(x)
    with pytest.raises(ValueError, match="manual already"):
        shard_map(lambda a: shard_map(lambda b: b, mesh=ONE, in_specs=P(), out_specs=P())(a), mesh=ONE, in_specs=P(), out_specs=P())(x)
    with pytest.raises(ValueError, match="auto=.* must be a subset"):
        old_shard_map(lambda a: a, ONE, P(), P(), auto=frozenset({"q"}))


def test_wrapper_keeps_the_name():
    def body(a):
        """Doc."""
        return a
    mapped = shard_map(body, mesh=ONE, in_specs=P(), out_specs=P())
    assert (mapped.__name__, mapped.__doc__) == ("body", "Doc.")
    assert functools.partial(mapped)(np.ones(2)).shape == (2,)


@pytest.mark.parametrize("f", [lambda x, y: x * y, lambda x, y: x * 2.0, lambda x, y: jnp.where(x > 0, x, y), lambda x, y: x @ y])
def test_values_are_not_cast_where_that_is_off(f):
    mesh = Mesh(np.array(devices()[:2]), ("i",))
    with flags.auto_pcast(False), pytest.raises(ValueError, match="varying manual axes to match"):
        shard_map(f, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))(jnp.ones((2, 2)), jnp.ones((2, 2)))


VARYING = [
    ("scan", lambda x: lax.scan(lambda c, row: (c + row.sum(), None), 0.0, x)[0]),
    ("scan that returns less", lambda x: lax.scan(lambda c, _: (jnp.zeros(3), None), x[0], length=2)[0].sum()),
    ("while_loop", lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x), (0, jnp.zeros((2, 3))))[1].sum()),
    ("fori_loop", lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[0, 0], 0.0)),
    ("cond", lambda x: lax.cond(True, lambda: jnp.zeros((2, 3)), lambda: x).sum()),
    ("switch", lambda x: lax.switch(1, [lambda: jnp.zeros((2, 3)), lambda: x]).sum()),
]


@several
@pytest.mark.parametrize("_, f", VARYING, ids=[row[0] for row in VARYING])
def test_carries_and_branches_vary_alike(_, f):
    def mapped(checked):
        return shard_map(lambda x: f(x)[None], mesh=line(4), in_specs=P("i"), out_specs=P("i"), check_vma=checked)
    with pytest.raises(TypeError, match=r"apply jax\.lax\.pcast\(\.\.\., \('i',\), to='varying'\) to the"):
        mapped(True)(rows(8, 3))
    assert mapped(False)(rows(8, 3)).shape == (4,)


@pytest.mark.only_cpu
@pytest.mark.parametrize("bwd, given", [(lambda g: lax.psum(g, "i"), P("i")), (lambda g: jnp.zeros((1,)), P("i")),
                                        (lambda g: lax.pcast(g, "i", to="varying"), P())], ids=["summed", "constant", "cast"])
def test_cotangents_of_a_custom_rule_vary_as_its_argument(bwd, given):
    @custom_vjp
    def f(x):
        return x * 2
    f.defvjp(lambda x: (f(x), None), lambda _, g: (bwd(g),))
    g = shard_map(f, mesh=line(4), in_specs=given, out_specs=given)
    with pytest.raises(ValueError, match=r"returned for argument 0 a cotangent of type .*, expected .*it must vary over"):
        grad(lambda x: g(x).sum())(jnp.ones(4))


@pytest.mark.parametrize("like", [jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda x: jnp.full_like(x, 2), lambda x: lax.full_like(x, 2),
                                  lambda x: jnp.zeros_like(x, shape=(3,), dtype=int)])
def test_arrays_like_another_vary_as_it(like):
    seen = []
    shard_map(lambda x, w: (seen.append((like(x).aval.vma, get_aval(like(w)).vma)), x)[1], mesh=line(4), in_specs=(P("i"), P()), out_specs=P("i"))(
        jnp.ones(4), jnp.ones(4))
    assert seen[0] == ({"i"}, set())
