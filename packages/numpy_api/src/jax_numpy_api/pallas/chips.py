"""What is known of the chips that kernels run on: the published figures of TPUs and GPUs.

Source: the vendors' pages on their products (cores, memory, bandwidth, rates of arithmetic); what is multiplied as it is: values of the public jax.
"""
from __future__ import annotations

import dataclasses
import enum
from typing import Any

import numpy as np

from jax_core import backends
from jax_core.representation import dtypes
from jax_core.representation.typing import DTypeLike


class CoreType(enum.Enum):
    """Kinds of cores of a TPU: tensor cores, and the two of sparse cores."""

    TC = "tc"
    SC_SCALAR_SUBCORE = "sc_scalar_subcore"
    SC_VECTOR_SUBCORE = "sc_vector_subcore"


class Tiling(enum.Enum):
    """How arrays lie in memory: in tiles of tensor cores, or in those of sparse cores."""

    COMPACT = 1
    SPARSE_CORE = 2


class SideEffectType(enum.Enum):
    """What a kernel does besides its results: nothing, something that its results are needed for, or something."""

    PURE = "pure"
    DATAFLOW_SIDE_EFFECTING = "dataflow_side_effecting"
    SIDE_EFFECTING = "side_effecting"


class ChipVersion(enum.Enum):
    """Generations of TPUs.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.ChipVersion.TPU_V5E.value
    'v5e'
    """

    TPU_V2, TPU_V3, TPU_V4, TPU_V4I = "v2", "v3", "v4", "v4i"
    TPU_V5E, TPU_V5P = "v5e", "v5p"
    TPU_V6E = "v6e"
    TPU_7, TPU_7X = "7", "7x"
    TPU_8I, TPU_8T = "8i", "8t"

    def __str__(self):
        return self.value


@dataclasses.dataclass(frozen=True, kw_only=True)
class SparseCoreInfo:
    """Sizes of the sparse cores of a chip."""

    num_cores: int
    num_subcores: int = 16
    num_lanes: int
    vmem_capacity_bytes: int
    dma_granule_size_bytes: int = 32


