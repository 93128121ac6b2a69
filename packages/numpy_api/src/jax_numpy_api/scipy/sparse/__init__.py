"""jax.scipy.sparse: its only module is `linalg`."""
