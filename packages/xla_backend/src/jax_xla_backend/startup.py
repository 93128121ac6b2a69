"""Preparing jaxlib, once per process: configuration, our array methods, and the names that its C++ looks up."""
from __future__ import annotations

import functools
import gc
import operator
from typing import Any

import numpy as np

from jax_core.extension_points import call_on_parts, error_instead, kernel_compiler, runtime_error
from jax_core.representation.aval import ShapedArray

from .arrays import array, array_methods, interruptible, transfer_guards
from .backend import XlaBackend, backend
from .jaxlib_compat import RuntimeError_, _jax, keep_name, names_for_jaxlib, raise_instead
from .placement import sharding, sharding_impls
from .placement.mesh import Mesh
from .placement.partition_spec import PartitionSpec
from .platforms import client, cpp_state


def start() -> XlaBackend:
    """Do all of it and return the backend. No client is made before the first use."""
    runtime_error.fill(RuntimeError_)
    error_instead.when_filled(raise_instead)
    kernel_compiler.fill(_compile_kernel)
    call_on_parts.fill(_call_on_parts)
    cpp_state.install()
    transfer_guards.install()
    array_methods.install()
    client.client_made.add(_show_names)
    client.process_forked.add(interruptible.stop_after_fork)
    gc.callbacks.append(functools.partial(getattr, _Collecting()))
    return backend


def _compile_kernel(b: Any, program: Any, operands: Any) -> list:
    """The results of a kernel's program on operands, as a call that the platform's compiler takes."""
    from .kernels import compile_kernel  # start-up: few programs hold kernels
    return compile_kernel(b, program, operands)


def _call_on_parts(b: Any, call: Any, operands: Any) -> Any:
    """The results of a call that says how it is split, see `extension_points.CallOnParts`."""
    from .operations.custom_partitioning import calls  # start-up: few programs hold such calls, and most run on one device
    return calls.on_parts(b, call, operands)


class _Collecting:
    """Calls jaxlib when its attribute ``stop`` is read: it puts Python objects that its threads let go of aside until it is told
    that they may be freed.

    The collector calls ``getattr(collecting, phase, info)``, in which no bytecode runs: Python looks for signals between bytecodes,
    and forgets a KeyboardInterrupt that is raised in a callback of the collector.
    """

    collect_garbage = staticmethod(_jax.collect_garbage)
    stop = property(operator.methodcaller("collect_garbage"))


_shown = False


def _show_names(started: Any) -> None:
    """Have jaxlib look up our classes, which its C++ keeps.

    One function it looks up at each use, so that name stays.
    """
    global _shown
    if _shown:
        return
    device = started.local_devices()[0]
    keep_name("jax._src.sharding_impls", sharding_impls)
    with transfer_guards.unguarded(), names_for_jaxlib(
            jax={},
            jax__core={"ShapedArray": ShapedArray},
            jax___src__literals={"TypedNdArray": type("TypedNdArray", (np.ndarray,), {})}):
        sharding.NamedSharding(Mesh([device], ("_",)), PartitionSpec())
        whole = sharding.make_single_device_sharding(device)
        one = _jax.batched_device_put(ShapedArray((1,), np.dtype(np.float32)), whole, [np.zeros(1, np.float32)],
                                      [device], True)
        array.read(one)
    _shown = True
