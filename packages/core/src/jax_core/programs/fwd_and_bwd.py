"""`fwd_and_bwd`: the two passes of reverse mode as functions of their own, each compiled once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from ..representation.arguments import check_callable, is_position
from ..transformations.autodiff import positions, split_args, vjp
from .jit import jit

if TYPE_CHECKING:
    from ..representation.typing import PyTree


def fwd_and_bwd(fun: Callable[..., PyTree], argnums: int | Sequence[int], has_aux: bool = False,
                jitted: bool = True) -> tuple[Callable, Callable]:
    """The forward and the backward pass of ``fun`` as two functions, each compiled once.

    Args:
      argnums: which positional arguments to differentiate.
      has_aux: ``fun`` returns ``(value, auxiliary data)``.
      jitted: compile both.

    Returns:
      ``fwd(*args) -> (value, residuals)`` (``(value, residuals, aux)`` with ``has_aux``), and ``bwd(residuals, cotangent)``,
      which returns a tuple of gradients, or one gradient where ``argnums`` is an int.

    >>> fwd, bwd = jax.fwd_and_bwd(lambda x: x ** 2, argnums=0)
    >>> y, residuals = fwd(3.0)
    >>> bwd(residuals, 1.0)
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable("fwd_and_bwd", fun)
    positions("fwd_and_bwd", argnums)

    def fwd(*args):
        chosen, place = split_args("fwd_and_bwd", fun, args, argnums)
        return vjp(lambda *values: fun(*place(*values)), *chosen, has_aux=has_aux)

    def bwd(residuals, cotangent):
        grads = residuals(cotangent)
        return grads[0] if is_position(argnums) else grads
    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
