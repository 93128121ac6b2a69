"""Types of `jax.scipy.cluster`. Written by packages/jax/tools/make_stubs.py."""

from jax.scipy.cluster import vq as vq

