"""Errors of elementary functions over the whole domain, ours and another installation's, against mpmath.

    python benchmarks/accuracy/elementary.py [--reference /path/to/python] [--only name ...] [--out results.md]

Each function is tried at random points of the regions below; `wide` means both signs and magnitudes spread evenly in the
logarithm over all normal numbers, `subnormal` the same below them. An error is counted in units of the spacing of the dtype at
the true value, for complex functions at the true modulus; a true value beyond the largest number must come as an infinity.
Zeros, infinities, NaN and branch cuts are compared with NumPy in kind: which parts are NaN, infinite, zero, and their signs.
A result is called worse when its largest error is above 1 unit and more than 1.5 times the other's.
"""
import itertools
import sys

import numpy as np
from common import arguments, evaluated, installations, report

COUNT = 150
REAL = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]


def _functions():
    """``{name: (public name, mpmath's function, NumPy's function or None, regions)}``; a region has an interval per argument."""
    import mpmath as mp
    import scipy.special as special
    mp.mp.dps = 60

    def logaddexp(a, b):
        return max(a, b) + mp.log1p(mp.exp(-abs(a - b)))

    def softplus(x):
        return mp.log1p(mp.exp(x)) if x < 200 else x + mp.exp(-x)

    def arc(function, sign):  # mpmath takes the difference of two logarithms, which leaves no digit of a tiny number
        return lambda z: function(z) if abs(z) > 1e-12 else z + sign * z ** 3 / 3
    ln2 = mp.log(2)
    whole, positive, unit = "wide", "wide+", (-1, 1)
    below = "subnormal"
    rows = [
        ("exp", "jnp.exp", mp.exp, np.exp, [(-5, 5), "range", whole, below]),
        ("exp2", "jnp.exp2", lambda x: mp.exp(x * ln2), np.exp2, [(-5, 5), "range", whole, below]),
        ("expm1", "jnp.expm1", mp.expm1, np.expm1, [(-2, 2), "range", whole, below]),
        ("log", "jnp.log", mp.log, np.log, [(0.5, 2), positive, "subnormal+"]),
        ("log1p", "jnp.log1p", mp.log1p, np.log1p, [(-0.99, 2), positive, "small", below]),
        ("log2", "jnp.log2", lambda x: mp.log(x) / ln2, np.log2, [(0.5, 2), positive, "subnormal+"]),
        ("log10", "jnp.log10", mp.log10, np.log10, [(0.5, 2), positive, "subnormal+"]),
        ("sin", "jnp.sin", mp.sin, np.sin, [(-7, 7), (-1e4, 1e4), whole, below]),
        ("cos", "jnp.cos", mp.cos, np.cos, [(-7, 7), (-1e4, 1e4), whole, below]),
        ("tan", "jnp.tan", mp.tan, np.tan, [(-7, 7), (-1e4, 1e4), whole, below]),
        ("asin", "jnp.arcsin", mp.asin, np.arcsin, [unit, "small", below]),
        ("acos", "jnp.arccos", mp.acos, np.arccos, [unit, (0.99, 1), (-1, -0.99), "small", below]),
        ("atan", "jnp.arctan", mp.atan, np.arctan, [(-5, 5), whole, below]),
        ("sinh", "jnp.sinh", mp.sinh, np.sinh, [(-2, 2), "range", whole, below]),
        ("cosh", "jnp.cosh", mp.cosh, np.cosh, [(-2, 2), "range", whole, below]),
        ("tanh", "jnp.tanh", mp.tanh, np.tanh, [(-5, 5), whole, below]),
        ("asinh", "jnp.arcsinh", mp.asinh, np.arcsinh, [(-5, 5), whole, below]),
        ("acosh", "jnp.arccosh", mp.acosh, np.arccosh, [(1, 1.01), (1, 10), "large"]),
        ("atanh", "jnp.arctanh", mp.atanh, np.arctanh, [unit, (0.99, 1), "small", below]),
        ("sqrt", "jnp.sqrt", mp.sqrt, np.sqrt, [(0, 4), positive, "subnormal+"]),
        ("rsqrt", "lax.rsqrt", lambda x: 1 / mp.sqrt(x), None, [(0.1, 4), positive, "subnormal+"]),
        ("cbrt", "jnp.cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), np.cbrt, [(-4, 4), whole, below]),
        ("sinc", "jnp.sinc", mp.sincpi, np.sinc, [(-3, 3), (-100, 100), "small", below]),
        ("logistic", "lax.logistic", lambda x: 1 / (1 + mp.exp(-x)), special.expit, [(-5, 5), "range", whole, below]),
        ("softplus", "nn.softplus", softplus, None, [(-5, 5), "range", whole, below]),
        ("erf", "lax.erf", mp.erf, special.erf, [(-4, 4), "small", below]),
        ("erfc", "lax.erfc", mp.erfc, special.erfc, [(-3, 3), (3, 9), "small", below]),
        ("erf_inv", "lax.erf_inv", mp.erfinv, special.erfinv, [(-0.99, 0.99), (0.99, 0.999999), "small", below]),
        ("square", "jnp.square", lambda x: x * x, np.square, [(-5, 5), whole]),
        ("reciprocal", "jnp.reciprocal", lambda x: 1 / x, np.reciprocal, [(-5, 5), whole, below]),
        ("log_sigmoid", "nn.log_sigmoid", lambda x: -softplus(-x), None, [(-5, 5), "range", whole, below]),
        ("atan2", "jnp.arctan2", mp.atan2, np.arctan2, [((-5, 5),) * 2, (whole,) * 2, (below, below)]),
        ("pow", "jnp.power", mp.power, np.power, [((0.1, 10), (-5, 5)), ((0.9, 1.1), (-300, 300)), (positive, (-1, 1))]),
        ("hypot", "jnp.hypot", mp.hypot, np.hypot, [((-5, 5),) * 2, (whole,) * 2, (below, below)]),
        ("logaddexp", "jnp.logaddexp", logaddexp, np.logaddexp, [((-5, 5),) * 2, ((-500, 500),) * 2, (whole,) * 2]),
        ("logaddexp2", "jnp.logaddexp2", lambda a, b: logaddexp(a * ln2, b * ln2) / ln2, np.logaddexp2, [((-5, 5),) * 2, ((-500, 500),) * 2]),
        ("fmod", "jnp.fmod", lambda x, y: mp.sign(x) * (abs(x) % abs(y)), np.fmod, [((-50, 50), (0.1, 5))]),
    ]
    plane, disc, far, tiny = ((-3, 3), (-3, 3)), (unit, unit), (whole, whole), ("small", "small")
    strip = ("range", (-3, 3))
    near_one = ((0.99, 1.01), (-0.01, 0.01))
    rows += [(name, public, exact, numpy, [("z", *r) for r in regions]) for name, public, exact, numpy, regions in [
        ("complex exp", "jnp.exp", mp.exp, np.exp, [plane, strip, tiny]),
        ("complex expm1", "jnp.expm1", mp.expm1, np.expm1, [plane, strip, tiny]),
        ("complex log", "jnp.log", mp.log, np.log, [plane, near_one, far]),
        ("complex log1p", "jnp.log1p", mp.log1p, np.log1p, [plane, tiny, far]),
        ("complex sqrt", "jnp.sqrt", mp.sqrt, np.sqrt, [plane, far]),
        ("complex sin", "jnp.sin", mp.sin, np.sin, [plane, strip[::-1], tiny]),
        ("complex cos", "jnp.cos", mp.cos, np.cos, [plane, strip[::-1], tiny]),
        ("complex tan", "jnp.tan", mp.tan, np.tan, [plane, strip[::-1], tiny]),
        ("complex sinh", "jnp.sinh", mp.sinh, np.sinh, [plane, strip, tiny]),
        ("complex cosh", "jnp.cosh", mp.cosh, np.cosh, [plane, strip, tiny]),
        ("complex tanh", "jnp.tanh", mp.tanh, np.tanh, [plane, strip, tiny]),
        ("complex asin", "jnp.arcsin", mp.asin, np.arcsin, [plane, near_one, far, tiny]),
        ("complex acos", "jnp.arccos", mp.acos, np.arccos, [plane, near_one, far, tiny]),
        ("complex atan", "jnp.arctan", arc(mp.atan, -1), np.arctan, [plane, far, tiny]),
        ("complex asinh", "jnp.arcsinh", mp.asinh, np.arcsinh, [plane, far, tiny]),
        ("complex acosh", "jnp.arccosh", mp.acosh, np.arccosh, [plane, near_one, far, tiny]),
        ("complex atanh", "jnp.arctanh", arc(mp.atanh, 1), np.arctanh, [plane, near_one, far, tiny]),
        ("complex abs", "jnp.abs", abs, np.abs, [plane, far]),
        ("complex logistic", "lax.logistic", lambda z: 1 / (1 + mp.exp(-z)), None, [plane, strip, tiny]),
        ("complex rsqrt", "lax.rsqrt", lambda z: 1 / mp.sqrt(z), None, [plane, far]),
        ("complex reciprocal", "jnp.reciprocal", lambda z: 1 / z, np.reciprocal, [plane, far]),
    ]]
    rows.append(("complex pow", "jnp.power", mp.power, np.power, [("zz", (-3, 3), (-3, 3), (-3, 3), (-3, 3))]))
    return {name: (public, exact, numpy, [_region(r) for r in regions]) for name, public, exact, numpy, regions in rows}


def _region(r):
    """Each region as a list of intervals; a lone one may be written bare."""
    if isinstance(r, str) or isinstance(r[0], (int, float)):
        return [r]
    return list(r)


def _label(intervals):
    return ", ".join(i if isinstance(i, str) else f"{i[0]:g}..{i[1]:g}" for i in intervals if i not in ("z", "zz"))


def _draw(rng, interval, dtype):
    info = np.finfo(dtype)
    top, low, bottom = np.log(float(info.max)), np.log(float(info.tiny)), np.log(float(info.smallest_subnormal))
    if not isinstance(interval, str):
        return rng.uniform(*interval, COUNT).astype(dtype)
    if interval == "range":  # where exp neither overflows nor leaves the normal numbers
        return rng.uniform(0.99 * low, 0.99 * top, COUNT).astype(dtype)
    ends = {"wide": (low, top), "small": (low, np.log(0.01)), "large": (0, top), "subnormal": (bottom, low)}[interval.rstrip("+")]
    x = np.exp(rng.uniform(*ends, COUNT) * (1 - 1e-7))
    if not interval.endswith("+") and interval != "large":
        x = x * rng.choice([-1, 1], COUNT)
    return x.astype(dtype)


def _points(functions, real):
    rng, points = np.random.default_rng(0), {}
    wanted = COMPLEX[REAL.index(real)]
    for name, (_, _, numpy, regions) in functions.items():
        for r, intervals in enumerate(regions):
            if intervals[0] in ("z", "zz"):
                parts = [_draw(rng, i, real) for i in intervals[1:]]
                args = [(a + 1j * b).astype(wanted) for a, b in zip(parts[::2], parts[1::2])]
            else:
                args = [_draw(rng, i, real) for i in intervals]
            for i, x in enumerate(args):
                points[f"{name}|{r}|{i}"] = x
        if numpy is None:
            continue
        marks = np.array([0.0, -0.0, 1, -1, 0.5, -2, 2, np.inf, -np.inf, np.nan, np.finfo(real).max, -np.finfo(real).max], real)
        arity = len(args)
        if regions[0][0] == "z":
            marks = np.array([0.0, -0.0, 1, -1, 0.5, -2, 2, np.inf, -np.inf, np.nan], real)
            grid = np.empty(100, wanted)
            grid.real, grid.imag = np.repeat(marks, 10), np.tile(marks, 10)
            points[f"{name}|special|0"] = grid
        elif regions[0][0] != "zz":
            for i, x in enumerate(zip(*itertools.product(marks, repeat=arity))):
                points[f"{name}|special|{i}"] = np.array(x, real)
    return points


def _work(source, target, wide, names):
    import jax
    jax.config.update("jax_enable_x64", wide)
    spaces = {"jnp": jax.numpy, "lax": jax.lax, "nn": jax.nn}
    public = dict(pair.split("=") for pair in names.split(","))
    points, out = np.load(source), {}
    for key in dict.fromkeys(k.rsplit("|", 1)[0] for k in points.files):
        args = [points[f"{key}|{i}"] for i in range(sum(k.startswith(key + "|") for k in points.files))]
        space, name = public[key.split("|")[0]].split(".")
        try:
            out[key] = np.asarray(getattr(spaces[space], name)(*args))
        except Exception as error:
            print(key, type(error).__name__, str(error)[:80], file=sys.stderr)
    np.savez(target, **out)


def _error(got, want, info, mp):
    """The distance in units; an infinity where the truth overflows is right, NaN and other infinities are wrong without bound."""
    size, largest = abs(want), mp.mpf(float(info.max))
    smallest = info.minexp - info.nmant
    exponent = max(int(mp.floor(mp.log(size, 2))) - info.nmant, smallest) if size else smallest
    if size > largest:
        if np.isnan(got):
            return np.inf
        return 0.0 if np.isinf(got) else min(1e300, float((size - abs(mp.mpmathify(complex(got)))) / mp.mpf(2) ** (info.maxexp - 1 - info.nmant)))
    if not np.isfinite(got):
        return np.inf
    return float(abs(mp.mpmathify(complex(got)) - want) / mp.mpf(2) ** exponent)


def _errors(results, exact, args, info, mp):
    """One row of errors per installation; points where mpmath has no finite value are left out."""
    out = [[] for _ in results]
    for i, point in enumerate(zip(*args)):
        try:
            want = exact(*(mp.mpc(p.real.item(), p.imag.item()) if np.iscomplexobj(p) else mp.mpf(p.item()) for p in point))
        except (ZeroDivisionError, ValueError, OverflowError):
            continue
        if not mp.isfinite(want):
            continue
        for row, result in zip(out, results):
            row.append(_error(result[i], want, info, mp) if result is not None else np.nan)
    return [np.array(row) for row in out]


def _kind(value):
    """NaN, infinities and zeros with their signs; other numbers by sign alone."""
    def part(x):
        if np.isnan(x):
            return "nan"
        sign = "-" if np.signbit(x) else "+"
        return sign + ("inf" if np.isinf(x) else "0" if x == 0 else "x")
    return part(value.real) + (" " + part(value.imag) + "j" if np.iscomplexobj(value) else "")


def _verdict(ours, theirs):
    if ours > 1 and not ours <= 1.5 * theirs:
        return "ours worse"
    if theirs > 1 and not theirs <= 1.5 * ours:
        return "ours better"
    return "equal"


def _special_rows(functions, points, results):
    rows = []
    for name, (_, _, numpy, _) in functions.items():
        key = f"{name}|special"
        if f"{key}|0" not in points:
            continue
        args = [points[f"{key}|{i}"] for i in range(sum(k.startswith(key + "|") for k in points))]
        with np.errstate(all="ignore"):
            want = [_kind(v) for v in numpy(*args)]
        wrong = [[i for i, w in enumerate(want) if _kind(r[key][i]) != w] for r in results if key in r]
        if not any(wrong):
            continue
        only = [i for i in wrong[0] if len(wrong) > 1 and i not in wrong[1]]
        example = "; ".join(f"{tuple(complex(a[i]) if np.iscomplexobj(a) else float(a[i]) for a in args)}: {_kind(results[0][key][i])}"
                            f", NumPy {want[i]}" for i in only[:2])
        rows.append(f"| {name} | {args[0].dtype} | {len(want)} | " + " | ".join(str(len(w)) for w in wrong) + f" | {len(only)} | {example} |")
    return rows


def main():
    options = arguments(__doc__, 4)
    if options.worker:
        source, target, wide, names = options.worker
        return _work(source, target, wide == "1", names)
    import mpmath as mp
    functions = {k: v for k, v in _functions().items() if not options.only or k in options.only}
    pythons = installations(options)
    public = ",".join(f"{name}={row[0]}" for name, row in functions.items())
    rows, specials, counts = [], [], {}
    for real in REAL:
        points = _points(functions, real)
        results = evaluated(__file__, points, pythons, str(int(real is np.float64)), public)
        for name, (_, exact, _, regions) in functions.items():
            for r, intervals in enumerate(regions):
                key = f"{name}|{r}"
                args = [points[f"{key}|{i}"] for i in range(sum(k.startswith(key + "|") for k in points))]
                errors = _errors([result.get(key) for result in results], exact, args, np.finfo(real), mp)
                cells = [f"{e.mean():.2g} | {e.max():.3g}" for e in errors]
                verdict = _verdict(errors[0].max(), errors[1].max()) if len(errors) > 1 else ""
                counts[verdict] = counts.get(verdict, 0) + 1
                rows.append(f"| {name} | {_label(intervals)} | {args[0].dtype} | " + " | ".join(cells) + f" | {verdict} |")
        specials += _special_rows(functions, points, results)
    text = "\n".join([
        f"{len(functions)} functions, {len(rows)} rows: " + ", ".join(f"{n} {v}" for v, n in sorted(counts.items()) if v) + ".", "",
        "| function | where | dtype | " + " | ".join(f"{w}: mean | {w}: max" for w in pythons) + " | verdict |", "|---" * (4 + 2 * len(pythons)) + "|",
        *rows, "", "## Zeros, infinities, NaN, branch cuts: points that differ in kind from NumPy", "",
        "| function | dtype | points | " + " | ".join(pythons) + " | ours alone | for instance |", "|---" * (5 + len(pythons)) + "|", *specials])
    report(text, options.out)


if __name__ == "__main__":
    main()
