"""`pure_callback` and `io_callback`: host functions whose results go back into the program.

Both are primitives that hold a `Site`. Without any transformation around them they simply call the function. In a
compiled program they are a custom call. `vmap` gives one call for the whole batch: of the function itself where it takes
batches, else of a function that loops over the batch on the host, so that a batch costs one passage to the host only.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import flags
from jax_core.representation import dtypes, source, tree
from jax_core.representation.aval import ShapedArray, abstract_token, get_aval
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import Placement, PyTree
from jax_core.traces import nans
from jax_core.traces.structural import bdim_at_front, broadcast, moved

from .effects import io_effect, ordered_io_effect
from .errors import as_runtime_error, install
from .site import BatchedSite, Site, make_site
from .views import host_value

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.effects import Effect
    from jax_core.representation.typing import ArrayLike, ShardingLike
    from jax_core.transformations.batching import AxisData

VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


# -- rules that all callbacks share ----------------------------------------------------------------------------------

def run_now(args: Sequence[object], site: Site) -> list:
    """Eager evaluation: call the function on the values of ``args``.

    An exception of the callback is raised as it would come out of a compiled program.
    """
    try:
        results = site.run([host_value(x) for x in args])
    except Exception as error:
        raise as_runtime_error(error)
    if not results:
        return []
    put = backends.get().put
    placement = _placement(args)
    if nans.watching() and (kind := nans.found_in(results)) is not None and nans.found_in(args) != kind:
        raise nans.report(kind, "a host callback", source.capture())
    return [put(np.array(x), _array_type(a), placement) if not isinstance(a.dtype, dtypes.ExtendedDType)
            else _keys(x, a, placement) for x, a in zip(results, site.out_avals)]


def _array_type(aval: Any) -> ShapedArray:
    return ShapedArray(aval.shape, aval.dtype)


def _keys(x: np.ndarray, aval: Any, placement: Any) -> Any:
    return aval.dtype.wrap(backends.get().put(np.array(x), None, placement))


def _placement(args: Sequence[Any]) -> Any:
    """Where the first operand that is committed to one device is; results go there."""
    for x in args:
        if getattr(x, "committed", False) and len(getattr(x.sharding, "device_set", ())) == 1:
            return x.sharding
    return None


def lower_call(b: Builder, operands: Sequence[Value], site: Site, effect: Effect | None, has_side_effect: bool,
               partitioned: bool = False, out: Sequence[AbstractValue] | None = None, sharding: ShardingLike | None = None) -> list:
    """Emit the call; with an effect it is made after the one before it. ``out``: types of results, if not the equation's.
    ``sharding``: on the device that makes it, if it returns nothing."""
    install()
    operands = [b.physical(x) for x in operands]
    out = list(b.out_avals if out is None else out)
    # XLA hands out zeros as the results of a call that another device than the first makes
    device = next(iter(sharding.device_set)) if sharding is not None and not out else None
    if effect is None:
        return b.host_callback(site.host_function(False, b.platform), operands, out, has_side_effect=has_side_effect, name=site.kind,
                               device=device)
    chain = effect if effect.ordered else ("calls without order", b.block)  # within a block they are made in the order of the text
    token, *outs = b.host_callback(site.host_function(True, b.platform), [b.token(chain), *operands], [abstract_token, *out],
                                   has_side_effect=True, name=site.kind, partitioned=partitioned, device=device)
    b.set_token(chain, token)
    return outs


def batch_by_loop(prim: Primitive, axis: AxisData, args: Sequence[ArrayLike], dims: Sequence[int | None], site: Site,
                  **params: Any) -> tuple[list, Any]:
    """One call that loops over the batch on the host."""
    args = [x if d is None else moved(x, d, 0) for x, d in zip(args, dims)]
    batched = BatchedSite(site, axis.size, [d is not None for d in dims])
    return prim.bind(*args, site=batched, **params), 0


def operand_check(name: str) -> Callable[[Any], bool]:
    """For functions whose arguments must all be arrays: a test that raises TypeError for others."""
    def check(x):
        try:
            get_aval(x)
        except TypeError as error:
            raise TypeError(f"Error interpreting argument to {name} as a JAX value. The problematic value is of type "
                            f"{type(x)}; pass it to the callback through a closure or functools.partial.") from error
        return True
    return check


def _on_one_device(name: str, sharding: Any) -> Any:
    """``sharding``, if it is on one device, or None."""
    if sharding is not None and len(getattr(sharding, "device_set", ())) != 1:
        raise NotImplementedError(f"{name}: sharding must be on one device, which makes the call, got {sharding!r}; use "
                                  "jax.sharding.SingleDeviceSharding")
    return sharding


def result_types(name: str, result_shape_dtypes: object) -> tuple[list[ShapedArray], Any]:
    """Types of the leaves of ``result_shape_dtypes`` and their structure.

    Raises:
      ValueError: a 64-bit type while x64 is off.
      TypeError: a leaf has no shape or dtype.
    """
    leaves, out_tree = tree.flatten(result_shape_dtypes)
    avals = []
    for leaf in leaves:
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            raise TypeError(f"{name}: result_shape_dtypes, the argument after the function, must hold what has a shape and a dtype, such as "
                            f"jax.ShapeDtypeStruct(shape, dtype), got {leaf!r}")
        shape, dtype = tuple(leaf.shape), leaf.dtype
        if not isinstance(dtype, dtypes.ExtendedDType):
            dtype = np.dtype(dtype)
            if dtypes.canonicalize_dtype(dtype) != dtype and not flags.enable_x64.value:
                raise ValueError(f"{name}: result_shape_dtypes cannot specify 64-bit types like {dtype} without jax_enable_x64; "
                                 "turn it on, or ask for 32 bits")
        avals.append(ShapedArray(shape, dtype))
    return avals, out_tree


# -- pure_callback ---------------------------------------------------------------------------------------------------

def _pure_jvp(primals, tangents, **params):
    raise ValueError("pure_callback: a Python function has no derivative that could be found from its values; give the "
                     "function that calls it a rule by jax.custom_jvp or jax.custom_vjp")


def _no_transpose(name: str) -> Callable:
    def refuse(cts, *args, **params):
        raise ValueError(f"{name}: nothing says that a Python function is linear, so it has no transpose; give the function that calls it a "
                         "rule by jax.custom_vjp, or jax.custom_derivatives.linear_call")
    return refuse


def _pure_batch(axis, args, dims, *, site, vmap_method, sharding):
    if vmap_method in (None, "sequential", "sequential_unrolled"):
        return batch_by_loop(pure_callback_p, axis, args, dims, site, vmap_method=vmap_method, sharding=sharding)
    if vmap_method == "broadcast_all":
        args = [bdim_at_front(x, d, axis) for x, d in zip(args, dims)]
    else:
        args = [_with_axis_of_one(x, vmap_method) if d is None else moved(x, d, 0) for x, d in zip(args, dims)]
    out_avals = [ShapedArray((axis.size, *a.shape), a.dtype) for a in site.out_avals]
    return pure_callback_p.bind(*args, site=site.returning(out_avals), vmap_method=vmap_method, sharding=sharding), 0


def _with_axis_of_one(x, vmap_method):
    """An operand without batch axis: unchanged for functions that broadcast, else with an axis of length one."""
    if vmap_method == "legacy_vectorized":
        return x
    return broadcast(x, 1)


pure_callback_p = Primitive(
    "pure_callback", multiple_results=True, cacheable=False,
    out_type=lambda *avals, site, **_: site.out_avals,
    impl=lambda *args, site, **_: run_now(args, site),
    jvp=_pure_jvp,
    transpose=_no_transpose("pure_callback"),
    batch=_pure_batch,
    lower=lambda b, *xs, site, sharding, **_: lower_call(b, xs, site, None, has_side_effect=False, sharding=sharding),
    lowers_keys=True,
    traits=Traits(Kind.HOST, lane_by_lane=lambda *, vmap_method, **_: vmap_method in (None, "sequential", "sequential_unrolled")))


def pure_callback(callback: Callable[..., PyTree], result_shape_dtypes: PyTree, *args: Any, sharding: Placement | None = None,
                  vmap_method: str | None = None, vectorized: bool | None = None, **kwargs: Any) -> Any:
    """Call a Python function without side effects from inside a program.

    The function may run any number of times, also not at all where its result is not used.

    Args:
      callback: gets ``args`` and ``kwargs`` with every array as a `jax.Array` in the host's memory, of which NumPy's functions make no
        copy, and returns arrays.
      result_shape_dtypes: pytree of the structure of the result, whose leaves have ``shape`` and ``dtype``.
      args, kwargs: pytrees of arrays; keywords with the names of this function's own arguments are not passed on.
      sharding: on one device: where a program runs on several devices, the one that makes the call if it returns nothing. Else
        the first device makes it, as by default.
      vmap_method: how `vmap` calls it. ``"sequential"`` (the default) and ``"sequential_unrolled"``: once for each
        element. The others call it once, with a leading batch axis on the mapped arguments and on the results; the
        arguments that are not mapped get an axis of length one with ``"expand_dims"``, are repeated with
        ``"broadcast_all"``, and stay as they are with ``"legacy_vectorized"``.
      vectorized: older form: True means ``"legacy_vectorized"`` and False ``"sequential"``.

    Returns:
      arrays of the declared shapes and dtypes.

    Raises:
      ValueError: unknown ``vmap_method``, or a 64-bit result while x64 is off; when it is differentiated.
      TypeError: an argument is not an array.
      Exceptions of the callback are raised by the program; those of a wrong result are ValueErrors.

    >>> jax.jit(lambda x: jax.pure_callback(np.cumsum, x, x))(jnp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    if vectorized is not None:
        if vmap_method is not None:
            raise ValueError("pure_callback: give vmap_method or vectorized, not both")
        vmap_method = "legacy_vectorized" if vectorized else "sequential"
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(f"pure_callback: vmap_method={vmap_method!r} is unknown; give one of {', '.join(map(repr, VMAP_METHODS))}, or None")
    avals, out_tree = result_types("pure_callback", result_shape_dtypes)
    site, operands = make_site("pure_callback", callback, args, kwargs, out_tree, avals, operand_check("pure_callback"))
    outs = pure_callback_p.bind(*operands, site=site, vmap_method=vmap_method, sharding=_on_one_device("pure_callback", sharding))
    return tree.unflatten(out_tree, outs)


# -- io_callback -----------------------------------------------------------------------------------------------------

def _io_jvp(primals, tangents, **params):
    raise ValueError("IO callbacks do not support JVP.")


def _io_batch(axis, args, dims, *, site, ordered, sharding):
    if ordered:
        raise ValueError("Cannot `vmap` ordered IO callback.")
    return batch_by_loop(io_callback_p, axis, args, dims, site, ordered=ordered, sharding=sharding)


def _io_effect(ordered):
    return ordered_io_effect if ordered else io_effect


io_callback_p = Primitive(
    "io_callback", multiple_results=True, cacheable=False,
    out_type=lambda *avals, site, **_: site.out_avals,
    effects=lambda *avals, ordered, **_: frozenset([_io_effect(ordered)]),
    impl=lambda *args, site, **_: run_now(args, site),
    jvp=_io_jvp,
    transpose=_no_transpose("io_callback"),
    batch=_io_batch,
    lower=lambda b, *xs, site, ordered, sharding: lower_call(b, xs, site, _io_effect(ordered), has_side_effect=True, sharding=sharding),
    lowers_keys=True, traits=Traits(Kind.HOST))


def io_callback(callback: Callable[..., Any], result_shape_dtypes: PyTree, *args: Any, sharding: Placement | None = None,
                ordered: bool = False, **kwargs: Any) -> Any:
    """Call a Python function with side effects from inside a program.

    It runs exactly as often as the program says, whether its result is used or not.

    Args:
      callback, result_shape_dtypes, args, kwargs, sharding: as for `pure_callback`. ``result_shape_dtypes=None`` for a
        function that returns None.
      ordered: calls happen in program order, also between programs that run one after another. Such a call cannot be
        mapped by `vmap`.

    Returns:
      arrays of the declared shapes and dtypes.

    Raises:
      ValueError: a 64-bit result while x64 is off; `vmap` of an ordered call; when an argument of it is differentiated.
      TypeError: an argument is not an array.
      Exceptions of the callback are raised by the program.

    >>> from jax.experimental import io_callback
    >>> box = []
    >>> jax.jit(lambda x: io_callback(lambda v: box.append(int(v)), None, x))(3)
    >>> jax.effects_barrier()
    >>> box
    [3]
    """
    return call_io(callback, result_shape_dtypes, args, kwargs, sharding, ordered)


def call_io(callback: Callable, result_shape_dtypes: PyTree, args: tuple, kwargs: dict, sharding: Placement | None = None,
            ordered: bool = False) -> Any:
    """`io_callback`, with arguments and keywords as one tuple and one dictionary."""
    avals, out_tree = result_types("io_callback", result_shape_dtypes)
    site, operands = make_site("io_callback", callback, args, kwargs, out_tree, avals, operand_check("io_callback"))
    outs = io_callback_p.bind(*operands, site=site, ordered=bool(ordered), sharding=_on_one_device("io_callback", sharding))
    return tree.unflatten(out_tree, outs)


__all__ = ["io_callback", "io_callback_p", "pure_callback", "pure_callback_p"]
