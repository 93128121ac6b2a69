"""Types of `jax.scipy.sparse.linalg`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable

def bicgstab(A: ArrayLike | Callable[..., Any], b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, maxiter: int | None = None, M: ArrayLike | Callable[..., Any] | None = None) -> tuple[Array, ...]:
    """Solution of ``A x = b`` by stabilised biconjugate gradients. Arguments and result as for `cg`; any ``A``."""
def cg(A: ArrayLike | Callable[..., Any], b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, maxiter: int | None = None, M: ArrayLike | Callable[..., Any] | None = None) -> tuple[Array, ...]:
    """Solution of ``A x = b`` by conjugate gradients, for hermitian positive definite ``A``."""
def gmres(A: ArrayLike | Callable[..., Any], b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, restart: int = 20, maxiter: int | None = None, M: ArrayLike | Callable[..., Any] | None = None, solve_method: str = 'batched') -> tuple[Array, ...]:
    """Solution of ``A x = b`` by generalised minimal residuals, restarted."""
