"""From a closed jaxpr to a StableHLO module.

``main`` takes, in this order: a dummy for the token of each ordered effect, the constants that are too large to be
written into the text, and the inputs that the program reads. It returns the dummies and the results. The dummies make
one run wait for the one before it; inside, real tokens order the effects.

The text is the key of the compile caches, so what does not change the program stays out of it: equations carry
locations only inside a `named_scope`. `Module.text` with ``debug_info`` lowers the program again to show the others, and
so does a compilation, which then costs about a hundredth more: profiles show the user's names and lines.
"""
from __future__ import annotations

import math
import re
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.configuration import engine, flags
from jax_core.interfaces import LowerSpec
from jax_core.representation import source
from jax_core.representation.aval import AbstractValue, ShapedArray, ShapeDtypeStruct, abstract_token
from jax_core.representation.effects import ordered_effects
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, dce
from jax_core.representation.memory import Space, mark, of_kind
from jax_core.representation.source import NameStack, SourceInfo, canonicalize_filename
from jax_core.traces.trace import Tracer, escaped
from jax_core.transformations.manual import AxisEnv

from ..arrays.own_layouts import Layouts, mode
from ..jaxlib_compat import MOST_NESTED_CALLS, SUMS_OF_FUNCTIONS, keeps_barriers
from ..placement.described_shardings import of_mesh_in_use
from ..placement.layout import Layout
from ..planning.flat_results import flat_results
from ..planning.loops import NEVER, UNLIMITED, USUAL, loop_limit
from ..planning.one_function import WHOLE, reads_all
from ..planning.planner import SMALL, TINY, Plans, plan
from ..planning.sums import computed_in_sums
from . import metadata, templates
from .builder import NONE, PLANNED, Builder
from .facts import Facts, Work
from .outside_calls import STRING, HostTransfer, plain_symbol, quoted
from .overwriting import BEFORE_WRITING, overwrites_parts
from .sharding_text import Shardings
from .types import TOKEN_ARRAY, conversions, is_extended, physical_aval, type_text
from .values import Value, new_value

_TOKEN_TYPE = "tensor<0xi1>"
_INLINE_BYTES = 1024  # arrays up to this size are written into the text
_shown = re.compile(rf' loc\((?:#loc\d+|{STRING})\)| {{jax\.result_info = {STRING}}}|(?<={{)jax\.result_info = {STRING}, ')
_alone = re.compile(r"-> \(([^\s(),{}]+)\) {")

_AS_A_WHOLE = '{mhlo.frontend_attributes = {inlineable = "false", xla_cpu_small_call = "true"}}'

_templates: dict[Any, dict] = {}
_TEMPLATE_LIMIT = 1 << 14

KERNEL_COMPILERS = ("mosaic", "triton")
"""Platforms that bodies of kernels are lowered for (room `kernels`): references are memory there, and the rules ``in_kernel`` hold."""

PLANNER_OPTION = "jax_fusion_planner"
"""Compiler option, and configuration, that switches the fusion planner."""


