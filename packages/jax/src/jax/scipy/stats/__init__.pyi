"""Types of `jax.scipy.stats`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence
from jax.scipy.stats import bernoulli as bernoulli
from jax.scipy.stats import beta as beta
from jax.scipy.stats import betabinom as betabinom
from jax.scipy.stats import binom as binom
from jax.scipy.stats import cauchy as cauchy
from jax.scipy.stats import chi2 as chi2
from jax.scipy.stats import dirichlet as dirichlet
from jax.scipy.stats import expon as expon
from jax.scipy.stats import gamma as gamma
from jax.scipy.stats import gennorm as gennorm
from jax.scipy.stats import geom as geom
from jax.scipy.stats import gumbel_l as gumbel_l
from jax.scipy.stats import gumbel_r as gumbel_r
from jax.scipy.stats import laplace as laplace
from jax.scipy.stats import logistic as logistic
from jax.scipy.stats import multinomial as multinomial
from jax.scipy.stats import multivariate_normal as multivariate_normal
from jax.scipy.stats import nbinom as nbinom
from jax.scipy.stats import norm as norm
from jax.scipy.stats import pareto as pareto
from jax.scipy.stats import poisson as poisson
from jax.scipy.stats import t as t
from jax.scipy.stats import truncnorm as truncnorm
from jax.scipy.stats import uniform as uniform
from jax.scipy.stats import vonmises as vonmises
from jax.scipy.stats import wrapcauchy as wrapcauchy

class gaussian_kde:
    """An estimate of a density from samples: the mean of normal densities around them."""
    dataset: Array
    weights: Array
    covariance: Array
    inv_cov: Array
    def __call__(self, points: ArrayLike) -> Array: ...
    def __init__(self, dataset: ArrayLike, bw_method: str | ArrayLike | Callable[[Any], ArrayLike] | None = None, weights: ArrayLike | None = None) -> None: ...
    @property
    def d(self) -> int: ...
    def evaluate(self, points: ArrayLike) -> Array: ...
    def integrate_box(self, low_bounds: ArrayLike, high_bounds: ArrayLike, maxpts: int | None = None) -> Array: ...
    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array: ...
    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array: ...
    def integrate_kde(self, other: gaussian_kde) -> Array: ...
    def logpdf(self, x: ArrayLike) -> Array: ...
    @property
    def n(self) -> int: ...
    @property
    def neff(self) -> Array: ...
    def pdf(self, points: ArrayLike) -> Array: ...
    def resample(self, key: ArrayLike, shape: tuple[int, ...] = ...) -> Array: ...
    def set_bandwidth(self, bw_method: int | float | Callable[..., Any] | str | None = None) -> None: ...
    def tree_flatten(self) -> tuple[Array, ...]: ...
    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Sequence[Any]) -> gaussian_kde: ...
def mode(a: ArrayLike, axis: int | None = 0, nan_policy: str = 'propagate', keepdims: bool = False) -> Any:
    """The most common value along ``axis`` (the smallest of several), and how often it occurs; of nothing NaN, which occurs 0 times. A number counts as an array of one element."""
def rankdata(a: ArrayLike, method: str = 'average', *, axis: int | None = None, nan_policy: str = 'propagate') -> Array:
    """Ranks from 1 along ``axis`` (of the flattened array by default), as floating-point numbers."""
def sem(a: ArrayLike, axis: int | None = 0, ddof: int = 1, nan_policy: str = 'propagate', *, keepdims: bool = False) -> Array:
    """Standard error of the mean along ``axis``: the standard deviation over the root of the count."""
