"""Types of `jax.random`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Sequence

Key = Array
def PRNGKey(seed: ArrayLike, *, impl: Any = None) -> Array:
    """An old-style key: a plain array of uint32 words."""
def ball(key: ArrayLike, d: int, p: ArrayLike = 2, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent points, uniformly distributed in the unit ball of the p-norm."""
def bernoulli(key: ArrayLike, p: ArrayLike = 0.5, shape: Sequence[int] | None = None, mode: str = 'low', *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent booleans that are True with probability ``p``."""
def beta(key: ArrayLike, a: ArrayLike, b: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, method: str = 'exact', out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the beta distribution, with density proportional to ``x**(a - 1) (1 - x)**(b - 1)``."""
def binomial(key: ArrayLike, n: ArrayLike, p: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the binomial distribution: the number of successes in ``n`` trials."""
def bits(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Uniform random bits as unsigned integers."""
def categorical(key: ArrayLike, logits: ArrayLike, axis: int = -1, shape: Sequence[int] | None = None, replace: bool = True, mode: str | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Random indices along an axis, with probabilities ``softmax(logits, axis)``."""
def cauchy(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Cauchy distribution, with density ``1 / (pi * (1 + x**2))``."""
def chisquare(key: ArrayLike, df: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, method: str = 'exact', out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the chi-square distribution: the sum of ``df`` squared normal numbers."""
def choice(key: ArrayLike, a: ArrayLike, shape: Sequence[int] = ..., replace: bool = True, p: ArrayLike | None = None, axis: int = 0, mode: str | None = None) -> Array:
    """Random elements of an array along an axis, or random integers below a number."""
def clone(key: ArrayLike) -> Array:
    """The same key, as a key that counts as not yet used for the check of key reuse."""
def dirichlet(key: ArrayLike, alpha: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Dirichlet distribution: vectors of probabilities."""
def double_sided_maxwell(key: ArrayLike, loc: ArrayLike, scale: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the Maxwell distribution with a random sign, times ``scale``, plus ``loc``."""
def exponential(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the exponential distribution of rate 1, with density ``exp(-x)`` for ``x >= 0``."""
def f(key: ArrayLike, dfnum: ArrayLike, dfden: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the F distribution: the ratio of two chi-square variates, each divided by its degrees."""
def fold_in(key: ArrayLike, data: ArrayLike) -> Array:
    """A new key from a key and a number, such as the index of a step or of a device."""
def gamma(key: ArrayLike, a: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, method: str = 'exact', out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the gamma distribution, with density ``x**(a - 1) exp(-x) / Gamma(a)`` for ``x > 0``."""
def generalized_normal(key: ArrayLike, p: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the generalised normal distribution, with density proportional to ``exp(-|x|**p)``."""
def geometric(key: ArrayLike, p: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the geometric distribution: the number of trials up to the first success, from 1 on."""
def gumbel(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, mode: str | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Gumbel distribution, whose distribution function is ``exp(-exp(-x))``."""
def key(seed: ArrayLike, *, impl: Any = None, dtype: DTypeLike | None = None) -> Array:
    """A typed key: a scalar array of dtype ``key<...>``."""
def key_data(keys: ArrayLike) -> Array:
    """The uint32 words of keys: ``uint32[*keys.shape, *key_shape]``. Old-style keys are returned as they are."""
def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of typed keys of an implementation (default `jax_default_prng_impl`)."""
def key_impl(keys: ArrayLike) -> Any:
    """The implementation of keys, as `key` and `wrap_key_data` accept it: a name, or a `PRNGSpec` for one's own."""
def laplace(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Laplace distribution, with density ``exp(-|x|) / 2``."""
def loggamma(key: ArrayLike, a: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, method: str = 'exact', out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Logarithms of independent samples of the gamma distribution: finite where these would be too small to represent."""
def logistic(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the logistic distribution, whose distribution function is ``1 / (1 + exp(-x))``."""
def lognormal(key: ArrayLike, sigma: ArrayLike = 1.0, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the log-normal distribution: ``exp(sigma * normal)``."""
def maxwell(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Maxwell distribution: the length of a vector of three normal numbers."""
def multinomial(key: ArrayLike, n: ArrayLike, p: ArrayLike, *, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, unroll: int | bool = 1) -> Array:
    """Independent samples of the multinomial distribution: how often each category comes up in ``n`` trials."""
def multivariate_normal(key: ArrayLike, mean: ArrayLike, cov: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, method: str = 'cholesky', *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the multivariate normal distribution."""
def normal(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the standard normal distribution."""
def orthogonal(key: ArrayLike, n: int, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, m: int | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent matrices, uniformly distributed among the orthogonal (for complex dtypes, unitary) ones."""
def pareto(key: ArrayLike, b: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Pareto distribution, with density ``b / x**(b + 1)`` for ``x >= 1``."""
def permutation(key: ArrayLike, x: ArrayLike, axis: int = 0, independent: bool = False, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``x`` with the slices along ``axis`` in random order, or the integers below ``x`` in random order."""
def poisson(key: ArrayLike, lam: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, method: str = 'exact', out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Poisson distribution."""
def rademacher(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples that are 1 or -1 with equal probability."""
def randint(key: ArrayLike, shape: Sequence[int], minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent integers from the range ``[minval, maxval)``."""
random_gamma_p: Any
def rayleigh(key: ArrayLike, scale: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Rayleigh distribution: the length of a vector of two normal numbers, times ``scale``."""
def split(key: ArrayLike, num: int | Sequence[int] = 2) -> Array:
    """New keys from one, which is not to be used again."""
def t(key: ArrayLike, df: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of Student's t distribution."""
def triangular(key: ArrayLike, left: ArrayLike, mode: ArrayLike, right: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the triangular distribution on ``[left, right]`` with its peak at ``mode``."""
def truncated_normal(key: ArrayLike, lower: ArrayLike, upper: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the standard normal distribution, given that they lie between ``lower`` and ``upper``."""
def uniform(key: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples from the interval ``[minval, maxval)``."""
def wald(key: ArrayLike, mean: ArrayLike, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Independent samples of the Wald (inverse Gaussian) distribution of scale 1."""
def weibull_min(key: ArrayLike, scale: ArrayLike, concentration: ArrayLike, shape: Sequence[int] = ..., dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the Weibull distribution of minima: ``scale * exponential ** (1 / concentration)``."""
def wrap_key_data(key_bits_array: ArrayLike, *, impl: Any = None, dtype: DTypeLike | None = None) -> Array:
    """Typed keys of their words."""
