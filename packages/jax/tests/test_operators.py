"""Arrays and tracers have their operators however little of the namespace a program has touched."""
import subprocess
import sys

import pytest


@pytest.mark.parametrize("program", [
    "import jax; print(jax.jit(lambda x: x * 2)(1.))",
    "import jax; print(jax.device_put(1.) + 1)",
    "from jax import grad; print(grad(lambda x: x * x)(1.))",
    "import jax; print(jax.make_jaxpr(lambda x: x + x)(1.).eqns and 2.0)",
])
def test_in_a_fresh_process(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout == "2.0\n", done.stderr
