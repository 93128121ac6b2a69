"""Programs of steps on buffers: each step's effect, what is refused, and the collectives on four devices."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import thunky
from jax.sharding import PartitionSpec as P

X = jnp.arange(1.0, 17.0)


def run(fn, *initial, **options):
    """The contents of references with the contents ``initial`` after ``fn``."""
    refs = [jax.new_ref(jnp.asarray(x)) for x in initial]
    thunky.jit(fn, **options)(*refs)
    return [np.asarray(ref[...]).tolist() for ref in refs]


STEPS = {
    "memzero": (lambda a: thunky.memzero(a), [[1, 2]], [[0, 0]]),
    "memset keeps bits": (lambda a: thunky.memset(a, np.float32(1.0)), [np.int32([5, 6])], [[0x3F800000] * 2]),
    "copy": (thunky.copy, [[1, 2], [0, 0]], [[1, 2], [1, 2]]),
    "copy into another shape": (thunky.copy, [[1, 2, 3, 4], np.zeros((2, 2), np.int32)], [[1, 2, 3, 4], [[1, 2], [3, 4]]]),
    "copy into another dtype": (thunky.copy, [np.float32([1.5]), np.zeros(4, np.int8)], [[1.5], [0, 0, -64, 63]]),
    "copy between parts": (lambda a: thunky.copy(a.at[0:2], a.at[2:4]), [[1, 2, 3, 4]], [[1, 2, 1, 2]]),
    "one after the other": (lambda a, b: (thunky.copy(a, b), thunky.memzero(a), thunky.copy(a, b)), [[1], [2]], [[0], [0]]),
    "call_jax": (lambda a: a.swap(thunky.call_jax(jnp.add, a[...], 1)), [[1, 2]], [[2, 3]]),
    "cond": (lambda p, a: thunky.cond(p, lambda: thunky.memzero(a), lambda: None), [True, [7]], [True, [0]]),
    "cond of a false": (lambda p, a: thunky.cond(p, lambda: thunky.memzero(a), lambda: None), [False, [7]], [False, [7]]),
    "switch": (lambda i, a: thunky.switch(i, [lambda: None, lambda: thunky.memzero(a)]), [1, [7]], [1, [0]]),
    "switch out of range": (lambda i, a: thunky.switch(i, [lambda: None, lambda: thunky.memzero(a)]), [-1, [7]], [-1, [0]]),
    "while": (lambda n, go: thunky.while_loop(go, lambda: go.swap(n[...] < 10), lambda: n.swap(n[...] + 3)), [0, True], [12, False]),
    "while never": (lambda n, go: thunky.while_loop(go, lambda: go.swap(n[...] < 0), lambda: n.swap(n[...] + 3)), [0, True], [0, False]),
    "async": (lambda a: thunky.async_done(thunky.async_start(lambda: thunky.memzero(a), stream_kind="communication")), [[1]], [[0]]),
    "a program in a program": (lambda a: thunky.jit(thunky.memzero)(a), [[1]], [[0]]),
}


@pytest.mark.parametrize("name", STEPS)
def test_step(name):
    fn, before, after = STEPS[name]
    assert run(fn, *before) == after
    refs = [jax.new_ref(jnp.asarray(x)) for x in before]
    jax.jit(lambda: thunky.jit(fn)(*refs))()
    assert [np.asarray(ref[...]).tolist() for ref in refs] == after


def test_scratch_arrays_and_one_reference_twice():
    ty = jax.ShapeDtypeStruct((2,), jnp.int32)
    for shapes in (ty, [ty], {"spare": ty}):
        assert run(lambda a, b, spare: (thunky.copy(a, spare), thunky.copy(b, a), thunky.copy(spare, b)), [1, 2], [3, 4],
                   scratch_shapes=shapes) == [[3, 4], [1, 2]]
    ref = jax.new_ref(jnp.zeros(2))
    thunky.jit(lambda x, a, b: (thunky.copy(x, a), b.swap(b[...] + 1)))(jnp.ones(2), ref, ref)
    assert ref[...].tolist() == [2, 2]


def test_differentiated():
    def loss(x):
        out = jax.new_ref(jnp.zeros(3))
        thunky.jit(thunky.copy)(x * x, out)
        return out[...].sum()
    assert jax.grad(loss)(jnp.arange(3.0)).tolist() == [0, 2, 4]


COLLECTIVES = {
    "sum": (thunky.all_reduce, {}, X.reshape(4, 4).sum(0)),
    "product": (thunky.all_reduce, {"reduction": "prod"}, X.reshape(4, 4).prod(0)),
    "min": (thunky.all_reduce, {"reduction": "min"}, X[:4]),
    "max": (thunky.all_reduce, {"reduction": "max"}, X[12:]),
    "gather": (thunky.all_gather, {}, X.reshape(4, 4)),
    "to all": (thunky.all_to_all, {}, X.reshape(4, 4).T.reshape(-1)),
    "permute": (thunky.collective_permute, {}, jnp.concatenate([X[4:8], X[:4], jnp.zeros(8)])),
    "scatter sum": (thunky.reduce_scatter, {}, X.reshape(4, 4).sum(0)),
    "scatter product": (thunky.reduce_scatter, {"reduction": "prod"}, X.reshape(4, 4).prod(0)),
    "scatter max": (thunky.reduce_scatter, {"reduction": "max"}, X[12:]),
    "groups": (thunky.all_reduce, {"axis_index_groups": [[0, 1], [2, 3]]}, jnp.concatenate([X[:4] + X[4:8]] * 2 + [X[8:12] + X[12:]] * 2)),
}


@pytest.mark.skipif(len(jax.devices()) < 4, reason="needs 4 devices")
@pytest.mark.parametrize("group", [False, True], ids=["alone", "in a group"])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective(name, group):
    step, options, want = COLLECTIVES[name]
    shape = {thunky.all_gather: (4, 4), thunky.reduce_scatter: (1,)}.get(step, (4,))

    def program(x):
        out = jax.new_ref(jnp.zeros(shape))

        def one(a, b):
            def steps():
                return step(a, b, "i", **options)
            thunky.collective_group(steps) if group else steps()
        thunky.jit(one)(x, out)
        return out[...]
    mesh = jax.sharding.Mesh(jax.devices()[:4], "i")
    got = jax.shard_map(program, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False)(X)
    want = jnp.concatenate([want] * 4) if step in (thunky.all_reduce, thunky.all_gather) and name != "groups" else want
    np.testing.assert_array_equal(got, want)


@pytest.mark.skipif(len(jax.devices()) < 4, reason="needs 4 devices")
def test_parts_to_all():
    def program(x):
        outs = [jax.new_ref(jnp.zeros(1)) for _ in range(4)]
        thunky.jit(lambda *a: thunky.all_to_all(a[:4], a[4:], "i", has_split_dimension=False))(*jnp.split(x, 4), *outs)
        return jnp.concatenate([out[...] for out in outs])
    mesh = jax.sharding.Mesh(jax.devices()[:4], "i")
    got = jax.shard_map(program, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False)(X)
    np.testing.assert_array_equal(got, X.reshape(4, 4).T.reshape(-1))


REFUSED = {
    "array changed": (lambda: thunky.jit(thunky.copy)(X, X), TypeError, "copy changes argument 1, which is an array of type float32"),
    "operand is an array": (lambda: thunky.copy(X, jax.new_ref(X)), TypeError, "got float32"),
    "sizes": (lambda: thunky.copy(jax.new_ref(X), jax.new_ref(X[:3])), ValueError, "64 bytes and dst of type float32.3. has 12"),
    "value of memset": (lambda: thunky.memset(jax.new_ref(X), 2), TypeError, "NumPy scalar"),
    "width of memset": (lambda: thunky.memset(jax.new_ref(X), np.float64(2)), NotImplementedError, "value has elements of dtype float64"),
    "width of a buffer": (lambda: thunky.memset(jax.new_ref(jnp.int8(2)), np.int32(2)), NotImplementedError, "buf has elements of dtype int8"),
    "what decides": (lambda: thunky.cond(jax.new_ref(1.0), lambda: None, lambda: None), ValueError, "bool.. or int32.., got float32"),
    "reduction": (lambda: thunky.all_reduce(jax.new_ref(X), jax.new_ref(X), "i", reduction="mean"), ValueError, "one of .*got 'mean'"),
    "no axis": (lambda: thunky.all_reduce(jax.new_ref(X), jax.new_ref(X), "i"), NameError, "unbound axis name: i"),
    "sizes of a collective": (lambda: thunky.all_reduce(jax.new_ref(X), jax.new_ref(X[:3]), "i"), ValueError, "come 16 elements"),
    "no collective in a group": (lambda: thunky.collective_group(lambda: thunky.memzero(jax.new_ref(X))), ValueError, "no collective"),
    "stream": (lambda: thunky.async_start(lambda: None, stream_kind="main"), ValueError, "got 'main'"),
    "token": (lambda: thunky.async_done(3), TypeError, "got 3 of type int"),
    "ptx": (lambda: thunky.ptx_kernel(written=[], kernel_name="k", ptx=""), NotImplementedError, "kernel 'k'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()
    run(lambda a: thunky.memzero(a), [1])  # a group that failed is over
