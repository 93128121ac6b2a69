"""Checks of arguments, shared by all functions of this package; every message names the function."""
from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.programs.jit import inlined, jit
from jax_core.representation import dtypes, source
from jax_core.representation.arguments import joint_shape
from jax_core.representation.aval import get_aval
from jax_core.representation.errors import TypePromotionError
from jax_core.representation.placements import is_open
from jax_core.traces import structural
from jax_core.traces.trace import EVAL, Tracer
from jax_numpy_api.numpy.creation import placed

from .impls import PRNGImpl, default_impl
from .keys import KeyType, PRNGKeyArray
from .primitives import random_unwrap_p, random_wrap_p

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike, DTypeLike

_U32 = np.dtype(np.uint32)

sampler = inlined(static_argnames=("impl", "shape", "dtype"))
"""Decorates the functions ``(words, *parameters, impl, shape, dtype)`` that draw, once arguments are checked."""


# -- keys --------------------------------------------------------------------------------------------------------------

def key_words(name: str, key: ArrayLike) -> tuple[Any, PRNGImpl]:
    """The words of one key, old-style or typed, and its implementation.

    Raises:
      TypeError: ``key`` is not a key. ValueError: it is an array of keys.
    """
    words, impl, _ = raw_key(name, key)
    return words, impl


def raw_key(name: str, key: Any, consumes: bool = True) -> tuple[Any, PRNGImpl, bool]:
    """As `key_words`, and whether the key is typed; ``consumes``: the key counts as used up (see `key_reuse`)."""
    words, impl, typed = raw_keys(name, key)
    if len(words.shape) != len(impl.key_shape):
        shape = key.shape
        raise ValueError(f"{name}: expected one key, got an array of keys of shape {shape}; map over them by jax.vmap")
    if typed and consumes and flags.debug_key_reuse.value:
        from .key_reuse import consume  # start-up: few ask for the check
        consume(name, key)
    return words, impl, typed


def raw_keys(name: str, keys: object) -> tuple[Any, PRNGImpl, bool]:
    """The words of one or more keys, their implementation, and whether they are typed."""
    if type(keys) is PRNGKeyArray and not flags.debug_key_reuse.value:  # where keys are followed, a program reads the key itself
        return keys._base_array, keys.dtype.impl, True
    dtype = getattr(keys, "dtype", None)
    if isinstance(dtype, KeyType):
        return random_unwrap_p.bind(keys), dtype.impl, True
    if dtype != _U32 or not hasattr(keys, "shape"):
        raise TypeError(f"{name}: expected a key, as of jax.random.key(seed), or the uint32 data of one, got "
                        f"{_described(keys)}")
    impl = default_impl()
    check_key_data(name, keys, impl)
    legacy = flags.legacy_prng_key.value
    if legacy != "allow":
        _complain_of_legacy(name, legacy)
    return keys, impl, False


def check_key_data(name: str, words: object, impl: PRNGImpl) -> None:
    """Raise TypeError unless ``words`` can be the words of keys of ``impl``."""
    dtype, shape = getattr(words, "dtype", None), getattr(words, "shape", None)
    if dtype is None or shape is None:
        raise TypeError(f"{name}: the data of a key must be an array, got {words!r} of type {type(words).__name__}")
    rank = len(impl.key_shape)
    if dtype != _U32:
        raise TypeError(f"{name}: the data of a key must be uint32, got dtype {dtype}")
    if len(shape) < rank or shape[len(shape) - rank:] != impl.key_shape:
        raise TypeError(f"{name}: the data of a key of {impl.name} has shape {impl.key_shape}, got an array of shape {shape}, "
                        "which does not end so")


def _described(x: Any) -> str:
    dtype = getattr(x, "dtype", None)
    return f"dtype={dtype}, shape={getattr(x, 'shape', None)}" if dtype is not None else f"{x!r} of type {type(x).__name__}"


def _complain_of_legacy(name: str, how: str) -> None:
    message = (f"jax.random.{name}: key is an array of uint32, not a key of jax.random.key, and jax_legacy_prng_key="
               f"{how!r} objects; wrap it by jax.random.wrap_key_data, or set the flag to 'allow'")
    if how == "error":
        raise ValueError(message)
    source.warn(message)


def as_given(words: ArrayLike, impl: PRNGImpl, typed: bool) -> Any:
    """Words as keys of the style that came in."""
    return random_wrap_p.bind(words, impl=impl) if typed else words


# -- shapes and dtypes -------------------------------------------------------------------------------------------------

def check_shape(name: str, shape: Any) -> tuple[int, ...]:
    """``shape`` (integers, or one integer) as a tuple.

    Raises:
      TypeError: not integers, or traced ones. ValueError: negative ones.
    """
    if type(shape) is tuple:
        for n in shape:
            if type(n) is not int or n < 0:
                break
        else:
            return shape
    if isinstance(shape, Iterator):
        shape = tuple(shape)
    try:
        result = (operator.index(shape),) if np.ndim(shape) == 0 else tuple(operator.index(n) for n in shape)
    except (TypeError, ValueError) as error:  # ValueError: of np.ndim, for sequences of different lengths
        parts = shape if isinstance(shape, (tuple, list)) else (shape,)
        known = "; under jit, make what it depends on static (static_argnums)" if any(isinstance(n, Tracer) for n in parts) else ""
        raise TypeError(f"{name}: shape={shape!r} must be an int or a sequence of ints whose values are known{known}") from error
    if any(n < 0 for n in result):
        raise ValueError(f"{name}: shape={result} has a negative length; lengths must be at least 0")
    return result


