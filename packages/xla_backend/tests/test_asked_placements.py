"""Placements that nobody or only `jit` asks for: new arrays under a mesh, specs as in_shardings, results' specs, placements without a mesh."""
import collections

import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.configuration import flags
from jax_core.programs.jit import jit, pjit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.errors import UnexpectedTracerError
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_xla_backend.arrays import array
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.arrays.from_parts import make_array_from_callback, make_array_from_single_device_arrays
from jax_xla_backend.jaxlib_compat import HloSharding
from jax_xla_backend.placement.layout import Layout
from jax_xla_backend.placement.mesh import AxisType, Mesh, make_mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import GSPMDSharding, NamedSharding, SingleDeviceSharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
X = np.arange(64, dtype=np.float32).reshape(8, 8)


def grid(kind=AxisType.Auto, shape=(2, 2)):
    return Mesh(np.array(devices()[:np.prod(shape)]).reshape(shape), ("x", "y"), (kind,) * 2)


NEW = [lambda: jnp.zeros((3, 2)), lambda: jnp.arange(4), lambda: jnp.asarray(X), lambda: jnp.float32(3), lambda: jit(lambda: jnp.ones(3))(),
       lambda: jnp.sin(X), lambda: jnp.eye(3)]


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("shape", [(2, 2), (1, 1)])
def test_new_arrays_lie_on_the_mesh_that_is_set(kind, shape):
    for make in NEW:
        with set_mesh(grid(kind, shape)):
            x = make()
        assert x.committed and type(x.sharding) is NamedSharding and x.sharding.mesh == grid(kind, shape)
        assert x.sharding.is_fully_replicated
        assert not make().committed and len(make().sharding.device_set) == 1
    with set_mesh(grid(kind, shape)):
        assert type(device_put(X).sharding) is SingleDeviceSharding and not device_put(X).committed


def test_specs_place_arguments_and_results():
    with set_mesh(grid()):
        f = jit(lambda x, y: (x, x + y), in_shardings=(P("x"), None), out_shardings=(None, P("y")))
        first, second = f(X, X)
        inner = jit(lambda x: jit(lambda y: y * 2, out_shardings=P("x", "y"))(x))(X)
        assert pjit(lambda x: x, P("y"), P("x"))(X).sharding.spec == P("x")
    assert (first.sharding.spec, second.sharding.spec, inner.sharding.spec) == (P("x"), P("y"), P("x", "y"))
    np.testing.assert_array_equal(second, X + X)


REFUSED = [
    (P("z"), ValueError, "in_shardings for x .*'z'"),
    (P(P.UNCONSTRAINED), ValueError, "Unconstrained"),
    (P(None, None, "x"), ValueError, "rank"),
    (P(None, ("x", "y")), ValueError, r"in_shardings for x of type float32\[8,6\].*6"),
    ("x", TypeError, "in_shardings: .*'x' of type str"),
]


@pytest.mark.parametrize("spec, error, text", REFUSED, ids=str)
def test_placements_that_do_not_fit_are_refused(spec, error, text):
    with set_mesh(grid()):
        with pytest.raises(error, match=text):
            jit(lambda x: x, in_shardings=spec)(X[:, :6])
        with pytest.raises(error):
            jit(lambda x: x, out_shardings=spec)(X[:, :6])


@pytest.mark.parametrize("name", ["in_shardings", "out_shardings"])
@pytest.mark.parametrize("other, error", [("x", TypeError), ({"a": 3}, TypeError), (Layout((0, 1)), ValueError),
                                          ((None, Layout.AUTO), ValueError)], ids=str)
def test_what_is_no_placement_is_refused_before_the_call(name, other, error):
    with pytest.raises(error, match=f"^jit of <lambda> at .*: {name}: "):
        jit(lambda x: x, **{name: other})


Named = collections.namedtuple("Named", "x")


def test_calls_that_placements_do_not_allow():
    whole, one = NamedSharding(grid(), P()), SingleDeviceSharding(devices()[0])
    twice = NamedSharding(Mesh(np.array(devices()[:1] * 2), ("x",)), P("x"))
    for f, args, kwargs, error, text in [
            (jit(lambda x: x, in_shardings=P("x")), (X,), {}, RuntimeError, "set_mesh"),
            (jit(lambda x: 2 * x, in_shardings=twice), (X,), {}, ValueError, "is among them more than once"),
            (jit(lambda x: x, in_shardings=whole), (), {"x": X}, ValueError, "by position"),
            (jit(lambda x, y: x + y, in_shardings=(whole, one)), (X, X), {}, ValueError, "different devices"),
            (jit(lambda x, y: x + y, in_shardings=(whole,)), (X, X), {}, ValueError, "length"),
            (jit(lambda x: x, in_shardings=Named(whole)), (Named(X),), {}, ValueError, r"in_shardings is a Named.*\(Named\(...\),\)")]:
        with pytest.raises(error, match=text):
            f(*args, **kwargs)
    with pytest.raises(ValueError, match="device and backend"):
        jit(lambda x: x, in_shardings=whole, device=devices()[0])


