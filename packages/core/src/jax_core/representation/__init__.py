"""What programs are made of: dtypes, types of values, effects, trees, primitives, jaxprs and how they print.

``typing``             names for what the parameters of public functions take
``dtypes``             which exist, how they are classified, how they combine
``effects``            what a program does besides computing its results
``interrupts``         Ctrl-C while something runs that cannot be begun again
``tree_nodes``         which types are containers of pytrees
``tree``               pytrees: flattening, mapping, prefixes, paths
``source``             where in the user's program something is written
``tracebacks``         errors that show the user's frames
``spec_text``          sentences that the specification prints
``errors``             the exception classes of `jax.errors`
``primitive``          the operations that programs are made of, with all their rules
``traits``             what primitives say of themselves: for planning, printing, checkpoint
``marks``              rules that are given by name (`LINEAR`, `ELEMENTWISE`, ...)
``aval``               abstract values: what is known of an array while a program is traced
``literals``           numbers with a dtype
``placements``         what a placement is, told without its class
``splits``             how values are split over ``Explicit`` mesh axes, as part of their types
``partial_sums``       sums over devices that are still to be made, as part of types
``memory``             which memory values lie in, as part of types
``manual_axis_type``   how a value in a manual region stands to the mesh, as users see it
``high``               types of values that arrays represent
``extended``           arrays of the dtypes that libraries define
``array``              `Array`, and the table of methods that arrays and tracers share
``arguments``          names of a traced function's arguments, and the static ones among them
``jaxpr``              programs as data
``printing``           how programs print
``sharding_pictures``  how an array is spread over devices, drawn
``notebooks``          whether the program runs in IPython
"""
