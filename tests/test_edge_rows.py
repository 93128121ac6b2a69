"""Behaviour at the edges: one row for each program, with what it gives as text, or the class of the error that it raises."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

NAMES = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "export": export, "v": np.arange(3), "f": lambda x, y: jnp.sin(x) * y}

ROWS = {
    # structures
    "lax.scan(lambda c, a: [c + 1, a], 0, v)": "[Array(3, dtype=int32, weak_type=True), Array([0, 1, 2], dtype=int32)]",
    "type(lax.scan(lambda c, a: (c + 1, a), 0, v))": "<class 'tuple'>",
    # strings as numbers
    "jnp.float32('3')": "Array(3., dtype=float32)",
    "jnp.float32(b'3')": "Array(3., dtype=float32)",
    "jnp.complex64('1+2j')": "Array(1.+2.j, dtype=complex64)",
    "jnp.float32('x')": "ValueError", "jnp.int32('x')": "ValueError", "jnp.array('3')": "TypeError",
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
