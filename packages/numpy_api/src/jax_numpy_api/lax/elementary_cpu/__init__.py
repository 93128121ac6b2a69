"""Elementary functions for XLA's CPU compiler, which calls a library for most, one element after the other.

Written as arithmetic without branches, a function is vector code. Where the compiler's is vector code too, it stays (exp, tanh,
log of float32, erf of float32, and others): `benchmarks/elementwise.py` measures both.

- `lanes`: formulas as Python expressions, and lowering rules made of them.
- `trigonometric`: sin, cos, tan.
- `inverse`: asin, acos, atan, atan2.
- `exponential`: exp2, sinh, cosh.
- `logarithmic`: log, log2, log1p, asinh, acosh, atanh.
- `powers`: pow, cbrt.
- `gamma`: lgamma.
"""