def test_donated_parts_serve_results_of_as_many_bytes():
    """As the results are asked to lie; what is asked for nothing, the partitioner may place so that they do."""
    rows, whole = NamedSharding(grid(), P("x")), NamedSharding(grid(), P())
    x, y = device_put(X, rows), device_put(X, rows)
    jit(lambda x: x.astype(np.int32), donate_argnums=0, out_shardings=rows)(x)
    assert x.is_deleted()
    with pytest.warns(UserWarning, match="not usable: float32"):
        jit(lambda y: y + 1, donate_argnums=0, out_shardings=whole)(y)
    assert not y.is_deleted()


WHOLE, ROWS = lambda: NamedSharding(grid(), P()), lambda: NamedSharding(grid(), P("x"))
EIGHT = lambda: NamedSharding(grid(shape=(2, 4)), P("x"))
AHEAD = [(None, (WHOLE, EIGHT), "incompatible devices"), (ROWS, (WHOLE, ROWS), "but it lies as"),
         (ROWS, (lambda: SingleDeviceSharding(devices()[0]), ROWS), "incompatible devices"), (None, (WHOLE, ROWS), None), (ROWS, (ROWS, ROWS), None)]


@pytest.mark.parametrize("told, places, text", AHEAD)
def test_arguments_are_where_they_must_be_also_ahead_of_time(told, places, text):
    f = jit(lambda x, y: x + y, in_shardings=told and told())
    args = [ShapeDtypeStruct(X.shape, X.dtype, sharding=place()) for place in places]
    if text is None:
        assert f.lower(*args).out_info.shape == X.shape
    else:
        with pytest.raises(ValueError, match=text):
            f.lower(*args)


@pytest.mark.skipif(len(devices()) < 8, reason="needs eight devices")
def test_a_program_asks_for_the_devices_that_jit_was_told():
    with pytest.raises(ValueError, match="incompatible devices"):
        jit(lambda x: lax.with_sharding_constraint(x, EIGHT()), in_shardings=ROWS())(X)
    for nothing in (None, devices()[0]):
        with pytest.raises(TypeError, match="sharding must be"):
            make_array_from_callback((8,), nothing, lambda index: np.ones(8))


def test_results_keep_the_spelling_of_an_input():
    mesh = Mesh(np.array(devices()[:4]).reshape(1, 4, 1), ("a", "b", "c"), (AxisType.Auto,) * 3)
    x = device_put(X.reshape(1, 64, 1), NamedSharding(mesh, P("a", "b", "c")))
    assert (x + 1).sharding == x.sharding
    one = device_put(X, NamedSharding(grid(shape=(1, 1)), P("x")))
    assert jit(lambda x: x * 2)(one).sharding == one.sharding
    assert jit(jnp.sum)(one).sharding == NamedSharding(grid(shape=(1, 1)), P())


def test_placements_without_a_mesh_beside_others():
    """XLA reads one notation in a program: a placement by tiles was taken for none, and the program for one of other parts."""
    tiles = [GSPMDSharding(devices()[:4], HloSharding.iota_tile([2, 2])), GSPMDSharding.get_replicated(devices()[:4]),
             GSPMDSharding(devices()[:4], HloSharding.iota_tile([2, 2], reshape_dims=[2, 2], transpose_perm=[1, 0]))]
    operands = [X, device_put(X, NamedSharding(grid(), P("x", "y"))), *[device_put(X, t) for t in tiles]]
    for a in operands:
        for b in operands:
            np.testing.assert_array_equal(jit(lambda a, b: a @ b)(a, b), X @ X)


def test_constants_keep_their_dtype_under_other_flags():
    """A program that was traced with the 64-bit types of its constants is lowered, compiled and run without them, and the other way round."""
    for n in (16, 4000):
        with flags.enable_x64(True):
            for const in (np.arange(n, dtype=np.int64), jnp.arange(n, dtype=np.int64)):
                f = jit(lambda x: lax.convert_element_type(const, np.float32) + x)
                for lowering in (True, False):
                    with flags.enable_x64(lowering):
                        lowered = f.lower(np.zeros(n, np.float32))
                    with flags.enable_x64(not lowering):
                        np.testing.assert_array_equal(lowered.compile()(np.zeros(n, np.float32)), np.arange(n))


LIKE = [(lambda: device_put(X, devices()[1]), True), (lambda: device_put(X, NamedSharding(grid(), P())), True),
        (lambda: device_put(X, NamedSharding(grid(), P("x"))), False)]


