"""The quotients of polynomials of `jax_numpy_api.lax.elementary_cpu.gamma`, computed anew: run this and compare.

    python benchmarks/accuracy/rational.py [name ...]

Each row is a function ``f``, the interval, and the degrees above and below the line. At points that are dense towards both ends, ``above - f below``
is made small by least squares, again and again: divided by the last ``f below``, so that it is the relative error, and with weights that grow
where that was large, until it is nearly the same everywhere. The first coefficient below is 1.

Sources: Sanathanan, Koerner, "Transfer function synthesis as a ratio of two complex polynomials", 1963 (the division); Lawson, "Contributions to
the theory of linear least maximum approximation", 1961 (the weights).
"""
import sys

import mpmath as mp
import numpy as np
from fit import DIGAMMA_ROOT, digamma_rest, lgamma_rest

mp.mp.dps = 60


def half_cot(u):
    """``pi r cot(pi r) / (1 - 4 r**2)`` at ``r = sqrt(u)``."""
    r = mp.pi * mp.sqrt(u)
    return r * mp.cot(r) / (1 - 4 * u)


def fit(f, low, high, above, below, rounds=14):
    """Coefficients above and below the line, and the largest relative error."""
    count = 6 * (above + below + 2)
    low, high = mp.log(low), mp.log(high)
    points = [mp.exp((low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count)) for k in range(count)]
    values = [f(z) for z in points]
    weights, lines = [mp.mpf(1)] * count, [mp.mpf(1)] * count
    for _ in range(rounds):
        matrix, right = mp.matrix(count, above + below + 1), mp.matrix(count, 1)
        for i, (z, value) in enumerate(zip(points, values)):
            scale = mp.sqrt(weights[i]) / (value * lines[i])
            for j in range(above + 1):
                matrix[i, j] = scale * z ** j
            for j in range(below):
                matrix[i, above + 1 + j] = -scale * value * z ** j
            right[i] = scale * value * z ** below
        solved = list(mp.lu_solve(matrix.T * matrix, matrix.T * right))
        upper, lower = solved[:above + 1], [*solved[above + 1:], mp.mpf(1)]
        lines = [mp.polyval(lower[::-1], z) for z in points]
        errors = [abs(mp.polyval(upper[::-1], z) / line / value - 1) for z, line, value in zip(points, lines, values)]
        mean = sum(w * e for w, e in zip(weights, errors)) / count
        weights = [w * (e / mean + mp.mpf("0.02")) for w, e in zip(weights, errors)]
    return [c / lower[0] for c in upper], [c / lower[0] for c in lower], max(errors)


ROWS = {
    "_LGAMMA 64": (np.float64, lgamma_rest, "0.5", "8", 10, 10),
    "_DIGAMMA 32": (np.float32, digamma_rest, "1", "8", 4, 4), "_DIGAMMA 64": (np.float64, digamma_rest, "1", "8", 8, 8),
    "_COT 32": (np.float32, half_cot, "0.0001", "0.249999", 2, 2), "_COT 64": (np.float64, half_cot, "0.0001", "0.249999", 3, 4),
}


def main():
    print("root of digamma", float(DIGAMMA_ROOT), float(DIGAMMA_ROOT - mp.mpf(float(DIGAMMA_ROOT))))
    for name, (dtype, f, low, high, *degrees) in ROWS.items():
        if len(sys.argv) == 1 or any(word in name for word in sys.argv[1:]):
            upper, lower, error = fit(f, mp.mpf(low), mp.mpf(high), *degrees)
            print(f"{name}: error {float(error):.1e}")
            for line in (upper, lower):
                print("   ", [float(dtype(float(c))) for c in line], flush=True)


if __name__ == "__main__":
    main()
