"""The public namespace `jax.lax.linalg`: matrix factorisations and solvers on the last two axes of arrays.

Names are fetched from their module when first asked for.

Modules without public names: ``common`` (what they share) and ``svd_polar`` (singular values where the platform's library has none).
"""
from typing import TYPE_CHECKING

from ..._lazy import keep_functions as _keep_functions, names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_NAMES = {
    "cholesky": "cholesky cholesky_p cholesky_update cholesky_update_p symmetric_product symmetric_product_p",
    "eigen": "EigImplementation EighImplementation eig eig_p eigh eigh_p",
    "lu": "lu lu_p lu_pivots_to_permutation lu_pivots_to_permutation_p",
    "qr": "geqp3 geqp3_p geqrf geqrf_p householder_product householder_product_p ormqr ormqr_p qr qr_p",
    "polar": "qdwh",
    "schur": "hessenberg hessenberg_p schur schur_p tridiagonal tridiagonal_p",
    "svd": "SvdAlgorithm svd svd_p",
    "triangular": "triangular_solve triangular_solve_p tridiagonal_solve tridiagonal_solve_p",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _NAMES, public="jax.lax.linalg")
_keep_functions(__name__, _NAMES)
