"""Processes: the end of the interpreter at awkward moments, fork and spawn, many that share one cache with some killed.

    python tests/stress/processes.py [how often]
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from children import child, end, figure, passed

HEAD = "import os, sys, threading, time, numpy as np, jax, jax.numpy as jnp\n"
EXITS = {
    "while a program runs": "y = jax.jit(lambda x: jax.lax.fori_loop(0, 3000, lambda _, c: jnp.sin(c), x))(jnp.ones(20_000)); print('end')",
    "while another thread compiles": """
threading.Thread(target=lambda: jax.jit(lambda x: jnp.linalg.svd(x @ x)[0] @ jnp.sort(x)).lower(jnp.ones((50, 50))).compile(), daemon=True).start()
time.sleep(0.2); print('end')""",
    "while another thread traces": """
def f(x):
    for k in range(10**6): x = jnp.sin(x)
    return x
threading.Thread(target=lambda: jax.make_jaxpr(f)(1.0), daemon=True).start()
time.sleep(0.2); print('end')""",
    "with a callback on its way": "jax.jit(lambda x: jax.debug.callback(lambda v: print('end'), x))(jnp.ones(3))",
    "at an exception": "jnp.ones(3)\ntry: jnp.ones(3) + jnp.ones(4)\nexcept TypeError: print('end')",
    "with arrays in module globals": "import atexit; x = jnp.ones(10**6); atexit.register(lambda: print(int(x.sum() * 0) or 'end'))",
    "by sys.exit in a thread pool": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool: list(pool.map(lambda k: float(jnp.sin(jnp.ones(5) * k).sum()), range(50)))
print('end'); sys.exit(0)""",
    "with a donated array": "x = jnp.ones(10); f = jax.jit(lambda x: x + 1, donate_argnums=0); y = f(x); print('end')",
}
STARTS = {
    "fork before the first use": ("""
pid = os.fork()
if pid == 0:
    assert float(jnp.ones(3).sum()) == 3; os._exit(0)
print(os.waitpid(pid, 0)[1])""", "0"),
    "fork after it": ("""
import warnings; warnings.simplefilter("ignore")
jnp.ones(3); f = jax.jit(lambda x: x + 1); f(1.0)
pid = os.fork()
if pid == 0:
    try: f(1.0)
    except RuntimeError as error: os._exit(0 if 'fork' in str(error) else 2)
    os._exit(1)
print(os.waitpid(pid, 0)[1], float(f(1.0)))""", "0 2.0"),
    "fork while threads call": ("""
import warnings; warnings.simplefilter("ignore")
f = jax.jit(lambda x: x + 1); f(1.0); over = []
def go():
    while not over: f(1.0); jax.jit(lambda x: x * 2)(1.0)
threads = [threading.Thread(target=go) for _ in range(4)]; [t.start() for t in threads]
codes = []
for _ in range(20):
    pid = os.fork()
    if pid == 0: os._exit(0)
    codes.append(os.waitpid(pid, 0)[1])
over.append(1); [t.join() for t in threads]; print(set(codes))""", "{0}"),
    "spawn": ("""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
if __name__ == '__main__':
    jnp.ones(3)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as pool:
        print(float(sum(pool.map(jnp.sum, [np.ones(3)] * 4))))""", "12.0"),
}
FIRST = """
import random, sys, traceback
sys.setswitchinterval(1e-5)
uses = [lambda: jnp.ones(3).sum(), lambda: jax.random.normal(jax.random.key(0), (2,)), lambda: jax.devices(), lambda: jax.jit(jnp.sin)(1.0),
        lambda: jax.grad(lambda x: x * x)(2.0), lambda: jax.vmap(jnp.cumsum)(np.ones((2, 3))), lambda: jnp.linalg.inv(np.eye(2)),
        lambda: jax.lax.scan(lambda c, x: (c + x, x), 0.0, np.ones(3)), lambda: jax.make_jaxpr(jnp.sort)(np.ones(3)),
        lambda: jax.device_put(np.ones(3)), lambda: jax.nn.softmax(np.ones(3)), lambda: jax.scipy.special.gammaln(3.0),
        lambda: jax.pure_callback(lambda: np.float32(1), jax.ShapeDtypeStruct((), np.float32)), lambda: jnp.fft.fft(np.ones(4)),
        lambda: jax.jacrev(jnp.tanh)(np.ones(2)), lambda: jax.tree.map(jnp.asarray, {"a": 1}), lambda: jnp.arange(5)[::2],
        lambda: jax.jit(lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.0), lambda: jax.local_device_count(),
        lambda: jax.sharding.Mesh(jax.devices(), ("x",)), lambda: jax.image.resize(np.ones((2, 2)), (4, 4), "linear"),
        lambda: jax.config.update("jax_debug_nans", False), lambda: jax.checkpoint(jnp.sin)(1.0), lambda: jax.eval_shape(jnp.dot, 1.0, 2.0)]
random.Random(int(sys.argv[1])).shuffle(uses)
barrier, bad = threading.Barrier(16), []
def go(n):
    barrier.wait()
    try:
        for k in range(len(uses)): uses[(n + k) % len(uses)]()
    except BaseException: bad.append(traceback.format_exc())
threads = [threading.Thread(target=go, args=(n,)) for n in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
print(bad[0], file=sys.stderr) if bad else print("end")
"""
"""All that is made at the first use is made by several threads at once."""

SHARED = HEAD + """
for k in range(30):
    assert float(jax.jit(lambda x: jnp.sin(x) * k)(1.0)) == float(jax.jit(lambda x: jnp.sin(x) * k)(1.0))
    np.testing.assert_allclose(jax.jit(lambda x: jnp.sin(x) * k)(1.0), np.sin(1.0) * k, rtol=1e-5)
print('end')
"""


def shared_cache(seed: int) -> None:
    """Six processes fill one cache; some are killed, some stopped for a while; the others, and a last one, are right."""
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_COMPILATION_CACHE_DIR": folder, "JAX_ENABLE_COMPILATION_CACHE": "1",
               "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        several = [subprocess.Popen([sys.executable, "-c", SHARED], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(6)]
        time.sleep(1 + 4 * random.random())
        several[0].send_signal(signal.SIGKILL)
        several[1].send_signal(signal.SIGSTOP)
        time.sleep(1)
        several[2].send_signal(signal.SIGKILL)
        several[1].send_signal(signal.SIGCONT)
        outs = [p.communicate(timeout=600) for p in several]
        good = all(outs[n][0] == "end\n" and not outs[n][1] for n in (1, 3, 4, 5))
        figure(f"shared cache, seed {seed}", "all others right" if good else "wrong", good, "".join(e for _, e in outs))
        passed(f"shared cache, seed {seed}, afterwards", child(SHARED, **{n: v for n, v in env.items() if n.startswith("JAX")}), "end")


def main() -> None:
    start, repeats = time.time(), int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for k in range(repeats):
        for name, code in EXITS.items():
            passed(f"exit {name}", child(HEAD + code, timeout=120), "end")
        for name, (code, wanted) in STARTS.items():
            passed(name, child(HEAD + code, timeout=120), wanted)
        passed(f"first use in sixteen threads, seed {k}", child(HEAD + FIRST, k, timeout=300), "end")
        shared_cache(k)
    end(start)


if __name__ == "__main__":
    main()
