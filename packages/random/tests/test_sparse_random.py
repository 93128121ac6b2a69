"""random_bcoo: layouts, numbers of elements, unique points."""
import numpy as np
import pytest

import jax_random as random
from jax_numpy_api.sparse import random_bcoo

KEY = random.key(0)


@pytest.mark.parametrize("n_batch,n_dense", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("nse", [0, 3, 0.5, 1.0])
def test_layout(n_batch, n_dense, nse):
    shape = (4, 5, 3)
    size = int(np.prod(shape[n_batch:3 - n_dense]))
    out = random_bcoo(KEY, shape, nse=nse, n_batch=n_batch, n_dense=n_dense, dtype=np.float32)
    assert out.shape == shape and (out.n_batch, out.n_dense) == (n_batch, n_dense)
    assert out.nse == (nse if isinstance(nse, int) else int(np.ceil(nse * size)))
    blocks = np.asarray(out.indices).reshape(int(np.prod(shape[:n_batch])), out.nse, out.n_sparse)
    assert all(len({tuple(p) for p in block}) == out.nse for block in blocks)
    assert np.all(blocks < np.array(shape[n_batch:3 - n_dense]))


def test_options():
    out = random_bcoo(KEY, (30, 40), nse=50, sorted_indices=True, generator=random.normal, dtype=np.float32)
    points = [tuple(p) for p in np.asarray(out.indices)]
    assert points == sorted(points) and out.indices_sorted and np.any(np.asarray(out.data) < 0)
    assert not random_bcoo(KEY, (3, 4), nse=9, unique_indices=False).unique_indices
    with pytest.raises(ValueError, match="expected to be between 0 and 12"):
        random_bcoo(KEY, (3, 4), nse=13)
