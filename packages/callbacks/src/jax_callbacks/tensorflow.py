"""TensorFlow beside us: functions of ours as TensorFlow's (`convert`), TensorFlow's in programs of ours (`call_tf`).

`convert` exports the function for the types it is called with, and gives the StableHLO module to TensorFlow's operation
XlaCallModule, so that what runs there, and what a SavedModel holds, is the compiled program and nothing of Python. Its
derivative is the exported VJP. `call_tf` is a callback, whose derivative is TensorFlow's own.

Left aside: shapes that are unknown to TensorFlow. Our exports for symbolic shapes are templates that are filled in at the
call, where XlaCallModule takes one module.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.export.exported import DisabledSafetyCheck, Exported
from jax_core.export.exporting import export
from jax_core.export.symbolic_programs import eval_shape
from jax_core.export.symbolic_shapes import symbolic_args_specs
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct, get_aval
from jax_core.representation.dtypes import canonicalize_dtype
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.forward import has_tangent
from jax_numpy_api import numpy as jnp

from .api import io_callback, pure_callback

__all__ = ["DisabledSafetyCheck", "PolyShape", "call_tf", "convert", "dtype_of_val", "eval_polymorphic_shape"]


def _tensorflow(name: str) -> Any:
    try:
        import tensorflow  # an optional dependency
    except ImportError as error:
        raise ImportError(f"jax2tf.{name}: needs the package tensorflow, which is not installed here; run `pip install tensorflow`",
                          name="tensorflow") from error
    return tensorflow


class PolyShape(tuple):
    """A specification of a shape as its parts: ``PolyShape("b", 3, ...)`` is ``"b, 3, ..."``.

    Raises:
      ValueError: a part is neither text, nor a length, nor ``...``.

    >>> from jax.experimental import jax2tf
    >>> str(jax2tf.PolyShape("b", 3, ...))
    'b, 3, ...'
    """

    def __new__(cls, *dim_specs: Any) -> "PolyShape":
        """The parts in order: expressions, lengths and, as the last one, ``...``."""
        for part in dim_specs:
            if not (isinstance(part, (str, int)) or part is ...):
                raise ValueError(f"PolyShape: {part!r} is no part of a shape; give an expression as text, a length, '_', or ... as the last one")
        return super().__new__(cls, dim_specs)

    def __str__(self) -> str:
        return ", ".join("..." if d is ... else str(d) for d in self)


Shapes = Sequence[str | PolyShape | None] | str | PolyShape | None
"""Specifications of the shapes of a function's arguments: one for each, or one for all."""


def dtype_of_val(val: object) -> Any:
    """The dtype of TensorFlow that a value has where a converted function gets it.

    Raises:
      ImportError: tensorflow is not installed.

    >>> from jax.experimental import jax2tf
    >>> jax2tf.dtype_of_val(3.0)  # doctest: +SKIP
    tf.float32
    """
    return _tensorflow("dtype_of_val").as_dtype(_dtype(val))


def eval_polymorphic_shape(fun_jax: Callable, *, polymorphic_shapes: Shapes = None) -> Callable[..., Any]:
    """A function of arguments that gives descriptions of ``fun_jax``'s results, and their shapes as specifications; nothing is computed.

    Args:
      polymorphic_shapes: for each argument a specification of its shape, as ``"b, _"``, or None.

    >>> from jax.experimental import jax2tf
    >>> jax2tf.eval_polymorphic_shape(lambda x: x.sum(1), polymorphic_shapes=["b, _"])(np.ones((3, 4), np.float32))
    (ShapeDtypeStruct(shape=(b,), dtype=float32), '(b,)')
    """
    def shapes(*args: Any) -> Any:
        if polymorphic_shapes is None or isinstance(polymorphic_shapes, (str, PolyShape)):
            of_each: Sequence[str | PolyShape | None] = [polymorphic_shapes] * len(args)
        else:
            of_each = polymorphic_shapes
        specs = tuple(None if s is None else str(s) for s in of_each)
        found = eval_shape(jit(fun_jax), symbolic_args_specs(args, specs), {})
        return found, tree.map(lambda x: str(x.shape), found)
    return shapes


