"""jax.random: explicit keys, random bits by Threefry-2x32, and distributions made from them.

Names are fetched from their module when first asked for, so that importing jax stays fast.

Modules without names here: ``threefry`` and ``counters`` (the hashes), ``impls`` (implementations by name), ``primitives``, ``checks`` (of
arguments), ``key_reuse`` and ``key_signatures`` (that no key is used twice); and those that are public elsewhere: ``extend``, ``stateful``,
``initializers``, ``stax``.
"""
from __future__ import annotations

import importlib
import sys
from typing import Any

from jax_core.extension_points import random_functions
from jax_core.representation.source import exclude_package
from jax_core.versions import join

exclude_package(__file__)  # our frames are not the user's, in messages and source locations

__version__ = "0.1.0"
join("jax-random", __version__, core="0.1")

_MODULES = {
    "api": "PRNGKey bits clone fold_in key key_data key_dtype key_impl split wrap_key_data",
    "uniforms": "bernoulli randint uniform",
    "normals": "lognormal normal truncated_normal",
    "continuous": """cauchy double_sided_maxwell exponential gumbel laplace logistic maxwell pareto rademacher rayleigh
        triangular wald weibull_min""",
    "gammas": "ball beta chisquare dirichlet f gamma generalized_normal loggamma random_gamma_p t",
    "discrete": "binomial categorical geometric multinomial poisson",
    "multivariate": "multivariate_normal orthogonal",
    "shuffle": "choice permutation",
    "keys": "Key",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'jax.random' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return __all__


random_functions.fill(sys.modules[__name__])
