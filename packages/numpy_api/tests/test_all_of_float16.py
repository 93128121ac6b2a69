"""Every number of float16 through the elementary functions, in one large array and in small ones: these are lowered in other ways."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_numpy_api import numpy as jnp

NUMBERS = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
NAMES = ("sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh square reciprocal "
         "sign floor ceil rint trunc deg2rad rad2deg sinc").split()


@pytest.mark.parametrize("count", [512, 1 << 16])
@pytest.mark.parametrize("name", NAMES)
def test_within_four_units_in_the_last_place(name, count):
    function = jit(getattr(jnp, name))
    found = np.concatenate([np.asarray(function(part)) for part in NUMBERS.reshape(-1, count)]).astype(np.float64)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(NUMBERS.astype(np.float64))
        if name == "sinc":
            exact = np.where(np.isinf(NUMBERS), 0, exact)
        rounded = exact.astype(np.float16)
        near = abs(found - exact) <= 4 * np.spacing(abs(rounded)).astype(np.float64)
    wrong = ~(near | (found == rounded) | (np.isnan(found) & np.isnan(exact)))
    assert not wrong.any(), [(NUMBERS[i], found[i], exact[i]) for i in np.flatnonzero(wrong)[:5]]
