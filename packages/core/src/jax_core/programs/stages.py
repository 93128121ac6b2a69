"""The stages of a jitted call, ahead of time: ``jit(f).trace(x) -> Traced``, ``.lower() -> Lowered``, ``.compile() -> Compiled``."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable, Protocol, Sequence, runtime_checkable

from .. import backends
from ..compat.fields import Fields
from ..compat.stages import CompiledHabits, LoweredHabits
from ..configuration import context, flags
from ..interfaces import Executable, LoweredModule, LowerSpec
from ..references.ahead_of_time import ref_program
from ..references.discharge import pure
from ..representation import high, tree
from ..representation.aval import AbstractRef, AbstractValue, ShapeDtypeStruct, abstract_token, as_type, get_aval
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr
from ..representation.source import name_of
from ..representation.typing import Placement, PyTree
from ..traces import nans
from ..traces.trace import EVAL
from ..transformations.high_primitives import in_arrays_only, on_arrays
from .call import Call, fast_call, spec_for

if TYPE_CHECKING:
    from ..representation.tree import PyTreeDef


CompilerOptions = dict[str, str | bool]
"""Names of options of the compiler, and their values."""


@runtime_checkable
class Wrapped(Protocol):
    """A function ready to be traced and compiled: what `jit` returns.

    >>> isinstance(jax.jit(jnp.sin), jax.stages.Wrapped)
    True
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Trace, lower and compile for the arguments where that was not done before, and run."""

    def trace(self, *args: Any, **kwargs: Any) -> "Traced":
        """Trace for arguments, or their descriptions."""

    def lower(self, *args: Any, **kwargs: Any) -> "Lowered":
        """Trace and lower for arguments, or their descriptions."""


class ArgInfo:
    """Type of one argument and whether it is donated.

    >>> jax.jit(jnp.sin, donate_argnums=0).lower(1.).args_info
    ((ArgInfo(_aval=ShapedArray(float32[], weak_type=True), donated=True),), {})
    """

    __slots__ = ("_aval", "donated")
    __dataclass_fields__ = Fields("_aval", "donated")

    def __init__(self, _aval: AbstractValue, donated: bool):
        self._aval, self.donated = _aval, donated

    shape = property(lambda self: self._aval.shape, doc="Lengths of the axes.")
    dtype = property(lambda self: self._aval.dtype, doc="Dtype of the elements.")

    def __eq__(self, other):
        return isinstance(other, ArgInfo) and (self._aval, self.donated) == (other._aval, other.donated)

    def __hash__(self):
        return hash((self._aval, self.donated))

    def __repr__(self):
        return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"


def out_struct(aval: AbstractValue) -> ShapeDtypeStruct | AbstractValue:
    """What `eval_shape` and ``out_info`` show for a result of type ``aval``: of a high-level type and of tokens, the type itself."""
    if aval.is_high or aval is abstract_token:
        return aval
    placement = getattr(aval, "placement", None)
    if placement is None and _types_tell_placements():
        placement = backends.get().placements.on_no_mesh(len(aval.shape))
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=placement)


def _types_tell_placements() -> bool:
    """Whether the mesh in use has ``Explicit`` axes, so that what a type does not say is whole on each device."""
    here = flags.mesh_in_context.value
    return here is not None and here[1] is not None and bool(here[1].explicit_axes)


def out_structs(avals: Sequence[AbstractValue], told: Sequence[Any] | None) -> list:
    """`out_struct` of results, for some of which a placement is asked for."""
    outs = list(map(out_struct, avals))
    if told is None:
        return outs
    return [x.update(sharding=s) if s is not None and isinstance(x, ShapeDtypeStruct) else x for x, s in zip(outs, told)]


def _on_devices(x: Any) -> Any:
    """The description of a result with its placement on devices in place of one in types; as it is where no devices are known."""
    if not isinstance(x, ShapeDtypeStruct) or x.sharding is None or getattr(x.sharding, "_is_concrete", True):
        return x
    try:
        return x.update(sharding=backends.get().placements.as_sharding(x.sharding))
    except ValueError:
        return x


def with_types(args: tuple, kwargs: dict, static_argnums: Sequence[int] = (), static_argnames: Sequence[str] = ()) -> tuple[tuple, dict]:
    """The arguments of a call, but for the static ones with descriptions in place of types and of whatever has a shape and a dtype."""
    static = {i % len(args) for i in static_argnums if -len(args) <= i < len(args)}
    return (tuple(x if i in static else _with_types(x) for i, x in enumerate(args)),
            {k: x if k in static_argnames else _with_types(x) for k, x in kwargs.items()})


def _with_types(x: PyTree) -> Any:
    leaves, structure = tree.flatten(x)
    described = [as_type(leaf) for leaf in leaves]
    return x if all(map(operator.is_, leaves, described)) else tree.unflatten(structure, described)


def trace_call(call: Call) -> "Traced":
    """Stage one of a call."""
    program = call.program()
    spec = spec_for(call, program)
    told, known = spec.in_shardings, _placements_of(call.flat) if spec.device is None else None
    if spec.device is None:
        _check_agree(call, told)
    if known is not None and (told is None or any([getattr(t, "sharding", t) is None for t in told])):
        told = (None,) * len(known) if told is None else told
        spec = spec.replace(in_shardings=tuple(k if t is None else t.placed(k) if hasattr(t, "placed") else t for t, k in zip(told, known)))
    return Traced(program.closed, call.in_tree, program.out_tree, call.donated(), name_of(call.fun), spec, call.static)


def _check_agree(call: Call, told: Sequence[Any] | None) -> None:
    """Arguments that are committed, or described with a placement, lie on the same devices, and as jit was told."""
    wanted: Any = next((s for t in told or () if hasattr(s := getattr(t, "sharding", t), "device_set")), None)
    for i, x in enumerate(call.flat):
        own = getattr(x, "sharding", None) if isinstance(x, ShapeDtypeStruct) or getattr(x, "_committed", False) else None
        if own is None or not getattr(own, "_is_concrete", True):
            continue
        asked: Any = None if told is None else getattr(told[i], "sharding", told[i])
        moves = hasattr(asked, "device_set")  # to other devices jit itself does, if they are as many
        wanted = own if wanted is None else wanted
        if own.num_devices != wanted.num_devices if moves else own.device_set != wanted.device_set:
            raise ValueError(f"Received incompatible devices for jitted computation {name_of(call.fun)}: argument {i}, {call.avals[i].str_short()}, lies as "
                             f"{own}, and another one, or what jit was told, as {wanted}; move them to the same devices with jax.device_put.")
        if moves and own.device_set == asked.device_set and not own.is_equivalent_to(asked, len(call.avals[i].shape)):
            raise ValueError(f"{name_of(call.fun)}: in_shardings place argument {i}, {call.avals[i].str_short()}, as {asked},\nbut it lies as {own}; move it "
                             "by jax.device_put, or leave in_shardings out")


def _placements_of(args: Sequence[Any]) -> tuple | None:
    """Where the arguments, or what is described, are: ahead of time the program is compiled for that."""
    found: list[Any] = []
    stored: list[Any] = []
    for x in args:
        described = isinstance(x, ShapeDtypeStruct)
        known = described or getattr(x, "_committed", False)
        sharding = getattr(x, "sharding", None) if known else None
        found.append(sharding)
        stored.append(x.stored if isinstance(x, ShapeDtypeStruct) else backends.get().placements.own_format(x) if known else None)
    if all(s is None for s in (*found, *stored)):
        return None
    spread = [s if s is not None and backends.get().placements.is_spread(s) else None for s in found]
    chosen = spread if any(s is not None for s in spread) else found
    return tuple(s if f is None else f for s, f in zip(chosen, stored))


class _Stage:
    _closed: Any
    _donated: Sequence[bool]
    _spec: LowerSpec
    in_tree: Any
    out_tree: Any

    @property
    def donate_argnums(self):
        """Positions, among the flat arguments, of those whose memory the results may take."""
        return tuple(i for i, d in enumerate(self._donated) if d)

    @property
    def args_info(self) -> Any:
        """`ArgInfo` for every argument, in the structure of the call's ``(args, kwargs)``."""
        return tree.unflatten(self.in_tree, [ArgInfo(a, d) for a, d in zip(self._closed.in_avals, self._donated)])

    @property
    def out_info(self) -> Any:
        """`ShapeDtypeStruct` for every result, with the placement that is asked for it, in the structure of the result."""
        return tree.unflatten(self.out_tree, out_structs(self._closed.out_avals, self._spec.out_shardings))

    @property
    def in_avals(self) -> Any:
        """Types of the arguments, in the structure of the call's ``(args, kwargs)``."""
        return tree.unflatten(self.in_tree, self._closed.in_avals)

    @property
    def out_avals(self) -> Any:
        """Types of the results, in the structure of the result."""
        return tree.unflatten(self.out_tree, self._closed.out_avals)


