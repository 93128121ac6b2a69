"""Types of `jax.errors`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any

class ConcretizationTypeError(JAXTypeError):
    """The value of a traced array was needed while only its type is known."""
class InconclusiveDimensionOperation(Exception):
    """A comparison of symbolic dimensions has no answer that holds for all their values."""
class JAXIndexError(IndexError):
    """An index is not of a kind that JAX can use here."""
class JAXTypeError(TypeError):
    """A value is not of a kind that JAX can use here."""
class JaxRuntimeError(RuntimeError):
    """Runtime errors thrown by the JAX runtime. While the JAX runtime may raise other exceptions as well, most exceptions thrown by the runtime are instances of this class."""
    @property
    def error_code(self) -> Any: ...
    @property
    def error_code_string(self) -> Any: ...
    @property
    def error_message(self) -> Any: ...
class JaxprTypeError(TypeError):
    """A jaxpr is ill-typed: a bug in a transformation or in a user's own jaxpr interpreter."""
class KeyReuseError(JAXTypeError):
    """A random key was consumed twice. Remedy: `jax.random.split` it first."""
class NonConcreteBooleanIndexError(JAXIndexError):
    """An array was indexed with a traced boolean mask, so the shape of the result is unknown."""
class ShardingTypeError(Exception):
    """The shardings in the types of an operation's operands do not go together, or do not say what that of its result is."""
class TracerArrayConversionError(JAXTypeError):
    """A traced array was handed to something that needs its numbers: a NumPy function, `np.asarray`."""
class TracerBoolConversionError(ConcretizationTypeError):
    """The truth value of a traced array was asked: `if x`, `while x`, `x and y`, `bool(x)`."""
class TracerIntegerConversionError(JAXTypeError):
    """A traced array was used where Python needs an integer: a list index, `range`, a shape."""
class TypePromotionError(ValueError):
    """No implicit promotion leads from the given dtypes to a common one. Remedy: `x.astype(dtype)`."""
class UnexpectedTracerError(JAXTypeError):
    """A tracer outlived the transformation that made it, and was used afterwards."""
