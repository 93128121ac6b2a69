"""Window reductions and Fourier transforms: laws, dilations and paddings of all kinds, and errors."""
import itertools

import numpy as np
import pytest

from harness import LAWS, Bad, Case
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

WINDOWS = {  # window, strides, padding, base dilation, window dilation
    "plain": ((2, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)),
    "strided": ((3, 2), (2, 1), ((1, 2), (0, 1)), (1, 1), (1, 1)),
    "dilated": ((2, 2), (1, 2), ((1, 0), (0, 1)), (2, 1), (1, 2)),
    "wide": ((2, 2), (2, 1), ((1, 1), (1, 0)), (1, 2), (2, 1)),
    "cropped": ((2, 2), (1, 1), ((-1, 1), (0, -1)), (1, 1), (1, 1)),
}
FUNCTIONS = {"sum": (lax.add, 0, np.add), "max": (lax.max, -np.inf, np.maximum), "min": (lax.min, np.inf, np.minimum),
             "product": (lax.mul, 1, np.multiply)}


APART = np.random.default_rng(0).permutation(30).reshape(5, 6)  # so that no two elements are close, and extrema are smooth


def by_loops(x, start, combine, window, strides, padding, base, dilation):
    """The definition: pad and dilate, then fold every window."""
    if x.dtype.kind == "i" and not np.isfinite(start):
        start = np.iinfo(x.dtype).min if start < 0 else np.iinfo(x.dtype).max
    spread = np.full([(n - 1) * d + 1 for n, d in zip(x.shape, base)], start, x.dtype)
    spread[tuple(slice(None, None, d) for d in base)] = x
    grown = np.pad(spread, [(max(low, 0), max(high, 0)) for low, high in padding], constant_values=start)
    grown = grown[tuple(slice(max(-low, 0), n - max(-high, 0)) for (low, high), n in zip(padding, grown.shape))]
    shape = [max(0, (n - (w - 1) * d - 1) // s + 1) for n, w, d, s in zip(grown.shape, window, dilation, strides)]
    out = np.full(shape, start, x.dtype)
    for place in np.ndindex(*shape):
        for offset in itertools.product(*map(range, window)):
            at = tuple(p * s + o * d for p, s, o, d in zip(place, strides, offset, dilation))
            out[place] = combine(out[place], grown[at])
    return out


def window_case(name, kind):
    function, start, combine = FUNCTIONS[name]
    geometry = WINDOWS[kind]

    def run(x):
        init = start
        if x.dtype.kind == "i" and not np.isfinite(start):
            init = np.iinfo(x.dtype).min if start < 0 else np.iinfo(x.dtype).max
        if name in ("max", "min"):
            x = lax.add(x, APART.astype(x.dtype))
        return lax.reduce_window(x, np.asarray(init, x.dtype)[()], function, *geometry)

    def reference(x):
        return by_loops(x + APART.astype(x.dtype) if name in ("max", "min") else x, start, combine, *geometry)
    return Case(run, "f32[5,6]" if name == "product" else "f32[5,6] i32[5,6]", name=f"reduce_window {name} {kind}",
                reference=reference, tolerance=4, domain=(-0.4, 0.4) if name in ("max", "min") else (-2, 2))



def both(a, b):
    """The sum of the first operands, the product of the second."""
    return lax.add(a[0], b[0]), lax.mul(a[1], b[1])


POOLS = [window_case(name, kind) for name in FUNCTIONS for kind in WINDOWS] + [
    Case(lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 2), "SAME"), "f32[5,5]", name="sum pool",
         reference=lambda x: by_loops(x, 0, np.add, (2, 2), (2, 2), ((0, 1), (0, 1)), (1, 1), (1, 1))),
    Case(lambda x, y: lax.reduce_window((x, y), (np.float32(0), np.int32(1)), both, (2,)), "f32[4],i32[4]", name="two operands",
         derivative=False, reference=lambda x, y: [x[1:] + x[:-1], y[1:] * y[:-1]]),
    *[Case(lambda x, f=f, start=start, pads=pads: lax.reduce_window(x, np.asarray(start, x.dtype)[()], f, (2,), (1,), (pads,)), "f32[2] f32[0]", name=f"{name} after padding {pads}, which takes more than there is",
           reference=lambda x, start=start, fold=fold, pads=pads: by_loops(x, start, fold, (2,), (1,), (pads,), (1,), (1,)))
      for name, pads in (("product", (3, -3)), ("sum", (-1, 3)), ("sum", (-3, 5))) for f, start, fold in [FUNCTIONS[name]]],
    *[Case(lambda x, f=f, start=start: lax.reduce_window(x, np.asarray(start, x.dtype)[()], f, (), (), ()), "f32[]", name=f"{name} of a scalar, which has no axis",
           reference=lambda x: x) for name, (f, start, _) in FUNCTIONS.items()],
]
TRANSFORMS = [
    Case(lambda x, kind=kind, d=d: lax.fft(x, kind, x.shape[-d:]), "c64[2,3,4] c64[2,3,5]", name=f"{kind} {d}", tolerance=16,
         order=1, reference=lambda x, kind=kind, d=d: getattr(np.fft, kind.lower() + "n")(x, axes=range(-d, 0)).astype(x.dtype))
    for kind in ("FFT", "IFFT") for d in (1, 2, 3)
] + [
    Case(lambda x, d=d: lax.fft(x, "RFFT", x.shape[-d:]), f"f32[2,3,{n}]", name=f"RFFT {d}", tolerance=16, order=1,
         reference=lambda x, d=d: np.fft.rfftn(x, axes=range(-d, 0)).astype(np.complex64)) for d in (1, 2) for n in (4, 5)
] + [
    Case(lambda x, d=d, n=n: lax.fft(x, "IRFFT", (*x.shape[-d:-1], n)), "c64[2,3,3]", name=f"IRFFT {d} {n}", tolerance=16,
         order=1,
         reference=lambda x, d=d, n=n: np.fft.irfftn(x, (*x.shape[-d:-1], n), axes=range(-d, 0)).astype(np.float32))
    for d in (1, 2) for n in (4, 5)
] + [
    Case(lambda x: lax.fft(x, "FFT", x.shape), "c64[2,3,2,2,3]", name="FFT of five axes", tolerance=16, order=1,
         reference=lambda x: np.fft.fftn(x).astype(x.dtype)),
    Case(lambda x: lax.fft(lax.fft(x, "RFFT", x.shape), "IRFFT", x.shape), "f32[2,3,2,4]", name="RFFT and back", tolerance=16,
         order=1, reference=lambda x: x),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", POOLS + TRANSFORMS, ids=str)
def test_law(case, law):
    law(case)


@pytest.mark.parametrize("base, dilation", [((1, 1), (1, 1)), ((2, 1), (1, 1)), ((1, 1), (1, 2)), ((2, 2), (2, 1))], ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
def test_windows_that_hold_padding_alone_pass_no_cotangent_on(name, base, dilation):
    function, start, combine = FUNCTIONS[name]
    geometry = (2, 2), (1, 1), ((3, 0), (1, 4)), base, dilation
    x = APART.astype(np.float32)
    out, pullback = vjp(lambda x: lax.reduce_window(x, np.float32(start), function, *geometry), x)
    values = by_loops(x, start, combine, *geometry)
    assert np.isinf(values).any() and np.array_equal(out, values)
    wins = np.vectorize(lambda element: np.sum(values == element))(x)  # no two elements are equal
    assert np.array_equal(pullback(np.ones_like(values))[0], wins)


@pytest.mark.parametrize("start", [0, 1], ids=["from zero", "from one"])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1])
def test_windows_of_one_element_see_the_holes_of_a_large_operand(name, start, axis):
    """XLA's compiler for CPUs reads on without them, beyond the operand's end."""
    function, neutral, combine = FUNCTIONS[name]
    turned = lambda at, other: (at, other) if axis else (other, at)
    start = start or neutral
    geometry = turned(2, 1), turned(2, 1), ((0, 0), (0, 0)), turned(1, 2), (1, 1)
    x = np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32)
    for run in (lambda f: f, jit):
        out = run(lambda x: lax.reduce_window(x, np.float32(start), function, *geometry))(x)
        assert np.allclose(out, by_loops(x, start, combine, *geometry), atol=1e-6)


