"""The limit below which XLA's CPU compiler makes one function of a loop."""
import subprocess
import sys

from jax_xla_backend.backend import backend
from jax_xla_backend.compiling import compile as xla_compile
from jax_xla_backend.jaxlib_compat import FEW_LOOPS_ARE_FUNCTIONS


def test_the_limit_reaches_the_compiler_where_its_own_is_low_and_keeps_the_other_options():
    devices = backend.devices("cpu")[:1]
    options = xla_compile.compile_options(devices)
    raised = b"xla_cpu_small_while_loop_byte_threshold\x12\x0516384" in options.SerializeAsString()
    assert raised == FEW_LOOPS_ARE_FUNCTIONS
    assert options.num_partitions == 1 and options.device_assignment is not None


def test_a_limit_of_the_user_stands():
    code = ("from jax_xla_backend.compiling import compile as c; o = c._cpu_options().SerializeAsString();"
            "assert b'threshold\\x12\\x0277' in o and b'16384' not in o")
    subprocess.run([sys.executable, "-c", code], check=True, env={
        **__import__("os").environ, "XLA_FLAGS": "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=77"})
