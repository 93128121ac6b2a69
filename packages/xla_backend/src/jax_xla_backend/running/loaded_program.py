"""`LoadedProgram`: a program that jaxlib has compiled for certain devices, ready to run on them."""
from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.configuration import flags
from jax_core.programs.monitoring import log_level, timed
from jax_core.representation.aval import ShapedArray

from ..arrays import array, callback_buffers, interruptible, own_layouts
from ..arrays.array import ArrayImpl
from ..arrays.put import put, typed
from ..compiling import tiered_compilation
from ..jaxlib_compat import HloSharding, _jax, result_handler
from ..placement import mesh
from ..placement.hlo_shardings import hlo_equal
from ..placement.layout import Format, Layout
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, flat_mesh, from_hlo, in_memory, make_single_device_sharding
from ..platforms import client, liveness
from . import host_calls, tokens

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

    from ..lowering.module import Module


MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 62
"""Of the host, in bytes. Larger results cannot be had, and are waited for, so that the call raises: NumPy, given an array whose memory could not be had,
ends the process."""


class LoadedProgram:
    """A program compiled for certain devices, with the placements of its inputs and results."""

    __slots__ = ("loaded", "module", "devices", "in_shardings", "out_shardings", "handlers", "committed", "consts",
                 "single", "facts", "out_avals", "token_sharding", "simple", "calls_host", "with_others", "on_buffers", "name", "upgrade", "too_large",
                 "_stored")

    def __init__(self, module: Any, devices: Sequence[Any], in_shardings: Sequence[Sharding], out_shardings: Any,
                 committed: bool, items: tuple, name: str):
        self.module, self.devices, self.committed = module, tuple(devices), committed
        on = self.devices[0].client
        if module.facts.misfit is not None:
            raise ValueError(module.facts.misfit)
        if (level := log_level()) is not None:
            from jax_core.programs import explain  # start-up: loaded only when asked for
            explain.compiling(level, f"jit({name})", module.facts.in_avals)
        with timed("/jax/core/compile/backend_compile_duration", "XLA compilation of", f"jit({name})"):
            self.loaded, self.upgrade = tiered_compilation.compile_first(module, on, self.devices, items, name)
        self._prepare(in_shardings, out_shardings, name)

    @classmethod
    def of(cls, loaded: object, module: Module, devices: Sequence[object], in_shardings: Sequence[Sharding], committed: bool,
           out_shardings: object = None) -> "LoadedProgram":
        """What jaxlib has compiled or loaded already."""
        self = object.__new__(cls)
        self.loaded, self.module, self.devices, self.committed = loaded, module, tuple(devices), committed
        self.upgrade = None
        self._prepare(in_shardings, out_shardings, module.name)
        return self

    def _prepare(self, in_shardings: Sequence[Sharding], out_shardings: Any, name: str) -> None:
        module = self.module
        self.facts = module.facts
        self._stored: list[Any] | None = None
        if self.facts.layouts is not None:
            own_layouts.expect()
        self.in_shardings = list(map(in_memory, in_shardings, module.facts.in_avals))
        self.single = len(self.devices) == 1
        self.out_shardings = self._results(out_shardings)
        self.out_avals = list(map(typed, module.facts.out_avals, self.out_shardings))
        self.handlers = [result_handler(aval, s, self.committed) for aval, s in zip(self.out_avals, self.out_shardings)]
        self.token_sharding = (make_single_device_sharding(self.devices[0]) if self.single else
                               NamedSharding(flat_mesh(self.devices), PartitionSpec()))
        with flags.enable_x64(True) if module.facts.consts else contextlib.nullcontext():  # they are as the program has them, whatever the flag is now
            self.consts = [put(c, None, self.token_sharding) for c in module.facts.consts]
        self.name = name
        for seen in module.facts.inspections:
            seen(self.token_sharding)
        self.simple = not (module.facts.ordered_effects or module.facts.unordered_effects)
        processes = tuple(sorted({d.process_index for d in self.devices})) if self.devices[0].platform == "cpu" else ()
        self.with_others = processes if any([p != client.process_index() for p in processes]) else ()
        self.calls_host = host_calls.calls_host(module, self.devices)
        self.too_large = self.devices[0].platform == "cpu" and any(
            [isinstance(a, ShapedArray) and a.size * getattr(a.dtype, "itemsize", 1) > MEMORY for a in self.out_avals])
        self.on_buffers = self.calls_host and callback_buffers.TARGET in module.text()
        if self.calls_host:
            host_calls.wait_for(self.consts)

    def _results(self, wanted: Any) -> list[Sharding]:
        """The placements of the results: those asked for, else those that the compiler chose."""
        avals, grid = self.facts.out_avals, self._grid(wanted)
        if self.single and grid is None:
            here = make_single_device_sharding(self.devices[0])
            return [in_memory(here, aval) if w is None else w if isinstance(w, NamedSharding) else here.with_memory_kind(w.memory_kind)
                    for w, aval in zip(wanted or [None] * len(avals), avals)]
        chosen = [] if self.single else self.loaded.get_output_shardings() or []
        chosen = [_as_hlo(s) for s in chosen][len(self.facts.ordered_effects):]
        device_list, in_context = _jax.DeviceList(self.devices), not mesh.get_mesh().empty
        results = []
        for w, s, aval in zip(wanted or [None] * len(avals), chosen or [HloSharding.replicate()] * len(avals), avals):
            if w is None:
                named = _named_by(aval, grid)
                w = in_memory(self._as_an_input(s, aval.ndim, named, named is grid) or from_hlo(
                    s, device_list, named, aval.ndim, typed=in_context or aval.placement is not None), aval)
            results.append(w)
        return results

    def _as_an_input(self, hlo: HloSharding, ndim: int, grid: mesh.Mesh | None, of_inputs: bool) -> NamedSharding | None:
        """A placement that an input with as many axes has, if it is the one that the compiler chose: there are many specs for it. None if the
        mesh that is set, or that of a constraint (not ``of_inputs``), is another one, which gives results its names."""
        for sharding, aval in zip(self.in_shardings, self.facts.in_avals):
            if isinstance(sharding, NamedSharding) and not sharding.mesh.explicit_axes and aval.ndim == ndim and (
                    sharding.mesh is grid or of_inputs and not self._is_set(grid)) and (
                    hlo_equal(sharding._to_xla_hlo_sharding(ndim), hlo)):
                return sharding
        return None

    def _grid(self, wanted: Any) -> mesh.Mesh | None:
        """The mesh that is set, if the program places values on it; else that of the inputs, the results that are asked for or the values
        inside; else the one that is set, if it is of these devices."""
        if self._is_set(in_use := mesh.get_mesh()) and any(
                [isinstance(s, NamedSharding) and s.mesh == in_use for s in (*self.facts.constraints, *self.facts.typed)]):
            return in_use
        for group in (self.in_shardings, wanted or (), self.facts.constraints):
            for sharding in group:
                if isinstance(sharding, NamedSharding) and sharding._is_concrete:
                    return sharding.mesh
        for sharding in self.facts.typed:
            if sharding.mesh._devices_key == self.devices:
                return sharding.mesh
        here = mesh.current_mesh()
        return here if here is not None and here._devices_key == self.devices else None

    def _is_set(self, grid: mesh.Mesh | None) -> bool:
        """Whether it is the mesh in use, and of the program's devices."""
        return grid is not None and not grid.empty and grid is mesh.get_mesh() and grid._devices_key == self.devices

    def run(self, args: Sequence[object]) -> tuple[list[ArrayImpl], bool]:
        """Execute on flat inputs (all of them, kept or not): the results, and whether a dispatcher may repeat this call (`_repeatable`)."""
        copied = False
        if (upgrade := self.upgrade) is not None and upgrade.called():
            self._take_over(upgrade)
        inputs = list(self.consts)
        for i, aval, sharding in zip(self.facts.kept, self.facts.in_avals, self.in_shardings):
            x = args[i]
            if type(x) is not ArrayImpl:
                x = put(x, aval, sharding)
            elif x._sharding is not sharding:
                if x.is_deleted():
                    raise RuntimeError(array.deleted_message(x))
                if x._sharding != sharding:
                    x = put(x, None, sharding)
            elif x.is_deleted():
                raise RuntimeError(array.deleted_message(x))
            inputs.append(x)
        if own_layouts.expected():
            inputs = [x if own_layouts.alike(x._pjrt_layout, stored) else put(x, None, Format(Layout.from_pjrt_layout(stored), x._sharding))
                      for x, stored in zip(inputs, self.stored())]
        if self.calls_host:
            host_calls.wait_for(inputs)
            with callback_buffers.lending(inputs if self.on_buffers and not self.facts.donated else ()):
                outs = self._execute(inputs).consume_with_handlers(self.handlers)
        elif self.simple:
            outs = self._execute(inputs).consume_with_handlers(self.handlers)
        else:
            outs = self._run_with_effects(inputs)
        if self.too_large:
            for x in outs:
                array.block(x)
        if self.facts.donated:
            copied = self._delete_copied(args, inputs)
            array.mark_donated([args[i] for i in self.facts.donated], array.donation_message(self.name))
        return outs, self._repeatable and not copied

    def _delete_copied(self, args: Sequence[Any], inputs: Sequence[Any]) -> bool:
        """Delete the donated arguments of which copies for all devices were consumed, and say whether there were any; where each
        device has a part, the argument stays."""
        copied = False
        for i, x in zip(self.facts.kept, inputs[len(self.consts):]):
            given = args[i]
            if (i in self.facts.donated and x is not given and type(given) is ArrayImpl and x.is_fully_replicated and x.is_deleted()
                    and not given.is_deleted()):
                given.delete()
                copied = True
        return copied

    def _execute(self, inputs: Sequence[Any], **options: Any) -> Any:
        """Start the program. Small ones for CPUs are done in the calling thread, collectives included."""
        if self.with_others:
            liveness.launching(self.with_others)
            return interruptible.with_others(lambda: self.loaded.execute_sharded(inputs, **options))
        return self.loaded.execute_sharded(inputs, **options)

    def stored(self) -> list[Any]:
        """jaxlib's layouts of the constants and the kept inputs; asked for once, as each call compares them."""
        if self._stored is None:
            self._stored = self.loaded.get_parameter_layouts()[len(self.facts.ordered_effects):]
        return self._stored

    @property
    def _repeatable(self) -> bool:
        """Whether a dispatcher may repeat a call, unless that consumed copies in place of what was donated: the program has no tokens,
        runs the code that it will go on with, its inputs are stored as usual, and it waits for no other process.

        Where inputs are not, the dispatcher would place new ones without the layout.
        """
        if self.with_others or self.upgrade is not None:
            return False
        return (self.simple or self.calls_host) and (self.facts.layouts is None or not any(self.facts.layouts.ins))

    def full(self) -> Any:
        """jaxlib's executable with the full code."""
        if (upgrade := self.upgrade) is not None:
            upgrade.finish()
            self._take_over(upgrade)
        return self.loaded

    def _take_over(self, upgrade: tiered_compilation.Upgrade) -> None:
        """Run the full code from now on, or the quick code for good if there is no other."""
        if upgrade.full is not None:
            self.loaded, self._stored = upgrade.full, None
        self.upgrade = None

    def _run_with_effects(self, inputs: list) -> list[ArrayImpl]:
        ordered = self.facts.ordered_effects
        where = self.token_sharding
        inputs = [tokens.take(effect, where) for effect in ordered] + inputs
        results = self._execute(inputs, with_tokens=bool(self.facts.unordered_effects))
        if self.facts.unordered_effects:
            tokens.keep_unordered(self.devices, results.consume_token())
        handlers = [self._token_handler() for _ in ordered] + self.handlers
        outs = results.consume_with_handlers(handlers)
        for effect, token in zip(ordered, outs):
            tokens.keep(effect, where, token)
        return outs[len(ordered):]

    def _token_handler(self) -> Any:
        return result_handler(tokens.TOKEN_TYPE, self.token_sharding, True)


def _named_by(aval: AbstractValue, grid: mesh.Mesh | None) -> mesh.Mesh | None:
    """The mesh that gives a result its axes' names: ``grid``, or its devices as the axes of the constraint that made the result."""
    where = getattr(getattr(aval, "_where", None), "mesh", None)
    if grid is None or where is None or where.size != grid.size or where.shape_tuple == grid.shape_tuple and where.axis_types == grid.axis_types:
        return grid
    return where if where is not where.abstract_mesh else mesh.renamed(grid, where)


def _as_hlo(sharding: Any) -> Any:
    return sharding if isinstance(sharding, HloSharding) else HloSharding.from_proto(sharding)
