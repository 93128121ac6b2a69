"""Traces and tracers that users write with `jax.core` and `jax.extend.core`, without knowing how ours are made."""
import pickle

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import core
from jax._src import flattree, literals
from jax.extend import core as extend_core, linear_util as extend_linear_util


class Noted(core.Tracer):
    """A value whose primitives are written down."""

    def __init__(self, trace, val):
        super().__init__(trace, jax.typeof(val))
        self.val = val


class Typed(core.Tracer):
    """A tracer that works its type out."""

    aval = property(lambda self: jax.typeof(3.0))


class NotingTrace(core.Trace):
    """Runs every primitive on the values, and keeps the names."""

    def __init__(self, parent):
        super().__init__()
        self.below, self.names = parent, []

    def process_primitive(self, primitive, tracers, params):
        values = [t.val if isinstance(t, Noted) and t._trace is self else t for t in tracers]
        self.names.append(primitive.name)
        with extend_core.set_current_trace(self.below):
            out = primitive.bind(*values, **params)
        return [Noted(self, x) for x in out] if primitive.multiple_results else Noted(self, out)


def noted(f, *args):
    """``f(*args)`` and the names of the primitives."""
    with extend_core.take_current_trace() as parent:
        trace = NotingTrace(parent)
        with extend_core.set_current_trace(trace):
            out = f(*(Noted(trace, x) for x in args))
    return out.val, trace.names


class Binding(NotingTrace):
    """The same, by `bind_with_trace`."""

    def process_primitive(self, primitive, tracers, params):
        values = [t.val if isinstance(t, Noted) else t for t in tracers]
        self.names.append(primitive.name)
        return Noted(self, primitive.bind_with_trace(self.below, values, list(map(jax.typeof, tracers)), params))


def f(x):
    return jax.lax.sin(x) * 2.0 + x


def test_primitives_are_bound_with_a_trace():
    with extend_core.take_current_trace() as parent:
        trace = Binding(parent)
        with extend_core.set_current_trace(trace):
            out = f(Noted(trace, 1.0))
    np.testing.assert_allclose(out.val, f(1.0), rtol=1e-6)
    assert trace.names == ["sin", "mul", "add"]


@pytest.mark.parametrize("x", [1.0, np.ones(3, np.float32)])
def test_a_users_trace_gets_every_primitive(x):
    """Python operators too."""
    out, names = noted(f, x)
    np.testing.assert_allclose(out, f(x), rtol=1e-6)
    assert names == ["sin", "mul", "add"]


@pytest.mark.parametrize("transform", [jax.jit, jax.grad, lambda g: jax.grad(jax.jit(g)),
                                       lambda g: lambda x: jax.vmap(g)(jnp.full(2, x))])
def test_a_users_trace_inside_transformations(transform):
    """What it binds below itself is seen by the transformations around it."""
    np.testing.assert_allclose(transform(lambda x: noted(f, x)[0])(0.7), transform(f)(0.7), rtol=1e-6)


def test_the_type_is_given_or_worked_out():
    trace = core.Trace()
    assert Noted(trace, jnp.ones(3)).shape == (3,) and Typed(trace, None).weak_type


def test_a_trace_without_its_method_says_so():
    class Unfinished(core.Trace):
        pass
    with pytest.raises(NotImplementedError, match="Unfinished must have a method process_primitive"):
        Unfinished().process_primitive(jax.lax.sin_p, [1.0], {})


def test_our_traces_have_the_public_name():
    """A call goes to the trace, whichever is current."""
    def g(x):
        with extend_core.take_current_trace() as trace:
            pass
        return trace.process_primitive(jax.lax.sin_p, [x], {"accuracy": None})
    np.testing.assert_allclose(jax.jit(g)(1.0), np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(g)(1.0), np.cos(1.0), rtol=1e-6)


def with_remat_rule():
    @jax.custom_vjp
    def h(x, y):
        return jnp.sin(x) * y
    h.defremat(lambda x, y: (jnp.sin(x) * y, (x,)),
               lambda res, x, y: (0.0, (jnp.cos(res[0]), y, jnp.sin(x))),
               lambda res, g: (7 * res[0] * res[1] * g, res[2] * g))
    return h


@pytest.mark.parametrize("wrap", [lambda h: h, jax.checkpoint, jax.jit])
def test_defremat_is_the_rule_in_reverse_mode(wrap):
    """The backward function gets what the second step made; the output is that of the first."""
    out, back = jax.vjp(wrap(with_remat_rule()), 1.0, 2.0)
    np.testing.assert_allclose(out, np.sin(1.0) * 2, rtol=1e-6)
    np.testing.assert_allclose(back(1.0), [14 * np.cos(1.0), np.sin(1.0)], rtol=1e-6)


