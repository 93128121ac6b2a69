"""FlatBuffers without generated code: records of numbered fields, read and written by the `flatbuffers` package.

A record read is a `Record`, whose methods take a field's number. A record to be written is a dict from the numbers of its fields to `Field`.
"""
from __future__ import annotations

import struct
from typing import Any, Mapping, NamedTuple, Sequence

_WIDTHS = {"u8": 1, "u16": 2, "u32": 4}


def _library() -> Any:
    try:
        import flatbuffers  # an optional dependency: only files of the public format need it
    except ImportError:
        raise ImportError("programs in the public format of jax.export are FlatBuffers; install the package 'flatbuffers' to read or write them") from None
    return flatbuffers


# -- reading -----------------------------------------------------------------------------------------------------------------

class Record:
    """A record in ``data``. What a file leaves out has the value that a field has by default: zero, "", nothing."""

    def __init__(self, table: Any):
        self._table = table

    @classmethod
    def root(cls, data: bytes) -> "Record":
        (offset,) = struct.unpack_from("<I", data)
        return cls(_library().table.Table(bytearray(data), offset))

    def _at(self, field: int) -> int:
        offset = self._table.Offset(4 + 2 * field)
        return self._table.Pos + offset if offset else 0

    def number(self, field: int, width: str) -> int:
        at = self._at(field)
        return self._number(at, width) if at else 0

    def _number(self, at: int, width: str) -> int:
        size = _WIDTHS[width]
        return int.from_bytes(self._bytes(at, size), "little")

    def _bytes(self, at: int, size: int) -> bytes:
        data = self._table.Bytes
        if at < 0 or at + size > len(data):
            raise struct.error("a field lies outside of the file")
        return bytes(data[at:at + size])

    def _vector(self, field: int) -> tuple[int, int]:
        """Where the elements begin, and how many there are."""
        at = self._at(field)
        if not at:
            return 0, 0
        start = at + self._number(at, "u32")
        return start + 4, self._number(start, "u32")

    def octets(self, field: int) -> bytes:
        return self._bytes(*self._vector(field))

    def text(self, field: int) -> str:
        return self.octets(field).decode()

    def numbers(self, field: int, width: str) -> list[int]:
        start, count = self._vector(field)
        raw, size = self._bytes(start, count * _WIDTHS[width]), _WIDTHS[width]
        return [int.from_bytes(raw[i:i + size], "little") for i in range(0, len(raw), size)]

    def record(self, field: int) -> "Record | None":
        at = self._at(field)
        return self._record(at) if at else None

    def _record(self, at: int) -> "Record":
        return Record(_library().table.Table(self._table.Bytes, at + self._number(at, "u32")))

    def records(self, field: int) -> "list[Record]":
        start, count = self._vector(field)
        self._bytes(start, 4 * count)
        return [self._record(start + 4 * i) for i in range(count)]

    def texts(self, field: int) -> list[str]:
        start, count = self._vector(field)
        found = []
        for at in range(start, start + 4 * count, 4):
            text = at + self._number(at, "u32")
            found.append(self._bytes(text + 4, self._number(text, "u32")).decode())
        return found


# -- writing -----------------------------------------------------------------------------------------------------------------

class Field(NamedTuple):
    """A value to be written. Kinds: u8, u16, u32, octets, text, record, and u8s, u16s, u32s, texts, records for sequences."""

    kind: str
    value: Any


def to_bytes(record: Mapping[int, Field]) -> bytes:
    """The file whose root is this record."""
    builder = _library().Builder(1024)
    builder.ForceDefaults(False)
    builder.Finish(_written(builder, record))
    return bytes(builder.Output())


def _written(builder: Any, record: Mapping[int, Field]) -> int:
    """Where the record was written; what it refers to must be there before."""
    refers = {field: _value(builder, *value) for field, value in record.items() if value.kind not in _WIDTHS}
    builder.StartObject(max(record, default=-1) + 1)
    for field, (kind, value) in record.items():
        if kind in _WIDTHS:
            {"u8": builder.PrependUint8Slot, "u16": builder.PrependUint16Slot, "u32": builder.PrependUint32Slot}[kind](field, value, 0)
        else:
            builder.PrependUOffsetTRelativeSlot(field, refers[field], 0)
    return builder.EndObject()


def _value(builder: Any, kind: str, value: Any) -> int:
    if kind == "octets":
        return builder.CreateByteVector(value)
    if kind == "text":
        return builder.CreateString(value)
    if kind == "record":
        return _written(builder, value)
    if kind == "texts":
        return _references(builder, [builder.CreateString(x) for x in value])
    if kind == "records":
        return _references(builder, [_written(builder, x) for x in value])
    width = _WIDTHS[kind[:-1]]
    builder.StartVector(width, len(value), width)
    prepend = {1: builder.PrependUint8, 2: builder.PrependUint16, 4: builder.PrependUint32}[width]
    for x in reversed(value):
        prepend(x)
    return builder.EndVector()


def _references(builder: Any, places: Sequence[int]) -> int:
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    return builder.EndVector()
