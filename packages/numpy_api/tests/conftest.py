"""Tests run with every jaxpr type-checked wherever one is made, and draw the same numbers whichever tests ran before."""
import os

import numpy as np
import pytest

os.environ.setdefault("JAX_ENABLE_CHECKS", "1")


@pytest.fixture(autouse=True)
def _same_numbers(request):
    for name in ("RNG", "_RNG"):
        if hasattr(request.module, name):
            setattr(request.module, name, np.random.default_rng(0))
