"""Typical lines, for type checkers; never run. A line that must be an error ends in ``# error``."""
from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, assert_type

import numpy as np

import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import Array, grad, jit, lax, nn, random, tree, tree_util, vmap
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.typing import ArrayLike, DTypeLike

# -- arrays ------------------------------------------------------------------------------------------------------------
x = jnp.arange(12.0).reshape(3, 4)
key = random.PRNGKey(0)
assert_type(x, Array)
assert_type(jnp.zeros((2, 3)), Array)
assert_type(jnp.ones(3, jnp.int32), Array)
assert_type(jnp.full((2,), 7, dtype="float32"), Array)
assert_type(jnp.eye(3, dtype=np.float32), Array)
assert_type(jnp.asarray([1, 2, 3]), Array)
assert_type(jnp.array(np.ones(3), dtype=x.dtype), Array)
assert_type(jnp.linspace(0, 1, 5), Array)
assert_type(jnp.linspace(0, 1, retstep=True), tuple[Array, Array])
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.T @ x, Array)
assert_type(x[0], Array)
assert_type(x[:, None, ..., 1:2], Array)
assert_type(x[x > 0], Array)
assert_type(x + 1, Array)
assert_type(2 * x, Array)
assert_type(1.0 / x, Array)
assert_type(x ** 2, Array)
assert_type(-x, Array)
assert_type(abs(x), Array)
assert_type(x > 0, Array)
assert_type(x == x, Array)
assert_type(~(x > 0), Array)
assert_type((x > 0) & (x < 5), Array)
assert_type(x.at[0, 1].set(1.0), Array)
assert_type(x.at[0].add(x[1]), Array)
assert_type(x.at[x > 3].get(mode="fill", fill_value=0), Array)
assert_type(x.astype(jnp.bfloat16), Array)
assert_type(x.sum(axis=0), Array)
assert_type(x.mean(), Array)
assert_type(x.max(axis=(0, 1), keepdims=True), Array)
assert_type(x.item(), Any)
assert_type(float(x.sum()), float)
assert_type(len(x), int)
assert_type(bool(x.any()), bool)
assert_type(x.block_until_ready(), Array)
assert_type(x.sharding, jax.sharding.Sharding)
rows: list[Array] = [row for row in x]
host: np.ndarray[Any, Any] = np.asarray(x)
total: float = float(jnp.sum(x))
x.shpae  # error
x.at[0].sett(1)  # error
x + "a"  # error

# -- jax.numpy ---------------------------------------------------------------------------------------------------------
assert_type(jnp.sin(1.0), Array)
assert_type(jnp.add(1, x), Array)
assert_type(jnp.add.reduce(x), Array)
assert_type(jnp.maximum(x, 0), Array)
assert_type(jnp.where(x > 0, x, 0.0), Array)
assert_type(jnp.where(x > 0), tuple[Array, ...])
assert_type(jnp.concatenate([x, x], axis=1), Array)
assert_type(jnp.stack((x, x)), Array)
assert_type(jnp.split(x, 2, axis=1), list[Array])
assert_type(jnp.meshgrid(x[0], x[1]), tuple[Array, ...])
assert_type(jnp.einsum("ij,kj->ik", x, x), Array)
assert_type(jnp.dot(x, x.T, precision="highest"), Array)
assert_type(jnp.linalg.norm(x, axis=-1), Array)
assert_type(jnp.linalg.inv(x @ x.T), Array)
assert_type(jnp.linalg.solve(x, x), Array)
assert_type(jnp.linalg.eigh(x).eigenvalues, Array)
assert_type(jnp.fft.rfft(x), Array)
assert_type(jnp.argmax(x, axis=1), Array)
assert_type(jnp.take_along_axis(x, jnp.argsort(x), axis=-1), Array)
assert_type(jnp.clip(x, 0, 1), Array)
assert_type(jnp.clip(x, max=1), Array)
assert_type(jnp.expand_dims(x, (0, 1)), Array)
assert_type(jnp.atleast_2d(x), Array)
assert_type(jnp.float32(1), Array)
assert_type(jnp.pi, float)
assert_type(jnp.average(x, weights=x), Array)
assert_type(jnp.isclose(x, x), Array)
assert_type(jnp.pad(x, ((0, 1), (1, 0))), Array)
assert_type(jnp.histogram(x)[0], Array)
smallest: float = float(jnp.finfo(x.dtype).eps)
assert_type(jnp.iinfo("int32").max, int)
assert_type(jnp.issubdtype(x.dtype, jnp.floating), bool)
jnp.sni(1.0)  # error
jnp.sum(x, axs=0)  # error
jnp.zeros(3, dtyp=int)  # error
jnp.sin("x")  # error
jnp.linalg.nrom(x)  # error
jnp.np  # error


# -- transformations ---------------------------------------------------------------------------------------------------
def loss(w: Array, batch: Array) -> Array:
    return jnp.mean((batch @ w) ** 2)


