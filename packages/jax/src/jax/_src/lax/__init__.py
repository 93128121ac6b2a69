"""Where pickles of the public jax look for the enumerations and dimension numbers of `jax.lax`, and tutorials for its functions."""
