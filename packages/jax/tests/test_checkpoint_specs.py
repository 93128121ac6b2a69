"""What `jax.experimental.array_serialization` does before tensorstore is asked; the rest is tested in tests/clients."""
import importlib.util

import pytest

import jax
import jax.numpy as jnp
from jax.experimental.array_serialization import pytree_serialization, pytree_serialization_utils, serialization, tensorstore_impl

FOLDER = {"driver": "file", "path": "/d/w"}
DATABASE = {"driver": "ocdbt", "base": {"driver": "file", "path": "/d"}, "path": "w"}


@pytest.mark.parametrize("path, options, store", [
    ("/d/w", dict(ocdbt=False), FOLDER),
    ("/d/w/", dict(ocdbt=False), FOLDER),
    ("/d/w", {}, DATABASE),
    ("/d/w", dict(process_idx=3), {**DATABASE, "base": {"driver": "file", "path": "/d/process_3"}}),
    ("gs://bucket/d/w", dict(ocdbt=False), {"driver": "gcs", "bucket": "bucket", "path": "d/w"}),
    ("s3://bucket/d/w", {}, {"driver": "ocdbt", "base": {"driver": "s3", "bucket": "bucket", "path": "d"}, "path": "w"}),
])
def test_where_an_array_is(path, options, store):
    assert tensorstore_impl.get_tensorstore_spec(path, **options) == {"driver": "zarr3", "kvstore": store}


def test_the_older_defaults():
    assert serialization.get_tensorstore_spec("/d/w") == {"driver": "zarr", "kvstore": FOLDER}


@pytest.mark.parametrize("path, match", [("d/w", "absolute"), ("gs:///w", "bucket")])
def test_wrong_paths(path, match):
    with pytest.raises(ValueError, match=match):
        tensorstore_impl.get_tensorstore_spec(path)


@pytest.mark.parametrize("driver, entries", [
    ("zarr", {"shape": [4, 0], "chunks": [4, 1], "compressor": {"id": "zstd"}}),
    ("zarr3", {"shape": [4, 0], "data_type": "int8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 1]}}}),
])
def test_what_a_spec_says_of_an_array(driver, entries):
    assert tensorstore_impl.get_tensorstore_spec("/d/w", arr=jnp.zeros((4, 0), jnp.int8), driver=driver)["metadata"] == entries


def test_chunks_are_of_bounded_size():
    from jax_xla_backend.checkpoints.stores import metadata
    assert metadata(jax.ShapeDtypeStruct((3 * 2**20, 2**10), jnp.float32), "zarr")["chunks"] == [3 * 2**17, 2**10]


@pytest.mark.parametrize("spec, remote", [
    ({"driver": "zarr", "kvstore": FOLDER}, False), ({"driver": "zarr", "kvstore": {"driver": "gcs"}}, True),
    ({"driver": "zarr", "kvstore": DATABASE}, False), ({"driver": "zarr", "kvstore": {"driver": "ocdbt", "base": "s3://b"}}, True),
])
def test_what_is_remote(spec, remote):
    assert serialization.is_remote_storage(spec) is remote


def test_structures():
    """Named tuples once they are registered; keys of dicts keep their types."""
    tree = {"b": (1, [2, None]), "a": {3: 4}}
    stored = pytree_serialization_utils.serialize_pytreedef(jax.tree.structure(tree))
    assert pytree_serialization_utils.deserialize_pytreedef(stored) == {"a": {3: 0}, "b": (1, [2, None])}
    with pytest.raises(ValueError, match="expected the entries"):
        pytree_serialization_utils.deserialize_pytreedef({"__jax_leaf_ids": [0]})


@pytest.mark.skipif(importlib.util.find_spec("tensorstore") is not None, reason="tensorstore is installed")
@pytest.mark.parametrize("call", [
    lambda d: pytree_serialization.save({"a": jnp.ones(2)}, d), lambda d: pytree_serialization.load(d, None),
    lambda d: serialization.GlobalAsyncCheckpointManager().serialize_with_paths([jnp.ones(2)], [d / "a"]),
])
def test_without_tensorstore(tmp_path, call):
    with pytest.raises(ImportError, match="pip install tensorstore"):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []
