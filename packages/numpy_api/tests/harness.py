"""Laws that every operation obeys, and cases to try them on.

A case is a function, types of operands and parameters:

    Case(lax.rev, "f32[3,4] bf16[5] i8[0,2]", dimensions=(0,))
    Case(lax.add, "f32[3],f32[3] i32[2],i32[]")          # commas separate operands, blanks separate variants

The laws are functions of a case, for `pytest.mark.parametrize("law", LAWS)`:

    value     the compiled result equals the NumPy reference, for every variant, in value, shape and dtype
    eager     an eager call, which may run on the host, gives the same
    jvp       the tangent in a random direction is the difference quotient
    vjp       the cotangent is the transpose of the tangent: <ct, J dx> = <J^T ct, dx>
    second    the derivative of the cotangent is its difference quotient
    vmap      mapping any operand along its first or last axis equals a loop

Derivatives are taken of the first variant, in float64 (complex128), where difference quotients are good to about nine
digits. What a case needs is compiled once and shared by its laws, so a case costs four small compilations in all.
"""
from __future__ import annotations

import functools
import re
import sys
import zlib

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import dtypes
from jax_core.representation.aval import get_aval
from jax_core.transformations.autodiff import jvp, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

_SHORT = {dtypes.short_name(d): d for d in dtypes.numeric_dtypes}
_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}
STEP = 5e-4


class Operand:
    """The type of an operand: ``"f32[3,4]"``."""

    def __init__(self, text: str):
        match = re.fullmatch(r"(\w+)\[([\d,]*)\]", text)
        if match is None:
            raise ValueError(f"{text!r} is not a type like f32[3,4]")
        self.dtype = _SHORT[match[1]]
        self.shape = tuple(map(int, filter(None, match[2].split(","))))
        self.inexact = dtypes.issubdtype(self.dtype, np.inexact)

    def sample(self, rng: np.random.Generator, low: float, high: float, wide: bool = False) -> np.ndarray:
        """Random contents; with ``wide``, inexact ones in 64 bits. Integers stay within ``[low, high]``."""
        if self.dtype == bool:
            return rng.integers(0, 2, self.shape).astype(bool)
        if not self.inexact:
            low = max(low, 0) if dtypes.issubdtype(self.dtype, np.unsignedinteger) else low
            return np.asarray(rng.integers(int(np.ceil(low)), int(high), self.shape, endpoint=True)).astype(self.dtype)
        values = rng.uniform(low, high, self.shape)
        if self.dtype.kind == "c":
            values = values + 1j * rng.uniform(low, high, self.shape)
        return np.asarray(values).astype(_WIDE["c" if self.dtype.kind == "c" else "f"] if wide else self.dtype)

    def __str__(self):
        return f"{dtypes.short_name(self.dtype)}[{','.join(map(str, self.shape))}]"


class Case:
    """One function with some operands.

    Args:
      fun: the function, called as ``fun(*operands, **params)``; or ``fun(operands, **params)`` with ``sequence``.
      types: variants separated by blanks, operands of a variant by commas.
      reference: NumPy function of the operands; without it that of the primitive ``<name>_p``; False for none.
      domain: bounds of the operands' values, one pair for all or a list with one each.
      tolerance: in units of the dtype's precision, relative to the largest element.
      derivative: whether there is one to try (of inexact operands and results).
      order: of derivatives to try.
      name: in place of the function's.
      sequence: operands are passed as one list.
    """

    def __init__(self, fun, types, *, reference=None, domain=(-2.0, 2.0), tolerance=8, derivative=True, order=2, name=None,
                 sequence=False, vmapped=True, **params):
        self.fun, self.params, self.sequence = fun, params, sequence
        self.name = name or getattr(fun, "__name__", str(fun))
        self.variants = [[Operand(t) for t in re.findall(r"\w+\[[\d,]*\]", variant)] for variant in types.split()] or [[]]
        self.domain, self.tolerance = domain, tolerance
        self.derivative, self.order, self.vmapped = derivative, order, vmapped
        self.reference = _default_reference(self.name, params) if reference is None else reference

    def __str__(self):
        shown = ",".join(f"{k}={v}" for k, v in self.params.items() if not callable(v))
        return f"{self.name}-{','.join(map(str, self.variants[0]))}{'-' + shown if shown else ''}".replace(" ", "")[:90]

    def call(self, *operands):
        """The function's result as a list of arrays."""
        out = self.fun(list(operands), **self.params) if self.sequence else self.fun(*operands, **self.params)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    def expected(self, *operands):
        """The reference's result as a list of NumPy arrays."""
        with np.errstate(all="ignore"):
            out = self.reference(*operands)
        return [np.asarray(x) for x in (out if isinstance(out, (list, tuple)) else [out])]

    def samples(self, variant: int, wide: bool = False, which: int = 0) -> list[np.ndarray]:
        """Operands of a variant; the same ones at each call."""
        rng = np.random.default_rng(zlib.crc32(f"{self} {variant} {which}".encode()))
        domains = self.domain if isinstance(self.domain, list) else [self.domain] * len(self.variants[variant])
        return [x.sample(rng, low, high, wide) for x, (low, high) in zip(self.variants[variant], domains)]

    @functools.cached_property
    def differentiable(self) -> list[int]:
        """Operands with a derivative."""
        return [i for i, x in enumerate(self.variants[0]) if x.inexact]


