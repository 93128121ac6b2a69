"""Ways of running a program that must agree, and how near.

A check takes a `grammar.Program` and returns what differs, as ``(kind, words)``, or None. The kind is what shrinking keeps.
"""
from __future__ import annotations

import collections
import re
import warnings
from typing import Any, Callable, Iterable

import numpy as np

import jax
import jax.flatten_util
import jax.numpy as jnp
from fuzz import judge, outcome
from fuzz.grammar import Program
from fuzz.judge import TOLERANCE
from fuzz.outcome import Outcome
from fuzz.reference import Interpreter
from jax_core.representation.jaxpr import interpret
from jax_core.representation.marks import LINEAR

Difference = tuple[str, str] | tuple[str, str, int] | None  # of a program in stages also which of `Program.apart` it is
COARSE = {"bfloat16": TOLERANCE["bfloat16"], "float16": TOLERANCE["float16"], "float32": 1e-5}  # what comes of a program with such an argument, in any dtype

NOISE = {"float16": 1e-3, "bfloat16": 4e-3}  # what is left where terms of size 1 cancel; of other dtypes 4e-6


def _coarsest(program: Program, dtypes: Iterable[str]) -> float:
    """The largest tolerance of those ``dtypes`` that a program names."""
    return max(COARSE[name] * (f"'{name}'" in program.full) for name in dtypes)


# -- comparing -----------------------------------------------------------------------------------------------------------

def _values_differ(got: Any, want: Any, dtype: str, coarsest: float = 0.0) -> Difference:
    if dtype not in TOLERANCE:
        return None if np.array_equal(got, want) else ("value", f"{got} for {want}".replace("\n", ""))
    with np.errstate(all="ignore"):
        wide = np.complex128 if dtype.startswith("complex") else np.float64
        a, b = np.asarray(got, wide), np.asarray(want, wide)
        words = f"{a} for {b}".replace("\n", "")
        if dtype.startswith("complex"):  # which part of an infinite product is NaN is not said
            a, b = (x[np.isfinite(a) | np.isfinite(b)] for x in (a, b))
        whole = np.isfinite(a) & np.isfinite(b)
        if whole.any():  # first, so that nothing declared of NaN and infinity hides a number beside them
            error, size = np.abs(a - b)[whole].max(), np.abs(b)[whole].max()
            noise = NOISE.get(dtype, 4e-6)
            tiny = error < noise and size < max(noise, 1e-3)
            if not tiny and error / max(size, 1e-30) > max(TOLERANCE[dtype], coarsest):
                return "value", words
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return "NaN" if (np.isnan(a) & ~np.isnan(b)).any() else "no NaN", words
        return None if ((a == b) | whole | np.isnan(a)).all() else ("infinity", words)


def compare(got: Outcome, want: Outcome, weak: bool = True, coarsest: float = 0.0) -> Difference:
    """What a user could see of a difference; of values only what no rounding explains, at least those up to ``coarsest``."""
    if got.error or want.error:
        if got.error == want.error:
            return None
        if not want.error:
            return f"raises {got.error}", got.detail
        return (f"class {want.error}" if got.error else f"accepts what raises {want.error}"), f"{got.detail or 'a result'} for {want.detail}"
    if got.tree != want.tree:
        return "tree", f"{got.tree} for {want.tree}"
    for a, b in zip(got.leaves, want.leaves):
        if a.kind == "array" and not b.dtype:  # a number that the other passed on as it was
            continue
        for field in ("dtype", "shape") if a.dtype == b.dtype and "float0" in a.dtype else ("kind", "dtype", "shape", *(["weak"] if weak else [])):
            if getattr(a, field) != getattr(b, field):
                return field, f"{getattr(a, field)} for {getattr(b, field)}"
        found = a.kind != "ShapeDtypeStruct" and _values_differ(a.value, b.value, a.dtype, coarsest)
        if found:
            return found
    return None


# -- checks --------------------------------------------------------------------------------------------------------------

def _parts(text: str) -> tuple[Callable, tuple]:
    scope = outcome.namespace()
    exec(text, scope)
    return scope["f"], scope["args"]


