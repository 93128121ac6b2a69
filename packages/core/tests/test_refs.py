"""Mutable references with core alone: whole arrays, the printed form, effects, discharge, errors, pullbacks.

Parts of references and control flow need the numpy-like package; those tests are in `tests/test_refs_integration.py`.
"""
import numpy as np
import pytest

from jax_core.configuration import engine, flags
from jax_core.programs import jit, tracing
from jax_core.programs.fwd_and_bwd import fwd_and_bwd
from jax_core.programs.options import Inline
from jax_core.references import api, discharge, indexing
from jax_core.references.api import Ref, new_ref
from jax_core.representation import dtypes, tree
from jax_core.representation.aval import AbstractRef, ShapedArray, ShapeDtypeStruct, get_aval
from jax_core.representation.effects import AccumEffect, LocalRefEffect, ReadEffect, WriteEffect
from jax_core.representation.errors import NonConcreteBooleanIndexError, UnexpectedTracerError
from jax_core.transformations import autodiff, checkpoint, pullback, vmap
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.custom_vjp import custom_vjp, linear_call
from jax_core.transformations.custom_vmap import custom_vmap
from toys import add, cos, f32, mul, sin, total

pytestmark = pytest.mark.usefixtures("numpy_backend_in_use")
X = f32(0.3, -1.2, 2.0)


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def doubled_sine(x):
    r = new_ref(x)
    r[...] = sin(r[...])
    r[...] = add(r[...], r[...])
    return r[...]


# -- references outside of transformations -----------------------------------------------------------------------------

def test_a_reference_is_read_and_overwritten():
    r = new_ref(X)
    r[...] = mul(r[...], 2.0)
    close(r[...], 2 * X)
    close(api.swap(r, ..., X), 2 * X)
    close(api.freeze(r), X)
    assert isinstance(r, Ref) and r.shape == (3,) and r.dtype == np.float32 and r.ndim == 1 and r.size == 3 and len(r) == 3


def test_the_array_it_was_made_from_does_not_change():
    x = np.array(X)
    r = new_ref(x)
    r[...] = mul(x, 0.0)
    close(x, X)


def test_weak_types_are_dropped():
    assert get_aval(new_ref(1.0)) == AbstractRef(ShapedArray((), np.float32))
    assert str(get_aval(new_ref(X))) == "Ref{float32[3]}"


def test_empty_ref_has_the_type_asked_for():
    r = api.empty_ref(ShapeDtypeStruct((3,), np.float32))
    r[...] = X
    close(r[...], X)


@pytest.mark.parametrize("dtype, number", [(dtypes.bfloat16, 2.0), (np.float16, 2.0), (np.int8, 2), (np.uint32, 2),
                                           (np.complex64, 2j)])
def test_python_numbers_take_the_dtype_of_the_reference(dtype, number):
    r = new_ref(np.zeros((), dtype))
    for change in (lambda r: api.set(r, ..., number), jit.jit(lambda r: api.set(r, ..., number))):
        change(r)
        assert np.asarray(r[...]) == number and r[...].dtype == dtype
    with pytest.raises(ValueError, match="convert it"):
        r[...] = 2.0 if dtype == np.complex64 else 2j


@pytest.mark.parametrize("bad, error, words", [
    (lambda r: new_ref([1.0]), TypeError, "must be an array or a number"),
    (lambda r: new_ref(r), TypeError, "itself a reference"),
    (lambda r: api.set(r, ..., np.int32([1, 2, 3])), ValueError, "dtype int32 cannot be stored in a reference of type Ref{float32"),
    (lambda r: api.set(r, ..., f32(1, 2)), ValueError, r"shape \(2,\) cannot be stored"),
    (lambda r: api.set(r, ..., np.float32(1)), ValueError, "do not broadcast"),
    (lambda r: api.set(r, ..., r), ValueError, "cannot be stored in another one"),
    (lambda r: r[3], ValueError, "out of bounds"),
    (lambda r: r[0, 0], ValueError, "2 indices"),
    (lambda r: r[..., 0, ...], ValueError, "more than one"),
    (lambda r: r[::-1], ValueError, "step >= 1"),
    (lambda r: r["a"], TypeError, "cannot be indexed"),
    (lambda r: r[1.5], TypeError, "cannot be indexed"),
    (lambda r: r[np.array([True, False, True])], NonConcreteBooleanIndexError, "boolean"),
    (lambda r: np.asarray(r), TypeError, r"ref\[\.\.\.\]"),
    (lambda r: api.freeze(X), ValueError, "must be called on a reference"),
    (lambda r: api.get(X), ValueError, "must be called on a reference"),
    (lambda r: jit.jit(sin)(r), TypeError, "an array is expected"),
])
def test_errors_name_the_remedy(bad, error, words):
    with pytest.raises(error, match=words):
        bad(new_ref(X))