class Module:
    """A lowered program; implements `jax_core.interfaces.LoweredModule`.

    Attributes:
      name: of the module, ``jit_...``.
      platform: that it is for.
      facts: what was learnt about the program.
      closed: the program.
      in_use: where whole arrays lie by the mesh that was in use, or None.
    """

    def __init__(self, closed: ClosedJaxpr, spec: LowerSpec, in_shardings: tuple | None, out_shardings: tuple | None,
                 platform: str, everywhere: Any = None, layouts: Layouts | None = None, axis_env: AxisEnv | None = None):
        self._spec, self._shardings, self.platform = spec, (in_shardings, out_shardings), platform
        self._layouts, self._axis_env = layouts, axis_env
        self._misfit: str | None = None
        self._everywhere = everywhere
        self.in_use = of_mesh_in_use()
        self.name = plain_symbol(f"jit_{spec.name}")
        used = [True] * len(closed.jaxpr.outvars)
        self._jaxpr, reads = dce(closed.jaxpr, used, keep_inputs=spec.keep_unused)
        self._kept = tuple(i for i, r in enumerate(reads) if r or spec.keep_unused)
        in_avals = closed.in_avals
        self._in_avals = [physical_aval(in_avals[i]) for i in self._kept]
        self._out_avals = [physical_aval(aval) for aval in closed.out_avals]
        self._inlined, hoisted = _split_constants(self._jaxpr, closed.consts)
        self._hoisted = [v for v, _ in hoisted]
        self._aliases, unusable = _donations(self, spec)
        if unusable:
            source.warn(f"Some donated buffers were not usable: {', '.join([a.str_short() for a in unusable])}. "
                        f"No result of {spec.name} that is left has their size, so they are kept; do not "
                        "donate them.")
        self._planning = wants_plan(spec, platform)
        self._work = Work(self._jaxpr, bool(self._aliases), self._inlined)
        if self._planning and self._work.walks_paths:
            self._loop_limit = NEVER
        else:
            self._loop_limit = loop_limit(self._jaxpr) if self._planning and in_shardings is None else USUAL
        self._barriers_stay = True
        writer = ModuleWriter(self, located=False)
        self._text = writer.text()
        planned = self._text.count(PLANNED)
        if BEFORE_WRITING in self._text and not keeps_barriers(self._text, planned):
            self._barriers_stay = False  # among others they do not (`BARRIER_OPTIONS`)
            writer = ModuleWriter(self, located=False)
            self._text = writer.text()
            planned = self._text.count(PLANNED)
        self._result_parts = writer.result_parts
        self.facts = Facts(
            in_avals, self._kept, self._in_avals, self._out_avals,
            [v.aval.dtype.unwrap(x) if is_extended(v.aval) else _typed(x, v.aval) for v, x in hoisted],
            conversions(in_avals), conversions(closed.out_avals), tuple(self._kept[i] for i in self._aliases),
            writer.ordered_effects, sorted((e for e in self._jaxpr.effects if not e.ordered), key=str), writer.callbacks,
            writer.transfers, writer.shardings.constraints, writer.shardings.typed, writer.keep_alive, writer.inspections, writer.wants, self._planning,
            planned, self._loop_limit, self._work,
            layouts, self._misfit, closed.jaxpr.debug_info.arg_names or ())
        # Not ``closed`` itself, which keeps its executables, and they their modules.
        self.closed = ClosedJaxpr(closed.jaxpr, closed.consts)

    def text(self, debug_info: bool = False, named: bool = False) -> str:
        """The StableHLO module, with ``named`` also what each result is called, with ``debug_info`` where each operation comes from, too.

        What is compiled has no names: programs that differ in these alone are one.
        """
        if debug_info:
            return ModuleWriter(self, located=True).text()
        names = self._result_names() if named else ()
        return self._text.replace(_results(self._result_parts), _results(self._result_parts, names), 1) if names else self._text

    def _result_names(self) -> Sequence[object]:
        names = self._jaxpr.debug_info.result_paths
        return names if names is not None and not callable(names) and len(names) == len(self._jaxpr.outvars) else ()

    def as_function(self, text: str) -> str:
        """The program of ``text`` with all of ``main`` in a function that the compiler neither inlines nor cuts into kernels.

        XLA aborts where a parameter of such a function is not read when code is emitted. So where it may find that an input is not needed, the inputs are
        one tuple, of which another part is read and returned; a call then takes a little longer.
        """
        before, start, rest = text.partition("  func.func public @main(")
        head, brace, rest = rest.partition("{\n")
        body, end, after = rest.partition("\n  }\n")
        name = WHOLE
        while f"@{name}(" in text:
            name += "_"
        inputs = [(f"%const{i}", type_text(v.aval)) for i, v in enumerate(self._hoisted)]
        inputs += [(f"%arg{i}", type_text(aval)) for i, aval in enumerate(self._in_avals)]
        types = [t for t, _ in self._result_parts]
        numbers = [f"%outs#{i}" for i in range(len(types))]
        returned, made, parts = f"    return {', '.join(numbers)} : {', '.join(types)}", "", ""
        if not reads_all(self._jaxpr):
            inputs.append(("%used", "tensor<i1>"))
            types.append("tensor<i1>")
            held = f"tuple<{', '.join([t for _, t in inputs])}>"
            made = (f"    %used = stablehlo.constant dense<false> : tensor<i1>\n"
                    f"    %inputs = stablehlo.tuple {', '.join([x for x, _ in inputs])} : {held}\n")
            parts = "".join([f"    {x} = stablehlo.get_tuple_element %inputs[{i}] : ({held}) -> {t}\n" for i, (x, t) in enumerate(inputs)])
            body, returns, outs = body.rpartition("    return ")
            body = f"{body}{returns}{outs.partition(' : ')[0]}, %used : {', '.join(types)}"
            inputs = [("%inputs", held)]
        given, kinds, listed = [", ".join(x) for x in ([x for x, _ in inputs], [t for _, t in inputs], types)]
        call = f"    %outs:{len(types)} = func.call @{name}({given}) {_AS_A_WHOLE} : ({kinds}) -> ({listed})\n"
        taken = ", ".join([f"{x}: {t}" for x, t in inputs])
        return f"{before}{start}{head}{brace}{made}{call}{returned}{end}  func.func private @{name}({taken}) -> ({listed}) {brace}{parts}{body}{end}{after}"

    def text_to_compile(self) -> str:
        """The program of `text` for the compiler: with locations, unless it calls functions by what it knows of this process."""
        if self.facts.keep_alive or self.facts.host_callbacks:
            return self._text
        located = self.text(debug_info=True)
        return located if _bare(located) == _bare(self._text) else self._text  # flags may have changed since


