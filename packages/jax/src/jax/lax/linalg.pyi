"""Types of `jax.lax.linalg`. Written by packages/jax/tools/make_stubs.py."""
from enum import Enum
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable

class EigImplementation(Enum):
    """Libraries for general matrices; which exist depends on the platform."""
    CUSOLVER = ...
    MAGMA = ...
    LAPACK = ...
class EighImplementation(Enum):
    """Algorithms for Hermitian matrices; which exist depends on the platform."""
    QR = ...
    JACOBI = ...
    QDWH = ...
class SvdAlgorithm(Enum):
    """How `svd` computes; which of these there are depends on the platform."""
    DEFAULT = ...
    QR = ...
    JACOBI = ...
    POLAR = ...
    DIVIDE_AND_CONQUER = ...
def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular L with ``L L^H = x``; NaN where ``x`` is not positive definite."""
cholesky_p: Any
def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular factor of ``R^T R + w w^T``, in O(n^2) per matrix."""
cholesky_update_p: Any
def eig(x: ArrayLike, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True, enable_eigvec_derivs: bool = False, implementation: EigImplementation | None = None, use_magma: bool | None = None) -> list[Array]:
    """Eigenvalues and eigenvectors of general square matrices."""
eig_p: Any
def eigh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True, subset_by_index: tuple[int, int] | None = None, implementation: EighImplementation | None = None) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues of Hermitian matrices."""
eigh_p: Any
def geqp3(a: ArrayLike, jpvt: ArrayLike, *, use_magma: bool | None = None) -> tuple[Any, Any, Any]:
    """As `geqrf`, with columns pivoted: returns the factors, the pivots (counted from 1) and the taus."""
geqp3_p: Any
def geqrf(a: ArrayLike) -> tuple[Any, Any]:
    """Householder form of the QR decomposition of ``[..., m, n]``: R above, the reflections' vectors below the diagonal, and their factors ``[..., min(m, n)]``."""
geqrf_p: Any
def hessenberg(a: ArrayLike) -> list[Array]:
    """Reduction to upper Hessenberg form by reflections."""
hessenberg_p: Any
def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The first columns of the product of reflections ``I - tau v v^H``."""
householder_product_p: Any
def lu(x: ArrayLike) -> list[Array]:
    """LU factors with partial pivoting."""
lu_p: Any
def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The permutation that swapping row i with row ``pivots[i]``, for i = 0, 1, ..., makes."""
lu_pivots_to_permutation_p: Any
def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """``Q c`` or ``c Q``, with Q the product of reflections (its conjugate transpose with ``transpose``)."""
ormqr_p: Any
def qdwh(x: ArrayLike, *, is_hermitian: bool = False, max_iterations: int | None = None, eps: float | None = None, dynamic_shape: tuple[int, int] | None = None) -> tuple[Any, Any, Any, Any]:
    """Polar decomposition ``x = u @ h`` with orthonormal columns of u and Hermitian positive semidefinite h."""
def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None) -> tuple[Array, ...]:
    """QR decomposition: ``x = q @ r`` with orthonormal columns of q and upper triangular r."""
qr_p: Any
def schur(x: ArrayLike, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False, select_callable: Callable[..., object] | None = None) -> list[Array]:
    """Schur form: ``x = z @ t @ z^H`` with unitary z."""
schur_p: Any
def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True, subset_by_index: tuple[int, int] | None = None, algorithm: SvdAlgorithm | None = None) -> Any:
    """Singular values and vectors: ``x = u @ diag(s) @ vh``."""
svd_p: Any
def symmetric_product(a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False) -> Any:
    """``alpha * a a^T + beta * c``."""
symmetric_product_p: Any
def triangular_solve(a: ArrayLike, b: ArrayLike, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False, conjugate_a: bool = False, unit_diagonal: bool = False) -> Array:
    """Solve ``op(a) x = b`` (``left_side``) or ``x op(a) = b`` for triangular matrices ``a``."""
triangular_solve_p: Any
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Array]:
    """Reduction of Hermitian matrices to tridiagonal form by reflections."""
tridiagonal_p: Any
def tridiagonal_solve(dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False) -> Array:
    """Solve tridiagonal systems."""
tridiagonal_solve_p: Any
