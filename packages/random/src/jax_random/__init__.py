"""Random numbers: Threefry keys and distributions."""
from jax_core.source import exclude_package

exclude_package(__file__)
