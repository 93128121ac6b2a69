"""jax.typing: what may be passed where an array or a dtype is wanted."""
from __future__ import annotations

from jax_core.representation.typing import ArrayLike as ArrayLike, DTypeLike as DTypeLike, SupportsDType as SupportsDType
