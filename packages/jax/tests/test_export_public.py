"""`jax.export` and files of the public jax: those that it wrote are read, and what is written in its format has the same fields."""
import base64
import json
import struct
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.array_serialization.pytree_serialization_utils import deserialize_pytreedef, serialize_pytreedef
from jax_core.export.flat_records import Field, Record, to_bytes
from jax_core.representation.dtypes import dtype_named
from record_public_exports import ARGUMENTS, FILE, KEPT_DERIVATIVES, ROWS, SQUARE, VALUES, programs, with_open_shapes

pytest.importorskip("flatbuffers", reason="reads and writes files of the public jax, which needs flatbuffers")
pytestmark = pytest.mark.any_code
NEW = "0.10.2"  # the compilers that the tests run with read each other's modules only of this version and older ones
RECORDED = {(version, name): base64.b85decode(text) for version, files in json.loads(FILE.read_text()).items() for name, text in files.items()}


@pytest.fixture
def public_format():
    jax.config.update("jax_write_public_formats", True)
    yield
    jax.config.update("jax_write_public_formats", False)


@pytest.mark.parametrize(("version", "name"), [key for key in RECORDED if key[1] in VALUES])
def test_values(version, name):
    program = jax.export.deserialize(bytearray(RECORDED[version, name]))
    (args, kwargs), want = ARGUMENTS[name], VALUES[name]
    again = jax.export.deserialize(program.serialize())  # is written as it was read
    if name in ("split", "typed"):
        mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto if name == "split" else jax.sharding.AxisType.Explicit,) * 2)
        args = (jax.device_put(SQUARE, program.in_shardings_jax(mesh)[0]),)
    for call in (program.call, jax.jit(program.call), again.call):
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5), call(*args, **kwargs), want)


def test_keys():
    program = jax.export.deserialize(RECORDED[NEW, "keys"])
    keys = jax.random.split(jax.random.key(1), 3)
    np.testing.assert_array_equal(program.call(keys), jax.random.key_data(keys))
    assert program.in_avals[0].dtype == keys.dtype


@pytest.mark.parametrize("version", ["0.6.2", NEW])
def test_derivatives(version):
    program = jax.export.deserialize(RECORDED[version, "derivative"])
    first = jax.grad(program.call)
    np.testing.assert_allclose(first(ROWS), 3 * ROWS ** 2, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: first(x).sum())(ROWS), 6 * ROWS, rtol=1e-6)
    assert not program.vjp().vjp().has_vjp()


def test_derivatives_of_programs_with_integers():
    """Each argument and result has a cotangent, that of an integer is float0; so it is in files of either system."""
    of = programs(jax)["integers"]
    for program in (jax.export.deserialize(RECORDED[NEW, "integers"]), of, jax.export.deserialize(of.serialize(vjp_order=2))):
        slope = jax.grad(lambda x: program.call(np.int32(1), x)[1].sum())
        np.testing.assert_allclose(slope(ROWS), 2 * ROWS, rtol=1e-6)
        np.testing.assert_allclose(jax.grad(lambda x: (slope(x) * ROWS).sum())(ROWS), 2 * ROWS, rtol=1e-6)
        given, found = ([a.dtype.name if a.dtype != jax.dtypes.float0 else "float0" for a in avals] for avals in (program.vjp().in_avals, program.vjp().out_avals))
        assert given == ["int32", "float32", "float0", "float32", "float0"] and found == ["float0", "float32"]


@pytest.mark.parametrize("version", ["0.6.2", NEW])
def test_open_shapes(version):
    program = jax.export.deserialize(RECORDED[version, "shapes"])
    assert str(program.in_avals[0].shape) == "(a, 2*b + 1)" and program.uses_global_constants
    assert program.call(np.ones((4, 7), np.float32)).shape == (4, 7)
    with pytest.raises(ValueError, match="2\\*b"):
        program.call(np.ones((4, 6), np.float32))
    assert jax.export.deserialize(RECORDED[version, "both"]).platforms == ("tpu", "cpu")


def test_platform_of_another():
    program = jax.export.deserialize(RECORDED[NEW, "platforms"])
    lowered = jax.jit(program.call).trace(ROWS).lower(lowering_platforms=("cuda",)).as_text()
    assert "2.000000e+00" in lowered and "1.000000e+00" not in lowered
    with pytest.raises(ValueError, match="exported for platforms"):
        jax.jit(program.call).trace(ROWS).lower(lowering_platforms=("tpu",))


