"""Single calls of the sweep (`benchmarks/eager_sweep.py`), as the environment names them:

CALLS="minmax scipy.special.zeta:1"  functions, each with the number of its list of arguments in the sweep's table, by default 0
SIZE=100000 DTYPE=float32 MODE=jit|slope|vmap
"""
import importlib
import os

import numpy as np
from eager_sweep import arguments, program  # beside `interleaved.py`, which runs this

import jax
import jax.numpy as jnp

dtype, mode = os.environ.get("DTYPE", "float32"), os.environ.get("MODE", "jit")
jax.config.update("jax_enable_x64", dtype == "float64")
named, common = arguments(int(os.environ.get("SIZE", 100_000)), jnp.dtype(dtype))


def call(label):
    path, _, index = label.partition(":")
    where, _, name = path.rpartition(".")
    module = importlib.import_module(f"jax.{where or 'numpy'}")
    given = ([named[name]] if not where and name in named else common)[int(index or 0)]
    return program(getattr(module, name), jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, given), mode)


programs = {label: call(label) for label in os.environ["CALLS"].split()}
