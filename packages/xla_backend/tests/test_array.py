"""The attributes and conversions of arrays."""
import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import jax_core.representation.array
from jax_core.representation.aval import ShapedArray
from jax_xla_backend.arrays import device_put, put
from jax_xla_backend.arrays.array import ArrayImpl
from jax_xla_backend.arrays.array_methods import DLDeviceType
from jax_xla_backend.placement.layout import Format
from jax_xla_backend.placement.mesh import AxisType, make_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding, SingleDeviceSharding
from jax_xla_backend.platforms import client
from programs import array, backend


def weak(value):
    return backend.put(value)


REPRS = [
    (np.arange(4, dtype=np.float32), "Array([0., 1., 2., 3.], dtype=float32)", "[0. 1. 2. 3.]"),
    (np.float32(2), "Array(2., dtype=float32)", "2.0"),
    (np.zeros((0, 3), np.float32), "Array([], shape=(0, 3), dtype=float32)", "[]"),
    (np.array(True), "Array(True, dtype=bool)", "True"),
    (np.ones(2, ml_dtypes.bfloat16), "Array([1, 1], dtype=bfloat16)", "[1 1]"),
    (np.array([1, 2], ml_dtypes.int4), "Array([1, 2], dtype=int4)", "[1 2]"),
    (np.arange(2000), "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)", "[   0    1    2 ... 1997 1998 1999]"),
    (np.array([[1, 2], [3, 4]]), "Array([[1, 2],\n       [3, 4]], dtype=int32)", "[[1 2]\n [3 4]]"),
]


@pytest.mark.parametrize("value, text, short", REPRS, ids=[r[1][:30] for r in REPRS])
def test_text_is_what_users_of_jax_know(value, text, short):
    x = backend.put(value)
    assert repr(x) == text
    assert str(x) == short
    assert f"{x}" == short


def test_weak_type_is_shown():
    assert repr(weak(2.0)) == "Array(2., dtype=float32, weak_type=True)"
    assert repr(weak(1 + 2j)) == "Array(1.+2.j, dtype=complex64, weak_type=True)"


def test_format_spec_applies_to_scalars_only():
    assert format(weak(2.0), ".2f") == "2.00"
    with pytest.raises(TypeError):
        format(array(), ".2f")


def test_type_attributes():
    x = backend.put(np.zeros((2, 3), np.int16))
    assert (x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), np.dtype(np.int16), 2, 6, 2, 12)
    assert x.aval is ShapedArray((2, 3), np.dtype(np.int16)) and not x.weak_type
    assert x.on_device_size_in_bytes() == 12


def test_is_an_array():
    assert isinstance(array(), jax_core.representation.array.Array)
    assert type(array()) is backend.array_type is ArrayImpl


@pytest.mark.only_cpu
def test_placement_attributes():
    x = array()
    device = client.devices()[0]
    assert not x.committed and x.device is device and x.devices() == {device} and x.platform() == "cpu"
    assert x.sharding == SingleDeviceSharding(device) and x.is_fully_addressable and x.is_fully_replicated
    assert isinstance(x.format, Format) and x.format.layout.major_to_minor == (0,)
    assert x.is_ready() and not x.is_deleted() and x.block_until_ready() is x
    assert x.unsafe_buffer_pointer() == np.asarray(x).ctypes.data


def test_shards_of_a_split_array():
    mesh = make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    x = device_put.device_put(np.arange(8), NamedSharding(mesh, P("x")))
    shards = x.addressable_shards
    assert [s.index for s in shards[:3]] == [(slice(0, 2),), (slice(0, 2),), (slice(2, 4),)]
    assert [s.replica_id for s in shards] == [0, 1] * 4
    assert shards[5].data.tolist() == [4, 5] and shards[5].device is client.devices()[5]
    assert x.addressable_data(6).tolist() == [6, 7] and len(x.global_shards) == 8
    assert repr(shards[2]).startswith("Shard(device=CpuDevice(id=2), index=(slice(2, 4, None),), replica_id=0, data=")
    assert x.tolist() == list(range(8)) and x.device == x.sharding and x.committed