def _as_arrays(found: Outcome) -> Outcome:
    return found._replace(leaves=tuple(leaf._replace(kind="array") for leaf in found.leaves))


PLAIN = "f(*jax.tree.map(jnp.asarray, args))"  # so that what is passed on is an array


def _agreed(got: Any, want: Any, beyond: np.ndarray) -> Any:
    """What is wanted; where ``got`` is not finite, as ``beyond`` has it, that."""
    if not jnp.issubdtype(np.asarray(want).dtype, jnp.floating) or not np.shape(got) == np.shape(want) == np.shape(beyond):
        return want
    got = np.asarray(got).astype(np.asarray(want).dtype)
    return np.where(np.isnan(got) & np.isnan(beyond) | np.isinf(got) & (got == beyond), got, want)


def _overflows(whole: Outcome, eager: Outcome, text: str, routes: tuple[str, str]) -> bool:
    """Whether two results differ only where one of them is not finite, as both are with infinite arguments in place of the largest ones."""
    far = f"{text}\nargs = jax.tree.map(lambda x: overflown(np.asarray(x)) if hasattr(x, 'dtype') else x, args)\nout = "
    beyond, again = (_as_arrays(outcome.run(far + route)) for route in routes)
    if beyond.error or again.error or compare(beyond, again, weak=False):
        return False
    leaves = [(a._replace(value=_agreed(b.value, a.value, c.value)), b._replace(value=_agreed(a.value, b.value, c.value)))
              for a, b, c in zip(whole.leaves, eager.leaves, beyond.leaves)]
    return compare(whole._replace(leaves=tuple(a for a, _ in leaves)), eager._replace(leaves=tuple(b for _, b in leaves)), weak=False) is None


def _two_ways(program: Program, route: str, plain: str) -> tuple[Outcome, Outcome, Difference]:
    """What ``route`` and the ``plain`` one give, and what differs that rounding does not explain."""
    texts = f"{program.text}\nout = {route}", f"{program.text}\nout = {plain}"
    whole, eager = map(outcome.run, texts)
    if whole.error or eager.error:
        return whole, eager, None
    found = compare(whole, _as_arrays(eager), weak=False, coarsest=_coarsest(program, NOISE))
    if found and found[0] in judge.KINDS and judge.explains((whole, eager), texts, (outcome.run, outcome.run)):
        found = None
    if found and found[0] == "value" and judge.is_among((whole, _as_arrays(eager)), texts[1], outcome.run):
        found = None
    if found and found[0] in judge.KINDS and _overflows(whole, _as_arrays(eager), program.text, (route, plain)):
        found = None
    return whole, eager, found


def compiled(program: Program) -> Difference:
    """`jit` changes nothing but which errors of concrete values there are."""
    whole, eager, found = _two_ways(program, "jax.jit(f)(*args)", PLAIN)
    return ("jit accepts", eager.detail) if eager.error and not whole.error else found


INEXACT = re.compile(r"float|complex|\d\.\d|\dj|inf|nan|prng|key|random")


def known(program: Program) -> Difference:
    """What is computed of integers that are known before the program runs, by the compiler then, is what it is of arguments."""
    if INEXACT.search(program.text.partition("\nargs = ")[2]):  # its rounding may be another
        return None
    return _two_ways(program, "jax.jit(lambda: f(*args))()", PLAIN)[2]


def mapped(program: Program) -> Difference:
    """`vmap` over one, and over copies, is the function of each."""
    if "prng" in program.text or "random" in program.text:
        return None
    return _two_ways(program, "jax.tree.map(lambda x: x[1], jax.vmap(f)(*[jnp.stack([jnp.asarray(x)] * 2) for x in args]))", PLAIN)[2]


