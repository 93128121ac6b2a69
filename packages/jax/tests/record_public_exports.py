"""Record programs that the public `jax` exports: run in an environment that has it and `flatbuffers`, and not ours.

    python record_public_exports.py

writes what `Exported.serialize` gives into ``data/public_exports.json``, under the version of jax, and keeps those of other versions.
`test_export_public` reads them, and the table of programs here.
"""
import base64
import json
import os
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).parent / "data" / "public_exports.json"
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
SQUARE = np.arange(64, dtype=np.float32).reshape(8, 8) / 50
KEPT_DERIVATIVES = {"derivative": 2, "integers": 2}


def programs(jax) -> dict:
    """Those that both systems write."""
    jnp, export = jax.numpy, jax.export.export
    rows = jax.ShapeDtypeStruct((2, 3), np.float32)

    def of_platform(x):
        return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x + 2)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("x", "y"))
    P, named = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    split = jax.jit(lambda x: x @ x, in_shardings=named(mesh, P("y", "x")), out_shardings=named(mesh, P(None, ("y", "x"))))
    typed = jax.sharding.Mesh(mesh.devices, ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    return {
        "typed": export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct((8, 8), np.float32, sharding=named(typed, P("x", None)))),
        "values": export(jax.jit(lambda x, k: {"a": jnp.sin(x) * 2, "b": [k + 1, None, (x,)]}))(rows, k=jax.ShapeDtypeStruct((), np.int8)),
        "derivative": export(jax.jit(lambda x: jnp.sum(x ** 3)))(rows),
        "integers": export(jax.jit(lambda n, x: (n + 1, jax.lax.switch(n, [jnp.sin, jnp.square, jnp.exp], x), x > 0)))(
            jax.ShapeDtypeStruct((), np.int32), rows),
        "platforms": export(jax.jit(of_platform), platforms=["cuda", "cpu"])(rows),
        "keys": export(jax.jit(jax.random.key_data))(jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))),
        "split": export(split)(jax.ShapeDtypeStruct((8, 8), np.float32))}


def with_open_shapes(jax) -> dict:
    """Those that have symbolic shapes, which the public jax writes as modules with unknown dimensions."""
    a, b = jax.export.symbolic_shape("a, b")
    of_shape = jax.ShapeDtypeStruct((a, 2 * b + 1), np.float32)
    return {"shapes": jax.export.export(jax.jit(lambda x: jax.numpy.cumsum(x, 1) + x.shape[0]))(of_shape),
            "both": jax.export.export(jax.jit(lambda x: x.sum(0) * x.shape[1]), platforms=["tpu", "cpu"])(of_shape)}


ARGUMENTS = {"values": ((ROWS,), {"k": np.int8(3)}), "derivative": ((ROWS,), {}), "integers": ((np.int32(1), ROWS), {}), "platforms": ((ROWS,), {}), "split": ((SQUARE,), {}),
             "typed": ((SQUARE,), {}), "shapes": ((ROWS,), {}), "both": ((ROWS,), {})}
VALUES = {"values": {"a": np.sin(ROWS) * 2, "b": [np.int8(4), None, (ROWS,)]}, "derivative": (ROWS ** 3).sum(), "integers": (2, ROWS ** 2, ROWS > 0), "platforms": ROWS + 1,
          "split": SQUARE @ SQUARE, "typed": SQUARE * 2, "shapes": ROWS.cumsum(1) + 2, "both": ROWS.sum(0) * 3}


def main() -> None:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    import jax
    import jax.export

    made = programs(jax) | with_open_shapes(jax)
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    known[jax.__version__] = {name: base64.b85encode(e.serialize(vjp_order=KEPT_DERIVATIVES.get(name, 0))).decode() for name, e in made.items()}
    FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
