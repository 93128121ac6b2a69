"""Kernels that are ready to use (`jax.experimental.pallas.ops`), written in the language of `pallas`.

* `tpu_softmax`: what the attention kernels for TPUs share.
* `flash_attention`: attention on TPUs that never holds its scores, with derivatives.
* `rows`: softmax, layer norm and RMS norm on GPUs, with derivatives.
* `gpu_softmax`: what the attention kernels for GPUs share.
* `gpu_attention`: attention on GPUs that never holds its scores, with derivatives.
* `gpu_decoding`: attention of one query for each head on GPUs, to keys in arrays or in pages.
* `matmul`: products of matrices by blocks, on TPUs.
* `paged_attention`: attention of one query for each head to keys in pages, on TPUs.
* `ragged_paged_attention`: attention of texts of any lengths to keys in pages, on TPUs.
* `splash_masks`: which keys each query sees, as objects.
* `splash_blocks`: lists of the blocks that a mask leaves.
* `splash_attention`: attention under masks on TPUs, as kernels with derivatives.
* `splash_kernel`: the same as objects that users make and call.
* `grouped_products`: products of the rows of groups with a matrix for each group, on TPUs.
"""
