"""Members of types, stages and program parts that interpreters and libraries of users call."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import AbstractValue, ShapedArray
from jax.sharding import ManualAxisType

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


def test_types_are_their_own_representation():
    """A value is the one array that represents it."""
    assert not MATRIX.is_high and MATRIX.lo_ty() == [MATRIX] and MATRIX.normalize() is MATRIX
    assert MATRIX.raise_val(*MATRIX.lower_val(2.0)) == 2.0


def test_weak_type_is_replaced():
    """Also through a reference."""
    assert MATRIX.update_weak_type(True).weak_type
    assert jax.ref.AbstractRef(MATRIX).update_weak_type(True).weak_type
    assert AbstractValue().update_weak_type(True).normalize() is not None


def test_manual_axis_type_is_the_set_of_varying_axes():
    """It is given to the constructor or replaced later; sums still to be made are refused by name."""
    over_x = ManualAxisType(varying={"x"})
    varying = ShapedArray((3, 4), np.float32, manual_axis_type=over_x)
    assert varying.mat == over_x and varying.vma == {"x"} and MATRIX.manual_axis_type == ManualAxisType()
    assert MATRIX.update_manual_axis_type(over_x) == varying == MATRIX.update(manual_axis_type=over_x)
    assert jax.ref.AbstractRef(MATRIX).update_manual_axis_type(over_x).manual_axis_type == over_x
    with pytest.raises(NotImplementedError, match="unreduced"):
        MATRIX.update_manual_axis_type(ManualAxisType(unreduced={"x"}))


def test_described_arrays_have_a_manual_axis_type():
    """None unless given."""
    over_x = ManualAxisType(varying={"x"})
    assert jax.ShapeDtypeStruct((3,), jnp.float32).manual_axis_type is None
    described = jax.ShapeDtypeStruct((3,), jnp.float32, manual_axis_type=over_x)
    assert described.manual_axis_type == over_x
    assert described.update(manual_axis_type=ManualAxisType()).manual_axis_type == ManualAxisType()