class Params(NamedTuple):
    w: Array
    b: Array


@jit
def predict(params: Params, batch: Array) -> Array:
    return nn.relu(batch @ params.w + params.b)


@functools.partial(jax.jit, static_argnames="n")
def repeated(a: Array, n: int = 2) -> Array:
    return jnp.tile(a, n)


@jax.jit(static_argnames=("n",))
def repeated_too(a: Array, n: int = 2) -> Array:
    return jnp.tile(a, n)


class Model:
    scale: float = 2.0

    @jax.jit
    def double(self, a: Array) -> Array:
        return a * 2

    @functools.partial(jax.jit, static_argnums=0)
    def scaled(self, a: Array) -> Array:
        return a * self.scale


@jax.custom_jvp
def clipped(a: Array) -> Array:
    return jnp.clip(a, 0, 1)


@clipped.defjvp
def clipped_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return clipped(*primals), tangents[0]


@jax.custom_vjp
def scaled(a: Array, c: float) -> Array:
    return a * c


@jax.checkpoint
def block(a: Array) -> Array:
    return jnp.tanh(a)


params = Params(jnp.ones((4, 2)), jnp.zeros(2))
assert_type(predict(params, x), Array)
assert_type(repeated_too(x, n=3), Array)
assert_type(Model().double(x), Array)
assert_type(clipped(x), Array)
assert_type(scaled(x, 2.0), Array)
assert_type(block(x), Array)
assert_type(vmap(loss)(x, x), Array)
assert_type(vmap(loss, in_axes=(None, 0))(x, x), Array)
gradient = grad(loss)(params.w, x)
value, gradient = jax.value_and_grad(loss)(params.w, x)
assert_type(value, Array)
(value, aux), gradient = jax.value_and_grad(lambda w: (jnp.sum(w), w), has_aux=True)(x)
out, pullback = jax.vjp(loss, params.w, x)
assert_type(out, Array)
out, tangent = jax.jvp(jnp.sin, (x,), (x,))
out, linear = jax.linearize(jnp.sin, x)
assert_type(out, Array)
print(jax.make_jaxpr(loss)(params.w, x))
lowered = predict.lower(params, x)
assert_type(lowered.as_text(), str)
compiled = lowered.compile()
hessian = jax.hessian(loss)(params.w, x)
jacobian = jax.jacfwd(loss)(params.w, x)
predict(params)  # error
predict(params, x, x)  # error
predict.lowr(params, x)  # error
jax.grdd(loss)  # error


# -- control flow ------------------------------------------------------------------------------------------------------
def step(carry: Array, item: Array) -> tuple[Array, Array]:
    return carry + item, carry


final, history = lax.scan(step, jnp.float32(0), x[0])
assert_type(final, Array)
assert_type(lax.fori_loop(0, 10, lambda i, c: c + 1, x), Array)
looped: tuple[int, Array] = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (1, x))
chosen = lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x)
chosen = lax.switch(1, [jnp.sin, jnp.cos], x)
assert_type(lax.dynamic_slice(x, (0, 0), (1, 2)), Array)
assert_type(lax.dot_general(x, x, (((1,), (1,)), ((), ()))), Array)
assert_type(lax.rsqrt(x), Array)
assert_type(lax.stop_gradient(x), Array)
assert_type(lax.top_k(x, 2), list[Array])
lax.sacn(step, x, x)  # error

# -- random, nn, trees, scipy ------------------------------------------------------------------------------------------
key, subkey = random.split(key)
assert_type(key, Array)
assert_type(random.normal(subkey, (3, 2)), Array)
assert_type(random.uniform(key, shape=(2,), minval=-1), Array)
assert_type(random.randint(key, (3,), 0, 10), Array)
assert_type(random.permutation(key, x), Array)
assert_type(random.fold_in(key, 1), Array)
assert_type(nn.softmax(x, axis=-1), Array)
assert_type(nn.relu(x), Array)
assert_type(nn.one_hot(jnp.array([1, 2]), 3), Array)
assert_type(nn.initializers.he_normal()(key, (3, 2), jnp.float32), Array)
assert_type(nn.logsumexp(x), Array)
assert_type(jsp.special.gammaln(x), Array)
assert_type(jsp.stats.norm.logpdf(x), Array)
assert_type(jsp.linalg.cho_factor(x), tuple[Array, bool])
assert_type(tree.leaves(params), list[Any])
doubled = tree.map(lambda leaf: 2 * leaf, params)
leaves, treedef = tree_util.tree_flatten(params)
again = treedef.unflatten(leaves)
tree.functools  # error
random.nromal(key)  # error
nn.rleu(x)  # error
jsp.stats.norm.lpdf(x)  # error

# -- devices, configuration --------------------------------------------------------------------------------------------
mesh = Mesh(np.array(jax.devices()), ("data",))
sharding = NamedSharding(mesh, PartitionSpec("data"))
placed = jax.device_put(x, sharding)
jax.config.update("jax_enable_x64", True)
with jax.disable_jit(), jax.debug_nans(True), jax.named_scope("part"):
    jax.debug.print("x = {x}", x=x)