# -- indices -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("index, text, shape", [
    (..., "[...]", (4, 5)), (0, "[0,:]", (5,)), (-1, "[3,:]", (5,)), ((slice(1, 3), 2), "[1:3,2]", (2,)),
    (slice(None, None, 2), "[::2,:]", (2, 5)), ((..., slice(3)), "[:,:3]", (4, 3)), (indexing.ds(1, 2), "[1:3,:]", (2, 5)),
    ((slice(None), slice(0, 5)), "[...]", (4, 5)), (indexing.ds(2), "[:2,:]", (2, 5)),
    ((np.array([0, 2, 2]), 1), "[i0,1]", (3,)), ((slice(2), np.array([[0], [1]])), "[:2,i0]", (2, 2, 1)),
    ((indexing.ds(np.zeros((1,), np.int32)[0:1], 2), 0), "[i0:i0+2,0]", (2,)),
])
def test_indices_are_split_in_static_part_and_operands(index, text, shape):
    static, operands = indexing.parse(index, (4, 5))
    assert static.text([f"i{k}" for k in range(len(operands))], (4, 5)) == text
    assert indexing.part_shape((4, 5), static, [get_aval(x) for x in operands]) == shape
    assert hash(static) == hash(indexing.parse(index, (4, 5))[0])


# -- programs ------------------------------------------------------------------------------------------------------------

def test_printed_form():
    def f(r, x):
        r[...] = x
        r.addupdate(x)
        y = api.swap(r, 0, 2.0)
        api.set(r, slice(0, 2), x)
        return y, r[...]
    r = new_ref(f32(1, 2))
    assert str(tracing.make_jaxpr(f)(r, f32(1, 2))) == (
        "{ lambda ; a:Ref{f32[2]} b:f32[2]. let\n    a[...] <- b\n    a[...] += b\n    c:f32[], a[0] <- a[0], 2.0:f32[]\n"
        "    a[...] <- b\n    d:f32[2] <- a[...]\n  in (c, d) }")
    assert str(tracing.make_jaxpr(lambda: r[0])()) == "{ lambda a:Ref{f32[2]}; . let b:f32[] <- a[0] in (b,) }"


def test_effects_name_the_reference_and_end_with_it():
    closed = tracing.make_jaxpr(lambda r, x: api.swap(r, ..., x))(new_ref(X), X)
    assert closed.effects == {WriteEffect(closed.jaxpr.invars[0])}
    closed = tracing.make_jaxpr(lambda r, x: (r.addupdate(x), r[...])[1])(new_ref(X), X)
    assert {type(e) for e in closed.effects} == {AccumEffect, ReadEffect}
    assert tracing.make_jaxpr(doubled_sine)(X).effects == {LocalRefEffect()}
    nested = tracing.make_jaxpr(lambda x, r: jit.jit(lambda r: r[...])(r))(X, new_ref(X))
    assert nested.effects == {ReadEffect(nested.jaxpr.invars[1])}


def test_discharge_gives_a_pure_program():
    closed = tracing.make_jaxpr(lambda x, r, q: (api.swap(r, ..., mul(q[...], x)), None)[0])(X, new_ref(X), new_ref(X))
    pure, written = discharge.discharged(closed, [None, 0, 1])
    assert written == [1] and not pure.effects
    assert pure.in_avals == [ShapedArray((3,), np.float32)] * 3 and len(pure.out_avals) == 2
    assert [e.primitive.name for e in pure.eqns] == ["mul"]


def test_programs_are_type_checked():
    with flags.enable_checks(True):
        close(jit.jit(doubled_sine)(X), 2 * np.sin(X))
        close(autodiff.grad(lambda x: total(doubled_sine(x)))(X), 2 * np.cos(X))


