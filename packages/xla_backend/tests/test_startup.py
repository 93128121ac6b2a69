"""The backend is started once, however many threads use it first."""
import threading

import jax_xla_backend
from jax_xla_backend import startup


def test_threads_start_it_once(monkeypatch):
    """A thread that comes while another one starts it waits for that one."""
    inside = threading.Barrier(2)
    made = []

    def start():
        try:
            inside.wait(0.2)  # a second thread in here ends this at once
        except threading.BrokenBarrierError:
            pass
        made.append(object())
        return made[-1]

    monkeypatch.setattr(jax_xla_backend, "_loaded", None)
    monkeypatch.setattr(startup, "start", start)
    found = []
    threads = [threading.Thread(target=lambda: found.append(jax_xla_backend.load())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and found == made * 2
