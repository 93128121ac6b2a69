"""Steps of Adam on weights with a short last axis, as of convolutions and of the last layer of a classifier, in programs whose loops are unrolled, as they pad
what they read; for `interleaved.py`, in the mode compile, too."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def step(w, m, v, x, y):
    """On the squares of the errors of a linear function."""
    g = jax.grad(lambda w: jnp.mean(jnp.square(jnp.tanh(x @ w.reshape(x.shape[1], -1)) - y)))(w)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 0.001 * (m / 0.3 / (jnp.sqrt(v / 0.2) + 1e-8) + 0.01 * w), m, v, jnp.pad(x, 1)


programs = {}
for shape in ((64, 10), (3, 3, 8, 16), (3, 3, 32, 16), (900, 24), (3, 3, 16, 32), (64, 64)):
    w, m, v = [np.abs(rng.normal(size=shape)).astype(np.float32) for _ in range(3)]
    x, y = [rng.normal(size=(100, n)).astype(np.float32) for n in (w.size // shape[-1], shape[-1])]
    programs["x".join(map(str, shape))] = step, (w, m, v, x, y)
