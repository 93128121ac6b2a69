"""The public interfaces for writing primitives and interpreters, in the form that libraries written for JAX use.

`jax.extend`, `jax.interpreters`, `jax.core` and `jax.api_util` are assembled from these modules. They translate between
those forms and this system's own (`primitive`, `forward`, `reverse`, `batching`), and hold no rules themselves.

``rules``                      tables of rules by primitive: views on the primitives' attributes
``extend_core``                `jax.extend.core`
``interpreters_ad``            `jax.interpreters.ad`
``interpreters_batching``      `jax.interpreters.batching`
``interpreters_mlir``          `jax.interpreters.mlir`
``interpreters_partial_eval``  `jax.interpreters.partial_eval`
``api_util``                   `jax.api_util`
``source_info_util``           `jax.extend.source_info_util`
``tree_util``                  `jax.tree_util`
``hijax``                      `jax.experimental.hijax`
``named_high_primitives``  its primitives in the form of jax 0.10
``export``                     `jax.export`
``effect_types``               `jax._src.effects`
``lists``                      `jax._src.util`
``evaluators``                 `jax._src.core`: what programs that evaluate jaxprs look up
``remembered``                 `jax._src.util.weakref_lru_cache`
``pretty_printer``             `jax._src.pretty_printer`: documents that fit a width
``listeners``                  `jax._src.monitoring`: who listens, and how often a call was new
"""
