"""Types of `jax.numpy.linalg`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Literal, NamedTuple, Sequence, overload

class EigResult(NamedTuple):
    """What `eig` returns: complex ``eigenvalues`` ``[..., n]`` and ``eigenvectors`` ``[..., n, n]``, one in each column."""
    eigenvalues: Array
    eigenvectors: Array
class EighResult(NamedTuple):
    """What `eigh` returns: rising ``eigenvalues`` ``[..., n]`` and ``eigenvectors`` ``[..., n, n]``, one in each column."""
    eigenvalues: Array
    eigenvectors: Array
class QRResult(NamedTuple):
    """What `qr` returns: ``Q`` with orthonormal columns and upper triangular ``R``, whose product is the matrix."""
    Q: Array
    R: Array
class SVDResult(NamedTuple):
    """What `svd` returns: ``U``, falling singular values ``S`` and ``Vh``; the matrix is ``(U * S) @ Vh``."""
    U: Array
    S: Array
    Vh: Array
class SlogdetResult(NamedTuple):
    """What `slogdet` returns: the determinant is ``sign * exp(logabsdet)``."""
    sign: Array
    logabsdet: Array
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The triangular ``L`` with ``L @ L.conj().T == a``."""
def cond(x: ArrayLike, p: int | str | float | None = None) -> Array:
    """Condition number: the norm times that of the inverse."""
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Cross product of vectors of 3 elements."""
def det(a: ArrayLike) -> Array:
    """Determinants of square matrices. Source: `numpy.linalg.det`; LU factorisation, and in closed form up to 3 by 3."""
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Diagonals of the matrices on the last two axes."""
def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and right eigenvectors of square matrices, as complex numbers. Source: `numpy.linalg.eig`."""
def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues (rising) and eigenvectors of hermitian matrices."""
def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices, as complex numbers. Source: `numpy.linalg.eigvals`."""
def eigvalsh(a: ArrayLike, UPLO: str | None = 'L', *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of hermitian matrices, rising; arguments as for `eigh`. Source: `numpy.linalg.eigvalsh`."""
def inv(a: ArrayLike) -> Array:
    """Inverse of square matrices. Source: `numpy.linalg.inv`."""
def lstsq(a: ArrayLike, b: ArrayLike, rcond: ArrayLike | None = None, *, numpy_resid: bool = False) -> tuple[Array, ...]:
    """Least-squares solution of ``a @ x == b``, of least norm where there are several."""
def matmul(x1: ArrayLike, x2: ArrayLike, /, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.matmul`."""
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: str | int = 'fro') -> Array:
    """Norm of the matrices on the last two axes."""
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power, by repeated squaring. Source: `numpy.linalg.matrix_power`."""
def matrix_rank(M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False, tol: ArrayLike | None = None) -> Array:
    """Number of singular values above a limit."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged. Source: `numpy.matrix_transpose`."""
def multi_dot(arrays: Sequence[ArrayLike], *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Product of several matrices (the first and last may be vectors) in the cheapest order."""
def norm(x: ArrayLike, ord: int | str | float | None = None, axis: tuple[int, ...] | int | None = None, keepdims: bool = False) -> Array:
    """Norm of vectors or matrices."""
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Outer product of two vectors."""
def pinv(a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None) -> Array:
    """Pseudo-inverse of Moore and Penrose."""
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Sign and logarithm of the modulus of determinants."""
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The ``x`` with ``a @ x == b``."""
def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, falling. Source: `numpy.linalg.svdvals`."""
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`jax.numpy.tensordot`."""
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse for `tensordot` over ``ind`` axes. Source: `numpy.linalg.tensorinv`."""
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The ``x`` with ``tensordot(a, x, x.ndim) == b``, after ``axes`` of ``a`` were moved to its end."""
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Sums of the diagonals of the matrices on the last two axes."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.vecdot`."""
def vector_norm(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: int | str | float = 2) -> Array:
    """Norm of vectors along axes, or of the flattened array."""
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False, subset_by_index: tuple[int, int] | None = None) -> SVDResult:
    """Singular value decomposition ``a == U @ diag(S) @ Vh``."""
@overload
def svd(a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False, subset_by_index: tuple[int, int] | None = None) -> Array: ...
@overload
def svd(a: ArrayLike, full_matrices: bool, compute_uv: Literal[False], hermitian: bool = False, subset_by_index: tuple[int, int] | None = None) -> Array: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, subset_by_index: tuple[int, int] | None = None) -> Any: ...
@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """QR decomposition: ``a == Q @ R``, ``Q`` unitary, ``R`` upper triangular."""
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: ArrayLike, mode: str = "reduced") -> Any: ...
