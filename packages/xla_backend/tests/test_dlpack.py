"""Arrays of other libraries."""
import numpy as np
import pytest

from jax_xla_backend.arrays.dlpack import from_dlpack, is_supported_dtype
from jax_xla_backend.platforms import client
from programs import array


def test_numpy_memory_is_shared_where_it_can_be():
    raw = np.zeros(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    value = raw[start:start + 4096].view(np.float32)
    value[:] = 3
    x = from_dlpack(value)
    assert x.unsafe_buffer_pointer() == value.ctypes.data and x.tolist() == [3.0] * 1024
    assert from_dlpack(value, copy=True).unsafe_buffer_pointer() != value.ctypes.data


def test_round_trip():
    assert from_dlpack(array()).tolist() == [0, 1, 2, 3]
    assert from_dlpack(array(), copy=True).tolist() == [0, 1, 2, 3]


def test_wide_dtypes_narrow_while_x64_is_off():
    assert from_dlpack(np.arange(3)).dtype == np.int32
    whole = np.zeros(16)
    aligned = next(x for x in (whole[i:i + 3] for i in range(8)) if x.ctypes.data % 64 == 0)
    assert from_dlpack(aligned, copy=False).dtype == np.float32


def test_read_only_and_boolean():
    value = np.arange(3, dtype=np.float32)
    value.flags.writeable = False
    assert from_dlpack(value).tolist() == [0, 1, 2]
    assert from_dlpack(np.array([True, False])).dtype == bool


def test_device():
    d = client.devices()[2]
    assert from_dlpack(np.arange(3, dtype=np.float32), device=d).device is d
    with pytest.raises(ValueError, match="needs a copy"):
        from_dlpack(array(), device=d, copy=False)


def test_not_an_array():
    with pytest.raises(TypeError, match="__dlpack__ and __dlpack_device__, got 3 of type int"):
        from_dlpack(3)


def test_supported_dtypes():
    assert is_supported_dtype("int32") and is_supported_dtype(bool) and not is_supported_dtype("U3")
