"""The primitive of `shard_map`: a program on parts, run by every device of a mesh, with all of its rules.

The program is typed as `jax_core.transformations.manual` has it: an input whose spec names a mesh axis varies over it, and a result varies
over no other axes than its spec names. Every rule derives the program on parts (its derivative, its batched form) inside
the region, and gives the new inputs and results the specs of those that they belong to. Residuals, which may be scalars
and differ on every device, are stacked (`Stacked`).

Where the program is not checked, a result whose spec leaves an axis out is taken to be equal along it. Its cotangent is
then divided among the devices, and a cotangent for an input that every device has is summed over them: each device
contributes what its copy did.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit_primitive import jit_p, jit_params
from jax_core.references.discharge import discharged
from jax_core.representation.aval import AbstractRef, ShapedArray, get_aval
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, dce, eval_jaxpr
from jax_core.representation.partial_sums import NOTHING, Sums
from jax_core.representation.primitive import ProgramPrimitive, Zero, abstract_eval, is_linear, none
from jax_core.representation.traits import Kind, Traits
from jax_core.traces import nans
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import broadcast_in_dim, moved
from jax_core.transformations import logs, manual
from jax_core.transformations.batching import AxisData, batch_jaxpr
from jax_core.transformations.forward import jvp_jaxpr
from jax_core.transformations.reverse import linearize_jaxpr, transpose_jaxpr
from jax_core.transformations.splitting import EquationSplit, split_jaxpr

from ...arrays.array import ArrayImpl
from ...arrays.put import put
from ...lowering.manual_regions import Stacked, manual_computation, placement, whole_spec
from ...lowering.types import is_extended
from ...placement.mesh import AxisType, Mesh
from ...placement.partition_spec import PartitionSpec
from ...placement.sharding import NamedSharding

if TYPE_CHECKING:
    from jax_core.representation.typing import AxisName

    from ...placement.mesh import AbstractMesh


def region(mesh: Mesh | AbstractMesh, manual_axes: Sequence[AxisName], checked: bool) -> Any:
    """The context in which programs on parts are traced."""
    return manual.region({a: mesh.shape[a] for a in manual_axes}, checked)


def _region(params: dict) -> Any:
    return region(params["mesh"], params["manual_axes"], params["check_vma"])


def axes_of(spec: PartitionSpec | Stacked) -> frozenset:
    """The mesh axes that a spec names."""
    return frozenset(whole_spec(spec).axis_names())


def sums_of(spec: PartitionSpec | Stacked, manual_axes: Iterable[AxisName]) -> Sums:
    """What a spec says of sums over the manual axes that are still to be made."""
    if type(spec) is Stacked:
        return spec.sums
    here = frozenset(manual_axes)
    unreduced, reduced = spec.unreduced & here, spec.reduced & here
    return Sums(unreduced, reduced, spec.unreduced_kind if unreduced else None) if unreduced or reduced else NOTHING


def _of_cotangent(spec: PartitionSpec | Stacked) -> Any:
    """The spec of a cotangent."""
    if type(spec) is Stacked:
        return Stacked(spec.axes, spec.rest, spec.sums.turned())
    return spec.to_ct_spec()


def parts_along(mesh: Mesh | AbstractMesh, spec: PartitionSpec, dim: int) -> int:
    """Into how many parts ``spec`` splits an axis."""
    return math.prod(mesh.shape[a] for a in _names(spec.partitions[dim] if dim < len(spec) else None))


def part_aval(aval: ShapedArray, mesh: Mesh | AbstractMesh, spec: PartitionSpec, checked: bool,
              manual_axes: Iterable[AxisName]) -> ShapedArray:
    """The type of a part of an array of type ``aval``, which stays split over the ``Explicit`` axes that are not manual; so of a reference."""
    if type(aval) is AbstractRef:
        return aval.update(part_aval(aval.inner_aval, mesh, spec, checked, manual_axes))
    shape = tuple(n // parts_along(mesh, spec, i) for i, n in enumerate(aval.shape))
    placement, inner = aval.placement, None
    if placement is not None and not set(placement.mesh.explicit_axes) <= set(manual_axes):
        kinds = placement.mesh.update_axis_types(dict.fromkeys(manual_axes, AxisType.Manual))
        left = [tuple(a for a in _names(e) if a not in manual_axes) for e in placement.spec.partitions]
        inner = NamedSharding(kinds, PartitionSpec(*left))
    return ShapedArray(shape, aval.dtype, aval.weak_type, sharding=inner, vma=aval.vma | axes_of(spec) if checked else aval.vma,
                       sums=sums_of(spec, manual_axes) if checked else NOTHING, memory_space=aval.memory_space)


def _names(entry: Any) -> tuple:
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


def whole_aval(aval: ShapedArray, mesh: Mesh | AbstractMesh, spec: PartitionSpec | Stacked, manual_axes: Iterable[AxisName]) -> ShapedArray:
    inner = [()] * len(aval.shape) if aval.placement is None else list(map(_names, aval.placement.spec.partitions))
    shape = aval.shape
    if type(spec) is Stacked:
        shape, inner = (1, *shape), [(), *inner]
    spec = whole_spec(spec)
    outer = [*map(_names, spec.partitions), *[()] * (len(shape) - len(spec))]
    told = mesh.explicit_axes  # the spec and the type of the part say all that the type does
    placement = NamedSharding(mesh, spec.update(partitions=[(*o, *i) for o, i in zip(outer, inner)])) if told else None
    return ShapedArray([n * parts_along(mesh, spec, i) for i, n in enumerate(shape)], aval.dtype, aval.weak_type,
                       sharding=placement, vma=aval.vma.difference(manual_axes), sums=NOTHING, memory_space=aval.memory_space)


# -- rules -----------------------------------------------------------------------------------------------------------

def bind(args: Sequence[object], *, jaxpr: ClosedJaxpr, in_specs: Sequence[PartitionSpec | Stacked],
         out_specs: Sequence[PartitionSpec | Stacked], **params: Any) -> list:
    """Apply ``jaxpr`` to the parts of ``args``; in a checked region its types first come to say what the specs do."""
    if params["check_vma"]:
        axes = params["manual_axes"]
        with _region(params):
            jaxpr = manual.retyped(jaxpr, [a.vma.difference(axes) | _varies_over(s) for a, s in zip(jaxpr.in_avals, in_specs)],
                                   [_varies_over(s) for s in out_specs], [sums_of(s, axes) for s in in_specs])
    return shard_map_p.bind(*args, jaxpr=jaxpr, in_specs=tuple(in_specs), out_specs=tuple(out_specs), **params)


def _varies_over(spec: PartitionSpec | Stacked) -> frozenset:
    """The mesh axes over which a part with this spec varies: addends of a sum are stacked, but do not count as such."""
    return axes_of(spec) - spec.sums.unreduced if type(spec) is Stacked else axes_of(spec)


def _rest(params: dict) -> dict:
    return {n: p for n, p in params.items() if n not in ("jaxpr", "in_specs", "out_specs")}


def _chosen(items, flags):
    return [x for x, f in zip(items, flags) if f]


def residual_spec(aval: ShapedArray, params: dict) -> Any:
    """How a value computed on each device is handed from one program to another."""
    axes, sums = params["manual_axes"], aval.sums
    if params["check_vma"]:
        axes = tuple(a for a in axes if a in aval.vma or a in sums.unreduced)
    return Stacked(tuple(axes), sums=sums) if axes or sums is not NOTHING else PartitionSpec()


def _agree(args, params):
    """Inside another region: the program knows what its operands vary over there."""
    given, expected = [manual.varying(x) for x in args], [a.vma for a in params["jaxpr"].in_avals]
    if not any(g - e for g, e in zip(given, expected)):
        return args, params
    with _region(params):
        return args, {**params, "jaxpr": manual.retyped(params["jaxpr"], [g | e for g, e in zip(given, expected)])}


def _type(*avals, jaxpr, mesh, out_specs: Sequence[PartitionSpec | Stacked], manual_axes, **_):
    return [whole_aval(a, mesh, s, manual_axes) for a, s in zip(jaxpr.out_avals, out_specs)]


def _effects(*avals, jaxpr, manual_axes, **_):
    return frozenset(e for e in jaxpr.effects if not (isinstance(e, NamedAxisEffect) and e.name in manual_axes))


def _jvp(primals, tangents, **params):
    nonzero = [not isinstance(t, Zero) for t in tangents]
    jaxpr, ins, outs = params["jaxpr"], params["in_specs"], params["out_specs"]
    with _region(params):
        closed, out_nz = jvp_jaxpr(jaxpr, nonzero)
    found = bind([*primals, *_chosen(tangents, nonzero)], jaxpr=closed, in_specs=[*ins, *_chosen(ins, nonzero)],
                 out_specs=[*outs, *_chosen(outs, out_nz)], **_rest(params))
    n, rest = len(outs), iter(found[len(outs):])
    return found[:n], [next(rest) if nz else Zero.of(x) for x, nz in zip(found, out_nz)]


def _linearize(primals, tangents, **params):
    nonzero = [not isinstance(t, Zero) for t in tangents]
    jaxpr, ins, outs = params["jaxpr"], params["in_specs"], params["out_specs"]
    n = len(outs)
    with _region(params):
        lin = linearize_jaxpr(jaxpr, nonzero)
    fresh = [residual_spec(a, params) for a in lin.primal.out_avals[n:]]
    found = bind(primals, jaxpr=lin.primal, in_specs=ins, out_specs=[*outs, *fresh], **_rest(params))
    specs = {"in": ins, "out": outs, "fresh": fresh}
    tangents_out = iter(bind(
        [*lin.residuals(primals, found), *_chosen(tangents, nonzero)], jaxpr=lin.tangent,
        in_specs=[*(specs[kind][i] for kind, i in lin.sources), *_chosen(ins, nonzero)],
        out_specs=_chosen(outs, lin.nonzero_out), **_rest(params)))
    return found[:n], [next(tangents_out) if nz else Zero.of(x) for x, nz in zip(found, lin.nonzero_out)]


def _transpose(cts, *args, **params):
    linear, live = [is_linear(x) for x in args], [not isinstance(ct, Zero) for ct in cts]
    jaxpr, ins = params["jaxpr"], params["in_specs"]
    known_specs, ct_specs = [s for s, lin in zip(ins, linear) if not lin], list(map(_of_cotangent, _chosen(params["out_specs"], live)))
    with _region(params):
        closed, nonzero, logged = transpose_jaxpr(jaxpr, linear, live)
        specs = list(map(_of_cotangent, _chosen(_chosen(ins, linear), nonzero)))
        wanted = _chosen(_chosen(jaxpr.in_avals, linear), nonzero)
        key = ("shard_map_transpose", tuple(linear), tuple(live), tuple(ct_specs), tuple(specs), logged)
        closed = jaxpr.memo(key, lambda: _summed_over_copies(closed, len(known_specs), ct_specs, specs, wanted, params))
    log_specs = [PartitionSpec(tuple(params["manual_axes"]))] * logged.num_leaves
    found = iter(logs.rejoin(bind([*(x for x in args if not is_linear(x)), *_chosen(cts, live)], jaxpr=closed,
                                  in_specs=[*known_specs, *ct_specs], out_specs=[*specs, *log_specs], **_rest(params)), logged))
    flags = iter(nonzero)
    return [(next(found) if next(flags) else Zero(x.aval)) if is_linear(x) else None for x in args]


def _summed_over_copies(closed, n_known, ct_specs, specs, wanted, params):
    """``closed``, with the cotangent of an input summed over the devices that have the same part of it.

    The further results are logs, which every device has of its own: they are joined along their first axis.
    """
    n_cts = len(specs)
    axes, mesh, checked = params["manual_axes"], params["mesh"], params["check_vma"]
    left_out = lambda spec: tuple(a for a in axes if a not in axes_of(spec) and not any([a in s for s in sums_of(spec, axes)[:2]]))

    def run(*args):
        known, cts = args[:n_known], args[n_known:]
        if checked:
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *args)
            return [*(manual.settled(ct, aval) for ct, aval in zip(outs, wanted)), *map(_at_least_a_row, outs[n_cts:])]
        counts = [math.prod(mesh.shape[a] for a in left_out(s)) for s in ct_specs]
        cts = [ct if n == 1 else ct / n for ct, n in zip(cts, counts)]
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *known, *cts)
        return [*(manual.psum_over(ct, left_out(s)) for ct, s in zip(outs, specs)), *map(_at_least_a_row, outs[n_cts:])]
    jaxpr, consts, _ = trace_to_jaxpr(run, closed.in_avals, closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts)


def _at_least_a_row(x):
    return x if np.ndim(x) else broadcast_in_dim(x, (1,), ())


def _batch(axis, args, dims, **params):
    """The mapped axis comes first in every part; ``spmd_axis_name`` spreads it over mesh axes, all of which are manual."""
    mapped = [d is not None for d in dims]
    spread = _spread_over(axis, params)
    local = AxisData(axis.name, axis.size // math.prod(params["mesh"].shape[a] for a in spread), axis.spmd_name,
                     None if spread else axis.explicit_mesh_axis)
    with _region(params):
        closed, out_mapped = batch_jaxpr(_on_equal_copies(params["jaxpr"], spread, params), local, mapped)
    args = [moved(x, d, _front(s)) for x, d, s in zip(args, dims, params["in_specs"])]
    wider = lambda specs, flags: [_with_axis(s, spread) if f else s for s, f in zip(specs, flags)]
    outs = bind(args, jaxpr=closed, in_specs=wider(params["in_specs"], mapped),
                out_specs=wider(params["out_specs"], out_mapped), **_rest(params))
    return outs, [_front(s) if f else None for s, f in zip(params["out_specs"], out_mapped)]


def _on_equal_copies(closed: ClosedJaxpr, spread: tuple, params: dict) -> ClosedJaxpr:
    """The program without collectives over the mesh axes that the mapped axis is spread over.

    Its values are equal along them, as no spec names them: sums of copies are multiples. Left in, they would mix what is mapped.
    """
    for name in spread:
        closed, varying = batch_jaxpr(closed, AxisData(name, params["mesh"].shape[name]), [False] * len(closed.in_avals))
        if any(varying):
            raise ValueError(f"vmap of shard_map: a result depends on the position along the mesh axis {name!r}, which spmd_axis_name spreads the "
                             "mapped axis over; spread it over another one.")
    return closed


def _front(spec: PartitionSpec | Stacked) -> int:
    return 1 if type(spec) is Stacked else 0


def _spread_over(axis, params) -> tuple:
    names = axis.spmd_name if axis.spmd_name is not None else axis.explicit_mesh_axis
    names = () if names is None else names if isinstance(names, tuple) else (names,)
    names = tuple(a for a in names if a in params["manual_axes"])
    taken = [a for a in names for s in (*params["in_specs"], *params["out_specs"]) if type(s) is not Stacked and a in axes_of(s)]
    if taken:
        raise ValueError(f"vmap of shard_map: spmd_axis_name cannot appear in the specs of the shard_map, and the mesh axis {taken[0]!r} "
                         f"of {names!r} does (in_specs={params['in_specs']}, out_specs={params['out_specs']}); spread the "
                         "mapped axis over another one.")
    return names


def _with_axis(spec: PartitionSpec | Stacked, spread: tuple) -> Any:
    """The spec with the mapped axis in front. Copies of a residual along the axes that it is spread over become its parts."""
    if type(spec) is Stacked:
        return Stacked(tuple(a for a in spec.axes if a not in spread), PartitionSpec(spread, *spec.rest), spec.sums)
    return spec.update(partitions=(spread, *spec.partitions))


def _lower(b, *xs, jaxpr, mesh, in_specs: Sequence[PartitionSpec | Stacked], out_specs: Sequence[PartitionSpec | Stacked], manual_axes, **_):
    if isinstance(mesh, Mesh):
        b.module.shardings.constraints.append(placement(mesh, PartitionSpec()))
    elif mesh.size > 1:
        b.module.wants = f"shard_map over {mesh}", mesh.size
    return manual_computation(b, xs, jaxpr, mesh, in_specs, out_specs, manual_axes)


def _impl(*args, **params):
    """Eager: one compiled program, whose arguments and results are placed as the specs say."""
    jaxpr, mesh = params["jaxpr"], params["mesh"]
    if not isinstance(mesh, Mesh):
        mesh = _devices_of(args, mesh)
    avals = tuple(map(get_aval, args))
    args = [x if is_extended(a) or type(x) is ArrayImpl and x._committed else put(x, None, placement(mesh, s))
            for x, a, s in zip(args, avals, params["in_specs"])]
    key = ("shard_map", mesh, avals, params["in_specs"], params["out_specs"], params["manual_axes"], params["check_vma"])
    closed = jaxpr.memo(key, lambda: _one_equation(avals, {**params, "mesh": mesh}))
    settings = jit_params(closed, "shard_map", (False,) * len(avals))
    left = set(mesh.axis_names).difference(params["manual_axes"])
    if not left:
        settings["out_shardings"] = tuple(placement(mesh, s) for s in params["out_specs"])
    elif left <= set(mesh.explicit_axes):
        settings["out_shardings"] = tuple(placement(mesh, s if a.placement is None else _with_manual_axes(a.placement.spec, whole_spec(s)))
                                          for s, a in zip(params["out_specs"], closed.out_avals))
    # else the compiler splits results over the axes that are its
    if not nans.watching():
        return jit_p.impl(*args, **settings)
    with flags.debug_nans(False), flags.debug_infs(False):  # `jit` would look for the operation, and call this again
        outs = jit_p.impl(*args, **settings)
    nans.check_primitive(shard_map_p, args, outs)
    return outs


def _with_manual_axes(typed: Any, spec: PartitionSpec) -> PartitionSpec:
    """The spec of a type and, in front, those manual axes of ``spec`` that types do not tell, as outside of the region they are ``Auto``."""
    named = set(typed.axis_names())
    missing = [tuple(n for n in _names(e) if n not in named) for e in spec.partitions]
    if not any(missing):
        return typed
    entries = [e + _names(t) for e, t in zip(missing + [()] * (len(typed.partitions) - len(missing)), typed.partitions)]
    return typed.update(partitions=[e if len(e) > 1 else e[0] if e else None for e in entries])


def _devices_of(args, abstract):
    """The mesh of the arguments, for a mesh without devices."""
    for x in args:
        grid = getattr(getattr(x, "sharding", None), "mesh", None)
        if isinstance(grid, Mesh) and grid.shape_tuple == abstract.shape_tuple:
            return grid
    raise ValueError(f"shard_map: {abstract} has no devices, and no argument is placed on a mesh of these axes; give a "
                     "jax.sharding.Mesh, or set one with jax.set_mesh.")


def _one_equation(avals, params) -> ClosedJaxpr:
    types, effects = abstract_eval(shard_map_p, avals, params)
    invars, outvars = [Var(a) for a in avals], [Var(a) for a in types]
    return ClosedJaxpr(Jaxpr([], invars, outvars, [JaxprEqn(invars, outvars, shard_map_p, params, effects)], effects), ())


def _dce(eqn, used):
    closed, params = eqn.params["jaxpr"], eqn.params

    def narrow():
        small, reads = dce(closed.jaxpr, used)
        return ClosedJaxpr(small, closed.consts), reads
    small, reads = closed.memo(("dce", tuple(used)), narrow)
    if not any(used) and not eqn.effects:
        return None
    params = {**params, "jaxpr": small, "in_specs": tuple(_chosen(params["in_specs"], reads)),
              "out_specs": tuple(_chosen(params["out_specs"], used))}
    return eqn.replace(invars=_chosen(eqn.invars, reads), outvars=_chosen(eqn.outvars, used), params=params,
                       effects=_effects(**params))


def _split(unknown, params):
    """Two maps: one over the known operands, and one over the rest, which takes the residuals of the first."""
    parts = split_jaxpr(params["jaxpr"], unknown)
    if all(parts.out_unknown):
        return None
    ins, outs = params["in_specs"], params["out_specs"]
    known, late = [i for i, u in enumerate(unknown) if not u], [i for i, u in enumerate(unknown) if u]
    known_outs = [s for s, u in zip(outs, parts.out_unknown) if not u]
    fresh = [residual_spec(a, params) for a in parts.known.out_avals[len(known_outs):]]
    first = {**params, "jaxpr": parts.known, "in_specs": tuple(ins[i] for i in known), "out_specs": (*known_outs, *fresh)}
    rest_specs = [ins[i] if i >= 0 else fresh[~i] for i in parts.residuals] + [ins[i] for i in late]
    rest = {**params, "jaxpr": parts.rest, "in_specs": tuple(rest_specs), "out_specs": tuple(_chosen(outs, parts.out_unknown))}
    return EquationSplit(parts.out_unknown, known, first, [*parts.residuals, *late], rest)


def _discharge(prim, args, refs, params):
    """Mutable references that the program makes for itself become values."""
    with _region(params):
        closed, _ = discharged(params["jaxpr"], refs)
    return prim.bind(*args, **{**params, "jaxpr": closed}), [None] * len(args)


shard_map_p = ProgramPrimitive(
    "shard_map",
    out_type=_type, effects=_effects, impl=_impl, jvp=_jvp,
    linearize=_linearize, transpose=_transpose, batch=_batch, lower=_lower,
    agree=_agree, dce=_dce, split=_split, discharge=_discharge,
    interpret=none("each device runs the program on its part"), program="jaxpr", traits=Traits(Kind.PARTS))

__all__ = ["axes_of", "bind", "part_aval", "parts_along", "region", "residual_spec", "shard_map_p", "sums_of"]
