"""Types of `jax.experimental.shard_map`. Written by packages/jax/tools/make_stubs.py."""
from jax.sharding import AbstractMesh, Mesh
from typing import Any, Callable

def shard_map(f: Callable[..., Any], mesh: Mesh | AbstractMesh, in_specs: Any, out_specs: Any, check_rep: bool = True, auto: frozenset = ...) -> Callable[..., Any]:
    """`shard_map` with the signature of ``jax.experimental.shard_map``."""
