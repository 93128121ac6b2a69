"""Metadata, compute_on, program_order: what XLA is told stands in the program, results and derivatives stay the same."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.memory import Space
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_xla_backend.operations.annotations import (
    compute_on,
    fuse_limit,
    fused,
    must_fuse_call,
    program_order,
    scheduling_group,
    set_xla_metadata,
    xla_metadata_call,
    xla_metadata_call2,
)

jax_xla_backend.load()
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def plain(x):
    return jnp.sin(x) * x.sum(0)


WRAPPED = {
    "metadata": xla_metadata_call(plain, tag="a"),
    "metadata without": xla_metadata_call2(plain, {"tag": 1.5}, ad_metadata="drop"),
    "metadata other": xla_metadata_call2(plain, {"tag": True}, ad_metadata={"other": 2}),
    "must fuse": must_fuse_call("1")(plain),
    "scheduling group": scheduling_group("g")(plain),
    "host": compute_on(plain, compute_type="device_host", out_memory_spaces=Space.Device),
    "fused": fused(out_spaces=Space.Device)(plain),
    "ordered": program_order(plain, enforce=True),
    "ordered strictly": program_order(plain, enforce=True, strict_in_out=True),
    "unordered": program_order(plain, enforce=False),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_transforms_like_the_function(name):
    f = WRAPPED[name]
    near = lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)
    near(f(X), plain(X))
    near(jit(f)(X), plain(X))
    loss = lambda f: lambda x: jnp.sum(jnp.cos(f(x)))
    near(grad(loss(f))(X), grad(loss(plain))(X))
    near(jit(grad(loss(f)))(X), grad(loss(plain))(X))
    near(grad(lambda x: grad(loss(f))(x).sum())(X), grad(lambda x: grad(loss(plain))(x).sum())(X))
    for a, b in zip(jvp(f, (X,), (X,)), jvp(plain, (X,), (X,))):
        near(a, b)
    rows = np.stack([X, 2 * X])
    near(vmap(f)(rows), vmap(plain)(rows))
    near(jit(grad(lambda x: vmap(f)(x).sum()))(rows), grad(lambda x: vmap(plain)(x).sum())(rows))


def text(f, *args):
    return jit(f).lower(*args).as_text()


def test_what_xla_is_told():
    assert 'call @xla_metadata_call(%arg0) {mhlo.frontend_attributes = {tag = "a"}}' in text(WRAPPED["metadata"], X)
    assert '{tag = "true"}' in text(WRAPPED["metadata other"], X)
    derivative = text(grad(lambda x: WRAPPED["metadata other"](x).sum()), X)
    assert '{tag = "true"}' in derivative and '{other = "2"}' in derivative
    assert text(grad(lambda x: WRAPPED["metadata without"](x).sum()), X).count("frontend_attributes") == 1
    assert '{_xla_compute_type = "host"}' in text(WRAPPED["host"], X)
    assert '{MUST_FUSE = "1"}' in text(WRAPPED["must fuse"], X)
    assert '{scheduling_group = "g"}' in text(WRAPPED["scheduling group"], X)


def test_metadata_of_values_and_blocks():
    marked = text(lambda x: set_xla_metadata(jnp.sin(x), kind=3) * 2, X)
    assert 'stablehlo.sine %arg0 {mhlo.frontend_attributes = {kind = "3"}}' in marked
    assert marked.count("frontend_attributes") == 1

    def block(x):
        with set_xla_metadata(a="x", b=True):
            y = jnp.cos(x)
            with set_xla_metadata(b=False):
                return jnp.sin(y)
    marked = text(block, X)
    assert 'stablehlo.cosine %arg0 {mhlo.frontend_attributes = {a = "x", b = "true"}}' in marked
    assert '{a = "x", b = "false"}' in marked
    assert "frontend_attributes" in text(block, X) and "frontend_attributes" not in text(jnp.sin, X)
    with pytest.raises(TypeError, match="metadata values must be str, bool, int or float; that of k"):
        set_xla_metadata(X, k=[1])


def test_blocks_of_operations_with_regions():
    def f(x):
        with fuse_limit():
            y = jnp.sort(x, 1) @ x.T + jnp.cumsum(x, 0).sum() + lax.scan(lambda c, r: (c + r, c), jnp.zeros(4), x)[1].sum()
            return lax.cond(y[0, 0] > 0, lambda: y, lambda: -y) + lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)
    assert "FUSE_LIMIT" in text(f, X)
    y = np.sort(X, 1) @ X.T + np.cumsum(X, 0).sum() + sum((np.cumsum(X, 0) - X).ravel())
    np.testing.assert_allclose(jit(f)(X), (y if y[0, 0] > 0 else -y) + 3, rtol=1e-5)
    np.testing.assert_allclose(jit(grad(lambda x: f(x).sum()))(X).shape, X.shape)


def test_program_order():
    def f(a, b):
        return jnp.sin(a), jnp.cos(b) + a
    barriers = lambda **how: text(program_order(f, **how), X, X).count("optimization_barrier")
    assert (barriers(enforce=False), barriers(enforce=True), barriers(enforce=True, strict_in_out=True)) == (0, 2, 4)
    assert barriers(enforce=True, exclude_argnames=["a", "b"]) < 3
    assert "strict_in=False" in str(make_jaxpr(program_order(f, enforce=True))(X, X))
    with pytest.raises(ValueError, match=r"exclude_argnames has \['q'\]"):
        program_order(f, enforce=True, exclude_argnames=["q"])


def test_compute_types():
    with pytest.raises(ValueError, match="invalid compute type 'moon'"):
        compute_on(plain, compute_type="moon", out_memory_spaces=Space.Device)
    options = compute_on(compute_type="device_host", out_memory_spaces=Space.Device, compiler_options={"k": "v"})(plain)
    assert "_xla_compiler_options" in text(options, X)


def test_metadata_of_a_block_belong_to_what_is_traced_inside():
    fun = jit(lambda x: x * 2.0)
    with set_xla_metadata(a="b", c="d"):
        inside = fun.lower(1.0).as_text()
        with set_xla_metadata(a=None):
            eqn, = fun.trace(1.0).jaxpr.eqns
            assert eqn.ctx.xla_metadata == {"a": None, "c": "d"}
            assert 'a = "b"' not in fun.lower(1.0).as_text()
    assert '{a = "b", c = "d"}' in inside and "frontend" not in fun.lower(1.0).as_text()
    assert 'a = "b"' in set_xla_metadata(a="b")(fun).lower(1.0).as_text()


@pytest.mark.parametrize("arguments, options", [((plain, {"a": "b"}), {"ad_metadata": "typo"}), ((3, {"a": "b"}), {}), ((plain, "text"), {}),
                                               ((plain, {"a": object()}), {})])
def test_bad_metadata(arguments, options):
    with pytest.raises(TypeError, match="metadata"):
        xla_metadata_call2(*arguments, **options)


def test_metadata_without_a_name():
    for function in (lambda: set_xla_metadata(**{"": "b"}), lambda: set_xla_metadata(X, **{"": "b"}), lambda: xla_metadata_call2(plain, {"": "b"})):
        with pytest.raises(ValueError, match="name of metadata is empty"):
            function()


def test_a_value_that_several_operations_give_is_marked():
    """The last of them: tanh of few elements is written with others before it."""
    assert [line for line in text(lambda x: set_xla_metadata(jnp.tanh(x), a="b"), np.float32(1)).splitlines() if "tanh" in line and 'a = "b"' in line]
