"""Where libraries (jaxns) look for `jax.scipy`."""
