"""Programs as text, drawn with a seed: a function of a few lines, its arguments, and one way of running it.

    jax.config.update('jax_enable_x64', True)
    def f(a, b):
        c = jnp.tanh(a)
        d = lax.scan(lambda s, t: (s * t, s), b, c)[0]
        return c, d
    args = (jnp.array([0.5, 1.0], 'float32'), 2.0)
    out = jax.jit(f)(*args)

A line is drawn from `templates`; what it would return is asked of `jax.eval_shape`. Lines that raise are mostly drawn
again, and sometimes kept as the last one: an error is an outcome too.
"""
from __future__ import annotations

import random
import re
import warnings
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

import jax
import jax.numpy as jnp
from fuzz import devices, large, outcome, signatures, templates, users, values

ROUTES = {  # how the function is run
    "eager": "f(*args)", "jit": "jax.jit(f)(*args)", "jit of vmap": "jax.jit(jax.vmap(f, in_axes=None, axis_size=2))(*args)",
    "vmap": "jax.vmap(f)(*[jnp.stack([x, jnp.flip(x)]) for x in args])",
    "grad": "jax.grad(lambda *xs: sum(jnp.sum(y) for y in jax.tree.leaves(f(*xs)) if jnp.issubdtype(y.dtype, jnp.floating)))(*args)",
    "jvp": "jax.jvp(lambda x: f(x, *args[1:]), (args[0],), (jnp.ones_like(args[0]),))",
    "vjp": "jax.vjp(lambda x: f(x, *args[1:]), args[0])[0]",
    "linearize": "jax.linearize(lambda x: f(x, *args[1:]), args[0])[1](jnp.ones_like(args[0]))",
    "jacfwd": "jax.jacfwd(f)(*args)", "jacrev": "jax.jacrev(f)(*args)", "checkpoint": "jax.checkpoint(f)(*args)",
}
SIGNATURES = "by signature"
NESTED = "nested"
OTHER_LINES = {"large": large.SOURCE, "devices": devices.REGIONS, "split": devices.SPLIT}  # drawn instead, where they are asked for
OTHERS = 3  # further arguments of a program in stages
NEEDED = 0.3  # the share of programs that are compiled where they cannot be interpreted: one takes the time of five others
_SLOT = re.compile(r"\{(\w+)(?: ([\w,]+))?\}")


class Program(NamedTuple):
    """A text without its last line, that line's right side, and what was drawn on the way. With ``others`` the program runs in stages:
    its types, then what it computes, compiled once, of its arguments and of each of ``others``. Unless it ``compiles``, what it was
    lowered to is interpreted; where that cannot be, it is compiled (None), or has no values (False)."""
    text: str
    route: str
    categories: tuple[str, ...]
    manner: str
    others: tuple[str, ...] = ()
    compiles: bool | None = True

    @property
    def full(self) -> str:
        return f"{self.text}\nout = {self.route}"

    def apart(self) -> Iterator[Program]:
        """The stages of a program, each as a program of its own."""
        if not self.others:
            yield self
            return
        body, _, arguments = self.text.rpartition("\nargs = ")
        yield self._replace(route=f"jax.eval_shape(lambda *args: {self.route}, *args)", others=())
        for given in (arguments, *self.others):
            yield self._replace(text=f"{body}\nargs = {given}", route=f"jax.jit(lambda *args: {self.route})(*args)", others=())


