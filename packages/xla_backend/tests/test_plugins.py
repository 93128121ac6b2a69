"""Plugins that are not there, broken, of another version, or without a device: the CPU is used, with one warning at most."""
import functools
import json
import os
import subprocess
import sys
import types
import warnings

import pytest

from jax_xla_backend.jaxlib_compat import VERSION
from jax_xla_backend.lowering import call_handlers
from jax_xla_backend.platforms import attached, client, plugins, registry

pytestmark = pytest.mark.only_cpu

FITTING = ".".join(map(str, VERSION))


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """``machine(files, devices=(), platforms="")``: what is installed, the vendors whose devices are there, JAX_PLATFORMS."""
    def prepare(files, devices=(), platforms="", path=""):
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *(p for p in sys.path if "site-packages" not in p)])
        monkeypatch.setattr(plugins, "_found", False)
        monkeypatch.setattr(plugins, "_loaders", {})
        monkeypatch.setattr(plugins, "_options", {})
        monkeypatch.setattr(registry, "factories", {})
        monkeypatch.setattr(client, "_wanted_platforms", lambda: platforms)
        monkeypatch.setattr(attached, "may_have", lambda name: name not in ("cuda", "rocm", "tpu") or name in devices)
        monkeypatch.setenv("PJRT_NAMES_AND_LIBRARY_PATHS", path)
    yield prepare
    for name in [n for n in sys.modules if n == "jax_plugins" or n.startswith("jax_plugins.")]:
        del sys.modules[name]


def cuda(start, version=FITTING):
    return {"jax_plugins/xla_cuda12/xla_cuda_plugin.so": "", "jax_plugins/xla_cuda12/__init__.py": f"def initialize():\n    {start}\n",
            f"jax_cuda12_pjrt-{version}.dist-info/entry_points.txt": "[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\n",
            f"jax_cuda12_pjrt-{version}.dist-info/METADATA": f"Name: jax-cuda12-pjrt\nVersion: {version}\n"}


def rocm(start, version=FITTING):
    return {name.replace("cuda12", "rocm7").replace("cuda_", "rocm_"): text.replace("cuda12", "rocm7") for name, text in cuda(start, version).items()}


def entry_point(start):
    return {"abacus.py": f"def start():\n    {start}\n", "abacus-1.0.dist-info/METADATA": "Name: abacus\nVersion: 1.0\n",
            "abacus-1.0.dist-info/entry_points.txt": "[jax_plugins]\nabacus = abacus:start\n"}


def in_namespace(start, entry=""):
    """A module of the namespace; ``entry``: text of an entry point for it."""
    return {"jax_plugins/abacus/__init__.py": start, "jax_plugins/_private.py": "raise AssertionError", "jax_plugins/notes.txt": "",
            **({"abacus-1.0.dist-info/METADATA": "Name: abacus\nVersion: 1.0\n", "abacus-1.0.dist-info/entry_points.txt": entry} if entry else {})}