def _flushed(x: np.ndarray) -> np.ndarray:
    """Without subnormal numbers, which processors may take for 0."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return np.where(np.abs(x) < jnp.finfo(x.dtype).smallest_normal, x.dtype.type(0), x)


def _differs(results: list, wanted: Any) -> Difference:
    for got, want in zip(map(np.asarray, results), map(np.asarray, wanted if isinstance(wanted, (list, tuple)) else [wanted])):
        if got.dtype.kind == want.dtype.kind == "c" and got.shape == want.shape:  # which part of an infinite product is NaN is not said
            whole = np.isfinite(got) & np.isfinite(want)
            got, want = got[whole], want[whole]
        found = _values_differ(got, want.astype(got.dtype), str(got.dtype))  # some dtypes have no infinity
        if found:
            return found
    return None


def _cancels(results: list, wanted: list, sizes: list) -> bool:
    """Whether sums are as near to what is ``wanted`` as rounding lets terms be that add up to ``sizes`` without their signs."""
    def near(got: Any, want: np.ndarray, size: np.ndarray) -> bool:
        return np.dtype(got.dtype).kind == "f" and bool(np.all(np.abs(np.asarray(got, np.float64) - want) <= 4 * np.finfo(got.dtype).eps * size))
    return all(map(near, results, wanted, sizes))


def primitives(program: Program) -> Difference:
    """Each equation of the traced program is what its primitive's NumPy reference says."""
    found: list[Difference] = []

    def apply(eqn: Any, operands: list) -> list:
        result = eqn.primitive.bind(*operands, **eqn.params)
        results = list(result) if eqn.primitive.multiple_results else [result]
        reference = getattr(eqn.primitive, "reference", None)
        if reference and not found and all(isinstance(x, (jax.Array, np.ndarray, np.generic, int, float, complex)) and
                                           not jnp.issubdtype(jnp.result_type(x), jax.dtypes.extended) for x in operands):
            given = [np.asarray(x, v.aval.dtype) for x, v in zip(operands, eqn.invars)]  # a number is as narrow as its type
            def wanted(taken: Callable) -> list:
                return [np.asarray(x) for x in jax.tree.leaves(reference(*map(taken, given), **eqn.params))]
            differs = (_differs(results, wanted(lambda x: x)) and _differs(results, wanted(_flushed))
                       and _differs(results, list(map(_agreed, results, wanted(lambda x: x), wanted(outcome.overflown)))))
            if differs and not (eqn.primitive.jvp is LINEAR and _cancels(results, wanted(lambda x: x), wanted(np.abs))):
                found.append((f"{eqn.primitive.name}: {differs[0]}", f"{differs[1]} of {operands}".replace("\n", "")))
        return results

    with outcome.default_settings(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            f, args = _parts(program.text)
            closed = jax.make_jaxpr(f)(*args)
            interpret(closed.jaxpr, closed.consts, jax.tree.leaves(args), apply)
        except Exception:
            return None
    return found[0] if found else None


ROUNDED = re.compile(r"reduce_precision|float8|bitcast|\.view\(")  # tangents are rounded too, so that they are not linear, or are those of a step

UNLIKE_QUOTIENTS = re.compile(r"stop_gradient|random\.(ball|beta|chisquare|dirichlet|f|gamma|generalized_normal|loggamma|t)\(")  # slopes of samples keep the probability, not the choices


def _norm(arrays: list) -> float:
    return float(np.sqrt(sum(np.sum(np.square(np.asarray(a))) for a in arrays)))


def _distance(a: Any, b: Any) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max(initial=0))


DIGITS = (1e-15, -1e-15, 2e-15)  # by how much the last digits of arguments are moved


def _forward(g: Callable, x: Any, v: Any, cotangents: list) -> float:
    """The product of the ``cotangents`` and the tangents of ``g``."""
    return sum(float(np.vdot(c, t)) for c, t in zip(cotangents, jax.jvp(g, (x,), (v,))[1]))


def _moves(g: Callable, x: Any, v: Any, cotangents: list, forward: float, error: float) -> bool:
    """Whether the last digits of the arguments ``x`` move the tangents as far as an ``error`` goes, or by a thousandth of that: rounding may, then.
    Equal elements stay equal, as the slope jumps where they are no longer."""
    return all(not abs(_forward(g, x * (1 + by), v, cotangents) - forward) < 1e-3 * error for by in DIGITS)


