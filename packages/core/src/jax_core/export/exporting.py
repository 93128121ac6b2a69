"""`export`: lower a jitted function for some platforms, with its placements and its VJP."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from .. import backends
from ..interfaces import LowerSpec
from ..programs.jit import jit
from ..representation import tree
from ..representation.aval import ShapedArray, ShapeDtypeStruct, get_aval
from ..representation.effects import ordered_effects
from ..representation.jaxpr import eval_jaxpr, jaxprs_in_params
from ..representation.memory import Space, of_kind
from ..representation.primitive import Zero
from ..representation.source import is_internal, unwrapped
from ..traces.structural import instantiate
from ..transformations.autodiff import vjp
from ..transformations.forward import has_tangent
from . import solving, symbolic_shapes, symbols
from .exported import DisabledSafetyCheck, Exported, call_exported_p
from .symbolic_programs import export_symbolic


def default_export_platform() -> str:
    """The platform that `export` lowers for by default: the one that programs run on.

    >>> isinstance(jax.export.default_export_platform(), str)
    True
    """
    return backends.get().default_platform()


_TAKE_DONATIONS = ("cpu", "cuda", "rocm", "tpu")


def export(fun_jit: Callable, *, platforms: Sequence[str] | None = None, disabled_checks: Sequence[DisabledSafetyCheck] = (),
           _override_lowering_rules: object = None) -> Callable[..., Exported]:
    """Lower a jitted function to programs that can be stored and called without it.

    Args:
      fun_jit: a result of `jit`.
      platforms: those to lower for, as ``"cpu"``, ``"cuda"``, ``"rocm"``, ``"tpu"`` or the name of another one, for which nothing
        special is known; default the one that programs run on.
      disabled_checks: checks to leave out.

    Returns:
      a function of arguments, or their descriptions (`ShapeDtypeStruct`, with shapes that may be symbolic), that gives the
      `Exported`.

    Raises:
      ValueError: not a result of `jit`; or it contains custom calls that may not mean the same tomorrow; or no lengths of the arguments
        could say what the symbolic dimensions are (``a*a``).
      NotImplementedError: it calls the host, has ordered effects, is placed otherwise than by `NamedSharding`, or donates arguments
        where only some of the platforms can take them.

    >>> exported = jax.export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((3,), jnp.float32))
    >>> exported.call(jnp.zeros(3))
    Array([0., 0., 0.], dtype=float32)
    """
    if not (hasattr(fun_jit, "trace") and hasattr(fun_jit, "lower")):
        code = getattr(unwrapped(fun_jit), "__code__", None)
        if code is not None and is_internal(code):
            fun_jit = jit(fun_jit)  # functions such as those of jax.numpy are compiled ones to users
    if not (hasattr(fun_jit, "trace") and hasattr(fun_jit, "lower")):
        raise ValueError(f"export: expected what jax.jit returns, got {fun_jit!r}; write export(jax.jit(f))")
    if _override_lowering_rules:
        raise NotImplementedError("export: _override_lowering_rules is not supported; give primitives their rules before")
    if isinstance(platforms, str):  # a sequence of letters
        raise TypeError(f"export: platforms must be a sequence of names, got {platforms!r}; write [{platforms!r}]")
    platforms = tuple(platforms or (default_export_platform(),))
    if "gpu" in platforms:
        backends.get().devices("gpu")  # the name of whatever GPU is here, so one must be
    if not all(isinstance(p, str) and p for p in platforms):
        raise ValueError(f"export: platforms must be names of platforms, as 'cpu', 'cuda', 'rocm' and 'tpu', got {list(platforms)}")

    def of(*args: Any, **kwargs: Any) -> Exported:
        leaves = tree.leaves((args, kwargs))
        if any(symbols.is_symbolic_dim(d) for x in leaves for d in getattr(x, "shape", ())):
            solving.check_solvable([getattr(x, "shape", ()) for x in leaves])
            return export_symbolic(fun_jit, args, kwargs, _of_some_lengths(platforms, disabled_checks), platforms, disabled_checks, _vjp_of)
        traced = fun_jit.trace(*args, **kwargs)
        _check_donation(traced, platforms)
        closed = traced.jaxpr
        places = _Placements(traced, platforms[0])
        modules, kept = _lowered(traced, platforms, disabled_checks, places)
        ins = [_plain(a, a.memory_space) for a in closed.in_avals]
        outs = [_plain(a, a.memory_space if p is None else of_kind(p.get("memory"))) for a, p in zip(closed.out_avals, places.outs)]
        return Exported(traced.fun_name, traced.in_tree, ins, traced.out_tree, outs, platforms,
                        disabled_checks, modules, kept, _get_vjp=_vjp_of(lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs)),
                        _calls_such=_calls_such(closed), **places.as_fields())
    return of


def exported_for(name: str, trace: Callable, args: tuple, kwargs: dict, platform: str | None) -> Exported:
    """What a function called ``name``, of which ``trace`` gives the stage for known shapes, is for arguments with symbolic shapes."""
    def function(*a: Any, **k: Any) -> Any:
        raise NotImplementedError(f"{name}: the derivative of what is only lowered")
    function.__name__, function.trace = name, trace  # type: ignore[attr-defined]
    platforms = (platform or default_export_platform(),)
    checks = (DisabledSafetyCheck.custom_call("ALL"),)
    return export_symbolic(function, args, kwargs, _of_some_lengths(platforms, checks), platforms, checks, _vjp_of)


def _plain(aval: Any, space: Space) -> ShapedArray:
    """The type of an argument or result, in this memory, without what only this process knows."""
    return ShapedArray(aval.shape, aval.dtype, aval.weak_type, sharding=aval.placement, memory_space=space)


def _check_donation(traced: Any, platforms: Sequence[str]) -> None:
    """One program serves all platforms, and whether its arguments are donated is a part of it."""
    able = [p for p in platforms if p in _TAKE_DONATIONS]
    if any(traced._donated) and able and len(able) < len(platforms):
        raise NotImplementedError(f"export of {traced.fun_name}: it donates arguments, which of the platforms {list(platforms)} only "
                                  f"{able} are known to take; export it for the others apart, or without donation")


def _calls_such(program: Any) -> bool:
    """Whether an exported program that uses global constants is called, here or in a program that is called."""
    return any([eqn.primitive is call_exported_p and eqn.params["exported"].uses_global_constants or any(
        map(_calls_such, jaxprs_in_params(eqn.params))) for eqn in program.eqns])


def _described(sharding: Any, aval: Any) -> dict | None:
    """The placement of an array of this type as data."""
    known = backends.get().placements
    found = known.describe(sharding)
    return known.in_host_memory(aval.ndim) if found is not None and not found["axes"] else found


class _Placements:
    """Where a traced program's arguments and results are: ``shardings`` (or None) of all leaves, and the same as data."""

    def __init__(self, traced: Any, platform: str):
        spec, closed, known = traced._spec, traced.jaxpr, backends.get().placements
        self.in_shardings = list(spec.in_shardings or (None,) * len(closed.in_avals))
        self.out_shardings = list(spec.out_shardings or (None,) * len(closed.out_avals))
        self.ins = list(map(_described, self.in_shardings, closed.in_avals))
        self.outs = list(map(_described, self.out_shardings, closed.out_avals))
        if not any(self.ins + self.outs):
            inside = backends.get().exporting.placements_asked_for(closed, LowerSpec(spec.name, platform=platform))
            if inside:  # the arguments are not placed, but values in the program are: then the arguments are everywhere
                everywhere = {**(known.describe(inside[0]) or {}), "spec": []}
                self.ins = [everywhere] * len(self.ins)
                self.in_shardings = [known.on_devices(everywhere)] * len(self.ins)
        self.count = max([known.device_count(d) for d in self.ins + self.outs if d is not None], default=1)

    def as_fields(self) -> dict[str, Any]:
        """What an `Exported` says of them."""
        return {"nr_devices": self.count, "_in_placements": self.ins, "_out_placements": self.outs}


