"""Mutable references through the public API: parts, control flow, derivatives and batches of both, generators with state.

The law at the end: random programs on references agree with an interpreter that works in place on NumPy arrays, however
they are run.
"""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jax
import jax.ad
import jax.numpy as jnp
from jax import lax
from jax.experimental import random as stateful
from jax.test_util import check_grads
from jax_numpy_api.numpy import promotion

pytestmark = pytest.mark.any_code

X = jnp.arange(3.0) + 1


def close(a, b, **kw):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), **{"rtol": 1e-5, "atol": 1e-5, **kw})


# -- parts -------------------------------------------------------------------------------------------------------------

I, A = np.int32(1), np.array([0, 2, 2])
PARTS = {
    "int": 1, "negative": -1, "slice": slice(1, 3), "step": (slice(None), slice(None, None, 2)), "dots": (..., 0),
    "traced int": (I, slice(None)), "array": (slice(None), A), "two arrays": (np.array([0, 1, 1]), A), "matrix": A[:2, None] // 2,
    "int and array": (0, A), "apart": (0, slice(None), np.array([1, 2])), "ds": (slice(None), jax.ds(1, 2)),
    "traced ds": (slice(None), jax.ds(I, 2)), "traced ds with stride": (slice(None), slice(None), jax.ds(np.int32(0), 2, 2)),
    "two ds": (jax.ds(I, 1), jax.ds(np.int32(1), 2)), "ds and int": (jax.ds(I, 1), 0),
}
REPEATED = ("array", "two arrays", "int and array")  # they name an element twice, and it may keep either value


def plain(index):
    """The index in NumPy's terms."""
    if isinstance(index, tuple):
        return tuple(map(plain, index))
    if isinstance(index, type(jax.ds(0, 1))):
        return slice(int(index.start), int(index.start) + index.size * index.stride, index.stride)
    return index


def traced(index):
    """Operands of the index as arrays, so that `jit` does not see their values."""
    if isinstance(index, tuple):
        return tuple(map(traced, index))
    return jnp.asarray(index) if isinstance(index, (np.ndarray, np.integer)) else index


@pytest.mark.parametrize("mode", ["eager", "jit", "vmap", "jvp"])
@pytest.mark.parametrize("name", PARTS)
def test_parts_are_numpys(name, mode):
    value = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected, index = value.copy(), PARTS[name]
    part = expected[plain(index)].copy()
    new = np.arange(part.size, dtype=np.float32).reshape(part.shape) + 100
    if name not in REPEATED:
        expected[plain(index)] = new
    np.add.at(expected, plain(index), new)

    def f(value, new):
        r = jax.new_ref(value)
        before = swapped = r[traced(index)]
        if name not in REPEATED:
            swapped = jax.ref.swap(r, traced(index), new)
        jax.ref.addupdate(r, traced(index), new)
        return before, swapped, r[...]
    run = {"eager": f, "jit": jax.jit(f), "vmap": lambda v, n: [x[1] for x in jax.vmap(f)(jnp.stack([v, v]), jnp.stack([n, n]))],
           "jvp": lambda v, n: jax.jvp(f, (v, n), (v, n))[1]}[mode]  # f is linear, so the derivative along (v, n) is its value
    got = run(jnp.asarray(value), jnp.asarray(new))
    close(got[0], part)
    close(got[1], part)
    close(got[2], expected)


@pytest.mark.parametrize("index, element", [((7,), (1, slice(None))), ((-9, slice(0, 2)), (0, slice(0, 2))), ((0, 4), (0, 2)), ((jax.ds(1, 1), -8), (slice(1, 2), 0))], ids=str)
def test_numbers_beyond_the_end_name_the_last_element(index, element):
    """Where they are known only when the program runs; what is read is what is written."""
    def f(value, index):
        r = jax.new_ref(value)
        jax.ref.addupdate(r, index, jnp.ones_like(r[index]))
        return jax.ref.swap(r, index, r[index] * 10), r[...]
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    part = value[element] + 1
    whole = value.copy()
    whole[element] = part * 10
    positions = tuple(i for i in index if isinstance(i, int))
    for run in (jax.jit, lambda g: lambda v, i: [x[0] for x in jax.vmap(g, (None, 0))(v, i[None])]):
        def g(v, i):
            given = iter(i)
            return f(v, tuple(next(given) if isinstance(e, int) else e for e in index))
        got = run(g)(value, np.array(positions))
        close(got[0], part)
        close(got[1], whole)


