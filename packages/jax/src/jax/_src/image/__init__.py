"""Where libraries (torchax) look for `jax.image`."""
