"""jax.scipy.cluster.vq: vector quantisation."""
from __future__ import annotations

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import numpy as jnp
from ...numpy.promotion import as_array, check_arraylike, promote_dtypes_inexact

__all__ = ["vq"]


def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The nearest code of each observation, and its distance.

    Args:
      obs: ``(m, n)`` or, of numbers, ``(m,)``. code_book: ``(k, n)`` or ``(k,)``.
      check_finite: accepted for compatibility.

    Returns:
      indices ``(m,)`` and distances ``(m,)``.

    Raises:
      ValueError: ranks or lengths that do not fit.

    Source: `scipy.cluster.vq.vq`.

    >>> jsp.cluster.vq.vq(jnp.array([[0.9], [5.2]]), jnp.array([[1.], [5.]]))[0]
    Array([0, 1], dtype=int32)
    """
    check_arraylike("scipy.cluster.vq.vq", obs, code_book)
    return _vq(obs, code_book)


@inlined
def _vq(obs, code_book):
    obs, code_book = (as_array(x) for x in promote_dtypes_inexact(obs, code_book))
    if obs.ndim != code_book.ndim:
        raise ValueError(f"vq: obs and code_book must have one rank, got shapes {obs.shape} and {code_book.shape}")
    if obs.ndim not in (1, 2):
        raise ValueError(f"vq: obs must have one or two axes, got shape {obs.shape}")
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    if obs.shape[1] != code_book.shape[1]:
        raise ValueError(f"vq: observations and codes must have one length, got shapes {obs.shape} and {code_book.shape}")
    distances = jnp.linalg.norm(obs[:, None, :] - code_book[None, :, :], axis=-1)
    codes = jnp.argmin(distances, -1)
    return codes, jnp.take_along_axis(distances, codes[:, None], -1)[:, 0]  # a minimum would share its slope among codes as near
