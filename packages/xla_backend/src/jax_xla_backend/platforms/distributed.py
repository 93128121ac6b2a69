"""Programs of many processes: `initialize` connects this process to the others before the first device is used.

One process, the coordinator (number 0), runs a small service that the others find each other through; XLA's
collectives between CPUs then go over TCP (gloo). On clusters the arguments are found in the environment (`clusters`).
"""
from __future__ import annotations

import atexit
import errno
import operator
import os
import socket
from typing import Any, Sequence

from jax_core.configuration import flags

from ..jaxlib_compat import _jax
from . import client, clusters, liveness
from .distributed_state import state
from .relay import Relay

_service: Any = None
_abandoned: Any = None  # connections that are not closed, as closing them waits


def is_initialized() -> bool:
    """Whether this process is connected to others.

    >>> jax.distributed.is_initialized()
    False
    """
    return state.client is not None


def _from_environment(method: str | None) -> clusters.Place:
    """Coordinator, number of processes and own number: from our own variables, else as the launcher left them in the environment."""
    get = os.environ.get
    found = clusters.detect(os.environ, method)
    return clusters.Place(get("JAX_COORDINATOR_ADDRESS") or found.address, int(get("JAX_NUM_PROCESSES") or 0) or found.count,
                          int(get("JAX_PROCESS_ID", "")) if get("JAX_PROCESS_ID") else found.number)


def initialize(coordinator_address: str | None = None, num_processes: int | None = None, process_id: int | None = None,
               local_device_ids: int | Sequence[int] | None = None, cluster_detection_method: str | None = None,
               initialization_timeout: int = 300, heartbeat_timeout_seconds: int = 100,
               shutdown_timeout_seconds: int = 300, coordinator_bind_address: str | None = None,
               slice_index: int | None = None, partition_index: int | None = None, mtls_cert_file: str | None = None,
               mtls_key_file: str | None = None, mtls_ca_file: str | None = None, mtls_peer_uri_prefix: str | None = None,
               verify_secure_credentials: bool | None = None) -> None:
    """Connect this process to the other processes of the program.

    Args:
      coordinator_address: ``host:port`` of process 0.
      num_processes: how many there are.
      process_id: the number of this one.
      local_device_ids: accepted; all devices of this host are used.
      cluster_detection_method: whose variables say what is not given here: ``"slurm"``, ``"ompi"`` (Open MPI), ``"k8s"`` (an indexed Job
        or a LeaderWorkerSet of Kubernetes), ``"tpu"`` (Cloud TPU), ``"mpi4py"`` (which is asked itself), ``"deactivate"`` for nobody's; by
        default the first that has left any. ``JAX_COORDINATOR_ADDRESS``, ``JAX_NUM_PROCESSES`` and ``JAX_PROCESS_ID`` come before them.
      initialization_timeout: seconds to wait for the others.
      heartbeat_timeout_seconds: silence after which a process counts as lost.
      shutdown_timeout_seconds: seconds to wait for the others at the end.
      coordinator_bind_address: address that process 0 listens at; default all of its addresses at the same port.
      slice_index, partition_index: must not be given; the platform knows its groups of devices.
      mtls_cert_file, mtls_key_file, mtls_ca_file, mtls_peer_uri_prefix, verify_secure_credentials: must not be given; the
        connection is not encrypted.

    Raises:
      NotImplementedError: an argument that must not be given.
      RuntimeError: called twice, or after the first use of a device; the port is taken; the processes did not all connect.
        After such an error it can be called again. Or the launcher that is named has left nothing.
      TypeError: an address that is not text, a number that is not an integer.
      ValueError: an argument is missing and not in the environment; an address without a port, a number out of range; no such method.

    Where another process is killed or stopped, process 0 or any other, a computation on CPUs that needs it raises `jax.errors.JaxRuntimeError` with
    its number, within 50 seconds; after ``heartbeat_timeout_seconds`` jaxlib ends this process too (SIGABRT).

    Each process of the program calls it before anything else, here process 1 of 4:

    >>> jax.distributed.initialize("10.0.0.1:1234", num_processes=4, process_id=1)  # doctest: +SKIP
    """
    global _service
    for name, value in dict(slice_index=slice_index, partition_index=partition_index, mtls_cert_file=mtls_cert_file,
                            mtls_key_file=mtls_key_file, mtls_ca_file=mtls_ca_file,
                            mtls_peer_uri_prefix=mtls_peer_uri_prefix,
                            verify_secure_credentials=verify_secure_credentials).items():
        if value is not None:
            raise NotImplementedError(f"distributed.initialize: {name}={value!r} is not supported; leave it out")
    if is_initialized():
        raise RuntimeError("distributed.initialize should only be called once; this process is already connected")
    if client.is_started():
        raise RuntimeError("distributed.initialize must be called before the first use of a device (jax.devices(), or any "
                           "array)")
    address, count, number = _from_environment(cluster_detection_method)
    address = coordinator_address or address
    count = count if num_processes is None else num_processes
    number = number if process_id is None else process_id
    for name, value in (("coordinator_address", address), ("num_processes", count), ("process_id", number)):
        if value is None:
            raise ValueError(f"distributed.initialize: {name} must be given, as it is not in the environment")
    address, port = _checked_address(address)
    count, number = _checked_numbers(count, number)
    service = None
    if number == 0:
        bind = coordinator_bind_address or f"[::]:{port}"
        _check_free(bind)
        service = _jax.get_distributed_runtime_service(bind, count, heartbeat_timeout=heartbeat_timeout_seconds,
                                                       shutdown_timeout=shutdown_timeout_seconds)
    try:
        connection = _connected(
            address, number, init_timeout=initialization_timeout, heartbeat_timeout=heartbeat_timeout_seconds,
            shutdown_timeout=shutdown_timeout_seconds, use_compression=True)
    except BaseException:
        if service is not None:
            service.shutdown()
        raise
    _service = service
    state.client, state.process_id, state.num_processes = connection, number, count
    state.collectives = _collectives(connection)
    state.coordinator_address = address
    if getattr(flags.config, "jax_enable_preemption_service", True):
        state.preemption_sync_manager = _jax.create_preemption_sync_manager()
        state.preemption_sync_manager.initialize(connection)
    liveness.start()
    atexit.register(shutdown)


