"""Exported programs, and structures of checkpoints, as the public jax writes them: which field of its FlatBuffers holds what.

A file is one record. Its fields: 0 version of the format, 1 name, 2 and 4 structures of arguments and results, 3 and 5 their types, 6 and 18
count of devices, 7 and 8 placements, 9 platforms, 10 and 11 effects, 12 checks left out, 13 the module as a portable artifact, 14 version of
the calling convention, 15 which leaves the module takes, 16 whether it uses global constants, 17 the program's VJP. Later files
have types, meshes and placements once, in 19 to 21, and their numbers in 22 to 25; 26 is the version of jaxlib.

What is in the fields was found by looking at files. There is one module for all platforms: it takes the number of the platform first, where
there are several. Where shapes are symbolic it has unknown dimensions; such modules are read, and not written (see `templates`).
"""
from __future__ import annotations

import base64
import json
import struct
from typing import Any, Mapping, Sequence

from .. import backends
from ..representation import dtypes
from ..representation.aval import ShapedArray
from ..representation.memory import Space
from . import symbolic_shapes, symbols
from .container import aval_from_json, tree_to_json
from .flat_records import Field, Record, to_bytes

VERSION = 3  # with all fields of later ones, as the public jax from 0.10 to 0.12 reads them
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128",
           "bfloat16", "int4", "uint4", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float0",
           "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", "key<fry>", "key<rbg>", "key<urbg>")
_KEY_DATA = {"key<fry>": (2,), "key<rbg>": (4,), "key<urbg>": (4,)}
_KINDS = ("Auto", "Explicit", "Manual")  # of mesh axes, from 1
_SPACES = {Space.Device: 1, Space.Host: 2}
_LEAF, _NONE, _TUPLE, _LIST, _DICT, _OTHER = range(6)
_ORDERED = "collections.OrderedDict"
_CHECKS = ("platform", "custom_call")


# -- structures: by way of the form of `container` ---------------------------------------------------------------------------

def tree_record(item: Any) -> dict:
    """The record of a structure in the form that `tree_to_json` gives."""
    if item == "*":
        return {0: Field("u8", _LEAF)}
    if item is None:
        return {0: Field("u8", _NONE)}
    kind, *children = item
    if kind in ("tuple", "list"):
        return {0: Field("u8", _TUPLE if kind == "tuple" else _LIST), 1: Field("records", list(map(tree_record, children)))}
    keys, *children = children
    if kind == "registered":
        data, *children = children
        return _other(keys, bytes.fromhex(data), children)
    if not all(isinstance(k, str) for k in keys):
        raise TypeError(f"serialize: a dict among the arguments or results has the keys {keys}; the public format keeps strings only")
    if kind == "OrderedDict":
        return _other(_ORDERED, json.dumps(keys).encode(), children)
    return {0: Field("u8", _DICT), 1: Field("records", list(map(tree_record, children))), 2: Field("texts", keys)}


def _other(name: str, data: bytes, children: Sequence[Any]) -> dict:
    return {0: Field("u8", _OTHER), 1: Field("records", list(map(tree_record, children))), 3: Field("text", name), 4: Field("octets", data)}


def tree_item(record: Record | None) -> Any:
    """The structure in the form that `tree_from_json` takes."""
    if record is None:
        raise IndexError("a structure is missing")
    kind, children = record.number(0, "u8"), [tree_item(r) for r in record.records(1)]
    if kind == _LEAF:
        return "*"
    if kind == _NONE:
        return None
    if kind in (_TUPLE, _LIST):
        return ["tuple" if kind == _TUPLE else "list", *children]
    if kind == _DICT:
        return ["dict", record.texts(2), *children]
    name, data = record.text(3), record.octets(4)
    return ["OrderedDict", json.loads(data), *children] if name == _ORDERED else ["registered", name, data.hex(), *children]


def text_of_tree(item: Any) -> str:
    """A structure as the public jax has it in the JSON of checkpoints: a file of its own, in base64."""
    return base64.b64encode(to_bytes(tree_record(item))).decode()


