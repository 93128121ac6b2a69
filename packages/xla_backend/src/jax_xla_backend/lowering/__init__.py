"""Jaxprs to StableHLO text. `module.lower_module` is what the runtime calls, at the first program.

``module``           inputs, constants, donation, effects, functions, locations
``facts``            what is to be known of a module beside its text
``builder``          what lowering rules write with
``byte_arithmetic``  that of integers of one byte
``bindings``         rules of users' own that build operations with jaxlib's MLIR bindings
``axis_contexts``    what such rules are told of the devices
``templates``        what a rule wrote, kept for the next equation of its kind
``overwriting``      is an array overwritten with what is read from other places of it?
``kept_apart``       results that the compiler would merge with what reads them, or compute twice
``quotients``        those by fewer numbers than there are elements
``kept_nans``        NaN, where code would lose it
``types``            types and constants as text
``values``           SSA values
``extended_dtypes``  arrays of extended dtypes (keys)
``outside_calls``    custom calls and host callbacks
``call_handlers``    jaxlib's handlers of custom calls
``nested_modules``   finished modules within others
``sharding_text``    placements as text
``sharding_rules``   which dimensions of operands and results belong together, in Shardy's terms
``manual_regions``   programs on parts
``metadata``         attributes of operations
"""
