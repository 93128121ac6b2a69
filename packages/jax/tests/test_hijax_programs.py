"""High-level types through jit, vmap, loops, references, shard_map and linearize; primitives in the form of jax 0.10."""
import dataclasses
from typing import Any

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import hijax


@dataclasses.dataclass
class Scaled:
    """``numbers * scale``."""
    numbers: Any
    scale: Any


@dataclasses.dataclass(frozen=True)
class ScaledType(hijax.HiType):
    numbers: Any
    scale: Any

    shape = property(lambda self: self.numbers.shape)

    def lo_ty(self):
        return [self.numbers, self.scale]

    def lower_val(self, x):
        return [x.numbers, x.scale]

    def raise_val(self, numbers, scale):
        return Scaled(numbers, scale)

    def to_tangent_aval(self):
        return ScaledType(self.numbers.to_tangent_aval(), self.scale.to_tangent_aval())

    def dec_rank(self, size, spec):
        return ScaledType(self.numbers.dec_rank(size, spec.axis), self.scale)

    def inc_rank(self, size, spec):
        return ScaledType(self.numbers.inc_rank(size, spec.axis), self.scale)

    def leading_axis_spec(self):
        return Along(0)

    def shard(self, mesh, manual_axes, check_vma, spec):
        return ScaledType(self.numbers.shard(mesh, manual_axes, check_vma, spec.spec), self.scale.shard(mesh, manual_axes, check_vma, jax.P()))

    def unshard(self, mesh, check_vma, spec):
        return ScaledType(self.numbers.unshard(mesh, check_vma, spec.spec), self.scale.unshard(mesh, check_vma, jax.P()))

    def ref_get_to_lojax(self, ref, index):
        (entry,) = index.indices
        inner = ref._refs
        return Scaled(inner.numbers[entry.start:entry.start + entry.size], inner.scale[...])


@dataclasses.dataclass(frozen=True)
class Along(hijax.MappingSpec):
    axis: int


@dataclasses.dataclass(frozen=True)
class Split(hijax.HiPspec):
    spec: Any

    def to_lo(self):
        return [self.spec, jax.P()]


hijax.register_hitype(Scaled, lambda x: ScaledType(jax.typeof(x.numbers), jax.typeof(x.scale)))


class Pack(hijax.HiPrimitive):
    """In the form of jax 0.10, with a parameter."""

    def abstract_eval(self, numbers, scale, *, negative):
        return ScaledType(numbers, scale), set()

    def to_lojax(self, numbers, scale, *, negative):
        return Scaled(-numbers if negative else numbers, scale)

    def jvp(self, primals, tangents, *, negative):
        return pack(*primals, negative=negative), pack(*tangents, negative=negative)

    def transpose(self, ct, numbers, scale, *, negative):
        n, s = unpack(ct)
        return [(-n if negative else n) if hijax.is_undefined_primal(numbers) else None, s if hijax.is_undefined_primal(scale) else None]

    def batch(self, axis_data, args, dims, *, negative):
        assert dims[1] is None
        return pack(*args, negative=negative), Along(dims[0])


class Unpack(hijax.HiPrimitive):
    multiple_results = True

    def abstract_eval(self, x):
        return [x.numbers, x.scale], set()

    def to_lojax(self, x):
        return x.numbers, x.scale

    def jvp(self, primals, tangents):
        return unpack(*primals), unpack(*tangents)

    def transpose(self, cts, x):
        return [pack(*map(hijax.instantiate_zeros, cts))]

    def batch(self, axis_data, args, dims):
        return unpack(*args), (dims[0].axis, None)


pack_p, unpack_p = Pack("pack"), Unpack("unpack")


def pack(numbers, scale, negative=False):
    return pack_p.bind(numbers, scale, negative=negative)


def unpack(x):
    return unpack_p.bind(x)


def value(x):
    numbers, scale = unpack(x)
    return numbers * scale


def doubled(x):
    numbers, scale = unpack(x)
    return pack(numbers, scale * 2)


