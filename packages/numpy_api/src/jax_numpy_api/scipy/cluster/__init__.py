"""jax.scipy.cluster: its only module is `vq`."""
