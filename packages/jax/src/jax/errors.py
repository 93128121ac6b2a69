"""jax.errors: implemented in `jax_core.representation.errors`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.representation.errors", """
    ConcretizationTypeError InconclusiveDimensionOperation JAXIndexError JAXTypeError JaxRuntimeError
    JaxprTypeError KeyReuseError NonConcreteBooleanIndexError ShardingTypeError TracerArrayConversionError
    TracerBoolConversionError TracerIntegerConversionError TypePromotionError UnexpectedTracerError""")
