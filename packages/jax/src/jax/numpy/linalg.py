"""jax.numpy.linalg: implemented in `jax_numpy_api.numpy.linalg`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.numpy.linalg", """
    EigResult EighResult QRResult SVDResult SlogdetResult cholesky cond cross det diagonal eig eigh eigvals
    eigvalsh inv lstsq matmul matrix_norm matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr
    slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm""")