def convert(fun_jax: Callable, *, polymorphic_shapes: Shapes = None, polymorphic_constraints: Sequence[str] = (), with_gradient: bool = True,
            enable_xla: bool = True, native_serialization: bool = True, native_serialization_platforms: Sequence[str] | None = None,
            native_serialization_disabled_checks: Sequence[DisabledSafetyCheck] = ()) -> Callable[..., Any]:
    """``fun_jax`` as a function of TensorFlow's tensors, also inside ``tf.function``, under ``tf.GradientTape`` and in a SavedModel.

    Args:
      fun_jax: of pytrees of arrays.
      polymorphic_shapes, polymorphic_constraints: not needed, as each call takes the shapes of its arguments.
      with_gradient: whether TensorFlow can differentiate it; else a derivative is a LookupError there.
      enable_xla, native_serialization: nothing: the program is a StableHLO module always.
      native_serialization_platforms: one platform, ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``; default the one that our programs run on.
      native_serialization_disabled_checks: checks of the export to leave out.

    Returns:
      a function that gives pytrees of tensors. Arguments of 64 bits become 32 bits wide unless x64 is enabled.

    Raises:
      ImportError: tensorflow is not installed.
      NotImplementedError: several platforms are asked for; when it is called: a shape is not known.

    >>> from jax.experimental import jax2tf
    >>> import tensorflow as tf  # doctest: +SKIP
    >>> jax2tf.convert(jnp.negative)(tf.ones(2)).numpy()  # doctest: +SKIP
    array([-1., -1.], dtype=float32)
    """
    tf = _tensorflow("convert")
    if native_serialization_platforms is not None and len(native_serialization_platforms) != 1:
        raise NotImplementedError(f"jax2tf.convert: native_serialization_platforms={native_serialization_platforms!r}: a module is for one "
                                  "platform; convert the function once for each")
    known: dict = {}

    def exported_for(structure: Any, types: tuple) -> Exported:
        if (structure, types) not in known:
            def of_leaves(*leaves: Any) -> Any:
                args, kwargs = tree.unflatten(structure, leaves)
                return fun_jax(*args, **kwargs)
            of_leaves.__name__ = getattr(fun_jax, "__name__", "converted")
            known[structure, types] = export(jit(of_leaves), platforms=native_serialization_platforms, disabled_checks=tuple(
                native_serialization_disabled_checks))(*[ShapeDtypeStruct(*t) for t in types])
        return known[structure, types]

    def converted(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten(_plain((args, kwargs)))
        tensors = [_tensor(tf, x) for x in leaves]
        exported = exported_for(structure, tuple((tuple(x.shape), np.dtype(x.dtype.as_numpy_dtype)) for x in tensors))

        def run(*xs: Any) -> tuple:
            outs = _call_module(tf, exported, xs)

            def gradient(*cotangents: Any) -> list:
                given = [g for g, a in zip(cotangents, exported.out_avals) if has_tangent(a)]
                found = iter(_call_module(tf, exported.vjp(), [*xs, *given]))
                return [next(found) if has_tangent(a) else None for a in exported.in_avals]
            return tuple(outs), gradient
        outs = tf.custom_gradient(run)(*tensors) if with_gradient else tuple(
            tf.raw_ops.PreventGradient(input=x, message="converted by jax2tf with with_gradient=False") for x in run(*tensors)[0])
        return tree.unflatten(exported.out_tree, outs)
    return converted


def call_tf(callable_tf: Callable, has_side_effects: bool = True, ordered: bool = False, output_shape_dtype: object = ...,
            call_tf_graph: bool = False) -> Callable[..., Any]:
    """A function of TensorFlow as one of arrays, also inside `jit`, `vmap` and, in reverse mode, derivatives.

    Args:
      callable_tf: of tensors; gives a structure of tensors.
      has_side_effects: whether calls count where nobody uses their results.
      ordered: whether calls with effects happen in the order in which programs make them.
      output_shape_dtype: structure of descriptions of the result; by default TensorFlow is asked.
      call_tf_graph: nothing: what is called is always TensorFlow's compiled function.

    Raises:
      ImportError: tensorflow is not installed.

    >>> from jax.experimental import jax2tf
    >>> import tensorflow as tf  # doctest: +SKIP
    >>> jax.jit(jax2tf.call_tf(tf.math.cumsum))(jnp.array([1., 2.]))  # doctest: +SKIP
    Array([1., 3.], dtype=float32)
    """
    tf = _tensorflow("call_tf")
    compiled = tf.function(callable_tf, autograph=False)

    def described(args: tuple) -> Any:
        if output_shape_dtype is not ...:
            return output_shape_dtype
        specs = tree.map(lambda x: tf.TensorSpec(x.shape, tf.as_dtype(x.dtype)), args)
        return tree.map(lambda x: ShapeDtypeStruct(tuple(x.shape), x.dtype.as_numpy_dtype), compiled.get_concrete_function(*specs).structured_outputs)

    def forward_now(*args: Any) -> Any:
        return tree.map(np.asarray, compiled(*tree.map(lambda x: tf.constant(np.asarray(x)), args)))

    def backward_now(args: tuple, cotangents: Any) -> list:
        tensors = tree.map(lambda x: tf.constant(np.asarray(x)), args)
        with tf.GradientTape() as tape:
            tape.watch(_live(tensors))
            outs = compiled(*tensors)
        live = [(y, tf.constant(np.asarray(g))) for y, g in zip(tree.leaves(outs), tree.leaves(cotangents)) if y.dtype.is_floating or y.dtype.is_complex]
        found = tape.gradient([y for y, _ in live], _live(tensors), [g for _, g in live], unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return [np.asarray(x) for x in found]

    @custom_vjp
    def call(*args: Any) -> Any:
        if has_side_effects:
            return io_callback(forward_now, described(args), *args, ordered=ordered)
        return pure_callback(forward_now, described(args), *args)

    def forward(*args: Any) -> tuple:
        return call(*args), args

    def backward(args: tuple, cotangents: Any) -> tuple:
        leaves, structure = tree.flatten(args)
        kinds = [get_aval(x) for x in leaves]
        shapes = [ShapeDtypeStruct(a.shape, a.dtype) for a in kinds if has_tangent(a)]
        found = iter(pure_callback(backward_now, shapes, args, cotangents))
        return tree.unflatten(structure, [next(found) if has_tangent(a) else np.zeros(a.shape, a.to_ct_aval().dtype) for a in kinds])
    call.defvjp(forward, backward)
    return lambda *args: call(*tree.map(jnp.asarray, args))


def _live(tensors: Any) -> list:
    return [x for x in tree.leaves(tensors) if x.dtype.is_floating or x.dtype.is_complex]


def _dtype(x: Any) -> np.dtype:
    """The dtype that an argument has in programs: a tensor, an array or a Python number."""
    has = getattr(x, "dtype", None)
    return canonicalize_dtype(get_aval(x).dtype if has is None else getattr(has, "as_numpy_dtype", has))


def _tensor(tf: Any, x: Any) -> Any:
    dtype = tf.as_dtype(_dtype(x))
    tensor = tf.convert_to_tensor(x) if hasattr(x, "dtype") and hasattr(x.dtype, "as_numpy_dtype") else tf.constant(np.asarray(x), dtype)
    if not tensor.shape.is_fully_defined():
        raise NotImplementedError(f"jax2tf.convert: an argument has the shape {tensor.shape}, where a program needs lengths that are known; give "
                                  "tf.function an input_signature without None, or call it once for each shape")
    return tf.cast(tensor, dtype)


def _plain(x: Any) -> Any:
    """``x`` with dictionaries and lists as we know them, where a ``tf.Module`` has wrapped those that it keeps."""
    return tree.map(_unwrapped, x)


def _unwrapped(x: Any) -> Any:
    if isinstance(x, dict):  # a leaf, so it is a wrapper
        return {k: _plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return (list if isinstance(x, list) else tuple)(map(_plain, x))
    return x


def _call_module(tf: Any, exported: Exported, operands: Sequence[Any]) -> list:
    """What the exported program gives for these tensors."""
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops  # an optional dependency

    return list(gen_xla_ops.xla_call_module(
        args=[operands[i] for i in exported.module_kept_var_idx], version=exported.calling_convention_version,
        module=exported.mlir_module_serialized, Sout=[a.shape for a in exported.out_avals], Tout=[tf.as_dtype(a.dtype) for a in exported.out_avals],
        dim_args_spec=[], platforms=[exported.platforms[0].upper()], function_list=[], has_token_input_output=False, disabled_checks=[]))