def test_defremat_leaves_another_rule_in_force():
    h = with_remat_rule()
    h.defvjp(lambda x, y: (x, None), lambda res, g: (g, g))
    h.defremat(lambda x, y: (x, None), lambda res, x, y: (x, None), lambda res, g: (9 * g, g))
    assert jax.grad(h)(1.0, 2.0) == 1.0
    with pytest.raises(NotImplementedError, match="generic_batching"):
        h.defremat(None, None, None, generic_batching=True)


class CallingTrace(NotingTrace):
    """Runs the functions themselves, without their rules."""

    def process_custom_jvp_call(self, prim, fun, jvp, tracers, *, symbolic_zeros):
        self.names.append(prim.name)
        with extend_core.set_current_trace(self):
            return fun.call_wrapped(*tracers)

    def process_custom_vjp_call(self, prim, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
        return self.process_custom_jvp_call(prim, fun, None, tracers, symbolic_zeros=symbolic_zeros)


class HandingTrace(NotingTrace):
    """Hands the functions on with their rules."""

    def _hand_on(self, prim, functions, tracers, params):
        self.names.append(prim.name)
        values = [t.val if isinstance(t, Noted) else t for t in tracers]
        return [Noted(self, x) for x in prim.bind_with_trace(self.below, (*functions, *values), params)]

    def process_custom_jvp_call(self, prim, fun, jvp, tracers, *, symbolic_zeros):
        with extend_core.set_current_trace(self.below):
            out, tangent = jvp.call_wrapped(1.0, 2.0)
        assert np.isclose(out, np.sin(1.0)) and tangent == 14
        return self._hand_on(prim, (fun, jvp), tracers, dict(symbolic_zeros=symbolic_zeros))

    def process_custom_vjp_call(self, prim, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
        return self._hand_on(prim, (fun, fwd, bwd), tracers, dict(out_trees=out_trees, symbolic_zeros=symbolic_zeros))


with_jvp = jax.custom_jvp(lambda x: jax.lax.sin(x))
with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), 7 * tangents[0]))
with_vjp = jax.custom_vjp(lambda x: jax.lax.sin(x))
with_vjp.defvjp(lambda x: (with_vjp(x), None), lambda res, ct: (9 * ct,))


def under(kind, f, x):
    trace = kind(extend_core.find_top_trace(()))
    with extend_core.set_current_trace(trace):
        out = f(Noted(trace, x))
    return out.val, trace.names


@pytest.mark.parametrize("f, name, slope", [(with_jvp, "custom_jvp_call", 7.0), (with_vjp, "custom_vjp_call", 9.0)])
def test_functions_with_rules_in_a_users_trace(f, name, slope):
    """The trace decides whether the rule stays: calling the function drops it, handing it on keeps it."""
    assert under(CallingTrace, f, 1.0)[1] == [name, "sin"] and under(HandingTrace, f, 1.0)[1] == [name]
    np.testing.assert_allclose(under(HandingTrace, f, 1.0)[0], np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: under(CallingTrace, f, x)[0])(1.0), np.cos(1.0), rtol=1e-6)
    assert jax.grad(lambda x: under(HandingTrace, f, x)[0])(1.0) == slope
    with pytest.raises(NotImplementedError, match=f"NotingTrace must have a method process_{name}"):
        under(NotingTrace, f, 1.0)


