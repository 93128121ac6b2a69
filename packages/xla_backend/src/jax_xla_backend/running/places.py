"""`Places`: where a program runs, said by its arguments, by what jit was told, or by the program itself."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..arrays.array import ArrayImpl
from ..arrays.put import as_sharding
from ..placement import mesh
from ..placement.hlo_shardings import hlo_equal
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, flat_mesh, in_memory, on_a_mesh, on_mesh
from ..platforms import client

# The devices to run on, the placements of the kept inputs (None: one device, all there), and whether the results are committed.
Placed = tuple[tuple, "list[Sharding] | None", bool]


class Places:
    """Finds the devices for a call, and the placements of inputs and results on them.

    Args:
      name: the program's, for errors.
      spec: how it was asked for (`jax_core.interfaces.LowerSpec`).
      facts: what the lowering learnt about it (`lowering.facts.Facts`).
    """

    def __init__(self, name: str, spec: Any, facts: Any):
        self._name, self._spec, self._facts = name, spec, facts

    def of(self, args: Sequence[Any] | None) -> Placed:
        """Where to run on ``args`` (None: before there are any).

        Raises:
          ValueError: the arguments are committed to different devices, or elsewhere than the program was told to run.
        """
        spec = self._spec
        if spec.in_shardings is None and spec.out_shardings is None and spec.device is None and spec.platform is None:
            placed = self._by_args(args)
        else:
            placed = self._as_told(args)
        here = mesh.get_mesh()
        if not here.empty and placed[0] != here._devices_key and (spec.device is None or isinstance(spec.device, Sharding)) and spec.platform is None:
            self._complain(args, NamedSharding(here, PartitionSpec()))
        return placed

    def _by_args(self, args: Sequence[Any] | None) -> Placed:
        found: Any = None
        for x in args or ():
            if type(x) is ArrayImpl and x._committed:
                sharding = x._sharding
                if found is None:
                    found = sharding
                elif sharding is not found and sharding != found:
                    if sharding._internal_device_list != found._internal_device_list:
                        self._complain(args)
        asked = self._facts.constraints or (self._facts.typed if found is None else ())
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

    def _as_told(self, args: Sequence[Any] | None) -> Placed:
        spec = self._spec
        wanted = [as_sharding(s) for s in (*(spec.in_shardings or ()), *(spec.out_shardings or ())) if isinstance(s, Sharding)]
        if isinstance(spec.device, Sharding):  # a mesh in use, which jit was told to look at
            wanted = wanted or [spec.device]
        elif spec.device is not None:
            return (spec.device,), None, True
        if not wanted:
            if spec.platform is not None:
                return (client.get_client(spec.platform).local_devices()[0],), None, True
            return self._by_args(args)
        devices = wanted[0]._device_assignment
        self._check_told(args, wanted[0])
        self._check_constraints(args, wanted[0])
        for sharding in wanted:
            if sharding._internal_device_list != wanted[0]._internal_device_list:
                raise ValueError(f"Received incompatible devices for jitted computation {self._name}: in_shardings and out_shardings "
                                 f"name different devices, {wanted[0]} and {sharding}; give placements on the same devices, in one order.")
        if len(devices) == 1 and not isinstance(wanted[0], NamedSharding):
            return devices, None, True
        ins = self._from_args(args, wanted[0])
        for position, i in enumerate(self._facts.kept):
            told = spec.in_shardings[i] if spec.in_shardings is not None else None
            if told is not None:
                ins[position] = as_sharding(told)
                x = args[i] if args is not None else None
                if isinstance(x, np.ndarray) and not ins[position].is_fully_addressable and not ins[position].is_fully_replicated:
                    raise ValueError(f"call of {self._name}: in_shardings split argument {i}, a NumPy array of shape {x.shape}, over devices of several "
                                     "processes, which may each have another one; make an array of it first, by "
                                     "jax.make_array_from_process_local_data, or by jax.device_put where all have the same")
                if type(x) is ArrayImpl and x._committed and not x._sharding.is_equivalent_to(ins[position], x.ndim) and (
                        x._sharding._internal_device_list == ins[position]._internal_device_list):
                    raise ValueError(
                        f"call of {self._name}: in_shardings place argument {i}, {x.aval.str_short()}, as {ins[position]},\n"
                        f"but it lies as {x.sharding}; move it by jax.device_put, or leave in_shardings out")
        return devices, ins, True

    def _check_constraints(self, args: Sequence[Any] | None, wanted: Sharding) -> None:
        """The program asks for the devices that it runs on, no others."""
        for asked in self._facts.constraints:
            if asked._is_concrete and asked.device_set != wanted.device_set:
                self._complain(args, asked)

    def _check_told(self, args: Sequence[Any] | None, wanted: Sharding) -> None:
        """Committed arguments lie on the devices that jit was told to run on; those that it was told of, in parts of this kind, it moves there."""
        told = self._spec.in_shardings
        for i, x in [(i, args[i]) for i in self._facts.kept] if args is not None else ():
            if type(x) is ArrayImpl and told is not None and told[i] is not None and (
                    as_sharding(told[i]).memory_kind not in (None, x._sharding.memory_kind)):  # None: devices that are only described
                raise ValueError(f"call of {self._name}: in_shardings place argument {i}, {x.aval.str_short()}, as {told[i]}, in another kind of "
                                 f"memory than where it lies, {x._sharding}; move it by jax.device_put")
            if type(x) is ArrayImpl and x._committed and x._sharding._internal_device_list != wanted._internal_device_list:
                there = None if told is None or told[i] is None else as_sharding(told[i])
                if there is None or not hlo_equal(there._to_xla_hlo_sharding(x.ndim), x._sharding._to_xla_hlo_sharding(x.ndim)):
                    self._complain(args, wanted)

    def _from_args(self, args: Sequence[Any] | None, example: Sharding) -> list[Sharding]:
        """The placements of the kept inputs on the devices of ``example``; what is not placed yet goes to all."""
        values: list[Any] = [args[i] if args is not None else None for i in self._facts.kept]
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

    def everywhere(self, devices: tuple) -> NamedSharding:
        """The placement of whole arrays on each of ``devices``, on the mesh that the program or its context names."""
        known = [*[s.mesh for s in (*self._facts.constraints, *self._facts.typed) if isinstance(s, NamedSharding) and s._is_concrete], mesh.get_mesh()]
        grid = next((m for m in known if m.size == len(devices) and tuple(m.devices.flat) == devices), None)
        return NamedSharding(flat_mesh(devices) if grid is None else grid, PartitionSpec())

    def of_results(self, ins: list) -> list | None:
        """The placements of the results: those that were asked for, else those that their types say; ``ins``: those of the inputs."""
        asked, avals = self._spec.out_shardings, self._facts.out_avals
        outs = None if asked is None else [None if s is None else as_sharding(s) for s in asked]
        if all([a.placement is None for a in avals]):
            return outs
        grids = {s.mesh.abstract_mesh: s.mesh for s in (*(outs or ()), *ins) if isinstance(s, NamedSharding)}
        return [w if w is not None or a.placement is None or a.placement.mesh.auto_axes else  # those are the compiler's
                in_memory(as_sharding(a.placement.update(mesh=grids.get(a.placement.mesh, a.placement.mesh))), a)
                for w, a in zip(outs or [None] * len(avals), avals)]

    def _complain(self, args: Sequence[Any] | None, wanted: Sharding | None = None) -> None:
        seen: list[str] = []
        if wanted is not None:
            on = f"devices {[d.id for d in wanted._device_assignment]}" if wanted._is_concrete else f"{wanted.num_devices} devices, as it was exported"
            seen.append(f"the program itself (a mesh in use, shard_map or a sharding constraint) on {on}")
        for i, x in enumerate(args or ()):
            if type(x) is ArrayImpl and x._committed:
                ids = [d.id for d in x._sharding._device_assignment]
                name = self._facts.arg_names[i] if i < len(self._facts.arg_names) else i
                seen.append(f"argument {name} with shape {x.aval.str_short()} on {x._sharding._device_assignment[0].platform} "
                            f"devices {ids}")
        raise ValueError(f"Received incompatible devices for jitted computation {self._name}: {'; '.join(seen)}. Move "
                         "them to the same devices with jax.device_put.")


__all__ = ["Placed", "Places"]