def _vjp_of(fun: Callable) -> Callable[[Exported], Exported]:
    """What makes the exported VJP of an exported flat function ``fun``; made once, when it is asked for."""
    made: list = []

    def get(exported: Exported) -> Exported:
        if not made:
            n = len(exported.in_avals)
            live = [i for i, a in enumerate(exported.in_avals) if has_tangent(a)]

            def backward(*args):
                primals = list(args[:n])

                def of_live(*xs):
                    every = list(primals)
                    for i, x in zip(live, xs):
                        every[i] = x
                    return fun(*every)
                _, pullback = vjp(of_live, *[primals[i] for i in live])
                found = dict(zip(live, pullback(list(args[n:]))))
                return tuple(found[i] if i in found else instantiate(Zero(get_aval(x).to_ct_aval())) for i, x in enumerate(primals))
            backward.__name__ = f"vjp_{exported.fun_name}"
            types = [*exported.in_avals, *[a.to_ct_aval() for a in exported.out_avals]]
            placements = [*exported._in_placements, *exported._out_placements]
            places = None if exported.nr_devices == 1 else tuple(
                None if p is None else backends.get().placements.on_devices(p) for p in placements)
            made.append(export(jit(backward, in_shardings=places), platforms=exported.platforms,
                               disabled_checks=exported.disabled_safety_checks)(*map(_description, types)))
        return made[0]
    return get


