"""What a distributed run adds to the options of new clients; filled in before the first client is made."""
from __future__ import annotations

from typing import Any


class _State:
    """``client``: connection to the coordinator, or None in a program of one process."""

    client: Any = None
    process_id: int = 0
    num_processes: int = 1
    collectives: Any = None
    coordinator_address: str | None = None
    preemption_sync_manager: Any = None
    relay: Any = None


state = _State()


def client() -> Any:
    """The connection to the coordinator, or None."""
    return state.client


def cpu_options() -> dict[str, Any]:
    """Arguments for the CPU client."""
    if state.client is None:
        return {}
    return {"distributed_client": state.client, "node_id": state.process_id, "num_nodes": state.num_processes,
            "collectives": state.collectives}


def plugin_options(platform: str) -> dict[str, Any]:
    """Options for the client of a plugin."""
    if state.client is None:
        return {}
    return {"node_id": state.process_id, "num_nodes": state.num_processes}
