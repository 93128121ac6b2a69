"""Objects that convert themselves to arrays (`__jax_array__`) are taken wherever arrays are: functions give the same of both,
eagerly and while tracing."""
from __future__ import annotations

import functools

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.programs.tracing import eval_shape
from jax_core.representation import tree

CALLS = """
abs(v); absolute(v); acos(v); acosh(v); amax(v); amin(v); angle(c); angle(v, deg=True); any(v); all(v); append(v, w);
argmax(v); argmin(v); argpartition(v, 2); argsort(v); argwhere(v); around(v); array(v); asarray(v);
apply_along_axis(sum, 0, m); apply_over_axes(sum, m, (0, )); array_equal(v, w); array_equiv(v, w); array_split(v, 2);
astype(v, 'int32'); atleast_1d(v); atleast_2d(v); atleast_3d(v); average(v, weights=w); average(v); bincount(n);
bitwise_count(i); bitwise_invert(i); bitwise_and(i, i); bitwise_left_shift(i, n); block([v, w]); block([[m], [m]]);
broadcast_to(v, (2, 5)); broadcast_arrays(v, w); cbrt(v); ceil(v); clip(v, 0.1, 0.5); clip(v, w, w); clip(v, max=w); column_stack([v, w]);
compress(b, v); compress(b, m5, axis=1); concat([v, w]); concatenate([v, w]); conj(c); conjugate(c); convolve(v, w);
copy(v); copysign(v, w); corrcoef(m); corrcoef(v, w); correlate(v, w); count_nonzero(v); cov(m); cov(v, w);
cov(m, fweights=k, aweights=l); cross(l3, l3); cumprod(v); cumsum(v); cumulative_sum(v); cumulative_prod(v);
deg2rad(v); degrees(v); delete(v, 1); delete(v, j); delete(v, k); delete(v, b); diag(v); diag(q);
diag_indices_from(q); diagflat(v); diagonal(q); diff(v); diff(v, prepend=s, append=s); digitize(v, sv); divide(v, w);
divmod(v, w); dot(v, w); dsplit(t, 2); dstack([v, w]); ediff1d(v); ediff1d(v, to_end=w, to_begin=w);
einsum('i, i', v, w); empty_like(v); equal(v, w); exp(v); expand_dims(v, 0); extract(b, v); fabs(v);
fill_diagonal(q, s, inplace=False); fill_diagonal(q, l3, inplace=False); flatnonzero(v); flip(v); fliplr(m); flipud(m);
floor(v); float_power(v, w); fmod(v, w); frexp(v); full_like(v, s); full((2, 5), v); full_like(v, w); gcd(i, i);
geomspace(s, 2.0, 5); gradient(v); gradient(v, w); gradient(v, s); heaviside(v, w); histogram(v);
histogram(v, bins=sv); histogram(v, weights=w); histogram2d(v, w); histogram_bin_edges(v); hsplit(m, 3);
hstack([v, w]); hypot(v, w); i0(v); imag(c); inner(v, w); insert(v, 1, s); insert(v, j, w0); interp(v, sv, w);
intersect1d(i, n); invert(i); isclose(v, w); iscomplex(c); iscomplexobj(c); iscomplexobj(v); isfinite(v); isin(i, n);
isinf(v); isnan(v); isneginf(v); isposinf(v); isreal(c); isrealobj(c); isscalar(s); isscalar(v); ix_(i, n); kron(m, q);
lcm(i, i); ldexp(v, i5); lexsort((v, w)); linspace(v, w, 3); linspace(s, s, 3); log(v); logaddexp(v, w);
logspace(s, s, 3); matmul(m, q); matrix_transpose(m); matvec(m, l3); max(v); maximum(v, w); mean(v); mean(v, where=b);
median(v); meshgrid(v, w); min(v); mod(v, w); modf(v); moveaxis(m, 0, 1); nan_to_num(v); nan_to_num(v, nan=s);
nanargmax(v); nanargmin(v); nancumprod(v); nancumsum(v); nanmax(v); nanmean(v); nanmedian(v); nanmin(v);
nanpercentile(v, s); nanprod(v); nanquantile(v, s0); nanstd(v); nansum(v); nanvar(v); negative(v); nextafter(v, w);
nonzero(v); ones_like(v); outer(v, w); packbits(u); packbits(i); pad(v, 2); pad(v, 1, mode='edge'); partition(v, 2);
percentile(v, s); permute_dims(m, (1, 0)); piecewise(v, [b], [1.0, 2.0]); place(v, b, w, inplace=False); poly(l3);
polyadd(v, l3); polyder(v); polydiv(v, l3); polyfit(v, w, 1); polyint(v); polymul(v, l3); polysub(v, l3);
polyval(v, s); polyval(v, w); power(v, i5); power(v, 2); prod(v); ptp(v); put(v, j, w0, inplace=False);
put_along_axis(v, j, w0, 0, inplace=False); quantile(v, s0); quantile(v, w0); rad2deg(v); radians(v); ravel(m);
ravel_multi_index((j, j), (3, 4)); real(c); reciprocal(v); repeat(v, 2); repeat(v, n5, total_repeat_length=7);
repeat(v, n5); reshape(m, (3, 2)); resize(v, (2, 2)); right_shift(i, n); rint(v); roll(v, 1); roll(m, j, axis=(0, 1));
roll(v, si); rollaxis(m, 1); roots(l3); rot90(m); round(v); searchsorted(sv, v); searchsorted(sv, v, sorter=i5);
select([b], [v]); setdiff1d(i, n); setxor1d(i, n); sign(v); signbit(v); sinc(v); sort(v); sort_complex(c); spacing(v);
split(v, j); split(m, 3, axis=1); squeeze(o); stack([v, w]); std(v); subtract(v, w); sum(v);
sum(v, where=b, initial=s); swapaxes(m, 0, 1); take(v, j); take(v, si); take_along_axis(v, j, 0); tensordot(m, q, 1);
tile(v, 2); trace(q); transpose(m); trapezoid(v); trapezoid(v, w); tril(q); tril_indices_from(q); trim_zeros(z);
triu(q); triu_indices_from(q); trunc(v); union1d(i, n); unique(i);
unique(i, return_index=True, return_inverse=True, return_counts=True); unique(m, axis=0); unique_all(i);
unique_counts(i); unique_inverse(i); unique_values(i); unpackbits(u); unravel_index(j, (3, 4)); unstack(m); unwrap(v);
vander(v); var(v); vdot(v, w); vecdot(v, w); vecmat(l3, q); vsplit(m, 2); vstack([v, w]); where(b, v, w); where(v);
where(b, v, s); zeros_like(v); result_type(v, i); ndim(m); shape(m); size(m); mask_indices(3, triu); vectorize(sin)(v);
vectorize(dot, signature='(n), (n)->()')(m, l3); array([v, w]); array([v, v], dtype='int32');
frompyfunc(add, 2, 1)(v, w); add.reduce(v); add.at(v, j, w0, inplace=False); add.outer(v, w); add.accumulate(v);
add.reduceat(v, j); ldexp(v, 2); nan_to_num(c); cumulative_sum(v, include_initial=True); tril(q, 1); triu(q, k=1);
diag(v, 1); arange(si); arange(si, 5); permute_dims(m, axes=(1, 0)); matrix_transpose(q); rint(i); conjugate(v);
argwhere(m, size=2); nonzero(m, size=3); flatnonzero(v, size=3, fill_value=si); allclose(v, w); linalg.cholesky(p);
linalg.cond(q); linalg.cross(l3, l3); linalg.det(q); linalg.diagonal(q); linalg.eig(q); linalg.eigh(p);
linalg.eigvals(q); linalg.eigvalsh(p); linalg.inv(q); linalg.lstsq(q, l3); linalg.matmul(m, q); linalg.matrix_norm(m);
linalg.matrix_power(q, 3); linalg.matrix_power(q, -1); linalg.matrix_rank(q); linalg.matrix_transpose(m);
linalg.multi_dot([m, q, q]); linalg.norm(v); linalg.norm(m, axis=1); linalg.outer(v, w); linalg.pinv(m); linalg.qr(q);
linalg.slogdet(q); linalg.solve(q, l3); linalg.svd(m); linalg.svdvals(m); linalg.tensorinv(t4, 1);
linalg.tensorsolve(q, l3); linalg.trace(q); linalg.vecdot(v, w); linalg.vector_norm(v); fft.fft(v); fft.fft2(q);
fft.fftn(q); fft.fftshift(v); fft.hfft(v); fft.ifft(v); fft.ifft2(q); fft.ifftn(q); fft.ifftshift(v); fft.ihfft(v);
fft.irfft(c); fft.irfft2(q); fft.irfftn(q); fft.rfft(v); fft.rfft2(q); fft.rfftn(q); fft.fftfreq(5);
choose(k, [l3, l3, l3]); linalg.tensordot(m, q, axes=1)
"""
ROWS = [call.strip() for call in CALLS.replace("\n", " ").split(";") if call.strip()]