def test_views_of_parts():
    r = jax.new_ref(jnp.arange(12.0).reshape(3, 4))
    view = r.at[1:].at[:, 1]
    assert view.shape == (2,) and view.dtype == np.float32
    close(view[...], [5, 9])
    view[0] = 50.0
    r.at[0][2] += 1.0
    view.addupdate(jnp.ones(2))
    close(r[...], [[0, 1, 3, 3], [4, 51, 6, 7], [8, 10, 10, 11]])
    with pytest.raises(ValueError, match="cannot be stored in a"):
        view[0] = 1


def test_each_lane_has_its_own_index():
    def f(row, i, v):
        r = jax.new_ref(row)
        r[i] = v
        r[jax.ds(i, 2)] += jnp.ones(2)
        return r[...], r[i]
    rows, where = jnp.zeros((3, 4)), jnp.array([0, 1, 2])
    out, read = jax.vmap(f)(rows, where, X)
    expected = np.zeros((3, 4))
    for k in range(3):
        expected[k, k] = X[k]
        expected[k, k:k + 2] += 1
    close(out, expected)
    close(read, X + 1)


# -- control flow --------------------------------------------------------------------------------------------------------

def chain(x):
    r = jax.new_ref(x)

    def body(i, c):
        r[i] = jnp.sin(r[i]) * c
        r[...] *= 1.5
        return c + r[0]
    c = lax.fori_loop(0, 3, body, 1.0)
    return c * r[...].sum()


def mixture(x):
    """References through a jitted function in a branch in a loop."""
    r = jax.new_ref(x)

    @jax.jit
    def update(r, v):
        r[0] += v
        return r[1]

    def body(c, v):
        y = lax.cond(v > 1.5, lambda: update(r, v), lambda: r[2] * v)
        return c + y, y
    c, ys = lax.scan(body, 0.0, x)
    return c + (r[...] ** 2).sum() + (ys * x).sum()


def rows(x):
    """A reference as what is scanned over, and one that counts."""
    r, i, out = jax.new_ref(x), jax.new_ref(0), jax.new_ref(jnp.zeros(3))

    def body(c, row):
        row[...] = row[...] * c
        out[i[...]] = row[...] ** 2
        i[...] += 1
        return c + row[...], None
    lax.scan(body, 1.0, r)
    return out[...].sum() + r[...].sum()


def checked(x):
    r = jax.new_ref(x)

    def body(_, v):
        @jax.checkpoint
        def step(v):
            q = jax.new_ref(v)
            q[...] = jnp.sin(q[...])
            r[1] += q[...] * r[0]
        step(v)
        return None, r[1]
    return lax.scan(body, None, x)[1].sum()


@pytest.mark.parametrize("f", [chain, mixture, rows, checked], ids=lambda f: f.__name__)
def test_loops_on_references_under_every_transformation(f):
    value, grads = f(X), jax.grad(f)(X)
    close(jax.jit(f)(X), value)
    close(jax.jit(jax.grad(f))(X), grads)
    close(jax.grad(jax.jit(f))(X), grads)
    close(jax.grad(jax.checkpoint(f))(X), grads)
    close(jax.jvp(f, (X,), (X,))[1], grads @ X)
    close(jax.linearize(f, X)[1](X), grads @ X)
    both = jnp.stack([X, X / 2])
    close(jax.vmap(f)(both), [value, f(X / 2)])
    close(jax.vmap(jax.grad(f))(both)[0], grads)
    close(jax.grad(lambda b: jax.vmap(f)(b).sum())(both)[0], grads)
    close(jax.jacfwd(jax.grad(f))(X), jax.jacrev(jax.grad(f))(X), rtol=1e-4)
    check_grads(f, (X / 3,), 2, atol=2e-2, rtol=2e-2)


