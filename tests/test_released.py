"""What a function closes over is released with it, at once: nothing waits for the cycle collector."""
import gc
import weakref

import numpy as np
import pytest

import jax
import jax.experimental.layout
import jax.numpy as jnp

pytestmark = pytest.mark.usefixtures("young_heap")

F32 = jax.ShapeDtypeStruct((), np.float32)


class Held:
    """What is to be released."""


def called(v, held):
    return jax.pure_callback(lambda a: (held, a)[1], F32, v)


CASES = {
    "jit": lambda held: jax.jit(lambda v: (held, v + 1)[1])(1.0),
    "jit that is not called": lambda held: jax.jit(lambda v: (held, v)[1]),
    "jit of grad": lambda held: jax.jit(jax.grad(lambda v: (held, v * 2)[1]))(1.0),
    "grad of jit": lambda held: jax.grad(jax.jit(lambda v: (held, v * 2)[1]))(1.0),
    "compiled by hand": lambda held: jax.jit(lambda v: (held, v * 2)[1]).lower(1.0).compile()(1.0),
    "make_jaxpr": lambda held: jax.make_jaxpr(lambda v: (held, v + 1)[1])(1.0),
    "make_jaxpr that is not called": lambda held: jax.make_jaxpr(lambda v: (held, v)[1]),
    "vmap": lambda held: jax.vmap(lambda v: (held, v * 2)[1])(np.ones(3)),
    "callback": lambda held: called(1.0, held),
    "jit of callback": lambda held: jax.jit(lambda v: called(v, held))(1.0),
    "jit of callback in scan": lambda held: jax.jit(lambda v: jax.lax.scan(lambda c, _: (called(c, held), None), v, None, 2)[0])(1.0),
    "jit of debug.callback": lambda held: jax.jit(lambda v: jax.debug.callback(lambda a: held, v))(1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_released_without_the_collector(case):
    """All but the last two: a thread knows the program that it ran last."""
    jnp.ones(2)
    CASES[case](Held())
    gc.collect()
    gc.disable()
    try:
        alive = []
        for _ in range(6):
            held = Held()
            alive.append(weakref.ref(held))
            CASES[case](held)
            del held
        jax.effects_barrier()
        assert sum(x() is not None for x in alive) <= 2
    finally:
        gc.enable()


@pytest.mark.parametrize("made", [
    lambda: jax.experimental.layout.Layout((0, 1)), lambda: jax.lax.Tolerance(1.0, 1.0, 1), lambda: jnp.ones(2).addressable_shards[0],
    lambda: jax.lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]), lambda: jax.lax.create_token(),
    lambda: jnp.ones(2), lambda: jax.random.key(0)])
def test_objects_of_public_classes_can_be_referred_to_weakly(made):
    value = made()
    there = weakref.ref(value)
    assert there() is value
    del value
    gc.collect()
    assert there() is None
