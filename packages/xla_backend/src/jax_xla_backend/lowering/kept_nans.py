"""NaN where the operand is, of functions whose code would lose it (`planning.known_nans`)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import JaxprEqn

if TYPE_CHECKING:
    from .builder import Builder


def keep_nan(b: Builder, eqn: JaxprEqn, env: dict) -> None:
    """Have the result of ``eqn``, of one operand, which has just been written, be NaN where that is NaN."""
    x, out = b.atom(eqn.invars[0], env), b.atom(result := eqn.outvars[0], env)
    is_nan = b.emit(f"stablehlo.compare NE, {x}, {x}, FLOAT", x, x, out=ShapedArray(x.aval.shape, bool))
    nan = b.full(complex(np.nan, np.nan), x.aval) if x.aval.dtype.kind == "c" else x
    env[result] = str(b.emit(f"stablehlo.select {is_nan}, {nan}, {out}", is_nan, nan, out, out=out.aval))