BAD = [
    Bad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2,)), "f32[4,6]", TypeError, "wrong number of window_dimensions"),
    Bad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (0, 1)), "f32[4,6]", TypeError, "window_strides must .* strictly positive"),
    Bad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "HALF"), "f32[4,6]", RuntimeError, "HALF"),
    Bad(lambda x: lax.reduce_window(x, np.zeros(2, np.float32), lax.add, (2, 2)), "f32[4,6]", TypeError, "must be a scalar"),
    Bad(lambda x: lax.fft(x, "DFT", (4,)), "c64[4]", ValueError, "Unknown FFT type 'DFT'"),
    Bad(lambda x: lax.fft(x, "RFFT", (5,)), "f32[4]", ValueError, r"minor dimensions must be equal to fft_lengths \(5,\)"),
    Bad(lambda x: lax.fft(x, "RFFT", (4,)), "c64[4]", ValueError, "only real valued inputs"),
    Bad(lambda x: lax.fft(x, "FFT", (2, 4)), "c64[4]", ValueError, "at least as many input dimensions"),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_arguments(bad):
    with pytest.raises(bad.error, match=bad.message):
        bad.case.call(*bad.case.samples(0))


def test_a_window_larger_than_the_operand_gives_nothing():
    """No place for the window, no results; the gradient is zero."""
    x = np.ones((2, 3), np.float32)
    pool = jit(lambda x: lax.reduce_window(x, -np.inf, lax.max, (3, 1), padding="VALID"))
    assert pool(x).shape == (0, 3)
    assert not np.asarray(grad(lambda x: lax.reduce_sum(lax.reduce_window(x, 0.0, lax.add, (3, 1)), (0, 1)))(x)).any()


