"""Members of types, stages and program parts that interpreters and libraries of users call."""
import numpy as np
import pytest

import jax
import jax.extend.core
import jax.numpy as jnp
from jax.core import AbstractValue, ShapedArray
from jax.experimental import hijax
from jax.interpreters import xla
from jax.sharding import AxisType, ManualAxisType, PartitionSpec as P

MATRIX = ShapedArray((3, 4), np.float32)


def test_rank_of_a_type():
    """A new axis of a given length, and back; None stands for what is not mapped."""
    assert MATRIX.inc_rank(5, 1) == ShapedArray((3, 5, 4), np.float32)
    assert MATRIX.inc_rank(5, 1).dec_rank(5, 1) == MATRIX
    assert MATRIX.inc_rank(5, None) is MATRIX and MATRIX.dec_rank(None, None) is MATRIX
    with pytest.raises(ValueError, match="axis 0 of float32\\[3,4\\] has length 3, not 9"):
        MATRIX.dec_rank(9, 0)
    reference = jax.ref.AbstractRef(MATRIX)
    assert reference.inc_rank(2, 0).dec_rank(2, 0) == reference


def test_vector_space_of_a_type():
    """Integers have cotangents that carry nothing."""
    assert MATRIX.to_ct_aval() is MATRIX and MATRIX.at_least_vspace() is MATRIX and MATRIX.vspace_add(1.0, 2.0) == 3.0
    assert ShapedArray((3,), np.int32).to_ct_aval().dtype == jax.dtypes.float0
    with pytest.raises(NotImplementedError):
        AbstractValue().to_ct_aval()


def test_types_without_axes_say_so():
    token = jax.extend.core.AbstractToken()
    for call in (lambda: token.inc_rank(2, 0), lambda: token.dec_rank(2, 0),
                 lambda: token.update_manual_axis_type(ManualAxisType()), lambda: token.update()):
        with pytest.raises(NotImplementedError, match="AbstractToken (has no|cannot vary)"):
            call()


def test_types_are_their_own_representation():
    """A value is the one array that represents it."""
    assert not MATRIX.is_high and MATRIX.lo_ty() == [MATRIX] and MATRIX.normalize() is MATRIX
    assert MATRIX.raise_val(*MATRIX.lower_val(2.0)) == 2.0


def test_axes_of_the_mesh_by_type():
    """Asked for, they follow the type; outside of meshes there are none."""
    mesh = jax.sharding.AbstractMesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Auto))
    split = MATRIX.update(shape=(4, 4), sharding=jax.NamedSharding(mesh, P("x")))
    assert split.str_short(True, mesh_axis_types=True) == "f32[4@x,4]({Explicit: ('x',), Auto: ('y',)})"
    assert split.str_short() == "float32[4@x,4]" and MATRIX.str_short(True, True) == "f32[3,4]"


def test_weak_type_is_replaced():
    """Also through a reference."""
    assert MATRIX.update_weak_type(True).weak_type
    assert jax.ref.AbstractRef(MATRIX).update_weak_type(True).weak_type
    assert AbstractValue().update_weak_type(True).normalize() is not None


def test_manual_axis_type_is_the_set_of_varying_axes():
    """It is given to the constructor or replaced later, sums that are still to be made with it."""
    over_x = ManualAxisType(varying={"x"})
    varying = ShapedArray((3, 4), np.float32, manual_axis_type=over_x)
    assert over_x != ManualAxisType() and over_x != "x" and ManualAxisType(varying={"x"}) == over_x
    assert varying.mat == over_x and varying.vma == {"x"} and MATRIX.manual_axis_type == ManualAxisType()
    assert MATRIX.update_manual_axis_type(over_x) == varying == MATRIX.update(manual_axis_type=over_x)
    assert jax.ref.AbstractRef(MATRIX).update_manual_axis_type(over_x).manual_axis_type == over_x
    to_sum = MATRIX.update_manual_axis_type(ManualAxisType(unreduced={"x"}))
    assert to_sum.manual_axis_type.unreduced == {"x"} and to_sum != MATRIX


