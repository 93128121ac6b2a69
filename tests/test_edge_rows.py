"""Behaviour at the edges: one row for each program, with what it gives as text, or the class of the error that it raises."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax.experimental import sparse

NAMES = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "export": export, "sparse": sparse, "v": np.arange(3), "f": lambda x, y: jnp.sin(x) * y}

ROWS = {
    # structures
    "lax.scan(lambda c, a: [c + 1, a], 0, v)": "[Array(3, dtype=int32, weak_type=True), Array([0, 1, 2], dtype=int32)]",
    "type(lax.scan(lambda c, a: (c + 1, a), 0, v))": "<class 'tuple'>",
    # strings as numbers
    "jnp.float32('3')": "Array(3., dtype=float32)",
    "jnp.float32(b'3')": "Array(3., dtype=float32)",
    "jnp.complex64('1+2j')": "Array(1.+2.j, dtype=complex64)",
    "jnp.float32('x')": "ValueError", "jnp.int32('x')": "ValueError", "jnp.array('3')": "TypeError",
    # arguments of functions
    "jax.random.key_data(jax.random.key(True)).tolist()": "[0, 1]",
    "sparse.random_bcoo(jax.random.key(0), (4, 4), nse=3, dtype=int, generator=jax.random.randint, minval=5, maxval=6).data": "Array([5, 5, 5], dtype=int32)",
    "sparse.bcoo_transpose(sparse.eye(2), permutation=(1, 1))": "TypeError",
    "sparse.bcoo_concatenate([sparse.eye(2)], dimension=2)": "TypeError",
    # options
    "jax.grad(jax.checkpoint(f, prevent_cse=(True, False)))(1., 2.)": "Array(1.0806046, dtype=float32, weak_type=True)",
    "jax.grad(jax.checkpoint(f, prevent_cse=(True, False)))(1., y=2.)": "ValueError",
    "jax.checkpoint(f, prevent_cse=((True,), False))(1., 2.)": "ValueError",
    "export.export(jax.jit(jnp.sin), platforms=[])(v).platforms": "('cpu',)",
    "export.export(jax.jit(jnp.sin), platforms=['gpu'])(v).platforms": "RuntimeError",
    "export.export(jax.jit(jnp.sin), platforms=['cuda', 'tpu'])(v).platforms": "('cuda', 'tpu')",
}


def outcome(program):
    try:
        return repr(eval(program, dict(NAMES)))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("program", ROWS)
def test_row(program):
    expected = ROWS[program]
    if expected == "RuntimeError" and "gpu" in program and jax.default_backend() == "gpu":
        pytest.skip("a GPU is here")
    assert outcome(program) == expected.replace("('cpu',)", repr((export.default_export_platform(),)))


def test_a_default_device_that_is_no_platform():
    with jax.default_device("foo"), pytest.raises(ValueError, match="foo"):
        jnp.ones(3)
    with jax.disable_jit():
        assert type(lax.scan(lambda c, a: [c + 1, a], 0, NAMES["v"])) is list


def test_numbers_of_narrow_types_are_printed_as_arrays_are(capsys):
    x = jnp.bfloat16(2)
    jax.debug.print("{} {x} {}", x, jnp.stack([x, x]), x=jnp.float32(2))
    jax.effects_barrier()
    assert capsys.readouterr().out == "2.0 2.0 [2 2]\n"


def test_no_tracing_refuses_programs_that_were_not_traced_before():
    f = jax.jit(lambda x: x * 3)
    f(1.0)
    with jax.no_tracing():
        assert f(2.0) == 6 and jnp.tan(0.0) == 0
        for call in (lambda: f(1), lambda: jax.jit(lambda x: x)(1.0), lambda: jax.eval_shape(lambda x: x, 1.0), lambda: f.lower(1)):
            with pytest.raises(RuntimeError, match="jax_no_tracing is on"):
                call()
    assert f(1) == 3
