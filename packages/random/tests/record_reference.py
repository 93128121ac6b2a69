"""Record the results of all cases under the public `jax`, in both layouts: run in an environment that has it, and not ours.

    python record_reference.py

writes ``data/reference.json``: for each layout and case the dtype, the shape and the bytes in hexadecimal.
"""
import json
import pathlib

import numpy as np

import jax
from cases import SEED, all_cases


def recorded(x) -> dict:
    host = np.asarray(x)
    return {"dtype": str(x.dtype), "shape": list(x.shape), "bytes": host.tobytes().hex()}


def main() -> None:
    table = {"made with": f"jax {jax.__version__}, platform {jax.default_backend()}, seed {SEED}"}
    for partitionable in (False, True):
        jax.config.update("jax_threefry_partitionable", partitionable)
        rows = table[f"partitionable={partitionable}"] = {}
        for name, function, args, kwargs, wide in all_cases():
            jax.config.update("jax_enable_x64", wide)
            rows[name] = recorded(getattr(jax.random, function)(jax.random.PRNGKey(SEED), *args, **kwargs))
            jax.config.update("jax_enable_x64", False)
    path = pathlib.Path(__file__).parent / "data" / "reference.json"
    path.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
