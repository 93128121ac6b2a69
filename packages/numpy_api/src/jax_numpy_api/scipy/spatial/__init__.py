"""jax.scipy.spatial: its only module is `transform`."""