REGISTER = "from jax_xla_backend.platforms.plugins import register_plugin; register_plugin({!r}, library_path='/nowhere/lib.so')"
TPU = {"libtpu/libtpu.so": ""}
FALLS_BACK = {
    "nothing installed": (dict(files={}), None),
    "TPU library, no chip": (dict(files=TPU), "no tpu device is attached"),
    "CUDA plugin, no GPU": (dict(files=cuda("raise AssertionError")), "no cuda device is attached"),
    "both, neither device": (dict(files={**TPU, **cuda("raise AssertionError")}), "no cuda device .* no tpu device"),
    "broken TPU library": (dict(files=TPU, devices=["tpu"]), "platform 'tpu' cannot be used"),
    "CUDA package that raises": (dict(files=cuda("raise OSError('no libcudart')"), devices=["cuda"]), "no libcudart"),
    "CUDA package that does nothing": (dict(files=cuda("pass"), devices=["cuda"]), "has registered nothing"),
    "CUDA package of another version": (dict(files=cuda("raise AssertionError", "0.1.2"), devices=["cuda"]),
                                        f'jax-cuda12-pjrt 0.1.2 .* pip install "jax-cuda12-plugin.*=={FITTING}"'),
    "ROCm plugin, no GPU": (dict(files=rocm("raise AssertionError")), "no rocm device is attached"),
    "ROCm package that raises": (dict(files=rocm("raise OSError('no libamdhip64')"), devices=["rocm"]), "no libamdhip64"),
    "ROCm package of another version": (dict(files=rocm("raise AssertionError", "0.1.2"), devices=["rocm"]), "jax-rocm7-pjrt 0.1.2 is not made for"),
    "entry point that raises": (dict(files=entry_point("raise OSError('no beads')")), "'abacus' failed to start.*no beads"),
    "entry point without library": (dict(files=entry_point(REGISTER.format("abacus"))), "'abacus' failed to start"),
    "module of the namespace that raises": (dict(files=in_namespace("def initialize():\n    raise OSError('no beads')\n")), "'abacus' failed to start.*no beads"),
    "module of the namespace without a start": (dict(files=in_namespace("")), "'abacus' failed to start.*initialize"),
    "module of the namespace without library": (dict(files=in_namespace("def initialize():\n    " + REGISTER.format("abacus"))), "'abacus' failed to start"),
    "module of the namespace that an entry point names": (dict(files=in_namespace(
        "def initialize():\n    raise OSError('no beads')\n", "[jax_plugins]\nbeads = jax_plugins.abacus\n")), "'beads' failed to start.*no beads"),
    "two packages of a vendor": (dict(files={**cuda("raise AssertionError"), **{n.replace("12", "13"): t.replace("12", "13") for n, t in cuda("raise AssertionError").items()}}),
                                 "no cuda device is attached"),
    "path without library": (dict(files={}, path="abacus:/nowhere/lib.so"), "platform 'abacus' cannot be used"),
    "path without name": (dict(files={}, path="/nowhere/lib.so"), "not of the form name:path"),
}


@pytest.mark.parametrize("case", FALLS_BACK)
def test_the_cpu_is_used(case, machine):
    settings, warning = FALLS_BACK[case]
    machine(**settings)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert client._start_default() == "cpu"
    assert len(seen) == (warning is not None)
    if warning is not None:
        with pytest.warns(UserWarning, match=warning):
            warnings.warn(seen[0].message)


ASKED_FOR = {
    "cuda": (dict(files={}), r'pip install "jax\[cuda12\]"'),
    "gpu": (dict(files={}), "pip install .*cuda12.*rocm"),
    "tpu": (dict(files=TPU), "no tpu device is attached"),
    "cuda,cpu": (dict(files=cuda("raise OSError('no libcudart')"), devices=["cuda"]), "no libcudart"),
    "abacus,cpu": (dict(files={}), "Unable to initialize backend 'abacus'"),
}


@pytest.mark.parametrize("platforms", ASKED_FOR)
def test_a_platform_that_was_asked_for_is_an_error(platforms, machine):
    settings, message = ASKED_FOR[platforms]
    machine(**settings, platforms=platforms)
    with pytest.raises(RuntimeError, match=message):
        client._start_default()


def test_known_platforms_without_plugin_are_passed_over(machine):
    machine({}, platforms="cuda,cpu")
    assert client._start_default() == "cpu"


def test_only_the_cpu_asked_for_looks_at_nothing(machine):
    machine(entry_point("raise AssertionError"), platforms="cpu")
    assert client._start_default() == "cpu" and not plugins._found


PROCESSES = {  # JAX_PLATFORMS: what a fresh process with three broken plugins ends in, and how many warnings it gives
    "": ("cpu", 2), "cpu": ("cpu", 0), "cuda,cpu": ("platform 'cuda' of JAX_PLATFORMS=cuda,cpu cannot be used: no cuda device", 1),
    "rocm": ("platform 'rocm' of JAX_PLATFORMS=rocm cannot be used", 1), "abacus": ("no plugin brings it", 1),
}


