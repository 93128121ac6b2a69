"""Control flow: loops and conditionals that are part of a traced program. Each module is imported when it is used.

``common``            tracing their functions, checking carries, running eagerly, splitting
``lowering``          `while` and `case` of StableHLO, with tokens
``in_place``          conditionals that hand large operands on without a copy
``scan``              a fixed number of steps, with stacked results
``while_loop``        `while_loop` and `fori_loop`
``cond``              `cond`, `switch` and `platform_dependent`
``platforms``         which function is for the platform of a program
``map``               a function over the leading axis
``associative_scan``  prefixes of an associative operation, in logarithmic depth
``solves``            solutions defined by equations, differentiated through these
``high_types``        loops and branches on types that arrays represent
"""
