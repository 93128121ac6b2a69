"""Types of `jax.experimental.sparse.test_util`. Written by packages/jax/tools/make_stubs.py."""
from jax import _Block
from jax.typing import ArrayLike
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

class BatchedDotGeneralProperties(NamedTuple):
    """A case for products in batches."""
    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    n_batch: int
    n_dense: int
    dimension_numbers: Any
MATMUL_TOL: dict
class SparseLayout(NamedTuple):
    """Numbers of axes of each kind."""
    n_batch: int
    n_dense: int
    n_sparse: int
class SparseTestCase:
    """A unittest case with comparisons for sparse arrays; its random numbers are made from the test's name."""
    def assertAllClose(self, x: Any, y: Any, *, check_dtypes: bool = True, atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, canonicalize_dtypes: bool = True, err_msg: str = '') -> None: ...
    def assertArraysAllClose(self, x: ArrayLike, y: ArrayLike, *, check_dtypes: bool = True, atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, err_msg: str = '') -> None: ...
    def assertArraysEqual(self, x: ArrayLike, y: ArrayLike, *, check_dtypes: bool = True, err_msg: str = '', **unused: Any) -> None: ...
    def assertDtypesMatch(self, actual: ArrayLike, desired: ArrayLike, *, canonicalize_dtypes: bool = True) -> None: ...
    def assertMultiLineStrippedEqual(self, expected: str, what: str) -> None: ...
    def assertNoWarnings(self) -> _Block: ...
    def assertSparseArraysEquivalent(self, x: Any, y: Any, *, check_dtypes: bool = True, atol: float | Mapping[Any, float] | None = None, rtol: float | Mapping[Any, float] | None = None, canonicalize_dtypes: bool = True, err_msg: str = '') -> None: ...
    def rng(self) -> Any: ...
    def setUp(self) -> None: ...
def is_sparse(x: ArrayLike) -> bool:
    """Whether ``x`` is a sparse array."""
def iter_bcsr_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of an array of ``shape`` in BCSR, which has two sparse axes."""
def iter_sparse_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of an array of ``shape`` in BCOO."""
def iter_subsets(s: Sequence[object]) -> Iterable[tuple]:
    """All subsets of ``s``, the smallest first."""
def rand_bcoo(rng: Any, rand_method: Callable[..., Any] = ..., nse: int | float = 0.5, n_batch: int = 0, n_dense: int = 0) -> Callable[..., Any]:
    """A function ``(shape, dtype)`` that draws BCOO arrays; it also takes the two numbers of axes."""
def rand_bcsr(rng: Any, rand_method: Callable[..., Any] = ..., nse: int | float = 0.5, n_batch: int = 0, n_dense: int = 0) -> Callable[..., Any]:
    """A function ``(shape, dtype)`` that draws BCSR arrays; it also takes the two numbers of axes."""
def rand_sparse(rng: Any, nse: int | float = 0.5, post: Callable[..., Any] = ..., rand_method: Callable[..., Any] = ...) -> Callable[..., Any]:
    """A function ``(shape, dtype)`` that draws dense arrays of which most elements are 0."""
