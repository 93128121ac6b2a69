"""jax.experimental.sparse.bcsr: not written yet; each documented name says so when it is used."""
from jax._gaps import missing as _missing

__getattr__, __dir__ = _missing(__name__)