def broadcast_shape(name: str, shape: object, *params: Any) -> tuple[int, ...]:
    """The shape of the result: that of the parameters together if ``shape`` is None, else ``shape``.

    Raises:
      ValueError: the parameters do not broadcast to ``shape``.
    """
    shapes = [() if type(p) in (float, int) else np.shape(p) for p in params]
    if not any(shapes):
        return () if shape is None else check_shape(name, shape)
    if shape is None:
        try:
            return joint_shape(*shapes)
        except ValueError:
            raise ValueError(f"{name}: parameters of shapes {', '.join(map(str, shapes))} do not broadcast against each "
                             "other") from None
    shape = check_shape(name, shape)
    try:
        if joint_shape(shape, *shapes) == shape:
            return shape
    except ValueError:
        pass
    raise ValueError(f"{name}: parameters of shapes {', '.join(map(str, shapes))} do not broadcast to shape={shape}; give a "
                     "shape that they broadcast to, or none")


_KINDS: dict[str, tuple[tuple[Any, ...], str, Callable[[], Any]]] = {
    "float": ((np.floating,), "a float dtype", dtypes.default_float_dtype),
    "inexact": ((np.floating, np.complexfloating), "a float or complex dtype", dtypes.default_float_dtype),
    "real": ((np.floating, np.integer), "a float or int dtype", dtypes.default_float_dtype),
    "int": ((np.integer,), "an int dtype", dtypes.default_int_dtype),
    "unsigned": ((np.unsignedinteger,), "an unsigned int dtype", dtypes.default_uint_dtype),
}


def batch_shape(name: str, shape: object, *batches: tuple[int, ...]) -> tuple[int, ...]:
    """``shape``, to which the batch shapes of parameters must broadcast; default what they broadcast to together."""
    try:
        together = joint_shape(*batches)
        if shape is None:
            return together
        shape = check_shape(name, shape)
        if joint_shape(shape, together) == shape:
            return shape
    except ValueError as error:
        if "negative" in str(error):
            raise
    raise ValueError(f"{name}: batch shapes {', '.join(map(str, batches))} of the parameters do not broadcast to "
                     f"shape={shape}")


def check_dtype(name: str, dtype: DTypeLike | None, kind: str = "float") -> Any:
    """The canonical dtype, or the default of the kind for None.

    Args:
      kind: "float", "inexact", "real", "int" or "unsigned".

    Raises:
      ValueError: a dtype of another kind. TypeError: not a dtype.
    """
    allowed, text, default = _KINDS[kind]
    if dtype is None:
        return default()
    if isinstance(dtype, dtypes.ExtendedDType):
        raise ValueError(f"dtype argument to `{name}` must be {text}, got {dtype}")
    dtype = dtypes.canonicalize_user_dtype(dtype, name)
    if not any(dtypes.issubdtype(dtype, a) for a in allowed):
        raise ValueError(f"dtype argument to `{name}` must be {text}, got {dtype}")
    return dtype


def check_array(name: str, what: str, x: ArrayLike, allow_complex: bool = False, sequences: bool = True) -> Any:
    """``x``, if it is a number or an array of numbers (a sequence becomes an array, where ``sequences``).

    Raises:
      TypeError: it is something else. TypePromotionError: it is complex, and ``allow_complex`` is False.
    """
    if sequences and isinstance(x, (list, tuple)):
        x = np.asarray(x)
        x = x.astype(dtypes.canonicalize_dtype(x.dtype)) if x.dtype != object else x
    try:
        aval = get_aval(x)
    except TypeError as error:
        raise TypeError(f"{name}: {what} must be a number or an array, got {x!r} of type {type(x).__name__}") from error
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        raise TypeError(f"{name}: {what} must be a number or an array of numbers, got keys ({aval.str_short()})")
    if not allow_complex and dtypes.issubdtype(aval.dtype, np.complexfloating):
        raise TypePromotionError(f"{name}: {what} must be real, got {aval.str_short()}; its imaginary part would be lost")
    return x


def check_call(name: str, key: ArrayLike, shape: object, dtype: DTypeLike | None, kind: str = "float", **params: Any) -> tuple:
    """The checks that most distributions need, in one call.

    Returns:
      words and implementation of the key, shape and dtype of the result, and the parameters, as a flat tuple.
    """
    words, impl = key_words(name, key)
    dtype = check_dtype(name, dtype, kind)
    values = [check_array(name, what, x) for what, x in params.items()]
    return (words, impl, broadcast_shape(name, shape, *values), dtype, *values)


# -- running -----------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=256)
def _placed(fun: Callable, out_sharding: Any, static: tuple) -> Callable:
    draw = functools.partial(getattr(fun, "__wrapped__", fun), **dict(static))
    if getattr(getattr(out_sharding, "mesh", None), "explicit_axes", ()):  # types say it
        return jit(lambda *args: placed(draw(*args), None, out_sharding))
    return jit(draw, out_shardings=out_sharding)


def run(fun: Callable, out_sharding: Any, *args: Any, **static: Any) -> Any:
    """``fun(*args, **static)``, with the result placed as ``out_sharding`` says (each device draws its own part)."""
    if out_sharding is None or is_open(out_sharding):
        return fun(*args, **static)
    structural.check_out_sharding("jax.random", out_sharding)
    if context.state.trace is not EVAL:
        return placed(fun(*args, **static), None, out_sharding)
    out_sharding = structural.as_placement(out_sharding)
    if not getattr(out_sharding, "_is_concrete", True):  # as types have it; eagerly it needs the devices of the mesh in context
        out_sharding = backends.get().placements.as_sharding(out_sharding)
    return _placed(fun, out_sharding, tuple(static.items()))(*args)


