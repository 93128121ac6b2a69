"""Density estimation with normal kernels. Source: Scott, "Multivariate Density Estimation", Wiley 1992."""
from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.extension_points import random_functions
from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.tree_nodes import register_pytree_node_class
from jax_core.representation.typing import ArrayLike, PyTree

from ... import lax, numpy as jnp
from ...numpy.promotion import check_arraylike
from ..special import logsumexp, ndtr
from .multivariate_normal import _logpdf as _normal_logpdf


@inlined
def _log_density(points, dataset, factor, weights):
    """At each point ``log sum_i w_i N(point; data_i, L L^T)``, in the dtype of points and samples together."""
    dtype = jnp.promote_types(jnp.promote_types(points.dtype, dataset.dtype), factor.dtype)
    points, dataset, factor, weights = (x.astype(dtype) for x in (points, dataset, factor, weights))
    white = [lax.linalg.triangular_solve(factor, x, left_side=True, lower=True) for x in (points, dataset)]
    differences = white[0][:, :, None] - white[1][:, None, :]
    energy = -0.5 * jnp.sum(differences * differences, 0)
    log_norm = 0.5 * dataset.shape[0] * math.log(2 * math.pi) + jnp.sum(jnp.log(jnp.diagonal(factor)))
    return logsumexp(energy, axis=1, b=jnp.broadcast_to(weights, energy.shape)) - log_norm


