"""Kernels on blocks of arrays (`jax.experimental.pallas`): the language, and its interpreter.

* `spaces`, `specs`: what a caller writes: memory, blocks, grids, options.
* `grid`: the program that is made of it.
* `call`: `pallas_call` and its primitive.
* `interpreter`: the program as a loop on arrays, whose `blocks` are cut out and put back; `buffers`, `order`: as a TPU runs it.
* `machine`: the program operation by operation, where races are looked for.
* `uninitialized`: what memory holds at first; `bounds`: reads and stores beyond the end.
* `memory`, `control`, `copies`, `semaphores`: what kernels are written with besides ``ref[...]``.
* `devices`: other devices of the mesh; `cores`: the cores of one; `chips`: facts about kinds of chips.
* `hidden`: memory that a kernel uses and nobody gives it.
* `pipeline`: blocks of large memory through two buffers, inside a kernel.
* `generator`: random bits of the core that runs a kernel.
* `mode`: kernels interpreted that do not ask for it.
* `cost`: estimates.
* `einshape`: axes in another order, split and merged, by an equation.
* `watching`: checks, and values for a profile.
* `tpu`, `triton`: what is there for one platform only.

A kernel works on mutable references (`jax_core.references`), so that its program is a jaxpr like any other.
"""
