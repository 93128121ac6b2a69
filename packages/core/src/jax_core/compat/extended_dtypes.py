"""Dtypes that libraries define by a class of rules, as flax does for the statistics of its 8-bit floats.

Such a dtype has an attribute ``_rules`` with functions ``physical_element_aval(dtype)``, ``tangent_dtype(dtype)``, ``zero(dtype)``,
``full(shape, value, dtype)``, ``add(dtype, x, y)`` (how cotangents are accumulated; for flax a maximum), ``convert_from(dtype, other)`` and
``convert_to(other, dtype)`` (whether the conversion is allowed; it changes no bits).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..representation.typing import ArrayLike

ruled: list[type] = []
"""The classes of such dtypes: sums of cotangents ask for them only where there are any."""


class DtypeByRules:
    """What extended dtypes are asked for, by their ``_rules``. Dtypes of this system override all of it."""

    __slots__ = ()
    kind = "V"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_rules" in vars(cls):
            ruled.append(cls)

    @property
    def physical_element_aval(self) -> Any:
        return self._rules.physical_element_aval(self)  # type: ignore[attr-defined]  # of the subclass, here and below

    @property
    def itemsize(self) -> int:
        element = self.physical_element_aval
        return element.size * element.dtype.itemsize

    @property
    def tangent_dtype(self) -> Any:
        return self._rules.tangent_dtype(self)  # type: ignore[attr-defined]

    def full(self, shape: tuple[int, ...], value: ArrayLike) -> Any:
        return self._rules.full(shape, value, self)  # type: ignore[attr-defined]

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return self.full(shape, self._rules.zero(self))  # type: ignore[attr-defined]

    def add(self, x: ArrayLike, y: ArrayLike) -> Any:
        return self._rules.add(self, x, y)  # type: ignore[attr-defined]

    def converts_to(self, other: object) -> bool:
        """Whether arrays of this dtype become ones of ``other``."""
        return bool(self._rules.convert_from(self, other))  # type: ignore[attr-defined]

    def converts_from(self, other: object) -> bool:
        """Whether arrays of ``other`` become ones of this dtype."""
        return bool(self._rules.convert_to(other, self))  # type: ignore[attr-defined]
