"""Every warning of ours names the line of the user's program that it is about."""
import pathlib
import re
import sys
import warnings

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import sparse
from jax_core.traces import nans
from jax_xla_backend.compiling import disk_cache
from jax_xla_backend.platforms import client, plugins, registry as platforms

PACKAGES = pathlib.Path(__file__).parents[1] / "packages"
X, WIDE = np.ones(3, np.float32), np.ones((2, 3), np.float32)


class BrokenPlugin:
    name, value = "broken", "broken_plugin:start"

    def load(self):
        raise ImportError("broken")


def broken_platform():
    raise RuntimeError("broken")


def under(flag, value, call):
    before = getattr(jax.config, flag)
    jax.config.update(flag, value)
    try:
        return call()
    finally:
        jax.config.update(flag, before)


def unwritable_cache(patch, folder):
    blocked = folder / "a file"
    blocked.write_text("")
    patch.setattr(disk_cache, "directory", lambda: str(blocked / "cache"))
    under("jax_compilation_cache_dir", str(blocked / "cache"), lambda: disk_cache.write("key", b"0" * 100, 100.0))


def other_platforms(patch, folder):
    patch.setattr(client, "_wanted_platforms", lambda: "")
    patch.setattr(client, "_find_plugins", lambda: None)
    patch.setattr(platforms, "factories", {"broken": broken_platform})
    client._start_default()


def other_plugins(patch, folder):
    patch.setattr("importlib.metadata.entry_points", lambda group: [BrokenPlugin()])
    plugins._run_entry_points(set())


def only_compiled_nan(patch, folder):
    x, y = jnp.asarray(X), jnp.asarray(X * np.nan)
    under("jax_debug_nans", True, lambda: nans.check_program(jax.make_jaxpr(lambda x: x + 1)(x), [x], [y], "f"))


def with_raw_key(call):
    return lambda *_: under("jax_legacy_prng_key", "warn", lambda: call(jax.random.PRNGKey(0)))


def ranks(call):
    return lambda *_: under("jax_numpy_rank_promotion", "warn", call)