def _absorbed(pull: Callable, v: Any, cotangents: list, forward: float, error: float) -> bool:
    """Whether cotangents that are pulled back one by one give what the tangents do, so that the ``error`` is of rounding, where one of them is added to
    large numbers that cancel: a transpose is linear."""
    def alone(i: int) -> float:
        back, = pull([c if j == i else jnp.zeros_like(c) for j, c in enumerate(cotangents)])
        return float(np.vdot(np.asarray(back), v))
    return abs(sum(map(alone, range(len(cotangents)))) - forward) < 1e-3 * error


def _ties(g: Callable, x: Any, v: Any, cotangents: list, forward: float, error: float) -> bool:
    """Whether the tangents are others, as far as for `_moves`, where nothing is compiled, so that each operation rounds by itself: that decides a tie."""
    try:
        with jax.disable_jit():
            return abs(_forward(g, x, v, cotangents) - forward) > 1e-3 * error
    except Exception:  # some programs must be compiled
        return False


def derivatives(program: Program) -> Difference:
    """Far from kinks a tangent is the difference quotient; everywhere a cotangent is the transpose of the tangent."""
    if ROUNDED.search(program.text):
        return None
    with outcome.default_settings(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            f, args = _parts(judge.wide(program.text))
            if any(jnp.result_type(leaf) != np.float64 for leaf in jax.tree.leaves(args[0])):
                return None
            x, whole = jax.flatten_util.ravel_pytree(args[0])
            g = lambda t: [y for y in jax.tree.leaves(f(whole(t), *args[1:])) if y.dtype == np.float64]
            v = jnp.asarray(np.random.default_rng(0).normal(size=x.shape))
            y, tangents = jax.jvp(g, (x,), (v,))
            _, pull = jax.vjp(g, x)
            cotangents = [jnp.asarray(np.random.default_rng(1).normal(size=t.shape)) for t in tangents]
            back, = pull(cotangents)
        except Exception:
            return None
        pairs = [(np.asarray(c), np.asarray(t)) for c, t in zip([*cotangents, back], [*tangents, v])]  # arrays that are split say how, else
        *forwards, backward = (float(np.vdot(c, t)) for c, t in pairs)
        forward, size = sum(forwards), sum(float(np.vdot(abs(c), abs(t))) for c, t in pairs)
        noise = 1e-13 * _norm([v]) * _norm(cotangents) * (1 + _norm([x]) + _norm(y))  # of terms that cancel
        if np.isfinite(size) and np.isfinite(noise) and (error := abs(forward - backward)) > 1e-7 * size + noise:
            if not (_moves(g, x, v, cotangents, forward, error) or _absorbed(pull, v, cotangents, forward, error)
                    or _ties(g, x, v, cotangents, forward, error)):
                return "transpose", f"{backward} for {forward}"
        if program.manner != "plain" or UNLIKE_QUOTIENTS.search(program.text) or not all(np.isfinite(t).all() for t in (*y, *tangents)):
            return None
        def slope(h: float) -> list:
            values = g(x + h * v)
            return [(a - b) / h for a, b in zip(values, y)] if [a.shape for a in values] == [b.shape for b in y] else []

        try:
            sides = [slope(h) for h in (1e-5, -1e-5, 2e-5, -2e-5, 1e-7, -1e-7)]
        except Exception:  # some programs are refused where they are not traced
            return None
        if any(len(side) != len(tangents) for side in sides):  # what it gives depends on whether it is traced
            return None
        for i, tangent in enumerate(tangents):
            right, left, right2, left2, *near = (np.asarray(side[i]) for side in sides)
            size, value = (float(np.abs(np.asarray(t)).max(initial=0)) for t in (tangent, y[i]))
            scale = 1 + size + value
            bend = max(float(np.abs(p).max(initial=0)) for p in (right - left, right2 - left2, right - right2))
            if not bend < 1e-3 * scale or 1e-5 * size > 1 + value:  # a kink, or too steep
                continue
            error = _distance((right + left) / 2, tangent)
            if _distance(sum(near) / 2, (right + left) / 2) > 1e-2 * error:  # it jumps by the same on both sides
                continue
            if error > 2e-3 * scale and not any(_distance(jax.jvp(g, (x * (1 + by),), (v,))[1][i], tangent) > 1e-3 * error for by in DIGITS):
                return "derivative", f"{tangent} for {(right + left) / 2}".replace("\n", "")
    return None


def weakness(program: Program) -> Difference:
    """A tangent is as weak as the value that it belongs to, a cotangent as the argument."""
    with outcome.default_settings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f, args = _parts(program.text)
            x = args[0]
            y, tangents, back = jax.eval_shape(lambda x, *rest: (*jax.jvp(lambda t: f(t, *rest), (x,), (x,)), jax.grad(lambda t: sum(
                jnp.sum(leaf.real) for leaf in jax.tree.leaves(f(t, *rest)) if jnp.issubdtype(leaf.dtype, jnp.inexact)))(x)), *args)
        except Exception:
            return None
        sides = (y, tangents), (jax.eval_shape(lambda x: x, x), back)
        pairs = [pair for a, b in sides for pair in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)]
        return next((("weak tangent", f"{b.weak_type} for {a.weak_type}") for a, b in pairs
                     if b.dtype != jax.dtypes.float0 and a.weak_type != b.weak_type), None)


