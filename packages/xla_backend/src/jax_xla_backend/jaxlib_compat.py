"""The one door to jaxlib: its modules, what differs between its versions, and the names that it looks up by itself.

Supported are jaxlib 0.10.2 to 0.12.x. All other modules of this package take `_jax` and `_hlo` from here, never from
jaxlib, so that the environment below is set before the shared library is loaded.

jaxlib's C++ imports a few Python names when it first needs them. They are names of the reference implementation, which
must not be installed beside us; `names_for_jaxlib` shows our classes under those names while they are looked up.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

if TYPE_CHECKING:
    from jaxlib._jax import Client, Device  # noqa: F401  annotations elsewhere name these
    from jaxlib.mlir.ir import Operation  # noqa: F401  as above

    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.typing import ShardingLike

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # jaxlib reads it while it loads, and would log device counts
from jaxlib import version

from jax_core.versions import check_range

check_range("jaxlib", version.__version__, "jax-xla-backend", "0.10.2", "0.13")
from jaxlib import _hlo, _jax  # type: ignore[attr-defined, unused-ignore]  # noqa: E402  an old one lacks them, and says so less clearly

VERSION: tuple[int, ...] = tuple(int(part) for part in version.__version__.split(".")[:3])
VERSION_TEXT: str = version.__version__

Config = _jax.config.Config
unset = _jax.config.unset
HloSharding = _hlo.HloSharding
RuntimeError_ = _jax.JaxRuntimeError
RuntimeError_.__module__ = "jax.errors"  # where users know it, and what tracebacks show
ifrt_programs = _jax.ifrt_programs

# jaxlib before 0.12 drops optimization barriers before it fuses; without that pass they last until code is emitted. But it
# aborts at a barrier in a loop over less than 16 kB, which it makes one function of. The planner cuts nothing that small;
# `checkpoint` does, so programs with barriers of its kind are compiled as ever.
BARRIER_OPTIONS: tuple[tuple[str, str], ...] = (("xla_disable_hlo_passes", "cse_barrier_expander"),) if VERSION < (0, 12) else ()

# Since 0.12 StableHLO has groups of devices that are written as axes of a mesh.
GROUPS_BY_AXES = VERSION >= (0, 12)

# And CHLO's `top_k` an attribute that says whether equal elements keep their order.
UNSTABLE_TOP_K = VERSION >= (0, 12)

BARRIERS_LAST = VERSION >= (0, 12)


def keeps_barriers(text: str, planned: int) -> bool:
    """Whether the barriers of a program can be made to last, ``planned`` of which are the planner's: others may be in small loops."""
    return BARRIERS_LAST or planned == text.count("stablehlo.optimization_barrier") or "stablehlo.while" not in text


# Before 0.12 the simplifier of programs divides where both integers are constants, or become so, though the divisor be 0: the process
# dies of SIGFPE. (Found by running; the lowest integer by -1 is computed as it should be.)
CONSTANTS_BY_ZERO_TRAP = VERSION < (0, 12)

# And the compiler makes wrong programs of some right ones, which are written in other forms then (docs/internals/compiler-mistakes.md).
COMPILER_ERRS = VERSION < (0, 12)

# With 0.11 an array that was read keeps its buffer from being donated in place even when the view is gone. (Found by running 0.11.2, where a
# view by Python's buffer protocol does not.)
READING_HOLDS = (0, 11) <= VERSION < (0, 12)

# The compiler walks functions that call functions recursively, on a thread whose stack is not ours to choose: the process dies at a depth of
# 190 before 0.12. (Found by running; 300 are compiled by 0.12, which is more than Python's own recursion limit lets a user reach.)
MOST_NESTED_CALLS = 150 if VERSION < (0, 12) else 300

# Since 0.12 XLA writes vector code for it on CPU.
VECTOR_ATAN = VERSION >= (0, 12)
SUMS_OF_FUNCTIONS = VERSION >= (0, 12)

# Before 0.12 the CPU compiler has no floats of 6 bits: the process ends at one. (Found by running.)
FLOAT6 = VERSION >= (0, 12)

# Since 0.12 Shardy has extrema over devices that are still to be found, besides sums.
UNREDUCED_EXTREMA = VERSION >= (0, 12)

# Before 0.12 XLA makes one function only of loops over less than 1 kB, unless told otherwise; since then of all that it can.
FEW_LOOPS_ARE_FUNCTIONS = VERSION < (0, 12)

# Since 0.12 each kernel of the CPU compiler has a context of MLIR of its own, which functions have none of.
SMALL_PROGRAMS_ARE_FUNCTIONS = VERSION >= (0, 12)

# Before 0.12 XLA's library for the CPU (YNNPACK) ends the process, or does not end, at sums over arrays of seven axes and more (jax-ml/jax #39257).
LIBRARY_FAILS_AT_MANY_AXES = VERSION < (0, 12)

# And where it multiplies matrices and adds up the results along their rows in one go, it is wrong from 131072 bytes of a row on, in some shapes
# (jax-ml/jax #39103).
LIBRARY_FAILS_AT_SUMS_OF_PRODUCTS = VERSION < (0, 12)

# Before 0.12 the CPU client launches programs from the threads that it runs them on (see `client`).
LAUNCHES_SHARE_THREADS = VERSION < (0, 12)


def bindings(name: str) -> Any:
    """A module of jaxlib's MLIR bindings (``"ir"``, ``"dialects.stablehlo"``). They take a while to load, all dialects some 60 ms."""
    return importlib.import_module(f"jaxlib.mlir.{name}")


