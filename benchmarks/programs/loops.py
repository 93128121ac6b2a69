"""Convolutions and products inside loops and outside, for `interleaved.py`."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)


def arr(*shape):
    return jnp.asarray(rng.normal(size=shape).astype(np.float32))


def conv(x, k, numbers=("NHWC", "HWIO", "NHWC"), **more):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=numbers, **more)


def nchw(x, k):
    return conv(x, k, ("NCHW", "OIHW", "NCHW"))


def depthwise(x, k):
    return conv(x, k, feature_group_count=x.shape[-1])


x, k = arr(8, 32, 32, 16), arr(3, 3, 16, 16) * 0.1
xc, kc = arr(8, 16, 32, 32), arr(16, 16, 3, 3) * 0.1
kd = arr(3, 3, 1, 16) * 0.1
x1, k1 = arr(8, 512, 16), arr(5, 16, 16) * 0.1


def conv1(x, k):
    return lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def loop(f, n=4):
    return lambda x, k: lax.fori_loop(0, n, lambda i, c: f(c, k), x)


def scan(f, n=4):
    return lambda x, k: lax.scan(lambda c, _: (f(c, k), None), x, None, length=n)[0]


def unrolled(f, n=4):
    def run(x, k):
        for _ in range(n):
            x = f(x, k)
        return x
    return run


def grad(f):
    return jax.grad(lambda x, k: (f(x, k) ** 2).sum(), argnums=(0, 1))


def grouped(x, k):
    return conv(x, k, feature_group_count=x.shape[-1] // k.shape[-2])


def strided(x, k):
    return lax.conv_general_dilated(
        x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=x.shape[-1] // k.shape[-2])


x64, k8, k32 = arr(8, 32, 32, 64), arr(3, 3, 8, 64) * 0.1, arr(3, 3, 2, 64) * 0.1


programs = {
    "conv_outside": (unrolled(conv), (x, k)),
    "conv_fori": (loop(conv), (x, k)),
    "conv_scan": (scan(conv), (x, k)),
    "conv_grad_outside": (grad(unrolled(conv)), (x, k)),
    "conv_grad_scan": (grad(scan(conv)), (x, k)),
    "nchw_outside": (unrolled(nchw), (xc, kc)),
    "nchw_scan": (scan(nchw), (xc, kc)),
    "nchw_grad_outside": (grad(unrolled(nchw)), (xc, kc)),
    "nchw_grad_scan": (grad(scan(nchw)), (xc, kc)),
    "depthwise_outside": (unrolled(depthwise), (x, kd)),
    "depthwise_scan": (scan(depthwise), (x, kd)),
    "depthwise_grad_outside": (grad(unrolled(depthwise)), (x, kd)),
    "depthwise_grad_scan": (grad(scan(depthwise)), (x, kd)),
    "conv1d_outside": (unrolled(conv1), (x1, k1)),
    "conv1d_scan": (scan(conv1), (x1, k1)),
    "conv1d_grad_outside": (grad(unrolled(conv1)), (x1, k1)),
    "conv1d_grad_scan": (grad(scan(conv1)), (x1, k1)),

    "groups8": (grouped, (x64, k8)),
    "groups8_grad": (grad(grouped), (x64, k8)),
    "groups32": (grouped, (x64, k32)),
    "groups32_grad": (grad(grouped), (x64, k32)),
    "depthwise_strided_grad": (grad(strided), (x, kd)),
    "depthwise7": (depthwise, (x, arr(7, 7, 1, 16))),
    "depthwise7_grad": (grad(depthwise), (x, arr(7, 7, 1, 16))),
    "depthwise_sum": (lambda x, k: depthwise(x, k).sum((1, 2)), (x, kd)),
    "depthwise_of_gelu": (lambda x, k: depthwise(jax.nn.gelu(x), k), (x, kd)),
    "vmap_kernels": (jax.vmap(lambda x, k: conv(x, k)), (arr(8, 2, 32, 32, 16), arr(8, 3, 3, 16, 16))),
}
