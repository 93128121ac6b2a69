"""Kinds of memory are part of types: of arrays, through operations, control flow, derivatives, calls, and in exported programs."""
import pickle
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import export, lax
from jax.ad_checkpoint import checkpoint_name
from jax.memory import Space
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P, SingleDeviceSharding

X = np.arange(8, dtype=np.float32)


def on_host(x=X):
    return jax.device_put(jnp.asarray(x), Space.Host)


def host_sharding():
    return SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")


def to_host(x):
    return jax.device_put(x, Space.Host)


def to_device(x):
    return jax.device_put(x, Space.Device)


def shown(f, *args):
    return [v.aval.str_short(short_dtypes=True) for v in jax.make_jaxpr(f)(*args).jaxpr.outvars]


def test_types_of_arrays_say_where_they_are():
    assert jax.typeof(jnp.ones(3)).memory_space is Space.Device
    for x in (on_host(), jax.device_put(X, host_sharding()),
              jax.make_array_from_callback((8,), host_sharding(), lambda index: X[index])):
        assert jax.typeof(x).memory_space is Space.Host
        assert str(jax.typeof(x)) == "float32<host>[8]"
        assert x.sharding.memory_kind == "pinned_host"
    assert jax.typeof(jax.device_put(on_host(), Space.Device)) == jax.typeof(jnp.asarray(X))
    assert pickle.loads(pickle.dumps(jax.typeof(on_host()))) == jax.typeof(on_host())


OPERATIONS = [
    (lambda a: a * 2, "f32<host>[8]"), (lambda a: a + jnp.float32(1), "f32<host>[8]"), (jnp.sum, "f32<host>[]"), (lambda a: a[2:4], "f32<host>[2]"),
    (lambda a: a.astype(int), "i32<host>[8]"), (lambda a: a.reshape(2, 4), "f32<host>[2,4]"), (lambda a: a @ a, "f32<host>[]"),
    (lambda a: jax.vmap(lambda b: b * 2)(a), "f32<host>[8]"), (lambda a: jax.jit(lambda b: b)(a), "f32<host>[8]"),
    (lambda a: lax.scan(lambda c, b: (c, b), 0., a)[1], "f32<host>[8]"), (lambda a: lax.fori_loop(0, 2, lambda i, c: c + 1, a), "f32<host>[8]"),
    (lambda a: lax.cond(True, lambda b: b, lambda b: b * 2, a), "f32<host>[8]"), (lambda a: to_device(a) + X, "f32[8]"),
    (lambda a: jax.grad(lambda b: (to_device(b) ** 2).sum())(a), "f32<host>[8]"), (jnp.zeros_like, "f32[8]")]


@pytest.mark.parametrize("case", range(len(OPERATIONS)))
def test_results_are_where_the_operands_are(case):
    f, wanted = OPERATIONS[case]
    assert shown(f, on_host()) == [wanted]
    got = jax.jit(f)(on_host())
    assert jax.typeof(got).str_short(short_dtypes=True) == wanted
    assert got.sharding.memory_kind == ("pinned_host" if "host" in wanted else "device")
    np.testing.assert_allclose(got, jax.jit(f)(jnp.asarray(X)))


@pytest.mark.parametrize("f", [lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: jnp.concatenate([a, b])])
def test_operands_in_two_memories_are_refused(f):
    with pytest.raises(ValueError, match=r"the operands lie in different kinds of memory, Device, Host; .*f32|float32<host>\[8\]"):
        f(on_host(), jnp.asarray(X))


def test_loops_and_branches_keep_the_memory():
    with pytest.raises(TypeError, match=r"float32<host>\[8\].*kinds of memory do not match"):
        lax.scan(lambda c, _: (X + 0 * to_device(c), None), on_host(), None, length=2)
    with pytest.raises(TypeError, match=r"returns float32\[8\], true_fun returns float32<host>\[8\]"):
        lax.cond(True, lambda a, b: a, lambda a, b: b, on_host(), jnp.asarray(X))


def test_offloaded_residuals_are_on_the_host():
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["y"], offload_src="device", offload_dst="pinned_host")

    def body(c, _):
        return jnp.sin(checkpoint_name(jnp.sin(c), "y")) * c, None

    def loss(x, step=body):
        return lax.scan(step, x, None, length=3)[0].sum()
    offloaded = jax.grad(lambda x: loss(x, jax.checkpoint(body, policy=policy)))
    assert "f32<host>[3,8]" in str(jax.make_jaxpr(offloaded)(X))
    np.testing.assert_allclose(offloaded(X), jax.grad(loss)(X), rtol=1e-5)


def test_modules_say_which_memory():
    text = jax.jit(lambda a: a * 2).lower(on_host()).as_text()
    assert len(re.findall('mhlo.memory_kind = "pinned_host"', text)) == 2
    text = jax.jit(lambda a: a * 2, out_shardings=host_sharding()).lower(X).as_text()
    assert len(re.findall('mhlo.memory_kind = "pinned_host"', text)) == 1
    assert "annotate_device_placement" in jax.jit(lambda a: to_host(a) * 2).trace(X).lower(lowering_platforms=("tpu",)).as_text()
    assert "annotate_device_placement" not in jax.jit(lambda a: to_device(a) * 2).trace(X).lower(lowering_platforms=("tpu",)).as_text()


