"""Types of `jax.experimental.sparse.ad`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Sequence

def flatten_fun_for_sparse_ad(fun: Callable[..., Any], argnums: int | Sequence[int], args: Sequence[object]) -> tuple:
    """``fun`` as a function of the stored elements of the arguments to be differentiated."""
def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.grad`; sparse arguments have sparse gradients."""
def is_sparse(x: object) -> bool:
    """Whether ``x`` is a sparse array."""
def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.jacfwd`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes."""
def jacobian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """The same as `jacrev`."""
def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.jacrev`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes."""
def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.value_and_grad`; sparse arguments have sparse gradients."""
