"""An exception at any operation of any transformation leaves no trace of itself: contexts, values and released memory are as before.

The operations of a program are counted, those that it binds and those that it writes for the compiler; then it is run again and again
with an exception at one of them.
"""
from __future__ import annotations

import gc
import random
import sys
import threading
import weakref

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_core.configuration import engine
from jax_core.representation.primitive import Primitive
from jax_core.traces import collector
from jax_xla_backend.lowering.builder import Builder

pytestmark = pytest.mark.usefixtures("young_heap")

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
SAMPLES = 6  # of the operations of each program


class Planted(Exception):
    """What is raised."""


class Held:
    """What the function closes over."""


@jax.custom_jvp
def cubed(x):
    return x * x * x


cubed.defjvp(lambda primals, tangents: (cubed(*primals), 3 * primals[0] * primals[0] * tangents[0]))


@jax.custom_vjp
def doubled(x):
    return jnp.sin(x) * 2


doubled.defvjp(lambda x: (doubled(x), jnp.cos(x)), lambda c, t: (2 * c * t,))


def loop(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))[1].sum()


def branches(x):
    return lax.cond(x.sum() > 0, lambda y: jnp.sin(y).sum(), lambda y: (y * y).sum(), x) + lax.switch(1, [jnp.sum, lambda y: jnp.cos(y).sum()], x)


def scanned(x):
    return lax.scan(lambda c, y: (jnp.tanh(c * y), jnp.cos(c)), x[0], x)[1].sum()


def settings(x):
    with jax.named_scope("scope"), jax.default_matmul_precision("float32"), jax.numpy_rank_promotion("raise"):
        with jax.enable_x64(True):
            return (jnp.sin(x) * jnp.dot(x, x)).astype(np.float32).sum()


def written(x):
    total = jax.new_ref(jnp.zeros(4))
    lax.fori_loop(0, 4, lambda i, _: total.__setitem__(i, jnp.sin(x[i]) + total[i]), None)
    return jax.freeze(total).sum()


def answered(x):
    return jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x).sum()


def seen(x):
    jax.debug.callback(lambda v: None, x)
    return jnp.sin(x).sum()


PROGRAMS = {
    "jit": jax.jit,
    "grad": jax.grad,
    "jit of grad": lambda f: jax.jit(jax.grad(f)),
    "grad of jit": lambda f: jax.grad(jax.jit(f)),
    "vmap": lambda f: lambda x: jax.vmap(f)(x[None]),
    "jvp of vmap": lambda f: lambda x: jax.jvp(jax.vmap(f), (x[None],), (x[None],)),
    "jit of vmap of grad": lambda f: lambda x: jax.jit(jax.vmap(jax.grad(f)))(x[None]),
    "hessian": lambda f: jax.hessian(f),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "linear_transpose": lambda f: lambda x: jax.linear_transpose(jax.linearize(f, x)[1], x)(jnp.float32(1)),
    "make_jaxpr": lambda f: lambda x: jax.make_jaxpr(jax.grad(f))(x) and 0,
    "lower": lambda f: lambda x: jax.jit(f).lower(x).compile()(x),
    "NaN search": lambda f: lambda x: _searching(f, x),
    "without jit": lambda f: lambda x: _plain(f, x),
}
FUNCTIONS = {"plain": lambda x: jnp.sin(x * x).sum(), "scan": scanned, "cond": branches, "while": loop, "settings": settings,
             "ref": written, "callback": answered, "debug callback": seen, "custom_jvp": lambda x: cubed(x).sum(),
             "custom_vjp": lambda x: doubled(x).sum()}
PAIRS = [("grad", "scan"), ("jit of grad", "scan"), ("jit of grad", "cond"), ("jit", "while"), ("jvp of vmap", "while"), ("jit", "settings"),
         ("jit of grad", "settings"), ("grad", "ref"), ("jit", "ref"), ("jit", "callback"), ("vmap", "callback"),
         ("jit", "debug callback"), ("jit of vmap of grad", "debug callback"), ("hessian", "custom_jvp"), ("grad of jit", "custom_jvp"),
         ("jit of vmap of grad", "custom_vjp"), ("checkpoint", "custom_vjp"), ("checkpoint", "scan"), ("jit of vmap of grad", "cond"),
         ("make_jaxpr", "scan"), ("lower", "cond"), ("NaN search", "plain"), ("without jit", "scan"), ("linear_transpose", "plain"),
         ("grad of jit", "cond")]