class Own:
    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return self.value


@functools.cache
def operands() -> dict:
    rng = np.random.default_rng(0)
    shapes = dict(v=(5,), w=(5,), m=(2, 3), q=(3, 3), l3=(3,), t=(2, 2, 2), t4=(4, 2, 2), m5=(2, 5), o=(1, 3))
    host = {name: rng.uniform(0.1, 1.0, shape) for name, shape in shapes.items()}
    host |= dict(sv=np.arange(5) / 5.0, c=host["v"] + 1j, p=host["q"] @ host["q"].T + np.eye(3), b=host["v"] > 0.4, l=np.ones(3),
                 i=np.array([1, 2, 3, 3]), n=np.array([2, 3, 1, 0]), j=np.array([1, 2]), w0=np.array([0.5, 0.25]), k=np.arange(3),
                 i5=np.array([1, 0, 3, 2, 4]), n5=np.array([1, 2, 0, 1, 3]), s=np.float32(0.7), s0=np.float32(0.5), si=np.int32(2),
                 z=np.array([0.0, 1, 2, 0]), u=np.array([1, 0, 3], np.uint8))
    return {name: jnp.asarray(x) for name, x in host.items()}


class Names(dict):
    """Operands, and all else from jax.numpy."""

    def __missing__(self, name):
        return getattr(jnp, name)


