"""Sentences that the specification prints, and that we therefore print word for word; every other message is our own.

They stand apart because `.originality-allow` names them by their lines.

Source: the introduction, In [27] and In [30].
"""

STAGED_OUT = (
    "this concrete value was not available in Python because it depends on the value of the arguments to {function}, "
    "transformed by {transformation}. at flattened positions {positions}, and the computation of these values is being "
    "staged out (that is, delayed rather than executed eagerly)."
)
TRACED_SHAPE = (
    "Shapes must be 1D sequences of concrete values of integer type, got {shape}.\n"
    "If using `jit`, try using `static_argnums` or applying `jit` to smaller subfunctions."
)
