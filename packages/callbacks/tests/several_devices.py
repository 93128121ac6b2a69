"""Callbacks in programs on four devices; run by `test_several_devices.py`, prints one JSON object."""
import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("x")))
found = {}


def calls(name, build):
    seen = []

    def host(a):
        seen.append(np.asarray(a).tolist())
        return a * 2
    try:
        y = np.asarray(jax.jit(build(host))(x))
        jax.effects_barrier()
        found[name] = [sorted(seen), y.tolist()]
    except Exception as error:
        found[name] = [type(error).__name__, str(error)]


def debug(**options):
    return lambda host: lambda x: (jax.debug.callback(host, x, **options), x)[1]


def fail(a):
    raise KeyError("key")


calls("pure", lambda host: lambda x: jax.pure_callback(host, x, x))
calls("io", lambda host: lambda x: io_callback(host, x, x))
calls("ordered", lambda host: lambda x: io_callback(host, x, x, ordered=True))
calls("debug", debug())
calls("partitioned", debug(partitioned=True))
try:
    jax.jit(lambda x: jax.pure_callback(fail, x, x))(x).block_until_ready()
except KeyError as error:
    found["error"] = error.args[0]
specs = []
f = jax.jit(lambda x: (jax.debug.inspect_array_sharding(x * 2, callback=lambda s: specs.append(str(s.spec))), x)[1])
f(x)
f(x)
found["sharding"] = specs
print(json.dumps(found))