def result_handler(aval: AbstractValue, sharding: ShardingLike | None, committed: bool) -> Any:
    """A C++ handler that wraps raw result buffers of one output as an array of the given type and placement.

    jaxlib before 0.11.2 asks whether it may skip its check that the buffers fit; ours come from the executable itself.
    """
    if VERSION < (0, 11, 2):
        return _jax.array_result_handler(aval, sharding, committed, _skip_checks=True)
    return _jax.array_result_handler(aval, sharding, committed)


def make_array(aval: AbstractValue, sharding: ShardingLike | None, buffers: list, committed: bool) -> Any:
    """An array out of one single-device array per addressable device, in the device order of ``sharding``."""
    return _jax.ArrayImpl(aval, sharding, buffers, committed, _skip_checks=True)


def to_dlpack(array: object, stream: object, max_version: tuple | None, copied: bool) -> Any:
    """A DLPack capsule of a single-device array; jaxlib from 0.12 on can make versioned ones."""
    if VERSION < (0, 12):
        return _jax.buffer_to_dlpack_managed_tensor(array, stream=stream)
    return _jax.buffer_to_dlpack_managed_tensor(array, stream=stream, max_version=max_version, copied=copied)


@contextlib.contextmanager
def names_for_jaxlib(**modules: dict[str, Any]) -> Iterator[None]:
    """Show our classes under the names that jaxlib's C++ imports, for the duration of the block.

    Such a lookup is made once and kept by the C++ side. So the block makes jaxlib look all of them up, and afterwards
    ``sys.modules`` is as before: a later ``import jax`` of the meta package finds its own modules.

    Args:
      modules: for each module name, with dots written as ``__``, the entries it must have; where it needs none, a module that is
        there already will do.
    """
    before = {}
    for name, entries in modules.items():
        name = name.replace("___", "._").replace("__", ".")
        before[name] = sys.modules.get(name)
        if before[name] is not None and not entries:
            continue
        module = sys.modules[name] = types.ModuleType(name)
        module.__dict__.update(entries)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                del sys.modules[name]
            else:
                sys.modules[name] = earlier


def xla_client() -> Any:
    """jaxlib's module of registrations: plugins have told it how they want to be given handlers."""
    from jaxlib import xla_client  # start-up: few programs register anything

    return xla_client


def keep_name(name: str, module: types.ModuleType) -> None:
    """Show ``module`` under a name that jaxlib's C++ looks up at each use, unless somebody else has it."""
    sys.modules.setdefault(name, module)


def equip(cls: type, attributes: Mapping[str, object]) -> None:
    """Set attributes of ``cls``, a class of jaxlib that is a class of ours to users."""
    for name, value in attributes.items():
        setattr(cls, name, value)


def raise_instead(instead: Callable[[Sequence[Any]], BaseException | None]) -> None:
    """Have jaxlib raise ``instead(args)`` where it makes its error with these arguments, unless that is None.

    jaxlib raises wherever somebody waits for a program, much of it in C++, so the class is the one place that sees all errors.
    """
    def new(cls, *args, **kwargs):
        found = instead(args)
        return RuntimeError.__new__(cls, *args) if found is None else found
    equip(RuntimeError_, {"__new__": new})


def kernels(name: str) -> Any:
    """jaxlib's module of compiled functions ``name``, as ``lapack``; None where this jaxlib has none."""
    try:
        return importlib.import_module(f"jaxlib.{name}")
    except ImportError:
        return None


def dialect_registry() -> Any:
    """The dialects that the bindings bring along, without those of `mlir_context`."""
    registry = bindings("ir").DialectRegistry()
    bindings("_mlir_libs._jax_mlir_ext").register_dialects(registry)
    return registry


def mlir_context() -> Any:
    """A new context of the bindings, in which programs can be read. The classes of operations, which take longer to load, are not."""
    context = bindings("ir").Context()
    context.append_dialect_registry(dialect_registry())
    for dialect in ("stablehlo", "chlo", "sdy"):
        bindings(f"_mlir_libs._{dialect}").register_dialect(context)
    return context


def kernel_dialect(name: str) -> Any:
    """jaxlib's bindings of the dialect of a kernel compiler, ``"mosaic"`` or ``"triton"``.

    Raises:
      NotImplementedError: this jaxlib has none.
    """
    try:
        return importlib.import_module({"mosaic": "jaxlib.mosaic.python.tpu", "triton": "jaxlib.triton.dialect"}[name])
    except ImportError as error:
        raise NotImplementedError(f"kernels cannot be compiled with jaxlib {VERSION_TEXT}, which lacks the dialect of {name}; pass "
                                  "interpret=True") from error


def topology_bytes(topology: Any) -> bytes:
    """A description of devices as bytes. Raises NotImplementedError before jaxlib 0.12, which has no such form."""
    if VERSION < (0, 12):
        raise NotImplementedError("TopologyDescription.serialize: needs jaxlib 0.12 or later")
    return topology.serialize()


def topology_of_bytes(serialized: bytes) -> Any:
    """The description of devices that `topology_bytes` wrote. Raises as that does."""
    if VERSION < (0, 12):
        raise NotImplementedError("TopologyDescription.deserialize: needs jaxlib 0.12 or later")
    return _jax.DeviceTopology.deserialize(serialized)


def write_profile_data(data: object, log_dir: str) -> None:
    """Write a recorded `ProfileData` below ``log_dir``; jaxlib from 0.12 on can."""
    from jaxlib import _profiler  # type: ignore[attr-defined, unused-ignore]  # start-up: profiling is rare
    if not hasattr(_profiler, "export_to_xprof"):
        raise NotImplementedError(f"export_profile_data: jaxlib {VERSION_TEXT} cannot write a ProfileData, except that of the "
                                  "last session; use ProfileSession.export_profile_data, or jaxlib 0.12 or later")
    _profiler.export_to_xprof(data, log_dir)
