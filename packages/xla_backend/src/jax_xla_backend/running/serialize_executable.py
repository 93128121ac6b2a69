"""Compiled programs as bytes: the machine code with what is needed to call it, for the same jaxlib on the same kind of machine.

Loading runs the machine code that is in the bytes, so load only what you trust.

The bytes are: magic with the version of this format, the SHA-256 of the rest, the length of a header, the header
(JSON), the arrays that the program takes besides its arguments, and jaxlib's executable.
"""
from __future__ import annotations

import hashlib
import io
import json
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.interfaces import LowerSpec
from jax_core.programs.stages import Compiled
from jax_core.references.primitives import is_ref
from jax_core.representation.aval import ShapedArray
from jax_core.representation.dtypes import dtype_named
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, Var

from ..compiling import compile
from ..jaxlib_compat import VERSION_TEXT, _jax
from ..lowering.facts import Facts
from ..placement.described_shardings import describe, in_types, on_mesh
from ..placement.mesh import Mesh
from ..placement.sharding import NamedSharding, Sharding, from_hlo, make_single_device_sharding
from ..platforms import client
from .executable import Executable
from .loaded_program import LoadedProgram

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef

_MAGIC = b"jaxexc2\n"


def serialize(compiled: Any) -> tuple[bytes, Any, Any]:
    """A result of ``jit(f).lower(...).compile()`` as bytes, and the structures of its arguments and results.

    XLA compiles once more for it: an executable that came out of the compilation cache cannot be written again.

    Raises:
      ValueError: the program calls Python functions, has ordered effects, takes or returns random keys or float0, or works on mutable
        references that it closes over, which are not part of it.

    >>> from jax.experimental import serialize_executable
    >>> compiled = jax.jit(lambda x: x * 2).lower(jnp.arange(3.)).compile()
    >>> payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    >>> type(payload).__name__, out_tree
    ('bytes', PyTreeDef(*))
    """
    executable = compiled._executable
    current = executable.current
    module, facts = current.module, current.facts
    problems = {"mutable references that it closes over": [c for c in compiled._closed.consts if is_ref(c)],
                "calls of Python functions": facts.host_callbacks, "ordered effects": facts.ordered_effects,
                "random keys or float0 among its arguments or results": (*facts.converted_in, *facts.converted_out)}
    for what, there in problems.items():
        if there:
            raise ValueError(f"serialize: the compiled program {module.name} has {what}, which cannot be stored")
    avals = lambda items: [[a.dtype.name, list(a.shape), a.weak_type] for a in items]
    header = json.dumps(dict(
        name=executable.spec.name, jaxlib=VERSION_TEXT, platform=client.platform_of(current.devices[0].client), devices=len(current.devices),
        places=[d.id for d in current.devices],
        kept=list(facts.kept), donated=list(facts.donated), committed=current.committed, flat=avals(facts.flat_in_avals),
        outs=avals(facts.out_avals), ins_lie=list(map(_described, current.in_shardings)), outs_lie=list(map(_described, current.out_shardings)),
        donated_arguments=[bool(d) for d in compiled._donated])).encode()
    arrays = io.BytesIO()
    np.savez(arrays, *[np.asarray(c).view(np.uint8) if np.asarray(c).dtype.kind == "V" else np.asarray(c) for c in facts.consts])
    code = executable.compile_anew().serialize()
    rest = b"".join([struct.pack("<QQ", len(header), arrays.tell()), header, arrays.getvalue(), code])
    return _MAGIC + hashlib.sha256(rest).digest() + rest, compiled.in_tree, compiled.out_tree


