"""Threads: first calls and known calls, donation, settings that hold in one thread, caches cleared meanwhile.

    python tests/stress/threads.py [rounds]
"""
import sys
import threading
import time
from typing import Callable

import numpy as np
from children import end, figure

import jax
import jax.numpy as jnp

COUNT = 16
X = np.arange(64, dtype=np.float32)


def in_threads(work: Callable[[int], None], count: int = COUNT) -> list[BaseException]:
    """Run ``work(number)`` in so many threads that begin together; the errors that came out."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def cold(repeat: int) -> None:
    """All make the first call of the same function, and of its derivative."""
    f = jax.jit(lambda x: jnp.sin(x * repeat).sum())
    values = {}

    def work(number):
        values[number] = float(f(X)), np.asarray(jax.jit(jax.grad(f))(X))
    assert not (errors := in_threads(work)), errors
    for value, slope in values.values():
        np.testing.assert_allclose(value, np.sin(X * repeat).sum(), atol=1e-3)
        np.testing.assert_allclose(slope, repeat * np.cos(X * repeat), atol=1e-3)


def donation(repeat: int) -> None:
    """One gets each array, the others an error; a function that only reads gets the contents or an error."""
    f, g = jax.jit(lambda x: x + repeat, donate_argnums=0), jax.jit(lambda x: x * 2)
    arrays, wins, refused = [jnp.asarray(X) for _ in range(50)], [0] * COUNT, [0] * COUNT

    def work(number):
        for x in arrays:
            try:
                if number % 4:
                    np.testing.assert_array_equal(f(x), X + repeat)
                    wins[number] += 1
                else:
                    np.testing.assert_array_equal(g(x), X * 2)
            except (RuntimeError, ValueError) as error:
                assert "deleted" in str(error), error
                refused[number] += 1
    assert not (errors := in_threads(work)), errors
    assert sum(wins) == len(arrays), wins


def settings(repeat: int) -> None:
    """x64, default dtypes of random keys and NaN search hold in the thread that sets them."""
    f = jax.jit(lambda x: x / 3)

    def work(number):
        for _ in range(20):
            with jax.enable_x64(bool(number % 2)), jax.debug_nans(number % 3 == 0), jax.numpy_rank_promotion("raise" if number % 5 else "allow"):
                assert f(1.0).dtype == (jnp.float64 if number % 2 else jnp.float32)
                assert jnp.arange(3).dtype == (jnp.int64 if number % 2 else jnp.int32)
                try:
                    jax.jit(jnp.log)(-1.0)
                    assert number % 3
                except FloatingPointError:
                    assert number % 3 == 0
    assert not (errors := in_threads(work)), errors
    assert not jax.config.jax_enable_x64 and not jax.config.jax_debug_nans


def cleared(repeat: int) -> None:
    """Some clear the caches while others call, trace and differentiate."""
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda _, c: jnp.sin(c) + repeat, x))

    def work(number):
        for k in range(10):
            if number % 5 == 0:
                jax.clear_caches()
            np.testing.assert_allclose(f(X), np.sin(np.sin(np.sin(X) + repeat) + repeat) + repeat, rtol=1e-4)
            np.testing.assert_allclose(jax.vmap(jax.grad(lambda x: x * x * k))(X), 2 * X * k)
    assert not (errors := in_threads(work)), errors


def callbacks(repeat: int) -> None:
    """Each thread's Python function gets that thread's values, in order."""
    def work(number):
        seen = []
        f = jax.jit(lambda x: (jax.debug.callback(lambda v: seen.append(int(v)), x),
                               jax.pure_callback(lambda v: v + 1, jax.ShapeDtypeStruct((), np.int32), x))[1])
        for k in range(20):
            assert int(f(np.int32(number * 100 + k))) == number * 100 + k + 1
        jax.effects_barrier()
        assert seen == [number * 100 + k for k in range(20)], seen
    assert not (errors := in_threads(work)), errors


LAWS = [cold, donation, settings, cleared, callbacks]


def main() -> None:
    start, rounds = time.time(), int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for interval in (5e-3, 1e-5):
        sys.setswitchinterval(interval)
        for law in LAWS:
            failures = []
            for repeat in range(1, rounds + 1):
                try:
                    law(repeat)
                except AssertionError as error:
                    failures.append(str(error))
            figure(f"{law.__name__}, switching every {interval} s", f"{rounds - len(failures)} of {rounds} rounds of {COUNT} threads",
                   not failures, "\n".join(failures[:3]))
    end(start)


if __name__ == "__main__":
    main()
