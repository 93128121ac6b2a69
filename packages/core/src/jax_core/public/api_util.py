"""`jax.api_util`: flattening functions of pytrees for libraries that write transformations."""
from __future__ import annotations

import inspect
from collections.abc import Collection
from types import NoneType
from typing import Any, Callable, Iterable, Sequence

from ..compat.linear_util import WrappedFun, transformation_with_aux
from ..representation import tree
from ..representation.arguments import takes
from ..representation.aval import AbstractValue, ShapedArray, get_aval
from ..representation.jaxpr import DebugInfo
from ..representation.source import describe_function
from ..representation.tree import PyTreeDef, keystr, tree_flatten_with_path
from ..representation.typing import PyTree
from ..transformations.autodiff import positions_among


@transformation_with_aux
def flatten_fun(in_tree: PyTreeDef, *leaves):
    """A function of ``(*args, **kwargs)`` as one of flat leaves; the auxiliary data is the structure of the result.

    >>> from jax.extend import linear_util
    >>> leaves, structure = jax.tree.flatten(((1., 2.), {"scale": 10.}))
    >>> flat, out_tree = jax.api_util.flatten_fun(linear_util.wrap_init(lambda x, y, scale: {"sum": scale * (x + y)}), structure)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([30.0], PyTreeDef({'sum': *}))
    """
    args, kwargs = tree.unflatten(in_tree, leaves)
    out = yield args, kwargs
    yield tree.flatten(out)


@transformation_with_aux
def flatten_fun_nokwargs(in_tree: PyTreeDef, *leaves):
    """Like `flatten_fun` for functions of positional arguments.

    >>> from jax.extend import linear_util
    >>> leaves, structure = jax.tree.flatten(((1., 2.),))
    >>> flat, out_tree = jax.api_util.flatten_fun_nokwargs(linear_util.wrap_init(lambda pair: pair[0] - pair[1]), structure)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([-1.0], PyTreeDef(*))
    """
    out = yield tree.unflatten(in_tree, leaves), {}
    yield tree.flatten(out)


@takes(f=WrappedFun)
def argnums_partial(f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[object],
                    require_static_args_hashable: bool = True) -> tuple[WrappedFun, tuple]:
    """``f`` with all arguments but the dynamic ones fixed, and the dynamic ones.

    Raises:
      TypeError: ``dyn_argnums`` is neither an integer nor several. ValueError: an argument that there is not.

    >>> from jax.api_util import argnums_partial
    >>> from jax.extend import linear_util
    >>> f, dynamic = argnums_partial(linear_util.wrap_init(lambda x, y: x - y), 1, (10., 3.))
    >>> f.call_wrapped(*dynamic)
    7.0
    """
    nums = positions_among("argnums_partial", dyn_argnums, len(args))
    dynamic = tuple(args[i] for i in nums)

    def place(call, *values, **kwargs):
        given = dict(zip(nums, values))
        return call(*(given.get(i, x) for i, x in enumerate(args)), **kwargs)
    return f.wrap(place), dynamic


@takes(treedef=PyTreeDef)
def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: PyTree, *, kws: bool = False,
                 tupled_args: bool = False) -> list[Any]:
    """One axis specification for each leaf, from a specification that is a prefix of the tree; see `tree.flatten_axes`.

    Args:
      name: of the argument that holds the specification, for messages.
      treedef: structure of the values.
      axis_tree: the specification.
      kws: ``treedef`` is that of ``(args, kwargs)``; a prefix names both, so this only guards against another structure.
      tupled_args: the values are a tuple of arguments; the message then says how to write a specification for one.

    Raises:
      ValueError: ``axis_tree`` is not a prefix.

    >>> structure = jax.tree.structure([1, {"a": 2, "b": 3}])
    >>> jax.api_util.flatten_axes("axes", structure, [0, None])
    [0, None, None]
    """
    if kws and treedef.num_nodes and len(treedef.children()) != 2:
        raise ValueError(f"flatten_axes: {treedef} is not the structure of (args, kwargs), as kws=True says")
    try:
        return tree.flatten_axes(name, treedef, axis_tree)
    except ValueError as error:
        if not tupled_args:
            raise
        raise ValueError(f"{error}\nA specification for a single argument that is a pytree is written as a tuple with one "
                         "entry.") from error


def shaped_abstractify(x: object) -> Any:
    """The type of an array-like; a type is its own, as brainstate and loops of libraries ask for types of trees that hold either.

    >>> jax.api_util.shaped_abstractify(np.ones((2, 3), np.float32))
    ShapedArray(float32[2,3])
    """
    return x if isinstance(x, AbstractValue) else get_aval(x)


