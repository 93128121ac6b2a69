"""Functions that mix ranks or dtypes of their own making work where users' arithmetic may not: a sample, in both strict modes at once."""
from __future__ import annotations

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad
from jax_numpy_api import flatten_util, image, nn, sparse
from jax_numpy_api.scipy import linalg, signal, special, stats
from jax_numpy_api.scipy.sparse import linalg as krylov
from jax_numpy_api.scipy.spatial.transform import Rotation

CALLS = """
linalg.rsf2csf(*linalg.schur(A)); stats.mode(X, axis=0); stats.mode(X, nan_policy="omit"); stats.multivariate_normal.logpdf(X, v, S);
stats.multivariate_normal.pdf(X, v, 1.0); stats.gaussian_kde(X.T).logpdf(X.T); stats.gaussian_kde(X.T).integrate_gaussian(v, S);
special.wofz(z); special.sph_harm_y(i, i, w, w); special.lpmn(2, 2, v); special.multigammaln(v + 3, 2); special.bessel_jn(v, v=2);
Rotation.from_rotvec(v).apply(X); Rotation.from_rotvec(X).apply(v); flatten_util.ravel_pytree((v, z))[0];
signal.stft(x, nperseg=8); signal.istft(signal.stft(x, nperseg=8)[2], nperseg=8); signal.welch(x, nperseg=8); signal.detrend(x);
signal.csd(x, x[::-1], nperseg=8, average="median"); sparse.bcoo_multiply_dense(M, np.ones((1, 3), "float32"));
sparse.sparsify(lambda a, b: a / b)(M, np.ones((1, 1), "float32"));
krylov.gmres(S, v); krylov.cg(S, v); krylov.bicgstab(S, v);
nn.dot_product_attention(h, h, h, is_causal=True); nn.dot_product_attention(h, h, h, bias=jnp.ones((1, 2, 4, 4), "float16"));
nn.dot_product_attention(h, h, h, local_window_size=1, query_seq_lengths=i[:1], key_value_seq_lengths=i[:1]);
jnp.trapezoid(X, v); jnp.trapezoid(i, i); jnp.var(h, dtype="float32"); jnp.array_equiv(X, X[0]); nn.log1mexp(h); stats.poisson.entropy(X); special.loggamma(z - 3); special.gamma(z); image.resize(X, (8, 2), "area"); sparse.BCOO.fromdense(X > 0.5).data;
grad(lambda a: special.hyp2f1(a, v, v + 1, w[0]).sum())(v); stats.gumbel_r.logsf(h, h, h)
"""


def operands() -> dict:
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.uniform(0.1, 1.0, shape).astype(np.float32)
    A = draw(3, 3)
    return dict(A=A, S=A @ A.T + np.eye(3, dtype=np.float32), X=draw(4, 3), v=draw(3), w=draw(2), x=draw(2, 40), i=np.array([1, 2]),
                z=(draw(3) + 1j).astype(np.complex64), h=draw(1, 4, 2, 4).astype(np.float16), M=sparse.BCOO.fromdense(A[:2]))


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.replace("\n", " ").split(";") if call.strip()])
def test_strict_modes_are_no_obstacle(call):
    given = dict(operands(), grad=grad, image=image, jnp=jnp, np=np, flatten_util=flatten_util, linalg=linalg, nn=nn, signal=signal, sparse=sparse,
                 special=special, stats=stats, krylov=krylov, Rotation=Rotation)
    with flags.numpy_rank_promotion("allow"), flags.numpy_dtype_promotion("standard"):
        expected = eval(call, given)
    with flags.numpy_rank_promotion("raise"), flags.numpy_dtype_promotion("strict"):
        got = eval(call, given)
    for x, y in zip(tree.tree_leaves(got), tree.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(x, y)
