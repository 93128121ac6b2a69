"""The names of `jax_numpy_api.numpy.linalg`. Written by packages/jax/tools/make_stubs.py."""
from .decompositions import (
    EigResult as EigResult,
    EighResult as EighResult,
    QRResult as QRResult,
    SVDResult as SVDResult,
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from .systems import (
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from .determinants import (
    SlogdetResult as SlogdetResult,
    det as det,
    slogdet as slogdet,
)
from .norms import (
    cond as cond,
    matrix_norm as matrix_norm,
    matrix_rank as matrix_rank,
    norm as norm,
    vector_norm as vector_norm,
)
from .products import (
    cross as cross,
    diagonal as diagonal,
    matmul as matmul,
    matrix_power as matrix_power,
    multi_dot as multi_dot,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vecdot as vecdot,
)
from ..shaping import (
    matrix_transpose as matrix_transpose,
)
