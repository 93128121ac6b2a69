"""Kernels that are ready to use (`jax.experimental.pallas.ops`), written in the language of `pallas`.

* `flash_attention`: attention on TPUs that never holds its scores, with derivatives.
* `rows`: softmax, layer norm and RMS norm on GPUs, with derivatives.
* `gpu_softmax`: what the attention kernels for GPUs share.
* `gpu_attention`: attention on GPUs that never holds its scores, with derivatives.
* `gpu_decoding`: attention of one query for each head on GPUs, to keys in arrays or in pages.
* `matmul`: products of matrices by blocks, on TPUs.
* `paged_attention`: attention of one query for each head to keys in pages, on TPUs.
* `grouped_products`: products of the rows of groups with a matrix for each group, on TPUs.
"""