@pytest.mark.parametrize("platforms", PROCESSES)
def test_a_fresh_process(platforms, tmp_path):
    """No module of a plugin whose device is missing is imported; a third party's that is broken is named."""
    if any(map(attached.may_have, ("cuda", "rocm"))):
        pytest.skip("this machine has such a device")
    for name, text in {**cuda("raise AssertionError"), **rocm("raise AssertionError"), **entry_point("raise OSError('no beads')")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    code = ("import json, sys, warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n    import jax\n"
            "    try: said = jax.devices()[0].platform\n    except RuntimeError as error: said = str(error)\n"
            "print(json.dumps([said, sum('plugin' in str(w.message) or 'platform' in str(w.message) for w in seen), 'jax_plugins' in sys.modules]))")
    env = {**os.environ, "JAX_PLATFORMS": platforms, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    said, warned, imported = json.loads(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout)
    wanted, count = PROCESSES[platforms]
    assert wanted in said and warned == count and not imported


def test_each_plugin_is_told(monkeypatch):
    """A plugin has an XLA of its own: what jaxlib's was told of calls, it is told too, whichever was there first."""
    told = []
    monkeypatch.setattr(plugins, "_apis", ["first"])
    monkeypatch.setattr(plugins, "_told", [])
    monkeypatch.setattr(plugins._jax, "load_pjrt_plugin", lambda platform, path, api: platform)
    monkeypatch.setattr(call_handlers._jax, "register_custom_call_as_batch_partitionable", lambda *given: told.append(given))
    call_handlers.split_by_batch("call")
    assert told == [("call",), ("call", "first")]
    plugins._load_library("second", None)
    assert told[2:] == [("call", "second")]


def test_only_calls_of_lapack_import_scipy_on_gpus(monkeypatch):
    """It took half a second of the first factorisation."""
    started = []
    solver = types.SimpleNamespace(registrations=dict, initialize_hybrid_kernels=lambda: started.append("scipy"))
    monkeypatch.setattr(call_handlers, "kernels", lambda name: solver)
    for cached in ("_register_module", "_start_hybrids"):
        monkeypatch.setattr(call_handlers, cached, functools.cache(getattr(call_handlers, cached).__wrapped__))
    call_handlers.register("cusolver_getrf_ffi", "cuda")
    assert not started
    for target in ("cuhybrid_geqp3", "cuhybrid_eig_real"):
        call_handlers.register(target, "cuda")
    assert started == ["scipy"]


def test_tpu_chips_on_the_bus(monkeypatch, tmp_path):
    monkeypatch.setattr(attached.glob, "glob", lambda pattern: [str(tmp_path)] if "pci" in pattern else [])
    (tmp_path / "vendor").write_text("0x1ae0\n")
    for device, there in (("0x0063", True), ("0x0042", False)):  # a chip; the network card of the same vendor
        (tmp_path / "device").write_text(device + "\n")
        assert attached.may_have("tpu") is there


def test_amd_gpus_are_counted(monkeypatch, tmp_path):
    """AMD's plugin asks for the number, under this name."""
    num_available_amd_gpus = attached.num_available_amd_gpus
    found = []
    monkeypatch.setattr(attached.glob, "glob", lambda pattern: found if "kfd/topology" in pattern else [])
    assert num_available_amd_gpus(stop_at=2) == 0
    for name, number in (("processor", "0"), ("first", "41211"), ("second", "7"), ("third", "9")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gpu_id").write_text(number + "\n")
        found.append(str(tmp_path / name))
    assert num_available_amd_gpus(stop_at=2) == 2 and num_available_amd_gpus() == 3
    monkeypatch.setattr(attached.glob, "glob", lambda pattern: ["/dev/dxg"] if pattern == "/dev/dxg" else [])
    assert num_available_amd_gpus() == 1
