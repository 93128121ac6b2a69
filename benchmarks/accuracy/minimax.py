"""The polynomials of `jax_numpy_api.lax.elementary_cpu`, computed anew: run this and compare.

    python benchmarks/accuracy/minimax.py [name ...]

Each row is a function ``g``, the interval, the degree, and a weight ``w``: the polynomial ``p`` has the smallest largest
``|w (p - g)|``, found by exchanging the points where the error alternates. Those of float32 are rounded one after the other from the
constant one on, and the rest is fitted to what each rounding left.

Source: Remez, "Sur la détermination des polynômes d'approximation de degré donnée", 1934.
"""
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 50
ROUND = {"f4": lambda c: mp.mpf(float(np.float32(float(c)))), "f8": lambda c: mp.mpf(float(c))}
GRID = 600


def _solve(points, values, weights, powers):
    """Coefficients and error of the polynomial whose weighted error alternates at ``points``."""
    n = len(powers)
    a = mp.matrix(n + 1, n + 1)
    rhs = mp.matrix(n + 1, 1)
    for i, (t, v, w) in enumerate(zip(points, values, weights)):
        for j, k in enumerate(powers):
            a[i, j] = t ** k
        a[i, n] = (-1) ** i / w
        rhs[i] = v
    out = mp.lu_solve(a, rhs)
    return list(out)[:n], abs(out[n])


def remez(g, low, high, powers, w=lambda t: mp.mpf(1), known=()):
    """Coefficients of the ``powers``, beside the ``known`` pairs (power, coefficient); and the error."""
    low, high = mp.mpf(low), mp.mpf(high)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / GRID) for i in range(GRID)]
    values = [g(t) - sum(c * t ** k for k, c in known) for t in grid]
    weights = [w(t) for t in grid]
    n = len(powers)
    chosen = [round(i * (GRID - 1) / n) for i in range(n + 1)]
    for _ in range(40):
        c, level = _solve([grid[i] for i in chosen], [values[i] for i in chosen], [weights[i] for i in chosen], powers)
        error = [wt * (sum(ck * t ** k for ck, k in zip(c, powers)) - v) for t, v, wt in zip(grid, values, weights)]
        extremes = []  # the largest error of each run of one sign
        for i, e in enumerate(error):
            if extremes and (e > 0) == (error[extremes[-1]] > 0):
                if abs(e) > abs(error[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > n + 1:
            extremes.pop(0 if abs(error[extremes[0]]) < abs(error[extremes[-1]]) else -1)
        worst = max(map(abs, error))
        if len(extremes) < n + 1 or extremes == chosen or worst < level * (1 + mp.mpf(10) ** -4):
            break
        chosen = extremes
    return c, worst


def fit(g, low, high, powers, kind, w=lambda t: mp.mpf(1), exact=()):
    """Rounded coefficients, the constant one first; ``exact`` is what the first ones must be. And the error of all.

    Those of float64 are rounded at once, as nothing is gained there.
    """
    known = list(zip(powers, map(mp.mpf, exact)))
    powers = list(powers)[len(known):]
    while powers:
        c, worst = remez(g, low, high, powers, w, known)
        if kind == "f8":
            known += [(k, ROUND[kind](ck)) for k, ck in zip(powers, c)]
            break
        known.append((powers.pop(0), ROUND[kind](c[0])))
    return [float(c) for _, c in known], float(worst)


def _series(function, first, next_term):
    """``(function(r)/r - first) / r**2`` of ``z = r**2``; its value near 0 by the constant ``next_term``."""
    def g(z):
        r = mp.sqrt(z)
        return (function(r) / r - first) / z if z > mp.mpf(10) ** -12 else mp.mpf(next_term)
    return g


def _over_r(function, limit):
    """``function(r)/r`` of ``z = r**2``."""
    return lambda z: function(mp.sqrt(z)) / mp.sqrt(z) if z > mp.mpf(10) ** -18 else limit


def _rows():
    """``{name: arguments of fit}``; names are those in the modules, with a number where dtypes differ."""
    third, eighth, half_log2 = mp.mpf(1) / 3, mp.tan(mp.pi / 8), mp.log(2) / 2 + mp.mpf("1e-4")
    small = mp.mpf("0.17157287525381") ** 2
    sine, cosine = _over_r(mp.sin, mp.mpf(1)), lambda z: mp.cos(mp.sqrt(z))
    asin, atan = _series(mp.asin, 1, third / 2), _series(mp.atan, 1, -third)
    log, log2 = (_series(lambda s: 2 * mp.atanh(s), 2, 2 * third), _over_r(lambda s: 2 * mp.atanh(s) / mp.log(2), 2 / mp.log(2)))

    def expm1(r):
        return mp.expm1(r) / r if r else mp.mpf(1)

    half, edge = mp.mpf("0.5001"), mp.sqrt(mp.mpf(1) / 8) * mp.mpf("0.9999")

    def z(z):
        return z

    def inverse(g):
        return {"w": lambda t: 1 / g(t)}
    return {
        "trigonometric._SIN": ((sine, 0, mp.mpf("1.7") ** 2, range(6), "f8"), inverse(sine)),
        "trigonometric._SIN_NEAR": ((sine, 0, mp.mpf("0.83") ** 2, range(5), "f8"), inverse(sine)),
        "trigonometric._COS_NEAR": ((cosine, 0, mp.mpf("0.83") ** 2, range(5), "f8"), {**inverse(cosine), "exact": [1]}),
        "inverse._ASIN 32": ((asin, 0, 0.25, range(5), "f4"), {"w": z}), "inverse._ASIN 64": ((asin, 0, 0.25, range(12), "f8"), {"w": z}),
        "inverse._ATAN 64": ((atan, 0, eighth ** 2, range(11), "f8"), {"w": z}),
        "inverse._ATAN_ONE 32": ((atan, 0, 1, range(9), "f4"), {"w": z}),
        "inverse._ATAN_ONE 64": ((atan, 0, 1, range(20), "f8"), {"w": z}),
        "logarithmic._SERIES 32": ((log, 0, small, range(4), "f4"), {"w": z}),
        "logarithmic._SERIES 64": ((log, 0, small, range(7), "f8"), {"w": z}),
        "exponential._EXPM1 32": ((expm1, -half_log2, half_log2, range(7), "f8"), inverse(expm1)),
        "exponential._EXPM1 64": ((expm1, -half_log2, half_log2, range(11), "f8"), inverse(expm1)),
        "exponential._EXP2 32": ((lambda r: mp.mpf(2) ** r, -half, half, range(7), "f8"), {}),
        "exponential._EXP2 64": ((lambda r: mp.mpf(2) ** r, -half, half, range(12), "f8"), {}),
        "powers._LOG2": ((log2, 0, small, range(7), "f8"), {}), "powers._EXP2": ((lambda r: mp.mpf(2) ** r, -half, half, range(8), "f8"), {}),
        "gamma._SINE": ((_over_r(lambda r: mp.sin(mp.pi * r) / mp.pi, mp.mpf(1)), 0, 0.25, range(6), "f4"),
                        inverse(_over_r(lambda r: mp.sin(mp.pi * r) / mp.pi, mp.mpf(1)))),
        "powers._ROOT": ((lambda m: 1 / mp.cbrt(m), edge, 1 / edge, range(6), "f4"), {"w": mp.cbrt}),
    }


def main():
    for name, (args, options) in _rows().items():
        if len(sys.argv) == 1 or any(word in name for word in sys.argv[1:]):
            coefficients, error = fit(*args, **options)
            print(f"{name}: error {error:.1e}\n    {coefficients}", flush=True)


if __name__ == "__main__":
    main()
