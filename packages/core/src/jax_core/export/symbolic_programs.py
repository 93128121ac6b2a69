"""Programs with symbolic dimensions: traced and lowered for several values of the variables, and put together to one for all.

Every operation works in such a program, and a call compiles the very module that `jit` would compile for its shapes. Inside the function,
lengths are integers, those of the sample at hand, which remember what is decided by them (`traces.lengths`).
"""
from __future__ import annotations

import contextlib
import functools
import operator
from typing import Any, Callable, Sequence

from ..programs import tracing
from ..representation import tree
from ..representation.aval import ShapedArray, ShapeDtypeStruct
from ..representation.errors import InconclusiveDimensionOperation
from ..representation.source import name_of
from ..representation.typing import PyTree
from ..traces.lengths import Trail
from . import forms, solving, symbolic_shapes, symbols
from .exported import Exported
from .families import Family, Lengths, Values
from .templates import values_text


class Arguments:
    """Arguments with symbolic shapes.

    Raises:
      ValueError: their dimensions come from several scopes.
    """

    def __init__(self, args: tuple, kwargs: dict):
        leaves, self.in_tree = tree.flatten((args, kwargs))
        self.leaves = list(map(_described, leaves))
        dims = [d for x in self.leaves for d in getattr(x, "shape", ()) if symbols.is_symbolic_dim(d)]
        scopes = {id(d.scope): d.scope for d in dims}
        if len(scopes) > 1:
            raise ValueError("Invalid mixing of symbolic scopes: the arguments' symbolic dimensions come from different scopes; make them "
                             "with one symbolic_args_specs, or pass scope=... to symbolic_shape")
        (scope,) = scopes.values()
        names = sorted(set().union(*map(symbols.variables, dims)))
        self.lengths = Lengths(names, scope, lambda values: _admitted(values, dims, scope))

    def at(self, values: Values) -> tuple[tuple, dict]:
        """``(args, kwargs)`` for these values of the variables."""
        return tree.unflatten(self.in_tree, [
            x.update(shape=symbolic_shapes.evaluate_shape(x.shape, values)) if isinstance(x, ShapeDtypeStruct) else x for x in self.leaves])


def _described(x: Any) -> Any:
    """An array or a type as a description, anything else as it is."""
    if isinstance(x, ShapedArray):
        return ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type)
    return x if isinstance(x, ShapeDtypeStruct) or not hasattr(x, "shape") else ShapeDtypeStruct.like(x)


def for_each(what: str, family: Family, arguments: Arguments, run: Callable) -> list:
    """``run(values, *args, **kwargs)`` of all samples.

    Raises:
      InconclusiveDimensionOperation: some samples can be run and others cannot. What nearly all of them raise is raised as it is.
    """
    results: list = []
    failed: list[tuple[Exception, dict]] = []
    for values in family.samples:
        args, kwargs = arguments.at(values)
        try:
            results.append(run(values, *args, **kwargs))
        except Exception as error:
            error.add_note(f"{what}: this is for {values_text(values)}, one of the samples that are tried for the symbolic dimensions.")
            failed.append((error, values))
    if not failed:
        return results
    first, values = failed[0]
    unsolvable = next((e for e, _ in failed if isinstance(e, solving.Unsolvable)), None)
    if unsolvable is not None:  # an exported program is called for all lengths, or for none
        raise unsolvable
    if len(failed) > 4 * len(results):  # a length that meets a constant one, which some sample has by chance
        raise first
    raise InconclusiveDimensionOperation(
        f"{what}: whether the program is possible depends on the symbolic dimensions {', '.join(family.names)}; for "
        f"{values_text(values)} it raises {type(first).__name__}: {first}. Say with constraints or with the shapes ('2*n') "
        "which lengths there are.") from first


def eval_shape(fun: Callable, args: tuple, kwargs: dict) -> PyTree:
    """`jax.eval_shape` for arguments with symbolic shapes: the results of samples, with lengths that fit all of them."""
    arguments = Arguments(args, kwargs)
    family = arguments.lengths.few()
    name = f"eval_shape of {name_of(fun)}"

    def types(values: Values, *a: Any, **k: Any) -> PyTree:
        with Trail(values):
            return tracing.eval_shape(fun, *a, **k)
    results = for_each(name, family, arguments, types)
    if not family.complete:  # the shortest lengths and long ones are so often an exception
        more = []
        for values in [*arguments.lengths.short(family.samples[0]), *arguments.lengths.long(family.samples[0])]:
            with contextlib.suppress(Exception):  # such lengths are not possible
                a, k = arguments.at(values)
                results.append(types(values, *a, **k))
                more.append(values)
        family = Family(family.names, family.scope, [*family.samples, *more], family.admits)
    return _merged(name, family, results)


