"""shard_map and smap: the public functions. They check the specs, and trace the function on the types of parts."""
from __future__ import annotations

import functools
from collections.abc import Set as AbstractSet
from typing import Any, Callable, Hashable, Sequence

from jax_core.configuration import context, flags
from jax_core.references.api import get, set as put_back
from jax_core.references.discharge import check_aliases, discharged
from jax_core.references.primitives import is_ref
from jax_core.representation import splits, tree
from jax_core.representation.aval import AbstractRef, ShapedArray, get_aval, is_jax_type
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.high import HiPspec
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo
from jax_core.representation.source import describe_function
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.trace import EVAL, to_concrete_value, tracing
from jax_core.transformations import manual
from jax_core.transformations.high_primitives import holds_high_values
from jax_core.transformations.manual import ManualAxis

from ...arrays.array import ArrayImpl
from ...placement.mesh import AbstractMesh, Mesh, current_mesh, get_abstract_mesh, manual_in, meshes_in_use
from ...placement.partition_spec import UNCONSTRAINED, PartitionSpec
from ...placement.sharding import DuplicateSpecError, NamedSharding
from . import program
from .high_types import OnArrays
from .looking import EagerRegionTrace, Runner


class _Infer:
    """In place of specs: take them from where the arguments are."""

    def __repr__(self):
        return "jax.sharding.Infer"


Infer = _Infer()


def shard_map(f: Callable[..., PyTree] | None = None, /, *, out_specs: PyTree, in_specs: PyTree = Infer,
              mesh: Mesh | AbstractMesh | None = None, axis_names: AbstractSet[Hashable] = frozenset(),
              check_vma: bool = True) -> Callable:
    """``f``, run by every device of a mesh on its own part of each argument.

    Inside ``f`` the mesh axes are named axes: `lax.psum`, `lax.all_gather`, `lax.ppermute`, `lax.axis_index` and the other
    collectives refer to them. Without ``f``, a decorator.

    Args:
      out_specs: a pytree prefix of the result of `PartitionSpec`\\ s: how the parts are put together. A mesh axis that a
        spec does not name says that the result is equal along it.
      in_specs: the same for the arguments: how they are cut into parts. By default from the placement of the arguments. What has
        None in place of a spec may be any object, and is handed to ``f`` as it is.
      mesh: the devices; by default those in context (`jax.set_mesh`, ``with mesh:``).
      axis_names: the mesh axes that ``f`` handles; by default all. The others are left to the compiler.
      check_vma: let the types of values say over which axes they vary (``jax.typeof(x).vma``), and check that ``out_specs``
        leaves out no axis that a result varies over. Derivatives are right with and without; without, ``f`` itself must not
        differentiate through `lax.psum` and expect the derivative of the whole.

    Raises:
      ValueError: there is no mesh; a spec names an axis that the mesh does not have, has more entries than its array has
        axes, or splits an axis whose length is no multiple; an argument is placed on ``Explicit`` mesh axes otherwise than its
        spec says; a result varies over an axis that its spec leaves out. The message names the leaf, its spec, its shape and
        the axes.
      TypeError: a spec is not a `PartitionSpec`, ``axis_names`` is no set.

    >>> mesh = jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))
    >>> f = jax.shard_map(lambda part: jax.lax.psum(part.sum(), 'x'), mesh=mesh, in_specs=jax.P('x'), out_specs=jax.P())
    >>> f(jnp.arange(4))
    Array(6, dtype=int32)
    """
    if not isinstance(axis_names, (set, frozenset)):
        raise TypeError(f"shard_map: axis_names must be a set or frozenset of mesh axes, got {axis_names!r} of type {type(axis_names).__name__}")

    def decorate(f: Callable[..., PyTree]):
        if not callable(f):
            raise TypeError(f"shard_map: expected a callable, got {f!r} of type {type(f).__name__}")

        @functools.wraps(f)
        def mapped(*args):
            return _Call(f, mesh, in_specs, out_specs, frozenset(axis_names), bool(check_vma)).run(args)
        return mapped
    return decorate if f is None else decorate(f)


