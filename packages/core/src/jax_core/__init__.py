"""jax_core: the tracing core. Avals, primitives, jaxprs, tracers, and the transformations of pure functions.

Folders, from the ground up; a module imports only from its own folder and from those above it in this list
(`tests/test_architecture.py` checks that, and that there are no circles):

``configuration``    flags: the engine, the catalogue, those without effect; the state of a thread
``compat``           what only the habits of other libraries ask for, as mixins
``representation``   dtypes, types of values, effects, pytrees, primitives with their rules, jaxprs and how they print
``traces``           how a call of a primitive finds its way: evaluation, writing down programs; primitives that rules need
``references``       mutable references, and programs on them as pure ones
``transformations``  jvp, linearize and transpose, vmap, custom rules, checkpoint: each a trace and its rules
``programs``         jit: options, a call and its caches, the primitive, the public function; stages; make_jaxpr
``export``           programs that outlive their process
``public``           interfaces for libraries, assembled in the packages above
``testing``          a backend on NumPy, and the contract of backends

``interfaces`` is what a backend implements, ``backends`` finds it. ``extension_points`` lists what packages above fill in, ``versions``
checks that the packages installed fit together.
"""
from .versions import __version__
