"""Types of `jax.distributed`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Sequence

def initialize(coordinator_address: str | None = None, num_processes: int | None = None, process_id: int | None = None, local_device_ids: int | Sequence[int] | None = None, cluster_detection_method: str | None = None, initialization_timeout: int = 300, heartbeat_timeout_seconds: int = 100, shutdown_timeout_seconds: int = 300, coordinator_bind_address: str | None = None, slice_index: int | None = None, partition_index: int | None = None, mtls_cert_file: str | None = None, mtls_key_file: str | None = None, mtls_ca_file: str | None = None, mtls_peer_uri_prefix: str | None = None, verify_secure_credentials: bool | None = None) -> None:
    """Connect this process to the other processes of the program."""
def is_initialized() -> bool:
    """Whether this process is connected to others."""
def shutdown() -> None:
    """Leave the program's group of processes, together with the others. Does nothing if this process is not in one, and waits for nobody if one was lost."""
