"""Pieces that are found, put together or taken apart along rows, whose loops are not unrolled, and what stays so (`planning/unrolling.py`); for
`interleaved.py`, whose two sides are a `PYTHON` and one with `XLA_FLAGS=--xla_backend_extra_options=xla_cpu_disable_loop_unrolling` in front, and in the mode compile, too."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def ints(limit, *shape):
    return rng.integers(0, limit, shape).astype(np.int32)


square, wide, rows = floats(400, 400), floats(24, 4000), floats(5000, 32)
programs = {
    "transposed": (lambda x: (x * 2).T + 1, (square,)), "transposed_wide": (lambda x: (x * 2).T + 1, (wide,)),
    "heads": (lambda x: jnp.swapaxes(x * 2, 1, 2) + 1, (floats(2, 192, 4, 32),)),
    "joined": (lambda x: jnp.concatenate([x * 2, x + 1], 1) * 3, (square,)), "rolled": (lambda x: x + jnp.roll(x, 1, 1), (square,)),
    "split": (lambda x: [y * 2 for y in jnp.split(x, 4, 1)], (square,)), "sorted": (lambda x: jnp.sort(x * 2) + 1, (square,)),
    "padded_below": (lambda x: jnp.pad(x * 2, ((1, 1), (0, 0))) * 3, (square,)), "padded_beside": (lambda x: x + jnp.pad(x[:, 1:] - x[:, :-1], ((0, 0), (0, 1))), (square,)),
    "part_read": (lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (300, 300)) * 2, (square, ints(50, 2))),
    "part_written": (lambda x, y, i: lax.dynamic_update_slice(x * 2, y, (i[0], i[1])), (square, floats(300, 300), ints(50, 2))),
    "segments": (lambda x, i: jax.ops.segment_sum(x, i, 1000), (rows, ints(1000, 5000))),
    "columns_counted": (lambda x: jnp.sum(abs(x) > 1, 0), (square,)), "rows_counted": (lambda x: jnp.sum(abs(x) > 1, 1), (square,)),
    "searched_21": (lambda x: jnp.argmin(x, 1), (floats(4000, 21),)), "searched_22": (lambda x: jnp.argmin(x, 1), (floats(4000, 22),)),
}
programs = {name: (function, jax.device_put(arguments)) for name, (function, arguments) in programs.items()}  # to pass an array of NumPy's may copy it
