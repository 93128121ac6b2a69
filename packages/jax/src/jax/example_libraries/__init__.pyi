"""Types of `jax.example_libraries`. Written by packages/jax/tools/make_stubs.py."""

from jax.example_libraries import optimizers as optimizers
from jax.example_libraries import stax as stax

