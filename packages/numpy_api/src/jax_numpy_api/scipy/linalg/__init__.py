"""jax.scipy.linalg: decompositions, solutions, functions of matrices, and matrices of special form.

`_MODULES` says in which module each one is; ``common`` has what they share.
"""
from typing import TYPE_CHECKING

from ..._lazy import names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "decompositions": """cho_factor cho_solve cholesky eigh eigh_tridiagonal hessenberg lu lu_factor lu_solve polar qr
        qr_multiply rsf2csf schur svd""",
    "solving": "det inv solve solve_sylvester solve_triangular",
    "functions": "expm expm_frechet funm sqrtm",
    "special_matrices": """block_diag circulant companion convolution_matrix dft fiedler fiedler_companion hadamard hankel
        helmert hilbert invhilbert invpascal leslie pascal toeplitz""",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _MODULES)
