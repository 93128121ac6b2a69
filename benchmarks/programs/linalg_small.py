"""Linear algebra of many small matrices, for `interleaved.py`."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def arr(*shape):
    return jnp.asarray(rng.normal(size=shape).astype(np.float32))


def general(count, n):
    return arr(count, n, n) + n * jnp.eye(n)


def positive(count, n):
    a = arr(count, n, n)
    return a @ a.mT + n * jnp.eye(n)


g3, g4, g8, g16 = general(4096, 3), general(2048, 4), general(1024, 8), general(256, 16)
p3, p4, p8, p16 = positive(4096, 3), positive(2048, 4), positive(1024, 8), positive(256, 16)
b3, b8, b16 = arr(4096, 3), arr(1024, 8), arr(256, 16)
solve, det, inv = jnp.linalg.solve, jnp.linalg.det, jnp.linalg.inv
chol, eigh, qr, svd = jnp.linalg.cholesky, jnp.linalg.eigh, jnp.linalg.qr, jnp.linalg.svd
programs = {
    "solve3": (jax.vmap(solve), (g3, b3)),
    "solve8": (jax.vmap(solve), (g8, b8)),
    "solve16": (jax.vmap(solve), (g16, b16)),
    "inv3": (inv, (g3,)),
    "inv4": (inv, (g4,)),
    "inv8": (inv, (g8,)),
    "inv16": (inv, (g16,)),
    "det3": (det, (g3,)),
    "det4": (det, (g4,)),
    "det8": (det, (g8,)),
    "det16": (det, (g16,)),
    "slogdet4": (jnp.linalg.slogdet, (g4,)),
    "slogdet8": (jnp.linalg.slogdet, (g8,)),
    "cholesky3": (chol, (p3,)),
    "cholesky4": (chol, (p4,)),
    "cholesky8": (chol, (p8,)),
    "cholesky16": (chol, (p16,)),
    "cho_solve8": (jax.vmap(lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b)), (p8, b8)),
    "eigh3": (eigh, (p3,)),
    "eigh8": (eigh, (p8,)),
    "eigh16": (eigh, (p16,)),
    "qr3": (qr, (g3,)),
    "qr8": (qr, (g8,)),
    "qr16": (qr, (g16,)),
    "svd3": (svd, (g3,)),
    "svd8": (svd, (g8,)),
    "svd16": (svd, (g16,)),
    "svdvals8": (lambda x: svd(x, compute_uv=False), (g8,)),
    "solve16_grad": (jax.grad(lambda a, b: jax.vmap(solve)(a, b).sum()), (g16, b16)),
    "inv4_grad": (jax.grad(lambda a: inv(a).sum()), (g4,)),
    "cholesky8_grad": (jax.grad(lambda a: chol(a).sum()), (p8,)),
    "triangular8": (lambda a, b: jax.lax.linalg.triangular_solve(a, b[..., None], left_side=True, lower=True), (p8, b8)),
}