class _Draw:
    """One program in the making: the variables so far, and their types."""

    def __init__(self, rng: random.Random, namespace: dict[str, Any]):
        self.rng, self.namespace, self.types = rng, namespace, {}

    def variable(self, like: Any = None, accept: Callable[[Any], bool] = lambda t: True) -> str:
        """A variable; mostly one that broadcasts with ``like``."""
        names = [n for n, t in self.types.items() if accept(t)]
        if like is not None and self.rng.random() < 0.9:
            names = [n for n in names if _fits(self.types[n].shape, like.shape)] or names
        if not names:
            raise LookupError
        return self.rng.choice(names[-3:] if self.rng.random() < 0.6 else names)

    def fill(self, template: str) -> str:
        chosen: dict[str, str] = {}
        first: list[Any] = []

        def slot(match: re.Match) -> str:
            kind, inner = match[1], match[2]
            if kind == "body":
                return self.body(inner.split(","))
            if kind == "unary":
                return self.rng.choice(templates.UNARY)
            if kind == "axis":
                return str(self.rng.choice((0, -1, -1, 0, 1, "None")))
            if kind == "dtype":
                return repr(self.rng.choice(values.DTYPES))
            if kind == "lit":
                return self.rng.choice(values.LITERALS)
            if kind == "n":
                return str(self.rng.choice((0, 1, 2, 3)))
            if kind in ("each", "pads"):
                return self.geometry(len(first[0].shape), inner)
            if kind == "mask":
                return f"({self.variable(first[0] if first else None)} > {self.rng.choice(('0', '1', '0.5'))})"
            if kind == "k" and not any(map(_is_key, self.types.values())):
                return f"jax.random.key({self.rng.randint(0, 9)})"
            if kind not in chosen:
                accept = {"f": _is_float, "g": _is_float, "i": _is_integer, "m": lambda t: len(t.shape) == 2,
                          "s": lambda t: _is_float(t) and len(t.shape) == 2 and t.shape[0] == t.shape[1], "k": _is_key}.get(
                              kind, lambda t: not _is_key(t))
                chosen[kind] = self.variable(first[0] if first else None, accept)
                first.append(self.types[chosen[kind]])
            return chosen[kind]
        return _SLOT.sub(slot, template)

    def geometry(self, rank: int, choices: str | None) -> str:
        """A tuple of ``rank`` of the ``choices``; without them the padding of as many axes."""
        if choices is None and self.rng.random() < 0.4:
            return self.rng.choice(("'SAME'", "'VALID'"))
        entries = [self.rng.choice(choices.split(",")) if choices else f"({self.rng.randint(-1, 3)}, {self.rng.randint(0, 3)})" for _ in range(rank)]
        return f"({''.join([entry + ', ' for entry in entries])})"

    def body(self, names: list[str], depth: int = 2) -> str:
        """An expression of the parameters of a lambda, mostly of the first one's shape."""
        if depth == 0 or self.rng.random() < 0.15:
            return self.rng.choice(names)
        template = self.rng.choice(templates.BODY)
        return _SLOT.sub(lambda m: self.rng.choice(values.LITERALS if m[1] == "lit" else templates.UNARY) if m[1] in ("lit", "unary")
                         else self.body(names, depth - 1), template)

    def type_of(self, line: str) -> Any:
        return jax.eval_shape(lambda given: eval(line, self.namespace | given), self.types)


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def _is_key(t: Any) -> bool:
    return jnp.issubdtype(t.dtype, jax.dtypes.prng_key) or (t.dtype == np.uint32 and t.shape == (2,))


def _is_float(t: Any) -> bool:
    return jnp.issubdtype(t.dtype, jnp.inexact)


def _is_integer(t: Any) -> bool:
    return jnp.issubdtype(t.dtype, jnp.integer)


def draw(seed: int | str, staged: float = 0.0, calls: float = 0.25, compiled: float = 1.0, nested: float = 0.0,
         instead: dict[str, float] | None = None) -> Program:
    """The program of a seed; a share of ``staged`` runs in stages, of these ``compiled`` by the compiler, one of ``calls`` is one call
    of any public function, one of ``nested`` is of `users`, and ``instead`` has the shares of `OTHER_LINES`."""
    rng = random.Random(f"program {seed}")
    for kind, share in (instead or {}).items():
        if share and rng.random() < share:
            return _draw_other(rng, kind, staged)
    if nested and rng.random() < nested:
        return _draw_nested(rng, staged, compiled)
    settings = [f"jax.config.update('{name}', {value!r})" for name, value, chance in templates.SETTINGS if rng.random() < chance]
    manner = rng.choices(("plain", "ties", "special"), (5, 3, 2))[0]
    shape = rng.choice(values.SHAPES)
    arguments = [values.argument(rng, shape if rng.random() < 0.6 else rng.choice(values.SHAPES), manner, inexact=i == 0)
                 for i in range(rng.randint(1, 3))]
    names = "abc"[:len(arguments)]
    with outcome.default_settings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace = outcome.namespace()
        exec("\n".join(settings), namespace)
        drawing = _Draw(rng, namespace)
        drawing.types = {n: jax.eval_shape(jnp.asarray, eval(text, namespace)) for n, text in zip(names, arguments)}
        lines, categories = [], []
        alone = rng.random() < calls
        for name in "u" if alone else "uvwxyz"[:rng.randint(1, 5)]:
            for _ in range(8):
                category = SIGNATURES if alone else rng.choice([*templates.LINES, SIGNATURES])
                try:
                    line = drawing.fill(signatures.template(rng) if category == SIGNATURES else rng.choice(templates.LINES[category]))
                    result = drawing.type_of(line)
                except LookupError:
                    continue
                except Exception:
                    if rng.random() > 0.03:
                        continue
                    result = None
                lines.append(f"    {name} = {line}")
                categories.append(category)
                if hasattr(result, "shape") and hasattr(result, "dtype") and result.size < 200:
                    drawing.types[name] = result
                break
            else:
                continue
            if result is None:
                break
    text = _assembled(settings, arguments, lines)
    route = rng.choice(list(ROUTES))
    in_stages = rng.random() < staged and not any("disable_jit" in line for line in settings)  # nothing is lowered without compilation
    others = [f"({', '.join(values.alike(rng, given) for given in arguments)},)" for _ in range(OTHERS)] if in_stages else []
    compiles = not others or _compiles(rng, compiled)
    how = ["in stages"] * bool(others) + ["interpreted"] * (not compiles)
    return Program(text, ROUTES[route], (*categories, route, *how), manner, tuple(others), compiles)


