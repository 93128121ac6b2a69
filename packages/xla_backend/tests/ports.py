"""A port of this machine for a server that a test starts a little later."""
import itertools
import os
import socket

FIRST, COUNT = 12_000, 20_000  # below those that systems give to connections, so none takes it meanwhile
_next = itertools.count(os.getpid() * 31)  # tests in other processes begin elsewhere


def free_port() -> int:
    """A port at which nobody listens."""
    while True:
        port = FIRST + next(_next) % COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