@pytest.mark.parametrize("make, whole", LIKE)
def test_arrays_like_another_lie_beside_it(make, whole):
    x = make()
    for like in (lax.full_like(x, 1), jnp.zeros_like(x), jnp.zeros_like(ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding))):
        assert like.sharding == x.sharding and like.committed
    other = lax.full_like(x, 1, shape=(3,))
    assert (other.sharding == x.sharding) is whole
    assert ShapeDtypeStruct.like(x).sharding == x.sharding and ShapeDtypeStruct.like(jnp.ones(3)).sharding is None


def test_results_that_numpy_computes_lie_with_their_operand():
    """Of functions whose result's shape depends on values."""
    x = device_put(X[0] % 3, devices()[1])
    for result in (jnp.nonzero(x)[0], jnp.unique(x), jnp.union1d(x, x), jnp.argwhere(x)):
        assert result.devices() == {devices()[1]} and result.committed


def test_device_put_gives_away_what_flags_say():
    pair = device_put((X, X), devices()[0])
    device_put(pair, devices()[1], donate=(True, False))
    assert [x.is_deleted() for x in pair] == [True, False]
    with pytest.raises(ValueError, match="may_alias and donate"):
        device_put((X, X), donate=(True, False), may_alias=(True, None))


def test_parts_cannot_be_gathered_from_traced_values():
    whole = NamedSharding(grid(), P("x"))
    with pytest.raises(UnexpectedTracerError, match="outside of the jitted function"):
        jit(lambda x: make_array_from_callback(x.shape, whole, lambda index: x[index]))(X)
    with pytest.raises(ValueError, match="holds traced values"):
        jit(lambda x: make_array_from_single_device_arrays(x.shape, whole, [x]))(X)
    with pytest.raises(ValueError, match="sequence of ints"):
        make_mesh(((4,), 2), ("x", "y"))


def test_equivalence_without_devices():
    mesh = grid().abstract_mesh
    assert NamedSharding(mesh, P("x")).is_equivalent_to(NamedSharding(mesh, P("x", None)), 2)
    assert not NamedSharding(mesh, P("x")).is_equivalent_to(NamedSharding(mesh, P("y")), 2)


# -- the mesh of a block, which pjit reads -----------------------------------------------------------------------------------

BLOCK = [
    ("nothing asked", {}, P()), ("whole results", dict(in_shardings=P("x"), out_shardings=None), P()),
    ("inputs only", dict(in_shardings=P("x")), P("x")), ("results only", dict(out_shardings=P("x")), P("x")),
]


@pytest.mark.parametrize("name, asked, spec", BLOCK, ids=[c[0] for c in BLOCK])
def test_pjit_runs_on_the_mesh_of_a_block(name, asked, spec):
    mesh = Mesh(np.array(devices()[:2]), ("x",))
    with flags.disallow_mesh_context_manager(True), pytest.raises(RuntimeError, match="set_mesh"), mesh:
        pass
    with mesh:
        out = pjit(lambda x: x * 2, **asked)(np.arange(8.0))
    assert out.sharding == NamedSharding(mesh, spec)
    np.testing.assert_array_equal(out, 2 * np.arange(8.0))
    assert len(jit(lambda x: x * 2)(np.arange(8.0)).devices()) == 1


def test_pjit_of_no_arguments_runs_on_the_mesh_of_a_block():
    mesh = Mesh(np.array(devices()[:2]), ("x",))
    with mesh:
        assert pjit(lambda: 1)().sharding == NamedSharding(mesh, P())


def test_pjit_refuses_arguments_on_other_devices_than_those_of_the_block():
    there = device_put(np.arange(8.0), devices()[3])
    with Mesh(np.array(devices()[:2]), ("x",)):
        with pytest.raises(ValueError, match=r"a mesh in use, .*on devices \[0, 1\]; argument x .* devices \[3\]"):
            pjit(lambda x: x)(there)


def test_placements_of_a_mapped_call_are_those_of_its_lanes():
    mesh = Mesh(np.array(devices()[:2]), ("x",))
    where = NamedSharding(mesh, P("x"))
    f = jit(lambda x, y: (x + y, x), in_shardings=where, out_shardings=where)
    z, w = vmap(f, in_axes=(None, 0), out_axes=(0, None))(np.arange(4.0), np.ones((5, 4)))
    assert z.sharding.is_equivalent_to(NamedSharding(mesh, P(None, "x")), 2) and w.sharding == where
    inner = jit(vmap(f, in_axes=(None, 0), out_axes=(0, None)))(np.arange(4.0), np.ones((5, 4)))
    np.testing.assert_array_equal(inner[0], z)