@pytest.mark.parametrize("where", [1, 2, 3, 4])
def test_other_placements(where):
    """Tiles that XLA counts in another order are put on a mesh made for them."""
    from jax_xla_backend.placement.described_shardings import of_hlo, on_mesh

    P = jax.P
    spec = {1: P(("y", "x")), 2: P(None, "x"), 3: P(("x", "y"), None), 4: P("y", None)}[where]
    mesh = jax.make_mesh((2, 4), ("x", "y"))
    sharding = jax.NamedSharding(mesh, spec)
    data = sharding._to_xla_hlo_sharding(2).to_proto().SerializeToString()
    made = on_mesh(of_hlo(data, 2, 8), mesh)
    assert made.is_equivalent_to(sharding, 2) and made.mesh.axis_names != mesh.axis_names
    with pytest.raises(ValueError, match="on 8 devices"):
        on_mesh(of_hlo(data, 2, 8), jax.make_mesh((2,), ("x",)))


# -- writing -----------------------------------------------------------------------------------------------------------------

def tree(record):
    return record.number(0, "u8"), [tree(r) for r in record.records(1)], record.texts(2), record.text(3), record.octets(4)


def placement(record):
    mesh, spec = record.record(0), record.record(1)
    device = mesh.record(3) if 2 in mesh.numbers(2, "u8") else None  # of a mesh that types do not name we do not keep it
    return (mesh.numbers(0, "u32"), mesh.texts(1), mesh.numbers(2, "u8"), device and (device.text(0), device.number(1, "u32"), device.text(2)),
            [part.texts(0) for part in spec.records(0)], spec.texts(1), spec.texts(2), record.text(2))


def fields(root):
    """What a file says, but for the module and the names of versions."""
    types = [[(r.texts(1), r.number(2, "u8"), r.number(3, "u8")) for r in root.records(k)] for k in (3, 5, 19)]
    old = [[(r.number(0, "u8"), r.record(2) and placement(r.record(2))) for r in root.records(k)] for k in (7, 8)]
    known = [placement(r) for r in root.records(21)]
    named = [[known[i - 1] if i else None for i in root.numbers(k, "u32")] for k in (24, 25)]
    inner = root.record(17)
    return (root.number(0, "u16"), tree(root.record(2)), tree(root.record(4)), types, old, named, len(root.records(20)), root.texts(9), root.number(14, "u16"),
            root.numbers(15, "u16"), root.number(16, "u8"), root.number(18, "u32"), root.numbers(22, "u32"), root.numbers(23, "u32"), inner and fields(inner))


@pytest.mark.parametrize("name", programs(jax))
def test_written(name, public_format):
    exported = programs(jax)[name]
    data = exported.serialize(vjp_order=KEPT_DERIVATIVES.get(name, 0))
    assert fields(Record.root(bytes(data))) == fields(Record.root(RECORDED[NEW, name]))
    if name in VALUES:
        args, kwargs = ARGUMENTS[name]
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5), jax.export.deserialize(data).call(*args, **kwargs), VALUES[name])


def test_every_dtype(public_format):
    names = ["bool", "int4", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "complex64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"]
    args = [jax.ShapeDtypeStruct((2,), dtype_named(name)) for name in names]
    again = jax.export.deserialize(jax.export.export(jax.jit(lambda *xs: xs))(*args).serialize())
    assert [a.dtype.name for a in again.in_avals] == [a.dtype.name for a in again.out_avals] == names


def test_several_modules_and_meshes_are_one(public_format):
    """Platforms whose programs differ share the file, also on a mesh and with functions of their own."""
    mesh = jax.make_mesh((8,), ("x",))

    def f(x):
        inner = jax.jit(lambda y: jax.lax.platform_dependent(y, cpu=jnp.sin, default=jnp.cos))
        return inner(x) + inner(x + 1), x.sum()
    f = jax.jit(f, in_shardings=jax.NamedSharding(mesh, jax.P("x")))
    exported = jax.export.export(f, platforms=["cuda", "cpu"])(jax.ShapeDtypeStruct((8,), np.float32))
    x = np.arange(8, dtype=np.float32)
    y, total = jax.export.deserialize(exported.serialize()).call(x)
    np.testing.assert_allclose(y, np.sin(x) + np.sin(x + 1), rtol=1e-5)
    assert total == 28 and y.sharding.num_devices == 8