def _checked_address(address: Any) -> tuple[str, int]:
    """``host:port``, and the port."""
    if not isinstance(address, str):
        raise TypeError(f"distributed.initialize: coordinator_address must be a string 'host:port', got {address!r} of type "
                        f"{type(address).__name__}")
    port = address.rpartition(":")[2]
    if ":" not in address or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"distributed.initialize: coordinator_address={address!r} must be 'host:port' with a port from 1 to "
                         f"{(1 << 16) - 1}")
    return address, int(port)


def _checked_numbers(count: Any, number: Any) -> tuple[int, int]:
    """The number of processes and that of this one; jaxlib ends the process for those out of range."""
    for name, value in (("num_processes", count), ("process_id", number)):
        if not hasattr(value, "__index__"):
            raise TypeError(f"distributed.initialize: {name} must be an integer, got {value!r} of type {type(value).__name__}")
    count, number = operator.index(count), operator.index(number)
    if not 0 <= number < count:
        raise ValueError(f"distributed.initialize: process_id={number} of num_processes={count}; the processes are numbered from "
                         "0 to num_processes - 1")
    return count, number


def _check_free(bind: str) -> None:
    """Raise RuntimeError if something listens at this address. Two services of gRPC would share it without a word."""
    host, _, port = bind.rpartition(":")
    try:
        places = socket.getaddrinfo(host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return  # gRPC says what is wrong with a name
    for family, kind, protocol, _, place in places:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else ports that were left a minute ago count as taken
            try:
                probe.bind(place)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise RuntimeError(f"distributed.initialize: the coordinator cannot listen at {bind}: the address is in use. "
                                       "Choose another port, and check that only one process has process_id=0") from error


def _connected(address: str, number: int, **options: Any) -> Any:
    """The connection of process ``number`` to the coordinator.

    Without a callback jaxlib ends the process if the connection fails. It cannot call one written in Python, but fails to
    with an exception, which is what makes the failure ours to report; the reason is only in its log. Processes but the coordinator's own are
    connected through a `relay`.
    """
    relay = state.relay = Relay(address) if number and _is_known(address) else None
    connection = _jax.get_distributed_runtime_client(address if relay is None else relay.address, number, missed_heartbeat_callback=_never_called, **options)
    try:
        connection.connect()
        if relay is not None:
            relay.hold()
    except RuntimeError as error:
        if relay is not None:
            relay.close()
        raise RuntimeError(
            f"distributed.initialize: process {number} is not connected: no coordinator at {address} within "
            f"{options['init_timeout']} seconds, or not all processes came in this time, or two have the same process_id. The "
            "lines that jaxlib has written to stderr say which.") from error
    return connection


def _is_known(address: str) -> bool:
    """Whether Python finds the host; gRPC knows further ways to name one."""
    try:
        return bool(socket.getaddrinfo(address.rpartition(":")[0].strip("[]"), None))
    except OSError:
        return False


def _never_called(*_: Any) -> None:
    """See `_connected`."""


def _collectives(connection: Any) -> Any:
    kind = flags.cpu_collectives_implementation.value
    if kind == "mpi":
        made = _jax.make_mpi_collectives()
        made.Init()
        return made
    return _jax.make_gloo_tcp_collectives(distributed_client=connection)


def shutdown() -> None:
    """Leave the program's group of processes, together with the others. Does nothing if this process is not in one, and waits for nobody
    if one was lost.

    >>> jax.distributed.shutdown()
    """
    global _service, _abandoned
    relay, state.relay = state.relay, None
    if relay is not None:
        if relay.broken.is_set():
            liveness.coordinator_is_lost()
        relay.close()
    if liveness.lost:  # who waits for them would wait in vain, and jaxlib ends the process where the wait fails
        liveness.stop()
        liveness.leave_after_loss()
        _abandoned = state.client, _service, state.preemption_sync_manager
        state.client = state.preemption_sync_manager = _service = None
    if state.preemption_sync_manager is not None:
        state.preemption_sync_manager.shutdown()
        state.preemption_sync_manager = None
    if state.client is not None:
        liveness.end()
        state.client.shutdown()
        liveness.finish()
        state.client = None
    liveness.stop()
    if _service is not None:
        _service.shutdown()
        _service = None
    atexit.unregister(shutdown)