def test_eager_loops_change_a_reference():
    r = jax.new_ref(jnp.zeros(3))
    add = jax.ref.addupdate
    lax.fori_loop(0, 3, lambda i, c: (add(r, i, 1.0), c)[1], 0)
    close(r[...], [1, 1, 1])
    lax.while_loop(lambda i: r[0] < 3.5, lambda i: (add(r, 0, 1.0), i + 1)[1], 0)
    close(r[...], [4, 1, 1])
    lax.cond(True, lambda: jax.ref.set(r, 2, 9.0), lambda: None)
    lax.switch(0, [lambda: jax.ref.set(r, 1, 8.0), lambda: None])
    close(lax.map(lambda v: (add(r, 0, v), r[0])[1], X), [5, 7, 10])
    close(r[...], [10, 8, 9])
    lax.scan(lambda c, row: (c + jax.ref.swap(row, ..., c), None), 0.0, r)
    close(r[...], [0, 10, 18])


def test_loops_without_jit():
    r = jax.new_ref(jnp.zeros(3))
    with jax.disable_jit():
        lax.fori_loop(0, 3, lambda i, c: (jax.ref.addupdate(r, i, 1.0), c)[1], 0)
        lax.scan(lambda c, row: (c + jax.ref.swap(row, ..., c), None), 0.0, r)
    close(r[...], [0, 1, 2])


def test_the_memory_of_a_reference_is_used_again():
    """It is changed in place, unless somebody else has the array."""
    x = jnp.zeros(1 << 12)
    r = jax.new_ref(x)
    step = jax.jit(lambda r: jax.ref.addupdate(r, 3, 1.0))
    step(r)
    place = r.unsafe_buffer_pointer()
    step(r)
    assert r.unsafe_buffer_pointer() == place
    read, view = r[...], np.asarray(r[...])
    step(r)
    assert r.unsafe_buffer_pointer() != place
    assert (x[3], read[3], view[3], r[3]) == (0, 2, 2, 3)
    jax.jit(lambda r, x: jax.ref.set(r, ..., x))(r, x)
    step(r)
    assert (x[3], r[3]) == (0, 1)


def test_one_program_for_all_calls():
    traces = []

    @jax.jit
    def step(r):
        traces.append(None)
        lax.fori_loop(0, 3, lambda i, c: (jax.ref.addupdate(r, i, 1.0), c)[1], 0)
    r = jax.new_ref(X)
    for _ in range(4):
        step(r)
    close(r[...], X + 4)
    assert len(traces) == 1


def test_a_differentiated_function_may_count():
    r = jax.new_ref(jnp.zeros(3, jnp.int32))
    f = lambda x: lax.scan(lambda c, w: (jax.ref.addupdate(r, 0, 1), (c + w * w, None))[1], 0.0, x)[0]
    close(jax.grad(f)(X), 2 * X)
    close(jax.jit(jax.grad(f))(X), 2 * X)
    close(r[...], [6, 0, 0])


def test_exported_programs_have_no_references():
    exported = jax.export.export(jax.jit(mixture))(X)
    close(exported.call(X), mixture(X))


def test_a_carry_or_a_branch_cannot_return_a_reference():
    r = jax.new_ref(1.0)
    for f in (lambda: lax.scan(lambda c, _: (c, None), r, None, 3), lambda: lax.cond(True, lambda: r, lambda: r),
              lambda: lax.scan(lambda c, x: (c, jax.new_ref(x)), 0.0, X)):
        with pytest.raises(ValueError, match="references cannot be returned"):
            f()


# -- derivatives that go through references of the caller --------------------------------------------------------------------

@jax.custom_vjp
def logged(ref, y):
    return y


logged.defvjp(lambda ref, y: (y, ref), lambda ref, ct: (ref.addupdate(ct), (None, ct))[1])


