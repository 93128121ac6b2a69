"""Special functions in float64 that are long kernels with many masks; for `interleaved.py`, in the mode compile.

    python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/special_compile.py --mode compile --cpu --rounds 3
"""
import jax
import jax.numpy as jnp
from jax.scipy import special

jax.config.update("jax_enable_x64", True)
x = jnp.linspace(0.5, 4.0, 1000)


def slope(function):
    return jax.grad(lambda *args: function(*args).sum())


programs = {
    "poch": (lambda x: special.poch(x, x + 1), (x,)),
    "poch_grad": (slope(lambda x: special.poch(x, x + 1)), (x,)),
    "comb_grad": (slope(lambda x: special.comb(x, x / 2)), (x,)),
    "gammainc_grad": (slope(lambda x: special.gammainc(x, x + 1)), (x,)),
    "gammaincc_grad": (slope(lambda x: special.gammaincc(x, x + 1)), (x,)),
    "betainc_grad": (slope(lambda x: special.betainc(2.0, 3.0, x / 5)), (x,)),
    "hyp1f1_grad": (slope(lambda x: special.hyp1f1(x, x + 1, -x)), (x,)),
    "hyp2f1_grad": (slope(lambda x: special.hyp2f1(x, x + 1, x + 2, x / 5)), (x,)),
    "sici": (special.sici, (x,)),
    "fresnel": (special.fresnel, (x,)),
    "expi": (special.expi, (x,)),
    "polygamma": (lambda x: special.polygamma(2, x), (x,)),
}
