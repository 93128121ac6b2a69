"""Arrays that are overwritten with what is read from other places of them (`docs/internals/fusion.md`), and with what is not; for `interleaved.py`, in the mode
compile, too. The public jax gets the wrong numbers where a change of shape stands beside, so here there is none."""
import jax
import numpy as np
from jax import lax

rng = np.random.default_rng(0)
small, large = [rng.normal(size=n).astype(np.float32) for n in (4000, 1_000_000)]
table = rng.normal(size=(2000, 200)).astype(np.float32)
rows = rng.normal(size=(2000, 200)).astype(np.float32)


def shifted(x):
    x = x + 1
    return x.at[1:].set(x[:-1])


def diffused(x):
    return lax.fori_loop(0, 10, lambda i, x: x.at[1:-1].set((x[:-2] + x[2:]) / 2), x)


def diffused_in_turn(x):
    for _ in range(20):
        x = x.at[1:-1].set((x[:-2] + x[2:]) / 2)
    return x


def each_row(t, update):
    return lax.fori_loop(1, t.shape[0], lambda i, t: update(t, i), t)


@jax.jit
def written(t, row, i):
    return lax.dynamic_update_slice(t, row, (i, 0))


programs = {
    "shifted_4000": (shifted, (small,)), "shifted_1000000": (shifted, (large,)),
    "diffused_4000": (diffused, (small,)), "diffused_1000000": (diffused, (large,)),
    "diffused_in_turn_4000": (diffused_in_turn, (small,)), "diffused_in_turn_1000000": (diffused_in_turn, (large,)),
    "rows_of_rows": (lambda t: each_row(t, lambda t, i: t.at[i].set(t[i - 1] * 0.5 + 1)), (table,)),
    "shifted_rows": (lambda t: each_row(t, lambda t, i: lax.dynamic_update_slice(t, lax.dynamic_slice(t, (i, 0), (1, 199)) * 0.5, (i, 1))), (table,)),
    "rows_by_a_function": (lambda t, r: each_row(t, lambda t, i: written(t, lax.dynamic_slice(r, (i, 0), (1, 200)), i)), (table, rows)),
}