def network(x, log):
    return lax.scan(lambda c, _: (logged(log, jnp.sin(c) * 2), None), x, None, 3)[0].sum()


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint], ids=["eager", "jit", "checkpoint"])
def test_the_backward_pass_of_a_loop_logs(wrap):
    seen = []
    for g in (jax.grad(wrap(network)), jax.jit(jax.grad(wrap(network)))):
        log = jax.new_ref(jnp.zeros(3))
        g(X, log)
        seen.append(log[...])
    h = [X]
    for _ in range(3):
        h.append(2 * jnp.sin(h[-1]))
    cts = [jnp.ones(3)]
    for v in h[-2:0:-1]:
        cts.append(cts[-1] * 2 * jnp.cos(v))
    close(seen[0], sum(cts))
    close(seen[1], sum(cts))
    logs = jax.new_ref(jnp.zeros((2, 3)))
    jax.vmap(jax.grad(wrap(network)))(jnp.stack([X, X]), logs)
    close(logs[...], jnp.stack([sum(cts)] * 2))


def test_gradients_accumulate_in_a_loop():
    def total(x):
        sums = jax.new_ref(jnp.zeros(3))

        def micro(_, v):
            _, pull = jax.vjp(lambda w: (w ** 2 * v).sum(), x)
            pull.with_refs(sums)(1.0)
            return None, None
        lax.scan(micro, None, jnp.arange(4.0))
        return jax.freeze(sums)
    close(total(X), 12 * X)
    close(jax.jit(total)(X), 12 * X)


Y, K = jnp.arange(24.0).reshape(2, 3, 4), jnp.array([[0, 2], [1, 1]])


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("fun", [
    lambda y: y[:, 1:3, ::2], lambda y: y[1], lambda y: y[:, K], lambda y: y[K % 2, :, K], lambda y: y[:, K, K], lambda y: y[..., K] ** 2,
    lambda y: jax.vmap(lambda row: row[K])(y), lambda y: y[:, jnp.array([-9, 1, 7])], lambda y: lax.dynamic_slice(y, (1, 2, 3), (1, 2, 3)),
    lambda y: jax.jit(lambda y, i: y[:, i] ** 2)(y, 1)],
    ids=["slices", "row", "columns", "apart", "together", "last", "mapped", "beyond", "dynamic", "call"])
def test_the_gradient_of_a_part_is_added_to_that_part(fun, jitted):
    """No array of the whole shape is made for it, and what is read twice or beyond the bounds counts as in the gradient."""
    fun = jax.jit(fun) if jitted else fun
    out, pull = jax.vjp(fun, Y)
    ct = jnp.arange(float(out.size)).reshape(out.shape)
    total = jax.new_ref(Y)
    pull.with_refs(total)(ct)
    close(total[...], Y + pull(ct)[0])
    text = str(jax.make_jaxpr(lambda ct: pull.with_refs(total)(ct))(ct))
    assert "+=" in text and "scatter" not in text and "pad" not in text and "dynamic_update_slice" not in text


def test_the_gradients_of_a_part_and_of_the_whole_are_added_up():
    total = jax.new_ref(jnp.zeros(3))
    _, pull = jax.vjp(lambda x: (x[1:], x * x, x[0]), X)
    pull.with_refs(total)((jnp.ones(2), jnp.ones(3), 1.0))
    close(total[...], 1 + 2 * X)


# -- several devices -----------------------------------------------------------------------------------------------------------

def test_references_to_and_on_parts():
    mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4])
    spec = jax.sharding.PartitionSpec("x")
    placed = jax.device_put(jnp.arange(8.0), jax.sharding.NamedSharding(mesh, spec))
    r = jax.new_ref(placed)
    double = jax.jit(lambda r: jax.ref.set(r, ..., r[...] * 2))
    double(r)
    double(r)
    close(r[...], jnp.arange(8.0) * 4)
    assert r.sharding == placed.sharding

    def body(x):
        part = jax.new_ref(x)
        lax.fori_loop(0, 2, lambda i, c: (jax.ref.addupdate(part, i, 1.0), c)[1], 0)
        return part[...] * lax.psum(1.0, "x")
    whole = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)
    close(jax.jit(whole)(placed), (jnp.arange(8.0) + 1) * 4)
    close(jax.grad(lambda x: whole(x).sum())(placed), jnp.full(8, 4.0))


