"""Values inside an eager shard_map, while the function runs: what prints shows, and Python's `if` on what is equal on all devices."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.references.api import new_ref
from jax_core.representation.errors import ConcretizationTypeError, TracerBoolConversionError
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
X = np.arange(8, dtype=np.float32).reshape(4, 2)
BY_X = "{}, on the devices at\nx=0:\n{}\nx=1:\n{}"


def mapped(f, spec=None, **options):
    grid = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"))
    spec = P("x") if spec is None else spec
    return shard_map(f, mesh=grid, in_specs=spec, out_specs=spec, **options)


def in_reference(x):
    ref = new_ref(x)
    ref[...] += 1
    before = ref[...].sum()
    ref[...] *= 2
    return before


CLOSED = jnp.arange(3.0)
SHOWN = {  # what is shown of the part of an argument, and how
    "argument": (lambda x: x, {}, BY_X.format("float32[2,2]{V:x}", X[:2], X[2:])),
    "computed": (lambda x: x.sum() * CLOSED[2], {}, BY_X.format("float32[]{V:x}", 12.0, 44.0)),
    "no elements": (lambda x: x[:0, 0], {}, BY_X.format("float32[0]{V:x}", "[]", "[]")),
    "position": (lambda x: lax.axis_index("y"), {}, "int32[]{V:y}, on the devices at\ny=0:\n0\ny=1:\n1"),
    "two axes": (lambda x: x.sum() + lax.axis_index("y"), {},
                 "float32[]{V:(x,y)}, on the devices at\nx=0, y=0:\n6.0\nx=0, y=1:\n7.0\nx=1, y=0:\n22.0\nx=1, y=1:\n23.0"),
    "equal": (lambda x: lax.psum(x.sum(), "x"), {}, "float32[], equal on all devices:\n28.0"),
    "not checked": (lambda x: x.sum(), {"check_vma": False},
                    "float32[], on the devices at\nx=0, y=0:\n6.0\nx=0, y=1:\n6.0\nx=1, y=0:\n22.0\nx=1, y=1:\n22.0"),
    "other axes": (lambda x: x.sum(), {"axis_names": {"x"}}, BY_X.format("float32[]{V:x}", 6.0, 22.0)),
    "reference": (in_reference, {}, BY_X.format("float32[]{V:x}", 10.0, 26.0)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown(name):
    look, options, text = SHOWN[name]
    seen = []

    def f(x):
        value = look(x)
        seen[:] = [repr(value), str(value), f"{value}"]
        return x * 2
    np.testing.assert_array_equal(mapped(f, **options)(X), X * 2)
    assert seen == [text] * 3


def test_derivatives_show_primal_values():
    seen = []

    def f(x, scale):
        seen.append(str(lax.psum(x.sum(), "x") * scale))
        return x * scale if lax.psum(x.sum(), "x") > 0 else x
    gradient = grad(lambda scale: mapped(lambda x: f(x, scale))(X).sum())(2.0)
    assert float(gradient) == 28.0 and seen == ["float32[], equal on all devices:\n56.0"]


def test_effects_happen_once_and_what_needs_them_is_not_shown():
    callbacks = pytest.importorskip("jax_callbacks.api")
    calls, seen = [], []

    def f(x):
        drawn = callbacks.io_callback(lambda v: calls.append(0) or v, x, x)
        seen.extend([str(drawn), str(x.sum())])
        return drawn
    np.testing.assert_array_equal(mapped(f)(X), X)
    assert len(calls) == 4 and seen[0].startswith("Traced<") and seen[1] == BY_X.format("float32[]{V:x}", 6.0, 22.0)


def test_if_on_what_is_equal_on_all_devices():
    def doubled(x):
        while lax.pmax(x.max(), "x") < 100:
            x = x * 2
        return x
    np.testing.assert_array_equal(mapped(doubled)(X), X * 16)
    np.testing.assert_array_equal(mapped(lambda x: -x if x.sum() > 20 and CLOSED[1] == 1 else x, P())(X), -X)


@pytest.mark.parametrize("call, error", [
    (lambda: mapped(lambda x: x if x.sum() > 0 else -x)(X), TracerBoolConversionError),  # the devices disagree
    (lambda: mapped(lambda x: x if x.sum() > 0 else -x, P(), check_vma=False)(X), TracerBoolConversionError),  # not known to agree
    (lambda: mapped(lambda x: x * float(lax.psum(x.sum(), "x")))(X), ConcretizationTypeError),
    (lambda: jit(mapped(lambda x: x if x.sum() > 0 else -x, P()))(X), TracerBoolConversionError),
    (lambda: vmap(mapped(lambda x: x if x.sum() > 0 else -x, P()))(X), TracerBoolConversionError),
], ids=["varies", "not checked", "float", "jit", "vmap"])
def test_what_python_cannot_know(call, error):
    with pytest.raises(error):
        call()


def test_nothing_is_shown_afterwards():
    kept = []
    mapped(lambda x: kept.append(x) or x)(X)
    assert repr(kept[0]).startswith("Traced<ShapedArray(float32[2,2]{V:x})>")
