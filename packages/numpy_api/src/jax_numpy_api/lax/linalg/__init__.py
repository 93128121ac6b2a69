"""The public namespace `jax.lax.linalg`: matrix factorisations and solvers on the last two axes of arrays.

Names are fetched from their module when first asked for.
"""
from __future__ import annotations

import importlib
import sys
import types

_NAMES = {
    "cholesky": "cholesky cholesky_p cholesky_update cholesky_update_p symmetric_product symmetric_product_p",
    "eigen": "EigImplementation EighImplementation eig eig_p eigh eigh_p",
    "lu": "lu lu_p lu_pivots_to_permutation lu_pivots_to_permutation_p",
    "qr": "geqp3 geqp3_p geqrf geqrf_p householder_product householder_product_p ormqr ormqr_p qr qr_p",
    "polar": "qdwh",
    "schur": "hessenberg hessenberg_p schur schur_p tridiagonal tridiagonal_p",
    "svd": "SvdAlgorithm svd svd_p",
    "triangular": "triangular_solve triangular_solve_p tridiagonal_solve tridiagonal_solve_p",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'jax.lax.linalg' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__


class _Namespace(types.ModuleType):
    """A module may be called like one of its functions; the namespace keeps the function."""

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType) and _MODULE_OF.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Namespace
