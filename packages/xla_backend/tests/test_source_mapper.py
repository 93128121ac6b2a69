"""Source maps of programs at each stage: they lead from a line of the program to the line of this file that wrote it."""
import json

import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_numpy_api import lax
from jax_xla_backend.tools import source_mapper
from jax_xla_backend.tools.source_mapper import hlo, jaxpr, mlir, passes
from jax_xla_backend.tools.source_mapper.source_map import MappingsGenerator, SourceMap

jax_xla_backend.load()


def written(x):
    y = jnp.sin(x)
    return jnp.cos(
        y)


def looped(x):
    return lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) * 2, x)


LINE = written.__code__.co_firstlineno


def places(dump):
    """(generated line, source, source line) of each segment."""
    lines, row, source = dump.generated_code.split("\n"), 0, 0
    for line, group in zip(lines, dump.source_map.mappings, strict=True):
        column = 0
        for segment in group:
            column, source, row = column + segment[0], source + segment[1], row + segment[2]
            assert line[:column].strip() == "" and line[column] != " "
            yield line, dump.source_map.sources[source], row


@pytest.mark.parametrize("stage, sine, cosine", [
    ("jaxpr", "sin ", "cos "), ("hlo:stable-hlo", "stablehlo.sine", "stablehlo.cosine"),
    ("hlo:original", " sine(", " cosine("), ("hlo:optimized", " sine(", " cosine(")])
@pytest.mark.parametrize("f", [written, jit(written)], ids=["plain", "jitted"])
def test_lines_lead_to_the_users(f, stage, sine, cosine):
    dump, = source_mapper.generate_sourcemaps(f, source_mapper.filter_passes(stage))(jnp.ones(3))
    assert dump.pass_name == stage
    found = list(places(dump))
    assert {file for _, file, _ in found} == {__file__}
    for operation, line in ((sine, LINE), (cosine, LINE + 1)):
        assert {row for text, _, row in found if operation in text} == {line}


def test_lines_within_an_equation_are_of_the_innermost():
    dump, = source_mapper.generate_sourcemaps(looped, source_mapper.filter_passes("jaxpr"))(1.0)
    assert len(dump.source_map.mappings) == len(dump.generated_code.split("\n"))
    rows = {text.strip().split(" ")[-1]: row for text, _, row in places(dump)}
    assert set(rows.values()) == {looped.__code__.co_firstlineno}
    assert [text for text, _, _ in places(dump)] == dump.generated_code.split("\n")[1:-1]


def test_every_pass_of_one_call():
    dumps = source_mapper.generate_sourcemaps(written, source_mapper.all_passes())(jnp.ones(3))
    assert [d.pass_name for d in dumps] == [p.name for p in source_mapper.all_passes()]
    for dump in dumps:
        assert SourceMap.from_json(dump.source_map.to_json()) == dump.source_map


def test_the_compilers_flags_reach_the_compiler():
    lowered = hlo.trace_and_lower("", written, (jnp.ones(3),), {})
    with pytest.raises(Exception, match="no_such_option"):
        hlo.optimized_generate_dump(lowered, xla_compiler_flags={"no_such_option": True})


@pytest.mark.parametrize("numbers", [(0,), (15,), (16, 0, 0, 0), (1023, 3, -7, 31), (5, 1, 2, 3, 4), (2 ** 31, 0, -2 ** 31, 1)])
def test_numbers_survive_their_letters(numbers):
    before = SourceMap(3, ["a"], [], ["n"], [[], [numbers, (1,)], [numbers]])
    assert SourceMap.from_json(before.to_json()) == before


def test_letters_are_those_of_the_format():
    encoded = SourceMap(3, [], [], [], [[(0, 0, 16, 1)], [], [(4, 0, -1, -16), (123, 0, 0, 0)]]).to_json()
    assert json.loads(encoded)["mappings"] == "AAgBC;;IADhB,2HAAA"


@pytest.mark.parametrize("mappings, complaint", [("!", "no digit"), ("AAg", "no end")])
def test_damaged_maps_are_refused(mappings, complaint):
    text = json.dumps({"version": 3, "sources": [], "sourcesContent": [], "names": [], "mappings": mappings})
    with pytest.raises(ValueError, match=complaint):
        SourceMap.from_json(text)


def test_segments_are_relative_to_those_before():
    lines = MappingsGenerator()
    with pytest.raises(RuntimeError, match="new_group"):
        lines.new_segment(1)
    lines.new_group()
    lines.new_segment(4, 0, 10, 3)
    lines.new_segment(9, 1, 8, 3)
    lines.new_group()
    lines.new_segment(2, 1, 8, 5, 6)
    assert lines.mappings() == [[(4, 0, 10, 3), (5, 1, -2, 0)], [(2, 0, 0, 2, 6)]]
    for wrong in ((), (1, 2), (1, 2, 3), (1, 2, 3, 4, 5, 6)):
        with pytest.raises(ValueError, match="1, 4 or 5"):
            lines.new_segment(*wrong)


def test_locations_are_followed_and_circles_end():
    text = ['#loc1 = loc("a.py":7:8 to :18)', '#loc2 = loc("f"(#loc1))', "#loc3 = loc(callsite(#loc2 at #loc9))",
            '#loc4 = loc("jit(f)/\\"x\\""(#loc3))', "#loc5 = loc(unknown)", '#loc6 = loc("g"(#loc5))', '#loc7 = loc("h"(#loc7))',
            '#loc8 = loc("b.py":3:1)']
    place = (0, 0, 6, 8)
    assert mlir.parse_mlir_locations(text) == ({1: place, 2: place, 3: place, 4: place, 8: (0, 1, 2, 1)}, ["a.py", "b.py"])


def test_passes_of_users():
    mine = passes.Pass("mine", lambda work_dir, f, args, kwargs, **_: f(*args), lambda result, **_: result)
    try:
        source_mapper.register_pass(mine)
        with pytest.raises(ValueError, match="'mine'"):
            source_mapper.register_pass(mine)
        assert source_mapper.generate_sourcemaps(written, source_mapper.filter_passes("mi"))(0.0) == [1.0]
    finally:
        passes._registered.pop("mine", None)


def test_flags_hold_within_and_go():
    with pytest.raises(KeyError), passes.flag_env(jax_enable_x64=True):
        assert flags.enable_x64.value
        raise KeyError
    assert not flags.enable_x64.value
    compiled = source_mapper.compile_with_env(lambda: jnp.arange(3), (), {}, {"jax_enable_x64": True}, {})
    assert compiled.out_info.dtype == np.int64


def test_file_names_are_cut_as_the_flag_says():
    before = flags.hlo_source_file_canonicalization_regex.value
    try:
        flags.update("jax_hlo_source_file_canonicalization_regex", ".*/tests/")
        assert source_mapper.canonicalize_filename(__file__) == "test_source_mapper.py"
        for dump in source_mapper.generate_sourcemaps(written, source_mapper.all_passes())(jnp.ones(3)):
            assert list(dump.source_map.sources) == ["test_source_mapper.py"]
        assert jaxpr.canonicalize_filename("elsewhere.py") == "elsewhere.py"
    finally:
        flags.update("jax_hlo_source_file_canonicalization_regex", before)