# -- a generator with state ----------------------------------------------------------------------------------------------------

def test_a_generator_uses_each_key_once():
    rng, key = stateful.stateful_rng(0), jax.random.key(0)
    fold = lambda n: jax.random.fold_in(key, n)
    assert rng.random() == jax.random.uniform(fold(0))
    draw = jax.jit(rng.normal)
    close(draw(2.0, 5.0), jax.random.normal(fold(1)) * 5 + 2)
    close(draw(0.0, 1.0), jax.random.normal(fold(2)))
    np.testing.assert_array_equal(rng.integers(2, 50, 3), jax.random.randint(fold(3), 3, 2, 50))
    close(rng.uniform(jnp.zeros(3), 2), jax.random.uniform(fold(4), 3) * 2)
    np.testing.assert_array_equal(jax.random.key_data(rng.key(2)), jax.random.key_data(jax.random.split(fold(5), 2)))
    children = rng.spawn(2)
    close(children[1].random(), jax.random.uniform(jax.random.fold_in(jax.random.split(fold(6), 2)[1], 0)))
    many = rng.split(3)
    rolls = jax.vmap(lambda r, x: x + r.random())(many, X)
    close(rolls, X + jax.vmap(lambda k: jax.random.uniform(jax.random.fold_in(k, 0)))(jax.random.split(fold(7), 3)))
    assert int(rng._counter[...]) == 8
    assert repr(rng).startswith("StatefulPRNG(_base_key=")


def test_a_generator_in_a_loop_and_its_errors():
    rng = stateful.stateful_rng(3)
    one = lax.scan(lambda c, _: (c, rng.random()), None, None, 4)[1]
    close(one, [stateful_draw(3, n) for n in range(4)])
    assert len(set(np.asarray(one).tolist())) == 4
    assert stateful.stateful_rng().random() != stateful.stateful_rng().random()
    with pytest.raises(TypeError, match="stateful_rng needs a seed"):
        jax.jit(lambda: stateful.stateful_rng().random())()
    with pytest.raises(ValueError, match="must not be negative"):
        rng.spawn(-1)


def stateful_draw(seed, n):
    return jax.random.uniform(jax.random.fold_in(jax.random.key(seed), n))


# -- the law -------------------------------------------------------------------------------------------------------------

N = 4
_number = st.integers(-3, 3).map(float)
_place = st.integers(0, N - 1)
_part = st.one_of(_place, st.just(...), st.tuples(_place, _place).map(lambda p: slice(min(p), max(p) + 1)),
                  st.lists(_place, min_size=1, max_size=3, unique=True).map(tuple))
_plain = st.tuples(st.sampled_from(["set", "add", "scale", "copy", "swap"]), st.integers(0, 1), _part, _number)
_ops = st.recursive(
    _plain, lambda inner: st.tuples(st.sampled_from(["loop", "branch", "jit"]), st.integers(0, 3),
                                    st.lists(inner, min_size=1, max_size=3), _number), max_leaves=6)
_programs = st.lists(_ops, min_size=1, max_size=5)


def run_in_place(program, a, b):
    """The meaning of a program: NumPy arrays that change."""
    refs = a.copy(), b.copy()

    def step(op, i):
        kind, which, where, number = op
        if kind in ("loop", "branch", "jit"):
            for k in range(which if kind == "loop" else 1 if kind == "jit" or number > 0 else 0):
                for inner in where:
                    step(inner, k if kind == "loop" else i)
            return
        r, other = refs[which], refs[1 - which]
        where = list(where) if isinstance(where, tuple) else where
        part = r[where]
        if kind == "set":
            r[where] = np.full(np.shape(part), number + i, np.float32)
        elif kind == "add":
            r[where] += other[where] * number
        elif kind == "scale":
            r[where] = part * np.float32(0.5) + i
        elif kind == "copy":
            r[where] = other[where]
        else:
            other[where], r[where] = np.array(part), np.array(other[where])
    for op in program:
        step(op, 0)
    return refs