class Traced(_Stage):
    """A function traced for given argument types. ``jaxpr`` is its program.

    >>> traced = jax.jit(lambda x: 2 * x).trace(jnp.ones(3))
    >>> traced.out_info
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    >>> traced.lower().compile()(jnp.ones(3))
    Array([2., 2., 2.], dtype=float32)
    """

    fun_name: str

    def __init__(self, closed: ClosedJaxpr, in_tree: PyTreeDef, out_tree: PyTreeDef, donated: Sequence[bool], fun_name: str, spec: LowerSpec,
                 static: object):
        self._closed, self.in_tree, self.out_tree = closed, in_tree, out_tree
        self._donated, self.fun_name, self._spec, self._static = donated, fun_name, spec, static

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program, with the arrays that it holds."""
        return self._closed

    @property
    def effects(self) -> Any:
        """The program's effects."""
        return self._closed.effects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; also inside transformations."""
        flat = check_arguments(self, self.fun_name, args, kwargs)
        return tree.unflatten(self.out_tree, eval_jaxpr(self._closed.jaxpr, self._closed.consts, *flat))

    def closure_convert(self) -> tuple[list, Callable]:
        """The arrays that the program holds, and a function ``(consts, *args, **kwargs)`` that takes them as an argument."""
        def converted(consts: Sequence[object], *args: Any, **kwargs: Any) -> Any:
            if len(consts) != len(self._closed.consts):
                raise TypeError(f"{self.fun_name}: the converted function takes {len(self._closed.consts)} constants, got "
                                f"{len(consts)}")
            flat = check_arguments(self, self.fun_name, args, kwargs)
            return tree.unflatten(self.out_tree, eval_jaxpr(self._closed.jaxpr, consts, *flat))
        return list(self._closed.consts), converted

    def with_consts_as_arg(self) -> tuple[list, "Traced"]:
        """The arrays that the program holds, and the program that takes the list of them as its first argument."""
        consts, program, spec = list(self._closed.consts), self._closed.jaxpr, self._spec
        opened = ClosedJaxpr(program.replace(constvars=[], invars=[*program.constvars, *program.invars],
                                             debug_info=program.debug_info.with_unknown_names()))
        args, kwargs = tree.unflatten(self.in_tree, [0] * self.in_tree.num_leaves)
        if spec.donated:
            spec = spec.replace(donated=(*[False] * len(consts), *spec.donated))
        if spec.in_shardings is not None:
            spec = spec.replace(in_shardings=(*[None] * len(consts), *spec.in_shardings))
        return consts, Traced(opened, tree.structure((([0] * len(consts), *args), kwargs)), self.out_tree,
                              (*[False] * len(consts), *self._donated), self.fun_name, spec, self._static)

    @property
    def lojax(self) -> "Traced":
        """The program on the arrays that represent its values, without custom rules; itself where no type or primitive is high."""
        if not self._closed.is_high:
            return self
        low = in_arrays_only(self._closed)
        spec = self._spec.replace(donated=(False,) * len(low.in_avals), in_shardings=None, out_shardings=None)
        return Traced(low, tree.structure(((0,) * len(low.in_avals), {})), tree.structure([0] * len(low.out_avals)),
                      spec.donated, self.fun_name, spec, self._static)

    def lower(self, *, lowering_platforms: Sequence[str] | None = None,
              _private_parameters: dict[str, Any] | None = None) -> "Lowered":
        """Lower to a StableHLO module, for the default platform or those given; see `LoweredForPlatforms` for several.

        Raises:
          TypeError: ``lowering_platforms`` is one name, or one of them is no string.
          RuntimeError: there is no such platform.
        """
        if isinstance(lowering_platforms, str):
            raise TypeError(f"{self.fun_name}: lowering_platforms must be a sequence of names, as ({lowering_platforms!r},), got the string "
                            f"{lowering_platforms!r}")
        by_platform = {platform: self._lower(self._spec.replace(platform=platform)) for platform in lowering_platforms or ()}
        if len(by_platform) > 1:
            return LoweredForPlatforms(by_platform)
        return next(iter(by_platform.values()), None) or self._lower(self._spec)

    def _lower(self, spec: LowerSpec) -> "Lowered":
        on_refs = ref_program(self._closed)
        if on_refs is not None:
            spec = on_refs.spec(spec)
        program = pure(self._closed) if on_refs is None else on_refs.pure
        if high.holds_high(program):
            program = on_arrays(program)
            spec = spec.replace(donated=(False,) * len(program.in_avals), in_shardings=None, out_shardings=None)
        return Lowered(self, backends.get().lower(program, spec), spec)


class Lowered(LoweredHabits, _Stage):
    """A program lowered to StableHLO.

    >>> lowered = jax.jit(lambda x: 2 * x).lower(jnp.ones(3))
    >>> "stablehlo.multiply" in lowered.as_text()
    True
    """

    def __init__(self, traced: Traced, module: LoweredModule, spec: LowerSpec):
        self._traced, self._module, self._spec = traced, module, spec
        self._closed, self.in_tree, self.out_tree = traced._closed, traced.in_tree, traced.out_tree
        self._donated = traced._donated
        self._placed: LoweredModule | None = None

    @property
    def _shown(self) -> LoweredModule:
        """The module with its placements; lowered when somebody looks, as what is compiled is found by the call."""
        if self._placed is None:
            self._placed = backends.get().inspection.placed_module(self._module, self._closed, self._spec)
        return self._placed

    @property
    def out_info(self) -> Any:
        """`ShapeDtypeStruct` for every result, with its placement on devices where they are known, in the structure of the result."""
        return tree.tree_map(_on_devices, super().out_info)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The module's text; ``dialect`` is ``"stablehlo"`` (default) or ``"hlo"``."""
        check_dialect("as_text", dialect)
        if dialect == "hlo":
            return backends.get().inspection.hlo_text(self._shown, debug_info)
        return self._shown.text(debug_info, named=True)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The module as the backend's own object, or None where it has none; ``dialect`` as for `as_text`."""
        check_dialect("compiler_ir", dialect)
        return backends.get().inspection.compiler_ir(self._shown, dialect)

    def cost_analysis(self) -> Any:
        """Estimated costs before compilation, as a dict."""
        return backends.get().inspection.cost_analysis(self._shown)

    def compile(self, compiler_options: dict | None = None, *,
                device_assignment: tuple[Placement, ...] | None = None) -> "Compiled":
        """Compile the module, with further compiler options if given."""
        backend, spec, module = backends.get(), self._spec, self._module
        if compiler_options:
            spec = spec.replace(compiler_options=tuple(sorted({**dict(spec.compiler_options), **compiler_options}.items())))
        if flags.dump_ir_to.value:
            from .dumping import dump  # start-up: loaded only when asked for
            dump(self._closed, module, spec)
        executable = backend.compile(module, spec)
        executable.compile()
        return Compiled(self._traced, executable)


