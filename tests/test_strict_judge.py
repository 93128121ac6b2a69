"""Who is to blame for a mixture in the strict session: the test that made the call, or the function of ours that it called."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import sparse
from strict_modes import mixed_by_the_test

X, I, ROW = np.ones((4, 3), np.float32), np.arange(3, dtype=np.int32), np.ones(3, np.float32)

BY_TEST = {  # what a test mixes itself; whatever it goes through, and whatever its error is wrapped in
    "dtypes": lambda: jnp.add(ROW, I),
    "operators": lambda: jnp.asarray(ROW) * jnp.asarray(I),
    "ranks": lambda: jnp.asarray(X) + ROW,
    "a Python number": lambda: jnp.asarray(I) + 1.5,
    "weak": lambda: jnp.asarray(I) + jnp.asarray(1.5),
    "weak and complex": lambda: jnp.asarray(ROW) + jnp.asarray(1.5j),
    "at": lambda: jnp.asarray(ROW).at[0].add(I[0]),
    "in a program": lambda: jax.jit(lambda x: jnp.maximum(x, I))(ROW),
    "under a transformation": lambda: jax.vmap(jax.grad(lambda x: jnp.where(x > 0, x, I[0])))(ROW),
    "in a tree": lambda: jax.tree.map(jnp.subtract, [ROW], [I]),
    "by eval": lambda: eval("jnp.add(a, b)", dict(jnp=jnp, a=ROW, b=I)),
    "names": lambda: jnp.promote_types("int32", "float32"),
    "integers to a function of floats": lambda: jax.nn.elu(I),
    "integers that are floats there, and halves": lambda: jnp.trapezoid(I, dx=np.ones(2, np.float16)),
    "the shape of a sparse matrix": lambda: sparse.BCOO.fromdense(X) / ROW,
    "batches": lambda: jnp.vecdot(X, ROW),
    "in the body of a loop": lambda: jax.lax.fori_loop(0, 2, lambda i, x: x + I, jnp.asarray(ROW)),
}


def ended(call):
    """What a test that ends in ``call`` raises."""
    try:
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            call()
    except ValueError as error:
        return error
    raise AssertionError("nothing was refused")


@pytest.fixture(autouse=True)
def whole_tracebacks():
    with jax._src.config.traceback_filtering("off"):
        yield


@pytest.mark.parametrize("call", BY_TEST.values(), ids=BY_TEST.keys())
def test_the_test_is_to_blame(call):
    assert mixed_by_the_test(ended(call)).startswith("mixes ")


def test_what_became_of_the_error_does_not_matter():
    try:
        with pytest.raises(ValueError, match="about something else"):
            with jax.numpy_dtype_promotion("strict"):
                jnp.add(ROW, I)
    except (AssertionError, pytest.fail.Exception) as error:
        assert mixed_by_the_test(error)


def adds_an_integer(x):
    return jnp.sin(x) + jnp.arange(3)


def broadcasts_ranks(x):
    return x - jnp.mean(x, 0)


PLANTS = {"dtypes": (adds_an_integer, ROW), "ranks": (broadcasts_ranks, X)}


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, lambda f: jax.vmap(f, axis_size=2, in_axes=None), lambda f: lambda x: jax.linearize(f, x),
                                  lambda f: lambda x: jax.lax.cond(True, f, f, x)])
@pytest.mark.parametrize("kind", PLANTS)
def test_a_function_of_ours_is_to_blame(kind, wrap):
    """One that mixes what it made itself, with operands of one dtype and rank, called in any way."""
    planted, x = PLANTS[kind]
    ours = type(planted)(planted.__code__.replace(co_filename=jnp.add.__module__), globals())  # as if it stood there
    call = wrap(ours)
    assert mixed_by_the_test(ended(lambda: call(x))) is None


def test_other_errors_are_no_mixtures():
    with pytest.raises(TypeError) as caught:
        jnp.add([1], 2)
    assert mixed_by_the_test(caught.value) is None
