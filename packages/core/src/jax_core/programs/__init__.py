"""Compiled functions: jit, its stages, make_jaxpr and what explains them."""
