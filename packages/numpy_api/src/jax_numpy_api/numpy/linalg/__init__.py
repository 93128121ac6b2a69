"""jax.numpy.linalg, on the last two axes of batches of matrices.

`decompositions`, `systems` (solutions and inverses), `determinants`, `norms`, `products`, and what they share in `matrices`.
"""
from typing import TYPE_CHECKING

from ..._lazy import names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "decompositions": "EigResult EighResult QRResult SVDResult cholesky eig eigh eigvals eigvalsh qr svd svdvals",
    "systems": "inv lstsq pinv solve tensorinv tensorsolve",
    "determinants": "SlogdetResult det slogdet",
    "norms": "cond matrix_norm matrix_rank norm vector_norm",
    "products": "cross diagonal matmul matrix_power multi_dot outer tensordot trace vecdot",
    ".shaping": "matrix_transpose",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _MODULES)
