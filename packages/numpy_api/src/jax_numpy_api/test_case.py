"""Test cases for suites of kernels and libraries: strict settings, comparisons of arrays, numbers that depend on the test's name.

For sglang-jax, tpu-inference and jax-triton, whose tests derive from `jax._src.test_util.JaxTestCase`. With absl, an optional dependency,
a case is one of absl's, with its parameterized tests; without, one of unittest.
"""
from __future__ import annotations

import contextlib
import unittest
import warnings
import zlib
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

import numpy as np

from jax_core import backends
from jax_core.configuration import engine
from jax_core.programs.jit import jit
from jax_core.representation import dtypes

from .pallas import chips
from .test_util import Tolerance, check_close

if TYPE_CHECKING:
    from unittest import TestCase as _Case, TestLoader as _Loader

    from jax_core.representation.typing import ArrayLike, PyTree
else:
    try:
        from absl.testing import absltest, parameterized
        _Case, _Loader = parameterized.TestCase, absltest.TestLoader
    except ImportError:
        _Case, _Loader = unittest.TestCase, unittest.TestLoader


class JaxTestCase(_Case):
    """A test case in which dtypes and ranks are not promoted, programs are checked, and keys are typed.

    `with_config` changes settings for all tests of a class.

    >>> import unittest
    >>> from jax._src import test_util
    >>> @test_util.with_config(jax_enable_x64=True)
    ... class Sums(test_util.JaxTestCase):
    ...     def test_sum(self):
    ...         x = self.rng().random(5)
    ...         self.assertAllClose(jnp.sum(x), np.sum(x), rtol=1e-14)
    >>> Sums("test_sum").run().wasSuccessful()
    True
    """

    settings: Mapping[str, object] = {"jax_enable_checks": True, "jax_numpy_dtype_promotion": "strict", "jax_numpy_rank_promotion": "raise",
                                      "jax_traceback_filtering": "off", "jax_legacy_prng_key": "error"}

    def setUp(self) -> None:
        """Set the settings, until the test ends."""
        super().setUp()
        for name, value in self.settings.items():
            state = engine.find(name)
            if state is None:
                raise ValueError(f"with_config: there is no setting {name!r}; jax.config.values lists them.")
            self.enterContext(state(value))
        self._rng = np.random.RandomState(zlib.crc32(self._testMethodName.encode()))

    def rng(self) -> np.random.RandomState:
        """One generator for each test, seeded by the test's name.

        >>> from jax._src import test_util
        >>> case = test_util.JaxTestCase("rng"); case.setUp()
        >>> case.rng() is case.rng()
        True
        >>> case.doCleanups()
        True
        """
        return self._rng

    def assertDtypesMatch(self, actual: ArrayLike, desired: ArrayLike, *, canonicalize_dtypes: bool = True) -> None:
        """Fail unless both have one dtype; by default one of 64 bits counts as that of 32 bits that it becomes without double precision.

        >>> from jax._src import test_util
        >>> test_util.JaxTestCase().assertDtypesMatch(jnp.ones(2), np.ones(2))
        """
        given = [x.dtype if hasattr(x, "dtype") else dtypes.dtype(x) for x in (actual, desired)]
        self.assertEqual(*(dtypes.canonicalize_dtype(x, True) if canonicalize_dtypes and x != object else x for x in given))

    def assertArraysEqual(self, actual: ArrayLike, desired: ArrayLike, *, check_dtypes: bool = True, err_msg: str = "",
                          allow_object_dtype: bool = False, verbose: bool = True) -> None:
        """Fail unless both have one dtype, one shape and equal elements, where NaN equals NaN.

        >>> from jax._src import test_util
        >>> test_util.JaxTestCase().assertArraysEqual(jnp.arange(2), np.array([0, 1], "int32"))
        """
        actual, desired = (np.asarray(x) if isinstance(x, (list, tuple)) else x for x in (actual, desired))
        if check_dtypes:
            self.assertDtypesMatch(actual, desired)
        if isinstance(given := getattr(actual, "dtype", None), dtypes.ExtendedDType) and given == getattr(desired, "dtype", None):
            self.assertEqual(np.shape(actual), np.shape(desired), err_msg or None)
            actual, desired = np.asarray(actual == desired), np.ones(np.shape(actual), bool)
        arrays = np.asarray(actual), np.asarray(desired)
        if not allow_object_dtype and any(x.dtype == object for x in arrays):
            self.fail(f"assertArraysEqual: {actual!r} and {desired!r} are no arrays of numbers; allow_object_dtype=True compares such, too.")
        self.assertEqual(arrays[0].shape, arrays[1].shape, err_msg or None)
        np.testing.assert_array_equal(*arrays, err_msg=err_msg, verbose=verbose)

    def assertArraysAllClose(self, actual: ArrayLike, desired: ArrayLike, *, check_dtypes: bool = True, atol: Tolerance = None, rtol: Tolerance = None,
                             err_msg: str = "") -> None:
        """Fail unless both have one shape and elements within tolerances, by default those of `check_close`, and one dtype.

        >>> from jax._src import test_util
        >>> test_util.JaxTestCase().assertArraysAllClose(jnp.ones(2), np.ones(2) + 1e-7)
        """
        if check_dtypes:
            self.assertDtypesMatch(actual, desired)
        check_close(actual, desired, atol, rtol, err_msg)

    def assertAllClose(self, actual: PyTree, desired: PyTree, *, check_dtypes: bool = True, atol: Tolerance = None, rtol: Tolerance = None,
                       canonicalize_dtypes: bool = True, err_msg: str = "") -> None:
        """The same for arrays in dictionaries, lists and tuples; strings must be equal, and None is None.

        >>> from jax._src import test_util
        >>> test_util.JaxTestCase().assertAllClose({"a": [jnp.float32(1)]}, {"a": (1 + 1e-8,)})
        """
        how: Any = dict(check_dtypes=check_dtypes, atol=atol, rtol=rtol, canonicalize_dtypes=canonicalize_dtypes, err_msg=err_msg)
        if isinstance(desired, Mapping):
            self.assertIsInstance(actual, Mapping, err_msg or None)
            self.assertEqual(set(actual), set(desired), err_msg or None)
            for name in desired:
                self.assertAllClose(actual[name], desired[name], **how)
        elif isinstance(actual, (list, tuple)) and isinstance(desired, (list, tuple)):
            self.assertEqual(len(actual), len(desired), err_msg or None)
            for a, d in zip(actual, desired):
                self.assertAllClose(a, d, **how)
        elif actual is None or desired is None or isinstance(desired, str):
            self.assertEqual(actual, desired, err_msg or None)
        else:
            actual, desired = (np.asarray(x) if isinstance(x, (list, tuple)) else x for x in (actual, desired))
            if check_dtypes:
                self.assertDtypesMatch(actual, desired, canonicalize_dtypes=canonicalize_dtypes)
            self.assertArraysAllClose(actual, desired, check_dtypes=False, atol=atol, rtol=rtol, err_msg=err_msg)

    def assertMultiLineStrippedEqual(self, expected: str, what: str) -> None:
        """Fail unless two texts have the same lines, but for their margins.

        >>> from jax._src import test_util
        >>> test_util.JaxTestCase().assertMultiLineStrippedEqual("  a", "a")
        """
        self.assertMultiLineEqual(*("\n".join(line.strip() for line in text.strip().splitlines()) for text in (expected, what)))

    @contextlib.contextmanager
    def assertNoWarnings(self) -> Iterator[None]:
        """``with`` it, a warning is a failure.

        >>> from jax._src import test_util
        >>> with test_util.JaxTestCase().assertNoWarnings():
        ...     pass
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        if caught:
            self.fail(f"assertNoWarnings: {caught[0].category.__name__}: {caught[0].message}")

    def _CompileAndCheck(self, fun: Callable[..., PyTree], args_maker: Callable[[], Iterable[Any]], *, check_dtypes: bool = True, tol: Tolerance = None,
                         rtol: Tolerance = None, atol: Tolerance = None, check_cache_misses: bool = True) -> None:
        """Fail unless the compiled ``fun`` gives what ``fun`` gives, and is traced once for arguments of the same types."""
        traced = [0]

        def counted(*args):
            traced[0] += 1
            return fun(*args)
        args, compiled = tuple(args_maker()), jit(counted)
        for _ in range(2):
            self.assertAllClose(compiled(*args), fun(*args), check_dtypes=check_dtypes, atol=tol if atol is None else atol,
                                rtol=tol if rtol is None else rtol)
        if check_cache_misses:
            self.assertEqual(traced[0], 1, "the second call was traced, too")

    def _CheckAgainstNumpy(self, numpy_reference_op: Callable[..., PyTree], lax_op: Callable[..., PyTree], args_maker: Callable[[], Iterable[Any]],
                           check_dtypes: bool = True, tol: Tolerance = None, atol: Tolerance = None, rtol: Tolerance = None,
                           canonicalize_dtypes: bool = True) -> None:
        """Fail unless ``lax_op`` gives what ``numpy_reference_op`` gives."""
        args = tuple(args_maker())
        self.assertAllClose(lax_op(*args), numpy_reference_op(*args), check_dtypes=check_dtypes, atol=tol if atol is None else atol,
                            rtol=tol if rtol is None else rtol, canonicalize_dtypes=canonicalize_dtypes)


class JaxTestLoader(_Loader):
    """The loader of such cases, ``absltest.main(testLoader=JaxTestLoader())``: absl's, or that of unittest."""