# -- transformations -----------------------------------------------------------------------------------------------------

TRANSFORMED = {  # made in the test, as `jit` makes a function of the backend that is in use
    "eager": lambda f: f, "jit": jit.jit, "jit of jit": lambda f: jit.jit(jit.jit(f)),
    "checkpoint": checkpoint.checkpoint, "vmap": vmap.vmap, "vmap of jit": lambda f: vmap.vmap(jit.jit(f)),
    "jit of vmap": lambda f: jit.jit(vmap.vmap(f)), "jit of checkpoint": lambda f: jit.jit(checkpoint.checkpoint(f)),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_function_with_its_own_reference_is_pure(name):
    f = TRANSFORMED[name](doubled_sine)
    close(f(X), 2 * np.sin(X))
    close(f(X), 2 * np.sin(X))
    close(autodiff.jvp(f, (X,), (X,))[1], 2 * X * np.cos(X))
    close(autodiff.grad(lambda x: total(f(x)))(X), 2 * np.cos(X))
    close(jit.jit(autodiff.grad(lambda x: total(f(x))))(X), 2 * np.cos(X))
    close(autodiff.linearize(f, X)[1](X), 2 * X * np.cos(X))
    close(autodiff.grad(lambda x: total(autodiff.grad(lambda x: total(f(x)))(x)))(X), -2 * np.sin(X))


def test_jit_changes_the_callers_reference():
    traces = []

    @jit.jit
    def step(r, x):
        traces.append(None)
        r[...] = add(r[...], x)
        return mul(r[...], 2.0)
    r = new_ref(X)
    close(step(r, X), 4 * X)
    close(step(r, X), 6 * X)
    close(r[...], 3 * X)
    other = new_ref(mul(X, 0.0))
    step(other, X)
    close(other[...], X)
    assert len(traces) == 1


def test_jit_reads_a_closed_over_reference_at_each_call():
    r = new_ref(X)
    f = jit.jit(lambda x: (r.addupdate(x), r[...])[1])
    close(f(X), 2 * X)
    r[...] = mul(X, 0.0)
    close(f(X), X)
    close(r[...], X)


def test_references_in_pytrees_and_nested_jits():
    @jit.jit
    def inner(d):
        d["a"][...] = add(d["a"][...], d["b"][...])

    @jit.jit
    def outer(d):
        inner(d)
        inner(d)
    d = {"a": new_ref(X), "b": new_ref(X)}
    outer(d)
    close(d["a"][...], 3 * X)
    close(d["b"][...], X)


def test_vmap_maps_over_a_reference():
    r = new_ref(np.stack([X, X]))
    vmap.vmap(lambda q, x: q.addupdate(mul(q[...], x)))(r, f32(1, 2))
    close(r[...], np.stack([2 * X, 3 * X]))
    closed_over = new_ref(X)
    close(vmap.vmap(lambda x: mul(closed_over[...], x))(f32(1, 2)), np.stack([X, 2 * X]))
    with pytest.raises(ValueError, match="no mapped axis"):
        vmap.vmap(lambda x: api.set(closed_over, ..., X))(f32(1, 2))
    with pytest.raises(ValueError, match="no mapped axis"):
        vmap.vmap(lambda x: jit.jit(lambda x: api.set(closed_over, ..., mul(X, x)))(x))(f32(1, 2))


def test_a_derivative_is_not_lost_silently():
    r = new_ref(X)

    def f(x):
        r[...] = x
        return total(mul(x, x))
    with pytest.raises(ValueError, match="its derivative would be lost"):
        autodiff.grad(f)(X)
    with pytest.raises(ValueError, match="its derivative would be lost"):
        autodiff.grad(jit.jit(f))(X)
    close(autodiff.grad(lambda x: total(mul(x, r[...])))(X), X)


@pytest.mark.parametrize("where", ["argument twice", "argument and closure", "inside jit"])
def test_one_reference_cannot_be_passed_twice(where):
    r = new_ref(X)
    both = jit.jit(lambda a, b: (a[...], b[...]))
    with pytest.raises(ValueError, match="twice"):
        if where == "argument twice":
            both(r, r)
        elif where == "argument and closure":
            jit.jit(lambda a: (a[...], r[...]))(r)
        else:
            jit.jit(lambda x: (lambda q: both(q, q))(new_ref(x)))(X)


def test_a_reference_cannot_be_returned_or_leak():
    kept = []
    with pytest.raises(ValueError, match=r"returned a mutable reference of type Ref\{float32\[3\]\} at output path \['r'\]"):
        jit.jit(lambda x: {"r": new_ref(x)})(X)
    with pytest.raises(ValueError, match="cannot be returned"):
        jit.jit(lambda r: r)(new_ref(X))
    with pytest.raises(ValueError, match=r"traced for jit, returned .*, made at .*test_refs\.py:\d+"):
        jit.jit(lambda x: new_ref(x))(X)
    for differentiated in (lambda f: autodiff.jvp(f, (X,), (X,)), lambda f: autodiff.linearize(f, X)):
        with pytest.raises(ValueError, match=r"returned a mutable reference of type Ref\{float32\[3\]\}, which has no derivative"):
            differentiated(new_ref)
    with pytest.raises(TypeError, match="Gradient only defined for scalar-output functions"):
        autodiff.grad(new_ref)(1.0)
    jit.jit(lambda x: kept.append(new_ref(x)))(X)
    with pytest.raises(UnexpectedTracerError):
        kept[0][...]


def test_a_frozen_reference_is_not_used_again():
    def f(x):
        r = new_ref(x)
        api.freeze(r)
        return r[...]
    with pytest.raises(ValueError, match="after jax.freeze"):
        jit.jit(f)(X)


def test_is_ref_of_a_description_of_a_type():
    described = ShapeDtypeStruct((3,), np.float32, is_ref=True)
    closed = tracing.make_jaxpr(lambda r: r[...])(described)
    assert closed.in_avals == [AbstractRef(ShapedArray((3,), np.float32))]


def test_compiled_ahead_of_time():
    closed_over, r = new_ref(X), new_ref(X)

    def f(r, x):
        r[...] = add(r[...], x)
        closed_over[...] = mul(closed_over[...], 2.0)
        return r[...]
    compiled = jit.jit(f).lower(r, X).compile()
    close(compiled(r, X), 2 * X)
    close(compiled(r, X), 3 * X)
    close(r[...], 3 * X)
    close(closed_over[...], 4 * X)
    with pytest.raises(TypeError, match=r"argument r is float32\[3\], but it was compiled for Ref\{float32\[3\]\}"):
        compiled(X, X)
    close(jit.jit(doubled_sine).lower(X).compile()(X), 2 * np.sin(X))


# -- derivatives with references as arguments ------------------------------------------------------------------------------

def test_custom_rules_with_references_inside():
    @custom_jvp
    def f(x):
        r = new_ref(x)
        r[...] = sin(r[...])
        return r[...]
    f.defjvps(lambda t, y, x: mul(t, 3.0))
    close(jit.jit(f)(X), np.sin(X))
    close(jit.jit(autodiff.grad(lambda x: total(f(x))))(X), [3, 3, 3])

    @f.defjvp
    def rule(primals, tangents):
        r = new_ref(tangents[0])
        r[...] = mul(r[...], 3.0)
        return f(*primals), r[...]
    close(autodiff.jvp(f, (X,), (X,))[1], 3 * X)
    for differentiate in (autodiff.grad, lambda f: jit.jit(autodiff.grad(f))):
        with pytest.raises(NotImplementedError, match="without references"):
            differentiate(lambda x: total(f(x)))(X)


@pytest.mark.parametrize("wrap", [lambda f: f, jit.jit, checkpoint.checkpoint, lambda f: jit.jit(checkpoint.checkpoint(jit.jit(f)))])
def test_a_backward_pass_writes_to_a_reference(wrap):
    @custom_vjp
    def log(x, ref):
        return x
    log.defvjp(lambda x, ref: (x, ref), lambda ref, ct: (ref.addupdate(ct), (ct, None))[1])
    seen = new_ref(mul(X, 0.0))
    f = wrap(lambda x, ref: total(mul(log(sin(x), ref), x)))
    close(autodiff.grad(f)(X, seen), np.sin(X) + X * np.cos(X))
    close(seen[...], X)
    close(jit.jit(autodiff.grad(f))(X, seen), np.sin(X) + X * np.cos(X))
    close(seen[...], 2 * X)
    close(f(X, seen), np.sum(np.sin(X) * X))
    close(seen[...], 2 * X)


def test_forward_mode_changes_the_tangent_of_a_reference():
    for wrap in (lambda f: f, jit.jit):
        r, t = new_ref(X), new_ref(f32(1, 1, 1))
        square = wrap(lambda r: (api.set(r, ..., mul(r[...], r[...])), total(r[...]))[1])
        value, slope = autodiff.jvp(square, (r,), (t,))
        close(value, np.sum(X * X))
        close(slope, np.sum(2 * X))
        close(r[...], X * X)
        close(t[...], 2 * X)


@pytest.mark.parametrize("wrap", [lambda f: f, jit.jit])
def test_the_gradient_with_respect_to_a_reference_is_that_of_its_first_contents(wrap):
    def f(x, r):
        r[...] = mul(r[...], x)
        return total(mul(r[...], r[...]))

    @wrap
    def both(x, r, sums):
        _, pull = autodiff.vjp(f, x, r)
        return pull.with_refs(pullback.GradValue(), sums)(np.float32(1))[0]
    r, sums = new_ref(X), new_ref(mul(X, 0.0))
    close(both(f32(2, 3, 4), r, sums), 2 * X * X * f32(2, 3, 4))
    close(sums[...], 2 * X * f32(4, 9, 16))
    close(r[...], X * f32(2, 3, 4))


def test_a_custom_rule_is_not_dropped_for_a_reference_that_is_used_elsewhere():
    @custom_vjp
    def log(x, ref):
        return x
    log.defvjp(lambda x, ref: (x, ref), lambda ref, ct: (ref.addupdate(ct), (ct, None))[1])

    @jit.jit
    def f(x, ref):
        ref[...] = mul(ref[...], 2.0)
        return total(log(x, ref))
    r = new_ref(X)
    close(f(X, r), np.sum(X))
    with pytest.raises(NotImplementedError, match="give it a reference of its own"):
        autodiff.grad(f)(X, r)


def test_vjp_with_respect_to_a_reference():
    f = lambda x, r: mul(x, r[...])
    r = new_ref(add(X, X))
    _, pull = autodiff.vjp(f, X, r)
    with pytest.raises(ValueError, match="with_refs"):
        pull(X)
    sums = new_ref(X)
    grad, marker = pull.with_refs(pullback.GradValue(), sums)(X)
    close(grad, 2 * X * X)
    close(sums[...], X + X * X)
    assert marker == pullback.GradRef()
    with pytest.raises(TypeError, match="mutable reference"):
        autodiff.grad(lambda r: total(r[...]))(r)
    out, tangent = autodiff.jvp(lambda r: mul(r[...], r[...]), (r,), (new_ref(X),))
    close(tangent, 2 * 2 * X * X)


def test_with_refs_delivers_gradients_as_told():
    _, pull = autodiff.vjp(lambda d: mul(sin(d["x"]), d["y"]), {"x": X, "y": X})
    sums = new_ref(X)
    found, = pull.with_refs({"x": sums, "y": pullback.DontWant()})(X)
    assert found == {"x": pullback.GradRef(), "y": pullback.DidntWant()}
    close(sums[...], X + X * X * np.cos(X))
    with pytest.raises(ValueError, match="one entry for each array"):
        pull.with_refs(sums)
    with pytest.raises(TypeError, match="says not where"):
        pull.with_refs({"x": sums, "y": X})


def test_what_a_pullback_keeps():
    value, pull = autodiff.vjp(lambda x, y: mul(sin(x), y), X, add(X, 1.0), saveable_args=(True, False))
    assert pull.args_res == [pullback.NotNeeded(), pullback.NotSaveable()]
    with pytest.raises(ValueError, match="args_res"):
        pull(X)
    pull.args_res = [pullback.NotNeeded(), X + 1]
    close(pull(X)[0], X * np.cos(X) * (X + 1))
    close(pull(X)[1], X * np.sin(X))
    with pytest.raises(ValueError, match="3 entries"):
        autodiff.vjp(sin, X, saveable_args=(True, True, True))


def test_in_nzs_says_what_is_differentiated():
    f = lambda x, y: (sin(x), mul(x, y), sin(y))
    _, pull = autodiff.vjp(f, X, X, in_nzs=(False, True))
    assert pull.out_nzs == (False, True, True)
    close(pull((X, X, X))[0], 0 * X)
    close(pull((X, X, X))[1], X * X + X * np.cos(X))


def test_a_pullback_is_a_pytree():
    _, pull = autodiff.vjp(lambda x: mul(sin(x), x), X)
    leaves, structure = tree.flatten(pull)
    again = tree.unflatten(structure, leaves)
    close(again(X)[0], X * (np.sin(X) + X * np.cos(X)))
    close(jit.jit(lambda p, ct: p(ct)[0])(pull, X), X * (np.sin(X) + X * np.cos(X)))


@pytest.mark.parametrize("jitted", [True, False])
def test_fwd_and_bwd(jitted):
    traces = []

    def f(x, y):
        traces.append(None)
        return mul(sin(x), y)
    fwd, bwd = fwd_and_bwd(f, 0, jitted=jitted)
    for k in (1.0, 2.0, 3.0):
        value, residuals = fwd(X, mul(X, k))
        close(value, np.sin(X) * k * X)
        close(bwd(residuals, X), X * np.cos(X) * k * X)
    assert len(traces) == (1 if jitted else 3)
    fwd, bwd = fwd_and_bwd(lambda x, y: (mul(x, y), cos(x)), (1, 0), has_aux=True, jitted=jitted)
    _, residuals, aux = fwd(X, X + 1)
    close(aux, np.cos(X))
    close(bwd(residuals, X)[0], X * X)
    close(bwd(residuals, X)[1], X * (X + 1))


# -- contexts and options of jit ---------------------------------------------------------------------------------------------

def test_a_user_context_is_part_of_the_key_of_programs():
    context, traces = engine.make_user_context(0), []
    f = jit.jit(lambda x: (traces.append(context.value), sin(x))[1])
    f(X)
    with context(1):
        f(X)
        f(X)
    f(X)
    assert traces == [0, 1] and context.value == 0


def test_inline_options():
    f = lambda x, how: jit.jit(sin, inline=how)(x)
    names = {how: tracing.make_jaxpr(lambda x: f(x, how))(X).eqns[0].primitive.name for how in (*Inline, True, False)}
    assert names == {**dict.fromkeys(Inline, "jit"), Inline.JAX_EARLY: "sin", True: "sin", False: "jit"}
    with pytest.raises(ValueError, match="jax.Inline"):
        jit.jit(sin, inline="auto")


def test_other_primitives_that_hold_programs():
    """Custom batching, linear calls and transposition of functions with references inside."""
    mapped = custom_vmap(doubled_sine)
    mapped.def_vmap(lambda size, batched, x: (mul(sin(x), 2.0), True))
    close(jit.jit(mapped)(X), 2 * np.sin(X))
    close(jit.jit(vmap.vmap(mapped))(X), 2 * np.sin(X))
    close(autodiff.grad(lambda x: total(jit.jit(mapped)(x)))(X), 2 * np.cos(X))

    def double(x):
        r = new_ref(x)
        r.addupdate(x)
        return r[...]
    close(jit.jit(lambda x: linear_call(lambda _, x: double(x), lambda _, ct: double(ct), (), x))(X), 2 * X)
    close(autodiff.linear_transpose(double, X)(X)[0], 2 * X)


@pytest.mark.parametrize("written", [False, True], ids=["tape", "residuals"])
def test_gradients_that_are_not_wanted_are_not_computed(written):
    _, pull = autodiff.vjp(lambda x, y: mul(sin(x), sin(y)), X, X)
    if written:
        pull = tree.unflatten(tree.structure(pull), tree.leaves(pull))
    wants = pullback.GradValue(), pullback.DontWant()
    both, one = tracing.make_jaxpr(pull)(X), tracing.make_jaxpr(pull.with_refs(*wants))(X)
    assert len(one.jaxpr.eqns) < len(both.jaxpr.eqns) and len(one.jaxpr.outvars) == 1
    close(pull.with_refs(*wants)(X)[0], pull(X)[0])
    assert jit.jit(lambda ct: pull.with_refs(*wants)(ct))(X)[1] == pullback.DidntWant()
