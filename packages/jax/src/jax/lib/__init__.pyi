"""Types of `jax.lib`. Written by packages/jax/tools/make_stubs.py."""

from jax.lib import xla_bridge as xla_bridge