def test_what_it_cannot_hold(public_format):
    with pytest.raises(NotImplementedError, match="symbolic shapes"):
        with_open_shapes(jax)["shapes"].serialize()
    with pytest.raises(TypeError, match="strings only"):
        jax.export.export(jax.jit(lambda d: d))({1: ROWS}).serialize()


def test_structures_of_checkpoints(public_format):
    """The text is the public jax', 0.12, for the same tree."""
    text = (
        "BAAAALb///8MAAAAMAAAAAAAAAQDAAAAHAAAABAAAAAEAAAAAQAAAGsAAAABAAAAYgAAAAEAAABhAAAAAwAAAIwAAABAAAAAEAAAAAAACgAQAA8ACAAEAAoA"
        "AAAMAAAAGAAAAAAAAAQBAAAABAAAAAEAAAB4AAAAAQAAAAQAAAC4////6P///wgAAAAAAAADAgAAADAAAAAMAAAACAAMAAsABAAIAAAACAAAAAAAAAICAAAA"
        "DAAAAAQAAAD0////+P////z///8EAAQABAAAAA==")
    structure = jax.tree.structure({"a": 1, "b": [2, (3, 4)], "k": {"x": 5}})
    written = serialize_pytreedef(structure)
    assert written["__jax_pytreedef_repr"] == text
    jax.config.update("jax_write_public_formats", False)
    assert deserialize_pytreedef(written) == {"a": 0, "b": [1, (2, 3)], "k": {"x": 4}} == deserialize_pytreedef(serialize_pytreedef(structure))
    with pytest.raises(ValueError, match="damaged"):
        deserialize_pytreedef(written | {"__jax_pytreedef_repr": text[:40]})


# -- bad files ---------------------------------------------------------------------------------------------------------------

def test_damaged():
    data = RECORDED[NEW, "values"]
    for size in range(0, len(data), 97):
        with pytest.raises(ValueError, match="deserialize"):
            jax.export.deserialize(data[:size])


@pytest.mark.parametrize(("field", "value", "error"), [
    (14, Field("u16", 3), "version 3 of the calling convention"), (3, Field("records", [{2: Field("u8", 99)}]), "dtype number 99"),
    (10, Field("records", [{}]), "effects"), (2, Field("record", {0: Field("u8", 5), 3: Field("text", "tests.Unknown")}), "tests.Unknown")])
def test_unknown_contents(field, value, error):
    record = {2: Field("record", {}), 4: Field("record", {}), 13: Field("octets", b"ML\xefR"), 14: Field("u16", 10), 9: Field("texts", ["cpu", "tpu"]),
              0: Field("u16", 12), field: value}
    with pytest.raises((ValueError, NotImplementedError), match=error):
        jax.export.deserialize(to_bytes(record))


def test_without_flatbuffers(monkeypatch, public_format):
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(ImportError, match="install the package 'flatbuffers'"):
        jax.export.deserialize(RECORDED[NEW, "values"])
    with pytest.raises(ImportError, match="install the package 'flatbuffers'"):
        programs(jax)["values"].serialize()


def test_records():
    """Fields keep numbers of each width, text and nested records; what is left out has its default."""
    data = to_bytes({0: Field("u8", 200), 1: Field("u16", 60000), 2: Field("u32", 1 << 31), 3: Field("text", "ä"), 4: Field("octets", b"\0\1"),
                     5: Field("record", {2: Field("texts", ["", "b"])}), 6: Field("u16s", [1, 65535]), 8: Field("u32s", []), 9: Field("u8s", [7])})
    root = Record.root(data)
    assert (root.number(0, "u8"), root.number(1, "u16"), root.number(2, "u32"), root.text(3), root.octets(4)) == (200, 60000, 1 << 31, "ä", b"\0\1")
    assert root.record(5).texts(2) == ["", "b"] and root.numbers(6, "u16") == [1, 65535] and root.numbers(8, "u32") == [] and root.numbers(9, "u8") == [7]
    assert root.number(7, "u32") == 0 and root.record(7) is None and root.records(7) == []
    with pytest.raises(struct.error):
        Record.root(data[:-20] + b"\xff" * 20).text(3)
