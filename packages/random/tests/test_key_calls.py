"""Compiled calls with typed keys: repeated without Python, and right where keys differ from what was seen."""
import collections
import sys

import numpy as np
import pytest

import jax_random as random
from jax_callbacks import pure_callback
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.errors import KeyReuseError
from jax_core.representation.tree_nodes import register_dataclass, register_pytree_node
from jax_core.transformations.autodiff import grad
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp


class Node:
    def __init__(self, key, number):
        self.key, self.number = key, number


class Record:
    def __init__(self, key, name):
        self.key, self.name = key, name


register_pytree_node(Node, lambda n: ((n.key, n.number), None), lambda _, parts: Node(*parts))
register_dataclass(Record, ["key"], ["name"])
Named = collections.namedtuple("Named", "key x")


def words(x):
    return np.asarray(random.key_data(x) if hasattr(x, "_base_array") else x)


def python_of(call):
    """The Python functions of ours that a call runs."""
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def draw(key):
    return random.uniform(key, (3,))


CALLS = {
    "a key": (draw, (random.key(3),)),
    "keys and arrays": (lambda k, x: x + draw(k), (random.key(3), jnp.ones(3))),
    "a key that is not read": (lambda k, x: x + 1, (random.key(3), jnp.ones(3))),
    "batch": (lambda k: random.key_data(k) + 1, (random.split(random.key(1), (2, 3)),)),
    "dict": (lambda d: d["x"] + draw(d["k"]), ({"k": random.key(3), "x": 2.0},)),
    "namedtuple": (lambda n: n.x + draw(n.key), (Named(random.key(3), 1.0),)),
    "node": (lambda n: n.number + draw(n.key), (Node(random.key(3), 1.0),)),
    "dataclass": (lambda n: draw(n.key), (Record(random.key(3), "a"),)),
    "defaultdict, None": (lambda d, _: draw(d["k"]), (collections.defaultdict(int, k=random.key(3)), None)),
    "a key returned": (lambda k: k, (random.key(3),)),
    "keys returned": (lambda k: dict(zip("ab", random.split(k))), (random.key(3),)),
    "a node returned": (lambda k: (Node(random.fold_in(k, 1), jnp.float32(2)), None, Record(k, "b")), (random.key(3),)),
    "made inside": (lambda seed: random.key(seed), (5,)),
    "another implementation": (lambda k: random.split(k), (random.key(3, impl="rbg"),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_known_call_runs_without_python(name):
    fun, args = CALLS[name]
    call = jit(lambda *a: fun(*a))
    first, again = call(*args), call(*args)
    assert not {"missed", "_call_miss"} & set(python_of(lambda: call(*args)))
    assert tree.structure(first) == tree.structure(again) == tree.structure(fun(*args))
    for a, b, c in zip(tree.leaves(first), tree.leaves(again), tree.leaves(fun(*args))):
        assert a.dtype == b.dtype == c.dtype and a.shape == b.shape == c.shape
        np.testing.assert_array_equal(words(a), words(b))
        np.testing.assert_allclose(words(a), words(c), rtol=1e-6)


def test_calls_differ_by_implementation_and_by_shape():
    seen = []
    named = jit(lambda k: seen.append((k.dtype.name, k.shape)) or k)
    keys = [random.key(0), random.key(0, impl="rbg"), random.key(0, impl="unsafe_rbg"), random.split(random.key(0), 2),
            random.wrap_key_data(jnp.zeros(4, jnp.uint32), impl="rbg")]
    for _ in range(3):
        for k in keys:
            out = named(k)
            assert out.dtype == k.dtype and out.shape == k.shape
            np.testing.assert_array_equal(words(out), words(k))
    assert seen == [("key<fry>", ()), ("key<rbg>", ()), ("key<urbg>", ()), ("key<fry>", (2,))]


def test_words_in_place_of_a_key_are_words():
    kinds = []
    call = jit(lambda k: kinds.append(k.ndim) or random.bits(k))
    key, raw = random.key(1), random.PRNGKey(1)
    for _ in range(3):
        assert call(key) == call(raw)
    assert kinds == [0, 1]


def test_deleted_and_donated_keys_say_so():
    key = random.key(5)
    call = jit(lambda k: random.split(k))
    call(key), call(key)
    key.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        call(key)
    step = jit(lambda k: random.fold_in(k, 1), donate_argnums=0)
    state = random.key(5)
    for _ in range(3):
        before, state = state, step(state)
    assert before.is_deleted()
    with pytest.raises(RuntimeError, match="donated to"):
        step(before)
    with pytest.raises(RuntimeError, match="donated to"):
        random.key_data(before) + 1


def test_a_second_use_is_seen_after_known_calls():
    call = jit(lambda k: random.normal(k))
    key = random.key(2)
    call(key), call(key)
    with flags.debug_key_reuse(True):
        fresh = random.key(2)
        call(fresh)
        with pytest.raises(KeyReuseError):
            call(fresh)
    call(key)


STEP = lambda carry, key: (carry, random.normal(key))
USED_TWICE = {
    "scan, its carry": lambda k, ks: lax.scan(lambda c, _: (c, random.normal(c)), k, None, length=2),
    "scan, then vmap": lambda k, ks: [lax.scan(STEP, 0.0, ks), vmap(random.normal)(ks)],
    "vmap": lambda k, ks: [vmap(random.normal)(ks), vmap(random.normal)(ks)],
    "vmap, then one of them": lambda k, ks: [vmap(random.normal)(ks), random.normal(ks[0])],
    "an element": lambda k, ks: random.normal(ks[0]) + random.normal(ks[0]),
    "a slice and an element of it": lambda k, ks: [ks[:2], ks[1]],
    "an element by an array": lambda k, ks: [ks[jnp.array([1, 2])], ks[2]],
    "cond": lambda k, ks: [lax.cond(True, random.normal, random.uniform, k), random.normal(k)],
    "switch": lambda k, ks: [lax.switch(1, [random.normal, random.uniform], k), random.normal(k)],
    "one branch": lambda k, ks: [lax.cond(True, random.normal, lambda k: 0.0, k), random.normal(k)],
    "fori_loop": lambda k, ks: lax.fori_loop(0, 2, lambda i, c: (c[0], c[1] + random.normal(c[0])), (k, 0.0)),
    "closed over by a loop": lambda k, ks: lax.fori_loop(0, 2, lambda i, c: c + random.normal(k), 0.0),
    "closed over by while_loop": lambda k, ks: lax.while_loop(lambda c: c < 2, lambda c: c + 1 + 0 * random.normal(k), 0.0),
    "closed over by map": lambda k, ks: lax.map(lambda x: x + random.normal(k), jnp.ones(3)),
    "closed over by jit": lambda k, ks: [jit(lambda: random.normal(k))(), random.normal(k)],
    "closed over by a function that is called twice": lambda k, ks: (lambda f: [f(), f()])(jit(lambda: random.normal(k))),
    "closed over by a branch": lambda k, ks: [lax.cond(True, lambda: random.normal(k), lambda: 0.0), random.normal(k)],
    "while_loop": lambda k, ks: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1], random.normal(c[1])), (0, k, 0.0)),
    "closed over by scan": lambda k, ks: lax.scan(lambda c, _: (c, random.normal(k)), 0.0, None, length=2),
    "checkpoint": lambda k, ks: [checkpoint(random.normal)(k), random.normal(k)],
    "closed over by a checkpoint": lambda k, ks: [checkpoint(lambda: random.normal(k))(), random.normal(k)],
    "gradient of a checkpoint": lambda k, ks: [grad(checkpoint(lambda x: x * random.normal(k)))(1.0), random.normal(k)],
    "closed over by one step": lambda k, ks: [lax.scan(lambda c, _: (c, random.normal(k)), 0.0, None, 1), random.normal(k)],
    "made in a program, of another shape": lambda k, ks: jit(lambda: (lambda q: [random.normal(q.reshape(())), random.normal(q[0])])(
        random.key(0)[None]))(),
    "returned after its use": lambda k, ks: (lambda _, same: random.normal(same))(*jit(lambda k: (random.normal(k), k))(k)),
    "copied": lambda k, ks: [random.normal(k), random.normal(k.copy())],
}
USED_ONCE = {
    "scan that splits its carry": lambda k, ks: lax.scan(lambda c, _: tuple(random.split(c)), k, None, length=2),
    "scan over keys": lambda k, ks: lax.scan(STEP, 0.0, ks),
    "elements": lambda k, ks: [random.normal(ks[i]) for i in range(4)],
    "slices": lambda k, ks: [ks[:2], ks[2:]],
    "elements that are not known": lambda k, ks: jit(lambda i: random.key_data(ks[i]))(2),
    "all in turn": lambda k, ks: [random.normal(x) for x in ks],
    "cond": lambda k, ks: lax.cond(True, random.normal, random.uniform, k),
    "one branch": lambda k, ks: lax.cond(True, random.normal, lambda k: 0.0, k),
    "closed over by two branches": lambda k, ks: lax.cond(True, lambda: random.normal(k), lambda: random.uniform(k)),
    "a program that is only written": lambda k, ks: [jit(lambda: random.normal(k)).trace(), jit(lambda: random.normal(k)).eval_shape(), random.normal(k)],
    "closed over by a scan of one step": lambda k, ks: lax.scan(lambda c, _: (c, random.normal(k)), 0.0, None, length=1),
    "closed over by one branch": lambda k, ks: lax.cond(True, lambda: random.normal(k), lambda: 0.0),
    "gradient of a checkpoint": lambda k, ks: grad(checkpoint(lambda x: x * random.normal(k)))(1.0),
    "gradient of a checkpoint, compiled": lambda k, ks: jit(grad(lambda x, k: checkpoint(lambda: x * random.normal(k))()))(1.0, k),
    "samplers that draw more than once": lambda k, ks: jit(lambda ks: [
        random.poisson(ks[0], 2.0), random.truncated_normal(ks[1], -1.0, 1.0), random.binomial(ks[2], 5.0, 0.5)])(ks),
    "loop that folds in": lambda k, ks: lax.fori_loop(0, 3, lambda i, c: c + random.normal(random.fold_in(k, i)), 0.0),
}


@pytest.mark.parametrize("name", USED_TWICE)
def test_loops_branches_and_elements_use_keys_up(name):
    USED_TWICE[name](random.key(0), random.split(random.key(0), 4))
    with flags.debug_key_reuse(True), pytest.raises(KeyReuseError):
        USED_TWICE[name](random.key(0), random.split(random.key(0), 4))


@pytest.mark.parametrize("name", USED_ONCE)
def test_keys_that_are_used_once_are_no_error(name):
    with flags.debug_key_reuse(True):
        USED_ONCE[name](random.key(0), random.split(random.key(0), 4))


def test_callbacks_get_words_that_are_still_computed():
    slow = jit(lambda x: (jnp.linalg.matrix_power(x, 64)[0, 0] * 0).astype(jnp.uint32) + jnp.array([0, 9], jnp.uint32))
    call = jit(lambda k: pure_callback(lambda w: np.asarray(w) + np.uint32(1), random.key_data(k), random.key_data(k)))
    for _ in range(4):
        key = random.wrap_key_data(slow(jnp.ones((400, 400)) / 400))
        np.testing.assert_array_equal(call(key), [1, 10])
