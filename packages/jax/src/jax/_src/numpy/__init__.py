"""Where libraries (haliax) look for `jax.numpy`."""
