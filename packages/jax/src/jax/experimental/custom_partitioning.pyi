"""Types of `jax.experimental.custom_partitioning`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Mapping, Sequence

class ArrayMapping(tuple):
    """The factors of the dimensions of one array: names and `CompoundFactor`\\ s, the first one possibly `BATCHING`."""
BATCHING: str
class CompoundFactor(tuple):
    """A dimension that is several factors, the major one first."""
class SdyShardingRule:
    """A rule for an operation."""
    operand_mappings: tuple[ArrayMapping, ...]
    result_mappings: tuple[ArrayMapping, ...]
    reduction_factors: tuple[str, ...]
    need_replication_factors: tuple[str, ...]
    permutation_factors: tuple[str, ...]
    factor_sizes: Mapping[str, int]
    def __init__(self, operand_mappings: Sequence[ArrayMapping], result_mappings: Sequence[ArrayMapping], *, reduction_factors: Sequence[str] = ..., need_replication_factors: Sequence[str] = ..., permutation_factors: Sequence[str] = ..., **factor_sizes: int) -> None: ...
    def attribute(self, operands: Sequence[Sequence[int]], results: Sequence[Sequence[int]]) -> str: ...
class custom_partitioning:
    """``fun`` with rules of its own for running on several devices; set them with `def_partition`."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any: ...
    def __init__(self, fun: Callable[..., Any], static_argnums: Sequence[int] = ...) -> None: ...
    def def_partition(self, partition: Callable[..., Any], infer_sharding_from_operands: Callable[..., Any] | None = None, propagate_user_sharding: Callable[..., Any] | None = None, decode_shardings: bool = True, sharding_rule: Callable[..., Any] | str | None = None, *, reduction_factors: Sequence[str] = ..., need_replication_factors: Sequence[str] = ..., permutation_factors: Sequence[str] = ..., **factor_sizes: int) -> Callable[..., Any]: ...
    decode_shardings: Any
    infer_sharding_from_operands: Any
    partition: Any
    propagate_user_sharding: Any
    sharding_rule: Any
    static_argnums: Any
custom_partitioning_p: Any
