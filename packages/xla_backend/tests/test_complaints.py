"""What compilers of vendors complain of is said in our words."""
import types

import pytest

from jax_xla_backend.compiling.complaints import explained
from jax_xla_backend.jaxlib_compat import RuntimeError_

DEVICE = types.SimpleNamespace(device_kind="TPU v5 lite", platform="tpu")
PROGRAM = """module @jit_f {
  func.func public @main(%arg0: tensor<1000x1000xf32>, %arg1: tensor<4xi1>) -> (tensor<1000xbf16>) {
    %0 = stablehlo.constant dense<0.0> : tensor<9000x1000xf32>
    %1 = stablehlo.sine %arg0 : tensor<1000x1000xf32>
    %2 = stablehlo.add %1, %1 : tensor<1000x1000xf32>
    %3 = stablehlo.add %2, %1 : tensor<1000x1000xf32>
    %4 = stablehlo.convert %3 : (tensor<1000x1000xf32>) -> tensor<1000x1000xcomplex<f64>>
    return %2 : tensor<1000xbf16>
  }
}"""


def test_a_program_that_is_too_large():
    said = ("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (40.25G) exceeds "
            "available HBM (15.75G). HLO module: jit_f.\nSee https://example.org/error_1000 for more details.")
    lines = str(explained(RuntimeError(said), PROGRAM, [DEVICE] * 4)).splitlines()
    assert lines[0] == ("XLA could not compile the program for TPU v5 lite: Ran out of memory on HBM, the total memory required for HLO temporaries "
                        "(40.25G) exceeds available HBM (15.75G) (RESOURCE_EXHAUSTED).")
    assert "before they are split over 4 devices" in lines[1]
    assert [line.split() for line in lines[2:-1]] == [
        ["0.004", "GB", "inputs"], ["0.000", "GB", "results"], ["0.016", "GB", "convert", "complex<f64>[1000,1000]"],
        ["0.004", "GB", "sine", "f32[1000,1000]"], ["0.004", "GB", "add", "f32[1000,1000],", "2", "of", "them"]]
    assert "jax.checkpoint" in lines[-1]


@pytest.mark.parametrize("said, words, missing", [
    ("UNIMPLEMENTED: no such thing. \n\nSuspected Python Code Location:\n  -:4", "no such thing (UNIMPLEMENTED).", True),
    ("INVALID_ARGUMENT: during context [pre-optimization]: Unexpected operand type for FFT: c128[8]{0}\n\t", "for FFT: c128[8]{0} (INVALID_ARGUMENT). It computes", True),
    ("INTERNAL: Mosaic failed to compile TPU kernel: Not implemented: vector<i8>", "multiples of 8 and 128), or pass interpret=True.", True),
    ("INTERNAL: GEMM is not supported by it.", "convert the operands, to bfloat16 say.", True),
    ("INVALID_ARGUMENT: Custom emitter for CustomSPMDPartitioning not found\n\t", "(INVALID_ARGUMENT). This compiler asks no rules of", True),
    ("INTERNAL: something broke, metadata={source_file=\"-\"}", "something broke (INTERNAL).", False),
    ("UNIMPLEMENTED: \nNo integer convolutions here.\nFor each of the unsupported convs below:\n ...", "No integer convolutions here (UNIMPLEMENTED). Convert", True),
    ("INTERNAL: " + "long " * 1000, "long (INTERNAL).", False),
    ("", "no reason given.", False),
])
def test_the_line_that_matters(said, words, missing):
    error = explained(RuntimeError(said), PROGRAM, [DEVICE])
    assert words in str(error) and "Suspected" not in str(error) and isinstance(error, RuntimeError_)
    assert isinstance(error, NotImplementedError) is missing
