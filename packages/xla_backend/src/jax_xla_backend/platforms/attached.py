"""Whether this machine shows a device of a vendor, asked of the kernel's files: nothing of the vendor's is loaded for it.

A vendor's library is large and not made for machines without its device: libtpu asks a metadata server for minutes.
"""
from __future__ import annotations

import glob
import os

_GOOGLE = "0x1ae0"
_TPU_CHIPS = {"0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076"}  # v2 and v3, two of v4, v5p, v5e, v6e, v7x
_NODES = {
    "cuda": ("/dev/nvidia[0-9]*", "/dev/nvhost-gpu", "/dev/nvgpu", "/dev/dxg"),  # the second and third on Jetson, the last in WSL
    "rocm": ("/dev/kfd", "/dev/dxg"),
    "tpu": ("/dev/accel[0-9]*",),
}


def device_nodes(platform: str) -> str | None:
    """What is looked for, in words; None for a platform that is not looked for, as its plugin is asked."""
    return " or ".join(_NODES[platform]) if platform in _NODES else None


def may_have(platform: str) -> bool:
    """Whether a device of ``platform`` may be attached. True for platforms that this does not know."""
    nodes = _NODES.get(platform)
    return nodes is None or any(map(glob.glob, nodes)) or platform == "tpu" and _has_tpu_on_pci()


def num_available_amd_gpus(stop_at: int | None = None) -> int:
    """How many AMD GPUs the driver lists (the rest of its nodes are processors), counted up to ``stop_at``; 1 where there is one that it does not list."""
    count = 0
    for folder in glob.glob("/sys/class/kfd/kfd/topology/nodes/*"):
        count += _read(folder, "gpu_id") not in ("", "0")
        if count == stop_at:
            break
    return count or int(may_have("rocm"))


def _has_tpu_on_pci() -> bool:
    """Chips that are passed on by VFIO have a node with only a number; the bus says whose it is."""
    for folder in glob.glob("/sys/bus/pci/devices/*"):
        if _read(folder, "vendor") == _GOOGLE and _read(folder, "device") in _TPU_CHIPS:
            return True
    return False


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()
    except OSError:
        return ""