def lower_module(closed: ClosedJaxpr, spec: LowerSpec, in_shardings: tuple | None = None,
                 out_shardings: tuple | None = None, platform: str = "cpu", everywhere: object = None,
                 layouts: Layouts | None = None, axis_env: AxisEnv | None = None) -> Module:
    """Lower a program.

    Args:
      closed: the program.
      spec: name, donation and so on.
      in_shardings, out_shardings: placements of flat inputs and results (None where the compiler may choose), for runs
        on several devices; None for one device.
      platform: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``.
      everywhere: a placement on all devices of the run, where none of the others tells how many there are.
      layouts: of flat inputs and results.
      axis_env: of the manual region that a kernel is called in, whose body this is.

    Raises:
      NotImplementedError: a primitive has no lowering rule.
    """
    return Module(closed, spec, in_shardings, out_shardings, platform, everywhere, layouts, axis_env)


def wants_plan(spec: LowerSpec, platform: str) -> bool:
    """Whether to plan fusion: on CPU, unless the option of this program or the configuration is ``"off"``, or the program must have the
    form that it has for other lengths, for which other plans would pay.

    Raises:
      ValueError: the option is neither ``"on"`` nor ``"off"``.
    """
    option = dict(spec.compiler_options).get(PLANNER_OPTION)
    if option is None:
        option = flags.fusion_planner.value
    elif option not in ("on", "off"):
        raise ValueError(f"compiler_options: {PLANNER_OPTION} must be 'on' or 'off', got {option!r}")
    return platform == "cpu" and option == "on" and not spec.one_form


def _memory_kind(aval: AbstractValue, kind: str | None) -> list[str]:
    """The attribute of an argument or result in another memory than that of the device: the one of this ``kind``, else of its type."""
    if kind is None and aval.memory_space is Space.Host:
        kind = aval.memory_space.memory_kind
    return [] if kind in (None, "device") else [f"mhlo.memory_kind = {quoted(kind)}"]


def _split_constants(jaxpr: Jaxpr, consts: Sequence[Any]) -> tuple[list, list]:
    """Pairs (variable, value) of the constants to write into the text, and of those to pass as arguments."""
    read = {v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal} if consts else set()
    read.update(v for v in jaxpr.outvars if type(v) is not Literal)
    inlined: list = []
    hoisted: list = []
    for v, x in zip(jaxpr.constvars, consts):
        if isinstance(x, Tracer):  # of a library's trace, which staging takes as it is
            raise escaped(x)
        if isinstance(x, ShapeDtypeStruct):
            raise TypeError(f"{x!r} is the type of an array and has no values; a program can be traced with it, not run")
        if v in read:
            inside = v.aval is abstract_token or not is_extended(v.aval) and v.aval.nbytes <= _INLINE_BYTES and _on_host(x)
            (inlined if inside else hoisted).append((v, x))
    return inlined, hoisted


