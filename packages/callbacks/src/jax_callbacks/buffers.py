"""buffer_callback: a Python function that gets the program's own buffers, to read its operands and to write its results.

Nothing is copied: on a CPU NumPy, and on a GPU any library that knows DLPack or the CUDA array interface, can work on the
buffers in place. They belong to the program, so they must not be used after the function has returned.
"""
from __future__ import annotations

from typing import Any, Callable

from jax_core.representation import dtypes, tree
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.effects import UsualEffect
from jax_core.representation.primitive import Primitive
from jax_core.representation.source import describe_function
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import PyTree
from jax_numpy_api.ffi import VMAP_METHODS, batched_avals, check_aliases, vmap_by_method

from .errors import carrier, install


class BufferCallbackEffect(UsualEffect):
    """The callback does something besides writing its results."""

    def __repr__(self):
        return "BufferCallback"


_EFFECTS = frozenset({BufferCallbackEffect()})


def _host_function(callback: Callable, in_tree: Any, out_tree: Any, platform: str) -> Callable:
    count = in_tree.num_leaves

    def call(context, *buffers):
        try:
            args, kwargs = tree.unflatten(in_tree, buffers[:count])
            result = callback(context, tree.unflatten(out_tree, buffers[count:]), *args, **kwargs)
            if result is not None:
                raise ValueError(f"buffer_callback: callback {describe_function(callback)} must not return any values; it writes its "
                                 f"results into the buffers it gets. It returned a value of type {type(result).__name__}.")
            return
        except BaseException as error:
            failure = carrier(error, "ffi.buffer_callback", platform)
        raise failure
    return call


def _jvp(primals, tangents, *, callback, **_):
    raise ValueError(f"Buffer callbacks do not support JVP: {describe_function(callback)} has no derivative. Give the function around it one "
                     "with `jax.custom_jvp` or `jax.custom_vjp`.")


def _transpose(cts, *args, callback, **_):
    raise ValueError(f"buffer_callback {describe_function(callback)}: nothing says that it is linear, so it has no transpose. Give the function "
                     "around it a rule with `jax.custom_vjp` or `jax.custom_derivatives.linear_call`.")


def _batch(axis, args, dims, *, callback, vmap_method, result_avals, **params):
    def call(operands, batched):
        avals = result_avals if batched is None else batched_avals(axis, result_avals)
        return buffer_callback_p.bind(*operands, callback=callback, vmap_method=vmap_method, result_avals=avals, **params)
    return vmap_by_method(f"buffer_callback {describe_function(callback)}", vmap_method, axis, args, dims, call)


def _lower(b, *xs, callback, in_tree, out_tree, has_side_effect, input_output_aliases, command_buffer_compatible, **_):
    install()
    return b.buffer_callback(_host_function(callback, in_tree, out_tree, b.platform), xs, list(b.out_avals),
                             has_side_effect=has_side_effect, aliases=dict(input_output_aliases),
                             command_buffer_compatible=command_buffer_compatible)


buffer_callback_p = Primitive(
    "buffer_callback", multiple_results=True, cacheable=False, out_type=lambda *avals, result_avals, **_: result_avals,
    effects=lambda *avals, has_side_effect, **_: _EFFECTS if has_side_effect else frozenset(),
    jvp=_jvp, transpose=_transpose, batch=_batch, lower=_lower, traits=Traits(Kind.HOST))


def buffer_callback(callback: Callable[..., None], result_shape_dtypes: PyTree, *, has_side_effect: bool = False,
                    vmap_method: str | None = None, input_output_aliases: dict[int, int] | None = None,
                    command_buffer_compatible: bool = False) -> Callable[..., Any]:
    """A function of arrays that calls ``callback(context, out, *args, **kwargs)`` on the program's buffers.

    Args:
      callback: gets an `ExecutionContext` (with the ``stream``, on a GPU), writable buffers for the results in the structure of
        ``result_shape_dtypes``, and the arguments with a read-only buffer in the place of each leaf. A buffer has ``shape`` and
        ``dtype``, and becomes an array with ``numpy.asarray``, DLPack or ``__cuda_array_interface__``. The callback returns
        nothing, and keeps none of them.
      result_shape_dtypes: pytree of results, each with a ``shape`` and a ``dtype``.
      has_side_effect: the call happens even if nobody reads its results.
      vmap_method: what `vmap` does, see `ffi_call`.
      input_output_aliases: for the number of an argument's leaf that of the result which takes its buffer.
      command_buffer_compatible: on a GPU, the call may be recorded once and be replayed without Python.

    Raises:
      ValueError: the options do not fit each other or the operands; the callback returns something; or under differentiation.

    >>> from jax.experimental.buffer_callback import buffer_callback
    >>> def double(context, out, x):
    ...     np.multiply(np.asarray(x), 2, out=np.asarray(out))
    >>> buffer_callback(double, jax.ShapeDtypeStruct((3,), jnp.float32))(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """
    if vmap_method not in VMAP_METHODS:
        raise ValueError(f"buffer_callback: vmap_method={vmap_method!r} is unknown; give one of {', '.join(map(repr, VMAP_METHODS))}")
    results, out_tree = tree.flatten(result_shape_dtypes)
    for i, r in enumerate(results):
        if not (hasattr(r, "shape") and hasattr(r, "dtype")):
            raise ValueError(f"buffer_callback: all leaves of result_shape_dtypes must have 'shape' and 'dtype' attributes. Got {r!r} at position {i}.")
    result_avals = tuple(ShapedArray(tuple(r.shape), dtypes.canonicalize_dtype(r.dtype)) for r in results)

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        aliases = check_aliases(f"buffer_callback {describe_function(callback)}", input_output_aliases, [get_aval(x) for x in leaves], result_avals)
        outs = buffer_callback_p.bind(
            *leaves, callback=callback, in_tree=in_tree, out_tree=out_tree, result_avals=result_avals, has_side_effect=has_side_effect,
            vmap_method=vmap_method, input_output_aliases=aliases, command_buffer_compatible=command_buffer_compatible)
        return tree.unflatten(out_tree, outs)
    return call
