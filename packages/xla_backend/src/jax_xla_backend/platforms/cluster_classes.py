"""Launchers of clusters as classes, of which libraries (levanter) derive their own; a class defined so is asked by `initialize` after ours.

Such a class says by `is_env_present` whether its launcher started this process, and by the other methods what it knows.
"""
from __future__ import annotations

import os
from typing import Any, ClassVar, Sequence

from . import clusters


class ClusterEnv:
    """One way to start the processes of a program. Subclasses are entered by being defined."""

    _cluster_types: ClassVar[list[Any]] = []
    name: ClassVar[str] = ""
    opt_in_only_method: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        ClusterEnv._cluster_types.append(cls)
        if not cls.__module__.startswith("jax_"):
            clusters.enter(cls.__dict__.get("name") or cls.__name__, cls._place, by_name_only=cls.opt_in_only_method)

    @classmethod
    def is_env_present(cls) -> bool:
        """Whether this launcher started this process."""
        raise NotImplementedError(f"{cls.__name__}.is_env_present: a class of a launcher has to define it.")

    @classmethod
    def get_coordinator_address(cls, timeout_secs: int | None = None, override_coordinator_port: str | None = None) -> str:
        """``host:port`` of process 0."""
        raise NotImplementedError(f"{cls.__name__}.get_coordinator_address: a class of a launcher has to define it.")

    @classmethod
    def get_process_count(cls) -> int:
        """How many processes there are."""
        raise NotImplementedError(f"{cls.__name__}.get_process_count: a class of a launcher has to define it.")

    @classmethod
    def get_process_id(cls) -> int:
        """The number of this process."""
        raise NotImplementedError(f"{cls.__name__}.get_process_id: a class of a launcher has to define it.")

    @classmethod
    def get_local_process_id(cls) -> int | None:
        """The number of this process among those of its host; None where nobody says."""
        return None

    @classmethod
    def _place(cls, _: clusters.Environment) -> clusters.Place | None:
        if not cls.is_env_present():
            return None
        try:
            address = cls.get_coordinator_address(timeout_secs=None, override_coordinator_port=None)
        except TypeError:  # as releases before had it
            address = cls.get_coordinator_address()
        return clusters.Place(address, cls.get_process_count(), cls.get_process_id())

    @classmethod
    def auto_detect_unset_distributed_params(
            cls, coordinator_address: str | None, num_processes: int | None, process_id: int | None, local_device_ids: Sequence[int] | None,
            cluster_detection_method: str | None, initialization_timeout: int | None) -> tuple[str | None, int | None, int | None, Sequence[int] | None]:
        """The first four arguments, those that are None as the launcher says them."""
        found = clusters.detect(os.environ, cluster_detection_method)
        given = lambda value, otherwise: otherwise if value is None else value
        return (given(coordinator_address, found.address), given(num_processes, found.count), given(process_id, found.number), local_device_ids)


class _Known(ClusterEnv):
    """A launcher that `clusters` knows; classes derived from it ask the same one, under a name of their own."""

    _launcher: ClassVar[str] = ""
    _local_number: ClassVar[str] = ""
    """The variable with the number of this process on its host."""

    @classmethod
    def _found(cls) -> clusters.Place:
        return clusters.detect(os.environ, cls._launcher)

    @classmethod
    def is_env_present(cls) -> bool:
        return clusters.ask(cls._launcher, os.environ) is not None

    @classmethod
    def get_coordinator_address(cls, timeout_secs: int | None = None, override_coordinator_port: str | None = None) -> str:
        address = cls._found().address
        if address is None:
            raise RuntimeError(f"{cls.__name__}.get_coordinator_address: the environment does not name the host of process 0.")
        return f"{address.rpartition(':')[0]}:{override_coordinator_port}" if override_coordinator_port else address

    @classmethod
    def get_process_count(cls) -> int:
        count = cls._found().count
        if count is None:
            raise RuntimeError(f"{cls.__name__}.get_process_count: the environment does not say how many processes there are.")
        return count

    @classmethod
    def get_process_id(cls) -> int:
        number = cls._found().number
        if number is None:
            raise RuntimeError(f"{cls.__name__}.get_process_id: the environment does not say the number of this process.")
        return number

    @classmethod
    def get_local_process_id(cls) -> int | None:
        number = os.environ.get(cls._local_number)
        return None if number is None else int(number)


class OmpiCluster(_Known):
    """Open MPI's ``mpirun``."""
    name, _launcher, _local_number = "ompi", "ompi", "OMPI_COMM_WORLD_LOCAL_RANK"


class SlurmCluster(_Known):
    """Slurm's ``srun``."""
    name, _launcher, _local_number = "slurm", "slurm", "SLURM_LOCALID"


class Mpi4pyCluster(_Known):
    """mpi4py, which is asked by name only, as that starts MPI."""
    name, _launcher, opt_in_only_method = "mpi4py", "mpi4py", True


class GkeTpuCluster(_Known):
    """Cloud TPU."""
    name, _launcher = "tpu", "tpu"


class K8sCluster(_Known):
    """An indexed Job or a LeaderWorkerSet of Kubernetes."""
    name, _launcher = "k8s", "k8s"


ClusterEnv._cluster_types.remove(_Known)

__all__ = ["ClusterEnv", "GkeTpuCluster", "K8sCluster", "Mpi4pyCluster", "OmpiCluster", "SlurmCluster"]