def run_on_references(program, a, b):
    def step(op, refs, i):
        kind, which, where, number = op
        if kind == "loop":
            lax.fori_loop(0, which, lambda k, c: (steps(where, refs, k), c)[1], 0)
        elif kind == "branch":
            lax.cond(number > 0, lambda: steps(where, refs, i), lambda: None)
        elif kind == "jit":
            jax.jit(lambda refs, i: steps(where, refs, i))(refs, i)
        else:
            change(kind, refs[which], refs[1 - which], where, number, i)

    def change(kind, r, other, where, number, i):
        where = jnp.array(where) if isinstance(where, tuple) else where
        if kind == "set":
            r[where] = jnp.full_like(r[where], number + i)
        elif kind == "add":
            jax.ref.addupdate(r, where, other[where] * number)
        elif kind == "scale":
            r[where] = r[where] * 0.5 + i
        elif kind == "copy":
            r[where] = other[where]
        else:
            r[where] = jax.ref.swap(other, where, r[where])

    def steps(ops, refs, i):
        for op in ops:
            step(op, refs, i)
    refs = jax.new_ref(a), jax.new_ref(b)
    steps(program, refs, 0)
    return refs[0][...], refs[1][...]


@settings(max_examples=40, deadline=None)
@given(_programs, st.sampled_from(["eager", "jit", "vmap", "jvp", "vjp"]))
def test_random_programs_agree_with_an_interpreter_that_works_in_place(program, mode):
    a, b = np.arange(N, dtype=np.float32), np.arange(N, dtype=np.float32) * 2 - 3
    f = lambda a, b: run_on_references(program, a, b)
    expected = run_in_place(program, a, b)
    if mode == "jvp":  # programs are affine, so a derivative is a difference
        da, db = a * 3 + 1, b - 2
        got = jax.jvp(f, (a, b), (da, db))[1]
        moved = run_in_place(program, a + da, b + db)
        expected = [m - e for m, e in zip(moved, expected)]
    elif mode == "vjp":
        da, db = a * 3 + 1, b - 2
        moved = run_in_place(program, a + da, b + db)
        cts = np.linspace(1, 2, N, dtype=np.float32), np.linspace(-1, 1, N, dtype=np.float32)
        ga, gb = jax.vjp(f, a, b)[1](cts)
        got = [ga @ da + gb @ db]
        expected = [sum(ct @ (m - e) for ct, m, e in zip(cts, moved, expected))]
    else:
        run = {"eager": f, "jit": jax.jit(f),
               "vmap": lambda a, b: [x[1] for x in jax.vmap(f)(jnp.stack([b, a]), jnp.stack([a, b]))]}[mode]
        got = run(a, b)
    for x, y in zip(got, expected):
        close(x, y, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint, lambda f: lambda v: jax.lax.cond(True, f, lambda v: None, v)])
@pytest.mark.parametrize("part, want", [(lambda r, i: r.at[1:6], [0, 1, 1, 1, 1, 1, 0]), (lambda r, i: r.at[2:].at[i], [0, 0, 0, 1, 0, 0, 0])])
def test_views_of_parts_are_operands(wrap, part, want):
    def fun(i):
        ref = jax.new_ref(jnp.zeros(7))

        def add(view):
            view[...] += jnp.ones_like(view)
        wrap(add)(part(ref, i))
        return ref[...]
    np.testing.assert_array_equal(jax.jit(fun)(jnp.int32(1)), want)
    np.testing.assert_array_equal(fun(jnp.int32(1)), want)


@pytest.mark.parametrize("call", [lambda v: jax.vmap(lambda v: v[...])(v), lambda v: jax.lax.scan(lambda c, v: (c, v[...]), 0, v)])
def test_views_are_not_taken_apart(call):
    with pytest.raises(TypeError, match="TransformedRefs are not allowed"):
        call(jax.new_ref(jnp.zeros(4)).at[1:3])


