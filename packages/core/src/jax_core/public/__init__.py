"""The public interfaces for writing primitives and interpreters, in the form that libraries written for JAX use.

`jax.extend`, `jax.interpreters`, `jax.core` and `jax.api_util` are assembled from these modules. They translate between
those forms and this system's own (`primitive`, `forward`, `reverse`, `batching`), and hold no rules themselves.
"""
