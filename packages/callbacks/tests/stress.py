"""Programs that would hang if callbacks could deadlock; run by `test_deadlock.py` in a process of its own.

``python stress.py SCENARIO ROUNDS`` prints ``done`` at the end.
"""
import os
import sys
import threading

import numpy as np

from jax_callbacks import io_callback, pure_callback
from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import grad
from jax_core.transformations.custom_vjp import custom_vjp
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.api import Mesh, NamedSharding, PartitionSpec, block_until_ready, device_put, devices

rounds = int(sys.argv[2])


def through(function, x):
    """``x`` as a callback returns it."""
    return pure_callback(function, ShapeDtypeStruct(x.shape, x.dtype), x)


def repeat(program, *args):
    for _ in range(rounds):
        block_until_ready(program(*args))


matmul = jit(lambda a: a @ a / a.shape[0])


def jnp_functions():
    f = jit(lambda x: through(lambda a: jnp.sin(a) + jnp.sum(a @ a), x @ x))
    repeat(f, jnp.ones((300, 300)))


def jitted_functions():
    f = jit(lambda x: through(lambda a: matmul(matmul(a)), x @ x) @ x)
    repeat(f, jnp.ones((400, 400)))


def waiting_for_arrays():
    """The callback waits for an array that is still being computed when the callback starts."""
    x = jnp.ones((500, 500))
    for _ in range(rounds):
        pending = matmul(matmul(matmul(x)))

        def host(a):
            pending.block_until_ready()
            return a + np.asarray(pending) + np.asarray(device_put(a))
        jit(lambda x: through(host, x))(matmul(matmul(x)))


def putting():
    f = jit(lambda x: through(lambda a: device_put(a) * 2, x))
    repeat(f, jnp.ones((700, 700)))


def nested_callbacks():
    inner = jit(lambda x: through(lambda a: np.asarray(matmul(a)), x))
    f = jit(lambda x: through(lambda a: inner(jnp.asarray(a)), x))
    repeat(jit(lambda x: through(lambda a: f(a), x)), jnp.ones((100, 100)))


def inside_scan():
    def body(c, x):
        return through(lambda a: jnp.tanh(a) @ jnp.eye(a.shape[0]), c), io_callback(lambda v: v + 1, x, x, ordered=True)
    repeat(jit(lambda c: lax.scan(body, c, jnp.arange(20.0))), jnp.ones((50, 50)))


def many_threads():
    lock, errors = threading.Lock(), []

    def host(a):
        with lock:
            return np.asarray(matmul(jnp.asarray(a)))
    f = jit(lambda x: through(host, x @ x) @ x)

    def work():
        try:
            repeat(f, jnp.ones((120, 120)))
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


def callbacks_that_start_threads():
    def host(a):
        result = []
        thread = threading.Thread(target=lambda: result.append(np.asarray(matmul(jnp.asarray(a)))))
        thread.start()
        thread.join()
        return result[0]
    repeat(jit(lambda x: through(host, x @ x)), jnp.ones((150, 150)))


def big_operands():
    """500 x 500 complex matrices, and 64 MB."""
    c = jnp.ones((500, 500), "complex64")
    repeat(jit(lambda x: through(lambda a: np.asarray(a) @ np.asarray(a), x)), c)
    big = jnp.ones((4096, 4096))
    f = jit(lambda x: through(lambda a: a, x * 2))
    for _ in range(max(2, rounds // 10)):
        assert f(big)[-1, -1] == 2


def in_a_row():
    """Programs whose inputs are still being computed."""
    f = jit(lambda x: through(lambda a: jnp.asarray(a) * 1, x))
    x = jnp.ones((200, 200))
    for _ in range(rounds):
        x = matmul(f(matmul(f(matmul(x)))))
    x.block_until_ready()


def custom_derivatives():
    @custom_vjp
    def f(x):
        return through(lambda a: jnp.sin(a), x)
    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * through(lambda a: jnp.cos(a), x),))
    repeat(jit(grad(lambda x: f(x @ x).sum())), jnp.ones((60, 60)))


def several_devices():
    """Four devices: one program over all of them, and one program on each."""
    mesh = Mesh(np.array(devices()), ("x",))
    x = device_put(jnp.ones((64, 64)), NamedSharding(mesh, PartitionSpec("x")))
    f = jit(lambda x: through(lambda a: jnp.asarray(a) + 1, x) @ x)
    repeat(f, x)
    for device in devices():
        repeat(f, device_put(jnp.ones((64, 64)), device))


def exit_with_pending():
    """The interpreter ends while ordered callbacks are still to happen; they do."""
    x = jnp.ones((900, 900))
    f = jit(lambda x, i: (io_callback(lambda i: print("call", i, flush=True), None, i, ordered=True), x * 1)[1])
    for i in range(3):
        x = f(matmul(matmul(x)), i)


globals()[sys.argv[1]]()
print("done", flush=True)
if "--exit" in sys.argv:
    os._exit(0)
