"""`Executable`: a compiled program and how it is called from Python.

A program is compiled for the places its arguments are in. Which places, is known when it is called, so an
`Executable` holds one `LoadedProgram` for each combination of places that it was called with; nearly always there is one.

It reads the text of a lowered module and its `lowering.facts.Facts`.
"""
from __future__ import annotations

import threading
from typing import Any, Callable, Sequence, cast

import numpy as np

from jax_core.interfaces import Run

from ..arrays import own_layouts
from ..arrays.array import ArrayImpl
from ..arrays.put import as_sharding
from ..compiling import compile
from ..compiling.compiler_options import options_for
from ..jaxlib_compat import _jax
from ..placement import mesh
from ..placement.hlo_shardings import hlo_equal
from ..placement.layout import Format, Layout
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, flat_mesh, make_single_device_sharding, on_a_mesh, on_mesh
from ..platforms import client
from .described import DescribedProgram
from .loaded_program import LoadedProgram


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
        self._variants: dict[Any, LoadedProgram] = {}
        self._lock = threading.RLock()
        self._first: LoadedProgram | None = None
        self._ahead = False
        effects = module.facts.ordered_effects or module.facts.unordered_effects
        self._needs_python = bool(effects and module.platform != "cpu" or any(
            not getattr(converter, "is_node", False) for _, converter in (*module.facts.converted_in, *module.facts.converted_out)))

    # -- what jit reads
    @property
    def current(self) -> LoadedProgram:
        """What was compiled first; compiles for the default placement if nothing was."""
        if self._first is None:
            self._variant(*self._place(None), self._layouts)
        return cast(LoadedProgram, self._first)

    def compile(self) -> "Executable":
        """Compile for the placements in the spec, without arguments to look at."""
        self._ahead = True
        self._variant(*self._place(None), self._layouts)
        return self

    def execute(self, args: Sequence[object]) -> Run:
        """Run on flat arguments; the results are ready or on their way.

        Raises:
          ValueError: the arguments are committed to different devices.
          RuntimeError: an argument was deleted or donated.
        """
        converted = self.facts.converted_in
        if converted:
            args = list(args)
            for i, converter in converted:
                args[i] = converter.unwrap(args[i])
        layouts = self._layouts if self._ahead else own_layouts.for_call(self._layouts, self.facts.kept, args, self.module.name)
        loaded = self._variant(*self._place(args), layouts)
        if self._ahead and own_layouts.expected():
            own_layouts.check(args, dict(zip(self.facts.kept, loaded.stored()[len(loaded.consts):])), self.module.name)
        outs, repeatable = loaded.run(args)
        for i, converter in self.facts.converted_out:
            outs[i] = converter.wrap(outs[i])
        return Run(outs, None if self._needs_python or not repeatable else loaded)

    def _place(self, args: Sequence[Any] | None) -> tuple[tuple, list | None, bool]:
        """The devices to run on, the placements of the kept inputs (None: one device, all there), and whether the
        results are committed."""
        spec = self.spec
        if spec.in_shardings is None and spec.out_shardings is None and spec.device is None and spec.platform is None:
            placed = self._place_by_args(args)
        else:
            placed = self._place_as_told(args)
        here = mesh.get_mesh()
        if not here.empty and placed[0] != here._devices_key and (spec.device is None or isinstance(spec.device, Sharding)) and spec.platform is None:
            self._complain(args, NamedSharding(here, PartitionSpec()))
        return placed

    def _place_by_args(self, args: Sequence[Any] | None) -> tuple[tuple, list | None, bool]:
        found: Any = None
        for x in args or ():
            if type(x) is ArrayImpl and x._committed:
                sharding = x._sharding
                if found is None:
                    found = sharding
                elif sharding is not found and sharding != found:
                    if sharding._internal_device_list != found._internal_device_list:
                        self._complain(args)
        asked = self.facts.constraints or (self.facts.typed if found is None else ())
        if asked:  # the program itself asks for several devices
            wanted = asked[0]
            if not wanted._is_concrete:
                wanted = self._on_as_many(args, wanted, found)
            if found is None and wanted.num_devices == 1:
                return wanted._device_assignment, self._on_one(args, wanted), True
            if found is not None and wanted.device_set != found.device_set:  # their order may be that of a mesh of the same axes
                self._complain(args, wanted)
            if found is None or wanted._internal_device_list != found._internal_device_list or not isinstance(found, NamedSharding):
                return wanted._device_assignment, self._from_args(args, wanted), True
        if found is None:
            here = mesh.get_mesh()
            if here.empty:
                return (client.default_device(),), None, False
            found = NamedSharding(here, PartitionSpec())  # a mesh in use: on all of its devices
        if len(found._internal_device_list) == 1:
            return found._device_assignment, self._on_one(args, found), True
        return found._device_assignment, self._from_args(args, found), True

    def _on_as_many(self, args: Sequence[Any] | None, wanted: Sharding, found: Sharding | None) -> Sharding:
        """A placement for a program that asks for as many devices as ``wanted`` has: where the arguments are or the mesh in use is, else on the first ones."""
        here = mesh.get_mesh()
        if found is None and here.size == wanted.num_devices:
            return NamedSharding(here, PartitionSpec())
        if found is not None and len(found._internal_device_list) == wanted.num_devices:
            return found
        devices = client.devices()[:wanted.num_devices]
        if found is not None or len(devices) < wanted.num_devices:
            self._complain(args, wanted)
        return NamedSharding(mesh.Mesh(np.array(devices).reshape(wanted.mesh.axis_sizes), wanted.mesh.axis_names), PartitionSpec())

    def _on_one(self, args: Sequence[Any] | None, example: Sharding) -> list[Sharding] | None:
        """The placements of the kept inputs on one device: on its mesh, if it has one."""
        return self._from_args(args, example) if isinstance(example, NamedSharding) else None

    def _place_as_told(self, args: Sequence[Any] | None) -> tuple[tuple, list | None, bool]:
        spec = self.spec
        wanted = [as_sharding(s) for s in (*(spec.in_shardings or ()), *(spec.out_shardings or ())) if isinstance(s, Sharding)]
        if isinstance(spec.device, Sharding):  # a mesh in use, which jit was told to look at
            wanted = wanted or [spec.device]
        elif spec.device is not None:
            return (spec.device,), None, True
        if not wanted:
            if spec.platform is not None:
                return (client.get_client(spec.platform).local_devices()[0],), None, True
            return self._place_by_args(args)
        devices = wanted[0]._device_assignment
        self._check_told(args, wanted[0])
        for sharding in wanted:
            if sharding._internal_device_list != wanted[0]._internal_device_list:
                raise ValueError(f"Received incompatible devices for jitted computation {self.module.name}: in_shardings and out_shardings "
                                 f"name different devices, {wanted[0]} and {sharding}; give placements on the same devices, in one order.")
        if len(devices) == 1 and not isinstance(wanted[0], NamedSharding):
            return devices, None, True
        ins = self._from_args(args, wanted[0])
        for position, i in enumerate(self.facts.kept):
            told = spec.in_shardings[i] if spec.in_shardings is not None else None
            if told is not None:
                ins[position] = as_sharding(told)
                x = args[i] if args is not None else None
                if isinstance(x, np.ndarray) and not ins[position].is_fully_addressable and not ins[position].is_fully_replicated:
                    raise ValueError(f"call of {self.module.name}: in_shardings split argument {i}, a NumPy array of shape {x.shape}, over devices of several "
                                     "processes, which may each have another one; make an array of it first, by "
                                     "jax.make_array_from_process_local_data, or by jax.device_put where all have the same")
                if type(x) is ArrayImpl and x._committed and not x._sharding.is_equivalent_to(ins[position], x.ndim) and (
                        x._sharding._internal_device_list == ins[position]._internal_device_list):
                    raise ValueError(
                        f"call of {self.module.name}: in_shardings place argument {i}, {x.aval.str_short()}, as {ins[position]},\n"
                        f"but it lies as {x.sharding}; move it by jax.device_put, or leave in_shardings out")
        return devices, ins, True

    def _check_told(self, args: Sequence[Any] | None, wanted: Sharding) -> None:
        """Committed arguments lie on the devices that jit was told to run on; those that it was told of, in parts of this kind, it moves there."""
        told = self.spec.in_shardings
        for i, x in [(i, args[i]) for i in self.facts.kept] if args is not None else ():
            if type(x) is ArrayImpl and told is not None and told[i] is not None and (
                    as_sharding(told[i]).memory_kind not in (None, x._sharding.memory_kind)):  # None: devices that are only described
                raise ValueError(f"call of {self.module.name}: in_shardings place argument {i}, {x.aval.str_short()}, as {told[i]}, in another kind of "
                                 f"memory than where it lies, {x._sharding}; move it by jax.device_put")
            if type(x) is ArrayImpl and x._committed and x._sharding._internal_device_list != wanted._internal_device_list:
                there = None if told is None or told[i] is None else as_sharding(told[i])
                if there is None or not hlo_equal(there._to_xla_hlo_sharding(x.ndim), x._sharding._to_xla_hlo_sharding(x.ndim)):
                    self._complain(args, wanted)

    def _from_args(self, args: Sequence[Any] | None, example: Sharding) -> list[Sharding]:
        """The placements of the kept inputs on the devices of ``example``; what is not placed yet goes to all."""
        values: list[Any] = [args[i] if args is not None else None for i in self.facts.kept]
        given = [x._sharding if type(x) is ArrayImpl and x._committed else None for x in values]
        named = next((s for s in (example, *given) if isinstance(s, NamedSharding)), None)
        grid = flat_mesh(example._device_assignment) if named is None else named.mesh
        everywhere, placed = NamedSharding(grid, PartitionSpec()), []
        for x, sharding in zip(values, given):
            if sharding is None or sharding._internal_device_list != everywhere._internal_device_list:
                sharding = everywhere
            elif not isinstance(sharding, NamedSharding):  # XLA reads one way of saying it in a program
                sharding = on_mesh(sharding, grid, x.ndim) or on_a_mesh(sharding, x.ndim) or everywhere
            placed.append(sharding)
        return placed

    def _complain(self, args: Sequence[Any] | None, wanted: Sharding | None = None) -> None:
        seen: list[str] = []
        if wanted is not None:
            on = f"devices {[d.id for d in wanted._device_assignment]}" if wanted._is_concrete else f"{wanted.num_devices} devices, as it was exported"
            seen.append(f"the program itself (a mesh in use, shard_map or a sharding constraint) on {on}")
        for i, x in enumerate(args or ()):
            if type(x) is ArrayImpl and x._committed:
                ids = [d.id for d in x._sharding._device_assignment]
                name = self.facts.arg_names[i] if i < len(self.facts.arg_names) else i
                seen.append(f"argument {name} with shape {x.aval.str_short()} on {x._sharding._device_assignment[0].platform} "
                            f"devices {ids}")
        raise ValueError(f"Received incompatible devices for jitted computation {self.module.name}: {'; '.join(seen)}. Move "
                         "them to the same devices with jax.device_put.")

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
        outs = None if self.spec.out_shardings is None else [
            None if s is None else as_sharding(s) for s in self.spec.out_shardings]
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
            return kind(module, devices, ins, self._as_typed(outs, ins), committed, self._items, self.spec.name)
        placed = cast(list, ins)  # one for each input, as there are several devices
        full: list[Any] = [None] * (max(self.facts.kept, default=-1) + 1)
        for i, sharding in zip(self.facts.kept, placed):
            full[i] = sharding
        count = len(self.facts.flat_in_avals)
        full += [None] * (count - len(full))
        outs = self._as_typed(outs, placed)
        nowhere = all([s is None for s in (*placed, *(outs or ()))])  # no argument and no result says how many devices there are
        module = self._lower(tuple(full), None if outs is None else tuple(outs), platform, self._everywhere(devices) if nowhere else None,
                             layouts)
        return kind(module, devices, placed, outs, committed, self._items, self.spec.name)

    def _everywhere(self, devices: tuple) -> NamedSharding:
        """The placement of whole arrays on each of ``devices``, on the mesh that the program or its context names."""
        known = [*[s.mesh for s in (*self.facts.constraints, *self.facts.typed) if isinstance(s, NamedSharding) and s._is_concrete], mesh.get_mesh()]
        grid = next((m for m in known if m.size == len(devices) and tuple(m.devices.flat) == devices), None)
        return NamedSharding(flat_mesh(devices) if grid is None else grid, PartitionSpec())

    def _as_typed(self, outs: list | None, ins: list) -> list | None:
        """The placements of the results, where nothing is asked for those that their types say."""
        avals = self.facts.out_avals
        if all([a.placement is None for a in avals]):
            return outs
        grids = {s.mesh.abstract_mesh: s.mesh for s in (*(outs or ()), *ins) if isinstance(s, NamedSharding)}
        return [w if w is not None or a.placement is None or a.placement.mesh.auto_axes else  # those are the compiler's
                as_sharding(a.placement.update(mesh=grids.get(a.placement.mesh, a.placement.mesh)))
                for w, a in zip(outs or [None] * len(avals), avals)]

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
    def in_shardings(self) -> list[Sharding]:
        """Placements of all flat inputs; those that the program does not take go to all devices."""
        current = self.current
        kept = dict(zip(current.facts.kept, current.in_shardings))
        return [kept.get(i, current.token_sharding) for i in range(len(current.facts.flat_in_avals))]

    @property
    def out_shardings(self) -> list[Sharding]:
        """Placements of the results."""
        return self.current.out_shardings

    def as_text(self) -> str:
        """The optimised program, as XLA prints it."""
        return "\n\n".join(m.to_string() for m in self.loaded.hlo_modules())

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


__all__ = ["Executable"]