def _default_reference(name, params):
    prim = getattr(lax, f"{name}_p", None)
    reference = getattr(prim, "reference", None)
    return functools.partial(reference, **params) if reference else False


# -- comparing -----------------------------------------------------------------------------------------------------------

def assert_close(what: str, got, want, units: float, precision: float | None = None) -> None:
    """Equal integers; floats within ``units`` of the dtype's precision, relative to the largest; NaN and inf alike."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if not dtypes.issubdtype(got.dtype, np.inexact):
        assert np.array_equal(got, want), f"{what}: got {got}, expected {want}"
        return
    eps = float(dtypes.finfo(got.dtype).eps) if precision is None else precision
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    finite = np.isfinite(want)
    same = np.where(finite, True, (got == want) | (np.isnan(got) & np.isnan(want)))
    assert same.all(), f"{what}: got {got}, expected {want}"
    if finite.any():
        size = max(np.abs(want[finite]).max(), 1e-30)
        error = np.abs(got - want)[finite].max()
        assert error <= units * eps * size, f"{what}: error {error:.3g} of {size:.3g}; got {got}, expected {want}"


# -- laws ----------------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def _compiled(case: Case) -> list[list]:
    """Results of all variants, from one compiled program."""
    operands = [case.samples(i) for i in range(len(case.variants))]
    return jit(lambda all_operands: [case.call(*xs) for xs in all_operands])(operands)


def value_law(case: Case) -> None:
    """Every variant gives the reference's result, in its dtype."""
    for i, (variant, got) in enumerate(zip(case.variants, _compiled(case))):
        if case.reference is False:
            continue
        want = case.expected(*case.samples(i))
        assert len(got) == len(want), f"value of {case.name}: {len(got)} results, expected {len(want)}"
        for g, w in zip(got, want):
            types = ",".join(map(str, variant))
            assert g.dtype == w.dtype or dtypes.issubdtype(g.dtype, np.inexact), (
                f"value of {case.name}({types}): dtype {g.dtype}, expected {w.dtype}")
            assert_close(f"value of {case.name}({types})", g, w, case.tolerance)


def eager_law(case: Case) -> None:
    """An eager call gives what the compiled program gives: the first variant, and all that run on the host."""
    for i, (variant, compiled) in enumerate(zip(case.variants, _compiled(case))):
        if i > 0 and not _runs_on_host(case, variant):
            continue
        types = ",".join(map(str, variant))
        for got, want in zip(case.call(*case.samples(i)), compiled):
            got_type, want_type = get_aval(got), get_aval(want)
            assert got_type == want_type, f"eager {case.name}({types}): type {got_type}, compiled {want_type}"
            assert_close(f"eager {case.name}({types})", got, want, case.tolerance)


def _runs_on_host(case: Case, variant: list[Operand]) -> bool:
    exact = getattr(getattr(lax, f"{case.name}_p", None), "exact", False)
    return exact is True or bool(exact) and not any(x.inexact for x in variant)


class _Derivatives:
    """Value, tangent, cotangent, and tangent of the cotangent of a case at one point, from one compiled program."""

    def __init__(self, case: Case):
        self.case = case
        with flags.enable_x64(True):
            self.point = case.samples(0, wide=True)
            self.direction = tuple([case.samples(0, wide=True, which=1)[i] for i in case.differentiable])
            outs = case.call(*self.point)
            self.results = [i for i, x in enumerate(outs) if dtypes.issubdtype(x.dtype, np.inexact)]
            rng = np.random.default_rng(0)
            self.cotangents = [Operand(f"{dtypes.short_name(outs[i].dtype)}[{','.join(map(str, outs[i].shape))}]").sample(
                rng, -1, 1, True) for i in self.results]
            self.program = jit(self._program)
            self.here = self._at(0.0)

    def _function(self, *inexact):
        operands = list(self.point)
        for i, x in zip(self.case.differentiable, inexact):
            operands[i] = x
        outs = self.case.call(*operands)
        return [outs[i] for i in self.results]

    def _pullback(self, *inexact):
        return vjp(self._function, *inexact)[1](self.cotangents)

    def _program(self, *inexact):
        value, tangent = jvp(self._function, inexact, self.direction)
        cotangent = self._pullback(*inexact)
        second = jvp(self._pullback, inexact, self.direction)[1] if self.case.order > 1 else cotangent
        return value, tangent, cotangent, second

    def _at(self, step):
        moved = [self.point[i] + step * d for i, d in zip(self.case.differentiable, self.direction)]
        with flags.enable_x64(True):
            return [[np.asarray(x) for x in part] for part in self.program(*moved)]

    @functools.cached_property
    def quotients(self):
        """Difference quotients of value and cotangent (of fourth order in the step)."""
        a, b, c, d = (self._at(k * STEP) for k in (-2, -1, 1, 2))
        return [[(w - z + 8 * (y - x)) / (12 * STEP) for w, x, y, z in zip(a[i], b[i], c[i], d[i])] for i in (0, 2)]


