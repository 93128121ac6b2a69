"""jax_core: the tracing core. Avals, primitives, jaxprs, tracers, and the transformations of pure functions.

The modules, from the ground up:

``config``, ``errors``, ``dtypes``, ``tree``     flags, exceptions, promotion, pytrees
``aval``, ``effects``, ``primitive``             types of values, effects, and operations with all their rules
``jaxpr``, ``pretty``                            programs as data, and how they print
``context``, ``trace``, ``staging``              the current trace; evaluation; writing down programs
``forward``, ``reverse``, ``batching``           jvp, linearize and transpose, vmap
``structural``                                   the primitives that transformations themselves need
``custom_jvp``, ``custom_vjp``, ``remat``        derivatives by the user's own rules, recomputation
``jit``, ``stages``, ``tracing``                 compilation, ahead-of-time stages, make_jaxpr and eval_shape
``autodiff``, ``vmap``                           the public functions
``interfaces``, ``backends``, ``array``          what a backend implements, how it is found, the `Array` class
"""
__version__ = "0.1.0"