CHECKS = {"jit": compiled, "known": known, "vmap": mapped, "NumPy": primitives, "derivatives": derivatives, "weak": weakness}


STAGE = re.compile(r"jax\.eval_shape\(lambda \*args: (?P<types>.*), \*args\)|jax\.jit\(lambda \*args: (?P<values>.*)\)\(\*args\)")  # as `Program.apart` says them


def against(ours: Interpreter, reference: Interpreter, lenient: bool = False, types: bool = False,
            counts: collections.Counter | None = None) -> Callable[[Program], Difference]:
    """The check of a program, run its own way, against another implementation; a lenient one may accept what that refuses. With
    ``types`` only the first stage of those in stages is run."""
    def both(program: Program, stage: int = 0) -> tuple[Difference, bool]:
        """What differs between the answers, the first of which is that of ``stage``, and whether there is more to ask."""
        want, got = reference.finish(), ours.finish()
        if not want or not got:  # it would have to be compiled
            if counts is not None:
                counts["types only"] += 1
            return None, False
        if want[0].error == "no answer" or want[0].error and lenient:
            return None, False
        if counts is not None and not want[0].error:
            counts["types" if any(leaf.kind == "ShapeDtypeStruct" for leaf in want[0].leaves) else "values"] += 1
        coarsest = _coarsest(program, COARSE)
        more = not want[0].error
        texts = [part.full for part in program.apart()] if program.others else [program.full] * 2
        for i, (a, b) in enumerate(zip(got, want)):
            found = compare(a, b, coarsest=coarsest)
            if found and found[0] in judge.KINDS and judge.explains((a, b), (texts[stage + i],) * 2, (ours.run, reference.run)):
                if counts is not None:
                    counts["rounded"] += 1
            elif found and found[0] == "no NaN" and judge.is_limit((a, b), texts[stage + i], reference.run):
                if counts is not None:
                    counts["holes"] += 1
            elif found:
                return (*found[:2], stage + i), more
        return None, more

    def check(program: Program) -> Difference:
        stages, values = (program.route, program.others) if program.others else None, not types
        if not stages and not program.compiles and (alone := STAGE.fullmatch(program.route)):
            stages, values = (alone["types"] or alone["values"], ()), bool(alone["values"])
        for child in (ours, reference):
            child.start((program.text, *stages, program.compiles) if stages else program.full)
        found, more = both(program)
        if found or not more or not stages or not values:
            return found
        for child in (ours, reference):
            child.go_on()
        found = both(program, 1)[0]
        if not found or program.compiles:
            return found
        found = check(program._replace(compiles=True))  # the interpreter compares NaN otherwise, and has no answer to some operations
        if counts is not None and not found:
            counts["only interpreted"] += 1
        return found
    return check
