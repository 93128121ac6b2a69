"""Programs on eight devices: regions by device and their collectives (`REGIONS`), and arrays whose types say how they are split (`SPLIT`).

A program is a few lines, as those of `large`, of arrays whose axes the mesh divides. What a user sees of a type is a result, too: its text, as
numbers. Start the fuzzer with JAX_NUM_CPU_DEVICES=8 in the environment.
"""
from __future__ import annotations

import random

import jax
from fuzz import values

ELEMENTS = 5000
SHAPES = ("(8,)", "(8, 4)", "(8, 4)", "(4, 8)", "(16,)", "(8, 8)", "(2, 8, 4)", "(8, 1)", "(4,)")
_PARTS = {"jax.P('x')": (4,), "jax.P('x', 'y')": (4, 2), "jax.P('y')": (2,), "jax.P(None, 'x')": (1, 4), "jax.P(('x', 'y'))": (8,), "jax.P('y', 'x')": (2, 4), "jax.P()": ()}  # of each axis
_SPECS = tuple(_PARTS)


def _mesh(kind: str) -> str:
    return f"jax.make_mesh((4, 2), ('x', 'y'), (jax.sharding.AxisType.{kind},) * 2)"


def _split(spec: str, kind: str = "Explicit") -> str:
    return f"jax.NamedSharding({_mesh(kind)}, {spec})"


_TYPE = "jnp.array(list(str(jax.typeof({x})).encode()), 'uint8')"
_REGION = (  # of a block c of x, on a device
    "{body c}", "lax.psum(c, 'x')", "lax.psum({body c}, ('x', 'y'))", "lax.pmean(c, 'y')", "lax.pmax(c, 'x')", "lax.pmin(c, ('x', 'y'))", "lax.all_gather(c, 'x')", "lax.all_gather(c, 'x', tiled=True)", "lax.all_gather(c, ('x', 'y'), axis=c.ndim - 1, tiled=True)", "lax.psum_scatter(c, 'x', tiled=True)", "lax.psum_scatter(c, 'y', scatter_dimension=c.ndim - 1, tiled=True)",
    "lax.ppermute(c, 'x', [(i, (i + 1) % 4) for i in range(4)])", "lax.ppermute(c, ('x', 'y'), [(0, 5), (5, 0)])", "lax.pshuffle(c, 'y', [1, 0])", "lax.all_to_all(c, 'x', 0, c.ndim - 1, tiled=True)", "lax.all_to_all(c, 'y', 0, 0, tiled=True)", "c * lax.axis_index('x') + lax.axis_size('y')", "c + lax.axis_index(('x', 'y'))", "lax.scan(lambda s, t: (s + t, s), c[0] * 0, c)[1]",
    "lax.fori_loop(0, 2, lambda i, s: lax.ppermute(s, 'x', [(i, (i + 1) % 4) for i in range(4)]) * 2, c)", "lax.cond(lax.axis_index('x') > 1, lambda: c, lambda: c * 2)", "jax.grad(lambda s: lax.psum(jnp.sum(s ** 2), 'x'))(c)", "jax.vmap(lambda s: s - lax.pmean(s, 'x'))(c)", "jax.checkpoint(lambda s: jnp.sin(lax.psum(s, 'y')))(c)", "lax.while_loop(lambda s: lax.psum(s.sum(), ('x', 'y')) < 5, lambda s: s + 1, c)", "jnp.sort(c)", "jnp.linalg.norm(lax.psum(c, 'x'))",
    "lax.pcast(c, 'x', to='varying') if 'x' not in jax.typeof(c).vma else c", "jnp.zeros_like(c) + c.sum()", "jnp.ones(2) * lax.psum(c.sum(), 'y')", "lax.psum(jnp.arange(4.0) * lax.axis_index('x'), 'x')", "jax.random.normal(jax.random.fold_in(jax.random.key(0), lax.axis_index('x')), c.shape) * c", "jax.jvp(lambda s: lax.psum(jnp.sin(s), 'y'), (c,), (c,))[1]", "lax.associative_scan(jnp.add, c)")
