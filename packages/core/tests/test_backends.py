"""How the backend is found."""
import threading
import time

from jax_core import backends
from jax_core.testing import numpy_backend


def test_threads_load_one_backend(monkeypatch):
    made = []

    def slow():
        made.append(None)
        time.sleep(0.05)
        return numpy_backend.load()
    monkeypatch.setattr(backends, "_made", slow)
    before, found = backends.use(None), []
    try:
        threads = [threading.Thread(target=lambda: found.append(backends.get())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        backends.use(before)
    assert len(made) == 1 and len(found) == 8
