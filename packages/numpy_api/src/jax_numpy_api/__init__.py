"""The array API: `lax` (primitives with all their rules), `numpy`, `scipy`, `nn` and what belongs to them."""
from jax_core.source import exclude_package

exclude_package(__file__)
