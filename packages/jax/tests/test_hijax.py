"""High-level types and primitives on them, under the transformations: a pair of arrays as one value."""
import dataclasses
from typing import Any

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import hijax


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any


@dataclasses.dataclass(frozen=True)
class PairType(hijax.HiType):
    parts: tuple

    def lo_ty(self):
        return list(self.parts)

    def lower_val(self, pair):
        return [pair.first, pair.second]

    def raise_val(self, first, second):
        return Pair(first, second)

    def to_tangent_aval(self):
        return PairType(tuple(t.to_tangent_aval() for t in self.parts))

    def vspace_add(self, x, y):
        return make(*(part(x, i) + part(y, i) for i in range(2)))

    def dec_rank(self, size, spec):
        return PairType(tuple(t.dec_rank(size, s) for t, s in zip(self.parts, spec.axes)))

    total = hijax.aval_method(lambda pair: part(pair, 0) + part(pair, 1))
    start = hijax.aval_property(lambda pair: part(pair, 0))

    def _getitem(self, pair, i):
        return part(pair, i)


hijax.register_hitype(Pair, lambda pair: PairType((jax.typeof(pair.first), jax.typeof(pair.second))))


@dataclasses.dataclass(frozen=True)
class PairSpec(hijax.MappingSpec):
    axes: tuple


class Make(hijax.HiPrim):
    def __init__(self, first, second):
        self.in_avals, self.out_aval, self.params = (first, second), PairType((first, second)), {}
        super().__init__()

    def expand(self, first, second):
        return Pair(first, second)

    def jvp(self, primals, tangents):
        return make(*primals), make(*map(hijax.instantiate_zeros, tangents))

    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp

    def transpose(self, ct, *accums):
        for i, accum in enumerate(accums):
            if isinstance(accum, hijax.GradAccum):
                accum.accum(part(ct, i))

    def batch(self, axis_data, args, dims):
        return make(*args), PairSpec(tuple(dims))


class Part(hijax.HiPrim):
    def __init__(self, pair, index):
        self.in_avals, self.out_aval, self.params = (pair,), pair.parts[index], {"index": index}
        super().__init__()

    def expand(self, pair):
        return (pair.first, pair.second)[self.index]

    def jvp(self, primals, tangents):
        return part(primals[0], self.index), part(tangents[0], self.index)

    def transpose(self, ct, accum):
        parts = [jnp.zeros(t.shape, t.dtype) for t in self.in_avals[0].parts]
        parts[self.index] = ct
        accum.accum(make(*parts))

    def batch(self, axis_data, args, dims):
        return part(args[0], self.index), dims[0].axes[self.index]


def make(first, second):
    return Make(jax.typeof(first), jax.typeof(second))(first, second)


def part(pair, index):
    return Part(jax.typeof(pair), index)(pair)


def swap(pair):
    return make(part(pair, 1) * 3, part(pair, 0) + part(pair, 1))


def through(x):
    return part(swap(make(x, jnp.sin(x))), 1) * part(swap(make(x, x)), 0)


def plain(x):
    return (x + jnp.sin(x)) * (x * 3)


def parts(pair):
    return [np.asarray(pair.first).tolist(), np.asarray(pair.second).tolist()]


@pytest.mark.parametrize("run", [lambda f: f, jax.jit, lambda f: jax.jit(lambda x: jax.jit(f)(x)),
                                 lambda f: lambda x: jax.jit(f).lower(x).compile()(x)], ids=["eager", "jit", "nested", "compiled"])
def test_values_of_high_types_go_in_and_out(run):
    assert parts(run(swap)(make(1.0, 2.0))) == [6, 3]