def test_results_are_moved_to_the_memory_that_is_asked_for():
    """XLA's compiler for GPUs refuses a result of the host's memory that shall be in the device's, unless it is moved."""
    def moves(f, x, **options):
        return jax.jit(f, **options).trace(x).lower(lowering_platforms=("cuda",)).as_text().count("annotate_device_placement")
    device = SingleDeviceSharding(jax.devices()[0])
    assert moves(lambda a: a + 1, on_host(), out_shardings=device) == moves(lambda a: a + 1, X, out_shardings=host_sharding()) == 1
    assert moves(lambda a: a + 1, on_host()) == moves(lambda a: a + 1, X, out_shardings=device) == 0


def test_shardings_of_jit_move_results():
    out = jax.jit(lambda a: a + 1, out_shardings=host_sharding())(X)
    assert jax.typeof(out).memory_space is Space.Host and out.sharding.memory_kind == "pinned_host"
    back = jax.jit(lambda a: a + 1, out_shardings=SingleDeviceSharding(jax.devices()[0]))(out)
    assert jax.typeof(back).memory_space is Space.Device and back.sharding.memory_kind == "device"
    with pytest.raises(ValueError, match="in another kind of memory than where it lies"):
        jax.jit(lambda a: a + 1, in_shardings=host_sharding())(jnp.asarray(X))


@pytest.mark.skipif(len(jax.devices()) < 2, reason="needs two devices")
def test_results_split_as_their_types_say_stay_on_the_host():
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,), devices=jax.devices()[:2])
    x = jax.device_put(X, NamedSharding(mesh, P("x")))
    out = jax.jit(to_host)(x)
    for kept in (out, jax.jit(lambda a: a + 1)(out)):
        assert kept.sharding.memory_kind == "pinned_host" and str(jax.typeof(kept)) == "float32<host>[8@x]"


def test_donation_is_for_results_in_the_same_memory():
    x = on_host()
    np.testing.assert_array_equal(jax.jit(lambda a: a + 1, donate_argnums=0)(x), X + 1)
    assert x.is_deleted()
    with pytest.warns(UserWarning, match="donated"):
        np.testing.assert_array_equal(jax.jit(to_device, donate_argnums=0)(on_host()), X)


def test_exported_programs_say_it():
    exported = export.export(jax.jit(lambda a: a * 2))(on_host())
    loaded = export.deserialize(exported.serialize())
    nowhere = AbstractMesh((), ())
    for program in (exported, loaded):
        assert [a.memory_space for a in (*program.in_avals, *program.out_avals)] == [Space.Host] * 2
        assert program.in_shardings_jax(nowhere)[0].memory_kind == "pinned_host"
        assert jax.typeof(program.call(on_host())).memory_space is Space.Host
    out = export.export(jax.jit(lambda a: a * 2, out_shardings=host_sharding()))(X)
    assert out.out_avals[0].memory_space is Space.Host
    assert out.out_shardings_jax(nowhere)[0].memory_kind == "pinned_host"


def test_compute_on_puts_results_where_it_is_told():
    from jax.experimental.compute_on import compute_on
    f = compute_on(lambda a: a * 2, compute_type="device_host", out_memory_spaces=Space.Host)
    assert shown(f, X) == ["f32<host>[8]"]


def test_fused_works_across_memories_and_puts_results_where_it_is_told():
    from jax.experimental.fused import fused
    f = fused(out_spaces=(Space.Host, Space.Device))(lambda a, b: (a + b, a * b))
    host = jax.device_put(X, Space.Host)
    for run in (f, jax.jit(f), jax.vmap(f)):
        total, product = run(host, X)
        assert (str(jax.typeof(total)), str(jax.typeof(product))) == ("float32<host>[8]", "float32[8]")
        assert np.array_equal(total, 2 * np.asarray(X)) and np.array_equal(product, np.asarray(X) ** 2)
    assert np.array_equal(jax.jit(jax.grad(lambda a, b: f(a, b)[1].sum()))(host, X), X)
    assert shown(lambda a, b: f(a, b)[0], host, X) == ["f32<host>[8]"]
    assert np.array_equal(jax.jit(lambda a, b: f(a, b)[0])(host, X), 2 * np.asarray(X))
    assert np.array_equal(jax.grad(lambda a, b: jax.device_put(f(a, b)[0], Space.Device).sum(), argnums=1)(host, X), np.ones(8))
    assert np.array_equal(jax.jvp(f, (host, X), (host, X))[1][1], 2 * np.asarray(X) ** 2)


def test_results_are_described_with_the_placement_asked_for():
    f = jax.jit(lambda a: {"a": a, "b": a}, out_shardings={"a": host_sharding(), "b": None})
    for described in (jax.eval_shape(f, X), f.eval_shape(X), f.trace(X).out_info, f.lower(X).out_info):
        assert described["a"].sharding == host_sharding() and described["b"].sharding is None


def test_jaxprs_show_what_calls_ask_for():
    text = str(jax.make_jaxpr(jax.jit(lambda a: a * 2, out_shardings=host_sharding(), donate_argnums=0))(X))
    assert f"out_shardings=({host_sharding()!r},)" in text and "donated_invars=(True,)" in text and "in_shardings" not in text
