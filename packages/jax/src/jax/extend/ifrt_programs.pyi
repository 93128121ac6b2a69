"""Types of `jax.extend.ifrt_programs`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any

ifrt_programs: Any
