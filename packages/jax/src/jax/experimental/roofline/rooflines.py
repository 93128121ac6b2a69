"""jax.experimental.roofline.rooflines: the rules for the library's primitives, which are in `jax_xla_backend.tools.roofline`."""