def run(call: str, values: dict, wrap=lambda x: x):
    return eval(call, {"np": np}, Names({name: wrap(x) for name, x in values.items()}))


def outcome(fun):
    """The result, or the class of the exception."""
    try:
        return fun()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("call", ROWS)
def test_objects_that_convert_themselves(call):
    want, got = run(call, operands()), run(call, operands(), Own)
    for x, y in zip(tree.tree_leaves(want), tree.tree_leaves(got), strict=True):
        assert type(x) is type(y) and getattr(x, "dtype", None) == getattr(y, "dtype", None)
        np.testing.assert_array_equal(x, y)


def test_objects_that_convert_themselves_to_tracers():
    different = []
    for call in ROWS:
        want, got = (outcome(lambda: eval_shape(lambda values: run(call, values, wrap), operands())) for wrap in (lambda x: x, Own))
        if want != got:
            different.append((call, want, got))
    assert not different


def test_the_shape_and_dtype_of_a_prototype_are_enough():
    class Prototype:
        shape, dtype = (2, 3), np.dtype("int16")

        def __jax_array__(self):
            raise AssertionError("zeros_like needs no values")

    for like in (jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda x: jnp.full_like(x, 2)):
        assert (like(Prototype()).shape, like(Prototype()).dtype) == ((2, 3), np.int16)