def test_a_custom_vjp_is_handed_on_with_the_functions_that_came():
    class Changing(HandingTrace):
        def process_custom_vjp_call(self, prim, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
            return self._hand_on(prim, (bwd, fun, fwd), tracers, {})
    with pytest.raises(NotImplementedError, match="fun.call_wrapped"):
        under(Changing, with_vjp, 1.0)


class CallingBelow(NotingTrace):
    """Runs the functions under the trace below, on its own tracers as they are."""

    def process_custom_jvp_call(self, prim, fun, jvp, tracers, *, symbolic_zeros):
        with extend_core.set_current_trace(self.below):
            return fun.call_wrapped(*tracers)

    def process_custom_vjp_call(self, prim, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
        return self.process_custom_jvp_call(prim, fun, None, tracers, symbolic_zeros=symbolic_zeros)


def plain_result(f, x):
    """The result of ``f`` under `CallingBelow`, which is a value of the trace below."""
    trace = CallingBelow(extend_core.find_top_trace(()))
    with extend_core.set_current_trace(trace):
        return f(Noted(trace, x))


def inner_jit():
    f = jax.custom_jvp(jax.jit(lambda x: jax.lax.sin(x)))
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return f


@pytest.mark.parametrize("f", [with_jvp, with_vjp, inner_jit()])
def test_tracers_of_a_users_trace_are_constants_of_a_program(f):
    """Types are all that is needed to write the program; running it needs the value, which is not known."""
    def g(x):
        return plain_result(f, x)
    assert jax.eval_shape(g, jnp.ones(3)).shape == (3,)
    assert len(jax.make_jaxpr(g)(jnp.ones(3)).consts) == 1
    for run in (g, jax.jit(g), jax.jit(g).lower, jax.grad(g), jax.jit(jax.grad(g))):
        with pytest.raises(jax.errors.UnexpectedTracerError):
            run(1.0)


def test_our_tracers_that_escaped_are_no_constants():
    kept = []
    for transform in (jax.jit, jax.grad):
        transform(lambda x: (kept.append(x), x)[1])(1.0)
    for x in kept:
        with pytest.raises(jax.errors.UnexpectedTracerError):
            jax.jit(lambda y, x=x: x + y)(1.0)


def test_a_custom_jvp_is_handed_on_for_another_function():
    """Function and rule come wrapped, and go on by ``subfuns``, as quax has them."""
    @extend_linear_util.transformation
    def doubled(*values):
        outs = yield values, {}
        yield [2 * x for x in outs]

    class Doubling(HandingTrace):
        def process_custom_jvp_call(self, prim, fun, jvp, tracers, *, symbolic_zeros):
            values = tuple(t.val for t in tracers)
            out = prim.bind_with_trace(self.below, values, tuple(map(jax.typeof, values)),
                                       dict(subfuns=(doubled(fun), doubled(jvp)), symbolic_zeros=symbolic_zeros))
            return [Noted(self, x) for x in out]
    value, slope = jax.value_and_grad(lambda x: under(Doubling, with_jvp, x)[0])(0.5)
    np.testing.assert_allclose(value, 2 * np.sin(0.5), rtol=1e-6)
    assert slope == 14


@pytest.mark.parametrize("forms", ["theirs", "ours"])
def test_loops_have_their_operands_in_groups_too(forms):
    """quax reads ``ft_in`` and binds the loop with groups of another size: constants and carry are doubled here."""
    class Looping(NotingTrace):
        def process_primitive(self, primitive, tracers, params):
            if primitive is not jax.lax.scan_p:
                return super().process_primitive(primitive, tracers, params)
            consts, carry, rows = (list(g.vals) for g in params["ft_in"].update([getattr(t, "val", t) for t in tracers]).unpack())
            assert len(params["ft_out"]) == 2 and (len(consts), len(carry), len(rows)) == (1, 1, 1)

            def body(*v):
                outs = [extend_core.jaxpr_as_fun(params["jaxpr"])(v[i], v[2 + i], v[4]) for i in range(2)]
                return outs[0][0], outs[1][0], outs[0][1]
            operands = [*consts, *consts, *carry, *carry, *rows]
            rest = {k: v for k, v in params.items() if k not in ("ft_in", "ft_out")}
            if forms == "theirs":
                rest |= {"ft_in": flattree.FTTuple(*map(flattree.nones, (2, 2, 1))), "ft_out": flattree.pack(map(flattree.nones, (2, 1)))}
            else:
                rest |= {"num_consts": 2, "num_carry": 2, "linear": (False,) * 5}
            with extend_core.set_current_trace(self.below):
                outs = jax.lax.scan_p.bind(*operands, **{**rest, "jaxpr": jax.make_jaxpr(body)(*operands[:4], rows[0][0])})
            return [Noted(self, outs[0]), Noted(self, outs[2])]

    def loop(x):
        return jax.lax.scan(lambda c, row: (c * x + row, c), x, jnp.arange(3.0))[0]
    np.testing.assert_allclose(jax.jit(lambda x: under(Looping, loop, x)[0])(2.0), loop(2.0), rtol=1e-6)


def test_numbers_with_a_dtype_are_arrays_of_weak_type():
    number = literals.TypedInt(3, np.int16)
    assert (number, jnp.asarray(number).dtype, jax.typeof(number).weak_type) == (3, np.int16, True)
    assert repr(pickle.loads(pickle.dumps([number, literals.TypedComplex(1j, np.complex64)]))) == (
        "[TypedInt(3, dtype=int16), TypedComplex(1j, dtype=complex64)]")
