"""Which of the functions given to `platform_dependent` is for the platform that a program is compiled for."""
from __future__ import annotations

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, none

_INT32 = np.dtype("int32")


def platform_branch(platform: str, platforms: tuple[tuple[str, ...] | None, ...]) -> int:
    """Position of the first of ``platforms`` that names ``platform``, or that is None, the default."""
    aliases = {"cuda": ("cuda", "gpu"), "rocm": ("rocm", "gpu"), "gpu": ("gpu", "cuda")}.get(platform, (platform,))
    for i, names in enumerate(platforms):
        if names is None or any(n in aliases for n in names):
            return i
    raise NotImplementedError(f"lax.platform_dependent: no function for platform {platform!r} and no default; "
                              f"given: {[n for names in platforms for n in names or ()]}.")


platform_index_p = Primitive(
    "platform_index", out_type=lambda *, platforms: ShapedArray((), _INT32), jvp=ZERO,
    batch=none("it has no operands"),
    lower=lambda b, *, platforms: b.scalar(platform_branch(b.platform, platforms), _INT32),
)
"""The chosen position, a constant of the compiled program."""
