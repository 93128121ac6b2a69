"""Types of `jax.experimental.profiler`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any

def get_profiled_instructions_proto(tensorboard_dir: str) -> bytes:
    """Measured costs of instructions, from the profiles below ``tensorboard_dir``, as a serialized protocol buffer."""
