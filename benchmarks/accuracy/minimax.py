"""The polynomials of `jax_numpy_api.lax.elementary_cpu`, computed anew: run this and compare.

    python benchmarks/accuracy/minimax.py [name ...]

Each row of `FITS` is a function ``g``, the interval, the degree, and a weight ``w``: the polynomial ``p`` has the smallest largest
``|w (p - g)|``, found by exchanging the points where the error alternates. Coefficients are rounded one after the other from the
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