def _typed(x: Any, aval: Any) -> Any:
    """A constant in the dtype that the program has for it, which it got under the flags of its time."""
    return x.astype(aval.dtype, copy=False) if isinstance(x, (np.ndarray, np.generic)) else x


def _on_host(x: Any) -> bool:
    """Whether the value can be read here: a NumPy value, or an array that this process holds all of."""
    return isinstance(x, (np.ndarray, np.generic)) or getattr(x, "is_fully_addressable", True)


def _donations(module: Module, spec: LowerSpec) -> tuple[dict[int, int | None], list]:
    """For positions among the kept inputs, the result that may use the donated buffer, None for any; and what none can use.

    Each donated input takes the first result of its shape, dtype and memory that none has taken yet; the compiler is left to choose for
    one for which there is a result of as many bytes. With several devices the partitioner decides on shapes, so the compiler chooses there,
    but where the result is asked to lie as the input does.
    Where the compiler chooses the layout of one of the two only, they cannot share memory, and `Facts.misfit` says so.
    """
    donated = [k for k, i in enumerate(module._kept) if i < len(spec.donated) and spec.donated[i]]
    ins, outs = module._shardings
    stored = module._layouts or Layouts((), ())
    free: dict[str, list[int]] = {}
    if donated:
        for position, aval in enumerate(module._out_avals):
            free.setdefault(type_text(aval) + mark(aval.memory_space), []).append(position)
    usable: dict[int, int | None] = {}
    others = []
    for k in donated:
        i, aval = module._kept[k], module._in_avals[k]
        kind = type_text(aval) + mark(aval.memory_space)
        places = free.get(kind, [])
        if ins is not None:
            places = [] if outs is None or ins[i] is None else [
                j for j in places if outs[j] is not None and outs[j].is_equivalent_to(ins[i], len(aval.shape))]
        if places:
            j = places[0]
            free[kind].remove(j)
            order, wanted = [part[n] if n < len(part) else None for part, n in ((stored.ins, i), (stored.outs, j))]
            if (order is Layout.AUTO) != (wanted is Layout.AUTO):
                side = "out_shardings" if order is Layout.AUTO else "in_shardings"
                module._misfit = (f"jit of {spec.name}: argument {i}, {aval.str_short()}, is donated, but the compiler chooses the layout of only "
                                 f"one of it and result {j}, which takes its memory; give Format(Layout.AUTO) in {side} too.")
            usable[k] = j if order == wanted or {order, wanted} == {None, Layout(range(len(aval.shape)))} else None
        else:
            others.append(k)
    sizes = [_bytes(module._out_avals[j], None if outs is None else outs[j], ins is None) for places in free.values() for j in places]
    unusable = []
    for k in others:
        size = _bytes(module._in_avals[k], None if ins is None else ins[module._kept[k]], ins is None)
        if size is None or None in sizes:
            usable[k] = None
        elif size in sizes:
            sizes.remove(size)
            usable[k] = None
        else:
            unusable.append(module._in_avals[k])
    return usable, unusable


def _bytes(aval: Any, sharding: Any, whole: bool) -> tuple | None:
    """Arrays of which this is equal can lie in one place; None where the partitioner decides. ``whole``: the program has one device."""
    if aval is abstract_token or whole:
        return (getattr(aval, "nbytes", None), mark(aval.memory_space))
    if sharding is None:
        return None
    return (math.prod(sharding.shard_shape(aval.shape)) * aval.dtype.itemsize, mark(aval.memory_space))