def _searching(f, x):
    with jax.debug_nans(True), jax.checking_leaks():
        return jax.jit(f)(x)


def _plain(f, x):
    with jax.disable_jit():
        return jax.grad(f)(x)


class Raising:
    """Counts operations, and raises at the one with this number."""

    def __init__(self, at: int | None = None):
        self.at, self.count = at, 0

    def step(self):
        self.count += 1
        if self.count == self.at:
            raise Planted(self.at)

    def __enter__(self):
        self.before = Primitive.bind, Builder.emit
        bind, emit = self.before

        def counted_bind(primitive, *args, **params):
            self.step()
            return bind(primitive, *args, **params)

        def counted_emit(builder, *args, **params):
            self.step()
            return emit(builder, *args, **params)
        Primitive.bind, Builder.emit = counted_bind, counted_emit
        return self

    def __exit__(self, *exc):
        Primitive.bind, Builder.emit = self.before


def state() -> dict:
    """All that is kept for a thread, and what else an exception could leave behind."""
    found = {"garbage": (gc.isenabled(), gc.get_threshold()), "collector": collector._users, "overrides": engine._overrides_in_force,
             "recursion": sys.getrecursionlimit(), "flags": dict(jax.config.values)}
    for name, module in list(sys.modules.items()):
        if name.startswith("jax_"):
            for own, value in list(vars(module).items()):
                if isinstance(value, threading.local) and value is not engine._thread:
                    found[f"{name}.{own}"] = {a: getattr(value, a) for a in dir(value) if not a.startswith("__") and not callable(getattr(value, a))}
    return found


def fresh(program: str, function: str, held: Held):
    return PROGRAMS[program](lambda x: (held, FUNCTIONS[function](x))[1])


@pytest.mark.parametrize("program, function", PAIRS, ids=lambda x: x)
def test_an_exception_leaves_all_as_it_was(program, function):
    expected = jax.tree.leaves(fresh(program, function, Held())(X))
    with Raising() as counter:
        fresh(program, function, Held())(X)
    assert counter.count
    before = state()
    for at in random.Random(program + function).sample(range(1, counter.count + 1), min(SAMPLES, counter.count)):
        held = Held()
        alive = weakref.ref(held)
        again = fresh(program, function, held)
        with Raising(at):
            with pytest.raises(Exception) as caught:
                again(X)
                jax.effects_barrier()
        assert caught.errisinstance(Planted) or "Planted" in str(caught.value), caught.value
        assert state() == before, at
        for found, wanted in zip(jax.tree.leaves(again(X)), expected, strict=True):  # the same function: nothing half done was kept
            np.testing.assert_array_equal(found, wanted)
        del caught, again, held
        fresh(program, function, Held())(X)  # a thread knows the program that it ran last
        gc.collect()
        assert alive() is None, at
    assert state() == before


@pytest.mark.parametrize("write", [lambda r, x: r.__setitem__(Ellipsis, x), lambda r, x: jax.ref.addupdate(r, 1, x[0]),
                                   lambda r, x: lax.fori_loop(0, 3, lambda i, _: r.__setitem__(i, x[i] * 2), None)], ids=["set", "add", "loop"])
def test_a_jitted_function_that_fails_has_not_written(write):
    ref = jax.new_ref(jnp.zeros(4))

    def f(x):
        write(ref, jnp.cos(x))
        return jnp.sin(x).sum()
    jax.jit(lambda x: f(x))(X)  # templates of operations are kept
    with Raising() as counter:
        jax.jit(lambda x: f(x))(X)
    for at in range(1, counter.count + 1):
        ref[...] = jnp.zeros(4)
        with Raising(at):
            with pytest.raises(Planted):
                jax.jit(lambda x: f(x))(X)
        assert not ref[...].any(), at
    jax.jit(f)(X)
    assert ref[...].any()


def test_what_stays_is_seen():
    """A setting, a scope, a trace."""
    from jax_core.configuration import flags
    from jax_core.representation.source import name_stack
    before = state()
    assert state() == before
    with flags.enable_x64(True):
        assert state() != before
    name_stack.names, names = ("left",), name_stack.names
    assert state() != before
    name_stack.names = names
    inside = []
    jax.make_jaxpr(lambda x: (inside.append(state() == before), x)[1])(1.0)
    assert inside == [False] and state() == before
