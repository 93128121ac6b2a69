"""The names of `jax_numpy_api.lax.linalg`. Written by packages/jax/tools/make_stubs.py."""
from .cholesky import (
    cholesky as cholesky,
    cholesky_p as cholesky_p,
    cholesky_update as cholesky_update,
    cholesky_update_p as cholesky_update_p,
    symmetric_product as symmetric_product,
    symmetric_product_p as symmetric_product_p,
)
from .eigen import (
    EigImplementation as EigImplementation,
    EighImplementation as EighImplementation,
    eig as eig,
    eig_p as eig_p,
    eigh as eigh,
    eigh_p as eigh_p,
)
from .lu import (
    lu as lu,
    lu_p as lu_p,
    lu_pivots_to_permutation as lu_pivots_to_permutation,
    lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
)
from .qr import (
    geqp3 as geqp3,
    geqp3_p as geqp3_p,
    geqrf as geqrf,
    geqrf_p as geqrf_p,
    householder_product as householder_product,
    householder_product_p as householder_product_p,
    ormqr as ormqr,
    ormqr_p as ormqr_p,
    qr as qr,
    qr_p as qr_p,
)
from .polar import (
    qdwh as qdwh,
)
from .schur import (
    hessenberg as hessenberg,
    hessenberg_p as hessenberg_p,
    schur as schur,
    schur_p as schur_p,
    tridiagonal as tridiagonal,
    tridiagonal_p as tridiagonal_p,
)
from .svd import (
    SvdAlgorithm as SvdAlgorithm,
    svd as svd,
    svd_p as svd_p,
)
from .triangular import (
    triangular_solve as triangular_solve,
    triangular_solve_p as triangular_solve_p,
    tridiagonal_solve as tridiagonal_solve,
    tridiagonal_solve_p as tridiagonal_solve_p,
)
