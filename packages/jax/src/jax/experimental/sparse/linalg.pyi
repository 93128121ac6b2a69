"""Types of `jax.experimental.sparse.linalg`. Written by packages/jax/tools/make_stubs.py."""
from jax.typing import ArrayLike
from typing import Any, Callable

def lobpcg_standard(A: ArrayLike | Callable[[ArrayLike], ArrayLike], X: ArrayLike, m: int = 100, tol: float | None = None) -> tuple:
    """The ``k`` largest eigenvalues of a symmetric matrix, from its products with blocks of vectors alone."""
def spsolve(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, b: ArrayLike, tol: float = 1e-06, reorder: int = 1) -> Any:
    """The solution of ``A x = b`` for a square CSR matrix, by SciPy's direct solver on the host."""
spsolve_p: Any
