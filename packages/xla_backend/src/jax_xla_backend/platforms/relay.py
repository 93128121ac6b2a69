"""The connection to the coordinator, through a relay in this process, so that its loss is an error and not the end of the process.

Where the coordinator's connection ends, jaxlib ends the process that is connected (SIGABRT), before Python hears of it: it tells a callback, but
cannot call one written in Python. So it is connected to a port of this process, and what is sent there goes on to the coordinator. If the
coordinator dies, jaxlib's end of the connection stays open and silent, and `liveness` says in an error what happened. jaxlib itself gives up when its
heartbeats have had no answer for ``heartbeat_timeout_seconds``.

Left aside: a service in a process of its own, which would outlive process 0. It would have to be ended when nobody needs it.
"""
from __future__ import annotations

import socket
import threading

_CHUNK = 1 << 16
_PATIENCE = 5.0  # seconds to connect in; jaxlib tries again


class Relay:
    """Takes connections to `address` to ``coordinator``.

    Until `hold` is called, a connection that fails is closed, so that jaxlib tries again; from then on it is held open, and `broken` is set.
    """

    def __init__(self, coordinator: str):
        host, _, port = coordinator.rpartition(":")
        self._target = host.strip("[]"), int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.broken = threading.Event()
        self._held, self._closed = False, False
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._accept, name="jax-relay", daemon=True).start()

    def hold(self) -> None:
        """Hold connections open from now on, whatever the coordinator does."""
        self._held = True

    def close(self) -> None:
        """Take no more connections, and hold those there are without a word."""
        self._closed = True
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(near,), name="jax-relay", daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(self._target, timeout=_PATIENCE)
        except OSError:
            self._lose(near)
            return
        far.settimeout(None)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_copy, args=(near, far), name="jax-relay", daemon=True).start()
        _copy(far, near)
        self._lose(near)

    def _lose(self, near: socket.socket) -> None:
        """The coordinator's end of a connection is closed."""
        if not self._held:
            near.close()
            return
        self._kept.append(near)
        if not self._closed:
            self.broken.set()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes from ``source`` until one of the two ends."""
    try:
        while data := source.recv(_CHUNK):
            target.sendall(data)
    except OSError:
        pass


__all__ = ["Relay"]