def smap(f: Callable[..., PyTree] | None = None, /, *, in_axes: PyTree = Infer, out_axes: PyTree,
         axis_name: Hashable) -> Callable:
    """`shard_map` over one axis of the mesh in context, written like `vmap`.

    Args:
      in_axes: for each argument the axis that is split over the mesh axis, None for none; a pytree prefix of the arguments.
      out_axes: the same for the results.
      axis_name: the mesh axis. Other axes of the mesh are left to the compiler.

    Raises:
      TypeError: an axis is neither an int nor None, or ``axis_name`` is not one name. ValueError: as for `shard_map`.

    >>> with jax.set_mesh(jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))):
    ...     jax.smap(lambda part: part.sum()[None], in_axes=0, out_axes=0, axis_name='x')(jnp.arange(4))
    Array([6], dtype=int32)
    """
    if f is None:
        return lambda f: smap(f, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    if isinstance(axis_name, (tuple, list)):
        raise TypeError(f"smap: axis_name must be one name, got {axis_name!r}; use jax.shard_map for several axes")
    if isinstance(in_axes, list):
        raise TypeError(f"smap: in_axes={in_axes!r} is a list; give an int, None, or a tuple with an entry per argument")
    ins = Infer if in_axes is Infer else _specs_of_axes("in_axes", in_axes, axis_name)
    return shard_map(f, in_specs=ins, out_specs=_specs_of_axes("out_axes", out_axes, axis_name), axis_names={axis_name})


def _specs_of_axes(argument: str, axes: Any, name: Hashable) -> Any:
    def spec(axis):
        if axis is None:
            return PartitionSpec()
        if not hasattr(axis, "__index__") or isinstance(axis, bool):
            raise TypeError(f"smap: {argument} must hold ints and None, got {axis!r} of type {type(axis).__name__}")
        if axis < 0:
            raise ValueError(f"smap: {argument} must be non-negative, got {axis}; count from the front")
        return PartitionSpec(*[None] * axis, name)
    return tree.tree_map(spec, axes, is_leaf=lambda x: x is None)


def old_shard_map(f: Callable[..., PyTree], mesh: Mesh | AbstractMesh, in_specs: PyTree, out_specs: PyTree,
                  check_rep: bool = True, auto: frozenset = frozenset()) -> Callable:
    """`shard_map` with the signature of ``jax.experimental.shard_map``.

    Args:
      check_rep: ``check_vma`` of `shard_map`.
      auto: the mesh axes that are left to the compiler.

    >>> from jax.experimental.shard_map import shard_map
    >>> mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    >>> shard_map(lambda x: lax.psum(x, "d"), mesh, in_specs=jax.P("d"), out_specs=jax.P())(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    mesh = _resolve(mesh)
    unknown = frozenset(auto) - set(mesh.axis_names)
    if unknown:
        raise ValueError(f"shard_map: auto={set(auto)} must be a subset of mesh.axis_names={mesh.axis_names}")
    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep,
                     axis_names=frozenset(mesh.axis_names) - frozenset(auto))


# -- one call --------------------------------------------------------------------------------------------------------

_is_spec = lambda s: s is None or isinstance(s, (PartitionSpec, HiPspec))


def _holds_high_specs(specs: Any) -> bool:
    """Whether values of high-level types go in or come out, by their specs: of the results nothing else is known before the function runs."""
    return any(isinstance(s, HiPspec) for s in tree.leaves(specs, is_leaf=_is_spec))


class _Call:
    """One call of a mapped function: its mesh, its specs, and the checks on them."""

    def __init__(self, f, mesh, in_specs, out_specs, axis_names, checked):
        self.f, self.in_specs, self.out_specs, self.checked = f, in_specs, out_specs, checked
        self.name = describe_function(f)
        self.mesh = _resolve(mesh)
        if self.mesh.empty:
            raise ValueError(f"shard_map of {self.name}: it requires a non-empty mesh, got {self.mesh}; give one with axes and devices.")
        already = {n for n, axis in context.state.axes if isinstance(axis, ManualAxis)}
        unknown = axis_names - set(self.mesh.axis_names)
        if unknown:
            raise ValueError(f"shard_map of {self.name}: jax.shard_map requires axis_names={set(axis_names)} to be a subset of "
                             f"mesh.axis_names={self.mesh.axis_names}")
        twice = axis_names & already
        if twice:
            raise ValueError(f"shard_map of {self.name}: the axes {sorted(map(str, twice))} in axis_names are manual already, in "
                             "the shard_map around it; name other axes of the mesh.")
        wanted = axis_names or frozenset(self.mesh.axis_names)
        self.manual = tuple(a for a in self.mesh.axis_names if a in wanted and a not in already)
        if not self.manual:
            raise ValueError(f"shard_map of {self.name}: all axes of the mesh {self.mesh.axis_names} are manual already, in the "
                             "shard_map around it.")
        here = self.around = get_abstract_mesh()
        if mesh is not None and not here.empty and mesh.abstract_mesh != here:
            raise ValueError(f"shard_map of {self.name}: the argument mesh, {mesh}, must be the mesh in context, {here}, with its kinds of axes; leave "
                             "mesh out, or give jax.sharding.get_abstract_mesh().")
        if isinstance(self.mesh, Mesh) and here.shape_tuple == self.mesh.shape_tuple and here.axis_types != self.mesh.axis_types:
            self.mesh = self.mesh.update(axis_types=here.axis_types)  # as they are here: some are manual, or were changed by auto_axes
        self.explicit = set(self.manual) <= set(self.mesh.explicit_axes)

    def run(self, args: tuple) -> Any:
        if holds_high_values(args) or _holds_high_specs(self.in_specs) or _holds_high_specs(self.out_specs):
            return self._run_high(args)
        every, in_tree = tree.flatten(args)
        found = [None] * len(every) if self.in_specs is Infer else self._flat("in_specs", self.in_specs, args)
        static = {i: x for i, (x, s) in enumerate(zip(every, found)) if s is None and self.in_specs is not Infer and not is_jax_type(x)}
        paths = [path for i, (path, _) in enumerate(tree.flatten_with_path(args)[0]) if i not in static]
        leaves = [x for i, x in enumerate(every) if i not in static]
        avals = [self._aval(path, x) for path, x in zip(paths, leaves)]
        if context.state.trace is EVAL and not self.around.empty:
            self._check_meshes(paths, leaves)
        if self.in_specs is Infer:
            specs = [self._inferred(path, x, aval) for path, x, aval in zip(paths, leaves, avals)]
        else:
            specs = [PartitionSpec() if s is None else s for i, s in enumerate(found) if i not in static]
        self._check("in_specs", specs)
        specs = self._as_typed(specs)
        for path, aval, spec in zip(paths, avals, specs):
            self._check_fits("in_specs", f"args{tree.keystr(path)}", aval, spec)
            self._check_placed(f"args{tree.keystr(path)}", aval, spec)
            self._check_divides(f"args{tree.keystr(path)}", aval, spec)
        out_tree: list = []
        out_specs: list = []

        def on_parts(*parts):
            values = iter(parts)
            result = self.f(*tree.unflatten(in_tree, [static[i] if i in static else next(values) for i in range(len(every))]))
            outs, structure = tree.flatten(result)
            out_tree[:] = [structure]
            out_specs[:] = [PartitionSpec() if s is None else s for s in self._flat("out_specs", self.out_specs, result)]
            self._check("out_specs", out_specs)
            out_specs[:] = self._as_typed(out_specs)
            return [self._result(path, x, s) for (path, x), s in zip(tree.flatten_with_path(result)[0], out_specs)]
        parts = [program.part_aval(a, self.mesh, s, self.checked, self.manual) for a, s in zip(avals, specs)]
        on_refs = any([type(a) is AbstractRef for a in avals])
        debug, meshes, run = DebugInfo("shard_map", self.name), meshes_in_use(), None if on_refs else self._at_once(leaves, specs)
        with program.region(self.mesh, self.manual, self.checked), manual_in(self.mesh, self.manual):
            if run is None:
                closed, consts = trace_to_closed(on_parts, parts, debug)
            else:
                with EagerRegionTrace(debug, run, self.mesh.shape, self.checked, meshes) as trace:
                    closed, consts = trace_to_closed(on_parts, parts, debug, trace)
        self._check_effects(closed)
        operands, in_specs = [*consts, *leaves], [PartitionSpec()] * len(consts) + specs
        bind: Callable[..., list] = program.bind
        if any(map(is_ref, operands)):
            bind = self._on_contents
            check_aliases("shard_map", self.f, tree.structure((args, {})), ((), ()), consts, leaves)
        outs = bind(operands, jaxpr=closed, mesh=self.mesh, manual_axes=self.manual, check_vma=self.checked, in_specs=in_specs, out_specs=out_specs)
        return tree.unflatten(out_tree[0], outs)

    def _on_contents(self, operands: list, jaxpr: ClosedJaxpr, in_specs: list, out_specs: list, **params: Any) -> list:
        """The program applied to the contents of references, each split as its spec says, which then hold what the parts of the program left."""
        refs = list(map(is_ref, operands))
        with program.region(self.mesh, self.manual, self.checked), manual_in(self.mesh, self.manual):
            closed, written = discharged(jaxpr, refs)
        for i, aval in zip(written, closed.out_avals[len(out_specs):]):
            extra = aval.vma.intersection(self.manual) - program.axes_of(in_specs[i]) if self.checked else ()
            if extra:
                raise ValueError(
                    f"shard_map of {self.name}: a reference with the in_specs entry {in_specs[i]} is left with a value that varies over the mesh axes "
                    f"{sorted(map(str, extra))}, so its copies would differ. Name the axes in the spec, reduce over them (jax.lax.psum) before the "
                    "value is stored, or, if it is equal on all devices and the types cannot tell, pass check_vma=False.")
        outs = program.bind([get(x) if r else x for x, r in zip(operands, refs)], jaxpr=closed, in_specs=in_specs,
                            out_specs=[*out_specs, *[in_specs[i] for i in written]], **params)
        for i, new in zip(written, outs[len(out_specs):]):
            put_back(operands[i], ..., new)
        return outs[:len(out_specs)]

    def _run_high(self, args: tuple) -> Any:
        inferred = self.in_specs is Infer
        if inferred and holds_high_values(args):
            raise NotImplementedError(f"shard_map of {self.name}: in_specs cannot be inferred for values of high-level types; give them.")
        manual = frozenset(self.manual)
        given = [None] * len(tree.leaves(args)) if inferred else self._flat("in_specs", self.in_specs, args)
        on_arrays = OnArrays(self.f, self.name, args, given,
                             lambda result: self._flat("out_specs", self.out_specs, result),
                             lambda aval, spec: aval.shard(self.mesh, manual, self.checked, spec),
                             lambda aval, spec: aval.unshard(self.mesh, self.checked, spec))

        def f(*arrays):
            outs = on_arrays(*arrays)
            call.out_specs = on_arrays.out_specs
            return outs
        call = _Call(f, self.mesh, Infer if inferred else on_arrays.in_specs, None, manual, self.checked)
        call.name = self.name
        return on_arrays.value(call.run(on_arrays.args))

    def _at_once(self, leaves: list, specs: list) -> Runner | None:
        """How values are computed while the function of an eager call runs; None where they are not known, or are other processes'."""
        mesh = self.mesh
        if tracing() or not isinstance(mesh, Mesh) or mesh.is_multi_process or flags.eager_constant_folding.value:
            return None
        values = list(map(to_concrete_value, leaves))  # of derivatives, the primal values
        if any(x is None for x in values):
            return None

        def run(closed: ClosedJaxpr, consts: Sequence[object], aval: ShapedArray) -> tuple[Any, tuple]:
            params: dict = dict(jaxpr=closed, mesh=mesh, manual_axes=self.manual, check_vma=self.checked)
            spec = program.residual_spec(aval, params)
            out, = program.bind([*consts, *values], in_specs=[PartitionSpec()] * len(consts) + specs, out_specs=[spec], **params)
            return out, getattr(spec, "axes", ())
        return run

    def _as_typed(self, specs: list) -> list:
        """The specs without the mesh axes that types do not name (`flags.remove_size_one_mesh_axis_from_type`)."""
        if not flags.remove_size_one_mesh_axis_from_type.value:
            return specs
        split = {a for a, n in self.mesh.shape.items() if n > 1}
        return [s.update(partitions=[splits.entry_of(e, split) for e in s.partitions], unreduced=s.unreduced & split, reduced=s.reduced & split)
                for s in specs]

    def _aval(self, path, x):
        try:
            return get_aval(x)
        except TypeError:
            raise TypeError(f"shard_map of {self.name}: args{tree.keystr(path)} is {x!r} of type {type(x).__name__}, which is not a "
                            "valid JAX type; pass arrays, numbers and pytrees of them.") from None

    # -- specs

    def _flat(self, argument: str, specs: Any, value: Any) -> list:
        """A spec, or None, for each leaf of ``value``."""
        self._check_are_specs(argument, specs)
        try:
            flat = tree.broadcast_prefix(specs, value, is_leaf=_is_spec,
                                         names=(argument, "args" if argument == "in_specs" else "result"))
        except ValueError as error:
            what = "the arguments, a tuple" if argument == "in_specs" else "the result"
            raise ValueError(f"shard_map of {self.name}: {argument}={specs} must be a pytree prefix of {what} of structure "
                             f"{tree.structure(value)}. {error}") from None
        return flat

    def _check_are_specs(self, argument, specs):
        for path, s in tree.flatten_with_path(specs, is_leaf=_is_spec)[0]:
            if not _is_spec(s):
                raise TypeError(f"shard_map of {self.name}: {argument} must be a pytree of jax.sharding.PartitionSpec instances, but "
                                f"{argument}{tree.keystr(path)} is {s!r} of type {type(s).__name__}.")

    def _check(self, argument: str, specs: Sequence[PartitionSpec]) -> None:
        """The axes that the specs name are manual ones, each once."""
        for s in specs:
            if UNCONSTRAINED in s.partitions:
                raise ValueError(f"shard_map of {self.name}: {argument} has {s}, but P.UNCONSTRAINED has no meaning here; name "
                                 "the axes.")
            names = [*s.axis_names(), *s.unreduced, *s.reduced]
            untyped = (s.unreduced | s.reduced).intersection(self.mesh.auto_axes)
            if untyped:
                raise ValueError(f"shard_map of {self.name}: {argument} has {s}, but no type says over which Auto axes a sum is still to be made, or was; "
                                 f"make {sorted(map(str, untyped))} Explicit axes of the mesh (axis_types).")
            for name in names:
                if name not in self.manual:
                    raise ValueError(f"shard_map of {self.name}: {argument} refers to {name!r}, in {s}, but must name axes that are "
                                     f"manual: {self.manual} of the mesh {dict(self.mesh.shape)}.")
                if names.count(name) > 1:
                    raise DuplicateSpecError(f"shard_map of {self.name}: a spec can name every mesh axis once, but {s} in "
                                             f"{argument} has duplicate entries for {name!r}.", self.mesh, s)

    def _check_fits(self, argument, leaf, aval, spec):
        if len(spec) > len(aval.shape):
            hint = ("" if aval.shape else " A scalar that is equal on all devices has the spec P(); one that is not needs an axis "
                    "(x[None]) for its parts to be put together along.")
            raise ValueError(f"shard_map of {self.name}: the {argument} entry {spec} has length {len(spec)}, but {leaf} of type "
                             f"{aval.str_short()} has rank {len(aval.shape)}; the spec must be no longer.{hint}")

    def _check_divides(self, leaf, aval, spec):
        for i, n in enumerate(aval.shape):
            count = program.parts_along(self.mesh, spec, i)
            if n % count:
                raise ValueError(
                    f"shard_map of {self.name}: {leaf} of type {aval.str_short()} has the in_specs entry {spec}, which splits its "
                    f"axis {i} of length {n} over the mesh axes {spec.partitions[i]!r} of size {count}, but {n} is not "
                    f"divisible by {count}. The mesh is {dict(self.mesh.shape)}. Pad the array, or choose other axes.")

    def _check_meshes(self, paths, leaves):
        """Arrays on a mesh are on the one in context, with its kinds of axes."""
        for path, x in zip(paths, leaves):
            own = x._sharding if type(x) is ArrayImpl else None
            if isinstance(own, NamedSharding) and own.mesh.abstract_mesh != self.around:
                raise ValueError(f"shard_map of {self.name}: args{tree.keystr(path)} lies on {own.mesh}, but the mesh in context is {self.around}; move "
                                 "it there by jax.device_put.")

    def _check_placed(self, leaf, aval, spec):
        """Over ``Explicit`` axes an argument is cut as its type says that it is; another placement has to be asked for."""
        if not self.explicit:
            return
        placed = self._of_manual_axes(aval.placement)
        if _full(placed, aval.ndim) != _full(spec, aval.ndim):
            raise ValueError(
                f"shard_map of {self.name}: the in_specs entry {spec} does not match {leaf} of type {aval.str_short()}, which is placed as {placed} over "
                f"the Explicit mesh axes {self.manual}. Place it so (jax.device_put(x, jax.sharding.NamedSharding(mesh, {spec})) or, inside "
                f"jax.jit, jax.sharding.reshard(x, {spec})), or leave in_specs out, which then follow the arguments.")

    def _of_manual_axes(self, placed):
        """The spec of an argument as far as it names manual axes; whole on each device where the type names no mesh."""
        if placed is None:
            return PartitionSpec()
        names = [[a for a in (e if isinstance(e, tuple) else (e,)) if a in self.manual] for e in placed.spec.partitions]
        here, spec = frozenset(self.manual), placed.spec
        return PartitionSpec(*[tuple(e) if e else None for e in names], unreduced=spec.unreduced & here, reduced=spec.reduced & here,
                             unreduced_kind=spec.unreduced_kind if spec.unreduced & here else None)

    def _inferred(self, path, x, aval):
        """The spec of an argument: that of its type, or of where it is; a value that is on no mesh of explicit axes is whole."""
        placed = aval.placement if aval.placement is not None else getattr(x, "sharding", None)
        if getattr(placed, "spec", None) is None or placed.mesh.shape_tuple != self.mesh.shape_tuple:
            if self.explicit:
                return PartitionSpec()
            raise TypeError(f"shard_map of {self.name}: in_specs is not given, and args{tree.keystr(path)} is not placed on the "
                            f"mesh {dict(self.mesh.shape)}; give in_specs.")
        return self._of_manual_axes(placed)

    # -- results

    def _result(self, path, x, spec):
        """A result, checked against its spec, and counted as varying over all axes that the spec names."""
        leaf = f"result{tree.keystr(path)}"
        try:
            aval = get_aval(x)
        except TypeError:
            raise TypeError(f"shard_map: {self.name} returned at {leaf} a value of type {type(x).__name__}, which is not a valid JAX "
                            "type.") from None
        if isinstance(aval, AbstractRef):
            raise ValueError(f"shard_map of {self.name}: {leaf} is of type {aval.str_short()}; what a device makes of its part for itself "
                             "cannot leave the region. Return the value (jax.freeze).")
        self._check_fits("out_specs", leaf, aval, spec)
        if not self.checked:
            return x
        named = program.axes_of(spec)
        extra = aval.vma.intersection(self.manual) - named
        if extra:
            names = ", ".join(repr(a) for a in self.manual if a in extra)
            raise ValueError(
                f"shard_map of {self.name}: {leaf} of type {aval.str_short()} varies over the mesh axes {names}, but its out_specs "
                f"entry {spec} does not name them. Specs that leave axes out require replication over them, that is a value that is equal "
                "along them, which could not be statically inferred. The mesh is "
                f"{dict(self.mesh.shape)}. Name the axes in the spec, reduce over them (jax.lax.psum, pmean), or, if the value is "
                "equal and the types cannot tell, pass check_vma=False.")
        x = manual.pvary(x, [a for a in self.manual if a in named and a not in aval.vma])
        self._check_sums(leaf, get_aval(x), spec)
        return x

    def _check_sums(self, leaf, aval, spec):
        """The spec names the axes over which the result is a sum still to be made, or reduced."""
        wanted = program.sums_of(spec, self.manual)
        if wanted != aval.sums:
            word, missing = next((w, a ^ b) for w, a, b in zip(("unreduced", "reduced", "unreduced_kind"), wanted, aval.sums) if a != b) \
                if wanted[:2] != aval.sums[:2] else ("unreduced_kind", ())
            raise ValueError(
                f"shard_map of {self.name}: {leaf} of type {aval.str_short()} and its out_specs entry {spec} differ in {word}"
                f"{f', over the mesh axes {sorted(map(str, missing))}' if missing else ''}. Specs that leave such axes out require replication, "
                "a value that is equal, and those that name them a value of that type. Make the sum (jax.lax.psum, psum_scatter), say what the "
                "value is (jax.lax.pcast), or change the spec.")

    def _check_effects(self, closed):
        bound = {name for name, _ in context.state.axes} | set(self.manual)
        for effect in closed.effects:
            if isinstance(effect, NamedAxisEffect) and effect.name not in bound:
                raise NameError(f"Found an unbound axis name: {effect.name}.")


def _full(spec: PartitionSpec, ndim: int) -> PartitionSpec:
    """The spec with an entry for each axis, to compare it with others."""
    entries = [e[0] if isinstance(e, tuple) and len(e) == 1 else e or None for e in spec.partitions]
    return spec.update(partitions=[*entries, *[None] * (ndim - len(entries))])


def _resolve(mesh: Any) -> Mesh | AbstractMesh:
    """The mesh to use: the one given, with devices where the context has them, or the one in context."""
    here = current_mesh()
    if mesh is None:
        mesh = here if here is not None and not here.empty else get_abstract_mesh()
        if mesh.empty:
            raise ValueError("shard_map: The context mesh cannot be empty. Give the argument mesh, or set a mesh with "
                             "jax.set_mesh(mesh).")
        return mesh
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(f"shard_map: mesh must be a jax.sharding.Mesh or AbstractMesh, got {mesh!r} of type {type(mesh).__name__}")
    if isinstance(mesh, AbstractMesh) and here is not None and here.shape_tuple == mesh.shape_tuple:
        return here
    return mesh
