"""Kernels that are ready to use (`jax.experimental.pallas.ops`), written in the language of `pallas`.

* `flash_attention`: attention on TPUs that never holds its scores, with derivatives.
* `grouped_products`: products of the rows of groups with a matrix for each group, on TPUs.
"""