_OPERATIONS = (  # of arrays with split types
    "(lambda c: {body c})({x})", "(lambda c, t: {body c,t})({x}, {y})", "{x} + {y}", "{x} * {lit}", "jnp.where({mask}, {x}, {y})", "{x}.T", "jnp.swapaxes({x}, 0, -1)", "{x}[None]", "jnp.squeeze({x}[None], 0)", "{x}[..., None]", "{x}.reshape({x}.shape)", "{x}.reshape((1,) + {x}.shape)", "{x}.reshape(-1)", "{x}.reshape(2, -1)", "jnp.broadcast_to({x}, (2,) + {x}.shape)", "{x}[0]", "{x}[:, 0]", "{x}[1:3]", "{x}[::2]", "{x}[::-1]", "{x}[jnp.array([0, 2])]", "jnp.take({x}, {i}, axis=0)", "{x}.at[0].set(1)", "{x}.at[jnp.array([0, 1])].add(2)",
    *[f"jnp.{name}({{x}}, axis={{axis}}, keepdims={flag})" for name in ("sum", "max", "mean", "var", "argmax", "any", "prod") for flag in (True, False)], "jax.nn.softmax({x})", "jax.nn.logsumexp({x}, axis={axis})", "jnp.cumsum({x}, axis={axis})", "jnp.sort({x}, axis={axis})", "jnp.argsort({x})", "jnp.flip({x}, 0)", "jnp.roll({x}, 1, 0)", "jnp.concatenate([{x}, {x}])", "jnp.stack([{x}, {x}])", "jnp.stack([{x}, {y}], 1)", "jnp.pad({x}, 1)", "jnp.tile({x}, 2)", "jnp.repeat({x}, 2, 0)", "jnp.split({x}, 2)[0]", "jnp.expand_dims({x}, 1)", "jnp.ones_like({x})", "jnp.zeros_like({x}) + 1", "jnp.full_like({x}, {lit})",
    "{m} @ {m}.T", "{m}.T @ {m}", "{x} @ {y}", "jnp.einsum('ij,kj->ik', {m}, {m})", "jnp.einsum('ij->j', {m})", "jnp.einsum('ij,ij->i', {m}, {m})", "jnp.dot({x}, {y})", "jnp.outer({x}, {x})", *[f"jnp.einsum('ij,kj->ik', {{m}}, {{m}}, out_sharding={_split(spec)})" for spec in _SPECS[:4]], *[f"jnp.sum({{m}}, 0, keepdims=False) + jax.reshard(jnp.ones({{m}}.shape[1]), {_split(spec)})" for spec in ("jax.P('y')", "jax.P('x')")], "jnp.linalg.norm({x})", "jnp.linalg.cholesky({m} @ {m}.T + 50 * jnp.eye({m}.shape[0]))", "jnp.tril({m})", "jnp.diagonal({m})", "lax.top_k({x}, 2)[0]", "jnp.diff({x})",
    "lax.scan(lambda c, t: (c + t, c * t), {x}[0], {x})[1]", "lax.scan(lambda c, t: (c * 2, None), {x}, None, length=2)[0]", "lax.fori_loop(0, 2, lambda i, c: {body c}, {x})", "lax.while_loop(lambda c: c.sum() < 5, lambda c: c + 1, {x})", "lax.cond({x}.sum() > 0, lambda c: {body c}, lambda c: c, {x})", "lax.map(lambda c: {body c}, {x})", "jax.vmap(lambda c: {body c})({x})", "jax.vmap(lambda c: c * 2, in_axes=-1, out_axes=-1)({x})", "jax.vmap(lambda c, t: c @ t, (0, None))({m}, {m}.T)", "jax.checkpoint(lambda c: {body c})({x})", "jax.grad(lambda c: jnp.sum({body c}))({f})", "jax.grad(lambda c: jnp.sum((c @ c.T) ** 2))({m})", "jax.jvp(lambda c: {body c}, ({f},), ({f},))[1]",
    "jax.vmap(jax.grad(lambda c: jnp.sum({body c})))({f})", "jax.linearize(lambda c: {body c}, {f})[1]({f})", "jax.vjp(lambda c: {body c}, {f})[1]({f})[0]", "jax.jacrev(lambda c: jnp.sum(c, -1))({m})", "jax.jit(lambda c: {body c})({x})", "lax.stop_gradient({x})", "{x}.astype({dtype})", "lax.reduce_precision({f}, 5, 3)", "jnp.clip({x}, -1, {y})", "lax.select({mask}, {x}, {y})", "jax.random.normal(jax.random.key(0), {x}.shape) * {x}", "(lambda r: (r.__setitem__(..., r[...] * 2), r[...])[1])(jax.new_ref({x}))", "lax.conv_general_dilated({m}[None, None], jnp.ones((1, 1, 3, 3), {m}.dtype), (1, 1), 'SAME')", "jnp.interp({f}, jnp.arange(3.0), jnp.arange(3.0))", "jax.nn.one_hot({i}, 4)", "lax.dynamic_slice_in_dim({x}, {n}, 2)", "lax.dynamic_update_slice_in_dim({x}, {x}[:1], {n}, 0)",
)
_EVERYWHERE = ("jax.P('x', 'y')", "jax.P('y', 'x')", "jax.P(('x', 'y'))")  # what is not checked must be split over all devices
_IN_TYPES = (*[f"jax.reshard({{x}}, {spec})" for spec in _SPECS] * 4, *[_TYPE] * 30, *_OPERATIONS * 3, *[f"jax.shard_map(lambda c: {what}, in_specs={spec}, out_specs={out})({{x}})" for what in _REGION for spec in _SPECS[:2] for out in _SPECS[:2]])
_BY_DEVICE = (
    *[f"jax.shard_map(lambda c: {what}, mesh={_mesh('Auto')}, in_specs={spec}, out_specs={out}{check})({{x}})" for what in _REGION for check in ("", ", check_vma=False") for spec in _SPECS[:4] for out in (_EVERYWHERE if check else _SPECS[:6])],
    *[f"jax.{how}(lambda u: jnp.sum(jax.shard_map(lambda c: {what}, mesh={_mesh('Auto')}, in_specs={spec}, out_specs={spec})(u) ** 2))({{f}})" for how in ("grad", "hessian") for what in _REGION[:26] for spec in _SPECS[:2]],
    *[f"jax.shard_map(lambda c: {what}, mesh={_mesh('Auto')}, in_specs=jax.P('x'), out_specs=jax.P('x'), axis_names={{'x'}})({{x}})" for what in _REGION if "'y'" not in what],
    *[f"jax.vmap(jax.shard_map(lambda c: {what}, mesh={_mesh('Auto')}, in_specs={spec}, out_specs={spec}), in_axes={axis}, out_axes={axis})({{x}})" for what in _REGION[:20] for spec in _SPECS[:2] for axis in (0, -1)],
    *[f"jax.jit(lambda c: {{body c}}, in_shardings={_split(spec, 'Auto')}, out_shardings={_split(other, 'Auto')})({{x}})" for spec, other in zip(_SPECS, _SPECS[1:])] * 5,
    *[f"lax.with_sharding_constraint({{x}}, {_split(spec, 'Auto')})" for spec in _SPECS] * 9, *_OPERATIONS,
)
_GRAD = "jax.grad(lambda *xs: sum(jnp.sum(jnp.tanh(y)) for y in jax.tree.leaves(f(*xs)) if jnp.issubdtype(y.dtype, jnp.floating)))"
_TANGENT = "lambda *xs: jax.jvp(lambda x: f(x, *xs[1:]), (xs[0],), (jnp.ones_like(xs[0]),))"