def test_numpy_view_is_read_only_and_not_a_copy():
    x = array()
    view = np.asarray(x)
    assert not view.flags.writeable and np.asarray(x).ctypes.data == view.ctypes.data
    assert np.array(x).flags.writeable
    assert np.asarray(x, np.float64).dtype == np.float64
    with pytest.raises(ValueError):
        x.__array__(np.int32, copy=False)


def test_put_copies_numpy_contents():
    value = np.arange(1000, dtype=np.float32)
    x = backend.put(value)
    value[:] = -1
    assert x.tolist()[:3] == [0, 1, 2]


def test_python_conversions():
    assert int(weak(3.9)) == 3 and float(weak(3)) == 3.0 and complex(weak(2)) == 2 and bool(weak(1))
    assert list(range(9))[weak(4)] == 4 and hex(weak(10)) == "0xa"
    assert array().item(2) == 2.0 and weak(5).item() == 5 and array().tolist() == [0, 1, 2, 3]
    assert array().tobytes() == np.arange(4, dtype=np.float32).tobytes()
    assert len(array()) == 4 and [float(v) for v in array()] == [0, 1, 2, 3]
    assert [float(v) for v in reversed(array())] == [3, 2, 1, 0]
    assert bool(array(1.0))


@pytest.mark.parametrize("convert, error", [
    (int, TypeError), (float, TypeError), (complex, TypeError), (bool, ValueError), (hash, TypeError),
    (lambda x: range(9)[x], TypeError), (lambda x: x.item(), ValueError), (lambda x: memoryview(b"")[x], TypeError)])
def test_conversions_that_make_no_sense(convert, error):
    with pytest.raises(error):
        convert(array())


@pytest.mark.parametrize("convert", [len, iter, reversed])
def test_scalars_are_no_sequences(convert):
    with pytest.raises(TypeError):
        convert(weak(1.0))


def test_empty_array_has_no_truth_value():
    with pytest.raises(ValueError, match="size > 0"):
        bool(backend.put(np.zeros((0, 3), np.float32)))


def test_float_is_no_index():
    with pytest.raises(TypeError, match=r"got float32\[\]"):
        range(3)[weak(1.0)]


def test_deleted_array_says_so():
    x = array()
    x.delete()
    x.delete()
    assert x.is_deleted() and x.shape == (4,)
    for use in (repr, str, np.asarray, lambda x: x.devices(), lambda x: x.tolist(), lambda x: x.block_until_ready(),
                lambda x: x.is_ready(), lambda x: device_put.block_until_ready([array(), x])):
        with pytest.raises(RuntimeError, match=r"^Array has been deleted with shape=float32\[4\]\. It was deleted by a call"):
            use(x)


def test_deleted_array_with_a_view_says_so():
    x = array()
    np.asarray(x)
    x.delete()
    with pytest.raises(RuntimeError, match="^Array has been deleted"):
        np.asarray(x)


def test_gone_attributes_name_their_successors():
    with pytest.raises(AttributeError, match=r"addressable_data\(0\)"):
        array().device_buffer
    assert not hasattr(array(), "device_buffers")


def test_pickle_keeps_contents_and_weak_type():
    for x in (array(), weak(2.0), backend.put(np.ones(3, ml_dtypes.bfloat16))):
        y = pickle.loads(pickle.dumps(x))
        assert y.aval == x.aval and np.array_equal(np.asarray(x), np.asarray(y))


@pytest.mark.only_cpu
def test_dlpack_both_ways():
    x = array()
    assert x.__dlpack_device__() == (DLDeviceType.kDLCPU, 0)
    assert np.from_dlpack(x).tolist() == [0, 1, 2, 3]


def test_copy_to_host_async_keeps_the_value():
    x = array()
    assert x.copy_to_host_async() is None
    assert x.tolist() == [0, 1, 2, 3]


def test_arrays_are_immutable_in_type():
    with pytest.raises(AttributeError):
        array().shape = (2, 2)


def test_to_device_refuses_streams():
    with pytest.raises(NotImplementedError, match="stream=3"):
        array().to_device(client.devices()[1], stream=3)
    assert array().to_device(client.devices()[1]).device is client.devices()[1]


def test_copies_are_equal(monkeypatch):
    monkeypatch.setattr(ArrayImpl, "copy", lambda self: put.put(np.array(self), self.aval), raising=False)
    x = array()
    assert copy.copy(x) is not x and copy.deepcopy(x).tolist() == x.tolist()
