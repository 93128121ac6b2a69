"""Compiled functions: jit, its stages, make_jaxpr and what explains them.

``options``        the arguments of `jit`, resolved against the function's signature
``call``           one call: its program, traced or found, and the executable
``jit_primitive``  a nested call as one equation, and its rules
``jit``            the public function
``stages``         `trace`, `lower` and `compile` as steps of their own
``tracing``        `make_jaxpr` and `eval_shape`
``operands``       elementwise operations as `make_jaxpr` shows them
``fwd_and_bwd``    the two passes of reverse mode, each compiled once
``drawing``        a program as a picture
``dumping``        files of the programs that are compiled
``explain``        why a function was traced, and what is compiled
``monitoring``     `jax.monitoring`
"""