class LoweredForPlatforms(Lowered):
    """A program lowered for several platforms: one module for each, as what a platform does best differs.

    It compiles for the platform of this process, if that is among them.

    >>> lowered = jax.jit(jnp.sin).trace(jnp.ones(3)).lower(lowering_platforms=("cpu", "tpu"))
    >>> [line for line in lowered.as_text().splitlines() if line.startswith("//")]
    ['// platform: cpu', '// platform: tpu']
    """

    def __init__(self, by_platform: dict[str, Lowered]):
        here = by_platform.get(backends.get().default_platform()) or next(iter(by_platform.values()))
        super().__init__(here._traced, here._module, here._spec)
        self._by_platform = by_platform

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The modules' texts, each after a comment that names its platform; ``dialect`` is ``"stablehlo"`` (default) or ``"hlo"``."""
        return "\n".join(f"// platform: {platform}\n{one.as_text(dialect, debug_info=debug_info)}" for platform, one in self._by_platform.items())


def check_dialect(name: str, dialect: object) -> None:
    """Raises ValueError if there is no such form of a module."""
    if dialect not in (None, "stablehlo", "hlo"):
        raise ValueError(f"Lowered.{name}: dialect must be 'stablehlo' or 'hlo', got {dialect!r}")


class Compiled(CompiledHabits, _Stage):
    """A compiled program; call it with arguments of exactly the types it was compiled for.

    >>> compiled = jax.jit(lambda x: 2 * x).lower(jnp.ones(3)).compile()
    >>> compiled(jnp.arange(3.))
    Array([0., 2., 4.], dtype=float32)
    """

    def __init__(self, traced: Traced, executable: Executable):
        self._traced, self._executable, self._closed = traced, executable, traced._closed
        self.in_tree, self.out_tree, self._donated = traced.in_tree, traced.out_tree, traced._donated
        self._call = None

    def as_text(self) -> str:
        """The optimised HLO."""
        return self._executable.as_text()

    def cost_analysis(self) -> Any:
        """What the compiler estimates that a run costs, as a dict with entries such as ``flops`` and ``bytes accessed``; None where it says nothing."""
        return self._executable.cost_analysis()

    def memory_analysis(self) -> Any:
        """How much memory a run needs, for arguments, results and temporary values, in bytes; None where the backend cannot tell."""
        return self._executable.memory_analysis()

    def runtime_executable(self) -> Any:
        """The backend's executable."""
        return self._executable.loaded

    @property
    def out_info(self) -> Any:
        """`ShapeDtypeStruct` for every result, with its placement, in the structure of the result."""
        return tree.unflatten(self.out_tree, [a if a.is_high else out_struct(a).update(sharding=s) for a, s in zip(
            self._closed.out_avals, self._executable.out_shardings)])

    @property
    def input_shardings(self) -> Any:
        """Where each argument must lie, in the structure of the call's ``(args, kwargs)``; None for one that the program does not use."""
        return tree.unflatten(self.in_tree, self._executable.in_shardings)

    @property
    def output_shardings(self) -> Any:
        """Where each result will lie, in the structure of the result."""
        return tree.unflatten(self.out_tree, self._executable.out_shardings)

    @property
    def input_formats(self) -> Any:
        """Placement and layout of each argument, in the structure of the call's ``(args, kwargs)``."""
        return tree.unflatten(self.in_tree, self._executable.in_formats)

    @property
    def output_formats(self) -> Any:
        """Placement and layout of each result, in the structure of the result."""
        return tree.unflatten(self.out_tree, self._executable.out_formats)

    input_layouts, output_layouts = input_formats, output_formats

    def __call__(self, *args, **kwargs):
        if self._call is None:
            self._call = self._dispatcher()
        return self._call(*args, **kwargs)

    def call(self, *args: Any, **kwargs: Any):
        """Run the program; the same as calling it."""
        return self(*args, **kwargs)

    def _dispatcher(self):
        def miss(*args, **kwargs):
            flat = check_arguments(self, self._traced.fun_name, args, kwargs)
            if context.state.trace is not EVAL:
                raise TypeError(f"Compiled {self._traced.fun_name}: a compiled program cannot be traced or "
                                "differentiated; apply transformations before compiling.")
            on_refs = ref_program(self._closed)
            if on_refs is not None:
                return tree.unflatten(self.out_tree, on_refs.run(self._executable, flat)), None
            if high.holds_high(self._closed):
                run = self._executable.execute(high.lower(self._closed.in_avals, flat))
                return tree.unflatten(self.out_tree, high.lift(self._closed.out_avals, run.results)), None
            before = nans.found_in(flat) if nans.watching() else None
            run = self._executable.execute(flat)
            if nans.watching():
                self._check_numbers(flat, run.results, before)
            return tree.unflatten(self.out_tree, run.results), fast_call(run, self.out_tree, len(flat))
        return backends.get().dispatcher(miss, miss, (), (), self._traced.fun_name)

    def _check_numbers(self, args: list, results: Sequence[Any], before: str | None) -> None:
        """Raise FloatingPointError if this run made a NaN; ``before`` tells what the arguments held, of which donated ones are gone."""
        name = self._traced.fun_name
        if not any(self._donated):
            nans.check_program(pure(self._closed), args, results, name)
        elif (kind := nans.found_in(results)) is not None and kind != before:
            raise FloatingPointError(f"invalid value ({kind}) returned by jit({name}), which no argument held; its arguments are donated, so "
                                     f"it cannot be run again to find the operation. jax_debug_{kind}s is on.")


