"""Sums of some hundred to 4095 numbers, and programs around them; for `interleaved.py`, in the mode compile, too."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
few = rng.normal(size=256).astype(np.float32)
more = rng.normal(size=1024).astype(np.float32)
rows = rng.normal(size=(16, 64)).astype(np.float32)
many = rng.normal(size=(60, 64)).astype(np.float32)

programs = {
    "mean_256": (jnp.mean, (few,)), "var_256": (jnp.var, (few,)), "rows_16x64": (lambda x: x.sum(1), (rows,)), "of_16x64": (jnp.sum, (rows,)),
    "squares_1024": (lambda x: (x * x).sum(), (more,)), "unit_1024": (lambda x: x / jnp.sqrt((x * x).sum()), (more,)),
    "exponentials_1024": (lambda x: jnp.exp(x).sum(), (more,)), "less_mean_60x64": (lambda x: x - x.mean(), (many,)),
    "columns_60x64": (lambda x: x.sum(0), (many,)), "rows_60x64": (lambda x: x.mean(1), (many,)),
    "standardised_60x64": (lambda x: (x - x.mean(0)) / x.std(0), (many,)), "exponentials_60x64": (lambda x: jnp.exp(x).sum(), (many,)),
    "gradient_60x64": (jax.grad(lambda x: (x * x).mean() ** 2), (many,)),
}