def test_the_first_of_equal_elements_gets_the_gradient_of_a_max_pool():
    """One element of a window, not all of them, has the derivative."""
    g = np.asarray(grad(lambda x: lax.reduce_sum(lax.reduce_window(x, -np.inf, lax.max, (2,), (2,)), (0,)))(np.ones(4, np.float32)))
    assert np.array_equal(g, [1, 0, 1, 0])


def test_neutral_start_values_choose_the_primitive():
    """Sums, maxima and minima have primitives of their own; any other start value goes through the general one."""
    from jax_core.programs.tracing import make_jaxpr
    x = np.ones(4, np.float32)

    def primitive(f, start):
        return make_jaxpr(lambda x: lax.reduce_window(x, start, f, (2,)))(x).eqns[0].primitive.name
    assert primitive(lax.add, 0.0) == "reduce_window_sum" and primitive(lax.add, np.float32(1)) == "reduce_window"
    assert primitive(lax.max, -np.inf) == "reduce_window_max" and primitive(lax.min, np.inf) == "reduce_window_min"


def test_initial_values_can_be_mapped():
    """Each result starts from its own value, which is also what pads."""
    x, starts = np.arange(4, dtype=np.float32), np.array([0, 10], np.float32)
    got = np.asarray(vmap(lambda s: lax.reduce_window(x, s, lax.add, (2,), (1,), ((1, 0),)))(starts))
    want = [by_loops(x, s, np.add, (2,), (1,), ((1, 0),), (1,), (1,)) for s in starts]
    assert np.array_equal(got, want)


def test_transforms_of_nothing():
    """An empty batch has an empty transform."""
    assert jit(lambda x: lax.fft(x, "FFT", (4,)))(np.zeros((0, 4), np.complex64)).shape == (0, 4)
    assert jit(lambda x: lax.fft(x, "RFFT", (4,)))(np.zeros((0, 4), np.float32)).shape == (0, 3)