class ModuleWriter:
    """The state of writing one module: its functions, meshes, callbacks and locations.

    Attributes:
      platform: platform to lower for.
      located: every operation gets a location.
      kernel: this is the body of a kernel.
      planning: whether the fusion planner is asked; not inside loops that become one function, which has no barriers.
      whole_loops: whether all loops do that have no calls.
      least_cut: bytes of the smallest values that it may cut here; least_in_loops: in loops. in_loop: whether a loop is being written.
      plans: what it said.
      shardings: placements and meshes.
      callbacks: Python functions called by index.
      transfers: Python functions called by messages.
      keep_alive, inspections, wants: see `Facts`.
      partitions: number of devices that a manual region is for.
      scopes: names around the equations that are being written: of the loop, branch or call that holds them.
      barriers_stay: whether the compiler keeps what a barrier of the planner's is behind apart from what reads it.
      in_function: whether they are in another function than ``main``.
      alike: for each argument of that function a number; arguments with one number may be computed from one array.
      result_parts: types and attributes of the results of ``main``.
      axis_env: inside a manual region, the mesh axes that collectives name (`jax_core.transformations.manual.AxisEnv`).
      ordered_effects: those that ``main`` has a token for. A program that calls the host from one CPU device has none: it
        runs to its end before the next one starts (`host_calls`).
    """

    axis_env: AxisEnv | None
    result_parts: list[tuple[str, list[str]]]
    partitions = 1
    scopes: tuple = ()
    in_function = False
    in_loop = False
    alike: Sequence[int] = ()

    def __init__(self, module: Module, located: bool):
        self.module, self.platform, self.located = module, module.platform, located
        self.portable, self.one_form = module._spec.platform is not None, module._spec.one_form
        self.kernel, self.axis_env = module.platform in KERNEL_COMPILERS, module._axis_env
        self.planning, self.whole_loops = module._planning, module._loop_limit == UNLIMITED
        self.least_cut = module._work.least_cut if self.planning else SMALL
        self.least_in_loops = TINY if module._loop_limit == NEVER else SMALL
        self.barriers_stay = module._barriers_stay
        self.plans = Plans(self.planning and module._work.walks_paths)
        self.shardings = Shardings(*module._shardings, (module._everywhere,))
        self.callbacks: list[Callable] = []
        self.transfers: list[HostTransfer] = []
        self.keep_alive: list = []
        self.inspections: list[Callable] = []
        self.wants: tuple[str, int] | None = None
        self.ordered_effects = ordered_effects(module._jaxpr.effects)
        self._functions: list[str] = []
        self._has_metadata = False
        self._symbols: set[str] = {"main"}
        self._by_program: dict[tuple, tuple[Any, str, int]] = {}
        self._overwriting: dict[int, tuple[Any, bool]] = {}
        self._called_depth = 0  # how deep calls are nested in what is written now
        self._by_text: dict[str, str] = {}
        self._locations: dict[str, str] = {}
        self._paths: dict[tuple, tuple[str, dict, tuple, tuple]] = {}
        self._places: dict[tuple, str] = {}
        key = (module.platform, self.portable, self.one_form, self.shardings.devices > 1, engine.trace_key())
        self.templates = _templates.setdefault(key, {}), _templates.setdefault((key, "located"), {})

    @property
    def holds_bfloat16(self) -> bool:
        """Whether values of the program are of bfloat16."""
        return self.module._work.holds_bfloat16

    def text(self) -> str:
        """The whole module."""
        main = self._main()
        self.plans.known.clear()  # they hold this table: a cycle, and in it all that the program's callbacks close over
        name, devices = self.module.name, max(self.shardings.devices, self.partitions)
        head = (f"module @{name} attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
                f"{self.shardings.meshes()}")
        tail = "".join([f"{alias} = {text}\n" for text, alias in self._locations.items()])
        whole = "".join([head, main, *self._functions, "}\n", tail])
        return metadata.placed(whole) if self._has_metadata else whole

    # -- functions -------------------------------------------------------------------------------------------------

    def _main(self) -> str:
        module = self.module
        b = Builder(self)
        env: dict[Any, str] = {v: f"%const{i}" for i, v in enumerate(module._hoisted)}
        env.update((v, f"%arg{i}") for i, v in enumerate(module._jaxpr.invars))
        for v, x in module._inlined:
            env[v] = (b.emit("stablehlo.create_token", out=abstract_token) if v.aval is abstract_token  # it has no value
                      else b.constant(np.asarray(x), v.aval.update(sharding=None)))
        for v in module._jaxpr.invars:
            if v.aval is abstract_token:
                env[v] = b.emit("stablehlo.create_token", out=abstract_token)
        if self.planning and self.shardings.devices == 1 and SUMS_OF_FUNCTIONS:  # parts on several devices may be short
            b.in_sums = computed_in_sums(module._jaxpr, plan(module._jaxpr, self.plans, self.least_cut).cuts)
        if self.planning and self.shardings.devices == 1 and b.barriers_last and module._layouts is None and module._work.wants_flat_results:
            b.flat = flat_results(module._jaxpr)
        outs = [b.constant(np.zeros((), bool), TOKEN_ARRAY) if x.aval is abstract_token else x for x in b.run(module._jaxpr, env, whole=True)]
        if self.shardings.devices > 1 and module._shardings[1] is not None:
            outs = [_whole_before_sum(b, x, where) for x, where in zip(outs, module._shardings[1])]
        if self.platform != "cpu":
            outs = [self._moved(b, i, x) for i, x in enumerate(outs)]
        if self.callbacks and self.platform == "cpu" and module._shardings[0] is None and self.shardings.devices == 1:
            self.ordered_effects = []
        tokens = [f"%token{i}" for i in range(len(self.ordered_effects))]
        arguments = [f"{t}: {_TOKEN_TYPE}" for t in tokens]
        arguments += [f"%const{i}: {type_text(v.aval)}{self.shardings.everywhere(physical_aval(v.aval).ndim)}"
                      for i, v in enumerate(module._hoisted)]
        names = _names(module._jaxpr.debug_info, module._kept) if self.located else ()
        for i, v in enumerate(module._jaxpr.invars):
            location = f" loc({quoted(names[i])})" if i < len(names) else ""
            held = TOKEN_ARRAY if v.aval is abstract_token else v.aval
            arguments.append(f"%arg{i}: {type_text(held)}{self._argument_attributes(i, v)}{location}")
        parts: list[tuple[str, list[str]]] = [(_TOKEN_TYPE, [])] * len(tokens)
        parts += [(x.type, self._result_attributes(i, x)) for i, x in enumerate(outs)]
        self.result_parts = parts
        results = _results(parts, module._result_names() if self.located else ())
        return _function("public @main", arguments, b.lines, [*tokens, *outs], [t for t, _ in parts], results)

    def _argument_attributes(self, i: int, v: Any) -> str:
        items = []
        placements = self.module._shardings[0]
        if placements is not None and placements[self.module._kept[i]] is not None:
            items.append(self.shardings.argument(placements[self.module._kept[i]], physical_aval(v.aval).ndim))
        if i in self.module._aliases:
            result = self.module._aliases[i]
            items.append("jax.buffer_donor = true" if result is None else
                         f"tf.aliasing_output = {result + len(self.ordered_effects)} : i32")
        items += self._layout_mode(0, self.module._kept[i], v.aval) + _memory_kind(v.aval, None)
        return f" {{{', '.join(items)}}}" if items else ""

    def _layout_mode(self, group: int, i: int, aval: Any) -> list[str]:
        """How the ``i``-th flat input (``group`` 0) or result (1) is stored, if anything is asked for it."""
        asked = self.module._layouts[group] if self.module._layouts is not None else ()
        return [f"mhlo.layout_mode = {quoted(mode(asked[i], physical_aval(aval).dtype))}"] if i < len(asked) and asked[i] is not None else []

    def _result_attributes(self, i: int, x: Value) -> list[str]:
        items = []
        placements = self.module._shardings[1]
        where = placements[i] if placements is not None and placements[i] is not None else x.aval.placement
        if where is not None and (where is not x.aval.placement or self.shardings.devices > 1 and not where.mesh.auto_axes):
            items.append(self.shardings.argument(where, physical_aval(x.aval).ndim))
        return items + self._layout_mode(1, i, x.aval) + _memory_kind(x.aval, self._memory_asked(i))

    def _memory_asked(self, i: int) -> str | None:
        """The kind of memory that the placement asked for result ``i`` names."""
        told = self.module._spec.out_shardings
        return getattr(told[i], "memory_kind", None) if told else None

    def _moved(self, b: Builder, i: int, x: Value) -> Value:
        """The result ``i`` in the memory that is asked for it, to which XLA moves nothing by itself that was computed in another."""
        kind = self._memory_asked(i)
        if kind is None or not isinstance(x.aval, ShapedArray) or of_kind(kind) is x.aval.memory_space:
            return x
        return b.to_memory(x, x.aval.update(memory_space=of_kind(kind)))

    def function(self, name: str, closed: ClosedJaxpr, alike: tuple[int, ...]) -> str:
        """The symbol of ``closed`` as a function of this module, with such arguments; written if no equal function is there yet."""
        key = id(closed), self.axis_env and self.axis_env.key(), self.planning, self.least_cut, alike
        found = self._by_program.get(key)
        if found is not None:
            self._called_depth = max(self._called_depth, found[2])
            return found[1]
        b = Builder(self)
        jaxpr = closed.jaxpr
        tokens = ordered_effects(closed.effects)
        arguments = []
        for i, effect in enumerate(tokens):
            token = new_value(f"%token{i}", abstract_token)
            b.set_token(effect, token)
            arguments.append(f"{token}: {token.type}")
        operands = [new_value(f"%arg{i}", v.aval) for i, v in enumerate(jaxpr.invars)]
        told = [self._typed_attributes(x) for x in operands]
        arguments += [f"{x}: {x.type} {{{', '.join(a)}}}" if a else f"{x}: {x.type}" for x, a in zip(operands, told)]
        around = self.scopes, self.in_function, self.alike, self._called_depth
        self.scopes, self.in_function, self.alike, self._called_depth = (), True, alike, 0
        outs = b.jaxpr(closed, *operands)
        depth = self._called_depth + 1
        self.scopes, self.in_function, self.alike, self._called_depth = around
        self._called_depth = max(self._called_depth, depth)
        if depth > MOST_NESTED_CALLS:
            raise RecursionError(f"{name}: more than {MOST_NESTED_CALLS} functions are nested here that are jitted each, deeper than the "
                                 "compiler can walk; jit the outermost one only, or some of them with inline=True")
        outs = [b.token(effect) for effect in tokens] + outs
        symbol = self._entered(name, arguments, b.lines, outs, [(x.type, self._typed_attributes(x)) for x in outs])
        self._by_program[key] = closed, symbol, depth
        return symbol

    def may_have_barriers(self) -> bool:
        """Whether barriers lose nothing where the planner is asked (`Work.may_have_barriers`)."""
        return self.planning and self.module._work.may_have_barriers

    def meets_nan(self) -> bool:
        """Whether the program computes with NaN for certain (`Work.meets_nan`)."""
        return self.module._work.meets_nan

    def overwrites_parts(self, closed: ClosedJaxpr) -> bool:
        """Whether a part of an array is overwritten in the program (`overwriting`)."""
        known = self._overwriting.get(id(closed))
        if known is None:
            known = self._overwriting[id(closed)] = closed, overwrites_parts(closed.jaxpr)
        return known[1]

    def enter(self, name: str, operands: Sequence[Value], lines: Sequence[str], outs: Sequence[Value]) -> str:
        """The symbol of a function of this module that was written apart; written once."""
        return self._entered(name, [f"{x}: {x.type}" for x in operands], lines, outs)

    def _typed_attributes(self, x: Value) -> list[str]:
        """That an argument or result of a function is a sum over devices, still to be made; other placements the compiler finds."""
        if self.shardings.devices == 1 or x.aval.placement is None or not x.aval.placement.spec.unreduced:
            return []
        return [self.shardings.argument(x.aval.placement, physical_aval(x.aval).ndim)]

    def _entered(self, name, arguments, lines, outs, results=None):
        types = [x.type for x in outs]
        results = _results([(t, []) for t in types] if results is None else results)
        body = _function("", arguments, lines, outs, types, results)
        symbol = None if self.one_form else self._by_text.get(body)
        if symbol is None:
            symbol = self._by_text[body] = self._fresh(plain_symbol(name))
            self._functions.append(_function(f"private @{symbol}", arguments, lines, outs, types, results))
        return symbol

    def _fresh(self, name: str) -> str:
        symbol, n = name, 0
        while symbol in self._symbols:
            symbol, n = f"{name}_{n}", n + 1
        self._symbols.add(symbol)
        return symbol

    def add_transfer(self, function: Callable, sent: int, received: int) -> HostTransfer:
        """A callback by messages, with fresh channels for its operands and results."""
        first = 1 + sum(len(t.send_channels) + len(t.receive_channels) for t in self.transfers)
        channels = list(range(first, first + sent + received))
        transfer = HostTransfer(function, channels[:sent], channels[sent:])
        self.transfers.append(transfer)
        return transfer

    def add_callback(self, function: Callable) -> int:
        """The index by which the program calls ``function``."""
        self.callbacks.append(function)
        return len(self.callbacks) - 1

    # -- templates and locations -----------------------------------------------------------------------------------

    def template(self, key: tuple, eqn: JaxprEqn, location: str) -> templates.Template:
        """The template of equations with this key, recorded now; `builder.NONE` if their rule must run each time."""
        if not templates.repeatable(eqn):
            return NONE
        known = self.templates[1 if location else 0]
        template = templates.record(self, eqn, location)
        if len(known) > _TEMPLATE_LIMIT:
            known.clear()
        known[key] = template
        return template

    def location(self, eqn: JaxprEqn) -> str:
        """`` loc(...)`` of an equation: its scopes and primitive, and where in the user's program it was written."""
        info, prim = eqn.source_info, eqn.primitive
        # By identity: scopes and transformations of one name are equal, and a code object's hash is slow.
        key = id(info.scopes), id(self.scopes), prim, eqn.params["name"] if prim.transparent else None
        known = self._paths.get(key)
        if known is None:
            names, pairs = metadata.split(metadata.under(self.scopes + info.scopes, eqn))
            known = self._paths[key] = str(NameStack(tuple(names))), pairs, info.scopes, self.scopes
        path, pairs, *_ = known
        if pairs:
            self._has_metadata = True
            return f" loc({quoted(path)}){metadata.marked(pairs)}"
        if not self.located:
            return f" loc({quoted(path)})"
        at = path, self.in_function, id(info.code), info.offset
        location = self._places.get(at)
        if location is None:
            name = quoted(path if self.in_function else f"jit({self.module._spec.name})/{path}")
            location = self._places[at] = f" loc({self._alias(f'loc({name}({self._place(info)}))')})"
        return location

    def _place(self, info: SourceInfo) -> str:
        if info.code is None:
            return self._alias("loc(unknown)")
        line = self._alias(f"loc({quoted(canonicalize_filename(info.file))}:{info.line}:{info.column})")
        return self._alias(f"loc({quoted(info.function)}({line}))")

    def _alias(self, text: str) -> str:
        return self._locations.setdefault(text, f"#loc{len(self._locations)}")


