"""Ctrl-C at random moments of tracing, compiling, running and callbacks: it arrives, and all is usable afterwards.

    python tests/stress/interrupts.py [how often, of each kind]
"""
import sys
import time

from children import child, end, figure

CODE = """
    import os, random, signal, sys, threading, time
    import numpy as np
    import jax, jax.numpy as jnp

    kind, count = sys.argv[1], int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore it
    random.seed(kind)
    n = [0]

    def tracing():
        def f(x):
            n[0] += 1
            for k in range(3000):
                x = jnp.sin(x) * k
            return x
        jax.make_jaxpr(jax.grad(f))(1.0)

    def compiling():
        n[0] += 1
        def f(x):
            for k in range(12):
                x = jnp.sort(x @ x + n[0] + k)
            return x
        jax.jit(f).lower(jnp.ones((40, 40))).compile()

    long = jax.jit(lambda x: jax.lax.fori_loop(0, 4000, lambda _, c: jnp.sin(c), x))

    def running():
        long(jnp.ones(20_000)).block_until_ready()

    asks = jax.jit(lambda x: jax.lax.fori_loop(
        0, 300, lambda _, c: jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((), np.float32), c), x))

    def callbacks():
        asks(np.float32(1)).block_until_ready()

    work = dict(tracing=tracing, compiling=compiling, running=running, callbacks=callbacks)[kind]
    work()
    start = time.perf_counter()
    work()
    usual = max(time.perf_counter() - start, 1e-3)
    check = jax.jit(lambda x: jnp.cos(x) + 1)
    delivered = broken = 0
    for k in range(count):
        sent = threading.Event()

        def send():
            time.sleep(random.random() * usual)
            os.kill(os.getpid(), signal.SIGINT)
            sent.set()
        thread = threading.Thread(target=send)
        try:
            try:
                thread.start()
                while not sent.is_set():
                    work()
                time.sleep(5)  # on its way
            except KeyboardInterrupt:
                delivered += 1
        finally:
            thread.join()
        try:
            assert float(check(np.float32(0))) == 2 and float(jax.grad(lambda x: x * jnp.sin(x))(0.0)) == 0
            assert jax.jit(lambda x: x + k)(1) == 1 + k and len(jax.make_jaxpr(lambda x: x + 1)(1.0).eqns) == 1
            assert asks(np.float32(0)) == 0
        except Exception as error:
            broken += 1
            print(repr(error)[:300], file=sys.stderr)
    print(delivered, broken)
"""

FIRST = """
    import os, random, signal, sys, threading, time
    import numpy as np
    import jax, jax.numpy as jnp

    random.seed(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def send():
        time.sleep(random.random() * float(sys.argv[2]))
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=send)

    def use():
        key = jax.random.key(0)
        assert float(jnp.ones(3).sum()) == 3 and jax.random.normal(key, (2,)).shape == (2,)
        assert float(jax.jit(jax.grad(lambda x: jax.lax.scan(lambda c, _: (c * x, None), 1.0, None, 3)[0]))(2.0)) == 12
        assert np.asarray(jnp.arange(6).reshape(2, 3)[1, ::-1]).tolist() == [5, 4, 3]
    try:
        thread.start()
        while thread.is_alive():
            use()
        time.sleep(5)
    except KeyboardInterrupt:
        thread.join()
        use()
        with jax.enable_x64(True):
            assert jax.jit(lambda x: x / 3)(1.0).dtype == np.float64
        print("end")
"""
"""Ctrl-C while packages are loaded, the backend starts and its devices are made: a second try finds all of that."""


def main() -> None:
    start, count = time.time(), sys.argv[1] if len(sys.argv) > 1 else "100"
    for kind in ("tracing", "compiling", "running", "callbacks"):
        done = child(CODE, kind, count, timeout=1800)
        delivered, broken = (done.stdout.split() or ["0", "all"])[:2]
        figure(kind, f"{delivered} of {count} delivered, {broken} times unusable afterwards",
               (done.returncode, delivered, broken, done.stderr) == (0, count, "0", ""), f"return code {done.returncode}\n{done.stderr}")
    begin = time.perf_counter()
    child(FIRST, 0, 0)
    usual = time.perf_counter() - begin
    outs = [child(FIRST, seed, usual) for seed in range(int(count))]
    bad = [out for out in outs if (out.returncode, out.stdout.strip(), out.stderr) != (0, "end", "")]
    figure("first use", f"{len(outs) - len(bad)} of {len(outs)} usable afterwards", not bad, "".join(out.stderr for out in bad[:2]))
    end(start)


if __name__ == "__main__":
    main()
