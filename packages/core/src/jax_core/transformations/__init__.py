"""jvp, linearize and transpose, vmap, custom rules, recomputation: each a trace and its rules.

``forward``           pairs of a value and its tangent, by the primitives' JVP rules
``reverse``           the linear equations on a tape, and their transpose
``parts``             cotangents of parts of a value, joined when all are there
``autodiff``          the public functions of derivatives
``pullback``          what `vjp` returns
``batching``          one call for a whole batch, by the primitives' batching rules
``vmap``              the public function
``vmappable``         types of a library's own that `vmap` maps as wholes
``custom_jvp``        functions with a forward rule of the user's
``custom_vjp``        functions with a backward rule of the user's
``custom_vjp_remat``  those whose forward function runs only where its residuals are kept
``accumulators``      where rules that return no cotangents add them
``custom_vmap``       functions with a batching rule of the user's
``logs``              what users' backward functions log beside the cotangents
``splitting``         what the known inputs of a program determine, and the rest
``saving``            what a policy of `checkpoint` keeps
``checkpoint``        recomputing values in the backward pass
``program_call``      primitives that are a program and something said about it
``manual``            programs that every device runs on its own part
``high_primitives``   primitives on types that arrays represent
``structured_residuals``  what rules of these keep for the backward pass in trees of their own
"""
