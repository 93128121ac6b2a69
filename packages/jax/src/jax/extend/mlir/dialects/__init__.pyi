"""Types of `jax.extend.mlir.dialects`. Written by packages/jax/tools/make_stubs.py."""

from jax.extend.mlir.dialects import arith as arith
from jax.extend.mlir.dialects import builtin as builtin
from jax.extend.mlir.dialects import chlo as chlo
from jax.extend.mlir.dialects import func as func
from jax.extend.mlir.dialects import math as math
from jax.extend.mlir.dialects import memref as memref
from jax.extend.mlir.dialects import mpmd as mpmd
from jax.extend.mlir.dialects import scf as scf
from jax.extend.mlir.dialects import sdy as sdy
from jax.extend.mlir.dialects import sparse_tensor as sparse_tensor
from jax.extend.mlir.dialects import stablehlo as stablehlo
from jax.extend.mlir.dialects import vector as vector

