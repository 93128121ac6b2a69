"""Types of `jax.scipy.optimize`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable, Mapping, NamedTuple

class OptimizeResults(NamedTuple):
    """Result of `minimize`."""
    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any
def minimize(fun: Callable[..., Any], x0: ArrayLike, args: tuple = ..., *, method: str, tol: float | None = None, options: Mapping[str, object] | None = None) -> OptimizeResults:
    """A local minimum of ``fun(x, *args)``."""
