"""Operations of the calls of NVIDIA's libraries in an optimised program: XLA counts none for them.

Factorisations by their leading terms (LAPACK Working Note 41; Golub, Van Loan, "Matrix Computations"): those of the singular values and of the
tridiagonal form alone, as the text does not say whether vectors are asked for. Convolutions as if no window reached beyond the image.

>>> library_flops('%x = (f32[2,8,8]{1,2,0}, s32[2]{0}) custom-call(%a), custom_call_target="cusolver_potrf_ffi"')
341.3333333333333
>>> library_flops('''%a = f32[8,8]{0,1} parameter(0)
... %x = (f32[8,3]{0,1}, s8[0]{0}) custom-call(%a, %b), custom_call_target="__cublas$triangularSolve"''')
192.0
>>> library_flops('''%k = f32[32,3,3,16]{3,2,1,0} transpose(%p)
... %y = (f32[8,9,9,32]{3,2,1,0}, u8[0]{0}) custom-call(%x, %k), window={size=3x3}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convForward"''')
5971968.0
"""
import math
import re

_TYPED = re.compile(r"%?([\w.-]+) = \(?(\w+)\[([\d,]*)\]")
_CALL = re.compile(r'%?([\w.-]+) = \(?(\w+)\[[^\n]*? custom-call\(([^)]*)\)[^\n]*?custom_call_target="(__\w+\$|[a-z]+_)(\w+)"')
FACTORISATIONS = {  # of a matrix of m rows and n columns, n the smaller
    "potrf_ffi": lambda m, n: n**3 / 3, "getrf_ffi": lambda m, n: m * n**2 - n**3 / 3, "geqrf_ffi": lambda m, n: 2 * m * n**2 - 2 / 3 * n**3,
    "orgqr_ffi": lambda m, n: 2 * m * n**2 - 2 / 3 * n**3, "syevd_ffi": lambda m, n: 4 / 3 * n**3,
    **dict.fromkeys(["gesvd_ffi", "gesvdj_ffi"], lambda m, n: 4 * m * n**2 - 4 / 3 * n**3)}


def library_flops(text):
    """Of the text of an optimised program; a product and a sum of complex numbers count as four of real ones each."""
    shapes = {name: [int(n) for n in dims.split(",") if n] for name, _, dims in _TYPED.findall(text)}
    total = 0.0
    for found in _CALL.finditer(text):
        result, dtype, operands, library, routine = found.groups()
        operands = [shapes.get(name.strip().lstrip("%"), []) for name in operands.split(",")]
        total += (4 if dtype.startswith("c") else 1) * _flops(library, routine, shapes[result], operands, found[0])
    return total


def _flops(library, routine, result, operands, text):
    if routine in FACTORISATIONS:
        *batch, m, n = result
        return math.prod(batch) * FACTORISATIONS[routine](max(m, n), min(m, n))
    if routine == "triangularSolve":
        return float(math.prod(result) * operands[0][-1])
    if library == "__cudnn$" and routine.startswith("conv"):
        image, kernel = {"convBackwardInput": (operands[0], operands[1]), "convBackwardFilter": (operands[1], result)}.get(routine, (result, operands[1]))
        features = re.search(r"dim_labels=\w+_(\w+)->", text)[1].index("o")
        return 2.0 * math.prod(image) * math.prod(kernel) / kernel[features]
    return 0.0
