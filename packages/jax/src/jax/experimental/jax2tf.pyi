"""Types of `jax.experimental.jax2tf`. Written by packages/jax/tools/make_stubs.py."""
from jax.export import DisabledSafetyCheck
from typing import Any, Callable, Sequence
from jax.export import DisabledSafetyCheck as DisabledSafetyCheck

class PolyShape(tuple):
    """A specification of a shape as its parts: ``PolyShape("b", 3, ...)`` is ``"b, 3, ..."``."""
def call_tf(callable_tf: Callable[..., Any], has_side_effects: bool = True, ordered: bool = False, output_shape_dtype: object = ..., call_tf_graph: bool = False) -> Callable[..., Any]:
    """A function of TensorFlow as one of arrays, also inside `jit`, `vmap` and, in reverse mode, derivatives."""
def convert(fun_jax: Callable[..., Any], *, polymorphic_shapes: Sequence[str | PolyShape | None] | str | PolyShape | None = None, polymorphic_constraints: Sequence[str] = ..., with_gradient: bool = True, enable_xla: bool = True, native_serialization: bool = True, native_serialization_platforms: Sequence[str] | None = None, native_serialization_disabled_checks: Sequence[DisabledSafetyCheck] = ...) -> Callable[..., Any]:
    """``fun_jax`` as a function of TensorFlow's tensors, also inside ``tf.function``, under ``tf.GradientTape`` and in a SavedModel."""
def dtype_of_val(val: object) -> Any:
    """The dtype of TensorFlow that a value has where a converted function gets it."""
def eval_polymorphic_shape(fun_jax: Callable[..., Any], *, polymorphic_shapes: Sequence[str | PolyShape | None] | str | PolyShape | None = None) -> Callable[..., Any]:
    """A function of arguments that gives descriptions of ``fun_jax``'s results, and their shapes as specifications; nothing is computed."""