assert_type(jax.device_count(), int)
assert_type(jax.__version__, str)
jax.block_until_ready(x).sum()
spec = jax.ShapeDtypeStruct((3, 4), jnp.float32)
shape = jax.eval_shape(loss, spec, spec)
result = jax.pure_callback(np.sin, spec, x)


def generic(a: ArrayLike, dtype: DTypeLike = jnp.float32) -> Array:
    try:
        return jnp.asarray(a, dtype)
    except jax.errors.TracerBoolConversionError:
        return jnp.zeros((), dtype)


generic(1), generic(np.ones(3), "int8"), generic(True, int)
generic("a")  # error

# -- devices, meshes, references, flags ----------------------------------------------------------------------------------
assert_type(jax.devices()[0].id, int)
assert_type(jax.devices()[0].platform, str)
mesh_1 = Mesh(np.array(jax.devices()), ("x",))
assert_type(mesh_1.shape["x"], int)
assert_type(NamedSharding(mesh_1, PartitionSpec("x")).spec, PartitionSpec)
NamedSharding(mesh_1, 3)  # error
assert_type(jax.device_put(np.ones(3), mesh_1.devices.flat[0]), Array)
assert_type(jax.device_put({"a": x}), Any)
assert_type(jax.ShapeDtypeStruct((2,), jnp.float32).shape, tuple[int, ...])
assert_type(jax.new_ref(x)[0], Array)
assert_type(x.addressable_shards[0].data, Array)
assert_type(tree.structure(x).num_leaves, int)
assert_type(jax.jvp(jnp.sin, (x,), (x,)), tuple[Array, Array])
assert_type(lax.psum(x, "i"), Array)
assert_type(lax.pmean({"a": x}, "i"), Any)
assert_type(jnp.add(x, 1), Array)
assert_type(jnp.add.reduce(x), Array)
jnp.add(x)  # error
jnp.maximum(x, [1, 2])  # error
assert_type(jnp.finfo(jnp.bfloat16).bits, int)
assert_type(jax.config.jax_enable_x64, bool)
jax.config.jax_enable_x46  # error
jax.config.updat("jax_enable_x64", True)  # error


@tree_util.register_pytree_node_class
class Point:
    place: Array

    def tree_flatten(self) -> tuple[tuple[Array], None]:
        return (self.place,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Array]) -> "Point":
        return cls()


assert_type(Point(), Point)


# -- jit of a lambda where any function is taken, and contexts as decorators ------------------------------------------------
jax.vjp(jit(lambda v: v), 1.0)
jax.linearize(jit(lambda v: v * 2), x)
tree.map(jit(lambda v: v), {"a": x})
any_function: Callable[..., Any] = jit(lambda v: v + 1)
assert_type(jit(jnp.sin).lower(x), jax.stages.Lowered)


@jax.named_scope("layer")
@jax.default_matmul_precision("highest")
def scoped(v: Array) -> Array:
    with jax.named_scope("inner"), jax.enable_x64(False):
        return v + 1


assert_type(scoped(x), Array)
scoped()  # error
half: np.dtype[Any] = jnp.float16
assert_type(jnp.float32(1.5), Array)
assert_type(nn.one_hot([0, 1], 3), Array)
assert_type(jnp.array_equal(x, [1, 2]), Array)
assert_type(lax.fori_loop(0, 3, lambda i, c: c + x[i, 0], 0.0), Array)
assert_type(lax.scan(lambda c, row: (c + row.sum(), row), 0, x)[0], Array)
assert_type(lax.while_loop(lambda c: c < 5, lambda c: c + x.sum(), 0.0), Array)
lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] + x.sum()), (0, 1.0))
lax.fori_loop(0, 3, scoped, x)  # error
assert_type(jnp.unique(x), Array)
values, counts = jnp.unique(x, return_counts=True)
assert_type(counts, Array)
assert_type(jnp.unique_counts(x).counts, Array)
assert_type(jnp.intersect1d(x, x, return_indices=True), tuple[Array, Array, Array])
assert_type(jnp.indices((2, 3), sparse=True), tuple[Array, ...])
assert_type(jnp.polyfit(x[0], x[1], 1), Array)
assert_type(jnp.linalg.svd(x).S, Array)
assert_type(jnp.linalg.svd(x, False, False), Array)
jnp.linalg.svd(x, compute_uv=False).S  # error
assert_type(jnp.linalg.qr(x).Q, Array)
assert_type(jnp.linalg.qr(x, "r"), Array)
assert_type(jsp.linalg.svd(x), tuple[Array, Array, Array])
assert_type(jsp.linalg.eigh(x @ x.T), tuple[Array, Array])
assert_type(jsp.linalg.eigh(x @ x.T, eigvals_only=True), Array)
assert_type(nn.dot_product_attention(x, x, x), Array)
