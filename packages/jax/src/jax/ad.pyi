"""Types of `jax.ad`. Written by packages/jax/tools/make_stubs.py."""


class DidntWant:
    """In the result of a pullback: this gradient was not asked for."""
class DontWant:
    """For `VJP.with_refs`: do not compute this gradient."""
class GradRef:
    """In the result of a pullback: the gradient was added to the reference given to `VJP.with_refs`."""
class GradValue:
    """For `VJP.with_refs`: return this gradient as a value, as it is by default."""
