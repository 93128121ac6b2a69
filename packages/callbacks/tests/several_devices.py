"""Callbacks in programs on four devices; run by `test_several_devices.py`, prints one JSON object."""
import json

import numpy as np

from jax_callbacks import debug, io_callback, pure_callback
from jax_core.programs.jit import jit
from jax_numpy_api import numpy as jnp
from jax_xla_backend.api import Mesh, NamedSharding, PartitionSpec as P, device_put, devices, effects_barrier
from jax_xla_backend.operations.shard_map.api import shard_map

mesh = Mesh(np.array(devices()), ("x",))
x = device_put(jnp.arange(8.0), NamedSharding(mesh, P("x")))
found = {}


def calls(name, build):
    seen = []

    def host(a):
        seen.append(np.asarray(a).tolist())
        return a * 2
    try:
        y = np.asarray(jit(build(host))(x))
        effects_barrier()
        found[name] = [sorted(seen), y.tolist()]
    except Exception as error:
        found[name] = [type(error).__name__, str(error)]


def watched(**options):
    return lambda host: lambda x: (debug.callback(host, x, **options), x)[1]


def fail(a):
    raise KeyError("key")


calls("pure", lambda host: lambda x: pure_callback(host, x, x))
calls("io", lambda host: lambda x: io_callback(host, x, x))
calls("ordered", lambda host: lambda x: io_callback(host, x, x, ordered=True))
last = NamedSharding(Mesh(np.array(devices()[-1:]), ("one",)), P())
calls("pure on the last", lambda host: lambda x: pure_callback(host, x, x, sharding=last))
calls("io on the last", lambda host: lambda x: io_callback(host, x, x, sharding=last))
calls("ordered on the last", lambda host: lambda x: io_callback(host, x, x, sharding=last, ordered=True))
calls("on all", lambda host: lambda x: io_callback(host, x, x, sharding=NamedSharding(mesh, P())))
quiet = []
told = jit(lambda x: (io_callback(lambda a: quiet.append(np.asarray(a).tolist()), None, x, sharding=last), x)[1])
told(x)
effects_barrier()
found["which"] = [quiet, "maximal_mesh_3 = <[], device_ids=[3]>" in told.lower(x).as_text()]
calls("debug", watched())
calls("partitioned", watched(partitioned=True))
by_part: dict = {}


def in_turn(first):
    io_callback(lambda a: by_part.setdefault(float(a[0]), []).append(a.tolist()), None, first, ordered=True)
    io_callback(lambda a, b: by_part[float(a[0])].append(b.tolist()), None, first, first + 1, ordered=True)
    return first


jit(shard_map(in_turn, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x)
effects_barrier()
found["in turn"] = sorted(by_part.values())
try:
    jit(lambda x: pure_callback(fail, x, x))(x).block_until_ready()
except KeyError as error:
    found["error"] = error.args[0]
sizes: list = []
large = device_put(jnp.ones(1 << 19), NamedSharding(mesh, P("x")))
jit(lambda x: (debug.callback(lambda a: sizes.append(a.size), x), io_callback(lambda a: sizes.append(a.size), None, x, ordered=True), x)[2])(large)
effects_barrier()
found["large"] = [*sizes, float(jit(lambda x: io_callback(lambda a: a + 1, x, x))(large)[-1])]
specs = []
f = jit(lambda x: (debug.inspect_array_sharding(x * 2, callback=lambda s: specs.append(str(s.spec))), x)[1])
f(x)
f(x)
found["sharding"] = specs
print(json.dumps(found))