def check_arguments(stage: _Stage, name: str, args: tuple, kwargs: dict) -> list:
    """The flat arguments; raises TypeError if they are not of the structure and types that the stage is for."""
    flat, in_tree = tree.flatten((args, kwargs))
    if in_tree != stage.in_tree:
        compiled_for = tree.skeleton(stage.in_tree)
        where = [reason for i, (group, kind) in enumerate((("args", "args"), ("kwargs", "kwargs"))) for reason in
                 tree.prefix_mismatches((args, kwargs)[i], compiled_for[i], f"the call's {group}", f"the compiled {kind}")]
        raise TypeError(f"call of the compiled {name}: the arguments form {in_tree}, but it was compiled for {stage.in_tree}; "
                        "nest them as then, or lower and compile it anew." + "".join("\n  " + reason for reason in where))
    for i, (x, want) in enumerate(zip(flat, stage._closed.in_avals)):
        got = get_aval(x)
        if want.is_high and got == want:
            continue
        if got.is_high or want.is_high or got.shape != want.shape or got.dtype != want.dtype or (type(got) is AbstractRef) != (type(want) is AbstractRef):
            debug = stage._closed.jaxpr.debug_info
            which = debug.arg_names[i] if i < len(debug.arg_names) else i
            raise TypeError(f"call of the compiled {name}: argument {which} is {got.str_short()}, but it was compiled for "
                            f"{want.str_short()}; convert the argument, or lower and compile it anew")
    return flat
