"""`SparseTestCase`: a unittest case that compares sparse code with dense code.

Results are compared as dense arrays; derivatives as functions of the stored numbers, so that a sparse function and its dense
counterpart take the same tangents. Library authors' strict modes are on while a test runs. With absl installed it is one of
its cases, which the generators of parameterised tests need.
"""
from __future__ import annotations

import contextlib
import textwrap
import warnings
import zlib
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import dtypes, tree
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.transformations import autodiff
from jax_core.transformations.vmap import vmap

from .. import numpy as jnp
from .base import JAXSparse
from .bcoo import BCOO
from .bcsr import BCSR

try:
    from absl.testing.parameterized import TestCase
except ImportError:  # absl is optional
    from unittest import TestCase  # type: ignore[assignment]

_EXACT = 0.0
_TOLERANCE = {"bfloat16": 1e-2, "float16": 1e-3, "float32": 1e-6, "float64": 1e-15, "complex64": 1e-6, "complex128": 1e-15}
_STRICT = ((flags.enable_checks, True), (flags.numpy_dtype_promotion, "strict"), (flags.numpy_rank_promotion, "raise"))

Tolerance = float | Mapping[Any, float] | None
"""One number, numbers by dtype, or None for what the dtype holds."""


def is_sparse(x: ArrayLike) -> bool:
    """Whether ``x`` is a sparse array.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import test_util
    >>> test_util.is_sparse(sparse.BCOO.fromdense(jnp.eye(2))), test_util.is_sparse(jnp.eye(2))
    (True, False)
    """
    return isinstance(x, JAXSparse)


def _dense(pytree: Any) -> Any:
    """``pytree`` with dense arrays in place of sparse ones."""
    return tree.map(lambda x: x.todense() if is_sparse(x) else x, pytree, is_leaf=is_sparse)


def _tolerance(given: Tolerance, *arrays: np.ndarray) -> float:
    if given is not None and not isinstance(given, Mapping):
        return given
    table = {np.dtype(dtype).name: value for dtype, value in (given or {}).items()}
    return max(table.get(x.dtype.name, _TOLERANCE.get(x.dtype.name, _EXACT)) for x in arrays)


