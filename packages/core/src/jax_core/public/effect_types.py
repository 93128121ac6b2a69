"""`jax._src.effects`: sets of kinds of effects, to which libraries add their own.

An effect's class says itself where it is allowed (`representation.effects`); a set is a view on one of these attributes.
"""
from __future__ import annotations

from ..representation.effects import Effect


class EffectTypes:
    """Kinds of effects whose classes have the attribute ``allowed``."""

    def __init__(self, allowed: str):
        self._allowed = allowed

    def add_type(self, effect_type: type) -> None:
        """Allow effects of class ``effect_type``.

        Raises:
          TypeError: it is no subclass of `Effect`.

        >>> from jax._src import effects
        >>> class Logged(effects.Effect):
        ...     pass
        >>> effects.control_flow_allowed_effects.contains(Logged())
        False
        >>> effects.control_flow_allowed_effects.add_type(Logged)
        >>> effects.control_flow_allowed_effects.contains(Logged())
        True
        """
        if not (isinstance(effect_type, type) and issubclass(effect_type, Effect)):
            raise TypeError(f"add_type: effect_type={effect_type!r} must be a subclass of Effect")
        setattr(effect_type, self._allowed, True)

    def contains(self, effect: object) -> bool:
        """Whether the effect is of such a kind."""
        return isinstance(effect, Effect) and getattr(effect, self._allowed, True)


control_flow_allowed_effects = EffectTypes("in_control_flow")
custom_derivatives_allowed_effects = EffectTypes("in_custom_derivatives")
remat_allowed_effects = EffectTypes("repeatable")
lowerable_effects = EffectTypes("lowerable")  # every subclass of Effect is

__all__ = ["Effect", "EffectTypes", "control_flow_allowed_effects", "custom_derivatives_allowed_effects", "lowerable_effects",
           "remat_allowed_effects"]