def test_cotangent_of_a_moved_array_goes_back():
    here, there = (NamedSharding(Mesh(np.array(devices()[i:i + 2]), ("x",)), P("x")) for i in (0, 2))
    x = device_put(np.arange(4.0), here)

    def loss(x):
        return jnp.sum(jit(lambda x: x * 3)(device_put(jit(lambda x: x ** 2)(x), there)))
    assert loss(x).devices() == there.device_set
    found = grad(loss)(x)
    assert found.sharding.is_equivalent_to(here, 1)
    np.testing.assert_array_equal(found, 6 * np.arange(4.0))


def test_compiled_program_tells_where_its_results_are():
    where = NamedSharding(Mesh(np.array(devices()[:2]), ("x",)), P("x"))
    info = jit(lambda x: x * 2).lower(device_put(np.arange(8), where)).compile().out_info
    assert (info.shape, info.sharding) == ((8,), where)


NAMED = [lambda x, place: jnp.zeros(8, device=place), lambda x, place: jnp.full(8, 2.0, device=place), lambda x, place: jnp.arange(8, device=place),
         lambda x, place: jnp.eye(8, device=place), lambda x, place: jnp.asarray(np.arange(8.0), device=place),
         lambda x, place: jnp.zeros_like(x, device=place), lambda x, place: jnp.astype(x, int, device=place), device_put]


@pytest.mark.parametrize("make", NAMED)
@pytest.mark.parametrize("wrap", [lambda f, x: f(x), lambda f, x: vmap(f)(x), lambda f, x: vmap(f, out_axes=1)(x), lambda f, x: jvp(f, (x,), (x,))[0]],
                         ids=["eager", "vmap", "vmap to axis 1", "jvp"])
def test_a_device_that_is_named_holds_the_values_under_eager_transformations(make, wrap):
    out = wrap(lambda x: make(x, devices()[2]), jnp.ones((8, 8)))
    assert out.sharding.device_set == {devices()[2]}


def test_values_that_are_mapped_over_are_spread_as_asked():
    """The mapped axis is whole, wherever it stands."""
    place = NamedSharding(grid(), P("x"))
    for axis, spec in ((0, P(None, "x")), (1, P("x", None))):
        out = vmap(lambda x: device_put(x, place), in_axes=axis, out_axes=axis)(X)
        assert out.sharding.is_equivalent_to(NamedSharding(grid(), spec), 2)
        np.testing.assert_array_equal(out, X)


@pytest.mark.parametrize("spec, gone", [(P(), True), (P("x"), False)])
def test_donated_arrays_of_which_each_device_gets_a_copy_are_gone(spec, gone):
    """Where each gets a part, the array stays; on both, the next call does as the first."""
    double = jit(lambda x: x * 2, in_shardings=NamedSharding(grid(), spec), donate_argnums=0)
    for _ in range(2):
        x = jit(lambda: jnp.arange(8.0))()
        np.testing.assert_array_equal(double(x), np.arange(8) * 2)
        assert x.is_deleted() is gone


def test_whether_copies_were_donated_is_told_of_each_call_for_itself(monkeypatch):
    """A call that consumes a copy is not repeated by the dispatcher, also where another thread's call, without one, ends in its middle."""
    place = NamedSharding(grid(), P())
    loaded = jit(lambda x: x * 2, in_shardings=place, donate_argnums=0).lower(jnp.arange(8.0)).compile()._executable.current
    plain, copied = device_put(jnp.arange(8.0), place), jit(lambda: jnp.arange(8.0))()
    mark, others = array.mark_donated, []

    def in_the_middle(arrays, name):
        monkeypatch.setattr(array, "mark_donated", mark)
        others.append(loaded.run([plain])[1])
        mark(arrays, name)
    monkeypatch.setattr(array, "mark_donated", in_the_middle)
    assert loaded.run([copied])[1] is False
    assert others == [True]


def test_results_are_named_by_the_mesh_that_is_set_where_the_program_names_it():
    x = device_put(np.arange(8, dtype=np.float32), NamedSharding(grid(), P(("x", "y"))))
    with set_mesh(Mesh(np.array(devices()[:4]), ("a",), (AxisType.Auto,))):
        assert jit(lambda x: lax.with_sharding_constraint(x * 2, P("a")))(x).sharding.spec == P("a")
        assert jit(lambda x: jnp.sin(x))(x).sharding.spec == P(("x", "y"))


@pytest.mark.parametrize("ways", [lambda f: f, jit])
def test_random_bits_lie_where_they_were_asked_for(ways):
    key = np.arange(4, dtype=np.uint32)
    with set_mesh(grid(AxisType.Explicit)):
        state, bits = ways(lambda key: lax.rng_bit_generator(key, (4, 8), out_sharding=P("x", "y")))(jnp.asarray(key))
        _, whole = lax.rng_bit_generator(jnp.asarray(key), (4, 8))
    assert (state.sharding.spec, bits.sharding.spec, whole.sharding.spec) == (P(None), P("x", "y"), P(None, None))
    np.testing.assert_array_equal(bits, whole)
