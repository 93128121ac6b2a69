"""jax.experimental.sparse: sparse arrays, and dense functions applied to them. Names are imported when they are asked for.

Modules without names here: ``rules`` (how primitives act on sparse arrays), ``values`` (sparse arrays by reference), ``bare`` (functions
of the buffers), ``lobpcg`` (a step of ``linalg``), ``test_case``.
"""
import sys as _sys
from typing import TYPE_CHECKING

from .._lazy import names_of as _names_of
from .base import provide as _provide

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "base": "JAXSparse",
    "util": "CuSparseEfficiencyWarning SparseEfficiencyError SparseEfficiencyWarning",
    "bcoo": """BCOO bcoo_eliminate_zeros bcoo_extract bcoo_extract_p bcoo_fromdense bcoo_fromdense_p bcoo_sort_indices
        bcoo_sort_indices_p bcoo_sum_duplicates bcoo_sum_duplicates_p bcoo_todense bcoo_todense_p bcoo_transpose bcoo_transpose_p
        bcoo_update_layout""",
    "bcoo_shape": """bcoo_broadcast_in_dim bcoo_concatenate bcoo_dynamic_slice bcoo_gather bcoo_reduce_sum bcoo_reshape bcoo_rev
        bcoo_slice bcoo_squeeze""",
    "bcoo_product": """bcoo_conv_general_dilated bcoo_dot_general bcoo_dot_general_p bcoo_dot_general_sampled
        bcoo_dot_general_sampled_p bcoo_multiply_dense bcoo_multiply_sparse bcoo_spdot_general_p""",
    "bcsr": """BCSR bcsr_broadcast_in_dim bcsr_concatenate bcsr_dot_general bcsr_dot_general_p bcsr_extract bcsr_extract_p
        bcsr_fromdense bcsr_fromdense_p bcsr_sum_duplicates bcsr_todense bcsr_todense_p""",
    "coo": "COO coo_fromdense coo_fromdense_p coo_matmat coo_matmat_p coo_matvec coo_matvec_p coo_todense coo_todense_p",
    "csr": "CSC CSR csr_fromdense csr_fromdense_p csr_matmat csr_matmat_p csr_matvec csr_matvec_p csr_todense csr_todense_p",
    "api": "empty eye todense todense_p",
    "ad": "grad jacfwd jacobian jacrev value_and_grad",
    "random": "random_bcoo",
    "tracing": "SparseTracer",
    "transform": "sparsify",
}
_SUBMODULES = ("ad", "api", "bcoo", "bcsr", "coo", "csr", "linalg", "random", "test_util", "transform", "util")
__getattr__, __dir__, _listed = _names_of(__name__, _MODULES, _SUBMODULES)
__all__ = [name for name in _listed if name not in _SUBMODULES]
_provide(_sys.modules[__name__])
