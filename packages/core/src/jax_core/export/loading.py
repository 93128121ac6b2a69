"""`deserialize`: exported programs from bytes; the formats are described in `container` and `public_format`."""
from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import Any

from .. import backends
from . import public_format, symbols, templates
from .container import EARLIER, MAGIC, tree_from_json, types_from_json, with_placements
from .exported import (
    DisabledSafetyCheck,
    Exported,
    maximum_supported_calling_convention_version as latest,
    minimum_supported_calling_convention_version as earliest,
)
from .flat_records import Record

_MODULE = b"ML\xefR"  # what portable artifacts begin with


def deserialize(blob: bytes | bytearray) -> Exported:
    """The program that `Exported.serialize` stored, here or, with the package `flatbuffers`, in the public jax.

    Raises:
      ValueError: the bytes are not such a program, are damaged, or come from a later version of the format.
      NotImplementedError: a program of the public jax has effects, or is placed as no `NamedSharding` says.

    >>> data = jax.export.export(jax.jit(lambda x: x + 1))(jax.ShapeDtypeStruct((), jnp.float32)).serialize()
    >>> jax.export.deserialize(data).call(jnp.float32(2.0))
    Array(3., dtype=float32)
    """
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise TypeError(f"deserialize: expected the bytes that Exported.serialize returns, got {blob!r} of type {type(blob).__name__}")
    data = bytes(blob)
    if data[:6] != MAGIC[:6]:
        return _in_public_format(data)
    if data[:8] not in (MAGIC, EARLIER):
        raise ValueError(f"deserialize: the program is stored in format {data[6:7].decode()!r}, and this version reads "
                         f"{MAGIC[6:7].decode()!r}; load it with a later version")
    digest, rest = data[8:40], data[40:]
    if hashlib.sha256(rest).digest() != digest:
        raise ValueError("deserialize: the stored program is damaged (its checksum differs)")
    (size,) = struct.unpack_from("<Q", rest)
    header, position = json.loads(rest[8:8 + size]), 8 + size
    blobs = []
    for length in header["blobs"]:
        blobs.append(rest[position:position + length])
        position += length
    version = header["calling_convention_version"]
    scope = symbols.SymbolicScope(header["constraints"])
    ins, outs = (types_from_json(header[f"{side}_avals"], header.get(f"{side}_types"), scope) for side in ("in", "out"))
    inner = None if header["vjp"] is None else deserialize(blobs[header["vjp"]])
    if inner is not None and (len(inner.in_avals), len(inner.out_avals)) != (len(ins) + len(outs), len(ins)):
        inner = None  # of the earlier format, with integers: it takes and gives fewer cotangents
    return Exported(
        header["fun_name"], tree_from_json(header["in_tree"]), ins, tree_from_json(header["out_tree"]), outs, header["platforms"],
        [DisabledSafetyCheck(c) for c in header["disabled_checks"]], _modules(header, blobs, scope), header["kept"], version,
        _get_vjp=None if inner is None else lambda _: inner, nr_devices=header["devices"], _in_placements=header["in_placements"],
        _out_placements=header["out_placements"], _calls_such=header.get("calls_such", False))


def _modules(header: dict, blobs: list[bytes], scope: Any) -> dict:
    same_compiler = header["compiler"] == backends.get().exporting.compiler_version()
    found: dict = {}
    for item in header["modules"]:
        if item["template"]:
            module: Any = templates.from_json(zlib.decompress(blobs[item["text"]]).decode(), scope)
        elif same_compiler:
            module = zlib.decompress(blobs[item["text"]]).decode()
        else:
            module = backends.get().exporting.module_of_artifact(blobs[item["artifact"]])
        found.update((platform, module) for platform in item["platforms"])
    return found


def _in_public_format(data: bytes) -> Exported:
    if _MODULE not in data:
        raise ValueError("deserialize: these bytes are not a program that Exported.serialize has written")
    try:
        root = Record.root(data)
        if not root.octets(13).startswith(_MODULE):
            raise IndexError("the module is missing")
        return _of_record(root)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"deserialize: these bytes are no exported program, or a damaged one ({error})") from None


def _of_record(root: Record) -> Exported:
    version, devices, name = root.number(14, "u16"), max(root.number(18, "u32"), root.number(6, "u16"), 1), root.text(1)
    if not earliest <= version <= latest:
        raise ValueError(f"deserialize: {name} was exported with version {version} of the calling convention, and this system has versions "
                         f"{earliest} to {latest}; export it anew")
    if root.records(10) or root.records(11):
        raise NotImplementedError(f"deserialize: the program {name} has effects; only programs without can be called")
    scope = symbols.SymbolicScope()
    ins, outs = ([public_format.type_of(r, scope) for r in root.records(field)] for field in (3, 5))
    in_places, out_places = ([public_format.placement_of(r, a.ndim, devices) for r, a in zip(root.records(field), avals)]
                             for field, avals in ((7, ins), (8, outs)))
    typed_ins, typed_outs = (with_placements(avals, [p if p is not None and "kinds" in p else None for p in places])
                             for avals, places in ((ins, in_places), (outs, out_places)))
    platforms, kept, artifact = root.texts(9), root.numbers(15, "u16"), root.octets(13)
    taken, nested = [ins[i] for i in kept], root.record(17)
    if len(platforms) == 1 and not any(symbols.is_symbolic_dim(d) for a in ins for d in a.shape):
        modules: dict = {platforms[0]: backends.get().exporting.module_of_artifact(artifact)}
    else:
        modules = {p: public_format.OpenModule(artifact, taken, i if len(platforms) > 1 else None) for i, p in enumerate(platforms)}
    inner = None if nested is None else _of_record(nested)
    in_tree, out_tree = (tree_from_json(public_format.tree_item(root.record(field))) for field in (2, 4))
    return Exported(name, in_tree, typed_ins, out_tree, typed_outs, platforms, list(map(DisabledSafetyCheck, public_format.checks_of(root))),
                    modules, kept, version, _get_vjp=None if inner is None else lambda _: inner, nr_devices=devices,
                    _in_placements=in_places, _out_placements=out_places)
