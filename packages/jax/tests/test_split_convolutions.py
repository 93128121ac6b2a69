"""Convolutions of split images and their gradients, on a mesh whose other axis splits nothing: equal parts count once.

XLA's partitioner counts the parts of some convolutions once for each device that has them; see `jax_numpy_api.lax.conv_split`.
"""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.errors import ShardingTypeError
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

pytestmark = pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices")
NUMBERS = {3: ("NWC", "WIO", "NWC"), 4: ("NHWC", "HWIO", "NHWC")}

# name, shape of the images, shape of the kernel, parameters
FORMS = [
    ("depthwise", (4, 8, 4), (3, 1, 4), dict(feature_group_count=4)),
    ("depthwise, causal", (4, 8, 4), (3, 1, 4), dict(feature_group_count=4, padding=[(2, 0)])),
    ("depthwise in the plane, two kernels each", (4, 4, 6, 2), (2, 3, 1, 4), dict(feature_group_count=2)),
    ("groups", (4, 8, 4), (3, 2, 4), dict(feature_group_count=2, window_strides=(2,))),
    ("plain", (4, 8, 4), (3, 4, 2), {}),
    ("stride and dilation", (4, 8, 4), (2, 4, 2), dict(window_strides=(2,), rhs_dilation=(2,))),
    ("dilated images", (4, 8, 2), (3, 2, 2), dict(lhs_dilation=(2,), padding=[(1, 2)])),
    ("groups of the batch", (4, 8, 2), (3, 2, 4), dict(batch_group_count=2)),
    ("in the plane", (4, 4, 4, 2), (3, 3, 2, 2), {}),
]


def grid(kind):
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind,) * 2, devices=jax.devices()[:4])


def program(rank, options):
    given = {"window_strides": (1,) * (rank - 2), "padding": "SAME", **options}
    convolve = lambda x, k: lax.conv_general_dilated(x, k, dimension_numbers=NUMBERS[rank], **given)
    return lambda x, k: (convolve(x, k), *jax.grad(lambda x, k: (convolve(x, k) ** 2).sum(), (0, 1))(x, k))


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("_, images, kernel, options", FORMS, ids=[row[0] for row in FORMS])
def test_results_and_gradients_are_those_of_one_device(_, images, kernel, options, kind):
    draw = np.random.RandomState(0)
    x, k = draw.randn(*images).astype(np.float32), draw.randn(*kernel).astype(np.float32)
    f = program(len(images), options)
    wanted = jax.jit(f)(x, k)
    for spec in (P("x"), P(None, "x"), P(("x", "y"))):
        if kind is AxisType.Explicit and "batch_group_count" in options:
            continue  # parts of the batch would not stay together
        with jax.set_mesh(grid(kind)):
            got = jax.jit(f)(jax.device_put(x, spec), jax.device_put(k, P()))
        for a, b in zip(got, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=str(spec))


def test_images_split_in_space_and_kernels_by_features_are_refused():
    mesh = grid(AxisType.Explicit)
    x = jax.device_put(jnp.ones((4, 8, 4)), NamedSharding(mesh, P(None, "x")))
    k = jax.device_put(jnp.ones((3, 4, 4)), NamedSharding(mesh, P(None, None, "y")))
    with jax.set_mesh(mesh), pytest.raises(ShardingTypeError, match="cannot both be split; reshard one"):
        lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=NUMBERS[3])


def test_gradients_of_few_pixels_under_many_devices_keep_their_split():
    with jax.set_mesh(grid(AxisType.Explicit)):
        x, k = jax.device_put(jnp.ones((4, 2, 8)), P(None, None, ("x", "y"))), jax.device_put(jnp.ones((2, 2, 3)), P())
        found = jax.jit(jax.grad(lambda x, k: lax.conv(x, k, (1,), "SAME").sum(), (0, 1)))(x, k)
    assert [str(jax.typeof(a)) for a in found] == ["float32[4,2,8@(x,y)]", "float32[2,2,3]"]


@pytest.mark.parametrize("platform", ["tpu", "cuda"])
def test_accelerators_split_no_gradient_of_a_kernel_in_space(platform):
    """Their compilers add equal parts up, too; under Auto axes no type says whether there are any."""
    mesh = grid(AxisType.Auto)
    of = lambda shape, spec: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
    convolve = lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=NUMBERS[3])
    text = lambda f: jax.jit(f).trace(of((4, 8, 4), P(None, "x")), of((3, 4, 4), P())).lower(lowering_platforms=(platform,)).as_text()
    kernels = text(jax.grad(lambda x, k: convolve(x, k).sum(), 1))
    assert kernels.count("[{?}, {}, {?}]") == 2 and "stablehlo.convolution" in kernels
    assert "sharding_constraint" not in text(convolve)  # there the compiler's halo is right
