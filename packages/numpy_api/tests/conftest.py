"""Tests run with every jaxpr type-checked wherever one is made."""
import os

os.environ.setdefault("JAX_ENABLE_CHECKS", "1")