def _merged(what: str, family: Family, results: Sequence[Any]) -> Any:
    """One tree of descriptions for those of the samples. Lengths that nodes keep beside their children (the shape of a sparse array) become
    expressions, as those of axes do."""
    if len(set(map(tree.structure, results))) == 1:
        return tree.map(lambda *structs: _struct(_symbolic_aval(what, family, structs)), *results)
    nodes = [tree.structure(x, is_leaf=functools.partial(operator.is_not, x)) for x in results]
    data = [n.node_data() for n in nodes]
    if None in data or len({(d[0], n.num_leaves) for d, n in zip(data, nodes)}) != 1:
        raise ValueError(f"{what}: the structure of the result depends on the symbolic dimensions: it is {tree.structure(results[0])} and "
                         f"{tree.structure(results[-1])}; return the same containers for all lengths")
    kept = (data[0][0], _kept(what, family, [d[1] for d in data]))
    children = [_merged(what, family, parts) for parts in zip(*[n.flatten_up_to(x) for n, x in zip(nodes, results)])]
    return tree.PyTreeDef.from_node_data_and_children(tree.registry, kept, nodes[0].children()).unflatten(children)


def _kept(what: str, family: Family, found: Sequence[Any]) -> Any:
    """What a node keeps, of which ``found`` are those of the samples."""
    first = found[0]
    if all(type(x) is int for x in found):
        length = family.fits(found)
    elif all(x == first for x in found):
        length = first
    elif all(type(x) is tuple and len(x) == len(first) for x in found):
        length = tuple(_kept(what, family, parts) for parts in zip(*found))
    else:
        length = None
    if length is None and first is not None:
        raise ValueError(f"{what}: what a container of the result keeps besides its children depends on the symbolic dimensions otherwise than "
                         f"as a polynomial: it is {first!r} and {found[-1]!r}; return its parts as a tuple")
    return length


def _struct(aval: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def export_symbolic(fun_jit: Any, args: tuple, kwargs: dict, lowered: Callable, platforms: Sequence[str],
                    disabled_checks: Sequence[Any], vjp_of: Callable) -> Exported:
    """`export` for arguments with symbolic shapes."""
    arguments = Arguments(args, kwargs)
    name, family = name_of(fun_jit), arguments.lengths.few()
    types: list[tuple[Values, Any]] = []
    traces: list[Any] = []
    places: list[dict] = []

    def seen(values: Values, *a: Any, **k: Any) -> forms.Sample:
        with Trail(values) as trail:
            traced = fun_jit.trace(*a, **k)
            modules, where = lowered(traced)
        traces.append(traced)
        places.append(where)
        types.append((values, traced.jaxpr.out_avals))
        kinds = tuple((a.dtype, len(a.shape)) for a in traced.jaxpr.out_avals)
        return forms.Sample(values, [modules[p] for p in platforms], (traced.out_tree, kinds), trail)

    def sample(values: Values) -> forms.Sample:
        a, k = arguments.at(values)
        return seen(values, *a, **k)
    few = for_each(f"export of {name}", family, arguments, seen)
    first = traces[0]
    finder = forms.Finder(f"export of {first.fun_name}", arguments.lengths, sample, few)
    found = finder.find()
    family = Family(family.names, family.scope, [v for v, _ in types], family.admits, family.complete, finder.computed(family, few))
    in_avals = [symbolic_shapes.array_type(x.shape if isinstance(x, ShapeDtypeStruct) else a.shape, a.dtype, a.weak_type)
                for x, a in zip(arguments.leaves, first.jaxpr.in_avals)]
    out_avals = [_symbolic_aval(f"export of {first.fun_name}", family, avals) for avals in zip(*[avals for _, avals in types])]

    def flat(*xs: Any) -> list:
        a, k = tree.unflatten(arguments.in_tree, xs)
        return tree.leaves(fun_jit(*a, **k))
    return Exported(first.fun_name, first.in_tree, in_avals, first.out_tree, out_avals, platforms, disabled_checks, dict(zip(platforms, found)),
                    range(len(in_avals)), _get_vjp=vjp_of(flat), **places[0])


def _admitted(values: dict, dims: Sequence[Any], scope: symbols.SymbolicScope) -> bool:
    """Whether the lengths are so possible, with those of the constraints that speak of them."""
    known = solving.with_equal(values, scope)
    return (all(symbols.evaluate(d, values) >= 1 for d in dims) and all(v >= 1 for v in known.values())
            and all(symbols.evaluate(x, known) >= 0 for x in scope.non_negative if symbols.variables(x) <= set(known))
            and all(symbols.evaluate(x, known) == 0 for x in scope.zero if symbols.variables(x) <= set(known)))


def _symbolic_aval(what: str, family: Family, avals: Sequence[Any]) -> ShapedArray:
    shape = []
    if len({(a.dtype, len(a.shape)) for a in avals}) != 1:
        raise ValueError(f"{what}: the dtype or the number of axes of a result depends on the symbolic dimensions")
    for lengths in zip(*[a.shape for a in avals]):
        found = family.fits(lengths)
        if found is None:
            raise ValueError(f"{what}: the length of a result's axis is no polynomial in {', '.join(family.names)}: it is "
                             f"{lengths[:4]} for {', '.join(map(str, family.samples[:4]))}")
        shape.append(found)
    return symbolic_shapes.array_type(shape, avals[0].dtype, avals[0].weak_type)
