"""`deserialize`: exported programs from bytes; the format is described in `container`."""
from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import Any

from .. import backends
from . import symbols, templates
from .container import MAGIC, tree_from_json, types_from_json
from .exported import DisabledSafetyCheck, Exported


def deserialize(blob: bytes | bytearray) -> Exported:
    """The program that `Exported.serialize` stored.

    Raises:
      ValueError: the bytes are not such a program, are damaged, or come from a later version of this format.

    >>> data = jax.export.export(jax.jit(lambda x: x + 1))(jax.ShapeDtypeStruct((), jnp.float32)).serialize()
    >>> jax.export.deserialize(data).call(jnp.float32(2.0))
    Array(3., dtype=float32)
    """
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise TypeError(f"deserialize: expected the bytes that Exported.serialize returns, got {blob!r} of type {type(blob).__name__}")
    data = bytes(blob)
    if data[:6] != MAGIC[:6]:
        raise ValueError("deserialize: these bytes are not a program that Exported.serialize of this system has written")
    if data[:8] != MAGIC:
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
    inner = None if header["vjp"] is None else deserialize(blobs[header["vjp"]])
    return Exported(
        header["fun_name"], tree_from_json(header["in_tree"]), types_from_json(header["in_avals"], header.get("in_types"), scope),
        tree_from_json(header["out_tree"]), types_from_json(header["out_avals"], header.get("out_types"), scope), header["platforms"],
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
