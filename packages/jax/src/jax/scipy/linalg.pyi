"""Types of `jax.scipy.linalg`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Literal, overload

def block_diag(*arrs: Any) -> Array:
    """The matrix with ``arrs`` as blocks on its diagonal; numbers and vectors count as one row."""
def cho_factor(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, bool]:
    """`cholesky` and ``lower``, for `cho_solve`."""
def cho_solve(c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """The ``x`` with ``a @ x = b``, for the result of ``cho_factor(a)``."""
def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The triangular ``R`` with ``R^H R = a``, or with ``lower`` the ``L`` with ``L L^H = a``. One triangle is read."""
def circulant(c: ArrayLike) -> Array:
    """The matrix whose columns are ``c``, moved down by one more each time, around the end."""
def companion(a: ArrayLike) -> Array:
    """The companion matrix of the polynomial with coefficients ``a``, highest first: its eigenvalues are the roots."""
def convolution_matrix(a: ArrayLike, n: int, mode: str = 'full') -> Array:
    """The matrix that convolves a vector of length ``n`` with ``a``; ``mode`` as for `jax.numpy.convolve`."""
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of square matrices."""
def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix of the discrete Fourier transform of length ``n``, divided by ``n`` or its root as ``scale`` says."""
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The matrix exponential."""
def expm_frechet(A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The derivative of `expm` at ``A`` in the direction ``E``; with ``compute_expm`` the pair of value and derivative."""
def fiedler(a: ArrayLike) -> Array:
    """The symmetric matrix of differences ``|a[i] - a[j]|``. Source: `scipy.linalg.fiedler`."""
def fiedler_companion(a: ArrayLike) -> Array:
    """Fiedler's companion matrix of the polynomial ``a``, highest coefficient first: pentadiagonal, with its roots as eigenvalues. Source: Fiedler, "A note on companion matrices", Linear Algebra Appl. 372 (2003)."""
def funm(A: ArrayLike, func: Callable[[ArrayLike], ArrayLike], disp: bool = True) -> Any:
    """The analytic function ``func`` of a matrix, complex, by Parlett's recurrence."""
def hadamard(n: int, dtype: DTypeLike = ...) -> Array:
    """Sylvester's matrix of 1 and -1 with orthogonal rows; ``n`` a power of 2. Raises ValueError for another ``n``."""
def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix with constant antidiagonals, first column ``c`` and last row ``r`` (zeros by default); ``r[0]`` is not read."""
def helmert(n: int, full: bool = False) -> Array:
    """Helmert's orthogonal matrix; by default without its first row, the constant one."""
def hilbert(n: int) -> Array:
    """The matrix ``1 / (i + j + 1)``."""
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of square matrices."""
def invhilbert(n: int) -> Array:
    """The inverse of `hilbert`, whose elements are integers. Source: `scipy.linalg.invhilbert`."""
def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal`, whose elements are integers. Source: `scipy.linalg.invpascal`."""
def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Leslie's matrix of a population: fecundities ``f`` in the first row, survival rates ``s`` below the diagonal."""
def lu(a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, ...]:
    """``(P, L, U)`` with ``a = P @ L @ U``, or with ``permute_l`` the pair ``(P @ L, U)``."""
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """LU factors in one matrix, and the rows swapped at each step, for `lu_solve`."""
def lu_solve(lu_and_piv: tuple[ArrayLike, ArrayLike], b: ArrayLike, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """The ``x`` with ``a @ x = b``, for the result of ``lu_factor(a)``."""
def pascal(n: int, kind: str | None = None) -> Array:
    """The matrix of binomial coefficients: "symmetric" (default), "lower" or "upper" triangular; float32 always."""
def polar(a: ArrayLike, side: str = 'right', *, method: str = 'qdwh', eps: float | None = None, max_iterations: int | None = None) -> tuple[Array, Array]:
    """Polar decomposition: ``a = u @ p``, or with ``side="left"`` ``a = p @ u``, ``p`` hermitian and not negative."""
def qr(a: ArrayLike, overwrite_a: bool = False, lwork: int | None = None, mode: str = 'full', pivoting: bool = False, check_finite: bool = True) -> tuple[Array, ...]:
    """QR decomposition."""
def qr_multiply(a: ArrayLike, c: ArrayLike, mode: str = 'right', pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False, overwrite_c: bool = False) -> tuple[Array, ...]:
    """The product of the ``Q`` of ``a`` with ``c``, and ``R``."""
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form that belongs to a real one: ``T`` becomes triangular, ``Z @ T @ Z^H`` stays."""
def schur(a: ArrayLike, output: str = 'real') -> tuple[Array, Array]:
    """Schur form ``(T, Z)`` with ``a = Z T Z^H``."""
def solve(a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, debug: bool = False, check_finite: bool = True, assume_a: str = 'gen') -> Array:
    """The ``x`` with ``a @ x = b``."""
def solve_sylvester(A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = 'schur', tol: float = 1e-08) -> Array:
    """The ``X`` with ``A X + X B = C``."""
def solve_triangular(a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, debug: None = None, check_finite: bool = True) -> Array:
    """The ``x`` with ``op(a) @ x = b`` for a triangular ``a``."""
def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of a matrix, complex. NaN where there is none."""
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix with constant diagonals, first column ``c`` and first row ``r`` (the conjugate of ``c`` by default)."""
@overload
def eigh(a: ArrayLike, b: ArrayLike | None = None, lower: bool = True, eigvals_only: Literal[False] = False, overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: tuple[int, int] | None = None, type: int = 1, check_finite: bool = True) -> tuple[Array, Array]:
    """Eigenvalues (rising) and eigenvectors of hermitian matrices, also generalised."""
@overload
def eigh(a: ArrayLike, b: ArrayLike | None = None, lower: bool = True, *, eigvals_only: Literal[True], overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: tuple[int, int] | None = None, type: int = 1, check_finite: bool = True) -> Array: ...
@overload
def eigh(a: ArrayLike, b: ArrayLike | None = None, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: tuple[int, int] | None = None, type: int = 1, check_finite: bool = True) -> Any: ...
@overload
def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, *, eigvals_only: Literal[False] = False, select: str = "a", select_range: tuple[float, float] | None = None, tol: float | None = None, key: ArrayLike | None = None) -> tuple[Array, Array]:
    """Eigenvalues (rising) and eigenvectors of the Hermitian tridiagonal matrix with diagonal ``d`` and ``e`` above it."""
@overload
def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, *, eigvals_only: Literal[True], select: str = "a", select_range: tuple[float, float] | None = None, tol: float | None = None, key: ArrayLike | None = None) -> Array: ...
@overload
def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, *, eigvals_only: bool = False, select: str = "a", select_range: tuple[float, float] | None = None, tol: float | None = None, key: ArrayLike | None = None) -> Any: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd") -> tuple[Array, Array, Array]:
    """Singular value decomposition ``(U, s, Vh)`` with ``a = U diag(s) Vh``, or ``s`` alone. ``lapack_driver`` has no effect."""
@overload
def svd(a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False], overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd") -> Array: ...
@overload
def svd(a: ArrayLike, full_matrices: bool, compute_uv: Literal[False], overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd") -> Array: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd") -> Any: ...
@overload
def hessenberg(a: ArrayLike, *, calc_q: Literal[False] = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Hessenberg form ``H``, zero below its first subdiagonal, with ``a == Q @ H @ Q^H``."""
@overload
def hessenberg(a: ArrayLike, *, calc_q: Literal[True], overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]: ...
@overload
def hessenberg(a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any: ...
