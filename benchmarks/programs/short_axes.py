"""Reductions along few elements, and programs that have them: distances of points, softmax over few classes, variances of short rows."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
arr = lambda *s: jnp.asarray(rng.normal(size=s).astype(np.float32))


def accelerations(x):
    """Of bodies of one mass at ``x``."""
    d = x[None] - x[:, None]
    return (d / (((d ** 2).sum(-1) + 0.01) ** 1.5)[..., None]).sum(1)


def nearest(x, centres):
    return ((x[:, None] - centres[None]) ** 2).sum(-1).argmin(1)


def mixture(x, centres):
    return jnp.exp(-((x[:, None] - centres[None]) ** 2).sum(-1)).sum(1)


def kernel_sum(x):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)).sum()


programs = {"accelerations": (accelerations, (arr(300, 3),)), "nearest": (nearest, (arr(2000, 8), arr(12, 8))), "mixture": (mixture, (arr(2000, 8), arr(6, 8))),
            "kernel_sum": (kernel_sum, (arr(300, 3),)), "kernel_sum_gradient": (jax.grad(kernel_sum), (arr(300, 3),))}
for n in (3, 8, 10, 16, 32, 50):
    x = arr(100000 // n, n)
    programs |= {f"max_of_rows_{n}": (lambda x: x.max(1), (x,)), f"max_of_columns_{n}": (lambda x: x.max(0), (x.T,)),
                 f"argmax_of_rows_{n}": (lambda x: x.argmax(1), (x,)), f"sum_of_rows_{n}": (lambda x: x.sum(1), (x,)),
                 f"softmax_of_rows_{n}": (jax.nn.softmax, (x,)), f"variance_of_rows_{n}": (lambda x: x.var(1), (x,))}
