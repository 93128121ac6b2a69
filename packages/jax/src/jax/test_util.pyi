"""Types of `jax.test_util`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Mapping, Sequence

def check_grads(f: Callable[..., Any], args: Sequence[object], order: int, modes: Sequence[str] = ..., atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, eps: float | None = None) -> None:
    """Compare derivatives of ``f`` up to ``order`` with finite differences, in forward and reverse mode."""
def check_jvp(f: Callable[..., Any], f_jvp: Callable[..., Any], args: Sequence[object], atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, eps: float = 0.0001, err_msg: str = '') -> None:
    """Compare ``f_jvp(primals, tangents)`` with a central difference of ``f`` in a random direction."""
def check_vjp(f: Callable[..., Any], f_vjp: Callable[..., Any], args: Sequence[object], atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, eps: float = 0.0001, err_msg: str = '') -> None:
    """Compare ``f_vjp(*primals) -> (value, pullback)`` with a central difference, through a random cotangent."""
