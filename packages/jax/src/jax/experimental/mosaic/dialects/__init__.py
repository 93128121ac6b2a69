"""jax.experimental.mosaic.dialects: jaxlib's operations of Mosaic for TPU, ``tpu``, which is not listed, as it is jaxlib's."""
from jax._lazy import table as _table

__getattr__, _, _ = _table(__name__, {"tpu": "jaxlib.mosaic.python.tpu"})
__all__: list[str] = []


def __dir__() -> list[str]:
    return []
