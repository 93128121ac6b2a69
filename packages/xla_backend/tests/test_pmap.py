"""pmap on one device and on four: values, collectives, layouts, and refusals."""
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy  # noqa: F401  operators of arrays
from jax_core.transformations.autodiff import grad
from jax_numpy_api import lax
from jax_xla_backend.compiling import compile
from jax_xla_backend.operations.pmap import pmap
from jax_xla_backend.platforms.client import devices

X = np.arange(3, dtype=np.float32)[None]


def test_on_one_device_it_is_vmap():
    out = pmap(lambda x: x + lax.psum(x, "i"), "i")(X)
    np.testing.assert_array_equal(out, 2 * X)
    assert out.shape == (1, 3)
    np.testing.assert_array_equal(pmap(lambda x, y: x * y, in_axes=(0, None))(X, 3.0), 3 * X)
    np.testing.assert_array_equal(pmap(lambda n, x: x * n, static_broadcasted_argnums=0)(4, X), 4 * X)
    np.testing.assert_array_equal(grad(lambda x: pmap(lambda x: x * x)(x).sum())(X), 2 * X)
    assert pmap(lambda: lax.axis_index("i"), "i", axis_size=1)().tolist() == [0]


def test_result_without_an_axis_is_that_of_the_first_device():
    count = min(len(devices()), 4)
    x = np.arange(2.0 * count, dtype=np.float32).reshape(count, 2)
    first, total = pmap(lambda x: (x, lax.psum(x, "i")), "i", out_axes=None)(x)
    np.testing.assert_array_equal(first, x[0])
    np.testing.assert_array_equal(total, x.sum(0))
    assert first.sharding.is_fully_replicated and len(first.devices()) == count


@pytest.mark.parametrize("call, kind, text", [
    (lambda: pmap(3), TypeError, "expected a callable"),
    (lambda: pmap(lambda x: x)(np.ones((64, 2))), ValueError, "requires 64 logical devices, but only"),
    (lambda: pmap(lambda x, y: x)(np.ones((1, 2)), np.ones((2,))), ValueError, "inconsistent sizes(.|\n)*argument"),
    (lambda: pmap(lambda x: x)(1.0), ValueError, r"argument \[0\] of shape \(\) has no axis 0"),
    (lambda: pmap(lambda x: x, static_broadcasted_argnums="x"), TypeError, "static_broadcasted_argnums must be an int or ints, got 'x'"),
    (lambda: pmap(lambda x: x, donate_argnums=1.5), TypeError, "donate_argnums must be an int or ints, got 1.5"),
    (lambda: pmap(lambda x: x, devices=3), TypeError, "devices must be a list of devices, got 3"),
    (lambda: pmap(lambda x: x, devices=[]), ValueError, "at least one device"),
    (lambda: pmap(lambda x: x, devices=devices()[:1] * 2), ValueError, "each once"),
    (lambda: pmap(lambda: 1)(), ValueError, "no mapped argument; give axis_size"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


ON_FOUR = """
import numpy as np, pytest
import jax_numpy_api.numpy as jnp
from jax_core import backends
from jax_core.configuration import flags
from jax_core.transformations.autodiff import grad
from jax_core.programs.jit import jit
from jax_numpy_api import lax
backends.get()
from jax_xla_backend.operations.pmap import pmap
from jax_xla_backend.platforms.client import devices

x = np.arange(8, dtype=np.float32).reshape(4, 2)
f = pmap(lambda x: x - lax.pmean(x, "i"), "i")
out = f(x)
np.testing.assert_allclose(out, x - x.mean(0))
assert len(out.sharding.device_set) == 4 and out.addressable_shards[2].data.shape == (1, 2)
assert "all-reduce" in f.lower(x).compile().as_text()
np.testing.assert_allclose(f(out), out, atol=1e-6)
for _ in range(300):  # far more than are under way at a time
    out = f(out)
np.testing.assert_allclose(out, x - x.mean(0), atol=1e-5)
np.testing.assert_array_equal(pmap(lambda x: lax.axis_index("i"), "i")(x), np.arange(4))
np.testing.assert_array_equal(pmap(lambda x: lax.ppermute(x, "i", [(i, (i + 1) % 4) for i in range(4)]), "i")(x),
                              np.roll(x, 1, 0))
np.testing.assert_array_equal(pmap(lambda x: lax.all_gather(x, "i"), "i", out_axes=None)(x), x)
np.testing.assert_array_equal(pmap(lambda x: x * 2, in_axes=1, out_axes=1)(x.T), 2 * x.T)
two = pmap(lambda x: x + 1, devices=devices()[2:])(x[:2])
assert {d.id for d in two.sharding.device_set} == {2, 3}

def train(w, rows):
    return w - 0.5 * lax.pmean(grad(lambda w: jnp.mean((rows - w) ** 2))(w), "i")
step = pmap(train, "i", donate_argnums=0)
w = np.zeros(4, np.float32)
for _ in range(40):
    w = step(w, x)
np.testing.assert_allclose(w, np.full(4, x.mean()), atol=1e-3)
np.testing.assert_allclose(jit(lambda x: f(x) * 2)(x), 2 * (x - x.mean(0)), atol=1e-6)
np.testing.assert_allclose(grad(lambda x: (f(x) ** 2).sum())(x), 2 * (x - x.mean(0)), atol=1e-5)
with pytest.raises(ValueError, match="has length 2, but 4 devices are given"):
    pmap(lambda x: x, devices=devices())(x[:2])
with pytest.raises(ValueError, match="is mapped over 4 devices inside of the pmap of"):
    pmap(pmap(lambda x: x))(np.ones((2, 4)))
np.testing.assert_array_equal(pmap(pmap(lambda x: x * 2))(x[:, None]), 2 * x[:, None])  # on one device each
np.testing.assert_array_equal(pmap(lambda x: x * 2)(x), 2 * x)
with flags.disable_jit(True):
    same, first = pmap(lambda x: (x, x[0]), "i", out_axes=(0, None))(x)
    assert same.sharding == out.sharding and first.sharding.is_fully_replicated and len(first.devices()) == 4
print("done")
"""


@pytest.mark.only_cpu
@pytest.mark.parametrize("flags, given, seconds", [("", {}, 3600), ("", {"NAME": 7}, 7), ("--NAME=50", {}, None)], ids=str)
def test_devices_wait_long_for_each_other(monkeypatch, flags, given, seconds):
    """XLA would end the process after 40 seconds."""
    name = "xla_cpu_collective_call_terminate_timeout_seconds"
    monkeypatch.setenv("XLA_FLAGS", flags.replace("NAME", name))
    items = compile.option_items({n.replace("NAME", name): v for n, v in given.items()})
    assert dict(compile.compile_options(devices()[:2], items).env_option_overrides).get(name) == seconds
    assert name not in dict(compile.compile_options(devices()[:1]).env_option_overrides)


@pytest.mark.only_cpu
def test_on_four_devices():
    import os
    done = subprocess.run([sys.executable, "-c", ON_FOUR], capture_output=True, text=True,
                          env={**os.environ, "JAX_NUM_CPU_DEVICES": "4"}, timeout=900)
    assert done.stdout.strip() == "done", done.stderr[-3000:]