def with_config(**kwds: object) -> Callable[[type[JaxTestCase]], type[JaxTestCase]]:
    """Decorator of a `JaxTestCase`: settings for its tests and those of classes derived from it.

    Raises:
      TypeError: it decorates something else.

    >>> from jax._src import test_util
    >>> @test_util.with_config(jax_numpy_rank_promotion="allow")
    ... class Case(test_util.JaxTestCase):
    ...     pass
    >>> Case.settings["jax_numpy_rank_promotion"]
    'allow'
    """
    def decorate(case: type[JaxTestCase]) -> type[JaxTestCase]:
        if not (isinstance(case, type) and issubclass(case, JaxTestCase)):
            raise TypeError(f"with_config: decorates classes derived from JaxTestCase, got {case!r}")
        case.settings = {**case.settings, **kwds}
        return case
    return decorate


@contextlib.contextmanager
def ignore_warning(*, message: str | None = None, category: type[Warning] = Warning) -> Iterator[None]:
    """``with`` it, or under it as a decorator, warnings of a category are not shown whose text begins as the expression ``message`` says.

    >>> from jax._src import test_util
    >>> with test_util.ignore_warning(message="Explicitly requested dtype"):
    ...     print(jnp.zeros(2, "float64"))
    [0. 0.]
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message or "", category=category)
        yield


def device_under_test() -> str:
    """The platform of the first device: ``"cpu"``, ``"gpu"`` or ``"tpu"``.

    >>> from jax._src import test_util
    >>> test_util.device_under_test()
    'cpu'
    """
    return backends.get().devices()[0].platform


def test_device_matches(device_types: Iterable[str]) -> bool:
    """Whether the first device is on one of these platforms; ``"cuda"`` and ``"rocm"`` are two that ``"gpu"`` stands for.

    >>> from jax._src import test_util
    >>> test_util.test_device_matches(["cpu", "tpu"])
    True
    """
    platform = device_under_test()
    version = getattr(getattr(backends.get().devices()[0], "client", None), "platform_version", "")
    kinds = {platform, "rocm" if "rocm" in version else "cuda"} if platform == "gpu" else {platform}
    return not kinds.isdisjoint(device_types)


def is_device_tpu(version: int | None = None, variant: str = "") -> bool:
    """Whether the first device is a TPU, of this generation and variant (``"e"``, ``"p"``, ...) if they are given.

    >>> from jax._src import test_util
    >>> test_util.is_device_tpu(5, "e")
    False
    """
    if not chips.is_tpu_device():
        return False
    if version is None:
        return True
    info = chips.get_tpu_info()
    return info.generation == version and info.chip_version.value.removeprefix("v").removeprefix(str(version)).startswith(variant)


def is_device_tpu_at_least(version: int) -> bool:
    """Whether the first device is a TPU of this generation or a later one.

    >>> from jax._src import test_util
    >>> test_util.is_device_tpu_at_least(4)
    False
    """
    return chips.is_tpu_device() and chips.get_tpu_info().generation >= version


def is_cuda_compute_capability_at_least(capability: str) -> bool:
    """Whether the first device is one of CUDA of this compute capability, as ``"8.0"``, or a later one.

    >>> from jax._src import test_util
    >>> test_util.is_cuda_compute_capability_at_least("8.0")
    False
    """
    number = lambda text: tuple(map(int, text.split(".")))
    return test_device_matches(["cuda"]) and number(backends.get().devices()[0].compute_capability) >= number(capability)
