"""Errors of special functions in units in the last place, ours and another installation's, against mpmath.

    python benchmarks/accuracy/measure.py [--reference /path/to/python] [--only name ...] [--out results.md]

Each function is tried at random points of each interval given below. The points are computed here, evaluated by this script
as `--worker` in both installations, and compared with 30 digits of mpmath. An error is counted in units of the spacing of the
dtype at the true value; points whose true value is not a normal number of the dtype are left out.
"""
import sys

import numpy as np
from common import arguments, evaluated, installations, normal_quantile, report

COUNT = 120


def _functions():
    import mpmath as mp
    mp.mp.dps = 30

    def erfcx(x):
        return mp.exp(x * x) * mp.erfc(x)
    return {  # name: (mpmath's function, intervals of each argument)
        "gamma": (mp.gamma, [[(0.01, 30)], [(-8.9, -0.1)]]), "gammaln": (mp.loggamma, [[(0.01, 3)], [(3, 1e4)]]),
        "digamma": (lambda x: mp.psi(0, x), [[(0.01, 1.4)], [(1.5, 100)]]),
        "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [[(0.1, 8), (0.1, 8)], [(100, 1e4), (0.1, 50)]]),
        "beta": (mp.beta, [[(0.1, 8), (0.1, 8)]]), "poch": (mp.rf, [[(0.1, 6), (0.1, 5)]]),
        "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), [[(0.1, 20), (0.1, 20)]]),
        "gammaincc": (lambda a, x: mp.gammainc(a, x, regularized=True), [[(0.1, 20), (0.1, 20)]]),
        "betainc": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), [[(0.1, 8), (0.1, 8), (0.01, 0.99)]]),
        "zeta": (mp.zeta, [[(1.1, 20), (0.1, 20)]]),
        "erf": (mp.erf, [[(-4, 4)]]), "erfc": (mp.erfc, [[(-3, 3)], [(3, 9)]]), "erfcx": (erfcx, [[(-3, 3)], [(3, 50)]]),
        "erfinv": (mp.erfinv, [[(-0.99, 0.99)]]), "ndtr": (mp.ncdf, [[(-3, 3)], [(-12, -3)]]),
        "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), [[(-3, 3)], [(-100, -3)]]), "ndtri": (normal_quantile, [[(0.05, 0.45)], [(1e-30, 1e-3)]]),
        "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [[(-5, 5)], [(5, 30)]]),
        "exp1": (mp.e1, [[(0.01, 1)], [(1, 60)]]), "expi": (mp.ei, [[(0.01, 6)], [(6, 60)]]),
        "spence": (lambda x: mp.polylog(2, 1 - x), [[(0.01, 1)]]), "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-x), [[(0.01, 8)], [(8, 100)]]),
        "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-x), [[(0.01, 8)], [(8, 100)]]), "i0": (lambda x: mp.besseli(0, x), [[(0.01, 20)]]),
        "logit": (lambda x: mp.log(x / (1 - x)), [[(0.01, 0.99)]]), "expit": (lambda x: 1 / (1 + mp.exp(-x)), [[(-20, 20)]]),
        "entr": (lambda x: -x * mp.log(x), [[(0.01, 5)]]), "xlog1py": (lambda x, y: x * mp.log1p(y), [[(0.1, 5), (-0.6, 3)]]),
        "boxcox": (lambda x, p: (x ** p - 1) / p, [[(0.1, 5), (-3, 3)]]),
        "hyp1f1": (mp.hyp1f1, [[(0.1, 3), (0.5, 4), (-20, 20)]]),
        "hyp2f1": (mp.hyp2f1, [[(0.1, 2), (0.1, 2), (0.5, 4), (-3, 0.9)]]),
    }


def _work(source, target, wide):
    import jax
    jax.config.update("jax_enable_x64", wide)
    import jax.scipy.special as special
    points, out = np.load(source), {}
    for key in {k.rsplit("|", 1)[0] for k in points.files}:
        args = [points[f"{key}|{i}"] for i in range(sum(k.startswith(key + "|") for k in points.files))]
        try:
            out[key] = np.asarray(getattr(special, key.split("|")[0])(*args))
        except Exception as error:
            print(key, type(error).__name__, str(error)[:80], file=sys.stderr)
    np.savez(target, **out)


def _points(functions, dtype):
    rng, points = np.random.default_rng(0), {}
    for name, (_, regions) in functions.items():
        for r, intervals in enumerate(regions):
            for i, (low, high) in enumerate(intervals):
                steep = low > 0 and high / low > 1000
                x = np.exp(rng.uniform(np.log(low), np.log(high), COUNT)) if steep else rng.uniform(low, high, COUNT)
                points[f"{name}|{r}|{i}"] = x.astype(dtype)
    return points


def _errors(got, want, dtype):
    import mpmath as mp
    info, out = np.finfo(dtype), []
    for g, w in zip(got, want):
        size = abs(w)
        if not mp.isfinite(w) or size < float(info.tiny) or size > float(info.max):
            continue
        unit = mp.mpf(2) ** (int(mp.floor(mp.log(size, 2))) - info.nmant)
        out.append(float(abs(mp.mpf(float(g)) - w) / unit) if np.isfinite(g) else np.inf)
    return np.array(out or [np.nan])


def main():
    options = arguments(__doc__, 3)
    if options.worker:
        return _work(options.worker[0], options.worker[1], options.worker[2] == "float64")
    import mpmath as mp
    functions = {k: v for k, v in _functions().items() if not options.only or k in options.only}
    pythons = installations(options)
    rows = ["| function | where | dtype | " + " | ".join(f"{who}: mean | {who}: max" for who in pythons)
            + " |", "|---" * (3 + 2 * len(pythons)) + "|"]
    for dtype in (np.float32, np.float64):
        points, name = _points(functions, dtype), np.dtype(dtype).name
        results = evaluated(__file__, points, pythons, name)
        for fun, (exact, regions) in functions.items():
            for r, intervals in enumerate(regions):
                args = [points[f"{fun}|{r}|{i}"] for i in range(len(intervals))]
                want = [mp.re(exact(*map(lambda v: mp.mpf(float(v)), a))) for a in zip(*args)]
                cells = []
                for result in results:
                    if f"{fun}|{r}" not in result:
                        cells += ["-", "-"]
                        continue
                    e = _errors(result[f"{fun}|{r}"], want, dtype)
                    cells += [f"{e.mean():.2g}", f"{e.max():.3g}"]
                where = ", ".join(f"{low:g}..{high:g}" for low, high in intervals)
                rows.append(f"| {fun} | {where} | {name} | " + " | ".join(cells) + " |")
    report("\n".join(rows), options.out)


if __name__ == "__main__":
    main()