X = pack(jnp.arange(3.0), jnp.float32(2))
PROGRAMS = {
    "jit": (lambda x: jax.jit(doubled)(x), [0, 4, 8]),
    "parameter": (lambda x: pack(*unpack(x), negative=True), [0, -2, -4]),
    "closed over by scan": (lambda x: jax.lax.scan(lambda c, _: (c + value(x), None), jnp.zeros(3), length=2)[0], [0, 4, 8]),
    "closed over by while": (lambda x: jax.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] + value(x)), (0, jnp.zeros(3)))[1], [0, 4, 8]),
    "carried by while, closed over": (lambda x: jax.lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, x), (0, doubled(x)))[1], [0, 2, 4]),
    "made by scan": (lambda x: jax.lax.scan(lambda c, n: (c, pack(n, jnp.float32(3))), 0, jnp.arange(3.0))[1].numbers * 3.0
                     if not isinstance(x, jax.core.Tracer) else value(x) * 1.5, [0, 3, 6]),
    "made by cond": (lambda x: jax.lax.cond(True, lambda a: pack(a, jnp.float32(5)), lambda a: pack(a, jnp.float32(7)), jnp.arange(3.0)), [0, 5, 10]),
    "reference": (lambda x: changed(x, lambda ref: ref.set(doubled(ref[...]))), [0, 4, 8]),
    "reference, items": (lambda x: changed(x, lambda ref: ref.__setitem__(..., doubled(x))), [0, 4, 8]),
    "reference, a part": (lambda x: jax.new_ref(x)[1:3], [2, 4]),
    "reference in scan": (lambda x: changed(x, lambda ref: jax.lax.scan(lambda c, _: (c, ref.set(doubled(ref[...]))), 0, length=2)), [0, 8, 16]),
    "reference, added to": (lambda x: changed(x, lambda ref: jax.ref.addupdate(ref, ..., x)), [0, 8, 16]),
    "reference, swapped": (lambda x: jax.ref.swap(jax.new_ref(x), ..., doubled(x)), [0, 2, 4]),
    "empty reference": (lambda x: jax.freeze(jax.empty_ref(jax.typeof(x))), [0, 0, 0]),
}


def changed(x, change):
    ref = jax.new_ref(x)
    change(ref)
    return jax.freeze(ref)


def numbers(x):
    return np.asarray(x.numbers * x.scale if isinstance(x, Scaled) else x).tolist()


@pytest.mark.parametrize("run", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, run):
    program, expected = PROGRAMS[name]
    assert numbers(run(program)(X)) == expected


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_derivatives_of_the_older_form(way):
    loss = way(lambda x: jnp.sum(value(doubled(pack(x, jnp.float32(2)))) ** 2))
    assert jax.grad(loss)(jnp.arange(3.0)).tolist() == [0, 32, 64]
    g = jax.grad(lambda x: jnp.sum(value(x) ** 2))(X)
    assert g.numbers.tolist() == [0, 8, 16] and g.scale == 20


def test_vmap_of_jit():
    x = pack(jnp.arange(6.0).reshape(2, 3), jnp.float32(2))
    out = jax.vmap(jax.jit(doubled), in_axes=Along(1), out_axes=Along(1), axis_size=3)(x)
    assert numbers(out) == [[0, 4, 8], [12, 16, 20]]
    assert jax.vmap(jax.jit(value), in_axes=Along(1), axis_size=3)(x).tolist() == [[0, 6], [2, 8], [4, 10]]
    assert jax.jit(jax.vmap(jax.checkpoint(value), in_axes=Along(1), axis_size=3))(x).tolist() == [[0, 6], [2, 8], [4, 10]]


@dataclasses.dataclass(frozen=True)
class OpaqueType(hijax.HiType):
    pass


class Opaque:
    pass


hijax.register_hitype(Opaque, lambda x: OpaqueType())


def test_shard_map():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    split = Split(jax.P("i"))
    f = jax.shard_map(doubled, mesh=mesh, in_specs=split, out_specs=split)
    assert numbers(f(X)) == numbers(jax.jit(f)(X)) == [0, 4, 8]
    loss = lambda x: jnp.sum(value(f(x)) ** 2)
    assert jax.grad(loss)(X).numbers.tolist() == jax.jit(jax.grad(loss))(X).numbers.tolist() == [0, 32, 64]
    total = jax.shard_map(lambda x, y: jax.lax.psum(value(x).sum() * y, "i"), mesh=mesh, in_specs=(split, jax.P()), out_specs=jax.P())
    assert total(X, 2.0) == 12
    made = jax.shard_map(lambda x, s: doubled(pack(x, s)), mesh=mesh, in_specs=(jax.P("i"), jax.P()), out_specs=split)  # of arrays only
    assert numbers(made(jnp.arange(3.0), jnp.float32(2))) == numbers(jax.jit(made)(jnp.arange(3.0), jnp.float32(2))) == [0, 4, 8]
    for wrong in (lambda: jax.shard_map(doubled, mesh=mesh, in_specs=jax.P("i"), out_specs=split)(X),
                  lambda: jax.shard_map(value, mesh=mesh, in_specs=split, out_specs=split)(X)):
        with pytest.raises(TypeError, match="HiPspec"):
            wrong()


