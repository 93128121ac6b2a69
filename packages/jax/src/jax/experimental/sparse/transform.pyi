"""Types of `jax.experimental.sparse.transform`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import Trace
from jax.extend.core import Jaxpr
from jax.extend.linear_util import WrappedFun
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence
from jax.experimental.sparse import SparseTracer as SparseTracer

Array = Any
ArrayOrSparse = Any
class SparseTrace(Trace):
    """Applies primitives to sparse arrays by `rules`; what has no sparse operand is its parent's."""
    parent: Any
    def __init__(self, parent_trace: Trace, tag: object, spenv: SparsifyEnv) -> None: ...
    def array_of(self, x: object) -> Any: ...
    @property
    def parent_trace(self) -> Trace: ...
    @property
    def spenv(self) -> Any: ...
    @property
    def tag(self) -> Any: ...
    def to_sparse_tracer(self, x: object) -> Any: ...
class SparsifyEnv:
    """The buffers that `SparsifyValue` refers to."""
    def __init__(self, bufs: Sequence[Any] = ...) -> None: ...
    def data(self, spvalue: SparsifyValue) -> Any: ...
    def dense(self, data: ArrayLike) -> SparsifyValue: ...
    def indices(self, spvalue: SparsifyValue) -> Any: ...
    def indptr(self, spvalue: SparsifyValue) -> Any: ...
    def replace(self, bufs: Sequence[object]) -> list: ...
    def sparse(self, shape: Sequence[int], data: ArrayLike | None = None, indices: ArrayLike | None = None, indptr: ArrayLike | None = None, *, data_ref: int | None = None, indices_ref: int | None = None, indptr_ref: int | None = None, indices_sorted: bool = False, unique_indices: bool = False) -> SparsifyValue: ...
class SparsifyValue:
    """An array by reference: positions of its buffers in a `SparsifyEnv`."""
    shape: tuple[int, ...]
    data_ref: int | None
    indices_ref: int | None
    indptr_ref: int | None
    indices_sorted: bool
    unique_indices: bool
    def __init__(self, shape: Sequence[int], data_ref: int | None, indices_ref: int | None = None, indptr_ref: int | None = None, indices_sorted: bool = False, unique_indices: bool = False) -> None: ...
    def is_bcoo(self) -> bool: ...
    def is_bcsr(self) -> bool: ...
    def is_dense(self) -> bool: ...
    def is_sparse(self) -> bool: ...
    @property
    def ndim(self) -> Any: ...
def arrays_to_spvalues(spenv: SparsifyEnv, args: Any) -> Any:
    """A pytree of dense and sparse arrays as one of values in ``spenv``."""
def eval_sparse(jaxpr: Jaxpr, consts: Sequence[object], spvalues: Sequence[SparsifyValue], spenv: SparsifyEnv) -> list:
    """The results, as values in ``spenv``, of a program on such values."""
sparse_rules_bcoo: dict
sparse_rules_bcsr: dict
def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """``f``, a function of arrays, as a function that takes sparse arrays too."""
def sparsify_fun(wrapped_fun: WrappedFun, args: Sequence[object]) -> list:
    """The results of a flat wrapped function on a list of dense and sparse arrays."""
def sparsify_raw(f: Callable[..., Any]) -> Callable[..., Any]:
    """`sparsify` for functions ``f(env, *values) -> (values, structure)`` of `SparsifyValue`."""
def sparsify_subtrace(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = False, unk_names: bool = False) -> tuple[WrappedFun, Callable[..., Any]]:
    """A flat function of the buffers ``bufs`` of ``spvalues``: all buffers at its end. The results, as values among these, go to the store."""
def spvalues_to_arrays(spenv: SparsifyEnv, spvalues: object) -> Any:
    """The inverse of `arrays_to_spvalues`."""
def spvalues_to_avals(spenv: SparsifyEnv, spvalues: object) -> Any:
    """The types of the arrays that the values stand for."""