def _description(aval: Any) -> ShapeDtypeStruct:
    """What stands for any array of this type, which may say how it is split."""
    found, known = symbolic_shapes.description(aval), backends.get().placements
    where = None if aval.placement is None else known.describe(aval.placement)
    return found if where is None else found.update(sharding=known.on_devices(where))


def _of_some_lengths(platforms: Sequence[str], disabled_checks: Sequence[DisabledSafetyCheck]) -> Callable:
    """What makes of a trace for some lengths the module for each platform, and what an `Exported` says of its placements, which are those for any."""
    def lowered(traced):
        places = _Placements(traced, platforms[0])
        return _lowered(traced, platforms, disabled_checks, places, True)[0], places.as_fields()
    return lowered


def _lowered(traced: Any, platforms: Sequence[str], disabled_checks: Sequence[DisabledSafetyCheck],
             places: _Placements, one_form: bool = False) -> tuple[dict, tuple[int, ...]]:
    """The module for each platform, and which leaves of the arguments they take."""
    closed, name, exporting = traced.jaxpr, traced.fun_name, backends.get().exporting
    if ordered_effects(closed.effects):
        raise NotImplementedError(f"export of {name}: programs with ordered effects cannot be exported: "
                                  f"{', '.join(map(str, ordered_effects(closed.effects)))}")
    modules: dict = {}
    kept: tuple[int, ...] = ()
    for platform in platforms:
        spec = LowerSpec(traced._spec.name, (), traced._spec.keep_unused or one_form, platform=platform, one_form=one_form)
        if places.count > 1:
            spec = spec.replace(in_shardings=tuple(places.in_shardings), out_shardings=tuple(places.out_shardings))
        modules[platform], kept = exporting.exported_module(closed, spec)
        _check_custom_calls(name, exporting.custom_call_targets(modules[platform]), disabled_checks)
    return modules, kept


_HOST_CALLS = ("xla_ffi_python", "xla_python", "xla_buffer_python", "xla_ffi_partitioned_python")
_STABLE = ("lapack_", "cusolver_", "cublas_", "hipsolver_", "cusparse_", "hipsparse_", "cu_", "hip_", "cuhybrid_", "hiphybrid_", "cpu_csr",
           "tridiagonal_solve_perturbed", "Sharding", "SPMD", "ApproxTopK", "TopK", "Qr", "Eigh", "LuDecomposition",
           "ProductOfElementaryHouseholderReflectors", "mhlo.", "chlo.", "stablehlo.", "annotate_device_placement", "tpu_custom_call",
           "shape_assertion", "xla.sdy.", "AllocateBuffer", "X64", "__gpu$")


def _check_custom_calls(name: str, targets: Sequence[str], disabled_checks: Sequence[DisabledSafetyCheck]) -> None:
    allowed = {check.is_custom_call() for check in disabled_checks}
    host = [t for t in targets if t.startswith(_HOST_CALLS)]
    if host:
        raise NotImplementedError(f"export of {name}: the program calls Python functions ({', '.join(host)}), which cannot be stored; "
                                  "remove callbacks and debug.print")
    unknown = [t for t in targets if not t.startswith(_STABLE) and t not in allowed]
    if unknown and "ALL" not in allowed:
        raise ValueError(f"export of {name}: nobody promises that the custom calls {', '.join(unknown)} will mean the same where the "
                         "program is loaded. If you do, pass "
                         f"disabled_checks=[DisabledSafetyCheck.custom_call({unknown[0]!r})].")
