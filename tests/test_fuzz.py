"""A short run of the fuzzer (`nox -s fuzz` is the long one), and proof that it catches and shrinks what is planted."""
import collections

import jax
import jax.numpy as jnp
import pytest
from jax_numpy_api import lax

from fuzz import checks, grammar, outcome, runner, shrink

PROGRAMS, PARTS = 10, 4


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_themselves(part):
    found = list(runner.run(20, checks.CHECKS, programs=PROGRAMS, first=part * PROGRAMS, tries=100))
    assert not found, "\n".join(map(str, found))


def test_a_seed_is_a_program():
    assert [grammar.draw(f"0.{i}") for i in range(5)] == [grammar.draw(f"0.{i}") for i in range(5)]


def test_every_category_is_drawn():
    counts = collections.Counter()
    for i in range(60):
        counts.update(grammar.draw(f"1.{i}").categories)
    assert set(grammar.templates.LINES) <= set(counts)


PLANTED = """def f(a, b):
    u = jnp.reshape(a, (-1,)) * 0.5 + jnp.cos(a)
    v = jnp.concatenate([u, b])
    w = jnp.arctan(v) * 2.0
    return w, u
args = (jnp.array([0.5, 1.25], 'float32'), jnp.array([0.25], 'float32'))
out = f(*args)"""


@pytest.mark.parametrize("rule, check", [("jvp", "derivatives"), ("reference", "NumPy")])
def test_a_planted_wrong_rule_is_caught_and_shrunk(monkeypatch, rule, check):
    wrong = {"jvp": lax.atan_p.with_rule(jvp=(lambda g, out, x: lax.mul(g, lax.cos(x)),)),
             "reference": lax.atan_p.with_rule(reference=lambda x, accuracy=None: x + 1)}[rule]
    monkeypatch.setattr(jnp, "arctan", lambda x: wrong.bind(x))
    monkeypatch.setattr(grammar, "draw", lambda seed: _program(PLANTED))
    found, = runner.run(0, {check: checks.CHECKS[check]}, programs=1)
    assert "arctan" in found.text and "cos" not in found.text and "reshape" not in found.text
    assert len(found.text.splitlines()) <= 7


def _program(text):
    body, _, route = text.rpartition("\nout = ")
    return grammar.Program(body, route, ("elementwise", "eager"), "plain")


def test_kinds_of_differences():
    """What is compared, row by row: two texts, and the kind of difference between what they give."""
    rows = [("1.0", "jnp.float32(1)", "kind"), ("jnp.ones(2)", "jnp.ones(3)", "shape"), ("jnp.int8(1)", "jnp.int16(1)", "dtype"),
            ("jnp.asarray(1.0)", "jnp.float32(1)", "weak"), ("[jnp.ones(2)]", "(jnp.ones(2),)", "tree"), ("jnp.ones(2)", "jnp.ones(2) * 1.1", "value"),
            ("jnp.ones(2)", "jnp.ones(2) * nan", "nan"), ("jnp.ones(2)", "jnp.ones(2) * inf", "infinity"), ("1 / 0", "None + 1", "class TypeError"),
            ("1", "1 / 0", "accepts what raises ZeroDivisionError"), ("1 / 0", "1", "raises ZeroDivisionError"), ("jax.random.key(0)", "jax.random.key(0)", None),
            ("jnp.ones(2) * 1.00001", "jnp.ones(2)", None), ("jnp.array([nan, inf])", "jnp.array([nan, inf])", None)]
    for got, want, kind in rows:
        found = checks.compare(outcome.run(f"out = {got}"), outcome.run(f"out = {want}"))
        assert (found[0] if found else None) == kind, (got, want, found)


def test_shrinking_keeps_what_differs():
    assert shrink.shrink(PLANTED, lambda text: "arctan" in text and "return" in text).count("\n") <= 5


def test_settings_end_with_their_program():
    outcome.run("jax.config.update('jax_enable_x64', True)\nout = 1")
    assert jnp.ones(1).dtype == jnp.float32 and not jax.config.jax_enable_x64


@pytest.mark.parametrize("program", [
    "x = jnp.float32(0.5).view('uint32')\nout = x.shape == np.asarray(x).shape == ()",
    "out = jax.jit(lambda: jnp.abs(lax.iota('complex64', 3)))().tolist() == [0, 1, 2]",  # ended the process
    "out = jax.jit(lambda: lax.iota('complex64', 3))().tolist() == [0, 1, 2]",
])
def test_found(program):
    assert outcome.run(program).leaves[0].value is True