def tree_of_text(text: str) -> Any:
    """What `text_of_tree` wrote.

    Raises:
      ValueError: it is damaged.
    """
    try:
        return tree_item(Record.root(base64.b64decode(text)))
    except (struct.error, IndexError) as error:
        raise ValueError(f"deserialize_pytreedef: the structure is damaged ({error})") from None


# -- types -------------------------------------------------------------------------------------------------------------------

def _type_record(aval: ShapedArray) -> dict:
    name = dtypes.name_of(aval.dtype)
    if name not in _DTYPES:
        raise NotImplementedError(f"serialize: the public format knows no dtype {name}")
    return {1: Field("texts", list(map(str, aval.shape))), 2: Field("u8", _DTYPES.index(name)), 3: Field("u8", _SPACES.get(aval.memory_space, 0))}


def type_of(record: Record, scope: symbols.SymbolicScope) -> ShapedArray:
    number = record.number(2, "u8")
    if number >= len(_DTYPES):
        raise ValueError(f"deserialize: the program has a type with the dtype number {number}, which this version does not know")
    name, shape = _DTYPES[number], [int(d) if d.lstrip("-").isdigit() else d for d in record.texts(1)]
    host = "<host>" if record.number(3, "u8") == _SPACES[Space.Host] else ""
    return aval_from_json([name, shape, "uint32", _KEY_DATA[name]] if name in _KEY_DATA else [name + host, shape], scope)


# -- placements, in the form of `backends.get().placements.describe` -----------------------------------------------------------

def _placement_record(placement: dict) -> dict:
    names, sizes = zip(*placement["axes"]) if placement["axes"] else ((), ())
    kinds = placement.get("kinds") or ["Auto"] * len(names)
    mesh = {0: Field("u32s", sizes), 1: Field("texts", names), 2: Field("u8s", [_KINDS.index(k) + 1 for k in kinds])}
    if placement.get("device") is not None:
        kind, cores, platform = placement["device"]
        mesh[3] = Field("record", {0: Field("text", kind), 1: Field("u32", cores or 0), 2: Field("text", platform or "")})
    entries = [[] if e is None else list(e) if isinstance(e, (list, tuple)) else [e] for e in placement["spec"]]
    spec = {0: Field("records", [{0: Field("texts", axes)} for axes in entries]), 1: Field("texts", placement.get("reduced", ())),
            2: Field("texts", placement.get("unreduced", ()))}
    return {0: Field("record", mesh), 1: Field("record", spec), 2: Field("text", placement.get("memory", "device"))}


def placement_of(record: Record, ndim: int, devices: int) -> dict | None:
    """The placement that a record of fields 7 and 8 tells."""
    named = record.record(2)
    if named is None:
        return backends.get().placements.of_hlo(record.octets(1), ndim, devices) if record.number(0, "u8") == 1 else None
    mesh, spec = named.record(0), named.record(1)
    if mesh is None or spec is None:
        raise ValueError("deserialize: a placement has no mesh or no partition")
    entries = [part.texts(0) for part in spec.records(0)]
    found: dict = {"axes": [list(axis) for axis in zip(mesh.texts(1), mesh.numbers(0, "u32"))],
                   "spec": [None if not e else e[0] if len(e) == 1 else e for e in entries]}
    kinds, device = [_KINDS[k - 1] for k in mesh.numbers(2, "u8")], mesh.record(3)
    if "Explicit" in kinds:
        found |= {"kinds": kinds, "device": None if device is None else [device.text(0), device.number(1, "u32") or None, device.text(2) or None]}
    for field, name in ((1, "reduced"), (2, "unreduced")):
        if spec.texts(field):
            found[name] = spec.texts(field)
    if spec.texts(2):
        found["sum"] = "SUM"
    if named.text(2) not in ("", "device"):
        found["memory"] = named.text(2)
    return found


# -- modules -----------------------------------------------------------------------------------------------------------------

class OpenModule:
    """The module of a file, seen from one platform: it takes the number of that platform first, or has unknown dimensions."""

    def __init__(self, artifact: bytes, in_avals: Sequence[ShapedArray], platform: int | None):
        self.artifact, self.in_avals, self.platform = artifact, tuple(in_avals), platform

    def fill(self, values: Mapping[str, int]) -> str:
        """The module for these values of the variables."""
        avals = [a.update(shape=symbolic_shapes.evaluate_shape(a.shape, values)) for a in self.in_avals]
        return backends.get().exporting.refined_module(self.artifact, avals, self.platform)

    def __str__(self):
        return backends.get().exporting.module_of_artifact(self.artifact)


