"""`Executable`: a compiled program and how it is called from Python.

A program is compiled for the places its arguments are in. Which places, is known when it is called, so an
`Executable` holds one `LoadedProgram` for each combination of places that it was called with; nearly always there is one.

It reads the text of a lowered module and its `lowering.facts.Facts`.
"""
from __future__ import annotations

import threading
from typing import Any, Callable, Sequence, cast

from jax_core.configuration import flags
from jax_core.interfaces import Run

from ..arrays import own_layouts
from ..arrays.array import ArrayImpl
from ..compiling import compile
from ..compiling.compiler_options import options_for
from ..jaxlib_compat import _jax
from ..placement.layout import Format, Layout
from ..placement.sharding import Sharding, make_single_device_sharding
from ..platforms import client
from .described import DescribedProgram
from .loaded_program import LoadedProgram
from .places import Placed, Places


class Executable:
    """A compiled program.

    Args:
      module: the lowered module for the default placement.
      spec: how it was asked for (`jax_core.interfaces.LowerSpec`).
      lower: ``lower(in_shardings, out_shardings, platform, everywhere, layouts)`` makes the module for other placements.
      items: compiler options.
    """

    def __init__(self, module: Any, spec: Any, lower: Callable, items: tuple):
        self.module, self._lower, self._items = module, lower, items
        self.spec, self._layouts = own_layouts.apart(spec)
        self.facts = module.facts
        self._places = Places(module.name, self.spec, self.facts)
        self._variants: dict[Any, LoadedProgram] = {}
        self._lock = threading.RLock()
        self._first: LoadedProgram | None = None
        self._ahead: Placed | None = None
        effects = module.facts.ordered_effects or module.facts.unordered_effects
        self._needs_python = bool(effects and module.platform != "cpu" or any(
            not getattr(converter, "is_node", False) for _, converter in (*module.facts.converted_in, *module.facts.converted_out)))

    # -- what jit reads
    @property
    def current(self) -> LoadedProgram:
        """What was compiled first; compiles for the default placement if nothing was."""
        if self._first is None:
            self._variant(*self._places.of(None), self._layouts)
        return cast(LoadedProgram, self._first)

    def compile(self) -> "Executable":
        """Compile for the placements in the spec, without arguments to look at. It runs there, and nowhere else."""
        self._ahead = self._places.of(None)
        self._variant(*self._ahead, self._layouts)
        return self

    def release(self) -> None:
        """Have the caches in memory keep nothing of it."""
        for variant in self._variants.values():
            compile.forget(variant.loaded)

    def execute(self, args: Sequence[object]) -> Run:
        """Run on flat arguments; the results are ready or on their way.

        Raises:
          ValueError: the arguments are committed to different devices, or to others than it was compiled for ahead of time.
          RuntimeError: an argument was deleted or donated, or `jax_no_execution` is set.
        """
        if flags.no_execution.value:
            raise RuntimeError(f"jit({self.spec.name}) would run a compiled program, which jax_no_execution forbids here (no_execution)")
        converted = self.facts.converted_in
        if converted:
            args = list(args)
            for i, converter in converted:
                args[i] = converter.unwrap(args[i])
        layouts = self._layouts if self._ahead else own_layouts.for_call(self._layouts, self.facts.kept, args, self.module.name)
        loaded = self._variant(*(self._as_compiled(args) if self._ahead else self._places.of(args)), layouts)
        if self._ahead and own_layouts.expected():
            own_layouts.check(args, dict(zip(self.facts.kept, loaded.stored()[len(loaded.consts):])), self.module.name)
        outs, repeatable = loaded.run(args)
        for i, converter in self.facts.converted_out:
            outs[i] = converter.wrap(outs[i])
        return Run(outs, None if self._needs_python or not repeatable else loaded)

    def _as_compiled(self, args: Sequence[Any]) -> Placed:
        """Where a program that was compiled ahead of time runs: the arguments are there, or not committed, or are moved there, as ``device`` and
        ``backend`` of `jit` say."""
        if self.spec.platform is not None or self.spec.device is not None and not isinstance(self.spec.device, Sharding):
            return self._places.of(args)
        ahead = cast(Placed, self._ahead)
        there = [(k, i, args[i]) for k, i in enumerate(self.facts.kept) if type(args[i]) is ArrayImpl and args[i]._committed]
        for k, i, x in there:
            if x._sharding.device_set != set(ahead[0]):
                name = self.facts.arg_names[i] if i < len(self.facts.arg_names) else i
                at = f"devices {[d.id for d in ahead[0]]}" if ahead[1] is None else ahead[1][k]
                raise ValueError(f"call of {self.module.name}: it was compiled for argument {name}, {x.aval.str_short()}, on {at},\n"
                                 f"but it lies as {x.sharding}; move it by jax.device_put, or compile for where it lies")
        if not there:
            return ahead
        return self._places.of(args)

    def _variant(self, devices: tuple, ins: list | None, committed: bool, layouts: Any) -> LoadedProgram:
        key = (devices, committed, layouts) if ins is None else (devices, committed, layouts, *ins)
        found = self._variants.get(key)
        if found is None:
            with self._lock:
                found = self._variants.get(key)
                if found is None:
                    found = self._variants[key] = self._make(devices, ins, committed, layouts)
                    if self._first is None:
                        self._first = found
        return found

    def _make(self, devices: tuple, ins: list | None, committed: bool, layouts: Any) -> LoadedProgram:
        platform = client.platform_of(devices[0].client)
        kind = DescribedProgram if client.is_described(devices[0].client) else LoadedProgram
        if len(devices) == 1:
            here = make_single_device_sharding(devices[0])
            fits = self.module.platform == platform and layouts == self._layouts
            module = self.module if fits else self._lower(None, None, platform, None, layouts)
            wants = module.facts.wants
            if wants is not None:
                raise ValueError(f"{module.name}: {wants[0]} runs on {wants[1]} devices, but nothing says on which: place an argument "
                                 "(jax.device_put with a NamedSharding), or give shard_map a jax.sharding.Mesh.")
            if ins is None:
                ins = [here] * len(module.facts.kept)
            return kind(module, devices, ins, self._places.of_results(ins), committed, self._items, self.spec.name)
        placed = cast(list, ins)  # one for each input, as there are several devices
        full: list[Any] = [None] * (max(self.facts.kept, default=-1) + 1)
        for i, sharding in zip(self.facts.kept, placed):
            full[i] = sharding
        count = len(self.facts.flat_in_avals)
        full += [None] * (count - len(full))
        outs = self._places.of_results(placed)
        nowhere = all([s is None for s in (*placed, *(outs or ()))])  # no argument and no result says how many devices there are
        module = self._lower(tuple(full), None if outs is None else tuple(outs), platform, self._places.everywhere(devices) if nowhere else None,
                             layouts)
        return kind(module, devices, placed, outs, committed, self._items, self.spec.name)

    # -- what stages show
    @property
    def in_avals(self) -> list:
        """Types of the flat inputs that the program takes."""
        return self.current.facts.in_avals

    @property
    def _kept_var_idx(self) -> set[int]:
        """Which of the flat inputs those are; libraries ask for it."""
        return set(self.current.facts.kept)

    @property
    def loaded(self) -> Any:
        """jaxlib's executable."""
        return self.current.full()

    @property
    def in_shardings(self) -> list[Sharding | None]:
        """Placements of all flat inputs; None for those that the program does not take."""
        current = self.current
        kept = dict(zip(current.facts.kept, current.in_shardings))
        return [kept.get(i) for i in range(len(current.facts.flat_in_avals))]

    @property
    def out_shardings(self) -> list[Sharding]:
        """Placements of the results."""
        return self.current.out_shardings

    def as_text(self) -> str:
        """The optimised program, as XLA prints it: in kernels, also where a small one runs as one function."""
        from ..planning.one_function import WHOLE  # start-up: loaded by the first program that is lowered

        text = _printed(self.loaded)
        return _printed(self.compile_anew(debug_info=True)) if f"%{WHOLE}" in text else text

    def cost_analysis(self) -> Any:
        """XLA's estimate of operations and bytes for the optimised program, or None where it has none."""
        try:
            return self.loaded.cost_analysis()
        except (RuntimeError, NotImplementedError):
            pass  # this platform's compiler has no estimate of its own
        modules = self.loaded.hlo_modules()
        return _jax.hlo_module_cost_analysis(client.get_client("cpu"), modules[0]) if len(modules) == 1 else None

    def memory_analysis(self) -> Any:
        """XLA's account of memory, or None where it has none."""
        try:
            return self.loaded.get_compiled_memory_stats()
        except (RuntimeError, NotImplementedError):
            return None

    def serialize(self) -> bytes:
        """The machine code, for the same jaxlib on the same kind of machine."""
        return bytes(self.loaded.serialize())

    def compile_anew(self, debug_info: bool = False) -> Any:
        """The same as `loaded`, which may have come out of the disk cache, without it; ``debug_info``: it knows the user's lines."""
        current = self.current
        return compile.compile_text(current.module.text(debug_info), current.devices[0].client, current.devices,
                                    options_for(current.module, current.devices[0].platform, self._items), cached=False)

    @property
    def in_formats(self) -> list[Format]:
        """Layouts and placements of all flat inputs; those that the program does not take have no layout."""
        current = self.current
        layouts = self.loaded.get_parameter_layouts()[-len(current.facts.kept):] if current.facts.kept else []
        kept = dict(zip(current.facts.kept, map(Layout.from_pjrt_layout, layouts)))
        return [Format(kept.get(i), s) for i, s in enumerate(self.in_shardings)]

    @property
    def out_formats(self) -> list[Format]:
        """Layouts and placements of the results."""
        layouts = self.loaded.get_output_layouts()[len(self.facts.ordered_effects):]
        return [Format(Layout.from_pjrt_layout(x), s) for x, s in zip(layouts, self.out_shardings)]


def _printed(loaded: Any) -> str:
    return "\n\n".join(m.to_string() for m in loaded.hlo_modules())


__all__ = ["Executable"]
