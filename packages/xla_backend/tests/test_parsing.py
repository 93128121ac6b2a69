"""Programs are read in contexts that stay: never in one that another compilation uses, and never for ever in the same."""
import itertools

import numpy as np
import pytest

from jax_xla_backend.compiling import compile, parsing
from programs import array, doubled, jitted

PROGRAM = "func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.sine %a : tensor<3xf32>\n return %0 : tensor<3xf32> }"


@pytest.fixture(autouse=True)
def later(monkeypatch):
    """As in a process that has compiled much, with no context yet."""
    monkeypatch.setattr(parsing, "_count", itertools.count(parsing.MANY))
    monkeypatch.setattr(parsing, "_free", [])


def context_of(module):
    assert not isinstance(module, str)
    return module.context


def test_the_first_programs_of_a_process_load_nothing(monkeypatch):
    monkeypatch.setattr(parsing, "_count", itertools.count())
    read = [type(parsing.read(PROGRAM, lambda m: m)) is str for _ in range(parsing.MANY + 2)]
    assert read == [True] * parsing.MANY + [False] * 2


def test_a_context_serves_one_program_after_the_other():
    assert parsing.read(PROGRAM, context_of) is parsing.read(PROGRAM, context_of)


def test_two_compilations_at_once_share_no_context():
    outer, inner = parsing.read(PROGRAM, lambda m: (context_of(m), parsing.read(PROGRAM, context_of)))
    assert outer is not inner and len(parsing._free) == 2


def test_a_context_is_dropped_that_has_read_much():
    program = PROGRAM + "// " + "-" * (parsing.LARGE * 2 // 5)
    contexts = [parsing.read(program, context_of) for _ in range(6)]
    assert [a is b for a, b in zip(contexts, contexts[1:])] == [True, True, False, True, True]


def test_no_context_is_kept_where_the_compiler_fails():
    def fails(module):
        raise RuntimeError("no")
    with pytest.raises(RuntimeError, match="^no$"):
        parsing.read(PROGRAM, fails)
    assert not parsing._free


@pytest.mark.parametrize("text", [PROGRAM + "// " + "-" * parsing.LARGE, PROGRAM.replace("stablehlo", "unheard_of"), "not a program"],
                         ids=["long", "unknown_dialect", "no_program"])
def test_other_texts_are_for_the_compiler(text):
    assert parsing.read(text, lambda m: m) is text


def test_programs_read_so_run():
    compile.clear()  # other tests run the same program
    np.testing.assert_array_equal(jitted(doubled())(array(1, 2, 3, 4)), [2, 4, 6, 8])
    (context, left), = parsing._free
    assert left < parsing.LARGE
