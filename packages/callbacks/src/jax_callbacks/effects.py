"""The effects of callbacks; see `jax_core.representation.effects` for what the flags decide."""
from __future__ import annotations

from jax_core.representation.effects import UsualEffect


class _OneOfAKind(UsualEffect):
    """All instances of a class are equal: the class says everything."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is type(self)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return type(self).__name__.removesuffix("Effect")


class IOEffect(_OneOfAKind):
    """Something happens in the world outside; it happens exactly as often as the program says."""

    __slots__ = ()
    repeatable = False


class OrderedIOEffect(IOEffect):
    """As `IOEffect`, and in the order in which the program says it."""

    __slots__ = ()
    ordered = True


class DebugEffect(_OneOfAKind):
    """Somebody watches the program; transformations and the compiler may move or repeat it."""

    __slots__ = ()


class OrderedDebugEffect(DebugEffect):
    """As `DebugEffect`, in the order of the program."""

    __slots__ = ()
    ordered = True


io_effect, ordered_io_effect = IOEffect(), OrderedIOEffect()
debug_effect, ordered_debug_effect = DebugEffect(), OrderedDebugEffect()