def test_functions_of_arrays_say_how_a_reference_is_read(monkeypatch):
    ref = jax.new_ref(jnp.zeros(3))
    for call in (jnp.sum, jnp.sin, lambda r: jnp.add(1, r), lambda r: jax.jit(jnp.cumsum)(r)):
        with pytest.raises(TypeError, match=r"Ref\{float32\[3\]\} cannot be used as an array; read its contents with ref\[\.\.\.\]"):
            call(ref)
    monkeypatch.setattr(promotion, "is_arraylike", lambda x: False)  # what a process says of it that has met no tracer yet
    with pytest.raises(TypeError, match=r"jnp.f: argument 0 is no array: .*ref\[\.\.\.\]"):
        promotion.check_arraylike("jnp.f", ref)


@pytest.mark.parametrize("call, message", [
    (lambda r: jax.lax.cond(True, lambda a: a[...] + r[...], lambda a: a[...], r), "closed over and passed as the argument a"),
    (lambda r: jax.lax.cond(True, lambda a, b: a[...], lambda a, b: b[...], r, r), "appeared at both a and b"),
    (lambda r: jax.jit(lambda a: a[...] + r[...])(r), "closed over and passed as the argument a")])
def test_control_flow_gets_a_reference_once(call, message):
    with pytest.raises(ValueError, match=message):
        call(jax.new_ref(1.0))


def test_what_has_no_gradient_needs_no_place_for_it():
    total = jax.new_ref(jnp.zeros(3))
    _, pullback = jax.vjp(lambda x, i: x[i] ** 2, jnp.arange(3.0), 2)
    pullback.with_refs(total, object())(1.0)
    np.testing.assert_array_equal(total[...], [0, 0, 4])


@pytest.mark.parametrize("mode", [lambda f: f, jax.jit])
def test_views_in_other_forms(mode):
    """What is written through a transposed, reshaped or reinterpreted view arrives at its place."""
    def fun(x):
        ref = jax.new_ref(x)
        whole = ref.at[:]
        whole.T[1] = jnp.array([9.0, 8.0])
        whole.reshape(6)[0] = 7.0
        ref.at[1].reshape(3, -1).addupdate(jnp.ones((3, 1)))
        whole.bitcast(jnp.int32)[0, 2] = jnp.int32(0x40000000)
        old = whole.T.at[2].swap(jnp.array([5.0, 6.0]))
        return ref.get(), old, whole.transpose((1, 0)).get(1), whole.reshape((3, 2)).at[2].get()
    got = mode(fun)(jnp.arange(6.0).reshape(2, 3))
    for a, b in zip(got, ([[7, 9, 5], [4, 9, 6]], [2, 6], [9, 9], [9, 6]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_views_say_what_they_are_of():
    ref = jax.new_ref(jnp.arange(6.0).reshape(2, 3))
    view = ref.at[1].reshape(3, 1).bitcast("int32")
    assert (view.shape, view.dtype, view.ndim, view.size, len(view.transforms)) == ((3, 1), np.int32, 2, 3, 3)
    assert view.ref is ref and str(view.type) == "Ref{int32[3,1]}" and view.T.shape == (1, 3)
    for call, error in [(lambda: view.reshape(5), ValueError), (lambda: view.transpose((0, 0)), ValueError),
                        (lambda: ref.at[1].bitcast("int16"), NotImplementedError), (lambda: ref.at[1:2].bitcast("int64"), ValueError)]:
        with pytest.raises(error):
            call()


def test_gradients_pass_views_in_other_forms():
    def fun(x):
        ref = jax.new_ref(x)
        ref.at[:].T[0] = x[:, 1] ** 2
        return jnp.sum(ref.at[:].reshape(6).get() * jnp.arange(6.0))
    check_grads(fun, (jnp.arange(6.0).reshape(2, 3) / 3,), 1, modes=["rev"])


@pytest.mark.parametrize("transform", [jax.jit, jax.grad, jax.vmap])
def test_only_references_are_got_and_set(transform):
    """Tracers of arrays have no such methods, and no device."""
    def fun(x):
        assert not any(hasattr(x, name) for name in ("get", "set", "swap", "addupdate", "device"))
        ref = jax.new_ref(x)
        before = ref.swap(x * 2)
        ref.set(ref.get() + before)
        return ref.get().sum()
    transform(fun)(jnp.ones(()) if transform is not jax.vmap else jnp.ones(2))
