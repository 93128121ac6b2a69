"""How accurate an elementary function must be: the argument ``accuracy`` of `exp`, `log`, `sin` and others.

Source: StableHLO specification, `result_accuracy`.
"""
from __future__ import annotations

import enum


class AccuracyMode(enum.Enum):
    """The compiler's most accurate implementation, or its default one."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """Bounds on the error, of which one must hold; 0 asks for nothing.

    Args:
      atol: absolute error.
      rtol: relative error.
      ulps: error in units in the last place.

    Raises:
      ValueError: a bound is negative.
    """

    __slots__ = ("atol", "rtol", "ulps", "__weakref__")

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0):
        if atol < 0 or rtol < 0 or ulps < 0:
            raise ValueError(f"lax.Tolerance: bounds must not be negative, got atol={atol}, rtol={rtol}, ulps={ulps}")
        self.atol, self.rtol, self.ulps = atol, rtol, ulps

    def _key(self):
        return self.atol, self.rtol, self.ulps

    def __eq__(self, other):
        return type(other) is Tolerance and self._key() == other._key()

    def __hash__(self):
        return hash((Tolerance, self._key()))

    def __repr__(self):
        return f"Tolerance(atol={self.atol}, rtol={self.rtol}, ulps={self.ulps})"


Accuracy = AccuracyMode | Tolerance


def accuracy_text(accuracy: AccuracyMode | Tolerance | None) -> str:
    """The attribute of a StableHLO op; empty for None.

    Raises:
      NotImplementedError: ``accuracy`` is something else.
    """
    if accuracy is None:
        return ""
    if isinstance(accuracy, Tolerance):
        fields = f"atol = {float(accuracy.atol):e}, rtol = {float(accuracy.rtol):e}, ulps = {int(accuracy.ulps)}, "
        mode = "TOLERANCE"
    elif isinstance(accuracy, AccuracyMode):
        fields, mode = "", accuracy.name
    else:
        raise NotImplementedError(f"accuracy={accuracy!r} must be None, a lax.AccuracyMode or a lax.Tolerance")
    return (f"{{result_accuracy = #stablehlo.result_accuracy<{fields}mode = "
            f"#stablehlo.result_accuracy_mode<{mode}>>}}")