def test_described_arrays_have_a_manual_axis_type():
    """None unless given."""
    over_x = ManualAxisType(varying={"x"})
    assert jax.ShapeDtypeStruct((3,), jnp.float32).manual_axis_type is None
    described = jax.ShapeDtypeStruct((3,), jnp.float32, manual_axis_type=over_x)
    assert described.manual_axis_type == over_x
    assert described.update(manual_axis_type=ManualAxisType()).manual_axis_type == ManualAxisType()


def pair(x, y):
    return {"a": x + y, "b": 2 * x}


def debug_info():
    return jax.jit(pair).trace(1.0, 2.0).jaxpr.debug_info


def test_debug_info_names_arguments_results_and_place():
    """Counts are checked, names can be left out."""
    info = debug_info()
    assert info.safe_arg_names(2) == ("x", "y") and info.filter_arg_names([False, True]) == ("y",)
    assert info.safe_result_paths(2) == ("result['a']", "result['b']")
    assert info.resolve_result_paths().filter_result_paths([True, False]) == ("result['a']",)
    assert info.func_filename == __file__ and info.func_lineno == pair.__code__.co_firstlineno
    renamed = info.replace_func_name("g")
    assert renamed.func_name == "g" and renamed.func_lineno == info.func_lineno
    assert info.set_result_paths({"q": 1}).result_paths == ("result['q']",)
    with pytest.raises(AssertionError, match="are 2, not 3"):
        info.assert_arg_names(3)
    with pytest.raises(AssertionError, match="are 2, not 5"):
        info.assert_result_paths(5)


def test_debug_info_without_names():
    """Unknown names are empty, as many as asked for."""
    info = debug_info().with_unknown_names()
    assert info.arg_names is None and info.filter_arg_names([True]) is None and info.filter_result_paths([True]) is None
    assert info.safe_arg_names(2) == ("", "") == info.safe_result_paths(2)


def test_zero_tangent_becomes_an_array():
    zero = jax.interpreters.ad.Zero(MATRIX).instantiate()
    assert zero.shape == (3, 4) and zero.dtype == np.float32 and not zero.any()


def traced_with_constant():
    constant = jnp.arange(3.0)
    return jax.jit(lambda x: {"q": constant + x["r"]}).trace({"r": 1.0})


def test_closure_convert_takes_the_constants_as_an_argument():
    """Other constants of the same types may be given, and their derivative exists."""
    consts, converted = traced_with_constant().closure_convert()
    np.testing.assert_array_equal(converted(consts, {"r": 2.0})["q"], [2, 3, 4])
    np.testing.assert_array_equal(converted([jnp.ones(3)], {"r": 2.0})["q"], [3, 3, 3])
    np.testing.assert_array_equal(jax.grad(lambda cs: converted(cs, {"r": 2.0})["q"].sum())(consts)[0], [1, 1, 1])
    with pytest.raises(TypeError, match="takes 1 constants, got 2"):
        converted([1.0, 2.0], {"r": 2.0})


def test_with_consts_as_arg_is_a_program_with_one_more_argument():
    """It can be lowered and compiled; the constants are no longer part of it."""
    consts, traced = traced_with_constant().with_consts_as_arg()
    assert not traced.jaxpr.consts and len(jax.tree.leaves(traced.args_info)) == 2
    np.testing.assert_array_equal(traced(consts, {"r": 2.0})["q"], [2, 3, 4])
    np.testing.assert_array_equal(traced.lower().compile()([jnp.ones(3)], {"r": 2.0})["q"], [3, 3, 3])
    assert traced.lojax.jaxpr is traced.jaxpr