def deserialize_and_load(serialized: bytes, in_tree: PyTreeDef, out_tree: PyTreeDef, backend: object | None = None,
                         execution_devices: Sequence[Any] | None = None) -> Compiled:
    """The compiled program that `serialize` stored.

    Args:
      serialized, in_tree, out_tree: what `serialize` returned. The bytes hold machine code, which this process will run.
      backend: name of a platform, or a client; default the default one.
      execution_devices: where it shall run; default where it was compiled for, or the first devices if this process lacks one of those.

    Raises:
      ValueError: not such bytes, damaged, from another jaxlib, or for another number of devices.

    >>> from jax.experimental import serialize_executable
    >>> compiled = jax.jit(lambda x: x * 2).lower(jnp.arange(3.)).compile()
    >>> loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    >>> loaded(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    if serialized[:8] != _MAGIC:
        raise ValueError("deserialize_and_load: these bytes are not a program that serialize of this system has written")
    digest, rest = serialized[8:40], serialized[40:]
    if hashlib.sha256(rest).digest() != digest:
        raise ValueError("deserialize_and_load: the stored program is damaged (its checksum differs)")
    header_size, arrays_size = struct.unpack_from("<QQ", rest)
    header = json.loads(rest[16:16 + header_size])
    if header["jaxlib"] != VERSION_TEXT:
        raise ValueError(f"deserialize_and_load: the program was compiled by jaxlib {header['jaxlib']}, and this is {VERSION_TEXT}; "
                         "compile it again, or keep programs with jax.export, which other versions read")
    arrays, code = rest[16 + header_size:16 + header_size + arrays_size], rest[16 + header_size + arrays_size:]
    on = client.get_client(backend)
    here = client.platform_of(on)
    if header["platform"] != here:
        raise ValueError(f"deserialize_and_load: the program was compiled for {header['platform']}, and not for {here}")
    devices = _home(on.local_devices(), header) if execution_devices is None else tuple(execution_devices)
    if len(devices) != header["devices"]:
        raise ValueError(f"deserialize_and_load: the program is for {header['devices']} devices, and there are {len(devices)}")
    loaded = on.deserialize_executable(code, _jax.DeviceList(devices), compile.compile_options(devices))
    executable = _StoredExecutable(_module(header, arrays), loaded, devices, header["committed"], header["ins_lie"], header["outs_lie"])
    taken, given = ([Var(aval) for aval in avals] for avals in (executable.facts.flat_in_avals, executable.facts.out_avals))
    types = ClosedJaxpr(Jaxpr([], taken, given, []))  # the equations are gone; only the types are read
    program: Any = SimpleNamespace(_closed=types, in_tree=in_tree, out_tree=out_tree, fun_name=header["name"],
                              _donated=tuple(header["donated_arguments"]))
    return Compiled(program, executable)


def _home(local: Sequence[Any], header: dict) -> tuple:
    """The devices that the program was compiled for, in their order, as its arguments lie there; else the first ones."""
    there, places = {d.id: d for d in local}, header.get("places", [])
    return tuple(there[i] for i in places) if places and there.keys() >= set(places) else tuple(local[:header["devices"]])


def _described(sharding: Sharding) -> dict | None:
    """The placement as data; None where XLA's form of it, which the code has, says all."""
    return describe(sharding) if isinstance(sharding, NamedSharding) and sharding.num_devices > 1 else None


def _placed(description: dict | None, devices: tuple) -> Any:
    """The placement on ``devices``, in the order of the mesh."""
    if description is None:
        return None
    there = in_types(description).mesh
    return on_mesh(description, Mesh(np.array(devices).reshape(there.axis_sizes), there.axis_names, there.axis_types if "kinds" in description else None))


def _module(header: dict, arrays: bytes) -> Any:
    """What an `Executable` reads of a lowered module."""
    avals = lambda items: [ShapedArray(tuple(shape), dtype_named(name), weak) for name, shape, weak in items]
    flat = avals(header["flat"])
    with np.load(io.BytesIO(arrays), allow_pickle=False) as file:
        consts = [file[name] for name in file.files]
    return SimpleNamespace(name=f"jit_{header['name']}", platform=header["platform"], facts=Facts(
        flat, tuple(header["kept"]), [flat[i] for i in header["kept"]], avals(header["outs"]), consts, donated=tuple(header["donated"])))


class _StoredExecutable(Executable):
    """An executable that is compiled already, for certain devices."""

    def __init__(self, module: Any, loaded: Any, devices: tuple, committed: bool, ins: list, outs: list):
        spec = LowerSpec(module.name.removeprefix("jit_"))
        super().__init__(module, spec, None, ())  # type: ignore[arg-type]
        if len(devices) == 1:
            here: list[Any] = [make_single_device_sharding(devices[0])] * len(module.facts.kept)
        else:
            where = _jax.DeviceList(devices)
            here = [_placed(told, devices) or from_hlo(s, where, None, a.ndim)
                    for told, s, a in zip(ins, loaded.get_parameter_shardings(), module.facts.in_avals)]
        self._first = LoadedProgram.of(loaded, module, devices, here, committed, [_placed(told, devices) for told in outs])

    def _variant(self, devices: tuple, ins: list | None, committed: bool, layouts: Any) -> Any:
        return self._first


__all__ = ["deserialize_and_load", "serialize"]
