"""Where pickles of the public jax look for typed keys."""