def test_with_consts_as_arg_keeps_donation_and_placement():
    """What was said of the arguments still holds, one place further on."""
    constant = jnp.arange(3.0)
    traced = jax.jit(lambda x: constant + x, donate_argnums=0).trace(jnp.ones(3))
    consts, moved = traced.with_consts_as_arg()
    assert moved.donate_argnums == (1,)
    given = jnp.ones(3)
    np.testing.assert_array_equal(moved.lower().compile()(consts, given), [1, 2, 3])
    assert given.is_deleted() and not consts[0].is_deleted()


def test_equations_are_copied_with_other_effects():
    equation = jax.make_jaxpr(jnp.sin)(1.0).jaxpr.eqns[0]
    assert equation.replace(effects=frozenset({1})).effects == {1} and equation.replace(params={}).effects == equation.effects
    again = jax.extend.core.JaxprEqn(equation.invars, equation.outvars, equation.primitive, {}, effs=frozenset({2}))
    assert again.effects == {2}


def test_partial_eval_arguments():
    """Programs are traced without what nobody needs, if asked; the inputs stay."""
    from jax.interpreters import partial_eval as pe
    f = lambda x, y: [jnp.sin(y), x][1:]
    whole, _, _ = pe.trace_to_jaxpr_dynamic(f, [MATRIX, MATRIX])
    small, avals, consts = pe.trace_to_jaxpr_dynamic(f, [MATRIX, MATRIX], auto_dce=True, lower=True)
    assert len(whole.eqns) == 1 and not small.eqns and len(small.invars) == 2 and avals == [MATRIX] and not consts
    with pytest.raises(NotImplementedError, match="keep_inputs"):
        pe.trace_to_jaxpr_dynamic(f, [MATRIX, MATRIX], keep_inputs=[True, False])
    assert pe.dce_jaxpr(whole, True, live_inputs=[True, False])[1] == [True, False]
    assert pe.abstract_eval_fun(lambda x, y: [x + y], MATRIX, MATRIX, debug_info=whole.debug_info)[0] == MATRIX


def test_high_level_types_must_say_what_represents_them():
    """They are not their own representation, unlike arrays."""
    from jax.experimental.hijax import HiType
    kind = HiType()
    assert kind.is_high and jax.extend.core.Primitive("test").is_high(kind)
    for call in (kind.lo_ty, lambda: kind.lower_val(1), kind.raise_val, lambda: kind.vspace_add(1, 2), kind.vspace_zero,
                 kind.leading_axis_spec):
        with pytest.raises(NotImplementedError, match="HiType is a high-level type and must have a method"):
            call()


def test_type_of_arrays_describes_what_arrays_have():
    """Methods and properties of arrays stand on their type as marks, and do on a tracer what they do on an array."""
    aval = jax.typeof(jnp.zeros((2, 3)))
    assert isinstance(aval.sum, hijax.aval_method) and isinstance(aval.T, hijax.aval_property)
    np.testing.assert_array_equal(jax.jit(aval.sum.fun)(jnp.ones((2, 3))), 6)
    assert aval.T.fget(jnp.ones((2, 3))).shape == (3, 2)
    assert aval.at.fget(jnp.zeros(3))[1].set(2.0).tolist() == [0, 2, 0]
    assert aval.shape == (2, 3) and aval.size == 6  # what the type knows itself stays


def test_current_trace_says_which_was_before():
    """`set_current_trace` restores the trace that ``prev`` names."""
    def program(x):
        with jax.core.eval_context():
            use = jax.extend.core.set_current_trace(x._trace, check_leaks=True)
            assert use.trace is x._trace and use.check_leaks and not hasattr(use, "prev")
            with use:
                assert use.prev is not x._trace
                return x + 1

    assert jax.jit(program)(1) == 2


def test_backend_is_the_class_of_clients():
    """`jax.interpreters.xla.Backend` is what devices' clients are instances of."""
    assert isinstance(jax.devices()[0].client, xla.Backend)


def test_symbolic_extrema_by_name():
    """`max_dim` and `min_dim` take their lengths by name."""
    assert (jax.core.max_dim(d1=2, d2=5), jax.core.min_dim(d1=2, d2=5)) == (5, 2)