def _draw_other(rng: random.Random, kind: str, staged: float) -> Program:
    source = OTHER_LINES[kind]
    settings, shapes = ["jax.config.update('jax_enable_x64', True)"] * (rng.random() < source.x64), source.shapes(rng)
    arguments = [source.argument(rng, rng.choice(shapes), i == 0) for i in range(rng.randint(1, 3))]
    names = "abc"[:len(arguments)]
    with outcome.default_settings(), warnings.catch_warnings(), source.context():
        warnings.simplefilter("ignore")
        namespace = outcome.namespace()
        exec("\n".join(settings), namespace)
        drawing = _Draw(rng, namespace)
        drawing.types = {n: jax.eval_shape(lambda x: x, eval(text, namespace)) for n, text in zip(names, arguments)}
        lines = []
        for name in "uvwxyz"[:rng.randint(1, 6)]:
            for _ in range(20):
                try:
                    line = drawing.fill(rng.choice(source.lines))
                    made = drawing.type_of(line)
                except Exception:
                    continue
                if all(leaf.size <= source.elements for leaf in jax.tree.leaves(made)):
                    lines.append(f"    {name} = {line}")
                    if hasattr(made, "shape"):
                        drawing.types[name] = made
                    break
    text = _assembled(settings, arguments, lines)
    in_stages = source.in_stages and rng.random() < staged
    others = (f"({', '.join(values.alike(rng, given) for given in arguments)},)",) if in_stages else ()
    return Program(text, rng.choice(source.routes), (kind, *["in stages"] * in_stages), "plain", others)


def _assembled(settings: list[str], arguments: list[str], lines: list[str]) -> str:
    """The program of these lines, which returns what no later line uses."""
    used, names = "\n".join(lines), ", ".join("abc"[:len(arguments)])
    results = [line.split()[0] for line in lines]
    returned = [n for n in results if n == results[-1] or not re.search(rf"\b{n}\b", used.split(f"{n} =", 1)[1])]
    return "\n".join([*settings, f"def f({names}):", *lines, f"    return {', '.join(returned) or 'a'}", f"args = ({', '.join(arguments)},)"])


def _compiles(rng: random.Random, share: float) -> bool | None:
    """Whether a program is compiled: always, where that is needed (None), or never."""
    return True if rng.random() < share else None if rng.random() < NEEDED else False


def _draw_nested(rng: random.Random, staged: float, compiled: float) -> Program:
    manner, dtype = rng.choices(("plain", "ties", "special"), (6, 3, 1))[0], rng.choice(values.FLOATS)

    def arguments(manner: str) -> str:
        matrix, vector, x = (values.array(rng, shape, dtype, manner) for shape in ("(3, 3)", "(3,)", "(3,)"))
        return f"(dict(m={matrix}, b={vector}), {x},)"
    settings = ["jax.config.update('jax_enable_x64', True)"] * (dtype == "float64" or rng.random() < 0.1)
    text = "\n".join([*settings, users.body(rng), f"args = {arguments(manner)}"])
    in_stages = rng.random() < staged
    others = tuple(arguments(rng.choice(("plain", "ties"))) for _ in range(OTHERS)) if in_stages else ()
    compiles = not others or _compiles(rng, compiled)
    return Program(text, rng.choice(("f(*args)", "jax.jit(f)(*args)")), (NESTED, *["in stages"] * in_stages, *["interpreted"] * (not compiles)), manner, others, compiles)
