"""Integers that the compiler divides while it simplifies a program: no divisor of 0 ends the process.

The programs run in a process of their own, as the mistake would end this one. Each row says what XLA defines: all bits set for a
quotient by 0, the dividend for a remainder; the lowest integer by -1 is itself, and leaves 0.
"""
import json
import subprocess
import sys

import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.jaxlib_compat import CONSTANTS_BY_ZERO_TRAP

FULL = "jnp.full(3, {}, jnp.{})"
BY_DTYPE = {
    f"{op} {x} {y} {dtype}": (f"lambda: lax.{op}({FULL.format(x, dtype)}, {FULL.format(y, dtype)})", [out] * 3)
    for dtype, ones, lowest in (("int4", -1, -8), ("int8", -1, -128), ("int16", -1, -2**15), ("int32", -1, -2**31), ("int64", -1, -2**63),
                                ("uint8", 255, None), ("uint16", 2**16 - 1, None), ("uint32", 2**32 - 1, None), ("uint64", 2**64 - 1, None))
    for op, x, y, out in (("div", 5, 0, ones), ("rem", 5, 0, 5), ("div", 0, 0, ones), ("div", lowest, -1, lowest), ("rem", lowest, -1, 0))
    if x is not None}

ROUTES = {
    "scalars": ("lambda: lax.div(jnp.int32(5), jnp.int32(0))", -1),
    "floor_divide": ("lambda: jnp.full(3, 5) // 0", [-1] * 3),
    "mod": ("lambda: jnp.full(3, 5) % 0", [0] * 3),
    "divmod": ("lambda: jnp.divmod(jnp.full(2, 5), 0)", [[-1, -1], [0, 0]]),
    "fmod": ("lambda: jnp.fmod(jnp.full(3, 5), 0)", [0] * 3),
    "different elements": ("lambda: lax.div(np.array([5, 6, 7]), np.array([0, 2, -1]))", [-1, 3, -7]),
    "x - x": ("lambda: (lambda x: lax.div(jnp.full(3, 5), x - x))", [-1] * 3),
    "x * 0": ("lambda: (lambda x: lax.div(jnp.full(3, 5), x * 0))", [-1] * 3),
    "x ^ x": ("lambda: (lambda x: lax.rem(jnp.full(3, 5), x ^ x))", [5] * 3),
    "x & 0": ("lambda: (lambda x: lax.rem(x | -1, x & 0))", [-1] * 3),
    "scan": ("lambda: lax.scan(lambda c, _: (lax.div(c, jnp.zeros(2, int)), c), jnp.full(2, 5), length=2)[1]", [[5, 5], [-1, -1]]),
    "carry": ("lambda: lax.scan(lambda c, _: (c, lax.div(jnp.full(1, 5), c)), jnp.zeros(1, int), length=2)[1]", [[-1], [-1]]),
    "one step": ("lambda: lax.fori_loop(0, 1, lambda i, c: c + 5 // i, 0)", -1),
    "while": ("lambda: lax.while_loop(lambda i: i < 7 // (i * 0), lambda i: i + 1, 3)", 3),
    "map": ("lambda: lax.map(lambda x: 5 // x, jnp.zeros(3, int))", [-1] * 3),
    "branch": ("lambda: (lambda x: lax.cond(x[0] == 1, lambda: 5 // jnp.int64(0), lambda: jnp.int64(2)))", -1),
    "vmap": ("lambda: jax.vmap(lambda y: 5 // y)(jnp.zeros(3, int))", [-1] * 3),
    "static remainder": ("lambda: 7 % jnp.zeros(3, int)", [0] * 3),
    "power": ("lambda: jnp.zeros(3, int) ** jnp.full(3, -1)", [0] * 3),
    "not constant": ("lambda: (lambda x: lax.div(x, x - 2))", [-1, -1, 3]),
}

PROGRAM = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
from jax import lax
jax.config.update("jax_enable_x64", True)
for text in json.load(sys.stdin):
    f = eval(text)
    inner = f() if text.startswith("lambda: (lambda") else None
    out = jax.jit(f)() if inner is None else jax.jit(inner)(jnp.arange(1, 4))
    print(json.dumps(jax.tree.map(lambda x: np.asarray(x).astype(object).tolist(), out)), flush=True)
"""


@pytest.fixture(scope="module")
def results() -> list:
    texts = [text for text, _ in (BY_DTYPE | ROUTES).values()]
    ran = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(texts), capture_output=True, text=True, timeout=600)
    return [json.loads(line) for line in ran.stdout.splitlines()] + [f"process ended with {ran.returncode}: {ran.stderr[-500:]}"] * (len(texts))


@pytest.mark.parametrize("row", range(len(BY_DTYPE | ROUTES)), ids=list(BY_DTYPE | ROUTES))
def test_ends_with_the_value_that_xla_defines(results, row):
    assert results[row] == list((BY_DTYPE | ROUTES).values())[row][1]


DIVISIONS = {
    "div": lambda x: lax.div(x, x.dtype.type(7)), "rem": lambda x: lax.rem(x, x.dtype.type(7)), "%": lambda x: x % 7, "//": lambda x: x // 7,
    "vmap": vmap(lambda x: x % 7), "computed": lambda x: lax.rem(x, lax.sub(x.dtype.type(9), x.dtype.type(2)))}


@pytest.mark.skipif(CONSTANTS_BY_ZERO_TRAP, reason="every divisor is a choice there")
@pytest.mark.parametrize("name", DIVISIONS)
def test_a_divisor_of_integers_is_no_constant_to_the_first_stage(name):
    """It looks at each element of a constant divisor, which takes 0.3 s for 2^24; it does not look through bitcasts.

    Whatever the length, as an export with a symbolic length has one form.
    """
    def hidden(dtype, shape=(1 << 17,)):
        return jit(DIVISIONS[name]).lower(ShapeDtypeStruct(shape, dtype)).as_text().count("bitcast_convert")
    of_bytes = 4 if name in ("div", "//", "computed") else 2  # which are divided as words, of the other sign (`lowering/byte_arithmetic.py`)
    assert [hidden(dtype) for dtype in (np.int32, np.uint8, jnp.int4, np.float32)] == [2, of_bytes, 0, 0] and hidden(np.int32, (1,)) == 2


def test_many_integers_by_constants():
    x = np.arange(-70000, 70000, dtype=np.int32)
    x[:2] = -2**31, 2**31 - 1
    divisors = 7, -7, 0, -1, -2**31
    out = jit(lambda x: [(lax.div(x, np.int32(c)), lax.rem(x, np.int32(c))) for c in divisors])(x)
    wide = x.astype(np.int64)
    for c, (quotient, rest) in zip(divisors, out):
        expected = np.full_like(wide, -1) if c == 0 else np.sign(wide) * np.sign(c) * (abs(wide) // abs(c))
        np.testing.assert_array_equal(quotient, expected.astype(np.int32))
        np.testing.assert_array_equal(rest, wide - expected * c)
