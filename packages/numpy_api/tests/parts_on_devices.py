"""Meshes over eight devices and arrays in parts, for tests of `shard_map`."""

import numpy as np
import pytest

import jax_xla_backend
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
COUNT = len(devices())
SIZES = [n for n in (1, 4, 8) if n <= COUNT]
several = pytest.mark.skipif(COUNT < 8, reason="needs eight devices")


def line(n):
    return Mesh(np.array(devices()[:n]), ("i",))


def grid():
    return Mesh(np.array(devices()[:8]).reshape(4, 2), ("i", "j"))


def rows(n, *shape, seed=0):
    """A part for each of ``n`` devices, in one array: devices along the leading axis."""
    return np.random.default_rng(seed).normal(size=(n, *shape)).astype(np.float32)


def joined(x):
    """Parts along the leading axis put together."""
    return x.reshape(-1, *x.shape[2:])


def near(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-5, atol=2e-5)