def _wide(x: np.ndarray) -> np.ndarray:
    """Extended floats as float32, which NumPy's comparisons know."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


class SparseTestCase(TestCase):
    """A unittest case with comparisons for sparse arrays; its random numbers are made from the test's name."""

    def setUp(self) -> None:
        """Turn the strict modes on for one test."""
        super().setUp()
        self._rng = np.random.RandomState(zlib.adler32(self._testMethodName.encode()))
        for flag, value in _STRICT:
            self.enterContext(flag(value))

    def rng(self) -> np.random.RandomState:
        """The generator of this test."""
        return self._rng

    # -- comparisons -----------------------------------------------------------------------------------------------------

    def assertArraysEqual(self, x: ArrayLike, y: ArrayLike, *, check_dtypes: bool = True, err_msg: str = "", **unused: Any) -> None:
        """Fail unless two arrays have the same elements (NaN equals NaN) and dtypes."""
        self.assertArraysAllClose(x, y, check_dtypes=check_dtypes, atol=0, rtol=0, err_msg=err_msg)

    def assertArraysAllClose(self, x: ArrayLike, y: ArrayLike, *, check_dtypes: bool = True, atol: Tolerance = None,
                             rtol: Tolerance = None, err_msg: str = "") -> None:
        """Fail unless two arrays have one shape, one dtype, and elements that are close for it."""
        if check_dtypes:
            self.assertEqual(dtypes.canonicalize_dtype(dtypes.dtype(x)), dtypes.canonicalize_dtype(dtypes.dtype(y)), err_msg)
        x, y = np.asarray(x), np.asarray(y)
        self.assertEqual(x.shape, y.shape, err_msg)
        atol, rtol = _tolerance(atol, x, y), _tolerance(rtol, x, y)
        np.testing.assert_allclose(_wide(x), _wide(y), atol=atol, rtol=rtol, err_msg=err_msg)

    def assertDtypesMatch(self, actual: ArrayLike, desired: ArrayLike, *, canonicalize_dtypes: bool = True) -> None:
        """Fail unless two arrays have one dtype; with ``canonicalize_dtypes``, the one that they have here."""
        found = [dtypes.dtype(x) for x in (actual, desired)]
        self.assertEqual(*(map(dtypes.canonicalize_dtype, found) if canonicalize_dtypes else found))

    def assertMultiLineStrippedEqual(self, expected: str, what: str) -> None:
        """Fail unless two texts are equal but for indentation, and space around them."""
        self.assertMultiLineEqual(*(textwrap.dedent(text).strip() for text in (expected, what)))

    @contextlib.contextmanager
    def assertNoWarnings(self) -> Iterator[None]:
        """Fail if the block warns."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield

    def assertAllClose(self, x: PyTree, y: PyTree, *, check_dtypes: bool = True, atol: Tolerance = None, rtol: Tolerance = None,
                       canonicalize_dtypes: bool = True, err_msg: str = "") -> None:
        """`assertArraysAllClose` for each pair of leaves of two pytrees; sparse arrays are compared as dense ones."""
        del canonicalize_dtypes
        xs, ys = tree.leaves(_dense(x)), tree.leaves(_dense(y))
        self.assertEqual(len(xs), len(ys), err_msg)
        for a, b in zip(xs, ys):
            self.assertArraysAllClose(a, b, check_dtypes=check_dtypes, atol=atol, rtol=rtol, err_msg=err_msg)

    def assertSparseArraysEquivalent(self, x: Any, y: Any, *, check_dtypes: bool = True, atol: Tolerance = None,
                                     rtol: Tolerance = None, canonicalize_dtypes: bool = True, err_msg: str = "") -> None:
        """Fail unless two sparse arrays stand for close dense ones."""
        self.assertTrue(is_sparse(x) and is_sparse(y), f"two sparse arrays are needed, got {type(x)} and {type(y)}")
        self.assertAllClose(x, y, check_dtypes=check_dtypes, atol=atol, rtol=rtol,
                            canonicalize_dtypes=canonicalize_dtypes, err_msg=err_msg)

    # -- functions against functions -------------------------------------------------------------------------------------

    def _CheckAgainstNumpy(self, numpy_reference_op: Callable, lax_op: Callable, args_maker: Callable[[], Sequence],
                           check_dtypes: bool = True, tol: Tolerance = None, atol: Tolerance = None,
                           rtol: Tolerance = None, canonicalize_dtypes: bool = True) -> None:
        """Compare two functions of the arguments that ``args_maker`` draws."""
        args = args_maker()
        self.assertAllClose(numpy_reference_op(*args), lax_op(*args), check_dtypes=check_dtypes,
                            atol=tol if atol is None else atol, rtol=tol if rtol is None else rtol)

    def _CompileAndCheck(self, fun: Callable, args_maker: Callable[[], Sequence], *, check_dtypes: bool = True,
                         tol: Tolerance = None, rtol: Tolerance = None, atol: Tolerance = None,
                         check_cache_misses: bool = True) -> None:
        """Compare a function with itself under `jit`."""
        del check_cache_misses
        self._CheckAgainstNumpy(fun, jit(fun), args_maker, check_dtypes, tol, atol, rtol)

    def _CheckAgainstDense(self, dense_op: Callable, sparse_op: Callable, args_maker: Callable[[], Sequence],
                           check_jit: bool = True, check_dtypes: bool = True, tol: Tolerance = None,
                           atol: Tolerance = None, rtol: Tolerance = None, canonicalize_dtypes: bool = True) -> None:
        """Compare ``sparse_op`` of sparse arguments, compiled or not, with ``dense_op`` of the dense ones."""
        on_dense = lambda *args: dense_op(*_dense(args))
        self._CheckAgainstNumpy(on_dense, sparse_op, args_maker, check_dtypes, tol, atol, rtol)
        if check_jit:
            self._CheckAgainstNumpy(on_dense, jit(sparse_op), args_maker, check_dtypes, tol, atol, rtol)

    def _CheckGradsSparse(self, dense_fun: Callable, sparse_fun: Callable, args_maker: Callable[[], Sequence], *,
                          argnums: int | Sequence[int] | None = None, modes: Sequence[str] = ("fwd", "rev"),
                          atol: Tolerance = None, rtol: Tolerance = None) -> None:
        """Compare derivatives by the stored numbers of the arguments ``argnums`` (default: all), in random directions."""
        args = list(args_maker())
        chosen = range(len(args)) if argnums is None else (argnums,) if isinstance(argnums, int) else argnums
        leaves, structure = tree.flatten([args[i] for i in chosen])
        numbers = [i for i, x in enumerate(leaves) if dtypes.issubdtype(dtypes.dtype(x), np.inexact)]

        def by_numbers(fun: Callable[..., PyTree]):
            def of(*values):
                filled, replaced = list(leaves), list(args)
                for i, value in zip(numbers, values):
                    filled[i] = value
                for i, arg in zip(chosen, tree.unflatten(structure, filled)):
                    replaced[i] = arg
                return tree.leaves(_dense(fun(*replaced)))
            return of
        sparse, dense = by_numbers(sparse_fun), by_numbers(lambda *xs: dense_fun(*_dense(xs)))
        at = [leaves[i] for i in numbers]
        drawn = lambda xs: [self._normal(np.shape(x), dtypes.dtype(x)) for x in xs]
        if "fwd" in modes:
            direction = drawn(at)
            self.assertAllClose(autodiff.jvp(sparse, at, direction), autodiff.jvp(dense, at, direction), atol=atol, rtol=rtol)
        if "rev" in modes:
            out, pull_sparse = autodiff.vjp(sparse, *at)
            _, pull_dense = autodiff.vjp(dense, *at)
            cotangent = drawn(out)
            self.assertAllClose(pull_sparse(cotangent), pull_dense(cotangent), atol=atol, rtol=rtol)

    def _normal(self, shape: tuple, dtype: Any) -> Any:
        x = self._rng.randn(*shape)
        return jnp.asarray(x + 1j * self._rng.randn(*shape) if dtypes.issubdtype(dtype, np.complexfloating) else x, dtype)

    # -- vmap ------------------------------------------------------------------------------------------------------------

    def _random_bdims(self, *args: Any) -> list[int | None]:
        """An axis to map for each argument (or None), one of them not None; sparse arguments are mapped among batch axes."""
        axes = [range(1 + (x.n_batch if is_sparse(x) else np.ndim(x))) for x in args]
        dims = [None if self._rng.rand() < 0.3 else int(self._rng.choice(axis)) for axis in axes]
        return dims if any(d is not None for d in dims) else [0, *dims[1:]]

    def _CheckBatchingSparse(self, dense_fun: Callable, sparse_fun: Callable, args_maker: Callable[[], Sequence], *,
                             batch_size: int = 3, bdims: Sequence[int | None] | None = None, check_jit: bool = False,
                             check_dtypes: bool = True, tol: Tolerance = None, atol: Tolerance = None,
                             rtol: Tolerance = None, canonicalize_dtypes: bool = True) -> None:
        """Compare `vmap` of ``sparse_fun`` with ``dense_fun`` of one set of arguments after the other."""
        dims = self._random_bdims(*args_maker()) if bdims is None else list(bdims)
        drawn = [args_maker() for _ in range(batch_size)]
        batched = [drawn[0][i] if d is None else _stacked([args[i] for args in drawn], d) for i, d in enumerate(dims)]
        singles = [[drawn[0][i] if d is None else args[i] for i, d in enumerate(dims)] for args in drawn]
        results = [_dense(dense_fun(*_dense(args))) for args in singles]
        expected = tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *results)
        mapped = vmap(sparse_fun, in_axes=tuple(dims))
        for fun in (mapped, jit(mapped)) if check_jit else (mapped,):
            self.assertAllClose(fun(*batched), expected, check_dtypes=check_dtypes, atol=tol if atol is None else atol,
                                rtol=tol if rtol is None else rtol)


def _stacked(arrays: Sequence[Any], axis: int) -> Any:
    """Arrays along a new axis; sparse ones keep their layout, with one batch axis more."""
    stack = jnp.stack(_dense(list(arrays)), axis)
    first = arrays[0]
    if not is_sparse(first):
        return stack
    kind = BCSR if isinstance(first, BCSR) else BCOO
    return kind.fromdense(stack, n_batch=first.n_batch + 1, n_dense=first.n_dense)
