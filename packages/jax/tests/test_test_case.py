"""`jax._src.test_util`: test cases as suites of kernels derive from them."""
import unittest

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax._src import test_util as jtu


def outcome(test, case=jtu.JaxTestCase, config=None):
    """The result of a test of a case: None, or the class of the exception it ended with, and its text."""
    kind = jtu.with_config(**config or {})(type("Case", (case,), {"test": test}))
    result = unittest.TestResult()
    jtu.JaxTestLoader().loadTestsFromTestCase(kind).run(result)
    assert result.testsRun == 1
    return "".join(text for _, text in result.failures + result.errors) or None


def test_settings_hold_for_the_test_and_no_longer():
    seen, names = [], ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_legacy_prng_key")
    read = lambda self=None: seen.append(tuple(getattr(jax.config, name) for name in names))
    read()
    assert outcome(read) is None and outcome(read, config={"jax_enable_x64": True, "jax_numpy_dtype_promotion": "standard"}) is None
    read()
    wide = jtu.with_config(jax_enable_x64=True)(type("Wide", (jtu.JaxTestCase,), {}))
    assert outcome(read, wide, {"jax_numpy_rank_promotion": "warn"}) is None
    outcome(lambda self: self.fail("on purpose"), config={"jax_enable_x64": True})
    read()
    before = seen[0]
    assert seen == [before, (before[0], "strict", "raise", "error"), (True, "standard", "raise", "error"), before,
                    (True, "strict", "warn", "error"), before]
    assert "there is no setting 'jax_nothing'" in outcome(read, config={"jax_nothing": 1})
    with pytest.raises(TypeError, match="with_config: decorates classes derived from JaxTestCase, got .*TestCase"):
        jtu.with_config(jax_enable_x64=True)(unittest.TestCase)


COMPARISONS = [
    (lambda t: t.assertArraysEqual(jnp.ones(2), np.ones(2)), True),
    (lambda t: t.assertArraysEqual(jnp.ones(2, "int32"), np.ones(2, "float32")), False),
    (lambda t: t.assertArraysEqual(jnp.ones(2, "int32"), np.ones(2, "float32"), check_dtypes=False), True),
    (lambda t: t.assertArraysEqual(jnp.ones(2), jnp.ones(3)), False),
    (lambda t: t.assertArraysEqual(jnp.ones((2, 1)), jnp.ones(2)), False),
    (lambda t: t.assertArraysEqual(jnp.array([jnp.nan]), jnp.array([jnp.nan])), True),
    (lambda t: t.assertArraysEqual(jax.random.key(0), jax.random.key(0)), True),
    (lambda t: t.assertArraysEqual(jax.random.key(0), jax.random.key(1)), False),
    (lambda t: t.assertArraysEqual(np.array(["a"], object), np.array(["a"], object)), False),
    (lambda t: t.assertArraysEqual(np.array(["a"], object), np.array(["a"], object), allow_object_dtype=True), True),
    (lambda t: t.assertArraysAllClose(jnp.float32(1), jnp.float32(1 + 5e-7)), True),
    (lambda t: t.assertArraysAllClose(jnp.float32(1), jnp.float32(1 + 1e-5)), False),
    (lambda t: t.assertArraysAllClose(jnp.float32(1), jnp.float32(1 + 1e-5), rtol=1e-4), True),
    (lambda t: t.assertArraysAllClose(jnp.bfloat16(1), jnp.bfloat16(1.01)), True),
    (lambda t: t.assertArraysAllClose(jnp.ones(2, "bfloat16"), jnp.ones(2)), False),
    (lambda t: t.assertArraysAllClose(jnp.ones((2, 1)), jnp.ones(2)), False),
    (lambda t: t.assertAllClose([1, 2], (1, 2)), True),
    (lambda t: t.assertAllClose([1, 2], [1, 3]), False),
    (lambda t: t.assertAllClose([1, 2], [1]), False),
    (lambda t: t.assertAllClose({"a": [1.0, None, "x"]}, {"a": [1.0, None, "x"]}), True),
    (lambda t: t.assertAllClose({"a": 1.0}, {"b": 1.0}), False),
    (lambda t: t.assertAllClose(None, 1.0), False),
    (lambda t: t.assertAllClose(jnp.ones(2), [1.0, 1.0]), True),
    (lambda t: t.assertAllClose(np.float64(1), jnp.float32(1), canonicalize_dtypes=False), False),
    (lambda t: t.assertMultiLineStrippedEqual(" a\n  b\n", "a\nb"), True),
    (lambda t: t.assertMultiLineStrippedEqual("a b", "a  b"), False),
    (lambda t: t._CompileAndCheck(jnp.sin, lambda: [np.float32(1)], tol=1e-6), True),
    (lambda t: t._CheckAgainstNumpy(np.sin, jnp.sin, lambda: [np.float32(1)]), True),
    (lambda t: t._CheckAgainstNumpy(np.cos, jnp.sin, lambda: [np.float32(1)]), False),
    (lambda t: t.assertEqual(t.rng(), t.rng()), True),
]


@pytest.mark.parametrize("row", range(len(COMPARISONS)))
def test_comparisons(row):
    check, passes = COMPARISONS[row]
    failed = outcome(check)
    assert failed is None if passes else "AssertionError" in failed


def test_warnings():
    import warnings

    def noisy(self):
        with self.assertNoWarnings(), jtu.ignore_warning(category=UserWarning, message="s"):
            warnings.warn("seen")
    assert outcome(noisy) is None
    assert "assertNoWarnings: UserWarning: heard" in outcome(lambda self: [self.enterContext(self.assertNoWarnings()), warnings.warn("heard")])


def test_parameterized_tests_of_absl():
    """jax-triton's and tpu-inference's cases use absl's decorators."""
    parameterized = pytest.importorskip("absl.testing.parameterized")

    class Case(jtu.JaxTestCase):
        @parameterized.named_parameters(("_one", 1), ("_two", 2))
        def test(self, x):
            self.assertLess(x, 2)
    result = unittest.TestResult()
    jtu.JaxTestLoader().loadTestsFromTestCase(Case).run(result)
    assert (result.testsRun, len(result.failures), len(result.errors)) == (2, 1, 0)


def test_devices():
    assert jtu.device_under_test() == jax.devices()[0].platform and jtu.test_device_matches([jax.devices()[0].platform])
    if jtu.device_under_test() == "cpu":
        assert not jtu.test_device_matches(["tpu", "gpu", "cuda"]) and not jtu.is_device_tpu() and not jtu.is_device_tpu_at_least(4)
        assert not jtu.is_cuda_compute_capability_at_least("8.0")


@pytest.mark.parametrize("kind, generation, variant", [("TPU v5e", 5, "e"), ("TPU v6 lite", 6, "e"), ("TPU v5p", 5, "p"), ("TPU7x", 7, "x"), ("TPU v4", 4, "")])
def test_generations_of_tpus(kind, generation, variant, monkeypatch):
    monkeypatch.setattr("jax_numpy_api.pallas.chips._kind", lambda: kind)
    assert [jtu.is_device_tpu_at_least(generation + k) for k in (-1, 0, 1)] == [True, True, False]
    assert jtu.is_device_tpu() and jtu.is_device_tpu(generation) and jtu.is_device_tpu(generation, variant) and not jtu.is_device_tpu(generation + 1)
    assert not jtu.is_device_tpu(generation, "z")
