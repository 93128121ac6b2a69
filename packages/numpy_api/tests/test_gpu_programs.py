"""What differs in programs for GPUs, each for a wrong number that one gave: read in the text, as few machines have one."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.interfaces import LowerSpec
from jax_core.programs.tracing import make_jaxpr
from jax_numpy_api import lax
from jax_numpy_api.scipy import special

module = pytest.importorskip("jax_xla_backend.lowering.module")


def text(platform, f, *args):
    return module.lower_module(make_jaxpr(f)(*args), LowerSpec("main"), platform=platform).text()


@pytest.mark.parametrize("length, padded", [(3, "4"), (5, "8"), (4, None)])
@pytest.mark.parametrize("dtype, wide", [(np.int8, np.int32), (np.uint8, np.uint32)])
def test_products_of_bytes_are_taken_in_words(dtype, wide, length, padded):
    """XLA's product of three bytes each was twice what it is, on an H200."""
    def product(x, y):
        return lax.dot(x, y, preferred_element_type=wide)
    x, y = np.ones((2, length), dtype), np.ones((length, 4), dtype)
    kind, sum_kind = ("i8", "i32") if dtype == np.int8 else ("ui8", "ui32")
    assert (f"tensor<2x{padded}x{kind}>, tensor<{padded}x4x{kind}>) -> tensor<2x4x{sum_kind}>" in text("cuda", product, x, y)) is (padded is not None)
    assert "stablehlo.pad" not in text("cpu", product, x, y) and "stablehlo.pad" not in text("cuda", lambda x, y: lax.dot(x, y), x * 1.0, y * 1.0)


def test_eigenvectors_of_nan_are_nan():
    """The library gives those of the identity beside eigenvalues that are NaN; LAPACK does for infinities."""
    x = np.eye(3, dtype=np.float32)
    for platform in ("cuda", "cpu"):  # whether the call succeeded, and whether the values are numbers
        assert text(platform, lax.linalg.eigh, x).count("stablehlo.compare") == 2


@pytest.mark.parametrize("shape, full", [((8, 8), True), ((40, 30), False), ((20, 30), False)])
def test_one_pass_over_each_factor_masks_what_is_not_finite(shape, full):
    """There was one for what the library reports, and one for infinities and NaN."""
    assert text("cuda", lambda x: lax.linalg.svd(x, full_matrices=full), np.ones(shape, np.float32)).count("stablehlo.select") == 3


def test_log1p_of_doubles_is_the_compilers_own():
    """It drops a rounding to the dtype's own precision and puts x for (1 + x) - 1, which leaves half of the digits at x = 1e-8."""
    with flags.enable_x64(True):
        f, x = (lambda x: special.boxcox1p(x, 0.0)), np.float64(1e-8)
        assert "log_plus_one" in text("cuda", f, x) and "log_plus_one" not in text("cpu", f, x)


def test_quotients_that_the_cpu_compiler_is_to_share_end_no_kernel():
    """For GPUs a barrier there would be a pass more over memory."""
    x = np.ones(3, np.float32)
    assert "optimization_barrier" not in text("cuda", special.betaln, x, x) and "reduce_precision" in text("cpu", special.betaln, x, x)
