"""The cases of the recorded table: calls of `jax.random` whose results must have the reference's bits.

Plain data, so that `record_reference.py` can run them under the public `jax` and the tests under ours. A case is a name, a
function, its arguments after the key, whether x64 is on, and the seed of its key.
"""
from __future__ import annotations

import numpy as np

FLOATS = ("float32", "float16", "bfloat16", "float64")
UINTS = ("uint8", "uint16", "uint32", "uint64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")
SHAPES = ((), (5,), (2, 3), (0, 2))
SEED = 20211


def f32(*values):
    return np.array(values, np.float32)


def _wide(dtype) -> bool:
    return "64" in str(dtype) and dtype != "complex64" or str(dtype) == "complex128"


def _gamma_cases():
    """What compiles for seconds, so there are few."""
    for dtype, a in (("float32", f32(0.3, 1.0, 2.5, 40.0)), ("float64", 0.3), ("bfloat16", 2.5), ("float16", 2.5)):
        yield "gamma", (a, (4,), dtype), {}
        if dtype == "float32":
            yield "loggamma", (a, (4,), dtype), {}
    for dtype in ("float32", "float64"):
        yield "beta", (2.0, 0.5, (4,), dtype), {}
    dtype = "float32"
    yield "chisquare", (3.0, (4,), dtype), {}
    yield "f", (3.0, 4.0, (4,), dtype), {}
    yield "t", (3.0, (4,), dtype), {}
    yield "generalized_normal", (1.5, (4,), dtype), {}
    yield "ball", (3, 2, (2,), dtype), {}
    yield "dirichlet", (f32(1, 2, 3), (2,), dtype), {}
    yield "binomial", (20.0, 0.3, (5,), dtype), {}
    yield "binomial", (20.0, 0.3, (5,), "float16"), {}


def _cases():
    for num in (1, 2, 3, 7, (2, 3), (0,)):
        yield "split", (num,), {}
    for data in (0, 1, 7, 2**31, 2**32 - 1):
        yield "fold_in", (data,), {}
    for dtype in UINTS:
        for shape in SHAPES:
            yield "bits", (shape, dtype), {}
    for dtype in FLOATS:
        yield "uniform", ((2, 3), dtype), {}
        yield "uniform", ((4,), dtype, -2.5, 3.0), {}
        for name in ("exponential", "gumbel", "laplace", "logistic", "cauchy", "maxwell"):
            yield name, ((5,), dtype), {}
        yield "gumbel", ((4,), dtype), {"mode": "high"}
        yield "truncated_normal", (-1.0, 2.0, (5,), dtype), {}
        yield "lognormal", (1.5, (4,), dtype), {}
        yield "pareto", (2.0, (4,), dtype), {}
        yield "weibull_min", (2.0, 3.0, (4,), dtype), {}
        yield "rayleigh", (2.0, (4,), dtype), {}
        yield "double_sided_maxwell", (1.0, 2.0, (4,), dtype), {}
        yield "wald", (2.0, (4,), dtype), {}
        yield "triangular", (0.0, 0.3, 1.0, (5,), dtype), {}
        yield "rademacher", ((5,), dtype), {}
    yield from _gamma_cases()
    for dtype in (*FLOATS, "complex64", "complex128"):
        yield "normal", ((5,), dtype), {}
    for dtype in INTS:
        yield "randint", ((5,), 0, 100, dtype), {}
        yield "rademacher", ((4,), "int8"), {}
    yield "randint", ((5,), 0, 256, "uint8"), {}
    yield "randint", ((5,), -128, 128, "int8"), {}
    yield "randint", ((5,), -(2**31), 2**31 - 1, "int32"), {}
    yield "randint", ((3,), np.array([0, 5, 9], np.int32), np.array([1, 50, 1000], np.int32)), {}
    yield "randint", ((3,), 5, 2), {}
    for p in (0.3, f32(0.1, 0.9)):
        yield "bernoulli", (p,), {"shape": (3, 2)}
        yield "bernoulli", (p,), {"shape": (3, 2), "mode": "high"}
    logits = np.linspace(-1, 2, 10, dtype=np.float32).reshape(2, 5)
    for kwargs in ({}, {"axis": 0}, {"shape": (3, 2)}, {"shape": (3, 2), "replace": False}, {"mode": "high"},
                   {"axis": 0, "shape": (2, 5), "replace": False}):
        yield "categorical", (logits,), kwargs
    weights = f32(0.1, 0.2, 0.3, 0.2, 0.2)
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    for a, kwargs in ((7, {}), (7, {"replace": False}), (5, {"p": weights}), (5, {"p": weights, "replace": False}),
                      (5, {"p": weights, "replace": False, "mode": "high"}), (grid, {"axis": 1}),
                      (grid, {"axis": 1, "replace": False})):
        yield "choice", (a, (3,)), kwargs
    for x, kwargs in ((1, {}), (10, {}), (2000, {}), (grid, {}), (grid, {"axis": 1}), (grid, {"axis": 1, "independent": True})):
        yield "permutation", (x,), kwargs
    for args in ((0.3, (5,)), (f32(0.1, 0.5, 1.0),)):
        yield "geometric", args, {}
    yield "poisson", (f32(0, 1, 5, 20, 100, 1e4),), {}
    yield "binomial", (f32(5, 100, 1000), f32(0.2, 0.7, 0.5)), {}
    yield "multinomial", (20.0, f32(0.2, 0.3, 0.5)), {}
    yield "multinomial", (f32(10, 20), np.full((2, 3), 1 / 3, np.float32)), {}
    cov = np.array([[2, 1], [1, 3]], np.float32)
    yield "multivariate_normal", (f32(1, 2), cov, (3,)), {}
    for m in (None, 2, 4):
        yield "orthogonal", (3,), {"m": m}


def describe(x) -> str:
    return "x".join(map(str, x.shape)) + str(x.dtype) if isinstance(x, np.ndarray) else repr(x)


def all_cases() -> list[tuple[str, str, tuple, dict, bool]]:
    """Name, function, arguments, keyword arguments, and whether x64 is needed, of every case."""
    cases, names = [], set()
    for function, args, kwargs in _cases():
        inside = ", ".join([*map(describe, args), *(f"{k}={describe(v)}" for k, v in kwargs.items())])
        name = f"{function}({inside})"
        if name in names:
            continue
        names.add(name)
        wide = any(isinstance(a, str) and _wide(a) for a in args)
        cases.append((name, function, args, kwargs, wide))
    return cases