def _shapes(rng: random.Random) -> list[str]:
    """Shapes that mostly broadcast with one another."""
    return [rng.choice(SHAPES)] * 2 + [rng.choice(SHAPES)]


def _array(rng: random.Random, shape: str, inexact: bool) -> str:
    return values.array(rng, shape, rng.choice(("float32",) * 6 + (("bfloat16", "complex64") if inexact else ("int32", "bool", "int8"))), "plain")


def _put(rng: random.Random, shape: str, inexact: bool, kind: str) -> str:
    """A small array on the mesh."""
    sizes = eval(shape)
    specs = [spec for spec, parts in _PARTS.items() if len(parts) <= len(sizes) and not any(n % m for n, m in zip(sizes, parts))]
    return f"jax.device_put({_array(rng, shape, inexact)}, {_split(rng.choice(specs), kind)})"


REGIONS = values.Source(_BY_DEVICE, ("f(*args)", "jax.jit(f)(*args)", "jax.jit(f)(*args)", f"jax.jit({_GRAD})(*args)", f"({_TANGENT})(*args)"), _shapes,
                        lambda *a: _put(*a, "Auto"), ELEMENTS, in_stages=False)
SPLIT = values.Source(_IN_TYPES, tuple(f"within(jax.set_mesh({_mesh('Explicit')}), {how}, *args)" for how in ("f", "jax.jit(f)", "jax.jit(f)", f"jax.jit({_GRAD})", _TANGENT)), _shapes,
                      lambda *a: _put(*a, "Explicit"), ELEMENTS, in_stages=False, context=lambda: jax.set_mesh(eval(_mesh("Explicit"), {"jax": jax})))
