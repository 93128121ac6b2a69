"""shard_map on values of high-level types: the arrays that represent them are split, as `HiPspec.to_lo` says."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from jax_core.representation.high import HiPspec
from jax_core.representation.typing import PyTree
from jax_core.transformations.high_primitives import Represented

Types = Callable[[Any, HiPspec], Any]


class OnArrays:
    """The function ``f`` of parts as one of arrays, for arguments of which some are of high-level types.

    Args:
      name: of the function, for messages.
      specs: a spec for each leaf of ``args``.
      out_specs: gives a spec for each leaf of the result of ``f``.
      part_type, whole_type: the type of a part of a value of some type that is split as a spec says, and the inverse.
    """

    def __init__(self, f: Callable[..., PyTree], name: str, args: tuple, specs: Sequence[Any], out_specs: Callable[[PyTree], Sequence[Any]],
                 part_type: Types, whole_type: Types):
        self.f, self.name, self.find_out_specs, self.whole_type = f, name, out_specs, whole_type
        self.given = Represented(args)
        self.args, self.in_specs = tuple(self.given.arrays), tuple(self._on_arrays("in_specs", self.given.avals, specs))
        self.parts = [part_type(a, s) if a.is_high else a for a, s in zip(self.given.avals, specs)]

    def __call__(self, *arrays: Any) -> list:
        out = self.f(*self.given.value(arrays, self.parts))
        self.result, self.specs = Represented(out), self.find_out_specs(out)
        self.out_specs = self._on_arrays("out_specs", self.result.avals, self.specs)
        return self.result.arrays

    def value(self, arrays: Sequence[object]) -> PyTree:
        """The whole result."""
        types = [self.whole_type(a, s) if a.is_high else a for a, s in zip(self.result.avals, self.specs)]
        return self.result.value(arrays, types)

    def _on_arrays(self, argument, avals, specs):
        for aval, spec in zip(avals, specs):
            if aval.is_high != isinstance(spec, HiPspec):
                raise TypeError(f"shard_map of {self.name}: {argument} has {spec!r} for a value of type {aval}; values of high-level types, and "
                                "they alone, need a hijax.HiPspec.")
        return [tuple(spec.to_lo()) if aval.is_high else spec for aval, spec in zip(avals, specs)]
