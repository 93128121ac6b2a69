"""What launchers leave in the environment, and what is read from it."""
import sys
from types import SimpleNamespace

import pytest

from jax_xla_backend.platforms import clusters, distributed
from jax_xla_backend.platforms.clusters import Place, detect, first_host, port_of

SLURM = dict(SLURM_JOB_ID="20000", SLURM_STEP_NODELIST="gpu[003-005,9],login", SLURM_STEP_NUM_TASKS="8", SLURM_NTASKS="8", SLURM_PROCID="5",
             SLURM_LOCALID="1")
OPEN_MPI = dict(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="3", OMPI_COMM_WORLD_LOCAL_RANK="1",
                OMPI_MCA_orte_hnp_uri="1531576320.0;tcp://10.96.0.1,10.148.0.1:34911")
JOB = dict(KUBERNETES_SERVICE_HOST="10.0.0.1", JOB_COMPLETION_INDEX="2", HOSTNAME="train-2.workers.default.svc")
LWS = dict(KUBERNETES_SERVICE_HOST="10.0.0.1", LWS_LEADER_ADDRESS="set-0.set.default", LWS_GROUP_SIZE="4", LWS_WORKER_INDEX="2")
TPU = dict(TPU_WORKER_ID="1", TPU_WORKER_HOSTNAMES="t-0.svc,t-1.svc,t-2.svc")
SLICES = dict(TPU, MEGASCALE_NUM_SLICES="2", MEGASCALE_SLICE_ID="1", MEGASCALE_COORDINATOR_ADDRESS="first.svc:8080")


@pytest.mark.parametrize("method, env, wanted", [
    ("slurm", SLURM, Place(f"gpu003:{49152 + 20000 % 16384}", 8, 5)),
    ("slurm", dict(SLURM_NTASKS="2", SLURM_PROCID="0"), Place(None, 2, 0)),
    ("ompi", OPEN_MPI, Place(f"10.96.0.1:{port_of('1531576320')}", 4, 3)),
    ("ompi", dict(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="0"), Place(None, 4, 0)),  # Open MPI 5 does not say where it is
    ("k8s", JOB, Place("train-0.workers.default.svc:8476", None, 2)),
    ("k8s", LWS, Place("set-0.set.default:8476", 4, 2)),
    ("tpu", TPU, Place("t-0.svc:8476", 3, 1)),
    ("tpu", SLICES, Place("first.svc:8476", 6, 4)),
])
def test_what_each_launcher_says(method, env, wanted):
    assert detect(env, method) == detect(env) == wanted
    assert detect(env, "deactivate") == Place()


@pytest.mark.parametrize("nodes, first", [
    ("a", "a"), ("a,b", "a"), ("n[1-3]", "n1"), ("n[01,7],m2", "n01"), ("rack7-[12-13]-ib,x", "rack7-12-ib"), ("n1,m[2-3]", "n1")])
def test_lists_of_nodes(nodes, first):
    assert first_host(nodes) == first


def test_launcher_that_knows_the_coordinator_comes_first():
    """mpirun inside of a Slurm job: the numbers are those of mpirun."""
    assert detect({**SLURM, "SLURM_PROCID": "0", **OPEN_MPI}).number == 3
    assert detect({**SLURM, "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "5"}).address.startswith("gpu003:")  # srun --mpi=pmix


def test_ports_are_the_programs_own():
    assert all(49152 <= port_of(str(job)) < 65536 for job in (0, 1, 16383, 16384, 10 ** 9))


def test_mpi4py_is_asked_by_name_only(monkeypatch):
    sent = []

    def bcast(value, root):
        sent.append((value, root))
        return value or "host:50000"
    for rank in (0, 3):
        world = SimpleNamespace(Get_rank=lambda rank=rank: rank, Get_size=lambda: 4, bcast=bcast)
        monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=world)))
        assert detect({}) == Place()
        place = detect({}, "mpi4py")
        assert (place.count, place.number) == (4, rank)
    assert sent[0][0].rpartition(":")[2].isdigit() and sent[1] == (None, 0) and place.address == "host:50000"


def test_errors():
    with pytest.raises(ValueError, match="cluster_detection_method='pbs' is not known"):
        detect({}, "pbs")
    with pytest.raises(RuntimeError, match="'slurm' finds nothing"):
        detect({}, "slurm")


def test_own_variables_come_first(monkeypatch):
    for name in ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(clusters, "detect", lambda env, method: Place("there:1", 4, 2))
    assert distributed._from_environment(None) == ("there:1", 4, 2)
    monkeypatch.setenv("JAX_PROCESS_ID", "0")
    monkeypatch.setenv("JAX_COORDINATOR_ADDRESS", "here:2")
    assert distributed._from_environment(None) == ("here:2", 4, 0)
