"""Programs of 256 numbers, most of which are one function of the compiler's with jaxlib 0.12 (`planning/one_function.py`); for `interleaved.py`.

    taskset -c 1 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/small_arrays.py --cpu [--mode compile]

With `JAX_QUICK_COMPILE=0` they are kernels.
"""
import jax
import jax.numpy as jnp
from jax.scipy import special, stats

FUNCTIONS = (jnp.sin, jnp.exp, jnp.tanh, jnp.log1p, jnp.sqrt, jnp.square, jnp.arctan, jnp.floor)


def rows(x):
    return x.reshape(-1, 16)


def layer_norm(x):
    centred = rows(x) - rows(x).mean(1, keepdims=True)
    return centred / jnp.sqrt((centred ** 2).mean(1, keepdims=True) + 1e-5)


def sums_32(x):
    for i in range(32):
        x = x + FUNCTIONS[i % 8](x * (0.1 + i)).sum() / 256
    return x


def results_32(x):
    return [FUNCTIONS[i % 8](x[:8 * (1 + i % 16)] * (0.1 + i)) for i in range(32)]


x = jnp.linspace(0.1, 1, 256)
programs = {name: (function, (x,)) for name, function in {
    "add": lambda x: (x + 1.5) * 2, "exp": jnp.exp, "sin": jnp.sin, "where": lambda x: jnp.where(x > 0.5, x, -x), "sum_of_rows": lambda x: rows(x).sum(1),
    "max": jnp.max, "argmax": jnp.argmax, "cumsum": jnp.cumsum, "sort": jnp.sort, "softmax": lambda x: jax.nn.softmax(rows(x)), "layer_norm": layer_norm,
    "concatenate": lambda x: jnp.concatenate([x, x * 2, x + 1]), "roll": lambda x: jnp.roll(x, 3) + x, "gather": lambda x: x[(x * 7).astype(int) % x.size],
    "convolve": lambda x: jnp.convolve(x, x[:8], mode="same"), "interp": lambda x: jnp.interp(x, x, x * 2), "stack": lambda x: jnp.stack([x] * 3),
    "unwrap": jnp.unwrap, "diff": jnp.diff, "sinc": jnp.sinc, "gammaln": special.gammaln, "binomial": lambda x: stats.binom.pmf(jnp.floor(x * 20), 20, 0.3),
    "zeta": lambda x: special.zeta(x + 2, 1.0), "gradient": jax.grad(lambda x: jnp.tanh(x * jnp.roll(x, 1)).sum()),
    "logsumexp": lambda x: jax.nn.logsumexp(rows(x), 1), "normal": lambda x: jax.random.normal(jax.random.PRNGKey(0), x.shape) + x,
    "sums_32": sums_32, "results_32": results_32}.items()}
