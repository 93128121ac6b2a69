"""jax_core: the tracing core. Avals, primitives, jaxprs, tracers, and the transformations of pure functions.

The modules, from the ground up:

``config``, ``errors``, ``dtypes``, ``tree``     flags, exceptions, promotion, pytrees
``aval``, ``effects``, ``primitive``             types of values, effects, and operations with all their rules
``jaxpr``, ``pretty``                            programs as data, and how they print
``context``, ``trace``, ``staging``              the current trace; evaluation; writing down programs
``forward``, ``reverse``, ``batching``           jvp, linearize and transpose, vmap
``structural``, ``program_call``                 the primitives that transformations themselves need; programs with a note
``pullback``, ``split``                          what vjp returns; programs divided into known and unknown
``custom_jvp``, ``custom_vjp``, ``custom_vmap``  rules of the user's own
``remat``, ``remat_opt``                         recomputation in the backward pass
``refs``, ``manual``, ``manual_axis_type``       mutable references; programs that each device runs on its own part
``jit``, ``stages``, ``tracing``                 compilation, ahead-of-time stages, make_jaxpr and eval_shape
``autodiff``, ``vmap``, ``tree_util``            the public functions
``export``                                       programs that outlive their process
``source``, ``tracebacks``, ``nans``, ``explain``  places in the user's program, and messages that name them
``monitoring``, ``collector``                    events for tools that listen; Python's cycle collector
``public``, ``testing``                          interfaces for libraries; a backend on NumPy, and the contract of backends
``interfaces``, ``backends``, ``array``          what a backend implements, how it is found, the `Array` class
"""
__version__ = "0.1.0"
