"""Types of `jax.experimental.source_mapper`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.source_mapper import common as common
from jax.experimental.source_mapper import generate_map as generate_map
from jax.experimental.source_mapper import hlo as hlo
from jax.experimental.source_mapper import jaxpr as jaxpr
from jax.experimental.source_mapper import mlir as mlir

