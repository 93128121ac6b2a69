"""The names of `jax_numpy_api.scipy.linalg`. Written by packages/jax/tools/make_stubs.py."""
from .decompositions import (
    cho_factor as cho_factor,
    cho_solve as cho_solve,
    cholesky as cholesky,
    eigh as eigh,
    eigh_tridiagonal as eigh_tridiagonal,
    hessenberg as hessenberg,
    lu as lu,
    lu_factor as lu_factor,
    lu_solve as lu_solve,
    polar as polar,
    qr as qr,
    qr_multiply as qr_multiply,
    rsf2csf as rsf2csf,
    schur as schur,
    svd as svd,
)
from .solving import (
    det as det,
    inv as inv,
    solve as solve,
    solve_sylvester as solve_sylvester,
    solve_triangular as solve_triangular,
)
from .functions import (
    expm as expm,
    expm_frechet as expm_frechet,
    funm as funm,
    sqrtm as sqrtm,
)
from .special_matrices import (
    block_diag as block_diag,
    circulant as circulant,
    companion as companion,
    convolution_matrix as convolution_matrix,
    dft as dft,
    fiedler as fiedler,
    fiedler_companion as fiedler_companion,
    hadamard as hadamard,
    hankel as hankel,
    helmert as helmert,
    hilbert as hilbert,
    invhilbert as invhilbert,
    invpascal as invpascal,
    leslie as leslie,
    pascal as pascal,
    toeplitz as toeplitz,
)