@register_pytree_node_class
class gaussian_kde:  # SciPy's name
    """An estimate of a density from samples: the mean of normal densities around them.

    Args:
      dataset: samples, ``(n,)`` or ``(d, n)``.
      bw_method: bandwidth relative to the samples' spread: "scott" (default), "silverman", a number, or a function of the
        estimate.
      weights: of the samples, ``(n,)``; equal by default.

    Attributes: ``dataset``, ``weights``, ``covariance`` of a kernel, ``inv_cov``, ``d``, ``n``, ``neff``.

    >>> jax.scipy.stats.gaussian_kde(jnp.array([0., 1., 2.])).evaluate(jnp.array([1.]))
    Array([0.31815624], dtype=float32)
    """

    __slots__ = ("dataset", "weights", "covariance", "inv_cov")
    dataset: Array
    weights: Array
    covariance: Array
    inv_cov: Array

    def __init__(self, dataset: ArrayLike, bw_method: str | ArrayLike | Callable[[Any], ArrayLike] | None = None,
                 weights: ArrayLike | None = None):
        check_arraylike("gaussian_kde", dataset)
        samples = jnp.atleast_2d(jnp.asarray(dataset))
        if jnp.issubdtype(samples.dtype, jnp.complexfloating):
            raise NotImplementedError("gaussian_kde: complex samples are not supported; stack real and imaginary parts")
        if samples.size <= 1:
            raise ValueError(f"gaussian_kde: dataset must have more than one element, got shape {samples.shape}")
        samples = samples.astype(jnp.result_type(samples, jnp.float_) if not jnp.issubdtype(samples.dtype, jnp.inexact)
                                 else samples.dtype)
        n = samples.shape[1]
        if weights is None:
            shares = jnp.full(n, 1 / n, samples.dtype)
        else:
            check_arraylike("gaussian_kde", weights)
            shares = jnp.atleast_1d(jnp.asarray(weights, samples.dtype))
            if shares.shape != (n,):
                raise ValueError(f"gaussian_kde: weights must have shape {(n,)}, got {shares.shape}")
            shares = shares / jnp.sum(shares)
        self.dataset, self.weights = samples, shares
        self._set(bw_method)

    def _set(self, bw_method: Any) -> None:
        d, neff = self.d, self.neff
        if bw_method is None or bw_method == "scott":
            factor = neff ** (-1.0 / (d + 4))
        elif bw_method == "silverman":
            factor = (neff * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        elif callable(bw_method):
            factor = bw_method(self)
        elif np.ndim(bw_method) == 0 and not isinstance(bw_method, str):
            factor = bw_method
        else:
            raise ValueError(f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a function, got {bw_method!r}")
        spread = jnp.atleast_2d(jnp.cov(self.dataset, rowvar=True, bias=False, aweights=self.weights))
        self.covariance = spread * jnp.square(factor)
        self.inv_cov = jnp.linalg.inv(spread) / jnp.square(factor)

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.dataset.shape[1]

    @property
    def neff(self) -> Array:
        """Effective number of samples, fewer than ``n`` where weights differ."""
        return 1 / jnp.sum(jnp.square(self.weights))

    def tree_flatten(self) -> tuple:
        """The arrays of the estimate, as a pytree has them."""
        return (self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, aux_data: PyTree, children: Sequence[PyTree]) -> "gaussian_kde":
        """The estimate of its arrays."""
        self = object.__new__(cls)
        self.dataset, self.weights, self.covariance, self.inv_cov = children
        return self

    def _points(self, name: str, points: Any) -> Array:
        check_arraylike(f"gaussian_kde.{name}", points)
        points = jnp.atleast_2d(jnp.asarray(points))
        if not jnp.issubdtype(points.dtype, jnp.floating):
            points = points.astype(self.dataset.dtype)
        if points.shape[0] != self.d and points.shape == (1, self.d):
            points = points.T
        if points.shape[0] != self.d:
            raise ValueError(f"gaussian_kde.{name}: points have dimension {points.shape[0]}, the dataset has {self.d}")
        return points

    def logpdf(self, x: ArrayLike) -> Array:
        """Logarithm of the estimated density at points ``(d, m)``."""
        points = self._points("logpdf", x)
        return _log_density(points, self.dataset, jnp.linalg.cholesky(self.covariance), self.weights)

    def evaluate(self, points: ArrayLike) -> Array:
        """The estimated density at points ``(d, m)``."""
        return jnp.exp(self.logpdf(points))

    __call__ = pdf = evaluate

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """The integral of the estimate times a normal density."""
        mean, cov = jnp.atleast_1d(jnp.asarray(mean)), jnp.atleast_2d(jnp.asarray(cov))
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(f"gaussian_kde.integrate_gaussian: needs mean of shape {(self.d,)} and cov of shape "
                             f"{(self.d, self.d)}, got {mean.shape} and {cov.shape}")
        return jnp.sum(self.weights * jnp.exp(_normal_logpdf(self.dataset.T, mean, self.covariance + cov)))

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """The integral of a one-dimensional estimate between two bounds."""
        if self.d != 1:
            raise ValueError("gaussian_kde.integrate_box_1d: the dataset must be one-dimensional")
        scale = jnp.sqrt(self.covariance[0, 0])
        return jnp.sum(self.weights * (ndtr((high - self.dataset[0]) / scale) - ndtr((low - self.dataset[0]) / scale)))

    def integrate_kde(self, other: "gaussian_kde") -> Array:
        """The integral of the product of two estimates."""
        if other.d != self.d:
            raise ValueError(f"gaussian_kde.integrate_kde: dimensions differ: {self.d} and {other.d}")
        factor = jnp.linalg.cholesky(self.covariance + other.covariance)
        density = jnp.exp(_log_density(other.dataset, self.dataset, factor, self.weights))
        return jnp.sum(other.weights.astype(density.dtype) * density)

    def resample(self, key: ArrayLike, shape: tuple[int, ...] = ()) -> Array:
        """Samples of the estimate, ``(d, *shape)``; ``key`` is a random key."""
        random = random_functions.get()
        index_key, noise_key = random.split(key)
        index = random.choice(index_key, self.n, shape=shape, p=self.weights)
        noise = random.multivariate_normal(noise_key, jnp.zeros(self.d, self.dataset.dtype), self.covariance, shape=shape,
                                           dtype=self.dataset.dtype)
        return self.dataset[:, index] + jnp.moveaxis(noise, -1, 0)

    def integrate_box(self, low_bounds: ArrayLike, high_bounds: ArrayLike, maxpts: int | None = None) -> Array:
        """Not supported beyond one dimension."""
        raise NotImplementedError("gaussian_kde.integrate_box: only integrate_box_1d is supported")

    def set_bandwidth(self, bw_method: int | float | Callable[..., Any] | str | None = None) -> None:
        """Not supported: estimates do not change. Make a new one with another ``bw_method``."""
        raise NotImplementedError("gaussian_kde.set_bandwidth: estimates do not change; make a new one with bw_method")