@functools.lru_cache(maxsize=None)
def _derivatives(case: Case) -> _Derivatives | None:
    if not case.derivative or not case.differentiable:
        return None
    found = _Derivatives(case)
    return found if found.results else None


def jvp_law(case: Case) -> None:
    """The tangent is the derivative along the direction."""
    found = _derivatives(case)
    if found:
        for got, want in zip(found.here[1], found.quotients[0]):
            assert_close(f"jvp of {case.name}", got, want, 1, 1e-7)


def vjp_law(case: Case) -> None:
    """Cotangents are the transpose of tangents. The pairing has no conjugate."""
    found = _derivatives(case)
    if found:
        forward = sum(np.sum(ct * t) for ct, t in zip(found.cotangents, found.here[1]))
        backward = sum(np.sum(ct * d) for ct, d in zip(found.here[2], found.direction))
        size = sum(np.sum(np.abs(ct * t)) for ct, t in zip(found.cotangents, found.here[1]))
        assert abs(np.real(forward) - np.real(backward)) <= 1e-10 * max(size, 1e-30), (
            f"vjp of {case.name}: <ct, tangent> = {forward}, <cotangent, direction> = {backward}")
        for ct, i in zip(found.here[2], case.differentiable):
            assert ct.shape == found.point[i].shape, f"vjp of {case.name}: cotangent {ct.shape} for {found.point[i].shape}"


def second_law(case: Case) -> None:
    """The tangent of the cotangent is its derivative along the direction."""
    found = _derivatives(case)
    if found and case.order > 1:
        for got, want in zip(found.here[3], found.quotients[1]):
            size = max([np.abs(want).max(initial=0), *(np.abs(x).max(initial=0) for x in found.here[2])])
            assert np.abs(got - want).max(initial=0) <= 1e-6 * max(size, 1e-30), (
                f"second derivative of {case.name}: got {got}, expected {want}")


def vmap_law(case: Case) -> None:
    """Mapping equals a loop: each operand alone (first and last axis), and all together."""
    if not case.vmapped or not case.variants[0]:
        return
    size, count = 2, len(case.variants[0])
    stacks = [case.samples(0, which=2 + k) for k in range(size)]
    ways = [tuple(0 for _ in range(count)), tuple(-1 for _ in range(count))]
    if count > 1:
        ways += [tuple((0, -1)[i % 2] if i == j else None for i in range(count)) for j in range(count)]

    def all_ways(*operands):
        return [vmap(case.call, in_axes=axes)(*ops) for axes, ops in zip(ways, operands)]

    inputs = [[stacks[0][i] if axis is None else np.stack([s[i] for s in stacks], axis) for i, axis in enumerate(axes)]
              for axes in ways]
    outs = jit(all_ways)(*inputs)
    for axes, out in zip(ways, outs):
        for k in range(size):
            operands = [stacks[0][i] if axis is None else stacks[k][i] for i, axis in enumerate(axes)]
            for got, want in zip(out, case.call(*operands)):
                assert_close(f"vmap of {case.name} with in_axes={axes}", np.asarray(got)[k], want, case.tolerance)


LAWS = [value_law, eager_law, jvp_law, vjp_law, second_law, vmap_law]


class Bad:
    """A call that must raise ``error`` with a message that matches ``message``."""

    def __init__(self, fun, types, error, message, **params):
        self.case, self.error, self.message = Case(fun, types, reference=False, **params), error, message

    def __str__(self):
        return f"{self.case}"


def steps_of(call):
    """How many operations are bound or evaluated one by one in Python."""
    count = [0]

    def note(frame, event, _):
        count[0] += event == "call" and frame.f_code.co_name in ("bind", "evaluate")
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count[0]