def _bare(text: str) -> str:
    """A module's text without what only readers need: locations, and names of arguments and results."""
    return _alone.sub(r"-> \1 {", _shown.sub("", text.partition("\n#loc")[0].rstrip()))


def _whole_before_sum(b: Builder, x: Value, where: Any) -> Value:
    """The result ``x``: what is asked to be unreduced, and whose type tells no split, is whole before, as the compiler wants to be told."""
    spec = getattr(where, "spec", None)
    if spec is None or not spec.unreduced or x.aval.placement is not None:
        return x
    return b.sharding_constraint(x, where.update(spec=spec.update(partitions=(), unreduced=frozenset(), unreduced_kind=None)))


def _names(debug: DebugInfo, kept: Sequence[int]) -> list[str]:
    """Names of the kept arguments, as far as known."""
    names = list(debug.arg_names or ())
    return [str(names[i]) if i < len(names) else f"arg{i}" for i in kept]


def _results(parts: Sequence[tuple[str, list[str]]], names: Sequence[object] = ()) -> str:
    """The results of a function as its head says: types, attributes, and the ``names`` of the last of them (the first are tokens)."""
    tokens = len(parts) - len(names)
    items = [told if i < tokens else [f"jax.result_info = {quoted(str(names[i - tokens]))}", *told] for i, (_, told) in enumerate(parts)]
    texts = [f"{t} {{{', '.join(told)}}}" if told else t for (t, _), told in zip(parts, items)]
    # as MLIR prints it: one result that has no attributes needs no parentheses
    return "" if not texts else f"-> {texts[0]} " if len(texts) == 1 and not items[0] else f"-> ({', '.join(texts)}) "


def _function(name: str, arguments: Sequence[str], lines: Sequence[str], outs: Sequence[str], types: Sequence[str], results: str) -> str:
    returned = f"    return {', '.join(outs)} : {', '.join(types)}\n" if outs else "    return\n"
    return f"  func.func {name}({', '.join(arguments)}) {results}{{\n{''.join(lines)}{returned}  }}\n"
