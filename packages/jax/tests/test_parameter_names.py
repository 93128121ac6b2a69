"""Parameters of users' primitives may have any name, also those that our rules call their own arguments by."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

NAMES = ("args axes axis axis_data b builder callback consts ct ctx cts dims eqn f fun g in_axes jaxpr key kwargs length name operands out out_type outs params "
         "prim primals primitive rule run shape size tangents trace traced values where write x y").split()
STYLES = {  # how a rule is registered: derivative, vmap, lowering
    "linear": (lambda p: ad.deflinear(p, lambda *ct, **k: [p.bind(*ct, **k)]), batching.defvectorized, None),
    "linear2": (lambda p: ad.deflinear2(p, lambda *a, **k: [p.bind(a[0], **k)]),
                lambda p: batching.fancy_primitive_batchers.update({p: lambda *a, **k: (p.bind(*a[1], **k), a[2][0])}), "platform"),
    "jvp": (lambda p: _jvp(p, lambda: ad.primitive_jvps.update({p: lambda *a, **k: (p.bind(*a[0], **k), p.bind(*a[1], **k))})),
            lambda p: batching.primitive_batchers.update({p: lambda *a, **k: (p.bind(*a[0], **k), a[1][0])}), "bindings"),
    "defjvp": (lambda p: _jvp(p, lambda: ad.defjvp(p, lambda *a, **k: p.bind(a[0], **k))), batching.defbroadcasting, None),
    "defjvp2": (lambda p: _jvp(p, lambda: ad.defjvp2(p, lambda *a, **k: p.bind(a[0], **k))), batching.defvectorized, None),
}


def _jvp(p, register):
    register()
    ad.primitive_transposes[p] = lambda *a, **k: (p.bind(a[0], **k),)


def doubled(style):
    """A primitive that doubles, whatever its parameters are."""
    derivative, batch, lowering = STYLES[style]
    p = Primitive(f"doubled_{style}")
    p.def_impl(lambda *a, **k: 2 * a[0])
    p.def_abstract_eval(lambda *a, **k: jax.core.ShapedArray(a[0].shape, a[0].dtype))
    write = mlir.lower_fun(lambda *a, **k: 2 * a[0], multiple_results=False)
    if lowering == "bindings":
        from jax._src.lib.mlir.dialects import hlo
        write = lambda *a, **k: [hlo.add(a[1], a[1])]
    mlir.register_lowering(p, write, platform=jax.default_backend() if lowering == "platform" else None)
    derivative(p), batch(p)
    return p


@pytest.mark.parametrize("style", STYLES)
def test_every_rule_takes_every_name(style):
    p, x, parameters = doubled(style), np.arange(1, 4, dtype=np.float32), dict.fromkeys(NAMES, 7)
    f = lambda v: p.bind(v, **parameters)
    assert np.array_equal(f(x), 2 * x) and np.array_equal(jax.jit(f)(x), 2 * x) and np.array_equal(jax.vmap(f)(x), 2 * x)
    assert np.array_equal(jax.jvp(f, (x,), (x,))[1], 2 * x) and np.array_equal(jax.linearize(f, x)[1](x), 2 * x)
    assert np.array_equal(jax.jit(jax.vmap(jax.grad(f)))(x), [2, 2, 2])
    assert np.array_equal(jax.grad(lambda v: jnp.sum(jax.checkpoint(f)(v)))(x), [2, 2, 2])
    assert jax.eval_shape(f, x).shape == (3,) and all(f"{name}=7" in str(jax.make_jaxpr(f)(x)) for name in NAMES)
