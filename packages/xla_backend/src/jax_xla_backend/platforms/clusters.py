"""Which process of how many this is, as the launcher of a cluster says it in the environment.

What each launcher sets is documented: Slurm ("srun", output environment variables), Open MPI ("Environment variables set for MPI
applications", and ``orte_hnp_uri`` of releases before 5), Kubernetes (indexed Jobs) and LeaderWorkerSet (environment variables),
Cloud TPU on GKE (``TPU_WORKER_ID``, ``TPU_WORKER_HOSTNAMES``, ``MEGASCALE_*`` for several slices). mpi4py is asked only by name, as
importing it starts MPI.

A coordinator's port that nobody names is worked out from the number of the job, in the range that IANA leaves to programs.
"""
from __future__ import annotations

import re
import socket
from typing import Any, Callable, Mapping, NamedTuple

Environment = Mapping[str, str]


class Place(NamedTuple):
    """What is known of this process: the coordinator's ``host:port``, how many processes there are, the number of this one."""

    address: str | None = None
    count: int | None = None  # type: ignore[assignment]  # which hides the method of tuples
    number: int | None = None


TPU_PORT = 8476
_FIRST_PORT, _PORTS = 49152, 1 << 14


def port_of(job: str) -> int:
    """The coordinator's port for a job of this number."""
    return _FIRST_PORT + int(job) % _PORTS


def first_host(nodes: str) -> str:
    """The first of Slurm's list of nodes: ``rack[01-03,7],login`` begins with ``rack01``."""
    found = re.match(r"([^\[,]*)(?:\[(\d+)[^\]]*\])?([^,\[]*)", nodes)
    assert found is not None
    return f"{found[1]}{found[2] or ''}{found[3]}"


def _slurm(env: Environment) -> Place | None:
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST") or env.get("SLURM_NODELIST")
    count = env.get("SLURM_STEP_NUM_TASKS") or env.get("SLURM_NTASKS")
    if not count or "SLURM_PROCID" not in env:
        return None
    job = env.get("SLURM_JOB_ID")
    address = f"{first_host(nodes)}:{port_of(job)}" if nodes and job else None
    return Place(address, int(count), int(env["SLURM_PROCID"]))


def _open_mpi(env: Environment) -> Place | None:
    if "OMPI_COMM_WORLD_SIZE" not in env or "OMPI_COMM_WORLD_RANK" not in env:
        return None
    launcher = re.match(r"(\d+)\.\d+;tcp6?://([^,:;]+|\[[^\]]+\])", env.get("OMPI_MCA_orte_hnp_uri", ""))
    address = f"{launcher[2]}:{port_of(launcher[1])}" if launcher else None
    return Place(address, int(env["OMPI_COMM_WORLD_SIZE"]), int(env["OMPI_COMM_WORLD_RANK"]))


def _kubernetes(env: Environment) -> Place | None:
    """A LeaderWorkerSet says all; an indexed Job its number, and by its host's name that of number 0, but not how many there are."""
    if "LWS_LEADER_ADDRESS" in env and "LWS_GROUP_SIZE" in env:
        return Place(f"{env['LWS_LEADER_ADDRESS']}:{TPU_PORT}", int(env["LWS_GROUP_SIZE"]), int(env.get("LWS_WORKER_INDEX", "0")))
    if "KUBERNETES_SERVICE_HOST" not in env or "JOB_COMPLETION_INDEX" not in env:
        return None
    index = env["JOB_COMPLETION_INDEX"]
    host, dot, domain = (env.get("HOSTNAME") or socket.gethostname()).partition(".")
    job = host.removesuffix(f"-{index}")
    if not dot:
        domain = socket.getfqdn(host).partition(".")[2]  # that of the headless service, through which Pods find each other
    address = None if job == host else f"{job}-0{'.' + domain if domain else ''}:{TPU_PORT}"
    return Place(address, None, int(index))


def _tpu(env: Environment) -> Place | None:
    hosts = [h for h in env.get("TPU_WORKER_HOSTNAMES", "").split(",") if h]
    if not hosts or "TPU_WORKER_ID" not in env:
        return None
    slices, mine = int(env.get("MEGASCALE_NUM_SLICES", "1")), int(env.get("MEGASCALE_SLICE_ID", "0"))
    leader = env.get("MEGASCALE_COORDINATOR_ADDRESS", hosts[0]) if slices > 1 else hosts[0]
    return Place(f"{re.sub(r':[0-9]+$', '', leader)}:{TPU_PORT}", slices * len(hosts), mine * len(hosts) + int(env["TPU_WORKER_ID"]))


def _mpi4py(_: Environment) -> Place:
    from mpi4py import MPI  # an optional dependency, and importing it starts MPI
    everyone = MPI.COMM_WORLD
    address = None
    if everyone.Get_rank() == 0:
        with socket.socket() as probe:
            probe.bind(("", 0))
            address = f"{socket.gethostname()}:{probe.getsockname()[1]}"
    return Place(everyone.bcast(address, root=0), everyone.Get_size(), everyone.Get_rank())


_METHODS: dict[str, Callable[[Environment], Any]] = {"tpu": _tpu, "k8s": _kubernetes, "ompi": _open_mpi, "slurm": _slurm, "mpi4py": _mpi4py}
_silent = ["tpu", "k8s", "ompi", "slurm"]  # those that only read the environment, in the order in which they are asked


def enter(name: str, ask_environment: Callable[[Environment], Place | None], by_name_only: bool) -> None:
    """Ask one more launcher, a library's, after those that are known; one of the same name, as of a class defined twice, is replaced."""
    if name in ("tpu", "k8s", "ompi", "slurm", "mpi4py"):
        name = f"{name} of a library"
    _METHODS[name] = ask_environment
    if not by_name_only and name not in _silent:
        _silent.append(name)


def ask(name: str, env: Environment) -> Place | None:
    """What the launcher ``name`` says; None where it did not start this process. mpi4py is there where it can be imported."""
    try:
        return _METHODS[name](env)
    except ImportError:
        return None


def detect(env: Environment, method: str | None = None) -> Place:
    """What the launcher says; nothing where there is none, or ``method`` is ``"deactivate"``.

    Args:
      env: the environment.
      method: the launcher to ask; by default the first that has left something, one that knows the coordinator before others (``mpirun``
        inside of a Slurm job leaves the variables of both).

    Raises:
      ValueError: there is no such method. RuntimeError: it was asked for by name, and finds nothing.
    """
    if method == "deactivate":
        return Place()
    if method is not None:
        if method not in _METHODS:
            raise ValueError(f"distributed.initialize: cluster_detection_method={method!r} is not known; use one of "
                             f"{', '.join(map(repr, _METHODS))}, 'deactivate' or None")
        found = _METHODS[method](env)
        if found is None:
            raise RuntimeError(f"distributed.initialize: cluster_detection_method={method!r} finds nothing in the environment; was this process "
                               "started by that launcher?")
        return found
    places = [place for place in (_METHODS[name](env) for name in _silent) if place is not None]
    return next((p for p in places if p.address is not None), places[0] if places else Place())


__all__ = ["Place", "ask", "detect", "enter", "first_host", "port_of"]