@dataclasses.dataclass(frozen=True, kw_only=True)
class TpuInfo:
    """Sizes and rates of a TPU as one device."""

    chip_version: ChipVersion
    generation: int
    num_cores: int
    num_lanes: int = 128
    num_sublanes: int = 8
    mxu_column_size: int = 128
    num_mxus: int
    num_accumulators: int = 0
    vmem_capacity_bytes: int
    cmem_capacity_bytes: int = 0
    smem_capacity_bytes: int = 1 << 20
    hbm_capacity_bytes: int
    mem_bw_bytes_per_second: int
    bf16_ops_per_second: int
    int8_ops_per_second: int = 0
    fp8_ops_per_second: int = 0
    int4_ops_per_second: int = 0
    sparse_core: SparseCoreInfo | None = None

    @property
    def is_lite(self) -> bool:
        """Whether the chip has one tensor core by design."""
        return self.chip_version in (ChipVersion.TPU_V4I, ChipVersion.TPU_V5E, ChipVersion.TPU_V6E)

    @property
    def is_megacore(self) -> bool:
        """Whether one device is several tensor cores."""
        return self.num_cores > 1

    @property
    def is_split_chip(self) -> bool:
        """Whether the chip has several tensor cores, and one device is one of them."""
        return self.num_cores == 1 and self.chip_version in (*_TWO_AS_ONE, *_TWO_APART)

    def get_sublane_tiling(self, dtype: np.dtype) -> int:
        """Rows of a tile of vector memory for elements of this dtype.

        >>> from jax.experimental.pallas import tpu as pltpu
        >>> chip = pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5E, 1)
        >>> chip.get_sublane_tiling(jnp.dtype("float32")), chip.get_sublane_tiling(jnp.dtype("int8"))
        (8, 32)
        """
        bits = dtypes.itemsize_bits(np.dtype(dtype))
        return self.num_sublanes if bits == 16 and self.generation < 7 else self.num_sublanes * max(1, 32 // max(bits, 4))

    def is_matmul_supported(self, lhs_dtype: DTypeLike, rhs_dtype: DTypeLike) -> bool:
        """Whether the chip multiplies matrices of these dtypes without converting them.

        >>> from jax.experimental.pallas import tpu as pltpu
        >>> pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5E, 1).is_matmul_supported("int8", "bfloat16")
        False
        """
        lhs, rhs = np.dtype(lhs_dtype).name, np.dtype(rhs_dtype).name
        return any(lhs in left.split() and rhs in right.split() for left, right in _PRODUCTS.get(self.chip_version) or _PRODUCTS[self.generation])


_GB, _T = 10**9, 10**12
_SPARSE = {5: SparseCoreInfo(num_cores=4, num_lanes=8, vmem_capacity_bytes=512 << 10),
           6: SparseCoreInfo(num_cores=2, num_lanes=8, vmem_capacity_bytes=256 << 10),
           7: SparseCoreInfo(num_cores=2, num_lanes=16, vmem_capacity_bytes=512 << 10),
           8: SparseCoreInfo(num_cores=2, num_lanes=16, vmem_capacity_bytes=256 << 10, dma_granule_size_bytes=64)}
_CHIPS: dict[ChipVersion, tuple[int, int, int, int, int, int, dict[str, Any]]] = {  # vector memory, main memory, bandwidth, bfloat16; then what differs
    ChipVersion.TPU_V2: (2, 1, 16 << 20, 8 * _GB, 358 * _GB, 23 * _T, dict(smem_capacity_bytes=16 << 10)),
    ChipVersion.TPU_V3: (3, 2, 16 << 20, 17_200_000_000, 412_500_000_000, 70 * _T, dict(smem_capacity_bytes=16 << 10)),
    ChipVersion.TPU_V4I: (4, 4, 16 << 20, 8_590_000_000, 614 * _GB, 137 * _T, dict(cmem_capacity_bytes=134_000_000)),
    ChipVersion.TPU_V4: (4, 4, 16 << 20, 17_200_000_000, 615 * _GB, 137_500_000_000_000, dict(cmem_capacity_bytes=67_000_000)),
    ChipVersion.TPU_V5E: (5, 4, 128 << 20, 17_200_000_000, 820 * _GB, 197 * _T, dict(int8_ops_per_second=394 * _T, int4_ops_per_second=788 * _T)),
    ChipVersion.TPU_V5P: (5, 4, 64 << 20, 51_500_000_000, 1230 * _GB, 229_500_000_000_000,
                          dict(int8_ops_per_second=459 * _T, int4_ops_per_second=920 * _T)),
    ChipVersion.TPU_V6E: (6, 2, 128 << 20, 34_400_000_000, 1640 * _GB, 920 * _T, dict(
        mxu_column_size=256, int8_ops_per_second=1840 * _T, fp8_ops_per_second=920 * _T, int4_ops_per_second=3680 * _T)),
    ChipVersion.TPU_7: (7, 2, 64 << 20, 103 * _GB, 3700 * _GB, 1155 * _T, dict(mxu_column_size=256, num_accumulators=128, fp8_ops_per_second=2300 * _T)),
    ChipVersion.TPU_7X: (7, 2, 64 << 20, 103 * _GB, 3700 * _GB, 1155 * _T, dict(mxu_column_size=256, num_accumulators=128, fp8_ops_per_second=2300 * _T)),
    ChipVersion.TPU_8I: (8, 2, 192 << 20, 154_500_000_000, 4300 * _GB, 550_500_000_000_000, dict(
        mxu_column_size=256, num_accumulators=256, fp8_ops_per_second=4404 * _T,
        sparse_core=SparseCoreInfo(num_cores=1, num_subcores=4, num_lanes=16, vmem_capacity_bytes=512 << 10, dma_granule_size_bytes=64))),
    ChipVersion.TPU_8T: (8, 2, 128 << 20, 231 * _GB, 6400 * _GB, 996_100_000_000_000, dict(
        num_sublanes=16, mxu_column_size=256, num_accumulators=256, int8_ops_per_second=996_100_000_000_000,
        fp8_ops_per_second=5_976_900_000_000_000, int4_ops_per_second=11_953_800_000_000_000)),
}
_BY_KIND = {"TPU v2": ChipVersion.TPU_V2, "TPU v3": ChipVersion.TPU_V3, "TPU v4": ChipVersion.TPU_V4, "TPU v4 lite": ChipVersion.TPU_V4I,
            "TPU v5 lite": ChipVersion.TPU_V5E, "TPU v5e": ChipVersion.TPU_V5E, "TPU v5": ChipVersion.TPU_V5P, "TPU v5p": ChipVersion.TPU_V5P,
            "TPU v6 lite": ChipVersion.TPU_V6E, "TPU v6e": ChipVersion.TPU_V6E, "TPU7": ChipVersion.TPU_7, "TPU7x": ChipVersion.TPU_7X}
_TWO_AS_ONE = (ChipVersion.TPU_V4, ChipVersion.TPU_V5P)
_TWO_APART = (ChipVersion.TPU_V2, ChipVersion.TPU_V3, ChipVersion.TPU_7, ChipVersion.TPU_7X, ChipVersion.TPU_8I)
_SMALL = [("float32 bfloat16 float8_e5m2 float8_e4m3b11fnuz",) * 2, ("int8 uint8",) * 2, ("int4 uint4",) * 2]
_PRODUCTS = {  # by generation, or by chip where these differ: operands on the left, and on the right
    2: [("float32",) * 2], 3: [("float32",) * 2], 4: [("float32 bfloat16", "float32 bfloat16 int8")], 5: _SMALL, 6: _SMALL,
    7: [("float32 bfloat16", "float32 bfloat16 float8_e5m2 float8_e4m3fn"), ("float8_e5m2 float8_e4m3fn",) * 2],
    ChipVersion.TPU_8I: [("float32 bfloat16", "float32 bfloat16 float8_e5m2 float8_e4m3fn int4 uint4"),
                         ("float8_e5m2 float8_e4m3fn", "float8_e5m2 float8_e4m3fn int4 uint4")],
    ChipVersion.TPU_8T: [("float32 bfloat16", "float32 bfloat16 float8_e5m2 float8_e4m3fn int4"),
                         ("float8_e5m2 float8_e4m3fn", "float8_e5m2 float8_e4m3fn int4")]}


def _kind() -> str:
    """What the attached devices are called."""
    return getattr(backends.get().devices()[0], "device_kind", "")


def cores_of_a_device() -> int:
    """How many tensor cores one device has; one where it is no TPU."""
    chip = _BY_KIND.get(_kind())
    return 2 if chip in _TWO_AS_ONE else 1


def is_tpu_device() -> bool:
    """Whether the attached devices are TPUs.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.is_tpu_device()
    False
    """
    return _kind().startswith("TPU")


def get_tpu_info() -> TpuInfo:
    """Sizes and rates of the attached TPUs.

    Raises:
      ValueError: they are no TPUs that are known.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.get_tpu_info()
    Traceback (most recent call last):
        ...
    ValueError: get_tpu_info: the devices are of kind 'cpu', which is no known TPU. Without one, give the chip to get_tpu_info_for_chip.
    """
    kind = _kind()
    if kind not in _BY_KIND:
        raise ValueError(f"get_tpu_info: the devices are of kind {kind!r}, which is no known TPU. Without one, give the chip to get_tpu_info_for_chip.")
    return get_tpu_info_for_chip(_BY_KIND[kind], cores_of_a_device())


def get_tpu_info_for_chip(chip_version: ChipVersion, num_tensor_cores_per_logical_device: int) -> TpuInfo:
    """Sizes and rates of a TPU of this generation, of which one device is one or two tensor cores.

    Raises:
      ValueError: two, where a device of this generation is one.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.get_tpu_info_for_chip(pltpu.ChipVersion.TPU_V5E, 1).bf16_ops_per_second
    197000000000000
    """
    if num_tensor_cores_per_logical_device != 1 and (num_tensor_cores_per_logical_device != 2 or chip_version not in _TWO_AS_ONE):
        raise ValueError(f"get_tpu_info_for_chip: {num_tensor_cores_per_logical_device} tensor cores as one device of a TPU {chip_version}; two are one "
                         f"device only on {' and '.join(map(str, _TWO_AS_ONE))}.")
    generation, mxus, vmem, hbm, bandwidth, rate, rest = _CHIPS[chip_version]
    sparse = None if chip_version is ChipVersion.TPU_V5E else _SPARSE.get(generation)
    return TpuInfo(chip_version=chip_version, generation=generation, num_cores=num_tensor_cores_per_logical_device, num_mxus=mxus,
                   vmem_capacity_bytes=vmem, hbm_capacity_bytes=hbm, mem_bw_bytes_per_second=bandwidth, bf16_ops_per_second=rate,
                   **{"sparse_core": sparse, **rest})


class GpuVersion(enum.Enum):
    """GPUs by the names of their devices."""

    A10, A30, A100 = "NVIDIA A10", "NVIDIA A30", "NVIDIA A100"
    H100, H200, GH200 = "NVIDIA H100", "NVIDIA H200", "NVIDIA GH200"
    B200, GB200, B300, GB300, GB10 = "NVIDIA B200", "NVIDIA GB200", "NVIDIA B300", "NVIDIA GB300", "NVIDIA GB10"
    L4, L40, T4 = "NVIDIA L4", "NVIDIA L40", "Tesla T4"
    RTX_4090 = "NVIDIA GeForce RTX 4090"
    RTX_PRO_4500, RTX_PRO_5000, RTX_PRO_6000 = "NVIDIA RTX PRO 4500", "NVIDIA RTX PRO 5000", "NVIDIA RTX PRO 6000"


_CAPABILITIES = {"8.6": ("A10",), "8.0": ("A30", "A100"), "9.0": ("H100", "H200", "GH200"), "10.0": ("B200", "GB200"), "10.3": ("B300", "GB300"),
                 "12.1": ("GB10",), "8.9": ("L4", "L40", "RTX_4090"), "7.5": ("T4",), "12.0": ("RTX_PRO_4500", "RTX_PRO_5000", "RTX_PRO_6000")}


@dataclasses.dataclass(frozen=True, kw_only=True)
class GpuInfo:
    """The compute capability of a GPU, as text and as a number; ``gpu_version`` None where its name is not known."""

    gpu_version: GpuVersion | None
    arch_name: str
    compute_capability: int


def is_gpu_device() -> bool:
    """Whether the attached devices are NVIDIA's GPUs.

    >>> from jax.experimental.pallas import triton as plgpu
    >>> plgpu.is_gpu_device()
    False
    """
    return _kind().startswith(("NVIDIA", "Tesla"))


def get_gpu_info_from_version(gpu_version: GpuVersion) -> GpuInfo:
    """The compute capability of a GPU of this name.

    >>> from jax.experimental.pallas import triton as plgpu
    >>> plgpu.get_gpu_info_from_version(plgpu.GpuVersion.H100).compute_capability
    90
    """
    name, = (name for name, group in _CAPABILITIES.items() if gpu_version.name in group)
    return GpuInfo(gpu_version=gpu_version, arch_name=name, compute_capability=int(name.replace(".", "")))


def get_gpu_info() -> GpuInfo:
    """The compute capability of the attached GPUs.

    Raises:
      ValueError: they are no GPUs that are known.

    >>> from jax.experimental.pallas import triton as plgpu
    >>> plgpu.get_gpu_info()
    Traceback (most recent call last):
        ...
    ValueError: get_gpu_info: the devices are of kind 'cpu', which is no known GPU; give one to get_gpu_info_from_version.
    """
    kind = _kind()
    known = [version for version in GpuVersion if kind == version.value or kind.startswith(version.value + " ")]
    if not known:
        raise ValueError(f"get_gpu_info: the devices are of kind {kind!r}, which is no known GPU; give one to get_gpu_info_from_version.")
    return get_gpu_info_from_version(max(known, key=lambda version: len(version.value)))
