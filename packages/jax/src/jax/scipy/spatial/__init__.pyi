"""Types of `jax.scipy.spatial`. Written by packages/jax/tools/make_stubs.py."""

from jax.scipy.spatial import transform as transform