CASES = {
    "dtype of zeros": lambda *_: jnp.zeros(3, np.float64),
    "dtype of array": lambda *_: jnp.array([1, 2], dtype="int64"),
    "dtype of arange": lambda *_: jnp.arange(3, dtype="float64"),
    "dtype of a method": lambda *_: jnp.ones(3).astype("float64"),
    "dtype of a sum": lambda *_: jnp.ones(3).sum(dtype="float64"),
    "dtype of a draw": lambda *_: jax.random.normal(jax.random.key(0), (3,), "float64"),
    "dtype in jit": lambda *_: jax.jit(lambda x: x.astype("float64"))(X),
    "dtype in scan in grad": lambda *_: jax.grad(lambda x: jax.lax.scan(lambda c, _: (c * jnp.ones((), "float64"), None), x, None, 2)[0])(1.0),
    "complex to real": lambda *_: jnp.ones(3, "complex64").astype("float32"),
    "complex to real by name": lambda *_: jnp.astype(jnp.ones(3, "complex64"), "float32"),
    "complex to integer": lambda *_: jnp.ones(3, "complex64").astype(int),
    "complex to real in lax": lambda *_: jax.lax.convert_element_type(jnp.ones(3, "complex64"), "float32"),
    "complex to real in lax in jit": lambda *_: jax.jit(lambda x: jax.lax.convert_element_type(x, "float32"))(jnp.ones(3, "complex64")),
    "complex to real in asarray": lambda *_: jnp.asarray(jnp.ones(3, "complex64"), "float32"),
    "complex NumPy to real": lambda *_: jnp.array(np.ones(3, "complex64"), "float32"),
    "complex to real by a scalar type": lambda *_: jnp.float32(jnp.array(1j)),
    "complex to real in a sum": lambda *_: jnp.sum(jnp.ones(3, "complex64"), dtype="float32"),
    "complex to real in a product": lambda *_: jnp.prod(jnp.ones(3, "complex64"), dtype="int8"),
    "complex to real in a mean": lambda *_: jnp.mean(jnp.ones(3, "complex64"), dtype="float32"),
    "rank promotion of a function": ranks(lambda: jnp.add(X, WIDE)),
    "rank promotion of an operator": ranks(lambda: jnp.asarray(X) * WIDE),
    "rank promotion in vmap of jit": ranks(lambda: jax.vmap(jax.jit(lambda w: X - w))(WIDE[None])),
    "a name of older programs": lambda *_: jax.lax.psend,
    "a mesh as a block": lambda *_: jax.make_mesh((1,), "i").__enter__().__exit__(),
    "a device for jit": lambda *_: jax.jit(lambda x: x, device=jax.devices()[0]),
    "a backend for jit": lambda *_: jax.jit(lambda x: x, backend="cpu"),
    "cross product of two elements": lambda *_: jnp.cross(X[:2], X),
    "cross product of two elements, again": lambda *_: jnp.cross(X, X[:2]) + jnp.cross(X, X[:2]),
    "classes that are no integers": lambda *_: jax.nn.one_hot(X, 3),
    "classes in jit": lambda *_: jax.jit(lambda x: jax.nn.one_hot(x, 3))(X),
    "magma": lambda *_: jax.lax.linalg.eig(np.eye(2, dtype="float32"), use_magma=False),
    "an array as a dtype": lambda *_: np.dtype(jnp.asarray(X)) if np.lib.NumpyVersion(np.__version__) >= "2.4.0" else jax.lax.psend,
    "shape of a list": lambda *_: jnp.shape([1, 2]),
    "size of a list": lambda *_: jnp.size([1, 2]),
    "scatter of another dtype": lambda *_: jnp.arange(3).at[0].set(1.5),
    "scatter under jit": lambda *_: jax.jit(lambda x: x.at[0].add(1.5))(np.arange(3)),
    "a raw key": with_raw_key(lambda key: jax.random.normal(key)),
    "a raw key is split": with_raw_key(lambda key: jax.random.split(key)),
    "donation": lambda *_: jax.jit(lambda x: x[0], donate_argnums=0)(jnp.ones(3)),
    "sparse layout": lambda *_: sparse.bcoo_update_layout(sparse.BCOO.fromdense(WIDE), n_dense=1, on_inefficient="warn"),
    "a NaN of the compiler's": only_compiled_nan,
    "a cache that cannot be written": unwritable_cache,
    "a platform that does not start": other_platforms,
    "a plugin that does not load": other_plugins,
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_the_user(case, monkeypatch, tmp_path):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CASES[case](monkeypatch, tmp_path)
    assert seen and [w.filename for w in seen] == [__file__] * len(seen)


def test_a_filter_by_module_applies():
    """The module that a filter names is the user's, and what was shown once by default is not shown again."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", module=re.escape(__name__))
        sys.modules[__name__].__dict__.pop("__warningregistry__", None)
        for _ in range(3):
            jnp.zeros(3, np.float64)
    assert len(seen) == 1


def test_there_is_one_way_to_warn():
    used = [str(p.relative_to(PACKAGES)) for p in PACKAGES.glob("*/src/**/*.py") if "warnings.warn" in p.read_text()]
    assert used == ["core/src/jax_core/representation/source.py"]


@pytest.mark.parametrize("limit, warns", [(65536, 1), (65537, 0), (-1, 0)])
def test_arrays_that_a_program_closes_over(limit, warns):
    large = jnp.ones((128, 128))
    inner = jax.jit(lambda x: x @ large)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        jax.make_jaxpr(inner)(large[0])  # nothing is compiled
        under("jax_captured_constants_warn_bytes", limit, lambda: jax.jit(lambda x: inner(x) + 1)(large[0]))
    assert len(found) == warns
    for warning in found:
        assert warning.category is UserWarning and warning.filename == __file__
        assert "closes over 65,536 bytes of arrays, the largest float32[128,128]" in str(warning.message)


@pytest.mark.parametrize("names", [{}, {"__name__": None}, {"__name__": "mine"}])
def test_a_program_that_is_executed_as_text_is_warned(names):
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64") as warned:
        exec("\njnp.zeros(3, 'float64')", {"jnp": jnp, **names})
    assert (warned[0].filename, warned[0].lineno) == ("<string>", 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_eager_operations_on_nan_do_not_warn(dtype):
    x = jnp.asarray([1, np.nan, -np.inf], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (lax.clamp(x[0], x, x[0]), jnp.clip(x, 0, 1), lax.max(x, x), jnp.sqrt(x), x - x):
            assert jnp.isnan(found[1])