@takes(in_tree=PyTreeDef)
def donation_vector(donate_argnums: Sequence[int], donate_argnames: Sequence[str], in_tree: PyTreeDef,
                    kws: bool = True) -> tuple[bool, ...]:
    """For each leaf of ``(args, kwargs)`` whether it is donated.

    >>> structure = jax.tree.structure(((1, {"a": 2, "b": 3}), {}))
    >>> jax.api_util.donation_vector((1,), (), structure)
    (False, True, True)
    """
    args, kwargs = tree.skeleton(in_tree) if kws else (tree.skeleton(in_tree), {})
    flags: list[bool] = []
    for i, arg in enumerate(args):
        flags += [i in donate_argnums] * len(tree.leaves(arg))
    for name in sorted(kwargs):
        flags += [name in donate_argnames] * len(tree.leaves(kwargs[name]))
    return tuple(flags)


def rebase_donate_argnums(donate_argnums: Sequence[int], static_argnums: Sequence[int]) -> tuple[int, ...]:
    """Positions of donated arguments once the static ones are taken out, each once and in order.

    Raises:
      ValueError: an argument is both.

    >>> jax.api_util.rebase_donate_argnums((2, 3), static_argnums=(0,))
    (1, 2)
    """
    both = sorted({*donate_argnums} & {*static_argnums})
    if both:
        raise ValueError(f"rebase_donate_argnums: the arguments {both} are in donate_argnums={tuple(donate_argnums)} and in "
                         f"static_argnums={tuple(static_argnums)}; a static argument is no array, so it cannot be donated")
    return tuple(sorted({d - sum(s < d for s in static_argnums) for d in donate_argnums}))


@takes(args=Collection, kwargs=(dict, NoneType))
def debug_info(traced_for: str, fun: Callable[..., PyTree], args: Collection[object] = (), kwargs: dict | None = None, *,
               static_argnums: Sequence[int] = (), static_argnames: Sequence[str] = (),
               result_paths_thunk: Callable | None = None, sourceinfo: str | None = None,
               signature: inspect.Signature | None = None) -> DebugInfo:
    """Names for messages about ``fun``.

    Args:
      traced_for: the transformation.
      fun: the function. args, kwargs: what it is called with, pytrees; ``args`` may be a dict, too, which is as good as the tuple of its keys.
      static_argnums, static_argnames: arguments that are no arrays, which get no names.
      result_paths_thunk: gives the paths of results.
      sourceinfo: where the function is, by default found out.
      signature: of the function, by default found out.

    >>> names = jax.api_util.debug_info("jit", lambda weights, x: x, ({"w": 1.}, 2.), {})
    >>> list(names.arg_names)
    ["weights['w']", 'x']
    """
    return DebugInfo(traced_for, describe_function(fun) if sourceinfo is None else sourceinfo,
                     _argument_names(fun, args, kwargs or {}, static_argnums, static_argnames, signature), result_paths_thunk)


def _argument_names(fun, args, kwargs, static_argnums, static_argnames, signature):
    """A name for each leaf of the arguments, as ``x[0]['a']``."""
    try:
        names = list((signature or inspect.signature(fun)).parameters)
    except (TypeError, ValueError):  # a builtin
        names = []
    static = {n % len(args) for n in static_argnums if args}
    named = [(names[i] if i < len(names) else f"args[{i}]", x) for i, x in enumerate(args) if i not in static]
    named += [(k, x) for k, x in kwargs.items()]
    return tuple(name + keystr(path) for name, x in named if name not in static_argnames
                 for path, _ in tree_flatten_with_path(x)[0])


def infer_argnums_and_argnames(sig: inspect.Signature, argnums: int | Iterable[int] | None,
                               argnames: str | Iterable[str] | None) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of the same arguments, where only one of the two is given; what cannot be told is left out.

    >>> from jax._src.api_util import infer_argnums_and_argnames
    >>> import inspect
    >>> infer_argnums_and_argnames(inspect.signature(lambda x, y, *, z: x), None, ("y", "z"))
    ((1,), ('y', 'z'))
    """
    nums = () if argnums is None else (argnums,) if isinstance(argnums, int) else tuple(argnums)
    names = () if argnames is None else (argnames,) if isinstance(argnames, str) else tuple(argnames)
    places = [(i, p.name) for i, p in enumerate(sig.parameters.values()) if p.kind is p.POSITIONAL_OR_KEYWORD]
    if argnames is None:
        names = tuple(name for i, name in places if i in nums)
    elif argnums is None:
        nums = tuple(i for i, name in places if name in names)
    return nums, names


def safe_map(f: Callable[..., PyTree], *sequences: Sequence[Any]) -> list:
    """`map` that raises ValueError for sequences of different lengths.

    >>> jax.api_util.safe_map(lambda x, y: x * y, [1, 2], [3, 4])
    [3, 8]
    """
    lengths = {len(s) for s in map(list, sequences)}
    if len(lengths) > 1:
        raise ValueError(f"safe_map: sequences of different lengths {sorted(lengths)}")
    return list(map(f, *sequences))
