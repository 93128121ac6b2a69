"""Types of `jax.scipy.sparse`. Written by packages/jax/tools/make_stubs.py."""

from jax.scipy.sparse import linalg as linalg

