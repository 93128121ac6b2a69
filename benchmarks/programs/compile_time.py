"""Functions of several primitives whose formulation decides how long they compile and run; for `interleaved.py`, in the
modes compile and run."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random

rng = np.random.default_rng(0)


def arr(*shape):
    return jnp.asarray(rng.normal(size=shape).astype(np.float32))


x, g, b = arr(512, 1024), arr(1024), arr(1024)
i = jnp.asarray(rng.integers(1, 1000, (512, 1024)).astype(np.int32))
j = jnp.asarray(rng.integers(0, 512, (512, 1024)).astype(np.int32))


def layer_norm(x, g, b):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * g + b


def blocks(x, g, b):
    for _ in range(4):
        x = x + nn.gelu(layer_norm(x, g, b))
    return x


def grid(images, rows=10, columns=10):
    """A picture of many small ones."""
    images = iter(images.reshape(-1, 28, 28))
    return jnp.vstack([jnp.hstack([next(images).T for _ in range(columns)]) for _ in range(rows)])


def steps(x, n):
    """Each two have six times as many paths through them."""
    for i in range(n):
        x = x + x * 0.25 if i % 2 else x * x * 0.5 + x
    return x


programs = {
    "grid_of_uniform": (lambda key: grid(random.uniform(key, (100, 784))), (random.PRNGKey(0),)),
    "grid_of_logaddexp": (lambda x: grid(jnp.logaddexp(x, 1.0)), (arr(100, 784),)),
    "part_of_normal": (lambda key: random.normal(key, (1000,))[10:210], (random.PRNGKey(0),)),
    "windows_of_normals": (lambda key: [random.normal(key, (1000,))[10 * i:10 * i + 200].sum() for i in range(12)], (random.PRNGKey(0),)),
    "gamma": (lambda key: random.gamma(key, 2.0, (1000,)), (random.PRNGKey(0),)),
    "gamma_16000": (lambda key: random.gamma(key, 2.0, (16_000,)), (random.PRNGKey(0),)),
    "counted_chain_16": (lambda: jnp.exp(steps(lax.iota(jnp.float32, 1000), 16)), ()),
    "counted_chain_18": (lambda: jnp.exp(steps(lax.iota(jnp.float32, 1000), 18)), ()),
    "counted_chain_20": (lambda: jnp.exp(steps(lax.iota(jnp.float32, 1000), 20)), ()),
    "linear_and_noise": (lambda key, x: x.sum(0) + random.normal(key, (1024,))[:3].sum(), (random.PRNGKey(0), x)),
    "var": (lambda x: jnp.var(x, -1), (x,)),
    "var_axis0": (lambda x: jnp.var(x, 0), (x,)),
    "std_all": (lambda x: jnp.std(x), (x,)),
    "var_grad": (jax.grad(lambda x: jnp.var(x, -1).sum()), (x,)),
    "percentile": (lambda x: jnp.percentile(x[:64], 30), (x,)),
    "median_of_rows": (lambda x: jnp.median(x[:256], axis=1), (x,)),
    "quantiles": (lambda x: jnp.quantile(x[:100], jnp.array([0.1, 0.9])), (x,)),
    "softmax": (lambda x: nn.softmax(x), (x,)),
    "softmax_grad": (jax.grad(lambda x: (nn.softmax(x) ** 2).sum()), (x,)),
    "log_softmax": (lambda x: nn.log_softmax(x), (x,)),
    "log_softmax_grad": (jax.grad(lambda x: (nn.log_softmax(x)[:, 0]).sum()), (x,)),
    "gelu": (lambda x: nn.gelu(x), (x,)),
    "gelu_exact": (lambda x: nn.gelu(x, approximate=False), (x,)),
    "gelu_grad": (jax.grad(lambda x: nn.gelu(x).sum()), (x,)),
    "silu_grad": (jax.grad(lambda x: nn.silu(x).sum()), (x,)),
    "softplus": (lambda x: nn.softplus(x), (x,)),
    "softplus_grad": (jax.grad(lambda x: nn.softplus(x).sum()), (x,)),
    "elu_grad": (jax.grad(lambda x: nn.elu(x).sum()), (x,)),
    "layer_norm": (layer_norm, (x, g, b)),
    "layer_norm_grad": (jax.grad(lambda *a: layer_norm(*a).sum(), argnums=(0, 1, 2)), (x, g, b)),
    "blocks": (blocks, (x, g, b)),
    "blocks_grad": (jax.grad(lambda *a: blocks(*a).sum(), argnums=(0, 1, 2)), (x, g, b)),
    "take_along_axis": (lambda x, j: jnp.take_along_axis(x, j, 1), (x, j)),
    "take_along_axis0": (lambda x, j: jnp.take_along_axis(x, j, 0), (x, j)),
    "take": (lambda x, j: jnp.take(x, j[0], 0), (x, j)),
    "sine_of_three": (lambda x: jnp.sin(x[0, :3]) * 2 + 1, (x,)),
    "clip": (lambda x: jnp.clip(x, -1, 1), (x,)),
    "clip_grad": (jax.grad(lambda x: (jnp.clip(x, -1, 1) ** 2).sum()), (x,)),
    "floor_divide": (lambda i: i // 7, (i,)),
    "remainder": (lambda i: i % 7, (i,)),
    "remainder_of_many": (lambda i: jnp.tile(i, 32) % 77, (i,)),  # 2^24
    "floor_divide_array": (lambda i, j: i // (j + 1), (i, j)),
    "remainder_float": (lambda x: x % 0.7, (x,)),
    "divmod_float": (lambda x: jnp.divmod(x, 0.7), (x,)),
    "power_int": (lambda x: x ** 5, (x,)),
    "power_float": (lambda x: jnp.abs(x) ** 2.5, (x,)),
    "round": (lambda x: jnp.round(x, 2), (x,)),
    "nan_to_num": (lambda x: jnp.nan_to_num(x), (x,)),
    "where": (lambda x: jnp.where(x > 0, x, 0.0), (x,)),
    "logaddexp": (lambda x: jnp.logaddexp(x, 1.0), (x,)),
    "sinc": (lambda x: jnp.sinc(x), (x,)),
    "log1p": (lambda x: jnp.log1p(jnp.abs(x)), (x,)),
    "erf_inv": (lambda x: lax.erf_inv(x / 10), (x,)),
    "norm": (lambda x: jnp.linalg.norm(x, axis=-1), (x,)),
    "one_hot": (lambda j: nn.one_hot(j[0], 512), (j,)),
    "argmax": (lambda x: jnp.argmax(x, -1), (x,)),
    "select_1000": (lambda x: jnp.select(x[0] > 3, x[0]), (x,)),
    "triu": (lambda x: jnp.triu(x), (x,)),
    "roll": (lambda x: jnp.roll(x, 3, 1), (x,)),
    "diff": (lambda x: jnp.diff(x), (x,)),
    "cov": (lambda x: jnp.cov(x[:64]), (x,)),
    "interp": (lambda x, g: jnp.interp(x, jnp.sort(g), b), (x, g)),
    "batch_norm": (lambda x: (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-5), (x,)),
}