WAYS = {
    "grad": jax.grad, "jit of grad": lambda f: jax.jit(jax.grad(f)), "grad of jit": lambda f: jax.grad(jax.jit(f)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (1.0,))[1], "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "vmap": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.full(2, x))[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_derivatives_through_high_types(way):
    assert np.allclose(way(through)(2.0), way(plain)(2.0), rtol=1e-5)


@pytest.mark.parametrize("way", [jax.grad, lambda f: jax.jit(jax.grad(f)), lambda f: jax.grad(jax.jit(f))], ids=["grad", "jit", "inner"])
def test_gradients_of_high_types_are_such(way):
    found = way(lambda pair: part(pair, 0) * part(pair, 1))(make(3.0, 4.0))
    assert isinstance(found, Pair) and parts(found) == [4, 3]


def test_shapes_and_programs():
    pair = make(1.0, 2.0)
    assert jax.eval_shape(swap, pair) == jax.typeof(swap(pair))
    assert [e.primitive.name for e in jax.make_jaxpr(swap)(pair).eqns].count("hi_call") == 4


def test_equations_are_printed_by_name():
    """With their parameters, or what ``pp_params`` makes of them; types in their short form."""
    program = jax.make_jaxpr(lambda x: Power(jax.typeof(x), power=3)(x))(1.0)
    assert str(program) == "{ lambda ; a:f32[]. let b:f32[] = Power[power=3] a in (b,) }"
    assert "hi_call[prim=Power[power=3]]" in program.pretty_print(custom_pp_eqn_rules=False)
    class Typed(Power):
        def pp_params(self):
            return {"of": self.in_avals[0]}
    assert repr(Typed(jax.typeof(jnp.ones(2)), power=3)) == "Typed[of=f32[2]]"


def test_attributes_and_operators_of_tracers():
    assert float(jax.jit(lambda pair: pair.total() + pair.start + pair[1])(make(1.0, 2.0))) == 6
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        jax.jit(lambda x: x.missing)(1.0)


def test_vmap_by_a_specification():
    pair = make(jnp.arange(3.0), 5.0)
    turned = jax.vmap(lambda p: make(part(p, 1), part(p, 0)), in_axes=PairSpec((0, None)), out_axes=PairSpec((None, 0)), axis_size=3)(pair)
    assert parts(turned) == [5, [0, 1, 2]]
    assert jax.vmap(lambda p: part(p, 0) * part(p, 1), in_axes=PairSpec((0, None)), axis_size=3)(pair).tolist() == [0, 5, 10]
    with pytest.raises(ValueError, match="non-array type"):
        jax.vmap(lambda p: p, axis_size=3)(pair)


class Power(hijax.HiPrim):
    """On arrays, with the rules that a subclass has."""

    def __init__(self, aval, *, power):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {"power": power}
        super().__init__()

    def expand(self, x):
        return x ** self.power


class ByAccum(Power):
    def vjp_fwd(self, nonzero, x):
        assert nonzero == (True,)
        return self(x), x

    def vjp_bwd(self, x, ct, accum):
        accum.accum(ct * self.power * x ** (self.power - 1))


class ByValue(Power):
    def vjp_fwd(self, nonzero, x):
        return self(x), x

    def vjp_bwd_retval(self, x, ct):
        return (ct * self.power * x ** (self.power - 1),)


class ByLin(Power):
    def lin(self, nonzero, x):
        return self(x), x

    def linearized(self, x, tangent):
        return tangent * self.power * x ** (self.power - 1)

    jvp = hijax.jvp_from_lin
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_lin


@pytest.mark.parametrize("kind", [ByAccum, ByValue, ByLin])
def test_rules(kind):
    cube = lambda x: kind(jax.typeof(x), power=3)(x)
    assert float(cube(2.0)) == 8 and float(jax.jit(cube)(2.0)) == 8
    assert jax.vmap(cube)(jnp.arange(3.0)).tolist() == [0, 1, 8]
    assert float(jax.grad(cube)(2.0)) == 12 and float(jax.jit(jax.grad(cube))(2.0)) == 12
    assert jax.vmap(jax.grad(cube))(jnp.arange(3.0)).tolist() == [0, 3, 12]


def test_forward_mode_by_lin():
    assert float(jax.jvp(lambda x: ByLin(jax.typeof(x), power=3)(x), (2.0,), (1.0,))[1]) == 12


@pytest.mark.parametrize("ask, error, text", [
    (lambda: jax.jvp(lambda x: ByValue(jax.typeof(x), power=3)(x), (2.0,), (1.0,)), NotImplementedError, "ByValue has no method jvp"),
    (lambda: type("Both", (ByAccum,), {"vjp_bwd_retval": None})(jax.typeof(1.0), power=2), AttributeError, "both vjp_bwd and"),
    (lambda: type("Bare", (hijax.HiPrim,), {})(), AttributeError, "must set in_avals"),
    (lambda: type("Bare", (hijax.HiType,), {})().lo_ty(), NotImplementedError, "must have a method lo_ty"),
])
def test_what_is_missing_is_said(ask, error, text):
    with pytest.raises(error, match=text):
        ask()


LOOPS = {
    "while": lambda pair: jax.lax.fori_loop(0, 2, lambda i, p: swap(p), pair),
    "scan": lambda pair: jax.lax.scan(lambda p, _: (swap(p), None), pair, None, length=2)[0],
    "cond": lambda pair: jax.lax.cond(pair.first > 0 if isinstance(pair, Pair) else True, lambda p: swap(swap(p)), lambda p: p, pair),
}


@pytest.mark.parametrize("run", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_and_branches(loop, run):
    assert parts(run(loop)(make(1.0, 2.0))) == [9, 9]


@pytest.mark.parametrize("loop", [LOOPS["scan"], LOOPS["cond"]], ids=["scan", "cond"])
def test_derivatives_of_loops(loop):
    of_arrays = lambda x: part(loop(make(x, 2 * x)), 1)
    assert float(jax.grad(of_arrays)(1.0)) == float(jax.jit(jax.grad(of_arrays))(1.0)) == 9


def test_scan_over_rows_of_a_high_type(monkeypatch):
    monkeypatch.setattr(PairType, "leading_axis_spec", lambda self: PairSpec((0, 0)), raising=False)
    monkeypatch.setattr(PairType, "inc_rank", lambda self, size, spec: PairType(tuple(t.inc_rank(size, 0) for t in self.parts)), raising=False)
    rows = make(jnp.arange(3.0), jnp.ones(3))
    _, turned = jax.jit(lambda rows: jax.lax.scan(lambda c, row: (c, swap(row)), 0, rows, length=3))(rows)
    assert parts(turned) == [[3, 3, 3], [1, 2, 3]]
    with pytest.raises(ValueError, match="must provide `length`"):
        jax.lax.scan(lambda c, row: (c, row), 0, rows)


def test_a_nested_call_that_makes_a_high_value():
    inner = jax.jit(lambda x: make(x, 2 * x))
    assert float(jax.jit(lambda x: part(inner(x), 1))(3.0)) == 6


def test_equal_objects_share_a_program():
    one, two = (ByValue(jax.typeof(jnp.float32(1)), power=3) for _ in range(2))
    assert one == two and hash(one) == hash(two) and one != ByValue(jax.typeof(jnp.float32(1)), power=2)


def test_types_are_split_and_put_together():
    """`shard` and `unshard` are what `shard_map` does to types."""
    P, mesh = jax.sharding.PartitionSpec, jax.sharding.AbstractMesh((2,), ("x",))
    whole = jax.core.ShapedArray((4, 3), np.float32)
    part = whole.shard(mesh, frozenset({"x"}), True, P("x"))
    assert (part.shape, part.vma) == ((2, 3), {"x"}) and whole.shard(mesh, frozenset({"x"}), False, P("x")).vma == frozenset()
    assert part.unshard(mesh, True, P("x")).shape == (4, 3) and part.unshard(mesh, True, P("x")).vma == frozenset()
    assert whole.nospec(mesh, True, ("x",)) == P() and whole.nospec(mesh, False, ("x",)) == P(("x",))
    explicit = jax.sharding.NamedSharding(jax.sharding.AbstractMesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,)), P("x"))
    assert str(whole.reshard(explicit)) == "float32[4@x,3]"
    assert whole.raise_val2(whole.lower_val2(1.0)) == 1.0
    ref = jax.typeof(jax.new_ref(jnp.ones((4, 3))))
    assert ref.shard(mesh, frozenset({"x"}), True, P("x")).shape == (2, 3)
    for call in (lambda: PairType.nospec(None, mesh, True, ()), lambda: hijax.HiType().shard(mesh, frozenset(), True, P()),
                 lambda: jax.core.AbstractValue().reshard(explicit)):
        with pytest.raises((NotImplementedError, AttributeError)):
            call()


def test_aval_attributes_of_references():
    ref = jax.new_ref(jnp.arange(6.0).reshape(2, 3))
    aval = jax.typeof(ref)
    assert aval.T.fget(ref).shape == (3, 2) and aval.reshape.fun(ref, 6).shape == (6,)
    aval.set.fun(ref, jnp.zeros(3), 0)
    assert aval.get.fun(ref, 0).tolist() == [0, 0, 0] and aval.mat == aval.manual_axis_type
