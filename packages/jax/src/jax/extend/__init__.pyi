"""Types of `jax.extend`. Written by packages/jax/tools/make_stubs.py."""

from jax.extend import backend as backend
from jax.extend import core as core
from jax.extend import ifrt_programs as ifrt_programs
from jax.extend import linear_util as linear_util
from jax.extend import lowering as lowering
from jax.extend import mlir as mlir
from jax.extend import random as random
from jax.extend import sharding as sharding
from jax.extend import source_info_util as source_info_util
from jax.extend import xla as xla

