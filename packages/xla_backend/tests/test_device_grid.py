"""The order of TPUs in a mesh: rings around trays, axes of a torus as axes of the mesh."""
import types

import numpy as np
import pytest

from jax_xla_backend.placement.device_grid import create_device_mesh, create_hybrid_device_mesh
from jax_xla_backend.platforms import client


def chips(x, y, z, kind, cores=1):
    places = [(i, j, k, c) for k in range(z) for j in range(y) for i in range(x) for c in range(cores)]
    return [types.SimpleNamespace(id=n, platform="tpu", device_kind=kind, process_index=0, coords=p[:3], core_on_chip=p[3])
            for n, p in enumerate(places)]


GRIDS = [
    ((2, 2, 1, "TPU v3", 2), (8,), [0, 1, 2, 3, 6, 7, 4, 5]),
    ((2, 2, 1, "TPU v3", 2), (2, 4), [[0, 1, 2, 3], [6, 7, 4, 5]]),
    ((4, 2, 1, "TPU v3", 2), (2, 8), [[0, 1, 2, 3, 10, 11, 8, 9], [4, 5, 6, 7, 14, 15, 12, 13]]),
    ((4, 2, 1, "TPU v5 lite"), (8,), [0, 1, 2, 3, 7, 6, 5, 4]),
    ((2, 2, 1, "TPU v5 lite"), (2, 2), [[0, 1], [3, 2]]),
    ((2, 2, 1, "TPU v4"), (4,), [0, 2, 1, 3]),
    ((2, 2, 2, "TPU v4"), (4, 2), [[0, 1], [4, 5], [2, 3], [6, 7]]),
    ((2, 2, 2, "TPU v4"), (2, 1, 4), [[[0, 2, 1, 3]], [[4, 6, 5, 7]]]),
]


@pytest.mark.parametrize("box, shape, wanted", GRIDS)
def test_neighbours_along_axes(box, shape, wanted):
    mesh = create_device_mesh(shape, chips(*box)[::-1])
    assert np.vectorize(lambda d: d.id)(mesh).tolist() == wanted


def test_axes_of_a_torus_are_not_divided():
    with pytest.raises(NotImplementedError, match=r"mesh_shape=\(2, 8\).*\(4, 4, 1\) chips"):
        create_device_mesh((2, 8), chips(4, 4, 1, "TPU v4"))
    assert create_device_mesh((2, 8), chips(4, 4, 1, "TPU v4"), allow_split_physical_axes=True).shape == (2, 8)


def slices(count, each):
    return [types.SimpleNamespace(id=n, platform="cpu", device_kind="cpu", process_index=0, slice_index=n // each) for n in range(count * each)]


def test_slices_are_apart_along_the_slow_axes():
    ids = lambda *args, **kwargs: np.vectorize(lambda d: d.id)(create_hybrid_device_mesh(*args, **kwargs)).tolist()
    assert ids((2, 2), (2, 1), slices(2, 4)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert ids((2, 2), (1, 2), slices(2, 4)[::-1]) == [[3, 2, 7, 6], [1, 0, 5, 4]]
    assert ids((2,), (2,), slices(2, 2)[::-1], should_sort_granules_by_key=False) == [3, 2, 1, 0]
    with pytest.raises(ValueError, match=r"dcn_mesh_shape=\(3, 1\) has 3 places for 2 groups"):
        create_hybrid_device_mesh((2, 2), (3, 1), slices(2, 4))


def test_all_devices_are_in_a_hybrid_mesh_by_default():
    everything = client.devices()
    mesh = create_hybrid_device_mesh((len(everything),), (1,), process_is_granule=True)
    assert mesh.tolist() == everything