class Cube(hijax.HiPrim):
    """By ``lin`` and ``linearized``, with structured residuals."""

    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    def expand(self, x):
        return x ** 3

    def lin(self, nonzeros, x):
        return self(x), (), True, {"x": x}

    def linearized(self, res, structured, t):
        return t * 3 * structured["x"] ** 2

    def vjp_fwd(self, nonzeros, x):
        return self(x), (), True, {"x": x}

    def vjp_bwd(self, res, structured, g, accum):
        accum.accum(g * 3 * structured["x"] ** 2)


class Backward(Cube):
    """With rules for the way back alone."""
    lin, linearized = hijax.HiPrim.lin, hijax.HiPrim.linearized


class Circular(Cube):
    jvp = hijax.jvp_from_lin
    lin, linearized = hijax.linearize_from_jvp


class Nothing(Cube):
    """Its tangent is said to be nothing at all."""
    lin, linearized = hijax.HiPrim.lin, hijax.HiPrim.linearized
    vjp_fwd = hijax.HiPrim.vjp_fwd

    def jvp(self, primals, tangents):
        return self(*primals), np.zeros((), jax.dtypes.float0)


class NoStructure(Cube):
    vjp_bwd = hijax.HiPrim.vjp_bwd

    def vjp_bwd_retval(self, res, g):
        return (g,)


def cube(x, kind=Cube):
    return kind(jax.typeof(x))(x)


@pytest.mark.parametrize("f", [cube, jax.jit(cube), jax.checkpoint(cube)], ids=["eager", "jit", "checkpoint"])
def test_linearize_pushes_forward_what_grad_pulls_back(f):
    assert jax.linearize(f, 2.0)[1](1.0) == 12 and jax.grad(f)(2.0) == 12 and jax.jvp(f, (2.0,), (1.0,))[1] == 12
    push = jax.linearize(f, 2.0)[1]
    assert jax.vmap(push)(jnp.arange(3.0)).tolist() == [0, 12, 24] and jax.jvp(push, (1.0,), (2.0,))[1] == 24 and jax.jit(push)(1.0) == 12


def test_rules_that_are_missing_or_do_not_fit():
    assert jax.grad(lambda x: cube(x, Backward))(2.0) == 12
    assert jax.linearize(lambda x: cube(x, Nothing), 2.0)[1](1.0) == 0
    with pytest.raises(NotImplementedError, match="Backward has vjp_fwd alone"):
        jax.linearize(lambda x: cube(x, Backward), 2.0)[1](1.0)
    with pytest.raises(TypeError, match="jvp_from_lin"):
        jax.jvp(lambda x: cube(x, Circular), (2.0,), (1.0,))
    with pytest.raises(TypeError, match="structured residuals"):
        jax.grad(lambda x: cube(x, NoStructure))(2.0)
    with pytest.raises(NotImplementedError, match="'plain'.* must have a method abstract_eval"):
        hijax.HiPrimitive("plain").bind(1.0)
    with pytest.raises(NotImplementedError, match="dec_rank"):
        jax.vmap(lambda x: x, in_axes=Along(0), out_axes=Along(0), axis_size=3)(Opaque())
    with pytest.raises(NotImplementedError, match="device_put"):
        jax.device_put(X, jax.devices()[0])
    with pytest.raises(NotImplementedError, match="in_shardings"):
        jax.jit(doubled, in_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]))(X)
    with pytest.raises(TypeError, match="cannot be stored"):
        jax.new_ref(X)[...] = pack(jnp.arange(2.0), jnp.float32(2))
    with pytest.raises(NotImplementedError, match="ref_swap_to_lojax"):
        jax.new_ref(X)[1:] = X
    with pytest.raises(TypeError, match="branches"):
        jax.jit(lambda p: jax.lax.cond(p, lambda: pack(1.0, 2.0), lambda: (1.0, 2.0)))(True)


def test_programs_say_whether_they_are_high():
    @jax.custom_jvp
    def f(x):
        return cube(x)
    f.defjvps(lambda t, out, x: t)
    traced = jax.jit(f).trace(1.0)
    low = traced.lojax
    assert traced.jaxpr.is_high and not low.jaxpr.is_high and "custom_jvp" not in str(low.jaxpr)
    assert not jax.make_jaxpr(jnp.sin)(1.0).is_high and jax.jit(jnp.sin).trace(1.0).lojax.jaxpr.is_high is False
    assert numbers(jax.jit(doubled).trace(X).lojax.lower().compile()(X.numbers, X.scale)[1]) == 4
