"""Programs of many processes: `initialize` connects this process to the others before the first device is used.

One process, the coordinator (number 0), runs a small service that the others find each other through; XLA's
collectives between CPUs then go over TCP (gloo). On clusters with Slurm or Open MPI the arguments are found in the
environment.
"""
from __future__ import annotations

import atexit
import os
from typing import Any, Sequence

from jax_core import config

from . import client
from .distributed_hooks import state
from .jaxlib_compat import _jax

_service: Any = None


def is_initialized() -> bool:
    """Whether this process is connected to others."""
    return state.client is not None


def _from_environment() -> tuple[str | None, int | None, int | None]:
    """Coordinator, number of processes and own number, as the launcher left them in the environment."""
    get = os.environ.get
    address = get("JAX_COORDINATOR_ADDRESS")
    for count, number in (("SLURM_NTASKS", "SLURM_PROCID"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")):
        if get(count) and get(number):
            return address, int(get(count, "")), int(get(number, ""))
    return (address, int(get("JAX_NUM_PROCESSES", "0")) or None,
            int(get("JAX_PROCESS_ID", "-1")) if get("JAX_PROCESS_ID") else None)


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
      cluster_detection_method: accepted; the environment is always looked at.
      initialization_timeout: seconds to wait for the others.
      heartbeat_timeout_seconds: silence after which a process counts as lost.
      shutdown_timeout_seconds: seconds to wait for the others at the end.
      coordinator_bind_address: address that process 0 listens at; default all of its addresses at the same port.
      slice_index, partition_index: must not be given; the platform knows its groups of devices.
      mtls_cert_file, mtls_key_file, mtls_ca_file, mtls_peer_uri_prefix, verify_secure_credentials: must not be given; the
        connection is not encrypted.

    Raises:
      NotImplementedError: an argument that must not be given.
      RuntimeError: called twice, or after the first use of a device.
      ValueError: an argument is missing and not in the environment.
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
    address, count, number = _from_environment()
    address = coordinator_address or address
    count = count if num_processes is None else num_processes
    number = number if process_id is None else process_id
    for name, value in (("coordinator_address", address), ("num_processes", count), ("process_id", number)):
        if value is None:
            raise ValueError(f"distributed.initialize: {name} must be given, as it is not in the environment")
    if number == 0:
        bind = coordinator_bind_address or "[::]:" + str(address).rsplit(":", 1)[1]
        _service = _jax.get_distributed_runtime_service(bind, count, heartbeat_timeout=heartbeat_timeout_seconds,
                                                        shutdown_timeout=shutdown_timeout_seconds)
    connection = _jax.get_distributed_runtime_client(
        address, number, init_timeout=initialization_timeout, heartbeat_timeout=heartbeat_timeout_seconds,
        shutdown_timeout=shutdown_timeout_seconds, use_compression=True)
    connection.connect()
    state.client, state.process_id, state.num_processes = connection, number, count
    state.collectives = _collectives(connection)
    state.coordinator_address = address
    if getattr(config.config, "jax_enable_preemption_service", True):
        state.preemption_sync_manager = _jax.create_preemption_sync_manager()
        state.preemption_sync_manager.initialize(connection)
    atexit.register(shutdown)


def _collectives(connection: Any) -> Any:
    kind = config.cpu_collectives_implementation.value
    if kind == "mpi":
        made = _jax.make_mpi_collectives()
        made.Init()
        return made
    return _jax.make_gloo_tcp_collectives(distributed_client=connection)


def shutdown() -> None:
    """Leave the program's group of processes. Does nothing if this process is not in one."""
    global _service
    if state.preemption_sync_manager is not None:
        state.preemption_sync_manager.shutdown()
        state.preemption_sync_manager = None
    if state.client is not None:
        state.client.shutdown()
        state.client = None
    if _service is not None:
        _service.shutdown()
        _service = None
    atexit.unregister(shutdown)
