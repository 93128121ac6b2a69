"""jax.example_libraries: small libraries that show how to build on transformations: `optimizers`; `stax` is in `jax_random.stax`."""
