"""This backend keeps the contract that core states for all backends."""
from jax_core.testing.contract import *