# -- files -------------------------------------------------------------------------------------------------------------------

def checks_of(record: Record) -> list[str]:
    """The checks left out, as `DisabledSafetyCheck` names them; others are of versions that had more to check."""
    found = [(c.number(0, "u8"), c.text(1)) for c in record.records(12)]
    return [_CHECKS[kind] + (f":{target}" if kind else "") for kind, target in found if kind < len(_CHECKS)]


def write(exported: Any, vjp_order: int) -> bytes:
    """An `Exported` program as bytes.

    Raises:
      NotImplementedError: its shapes are symbolic, and it was exported here.
    """
    return to_bytes(_program_record(exported, vjp_order))


def _program_record(exported: Any, vjp_order: int) -> dict:
    n = len(exported.in_avals)
    types = list(map(_type_record, (*exported.in_avals, *exported.out_avals)))
    described = map(_placement_of_leaf, (*exported.in_avals, *exported.out_avals), (*exported._in_placements, *exported._out_placements))
    placements = [None if p is None else _placement_record(p) for p in described]
    known_types, known_placements = _distinct(types), _distinct([p for p in placements if p is not None])
    numbers = [0 if p is None else known_placements.index(p) + 1 for p in placements]
    both = [{} if p is None else {2: Field("record", p)} for p in placements]
    checks = [check._impl.partition(":") for check in exported.disabled_safety_checks]
    record = {
        0: Field("u16", VERSION), 1: Field("text", exported.fun_name),
        2: Field("record", tree_record(tree_to_json(exported.in_tree))), 3: Field("records", types[:n]),
        4: Field("record", tree_record(tree_to_json(exported.out_tree))), 5: Field("records", types[n:]),
        6: Field("u16", exported.nr_devices), 7: Field("records", both[:n]), 8: Field("records", both[n:]),
        9: Field("texts", exported.platforms), 10: Field("records", []), 11: Field("records", []),
        12: Field("records", [{0: Field("u8", _CHECKS.index(kind)), **({1: Field("text", target)} if target else {})} for kind, _, target in checks]),
        13: Field("octets", _artifact(exported)),
        14: Field("u16", exported.calling_convention_version), 15: Field("u16s", exported.module_kept_var_idx),
        16: Field("u8", int(exported.uses_global_constants)), 18: Field("u32", exported.nr_devices),
        19: Field("records", known_types), 20: Field("records", _distinct([p[0].value for p in known_placements])), 21: Field("records", known_placements),
        22: Field("u32s", [known_types.index(t) for t in types[:n]]), 23: Field("u32s", [known_types.index(t) for t in types[n:]]),
        24: Field("u32s", numbers[:n]), 25: Field("u32s", numbers[n:]), 26: Field("text", backends.get().exporting.compiler_version().split()[-1])}
    if vjp_order > 0:
        record[17] = Field("record", _program_record(exported.vjp(), vjp_order - 1))
    return record


def _placement_of_leaf(aval: ShapedArray, told: dict | None) -> dict | None:
    """The placement that is told, or that the type has."""
    return backends.get().placements.describe(aval.placement) if told is None and aval.placement is not None else told


def _distinct(records: Sequence[dict]) -> list[dict]:
    return [r for i, r in enumerate(records) if r not in records[:i]]


def _artifact(exported: Any) -> bytes:
    modules = [exported.modules[p] for p in exported.platforms]
    if isinstance(modules[0], OpenModule):
        return modules[0].artifact
    if not all(isinstance(m, str) for m in modules):
        raise NotImplementedError(f"serialize: {exported.fun_name} has symbolic shapes {exported.in_avals}, and the public format keeps such programs in a "
                                  "form that this system reads and does not write; leave jax_write_public_formats off, or export it for known shapes")
    exporting = backends.get().exporting
    return exporting.portable_artifact(modules[0]) if len(modules) == 1 else exporting.public_module(modules)
