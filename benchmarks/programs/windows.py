"""Reductions over windows that overlap: pooling as networks have it, filters of images, moving sums and extrema.

    taskset -c 1 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/windows.py --cpu [--mode compile]
"""
import numpy as np

import jax.numpy as jnp
from jax import lax

rng = np.random.default_rng(0)
STARTS = {lax.add: 0.0, lax.max: -np.inf, lax.min: np.inf}


def over_windows(shape, op, window, strides=None, padding="SAME"):
    """A program, and an array for it."""
    strides = strides or (1,) * len(shape)
    return lambda x: lax.reduce_window(x, STARTS[op], op, window, strides, padding), (jnp.asarray(rng.normal(size=shape), jnp.float32),)


programs = {
    "max_pool_3x3_by_2": over_windows((4, 56, 56, 64), lax.max, (1, 3, 3, 1), (1, 2, 2, 1)),
    "avg_pool_3x3_by_2": over_windows((4, 56, 56, 64), lax.add, (1, 3, 3, 1), (1, 2, 2, 1)),
    "max_pool_small": over_windows((8, 28, 28, 16), lax.max, (1, 3, 3, 1), (1, 2, 2, 1)),
    "max_pool_3x3_by_1": over_windows((4, 64, 64, 32), lax.max, (1, 3, 3, 1)),
    "erosion_5x5": over_windows((256, 256), lax.min, (5, 5)),
    "box_filter_7x7": over_windows((512, 512), lax.add, (7, 7)),
    "dilation_15x15": over_windows((256, 256), lax.max, (15, 15)),
    "cubes_3x3x3": over_windows((64, 64, 64), lax.add, (3, 3, 3)),
    "moving_sum_30": over_windows((50, 5000), lax.add, (1, 30), padding="VALID"),
    "moving_maximum_250": over_windows((20, 5000), lax.max, (1, 250), padding="VALID"),
}
